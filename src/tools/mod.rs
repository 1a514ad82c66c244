//! The tools that a model may call: one file each, with their argument and reply types. Knows nothing of the loop or of models.

use async_trait::async_trait;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub mod approval;
mod args;
pub mod bash;
pub mod chart;
mod files;
pub mod glossary;
pub mod metric_compute;
pub mod query_compose;
pub mod read_file;
pub mod registry;
pub mod schema_probe;
pub mod skill;
pub mod sql_execute;
pub mod sql_validate;
pub mod task_create;
pub mod task_update;
pub mod todo_write;
mod withheld;
pub mod workbench;
pub mod write_file;

pub use registry::Registry;
pub use workbench::Workbench;

/// What a tool may touch, which decides how calls of one turn are scheduled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Reads only: runs side by side with its siblings.
    ReadOnly,
    /// Writes the plan: serial, at most one a turn.
    Plan,
    /// Writes something that outlives the run: serial, and never done twice by itself.
    Write,
}

/// One call, as the loop hands it to a tool.
#[derive(Debug, Clone)]
pub struct Call {
    pub call_id: String,
    pub arguments: Value,
    /// The id reserved for what this call makes (`q1`, `m1`, `c1`); `None` for tools that make nothing.
    pub artifact_id: Option<String>,
    pub cancel: CancellationToken,
}

/// What a successful call gives back.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    /// What the model is told: compact JSON, or plain text for TodoWrite.
    pub text: String,
    /// One line for people.
    pub summary: String,
    /// Files made, as (id, kind, path).
    pub artifacts: Vec<(String, crate::session::event::ArtifactKind, String)>,
    /// The plan as it is stored now, where the call changed it.
    pub plan: Option<crate::session::todo::PlanChange>,
}

impl Reply {
    /// A reply whose text is `value` as compact JSON.
    pub fn json(value: &impl serde::Serialize, summary: impl Into<String>) -> Result<Self, ToolError> {
        let text = serde_json::to_string(value).map_err(|error| ToolError::CannotBeDone(error.to_string()))?;
        Ok(Self {
            text,
            summary: summary.into(),
            artifacts: Vec::new(),
            plan: None,
        })
    }
}

/// Why a call failed, in the three ways a model can act on.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ToolError {
    /// The call is wrong; the text says how to make it right.
    #[error("{0}")]
    FixTheCall(String),
    /// A fault that may pass.
    #[error("{0}; try again later")]
    TryAgain(String),
    #[error("{0}")]
    CannotBeDone(String),
    #[error("cancelled")]
    Cancelled,
}

/// One tool.
#[async_trait]
pub trait Tool: Send + Sync {
    fn name(&self) -> &'static str;
    /// What it does and when to use it, for the model.
    fn description(&self) -> &'static str;
    /// JSON schema of the arguments.
    fn schema(&self) -> Value;
    fn effect(&self) -> Effect {
        Effect::ReadOnly
    }
    /// Does the same call give the same reply for the whole run? Then it is made once, and answered from the ledger.
    fn is_lasting(&self) -> bool {
        self.effect() == Effect::ReadOnly
    }
    /// The letter of the ids that its results get (`q`, `m`, `c`).
    fn artifact_prefix(&self) -> Option<char> {
        None
    }
    async fn call(&self, call: Call, at: &Workbench) -> Result<Reply, ToolError>;
    /// Puts back on the workbench what a recorded, successful call of a resumed run left there. The model is told the
    /// recorded reply; of what comes back, only artifacts and plan count.
    async fn restore(&self, _call: Call, _at: &Workbench) -> Result<Reply, ToolError> {
        Ok(Reply::default())
    }
}
