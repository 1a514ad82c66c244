//! Periods of a series: read from labels, stepped through, and written back in the same style.

use jiff::civil::{Date, ISOWeekDate, Weekday};

use crate::time::Grain;

/// Ten years of days: a longer run of periods is a typing error in one of the labels.
pub(super) const MOST_PERIODS: usize = 4_000;

/// How a column spells its periods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    /// `2005-08-31`
    Day,
    /// `2005-W35`
    Week,
    /// `2005-08`
    Month,
    /// `2005-Q3`
    Quarter,
    /// `2005`
    Year,
}

impl Style {
    /// The finest grain that such labels can tell.
    fn finest(self) -> Grain {
        match self {
            Style::Day => Grain::Day,
            Style::Week => Grain::Week,
            Style::Month => Grain::Month,
            Style::Quarter => Grain::Quarter,
            Style::Year => Grain::Year,
        }
    }
}

/// The grain of a column, where its weeks start, and how it spells its periods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Calendar {
    pub(super) grain: Grain,
    week_start: Weekday,
    style: Style,
}

impl Calendar {
    /// The first day of the period that `day` belongs to.
    pub(super) fn start_of(self, day: Date) -> Date {
        if self.grain != Grain::Week {
            return self.grain.truncate(day);
        }
        let back = day.weekday().since(self.week_start);
        Grain::Day.step(day, -i64::from(back))
    }

    /// The first day of the period `count` periods after the one that starts at `start`.
    pub(super) fn step(self, start: Date, count: i64) -> Date {
        self.grain.step(start, count)
    }

    /// All period starts from `first` up to and including `last`; `None` when there are more than [`MOST_PERIODS`].
    pub(super) fn between(self, first: Date, last: Date) -> Option<Vec<Date>> {
        let mut starts = Vec::new();
        let mut start = first;
        while start <= last {
            if starts.len() == MOST_PERIODS {
                return None;
            }
            starts.push(start);
            start = self.step(start, 1);
        }
        Some(starts)
    }

    /// The label of the period that starts at `start`.
    pub(super) fn label(self, start: Date) -> String {
        let style = match (self.grain, self.style) {
            (Grain::Day, _) | (Grain::Week, Style::Day) => Style::Day,
            (Grain::Week, _) => Style::Week,
            (Grain::Month, _) => Style::Month,
            (Grain::Quarter, _) => Style::Quarter,
            (Grain::Year, _) => Style::Year,
        };
        match style {
            Style::Day => start.to_string(),
            Style::Week => {
                let week = start.iso_week_date();
                format!("{:04}-W{:02}", week.year(), week.week())
            }
            Style::Month => format!("{:04}-{:02}", start.year(), start.month()),
            Style::Quarter => format!("{:04}-Q{}", start.year(), (start.month() - 1) / 3 + 1),
            Style::Year => format!("{:04}", start.year()),
        }
    }
}

/// The days that `labels` mean and the calendar that they are in; `Err` is the first label that is no period.
///
/// The grain is `grain` where given; else the one that the labels spell; full dates are months, quarters, years or weeks
/// when every one of them is the first day of such a period (and there are at least three for weeks and quarters), else days.
pub(super) fn read<'a>(
    labels: impl Iterator<Item = Option<&'a str>>,
    grain: Option<Grain>,
) -> Result<(Vec<Option<Date>>, Calendar), String> {
    let mut days = Vec::new();
    let mut style: Option<Style> = None;
    for label in labels {
        let Some(label) = label.map(str::trim).filter(|label| !label.is_empty()) else {
            days.push(None);
            continue;
        };
        let (day, spelled) = parse(label).ok_or_else(|| label.to_owned())?;
        if *style.get_or_insert(spelled) != spelled {
            return Err(label.to_owned());
        }
        days.push(Some(day));
    }
    let style = style.unwrap_or(Style::Day);
    let distinct = {
        let mut distinct: Vec<Date> = days.iter().flatten().copied().collect();
        distinct.sort_unstable();
        distinct.dedup();
        distinct
    };
    let week_start = distinct.first().map_or(Weekday::Monday, |day| day.weekday());
    let weekly = style == Style::Day && distinct.iter().all(|day| day.weekday() == week_start);
    let grain = grain.map_or_else(
        || natural_grain(style, &distinct, weekly),
        |grain| grain.max(style.finest()),
    );
    let week_start = if weekly && grain == Grain::Week {
        week_start
    } else {
        Weekday::Monday
    };
    Ok((
        days,
        Calendar {
            grain,
            week_start,
            style,
        },
    ))
}

fn natural_grain(style: Style, distinct: &[Date], weekly: bool) -> Grain {
    match style {
        Style::Week | Style::Month | Style::Quarter | Style::Year => style.finest(),
        Style::Day if distinct.len() >= 2 && distinct.iter().all(|day| day.day() == 1) => {
            let first_month = distinct.first().map_or(1, |day| day.month());
            let every = |months: i8| {
                distinct
                    .iter()
                    .all(|day| (day.month() - first_month).rem_euclid(months) == 0)
            };
            if every(12) {
                Grain::Year
            } else if distinct.len() >= 3 && first_month % 3 == 1 && every(3) {
                Grain::Quarter
            } else {
                Grain::Month
            }
        }
        Style::Day if distinct.len() >= 3 && weekly => Grain::Week,
        Style::Day => Grain::Day,
    }
}

