//! The input of a metric function: a frame's columns read as numbers, group names or periods.

use jiff::Span;
use jiff::civil::{Date, date};
use polars::prelude::{AnyValue, DataFrame, Series, TimeUnit};
use rust_decimal::Decimal;

use super::cell::decimal_of;
use super::period::{self, Calendar};
use super::words::{Note, no_name};
use super::{Columns, Context, MetricError, Number};
use crate::text::Language;
use crate::time::Grain;

/// Money has two decimals, prices per unit up to four; what has more is a measurement and is computed as a float.
const EXACT_PLACES: u32 = 4;

/// A frame with the id by which messages name it.
#[derive(Clone, Copy)]
pub(super) struct Table<'a> {
    pub(super) frame: &'a DataFrame,
    pub(super) source: &'a str,
    pub(super) language: Language,
}

/// A column read as numbers.
pub(super) struct Numbers {
    /// One per row; `None` where the row has none.
    pub(super) values: Vec<Option<Number>>,
    /// What a reader must know about the reading.
    pub(super) notes: Vec<Note>,
}

impl<'a> Table<'a> {
    /// The table of `frame`; an error when it has no rows.
    pub(super) fn new(frame: &'a DataFrame, context: Context<'a>) -> Result<Self, MetricError> {
        let table = Self {
            frame,
            source: context.source,
            language: context.language,
        };
        if frame.height() == 0 {
            return Err(MetricError::NoRows {
                source_id: table.source.to_owned(),
            });
        }
        Ok(table)
    }

    pub(super) fn rows(&self) -> usize {
        self.frame.height()
    }

    /// The column called `name`, exactly or else in another case.
    fn series(&self, name: &str) -> Result<Series, MetricError> {
        let columns = self.frame.columns();
        let exact = columns.iter().find(|column| column.name().as_str() == name);
        let column = exact.or_else(|| columns.iter().find(|column| column.name().eq_ignore_ascii_case(name)));
        match column {
            Some(column) => Ok(column.as_materialized_series().rechunk()),
            None => Err(MetricError::UnknownColumn {
                name: name.to_owned(),
                source_id: self.source.to_owned(),
                available: columns.iter().map(|column| column.name().to_string()).collect(),
            }),
        }
    }

    /// The column called `name` as numbers.
    ///
    /// Text that holds numbers is read as numbers, blank text as null, `12%` as 0.12. All values come out exact or none.
    pub(super) fn numbers(&self, name: &str) -> Result<Numbers, MetricError> {
        let series = self.series(name)?;
        let values = numbers_of(&series).map_err(|example| MetricError::NotNumbers {
            column: name.to_owned(),
            source_id: self.source.to_owned(),
            example,
            numeric: self.numeric_columns(),
        })?;
        let mut notes = Vec::new();
        let nulls = values.iter().filter(|value| value.is_none()).count();
        if nulls == values.len() {
            notes.push(Note::AllNull {
                column: name.to_owned(),
            });
        } else if nulls > 0 {
            notes.push(Note::NullsSkipped {
                column: name.to_owned(),
                nulls,
            });
        }
        if series.dtype().is_string() && nulls < values.len() {
            notes.push(Note::TextReadAsNumbers {
                column: name.to_owned(),
            });
        }
        Ok(Numbers {
            values: exact_or_float(values),
            notes,
        })
    }

    fn numeric_columns(&self) -> Vec<String> {
        let columns = self.frame.columns().iter();
        let numeric = columns.filter(|column| numbers_of(&column.as_materialized_series().rechunk()).is_ok());
        numeric.map(|column| column.name().to_string()).collect()
    }

    /// The group that each row belongs to; a row without a name is "(none)".
    pub(super) fn groups(&self, columns: &Columns) -> Result<Vec<String>, MetricError> {
        if columns.names().is_empty() {
            return Err(MetricError::BadArgument {
                argument: "group",
                value: "[]".to_owned(),
                advice: "name at least one column".to_owned(),
            });
        }
        let mut names: Vec<Vec<String>> = vec![Vec::new(); self.rows()];
        for column in columns.names() {
            let series = self.series(column)?;
            for (parts, value) in names.iter_mut().zip(series.iter()) {
                parts.extend(text_of(&value).filter(|part| !part.trim().is_empty()));
            }
        }
        let missing = no_name(self.language);
        Ok(names
            .into_iter()
            .map(|parts| {
                if parts.is_empty() {
                    missing.to_owned()
                } else {
                    parts.join(" ")
                }
            })
            .collect())
    }

