//! What all database servers have in common here: limits, stopping, and errors in our words.

use std::future::Future;
use std::time::Duration;

use polars::prelude::AnyValue;
use tokio_util::sync::CancellationToken;

use super::wire::opening_word;
use super::{Ceiling, EngineError, RunLimits};
use crate::warehouse::fetch::{Cell, Fetched};

/// Statements that run side by side on one server.
pub(super) const CONNECTIONS: u32 = 4;

pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long after the server's own timeout, and after being asked to stop, a statement is still waited for.
pub(super) const GRACE: Duration = Duration::from_millis(800);

/// For the engine's own statements about schema and values.
pub(super) const OWN_LIMITS: RunLimits = RunLimits {
    max_rows: 1_000_000,
    max_bytes: 2 << 30,
    timeout: Duration::from_secs(120),
    ceiling: Ceiling {
        cost: None,
        plan_rows: None,
        steps: None,
    },
};

/// Smaller tables are counted; of larger ones the server's estimate is taken.
pub(super) const COUNTED_BYTES: i64 = 32 << 20;

/// Codes by which servers say that a statement was stopped: PostgreSQL, MySQL (killed; timed out), MariaDB (timed out).
const STOPPED: &[&str] = &["57014", "1317", "3024", "1969"];

/// Codes for "this transaction only reads": PostgreSQL's, MySQL's.
const READ_ONLY: &[&str] = &["25006", "1792"];

/// Runs `work` as a task that goes on when the caller is dropped, so that it can tidy up; `stop` fires then, and when
/// `cancel` does.
pub(super) async fn stoppable<F, T>(
    cancel: &CancellationToken,
    work: impl FnOnce(CancellationToken) -> F,
) -> Result<T, EngineError>
where
    F: Future<Output = Result<T, EngineError>> + Send + 'static,
    T: Send + 'static,
{
    let stop = cancel.child_token();
    let _stop_if_dropped = stop.clone().drop_guard();
    tokio::spawn(work(stop))
        .await
        .map_err(|error| EngineError::Interrupted(error.to_string()))?
}

/// Why rows could not be fetched from a server.
pub(super) enum Failure {
    Server(sqlx::Error),
    /// The same, on a connection that cannot be used any more.
    Spoilt(sqlx::Error),
    /// The same after so many rows had come.
    Late(sqlx::Error, usize),
    Own(EngineError),
}

/// Waits for `work`. Where it must end before it is done, `end` tells the server so, and `work` gets a last moment to
/// hear of it: `None` when it does not.
pub(super) async fn watched<T>(
    work: impl Future<Output = T>,
    stop: &CancellationToken,
    timeout: Duration,
    end: impl Future<Output = ()>,
) -> Option<T> {
    let mut work = std::pin::pin!(work);
    tokio::select! {
        outcome = &mut work => return Some(outcome),
        () = stop.cancelled() => (),
        () = tokio::time::sleep(timeout + GRACE) => (),
    }
    end.await;
    tokio::time::timeout(GRACE, work).await.ok()
}

/// May the connection serve another statement? Not while rows of this one are still on their way.
pub(super) fn is_usable_after(outcome: &Option<Result<Fetched, Failure>>) -> bool {
    match outcome {
        Some(Ok(fetched)) => !fetched.truncated,
        Some(Err(Failure::Server(sqlx::Error::Database(_)) | Failure::Late(sqlx::Error::Database(_), _))) => true,
        Some(Err(Failure::Own(_))) => true,
        Some(Err(Failure::Server(_) | Failure::Spoilt(_) | Failure::Late(..))) | None => false,
    }
}

/// What the caller is told.
pub(super) fn conclude(
    outcome: Option<Result<Fetched, Failure>>,
    stop: &CancellationToken,
    limits: &RunLimits,
    shown: &str,
) -> Result<Fetched, EngineError> {
    let stopped = || {
        if stop.is_cancelled() {
            EngineError::Cancelled
        } else {
            EngineError::Timeout(limits.timeout)
        }
    };
    match outcome {
        Some(Ok(fetched)) => Ok(fetched),
        Some(Err(Failure::Own(error))) => Err(error),
        Some(Err(Failure::Server(error) | Failure::Spoilt(error) | Failure::Late(error, _))) if was_stopped(&error) => {
            Err(stopped())
        }
        Some(Err(Failure::Server(error) | Failure::Spoilt(error) | Failure::Late(error, 0))) => {
            Err(failure(error, shown))
        }
        Some(Err(Failure::Late(error, rows))) => Err(match failure(error, shown) {
            EngineError::Connection { database, reason } => EngineError::Lost { database, rows, reason },
            other => other,
        }),
        None => Err(stopped()),
    }
}

fn was_stopped(error: &sqlx::Error) -> bool {
    code(error).is_some_and(|code| STOPPED.contains(&code.as_str()))
}

