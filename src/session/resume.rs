//! What a session's events say when they are read back: for each run its conversation, plan, calls and artifacts.
//!
//! The timeline is enough by itself, so resuming and showing a session are folds over it.

use serde_json::Value;

use crate::session::event::{ArtifactKind, CallStatus, Event, EventKind, Outcome, Usage};
use crate::session::message::{Message, Role, ToolCall};
use crate::session::todo::TodoItem;
use crate::text::Language;

/// How a retry's text begins where the conversation had to be shortened first.
pub const TOO_LONG: &str = "the conversation is too long";

/// What a call that never ended is answered with when its run is taken up again.
const NOT_ENDED: &str = "cancelled before it ended";

/// A session, read back.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PastSession {
    pub about: Option<About>,
    pub runs: Vec<PastRun>,
}

/// What the first event says.
#[derive(Debug, Clone, PartialEq)]
pub struct About {
    pub session: String,
    pub question: String,
    pub model: String,
    /// Without its password: the connection has to be given again.
    pub database: String,
    pub language: Language,
    pub as_of: String,
    pub options: Value,
}

/// One run of a session, read back.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PastRun {
    pub run: u32,
    /// The conversation. Its last turn may have open calls, which [`PastRun::close`] answers.
    pub messages: Vec<Message>,
    pub calls: Vec<PastCall>,
    pub todos: Vec<TodoItem>,
    /// Every step that was dropped in the course of the run.
    pub dropped: Vec<TodoItem>,
    /// What was made, as (id, kind, path).
    pub artifacts: Vec<(String, ArtifactKind, String)>,
    /// What the model said, turn by turn; the last turn may not have ended.
    pub turns: Vec<PastTurn>,
    pub usage: Usage,
    /// `None` while the run is going on, or when it was cut short.
    pub outcome: Option<Outcome>,
}

/// One turn, read back.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PastTurn {
    /// `None`: an empty reply, or none at all.
    pub reply: Option<Message>,
    /// The model found the conversation too long, which was then shortened.
    pub too_long: bool,
    pub usage: Usage,
    pub elapsed_ms: u64,
    pub ended: bool,
}

/// One call, read back.
#[derive(Debug, Clone, PartialEq)]
pub struct PastCall {
    pub call_id: String,
    pub tool: String,
    pub arguments: Value,
    /// The id that was reserved for what the call makes; it is taken even where the call failed.
    pub artifact_id: Option<String>,
    /// `None`: the call had not ended.
    pub end: Option<PastEnd>,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq)]
pub struct PastEnd {
    pub status: CallStatus,
    pub summary: String,
    pub reply: String,
    pub elapsed_ms: u64,
}

