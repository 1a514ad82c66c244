//! An open database behind an ADBC driver. Drivers block, so each statement has a thread of its own.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use adbc_core::error::{Error, Status};
use adbc_core::options::{OptionConnection, OptionValue};
use adbc_core::{CancelHandle, Connection as _, Database as _, Optionable as _, Statement as _};
use adbc_driver_manager::{ManagedConnection, ManagedDatabase};
use arrow_array::RecordBatchReader;
use tokio::sync::{Semaphore, oneshot};
use tokio_util::sync::CancellationToken;

use super::decode::{Cells, declared, logical};
use super::target::{AdbcTarget, Driver, dialect_in};
use super::{driver, introspect};
use crate::config::Access;
use crate::warehouse::Dialect;
use crate::warehouse::catalog::{Catalog, Table};
use crate::warehouse::engine::wire::opening_word;
use crate::warehouse::engine::{EngineError, RunLimits, server};
use crate::warehouse::fetch::{Fetched, TypedFrame};

/// Words by which drivers say that the other side is gone; ADBC itself has one code for all failures of a server.
const BROKEN: [&str; 6] = [
    "unavailable",
    "connection refused",
    "connection reset",
    "broken pipe",
    "unexpected eof",
    "transport is closing",
];

/// A database behind an ADBC driver. Clones share the connections.
#[derive(Clone)]
pub struct AdbcEngine {
    shared: Arc<Shared>,
}

struct Shared {
    database: ManagedDatabase,
    dialect: Dialect,
    shown: String,
    name: String,
    schemas: Vec<String>,
    /// The file that holds the database, where there is one.
    file: Option<PathBuf>,
    idle: Mutex<Vec<ManagedConnection>>,
    permits: Arc<Semaphore>,
}

impl fmt::Debug for AdbcEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AdbcEngine")
            .field("shown", &self.shared.shown)
            .finish_non_exhaustive()
    }
}

/// What the thread of a statement and the task that waits for it have in common.
struct Watch {
    /// The statement is to end: its rows are wanted no more.
    over: Arc<AtomicBool>,
    /// Where the way to end it in the database is handed over.
    handle: oneshot::Sender<Box<dyn CancelHandle>>,
}

impl AdbcEngine {
    /// Loads the driver and connects.
    pub(in crate::warehouse::engine) async fn connect(
        target: &AdbcTarget,
        access: &Access,
    ) -> Result<Self, EngineError> {
        let shown = target.shown();
        let failed = |reason: String| EngineError::Open {
            database: shown.clone(),
            reason,
        };
        if let Some(asked) = access.of_drivers() {
            return Err(failed(format!(
                "`{asked}` of the connection cannot be handed to an ADBC driver; write it into the URI or as an option of the driver"
            )));
        }
        let (wanted, schemas, shown_again) = (target.clone(), access.schemas.clone(), shown.clone());
        let opened = on_a_thread(move || open(&wanted, schemas, shown_again)).await;
        let shared = opened.map_err(|error| failed(error.to_string()))?.map_err(failed)?;
        Ok(Self {
            shared: Arc::new(shared),
        })
    }

    pub(in crate::warehouse::engine) fn dialect(&self) -> Dialect {
        self.shared.dialect
    }

    pub(in crate::warehouse::engine) fn display(&self) -> &str {
        &self.shared.shown
    }

    pub(super) fn name(&self) -> &str {
        &self.shared.name
    }

    /// The only schemas that are looked at; empty means all.
    pub(super) fn schemas(&self) -> &[String] {
        &self.shared.schemas
    }

    pub(in crate::warehouse::engine) async fn introspect(&self) -> Result<Catalog, EngineError> {
        introspect::read(self).await
    }

    /// Different when the file, or the log of writes beside it, is; `None` where there is no file.
    pub(in crate::warehouse::engine) fn fingerprint(&self) -> Option<String> {
        let file = self.shared.file.as_deref()?;
        let part = |path: &Path| {
            let about = std::fs::metadata(path).ok()?;
            let modified = about.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
            Some(format!("{} {}", about.len(), modified.as_nanos()))
        };
        let mut log = file.as_os_str().to_owned();
        log.push(".wal");
        Some(format!(
            "{} / {}",
            part(file)?,
            part(Path::new(&log)).unwrap_or_default()
        ))
    }

    pub(in crate::warehouse::engine) async fn run(
        &self,
        sql: &str,
        limits: &RunLimits,
        cancel: &CancellationToken,
    ) -> Result<Fetched, EngineError> {
        let words = driver::opening_words(self.dialect());
        if !words.contains(&opening_word(sql).as_str()) {
            return Err(EngineError::NotReadOnly(format!(
                "it opens with none of {}",
                words.join(", ")
            )));
        }
        let (shared, sql, limits) = (Arc::clone(&self.shared), sql.to_owned(), *limits);
        let work = |stop| async move { run_until(shared, sql, limits, stop).await };
        server::stoppable(cancel, work).await
    }

