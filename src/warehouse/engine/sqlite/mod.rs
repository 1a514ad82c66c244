//! SQLite, through connections that can only read, on threads of their own.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use rusqlite::types::ValueRef;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::files::Loaded;
use super::{EngineError, RunLimits};
use crate::warehouse::catalog::{Catalog, Table};
use crate::warehouse::fetch::{Cell, Fetched, FrameBuilder};

mod failure;
mod fingerprint;
mod guard;
mod introspect;
mod pool;
mod scan;

use pool::{Pool, Watch};

/// For the engine's own statements about schema and values.
const OWN_TIMEOUT: Duration = Duration::from_secs(120);

/// Rows between two looks at the clock while rows are taken, beside those while they are computed.
const ROWS_BETWEEN_LOOKS: usize = 4_096;

/// A SQLite file, open for reading. Clones share the connections.
#[derive(Debug, Clone)]
pub struct SqliteEngine {
    pool: Arc<Pool>,
    shown: String,
    name: String,
    /// Where the file was made for this engine alone; it goes when the last clone does.
    made_in: Option<Arc<TempDir>>,
}

impl SqliteEngine {
    /// Opens the file at `path`, which must exist, and reads its schema once to be sure that it is a database.
    pub async fn open(path: &Path) -> Result<Self, EngineError> {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Self {
            pool: Arc::new(Pool::new(path)),
            shown: path.display().to_string(),
            name,
            made_in: None,
        }
        .tried()
        .await
    }

    /// Opens a database that was made from files, `shown` and named so.
    pub(super) async fn open_loaded(loaded: Loaded, shown: &str, name: &str) -> Result<Self, EngineError> {
        let pool = Arc::new(Pool::new(&loaded.path));
        let made_in = Some(Arc::new(loaded.dir));
        Self {
            pool,
            shown: shown.to_owned(),
            name: name.to_owned(),
            made_in,
        }
        .tried()
        .await
    }

    async fn tried(self) -> Result<Self, EngineError> {
        self.pool
            .work(OWN_TIMEOUT, &CancellationToken::new(), |_, _| Ok(()))
            .await?;
        Ok(self)
    }

    pub(super) fn display(&self) -> &str {
        &self.shown
    }

    /// Different when the file, or the log of writes beside it, is; `None` for a database that was made from other files.
    pub(super) fn fingerprint(&self) -> Option<String> {
        match self.made_in {
            Some(_) => None,
            None => fingerprint::of(self.pool.path()),
        }
    }

    /// Reads tables, views, columns and keys.
    pub(super) async fn introspect(&self) -> Result<Catalog, EngineError> {
        let name = self.name.clone();
        let read = move |connection: &Connection, _: &Watch| introspect::read(connection, &name);
        self.pool.work(OWN_TIMEOUT, &CancellationToken::new(), read).await
    }

    pub(super) async fn run(
        &self,
        sql: &str,
        limits: &RunLimits,
        cancel: &CancellationToken,
    ) -> Result<Fetched, EngineError> {
        let (sql, bounds) = (sql.to_owned(), *limits);
        let run = move |connection: &Connection, watch: &Watch| fetch(connection, &sql, &bounds, watch);
        let steps = limits.ceiling.steps;
        self.pool.work_within(limits.timeout, steps, cancel, run).await
    }

    /// See [`Engine::fold_values`](super::Engine::fold_values).
    pub(super) async fn fold_values<S: Send + 'static>(
        &self,
        table: &Table,
        sample: Option<u64>,
        mut state: S,
        add: fn(&mut S, usize, Cell<'_>),
        cancel: &CancellationToken,
    ) -> Result<S, EngineError> {
        let name = table.name.clone();
        let columns: Vec<String> = table.columns.iter().map(|column| column.name.clone()).collect();
        let fold = move |connection: &Connection, watch: &Watch| {
            scan::values(connection, &name, &columns, sample, watch, &mut |column, cell| {
                add(&mut state, column, cell)
            })?;
            Ok(state)
        };
        self.pool.work(OWN_TIMEOUT, cancel, fold).await
    }

    pub(super) async fn explain(&self, sql: &str, cancel: &CancellationToken) -> Result<Vec<String>, EngineError> {
        let sql = format!("EXPLAIN QUERY PLAN {sql}");
        let explain = move |connection: &Connection, _: &Watch| {
            let mut statement = connection.prepare(&sql)?;
            let steps = statement.query_map([], |row| row.get::<_, String>(3))?;
            Ok(steps.collect::<Result<_, _>>()?)
        };
        self.pool.work(OWN_TIMEOUT, cancel, explain).await
    }
}

/// Runs one statement and keeps the first of its rows, as many as `limits` allow.
fn fetch(connection: &Connection, sql: &str, limits: &RunLimits, watch: &Watch) -> Result<Fetched, EngineError> {
    let started = Instant::now();
    let mut statement = connection.prepare(sql)?;
    if !statement.readonly() {
        return Err(EngineError::NotReadOnly("it changes the database".to_owned()));
    }
    let described = statement.columns();
    let described = described
        .iter()
        .map(|c| (c.name().to_owned(), c.decl_type().unwrap_or_default().to_owned()));
    let mut frame = FrameBuilder::new(described.collect::<Vec<_>>());
    let mut truncated = false;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if frame.rows() >= limits.max_rows || frame.bytes() >= limits.max_bytes {
            truncated = true;
            break;
        }
        let mut long_bytes = 0;
        for (at, column) in frame.columns_mut().iter_mut().enumerate() {
            match row.get_ref(at)? {
                ValueRef::Null => column.push_null(),
                ValueRef::Integer(value) => column.push_integer(value),
                ValueRef::Real(value) => column.push_float(value),
                ValueRef::Text(bytes) => {
                    long_bytes += bytes.len();
                    column.push_text(bytes);
                }
                ValueRef::Blob(bytes) => {
                    long_bytes += bytes.len();
                    column.push_blob(bytes);
                }
            }
        }
        frame.end_row(long_bytes);
        if frame.rows().is_multiple_of(ROWS_BETWEEN_LOOKS) && watch.is_over() {
            return Err(EngineError::Cancelled);
        }
    }
    let (frame, columns) = frame.finish()?;
    Ok(Fetched {
        frame,
        columns,
        truncated,
        elapsed: started.elapsed(),
    })
}

#[cfg(test)]
mod tests;
