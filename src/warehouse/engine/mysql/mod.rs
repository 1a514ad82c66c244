//! MySQL and MariaDB, in read-only transactions that end on the server when their time is up.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures_util::TryStreamExt;
use sqlx::mysql::{MySqlConnectOptions, MySqlConnection, MySqlPoolOptions, MySqlRow, MySqlSslMode};
use sqlx::{
    AssertSqlSafe, Column, ConnectOptions, Connection, Decode, Executor, MySql, Row, Statement, TypeInfo, ValueRef,
};
use tokio_util::sync::CancellationToken;

use super::server::Failure;
use super::session::{self, Session, Wire};
use super::{EngineError, RunLimits, server};
use crate::config::{Access, TlsMode};
use crate::warehouse::Dialect;
use crate::warehouse::catalog::{Catalog, DataType, Table, quote};
use crate::warehouse::fetch::{Fetched, TypedFrame, TypedValue};

mod cost;
mod decode;
mod fingerprint;
mod introspect;

use decode::Codec;

/// A MySQL or MariaDB database. Clones share the connections.
#[derive(Debug, Clone)]
pub struct MysqlEngine {
    session: Session<MysqlWire>,
    name: String,
    /// The only databases that are looked at; empty means the connection's own, or all where it has none.
    schemas: Vec<String>,
}

impl MysqlEngine {
    /// Connects to the server at `url`; `shown` is the same without a password, `name` the database's.
    pub(super) async fn connect(url: &str, shown: &str, name: &str, access: &Access) -> Result<Self, EngineError> {
        let options = options(url, shown, access)?;
        let settings = settings(access);
        let pool = MySqlPoolOptions::new()
            .max_connections(server::CONNECTIONS)
            .acquire_timeout(server::CONNECT_TIMEOUT)
            .after_connect(move |connection, _| {
                let settings = settings.clone();
                Box::pin(async move {
                    for setting in settings {
                        connection.execute(sqlx::raw_sql(AssertSqlSafe(setting))).await?;
                    }
                    Ok(())
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
            session: Session::new(pool, MysqlWire { options, is_mariadb }, shown),
            name: name.to_owned(),
            schemas: access.schemas.clone(),
        })
    }

    pub(super) fn display(&self) -> &str {
        self.session.shown()
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
        cost::check(&self.session, sql, &limits.ceiling, cancel).await?;
        self.session.run(sql, limits, cancel).await
    }

    /// The statement's plan as the server prints it, one line a step.
    pub(super) async fn explain(&self, sql: &str, cancel: &CancellationToken) -> Result<Vec<String>, EngineError> {
        let explain = format!("EXPLAIN {sql}");
        server::lines(self.session.run(&explain, &server::OWN_LIMITS, cancel).await?)
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
}

fn options(url: &str, shown: &str, access: &Access) -> Result<MySqlConnectOptions, EngineError> {
    let options: MySqlConnectOptions = url.parse().map_err(|error: sqlx::Error| EngineError::Open {
        database: shown.to_owned(),
        reason: error.to_string(),
    })?;
    // The server's own sql_mode stays, so that statements mean here what they mean elsewhere.
    let mut options = options
        .pipes_as_concat(false)
        .no_engine_substitution(false)
        .timezone(Some("+00:00".to_owned()))
        .disable_statement_logging();
    if let (None, Some(schema)) = (options.get_database(), access.schemas.first()) {
        options = options.database(schema);
    }
    session::check_certificates(&access.tls, shown)?;
    if let Some(mode) = access.tls.mode() {
        options = options.ssl_mode(match mode {
            TlsMode::Off => MySqlSslMode::Disabled,
            TlsMode::Require => MySqlSslMode::Required,
            TlsMode::VerifyCa => MySqlSslMode::VerifyCa,
            TlsMode::VerifyFull => MySqlSslMode::VerifyIdentity,
        });
    }
    if let Some(ca) = &access.tls.ca {
        options = options.ssl_ca(ca);
    }
    if let (Some(certificate), Some(key)) = (&access.tls.certificate, &access.tls.key) {
        options = options.ssl_client_cert(certificate).ssl_client_key(key);
    }
    Ok(options)
}

/// What is set on each connection before anything else.
fn settings(access: &Access) -> Vec<String> {
    let role = access
        .role
        .iter()
        .map(|role| format!("SET ROLE {}", quote(Dialect::Mysql, role)));
    role.chain(["SET SESSION TRANSACTION READ ONLY".to_owned()]).collect()
}

/// MySQL's part in a session.
pub(super) struct MysqlWire {
    options: MySqlConnectOptions,
    is_mariadb: bool,
}

#[async_trait]
impl Wire for MysqlWire {
    type Server = MySql;

    /// A read-only transaction does not forbid `SET GLOBAL`, `KILL`, `FLUSH` or temporary tables.
    const OPENING_WORDS: &'static [&'static str] = &[
        "SELECT", "WITH", "VALUES", "TABLE", "SHOW", "DESCRIBE", "DESC", "EXPLAIN",
    ];

    async fn begin(&self, connection: &mut MySqlConnection, timeout: Duration) -> Result<u64, sqlx::Error> {
        let timeout = if self.is_mariadb {
            format!(
                "SET SESSION max_statement_time = {}",
                timeout.as_secs_f64().clamp(0.001, 31_536_000.0)
            )
        } else {
            format!(
                "SET SESSION max_execution_time = {}",
                timeout.as_millis().clamp(1, 4_000_000_000)
            )
        };
        connection.execute(sqlx::raw_sql(AssertSqlSafe(timeout))).await?;
        connection.execute(sqlx::raw_sql("START TRANSACTION READ ONLY")).await?;
        sqlx::query_scalar("SELECT CAST(CONNECTION_ID() AS UNSIGNED)")
            .fetch_one(connection)
            .await
    }

    async fn fetch(&self, connection: &mut MySqlConnection, sql: &str, limits: &RunLimits) -> Result<Fetched, Failure> {
        fetch(connection, sql, limits).await
    }

    async fn end(&self, connection: &mut MySqlConnection) -> Result<(), sqlx::Error> {
        connection.execute(sqlx::raw_sql("ROLLBACK")).await.map(|_| ())
    }

    async fn stop(&self, number: u64) -> Result<(), sqlx::Error> {
        let mut connection = MySqlConnection::connect_with(&self.options).await?;
        let ask = sqlx::raw_sql(AssertSqlSafe(format!("KILL QUERY {number}")));
        connection.execute(ask).await?;
        connection.close().await
    }
}

async fn fetch(connection: &mut MySqlConnection, sql: &str, limits: &RunLimits) -> Result<Fetched, Failure> {
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
    while let Some(row) = rows
        .try_next()
        .await
        .map_err(|error| Failure::Late(error, frame.rows()))?
    {
        if frame.rows() >= limits.max_rows || frame.bytes() >= limits.max_bytes {
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
