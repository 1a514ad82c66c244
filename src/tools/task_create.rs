//! `task_create`: makes tasks that outlive the run.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::session::tasks::{Named, NewTask, Task, TaskError, TaskId, Tasks, lines, read_id};
use crate::tools::{Call, Effect, Reply, Tool, ToolError, Workbench, args};

/// What the model sends.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// One task or several; they may name each other by `ref`.
    tasks: Vec<Item>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Item {
    /// What is to be done, in a few words.
    subject: String,
    #[serde(default)]
    description: Option<String>,
    /// A name for this task, for `blocked_by` and `blocks` of this turn.
    #[serde(default, rename = "ref")]
    reference: Option<String>,
    /// Numbers or refs of tasks to complete before.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    blocked_by: Vec<Value>,
    /// Numbers or refs of tasks that wait for it.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    blocks: Vec<Value>,
}

/// What the task tools of one run share: the store, and the references given so far.
#[derive(Debug, Clone)]
pub struct TaskDesk {
    pub(super) tasks: Tasks,
    references: Arc<Mutex<HashMap<String, TaskId>>>,
}

impl TaskDesk {
    pub fn new(tasks: Tasks) -> Self {
        Self {
            tasks,
            references: Arc::default(),
        }
    }

    /// The task that a model names by number or by the `ref` of an earlier call.
    pub(super) fn named(&self, value: &Value) -> Named {
        if let Some(id) = read_id(value) {
            return Named::Id(id);
        }
        let name = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let references = self.references.lock().unwrap_or_else(PoisonError::into_inner);
        match references.get(&name) {
            Some(id) => Named::Id(*id),
            None => Named::Reference(name),
        }
    }

    /// The numbers of tasks that must be there already.
    pub(super) fn ids(&self, values: &[Value]) -> Result<Vec<TaskId>, ToolError> {
        let id = |value: &Value| match self.named(value) {
            Named::Id(id) => Ok(id),
            Named::Reference(name) => Err(refused(TaskError::NoReference { name })),
        };
        values.iter().map(id).collect()
    }

    fn remember(&self, references: impl Iterator<Item = (String, TaskId)>) {
        let mut known = self.references.lock().unwrap_or_else(PoisonError::into_inner);
        known.extend(references);
    }
}

/// A refusal of the store as a model can act on it.
pub(super) fn refused(error: TaskError) -> ToolError {
    match error {
        TaskError::Busy { .. } => ToolError::TryAgain(error.to_string()),
        TaskError::Store(_) | TaskError::Unreadable { .. } | TaskError::Broken(_) => {
            ToolError::CannotBeDone(error.to_string())
        }
        _ => ToolError::FixTheCall(error.to_string()),
    }
}

/// One task as a model is told of it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct TaskBrief {
    pub id: TaskId,
    pub subject: String,
    pub status: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked_by: Vec<TaskId>,
}

impl From<&Task> for TaskBrief {
    fn from(task: &Task) -> Self {
        Self {
            id: task.id,
            subject: task.subject.clone(),
            status: task.status.to_string(),
            blocked_by: task.blocked_by.clone(),
        }
    }
}

/// The tool.
pub struct TaskCreate(pub TaskDesk);

#[async_trait]
impl Tool for TaskCreate {
    fn name(&self) -> &'static str {
        "task_create"
    }

    fn description(&self) -> &'static str {
        "Makes tasks that outlive this run. For the steps of the answer at hand use the plan instead."
    }

    fn schema(&self) -> Value {
        args::schema::<Args>()
    }

    fn effect(&self) -> Effect {
        Effect::Write
    }

    async fn call(&self, call: Call, _at: &Workbench) -> Result<Reply, ToolError> {
        let args: Args = args::parse(self.name(), call.arguments)?;
        if args.tasks.is_empty() {
            return Err(ToolError::FixTheCall(
                "task_create: `tasks` is empty; send at least one".into(),
            ));
        }
        let desk = &self.0;
        let own: Vec<Option<String>> = args.tasks.iter().map(|item| item.reference.clone()).collect();
        // A ref of this very call goes before one of an earlier call.
        let named = |value: &Value| match value.as_str() {
            Some(name) if own.iter().flatten().any(|own| own == name) => Named::Reference(name.to_owned()),
            _ => desk.named(value),
        };
        let new = args
            .tasks
            .iter()
            .map(|item| NewTask {
                subject: item.subject.clone(),
                description: item.description.clone(),
                reference: item.reference.clone(),
                blocked_by: item.blocked_by.iter().map(named).collect(),
                blocks: item.blocks.iter().map(named).collect(),
                ..NewTask::default()
            })
            .collect();
        let made = desk.tasks.create_all(new).map_err(refused)?;
        let given = own
            .into_iter()
            .zip(&made)
            .filter_map(|(own, task)| Some((own?, task.id)));
        desk.remember(given);
        let briefs: Vec<TaskBrief> = made.iter().map(TaskBrief::from).collect();
        let numbers: Vec<String> = made.iter().map(|task| format!("#{}", task.id)).collect();
        Reply::json(&briefs, format!("made {}", numbers.join(", ")))
    }

    /// The references are given again.
    async fn restore(&self, call: Call, _at: &Workbench) -> Result<Reply, ToolError> {
        let args: Args = args::parse(self.name(), call.arguments)?;
        let listing = self.0.tasks.all().map_err(refused)?;
        let found = args.tasks.into_iter().filter_map(|item| {
            let of_this_subject = listing.tasks.iter().rev().find(|task| task.subject == item.subject)?;
            Some((item.reference?, of_this_subject.id))
        });
        self.0.remember(found);
        Ok(Reply::default())
    }
}

/// `task_list`: all tasks in one text.
pub struct TaskList(pub TaskDesk);

#[async_trait]
impl Tool for TaskList {
    fn name(&self) -> &'static str {
        "task_list"
    }

    fn description(&self) -> &'static str {
        "Lists all tasks with their status and what blocks them."
    }

    fn schema(&self) -> Value {
        serde_json::json!({"type": "object", "properties": {}})
    }

    fn is_lasting(&self) -> bool {
        false
    }

    async fn call(&self, _call: Call, _at: &Workbench) -> Result<Reply, ToolError> {
        let listing = self.0.tasks.all().map_err(refused)?;
        Ok(Reply {
            text: lines(&listing),
            summary: format!("{} tasks", listing.tasks.len()),
            ..Reply::default()
        })
    }
}
