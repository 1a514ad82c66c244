//! What a report is about: a metric, a dimension, a window and what they are compared with.

use jiff::civil::Date;

use crate::insight::chart;
use crate::meaning::query::{Dimension, Filter, Measure, NamedWindow, Query, Summary};
use crate::meaning::semantic::{Metric, Unit};
use crate::meaning::surroundings::{NamedDimension, Surroundings};
use crate::text::Language;
use crate::time::{Coverage, Grain, TimeContext, Window};

/// Months of history that a trend shows.
const TREND_MONTHS: i64 = 24;
/// Months of history that a group is judged by, the judged one included.
const HISTORY_MONTHS: i64 = 13;

/// The subject with everything around it.
#[derive(Debug, Clone)]
pub struct Subject {
    pub around: Surroundings,
    pub filter: Option<Filter>,
    pub windows: Windows,
    pub language: Language,
}

/// The window asked about and the ones that it is held against.
#[derive(Debug, Clone, PartialEq)]
pub struct Windows {
    pub current: Window,
    /// The part of `current` that the data covers, where that is not all of it.
    pub covered: Option<Window>,
    /// The window before; `None` where the data does not reach back so far.
    pub previous: Option<Window>,
    pub year_ago: Option<Window>,
    /// Length of the periods of a trend around the window.
    pub grain: Grain,
    /// From the start of the trend to the end of the window.
    pub trend: Window,
    /// As `trend`, as long as a group's own history is looked at.
    pub history: Window,
}

impl Windows {
    /// The windows around `current`, as far as the data goes.
    pub fn around(current: Window, time: &TimeContext, asked: Option<Window>) -> Self {
        let data = time.data.unwrap_or(current);
        let alike = |earlier: Window| {
            Coverage::like_for_like(current, data, earlier).filter(|window| window.intersect(&data).is_some())
        };
        let covered = match Coverage::of(current, data) {
            Coverage::Partial { covered, .. } => Some(covered),
            Coverage::Full | Coverage::None => None,
        };
        let grain = trend_grain(current);
        let back = |count: i64| {
            let start = grain.step(grain.truncate(current.last_day()), 1 - count);
            let start = start.min(current.start).max(grain.truncate(data.start));
            Window::new(start, current.end).unwrap_or(current)
        };
        Self {
            current,
            covered,
            previous: asked.or_else(|| alike(current.previous())),
            year_ago: alike(current.year_ago()).filter(|window| Some(*window) != asked),
            grain,
            trend: back(trend_periods(grain)),
            history: back(HISTORY_MONTHS),
        }
    }
}

/// Months for a month; the next shorter unit for what is longer, so that a trend has something to show.
fn trend_grain(window: Window) -> Grain {
    match window.units() {
        (Grain::Year, _) | (Grain::Quarter, _) | (Grain::Month, _) => Grain::Month,
        (Grain::Week | Grain::Day, days) if days >= 28 => Grain::Month,
        (Grain::Week | Grain::Day, days) if days >= 7 => Grain::Week,
        (Grain::Week | Grain::Day, _) => Grain::Day,
    }
}

fn trend_periods(grain: Grain) -> i64 {
    match grain {
        Grain::Month => TREND_MONTHS + 1,
        Grain::Day => 31,
        Grain::Week => 26,
        Grain::Quarter => 12,
        Grain::Year => 10,
    }
}

impl Subject {
    pub fn metric(&self) -> &Metric {
        &self.around.metric
    }

    /// The metric beside the main one that counts transactions ("orders"), where there is one.
    pub fn count(&self) -> Option<&Metric> {
        self.around.companions.iter().find(|metric| metric.unit == Unit::Count)
    }

    pub fn dimension(&self) -> Option<&NamedDimension> {
        self.around.dimension.as_ref()
    }

    /// The main metric and its companions, as measures.
    pub fn measures(&self) -> Vec<Measure> {
        std::iter::once(&self.around.metric)
            .chain(&self.around.companions)
            .map(|metric| Measure::Metric(metric.name.clone()))
            .collect()
    }

    /// The main metric and the count.
    pub fn core_measures(&self) -> Vec<Measure> {
        std::iter::once(&self.around.metric)
            .chain(self.count())
            .map(|metric| Measure::Metric(metric.name.clone()))
            .collect()
    }

