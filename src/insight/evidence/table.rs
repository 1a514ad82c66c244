//! A table that an answer may cite, with its numbers in order so that each lookup is a binary search.

use polars::prelude::{AnyValue, DataFrame, DataType, Series};
use rust_decimal::prelude::ToPrimitive;

use crate::insight::metrics::{Cell, Derived, Fact, number_of_text, text_of};
use crate::text::Numeral;
use crate::time::month_name;

/// Rounding noise of `f64`, relative to the number.
const NOISE: f64 = 1e-9;
/// Rows that are searched for names with digits in them.
const MOST_NAMES: usize = 5_000;
/// A name that is longer is a remark, and is not looked for in prose.
const LONGEST_NAME: usize = 80;

/// One table with its numbers sorted by size.
pub(super) struct Table<'a> {
    pub(super) id: &'a str,
    /// `None` where the true count is unknown because the result was cut off.
    pub(super) row_count: Option<usize>,
    pub(super) columns: Vec<String>,
    pub(super) facts: &'a [Fact],
    pub(super) is_derived: bool,
    /// The query's text; empty for derived tables.
    pub(super) sql: &'a str,
    rows: usize,
    /// Sorted by `size`.
    entries: Vec<Entry>,
    /// Column-wise numbers: `numbers[column][row]`; empty for columns without numbers.
    numbers: Vec<Vec<f64>>,
    /// Row-wise names in lower case, from the text columns.
    names: Names<'a>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    /// The absolute value.
    size: f64,
    is_negative: bool,
    column: u32,
    row: u32,
}

/// Where the names of rows are read from.
enum Names<'a> {
    Frame(Vec<Series>),
    Derived(&'a Derived),
}

/// A place in a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) row: usize,
    pub(super) column: usize,
}

impl<'a> Table<'a> {
    /// The table of a query's result. Columns of text that holds numbers count as numbers.
    pub(super) fn of_result(id: &'a str, sql: &'a str, frame: &DataFrame, row_count: Option<usize>) -> Self {
        let mut table = Table {
            id,
            row_count,
            columns: Vec::new(),
            facts: &[],
            is_derived: false,
            sql,
            rows: frame.height(),
            entries: Vec::new(),
            numbers: Vec::new(),
            names: Names::Frame(Vec::new()),
        };
        let mut names = Vec::new();
        for column in frame.columns() {
            let series = column.as_materialized_series().rechunk();
            let numbers = numbers(&series);
            if numbers.is_empty() {
                names.push(series);
            }
            table.columns.push(column.name().to_string());
            table.numbers.push(numbers);
        }
        table.names = Names::Frame(names);
        table.sort();
        table
    }

    pub(super) fn of_derived(derived: &'a Derived) -> Self {
        let column = |position: usize| -> Vec<f64> {
            let cell = |row: &Vec<Cell>| row.get(position).and_then(Cell::as_f64).unwrap_or(f64::NAN);
            derived.rows.iter().map(cell).collect()
        };
        let mut table = Table {
            id: &derived.id,
            row_count: Some(derived.rows.len()),
            columns: derived.columns.iter().map(|column| column.name.clone()).collect(),
            facts: &derived.facts,
            is_derived: true,
            sql: "",
            rows: derived.rows.len(),
            entries: Vec::new(),
            numbers: (0..derived.columns.len()).map(column).collect(),
            names: Names::Derived(derived),
        };
        table.sort();
        table
    }

