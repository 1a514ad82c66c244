//! What can go wrong between asking a database and holding its rows.

use std::time::Duration;

use thiserror::Error;

use crate::warehouse::Dialect;
use crate::warehouse::catalog::RuleError;
use crate::warehouse::engine::TargetError;
use crate::warehouse::fetch::FetchError;

/// Why a database gave no answer.
#[derive(Debug, Error)]
pub enum EngineError {
    #[error(transparent)]
    Target(#[from] TargetError),
    #[error("cannot open {database}: {reason}")]
    Open { database: String, reason: String },
    /// The server could not be reached, or the connection broke; trying again may help.
    #[error("no connection to {database}: {reason}; check that the server runs and that it may be reached from here")]
    Connection { database: String, reason: String },
    /// Every attempt to connect failed for as long as one waits, so that there is no use in waiting once more.
    #[error(
        "no connection to {database}: no answer within {seconds} s; check that the server runs and that it may be reached from here"
    )]
    NoAnswer { database: String, seconds: u64 },
    /// The engine's own words about a statement that it would not run.
    #[error("the database refused the statement: {0}")]
    Refused(String),
    /// The statement would do more than read; the connection itself forbids that.
    #[error("the database is open for reading only, and the statement would do more: {0}")]
    NotReadOnly(String),
    #[error("the statement did not end within {} and was stopped; ask for less, or allow more time", seconds(.0))]
    Timeout(Duration),
    #[error("cancelled")]
    Cancelled,
    /// The connection broke while rows were coming, so that the statement is not simply run again.
    #[error("the connection to {database} broke after {rows} rows: {reason}; run the statement again")]
    Lost {
        database: String,
        rows: usize,
        reason: String,
    },
    /// The database's own estimate, or what it has done so far, is beyond the ceiling.
    #[error(
        "{found}, and the limit is {limit}; ask for less, or raise `limits.{key}` of the connection in analyst.toml"
    )]
    TooCostly {
        found: String,
        limit: u64,
        key: &'static str,
    },
    /// Another program holds a lock; trying again may help.
    #[error("the database is locked by another program: {0}")]
    Locked(String),
    #[error("the database file is damaged: {0}")]
    Damaged(String),
    #[error("statement is for {statement:?}, but the database speaks {database:?}")]
    WrongDialect { statement: Dialect, database: Dialect },
    /// A policy that does not fit the database.
    #[error(transparent)]
    Policy(#[from] RuleError),
    #[error("`{place}` in analyst.toml is `{condition}`, which is no condition for the table: {problem}")]
    BadRowFilter {
        place: String,
        condition: String,
        problem: String,
    },
    #[error(
        "the statement was not checked under the policies of this database, so it is not run; open the database anew"
    )]
    Unguarded,
    #[error(transparent)]
    Fetch(#[from] FetchError),
    #[error("the database task ended early: {0}")]
    Interrupted(String),
}

impl EngineError {
    /// Can the words hold no value of the data? The engine's own may quote one that it could not convert.
    pub fn is_free_of_values(&self) -> bool {
        match self {
            Self::Timeout(_)
            | Self::Cancelled
            | Self::TooCostly { .. }
            | Self::WrongDialect { .. }
            | Self::Policy(_)
            | Self::BadRowFilter { .. }
            | Self::Unguarded => true,
            Self::Target(_)
            | Self::Open { .. }
            | Self::Connection { .. }
            | Self::NoAnswer { .. }
            | Self::Refused(_)
            | Self::NotReadOnly(_)
            | Self::Lost { .. }
            | Self::Locked(_)
            | Self::Damaged(_)
            | Self::Fetch(_)
            | Self::Interrupted(_) => false,
        }
    }

    /// May the same call succeed a little later?
    pub fn may_pass(&self) -> bool {
        matches!(
            self,
            Self::Connection { .. }
                | Self::NoAnswer { .. }
                | Self::Lost { .. }
                | Self::Locked(_)
                | Self::Interrupted(_)
        )
    }
}

fn seconds(duration: &Duration) -> String {
    let seconds = duration.as_secs_f64();
    if seconds >= 1.0 {
        format!("{seconds} s")
    } else {
        format!("{} ms", duration.as_millis())
    }
}
