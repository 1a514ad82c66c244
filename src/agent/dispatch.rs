//! The calls of one turn: started in call order, run side by side, each ended exactly once, announced in call order.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::session::event::{ArtifactKind, CallStatus, EventKind};
use crate::session::message::{Arguments, Message, ToolCall};
use crate::session::timeline::{Timeline, TimelineError};
use crate::session::todo::{PlanChange, progress};
use crate::tools::{Call, Effect, Registry, Reply, Tool, ToolError, Workbench};

/// How long a cancelled tool may take to stop by itself before it is dropped.
const GRACE: Duration = Duration::from_secs(2);
/// A name that is less like the wanted one than this is not worth proposing.
const NEAR_ENOUGH: f64 = 0.7;

/// One call and how it ended: the run's ledger.
#[derive(Debug, Clone, PartialEq)]
pub struct CallRecord {
    pub call_id: String,
    pub tool: String,
    pub arguments: Value,
    /// The id of what the call made (`q1`), where it was to make something.
    pub artifact_id: Option<String>,
    pub status: CallStatus,
    pub summary: String,
    pub elapsed_ms: u64,
    /// Answered from the ledger, without running anything.
    pub repeated: bool,
}

impl CallRecord {
    /// The same for calls that ask for the same.
    pub fn key(&self) -> String {
        key(&self.tool, &self.arguments)
    }
}

/// What a turn's calls came to.
#[derive(Debug, Default)]
pub struct TurnCalls {
    /// One tool message a call, in call order.
    pub messages: Vec<Message>,
    pub records: Vec<CallRecord>,
    /// Set when the plan was written.
    pub plan: Option<PlanChange>,
    /// What was made, in call order.
    pub artifacts: Vec<(String, ArtifactKind, String)>,
}

/// Runs the calls of a run's turns, and remembers what was answered.
pub struct Dispatcher {
    registry: Arc<Registry>,
    workbench: Arc<Workbench>,
    timeline: Arc<Timeline>,
    /// The highest number given so far, by the letter of the id.
    numbers: HashMap<char, u32>,
    /// Successful replies of read-only calls, by what was asked.
    answered: HashMap<String, Ended>,
}

/// How one call ended, before it is announced.
#[derive(Debug, Clone)]
struct Ended {
    status: CallStatus,
    reply: String,
    summary: String,
    elapsed: Duration,
    artifacts: Vec<(String, ArtifactKind, String)>,
    plan: Option<PlanChange>,
    repeated: bool,
}

/// One call as it is asked, with its arguments read.
struct Asked {
    call_id: String,
    tool: String,
    arguments: Value,
    artifact_id: Option<String>,
}

/// One call on its way from start to announcement.
struct Slot {
    asked: Asked,
    state: State,
}

enum State {
    Running(JoinHandle<Ended>),
    Ended(Ended),
    /// Asks for the same as an earlier call of this turn, and gets the same answer.
    SameAs(String),
}

/// What is to become of a call, decided before it starts.
enum Decision {
    Refuse(String),
    /// The stored answer of the same call.
    Repeat(Box<Ended>),
    SameAs(String),
    Run(Effect, Option<char>),
}

impl Dispatcher {
    pub fn new(registry: Arc<Registry>, workbench: Arc<Workbench>, timeline: Arc<Timeline>) -> Self {
        Self {
            registry,
            workbench,
            timeline,
            numbers: HashMap::new(),
            answered: HashMap::new(),
        }
    }

    /// Goes on after artifacts that earlier runs of the session made: no id is given twice.
    pub fn number_after(&mut self, artifact_ids: impl IntoIterator<Item = impl AsRef<str>>) {
        for id in artifact_ids {
            let mut letters = id.as_ref().chars();
            if let (Some(prefix), Ok(number)) = (letters.next(), letters.as_str().parse::<u32>()) {
                let highest = self.numbers.entry(prefix).or_default();
                *highest = number.max(*highest);
            }
        }
    }

