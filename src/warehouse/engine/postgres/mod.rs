//! PostgreSQL, in read-only transactions that end on the server when their time is up.

use std::time::Duration;

use async_trait::async_trait;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPoolOptions, PgSslMode};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor, Postgres, Row};
use tokio_util::sync::CancellationToken;

use super::server::Failure;
use super::session::{self, Session, Wire};
use super::{EngineError, RunLimits, server};
use crate::config::{Access, TlsMode};
use crate::warehouse::Dialect;
use crate::warehouse::catalog::{Catalog, Table, quote};
use crate::warehouse::fetch::Fetched;

mod cost;
mod decode;
mod fetch;
mod fingerprint;
mod introspect;

/// A PostgreSQL database. Clones share the connections.
#[derive(Debug, Clone)]
pub struct PostgresEngine {
    session: Session<PostgresWire>,
    name: String,
    /// The only schemas that are looked at; empty means all.
    schemas: Vec<String>,
}

impl PostgresEngine {
    /// Connects to the server at `url`; `shown` is the same without a password, `name` the database's.
    pub(super) async fn connect(url: &str, shown: &str, name: &str, access: &Access) -> Result<Self, EngineError> {
        let options = options(url, shown, access)?;
        let settings = settings(access);
        let pool = PgPoolOptions::new()
            .max_connections(server::CONNECTIONS)
            .acquire_timeout(server::CONNECT_TIMEOUT)
            .after_connect(move |connection, _| {
                let settings = settings.clone();
                Box::pin(async move {
                    for setting in settings {
                        connection.execute(AssertSqlSafe(setting)).await?;
                    }
                    Ok(())
                })
            })
            .connect_with(options.clone())
            .await
            .map_err(|error| server::failure(error, shown))?;
        Ok(Self {
            session: Session::new(pool, PostgresWire { options }, shown),
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

    /// The statement's plan as PostgreSQL prints it.
    pub(super) async fn explain(&self, sql: &str, cancel: &CancellationToken) -> Result<Vec<String>, EngineError> {
        let explain = format!("EXPLAIN {sql}");
        server::lines(self.session.run(&explain, &server::OWN_LIMITS, cancel).await?)
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
}

fn options(url: &str, shown: &str, access: &Access) -> Result<PgConnectOptions, EngineError> {
    let options: PgConnectOptions = url.parse().map_err(|error: sqlx::Error| EngineError::Open {
        database: shown.to_owned(),
        reason: error.to_string(),
    })?;
    let mut options = options.application_name("analyst").disable_statement_logging();
    session::check_certificates(&access.tls, shown)?;
    if let Some(mode) = access.tls.mode() {
        options = options.ssl_mode(match mode {
            TlsMode::Off => PgSslMode::Disable,
            TlsMode::Require => PgSslMode::Require,
            TlsMode::VerifyCa => PgSslMode::VerifyCa,
            TlsMode::VerifyFull => PgSslMode::VerifyFull,
        });
    }
    if let Some(ca) = &access.tls.ca {
        options = options.ssl_root_cert(ca);
    }
    if let (Some(certificate), Some(key)) = (&access.tls.certificate, &access.tls.key) {
        options = options.ssl_client_cert(certificate).ssl_client_key(key);
    }
    Ok(options)
}

/// What is set on each connection before anything else.
fn settings(access: &Access) -> Vec<String> {
    let name = |name: &String| quote(Dialect::Postgres, name);
    let mut settings = vec![
        "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY".to_owned(),
        "SET TIME ZONE 'UTC'".to_owned(),
    ];
    settings.extend(access.role.iter().map(|role| format!("SET ROLE {}", name(role))));
    if !access.schemas.is_empty() {
        let schemas: Vec<String> = access.schemas.iter().map(name).collect();
        settings.push(format!("SET search_path TO {}", schemas.join(", ")));
    }
    settings
}

/// PostgreSQL's part in a session.
pub(super) struct PostgresWire {
    options: PgConnectOptions,
}

#[async_trait]
impl Wire for PostgresWire {
    type Server = Postgres;

    const OPENING_WORDS: &'static [&'static str] = &["SELECT", "WITH", "VALUES", "TABLE", "SHOW", "EXPLAIN"];

    async fn begin(&self, connection: &mut PgConnection, timeout: Duration) -> Result<u64, sqlx::Error> {
        connection.execute("BEGIN READ ONLY").await?;
        let millis = timeout.as_millis().clamp(1, 2_000_000_000).to_string();
        let row = sqlx::query("SELECT pg_backend_pid(), set_config('statement_timeout', $1, true)");
        let process: i32 = row.bind(millis).fetch_one(connection).await?.try_get(0)?;
        Ok(u64::from(process.unsigned_abs()))
    }

    async fn fetch(&self, connection: &mut PgConnection, sql: &str, limits: &RunLimits) -> Result<Fetched, Failure> {
        fetch::fetch(connection, sql, limits).await
    }

    async fn end(&self, connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        // Advisory locks of the session outlive the transaction.
        connection
            .execute(sqlx::raw_sql("ROLLBACK; SELECT pg_advisory_unlock_all()"))
            .await
            .map(|_| ())
    }

    async fn stop(&self, number: u64) -> Result<(), sqlx::Error> {
        let mut connection = PgConnection::connect_with(&self.options).await?;
        let ask = sqlx::query("SELECT pg_cancel_backend($1::int8::int4)").bind(number.cast_signed());
        ask.execute(&mut connection).await?;
        connection.close().await
    }
}

#[cfg(test)]
mod tests;
