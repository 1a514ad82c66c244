//! The lengths of periods that a series is cut into.

use jiff::ToSpan;
use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Window;

/// The length of the periods that a series is cut into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Grain {
    Day,
    Week,
    Month,
    Quarter,
    Year,
}

impl Grain {
    /// Finest first.
    pub const ALL: [Grain; 5] = [Grain::Day, Grain::Week, Grain::Month, Grain::Quarter, Grain::Year];

    /// The first day of the period that `day` lies in. Weeks begin on Monday (ISO 8601).
    pub fn truncate(self, day: Date) -> Date {
        let first_of = |month: i8| Date::new(day.year(), month, 1).unwrap_or(day);
        match self {
            Grain::Day => day,
            Grain::Week => {
                let past_monday = i64::from(day.weekday().to_monday_zero_offset());
                day.checked_sub(past_monday.days()).unwrap_or(day)
            }
            Grain::Month => day.first_of_month(),
            Grain::Quarter => first_of((day.month() - 1) / 3 * 3 + 1),
            Grain::Year => first_of(1),
        }
    }

    /// The first day of the period after the one that `day` lies in.
    pub fn next(self, day: Date) -> Date {
        self.step(self.truncate(day), 1)
    }

    /// `day` moved by `count` periods; stops at the ends of the calendar.
    pub fn step(self, day: Date, count: i64) -> Date {
        /// Far beyond any calendar, and safe for every span unit.
        const MOST: i64 = 4_000_000;
        let count = count.clamp(-MOST, MOST);
        let span = match self {
            Grain::Day => jiff::Span::new().try_days(count),
            Grain::Week => jiff::Span::new().try_weeks(count),
            Grain::Month => jiff::Span::new().try_months(count),
            Grain::Quarter => jiff::Span::new().try_months(count.saturating_mul(3)),
            Grain::Year => jiff::Span::new().try_years(count),
        };
        let edge = if count < 0 {
            Window::OPEN_START
        } else {
            Window::OPEN_END
        };
        span.and_then(|span| day.checked_add(span)).unwrap_or(edge)
    }

    /// The whole calendar periods that touch `window`, in order; the first and last may reach beyond it.
    pub fn periods(self, window: Window) -> Vec<Window> {
        let mut periods = Vec::new();
        let mut start = self.truncate(window.start);
        while start < window.end {
            let end = self.next(start);
            if end <= start {
                break;
            }
            periods.push(Window { start, end });
            start = end;
        }
        periods
    }

    /// The grain at which a series over `window` has enough points to show a shape and few enough to read: days up
    /// to two months, weeks up to half a year, months up to four years, then quarters, then years.
    pub fn fitting(window: Window) -> Self {
        match window.days() {
            ..=62 => Grain::Day,
            63..=190 => Grain::Week,
            191..=1_500 => Grain::Month,
            1_501..=4_400 => Grain::Quarter,
            _ => Grain::Year,
        }
    }

    /// The next finer one; days have none.
    pub fn finer(self) -> Option<Self> {
        match self {
            Grain::Day => None,
            Grain::Week | Grain::Month => Some(Grain::Day),
            Grain::Quarter => Some(Grain::Month),
            Grain::Year => Some(Grain::Month),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;
    use rstest::rstest;

    #[rstest]
    #[case(Grain::Day, date(2005, 8, 17), date(2005, 8, 18))]
    #[case(Grain::Week, date(2005, 8, 15), date(2005, 8, 22))]
    #[case(Grain::Month, date(2005, 8, 1), date(2005, 9, 1))]
    #[case(Grain::Quarter, date(2005, 7, 1), date(2005, 10, 1))]
    #[case(Grain::Year, date(2005, 1, 1), date(2006, 1, 1))]
    fn a_day_lies_in_one_period_of_each_grain(#[case] grain: Grain, #[case] start: Date, #[case] end: Date) {
        // 17 August 2005 was a Wednesday.
        assert_eq!(Window::around(date(2005, 8, 17), grain), Window { start, end });
    }

    #[test]
    fn periods_cover_the_window() {
        let window = Window::new(date(2005, 1, 15), date(2005, 3, 2)).unwrap();
        let starts: Vec<Date> = Grain::Month.periods(window).iter().map(|period| period.start).collect();
        assert_eq!(starts, [date(2005, 1, 1), date(2005, 2, 1), date(2005, 3, 1)]);
    }

    #[test]
    fn steps_stop_at_the_ends_of_the_calendar() {
        assert_eq!(Grain::Month.step(date(2005, 8, 31), 1), date(2005, 9, 30));
        assert_eq!(Grain::Year.step(date(2005, 8, 31), i64::MAX), Window::OPEN_END);
        assert_eq!(Grain::Day.step(date(2005, 8, 31), -31), date(2005, 7, 31));
        let all = Window::new(Window::OPEN_START, Window::OPEN_END).unwrap();
        assert_eq!(Grain::Year.periods(all).len(), 9999);
    }

    #[rstest]
    #[case(Window::month(2005, 8), Grain::Day)]
    #[case(Window::quarter(2005, 3), Grain::Week)]
    #[case(Window::year(2005), Grain::Month)]
    fn a_series_gets_a_readable_grain(#[case] window: Option<Window>, #[case] expected: Grain) {
        assert_eq!(Grain::fitting(window.unwrap()), expected);
    }
}
