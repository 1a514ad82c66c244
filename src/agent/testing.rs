//! What the loop's tests share: tools that do as they are told, a model that follows a script, an ear for events.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::model::chat::{ChatContext, ChatError, ChatModel, ChatReply, ChatRequest, StopReason};
use crate::session::event::{ArtifactKind, Event, EventKind, Usage};
use crate::session::message::{Arguments, Message, ToolCall};
use crate::session::timeline::{Listener, Timeline};
use crate::session::todo::SharedPlan;
use crate::tools::todo_write::TodoWrite;
use crate::tools::{Call, Registry, Reply, Tool, ToolError, Workbench};

type Answer = Pin<Box<dyn Future<Output = Result<Reply, ToolError>> + Send>>;
type Behaviour = Box<dyn Fn(Call) -> Answer + Send + Sync>;

/// A read-only tool that behaves as its closure says.
pub struct Fake {
    name: &'static str,
    prefix: Option<char>,
    behaviour: Behaviour,
}

impl Fake {
    pub fn tool<F, R>(name: &'static str, prefix: Option<char>, behaviour: F) -> Box<dyn Tool>
    where
        F: Fn(Call) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Reply, ToolError>> + Send + 'static,
    {
        Box::new(Self {
            name,
            prefix,
            behaviour: Box::new(move |call| Box::pin(behaviour(call))),
        })
    }
}

#[async_trait]
impl Tool for Fake {
    fn name(&self) -> &'static str {
        self.name
    }
    fn description(&self) -> &'static str {
        "a tool of the tests"
    }
    fn schema(&self) -> Value {
        json!({"type": "object", "properties": {"sql": {"type": "string"}}, "required": ["sql"]})
    }
    fn artifact_prefix(&self) -> Option<char> {
        self.prefix
    }
    async fn call(&self, call: Call, _at: &Workbench) -> Result<Reply, ToolError> {
        (self.behaviour)(call).await
    }
    async fn restore(&self, call: Call, _at: &Workbench) -> Result<Reply, ToolError> {
        (self.behaviour)(call).await
    }
}

/// A reply of `text` that made what was reserved for the call.
pub fn made(call: &Call, text: &str) -> Reply {
    let artifacts = call
        .artifact_id
        .iter()
        .map(|id| (id.clone(), ArtifactKind::Result, format!("results/{id}.parquet")));
    Reply {
        text: text.into(),
        summary: "1 row".into(),
        artifacts: artifacts.collect(),
        plan: None,
    }
}

/// A registry with `TodoWrite` over `plan`, a `sql_execute` that answers any statement but fails on `bad`, and a
/// `metric_compute` that panics.
pub fn registry(plan: &SharedPlan) -> Arc<Registry> {
    Arc::new(Registry::new(vec![
        Box::new(TodoWrite::new(plan.clone())),
        Fake::tool("sql_execute", Some('q'), |call| async move {
            let sql = call
                .arguments
                .get("sql")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned();
            if sql.contains("bad") {
                return Err(ToolError::FixTheCall(format!("no table in `{sql}`")));
            }
            Ok(made(&call, &json!({"id": call.artifact_id, "sql": sql}).to_string()))
        }),
        Fake::tool("metric_compute", Some('m'), |_| async { panic!("a division by zero") }),
    ]))
}

/// The fakes above ask nothing of it.
pub fn workbench() -> Arc<Workbench> {
    let folder = tempfile::tempdir().unwrap();
    Arc::new(crate::tools::workbench::testing::workbench(
        folder.path(),
        "CREATE TABLE t (a INTEGER)",
    ))
}

/// Keeps every event that it hears.
#[derive(Default)]
pub struct Heard(Mutex<Vec<Event>>);

impl Listener for Heard {
    fn hear(&self, event: &Event) {
        self.0.lock().unwrap().push(event.clone());
    }
}

impl Heard {
    /// A timeline in memory with an ear on it.
    pub fn timeline() -> (Arc<Timeline>, Arc<Heard>) {
        let timeline = Timeline::in_memory();
        let heard = Arc::new(Heard::default());
        timeline.listen(heard.clone());
        (Arc::new(timeline), heard)
    }

