//! Half-open windows of days.

use jiff::ToSpan;
use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Grain;

/// A half-open span of days `[start, end)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Window {
    /// First day that belongs to the window (ISO 8601).
    #[schemars(with = "String")]
    pub start: Date,
    /// First day that no longer belongs to it (ISO 8601).
    #[schemars(with = "String")]
    pub end: Date,
}

impl Window {
    /// Stands for "no beginning" where the data's first date is not known.
    pub const OPEN_START: Date = Date::constant(1, 1, 1);
    /// Stands for "no end" where the data's last date is not known.
    pub const OPEN_END: Date = Date::constant(9999, 12, 31);

    /// `None` when there is no day in it.
    pub fn new(start: Date, end: Date) -> Option<Self> {
        (start < end).then_some(Self { start, end })
    }

    /// From `first` to `last`, both included; `None` when `last` is before `first`.
    pub fn inclusive(first: Date, last: Date) -> Option<Self> {
        Self::new(first, last.tomorrow().ok()?)
    }

    /// The one day.
    pub fn day(day: Date) -> Option<Self> {
        Self::inclusive(day, day)
    }

    /// The period of `grain` that `day` lies in.
    pub fn around(day: Date, grain: Grain) -> Self {
        Self {
            start: grain.truncate(day),
            end: grain.next(day),
        }
    }

    /// `None` for a month or year that does not exist.
    pub fn month(year: i16, month: i8) -> Option<Self> {
        Some(Self::around(Date::new(year, month, 1).ok()?, Grain::Month))
    }

    /// `quarter` is 1 to 4.
    pub fn quarter(year: i16, quarter: i8) -> Option<Self> {
        let month = quarter.checked_sub(1)?.checked_mul(3)?.checked_add(1)?;
        Some(Self::around(Date::new(year, month, 1).ok()?, Grain::Quarter))
    }

    /// `half` is 1 or 2.
    pub fn half(year: i16, half: i8) -> Option<Self> {
        match half {
            1 => Self::new(Date::new(year, 1, 1).ok()?, Date::new(year, 7, 1).ok()?),
            2 => Self::new(Date::new(year, 7, 1).ok()?, Date::new(year.checked_add(1)?, 1, 1).ok()?),
            _ => None,
        }
    }

    /// The calendar year.
    pub fn year(year: i16) -> Option<Self> {
        Some(Self::around(Date::new(year, 1, 1).ok()?, Grain::Year))
    }

    /// How many days are in it.
    pub fn days(&self) -> i64 {
        days_between(self.start, self.end)
    }

    pub fn contains(&self, day: Date) -> bool {
        self.start <= day && day < self.end
    }

    /// The last day that belongs to it.
    pub fn last_day(&self) -> Date {
        self.end.yesterday().unwrap_or(self.end)
    }

    /// The days that both have.
    pub fn intersect(&self, other: &Self) -> Option<Self> {
        Self::new(self.start.max(other.start), self.end.min(other.end))
    }

