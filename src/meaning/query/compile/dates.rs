//! Windows and periods of time in the SQL of each dialect, for every way in which dates are written.

use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::meaning::query::compile::QueryError;
use crate::meaning::semantic::TimeFormat;
use crate::time::{Grain, Window};
use crate::warehouse::Dialect;
use crate::warehouse::catalog::DataType;

/// A time field as it stands in a query.
#[derive(Debug, Clone)]
pub(super) struct TimeColumn {
    /// The SQL of its values.
    pub sql: String,
    pub format: TimeFormat,
    pub data_type: DataType,
    /// How people call it, for messages.
    pub name: String,
    pub week_starts_sunday: bool,
}

impl TimeColumn {
    /// `sql >= start AND sql < end`, with the column bare wherever its format allows, so that an index can be used.
    pub fn within(&self, window: &Window, dialect: Dialect) -> Result<Vec<String>, QueryError> {
        let column = self.comparable(dialect)?;
        let start = self.bound(window.start, dialect)?;
        let end = self.bound(window.end, dialect)?;
        Ok(vec![format!("{column} >= {start}"), format!("{column} < {end}")])
    }

    /// The column in a form in which later is larger.
    pub fn comparable(&self, dialect: Dialect) -> Result<String, QueryError> {
        match self.format {
            TimeFormat::MonthFirst | TimeFormat::DayFirst => self.as_iso(dialect),
            _ => Ok(self.sql.clone()),
        }
    }

    /// `date` written as the column writes dates.
    pub fn bound(&self, date: Date, dialect: Dialect) -> Result<String, QueryError> {
        let (year, month) = (date.year(), date.month());
        let is_text = !self.data_type.is_numeric();
        let written = |digits: String| if is_text { format!("'{digits}'") } else { digits };
        let aligned = |on: bool, unit: &str| match on {
            true => Ok(()),
            false => Err(QueryError::shape(
                format!("`{}` holds whole {unit}s, so it cannot be cut at {date}", self.name),
                format!("use windows of whole {unit}s"),
            )),
        };
        Ok(match self.format {
            TimeFormat::Native => native(date, &self.data_type, dialect),
            TimeFormat::IsoText | TimeFormat::MonthFirst | TimeFormat::DayFirst => format!("'{date}'"),
            TimeFormat::Compact => written(format!("{year:04}{month:02}{:02}", date.day())),
            TimeFormat::YearMonth => {
                aligned(date.day() == 1, "month")?;
                format!("'{year:04}-{month:02}'")
            }
            TimeFormat::Year => {
                aligned(date.day() == 1 && month == 1, "year")?;
                written(format!("{year:04}"))
            }
            TimeFormat::EpochSeconds => written(seconds(date)?.to_string()),
            TimeFormat::EpochMillis => written((seconds(date)? * 1000).to_string()),
        })
    }

    /// The period that each value falls in, as text that sorts: `2005-08-01` (also for weeks), `2005-08`, `2005-Q3`, `2005`.
    pub fn period(&self, grain: Grain, dialect: Dialect) -> Result<String, QueryError> {
        match self.format {
            TimeFormat::Year | TimeFormat::YearMonth => self.period_of_part(grain, dialect),
            _ if dialect == Dialect::Sqlite => {
                let (value, modifier) = self.sqlite_value();
                Ok(sqlite_period(&value, modifier, grain, self.week_starts_sunday))
            }
            _ => typed_period(&self.as_date(dialect)?, grain, dialect, self.week_starts_sunday),
        }
    }

    /// Periods of values that are no whole dates.
    fn period_of_part(&self, grain: Grain, dialect: Dialect) -> Result<String, QueryError> {
        let sql = &self.sql;
        let text = match dialect {
            Dialect::Mysql => format!("CAST({sql} AS CHAR)"),
            _ => format!("CAST({sql} AS TEXT)"),
        };
        match (self.format, grain) {
            (TimeFormat::Year, Grain::Year) => Ok(text),
            (TimeFormat::YearMonth, Grain::Month) => Ok(sql.clone()),
            (TimeFormat::YearMonth, Grain::Year) => Ok(format!("SUBSTR({sql}, 1, 4)")),
            (_, grain) => Err(QueryError::shape(
                format!("`{}` is too coarse to be cut by {grain:?}", self.name).to_lowercase(),
                "use a longer period, or another time field",
            )),
        }
    }

