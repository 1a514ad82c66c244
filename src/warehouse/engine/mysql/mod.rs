//! MySQL and MariaDB, in read-only transactions that end on the server when their time is up.

use std::time::{Duration, Instant};

use futures_util::TryStreamExt;
use sqlx::mysql::{MySqlConnectOptions, MySqlConnection, MySqlPool, MySqlPoolOptions, MySqlRow};
use sqlx::{
    AssertSqlSafe, Column, ConnectOptions, Connection, Decode, Executor, MySql, Row, Statement, TypeInfo, ValueRef,
};
use tokio_util::sync::CancellationToken;

use super::server::Failure;
use super::wire::opening_word;
use super::{EngineError, RunLimits, server};
use crate::warehouse::catalog::{Catalog, DataType, Table};
use crate::warehouse::fetch::{Fetched, TypedFrame, TypedValue};

mod decode;
mod introspect;

use decode::Codec;

/// Statements that open with another word are not run, whatever checked them before: a read-only transaction does not
/// forbid `SET GLOBAL`, `KILL`, `FLUSH` or temporary tables.
const OPENING_WORDS: &[&str] = &[
    "SELECT", "WITH", "VALUES", "TABLE", "SHOW", "DESCRIBE", "DESC", "EXPLAIN",
];

/// A MySQL or MariaDB database. Clones share the connections.
#[derive(Debug, Clone)]
pub struct MysqlEngine {
    pool: MySqlPool,
    options: MySqlConnectOptions,
    shown: String,
    name: String,
    is_mariadb: bool,
}

impl MysqlEngine {
    /// Connects to the server at `url`; `shown` is the same without a password, `name` the database's.
    pub(super) async fn connect(url: &str, shown: &str, name: &str) -> Result<Self, EngineError> {
        let options: MySqlConnectOptions = url.parse().map_err(|error: sqlx::Error| EngineError::Open {
            database: shown.to_owned(),
            reason: error.to_string(),
        })?;
        // The server's own sql_mode stays, so that statements mean here what they mean elsewhere.
        let options = options
            .pipes_as_concat(false)
            .no_engine_substitution(false)
            .timezone(Some("+00:00".to_owned()))
            .disable_statement_logging();
        let pool = MySqlPoolOptions::new()
            .max_connections(server::CONNECTIONS)
            .acquire_timeout(server::CONNECT_TIMEOUT)
            .after_connect(|connection, _| {
                Box::pin(async move {
                    connection
                        .execute("SET SESSION TRANSACTION READ ONLY")
                        .await
                        .map(|_| ())
                })
            })
            .connect_with(options.clone())
            .await
            .map_err(|error| server::failure(error, shown))?;
        let version: String = sqlx::query_scalar("SELECT CAST(VERSION() AS CHAR)")
            .fetch_one(&pool)
            .await
            .map_err(|error| server::failure(error, shown))?;
        let is_mariadb = version.contains("MariaDB");
        Ok(Self {
            pool,
            options,
            shown: shown.to_owned(),
            name: name.to_owned(),
            is_mariadb,
        })
    }

    pub(super) fn display(&self) -> &str {
        &self.shown
    }

    pub(super) async fn introspect(&self) -> Result<Catalog, EngineError> {
        introspect::read(self).await
    }

    pub(super) async fn run(
        &self,
        sql: &str,
        limits: &RunLimits,
        cancel: &CancellationToken,
    ) -> Result<Fetched, EngineError> {
        if !OPENING_WORDS.contains(&opening_word(sql).as_str()) {
            return Err(EngineError::NotReadOnly(format!(
                "it opens with none of {}",
                OPENING_WORDS.join(", ")
            )));
        }
        let (engine, sql, limits) = (self.clone(), sql.to_owned(), *limits);
        server::stoppable(
            cancel,
            |stop| async move { engine.run_until(&sql, &limits, &stop).await },
        )
        .await
    }

    /// The statement's plan as the server prints it, one line a step.
    pub(super) async fn explain(&self, sql: &str, cancel: &CancellationToken) -> Result<Vec<String>, EngineError> {
        server::lines(self.run(&format!("EXPLAIN {sql}"), &server::OWN_LIMITS, cancel).await?)
    }

    /// `SELECT` of all columns of `table`, of about `sample` rows where it is given.
    pub(super) fn scan(&self, table: &Table, columns: &str, name: &str, sample: Option<u64>) -> String {
        match (sample, table.rows) {
            // There is no TABLESAMPLE; picking rows by chance reads the table, but sorts nothing.
            (Some(sample), Some(count)) if count.rows > sample => {
                let share = sample as f64 / count.rows as f64;
                format!("SELECT {columns} FROM {name} WHERE RAND(1) < {share} LIMIT {sample}")
            }
            (Some(sample), _) => format!("SELECT {columns} FROM {name} LIMIT {sample}"),
            (None, _) => format!("SELECT {columns} FROM {name}"),
        }
    }

    async fn run_until(&self, sql: &str, limits: &RunLimits, stop: &CancellationToken) -> Result<Fetched, EngineError> {
        let failed = |error| server::failure(error, &self.shown);
        let mut connection = tokio::select! {
            connection = self.pool.acquire() => connection.map_err(failed)?,
            () = stop.cancelled() => return Err(EngineError::Cancelled),
        };
        let thread = self.begin(&mut connection, limits.timeout).await.map_err(failed)?;
        let work = fetch(&mut connection, sql, limits.max_rows);
        let outcome = server::watched(work, stop, limits.timeout, self.stop(thread)).await;
        if server::is_usable_after(&outcome) && connection.execute(sqlx::raw_sql("ROLLBACK")).await.is_ok() {
            drop(connection);
        } else {
            // More rows are on their way: the server is told to stop, and nobody waits for what it has sent.
            self.stop(thread).await;
            let _ = connection.detach().close_hard().await;
        }
        server::conclude(outcome, stop, limits, &self.shown)
    }