    /// The shortest window that holds both.
    pub fn hull(&self, other: &Self) -> Self {
        Self {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }

    /// Does it begin at the first day of the calendar, which stands for "no beginning"?
    pub fn is_open_start(&self) -> bool {
        self.start == Self::OPEN_START
    }

    pub fn is_open_end(&self) -> bool {
        self.end == Self::OPEN_END
    }

    /// The coarsest calendar unit that it is made of, and how many of them: July and August are (Month, 2), a
    /// quarter is (Quarter, 1), the first half of a year (Quarter, 2), the 1st to the 15th (Day, 15).
    ///
    /// Weeks are never named: seven days are seven days.
    pub fn units(&self) -> (Grain, i64) {
        let aligned = |grain: Grain| grain.truncate(self.start) == self.start && grain.truncate(self.end) == self.end;
        let months = i64::from(self.end.year() - self.start.year()) * 12 + i64::from(self.end.month())
            - i64::from(self.start.month());
        if aligned(Grain::Year) {
            (Grain::Year, months / 12)
        } else if aligned(Grain::Quarter) {
            (Grain::Quarter, months / 3)
        } else if aligned(Grain::Month) {
            (Grain::Month, months)
        } else {
            (Grain::Day, self.days())
        }
    }

    /// The window of the same kind just before it: the month before a month, the quarter before a quarter, and
    /// otherwise the same number of days.
    pub fn previous(&self) -> Self {
        let (grain, count) = self.units();
        let start = grain.step(self.start, -count);
        Self { start, end: self.start }
    }

    /// The window of the same kind just after it.
    pub fn following(&self) -> Self {
        let (grain, count) = self.units();
        Self {
            start: self.end,
            end: grain.step(self.end, count),
        }
    }

    /// The same dates one year earlier; 29 February becomes the 28th.
    pub fn year_ago(&self) -> Self {
        let back = |day: Date| day.checked_sub(1.year()).unwrap_or(day);
        let (start, end) = (back(self.start), back(self.end));
        Self { start, end }
    }
}

/// Days from `from` to `to`; negative when `to` is earlier.
pub(super) fn days_between(from: Date, to: Date) -> i64 {
    from.until(to).map_or(0, |span| i64::from(span.get_days()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;
    use rstest::rstest;

    fn window(start: (i16, i8, i8), end: (i16, i8, i8)) -> Window {
        Window {
            start: date(start.0, start.1, start.2),
            end: date(end.0, end.1, end.2),
        }
    }

    #[rstest]
    #[case(window((2005, 8, 1), (2005, 9, 1)), window((2005, 7, 1), (2005, 8, 1)))]
    #[case(window((2005, 3, 1), (2005, 4, 1)), window((2005, 2, 1), (2005, 3, 1)))]
    #[case(window((2005, 1, 1), (2005, 4, 1)), window((2004, 10, 1), (2005, 1, 1)))]
    #[case(window((2005, 7, 1), (2006, 1, 1)), window((2005, 1, 1), (2005, 7, 1)))]
    #[case(window((2004, 1, 1), (2005, 1, 1)), window((2003, 1, 1), (2004, 1, 1)))]
    #[case(window((2005, 8, 1), (2005, 8, 16)), window((2005, 7, 17), (2005, 8, 1)))]
    #[case(window((2005, 7, 1), (2005, 9, 1)), window((2005, 5, 1), (2005, 7, 1)))]
    fn the_window_before_is_of_the_same_kind(#[case] of: Window, #[case] expected: Window) {
        assert_eq!(of.previous(), expected);
    }

    #[rstest]
    #[case(window((2005, 8, 1), (2005, 9, 1)), window((2004, 8, 1), (2004, 9, 1)))]
    #[case(window((2004, 2, 1), (2004, 3, 1)), window((2003, 2, 1), (2003, 3, 1)))]
    #[case(window((2004, 2, 29), (2004, 3, 1)), window((2003, 2, 28), (2003, 3, 1)))]
    fn a_year_ago_keeps_the_calendar(#[case] of: Window, #[case] expected: Window) {
        assert_eq!(of.year_ago(), expected);
    }

    #[rstest]
    #[case(window((2005, 8, 1), (2005, 9, 1)), (Grain::Month, 1), 31)]
    #[case(window((2005, 1, 1), (2005, 7, 1)), (Grain::Quarter, 2), 181)]
    #[case(window((2004, 1, 1), (2006, 1, 1)), (Grain::Year, 2), 731)]
    #[case(window((2005, 8, 2), (2005, 8, 9)), (Grain::Day, 7), 7)]
    fn units_and_days_are_counted(#[case] of: Window, #[case] units: (Grain, i64), #[case] days: i64) {
        assert_eq!(of.units(), units);
        assert_eq!(of.days(), days);
    }

    #[test]
    fn a_window_is_half_open_and_never_empty() {
        let august = Window::month(2005, 8).unwrap();
        assert!(august.contains(date(2005, 8, 31)) && !august.contains(date(2005, 9, 1)));
        assert_eq!(august.last_day(), date(2005, 8, 31));
        assert_eq!(Window::new(date(2005, 8, 1), date(2005, 8, 1)), None);
        assert_eq!(Window::month(2005, 13), None);
        assert_eq!(Window::quarter(2005, 5), None);
        assert_eq!(Window::quarter(2005, 4), Some(window((2005, 10, 1), (2006, 1, 1))));
    }

    #[test]
    fn windows_meet_where_they_overlap() {
        let august = window((2005, 8, 1), (2005, 9, 1));
        assert_eq!(
            august.intersect(&window((2005, 8, 20), (2005, 10, 1))),
            Some(window((2005, 8, 20), (2005, 9, 1)))
        );
        assert_eq!(august.intersect(&window((2005, 9, 1), (2005, 10, 1))), None);
    }
}
