//! One file per database: connect, introspect, run checked statements.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::config::{Access, ConnectionLimits, NamedPolicy};
use crate::warehouse::Dialect;
use crate::warehouse::catalog::{Catalog, Rules, Table, quote};
use crate::warehouse::fetch::{Cell, Fetched};
use crate::warehouse::sql::{CheckedSql, check_row_filter};

mod adbc;
mod cache;
mod error;
mod files;
#[cfg(test)]
mod forced;
mod keys;
mod limits;
mod mysql;
mod pairs;
mod postgres;
mod server;
mod session;
mod sqlite;
mod target;
mod wire;

#[cfg(feature = "adbc")]
use adbc::AdbcEngine;
use cache::{Fingerprint, Place};
use mysql::MysqlEngine;
use postgres::PostgresEngine;
use sqlite::SqliteEngine;

pub use adbc::AdbcTarget;
pub use cache::{CatalogCache, Known};
pub use error::EngineError;
pub use limits::{Ceiling, RunLimits};
pub use target::{FileSet, ServerUrl, Target, TargetError};

/// How often a statement is tried again when the connection breaks before its first row, and after what pause.
const RETRY_AFTER: [Duration; 2] = [Duration::from_millis(100), Duration::from_millis(700)];

/// An open database. Cheap to clone: clones share the connections.
#[derive(Debug, Clone)]
pub struct Engine {
    backend: Backend,
    /// What no statement may exceed, whoever asks.
    limits: ConnectionLimits,
    /// What may be read at all, whoever asks.
    policies: Arc<[NamedPolicy]>,
    /// Where the catalog is kept between runs.
    place: Option<Place>,
}

#[derive(Debug, Clone)]
enum Backend {
    Sqlite(SqliteEngine),
    Postgres(PostgresEngine),
    Mysql(MysqlEngine),
    #[cfg(feature = "adbc")]
    Adbc(AdbcEngine),
}

impl From<Backend> for Engine {
    fn from(backend: Backend) -> Self {
        Self {
            backend,
            limits: ConnectionLimits::default(),
            policies: Arc::default(),
            place: None,
        }
    }
}

impl Engine {
    /// Opens `target` for reading only.
    pub async fn connect(target: &Target) -> Result<Self, EngineError> {
        Self::connect_with(target, &Access::default(), None).await
    }

    /// Opens `target` for reading only, as `access` says; its catalog is taken from `cache` where it is there and true.
    ///
    /// Errors with [`EngineError::Open`] where `access` asks of a file what only a server has.
    pub async fn connect_with(
        target: &Target,
        access: &Access,
        cache: Option<&CatalogCache>,
    ) -> Result<Self, EngineError> {
        let (shown, name) = (target.to_string(), target.name());
        let backend = match target {
            Target::Sqlite(_) | Target::Files(_) if access.of_servers().is_some() => {
                let asked = access.of_servers().unwrap_or_default();
                return Err(EngineError::Open {
                    database: shown,
                    reason: format!("only a server has `{asked}`; take it out of the connection"),
                });
            }
            Target::Sqlite(path) => Backend::Sqlite(SqliteEngine::open(path).await?),
            Target::Files(files) => {
                let loaded = files::load(files.paths.clone()).await?;
                Backend::Sqlite(SqliteEngine::open_loaded(loaded, &shown, &name).await?)
            }
            Target::Postgres(url) => {
                Backend::Postgres(PostgresEngine::connect(url.secret(), &shown, &name, access).await?)
            }
            Target::Mysql(url) => Backend::Mysql(MysqlEngine::connect(url.secret(), &shown, &name, access).await?),
            #[cfg(feature = "adbc")]
            Target::Adbc(adbc) => Backend::Adbc(AdbcEngine::connect(adbc, access).await?),
            #[cfg(not(feature = "adbc"))]
            Target::Adbc(_) => {
                return Err(EngineError::Open {
                    database: shown,
                    reason: "this build has no ADBC; build it with `cargo build --release --features adbc`".to_owned(),
                });
            }
        };
        Ok(Self {
            backend,
            limits: access.all_limits(),
            policies: access.policies.clone().into(),
            place: cache.map(|cache| cache.place(&target.place(), access)),
        })
    }

    /// The SQL that the database speaks.
    pub fn dialect(&self) -> Dialect {
        match &self.backend {
            Backend::Sqlite(_) => Dialect::Sqlite,
            Backend::Postgres(_) => Dialect::Postgres,
            Backend::Mysql(_) => Dialect::Mysql,
            #[cfg(feature = "adbc")]
            Backend::Adbc(adbc) => adbc.dialect(),
        }
    }

    /// The database's place, without password, for people.
    pub fn display(&self) -> String {
        match &self.backend {
            Backend::Sqlite(sqlite) => sqlite.display().to_owned(),
            Backend::Postgres(postgres) => postgres.display().to_owned(),
            Backend::Mysql(mysql) => mysql.display().to_owned(),
            #[cfg(feature = "adbc")]
            Backend::Adbc(adbc) => adbc.display().to_owned(),
        }
    }

    /// What the database contains: tables, columns, types, keys (declared and inferred), row counts. No profiles: those
    /// come from [`crate::warehouse::profile::survey`].
    pub async fn introspect(&self) -> Result<Catalog, EngineError> {
        let catalog = match &self.place {
            Some(place) => self.recall(place).await?.catalog,
            None => self.read().await?,
        };
        self.seen(catalog)
    }