    /// A value that SQLite's date functions read, and the modifier it needs.
    fn sqlite_value(&self) -> (String, &'static str) {
        let sql = &self.sql;
        match self.format {
            TimeFormat::EpochSeconds => (sql.clone(), ", 'unixepoch'"),
            TimeFormat::EpochMillis => (format!("{sql} / 1000"), ", 'unixepoch'"),
            TimeFormat::Compact => (
                format!("SUBSTR({sql}, 1, 4) || '-' || SUBSTR({sql}, 5, 2) || '-' || SUBSTR({sql}, 7, 2)"),
                "",
            ),
            TimeFormat::MonthFirst => (sqlite_slashed(sql, true), ""),
            TimeFormat::DayFirst => (sqlite_slashed(sql, false), ""),
            TimeFormat::Native | TimeFormat::IsoText | TimeFormat::YearMonth | TimeFormat::Year => (sql.clone(), ""),
        }
    }

    /// The column as ISO text, or as a date where the engine has dates.
    fn as_iso(&self, dialect: Dialect) -> Result<String, QueryError> {
        match dialect {
            Dialect::Sqlite => Ok(self.sqlite_value().0),
            _ => self.as_date(dialect),
        }
    }

    /// The column as the engine's own date.
    fn as_date(&self, dialect: Dialect) -> Result<String, QueryError> {
        let sql = &self.sql;
        let pattern = |month_first: &str, day_first: &str| match self.format {
            TimeFormat::DayFirst => day_first.to_owned(),
            _ => month_first.to_owned(),
        };
        Ok(match (self.format, dialect) {
            (TimeFormat::Native, _) => sql.clone(),
            (TimeFormat::IsoText, _) => format!("CAST({sql} AS DATE)"),
            (TimeFormat::MonthFirst | TimeFormat::DayFirst, Dialect::Postgres | Dialect::Snowflake) => {
                format!("TO_DATE({sql}, '{}')", pattern("MM/DD/YYYY", "DD/MM/YYYY"))
            }
            (TimeFormat::MonthFirst | TimeFormat::DayFirst, Dialect::Mysql) => {
                format!("STR_TO_DATE({sql}, '{}')", pattern("%m/%d/%Y", "%d/%m/%Y"))
            }
            (TimeFormat::MonthFirst | TimeFormat::DayFirst, Dialect::Duckdb) => {
                format!("STRPTIME({sql}, '{}')", pattern("%m/%d/%Y", "%d/%m/%Y"))
            }
            (TimeFormat::Compact, Dialect::Postgres | Dialect::Snowflake) => {
                format!("TO_DATE(CAST({sql} AS TEXT), 'YYYYMMDD')")
            }
            (TimeFormat::Compact, Dialect::Mysql) => format!("STR_TO_DATE({sql}, '%Y%m%d')"),
            (TimeFormat::EpochSeconds, Dialect::Postgres | Dialect::Duckdb) => format!("TO_TIMESTAMP({sql})"),
            (TimeFormat::EpochMillis, Dialect::Postgres | Dialect::Duckdb) => format!("TO_TIMESTAMP({sql} / 1000)"),
            (TimeFormat::EpochSeconds, Dialect::Mysql) => format!("FROM_UNIXTIME({sql})"),
            (TimeFormat::EpochMillis, Dialect::Mysql) => format!("FROM_UNIXTIME({sql} / 1000)"),
            (format, dialect) => {
                return Err(QueryError::shape(
                    format!(
                        "`{}` writes its dates as {format:?}, which {dialect:?} cannot cut into periods",
                        self.name
                    ),
                    "add a field with a date type to the semantic model",
                ));
            }
        })
    }
}

/// A date literal that the engine compares with a column of its own date types.
fn native(date: Date, data_type: &DataType, dialect: Dialect) -> String {
    match (dialect, data_type) {
        (Dialect::Sqlite | Dialect::Mysql | Dialect::Clickhouse, _) => format!("'{date}'"),
        (Dialect::Bigquery, DataType::DateTimeTz) => format!("TIMESTAMP '{date}'"),
        (Dialect::Bigquery, DataType::DateTime) => format!("DATETIME '{date}'"),
        _ => format!("DATE '{date}'"),
    }
}

fn seconds(date: Date) -> Result<i64, QueryError> {
    TimeZone::UTC
        .to_timestamp(date.at(0, 0, 0, 0))
        .map(|timestamp| timestamp.as_second())
        .map_err(|error| QueryError::shape(format!("{date} is no date: {error}"), "use dates from year 1 to 9999"))
}

