//! `attainment`: how much of its target each group reached.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::output::{Output, heading};
use super::table::Table;
use super::words::{Note, say_total};
use super::{Cell, Columns, Kind, MetricError, Number};

/// Value ÷ target per group, with the gap, highest first, and the same for the total of groups that have a target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Attainment {
    /// Column(s) that name the groups.
    pub group: Columns,
    /// Column of the reached values.
    pub value: String,
    /// Column of the targets.
    pub target: String,
}

/// Computes attainment; the columns are the group, the value, the target, `attainment` (`value ÷ target`), `gap`
/// (`value − target`) and `status` (`reached`, `missed`, `no-target`, `no-value`).
///
/// The last row is the total of the groups that have a target; a group with a target and no value counts as zero in it.
/// Facts: `attainment`, `gap`, `reached`, `missed`.
pub(super) fn compute(args: &Attainment, table: &Table<'_>) -> Result<Output, MetricError> {
    let (values, targets) = (table.numbers(&args.value)?, table.numbers(&args.target)?);
    let groups = table.groups(&args.group)?;
    let repeated = super::output::repeated_names(&groups);
    if let Some(name) = repeated.first() {
        return Err(table.repeated(format!("`{name}`")));
    }
    let heading = heading(&args.group);
    let mut output = Output::with_columns([
        (&heading, Kind::Label),
        (&args.value, Kind::Amount),
        (&args.target, Kind::Amount),
        ("attainment", Kind::Fraction),
        ("gap", Kind::Amount),
        ("status", Kind::Flag),
    ]);
    let mut judged: Vec<(Option<Number>, Vec<Cell>)> = Vec::new();
    let (mut value_total, mut target_total) = (Number::ZERO, Number::ZERO);
    let (mut no_target, mut zero_target) = (Vec::new(), Vec::new());
    for ((group, value), target) in groups.into_iter().zip(values.values).zip(targets.values) {
        match target {
            None => no_target.push(group.clone()),
            Some(target) => {
                value_total = value_total.plus(value.unwrap_or(Number::ZERO));
                target_total = target_total.plus(target);
                if target.is_zero() {
                    zero_target.push(group.clone());
                }
            }
        }
        let attainment = value.zip(target).and_then(|(value, target)| value.over(target));
        judged.push((attainment, row(&group, value, target)));
    }
    // The sort is stable and nulls go last, so groups without attainment keep the result's order.
    judged.sort_by(|(a, _), (b, _)| match (a, b) {
        (Some(a), Some(b)) => b.compare(*a),
        (a, b) => b.is_some().cmp(&a.is_some()),
    });
    output.rows = judged.into_iter().map(|(_, row)| row).collect();
    let with_status = |status: &str| {
        output
            .rows
            .iter()
            .filter(|row| row.last().and_then(Cell::as_text) == Some(status))
            .count()
    };
    let (reached, missed) = (with_status("reached"), with_status("missed"));
    output
        .rows
        .push(row(say_total(table.language), Some(value_total), Some(target_total)));
    output.fact("attainment", value_total.over(target_total), Kind::Fraction);
    output.fact("gap", value_total.minus(target_total), Kind::Amount);
    output.fact("reached", reached, Kind::Count);
    output.fact("missed", missed, Kind::Count);
    if !no_target.is_empty() {
        output.notes.push(Note::NoTarget { names: no_target });
    }
    if !zero_target.is_empty() {
        output.notes.push(Note::TargetZero { names: zero_target });
    }
    output.notes.extend(values.notes);
    output.notes.extend(
        targets
            .notes
            .into_iter()
            .filter(|note| !matches!(note, Note::NullsSkipped { .. })),
    );
    Ok(output)
}

fn row(group: &str, value: Option<Number>, target: Option<Number>) -> Vec<Cell> {
    let both = value.zip(target);
    let gap = both.map(|(value, target)| value.minus(target));
    let status = match (value, target, gap) {
        (_, None, _) => "no-target",
        (None, _, _) => "no-value",
        (_, _, Some(gap)) if gap.is_negative() => "missed",
        (Some(_), Some(_), _) => "reached",
    };
    let attainment = both.and_then(|(value, target)| value.over(target));
    let mut row = vec![Cell::from(group)];
    row.extend([value, target, attainment, gap].map(Cell::from));
    row.push(Cell::from(status));
    row
}
