//! `TodoWrite`: the model's plan, replaced whole.

use async_trait::async_trait;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use crate::session::todo::{self, SharedPlan, Status};
use crate::tools::{Call, Effect, Reply, Tool, ToolError, Workbench};

/// The tool's name, which prompts and dispatch look for.
pub const NAME: &str = "TodoWrite";

/// When and how to plan; part of the system prompt if and only if the tool is registered.
pub const TODO_WRITE_GUIDANCE: &str = include_str!("todo_write_guidance.md");

/// What every successful write is answered with, before the list.
const STORED: &str = "The plan is stored. Go on with the step in progress.";
const STORED_AND_DONE: &str = "The plan is stored and has no open steps. Give the answer.";

// The shape that is offered to models. What arrives is read more leniently, by [`todo::TodoList::replace`].
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code, reason = "only its schema is used")]
struct Args {
    /// The whole list.
    todos: Vec<Item>,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code, reason = "only its schema is used")]
struct Item {
    /// "Rank employees by sales"
    content: String,
    /// "Ranking employees by sales"
    #[schemars(rename = "activeForm")]
    active_form: String,
    status: Status,
    /// The number of a listed step; leave it out for a new one.
    #[schemars(default, with = "u8", extend("format" = null, "maximum" = null, "minimum" = null))]
    id: Option<u8>,
}

/// The tool over the plan of one run.
#[derive(Debug)]
pub struct TodoWrite {
    plan: SharedPlan,
}

impl TodoWrite {
    pub fn new(plan: SharedPlan) -> Self {
        Self { plan }
    }
}

#[async_trait]
impl Tool for TodoWrite {
    fn name(&self) -> &'static str {
        NAME
    }

    fn description(&self) -> &'static str {
        "Writes the plan: replaces the whole list of steps."
    }

    fn schema(&self) -> Value {
        schema()
    }

    fn effect(&self) -> Effect {
        Effect::Plan
    }

    async fn call(&self, call: Call, _at: &Workbench) -> Result<Reply, ToolError> {
        let change = self
            .plan
            .lock()
            .replace(call.arguments)
            .map_err(|e| ToolError::FixTheCall(e.to_string()))?;
        let open = change.todos.iter().any(|t| t.status.is_open());
        let (completed, total) = todo::progress(&change.todos);
        Ok(Reply {
            text: format!(
                "{}\n{}",
                if open { STORED } else { STORED_AND_DONE },
                todo::render(&change.todos)
            ),
            summary: format!("{completed}/{total} completed"),
            artifacts: Vec::new(),
            plan: Some(change),
        })
    }

    /// The list is made again, write by write.
    async fn restore(&self, call: Call, at: &Workbench) -> Result<Reply, ToolError> {
        self.call(call, at).await
    }
}

/// The arguments' schema without what only costs tokens: titles, the dialect, number formats.
fn schema() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|s| {
        s.inline_subschemas = true;
        s.meta_schema = None;
    });
    let mut value = settings.into_generator().into_root_schema_for::<Args>().to_value();
    prune(&mut value);
    value
}

fn prune(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|key, value| !(value.is_null() || key == "title" && value.is_string()));
            // The spelling of the statuses says all that their descriptions would.
            if fields.contains_key("enum") {
                fields.remove("description");
                fields.remove("default");
            }
            fields.values_mut().for_each(prune);
        }
        Value::Array(items) => items.iter_mut().for_each(prune),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guidance_and_schema_cost_under_450_tokens() {
        let tool = TodoWrite::new(SharedPlan::default());
        let bytes =
            TODO_WRITE_GUIDANCE.len() + tool.name().len() + tool.description().len() + schema().to_string().len();
        assert!(bytes / 4 < 450, "{} tokens: {}", bytes / 4, schema());
    }

    #[test]
    fn the_schema_names_every_field_and_status() {
        let expected = serde_json::json!({
            "type": "object",
            "properties": {"todos": {
                "description": "The whole list.",
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "content": {"description": "\"Rank employees by sales\"", "type": "string"},
                        "activeForm": {"description": "\"Ranking employees by sales\"", "type": "string"},
                        "status": {"type": "string", "enum": ["pending", "in_progress", "completed", "cancelled"]},
                        "id": {"description": "The number of a listed step; leave it out for a new one.", "type": "integer"},
                    },
                    "additionalProperties": false,
                    "required": ["content", "activeForm", "status"],
                },
            }},
            "additionalProperties": false,
            "required": ["todos"],
        });
        assert_eq!(schema(), expected);
    }
}
