//! `limit-without-order`: the first rows of nothing in particular.

use sqlparser::ast::{Expr, LimitClause, Query, Value};

use super::super::resolve::model::Place;
use super::{LintLevel, Look};

pub(super) fn look(look: &Look<'_, '_>) {
    let Some(query) = look.block.query else { return };
    if query.order_by.is_some() || !limits(query) || matches!(look.block.place, Place::Exists) {
        return;
    }
    let single = look.block.grouped && look.block.group_by.is_empty();
    let no_rows = look.block.relations.is_empty();
    if single || no_rows {
        return;
    }
    // A few rows of a plain table are often just a look at it.
    let level = if look.block.grouped || look.block.place != Place::Top {
        LintLevel::Warning
    } else {
        LintLevel::Info
    };
    let message =
        "LIMIT without ORDER BY keeps arbitrary rows, and may keep others next time; say which come first".to_owned();
    look.note("limit-without-order", level, message, None);
}

fn limits(query: &Query) -> bool {
    let limit = match &query.limit_clause {
        Some(LimitClause::LimitOffset { limit, .. }) => limit.as_ref(),
        Some(LimitClause::OffsetCommaLimit { limit, .. }) => Some(limit),
        None => None,
    };
    let zero = |e: &Expr| matches!(e, Expr::Value(v) if matches!(&v.value, Value::Number(d, _) if d == "0"));
    limit.is_some_and(|e| !zero(e)) || query.fetch.is_some()
}
