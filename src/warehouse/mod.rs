//! The database side: what it contains, which SQL may run, and how rows come back. Knows nothing of business meaning.

use serde::{Deserialize, Serialize};

pub mod catalog;
pub mod engine;
pub mod fetch;
pub mod profile;
pub mod sql;

/// The SQL that a database speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    Sqlite,
    Postgres,
    Mysql,
    Duckdb,
    Snowflake,
    Bigquery,
    Databricks,
    Clickhouse,
}
