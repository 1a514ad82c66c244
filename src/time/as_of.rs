//! "Now", resolved once: what relative dates are counted from.

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Window;
use super::window::days_between;

/// Data whose newest row is older than this is a closed book: "last month" then means its last month, not ours.
pub const STALE_AFTER_DAYS: i64 = 45;

/// The day that relative dates are counted from, and why it was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AsOf {
    /// Counts as today (ISO 8601).
    #[schemars(with = "String")]
    pub date: Date,
    pub source: AsOfSource,
}

/// Where the as-of date comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AsOfSource {
    /// The user said so (`--as-of`).
    Given,
    /// The calendar's today.
    Today,
    /// The data's own last date, because the newest row is older than [`STALE_AFTER_DAYS`].
    DataEnd,
}

impl AsOf {
    /// `given` wins; else the data's `newest` date where it is stale on `today`; else `today`.
    pub fn resolve(given: Option<Date>, today: Date, newest: Option<Date>) -> Self {
        match (given, newest) {
            (Some(date), _) => Self {
                date,
                source: AsOfSource::Given,
            },
            (None, Some(newest)) if days_between(newest, today) > STALE_AFTER_DAYS => Self {
                date: newest,
                source: AsOfSource::DataEnd,
            },
            (None, _) => Self {
                date: today,
                source: AsOfSource::Today,
            },
        }
    }
}

/// What phrases about time are resolved against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TimeContext {
    pub as_of: AsOf,
    /// The days that the data covers, where known: "before March" begins there.
    pub data: Option<Window>,
}

impl TimeContext {
    /// Resolves the as-of date from the data's own range: see [`AsOf::resolve`].
    pub fn resolve(given: Option<Date>, today: Date, data: Option<Window>) -> Self {
        let newest = data.map(|window| window.last_day());
        Self {
            as_of: AsOf::resolve(given, today, newest),
            data,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;
    use rstest::rstest;

    const TODAY: Date = date(2026, 11, 30);

    #[rstest]
    #[case(
        Some(date(2005, 8, 31)),
        Some(date(2005, 12, 12)),
        date(2005, 8, 31),
        AsOfSource::Given
    )]
    #[case(None, Some(date(2005, 12, 12)), date(2005, 12, 12), AsOfSource::DataEnd)]
    #[case(None, Some(date(2026, 10, 16)), TODAY, AsOfSource::Today)]
    #[case(None, Some(date(2026, 10, 15)), date(2026, 10, 15), AsOfSource::DataEnd)]
    #[case(None, Some(date(2027, 3, 1)), TODAY, AsOfSource::Today)]
    #[case(None, None, TODAY, AsOfSource::Today)]
    fn as_of_is_given_or_today_or_the_end_of_stale_data(
        #[case] given: Option<Date>,
        #[case] newest: Option<Date>,
        #[case] date: Date,
        #[case] source: AsOfSource,
    ) {
        assert_eq!(AsOf::resolve(given, TODAY, newest), AsOf { date, source });
    }
}
