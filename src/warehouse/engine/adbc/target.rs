//! What a person writes behind `adbc:`, read into a value that is safe to show.
//!
//!     adbc:DRIVER[+DIALECT][=LIBRARY]:PLACE[?OPTION=VALUE&…]

use std::path::{Path, PathBuf};

use crate::warehouse::Dialect;

/// Options that belong to the driver and not to the place begin so, beside the two that every driver has.
const OPTION_PREFIX: &str = "adbc.";
const LOGIN_OPTIONS: [&str; 2] = ["username", "password"];

/// What library files end with, before the colon that ends their path.
const LIBRARY_ENDINGS: [&str; 3] = [".so:", ".dylib:", ".dll:"];

/// Names of dialects, as they are written behind `+`.
const DIALECTS: [(&str, Dialect); 9] = [
    ("sqlite", Dialect::Sqlite),
    ("postgres", Dialect::Postgres),
    ("mysql", Dialect::Mysql),
    ("duckdb", Dialect::Duckdb),
    ("snowflake", Dialect::Snowflake),
    ("bigquery", Dialect::Bigquery),
    ("databricks", Dialect::Databricks),
    ("spark", Dialect::Databricks),
    ("clickhouse", Dialect::Clickhouse),
];

/// A driver that can be told by name, or a library that only its path tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Driver {
    Duckdb,
    Spark,
    Databricks,
    FlightSql,
    Snowflake,
    Bigquery,
    Library,
}

impl Driver {
    const NAMED: [(&'static str, Self); 6] = [
        ("duckdb", Self::Duckdb),
        ("spark", Self::Spark),
        ("databricks", Self::Databricks),
        ("flightsql", Self::FlightSql),
        ("snowflake", Self::Snowflake),
        ("bigquery", Self::Bigquery),
    ];

    fn named(name: &str) -> Option<Self> {
        let mut named = Self::NAMED.iter();
        named.find(|(known, _)| *known == name).map(|(_, driver)| *driver)
    }

    /// The SQL of what it connects to; a Flight SQL server and an unknown library can speak any.
    fn dialect(self) -> Option<Dialect> {
        match self {
            Self::Duckdb => Some(Dialect::Duckdb),
            Self::Spark | Self::Databricks => Some(Dialect::Databricks),
            Self::Snowflake => Some(Dialect::Snowflake),
            Self::Bigquery => Some(Dialect::Bigquery),
            Self::FlightSql | Self::Library => None,
        }
    }
}

/// A database behind an ADBC driver. Showing it never shows a password.
#[derive(Clone, PartialEq, Eq)]
#[cfg_attr(not(feature = "adbc"), allow(dead_code))]
pub struct AdbcTarget {
    pub(super) driver: Driver,
    /// The driver's name, or the stem of its library.
    pub(super) driver_name: String,
    /// `None` asks the driver.
    pub(super) dialect: Option<Dialect>,
    pub(super) library: Option<PathBuf>,
    /// A file's path, or a URI with whatever secrets it has.
    pub(super) place: String,
    pub(super) options: Vec<(String, String)>,
}

impl AdbcTarget {
    /// Reads what stands behind `adbc:`; the error says in words what is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (head, place) = split(text).ok_or_else(|| {
            format!("`adbc:{text}` names no place; write it as adbc:DRIVER:PLACE, such as adbc:duckdb:sales.duckdb")
        })?;
        let (head, library) = match head.split_once('=') {
            Some((head, library)) => (head, Some(PathBuf::from(library))),
            None => (head, None),
        };
        let (name, dialect) = match head.split_once('+') {
            Some((name, dialect)) => (name, Some(dialect_named(dialect)?)),
            None => (head, None),
        };
        let (driver, library) = match (Driver::named(name), library) {
            (Some(driver), library) => (driver, library),
            (None, Some(library)) => (Driver::Library, Some(library)),
            (None, None) if is_path(name) => (Driver::Library, Some(PathBuf::from(name))),
            (None, None) => return Err(unknown(name)),
        };
        let driver_name = match (driver, &library) {
            (Driver::Library, Some(library)) => stem(library),
            _ => name.to_owned(),
        };
        let (place, options) = options(place);
        if place.is_empty() && options.is_empty() {
            return Err(format!(
                "`adbc:{head}:` names no place; write a file or a URI behind it"
            ));
        }
        Ok(Self {
            dialect: dialect.or(driver.dialect()).or_else(|| dialect_in(&driver_name)),
            driver,
            driver_name,
            library,
            place,
            options,
        })
    }

    /// The name by which people call the database: a file's stem, or the last part of a URI's path.
    pub(in crate::warehouse::engine) fn name(&self) -> String {
        if self.driver == Driver::Duckdb {
            return stem(Path::new(&self.place));
        }
        let path = self.place.split(['?', ';', '#']).next().unwrap_or_default();
        let path = path.split_once("://").map_or(path, |(_, rest)| rest);
        let last = path.trim_end_matches('/').split_once('/').map(|(_, path)| path);
        match last
            .and_then(|path| path.rsplit('/').next())
            .filter(|name| !name.is_empty())
        {
            Some(name) => name.to_owned(),
            None => self.driver_name.clone(),
        }
    }

    /// As it was written, with `***` for passwords and tokens.
    pub(in crate::warehouse::engine) fn shown(&self) -> String {
        let secret = |name: &str| {
            let name = name.to_lowercase();
            ["pass", "pwd", "secret", "token", "key", "auth", "credential"]
                .iter()
                .any(|word| name.contains(word))
        };
        let (before, after) = match self.place.split_once(['?', ';']) {
            Some((before, after)) => (
                before,
                Some((self.place.get(before.len()..=before.len()).unwrap_or_default(), after)),
            ),
            None => (self.place.as_str(), None),
        };
        let mut shown = match before.rsplit_once('@') {
            Some((credentials, host)) => {
                let scheme = credentials.split_once("://").map_or(0, |(scheme, _)| scheme.len() + 3);
                let (scheme, login) = credentials.split_at_checked(scheme).unwrap_or(("", credentials));
                match login.split_once(':') {
                    Some((user, _)) => format!("{scheme}{user}:***@{host}"),
                    None => format!("{scheme}{login}@{host}"),
                }
            }
            None => before.to_owned(),
        };
        if let Some((sign, settings)) = after {
            shown.push_str(sign);
            let separator = if settings.contains(';') || sign == ";" {
                ";"
            } else {
                "&"
            };
            let settings = settings.split(separator).map(|setting| match setting.split_once('=') {
                Some((name, _)) if secret(name) => format!("{name}=***"),
                _ => setting.to_owned(),
            });
            shown.push_str(&settings.collect::<Vec<_>>().join(separator));
        }
        let options = self.options.iter().map(|(name, value)| match secret(name) {
            true => format!("{name}=***"),
            false => format!("{name}={value}"),
        });
        let options: Vec<String> = options.collect();
        let sign = match (options.is_empty(), self.place.contains('?')) {
            (true, _) => "",
            (false, true) => "&",
            (false, false) => "?",
        };
        format!("adbc:{}:{shown}{sign}{}", self.driver_name, options.join("&"))
    }
}

