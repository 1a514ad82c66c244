//! Finding a driver's library, and what each driver wants to be told.

use adbc_core::options::{AdbcVersion, OptionDatabase, OptionValue};
use adbc_core::{Driver as _, LOAD_FLAG_DEFAULT};
use adbc_driver_manager::{ManagedDatabase, ManagedDriver};

use super::target::{AdbcTarget, Driver};
use crate::warehouse::Dialect;

/// Newest first: only since 1.1 can a statement be cancelled.
const VERSIONS: [AdbcVersion; 2] = [AdbcVersion::V110, AdbcVersion::V100];

const DUCKDB_ENTRY: &[u8] = b"duckdb_adbc_init";

/// Loads the driver of `target` and opens its database; the error says why in words. Blocks.
pub(super) fn open(target: &AdbcTarget) -> Result<ManagedDatabase, String> {
    let mut driver = load(target)?;
    let options = options(target)?;
    driver
        .new_database_with_opts(options)
        .map_err(|error| error.message.trim().to_owned())
}

fn load(target: &AdbcTarget) -> Result<ManagedDriver, String> {
    let entry = (target.dialect == Some(Dialect::Duckdb) && target.driver != Driver::FlightSql).then_some(DUCKDB_ENTRY);
    let mut reasons = vec![];
    for version in VERSIONS {
        let loaded = match &target.library {
            Some(library) => vec![ManagedDriver::load_dynamic_from_filename(library, entry, version)],
            None => library_names(&target.driver_name)
                .iter()
                .map(|name| ManagedDriver::load_from_name(name, entry, version, LOAD_FLAG_DEFAULT, None))
                .collect(),
        };
        for loaded in loaded {
            match loaded {
                Ok(driver) => return Ok(driver),
                Err(error) => reasons.push(error.message.trim().to_owned()),
            }
        }
    }
    let (name, reason) = (&target.driver_name, reasons.first().cloned().unwrap_or_default());
    Err(match &target.library {
        Some(library) => format!("the ADBC driver {} cannot be loaded: {reason}", library.display()),
        None => format!(
            "no ADBC driver `{name}` is installed ({reason}); name its library, as in adbc:{name}=/path/to/lib{name}.so:…, \
             or put its folder into LD_LIBRARY_PATH or its manifest into ADBC_DRIVER_PATH"
        ),
    })
}

/// By what a driver is looked for: its manifest, then its library by the name that its makers give it.
fn library_names(driver: &str) -> [String; 2] {
    [driver.to_owned(), format!("adbc_driver_{driver}")]
}

/// The options of the database.
fn options(target: &AdbcTarget) -> Result<Vec<(OptionDatabase, OptionValue)>, String> {
    let other = |name: &str, value: &str| (OptionDatabase::from(name), OptionValue::from(value));
    let place = target.place.as_str();
    let mut options = match target.driver {
        Driver::Duckdb => {
            let about = std::fs::metadata(place)
                .map_err(|error| format!("{place}: {error}; a database is never created here, check the path"))?;
            if !about.is_file() {
                return Err(format!("{place} is no file; name a DuckDB database file"));
            }
            vec![other("path", place), other("access_mode", "READ_ONLY")]
        }
        Driver::Bigquery => {
            let (project, dataset) = place.split_once('/').unwrap_or((place, ""));
            let mut options = vec![other("adbc.bigquery.sql.project_id", project)];
            if !dataset.is_empty() {
                options.push(other("adbc.bigquery.sql.dataset_id", dataset));
            }
            options
        }
        Driver::Library if target.dialect == Some(Dialect::Duckdb) => {
            vec![other("path", place), other("access_mode", "READ_ONLY")]
        }
        Driver::Spark | Driver::Databricks | Driver::FlightSql | Driver::Snowflake | Driver::Library => {
            vec![(OptionDatabase::Uri, OptionValue::from(place))]
        }
    };
    options.extend(target.options.iter().map(|(name, value)| other(name, value)));
    Ok(options)
}

/// Statements that a database is told once, before anything else.
///
/// DuckDB reads files, and fetches extensions, from within a query; what the guard refuses is switched off here too.
pub(super) fn once(dialect: Dialect) -> &'static [&'static str] {
    match dialect {
        Dialect::Duckdb => &[
            "SET GLOBAL TimeZone = 'UTC'",
            "SET enable_external_access = false",
            "SET autoinstall_known_extensions = false",
            "SET lock_configuration = true",
        ],
        _ => &[],
    }
}

/// Statements that each connection is told: points in time are read and cut in UTC.
pub(super) fn each(dialect: Dialect) -> &'static [&'static str] {
    match dialect {
        Dialect::Databricks => &["SET TIME ZONE 'UTC'"],
        Dialect::Snowflake => &["ALTER SESSION SET TIMEZONE = 'UTC'"],
        _ => &[],
    }
}

/// Words that statements may open with.
pub(super) fn opening_words(dialect: Dialect) -> &'static [&'static str] {
    match dialect {
        Dialect::Duckdb => &[
            "SELECT",
            "WITH",
            "VALUES",
            "TABLE",
            "FROM",
            "SHOW",
            "DESCRIBE",
            "DESC",
            "SUMMARIZE",
            "EXPLAIN",
        ],
        Dialect::Sqlite => &["SELECT", "WITH", "VALUES", "EXPLAIN"],
        _ => &[
            "SELECT", "WITH", "VALUES", "TABLE", "FROM", "SHOW", "DESCRIBE", "DESC", "EXPLAIN",
        ],
    }
}
