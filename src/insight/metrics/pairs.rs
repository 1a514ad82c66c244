//! Old and new values side by side, from a wide result (two columns) or a long one (two labels of a period column).

use std::collections::BTreeMap;

use super::compare::Days;
use super::table::Table;
use super::words::Note;
use super::{Columns, MetricError, Number, period};

/// Where the two sides come from.
#[derive(Clone, Copy)]
pub(super) struct Sides<'a> {
    pub(super) group: Option<&'a Columns>,
    pub(super) old: &'a str,
    pub(super) new: &'a str,
    pub(super) period: Option<&'a str>,
    pub(super) value: Option<&'a str>,
    pub(super) old_days: Option<&'a Days>,
    pub(super) new_days: Option<&'a Days>,
}

/// One group's two values; `None` on the side where it does not occur.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Pair {
    pub(super) group: String,
    pub(super) old: Option<Number>,
    pub(super) new: Option<Number>,
    pub(super) old_days: Option<Number>,
    pub(super) new_days: Option<Number>,
}

impl Pair {
    /// New − old, where a side without the group counts as zero, so that differences add up to the total's.
    pub(super) fn delta(&self) -> Number {
        self.new.unwrap_or(Number::ZERO).minus(self.old.unwrap_or(Number::ZERO))
    }
}

pub(super) struct Pairs {
    /// One per group, in order of name; groups without a value on either side are left out.
    pub(super) pairs: Vec<Pair>,
    pub(super) notes: Vec<Note>,
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Old,
    New,
}

impl Pairs {
    pub(super) fn read(table: &Table<'_>, sides: Sides<'_>) -> Result<Self, MetricError> {
        let groups = table.optional_groups(sides.group)?;
        let mut collector = Collector {
            table,
            adds: sides.group.is_none(),
            pairs: BTreeMap::new(),
            rows: 0,
        };
        let mut notes = Vec::new();
        let (old_days, new_days) = (days(table, sides.old_days)?, days(table, sides.new_days)?);
        match (sides.period, sides.value) {
            (Some(column), Some(value)) => {
                let of_row = side_of_rows(table, column, sides)?;
                let numbers = table.numbers(value)?;
                notes = numbers.notes;
                for (row, group) in groups.iter().enumerate() {
                    let Some(side) = of_row.get(row).copied().flatten() else {
                        continue;
                    };
                    let days = if side == Side::Old { &old_days } else { &new_days };
                    collector.add(group, side, at(&numbers.values, row), at(days, row))?;
                }
            }
            (None, None) => {
                let (old, new) = (table.numbers(sides.old)?, table.numbers(sides.new)?);
                notes.extend(
                    old.notes
                        .into_iter()
                        .chain(new.notes)
                        .filter(|note| !matches!(note, Note::NullsSkipped { .. })),
                );
                for (row, group) in groups.iter().enumerate() {
                    collector.add(group, Side::Old, at(&old.values, row), at(&old_days, row))?;
                    collector.add(group, Side::New, at(&new.values, row), at(&new_days, row))?;
                }
            }
            (Some(_), None) => {
                return Err(missing_argument(
                    "value",
                    "name the column that is compared, beside `period`",
                ));
            }
            (None, Some(_)) => {
                let advice = "name the column that holds the labels, or leave `value` out and name two columns as `old` and `new`";
                return Err(missing_argument("period", advice));
            }
        }
        let (rows, adds) = (collector.rows, collector.adds);
        let pairs: Vec<Pair> = collector
            .pairs
            .into_values()
            .filter(|pair| pair.old.is_some() || pair.new.is_some())
            .collect();
        if adds && rows > 2 * pairs.len() {
            notes.push(Note::RowsAdded {
                groups: pairs.len(),
                rows: table.rows(),
            });
        }
        Ok(Self { pairs, notes })
    }

    /// Notes on groups that occur on one side only.
    pub(super) fn one_sided(&self) -> Vec<Note> {
        let names = |keep: fn(&Pair) -> bool| -> Vec<String> {
            self.pairs
                .iter()
                .filter(|pair| keep(pair))
                .map(|pair| pair.group.clone())
                .collect()
        };
        let only_old = names(|pair| pair.new.is_none());
        let only_new = names(|pair| pair.old.is_none());
        let mut notes = Vec::new();
        if !only_old.is_empty() {
            notes.push(Note::OnlyOld { names: only_old });
        }
        if !only_new.is_empty() {
            notes.push(Note::OnlyNew { names: only_new });
        }
        notes
    }

