//! One run: turns of the model and its tools, from a question to an answer.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::agent::answer::{self, Answer};
use crate::agent::ask::ask;
use crate::agent::budget::{Limit, Meter};
use crate::agent::compaction;
use crate::agent::dispatch::{CallRecord, Dispatcher, TurnCalls};
use crate::agent::notice::{self, Notice};
use crate::agent::prompt;
use crate::agent::reminder::{Reminder, restated_plan};
use crate::agent::stall::{Circle, Stall};
use crate::model::chat::{Arguments, ChatError, ChatReply, ChatRequest, ToolSpec};
use crate::session::event::{ArtifactKind, EventKind, Outcome, Usage};
use crate::session::message::{Message, ToolCall};
use crate::session::resume::{PastTurn, TOO_LONG};
use crate::session::timeline::TimelineError;
use crate::session::todo::TodoItem;
use crate::tools::glossary;

mod io;
mod recorded;
mod take;

pub use io::{Earlier, RunError, RunInput, RunOutput, Settings};
use recorded::said_again;

/// After an overflow the conversation is shortened to this part of what it was, since the real limit is not known.
const OVERFLOW_DIVISOR: u64 = 2;

/// The id of the call that looks the question up.
const LOOK_UP_CALL: &str = "look_up";

/// Runs `input.question` to its end. Records everything but `session_started` and `run_finished`, which are the caller's:
/// it knows the database, and it writes the report before the run is over.
pub async fn run(input: RunInput<'_>) -> Result<RunOutput, RunError> {
    let mut run = Run::begin(input)?;
    let timer = tokio::spawn({
        let (stop, limit) = (run.stop.clone(), run.meter.time_left());
        async move {
            tokio::time::sleep(limit).await;
            stop.cancel();
        }
    });
    let end = run.work().await;
    timer.abort();
    run.output(end?)
}

/// How the turns ended.
struct End {
    outcome: Outcome,
    /// The whole text of the answer, marks included.
    text: Option<String>,
}

/// What the first reply of a kind is forgiven, once.
#[derive(Debug, Default)]
struct Forgiven {
    open_steps: bool,
    empty_reply: bool,
    cut_answer: bool,
    gave_up: bool,
}

struct Run<'a> {
    input: RunInput<'a>,
    system: String,
    tools: Vec<ToolSpec>,
    dispatcher: Dispatcher,
    messages: Vec<Message>,
    question_at: usize,
    /// Cancelled with the run's own token, and when the time is over.
    stop: CancellationToken,
    meter: Meter,
    /// Turns that a resumed run goes over again.
    said: VecDeque<PastTurn>,
    reminder: Reminder,
    stall: Stall,
    forgiven: Forgiven,
    /// Said at the end of the next request, and not stored.
    nudges: Vec<String>,
    /// The turn whose TodoWrite reply the history still shows.
    plan_seen_at: Option<u32>,
    /// A text that is the answer unless a better one follows.
    candidate: Option<String>,
    /// Why the coming turn is for the answer alone.
    closing: Option<Notice>,
    notices: Vec<Notice>,
    calls: Vec<CallRecord>,
    artifacts: Vec<(String, ArtifactKind, String)>,
    /// The last turn on its way to the disk.
    syncing: Option<tokio::task::JoinHandle<Result<(), TimelineError>>>,
}

impl<'a> Run<'a> {
    fn begin(mut input: RunInput<'a>) -> Result<Self, RunError> {
        let system = prompt::system(&input.prompt, &input.registry)?;
        let spec = |tool: &dyn crate::tools::Tool| ToolSpec {
            name: tool.name().to_owned(),
            description: tool.description().to_owned(),
            schema: tool.schema(),
        };
        let mut dispatcher = Dispatcher::new(input.registry.clone(), input.workbench.clone(), input.timeline.clone());
        dispatcher.number_after(&input.earlier.artifact_ids);
        let past = input.past.take().unwrap_or_default();
        dispatcher.retrace(past.calls);
        let mut meter = Meter::start(input.settings.budget, input.settings.price);
        meter.add_time(
            past.turns
                .iter()
                .map(|turn| Duration::from_millis(turn.elapsed_ms))
                .sum(),
        );
        let messages = std::mem::take(&mut input.earlier.messages);
        let mut run = Self {
            system,
            tools: input.registry.iter().map(spec).collect(),
            dispatcher,
            question_at: messages.len(),
            messages,
            stop: input.cancel.child_token(),
            meter,
            said: past.turns.into(),
            reminder: Reminder::new(input.settings.reminder),
            stall: Stall::default(),
            forgiven: Forgiven::default(),
            nudges: Vec::new(),
            plan_seen_at: None,
            candidate: None,
            closing: None,
            notices: Vec::new(),
            calls: Vec::new(),
            artifacts: Vec::new(),
            syncing: None,
            input,
        };
        run.say(Message::user(run.input.question.clone()))?;
        Ok(run)
    }

