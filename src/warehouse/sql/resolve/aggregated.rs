//! Do the rows of a result sum up several rows each, so that they say nothing of a single one?

use sqlparser::ast::Expr;

use super::keys::Links;
use super::model::{Block, Bound, Kind, Place};
use super::parts::{self, arguments};
use super::{is_average, kind_of};

/// Aggregates whose value is no value of a row, whatever they are given.
const STATISTICS: [&str; 16] = [
    "count",
    "sum",
    "total",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "std",
    "variance",
    "var_pop",
    "var_samp",
    "corr",
    "covar_pop",
    "covar_samp",
    "regr_slope",
    "regr_count",
    "approx_count_distinct",
];

/// Aggregates that give back one of the values: of numbers and dates that is a bound, of texts a cell.
const BOUNDS: [&str; 2] = ["min", "max"];

/// True when every row of the result stands for a group, and shows its keys and statistics alone.
///
/// A group whose keys fix a single row is none. What cannot be told counts as not aggregated.
pub(in crate::warehouse::sql) fn is_aggregated(bound: &Bound<'_>) -> bool {
    let mut top = bound
        .blocks
        .iter()
        .enumerate()
        .filter(|(_, block)| block.place == Place::Top)
        .peekable();
    top.peek().is_some() && top.all(|(at, block)| sums_up(bound, at, block))
}

fn sums_up(bound: &Bound<'_>, at: usize, block: &Block<'_>) -> bool {
    if !block.grouped || block.relations.is_empty() || is_one_row_each(bound, at, block) {
        return false;
    }
    block.items.iter().all(|item| match (item.expr, item.column) {
        (Some(expr), _) => is_summary(bound, block, expr),
        (None, Some(column)) => block.group_by.iter().any(|key| bound.column(key) == Some(column)),
        (None, None) => false,
    })
}

/// Do the keys of the groups and the conditions leave each group a single row?
fn is_one_row_each(bound: &Bound<'_>, at: usize, block: &Block<'_>) -> bool {
    if block.relations.iter().all(|relation| relation.shape.single_row()) {
        return true;
    }
    let keys: Vec<(usize, usize)> = block
        .group_by
        .iter()
        .filter_map(|key| bound.column(key))
        .filter(|column| column.block == at)
        .map(|column| (column.relation, column.field))
        .collect();
    Links::of(bound, at)
        .undetermined_from(block, &[], &keys)
        .next()
        .is_none()
}

/// Is `expr` made of keys, statistics and constants?
fn is_summary(bound: &Bound<'_>, block: &Block<'_>, expr: &Expr) -> bool {
    let mut fits = true;
    parts::walk(expr, &mut |part| {
        let is_key = block.group_by.contains(&part)
            || bound
                .column(part)
                .is_some_and(|column| block.group_by.iter().any(|key| bound.column(key) == Some(column)));
        if is_key {
            return false;
        }
        match part {
            Expr::Function(function) if function.over.is_none() => {
                let name = function.name.to_string().to_lowercase();
                if STATISTICS.contains(&name.as_str()) || is_average(&name) {
                    return false;
                }
                if BOUNDS.contains(&name.as_str()) {
                    fits &= matches!(arguments(function).as_slice(), [only] if is_measured(kind_of(bound, only)));
                    return false;
                }
                true
            }
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::Subquery(_) | Expr::Exists { .. } => {
                fits = false;
                false
            }
            _ => true,
        }
    });
    fits
}

fn is_measured(kind: Option<Kind>) -> bool {
    kind.is_some_and(|kind| kind.is_number() || matches!(kind, Kind::Date | Kind::Time | Kind::DateTime))
}
