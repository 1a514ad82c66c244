//! What went wrong, in one line, with the exit code that belongs to it.

use std::fmt;
use std::process::ExitCode;

use crate::config::ConfigError;
use crate::demo::DemoError;
use crate::jobs::answer::AnswerError;
use crate::jobs::database::DatabaseError;
use crate::session::store::StoreError;
use crate::session::tasks::TaskError;
use crate::text::redact;
use crate::warehouse::engine::EngineError;

/// Exit code of wrong usage.
const USAGE: u8 = 2;
/// Exit code of everything else that fails.
const FAILED: u8 = 1;
/// What a shell reports of a program that Ctrl-C ended.
pub const INTERRUPTED: u8 = 130;

/// A command that could not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    message: String,
    code: u8,
}

impl Failure {
    /// The command was written wrongly: exit code 2.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(message, USAGE)
    }

    /// The command was right and failed: exit code 1.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(message, FAILED)
    }

    /// Ctrl-C ended the command: exit code 130.
    pub fn interrupted() -> Self {
        Self::new("interrupted", INTERRUPTED)
    }

    fn new(message: impl Into<String>, code: u8) -> Self {
        let message = message.into();
        Self {
            message: redact(&message).replace('\n', " "),
            code,
        }
    }

    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.code)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Failure::usage(error.to_string())
    }
}

impl From<DatabaseError> for Failure {
    fn from(error: DatabaseError) -> Self {
        match &error {
            DatabaseError::Engine(EngineError::Cancelled) => Failure::interrupted(),
            DatabaseError::Target(_) => Failure::usage(error.to_string()),
            DatabaseError::Demo(_)
            | DatabaseError::Engine(_)
            | DatabaseError::Semantic { .. }
            | DatabaseError::Empty { .. } => Failure::failed(error.to_string()),
        }
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        DatabaseError::from(error).into()
    }
}

impl From<AnswerError> for Failure {
    fn from(error: AnswerError) -> Self {
        match &error {
            AnswerError::EmptyQuestion | AnswerError::LongQuestion { .. } => Failure::usage(error.to_string()),
            AnswerError::Store(_) | AnswerError::Timeline(_) | AnswerError::Run(_) | AnswerError::Report(_) => {
                Failure::failed(error.to_string())
            }
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Failure::failed(error.to_string())
    }
}

impl From<TaskError> for Failure {
    fn from(error: TaskError) -> Self {
        match &error {
            TaskError::NoSubject | TaskError::NoStatus { .. } => Failure::usage(error.to_string()),
            _ => Failure::failed(error.to_string()),
        }
    }
}

impl From<DemoError> for Failure {
    fn from(error: DemoError) -> Self {
        Failure::failed(error.to_string())
    }
}
