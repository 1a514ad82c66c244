//! How texts and numbers spell points in time.

use crate::warehouse::catalog::TimeFormat;

/// Watches the distinct texts of a column for a spelling of time that all of them share.
#[derive(Debug, Default)]
pub(super) struct FormatWatch {
    seen: Vec<TimeFormat>,
    failed: bool,
    /// The largest number in first and in second place of `8/1/2005`, which tells months from days.
    slash: (u32, u32),
}

impl FormatWatch {
    pub(super) fn look(&mut self, text: &str) {
        if self.failed {
            return;
        }
        match spelled(text, &mut self.slash) {
            Some(format) if self.seen.contains(&format) => (),
            Some(format) => self.seen.push(format),
            None => self.failed = true,
        }
    }

    /// The spelling that all texts share, to be believed of years and plain digits only where [`is_named`]; `None` where some text is no point in time, or where none was seen.
    pub(super) fn format(&self) -> Option<TimeFormat> {
        if self.failed {
            return None;
        }
        match self.seen.as_slice() {
            [] => None,
            // Which of the two a date such as `3/4/2005` is shows only where some first or second number is a day.
            [TimeFormat::MonthDayYear] => match self.slash {
                (first, second) if first > 12 && second <= 12 => Some(TimeFormat::DayMonthYear),
                (first, second) if first <= 12 && second > 12 => Some(TimeFormat::MonthDayYear),
                _ => None,
            },
            [one] => Some(*one),
            _ => Some(TimeFormat::Varied),
        }
    }
}

/// The spelling of one text.
fn spelled(text: &str, slash: &mut (u32, u32)) -> Option<TimeFormat> {
    let number = |part: &str, digits: std::ops::RangeInclusive<usize>| -> Option<u32> {
        (digits.contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit()))
            .then(|| part.parse().ok())
            .flatten()
    };
    if let Some((date, rest)) = text.split_at_checked(10).filter(|(date, _)| is_iso_date(date)) {
        return match rest.as_bytes() {
            [] => Some(TimeFormat::Date),
            [b' ', time @ ..] if is_time(time) => Some(TimeFormat::DateTime),
            [b'T', time @ ..] if is_time(time) => Some(TimeFormat::DateTimeT),
            _ => None,
        }
        .filter(|_| !date.is_empty());
    }
    match text.len() {
        4 if number(text, 4..=4).is_some_and(|year| (1000..3000).contains(&year)) => return Some(TimeFormat::Year),
        8 if number(text, 8..=8).is_some_and(|date| is_date_number(i64::from(date))) => {
            return Some(TimeFormat::CompactDate);
        }
        _ => (),
    }
    if let [year, month] = *text.split('-').collect::<Vec<_>>() {
        let is_month = number(month, 2..=2).is_some_and(|month| (1..=12).contains(&month));
        return (number(year, 4..=4).is_some() && is_month).then_some(TimeFormat::YearMonth);
    }
    if let [first, second, year] = *text.split(['/', '.']).collect::<Vec<_>>() {
        let (first, second) = (number(first, 1..=2)?, number(second, 1..=2)?);
        let year = year.split(' ').next().unwrap_or_default();
        number(year, 4..=4)?;
        *slash = (first.max(slash.0), second.max(slash.1));
        return Some(TimeFormat::MonthDayYear);
    }
    None
}

fn is_iso_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits =
        |range: std::ops::Range<usize>| bytes.get(range).is_some_and(|part| part.iter().all(u8::is_ascii_digit));
    let value = |range: std::ops::Range<usize>| {
        text.get(range)
            .and_then(|part| part.parse::<u32>().ok())
            .unwrap_or_default()
    };
    digits(0..4)
        && digits(5..7)
        && digits(8..10)
        && bytes.get(4) == Some(&b'-')
        && bytes.get(7) == Some(&b'-')
        && value(5..7) <= 12
        && value(8..10) <= 31
}

/// `10:00`, `10:00:00`, `10:00:00.123`, with or without an offset or `Z` behind.
fn is_time(time: &[u8]) -> bool {
    let two = |at: usize| {
        time.get(at..at + 2)
            .is_some_and(|part| part.iter().all(u8::is_ascii_digit))
    };
    two(0) && time.get(2) == Some(&b':') && two(3)
}

const YEAR_WORDS: &[&str] = &["year", "yr", "年", "年份"];