    /// The sum of all pairs. Days are carried over only where they are one count for all.
    pub(super) fn total(&self, name: &str, old_days: Option<&Days>, new_days: Option<&Days>) -> Pair {
        let count = |days: Option<&Days>| match days {
            Some(Days::Count(count)) => Some(Number::from(i64::from(*count))),
            Some(Days::Column(_)) | None => None,
        };
        Pair {
            group: name.to_owned(),
            old: Some(self.pairs.iter().filter_map(|pair| pair.old).sum()),
            new: Some(self.pairs.iter().filter_map(|pair| pair.new).sum()),
            old_days: count(old_days),
            new_days: count(new_days),
        }
    }
}

/// Gathers values into pairs, and refuses a second value for the same group and side unless all rows are one group.
struct Collector<'a> {
    table: &'a Table<'a>,
    adds: bool,
    pairs: BTreeMap<String, Pair>,
    rows: usize,
}

impl Collector<'_> {
    fn add(&mut self, group: &str, side: Side, value: Option<Number>, days: Option<Number>) -> Result<(), MetricError> {
        let pair = self.pairs.entry(group.to_owned()).or_default();
        group.clone_into(&mut pair.group);
        let (slot, days_slot) = match side {
            Side::Old => (&mut pair.old, &mut pair.old_days),
            Side::New => (&mut pair.new, &mut pair.new_days),
        };
        let Some(value) = value else { return Ok(()) };
        if slot.is_some() && !self.adds {
            return Err(self.table.repeated(format!("`{group}`")));
        }
        self.rows += 1;
        *slot = Some(slot.map_or(value, |sum| sum.plus(value)));
        *days_slot = days;
        Ok(())
    }
}

/// Which side each row of a long result is on: by the label as written, else by the period that it means.
fn side_of_rows(table: &Table<'_>, column: &str, sides: Sides<'_>) -> Result<Vec<Option<Side>>, MetricError> {
    let texts = table.texts(column)?;
    let matches = |label: &str, text: &str| text.trim() == label.trim();
    let means_the_same =
        |label: &str, text: &str| period::day_of(label).is_some_and(|day| period::day_of(text) == Some(day));
    let chooser = |label: &str| {
        let written = texts.iter().flatten().any(|text| matches(label, text));
        let meant = texts.iter().flatten().any(|text| means_the_same(label, text));
        match (written, meant) {
            (true, _) => Ok(written),
            (false, true) => Ok(false),
            (false, false) => Err(unknown_period(table, label, column, &texts)),
        }
    };
    let (old_as_written, new_as_written) = (chooser(sides.old)?, chooser(sides.new)?);
    let is = |label: &str, as_written: bool, text: &str| {
        if as_written {
            matches(label, text)
        } else {
            means_the_same(label, text)
        }
    };
    let side = |text: &Option<String>| {
        let text = text.as_deref()?;
        if is(sides.old, old_as_written, text) {
            Some(Side::Old)
        } else {
            is(sides.new, new_as_written, text).then_some(Side::New)
        }
    };
    Ok(texts.iter().map(side).collect())
}

fn unknown_period(table: &Table<'_>, label: &str, column: &str, texts: &[Option<String>]) -> MetricError {
    /// Enough to see how the labels are spelt.
    const SHOWN: usize = 24;
    let mut available: Vec<String> = texts.iter().flatten().cloned().collect();
    available.sort_unstable();
    available.dedup();
    available.truncate(SHOWN);
    MetricError::UnknownPeriod {
        label: label.to_owned(),
        column: column.to_owned(),
        source_id: table.source.to_owned(),
        available,
    }
}

fn days(table: &Table<'_>, days: Option<&Days>) -> Result<Vec<Option<Number>>, MetricError> {
    match days {
        None => Ok(Vec::new()),
        Some(Days::Count(0)) => Err(MetricError::BadArgument {
            argument: "old_days",
            value: "0".to_owned(),
            advice: "a period without a day has nothing to compare; leave the day counts out".to_owned(),
        }),
        Some(Days::Count(count)) => Ok(vec![Some(Number::from(i64::from(*count))); table.rows()]),
        Some(Days::Column(name)) => Ok(table.numbers(name)?.values),
    }
}

fn at(values: &[Option<Number>], row: usize) -> Option<Number> {
    values.get(row).copied().flatten()
}

fn missing_argument(argument: &'static str, advice: &str) -> MetricError {
    MetricError::BadArgument {
        argument,
        value: "missing".to_owned(),
        advice: advice.to_owned(),
    }
}
