//! One file per database: connect, introspect, run checked statements.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::warehouse::Dialect;
use crate::warehouse::catalog::{Catalog, Table, quote};
use crate::warehouse::fetch::{Cell, Fetched};
use crate::warehouse::sql::CheckedSql;

mod error;
mod files;
#[cfg(test)]
mod forced;
mod keys;
mod mysql;
mod postgres;
mod server;
mod sqlite;
mod target;
mod wire;

pub use error::EngineError;
pub(crate) use files::fits_pattern;
pub use mysql::MysqlEngine;
pub use postgres::PostgresEngine;
pub use sqlite::SqliteEngine;
pub use target::{FileSet, ServerUrl, Target, TargetError};

/// How much a statement may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunLimits {
    /// Rows that are kept; one more is asked for, to know whether there are more.
    pub max_rows: usize,
    /// From the start of the statement to its last row.
    pub timeout: Duration,
}

impl Default for RunLimits {
    /// 100,000 rows are more than a report can show and still fit in a few megabytes; a minute is more patience than people have.
    fn default() -> Self {
        Self {
            max_rows: 100_000,
            timeout: Duration::from_secs(60),
        }
    }
}

/// An open database. Cheap to clone: clones share the connections.
#[derive(Debug, Clone)]
pub enum Engine {
    Sqlite(SqliteEngine),
    Postgres(PostgresEngine),
    Mysql(MysqlEngine),
}

impl Engine {
    /// Opens `target` for reading only.
    pub async fn connect(target: &Target) -> Result<Self, EngineError> {
        let (shown, name) = (target.to_string(), target.name());
        match target {
            Target::Sqlite(path) => Ok(Self::Sqlite(SqliteEngine::open(path).await?)),
            Target::Files(files) => {
                let loaded = files::load(files.paths.clone()).await?;
                Ok(Self::Sqlite(SqliteEngine::open_loaded(loaded, &shown, &name).await?))
            }
            Target::Postgres(url) => Ok(Self::Postgres(
                PostgresEngine::connect(url.secret(), &shown, &name).await?,
            )),
            Target::Mysql(url) => Ok(Self::Mysql(MysqlEngine::connect(url.secret(), &shown, &name).await?)),
        }
    }

    /// The SQL that the database speaks.
    pub fn dialect(&self) -> Dialect {
        match self {
            Self::Sqlite(_) => Dialect::Sqlite,
            Self::Postgres(_) => Dialect::Postgres,
            Self::Mysql(_) => Dialect::Mysql,
        }
    }

    /// The database's place, without password, for people.
    pub fn display(&self) -> String {
        match self {
            Self::Sqlite(sqlite) => sqlite.display().to_owned(),
            Self::Postgres(postgres) => postgres.display().to_owned(),
            Self::Mysql(mysql) => mysql.display().to_owned(),
        }
    }

    /// Reads what the database contains: tables, columns, types, keys (declared and inferred), row counts. No profiles:
    /// those come from [`crate::warehouse::profile::survey`].
    pub async fn introspect(&self) -> Result<Catalog, EngineError> {
        let mut catalog = match self {
            Self::Sqlite(sqlite) => sqlite.introspect().await?,
            Self::Postgres(postgres) => postgres.introspect().await?,
            Self::Mysql(mysql) => mysql.introspect().await?,
        };
        keys::infer(self, &mut catalog).await?;
        Ok(catalog)
    }

    /// Runs a checked statement and collects up to `limits.max_rows` of its rows.
    ///
    /// Errors with [`EngineError::Timeout`] when `limits.timeout` passes and with [`EngineError::Cancelled`] when `cancel`
    /// fires; the statement has then been stopped in the database too.
    pub async fn run(
        &self,
        sql: &CheckedSql,
        limits: &RunLimits,
        cancel: &CancellationToken,
    ) -> Result<Fetched, EngineError> {
        if sql.dialect() != self.dialect() {
            return Err(EngineError::WrongDialect {
                statement: sql.dialect(),
                database: self.dialect(),
            });
        }
        self.run_text(sql.text(), limits, cancel).await
    }

    /// The plan that the database would run the statement by, one line a step.
    pub async fn explain(&self, sql: &CheckedSql, cancel: &CancellationToken) -> Result<Vec<String>, EngineError> {
        match self {
            Self::Sqlite(sqlite) => sqlite.explain(sql.text(), cancel).await,
            Self::Postgres(postgres) => postgres.explain(sql.text(), cancel).await,
            Self::Mysql(mysql) => mysql.explain(sql.text(), cancel).await,
        }
    }

    async fn run_text(
        &self,
        sql: &str,
        limits: &RunLimits,
        cancel: &CancellationToken,
    ) -> Result<Fetched, EngineError> {
        match self {
            Self::Sqlite(sqlite) => sqlite.run(sql, limits, cancel).await,
            Self::Postgres(postgres) => postgres.run(sql, limits, cancel).await,
            Self::Mysql(mysql) => mysql.run(sql, limits, cancel).await,
        }
    }

    /// Runs a statement of our own, such as the measuring of a key; never one that a model or a person wrote.
    async fn ask(&self, sql: &str) -> Result<Fetched, EngineError> {
        self.run_text(sql, &server::OWN_LIMITS, &CancellationToken::new()).await
    }

    /// Walks through the values of `table`, all or about `sample` rows from all over it, and folds them into `state` by
    /// `add(state, place of the column, value)`. Each column's values come in the order of its rows.
    pub(crate) async fn fold_values<S: Send + 'static>(
        &self,
        table: &Table,
        sample: Option<u64>,
        mut state: S,
        add: fn(&mut S, usize, Cell<'_>),
        cancel: &CancellationToken,
    ) -> Result<S, EngineError> {
        let name = self.table_name(table);
        let columns: Vec<String> = table
            .columns
            .iter()
            .map(|column| quote(self.dialect(), &column.name))
            .collect();
        let columns = columns.join(", ");
        let sql = match self {
            Self::Sqlite(sqlite) => return sqlite.fold_values(table, sample, state, add, cancel).await,
            _ if columns.is_empty() => return Ok(state),
            Self::Postgres(postgres) => postgres.scan(table, &columns, &name, sample),
            Self::Mysql(mysql) => mysql.scan(table, &columns, &name, sample),
        };
        let fetched = self.run_text(&sql, &server::OWN_LIMITS, cancel).await?;
        server::fold_frame(&fetched, &mut state, add);
        Ok(state)
    }

    /// The table's name as it stands in a statement.
    fn table_name(&self, table: &Table) -> String {
        let name = quote(self.dialect(), &table.name);
        match &table.schema {
            Some(schema) => format!("{}.{name}", quote(self.dialect(), schema)),
            None => name,
        }
    }
}