    /// The plan as the engine prints it.
    pub(in crate::warehouse::engine) async fn explain(
        &self,
        sql: &str,
        cancel: &CancellationToken,
    ) -> Result<Vec<String>, EngineError> {
        let explain = format!("EXPLAIN {sql}");
        let lines = server::lines(self.run(&explain, &server::OWN_LIMITS, cancel).await?)?;
        Ok(lines.iter().flat_map(|text| text.lines()).map(str::to_owned).collect())
    }

    /// `SELECT` of all columns of `table`, of about `sample` rows where it is given.
    pub(in crate::warehouse::engine) fn scan(
        &self,
        table: &Table,
        columns: &str,
        name: &str,
        sample: Option<u64>,
    ) -> String {
        let Some(sample) = sample else {
            return format!("SELECT {columns} FROM {name}");
        };
        let percent = match table.rows {
            Some(count) if count.rows > sample => (sample as f64 * 100.0 / count.rows as f64).max(0.000_001),
            _ => return format!("SELECT {columns} FROM {name} LIMIT {sample}"),
        };
        let part = match self.dialect() {
            Dialect::Duckdb | Dialect::Snowflake | Dialect::Postgres => format!("TABLESAMPLE SYSTEM ({percent:.6})"),
            Dialect::Bigquery => format!("TABLESAMPLE SYSTEM ({percent:.6} PERCENT)"),
            Dialect::Databricks => format!("TABLESAMPLE ({percent:.6} PERCENT)"),
            Dialect::Sqlite | Dialect::Mysql | Dialect::Clickhouse => String::new(),
        };
        format!("SELECT {columns} FROM {name} {part} LIMIT {sample}")
    }
}

/// Runs blocking work on a thread that nobody waits for when the program ends.
async fn on_a_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, EngineError> {
    let (done, outcome) = oneshot::channel();
    let interrupted = |reason: String| EngineError::Interrupted(reason);
    std::thread::Builder::new()
        .name("adbc".to_owned())
        .spawn(move || drop(done.send(work())))
        .map_err(|error| interrupted(error.to_string()))?;
    outcome
        .await
        .map_err(|_| interrupted("the driver's thread ended early".to_owned()))
}

fn open(target: &AdbcTarget, schemas: Vec<String>, shown: String) -> Result<Shared, String> {
    let database = driver::open(target)?;
    let words = |error: Error| error.message.trim().to_owned();
    let first = database.new_connection().map_err(words)?;
    let dialect = match target.dialect {
        Some(dialect) => dialect,
        None => vendor(&first).as_deref().and_then(dialect_in).ok_or_else(|| {
            format!(
                "the driver does not say which SQL it speaks; write it behind its name, as in adbc:{}+clickhouse:…",
                target.driver_name
            )
        })?,
    };
    let mut shared = Shared {
        database,
        dialect,
        shown,
        name: target.name(),
        schemas,
        file: (target.driver == Driver::Duckdb).then(|| PathBuf::from(&target.place)),
        idle: Mutex::new(vec![]),
        permits: Arc::new(Semaphore::new(server::CONNECTIONS as usize)),
    };
    let mut first = shared.prepared(first).map_err(words)?;
    for sql in driver::once(dialect) {
        // A setting that this version does not know cannot be misused either; a zone needs an extension.
        let _ = execute(&mut first, sql);
    }
    shared.idle = Mutex::new(vec![first]);
    Ok(shared)
}

/// What the database calls itself.
fn vendor(connection: &ManagedConnection) -> Option<String> {
    use adbc_core::options::InfoCode;
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    let codes = [InfoCode::VendorName, InfoCode::DriverName].into_iter().collect();
    let mut names = vec![];
    for batch in connection.get_info(Some(codes)).ok()?.flatten() {
        let values = batch.column_by_name("info_value")?.as_union_opt()?;
        for row in 0..values.len() {
            let value = values.value(row);
            if let Some(text) = value.as_string_opt::<i32>().filter(|text| !text.is_empty()) {
                names.push(text.value(0).to_owned());
            }
        }
    }
    Some(names.join(" "))
}

fn execute(connection: &mut ManagedConnection, sql: &str) -> Result<(), Error> {
    let mut statement = connection.new_statement()?;
    statement.set_sql_query(sql)?;
    // Not execute_update, which some drivers have for changes alone.
    statement.execute()?.for_each(drop);
    Ok(())
}

