//! The calls of one turn: started in call order, run side by side, each ended exactly once, announced in call order.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::session::event::{ArtifactKind, CallStatus, EventKind};
use crate::session::message::{Message, ToolCall};
use crate::session::resume::{PastCall, PastEnd};
use crate::session::timeline::{Timeline, TimelineError};
use crate::session::todo::{PlanChange, TodoItem, progress};
use crate::tools::{Call, Effect, Registry, Reply, Workbench};

mod asked;
mod ended;

use asked::{arguments_of, key, malformed, unknown_tool};
use ended::Ended;

/// How long a cancelled tool may take to stop by itself before it is dropped.
const GRACE: Duration = Duration::from_secs(2);

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
    /// Brought nothing new: answered from the ledger, or a plan write that changed nothing.
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
    /// The list as the latest plan write left it.
    last_plan: Vec<TodoItem>,
    /// Calls that a resumed run recorded before, in their order.
    past: Vec<PastCall>,
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
            last_plan: Vec::new(),
            past: Vec::new(),
        }
    }

    /// Goes over `calls` again: those that ended are not made a second time.
    pub fn retrace(&mut self, calls: Vec<PastCall>) {
        self.past = calls;
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
            let past = self.past_call(&asked.call_id);
            let state = match decision {
                Decision::Refuse(text) => State::Ended(Ended::error(text, Duration::ZERO)),
                Decision::Repeat(answer) => State::Ended(answer.repeated()),
                Decision::SameAs(key) => State::SameAs(key),
                Decision::Run(effect, _) if let Some(past) = past.and_then(|past| past.known(effect)) => {
                    plan_written |= effect == Effect::Plan;
                    State::Ended(self.restore(&asked, past, &cancel).await)
                }
                Decision::Run(Effect::Write, _) => {
                    State::Ended(self.wait_for(self.start(&asked, &cancel), &cancel).await)
                }
                Decision::Run(Effect::ReadOnly, _) => State::Running(self.start(&asked, &cancel)),
                Decision::Run(Effect::Plan, _) => {
                    plan_written = true;
                    State::Ended(self.wait_for(self.start(&asked, &cancel), &cancel).await)
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
            Effect::Write => Decision::Run(Effect::Write, tool.artifact_prefix()),
            Effect::ReadOnly if !tool.is_lasting() => Decision::Run(Effect::ReadOnly, tool.artifact_prefix()),
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

    /// Takes the recorded call of this id, where a resumed run has one.
    fn past_call(&mut self, call_id: &str) -> Option<PastCall> {
        let at = self.past.iter().position(|past| past.call_id == call_id)?;
        Some(self.past.remove(at))
    }

    /// The recorded end of a call; what it had left on the workbench is put back.
    async fn restore(&self, asked: &Asked, past: PastEnd, cancel: &CancellationToken) -> Ended {
        let mut left = Reply::default();
        if past.status == CallStatus::Ok
            && let Some(tool) = self.registry.get(&asked.tool)
        {
            let call = Call {
                call_id: asked.call_id.clone(),
                arguments: asked.arguments.clone(),
                artifact_id: asked.artifact_id.clone(),
                cancel: cancel.clone(),
            };
            left = match tool.restore(call, &self.workbench).await {
                Ok(reply) => reply,
                Err(error) => return Ended::error(error.to_string(), Duration::ZERO),
            };
        }
        Ended::recorded(past, left)
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
        let mut ended = match slot.state {
            State::Ended(ended) => ended,
            State::Running(task) => self.wait_for(task, cancel).await,
            State::SameAs(same) => match self.answered.get(&same) {
                Some(answer) => answer.repeated(),
                None => Ended::error(
                    "the same call earlier in this turn did not succeed; its reply says why".to_owned(),
                    Duration::ZERO,
                ),
            },
        };
        if let Some(change) = &ended.plan {
            ended.repeated = change.todos == self.last_plan;
            self.last_plan.clone_from(&change.todos);
        } else if ended.status == CallStatus::Ok && !ended.repeated && self.is_lasting(&slot.asked.tool) {
            self.answered.insert(slot.asked.key(), ended.clone());
        }
        self.announce(slot.asked, ended, turn)
    }

    /// The end of a running call; a cancelled one has [`GRACE`] to stop by itself.
    async fn wait_for(&self, mut task: JoinHandle<Ended>, cancel: &CancellationToken) -> Ended {
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
                    .filter(|_| self.workbench.share.shows_values())
                    .unwrap_or("no message");
                let text = format!("the tool broke down ({words}), which is a fault of the program; try another way");
                Ended::error(text, began.elapsed())
            }
            Err(_) => Ended::cancelled(began.elapsed()),
        }
    }

    fn is_lasting(&self, tool: &str) -> bool {
        self.registry.get(tool).is_some_and(|tool| tool.is_lasting())
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

/// What a write that was cut short is answered with: nobody knows how far it came.
const UNKNOWN_END: &str = "the program was stopped while this call ran, so whether it was done is not known; look before you \
                           repeat it";

impl PastCall {
    /// How the call is known to have ended. What only reads is made again where it had not.
    fn known(self, effect: Effect) -> Option<PastEnd> {
        match (self.end, effect) {
            (Some(end), _) => Some(end),
            (None, Effect::ReadOnly | Effect::Plan) => None,
            (None, Effect::Write) => Some(PastEnd {
                status: CallStatus::Error,
                summary: UNKNOWN_END.to_owned(),
                reply: format!("error: {UNKNOWN_END}"),
                elapsed_ms: 0,
            }),
        }
    }
}

impl Asked {
    fn key(&self) -> String {
        key(&self.tool, &self.arguments)
    }
}

#[cfg(test)]
mod tests;
