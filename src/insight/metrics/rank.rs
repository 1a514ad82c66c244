//! `rank`: who is first, second, third.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::output::{Output, heading, repeated_names, sort_descending, with_values};
use super::table::Table;
use super::words::Note;
use super::{Cell, Columns, Kind, MetricError, Number};

/// Ranks groups by a value. Equal values share a rank and the next rank is skipped (1, 2, 2, 4).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rank {
    /// Column(s) that name the groups.
    pub group: Columns,
    /// Column to rank by.
    pub value: String,
    #[serde(default)]
    pub order: Order,
    /// Keep ranks up to this one only, ties included; all when missing.
    #[serde(default)]
    pub top: Option<usize>,
}

/// Which end comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// The largest value has rank 1.
    #[default]
    Descending,
    Ascending,
}

/// Computes the ranking; the columns are `rank`, the group and the value.
pub(super) fn compute(args: &Rank, table: &Table<'_>) -> Result<Output, MetricError> {
    let numbers = table.numbers(&args.value)?;
    let groups = table.groups(&args.group)?;
    if args.top == Some(0) {
        return Err(MetricError::BadArgument {
            argument: "top",
            value: "0".to_owned(),
            advice: "give at least 1, or leave it out to rank all".to_owned(),
        });
    }
    let repeated = repeated_names(&groups);
    let mut ranked = with_values(groups, &numbers.values);
    sort_descending(&mut ranked);
    if args.order == Order::Ascending {
        ranked.sort_by(|(a_name, a), (b_name, b)| a.compare(*b).then_with(|| a_name.cmp(b_name)));
    }

    let (group, value) = (heading(&args.group), args.value.as_str());
    let mut output = Output::with_columns([("rank", Kind::Count), (&group, Kind::Label), (value, Kind::Amount)]);
    output.notes = numbers.notes;
    if !repeated.is_empty() {
        output.notes.push(Note::SameName { names: repeated });
    }
    output.fact("groups", ranked.len(), Kind::Count);
    output.fact(
        "total",
        ranked.iter().map(|(_, value)| *value).sum::<Number>(),
        Kind::Amount,
    );
    let count = ranked.len();
    let mut rank = 0;
    let mut before: Option<Number> = None;
    for (position, (group, value)) in ranked.into_iter().enumerate() {
        if before != Some(value) {
            rank = position + 1;
            before = Some(value);
        }
        if args.top.is_some_and(|top| rank > top) {
            output.notes.push(Note::AfterTop {
                left_out: count - position,
            });
            break;
        }
        output
            .rows
            .push(vec![Cell::from(rank), Cell::from(group), Cell::from(value)]);
    }
    Ok(output)
}
