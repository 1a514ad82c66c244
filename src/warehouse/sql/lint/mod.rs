//! Statements that run but whose numbers are, or may be, wrong.

use sqlparser::ast::Query;

use super::resolve::model::Bound;
use super::{Lint, LintLevel};
use crate::warehouse::Dialect;

/// All lints of a resolved statement, gravest first.
pub(super) fn lints(bound: &Bound<'_>, _query: &Query, _dialect: Dialect) -> Vec<Lint> {
    let mut lints: Vec<Lint> = Vec::new();
    for ident in &bound.quoted_strings {
        lints.push(Lint {
            code: "double-quoted-string".to_owned(),
            level: LintLevel::Warning,
            message: format!(
                "\"{}\" is no column here, so SQLite reads it as a string; strings belong in single quotes",
                ident.value
            ),
            rewrite: Some(format!("'{}'", ident.value.replace('\'', "''"))),
        });
    }
    lints
}
