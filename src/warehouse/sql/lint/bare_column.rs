//! `bare-column`: a column beside aggregates whose value in a group is not fixed.

use sqlparser::ast::Expr;

use super::super::guard::functions::is_aggregate;
use super::super::resolve::model::ColumnRef;
use super::super::resolve::parts::{Part, for_each};
use super::{LintLevel, Look, argument_count};
use crate::warehouse::Dialect;

pub(super) fn look(look: &Look<'_, '_>) {
    if !look.block.grouped {
        return;
    }
    let select = look.block.select;
    let columns = look.group_columns();
    let grouped = super::super::resolve::has_group_by(&select.group_by);
    let mut bare: Vec<(ColumnRef, String)> = Vec::new();
    for item in &look.block.items {
        match (item.column, item.expr) {
            (Some(column), _) => bare.push((column, item.name.clone())),
            (None, Some(expr)) => collect(look, expr, &mut bare),
            (None, None) => {}
        }
    }
    if picks_a_row(look) {
        return;
    }
    bare.retain(|(c, _)| {
        c.block == look.index
            && !look.links.is_determined(look.block, &columns, (c.relation, c.field))
            && !equal_to_group(look, *c)
    });
    let Some((_, first)) = bare.first() else { return };
    let mut names: Vec<String> = bare.iter().map(|(_, n)| format!("`{n}`")).collect();
    names.dedup();
    let level = match look.dialect {
        Dialect::Sqlite | Dialect::Mysql if grouped => LintLevel::Warning,
        _ => LintLevel::Error,
    };
    let what = if grouped {
        "in each group"
    } else {
        "in the one row that the aggregate leaves"
    };
    let taken = match look.dialect {
        Dialect::Sqlite | Dialect::Mysql => "an arbitrary one is taken",
        _ => "the engine refuses the statement",
    };
    let message = format!(
        "{} can have several values {what}, and {taken}; group by it or aggregate it",
        names.join(", ")
    );
    look.note("bare-column", level, message, Some(format!("MIN({first})")));
}

/// Columns outside aggregates and outside the expressions that GROUP BY lists.
fn collect(look: &Look<'_, '_>, expr: &Expr, into: &mut Vec<(ColumnRef, String)>) {
    if look.block.group_by.contains(&expr) {
        return;
    }
    if let Expr::Function(f) = expr
        && f.over.is_none()
        && is_aggregate(look.dialect, &f.name.to_string(), argument_count(f))
    {
        return;
    }
    if let Some(column) = look.bound.column(expr) {
        into.push((column, expr.to_string()));
        return;
    }
    for_each(expr, &mut |part| {
        if let Part::Expr(inner) = part {
            collect(look, inner, into);
        }
    });
}

/// SQLite takes bare columns from the row that holds the one MIN or MAX; a query may rely on that.
fn picks_a_row(look: &Look<'_, '_>) -> bool {
    let aggregates = look.aggregates();
    look.dialect == Dialect::Sqlite
        && matches!(aggregates.as_slice(), [one] if ["min", "max"].contains(&one.name.to_string().to_lowercase().as_str()))
}

/// The column is one that GROUP BY names through an expression of it alone that keeps it, such as a cast.
fn equal_to_group(look: &Look<'_, '_>, column: ColumnRef) -> bool {
    look.block
        .group_by
        .iter()
        .filter_map(|e| super::super::resolve::keys::own_column(look.bound, look.index, e))
        .any(|c| c == (column.relation, column.field))
}
