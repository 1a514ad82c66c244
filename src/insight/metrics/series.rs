//! Series of one value per period, with the periods that have none in their place.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use jiff::civil::Date;

use super::period::{Calendar, MOST_PERIODS};
use super::table::Table;
use super::words::Note;
use super::{Columns, MetricError, Number};
use crate::time::Grain;

/// The columns that a series is read from.
#[derive(Clone, Copy)]
pub(super) struct From<'a> {
    pub(super) period: &'a str,
    pub(super) value: &'a str,
    pub(super) group: Option<&'a Columns>,
    pub(super) grain: Option<Grain>,
}

/// One group's values, from its first period to the last of all groups.
pub(super) struct Series {
    pub(super) group: String,
    /// `None` where there is no row, or no value in it.
    pub(super) points: Vec<(Date, Option<Number>)>,
}

pub(super) struct SeriesSet {
    pub(super) calendar: Calendar,
    /// In order of the groups' names.
    pub(super) series: Vec<Series>,
    pub(super) notes: Vec<Note>,
}

impl SeriesSet {
    /// Reads the series of `table`.
    ///
    /// Several rows of one group and period are added up when a grain was asked for, and refused otherwise, since adding
    /// may be wrong (averages) and leaving out surely is.
    pub(super) fn read(table: &Table<'_>, from: From<'_>) -> Result<Self, MetricError> {
        let numbers = table.numbers(from.value)?;
        let (starts, calendar) = table.periods(from.period, from.grain)?;
        let groups = table.optional_groups(from.group)?;
        let mut notes = numbers.notes;
        let undated = starts.iter().filter(|start| start.is_none()).count();
        if undated > 0 {
            notes.push(Note::RowsWithoutPeriod { rows: undated });
        }
        let mut by_group: BTreeMap<String, BTreeMap<Date, Option<Number>>> = BTreeMap::new();
        let mut added = 0;
        for ((group, start), value) in groups.into_iter().zip(starts).zip(numbers.values) {
            let Some(start) = start else { continue };
            match by_group.entry(group.clone()).or_default().entry(start) {
                Entry::Vacant(vacant) => {
                    vacant.insert(value);
                }
                Entry::Occupied(mut occupied) if from.grain.is_some() => {
                    added += 1;
                    let sum = match (*occupied.get(), value) {
                        (Some(a), Some(b)) => Some(a.plus(b)),
                        (a, b) => a.or(b),
                    };
                    occupied.insert(sum);
                }
                Entry::Occupied(_) => {
                    let what = format!("{group} {}", calendar.label(start));
                    return Err(table.repeated(what.trim().to_owned()));
                }
            }
        }
        if added > 0 {
            let periods = by_group.values().map(BTreeMap::len).sum();
            notes.push(Note::PeriodsAdded {
                rows: periods + added,
                periods,
            });
        }
        let last = by_group
            .values()
            .filter_map(|points| points.keys().next_back())
            .max()
            .copied();
        let series = by_group
            .into_iter()
            .map(|(group, points)| filled(group, points, calendar, last))
            .collect::<Option<_>>();
        let series = series.ok_or_else(|| MetricError::BadArgument {
            argument: "period",
            value: format!("`{}`", from.period),
            advice: format!(
                "it spans more than {MOST_PERIODS} periods; give a coarser `grain`, or look for a date far off"
            ),
        })?;
        Ok(Self {
            calendar,
            series,
            notes,
        })
    }

    /// Notes on the periods without data, for each series.
    pub(super) fn gaps(&self) -> Vec<Note> {
        let missing = |series: &Series| -> Vec<String> {
            series
                .points
                .iter()
                .filter(|(_, value)| value.is_none())
                .map(|(start, _)| self.calendar.label(*start))
                .collect()
        };
        let notes = self.series.iter().map(|series| (series.group.clone(), missing(series)));
        notes
            .filter(|(_, periods)| !periods.is_empty())
            .map(|(group, periods)| Note::MissingPeriods { periods, group })
            .collect()
    }
}

fn filled(
    group: String,
    points: BTreeMap<Date, Option<Number>>,
    calendar: Calendar,
    last: Option<Date>,
) -> Option<Series> {
    let (Some(first), Some(last)) = (points.keys().next().copied(), last) else {
        return Some(Series {
            group,
            points: Vec::new(),
        });
    };
    let starts = calendar.between(first, last)?;
    let points = starts
        .into_iter()
        .map(|start| (start, points.get(&start).copied().flatten()))
        .collect();
    Some(Series { group, points })
}
