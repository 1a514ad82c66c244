//! What a run needs, and what it comes to.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::agent::dispatch::CallRecord;
use crate::agent::notice::Notice;
use crate::agent::prompt::PromptParts;
use crate::agent::run::millis;
use crate::config::{Budget, Config, DEFAULT_MODEL, Price};
use crate::model::chat::ChatModel;
use crate::session::event::{ArtifactKind, EventKind, Outcome, Usage};
use crate::session::message::Message;
use crate::session::resume::PastRun;
use crate::session::timeline::{Timeline, TimelineError};
use crate::session::todo::{SharedPlan, TodoItem};
use crate::tools::{Registry, Workbench};

/// Why a run could not begin, or could not be recorded.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The model failed before it gave a single reply, so there is nothing to report.
    #[error("{model}: {problem}")]
    Model { model: String, problem: String },
    #[error(transparent)]
    Timeline(#[from] TimelineError),
    #[error("the system prompt could not be made: {0}")]
    Prompt(#[from] minijinja::Error),
}

/// The settings of a run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Settings {
    pub budget: Budget,
    /// Turns without a plan write until the first reminder; 0 switches reminders off.
    pub reminder: u32,
    pub price: Option<Price>,
    /// The size of the conversation, in tokens, from which it is shortened; `None`: the model has no limit.
    pub context_tokens: Option<u64>,
    pub max_output_tokens: Option<u32>,
    /// For language models: the question is looked up in the glossary before the first turn, so that they start from readings
    /// with checked SQL, and they are told when a result may already be the answer.
    pub guided: bool,
}

impl Settings {
    /// What the configuration asks for.
    pub fn of(config: &Config) -> Self {
        Self {
            budget: config.budget,
            reminder: config.plan.reminder,
            price: config.price(),
            context_tokens: config.context_tokens(),
            max_output_tokens: None,
            // The built-in analyst asks in its own way.
            guided: config.model != DEFAULT_MODEL,
        }
    }
}

/// What earlier runs of the same session left behind.
#[derive(Debug, Clone, Default)]
pub struct Earlier {
    pub messages: Vec<Message>,
    /// Ids that are taken (`q1`, …).
    pub artifact_ids: Vec<String>,
}

/// Everything that a run needs.
pub struct RunInput<'a> {
    /// Counts from 1 in a session.
    pub run: u32,
    pub question: String,
    pub model: &'a dyn ChatModel,
    pub registry: Arc<Registry>,
    pub workbench: Arc<Workbench>,
    /// The plan that the registry's TodoWrite writes: a fresh one, since a list belongs to one run.
    pub plan: SharedPlan,
    pub prompt: PromptParts,
    pub settings: Settings,
    pub timeline: Arc<Timeline>,
    pub cancel: CancellationToken,
    pub earlier: Earlier,
    /// What this very run recorded before it was cut short: it goes over that again, without the model and without the
    /// calls that had ended, and then goes on.
    pub past: Option<PastRun>,
}

/// What a run came to. Writing the report is the caller's.
#[derive(Debug, Clone, PartialEq)]
pub struct RunOutput {
    pub outcome: Outcome,
    /// The answer without its marks; what is known where there is none.
    pub answer_markdown: String,
    /// The id of the result that answers the question by itself, where the model named one.
    pub answer_result: Option<String>,
    /// The plan as it stood at the end.
    pub plan: Vec<TodoItem>,
    /// Steps that were taken off the plan.
    pub dropped: Vec<TodoItem>,
    pub notices: Vec<Notice>,
    /// Every call of the run in order, with the ids of what they made.
    pub calls: Vec<CallRecord>,
    /// What was made, as (id, kind, path).
    pub artifacts: Vec<(String, ArtifactKind, String)>,
    pub usage: Usage,
    /// In the price table's currency; `None` where the model has no price.
    pub cost: Option<f64>,
    pub turns: u32,
    pub elapsed: Duration,
    /// The conversation, for a follow-up question.
    pub messages: Vec<Message>,
}

impl RunOutput {
    /// The event that ends the run; `exit` may be stricter than the outcome's own code.
    pub fn finished(&self, run: u32, exit: u8) -> EventKind {
        EventKind::RunFinished {
            run,
            outcome: self.outcome,
            answer: self.answer_result.clone(),
            exit,
            usage: self.usage,
            elapsed_ms: millis(self.elapsed),
        }
    }
}
