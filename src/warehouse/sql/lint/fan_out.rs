//! `fan-out` and `distinct-hides-fan-out`: aggregates over rows that a join has repeated.

use sqlparser::ast::{Distinct, Expr, Function};

use super::super::resolve::keys::{Certainty, Multiplier};
use super::super::resolve::model::ColumnRef;
use super::super::resolve::output_columns;
use super::super::resolve::parts::{Part, arguments, for_each};
use super::{LintLevel, Look, is_distinct, rewrite};

/// Aggregates whose value changes when rows are repeated.
const SENSITIVE: [&str; 14] = [
    "sum",
    "avg",
    "total",
    "count",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "variance",
    "var_pop",
    "var_samp",
    "median",
    "mean",
    "std",
    "fsum",
];

pub(super) fn look(look: &Look<'_, '_>) {
    for aggregate in look.aggregates() {
        let name = aggregate.name.to_string().to_lowercase();
        if SENSITIVE.contains(&name.as_str()) {
            judge(look, aggregate, &name);
        }
    }
    distinct_rows(look);
}

/// The columns whose values are added up: of a CASE only its results, since its conditions pick rows and add nothing.
fn measured<'a>(look: &Look<'_, 'a>, expr: &'a Expr, into: &mut Vec<ColumnRef>) -> bool {
    match expr {
        Expr::Case {
            conditions,
            else_result,
            ..
        } => {
            for result in conditions.iter().map(|w| &w.result).chain(else_result.as_deref()) {
                measured(look, result, into);
            }
            true
        }
        other => {
            into.extend(look.bound.column(other).filter(|c| c.block == look.index));
            let mut has_case = false;
            for_each(other, &mut |part| match part {
                Part::Expr(inner) => has_case |= measured(look, inner, into),
                Part::Scalar(_) | Part::Membership(_) | Part::Exists(_) => {}
            });
            has_case
        }
    }
}

fn judge(look: &Look<'_, '_>, aggregate: &Function, name: &str) {
    let mut columns: Vec<ColumnRef> = Vec::new();
    let mut has_case = aggregate.filter.is_some();
    for argument in arguments(aggregate) {
        has_case |= measured(look, argument, &mut columns);
    }
    let mut seeds: Vec<usize> = columns.iter().map(|c| c.relation).collect();
    seeds.sort_unstable();
    seeds.dedup();
    if seeds.is_empty() {
        return;
    }
    let multipliers = look
        .links
        .multipliers(look.bound, look.index, &seeds, &look.group_columns());
    let Some(worst) = multipliers
        .iter()
        .copied()
        .max_by_key(|m| (m.certainty, std::cmp::Reverse(m.relation)))
    else {
        return inside(look, aggregate, name, &columns);
    };
    if is_distinct(aggregate) {
        if name != "count" {
            hidden_by_distinct(look, aggregate, worst);
        }
        return;
    }
    let chasm = multipliers.len() > 1 || seeds.iter().any(|s| *s < worst.relation);
    let level = match worst.certainty {
        Certainty::Proved if name != "count" && chasm && !has_case => LintLevel::Error,
        Certainty::Proved | Certainty::Likely => LintLevel::Warning,
    };
    let measured: Vec<String> = seeds.iter().map(|s| format!("`{}`", look.relation(*s))).collect();
    let by = look.relation(worst.relation);
    let what = if name == "count" { "counts" } else { "takes" };
    let mut message = format!(
        "`{aggregate}` {what} each row of {} once for every matching row of `{by}`, because the join to `{by}` is one to many",
        measured.join(" and ")
    );
    message.push_str(match name {
        "count" => "; if rows of the first are meant, count DISTINCT keys",
        _ => "; aggregate before joining, or only test that a match EXISTS",
    });
    if level == LintLevel::Error && multipliers.len() == 1 {
        message.push_str(&format!(
            "; if one value for each row of `{by}` is meant, begin FROM with it"
        ));
    }
    look.note(
        "fan-out",
        level,
        message,
        rewrite::without_fan_out(look, aggregate, worst.relation),
    );
}

/// The rows were repeated by a join inside a derived table or CTE that did not aggregate.
fn inside(look: &Look<'_, '_>, aggregate: &Function, name: &str, columns: &[ColumnRef]) {
    let by = columns.iter().find_map(|c| look.bound.field(*c)?.multiplied_by.clone());
    if let Some(by) = by
        && !is_distinct(aggregate)
        && name != "count"
    {
        let message = format!(
            "`{aggregate}` adds up rows that the join to `{by}` inside the sub-query has repeated; aggregate before joining"
        );
        look.note("fan-out", LintLevel::Warning, message, None);
    }
}

fn hidden_by_distinct(look: &Look<'_, '_>, aggregate: &Function, by: Multiplier) {
    let by = look.relation(by.relation);
    let message = format!(
        "`{aggregate}` hides that the join to `{by}` repeats rows, and drops equal values of different rows as well; \
         aggregate before joining"
    );
    look.note("distinct-hides-fan-out", LintLevel::Warning, message, None);
}

/// `SELECT DISTINCT` over a join whose only effect is to repeat rows.
fn distinct_rows(look: &Look<'_, '_>) {
    if !matches!(look.block.select.distinct, Some(Distinct::Distinct)) || look.block.grouped {
        return;
    }
    let shown: Vec<ColumnRef> = output_columns(look.bound, look.index);
    let mut seeds: Vec<usize> = shown.iter().map(|c| c.relation).collect();
    seeds.sort_unstable();
    seeds.dedup();
    if seeds.is_empty() {
        return;
    }
    if let Some(by) = look.links.multipliers(look.bound, look.index, &seeds, &[]).first() {
        let by = look.relation(by.relation);
        let message = format!(
            "DISTINCT removes the repeats that the join to `{by}` makes; `WHERE EXISTS (…)` asks the same without making them"
        );
        look.note("distinct-hides-fan-out", LintLevel::Info, message, None);
    }
}
