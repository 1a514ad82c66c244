//! How a database writes its dates: a fact of the column that both reading and compiling need.

use serde::{Deserialize, Serialize};

use crate::warehouse::catalog::{Column, DataType};

/// How the values of a time field are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeFormat {
    /// The engine's own date or timestamp type.
    Native,
    /// Text that begins `2005-08-01`, with or without a time of day.
    IsoText,
    /// `20050801`, as text or as a number.
    Compact,
    /// `2005-08`, as text.
    YearMonth,
    /// `2005`, as text or as a number.
    Year,
    /// Seconds since 1970.
    EpochSeconds,
    /// Milliseconds since 1970.
    EpochMillis,
    /// `8/1/2005`: the month comes first.
    MonthFirst,
    /// `1/8/2005` or `1.8.2005`: the day comes first.
    DayFirst,
}

/// How `column` writes its dates, by its type and the values that were seen of it.
///
/// `typed` says whether the engine has date types of its own (SQLite has none). `None` when the values seen are no dates.
pub fn time_format(column: &Column, typed: bool) -> Option<TimeFormat> {
    if typed && column.data_type.is_temporal() {
        return Some(TimeFormat::Native);
    }
    let profile = column.profile.as_ref();
    let seen: Vec<&str> = profile
        .iter()
        .flat_map(|p| {
            p.min
                .iter()
                .chain(p.max.iter())
                .chain(p.top.iter().map(|(value, _)| value))
        })
        .map(|value| value.trim())
        .filter(|value| !value.is_empty())
        .collect();
    match seen.is_empty() {
        // Nothing was measured: what the type promises, in the spelling that nearly everybody uses.
        true => column.data_type.is_temporal().then_some(TimeFormat::IsoText),
        false => of_values(&seen),
    }
}

/// The one format that all `values` have.
fn of_values(values: &[&str]) -> Option<TimeFormat> {
    let all = |fits: fn(&str) -> bool| values.iter().all(|value| fits(value));
    if all(is_iso) {
        return Some(TimeFormat::IsoText);
    }
    if all(|v| v.len() == 8 && is_compact(v)) {
        return Some(TimeFormat::Compact);
    }
    if all(|v| v.len() == 7 && year_of(v).is_some() && v.get(4..5) == Some("-")) {
        return Some(TimeFormat::YearMonth);
    }
    if all(|v| v.len() == 4 && year_of(v).is_some()) {
        return Some(TimeFormat::Year);
    }
    if all(|v| (9..=10).contains(&v.len()) && v.bytes().all(|b| b.is_ascii_digit())) {
        return Some(TimeFormat::EpochSeconds);
    }
    if all(|v| (12..=13).contains(&v.len()) && v.bytes().all(|b| b.is_ascii_digit())) {
        return Some(TimeFormat::EpochMillis);
    }
    slashed(values)
}

fn is_iso(value: &str) -> bool {
    let bytes = value.as_bytes();
    let mark = |at: usize| bytes.get(at) == Some(&b'-');
    let digits =
        |range: std::ops::Range<usize>| bytes.get(range).is_some_and(|part| part.iter().all(u8::is_ascii_digit));
    mark(4) && mark(7) && digits(0..4) && digits(5..7) && digits(8..10)
}

fn is_compact(value: &str) -> bool {
    let month = value.get(4..6).and_then(|m| m.parse::<u8>().ok());
    let day = value.get(6..8).and_then(|d| d.parse::<u8>().ok());
    year_of(value).is_some()
        && month.is_some_and(|m| (1..=12).contains(&m))
        && day.is_some_and(|d| (1..=31).contains(&d))
}

fn year_of(value: &str) -> Option<u32> {
    let year = value.get(0..4)?.parse::<u32>().ok()?;
    (1000..=2999).contains(&year).then_some(year)
}

fn slashed(values: &[&str]) -> Option<TimeFormat> {
    let parts = |value: &&str| -> Option<(u32, u32)> {
        let date = value.split([' ', 'T']).next()?;
        let mut parts = date.split(['/', '.', '-']).map(|part| part.parse::<u32>().ok());
        let (first, second, year) = (parts.next()??, parts.next()??, parts.next()??);
        let fits = (1..=31).contains(&first) && (1..=31).contains(&second) && (1000..=2999).contains(&year);
        (fits && parts.next().is_none()).then_some((first, second))
    };
    let pairs: Vec<(u32, u32)> = values.iter().map(parts).collect::<Option<_>>()?;
    let day_first = pairs.iter().any(|(first, _)| *first > 12) || values.iter().any(|v| v.contains('.'));
    let month_first = pairs.iter().any(|(_, second)| *second > 12);
    match (day_first, month_first) {
        (true, true) => None,
        (true, false) => Some(TimeFormat::DayFirst),
        (false, _) => Some(TimeFormat::MonthFirst),
    }
}

/// Is this a type whose values may be dates even though it does not say so?
pub fn may_hold_dates(data_type: &DataType) -> bool {
    data_type.is_temporal() || matches!(data_type, DataType::Text | DataType::Integer | DataType::Other(_))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(&["2005-08-01", "2005-08-23 22:42:48"], Some(TimeFormat::IsoText))]
    #[case(&["20050801", "20051231"], Some(TimeFormat::Compact))]
    #[case(&["2005-08"], Some(TimeFormat::YearMonth))]
    #[case(&["1999", "2006"], Some(TimeFormat::Year))]
    #[case(&["1122854400"], Some(TimeFormat::EpochSeconds))]
    #[case(&["1122854400000"], Some(TimeFormat::EpochMillis))]
    #[case(&["8/1/2005", "12/31/2005"], Some(TimeFormat::MonthFirst))]
    #[case(&["31.12.2005"], Some(TimeFormat::DayFirst))]
    #[case(&["31/12/2005", "12/31/2005"], None)]
    #[case(&["12345678"], None)]
    #[case(&["Monday"], None)]
    fn the_way_dates_are_written_is_told_from_values(#[case] values: &[&str], #[case] expected: Option<TimeFormat>) {
        assert_eq!(of_values(values), expected);
    }
}
