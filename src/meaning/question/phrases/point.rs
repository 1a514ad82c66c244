//! Single dates and periods, some of which still lack their year.

use jiff::civil::Date;

use super::Calendar;
use crate::time::{Grain, Window};

/// A date or period as it was said.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Point {
    Year(i16),
    FiscalYear(i16),
    Half(Option<i16>, i8),
    Quarter(Option<i16>, i8),
    Month(Option<i16>, i8),
    Day(Option<i16>, i8, i8),
    /// Resolved already; with the count of units that it is counted back by, where it is relative.
    Fixed(Window, Option<(Grain, i64)>),
}

impl Point {
    /// The year that was said.
    pub fn year(&self) -> Option<i16> {
        match *self {
            Point::Year(year) | Point::FiscalYear(year) => Some(year),
            Point::Half(year, _) | Point::Quarter(year, _) | Point::Month(year, _) | Point::Day(year, ..) => year,
            Point::Fixed(window, _) => Some(window.start.year()),
        }
    }

    pub fn lacks_year(&self) -> bool {
        self.year().is_none()
    }

    /// The same with `year` where none was said.
    pub fn or_year(self, year: i16) -> Self {
        match self {
            Point::Half(None, half) => Point::Half(Some(year), half),
            Point::Quarter(None, quarter) => Point::Quarter(Some(year), quarter),
            Point::Month(None, month) => Point::Month(Some(year), month),
            Point::Day(None, month, day) => Point::Day(Some(year), month, day),
            Point::Year(_)
            | Point::FiscalYear(_)
            | Point::Half(..)
            | Point::Quarter(..)
            | Point::Month(..)
            | Point::Day(..)
            | Point::Fixed(..) => self,
        }
    }

    /// The days. Without a year: the latest such period that has begun by the as-of date.
    pub fn window(&self, calendar: &Calendar) -> Option<Window> {
        let as_of = calendar.time.as_of.date;
        if let (true, Some(year)) = (self.lacks_year(), calendar.said_year) {
            return self.in_year(year, calendar);
        }
        if let Some(window) = self.in_year(self.year().unwrap_or(as_of.year()), calendar)
            && (!self.lacks_year() || window.start <= as_of)
        {
            return Some(window);
        }
        // 29 February, or a month that is still to come this year: the latest that was.
        (1..=8).find_map(|back| {
            self.in_year(as_of.year().checked_sub(back)?, calendar)
                .filter(|_| self.lacks_year())
        })
    }

    fn in_year(&self, year: i16, calendar: &Calendar) -> Option<Window> {
        let fiscal = calendar.fiscal_year_start;
        match *self {
            Point::Year(_) => Window::year(year),
            Point::FiscalYear(_) if fiscal == 1 => Window::year(year),
            // A fiscal year is named after the calendar year in which it ends.
            Point::FiscalYear(_) => Window::new(
                Date::new(year.checked_sub(1)?, fiscal, 1).ok()?,
                Date::new(year, fiscal, 1).ok()?,
            ),
            Point::Half(_, half) => Window::half(year, half),
            Point::Quarter(_, quarter) => Window::quarter(year, quarter),
            Point::Month(_, month) => Window::month(year, month),
            Point::Day(_, month, day) => Window::day(Date::new(year, month, day).ok()?),
            Point::Fixed(window, _) => Some(window),
        }
    }

    pub fn relative(&self) -> Option<(Grain, i64)> {
        match *self {
            Point::Fixed(_, relative) => relative,
            Point::Year(_)
            | Point::FiscalYear(_)
            | Point::Half(..)
            | Point::Quarter(..)
            | Point::Month(..)
            | Point::Day(..) => None,
        }
    }
}

/// The period of `grain` that lies `back` periods before the one of the as-of date.
pub fn periods_back(calendar: &Calendar, grain: Grain, back: i64) -> Point {
    let start = grain.step(grain.truncate(calendar.time.as_of.date), -back);
    Point::Fixed(Window::around(start, grain), Some((grain, back)))
}

/// `count` units of `grain` that end with the as-of date, that day included.
pub fn rolling(calendar: &Calendar, grain: Grain, count: i64) -> Option<Point> {
    let end = Grain::Day.step(calendar.time.as_of.date, 1);
    let start = grain.step(end, -count);
    Some(Point::Fixed(Window::new(start, end)?, None))
}

/// `count` whole calendar units before the one of the as-of date.
pub fn whole_before(calendar: &Calendar, grain: Grain, count: i64) -> Option<Point> {
    let end = grain.truncate(calendar.time.as_of.date);
    let relative = (count == 1).then_some((grain, 1));
    Some(Point::Fixed(Window::new(grain.step(end, -count), end)?, relative))
}

/// From the beginning of the as-of date's period of `grain` to the as-of date, that day included.
pub fn to_date(calendar: &Calendar, grain: Grain) -> Option<Point> {
    let as_of = calendar.time.as_of.date;
    Some(Point::Fixed(Window::inclusive(grain.truncate(as_of), as_of)?, None))
}
