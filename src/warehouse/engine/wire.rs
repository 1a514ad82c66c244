//! Reading the bytes of database wire formats, and spelling dates and times the ISO 8601 way.

/// Takes values from the front of a byte string; `None` where it ends too early.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(head)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_be_bytes)
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    pub(super) fn i16(&mut self) -> Option<i16> {
        self.array().map(i16::from_be_bytes)
    }

    pub(super) fn i32(&mut self) -> Option<i32> {
        self.array().map(i32::from_be_bytes)
    }

    pub(super) fn i64(&mut self) -> Option<i64> {
        self.array().map(i64::from_be_bytes)
    }

    /// A value with its length in front; the inner `None` is NULL.
    pub(super) fn sized(&mut self) -> Option<Option<&'a [u8]>> {
        match usize::try_from(self.i32()?) {
            Ok(length) => self.take(length).map(Some),
            Err(_) => Some(None),
        }
    }
}

/// The date that lies `days` after 1970-01-01, as `YYYY-MM-DD`; years beyond 9999 with their digits, years before
/// the year 0 with a minus (`-0043` is 44 BC).
pub(super) fn iso_date(days: i64) -> String {
    let (year, month, day) = civil(days);
    let sign = if year < 0 { "-" } else { "" };
    format!("{sign}{:04}-{month:02}-{day:02}", year.unsigned_abs())
}

/// The time of day `micros` microseconds after midnight: `10:00:00`, or with the fraction that there is.
pub(super) fn iso_time(micros: i64) -> String {
    let (seconds, fraction) = (micros.div_euclid(1_000_000), micros.rem_euclid(1_000_000));
    let clock = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if fraction == 0 {
        clock
    } else {
        format!("{clock}.{}", format!("{fraction:06}").trim_end_matches('0'))
    }
}

/// `2005-08-01T10:00:00`, from microseconds after 1970-01-01.
pub(super) fn iso_datetime(micros: i64) -> String {
    const DAY: i64 = 86_400_000_000;
    format!(
        "{}T{}",
        iso_date(micros.div_euclid(DAY)),
        iso_time(micros.rem_euclid(DAY))
    )
}

/// Year, month and day in the proleptic Gregorian calendar. Source: H. Hinnant, "chrono-Compatible Low-Level Date
/// Algorithms", civil_from_days; our own because the calendars of date libraries end where PostgreSQL's does not.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// The shortest decimal that names this 32-bit float: what the engines themselves print.
pub(super) fn widened(value: f32) -> f64 {
    value.to_string().parse().unwrap_or(f64::from(value))
}

/// The word that a statement opens with, upper case, after blanks, comments and parentheses.
///
/// Executable comments (`/*! … */`) are no comments: they give an empty word.
pub(super) fn opening_word(sql: &str) -> String {
    let mut rest = sql;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '(');
        rest = match rest {
            _ if rest.starts_with("--") => rest.split_once('\n').map_or("", |(_, after)| after),
            _ if rest.starts_with("/*") && !rest.starts_with("/*!") && !rest.starts_with("/*M!") => {
                rest.split_once("*/").map_or("", |(_, after)| after)
            }
            _ => break,
        };
    }
    rest.chars()
        .take_while(char::is_ascii_alphabetic)
        .collect::<String>()
        .to_ascii_uppercase()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(0, "1970-01-01")]
    #[case(12_996, "2005-08-01")]
    #[case(-719_528, "0000-01-01")]
    #[case(-719_529, "-0001-12-31")]
    #[case(2_932_897, "10000-01-01")]
    #[case(11_016, "2000-02-29")]
    fn days_are_dates(#[case] days: i64, #[case] date: &str) {
        assert_eq!(iso_date(days), date);
    }

    #[rstest]
    #[case(1_122_890_400_000_000, "2005-08-01T10:00:00")]
    #[case(-1, "1969-12-31T23:59:59.999999")]
    #[case(1_500_000, "1970-01-01T00:00:01.5")]
    fn microseconds_are_times(#[case] micros: i64, #[case] time: &str) {
        assert_eq!(iso_datetime(micros), time);
    }

    #[rstest]
    #[case("select 1", "SELECT")]
    #[case(" -- note\n /* more */ ((WITH x", "WITH")]
    #[case("/*! DROP TABLE t */", "")]
    #[case("/*M! DROP TABLE t */", "")]
    #[case("-- only a comment", "")]
    #[case("", "")]
    fn a_statement_is_told_by_its_first_word(#[case] sql: &str, #[case] word: &str) {
        assert_eq!(opening_word(sql), word);
    }
}