impl PastSession {
    /// Folds the events of a timeline, in their order.
    pub fn of<'a>(events: impl IntoIterator<Item = &'a Event>) -> Self {
        let mut session = Self::default();
        for event in counted(events) {
            session.take(&event.kind);
        }
        session
    }

    /// Ids that are taken: no later run may give them again.
    pub fn artifact_ids(&self) -> impl Iterator<Item = &str> {
        self.runs.iter().flat_map(|run| {
            let reserved = run.calls.iter().filter_map(|c| c.artifact_id.as_deref());
            reserved.chain(run.artifacts.iter().map(|a| a.0.as_str()))
        })
    }

    /// The conversation of all runs, with every call answered: what a follow-up question builds on.
    pub fn conversation(mut self) -> Vec<Message> {
        self.runs.iter_mut().for_each(PastRun::close);
        self.runs.into_iter().flat_map(|run| run.messages).collect()
    }

    /// The run that an event belongs to: the one that it names, or the latest.
    fn run(&mut self, number: Option<u32>) -> &mut PastRun {
        let latest = self.runs.pop();
        let same = |run: &PastRun| number.is_none_or(|n| n == run.run);
        let run = match latest {
            Some(run) if same(&run) => run,
            other => {
                self.runs.extend(other);
                PastRun {
                    run: number.unwrap_or(1),
                    ..PastRun::default()
                }
            }
        };
        self.runs.push_mut(run)
    }

    fn take(&mut self, kind: &EventKind) {
        match kind {
            EventKind::SessionStarted {
                session,
                question,
                model,
                database,
                language,
                as_of,
                options,
            } => {
                self.about = Some(About {
                    session: session.clone(),
                    question: question.clone(),
                    model: model.clone(),
                    database: database.clone(),
                    language: *language,
                    as_of: as_of.clone(),
                    options: options.clone(),
                });
            }
            EventKind::Message { run, message } => {
                let run = self.run(Some(*run));
                if let Some(turn) = run.turns.last_mut().filter(|_| message.role == Role::Assistant) {
                    turn.reply = Some(message.clone());
                }
                run.messages.push(message.clone());
            }
            EventKind::TurnStarted { run, .. } => self.run(Some(*run)).turns.push(PastTurn::default()),
            EventKind::TurnFinished {
                run, usage, elapsed_ms, ..
            } => {
                let run = self.run(Some(*run));
                run.usage += *usage;
                if let Some(turn) = run.turns.last_mut() {
                    (turn.usage, turn.elapsed_ms, turn.ended) = (*usage, *elapsed_ms, true);
                }
            }
            EventKind::Retry { text, .. } if text.starts_with(TOO_LONG) => {
                if let Some(turn) = self.run(None).turns.last_mut() {
                    turn.too_long = true;
                }
            }
            EventKind::ToolStarted {
                call_id,
                tool,
                arguments,
                artifact_id,
            } => self.run(None).calls.push(PastCall {
                call_id: call_id.clone(),
                tool: tool.clone(),
                arguments: arguments.clone(),
                artifact_id: artifact_id.clone(),
                end: None,
            }),
            EventKind::ToolFinished {
                call_id,
                status,
                elapsed_ms,
                summary,
                reply,
                ..
            } => {
                let end = PastEnd {
                    status: *status,
                    summary: summary.clone(),
                    reply: reply.clone(),
                    elapsed_ms: *elapsed_ms,
                };
                self.run(None).end_call(call_id, end);
            }
            EventKind::TodoProgress { todos, dropped, .. } => {
                let run = self.run(None);
                run.todos.clone_from(todos);
                run.dropped.extend(dropped.iter().cloned());
            }
            EventKind::Artifact { id, kind, path } => {
                self.run(None).artifacts.push((id.clone(), *kind, path.clone()));
            }
            EventKind::RunFinished { run, outcome, .. } => self.run(Some(*run)).outcome = Some(*outcome),
            EventKind::TextDelta { .. }
            | EventKind::Clarification { .. }
            | EventKind::Reminder { .. }
            | EventKind::Compaction { .. }
            | EventKind::Retry { .. }
            | EventKind::Resumed { .. }
            | EventKind::Notice { .. } => {}
        }
    }
}

/// The events without those that a later `resumed` took back.
pub(super) fn counted<'a>(events: impl IntoIterator<Item = &'a Event>) -> Vec<&'a Event> {
    let mut kept: Vec<&Event> = Vec::new();
    for event in events {
        if let EventKind::Resumed { after, .. } = event.kind {
            kept.retain(|earlier| earlier.seq <= after);
        }
        kept.push(event);
    }
    kept
}

impl PastRun {
    /// Does every turn that ended have its reply, and every call of it its end? So it is unless lines were lost.
    pub fn is_whole(&self) -> bool {
        let answered = |id: &str| self.messages.iter().any(|m| m.tool_call_id.as_deref() == Some(id));
        self.turns.iter().filter(|turn| turn.ended).all(|turn| {
            let calls = turn.reply.iter().flat_map(|reply| &reply.tool_calls);
            turn.reply.is_some() && calls.into_iter().all(|call| answered(&call.id))
        })
    }

    /// Tool messages are not events of their own: the end of a call holds all that the model was told.
    fn end_call(&mut self, call_id: &str, end: PastEnd) {
        self.messages
            .push(Message::tool(call_id, end.reply.clone(), end.status != CallStatus::Ok));
        if let Some(call) = self
            .calls
            .iter_mut()
            .rev()
            .find(|c| c.call_id == call_id && c.end.is_none())
        {
            call.end = Some(end);
        }
    }

    /// The calls of the last turn that have no answer: what a resumed run has to do again.
    pub fn open_calls(&self) -> Vec<ToolCall> {
        let Some(at) = self.messages.iter().rposition(|m| m.role == Role::Assistant) else {
            return Vec::new();
        };
        let answered: Vec<&str> = self
            .messages
            .iter()
            .skip(at)
            .filter_map(|m| m.tool_call_id.as_deref())
            .collect();
        let calls = self
            .messages
            .get(at)
            .map(|m| m.tool_calls.as_slice())
            .unwrap_or_default();
        calls
            .iter()
            .filter(|c| !answered.contains(&c.id.as_str()))
            .cloned()
            .collect()
    }

