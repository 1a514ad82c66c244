//! What happened, one event at a time, in the words of the timeline.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::session::message::Message;
use crate::session::todo::TodoItem;
use crate::text::Language;

/// The version of the event format.
pub const EVENT_VERSION: u32 = 1;

/// One numbered line of a timeline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    pub v: u32,
    /// Counts from 1 without gaps; events that are not stored have 0.
    pub seq: u64,
    /// RFC 3339, UTC, milliseconds.
    pub at: String,
    #[serde(flatten)]
    pub kind: EventKind,
}

/// Tokens used; a provider that reports none has them estimated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Input tokens, cached ones included.
    pub input: u64,
    /// Input tokens read from the provider's cache.
    pub cached: u64,
    pub output: u64,
}

/// How a tool call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    Ok,
    Error,
    Cancelled,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Answered,
    /// More than one reading fits: the question is asked back.
    Clarify,
    /// The question could not be read on this database.
    Abstained,
    /// A budget ended or steps were left.
    Incomplete,
    Failed,
    Interrupted,
}

impl Outcome {
    /// The exit code of a run that ended so.
    pub fn exit_code(self) -> u8 {
        match self {
            Outcome::Answered => 0,
            Outcome::Failed => 1,
            Outcome::Incomplete => 3,
            Outcome::Clarify | Outcome::Abstained => 4,
            Outcome::Interrupted => 130,
        }
    }
}

/// What an artifact is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactKind {
    Result,
    Derived,
    Chart,
    Report,
}

/// The kinds of events with their own fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum EventKind {
    SessionStarted {
        session: String,
        question: String,
        model: String,
        database: String,
        language: Language,
        as_of: String,
        options: Value,
    },
    Message {
        run: u32,
        #[serde(flatten)]
        message: Message,
    },
    TurnStarted {
        run: u32,
        turn: u32,
    },
    TurnFinished {
        run: u32,
        turn: u32,
        usage: Usage,
        elapsed_ms: u64,
    },
    /// For listeners only: the one kind that is not stored.
    TextDelta {
        text: String,
    },
    ToolStarted {
        call_id: String,
        tool: String,
        arguments: Value,
    },
    ToolFinished {
        call_id: String,
        tool: String,
        status: CallStatus,
        elapsed_ms: u64,
        summary: String,
        /// What the model was told, whole.
        reply: String,
    },
    TodoProgress {
        todos: Vec<TodoItem>,
        dropped: Vec<TodoItem>,
        completed: usize,
        total: usize,
    },
    Clarification {
        question: String,
        readings: Vec<String>,
    },
    Reminder {
        text: String,
    },
    Compaction {
        text: String,
    },
    Retry {
        attempt: u32,
        after_ms: u64,
        text: String,
    },
    Notice {
        text: String,
    },
    Artifact {
        id: String,
        kind: ArtifactKind,
        path: String,
    },
    RunFinished {
        run: u32,
        outcome: Outcome,
        /// The result id that answers the question, where one does.
        answer: Option<String>,
        exit: u8,
        usage: Usage,
        elapsed_ms: u64,
    },
}