/// The server's code for an error: SQLSTATE for PostgreSQL, the number for MySQL.
fn code(error: &sqlx::Error) -> Option<String> {
    let error = error.as_database_error()?;
    match error.try_downcast_ref::<sqlx::mysql::MySqlDatabaseError>() {
        Some(mysql) => Some(mysql.number().to_string()),
        None => error.code().map(|code| code.into_owned()),
    }
}

/// An error of sqlx about the database `shown`, in our words.
pub(super) fn failure(error: sqlx::Error, shown: &str) -> EngineError {
    let code = code(&error).unwrap_or_default();
    let database = shown.to_owned();
    match error {
        sqlx::Error::Database(error) => {
            let words = error.message().to_owned();
            match code.as_str() {
                code if READ_ONLY.contains(&code) => EngineError::NotReadOnly(words),
                // Wrong password, no such database or user, server going away.
                "28P01" | "28000" | "3D000" | "1045" | "1044" | "1049" => EngineError::Open {
                    database,
                    reason: words,
                },
                code if code.starts_with("08") || code.starts_with("57P") => EngineError::Connection {
                    database,
                    reason: words,
                },
                _ => EngineError::Refused(words),
            }
        }
        sqlx::Error::Configuration(reason) => EngineError::Open {
            database,
            reason: reason.to_string(),
        },
        sqlx::Error::PoolTimedOut => EngineError::NoAnswer {
            database,
            seconds: CONNECT_TIMEOUT.as_secs(),
        },
        other => EngineError::Connection {
            database,
            reason: other.to_string(),
        },
    }
}

/// Is this a statement whose plan can be asked for?
pub(super) fn is_planned(sql: &str) -> bool {
    matches!(opening_word(sql).as_str(), "SELECT" | "WITH" | "VALUES" | "TABLE")
}

/// Errors where the planner's cost is beyond the ceiling.
pub(super) fn check_cost(cost: Option<f64>, ceiling: &Ceiling) -> Result<(), EngineError> {
    check_estimate(cost, ceiling.cost, "max_cost", "a cost of")
}

/// Errors where one step of the plan is expected to handle more rows than the ceiling.
pub(super) fn check_plan_rows(rows: Option<f64>, ceiling: &Ceiling) -> Result<(), EngineError> {
    check_estimate(rows, ceiling.plan_rows, "max_plan_rows", "so many rows in one step:")
}

fn check_estimate(estimate: Option<f64>, limit: Option<u64>, key: &'static str, what: &str) -> Result<(), EngineError> {
    match (estimate, limit) {
        (Some(estimate), Some(limit)) if estimate > limit as f64 => Err(EngineError::TooCostly {
            found: format!("not run: the database's planner expects {what} {estimate:.0}"),
            limit,
            key,
        }),
        _ => Ok(()),
    }
}

/// The first column of a result as lines of text.
pub(super) fn lines(fetched: Fetched) -> Result<Vec<String>, EngineError> {
    let mut lines = vec![];
    for row in 0..fetched.frame.height() {
        let cells = fetched.frame.columns().iter().filter_map(|column| column.get(row).ok());
        let cells = cells.map(|value| match (value.get_str(), &value) {
            (Some(text), _) => text.to_owned(),
            (None, AnyValue::Null) => String::new(),
            (None, other) => other.to_string(),
        });
        lines.push(cells.collect::<Vec<_>>().join(" "));
    }
    Ok(lines)
}

/// Hands every value of a frame to `add`, column by column.
pub(super) fn fold_frame<S>(fetched: &Fetched, state: &mut S, add: fn(&mut S, usize, Cell<'_>)) {
    for (at, column) in fetched.frame.columns().iter().enumerate() {
        for value in column.as_materialized_series().iter() {
            match value {
                AnyValue::Null => add(state, at, Cell::Null),
                AnyValue::Int64(value) => add(state, at, Cell::Integer(value)),
                AnyValue::Float64(value) => add(state, at, Cell::Float(value)),
                AnyValue::Boolean(value) => add(state, at, Cell::Text(if value { "true" } else { "false" })),
                AnyValue::String(text) => add(state, at, Cell::Text(text)),
                AnyValue::Decimal(value, _, 0) => match i64::try_from(value) {
                    Ok(value) => add(state, at, Cell::Integer(value)),
                    Err(_) => add(state, at, Cell::Float(value as f64)),
                },
                AnyValue::Decimal(value, _, scale) => {
                    let scale = i32::try_from(scale).unwrap_or(i32::MAX);
                    add(state, at, Cell::Float(value as f64 / 10_f64.powi(scale)));
                }
                AnyValue::Binary(_) | AnyValue::BinaryOwned(_) => add(state, at, Cell::Bytes),
                other => add(state, at, Cell::Text(&other.to_string())),
            }
        }
    }
}
