//! Databases behind ADBC drivers: DuckDB, Spark and Databricks, Flight SQL servers, Snowflake, BigQuery, any library.
//!
//! What names them is always read, so that a build without the feature `adbc` says what is missing.

mod target;

#[cfg(feature = "adbc")]
mod database;
#[cfg(feature = "adbc")]
mod decode;
#[cfg(feature = "adbc")]
mod driver;
#[cfg(feature = "adbc")]
mod introspect;
#[cfg(feature = "adbc")]
mod spark;

#[cfg(feature = "adbc")]
pub(super) use database::AdbcEngine;
pub use target::AdbcTarget;
