//! `coverage`: which periods of a window have data, and which have none.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use jiff::civil::Date;

use super::output::Output;
use super::table::Table;
use super::words::Note;
use super::{Cell, Kind, MetricError, Number};
use crate::time::{Grain, parse_date};

/// Runs of present and missing periods in a window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Coverage {
    /// Column with the date or period of each row.
    pub period: String,
    /// Column whose null or zero means that the period has no data, although there is a row.
    #[serde(default)]
    pub value: Option<String>,
    /// Length of a period; read from the column when missing.
    #[serde(default)]
    pub grain: Option<Grain>,
    /// First day of the window (ISO 8601); the first period with data when missing.
    #[serde(default)]
    pub start: Option<String>,
    /// First day after the window (ISO 8601, exclusive); the end of the last period with data when missing.
    #[serde(default)]
    pub end: Option<String>,
}

/// Computes the coverage; the columns are `status` (`present` or `missing`), `from`, `to` (both periods included) and
/// `periods`, one row per run.
///
/// Facts: `expected`, `present`, `missing`, `coverage` (present ÷ expected), `first`, `last`, `longest_gap`.
pub(super) fn compute(args: &Coverage, table: &Table<'_>) -> Result<Output, MetricError> {
    let (starts, calendar) = table.periods(&args.period, args.grain)?;
    let mut notes = Vec::new();
    let filled: Vec<bool> = match &args.value {
        None => vec![true; starts.len()],
        Some(value) => {
            let numbers = table.numbers(value)?;
            numbers
                .values
                .iter()
                .map(|value| value.is_some_and(|value| !value.is_zero()))
                .collect()
        }
    };
    let undated = starts.iter().filter(|start| start.is_none()).count();
    if undated > 0 {
        notes.push(Note::RowsWithoutPeriod { rows: undated });
    }
    let mut present: Vec<Date> = starts
        .iter()
        .zip(filled)
        .filter_map(|(start, filled)| start.filter(|_| filled))
        .collect();
    let dated = present.len();

    let start = args
        .start
        .as_deref()
        .map(|text| day("start", text))
        .transpose()?
        .map(|day| calendar.start_of(day));
    let end = args.end.as_deref().map(|text| day("end", text)).transpose()?;
    let end = end.map(|end| calendar.start_of(end.yesterday().unwrap_or(end)));
    let first = start.or_else(|| present.iter().min().copied());
    let last = end.or_else(|| present.iter().max().copied());
    let (Some(first), Some(last)) = (first, last) else {
        return Err(MetricError::NoRows {
            source_id: table.source.to_owned(),
        });
    };
    present.retain(|start| (first..=last).contains(start));
    if present.len() < dated {
        notes.push(Note::OutsideWindow {
            rows: dated - present.len(),
        });
    }
    present.sort_unstable();
    present.dedup();
    let expected = calendar
        .between(first, last)
        .filter(|expected| !expected.is_empty())
        .ok_or_else(|| MetricError::BadArgument {
            argument: "end",
            value: args.end.clone().unwrap_or_else(|| last.to_string()),
            advice: "the window must hold at least one period, and no more than ten years of days".to_owned(),
        })?;

    let mut output = Output::with_columns([
        ("status", Kind::Flag),
        ("from", Kind::Period),
        ("to", Kind::Period),
        ("periods", Kind::Count),
    ]);
    let is_present: Vec<bool> = expected
        .iter()
        .map(|start| present.binary_search(start).is_ok())
        .collect();
    let days: Vec<(Date, bool)> = expected.into_iter().zip(is_present).collect();
    let mut longest_gap = 0;
    for run in days.chunk_by(|(_, a), (_, b)| a == b) {
        let (Some((from, is_present)), Some((to, _))) = (run.first(), run.last()) else {
            continue;
        };
        if !is_present {
            longest_gap = longest_gap.max(run.len());
        }
        let status = if *is_present { "present" } else { "missing" };
        let [from, to] = [from, to].map(|start| Cell::from(calendar.label(*start)));
        output
            .rows
            .push(vec![Cell::from(status), from, to, Cell::from(run.len())]);
    }
    let missing: Vec<String> = days
        .iter()
        .filter(|(_, present)| !present)
        .map(|(start, _)| calendar.label(*start))
        .collect();
    output.fact("expected", days.len(), Kind::Count);
    output.fact("present", present.len(), Kind::Count);
    output.fact("missing", missing.len(), Kind::Count);
    output.fact(
        "coverage",
        Number::from(present.len()).over(Number::from(days.len())),
        Kind::Fraction,
    );
    output.fact("longest_gap", longest_gap, Kind::Count);
    for (name, day) in [("first", present.first()), ("last", present.last())] {
        output.fact(
            name,
            day.map_or(Cell::Null, |day| Cell::from(calendar.label(*day))),
            Kind::Period,
        );
    }
    if !missing.is_empty() {
        output.notes.push(Note::MissingPeriods {
            periods: missing,
            group: String::new(),
        });
    }
    output.notes.extend(notes);
    Ok(output)
}

fn day(argument: &'static str, text: &str) -> Result<Date, MetricError> {
    parse_date(text).map_err(|_| MetricError::BadArgument {
        argument,
        value: format!("`{text}`"),
        advice: "write the day as 2005-08-31".to_owned(),
    })
}
