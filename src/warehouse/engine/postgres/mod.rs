//! PostgreSQL, in read-only transactions that end on the server when their time is up.

use std::time::{Duration, Instant};

use futures_util::TryStreamExt;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions};
use sqlx::{AssertSqlSafe, Column, ConnectOptions, Connection, Executor, Row, Statement, TypeInfo, ValueRef};
use tokio_util::sync::CancellationToken;

use super::server::Failure;
use super::wire::opening_word;
use super::{EngineError, RunLimits, server};
use crate::warehouse::catalog::{Catalog, Table};
use crate::warehouse::fetch::{Fetched, TypedFrame, TypedValue};

mod decode;
mod introspect;

use decode::Codec;

/// Statements that open with another word are not run, whatever checked them before.
const OPENING_WORDS: &[&str] = &["SELECT", "WITH", "VALUES", "TABLE", "SHOW", "EXPLAIN"];

/// A PostgreSQL database. Clones share the connections.
#[derive(Debug, Clone)]
pub struct PostgresEngine {
    pool: PgPool,
    options: PgConnectOptions,
    shown: String,
    name: String,
}

impl PostgresEngine {
    /// Connects to the server at `url`; `shown` is the same without a password, `name` the database's.
    pub(super) async fn connect(url: &str, shown: &str, name: &str) -> Result<Self, EngineError> {
        let options: PgConnectOptions = url.parse().map_err(|error: sqlx::Error| EngineError::Open {
            database: shown.to_owned(),
            reason: error.to_string(),
        })?;
        let options = options.application_name("analyst").disable_statement_logging();
        let pool = PgPoolOptions::new()
            .max_connections(server::CONNECTIONS)
            .acquire_timeout(server::CONNECT_TIMEOUT)
            .after_connect(|connection, _| {
                Box::pin(async move {
                    connection
                        .execute("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY")
                        .await?;
                    connection.execute("SET TIME ZONE 'UTC'").await.map(|_| ())
                })
            })
            .connect_with(options.clone())
            .await
            .map_err(|error| server::failure(error, shown))?;
        Ok(Self {
            pool,
            options,
            shown: shown.to_owned(),
            name: name.to_owned(),
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

    /// The statement's plan as PostgreSQL prints it.
    pub(super) async fn explain(&self, sql: &str, cancel: &CancellationToken) -> Result<Vec<String>, EngineError> {
        server::lines(self.run(&format!("EXPLAIN {sql}"), &server::OWN_LIMITS, cancel).await?)
    }

    /// `SELECT` of all columns of `table`, of about `sample` rows where it is given.
    pub(super) fn scan(&self, table: &Table, columns: &str, name: &str, sample: Option<u64>) -> String {
        match (sample, table.rows) {
            (Some(sample), Some(count)) if count.rows > sample => {
                let percent = sample as f64 * 100.0 / count.rows as f64;
                format!("SELECT {columns} FROM {name} TABLESAMPLE SYSTEM ({percent}) LIMIT {sample}")
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
        let process = begin(&mut connection, limits.timeout).await.map_err(failed)?;
        let work = fetch(&mut connection, sql, limits.max_rows);
        let outcome = server::watched(work, stop, limits.timeout, self.stop(process)).await;
        if server::is_usable_after(&outcome) && connection.execute("ROLLBACK").await.is_ok() {
            drop(connection);
        } else {
            // More rows are on their way: the server is told to stop, and nobody waits for what it has sent.
            self.stop(process).await;
            let _ = connection.detach().close_hard().await;
        }
        server::conclude(outcome, stop, limits, &self.shown)
    }

    /// Asks the server, over a connection of its own, to end what `process` is doing.
    async fn stop(&self, process: i32) {
        let ask = async {
            let mut connection = PgConnection::connect_with(&self.options).await?;
            sqlx::query("SELECT pg_cancel_backend($1)")
                .bind(process)
                .execute(&mut connection)
                .await?;
            connection.close().await
        };
        // The statement's own timeout on the server ends it too, if this fails.
        let _ = tokio::time::timeout(server::GRACE, ask).await;
    }
}

/// Opens a read-only transaction with a timeout, and tells the number of the server's process.
async fn begin(connection: &mut PgConnection, timeout: Duration) -> Result<i32, sqlx::Error> {
    connection.execute("BEGIN READ ONLY").await?;
    let millis = timeout.as_millis().clamp(1, 2_000_000_000).to_string();
    let row = sqlx::query("SELECT pg_backend_pid(), set_config('statement_timeout', $1, true)");
    row.bind(millis).fetch_one(connection).await?.try_get(0)
}

async fn fetch(connection: &mut PgConnection, sql: &str, max_rows: usize) -> Result<Fetched, Failure> {
    let started = Instant::now();
    let sql = AssertSqlSafe(sql.to_owned());
    let statement = connection
        .prepare(sqlx::SqlSafeStr::into_sql_str(sql))
        .await
        .map_err(Failure::Server)?;
    let mut codecs = vec![];
    let mut described = vec![];
    for column in statement.columns() {
        let (codec, declared) = (Codec::of(column.type_info()), column.type_info().name().to_lowercase());
        described.push((column.name().to_owned(), declared.clone(), codec.logical(&declared)));
        codecs.push(codec);
    }
    let mut frame = TypedFrame::new(described);
    let mut truncated = false;
    let mut rows = statement.query().fetch(&mut *connection);
    while let Some(row) = rows.try_next().await.map_err(Failure::Server)? {
        if frame.rows() >= max_rows {
            truncated = true;
            break;
        }
        frame
            .push_row(|at| {
                let value = row.try_get_raw(at)?;
                Ok(match (value.is_null(), codecs.get(at)) {
                    (false, Some(codec)) => codec.read(value.as_bytes().map_err(sqlx::Error::Decode)?),
                    _ => TypedValue::Null,
                })
            })
            .map_err(Failure::Server)?;
    }
    drop(rows);
    let (frame, columns) = frame.finish().map_err(|error| Failure::Own(error.into()))?;
    Ok(Fetched {
        frame,
        columns,
        truncated,
        elapsed: started.elapsed(),
    })
}

#[cfg(test)]
mod tests;