    /// As [`Table::groups`], with the empty name for every row when no column is given.
    pub(super) fn optional_groups(&self, columns: Option<&Columns>) -> Result<Vec<String>, MetricError> {
        match columns {
            Some(columns) => self.groups(columns),
            None => Ok(vec![String::new(); self.rows()]),
        }
    }

    /// The text of each row's cell, for matching period labels.
    pub(super) fn texts(&self, column: &str) -> Result<Vec<Option<String>>, MetricError> {
        Ok(self.series(column)?.iter().map(|value| text_of(&value)).collect())
    }

    /// The first day of each row's period, and the calendar they are in.
    pub(super) fn periods(
        &self,
        column: &str,
        grain: Option<Grain>,
    ) -> Result<(Vec<Option<Date>>, Calendar), MetricError> {
        let texts = self.texts(column)?;
        let (days, calendar) =
            period::read(texts.iter().map(Option::as_deref), grain).map_err(|example| MetricError::NotPeriods {
                column: column.to_owned(),
                source_id: self.source.to_owned(),
                example,
            })?;
        Ok((
            days.into_iter()
                .map(|day| day.map(|day| calendar.start_of(day)))
                .collect(),
            calendar,
        ))
    }

    pub(super) fn repeated(&self, what: String) -> MetricError {
        MetricError::Repeated {
            what,
            source_id: self.source.to_owned(),
        }
    }
}

/// Exact numbers where every value has at most [`EXACT_PLACES`] decimals, floats otherwise.
fn exact_or_float(values: Vec<Option<Number>>) -> Vec<Option<Number>> {
    let exact: Option<Vec<Option<Number>>> = values
        .iter()
        .map(|value| match value {
            None => Some(None),
            Some(Number::Exact(decimal)) => Some(Some(Number::Exact(*decimal))),
            Some(Number::Float(float)) => decimal_of(*float, EXACT_PLACES).map(|decimal| Some(Number::Exact(decimal))),
        })
        .collect();
    exact.unwrap_or_else(|| {
        values
            .into_iter()
            .map(|value| value.map(|v| Number::Float(v.to_f64())))
            .collect()
    })
}

/// The numbers of a series; `Err` is an example of what is no number. NaN counts as null.
pub(super) fn numbers_of(series: &Series) -> Result<Vec<Option<Number>>, String> {
    series
        .iter()
        .map(|value| match value {
            AnyValue::String(text) if text.trim().is_empty() => Ok(None),
            AnyValue::String(text) => parse_number(text).map(Some).ok_or_else(|| text.to_owned()),
            value => number_of(&value).map_err(|()| text_of(&value).unwrap_or_default()),
        })
        .collect()
}

/// A cell as a number; `Ok(None)` for null and NaN, `Err` for what is no number.
pub(crate) fn number_of(value: &AnyValue<'_>) -> Result<Option<Number>, ()> {
    use AnyValue::{Float32, Float64, Int8, Int16, Int32, Int64, Int128, Null, UInt8, UInt16, UInt32, UInt64};
    let integer = |integer: i64| Ok(Some(Number::from(integer)));
    let float = |float: f64| Ok((!float.is_nan()).then_some(Number::Float(float)));
    match value {
        Null => Ok(None),
        UInt8(v) => integer(i64::from(*v)),
        UInt16(v) => integer(i64::from(*v)),
        UInt32(v) => integer(i64::from(*v)),
        UInt64(v) => Ok(Some(Number::Exact(Decimal::from(*v)))),
        Int8(v) => integer(i64::from(*v)),
        Int16(v) => integer(i64::from(*v)),
        Int32(v) => integer(i64::from(*v)),
        Int64(v) => integer(*v),
        Int128(v) => Ok(Some(exact_or_nearest(*v, 0))),
        AnyValue::Decimal(v, _, scale) => Ok(Some(exact_or_nearest(*v, *scale))),
        Float32(v) => float(f64::from(*v)),
        Float64(v) => float(*v),
        _ => Err(()),
    }
}

fn exact_or_nearest(unscaled: i128, scale: usize) -> Number {
    let exact = u32::try_from(scale)
        .ok()
        .and_then(|scale| Decimal::try_from_i128_with_scale(unscaled, scale).ok());
    let power = i32::try_from(scale).unwrap_or(i32::MAX);
    exact.map_or_else(|| Number::Float(unscaled as f64 / 10f64.powi(power)), Number::Exact)
}