    pub fn kinds(&self) -> Vec<EventKind> {
        self.0.lock().unwrap().iter().map(|e| e.kind.clone()).collect()
    }

    /// One short word or two for each event about tools and plans, in order.
    pub fn story(&self) -> Vec<String> {
        let word = |kind: EventKind| match kind {
            EventKind::ToolStarted { call_id, .. } => Some(format!("start {call_id}")),
            EventKind::ToolFinished { call_id, status, .. } => Some(format!("{status:?} {call_id}").to_lowercase()),
            EventKind::TodoProgress { completed, total, .. } => Some(format!("todo {completed}/{total}")),
            EventKind::Artifact { id, .. } => Some(format!("artifact {id}")),
            EventKind::Reminder { .. } => Some("reminder".to_owned()),
            EventKind::Compaction { .. } => Some("compaction".to_owned()),
            EventKind::Notice { text } => Some(format!("notice {text}")),
            _ => None,
        };
        self.kinds().into_iter().filter_map(word).collect()
    }
}

pub fn call(id: &str, tool: &str, arguments: Value) -> ToolCall {
    ToolCall {
        id: id.into(),
        name: tool.into(),
        arguments: Arguments::Parsed(arguments),
    }
}

pub fn query(id: &str, sql: &str) -> ToolCall {
    call(id, "sql_execute", json!({ "sql": sql }))
}

/// A plan write of items as (content, status).
pub fn plan(id: &str, items: &[(&str, &str)]) -> ToolCall {
    let items: Vec<_> = items
        .iter()
        .map(|(c, s)| json!({"content": c, "activeForm": format!("Doing {c}"), "status": s}))
        .collect();
    call(id, "TodoWrite", json!({ "todos": items }))
}

/// One reply of a script, made from the request.
pub type Step = Box<dyn Fn(&ChatRequest) -> Result<ChatReply, ChatError> + Send + Sync>;

pub fn calls(calls: Vec<ToolCall>) -> Step {
    say_and_call("", calls)
}

pub fn say_and_call(text: &str, calls: Vec<ToolCall>) -> Step {
    let message = Message::assistant(text, calls);
    Box::new(move |_| Ok(reply(message.clone(), StopReason::ToolCalls)))
}

pub fn says(text: &str) -> Step {
    stops(text, vec![], StopReason::End)
}

pub fn stops(text: &str, calls: Vec<ToolCall>, stop: StopReason) -> Step {
    let message = Message::assistant(text, calls);
    Box::new(move |_| Ok(reply(message.clone(), stop)))
}

pub fn fails(error: ChatError) -> Step {
    Box::new(move |_| Err(error.clone()))
}

pub fn reply(message: Message, stop: StopReason) -> ChatReply {
    ChatReply {
        message,
        usage: Usage {
            input: 100,
            cached: 0,
            output: 10,
        },
        stop,
    }
}

/// A model that plays its script, repeats the last step when it has run out, and keeps the requests that it saw.
pub struct Scripted {
    script: Mutex<VecDeque<Step>>,
    last: Mutex<Option<Step>>,
    pub seen: Mutex<Vec<ChatRequest>>,
}

impl Scripted {
    pub fn new(script: Vec<Step>) -> Self {
        Self {
            script: Mutex::new(script.into()),
            last: Mutex::new(None),
            seen: Mutex::default(),
        }
    }

    pub fn requests(&self) -> Vec<ChatRequest> {
        self.seen.lock().unwrap().clone()
    }
}

#[async_trait]
impl ChatModel for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    async fn reply(&self, request: &ChatRequest, _context: &ChatContext) -> Result<ChatReply, ChatError> {
        self.seen.lock().unwrap().push(request.clone());
        let mut last = self.last.lock().unwrap();
        if let Some(next) = self.script.lock().unwrap().pop_front() {
            *last = Some(next);
        }
        last.as_ref().expect("a script with at least one step")(request)
    }
}