/// `8/1/2005`, with or without zeros and a time of day, as `2005-08-01`.
fn sqlite_slashed(sql: &str, month_first: bool) -> String {
    let text = format!("REPLACE(REPLACE({sql}, '.', '/'), '-', '/')");
    let rest = format!("SUBSTR({text}, INSTR({text}, '/') + 1)");
    let first = format!("CAST({text} AS INTEGER)");
    let second = format!("CAST({rest} AS INTEGER)");
    let year = format!("CAST(SUBSTR({rest}, INSTR({rest}, '/') + 1) AS INTEGER)");
    let (month, day) = if month_first { (first, second) } else { (second, first) };
    format!("PRINTF('%04d-%02d-%02d', {year}, {month}, {day})")
}

fn sqlite_period(value: &str, modifier: &str, grain: Grain, sunday: bool) -> String {
    match grain {
        Grain::Day => format!("DATE({value}{modifier})"),
        // To the end of the week, then six days back.
        Grain::Week if sunday => format!("DATE({value}{modifier}, 'weekday 6', '-6 days')"),
        Grain::Week => format!("DATE({value}{modifier}, 'weekday 0', '-6 days')"),
        Grain::Month => format!("STRFTIME('%Y-%m', {value}{modifier})"),
        Grain::Quarter => format!(
            "STRFTIME('%Y', {value}{modifier}) || '-Q' || ((CAST(STRFTIME('%m', {value}{modifier}) AS INTEGER) + 2) / 3)"
        ),
        Grain::Year => format!("STRFTIME('%Y', {value}{modifier})"),
    }
}

