//! The built-in analyst: a chat model that needs no network, and decides from the transcript and the tools' replies.
//!
//! It is deterministic and holds no state: every turn it walks the same steps over the transcript (see [`case`]), so the
//! same question on the same data always takes the same way, and a run that was cut off goes on where it ended.

mod case;
mod plan;
mod report;
mod show;
mod simple;
mod subject;
mod table;
mod transcript;
mod unread;

pub use unread::in_words;

use serde_json::{Value, json};

use crate::builtin::case::{Case, Stop};
use crate::builtin::plan::{Stand, Step, todos};
use crate::builtin::subject::{Subject, Windows};
use crate::builtin::transcript::Transcript;
use crate::meaning::query::{Filter, Query};
use crate::meaning::question::{Intent, OnAmbiguity, Outcome, Reading, Shift, intents, may_answer};
use crate::model::chat::{
    Arguments, ChatContext, ChatError, ChatModel, ChatReply, ChatRequest, Message, StopReason, ToolCall, Usage,
};
use crate::text::Language;
use crate::tools::glossary::Explained;
use crate::tools::todo_write;

/// How reports name it.
pub const NAME: &str = "builtin";

const LOOK: Step = Step {
    content: (
        "Look up the terms and the tables of the question",
        "查清问题中的术语和相关数据表",
    ),
    active: ("Looking up terms and tables", "正在查询术语和数据表"),
};

/// The model.
#[derive(Debug, Default)]
pub struct Builtin {
    /// What it does with a question that can be read in two ways.
    pub on_ambiguity: OnAmbiguity,
    /// The reading that was chosen, counted from 0.
    pub reading: Option<usize>,
}

#[async_trait::async_trait]
impl ChatModel for Builtin {
    fn name(&self) -> &str {
        NAME
    }

    async fn reply(&self, request: &ChatRequest, context: &ChatContext) -> Result<ChatReply, ChatError> {
        if context.cancel.is_cancelled() {
            return Err(ChatError::Cancelled);
        }
        let can_plan = request.tools.iter().any(|tool| tool.name == todo_write::NAME);
        let message = match self.decide(&request.messages, can_plan) {
            Turn::Calls(calls) => Message::assistant("", calls),
            Turn::Answer(text) => Message::assistant(text, Vec::new()),
        };
        let stop = match message.tool_calls.is_empty() {
            true => StopReason::End,
            false => StopReason::ToolCalls,
        };
        Ok(ChatReply {
            message,
            usage: Usage::default(),
            stop,
        })
    }
}

/// What the analyst does next.
enum Turn {
    Calls(Vec<ToolCall>),
    Answer(String),
}

impl Builtin {
    /// The next turn over `messages`, with a plan where the question needs one and TodoWrite is offered.
    fn decide(&self, messages: &[Message], can_plan: bool) -> Turn {
        let transcript = Transcript::read(messages);
        let language = Language::detect(transcript.question());
        let case = Case::new(&transcript, language);
        let plans = can_plan && needs_plan(transcript.question());
        let question = transcript.question();
        let explained = case.call::<Explained>("glossary", "glossary", json!({ "question": question, "around": true }));
        let probed = case.call::<Value>("schema", "schema_probe", json!({ "search": question }));
        let (explained, found) = match (explained, probed) {
            (Ok(explained), Ok(_) | Err(Stop::Failed(_))) => {
                let found = self.follow(&case, &explained);
                (Some(explained), found)
            }
            (Err(Stop::Failed(reason)), _) => (None, Found::answer(unread::failed(language, &reason))),
            (Ok(_) | Err(Stop::Waiting), _) => (None, Found::waiting()),
        };
        let steps = steps(&found, explained.is_some());
        let pending = case.into_pending();
        finish(&transcript, language, plans, steps, pending, found.answer)
    }
    /// Goes the way that the question's reading asks for.
    fn follow(&self, case: &Case<'_>, explained: &Explained) -> Found {
        let (readings, ambiguous) = match &explained.question {
            Some(Outcome::Read { readings, ambiguous }) => (readings, *ambiguous),
            Some(Outcome::NotRead(not_read)) => return Found::answer(unread::abstain(not_read)),
            None => return Found::waiting(),
        };
        let chosen = self.reading.and_then(|place| readings.get(place));
        let Some(reading) = chosen.or(readings.first()) else {
            return Found::waiting();
        };
        let other = readings.get(1).filter(|_| ambiguous && chosen.is_none());
        match (self.on_ambiguity, other) {
            (OnAmbiguity::Ask | OnAmbiguity::Abstain, Some(other)) => {
                return Found::answer(unread::clarify(reading, other));
            }
            (OnAmbiguity::Abstain, None) if chosen.is_none() && !may_answer(self.on_ambiguity, reading, false) => {
                return Found::answer(unread::unsure(reading));
            }
            (OnAmbiguity::First | OnAmbiguity::Ask | OnAmbiguity::Abstain, _) => {}
        }
        match (is_report(reading), subject(reading, explained)) {
            (true, Some(subject)) => {
                let investigation = report::investigate(case, &subject);
                Found {
                    answer: investigation.answer.map(|answer| with_notes(&answer, reading, other)),
                    steps: investigation.steps,
                }
            }
            _ => match simple::answer(case, reading, explained) {
                Ok(answer) => Found::answer(with_notes(&answer, reading, other)),
                Err(Stop::Waiting) => Found::waiting(),
                Err(Stop::Failed(reason)) => Found::answer(unread::failed(case.language, &reason)),
            },
        }
    }
}