    /// Adds a message to the history and to the timeline. Tool messages are not told again: `tool_finished` holds them.
    fn say(&mut self, message: Message) -> Result<(), TimelineError> {
        self.input.timeline.record(EventKind::Message {
            run: self.input.run,
            message: message.clone(),
        })?;
        self.messages.push(message);
        Ok(())
    }

    async fn work(&mut self) -> Result<End, RunError> {
        if self.input.settings.guided && self.input.registry.get(glossary::NAME).is_some() {
            self.look_up().await?;
        }
        self.turns().await
    }

    /// Asks the glossary what the question means, as the model's first call would.
    async fn look_up(&mut self) -> Result<(), RunError> {
        let question = self.input.question.clone();
        let call = ToolCall {
            id: LOOK_UP_CALL.to_owned(),
            name: glossary::NAME.to_owned(),
            arguments: Arguments::Parsed(json!({ "question": question })),
        };
        self.say(Message::assistant(String::new(), vec![call.clone()]))?;
        let turn = self.dispatcher.turn(&[call], false, &self.stop).await?;
        self.keep(turn);
        Ok(())
    }

    async fn turns(&mut self) -> Result<End, RunError> {
        loop {
            if let Some(limit) = self.meter.exhausted() {
                return Ok(self.incomplete(Notice::BudgetEnded(limit), None));
            }
            if self.closing.is_none() {
                self.closing = self.meter.last_turn().map(Notice::BudgetEnded);
            }
            self.meter.turns += 1;
            let began = self.meter.elapsed();
            let (run, turn) = (self.input.run, self.meter.turns);
            self.input.timeline.record(EventKind::TurnStarted { run, turn })?;
            let used_before = self.meter.usage;
            let end = match self.ask().await? {
                Ok(reply) => self.take(reply).await?,
                Err(end) => Some(end),
            };
            let usage = difference(self.meter.usage, used_before);
            let elapsed_ms = millis(self.meter.elapsed().saturating_sub(began));
            self.input.timeline.record(EventKind::TurnFinished {
                run,
                turn,
                usage,
                elapsed_ms,
            })?;
            self.sync().await?;
            if let Some(end) = end {
                return Ok(end);
            }
        }
    }

    /// Has the disk keep the turn while the next one goes on; a disk that fails is heard of one turn later.
    async fn sync(&mut self) -> Result<(), RunError> {
        let timeline = self.input.timeline.clone();
        let before = self
            .syncing
            .replace(tokio::task::spawn_blocking(move || timeline.sync()));
        if let Some(before) = before {
            // A task of one call that was neither aborted nor panicked always ends with its result.
            before.await.unwrap_or(Ok(()))?;
        }
        Ok(())
    }

    /// The model's reply to the conversation so far, or the end where none comes. An overflow is mended once.
    async fn ask(&mut self) -> Result<Result<ChatReply, End>, RunError> {
        if let Some(target) = self.input.settings.context_tokens {
            self.compact(target)?;
        }
        let mut request = self.request()?;
        let mut overflowed = false;
        let mut past = self.said.pop_front();
        loop {
            let answer = match past.as_mut().and_then(said_again) {
                Some(recorded) => recorded,
                None => ask(self.input.model, &request, &self.input.timeline, &self.stop).await?,
            };
            let error = match answer {
                Ok(reply) => return Ok(Ok(reply)),
                Err(error) => error,
            };
            let end = match error {
                ChatError::ContextOverflow { .. } if !overflowed => {
                    overflowed = true;
                    self.input.timeline.record(EventKind::Retry {
                        attempt: 2,
                        after_ms: 0,
                        text: format!("{TOO_LONG} and was shortened"),
                    })?;
                    let target = compaction::estimate_messages(&self.messages) / OVERFLOW_DIVISOR;
                    if self.compact(target)? {
                        request.messages.clone_from(&self.messages);
                        continue;
                    }
                    self.incomplete(Notice::TooLong, None)
                }
                ChatError::ContextOverflow { .. } => self.incomplete(Notice::TooLong, None),
                ChatError::Cancelled => self.stopped(),
                ChatError::Rejected(problem) | ChatError::Unavailable(problem) if self.meter.turns <= 1 => {
                    return Err(RunError::Model {
                        model: self.input.model.name().to_owned(),
                        problem,
                    });
                }
                ChatError::Rejected(problem) | ChatError::Unavailable(problem) => {
                    self.end(Outcome::Failed, Notice::ModelFailed(problem), None)
                }
            };
            return Ok(Err(end));
        }
    }