fn typed_period(value: &str, grain: Grain, dialect: Dialect, sunday: bool) -> Result<String, QueryError> {
    let strftime = |pattern: &str| format!("STRFTIME({value}, '{pattern}')");
    Ok(match dialect {
        Dialect::Postgres | Dialect::Snowflake => {
            let text = |pattern: &str| format!("TO_CHAR({value}, '{pattern}')");
            match grain {
                Grain::Day => text("YYYY-MM-DD"),
                Grain::Week if sunday => {
                    format!("TO_CHAR(DATE_TRUNC('week', {value} + INTERVAL '1 day') - INTERVAL '1 day', 'YYYY-MM-DD')")
                }
                Grain::Week => format!("TO_CHAR(DATE_TRUNC('week', {value}), 'YYYY-MM-DD')"),
                Grain::Month => text("YYYY-MM"),
                Grain::Quarter if dialect == Dialect::Snowflake => {
                    format!("YEAR({value}) || '-Q' || QUARTER({value})")
                }
                Grain::Quarter => text("YYYY-\"Q\"Q"),
                Grain::Year => text("YYYY"),
            }
        }
        Dialect::Mysql => {
            let text = |pattern: &str| format!("DATE_FORMAT({value}, '{pattern}')");
            match grain {
                Grain::Day => text("%Y-%m-%d"),
                Grain::Week if sunday => {
                    format!("DATE_FORMAT(DATE_SUB({value}, INTERVAL DAYOFWEEK({value}) - 1 DAY), '%Y-%m-%d')")
                }
                Grain::Week => format!("DATE_FORMAT(DATE_SUB({value}, INTERVAL WEEKDAY({value}) DAY), '%Y-%m-%d')"),
                Grain::Month => text("%Y-%m"),
                Grain::Quarter => format!("CONCAT(YEAR({value}), '-Q', QUARTER({value}))"),
                Grain::Year => text("%Y"),
            }
        }
        Dialect::Duckdb => match grain {
            Grain::Day => strftime("%Y-%m-%d"),
            Grain::Week => format!("STRFTIME(DATE_TRUNC('week', {value}), '%Y-%m-%d')"),
            Grain::Month => strftime("%Y-%m"),
            Grain::Quarter => format!("YEAR({value}) || '-Q' || QUARTER({value})"),
            Grain::Year => strftime("%Y"),
        },
        Dialect::Bigquery => match grain {
            Grain::Day => format!("FORMAT_DATE('%Y-%m-%d', DATE({value}))"),
            Grain::Week => format!("FORMAT_DATE('%Y-%m-%d', DATE_TRUNC(DATE({value}), ISOWEEK))"),
            Grain::Month => format!("FORMAT_DATE('%Y-%m', DATE({value}))"),
            Grain::Quarter => format!("FORMAT_DATE('%Y-Q%Q', DATE({value}))"),
            Grain::Year => format!("FORMAT_DATE('%Y', DATE({value}))"),
        },
        Dialect::Databricks => match grain {
            Grain::Day => format!("DATE_FORMAT({value}, 'yyyy-MM-dd')"),
            Grain::Week => format!("DATE_FORMAT(DATE_TRUNC('WEEK', {value}), 'yyyy-MM-dd')"),
            Grain::Month => format!("DATE_FORMAT({value}, 'yyyy-MM')"),
            Grain::Quarter => format!("CONCAT(YEAR({value}), '-Q', QUARTER({value}))"),
            Grain::Year => format!("DATE_FORMAT({value}, 'yyyy')"),
        },
        Dialect::Clickhouse => match grain {
            Grain::Day => format!("formatDateTime({value}, '%Y-%m-%d')"),
            Grain::Week => format!("formatDateTime(toMonday({value}), '%Y-%m-%d')"),
            Grain::Month => format!("formatDateTime({value}, '%Y-%m')"),
            Grain::Quarter => format!("concat(toString(toYear({value})), '-Q', toString(toQuarter({value})))"),
            Grain::Year => format!("formatDateTime({value}, '%Y')"),
        },
        Dialect::Sqlite => sqlite_period(value, "", grain, sunday),
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn column(format: TimeFormat, data_type: DataType) -> TimeColumn {
        TimeColumn {
            sql: "t.d".into(),
            format,
            data_type,
            name: "t.d".into(),
            week_starts_sunday: false,
        }
    }

    fn august() -> Window {
        Window {
            start: jiff::civil::date(2005, 8, 1),
            end: jiff::civil::date(2005, 9, 1),
        }
    }

    #[rstest]
    #[case(TimeFormat::IsoText, DataType::Text, Dialect::Sqlite, ["t.d >= '2005-08-01'", "t.d < '2005-09-01'"])]
    #[case(TimeFormat::Native, DataType::DateTime, Dialect::Postgres, ["t.d >= DATE '2005-08-01'", "t.d < DATE '2005-09-01'"])]
    #[case(TimeFormat::Native, DataType::DateTime, Dialect::Mysql, ["t.d >= '2005-08-01'", "t.d < '2005-09-01'"])]
    #[case(TimeFormat::Compact, DataType::Integer, Dialect::Sqlite, ["t.d >= 20050801", "t.d < 20050901"])]
    #[case(TimeFormat::YearMonth, DataType::Text, Dialect::Sqlite, ["t.d >= '2005-08'", "t.d < '2005-09'"])]
    #[case(TimeFormat::EpochSeconds, DataType::Integer, Dialect::Sqlite, ["t.d >= 1122854400", "t.d < 1125532800"])]
    fn windows_are_half_open_on_the_bare_column(
        #[case] format: TimeFormat,
        #[case] data_type: DataType,
        #[case] dialect: Dialect,
        #[case] expected: [&str; 2],
    ) {
        assert_eq!(column(format, data_type).within(&august(), dialect).unwrap(), expected);
    }

    #[test]
    fn a_year_cannot_be_cut_at_a_month() {
        let error = column(TimeFormat::Year, DataType::Integer)
            .within(&august(), Dialect::Sqlite)
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "`t.d` holds whole years, so it cannot be cut at 2005-08-01; use windows of whole years"
        );
    }

    #[rstest]
    #[case(TimeFormat::IsoText, "'2005-08-07 10:00:00'", Grain::Week, "2005-08-01")]
    #[case(TimeFormat::IsoText, "'2005-08-08'", Grain::Week, "2005-08-08")]
    #[case(TimeFormat::IsoText, "'2005-08-07'", Grain::Quarter, "2005-Q3")]
    #[case(TimeFormat::IsoText, "'2005-12-31 23:59:59'", Grain::Month, "2005-12")]
    #[case(TimeFormat::Compact, "20050807", Grain::Day, "2005-08-07")]
    #[case(TimeFormat::EpochSeconds, "1122854400", Grain::Day, "2005-08-01")]
    #[case(TimeFormat::EpochMillis, "1122854400000", Grain::Year, "2005")]
    #[case(TimeFormat::MonthFirst, "'8/7/2005 9:30'", Grain::Day, "2005-08-07")]
    #[case(TimeFormat::DayFirst, "'07.08.2005'", Grain::Month, "2005-08")]
    fn sqlite_cuts_every_format_into_periods(
        #[case] format: TimeFormat,
        #[case] value: &str,
        #[case] grain: Grain,
        #[case] expected: &str,
    ) {
        let mut column = column(format, DataType::Text);
        column.sql = value.to_owned();
        let sql = format!("SELECT {}", column.period(grain, Dialect::Sqlite).unwrap());
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        let period: String = connection.query_row(&sql, [], |row| row.get(0)).unwrap();
        assert_eq!(period, expected, "{sql}");
    }
}