    fn sort(&mut self) {
        let count = self.numbers.iter().map(Vec::len).sum();
        self.entries = Vec::with_capacity(count);
        for (column, numbers) in self.numbers.iter().enumerate() {
            let Ok(column) = u32::try_from(column) else { break };
            let entry = |(row, number): (usize, &f64)| {
                let row = u32::try_from(row).ok()?;
                number.is_finite().then_some(Entry {
                    size: number.abs(),
                    is_negative: *number < 0.0,
                    column,
                    row,
                })
            };
            self.entries.extend(numbers.iter().enumerate().filter_map(entry));
        }
        self.entries.sort_unstable_by(|a, b| a.size.total_cmp(&b.size));
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// The number at `place`.
    pub(super) fn number(&self, place: Place) -> Option<f64> {
        self.numbers
            .get(place.column)?
            .get(place.row)
            .copied()
            .filter(|number| number.is_finite())
    }

    /// Positions of the columns that hold numbers.
    pub(super) fn numeric_columns(&self) -> impl Iterator<Item = usize> {
        let has_number = |numbers: &Vec<f64>| numbers.iter().any(|number| number.is_finite());
        self.numbers
            .iter()
            .enumerate()
            .filter(move |(_, numbers)| has_number(numbers))
            .map(|(column, _)| column)
    }

    /// The sum of a column, nulls left out.
    pub(super) fn column_sum(&self, column: usize) -> f64 {
        self.numbers
            .get(column)
            .map_or(0.0, |numbers| numbers.iter().filter(|number| number.is_finite()).sum())
    }

    /// Up to `most` places whose number is what `wanted` says, at the precision at which it is written.
    pub(super) fn find(&self, wanted: &Wanted, most: usize) -> Vec<Place> {
        let mut places: Vec<Place> = Vec::new();
        for target in wanted.targets() {
            let first = self.entries.partition_point(|entry| entry.size < target.low);
            let hits = self
                .entries
                .iter()
                .skip(first)
                .take_while(|entry| entry.size <= target.high);
            let fits = hits.filter(|entry| wanted.sign_fits(entry.is_negative));
            let left = most.saturating_sub(places.len());
            places.extend(fits.take(left).map(|entry| Place {
                row: entry.row as usize,
                column: entry.column as usize,
            }));
        }
        places
    }

    /// Is one of the row's names in `words` (which are in lower case)?
    pub(super) fn names_row_in(&self, row: usize, words: &str) -> bool {
        self.has_name(row, |name| {
            contains_name(words, &name.to_lowercase())
                || spoken_month(name).iter().any(|spoken| contains_name(words, spoken))
        })
    }

    /// Does a name of the table that is in `words` hold the digits of `number` ("57" in "57 Chevy")?
    pub(super) fn has_number_in_name(&self, number: &str, words: &str) -> bool {
        let in_name = |name: &str| name.len() > number.len() && contains_name(name, number);
        (0..self.rows.min(MOST_NAMES))
            .any(|row| self.has_name(row, |name| in_name(name) && contains_name(words, &name.to_lowercase())))
    }

    fn has_name(&self, row: usize, is_wanted: impl Fn(&str) -> bool) -> bool {
        let mentions = |name: &str| {
            let name = name.trim();
            !name.is_empty() && name.len() <= LONGEST_NAME && is_wanted(name)
        };
        match &self.names {
            Names::Frame(columns) => columns.iter().any(|column| match column.get(row) {
                Ok(AnyValue::String(name)) => mentions(name),
                Ok(value) => text_of(&value).is_some_and(|name| mentions(&name)),
                Err(_) => false,
            }),
            Names::Derived(derived) => derived
                .rows
                .get(row)
                .is_some_and(|cells| cells.iter().filter_map(Cell::as_text).any(mentions)),
        }
    }
}

/// Is `name` in `words`, and not just as a part of a longer word or number?
fn contains_name(words: &str, name: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    words.match_indices(name).any(|(at, _)| {
        let before = words.get(..at).and_then(|text| text.chars().next_back());
        let after = words.get(at + name.len()..).and_then(|text| text.chars().next());
        let starts_ascii = name.starts_with(|c: char| c.is_ascii_alphanumeric());
        let ends_ascii = name.ends_with(|c: char| c.is_ascii_alphanumeric());
        !(starts_ascii && is_part(before) || ends_ascii && is_part(after))
    })
}

/// How prose names the month `2005-08`, in lower case; empty for other names.
fn spoken_month(name: &str) -> Vec<String> {
    let parts = name
        .split_once('-')
        .filter(|(year, month)| year.len() == 4 && month.len() == 2);
    let numbers = parts.and_then(|(year, month)| Some((year.parse::<i16>().ok()?, month.parse::<i8>().ok()?)));
    let Some((year, month)) = numbers.filter(|(_, month)| (1..=12).contains(month)) else {
        return Vec::new();
    };
    let long = month_name(month).to_lowercase();
    let short: String = long.chars().take(3).collect();
    vec![
        format!("{long} {year}"),
        format!("{short} {year}"),
        format!("{year} 年 {month} 月"),
        format!("{year}年{month}月"),
    ]
}

/// A column's numbers, NaN for nulls; empty when it holds none.
fn numbers(series: &Series) -> Vec<f64> {
    let dtype = series.dtype();
    if dtype.is_primitive_numeric() || dtype.is_decimal() {
        let floats = series.cast(&DataType::Float64);
        return floats
            .and_then(|floats| Ok(floats.f64()?.iter().map(|number| number.unwrap_or(f64::NAN)).collect()))
            .unwrap_or_default();
    }
    if !dtype.is_string() {
        return Vec::new();
    }
    let number = |value: AnyValue<'_>| match value {
        AnyValue::Null => Some(f64::NAN),
        AnyValue::String(text) if text.trim().is_empty() => Some(f64::NAN),
        AnyValue::String(text) => number_of_text(text),
        _ => None,
    };
    let numbers: Option<Vec<f64>> = series.iter().map(number).collect();
    numbers
        .filter(|numbers| numbers.iter().any(|number| number.is_finite()))
        .unwrap_or_default()
}