    /// Runs all `calls`. Read-only ones run side by side; a plan write ends before the calls after it start.
    ///
    /// `cut`: the reply was cut off by the output ceiling, so its last call may be missing a part and is not run.
    /// Every call gets one `tool_started`, one `tool_finished` and one message, whatever happens to it. Errors only when
    /// the timeline cannot be written; what was still running is then cancelled.
    pub async fn turn(
        &mut self,
        calls: &[ToolCall],
        cut: bool,
        cancel: &CancellationToken,
    ) -> Result<TurnCalls, TimelineError> {
        let cancel = cancel.child_token();
        let _stops_what_runs = cancel.clone().drop_guard();
        let mut waiting: VecDeque<Slot> = VecDeque::new();
        let mut ended = TurnCalls::default();
        let mut plan_written = false;
        for (index, call) in calls.iter().enumerate() {
            let maybe_cut = cut && index + 1 == calls.len();
            let arguments = arguments_of(&call.arguments);
            let decision = self.decide(call, arguments.as_ref(), maybe_cut, plan_written, &waiting);
            let prefix = if let Decision::Run(_, prefix) = decision {
                prefix
            } else {
                None
            };
            let asked = Asked {
                call_id: call.id.clone(),
                tool: call.name.clone(),
                arguments: arguments.unwrap_or_else(|text| Value::String(text.to_owned())),
                artifact_id: prefix.map(|p| self.next_id(p)),
            };
            self.tell_start(&asked)?;
            let state = match decision {
                Decision::Refuse(text) => State::Ended(Ended::error(text, Duration::ZERO)),
                Decision::Repeat(answer) => State::Ended(answer.repeated()),
                Decision::SameAs(key) => State::SameAs(key),
                Decision::Run(Effect::ReadOnly, _) => State::Running(self.start(&asked, &cancel)),
                Decision::Run(Effect::Plan, _) => {
                    plan_written = true;
                    State::Ended(wait_for(self.start(&asked, &cancel), &cancel).await)
                }
            };
            let slot = Slot { asked, state };
            waiting.push_back(slot);
            self.announce_ready(&mut waiting, &mut ended, &cancel).await?;
        }
        while let Some(slot) = waiting.pop_front() {
            self.finish(slot, &mut ended, &cancel).await?;
        }
        Ok(ended)
    }

    /// Ends `calls` without running them, each with its two events and its message: the run is over.
    pub fn refuse(&self, calls: &[ToolCall]) -> Result<TurnCalls, TimelineError> {
        let mut turn = TurnCalls::default();
        for call in calls {
            let arguments = arguments_of(&call.arguments).unwrap_or_else(|text| Value::String(text.to_owned()));
            let (call_id, tool) = (call.id.clone(), call.name.clone());
            let asked = Asked {
                call_id,
                tool,
                arguments,
                artifact_id: None,
            };
            self.tell_start(&asked)?;
            self.announce(asked, Ended::cancelled(Duration::ZERO), &mut turn)?;
        }
        Ok(turn)
    }

    /// Announces the calls that have ended and have no unfinished one before them.
    async fn announce_ready(
        &mut self,
        waiting: &mut VecDeque<Slot>,
        ended: &mut TurnCalls,
        cancel: &CancellationToken,
    ) -> Result<(), TimelineError> {
        let ready = |slot: &Slot| match &slot.state {
            State::Running(task) => task.is_finished(),
            State::Ended(_) | State::SameAs(_) => true,
        };
        while waiting.front().is_some_and(ready) {
            if let Some(slot) = waiting.pop_front() {
                self.finish(slot, ended, cancel).await?;
            }
        }
        Ok(())
    }

    fn decide(
        &self,
        call: &ToolCall,
        arguments: Result<&Value, &&str>,
        maybe_cut: bool,
        plan_written: bool,
        waiting: &VecDeque<Slot>,
    ) -> Decision {
        let Some(tool) = self.registry.get(&call.name) else {
            return Decision::Refuse(unknown_tool(&call.name, &self.registry));
        };
        let nothing_there = |value: &Value| value.as_object().is_none_or(serde_json::Map::is_empty);
        if maybe_cut && arguments.as_ref().map_or(true, |value| nothing_there(value)) {
            return Decision::Refuse(format!(
                "the reply reached its length limit, so this call of {} was cut off and not run; send it again, shorter, \
                 with less text around it",
                call.name
            ));
        }
        let Ok(arguments) = arguments else {
            return Decision::Refuse(malformed(call, tool));
        };
        match tool.effect() {
            Effect::Plan if plan_written => Decision::Refuse(format!(
                "only one {} a turn: an earlier call of this turn wrote the plan already; send the whole list once, in your \
                 next turn",
                call.name
            )),
            Effect::Plan => Decision::Run(Effect::Plan, tool.artifact_prefix()),
            Effect::ReadOnly => {
                let key = key(&call.name, arguments);
                if let Some(answer) = self.answered.get(&key) {
                    return Decision::Repeat(Box::new(answer.clone()));
                }
                if waiting.iter().any(|slot| slot.asked.key() == key) {
                    return Decision::SameAs(key);
                }
                Decision::Run(Effect::ReadOnly, tool.artifact_prefix())
            }
        }
    }

