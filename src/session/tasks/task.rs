//! One task as its file holds it.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// The version of the file format.
pub const TASK_VERSION: u32 = 1;

/// Counts from 1; never given twice, even after a deletion.
pub type TaskId = u64;

/// Where a task stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum TaskStatus {
    #[default]
    Pending,
    InProgress,
    Completed,
    Failed,
    Cancelled,
    /// A word of somebody else's, kept as it is.
    Unknown(String),
}

impl TaskStatus {
    /// Reads a status that somebody asks for: any case, with or without a separator.
    pub fn read(text: &str) -> Option<Self> {
        let letters: String = text
            .chars()
            .filter(|c| c.is_alphabetic())
            .flat_map(char::to_lowercase)
            .collect();
        Some(match letters.as_str() {
            "pending" => TaskStatus::Pending,
            "inprogress" => TaskStatus::InProgress,
            "completed" => TaskStatus::Completed,
            "failed" => TaskStatus::Failed,
            "cancelled" | "canceled" => TaskStatus::Cancelled,
            _ => return None,
        })
    }

    pub fn as_str(&self) -> &str {
        match self {
            TaskStatus::Pending => "pending",
            TaskStatus::InProgress => "in_progress",
            TaskStatus::Completed => "completed",
            TaskStatus::Failed => "failed",
            TaskStatus::Cancelled => "cancelled",
            TaskStatus::Unknown(word) => word,
        }
    }

    pub(super) fn mark(&self) -> &'static str {
        match self {
            TaskStatus::Pending => "[ ]",
            TaskStatus::InProgress => "[>]",
            TaskStatus::Completed => "[x]",
            TaskStatus::Failed => "[!]",
            TaskStatus::Cancelled => "[-]",
            TaskStatus::Unknown(_) => "[?]",
        }
    }

    /// May somebody set it from this to `to`? Whether the task is blocked is another question.
    pub(super) fn may_become(&self, to: &TaskStatus) -> bool {
        use TaskStatus::*;
        self == to
            || matches!(
                (self, to),
                (Pending, InProgress | Completed | Failed | Cancelled)
                    | (InProgress, Pending | Completed | Failed | Cancelled)
                    | (Completed | Cancelled, Pending)
                    | (Failed, Pending | InProgress | Cancelled)
                    | (Unknown(_), Pending | Cancelled)
            )
    }
}

impl fmt::Display for TaskStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for TaskStatus {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for TaskStatus {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        Ok(TaskStatus::read(&word).unwrap_or(TaskStatus::Unknown(word)))
    }
}

/// A unit of work that outlives the process that made it. Fields that we do not know are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    #[serde(default = "version")]
    pub v: u32,
    /// The file's name says it too, and counts where they differ.
    #[serde(default)]
    pub id: TaskId,
    /// What its maker knows it by; unique among tasks that have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    pub subject: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// pending, in_progress, completed, failed or cancelled; another word is kept and shown as `[?]`.
    #[serde(default)]
    #[schemars(with = "String")]
    pub status: TaskStatus,
    /// How often it failed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub attempts: u32,
    /// Tasks that have to be completed before: what counts.
    #[serde(default, deserialize_with = "ids")]
    pub blocked_by: Vec<TaskId>,
    /// Tasks that wait for this one: mirrors their `blockedBy`, for readers.
    #[serde(default, deserialize_with = "ids")]
    pub blocks: Vec<TaskId>,
    /// Who works on it, or did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Until when the owner has it for sure; RFC 3339, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_until: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// RFC 3339, UTC, like all times here.
    #[serde(default)]
    pub created_at: String,
    #[serde(default)]
    pub updated_at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<String>,
    #[serde(flatten)]
    #[schemars(skip)]
    pub extra: Map<String, Value>,
}

impl Task {
    /// Does the owner's lease still hold at `now`? A task without one is nobody's for sure.
    pub fn is_leased(&self, now: jiff::Timestamp) -> bool {
        let until = self
            .lease_until
            .as_deref()
            .and_then(|text| text.parse::<jiff::Timestamp>().ok());
        self.status == TaskStatus::InProgress && until.is_some_and(|until| until > now)
    }
}

fn version() -> u32 {
    TASK_VERSION
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// Ids as programs and people write them: 3, 3.0, "3" and "#3" are the same task. Sorted, each once.
fn ids<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<TaskId>, D::Error> {
    let values = Vec::<Value>::deserialize(deserializer)?;
    let mut ids = values
        .iter()
        .map(|value| read_id(value).ok_or_else(|| serde::de::Error::custom(format!("{value} is no task's number"))))
        .collect::<Result<Vec<TaskId>, D::Error>>()?;
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
}

/// A task's number as programs and people write it.
pub fn read_id(value: &Value) -> Option<TaskId> {
    match value {
        Value::Number(number) => number.as_u64().or_else(|| {
            let whole = number
                .as_f64()
                .filter(|n| n.fract() == 0.0 && (1.0..=9e15).contains(n))?;
            Some(whole as u64)
        }),
        Value::String(text) => text.trim().trim_start_matches('#').parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
    .filter(|id| *id > 0)
}