impl Shared {
    fn take(&self) -> Result<ManagedConnection, Error> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match idle {
            Some(connection) => Ok(connection),
            None => self.prepared(self.database.new_connection()?),
        }
    }

    fn prepared(&self, mut connection: ManagedConnection) -> Result<ManagedConnection, Error> {
        // Few drivers have it, and those that have it hold to it.
        let _ = connection.set_option(OptionConnection::ReadOnly, OptionValue::from("true"));
        for sql in driver::each(self.dialect) {
            execute(&mut connection, sql)?;
        }
        Ok(connection)
    }

    /// Runs one statement and keeps the first of its rows, as many as `limits` allow. Blocks.
    fn fetch(&self, sql: &str, limits: &RunLimits, watch: Watch) -> Result<Fetched, EngineError> {
        let failed = |error| self.failure(error);
        let mut connection = self.take().map_err(failed)?;
        let outcome = self.rows(&mut connection, sql, limits, watch);
        // After anything else than rows or a refusal nobody knows what state it is in.
        if matches!(&outcome, Ok(_) | Err(EngineError::Refused(_))) {
            self.idle
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(connection);
        }
        outcome
    }

    fn rows(
        &self,
        connection: &mut ManagedConnection,
        sql: &str,
        limits: &RunLimits,
        watch: Watch,
    ) -> Result<Fetched, EngineError> {
        let started = Instant::now();
        let failed = |error| self.failure(error);
        let mut statement = connection.new_statement().map_err(failed)?;
        statement.set_sql_query(sql).map_err(failed)?;
        drop(watch.handle.send(statement.get_cancel_handle()));
        let is_over = || watch.over.load(Ordering::Relaxed);
        if is_over() {
            return Err(EngineError::Cancelled);
        }
        let reader = statement.execute().map_err(failed)?;
        let mut frame = TypedFrame::new(columns(reader.as_ref())?);
        let mut truncated = false;
        'batches: for batch in reader {
            let batch = batch.map_err(|error| self.broken(error.to_string(), frame.rows()))?;
            if is_over() {
                return Err(EngineError::Cancelled);
            }
            let cells: Vec<Cells> = batch.columns().iter().map(Cells::of).collect();
            for row in 0..batch.num_rows() {
                if frame.rows() >= limits.max_rows || frame.bytes() >= limits.max_bytes {
                    truncated = true;
                    break 'batches;
                }
                let value = |at: usize| match cells.get(at) {
                    Some(cells) => Ok(cells.value(row)),
                    None => Err(EngineError::Interrupted(
                        "the driver sent fewer columns than it said".to_owned(),
                    )),
                };
                frame.push_row(value)?;
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

    fn failure(&self, error: Error) -> EngineError {
        let words = error.message.trim().to_owned();
        match error.status {
            Status::Cancelled => EngineError::Cancelled,
            Status::Unauthenticated => EngineError::Open {
                database: self.shown.clone(),
                reason: words,
            },
            _ => self.broken(words, 0),
        }
    }

    /// A failure that only its words tell of, after so many rows.
    fn broken(&self, words: String, rows: usize) -> EngineError {
        let lower = words.to_lowercase();
        let database = self.shown.clone();
        match (BROKEN.iter().any(|sign| lower.contains(sign)), rows) {
            (true, 0) => EngineError::Connection {
                database,
                reason: words,
            },
            (true, rows) => EngineError::Lost {
                database,
                rows,
                reason: words,
            },
            (false, _) => EngineError::Refused(words),
        }
    }
}

/// Name, type and logical type of each column.
fn columns(
    reader: &dyn RecordBatchReader,
) -> Result<Vec<(String, String, crate::warehouse::catalog::DataType)>, EngineError> {
    let schema = reader.schema();
    let about = |field: &Arc<arrow_schema::Field>| match logical(field.data_type()) {
        Some(logical) => Ok((field.name().clone(), declared(field.data_type()), logical)),
        None => Err(EngineError::Refused(format!(
            "the column `{}` has the type {}, which cannot be read; cast it to text",
            field.name(),
            field.data_type()
        ))),
    };
    schema.fields().iter().map(about).collect()
}

/// Runs the statement on its thread; where it must end before it is done, the database is told so, and the thread is
/// left to itself when it does not listen.
async fn run_until(
    shared: Arc<Shared>,
    sql: String,
    limits: RunLimits,
    stop: CancellationToken,
) -> Result<Fetched, EngineError> {
    let permit = tokio::select! {
        permit = Arc::clone(&shared.permits).acquire_owned() => {
            permit.map_err(|error| EngineError::Interrupted(error.to_string()))?
        }
        () = stop.cancelled() => return Err(EngineError::Cancelled),
    };
    let over = Arc::new(AtomicBool::new(false));
    let (handle, mut handed) = oneshot::channel();
    let watch = Watch {
        over: Arc::clone(&over),
        handle,
    };
    let work = on_a_thread(move || {
        let outcome = shared.fetch(&sql, &limits, watch);
        drop(permit);
        outcome
    });
    let mut work = std::pin::pin!(work);
    tokio::select! {
        outcome = &mut work => return outcome?,
        () = stop.cancelled() => (),
        () = tokio::time::sleep(limits.timeout) => (),
    }
    over.store(true, Ordering::Relaxed);
    if let Ok(handle) = handed.try_recv() {
        tokio::spawn(on_a_thread(move || drop(handle.try_cancel())));
    }
    // It may have come to its end in the last moment; else it is only waited for so that it can tidy up.
    match tokio::time::timeout(server::GRACE, work).await {
        Ok(Ok(Ok(fetched))) => Ok(fetched),
        _ if stop.is_cancelled() => Err(EngineError::Cancelled),
        _ => Err(EngineError::Timeout(limits.timeout)),
    }
}
