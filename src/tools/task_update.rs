//! `task_update` and `task_get`: one task changed, one task shown.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::session::tasks::{Change, TaskError, TaskId, TaskStatus};
use crate::tools::task_create::{TaskBrief, TaskDesk, refused};
use crate::tools::{Call, Effect, Reply, Tool, ToolError, Workbench, args};

/// What the model sends.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The task's number or ref.
    #[schemars(with = "String")]
    id: Value,
    /// pending, in_progress, completed, failed or cancelled.
    #[serde(default)]
    status: Option<String>,
    /// More tasks to complete before.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    blocked_by: Vec<Value>,
    /// More tasks that wait for it.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    blocks: Vec<Value>,
    /// Tasks that it is no longer to wait for.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    unblock: Vec<Value>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Which {
    /// The task's number or ref.
    #[schemars(with = "String")]
    id: Value,
}

fn one(desk: &TaskDesk, id: &Value) -> Result<TaskId, ToolError> {
    desk.ids(std::slice::from_ref(id))?
        .first()
        .copied()
        .ok_or_else(|| ToolError::FixTheCall("name a task by its number".into()))
}

/// The tool.
pub struct TaskUpdate(pub TaskDesk);

#[async_trait]
impl Tool for TaskUpdate {
    fn name(&self) -> &'static str {
        "task_update"
    }

    fn description(&self) -> &'static str {
        "Changes a task's status or what it waits for; says which tasks became ready."
    }

    fn schema(&self) -> Value {
        args::schema::<Args>()
    }

    fn effect(&self) -> Effect {
        Effect::Write
    }

    async fn call(&self, call: Call, _at: &Workbench) -> Result<Reply, ToolError> {
        let args: Args = args::parse(self.name(), call.arguments)?;
        let desk = &self.0;
        let status = |word: String| TaskStatus::read(&word).ok_or(TaskError::NoStatus { word });
        let change = Change {
            status: args.status.map(status).transpose().map_err(refused)?,
            blocked_by: desk.ids(&args.blocked_by)?,
            blocks: desk.ids(&args.blocks)?,
            unblock: desk.ids(&args.unblock)?,
            ..Change::default()
        };
        let changed = desk.tasks.update(one(desk, &args.id)?, change).map_err(refused)?;
        let summary = format!("#{} is {}", changed.task.id, changed.task.status);
        let told = json!({"task": TaskBrief::from(&changed.task), "became_ready": changed.became_ready});
        Reply::json(&told, summary)
    }
}

/// The tool.
pub struct TaskGet(pub TaskDesk);

#[async_trait]
impl Tool for TaskGet {
    fn name(&self) -> &'static str {
        "task_get"
    }

    fn description(&self) -> &'static str {
        "Shows one task whole: description, owner, result."
    }

    fn schema(&self) -> Value {
        args::schema::<Which>()
    }

    fn is_lasting(&self) -> bool {
        false
    }

    async fn call(&self, call: Call, _at: &Workbench) -> Result<Reply, ToolError> {
        let args: Which = args::parse(self.name(), call.arguments)?;
        let task = self.0.tasks.get(one(&self.0, &args.id)?).map_err(refused)?;
        let summary = format!("#{} is {}", task.id, task.status);
        Reply::json(&task, summary)
    }
}