/// What following the question gave so far.
struct Found {
    /// Steps after the first, where the question has a plan of its own.
    steps: Vec<(Step, Stand)>,
    answer: Option<String>,
}

impl Found {
    fn answer(text: String) -> Self {
        Self {
            steps: Vec::new(),
            answer: Some(text),
        }
    }
    fn waiting() -> Self {
        Self {
            steps: Vec::new(),
            answer: None,
        }
    }
}

/// How the question was understood goes below the answer, where it is not obvious.
fn with_notes(answer: &str, reading: &Reading, other: Option<&Reading>) -> String {
    if reading.notes.is_empty() && other.is_none() {
        return answer.to_owned();
    }
    let heading = reading.language.pick("How the question was read", "对问题的理解");
    let also = other.map(|other| unread::also(reading, other));
    let notes: Vec<String> = also
        .iter()
        .chain(&reading.notes)
        .map(|note| format!("- {note}"))
        .collect();
    format!("{answer}\n\n## {heading}\n\n{}", notes.join("\n"))
}

fn is_report(reading: &Reading) -> bool {
    let wants = |intent| reading.intents.contains(&intent);
    let several = [
        Intent::Rank,
        Intent::Trend,
        Intent::Compare,
        Intent::Outliers,
        Intent::Share,
    ]
    .into_iter()
    .filter(|intent| wants(*intent))
    .count();
    wants(Intent::Report) || wants(Intent::Why) || wants(Intent::Outliers) || several >= 3
}

/// The subject of a report on `reading`; `None` where nothing is measured.
fn subject(reading: &Reading, explained: &Explained) -> Option<Subject> {
    let around = explained.around.clone()?;
    let asked = match (reading.windows.as_slice(), reading.shift) {
        ([_, other, ..], _) => Some(*other),
        ([only], Some(Shift::YearAgo)) => Some(only.year_ago()),
        _ => None,
    };
    let current = reading.windows.first().copied().or(explained.time.data)?;
    Some(Subject {
        around,
        filter: filter_of(reading),
        windows: Windows::around(current, &explained.time, asked),
        language: reading.language,
    })
}

fn filter_of(reading: &Reading) -> Option<Filter> {
    match &reading.query {
        Query::Summary(summary) => summary.filter.clone(),
        Query::Rows(rows) => rows.filter.clone(),
        Query::Combine(_) => None,
    }
}

/// Does the wording ask for more than one query can give?
fn needs_plan(question: &str) -> bool {
    let wanted = intents(question);
    let is = |intent| wanted.contains(&intent);
    let several = [
        Intent::Rank,
        Intent::Trend,
        Intent::Compare,
        Intent::Share,
        Intent::Growth,
    ]
    .into_iter()
    .filter(|intent| is(*intent))
    .count();
    is(Intent::Report) || is(Intent::Why) || is(Intent::Outliers) || several >= 3
}

/// The plan as it stands: looking up first, then what the reading asks for.
fn steps(found: &Found, looked_up: bool) -> Vec<(Step, Stand)> {
    let look = (LOOK, if looked_up { Stand::Done } else { Stand::Open });
    let rest = match (found.steps.is_empty(), looked_up) {
        (true, false) => report::outline().into_iter().map(|step| (step, Stand::Open)).collect(),
        _ => found.steps.clone(),
    };
    std::iter::once(look).chain(rest).collect()
}

/// The turn: calls with the plan beside them where it changed, the plan's last write, or the answer.
fn finish(
    transcript: &Transcript<'_>,
    language: Language,
    plans: bool,
    steps: Vec<(Step, Stand)>,
    mut pending: Vec<ToolCall>,
    answer: Option<String>,
) -> Turn {
    let list = todos(&steps, language);
    let changed = plans && transcript.last_plan() != Some(&list);
    // An answer that came at once needs no plan in front of it.
    let worth_it = !pending.is_empty() || transcript.last_plan().is_some();
    let arguments = Arguments::Parsed(list);
    // A refused write is not written again: the plan is for the reader, and the work goes on.
    if changed && worth_it && !transcript.refused(todo_write::NAME, &arguments) {
        let write = ToolCall {
            id: format!("plan.{}", transcript.calls()),
            name: todo_write::NAME.to_owned(),
            arguments,
        };
        pending.insert(0, write);
    }
    match answer {
        Some(answer) if pending.is_empty() => Turn::Answer(answer),
        _ => Turn::Calls(pending),
    }
}
