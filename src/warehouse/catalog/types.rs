//! From a type as a database spells it to the logical type it stands for.

use super::DataType;
use crate::warehouse::Dialect;

impl DataType {
    /// The logical type of `declared`, such as `DECIMAL(10,2)`, `int4` or `timestamp with time zone`.
    ///
    /// What no rule knows is `Other` with the name as it was written; SQLite's columns without a type are `Other("")`.
    pub fn from_declared(dialect: Dialect, declared: &str) -> Self {
        let (name, arguments) = split(declared);
        let first = || arguments.first().copied();
        match name.as_str() {
            "BOOL" | "BOOLEAN" | "LOGICAL" => Self::Boolean,
            "BIT" if first().is_none_or(|bits| bits == 1) => Self::Boolean,
            "TINYINT" if dialect == Dialect::Mysql && first() == Some(1) => Self::Boolean,
            "DECIMAL" | "NUMERIC" | "NUMBER" | "DEC" | "FIXED" | "BIGNUMERIC" => decimal(&arguments),
            "MONEY" | "SMALLMONEY" | "CURRENCY" => Self::Decimal {
                precision: None,
                scale: None,
            },
            "JSON" | "JSONB" => Self::Json,
            "DATE" => Self::Date,
            "TIME" | "TIME WITHOUT TIME ZONE" => Self::Time,
            "DATETIME"
            | "TIMESTAMP"
            | "TIMESTAMP WITHOUT TIME ZONE"
            | "SMALLDATETIME"
            | "DATETIME2"
            | "TIMESTAMP_NTZ" => Self::DateTime,
            "TIMESTAMPTZ" | "TIMESTAMP WITH TIME ZONE" | "TIMESTAMP_TZ" | "TIMESTAMP_LTZ" | "DATETIMEOFFSET" => {
                Self::DateTimeTz
            }
            "OID" | "YEAR" | "SERIAL" | "BIGSERIAL" | "SMALLSERIAL" | "LONG" | "BYTE" | "SHORT" => Self::Integer,
            "INTERVAL" | "POINT" | "POLYGON" => Self::Other(declared.trim().to_owned()),
            _ => by_part(&name).unwrap_or_else(|| Self::Other(declared.trim().to_owned())),
        }
    }

    /// Integer, float or decimal.
    pub fn is_numeric(&self) -> bool {
        matches!(self, Self::Integer | Self::Float | Self::Decimal { .. })
    }

    /// A date, or a date with a time.
    pub fn is_temporal(&self) -> bool {
        matches!(self, Self::Date | Self::DateTime | Self::DateTimeTz)
    }
}

/// Types whose names are built from a known word: `UNSIGNED BIG INT`, `NVARCHAR`, `DOUBLE PRECISION`, `LONGBLOB`.
fn by_part(name: &str) -> Option<DataType> {
    let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    if name.ends_with("[]") || name.contains('<') || name.starts_with("ARRAY") {
        None
    } else if has(&["INT"]) {
        Some(DataType::Integer)
    } else if has(&["CHAR", "CLOB", "TEXT", "STRING", "ENUM", "UUID", "UNIQUEIDENTIFIER"]) || name == "NAME" {
        Some(DataType::Text)
    } else if has(&["REAL", "FLOA", "DOUB"]) {
        Some(DataType::Float)
    } else if has(&["BLOB", "BINARY", "BYTEA", "IMAGE", "BYTES"]) {
        Some(DataType::Blob)
    } else {
        None
    }
}

fn decimal(arguments: &[u32]) -> DataType {
    let mut arguments = arguments.iter().copied();
    let precision = arguments.next();
    // `DECIMAL(10)` has no digits after the point in SQL; a bare `DECIMAL` says nothing.
    let scale = arguments.next().or(precision.map(|_| 0));
    DataType::Decimal { precision, scale }
}

/// `Varchar (40) collate x` → (`VARCHAR`, [40]); words after the parentheses that belong to the type stay.
fn split(declared: &str) -> (String, Vec<u32>) {
    let upper = declared.trim().to_uppercase();
    let Some((head, rest)) = upper.split_once('(') else {
        return (words(&upper), vec![]);
    };
    let (inside, tail) = rest.split_once(')').unwrap_or((rest, ""));
    let arguments = inside
        .split(',')
        .filter_map(|argument| argument.trim().parse().ok())
        .collect();
    (words(&format!("{head} {tail}")), arguments)
}

fn words(text: &str) -> String {
    let signs = ["UNSIGNED", "SIGNED", "ZEROFILL"];
    let kept: Vec<_> = text.split_whitespace().filter(|word| !signs.contains(word)).collect();
    kept.join(" ")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("INTEGER", DataType::Integer)]
    #[case("unsigned big int", DataType::Integer)]
    #[case("INT(11) unsigned", DataType::Integer)]
    #[case("year", DataType::Integer)]
    #[case("NVARCHAR(160)", DataType::Text)]
    #[case("character varying(20)", DataType::Text)]
    #[case("DECIMAL(10,2)", DataType::Decimal { precision: Some(10), scale: Some(2) })]
    #[case("numeric(8)", DataType::Decimal { precision: Some(8), scale: Some(0) })]
    #[case("numeric", DataType::Decimal { precision: None, scale: None })]
    #[case("double precision", DataType::Float)]
    #[case("BLOB SUB_TYPE TEXT", DataType::Text)]
    #[case("bytea", DataType::Blob)]
    #[case("timestamp(6) with time zone", DataType::DateTimeTz)]
    #[case("TIMESTAMP", DataType::DateTime)]
    #[case("date", DataType::Date)]
    #[case("bool", DataType::Boolean)]
    #[case("", DataType::Other(String::new()))]
    #[case("interval", DataType::Other("interval".into()))]
    #[case("integer[]", DataType::Other("integer[]".into()))]
    #[case("map<string,int>", DataType::Other("map<string,int>".into()))]
    #[case("struct<a:decimal(10,2)>", DataType::Other("struct<a:decimal(10,2)>".into()))]
    fn declared_types_stand_for_logical_ones(#[case] declared: &str, #[case] expected: DataType) {
        assert_eq!(DataType::from_declared(Dialect::Sqlite, declared), expected);
    }

    #[test]
    fn a_tinyint_of_one_digit_is_a_boolean_in_mysql_alone() {
        assert_eq!(DataType::from_declared(Dialect::Mysql, "tinyint(1)"), DataType::Boolean);
        assert_eq!(
            DataType::from_declared(Dialect::Sqlite, "tinyint(1)"),
            DataType::Integer
        );
        assert_eq!(DataType::from_declared(Dialect::Mysql, "tinyint(4)"), DataType::Integer);
    }
}