const TIME_WORDS: &[&str] = &[
    "date",
    "day",
    "time",
    "timestamp",
    "at",
    "on",
    "created",
    "updated",
    "ts",
    "日期",
    "时间",
];

/// A year and a date without dashes look like any number: only a name that speaks of time makes them one.
pub(super) fn is_named(format: TimeFormat, words: &[String]) -> bool {
    let says = |names: &[&str]| words.iter().any(|word| names.contains(&word.as_str()));
    match format {
        TimeFormat::Year => says(YEAR_WORDS),
        TimeFormat::CompactDate | TimeFormat::UnixSeconds | TimeFormat::UnixMilliseconds => says(TIME_WORDS),
        TimeFormat::Date
        | TimeFormat::DateTime
        | TimeFormat::DateTimeT
        | TimeFormat::YearMonth
        | TimeFormat::MonthDayYear
        | TimeFormat::DayMonthYear
        | TimeFormat::Varied => true,
    }
}

/// What integers between `low` and `high` spell, where the column's name speaks of time.
///
/// `words`: the words of the column's name.
pub(super) fn numeric(words: &[String], low: i64, high: i64) -> Option<TimeFormat> {
    let format = if low >= 1000 && high <= 2999 {
        TimeFormat::Year
    } else if is_date_number(low) && is_date_number(high) {
        TimeFormat::CompactDate
    } else if low >= 100_000_000 && high < 10_000_000_000 {
        TimeFormat::UnixSeconds
    } else if low >= 100_000_000_000 && high < 10_000_000_000_000 {
        TimeFormat::UnixMilliseconds
    } else {
        return None;
    };
    is_named(format, words).then_some(format)
}

/// Is this year, month and day in eight digits?
fn is_date_number(number: i64) -> bool {
    let (month, day) = (number / 100 % 100, number % 100);
    (10_000_101..=29_991_231).contains(&number) && (1..=12).contains(&month) && (1..=31).contains(&day)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(&["2005-08-01", "2005-12-31"], Some(TimeFormat::Date))]
    #[case(&["2005-08-01 10:00", "2005-08-01 10:00:00.000"], Some(TimeFormat::DateTime))]
    #[case(&["2005-08-01T10:00:00Z"], Some(TimeFormat::DateTimeT))]
    #[case(&["2005-08-01", "2005-08-01 10:00:00"], Some(TimeFormat::Varied))]
    #[case(&["2005-08", "2006-01"], Some(TimeFormat::YearMonth))]
    #[case(&["8/31/2005", "1/2/2006"], Some(TimeFormat::MonthDayYear))]
    #[case(&["31.8.2005", "1.2.2006"], Some(TimeFormat::DayMonthYear))]
    #[case(&["2005", "2006"], Some(TimeFormat::Year))]
    #[case(&["20050801"], Some(TimeFormat::CompactDate))]
    #[case(&["20051301"], None)]
    #[case(&["3/4/2005"], None)]
    #[case(&["2005-08-01", "n/a"], None)]
    #[case(&["2005-13-01"], None)]
    #[case(&["1.2.3"], None)]
    #[case(&["555-1234"], None)]
    #[case(&["客户"], None)]
    #[case(&[], None)]
    fn texts_that_are_times_are_told_by_their_spelling(#[case] texts: &[&str], #[case] format: Option<TimeFormat>) {
        let mut watch = FormatWatch::default();
        texts.iter().for_each(|text| watch.look(text));
        assert_eq!(watch.format(), format);
    }

    #[rstest]
    #[case("release_year", 1998, 2006, Some(TimeFormat::Year))]
    #[case("order_date", 20050101, 20051231, Some(TimeFormat::CompactDate))]
    #[case("created_at", 1_100_000_000, 1_200_000_000, Some(TimeFormat::UnixSeconds))]
    #[case(
        "created_at",
        1_100_000_000_000,
        1_200_000_000_000,
        Some(TimeFormat::UnixMilliseconds)
    )]
    #[case("quantity", 1998, 2006, None)]
    #[case("order_date", 1, 31, None)]
    fn integers_are_times_where_the_name_says_so(
        #[case] name: &str,
        #[case] low: i64,
        #[case] high: i64,
        #[case] format: Option<TimeFormat>,
    ) {
        assert_eq!(
            numeric(&crate::warehouse::catalog::names::words(name), low, high),
            format
        );
    }
}