/// The driver's part and the place, at the colon between them: after the ending of a library, where one is named.
fn split(text: &str) -> Option<(&str, &str)> {
    let is_named = Driver::NAMED.iter().any(|(name, _)| {
        let rest = text.strip_prefix(name);
        rest.is_some_and(|rest| rest.starts_with(':') || (rest.starts_with('+') && !rest.contains('=')))
    });
    let library = LIBRARY_ENDINGS
        .iter()
        .filter_map(|ending| text.find(ending).map(|at| at + ending.len() - 1))
        .min();
    match library.filter(|_| !is_named) {
        Some(colon) => Some((text.get(..colon)?, text.get(colon + 1..)?)),
        None => text.split_once(':'),
    }
}

fn is_path(name: &str) -> bool {
    name.contains(['/', '\\'])
        || LIBRARY_ENDINGS
            .iter()
            .any(|ending| name.ends_with(ending.trim_end_matches(':')))
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn dialect_named(name: &str) -> Result<Dialect, String> {
    let found = DIALECTS.iter().find(|(known, _)| *known == name);
    found.map(|(_, dialect)| *dialect).ok_or_else(|| {
        let known: Vec<&str> = DIALECTS.iter().map(|(name, _)| *name).collect();
        format!("no SQL dialect `{name}`; known are {}", known.join(", "))
    })
}

/// The dialect whose name is part of `text`: a library's file, or what a server calls itself.
pub(super) fn dialect_in(text: &str) -> Option<Dialect> {
    let text = text.to_lowercase();
    let found = DIALECTS.iter().find(|(name, _)| text.contains(name));
    found.map(|(_, dialect)| *dialect)
}

fn unknown(name: &str) -> String {
    match name {
        "sqlite" | "postgres" | "postgresql" | "mysql" | "mariadb" => {
            format!("{name} needs no ADBC driver; write its file or its URL (postgres://…, mysql://…) without `adbc:`")
        }
        _ => {
            let known: Vec<&str> = Driver::NAMED.iter().map(|(name, _)| *name).collect();
            format!(
                "no ADBC driver is known as `{name}`; known are {}, and any library by its path: adbc:/path/to/libdriver.so:PLACE",
                known.join(", ")
            )
        }
    }
}

/// The place without the driver's own options, and those.
fn options(place: &str) -> (String, Vec<(String, String)>) {
    let Some((before, settings)) = place.split_once('?') else {
        return (place.to_owned(), vec![]);
    };
    let is_option = |setting: &&str| {
        setting.starts_with(OPTION_PREFIX)
            || LOGIN_OPTIONS
                .iter()
                .any(|name| setting.strip_prefix(name).is_some_and(|rest| rest.starts_with('=')))
    };
    let (own, rest): (Vec<&str>, Vec<&str>) = settings.split('&').partition(is_option);
    let own = own.into_iter().map(|setting| {
        let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
        (name.to_owned(), value.to_owned())
    });
    let place = match rest.is_empty() {
        true => before.to_owned(),
        false => format!("{before}?{}", rest.join("&")),
    };
    (place, own.collect())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(
        "duckdb:/data/shop.duckdb",
        Driver::Duckdb,
        Some(Dialect::Duckdb),
        None,
        "/data/shop.duckdb",
        "shop"
    )]
    #[case(
        "duckdb=/opt/libduckdb.so:shop.db",
        Driver::Duckdb,
        Some(Dialect::Duckdb),
        Some("/opt/libduckdb.so"),
        "shop.db",
        "shop"
    )]
    #[case(
        "spark:sc://127.0.0.1:15002",
        Driver::Spark,
        Some(Dialect::Databricks),
        None,
        "sc://127.0.0.1:15002",
        "spark"
    )]
    #[case(
        "flightsql:grpc+tls://h:443",
        Driver::FlightSql,
        None,
        None,
        "grpc+tls://h:443",
        "flightsql"
    )]
    #[case(
        "flightsql+clickhouse:grpc://h:1",
        Driver::FlightSql,
        Some(Dialect::Clickhouse),
        None,
        "grpc://h:1",
        "flightsql"
    )]
    #[case(
        "/opt/libduckdb.so:a b.db",
        Driver::Library,
        Some(Dialect::Duckdb),
        Some("/opt/libduckdb.so"),
        "a b.db",
        "libduckdb"
    )]
    #[case(
        "my+spark=./libx.dylib:sc://h",
        Driver::Library,
        Some(Dialect::Databricks),
        Some("./libx.dylib"),
        "sc://h",
        "libx"
    )]
    #[case(
        "snowflake:ann:pw@acct/shop/public",
        Driver::Snowflake,
        Some(Dialect::Snowflake),
        None,
        "ann:pw@acct/shop/public",
        "public"
    )]
    #[case(
        "bigquery:project/客户",
        Driver::Bigquery,
        Some(Dialect::Bigquery),
        None,
        "project/客户",
        "客户"
    )]
    fn a_database_behind_a_driver_is_named(
        #[case] text: &str,
        #[case] driver: Driver,
        #[case] dialect: Option<Dialect>,
        #[case] library: Option<&str>,
        #[case] place: &str,
        #[case] name: &str,
    ) {
        let target = AdbcTarget::parse(text).unwrap();
        assert_eq!((target.driver, target.dialect), (driver, dialect));
        assert_eq!(
            (target.library.clone(), target.place.as_str()),
            (library.map(PathBuf::from), place)
        );
        assert_eq!(target.name(), name);
    }

    #[rstest]
    #[case("snowflake:ann:pw@acct/shop", "adbc:snowflake:ann:***@acct/shop")]
    #[case(
        "spark:sc://h:1/;token=abc;user_id=ann",
        "adbc:spark:sc://h:1/;token=***;user_id=ann"
    )]
    #[case(
        "flightsql:grpc://ann:pw@h:1?x=1&password=pw",
        "adbc:flightsql:grpc://ann:***@h:1?x=1&password=***"
    )]
    #[case(
        "flightsql:grpc://h?adbc.flight.sql.authorization_header=Bearer x",
        "adbc:flightsql:grpc://h?adbc.flight.sql.authorization_header=***"
    )]
    #[case("duckdb:shop.duckdb", "adbc:duckdb:shop.duckdb")]
    fn a_database_behind_a_driver_is_shown_without_its_secrets(#[case] text: &str, #[case] shown: &str) {
        assert_eq!(AdbcTarget::parse(text).unwrap().shown(), shown);
    }

    #[rstest]
    #[case("duckdb", "names no place")]
    #[case("duckdb:", "names no place")]
    #[case("oracle:h", "no ADBC driver is known as `oracle`")]
    #[case("postgresql:postgres://h/d", "needs no ADBC driver")]
    #[case("flightsql+klingon:grpc://h", "no SQL dialect `klingon`")]
    fn what_names_no_such_database_is_refused(#[case] text: &str, #[case] part: &str) {
        let error = AdbcTarget::parse(text).err().unwrap();
        assert!(error.contains(part), "{error}");
    }

    #[test]
    fn options_of_the_driver_are_taken_out_of_the_place() {
        let target = AdbcTarget::parse("flightsql:grpc://h:1?a=b&adbc.x.y=z&username=ann").unwrap();
        assert_eq!(target.place, "grpc://h:1?a=b");
        let options = [("adbc.x.y", "z"), ("username", "ann")];
        assert_eq!(
            target.options,
            options.map(|(name, value)| (name.to_owned(), value.to_owned()))
        );
    }
}
