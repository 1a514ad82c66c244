//! How much of a window the data covers, so that a partial period is never compared with a whole one unsaid.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Window;

/// How much of a window lies within the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "coverage", rename_all = "snake_case")]
pub enum Coverage {
    Full,
    /// Data exists for `covered` alone.
    Partial {
        covered: Window,
        days: i64,
        of_days: i64,
    },
    /// The window and the data share no day.
    None,
}

impl Coverage {
    /// Compares `window` with the days from the first to the last row of the data.
    pub fn of(window: Window, data: Window) -> Self {
        match window.intersect(&data) {
            None => Coverage::None,
            Some(covered) if covered == window => Coverage::Full,
            Some(covered) => Coverage::Partial {
                covered,
                days: covered.days(),
                of_days: window.days(),
            },
        }
    }

    /// The part of `earlier` that can be compared like with like: as many days from its start as `window` has covered.
    pub fn like_for_like(window: Window, data: Window, earlier: Window) -> Option<Window> {
        match Self::of(window, data) {
            Coverage::Full => Some(earlier),
            Coverage::None => None,
            Coverage::Partial { covered, .. } => {
                let skipped = super::window::days_between(window.start, covered.start);
                let start = super::Grain::Day.step(earlier.start, skipped);
                let end = super::Grain::Day.step(start, covered.days());
                Window::new(start, end.min(earlier.end))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    fn data() -> Window {
        Window::new(date(2003, 1, 1), date(2005, 12, 13)).unwrap()
    }

    #[test]
    fn a_period_that_the_data_ends_in_is_partial() {
        let december = Window::month(2005, 12).unwrap();
        let covered = Window::new(date(2005, 12, 1), date(2005, 12, 13)).unwrap();
        let expected = Coverage::Partial {
            covered,
            days: 12,
            of_days: 31,
        };
        assert_eq!(Coverage::of(december, data()), expected);
        assert_eq!(Coverage::of(Window::month(2005, 8).unwrap(), data()), Coverage::Full);
        assert_eq!(Coverage::of(Window::month(2006, 1).unwrap(), data()), Coverage::None);
    }

    #[test]
    fn a_partial_month_is_compared_with_as_many_days_of_the_month_before() {
        let (november, december) = (Window::month(2005, 11).unwrap(), Window::month(2005, 12).unwrap());
        let expected = Window::new(date(2005, 11, 1), date(2005, 11, 13));
        assert_eq!(Coverage::like_for_like(december, data(), november), expected);
        let (july, august) = (Window::month(2005, 7).unwrap(), Window::month(2005, 8).unwrap());
        assert_eq!(Coverage::like_for_like(august, data(), july), Some(july));
    }
}