/// A number as people type it into tables: `1,234.50`, `-12`, `$3.20`, `(4.10)`, `12%`.
fn parse_number(text: &str) -> Option<Number> {
    let text = text.trim();
    let (text, negative) = match text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
        Some(inner) => (inner, true),
        None => (text, false),
    };
    let (text, percent) = text
        .strip_suffix('%')
        .map_or((text, false), |text| (text.trim_end(), true));
    let (text, minus) = text.strip_prefix(['-', '−']).map_or((text, false), |text| (text, true));
    let text = text
        .strip_prefix(['$', '€', '£', '¥', '￥'])
        .unwrap_or(text)
        .trim_start();
    let mut number = Number::Exact(Decimal::from_str_exact(&without_separators(text)?).ok()?);
    if percent {
        number = match number {
            Number::Exact(decimal) => Number::Exact(decimal.checked_div(Decimal::ONE_HUNDRED)?),
            Number::Float(float) => Number::Float(float / 100.0),
        };
    }
    Some(if negative != minus {
        Number::ZERO.minus(number)
    } else {
        number
    })
}

/// The number that a text cell holds, as a float.
pub(crate) fn number_of_text(text: &str) -> Option<f64> {
    parse_number(text).map(Number::to_f64)
}

/// `1,234,567.8` without its commas; `None` when they do not stand between groups of three digits.
fn without_separators(text: &str) -> Option<String> {
    let (whole, fraction) = text
        .split_once('.')
        .map_or((text, None), |(whole, fraction)| (whole, Some(fraction)));
    let mut groups = whole.split(',');
    let first = groups.next()?;
    let rest: Vec<&str> = groups.collect();
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let well_grouped = rest.is_empty() || (first.len() <= 3 && rest.iter().all(|group| group.len() == 3));
    let well_formed = digits(first) && rest.iter().all(|group| digits(group)) && fraction.is_none_or(digits);
    (well_grouped && well_formed).then(|| text.replace(',', ""))
}

/// A cell as the text that a reader sees; `None` for null.
pub(crate) fn text_of(value: &AnyValue<'_>) -> Option<String> {
    match value {
        AnyValue::Null => None,
        AnyValue::String(text) => Some((*text).to_owned()),
        AnyValue::StringOwned(text) => Some(text.to_string()),
        AnyValue::Date(days) => {
            Some(day_from_epoch(i64::from(*days)).map_or_else(|| days.to_string(), |day| day.to_string()))
        }
        AnyValue::Datetime(ticks, unit, _) => Some(datetime_text(*ticks, *unit)),
        AnyValue::DatetimeOwned(ticks, unit, _) => Some(datetime_text(*ticks, *unit)),
        AnyValue::Float64(float) => Some(float.to_string()),
        AnyValue::Decimal(unscaled, _, scale) => Some(match exact_or_nearest(*unscaled, *scale) {
            Number::Exact(decimal) => decimal.to_string(),
            Number::Float(float) => float.to_string(),
        }),
        other => Some(other.to_string()),
    }
}

fn day_from_epoch(days: i64) -> Option<Date> {
    date(1970, 1, 1).checked_add(Span::new().try_days(days).ok()?).ok()
}

fn datetime_text(ticks: i64, unit: TimeUnit) -> String {
    let per_second = match unit {
        TimeUnit::Nanoseconds => 1_000_000_000,
        TimeUnit::Microseconds => 1_000_000,
        TimeUnit::Milliseconds => 1_000,
    };
    let seconds = ticks.div_euclid(per_second);
    let of_day = seconds.rem_euclid(86_400);
    match day_from_epoch(seconds.div_euclid(86_400)) {
        Some(day) => format!("{day} {:02}:{:02}:{:02}", of_day / 3600, of_day / 60 % 60, of_day % 60),
        None => ticks.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("1,234.50", Some(1234.5))]
    #[case("$1,234,567", Some(1_234_567.0))]
    #[case("-12", Some(-12.0))]
    #[case("(4.10)", Some(-4.1))]
    #[case("12%", Some(0.12))]
    #[case("¥3.20", Some(3.2))]
    #[case("1,23", None)]
    #[case("12 apples", None)]
    #[case("1.2.3", None)]
    #[case("Leslie", None)]
    #[case("", None)]
    fn text_is_a_number_only_when_it_is_written_as_one(#[case] text: &str, #[case] number: Option<f64>) {
        assert_eq!(parse_number(text).map(Number::to_f64), number);
    }
}