    fn next_id(&mut self, prefix: char) -> String {
        let number = self.numbers.entry(prefix).or_default();
        *number += 1;
        format!("{prefix}{number}")
    }

    /// Starts a call as a task of its own, so that a panic in it stays in it.
    fn start(&self, asked: &Asked, cancel: &CancellationToken) -> JoinHandle<Ended> {
        let (registry, workbench) = (self.registry.clone(), self.workbench.clone());
        let name = asked.tool.clone();
        let call = Call {
            call_id: asked.call_id.clone(),
            arguments: asked.arguments.clone(),
            artifact_id: asked.artifact_id.clone(),
            cancel: cancel.clone(),
        };
        tokio::spawn(async move {
            let began = Instant::now();
            if call.cancel.is_cancelled() {
                return Ended::cancelled(began.elapsed());
            }
            let Some(tool) = registry.get(&name) else {
                return Ended::error(unknown_tool(&name, &registry), began.elapsed());
            };
            let result = tool.call(call, &workbench).await;
            Ended::from_result(result, began.elapsed())
        })
    }

    fn tell_start(&self, asked: &Asked) -> Result<(), TimelineError> {
        self.timeline.record(EventKind::ToolStarted {
            call_id: asked.call_id.clone(),
            tool: asked.tool.clone(),
            arguments: asked.arguments.clone(),
            artifact_id: asked.artifact_id.clone(),
        })?;
        Ok(())
    }

    /// Waits for a call's end, keeps its answer for whoever asks again, and announces it.
    async fn finish(
        &mut self,
        slot: Slot,
        turn: &mut TurnCalls,
        cancel: &CancellationToken,
    ) -> Result<(), TimelineError> {
        let ended = match slot.state {
            State::Ended(ended) => ended,
            State::Running(task) => wait_for(task, cancel).await,
            State::SameAs(same) => match self.answered.get(&same) {
                Some(answer) => answer.repeated(),
                None => Ended::error(
                    "the same call earlier in this turn did not succeed; its reply says why".to_owned(),
                    Duration::ZERO,
                ),
            },
        };
        if ended.status == CallStatus::Ok && ended.plan.is_none() && !ended.repeated {
            self.answered.insert(slot.asked.key(), ended.clone());
        }
        self.announce(slot.asked, ended, turn)
    }

    /// Tells the timeline and makes the model's message: the one place where a call ends.
    fn announce(&self, asked: Asked, ended: Ended, turn: &mut TurnCalls) -> Result<(), TimelineError> {
        let elapsed_ms = u64::try_from(ended.elapsed.as_millis()).unwrap_or(u64::MAX);
        self.timeline.record(EventKind::ToolFinished {
            call_id: asked.call_id.clone(),
            tool: asked.tool.clone(),
            status: ended.status,
            elapsed_ms,
            summary: ended.summary.clone(),
            reply: ended.reply.clone(),
        })?;
        if !ended.repeated {
            for (id, kind, path) in &ended.artifacts {
                self.timeline.record(EventKind::Artifact {
                    id: id.clone(),
                    kind: *kind,
                    path: path.clone(),
                })?;
            }
            turn.artifacts.extend(ended.artifacts.iter().cloned());
        }
        if let Some(change) = ended.plan {
            let (completed, total) = progress(&change.todos);
            self.timeline.record(EventKind::TodoProgress {
                todos: change.todos.clone(),
                dropped: change.dropped.clone(),
                completed,
                total,
            })?;
            turn.plan = Some(change);
        }
        turn.messages.push(Message::tool(
            &asked.call_id,
            ended.reply,
            ended.status != CallStatus::Ok,
        ));
        turn.records.push(CallRecord {
            call_id: asked.call_id,
            tool: asked.tool,
            arguments: asked.arguments,
            artifact_id: asked
                .artifact_id
                .or_else(|| ended.artifacts.first().map(|a| a.0.clone())),
            status: ended.status,
            summary: ended.summary,
            elapsed_ms,
            repeated: ended.repeated,
        });
        Ok(())
    }
}

impl Asked {
    fn key(&self) -> String {
        key(&self.tool, &self.arguments)
    }
}

impl Ended {
    fn from_result(result: Result<Reply, ToolError>, elapsed: Duration) -> Self {
        match result {
            Ok(reply) => Self {
                status: CallStatus::Ok,
                reply: reply.text,
                summary: reply.summary,
                elapsed,
                artifacts: reply.artifacts,
                plan: reply.plan,
                repeated: false,
            },
            Err(ToolError::Cancelled) => Self::cancelled(elapsed),
            Err(error @ (ToolError::FixTheCall(_) | ToolError::TryAgain(_) | ToolError::CannotBeDone(_))) => {
                Self::error(error.to_string(), elapsed)
            }
        }
    }

