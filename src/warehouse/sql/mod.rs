//! From text to a statement that may run: parse, guard, resolve, lint.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::config::NamedPolicy;
use crate::warehouse::Dialect;
use crate::warehouse::catalog::{Catalog, Rules};

mod guard;
mod lint;
mod names;
mod parse;
mod policy;
mod rephrase;
mod resolve;
mod scan;
mod verdict;

pub(crate) use names::nearest;
pub use policy::check_row_filter;
pub use verdict::{Outcome, Verdict};

/// One statement that may run: read-only, every name resolved, lints attached.
///
/// Only [`check`] makes one, so holding a `CheckedSql` is the proof.
#[derive(Debug, Clone)]
pub struct CheckedSql {
    text: String,
    dialect: Dialect,
    lineage: Vec<OutputColumn>,
    lints: Vec<Lint>,
    reads: Vec<String>,
    aggregated: bool,
    /// What is sent in its place under a policy.
    sent: Option<String>,
    rules: Option<Arc<Rules>>,
}

impl CheckedSql {
    /// The statement as it will be sent, without a trailing semicolon.
    pub fn text(&self) -> &str {
        &self.text
    }
    /// The statement as the policies let it run: the text itself where they leave it as it is.
    pub fn sent(&self) -> &str {
        self.sent.as_deref().unwrap_or(&self.text)
    }
    /// The policies that it was checked under.
    pub fn policies(&self) -> &[NamedPolicy] {
        self.rules.as_deref().map_or(&[], |rules| &rules.policies)
    }
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }
    /// Output columns with the columns they come from.
    pub fn lineage(&self) -> &[OutputColumn] {
        &self.lineage
    }
    pub fn lints(&self) -> &[Lint] {
        &self.lints
    }
    /// Every table column that the statement reads anywhere (filters and joins too), as in [`OutputColumn::sources`].
    pub fn reads(&self) -> &[String] {
        &self.reads
    }
    /// Does every row of the result sum up several rows, as far as keys can tell? A bound of texts is a cell, and no sum.
    pub fn is_aggregated(&self) -> bool {
        self.aggregated
    }
}

/// An output column and the table columns that it is computed from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputColumn {
    pub name: String,
    /// `table.column`, or `schema.table.column` where the engine has schemas.
    pub sources: Vec<String>,
}

/// How sure a lint is that the numbers are wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LintLevel {
    Info,
    Warning,
    Error,
}

impl LintLevel {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A statement that runs but whose numbers are, or may be, wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lint {
    /// Kebab-case and stable, such as `fan-out`.
    pub code: String,
    pub level: LintLevel,
    pub message: String,
    /// SQL to use instead, where one can be proposed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewrite: Option<String>,
}

/// The step at which a statement was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    Guard,
    Parse,
    Resolve,
    /// A policy of the configuration.
    Policy,
    Lint,
}

/// One reason for a refusal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// Kebab-case and stable, such as `unknown-column`.
    pub code: String,
    pub message: String,
    /// What to write instead, where one thing is likely meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// Where the fault stands in the text as it was given, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
}

/// A place in a text; the first character is at line 1, column 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    pub line: u64,
    /// In characters.
    pub column: u64,
}

impl Position {
    /// The place of a token; `None` where the parser kept none.
    fn of(at: sqlparser::tokenizer::Location) -> Option<Self> {
        (at.line > 0).then_some(Self {
            line: at.line,
            column: at.column,
        })
    }
}

/// A statement that may not run, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{}", .reasons.iter().map(|r| r.message.as_str()).collect::<Vec<_>>().join("; "))]
pub struct Refusal {
    pub stage: Stage,
    pub reasons: Vec<Reason>,
}

/// Stack for statements that are deep or long; a page of it costs nothing until it is used.
const DEEP_STACK: usize = 256 << 20;

/// Checks `text` as one read-only statement of `dialect`; with a `catalog` every name is resolved and lints run.
///
/// Errors name every reason found at the first step that refuses. Lints never refuse; see [`CheckedSql::lints`].
pub fn check(text: &str, dialect: Dialect, catalog: Option<&Catalog>) -> Result<CheckedSql, Refusal> {
    let scanned = scan::scan(text, dialect)?;
    if !scanned.deep {
        return check_scanned(scanned, catalog);
    }
    // Every later step walks the tree recursively, and so does dropping it.
    let walked = std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(DEEP_STACK);
        builder
            .spawn_scoped(scope, || check_scanned(scanned, catalog))
            .ok()
            .and_then(|thread| thread.join().ok())
    });
    walked.unwrap_or_else(|| {
        let message = "the statement is too deep to be checked on this machine; use CTEs";
        Err(scan::refuse(Stage::Guard, "too-deep", message))
    })
}

fn check_scanned(scanned: scan::Scanned<'_>, catalog: Option<&Catalog>) -> Result<CheckedSql, Refusal> {
    let (text, dialect) = (scanned.text.to_owned(), scanned.dialect);
    let form = parse::parse(scanned)?;
    guard::guard(&form, dialect)?;
    let mut checked = CheckedSql {
        text,
        dialect,
        lineage: Vec::new(),
        lints: Vec::new(),
        reads: Vec::new(),
        aggregated: false,
        sent: None,
        rules: catalog.and_then(|catalog| catalog.rules.clone()),
    };
    let Some(catalog) = catalog else {
        return Ok(checked);
    };
    if !matches!(form, parse::Form::Query(_))
        && let Some(refusal) = policy::refuse_form(catalog)
    {
        return Err(refusal);
    }
    let Some(query) = form.query() else { return Ok(checked) };
    let (bound, reasons) = resolve::resolve(query, dialect, catalog);
    if !reasons.is_empty() {
        let unknown = Refusal {
            stage: Stage::Resolve,
            reasons,
        };
        return Err(policy::explain(query, dialect, catalog).unwrap_or(unknown));
    }
    checked.sent = policy::rewrite(&checked.text, query, &bound, dialect)?;
    checked.lineage = resolve::lineage(&bound);
    checked.reads = bound
        .read
        .iter()
        .filter_map(|s| resolve::source_name(catalog, *s))
        .collect();
    checked.aggregated = resolve::is_aggregated(&bound);
    checked.lints = lint::lints(&bound, dialect);
    Ok(checked)
}

#[cfg(test)]
pub(crate) mod tests;