/// The number that prose means, as the interval of values that are written so.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Wanted {
    value: f64,
    half_step: f64,
    percent: bool,
}

/// An interval of sizes.
#[derive(Debug, Clone, Copy)]
struct Target {
    low: f64,
    high: f64,
}

impl Wanted {
    pub(super) fn new(numeral: &Numeral) -> Self {
        Self {
            value: numeral.value.to_f64().unwrap_or(f64::NAN),
            half_step: numeral.step.to_f64().unwrap_or(0.0) / 2.0,
            percent: numeral.percent,
        }
    }

    /// What the number means: a percentage as a fraction.
    pub(super) fn meaning(&self) -> f64 {
        if self.percent { self.value / 100.0 } else { self.value }
    }

    /// A percentage may stand in a table as a fraction or as it is written.
    fn targets(&self) -> impl Iterator<Item = Target> {
        let as_fraction = self.percent.then(|| self.target(100.0));
        as_fraction.into_iter().chain(std::iter::once(self.target(1.0)))
    }

    fn target(&self, scale: f64) -> Target {
        let (size, reach) = (self.value.abs() / scale, self.half_step / scale);
        let noise = size * NOISE;
        Target {
            low: size - reach - noise,
            high: size + reach + noise,
        }
    }

    /// Prose may leave the sign to a word ("fell by 3%"), but never adds a minus of its own.
    fn sign_fits(&self, is_negative: bool) -> bool {
        is_negative || self.value >= 0.0
    }

    /// Would `number` be written so?
    pub(super) fn is(&self, number: f64) -> bool {
        let size = number.abs();
        number.is_finite()
            && self.sign_fits(number < 0.0)
            && self.targets().any(|target| (target.low..=target.high).contains(&size))
    }

    /// As [`Wanted::is`] for a ratio, which prose writes as a percentage or as a plain factor.
    pub(super) fn is_ratio(&self, ratio: f64) -> bool {
        let target = self.target(if self.percent { 100.0 } else { 1.0 });
        ratio.is_finite() && self.sign_fits(ratio < 0.0) && (target.low..=target.high).contains(&ratio.abs())
    }

    /// Is it a count, written to the unit?
    pub(super) fn is_count(&self, count: usize) -> bool {
        !self.percent && self.half_step == 0.5 && self.value == count as f64
    }

    /// Digits that carry information: a match of a number with one is weak.
    pub(super) fn significant_digits(&self) -> i32 {
        let units = self.value.abs() / (2.0 * self.half_step);
        if units < 1.0 {
            0
        } else {
            units.log10().floor().to_i32().unwrap_or(0) + 1
        }
    }

    pub(super) fn is_percent(&self) -> bool {
        self.percent
    }
}
