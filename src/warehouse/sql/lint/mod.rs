//! Statements that run but whose numbers are, or may be, wrong.
//!
//! A lint is an error where keys, types or measured values prove it, a warning where it is likely, and a piece of
//! information where only style or speed is concerned. Each looks at one SELECT block at a time.

use std::cell::RefCell;

use sqlparser::ast::{Expr, Function, FunctionArguments, OrderByKind};

use super::guard::functions::is_aggregate;
use super::resolve::keys::Links;
use super::resolve::model::{Block, Bound, ColumnRef};
use super::resolve::parts;
use super::{Lint, LintLevel};
use crate::warehouse::Dialect;
use crate::warehouse::catalog::{Profile, Table};

mod averages;
mod bare_column;
mod comparison;
mod dates;
mod division;
mod fan_out;
mod joins;
mod limit;
mod not_in;
mod rewrite;

/// All lints of a resolved statement, gravest first, in the order of the text within a level.
pub(super) fn lints(bound: &Bound<'_>, dialect: Dialect) -> Vec<Lint> {
    let notes = Notes::default();
    for (index, block) in bound.blocks.iter().enumerate() {
        let look = Look {
            bound,
            dialect,
            index,
            block,
            links: Links::of(bound, index),
            notes: &notes,
        };
        fan_out::look(&look);
        joins::look(&look);
        dates::look(&look);
        comparison::look(&look);
        division::look(&look);
        not_in::look(&look);
        limit::look(&look);
        bare_column::look(&look);
        averages::look(&look);
    }
    quoted_strings(bound, &notes);
    let mut lints = notes.0.into_inner();
    lints.sort_by_key(|lint| std::cmp::Reverse(lint.level));
    lints
}

/// What was noted so far.
#[derive(Default)]
struct Notes(RefCell<Vec<Lint>>);

impl Notes {
    fn add(&self, code: &str, level: LintLevel, message: String, rewrite: Option<String>) {
        let lint = Lint {
            code: code.to_owned(),
            level,
            message,
            rewrite,
        };
        let mut all = self.0.borrow_mut();
        if !all.contains(&lint) {
            all.push(lint);
        }
    }
}

/// One block under the eye of a lint.
struct Look<'b, 'a> {
    bound: &'b Bound<'a>,
    dialect: Dialect,
    index: usize,
    block: &'b Block<'a>,
    links: Links,
    notes: &'b Notes,
}

impl<'a> Look<'_, 'a> {
    fn note(&self, code: &str, level: LintLevel, message: String, rewrite: Option<String>) {
        self.notes.add(code, level, message, rewrite);
    }

    /// The expressions of the block outside FROM: select list, WHERE, GROUP BY, HAVING, QUALIFY, ORDER BY.
    fn expressions(&self) -> Vec<&'a Expr> {
        let select = self.block.select;
        let mut all: Vec<&'a Expr> = self.block.items.iter().filter_map(|i| i.expr).collect();
        all.extend(select.prewhere.iter().chain(&select.selection));
        all.extend(self.block.group_by.iter().copied());
        all.extend(select.having.iter().chain(&select.qualify));
        if let Some(order) = self.block.query.and_then(|q| q.order_by.as_ref())
            && let OrderByKind::Expressions(list) = &order.kind
        {
            all.extend(list.iter().map(|o| &o.expr));
        }
        all
    }

    /// The same, with the conditions of joins.
    fn expressions_and_joins(&self) -> Vec<&'a Expr> {
        let mut all = self.expressions();
        all.extend(self.block.joins.iter().filter_map(|j| j.on));
        all
    }

    /// The aggregates of the block itself, each once.
    fn aggregates(&self) -> Vec<&'a Function> {
        let mut found: Vec<&'a Function> = Vec::new();
        for expr in self.expressions() {
            parts::walk(expr, &mut |e| {
                if let Expr::Function(f) = e
                    && f.over.is_none()
                    && is_aggregate(self.dialect, &f.name.to_string(), argument_count(f))
                {
                    if !found.contains(&f) {
                        found.push(f);
                    }
                    return false;
                }
                true
            });
        }
        found
    }

    /// The columns that GROUP BY fixes within a group.
    fn group_columns(&self) -> Vec<(usize, usize)> {
        let mut columns: Vec<(usize, usize)> = self
            .block
            .group_by
            .iter()
            .filter_map(|e| self.bound.column(e))
            .filter(|c| c.block == self.index)
            .map(|c| (c.relation, c.field))
            .collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// The name of a relation of this block.
    fn relation(&self, relation: usize) -> &str {
        self.block.relations.get(relation).map_or("", |r| r.name.as_str())
    }

    /// The profile of the table column that `column` passes on unchanged.
    fn profile(&self, column: ColumnRef) -> Option<&Profile> {
        let field = self.bound.field(column)?;
        let super::resolve::model::Origin::Column(source) = field.origin else {
            return None;
        };
        let table: &Table = self.bound.catalog.tables.get(source.table)?;
        table.columns.get(source.column)?.profile.as_ref()
    }
}

fn argument_count(function: &Function) -> usize {
    match &function.args {
        FunctionArguments::List(list) => list.args.len(),
        FunctionArguments::None | FunctionArguments::Subquery(_) => 0,
    }
}

/// Whether a call has DISTINCT before its arguments.
fn is_distinct(function: &Function) -> bool {
    match &function.args {
        FunctionArguments::List(list) => list.duplicate_treatment == Some(sqlparser::ast::DuplicateTreatment::Distinct),
        FunctionArguments::None | FunctionArguments::Subquery(_) => false,
    }
}

fn quoted_strings(bound: &Bound<'_>, notes: &Notes) {
    for ident in &bound.quoted_strings {
        let message = format!(
            "\"{}\" is no column here, so SQLite reads it as a string; strings belong in single quotes",
            ident.value
        );
        let rewrite = format!("'{}'", ident.value.replace('\'', "''"));
        notes.add("double-quoted-string", LintLevel::Warning, message, Some(rewrite));
    }
}