    /// Shortens the conversation to `target` tokens if it is longer, and says so. True if anything was shortened.
    fn compact(&mut self, target: u64) -> Result<bool, TimelineError> {
        let done = compaction::compact(&mut self.messages, self.question_at, &self.calls, target);
        let Some(text) = done else { return Ok(false) };
        self.plan_seen_at = None;
        self.input.timeline.record(EventKind::Compaction { text })?;
        Ok(true)
    }

    /// The next request. What changes from turn to turn stands at its end, so that the prefix stays cached.
    fn request(&mut self) -> Result<ChatRequest, TimelineError> {
        let back = self.plan_seen_at.map(|turn| self.meter.turns.saturating_sub(turn));
        let mut ends: Vec<String> = restated_plan(self.input.plan.lock().items(), back)
            .into_iter()
            .collect();
        for text in std::mem::take(&mut self.nudges) {
            self.input.timeline.record(EventKind::Reminder { text: text.clone() })?;
            ends.push(text);
        }
        if self.closing.is_some() {
            ends.push(prompt::LAST_TURN.trim_end().to_owned());
        }
        Ok(ChatRequest {
            system: self.system.clone(),
            messages: self.messages.clone(),
            ephemeral: (!ends.is_empty()).then(|| ends.join("\n\n")),
            tools: self.tools.clone(),
            max_output_tokens: self.input.settings.max_output_tokens,
        })
    }

    /// The end with an answer. Steps that are still open make it an incomplete one.
    fn answered(&mut self, text: String) -> End {
        let text = answer::choose(self.candidate.take(), text);
        let said = Answer::read(&text).outcome;
        let open = self.input.plan.lock().open().next().is_some();
        let closing = self.closing.take();
        let stuck = matches!(closing, Some(Notice::WentInCircles(Circle::Failing { .. })));
        let outcome = if said == Outcome::Answered && (open || stuck) {
            Outcome::Incomplete
        } else {
            said
        };
        // A budget that ended with a complete answer is nobody's concern.
        self.notices
            .extend(closing.filter(|n| open || !matches!(n, Notice::BudgetEnded(_))));
        End {
            outcome,
            text: Some(text),
        }
    }

    fn incomplete(&mut self, notice: Notice, text: Option<String>) -> End {
        self.end(Outcome::Incomplete, notice, text)
    }

    fn end(&mut self, outcome: Outcome, notice: Notice, text: Option<String>) -> End {
        self.notices.push(notice);
        End {
            outcome,
            text: text.or_else(|| self.candidate.take()),
        }
    }

    /// The end of a run that was stopped: by its owner, or by the clock.
    fn stopped(&mut self) -> End {
        if self.input.cancel.is_cancelled() {
            return self.end(Outcome::Interrupted, Notice::Interrupted, None);
        }
        self.incomplete(
            Notice::BudgetEnded(Limit::Seconds(self.input.settings.budget.max_seconds)),
            None,
        )
    }

    /// Takes a turn's results into the history and the ledger.
    fn keep(&mut self, turn: TurnCalls) {
        self.messages.extend(turn.messages);
        self.calls.extend(turn.records);
        self.artifacts.extend(turn.artifacts);
    }

    fn output(mut self, end: End) -> Result<RunOutput, RunError> {
        let language = self.input.prompt.language;
        let (plan, dropped) = {
            let list = self.input.plan.lock();
            (list.items().to_vec(), list.dropped().to_vec())
        };
        let words = |items: &[TodoItem]| items.iter().map(|t| t.content.clone()).collect::<Vec<_>>();
        let left: Vec<TodoItem> = plan.iter().filter(|t| t.status.is_open()).cloned().collect();
        if !left.is_empty() {
            self.notices.push(Notice::StepsLeft(words(&left)));
        }
        if !dropped.is_empty() {
            self.notices.push(Notice::StepsDropped(words(&dropped)));
        }
        for notice in &self.notices {
            self.input.timeline.record(EventKind::Notice {
                text: notice.text(language),
            })?;
        }
        let answer = match &end.text {
            Some(text) => Answer::read(text),
            None => Answer::read(&notice::what_is_known(&self.calls, language)),
        };
        if end.outcome == Outcome::Clarify {
            let (question, readings) = (answer.body.clone(), answer.list_items());
            self.input
                .timeline
                .record(EventKind::Clarification { question, readings })?;
        }
        Ok(RunOutput {
            outcome: end.outcome,
            answer_markdown: answer.body,
            answer_result: answer.result,
            plan,
            dropped,
            notices: self.notices,
            calls: self.calls,
            artifacts: self.artifacts,
            usage: self.meter.usage,
            cost: self.meter.cost(),
            turns: self.meter.turns,
            elapsed: self.meter.elapsed(),
            messages: self.messages,
        })
    }
}

fn difference(now: Usage, before: Usage) -> Usage {
    Usage {
        input: now.input.saturating_sub(before.input),
        cached: now.cached.saturating_sub(before.cached),
        output: now.output.saturating_sub(before.output),
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod cut_tests;