    /// Opens a read-only transaction with a timeout, and tells the number of the server's thread.
    async fn begin(&self, connection: &mut MySqlConnection, timeout: Duration) -> Result<u64, sqlx::Error> {
        let timeout = if self.is_mariadb {
            format!("SET SESSION max_statement_time = {}", timeout.as_secs_f64().max(0.001))
        } else {
            format!("SET SESSION max_execution_time = {}", timeout.as_millis().max(1))
        };
        connection.execute(sqlx::raw_sql(AssertSqlSafe(timeout))).await?;
        connection.execute(sqlx::raw_sql("START TRANSACTION READ ONLY")).await?;
        sqlx::query_scalar("SELECT CAST(CONNECTION_ID() AS UNSIGNED)")
            .fetch_one(connection)
            .await
    }

    /// Asks the server, over a connection of its own, to end what `thread` is doing.
    async fn stop(&self, thread: u64) {
        let ask = async {
            let mut connection = MySqlConnection::connect_with(&self.options).await?;
            connection
                .execute(sqlx::raw_sql(AssertSqlSafe(format!("KILL QUERY {thread}"))))
                .await?;
            connection.close().await
        };
        // The statement's own timeout on the server ends it too, if this fails.
        let _ = tokio::time::timeout(server::GRACE, ask).await;
    }
}

async fn fetch(connection: &mut MySqlConnection, sql: &str, max_rows: usize) -> Result<Fetched, Failure> {
    let started = Instant::now();
    let sql = AssertSqlSafe(sql.to_owned());
    let statement = connection
        .prepare(sqlx::SqlSafeStr::into_sql_str(sql))
        .await
        .map_err(Failure::Server)?;
    let mut described = describe(statement.columns());
    let mut frame = TypedFrame::new(described.iter().map(about));
    let mut truncated = false;
    let mut rows = statement.query().fetch(&mut *connection);
    while let Some(row) = rows.try_next().await.map_err(Failure::Server)? {
        if frame.rows() >= max_rows {
            truncated = true;
            break;
        }
        if frame.rows() == 0 {
            // What the rows say of their types is surer than what the preparation said, and some statements (SHOW) are
            // described only by their rows.
            described = describe(row.columns());
            frame = TypedFrame::new(described.iter().map(about));
        }
        frame
            .push_row(|at| value(&row, at, described.get(at)))
            .map_err(Failure::Server)?;
    }
    drop(rows);
    let (frame, columns) = frame.finish().map_err(|error| Failure::Own(error.into()))?;
    let mut fetched = Fetched {
        frame,
        columns,
        truncated,
        elapsed: started.elapsed(),
    };
    texts_from_bytes(&mut fetched).map_err(|error| Failure::Own(EngineError::Fetch(error.into())))?;
    Ok(fetched)
}

/// Name, type as sqlx calls it, and codec of each column.
fn describe(columns: &[sqlx::mysql::MySqlColumn]) -> Vec<(String, String, Codec)> {
    let about = |column: &sqlx::mysql::MySqlColumn| {
        let declared = column.type_info().name().to_owned();
        let codec = Codec::of(&declared);
        (column.name().to_owned(), declared.to_lowercase(), codec)
    };
    columns.iter().map(about).collect()
}

fn about((name, declared, codec): &(String, String, Codec)) -> (String, String, DataType) {
    (name.clone(), declared.clone(), codec.logical())
}

fn value<'r>(
    row: &'r MySqlRow,
    at: usize,
    about: Option<&(String, String, Codec)>,
) -> Result<TypedValue<'r>, sqlx::Error> {
    let raw = row.try_get_raw(at)?;
    // Zero dates count as null for sqlx, but their bytes are there; only a real null has none.
    match (<&[u8] as Decode<MySql>>::decode(raw.clone()), about) {
        (Ok(bytes), Some((.., codec))) => Ok(codec.read(bytes)),
        (Err(_), _) if raw.is_null() => Ok(TypedValue::Null),
        (Err(error), _) => Err(sqlx::Error::Decode(error)),
        (Ok(_), None) => Ok(TypedValue::Null),
    }
}

/// Columns that arrive as bytes but hold text alone become text: so come MariaDB's JSON and every text that is compared
/// byte by byte.
fn texts_from_bytes(fetched: &mut Fetched) -> Result<(), polars::prelude::PolarsError> {
    for (at, about) in fetched
        .columns
        .iter_mut()
        .enumerate()
        .filter(|(_, about)| about.data_type == DataType::Blob)
    {
        let Some(column) = fetched.frame.columns().get(at) else {
            continue;
        };
        let bytes = column.as_materialized_series().binary()?;
        let text = |bytes: &[u8]| std::str::from_utf8(bytes).is_ok_and(|text| !text.chars().any(is_control));
        if bytes.null_count() < bytes.len() && bytes.iter().flatten().all(text) {
            let series = column
                .as_materialized_series()
                .cast(&polars::prelude::DataType::String)?;
            fetched.frame.replace_column(at, series.into())?;
            about.data_type = DataType::Text;
        }
    }
    Ok(())
}

fn is_control(c: char) -> bool {
    c.is_control() && !matches!(c, '\t' | '\n' | '\r')
}

#[cfg(test)]
mod tests;
