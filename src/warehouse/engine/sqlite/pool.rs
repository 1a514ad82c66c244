//! A few read-only connections to one file, and work on them that can be stopped.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use super::{failure, guard};
use crate::warehouse::engine::EngineError;

/// Statements that run side by side; more would only wait for the same disk.
const CONNECTIONS: usize = 4;

/// Virtual machine steps between two looks at the clock: some tens of microseconds of work.
const STEPS_BETWEEN_LOOKS: i32 = 2_000;

/// How long a statement waits for another program that is writing.
const BUSY_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(super) struct Pool {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
    permits: Arc<Semaphore>,
}

/// Says whether the work on a connection must end.
#[derive(Debug, Clone)]
pub(super) struct Watch {
    deadline: Instant,
    stop: CancellationToken,
    /// The instructions that it may take, where they are limited, and whether it took them.
    steps: Option<u64>,
    used_up: Arc<AtomicBool>,
}

impl Watch {
    pub(super) fn is_over(&self) -> bool {
        self.stop.is_cancelled() || Instant::now() >= self.deadline
    }
}

/// What comes back from the thread that did the work; the permit goes after the connection does.
struct Finished<T> {
    connection: Option<Connection>,
    outcome: Result<T, EngineError>,
    _permit: OwnedSemaphorePermit,
}

impl Pool {
    pub(super) fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            idle: Mutex::new(vec![]),
            permits: Arc::new(Semaphore::new(CONNECTIONS)),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// [`Pool::work_within`] a time alone.
    pub(super) async fn work<T: Send + 'static>(
        self: &Arc<Self>,
        timeout: Duration,
        cancel: &CancellationToken,
        work: impl FnOnce(&Connection, &Watch) -> Result<T, EngineError> + Send + 'static,
    ) -> Result<T, EngineError> {
        self.work_within(timeout, None, cancel, work).await
    }

    /// Runs `work` on a connection, on a thread where blocking is allowed. Stops it when the time or the instructions
    /// (`steps`) are used up, when `cancel` fires, or when nobody waits for it any more; the connection can be used again
    /// afterwards.
    pub(super) async fn work_within<T: Send + 'static>(
        self: &Arc<Self>,
        timeout: Duration,
        steps: Option<u64>,
        cancel: &CancellationToken,
        work: impl FnOnce(&Connection, &Watch) -> Result<T, EngineError> + Send + 'static,
    ) -> Result<T, EngineError> {
        let permit = tokio::select! {
            permit = Arc::clone(&self.permits).acquire_owned() => permit,
            () = cancel.cancelled() => return Err(EngineError::Cancelled),
        };
        let permit = permit.map_err(|error| EngineError::Interrupted(error.to_string()))?;
        let stop = cancel.child_token();
        let _stop_if_dropped = stop.clone().drop_guard();
        let watch = Watch {
            deadline: Instant::now() + timeout,
            stop: stop.clone(),
            steps,
            used_up: Arc::default(),
        };
        let used_up = Arc::clone(&watch.used_up);
        let (handle_out, handle_in) = oneshot::channel();
        let pool = Arc::clone(self);
        let mut task = spawn_blocking(move || match pool.take() {
            Ok(connection) => {
                // Without a listener the caller is gone, and the watch ends the work at once.
                let _ = handle_out.send(connection.get_interrupt_handle());
                let outcome = watched(&connection, &watch, work);
                Finished {
                    connection: Some(connection),
                    outcome,
                    _permit: permit,
                }
            }
            Err(error) => Finished {
                connection: None,
                outcome: Err(error),
                _permit: permit,
            },
        });
        let finished = tokio::select! {
            finished = &mut task => finished,
            () = over(&stop, timeout) => {
                // A long sort or count runs without the progress handler being asked; this reaches those.
                if let Ok(handle) = handle_in.await {
                    handle.interrupt();
                }
                task.await
            }
        };
        let finished = finished.map_err(|error| EngineError::Interrupted(error.to_string()))?;
        // Only now, when no interrupt can come any more, may the next statement have the connection.
        if let Some(connection) = finished.connection {
            self.idle
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(connection);
        }
        match (finished.outcome, steps) {
            (Err(EngineError::Cancelled), Some(limit)) if used_up.load(Ordering::Relaxed) => {
                Err(EngineError::TooCostly {
                    found: "the statement was stopped: it took more instructions than it may".to_owned(),
                    limit,
                    key: "max_steps",
                })
            }
            (Err(EngineError::Cancelled), _) if !stop.is_cancelled() => Err(EngineError::Timeout(timeout)),
            (outcome, _) => outcome,
        }
    }

    fn take(&self) -> Result<Connection, EngineError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.map_or_else(|| open(&self.path), Ok)
    }
}

async fn over(stop: &CancellationToken, timeout: Duration) {
    tokio::select! {
        () = stop.cancelled() => (),
        () = tokio::time::sleep(timeout) => (),
    }
}

/// `work` with the connection's progress handler bound to `watch`.
fn watched<T>(
    connection: &Connection,
    watch: &Watch,
    work: impl FnOnce(&Connection, &Watch) -> Result<T, EngineError>,
) -> Result<T, EngineError> {
    let looking = watch.clone();
    let mut left = watch.steps.unwrap_or(u64::MAX);
    let look = move || {
        left = left.saturating_sub(STEPS_BETWEEN_LOOKS.unsigned_abs().into());
        if left == 0 {
            looking.used_up.store(true, Ordering::Relaxed);
        }
        left == 0 || looking.is_over()
    };
    connection.progress_handler(STEPS_BETWEEN_LOOKS, Some(look))?;
    let outcome = work(connection, watch);
    connection.progress_handler(0, None::<fn() -> bool>)?;
    outcome
}

/// Opens `path` for reading only, locked down, and reads its schema to be sure that it is a database.
fn open(path: &Path) -> Result<Connection, EngineError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = Connection::open_with_flags(path, flags).and_then(prepared);
    let opened = match opened {
        Err(error) if failure::cannot_open(&error) && !has_log(path) => {
            // A database in WAL mode wants to make files beside it, which a folder without write permission forbids;
            // without a log to read, nothing is lost by taking the file as it is.
            Connection::open_with_flags(immutable_uri(path), flags | OpenFlags::SQLITE_OPEN_URI).and_then(prepared)
        }
        opened => opened,
    };
    opened.map_err(|error| failure::while_opening(path, error))
}

fn prepared(connection: Connection) -> rusqlite::Result<Connection> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    guard::restrict(&connection)?;
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(connection)
}

fn has_log(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    std::fs::metadata(log).is_ok_and(|about| about.len() > 0)
}

fn immutable_uri(path: &Path) -> String {
    let escaped: String = path
        .to_string_lossy()
        .chars()
        .map(|c| {
            if matches!(c, '%' | '?' | '#') {
                format!("%{:02X}", u32::from(c))
            } else {
                c.to_string()
            }
        })
        .collect();
    format!("file:{escaped}?immutable=1")
}
