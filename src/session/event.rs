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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    pub v: u32,
    /// Counts from 1 without gaps; events that are not stored have 0.
    pub seq: u64,
    /// RFC 3339, UTC, milliseconds.
    pub at: String,
    #[serde(flatten)]
    pub kind: EventKind,
}

impl Event {
    /// An event of this moment.
    pub fn now(seq: u64, kind: EventKind) -> Self {
        Self {
            v: EVENT_VERSION,
            seq,
            at: timestamp(jiff::Timestamp::now()),
            kind,
        }
    }
}

/// RFC 3339 in UTC with milliseconds, such as `2026-11-30T16:15:02.113Z`.
pub fn timestamp(at: jiff::Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

impl EventKind {
    /// The kind as the file spells it.
    pub fn name(&self) -> &'static str {
        match self {
            EventKind::SessionStarted { .. } => "session_started",
            EventKind::Message { .. } => "message",
            EventKind::TurnStarted { .. } => "turn_started",
            EventKind::TurnFinished { .. } => "turn_finished",
            EventKind::TextDelta { .. } => "text_delta",
            EventKind::ToolStarted { .. } => "tool_started",
            EventKind::ToolFinished { .. } => "tool_finished",
            EventKind::TodoProgress { .. } => "todo_progress",
            EventKind::Clarification { .. } => "clarification",
            EventKind::Reminder { .. } => "reminder",
            EventKind::Compaction { .. } => "compaction",
            EventKind::Retry { .. } => "retry",
            EventKind::Notice { .. } => "notice",
            EventKind::Artifact { .. } => "artifact",
            EventKind::Resumed { .. } => "resumed",
            EventKind::RunFinished { .. } => "run_finished",
        }
    }

    /// Whether the event belongs into the file; text deltas are for listeners only.
    pub fn is_stored(&self) -> bool {
        !matches!(self, EventKind::TextDelta { .. })
    }
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

impl Usage {
    /// Input and output tokens together.
    pub fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.cached = self.cached.saturating_add(other.cached);
        self.output = self.output.saturating_add(other.output);
    }
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
    /// The spelling that files use.
    pub fn as_str(self) -> &'static str {
        match self {
            Outcome::Answered => "answered",
            Outcome::Clarify => "clarify",
            Outcome::Abstained => "abstained",
            Outcome::Incomplete => "incomplete",
            Outcome::Failed => "failed",
            Outcome::Interrupted => "interrupted",
        }
    }

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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
        /// The id that was reserved for what the call makes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        artifact_id: Option<String>,
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
    /// A run that was cut short goes on: what was written after the event `after` does not count any more.
    Resumed {
        run: u32,
        after: u64,
        /// What was found wrong with the file.
        notes: Vec<String>,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_has_milliseconds_and_a_z() {
        let at = jiff::Timestamp::from_millisecond(1_796_055_302_113).unwrap();
        assert_eq!(timestamp(at), "2026-11-30T16:15:02.113Z");
    }

    #[test]
    fn an_event_is_one_flat_object_that_reads_back() {
        let kind = EventKind::Message {
            run: 1,
            message: Message::user("how many orders?"),
        };
        let event = Event {
            v: 1,
            seq: 7,
            at: "2026-11-30T16:15:02.113Z".into(),
            kind,
        };
        let line = serde_json::to_string(&event).unwrap();
        assert_eq!(
            line,
            r#"{"v":1,"seq":7,"at":"2026-11-30T16:15:02.113Z","event":"message","run":1,"role":"user","text":"how many orders?"}"#
        );
        assert_eq!(serde_json::from_str::<Event>(&line).unwrap(), event);
    }

    #[test]
    fn large_numbers_in_arguments_survive_the_file() {
        let arguments = serde_json::json!({"top": 9_007_199_254_740_993_u64, "share": 0.1});
        let kind = EventKind::ToolStarted {
            call_id: "1".into(),
            tool: "metric_compute".into(),
            arguments,
            artifact_id: Some("m1".into()),
        };
        let line = serde_json::to_string(&Event {
            v: 1,
            seq: 1,
            at: String::new(),
            kind: kind.clone(),
        })
        .unwrap();
        assert_eq!(serde_json::from_str::<Event>(&line).unwrap().kind, kind);
    }
}