    /// A query in the subject's terms: its filter holds, the rest is given.
    pub fn query(&self, measures: Vec<Measure>, dimensions: Vec<Dimension>, window: Option<Window>) -> Summary {
        Summary {
            measures,
            dimensions,
            filter: self.filter.clone(),
            window,
            ..Summary::default()
        }
    }

    /// As [`Subject::query`] over several windows side by side.
    pub fn comparison(&self, measures: Vec<Measure>, dimensions: Vec<Dimension>, windows: &[Window]) -> Query {
        let compare = windows
            .iter()
            .map(|window| NamedWindow {
                label: period_label(window),
                window: *window,
            })
            .collect();
        Query::Summary(Summary {
            compare,
            ..self.query(measures, dimensions, None)
        })
    }

    /// The time dimension at the trend's grain.
    pub fn by_time(&self, grain: Grain) -> Dimension {
        Dimension::Time { grain, field: None }
    }

    pub fn chart_unit(&self) -> chart::Unit {
        super::show::axis_unit(&self.around.metric)
    }

    /// The window's name in the report's language.
    pub fn window_name(&self, window: &Window) -> String {
        window.label(self.language)
    }
}

/// A window's name in queries and charts, which sorts and is the same in every language: `2005-08`, `2005-Q3`, `2005`,
/// `2005-08-01..2005-08-15`.
pub fn period_label(window: &Window) -> String {
    let (grain, count) = window.units();
    if count != 1 {
        return format!("{}..{}", window.start, window.last_day());
    }
    period_name(window.start, grain)
}

/// The name of the period that starts on `start`.
pub fn period_name(start: Date, grain: Grain) -> String {
    match grain {
        Grain::Year => format!("{:04}", start.year()),
        Grain::Quarter => format!("{:04}-Q{}", start.year(), (start.month() - 1) / 3 + 1),
        Grain::Month => format!("{:04}-{:02}", start.year(), start.month()),
        Grain::Week | Grain::Day => start.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use rstest::rstest;

    use super::*;
    use crate::time::AsOf;

    fn time() -> TimeContext {
        let data = Window::new(date(2003, 1, 1), date(2005, 12, 13));
        TimeContext {
            as_of: AsOf::resolve(None, date(2026, 11, 30), data.map(|data| data.last_day())),
            data,
        }
    }

    #[rstest]
    #[case(Window::month(2005, 8), "2005-08")]
    #[case(Window::quarter(2005, 3), "2005-Q3")]
    #[case(Window::year(2005), "2005")]
    #[case(Window::new(date(2005, 8, 1), date(2005, 8, 16)), "2005-08-01..2005-08-15")]
    fn a_windows_label_is_short_and_sorts(#[case] window: Option<Window>, #[case] label: &str) {
        assert_eq!(period_label(&window.unwrap()), label);
    }

    #[test]
    fn a_month_is_held_against_the_month_before_and_the_year_before() {
        let windows = Windows::around(Window::month(2005, 8).unwrap(), &time(), None);
        assert_eq!(windows.previous, Window::month(2005, 7));
        assert_eq!(windows.year_ago, Window::month(2004, 8));
        assert_eq!(windows.trend.start, date(2003, 8, 1));
        assert_eq!(windows.history.start, date(2004, 8, 1));
        assert_eq!(windows.covered, None);
    }

    #[test]
    fn a_partial_month_is_compared_like_with_like() {
        let windows = Windows::around(Window::month(2005, 12).unwrap(), &time(), None);
        assert_eq!(windows.covered, Window::new(date(2005, 12, 1), date(2005, 12, 13)));
        assert_eq!(windows.previous, Window::new(date(2005, 11, 1), date(2005, 11, 13)));
        assert_eq!(windows.year_ago, Window::new(date(2004, 12, 1), date(2004, 12, 13)));
    }

    #[test]
    fn what_lies_before_the_data_is_not_compared_with() {
        let windows = Windows::around(Window::month(2003, 1).unwrap(), &time(), None);
        assert_eq!((windows.previous, windows.year_ago), (None, None));
        assert_eq!(windows.trend, Window::month(2003, 1).unwrap());
    }
}