    /// `catalog` as the policies let it be seen.
    fn seen(&self, catalog: Catalog) -> Result<Catalog, EngineError> {
        if self.policies.is_empty() {
            return Ok(catalog);
        }
        let seen = Rules::apply(&self.policies, catalog)?;
        for (table, condition, place) in seen.rules.iter().flat_map(|rules| rules.row_filters()) {
            let full = seen.rules.as_ref().map_or(&seen, |rules| &rules.full);
            check_row_filter(condition, table, full).map_err(|refusal| EngineError::BadRowFilter {
                place,
                condition: condition.to_owned(),
                problem: refusal.to_string(),
            })?;
        }
        Ok(seen)
    }

    /// As [`Engine::introspect`], ready to be searched by the words of names and comments.
    pub async fn known(&self) -> Result<Known, EngineError> {
        let known = match &self.place {
            Some(place) => self.recall(place).await?,
            None => Known::from(self.read().await?),
        };
        match self.policies.is_empty() {
            true => Ok(known),
            // The words of hidden names are not to be found either.
            false => self.seen(known.catalog).map(Known::from),
        }
    }

    /// What was known before, as long as the database says that it is unchanged; else what is read now, and kept.
    async fn recall(&self, place: &Place) -> Result<Known, EngineError> {
        let last = place.last_fingerprint();
        let quick = match &self.backend {
            Backend::Sqlite(_) => None,
            Backend::Postgres(postgres) => postgres.quick_fingerprint().await,
            Backend::Mysql(mysql) => mysql.quick_fingerprint().await,
            #[cfg(feature = "adbc")]
            Backend::Adbc(_) => None,
        };
        let unchanged = last.as_ref().filter(|last| quick.is_some() && last.quick == quick);
        if let Some(known) = unchanged.and_then(|last| place.load(&last.full)) {
            return Ok(known);
        }
        let full = match &self.backend {
            Backend::Sqlite(sqlite) => sqlite.fingerprint(),
            Backend::Postgres(postgres) => postgres.fingerprint().await,
            Backend::Mysql(mysql) => mysql.fingerprint().await,
            #[cfg(feature = "adbc")]
            Backend::Adbc(adbc) => adbc.fingerprint(),
        };
        // A database that cannot tell whether it has changed is read each time.
        let Some(full) = full else {
            return self.read().await.map(Known::from);
        };
        let fingerprint = Fingerprint { quick, full };
        if let Some(known) = place.load(&fingerprint.full) {
            if last.as_ref() != Some(&fingerprint) {
                place.store_fingerprint(&fingerprint);
            }
            return Ok(known);
        }
        let known = Known::from(self.read().await?);
        place.store(&fingerprint, &known);
        Ok(known)
    }

    async fn read(&self) -> Result<Catalog, EngineError> {
        let mut catalog = match &self.backend {
            Backend::Sqlite(sqlite) => sqlite.introspect().await?,
            Backend::Postgres(postgres) => postgres.introspect().await?,
            Backend::Mysql(mysql) => mysql.introspect().await?,
            #[cfg(feature = "adbc")]
            Backend::Adbc(adbc) => adbc.introspect().await?,
        };
        keys::infer(self, &mut catalog).await?;
        pairs::infer(self, &mut catalog).await?;
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
        self.run_text(self.permitted(sql)?, &limits.within(&self.limits), cancel)
            .await
    }

    /// The text to send: only a statement that was checked under this database's policies runs on it.
    fn permitted<'a>(&self, sql: &'a CheckedSql) -> Result<&'a str, EngineError> {
        match sql.policies() == &*self.policies {
            true => Ok(sql.sent()),
            false => Err(EngineError::Unguarded),
        }
    }

    /// The plan that the database would run the statement by, one line a step.
    pub async fn explain(&self, sql: &CheckedSql, cancel: &CancellationToken) -> Result<Vec<String>, EngineError> {
        let text = self.permitted(sql)?;
        match &self.backend {
            Backend::Sqlite(sqlite) => sqlite.explain(text, cancel).await,
            Backend::Postgres(postgres) => postgres.explain(text, cancel).await,
            Backend::Mysql(mysql) => mysql.explain(text, cancel).await,
            #[cfg(feature = "adbc")]
            Backend::Adbc(adbc) => adbc.explain(text, cancel).await,
        }
    }

    async fn run_text(
        &self,
        sql: &str,
        limits: &RunLimits,
        cancel: &CancellationToken,
    ) -> Result<Fetched, EngineError> {
        let mut pauses = RETRY_AFTER.iter();
        loop {
            let outcome = match &self.backend {
                Backend::Sqlite(sqlite) => sqlite.run(sql, limits, cancel).await,
                Backend::Postgres(postgres) => postgres.run(sql, limits, cancel).await,
                Backend::Mysql(mysql) => mysql.run(sql, limits, cancel).await,
                #[cfg(feature = "adbc")]
                Backend::Adbc(adbc) => adbc.run(sql, limits, cancel).await,
            };
            // Where rows had come already, the error is another one.
            let (Err(EngineError::Connection { .. }), Some(pause)) = (&outcome, pauses.next()) else {
                return outcome;
            };
            tokio::select! {
                () = tokio::time::sleep(*pause) => (),
                () = cancel.cancelled() => return Err(EngineError::Cancelled),
            }
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
        let sql = match &self.backend {
            _ if columns.is_empty() => return Ok(state),
            _ if let Some(query) = &table.read_through => {
                let limit = sample.map(|rows| format!(" LIMIT {rows}")).unwrap_or_default();
                format!("SELECT {columns} FROM ({query}) AS permitted{limit}")
            }
            Backend::Sqlite(sqlite) => return sqlite.fold_values(table, sample, state, add, cancel).await,
            Backend::Postgres(postgres) => postgres.scan(table, &columns, &name, sample),
            Backend::Mysql(mysql) => mysql.scan(table, &columns, &name, sample),
            #[cfg(feature = "adbc")]
            Backend::Adbc(adbc) => adbc.scan(table, &columns, &name, sample),
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