    fn error(text: String, elapsed: Duration) -> Self {
        let summary = text.lines().next().unwrap_or_default().to_owned();
        let reply = format!("error: {text}");
        Self {
            status: CallStatus::Error,
            reply,
            summary,
            elapsed,
            artifacts: vec![],
            plan: None,
            repeated: false,
        }
    }

    fn cancelled(elapsed: Duration) -> Self {
        let text = "cancelled before it ended".to_owned();
        Self {
            status: CallStatus::Cancelled,
            reply: text.clone(),
            summary: text,
            elapsed,
            artifacts: vec![],
            plan: None,
            repeated: false,
        }
    }

    /// The same answer given again, with a note that it is not new. JSON stays JSON.
    fn repeated(&self) -> Self {
        let note = "You sent this call before; this is its stored reply. Use it instead of asking again.";
        let reply = match serde_json::from_str(&self.reply) {
            Ok(Value::Object(mut fields)) => {
                fields.insert("note".to_owned(), note.into());
                Value::Object(fields).to_string()
            }
            _ => format!("{}\n({note})", self.reply),
        };
        Self {
            reply,
            elapsed: Duration::ZERO,
            repeated: true,
            ..self.clone()
        }
    }
}

/// The end of a running call; a cancelled one has [`GRACE`] to stop by itself.
async fn wait_for(mut task: JoinHandle<Ended>, cancel: &CancellationToken) -> Ended {
    let began = Instant::now();
    let overdue = async {
        cancel.cancelled().await;
        tokio::time::sleep(GRACE).await;
    };
    let joined = tokio::select! {
        joined = &mut task => joined,
        () = overdue => {
            task.abort();
            return Ended::cancelled(began.elapsed());
        }
    };
    match joined {
        Ok(ended) => ended,
        Err(error) if error.is_panic() => {
            let payload = error.into_panic();
            let words = payload
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| payload.downcast_ref::<&str>().copied())
                .unwrap_or("no message");
            let text = format!("the tool broke down ({words}), which is a fault of the program; try another way");
            Ended::error(text, began.elapsed())
        }
        Err(_) => Ended::cancelled(began.elapsed()),
    }
}

/// The arguments as a value, or the text that is none. An object that arrives as a JSON string is parsed once.
fn arguments_of(arguments: &Arguments) -> Result<Value, &str> {
    match arguments {
        Arguments::Malformed { text, .. } => Err(text),
        Arguments::Parsed(Value::String(text)) => Ok(match serde_json::from_str(text) {
            Ok(parsed @ (Value::Object(_) | Value::Array(_))) => parsed,
            _ => Value::String(text.clone()),
        }),
        Arguments::Parsed(value) => Ok(value.clone()),
    }
}

/// One text for a call and all that ask for the same, however their fields are ordered.
fn key(tool: &str, arguments: &Value) -> String {
    format!("{tool} {}", sorted(arguments))
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut pairs: Vec<_> = fields.iter().map(|(k, v)| (k.clone(), sorted(v))).collect();
            pairs.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(pairs.into_iter().collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        other => other.clone(),
    }
}

fn unknown_tool(name: &str, registry: &Registry) -> String {
    let wanted = name.to_lowercase();
    let mut near: Vec<(f64, &str)> = registry
        .iter()
        .map(|tool| (strsim::jaro_winkler(&wanted, &tool.name().to_lowercase()), tool.name()))
        .filter(|(likeness, _)| *likeness >= NEAR_ENOUGH)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let all = registry.iter().map(Tool::name).collect::<Vec<_>>().join(", ");
    match near.first() {
        Some((_, nearest)) => format!("there is no tool `{name}`; did you mean `{nearest}`? The tools are: {all}"),
        None => format!("there is no tool `{name}`; the tools are: {all}"),
    }
}

fn malformed(call: &ToolCall, tool: &dyn Tool) -> String {
    let problem = match &call.arguments {
        Arguments::Malformed { problem, .. } => problem.as_str(),
        Arguments::Parsed(_) => "not an object",
    };
    let schema = tool.schema();
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let fields: Vec<String> = schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(|properties| properties.keys())
        .map(|name| {
            if required.contains(&name.as_str()) {
                format!("{name} (required)")
            } else {
                name.clone()
            }
        })
        .collect();
    format!(
        "the arguments of {} are not JSON ({problem}), so it was not run; send one JSON object with the fields: {}",
        call.name,
        if fields.is_empty() {
            "none".to_owned()
        } else {
            fields.join(", ")
        }
    )
}

#[cfg(test)]
mod tests;