/// The first day of the period that `label` names.
pub(super) fn day_of(label: &str) -> Option<Date> {
    parse(label.trim()).map(|(day, _)| day)
}

fn parse(label: &str) -> Option<(Date, Style)> {
    let numbers: Vec<&str> = label.split(['-', '/']).collect();
    match numbers.as_slice() {
        [year] if year.len() == 4 => Some((Date::new(integer(year)?, 1, 1).ok()?, Style::Year)),
        [year_quarter] if year_quarter.len() == 6 => {
            let (year, quarter) = year_quarter.split_at_checked(4)?;
            parse_quarter(year, quarter)
        }
        [year, rest] if year.len() == 4 && rest.starts_with(['Q', 'q']) => parse_quarter(year, rest),
        [year, rest] if year.len() == 4 && rest.starts_with(['W', 'w']) => {
            let week = ISOWeekDate::new(integer(year)?, integer(rest.get(1..)?)?, Weekday::Monday).ok()?;
            Some((week.date(), Style::Week))
        }
        [year, month] if year.len() == 4 && month.len() <= 2 => {
            Some((Date::new(integer(year)?, integer(month)?, 1).ok()?, Style::Month))
        }
        [year, month, day] if year.len() == 4 => {
            let (day, time) = day.split_at(day.find(['T', ' ']).unwrap_or(day.len()));
            let is_time = |c: char| c.is_ascii_digit() || matches!(c, 'T' | ' ' | ':' | '.' | '+' | 'Z');
            time.chars().all(is_time).then_some(())?;
            Some((
                Date::new(integer(year)?, integer(month)?, integer(day)?).ok()?,
                Style::Day,
            ))
        }
        _ => None,
    }
}

fn parse_quarter(year: &str, quarter: &str) -> Option<(Date, Style)> {
    let number: i8 = integer(quarter.strip_prefix(['Q', 'q'])?)?;
    (1..=4).contains(&number).then_some(())?;
    Some((Date::new(integer(year)?, number * 3 - 2, 1).ok()?, Style::Quarter))
}

fn integer<T: std::str::FromStr>(digits: &str) -> Option<T> {
    digits
        .bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| digits.parse().ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("2005-08-31", date(2005, 8, 31))]
    #[case("2005-08-31 23:59:59", date(2005, 8, 31))]
    #[case("2005-08-31T23:59:59.123", date(2005, 8, 31))]
    #[case("2005/8/31", date(2005, 8, 31))]
    #[case("2005-08", date(2005, 8, 1))]
    #[case("2005-Q3", date(2005, 7, 1))]
    #[case("2005Q3", date(2005, 7, 1))]
    #[case("2005-W01", date(2005, 1, 3))]
    #[case("2005", date(2005, 1, 1))]
    fn labels_of_every_grain_are_read(#[case] label: &str, #[case] first_day: Date) {
        assert_eq!(day_of(label), Some(first_day));
    }

    #[rstest]
    #[case("2005-13")]
    #[case("2005-02-30")]
    #[case("2005-Q5")]
    #[case("Leslie")]
    #[case("")]
    #[case("20050831")]
    #[case("08")]
    fn what_is_no_period_is_refused(#[case] label: &str) {
        assert_eq!(day_of(label), None);
    }

    #[rstest]
    #[case(&["2005-08-01", "2005-08-02"], Grain::Day)]
    #[case(&["2005-08-01"], Grain::Day)]
    #[case(&["2005-06-01", "2005-08-01"], Grain::Month)]
    #[case(&["2005-01-01", "2005-04-01", "2005-10-01"], Grain::Quarter)]
    #[case(&["2003-01-01", "2005-01-01"], Grain::Year)]
    #[case(&["2005-08-07", "2005-08-14", "2005-08-28"], Grain::Week)]
    #[case(&["2005-W35", "2005-W36"], Grain::Week)]
    fn the_grain_is_read_from_the_labels(#[case] labels: &[&str], #[case] grain: Grain) {
        let (_, calendar) = read(labels.iter().map(|label| Some(*label)), None).unwrap();
        assert_eq!(calendar.grain, grain);
    }

    #[test]
    fn mixed_spellings_are_refused_by_name() {
        assert_eq!(
            read([Some("2005-08"), Some("2005-08-01")].into_iter(), None).unwrap_err(),
            "2005-08-01"
        );
    }

    #[test]
    fn weeks_keep_the_weekday_that_the_data_starts_them_on() {
        let labels = [Some("2005-08-07"), Some("2005-08-14"), Some("2005-08-28")];
        let (days, calendar) = read(labels.into_iter(), None).unwrap();
        let (first, last) = (days[0].unwrap(), days[2].unwrap());
        let labels: Vec<String> = calendar
            .between(first, last)
            .unwrap()
            .into_iter()
            .map(|d| calendar.label(d))
            .collect();
        assert_eq!(labels, ["2005-08-07", "2005-08-14", "2005-08-21", "2005-08-28"]);
    }

    #[test]
    fn coarser_grains_fold_days_into_their_first_day() {
        let (days, calendar) = read(
            [Some("2005-08-31"), Some("2005-07-01")].into_iter(),
            Some(Grain::Quarter),
        )
        .unwrap();
        let starts: Vec<Date> = days.into_iter().flatten().map(|day| calendar.start_of(day)).collect();
        assert_eq!(starts, [date(2005, 7, 1), date(2005, 7, 1)]);
        assert_eq!(calendar.label(starts[0]), "2005-Q3");
    }
}
