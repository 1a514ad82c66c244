//! The plan of a run: todo items and the rules by which a list may change.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a step stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    #[default]
    Pending,
    InProgress,
    Completed,
    Cancelled,
}

/// One step of the plan, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TodoItem {
    /// Numbered by the host from 1; never reused in a run.
    pub id: u32,
    /// What is to be done ("Rank employees by net sales").
    pub content: String,
    /// The same while it is being done ("Ranking employees by net sales").
    #[serde(rename = "activeForm")]
    pub active_form: String,
    pub status: Status,
}

/// What a successful plan write did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanChange {
    /// The list as it is stored now.
    pub todos: Vec<TodoItem>,
    /// Pending items that the new list no longer has.
    pub dropped: Vec<TodoItem>,
}
