//! `share`: how much of the whole each group makes, and how few make most of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::output::{Output, heading, repeated_names, sort_descending, with_values};
use super::table::Table;
use super::words::Note;
use super::{Cell, Columns, Kind, MetricError, Number};

/// Each group's share of the total, largest first, with the running share (Pareto).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// Column(s) that name the groups.
    pub group: Columns,
    /// Column whose total is shared out.
    pub value: String,
}

/// The part of the whole that a Pareto reading asks about: how few groups make four fifths.
const PARETO: f64 = 0.8;

/// Computes shares; the columns are the group, the value, `share` and `cumulative_share`.
///
/// Facts: `total`, `groups`, `top_1_share`, `top_3_share`, `groups_for_80_percent`, `herfindahl` (Σ share², 1 when one
/// group has all; Herfindahl 1950).
pub(super) fn compute(args: &Share, table: &Table<'_>) -> Result<Output, MetricError> {
    let numbers = table.numbers(&args.value)?;
    let groups = table.groups(&args.group)?;
    let repeated = repeated_names(&groups);
    let mut shared = with_values(groups, &numbers.values);
    sort_descending(&mut shared);
    let total: Number = shared.iter().map(|(_, value)| *value).sum();

    let group = heading(&args.group);
    let mut output = Output::with_columns([
        (&group, Kind::Label),
        (&args.value, Kind::Amount),
        ("share", Kind::Fraction),
        ("cumulative_share", Kind::Fraction),
    ]);
    output.notes = numbers.notes;
    if !repeated.is_empty() {
        output.notes.push(Note::SameName { names: repeated });
    }
    let has_negative = shared.iter().any(|(_, value)| value.is_negative());
    if has_negative {
        output.notes.push(Note::NegativeValues {
            column: args.value.clone(),
        });
    }
    if total.is_zero() {
        output.notes.push(Note::ZeroTotal {
            column: args.value.clone(),
        });
    }
    let mut running = Number::ZERO;
    let mut cumulative = Vec::with_capacity(shared.len());
    let mut herfindahl = 0.0;
    for (group, value) in shared {
        running = running.plus(value);
        let (share, so_far) = (value.over(total), running.over(total));
        herfindahl += share.map_or(0.0, |share| share.to_f64().powi(2));
        cumulative.push(so_far);
        output.rows.push(vec![
            Cell::from(group),
            Cell::from(value),
            Cell::from(share),
            Cell::from(so_far),
        ]);
    }
    output.fact("total", total, Kind::Amount);
    output.fact("groups", cumulative.len(), Kind::Count);
    if !total.is_zero() {
        output.fact("top_1_share", cumulative.first().copied().flatten(), Kind::Fraction);
        if cumulative.len() > 3 {
            output.fact("top_3_share", cumulative.get(2).copied().flatten(), Kind::Fraction);
        }
        if !has_negative {
            // A running share that is 0.8 but for float noise has reached it.
            let reached = |so_far: &Option<Number>| so_far.is_some_and(|share| share.to_f64() >= PARETO - 1e-12);
            let needed = cumulative
                .iter()
                .position(reached)
                .map_or(cumulative.len(), |position| position + 1);
            output.fact("groups_for_80_percent", needed, Kind::Count);
            output.fact("herfindahl", Number::Float(herfindahl), Kind::Score);
        }
    }
    Ok(output)
}
