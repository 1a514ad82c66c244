//! Calendar dates, half-open windows and grains. No clock is read here: "today" is handed in.

mod as_of;
mod coverage;
mod grain;
mod label;
mod window;

pub use as_of::{AsOf, AsOfSource, STALE_AFTER_DAYS, TimeContext};
pub use coverage::Coverage;
pub use grain::Grain;
pub use label::{date_label, month_name};
pub use window::Window;

use jiff::civil::Date;

/// A date that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a date; write it as YYYY-MM-DD, for example 2005-08-31")]
pub struct DateError {
    pub text: String,
}

/// Reads `2005-08-31` (also `2005/8/31` and `2005.8.31`), and the first ten characters of a timestamp such as
/// `2005-08-31 22:01:10` or `2005-08-31T22:01:10Z`.
pub fn parse_date(text: &str) -> Result<Date, DateError> {
    let fail = || DateError { text: text.to_owned() };
    let day_part = text.trim().split(['T', ' ']).next().unwrap_or_default();
    let mut parts = day_part.split(['-', '/', '.']);
    let (Some(year), Some(month), Some(day), None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
        return Err(fail());
    };
    if year.len() != 4 || month.len() > 2 || day.len() > 2 {
        return Err(fail());
    }
    let year = year.parse::<i16>().map_err(|_| fail())?;
    let month = month.parse::<i8>().map_err(|_| fail())?;
    let day = day.parse::<i8>().map_err(|_| fail())?;
    Date::new(year, month, day).map_err(|_| fail())
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;
    use rstest::rstest;

    #[rstest]
    #[case("2005-08-31", date(2005, 8, 31))]
    #[case("2005/8/1", date(2005, 8, 1))]
    #[case(" 2005-08-31 22:01:10 ", date(2005, 8, 31))]
    #[case("2005-08-31T22:01:10Z", date(2005, 8, 31))]
    fn dates_and_timestamps_are_read(#[case] text: &str, #[case] expected: Date) {
        assert_eq!(parse_date(text), Ok(expected));
    }

    #[rstest]
    #[case("2005-02-30")]
    #[case("05-08-31")]
    #[case("yesterday")]
    #[case("")]
    #[case("2005-08")]
    fn what_is_no_date_is_refused_by_name(#[case] text: &str) {
        assert!(parse_date(text).is_err_and(|error| error.text == text));
    }
}
