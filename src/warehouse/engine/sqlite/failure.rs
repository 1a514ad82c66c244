//! SQLite's errors in the words of [`EngineError`].

use std::path::Path;

use rusqlite::{Error, ErrorCode};

use crate::warehouse::engine::EngineError;

impl From<Error> for EngineError {
    /// An interrupt comes out as `Cancelled`; only who set the timer knows whether it was the time.
    fn from(error: Error) -> Self {
        let words = words(&error);
        match error.sqlite_error_code() {
            Some(ErrorCode::OperationInterrupted) => Self::Cancelled,
            Some(ErrorCode::AuthorizationForStatementDenied | ErrorCode::ReadOnly) => Self::NotReadOnly(words),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked(words),
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged(words),
            // A function that the authorizer forbids is reported as a plain error.
            _ if words.starts_with("not authorized") => Self::NotReadOnly(words),
            _ => Self::Refused(words),
        }
    }
}

/// The error of opening the file at `path`.
pub(super) fn while_opening(path: &Path, error: Error) -> EngineError {
    match EngineError::from(error) {
        EngineError::Refused(reason) | EngineError::Damaged(reason) => EngineError::Open {
            database: path.display().to_string(),
            reason,
        },
        other => other,
    }
}

pub(super) fn cannot_open(error: &Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly)
    )
}

/// SQLite's own message, without the statement and offset that rusqlite adds.
fn words(error: &Error) -> String {
    match error {
        Error::SqlInputError { msg, .. } => msg.clone(),
        Error::SqliteFailure(_, Some(message)) => message.clone(),
        other => other.to_string(),
    }
}