    /// Answers open calls as cancelled, so that the conversation is well-formed.
    pub fn close(&mut self) {
        for call in self.open_calls() {
            self.messages.push(Message::tool(call.id, NOT_ENDED, true));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::session::message::Arguments;
    use crate::session::todo::Status;

    fn call(id: &str) -> ToolCall {
        ToolCall {
            id: id.into(),
            name: "sql_execute".into(),
            arguments: Arguments::Parsed(json!({"sql": id})),
        }
    }

    fn started(id: &str, artifact: &str) -> EventKind {
        EventKind::ToolStarted {
            call_id: id.into(),
            tool: "sql_execute".into(),
            arguments: json!({"sql": id}),
            artifact_id: Some(artifact.into()),
        }
    }

    fn finished(id: &str, status: CallStatus) -> EventKind {
        EventKind::ToolFinished {
            call_id: id.into(),
            tool: "sql_execute".into(),
            status,
            elapsed_ms: 3,
            summary: "1 row".into(),
            reply: format!("reply to {id}"),
        }
    }

    fn fold(kinds: Vec<EventKind>) -> PastSession {
        let events: Vec<Event> = kinds
            .into_iter()
            .zip(1..)
            .map(|(kind, seq)| Event::now(seq, kind))
            .collect();
        PastSession::of(&events)
    }

    fn item(id: u32, status: Status) -> TodoItem {
        TodoItem {
            id,
            content: format!("step {id}"),
            active_form: "doing".into(),
            status,
        }
    }

    fn first_run() -> Vec<EventKind> {
        let usage = Usage {
            input: 5,
            cached: 0,
            output: 1,
        };
        vec![
            EventKind::Message {
                run: 1,
                message: Message::user("how many?"),
            },
            EventKind::TurnStarted { run: 1, turn: 1 },
            EventKind::Message {
                run: 1,
                message: Message::assistant("", vec![call("a"), call("b")]),
            },
            started("a", "q1"),
            started("b", "q2"),
            finished("a", CallStatus::Ok),
            EventKind::Artifact {
                id: "q1".into(),
                kind: ArtifactKind::Result,
                path: "results/q1.parquet".into(),
            },
            finished("b", CallStatus::Error),
            EventKind::TodoProgress {
                todos: vec![item(1, Status::Completed)],
                dropped: vec![item(2, Status::Pending)],
                completed: 1,
                total: 1,
            },
            EventKind::TurnFinished {
                run: 1,
                turn: 1,
                usage,
                elapsed_ms: 9,
            },
        ]
    }

    #[test]
    fn a_run_is_read_back_with_its_conversation_plan_and_ids() {
        let session = fold(first_run());
        let run = &session.runs[0];
        let texts: Vec<_> = run
            .messages
            .iter()
            .map(|m| (m.role, m.text.as_str(), m.is_error))
            .collect();
        assert_eq!(
            texts,
            [
                (Role::User, "how many?", false),
                (Role::Assistant, "", false),
                (Role::Tool, "reply to a", false),
                (Role::Tool, "reply to b", true),
            ]
        );
        assert_eq!((run.turns.len(), run.usage.input, run.outcome), (1, 5, None));
        assert_eq!(run.turns[0].reply.as_ref().map(|reply| reply.tool_calls.len()), Some(2));
        assert_eq!((run.todos[0].id, run.dropped[0].id), (1, 2));
        assert_eq!(session.artifact_ids().collect::<Vec<_>>(), ["q1", "q2", "q1"]);
        assert_eq!(run.open_calls(), []);
    }

    #[test]
    fn calls_that_had_not_ended_are_known_and_can_be_closed() {
        let mut kinds = first_run();
        kinds.truncate(6);
        let session = fold(kinds);
        assert_eq!(session.runs[0].open_calls(), [call("b")]);
        assert_eq!(session.runs[0].calls[1].end, None);
        let conversation = session.conversation();
        assert_eq!(conversation.len(), 4);
        assert_eq!(
            (conversation[3].text.as_str(), conversation[3].is_error),
            (NOT_ENDED, true)
        );
    }

    #[test]
    fn ids_of_calls_that_repeat_in_a_later_run_do_not_mix() {
        let mut kinds = first_run();
        kinds.push(EventKind::Message {
            run: 2,
            message: Message::user("and by office?"),
        });
        kinds.push(EventKind::Message {
            run: 2,
            message: Message::assistant("", vec![call("a")]),
        });
        kinds.push(started("a", "q3"));
        let session = fold(kinds);
        assert_eq!(session.runs.iter().map(|r| r.run).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(session.runs[1].open_calls(), [call("a")]);
        assert_eq!(session.conversation().len(), 7);
    }
}
