//! How a call ended, as it is announced and told to the model.

use std::time::Duration;

use serde_json::Value;

use crate::session::event::{ArtifactKind, CallStatus};
use crate::session::resume::PastEnd;
use crate::session::todo::PlanChange;
use crate::tools::{Reply, ToolError};

/// How one call ended, before it is announced.
#[derive(Debug, Clone)]
pub(super) struct Ended {
    pub status: CallStatus,
    pub reply: String,
    pub summary: String,
    pub elapsed: Duration,
    pub artifacts: Vec<(String, ArtifactKind, String)>,
    pub plan: Option<PlanChange>,
    pub repeated: bool,
}

impl Ended {
    pub fn from_result(result: Result<Reply, ToolError>, elapsed: Duration) -> Self {
        match result {
            Ok(reply) => Self {
                status: CallStatus::Ok,
                reply: reply.text,
                summary: reply.summary,
                elapsed,
                artifacts: reply.artifacts,
                plan: reply.plan,
                repeated: false,
            },
            Err(ToolError::Cancelled) => Self::cancelled(elapsed),
            Err(error @ (ToolError::FixTheCall(_) | ToolError::TryAgain(_) | ToolError::CannotBeDone(_))) => {
                Self::error(error.to_string(), elapsed)
            }
        }
    }

    /// An end that was recorded, with what was put back of it.
    pub fn recorded(past: PastEnd, left: Reply) -> Self {
        Self {
            status: past.status,
            reply: past.reply,
            summary: past.summary,
            elapsed: Duration::from_millis(past.elapsed_ms),
            artifacts: left.artifacts,
            plan: left.plan,
            repeated: false,
        }
    }

    pub fn error(text: String, elapsed: Duration) -> Self {
        let summary = text.lines().next().unwrap_or_default().to_owned();
        let reply = format!("error: {text}");
        Self {
            status: CallStatus::Error,
            reply,
            summary,
            elapsed,
            artifacts: vec![],
            plan: None,
            repeated: false,
        }
    }

    pub fn cancelled(elapsed: Duration) -> Self {
        let text = "cancelled before it ended".to_owned();
        Self {
            status: CallStatus::Cancelled,
            reply: text.clone(),
            summary: text,
            elapsed,
            artifacts: vec![],
            plan: None,
            repeated: false,
        }
    }

    /// The same answer given again, with a note that it is not new. JSON stays JSON.
    pub fn repeated(&self) -> Self {
        let note = "You sent this call before; this is its stored reply. Use it instead of asking again.";
        let reply = match serde_json::from_str(&self.reply) {
            Ok(Value::Object(mut fields)) => {
                fields.insert("note".to_owned(), note.into());
                Value::Object(fields).to_string()
            }
            _ => format!("{}\n({note})", self.reply),
        };
        Self {
            reply,
            elapsed: Duration::ZERO,
            repeated: true,
            ..self.clone()
        }
    }
}
