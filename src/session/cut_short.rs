//! A session whose run was cut short, taken up again: what of its timeline still counts, and the steps to go over.

use std::path::{Path, PathBuf};

use crate::session::event::{CallStatus, Event, EventKind, Outcome};
use crate::session::message::Role;
use crate::session::resume::{About, PastRun, PastSession, counted};
use crate::session::retrace::Retrace;
use crate::session::timeline::{Recording, Timeline, TimelineError};

/// Why a session cannot be taken up.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    #[error(transparent)]
    Timeline(#[from] TimelineError),
    #[error("{} does not say what was asked, since the run ended before its first event; ask the question anew", .path.display())]
    NothingRecorded { path: PathBuf },
    #[error(
        "{}: {} cannot be read and held a reply or a result that the run needs; ask the question anew",
        .path.display(), lines(.damaged)
    )]
    Damaged { path: PathBuf, damaged: Vec<usize> },
}

/// What is found when a session is to be taken up.
pub enum TakenUp {
    /// Its last run came to an end that stands.
    Over {
        run: u32,
        outcome: Outcome,
    },
    CutShort(Box<CutShort>),
}

/// A session that goes on.
pub struct CutShort {
    pub about: About,
    /// The run that goes on.
    pub run: PastRun,
    /// The runs before it.
    pub earlier: PastSession,
    /// Appends, and lets the run go over its recorded steps first.
    pub timeline: Timeline,
    /// What was found wrong with the file, a line each.
    pub notes: Vec<String>,
    /// Everything that counts, for a face to catch up on.
    pub events: Vec<Event>,
}

/// Opens the timeline at `path`: a torn last line is cut off, and what an interruption left half-done is taken back.
///
/// The caller holds the session's lock.
pub fn take_up(path: &Path) -> Result<TakenUp, ResumeError> {
    let (timeline, recording) = Timeline::open(path)?;
    let past = PastSession::of(&recording.events);
    let end = past.runs.last().and_then(|run| Some((run.run, run.outcome?)));
    match end.filter(|(_, outcome)| stands(*outcome)) {
        Some((run, outcome)) => Ok(TakenUp::Over { run, outcome }),
        None => Ok(TakenUp::CutShort(Box::new(go_on(path, timeline, recording, past)?))),
    }
}

/// The same, except that a run that had ended is gone over again to the same end: for whoever needs more of it than its
/// report. Neither the model nor the database is asked.
pub fn take_up_again(path: &Path) -> Result<CutShort, ResumeError> {
    let (timeline, recording) = Timeline::open(path)?;
    let past = PastSession::of(&recording.events);
    go_on(path, timeline, recording, past)
}

fn go_on(path: &Path, timeline: Timeline, recording: Recording, past: PastSession) -> Result<CutShort, ResumeError> {
    let Some(about) = past.about.clone() else {
        return Err(ResumeError::NothingRecorded { path: path.to_owned() });
    };
    let is_step = |event: &&Event| !matches!(event.kind, EventKind::Resumed { .. });
    let counting = counted(&recording.events).into_iter().filter(is_step);
    let mut kept: Vec<Event> = counting.cloned().collect();
    let run = past.runs.last().map_or(1, |run| run.run);
    let after = still_counts(&kept, run);
    kept.retain(|event| event.seq <= after);
    let mut earlier = PastSession::of(&kept);
    let going_on = earlier.runs.pop_if(|last| last.run == run).unwrap_or_else(|| PastRun {
        run,
        ..PastRun::default()
    });
    let has_gaps = !recording.damaged.is_empty();
    if has_gaps && !going_on.is_whole() {
        let damaged = recording.damaged.iter().map(|(line, _)| *line).collect();
        return Err(ResumeError::Damaged {
            path: path.to_owned(),
            damaged,
        });
    }
    let notes = notes(&recording);
    timeline.record(EventKind::Resumed {
        run,
        after,
        notes: notes.clone(),
    })?;
    timeline.retrace(Retrace::new(steps_of(&kept, run), has_gaps));
    Ok(CutShort {
        about,
        run: going_on,
        earlier,
        timeline,
        notes,
        events: kept,
    })
}

/// An end that a second attempt would not better.
fn stands(outcome: Outcome) -> bool {
    match outcome {
        Outcome::Answered | Outcome::Clarify | Outcome::Abstained | Outcome::Incomplete => true,
        Outcome::Failed | Outcome::Interrupted => false,
    }
}

/// The number of the last event that a resumed run builds on.
///
/// A turn without a reply is asked again, calls that were cancelled are made again, and what comes after the last turn
/// (notices, the report) is made anew.
fn still_counts(events: &[Event], run: u32) -> u64 {
    let last = events.last().map_or(0, |event| event.seq);
    let before = |at: usize| {
        at.checked_sub(1)
            .and_then(|at| events.get(at))
            .map_or(0, |event| event.seq)
    };
    let Some(start) = events
        .iter()
        .rposition(|event| matches!(event.kind, EventKind::TurnStarted { run: of, .. } if of == run))
    else {
        return last;
    };
    let turn = events.get(start..).unwrap_or_default();
    let is_reply = |event: &Event| match &event.kind {
        EventKind::Message { message, .. } => message.role == Role::Assistant,
        _ => false,
    };
    if !turn.iter().any(is_reply) {
        return before(start);
    }
    let cancelled = |event: &Event| match event.kind {
        EventKind::ToolFinished { status, .. } => status == CallStatus::Cancelled,
        _ => false,
    };
    if let Some(at) = turn.iter().position(cancelled) {
        return before(start + at);
    }
    let end = turn
        .iter()
        .find(|event| matches!(event.kind, EventKind::TurnFinished { .. }));
    end.map_or(last, |event| event.seq)
}

/// The events that the run itself records, from its question on.
fn steps_of(kept: &[Event], run: u32) -> Vec<Event> {
    let begins = |event: &Event| matches!(event.kind, EventKind::Message { run: of, .. } if of == run);
    let from = kept.iter().position(begins).unwrap_or(kept.len());
    kept.iter().skip(from).cloned().collect()
}

fn notes(recording: &Recording) -> Vec<String> {
    let torn = (recording.torn_bytes > 0).then(|| {
        format!(
            "the last line was torn ({} bytes) and was cut off the timeline",
            recording.torn_bytes
        )
    });
    let damaged = recording
        .damaged
        .iter()
        .map(|(line, problem)| format!("line {line} of the timeline cannot be read and was passed over ({problem})"));
    torn.into_iter().chain(damaged).collect()
}

fn lines(damaged: &[usize]) -> String {
    let numbers: Vec<String> = damaged.iter().map(usize::to_string).collect();
    match numbers.as_slice() {
        [one] => format!("line {one}"),
        several => format!("lines {}", several.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::session::event::Usage;
    use crate::session::message::{Arguments, Message, ToolCall};
    use crate::text::Language;

    fn call(id: &str) -> ToolCall {
        ToolCall {
            id: id.into(),
            name: "sql_execute".into(),
            arguments: Arguments::Parsed(json!({})),
        }
    }

    fn said(message: Message) -> EventKind {
        EventKind::Message { run: 1, message }
    }

    fn finished(id: &str, status: CallStatus) -> EventKind {
        EventKind::ToolFinished {
            call_id: id.into(),
            tool: "sql_execute".into(),
            status,
            elapsed_ms: 1,
            summary: String::new(),
            reply: String::new(),
        }
    }

    fn turn_ends(turn: u32) -> EventKind {
        EventKind::TurnFinished {
            run: 1,
            turn,
            usage: Usage::default(),
            elapsed_ms: 1,
        }
    }

    fn ends(outcome: Outcome) -> EventKind {
        EventKind::RunFinished {
            run: 1,
            outcome,
            answer: None,
            exit: outcome.exit_code(),
            usage: Usage::default(),
            elapsed_ms: 1,
        }
    }

    fn notice() -> EventKind {
        EventKind::Notice {
            text: "interrupted".into(),
        }
    }

    /// A session of one turn with two calls, and then `rest`.
    fn session(rest: Vec<EventKind>) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("timeline.jsonl");
        let timeline = Timeline::create(&path).unwrap();
        let mut kinds = vec![
            EventKind::SessionStarted {
                session: "s".into(),
                question: "how many?".into(),
                model: "builtin".into(),
                database: "d".into(),
                language: Language::English,
                as_of: "2005-12-12".into(),
                options: json!({}),
            },
            said(Message::user("how many?")),
            EventKind::TurnStarted { run: 1, turn: 1 },
            said(Message::assistant("", vec![call("a"), call("b")])),
            finished("a", CallStatus::Ok),
        ];
        kinds.extend(rest);
        for kind in kinds {
            timeline.record(kind).unwrap();
        }
        (folder, path)
    }

    fn after(path: &Path) -> u64 {
        match take_up(path).unwrap() {
            TakenUp::Over { outcome, .. } => panic!("it is over: {outcome:?}"),
            TakenUp::CutShort(cut) => cut.events.last().unwrap().seq,
        }
    }

    #[rstest::rstest]
    #[case::in_the_calls(vec![], 5)]
    #[case::while_it_was_being_cancelled(vec![finished("b", CallStatus::Cancelled)], 5)]
    #[case::after_an_interruption(
        vec![finished("b", CallStatus::Cancelled), turn_ends(1), notice(), ends(Outcome::Interrupted)], 5)]
    #[case::between_turns(vec![finished("b", CallStatus::Ok), turn_ends(1)], 7)]
    #[case::interrupted_between_turns(
        vec![finished("b", CallStatus::Ok), turn_ends(1), notice(), ends(Outcome::Interrupted)], 7)]
    #[case::while_the_model_thought(
        vec![finished("b", CallStatus::Ok), turn_ends(1), EventKind::TurnStarted { run: 1, turn: 2 }], 7)]
    #[case::when_the_model_failed(
        vec![finished("b", CallStatus::Ok), turn_ends(1), EventKind::TurnStarted { run: 1, turn: 2 }, turn_ends(2),
             notice(), ends(Outcome::Failed)], 7)]
    fn what_still_counts(#[case] rest: Vec<EventKind>, #[case] expected: u64) {
        let (_folder, path) = session(rest);
        assert_eq!(after(&path), expected);
        // Cut short once more, it counts the same.
        assert_eq!(after(&path), expected);
    }

    #[test]
    fn an_end_that_stands_is_not_taken_up() {
        for outcome in [
            Outcome::Answered,
            Outcome::Incomplete,
            Outcome::Abstained,
            Outcome::Clarify,
        ] {
            let (_folder, path) = session(vec![finished("b", CallStatus::Ok), turn_ends(1), ends(outcome)]);
            assert!(matches!(take_up(&path).unwrap(), TakenUp::Over { outcome: o, .. } if o == outcome));
        }
    }

    #[test]
    fn a_torn_line_is_noted_and_a_damaged_one_passed_over_where_that_is_safe() {
        let (_folder, path) = session(vec![finished("b", CallStatus::Ok), notice(), turn_ends(1)]);
        let text = std::fs::read_to_string(&path).unwrap();
        // Line 7 is the notice; losing it loses nothing that a later turn needs.
        std::fs::write(&path, text.replace("interrupted\"", "interrupted") + "{\"v\":1,\"se").unwrap();
        let TakenUp::CutShort(cut) = take_up(&path).unwrap() else {
            panic!("it is not over")
        };
        assert!(
            cut.notes[0].starts_with("the last line was torn (10 bytes)"),
            "{:?}",
            cut.notes
        );
        assert!(cut.notes[1].starts_with("line 7 of the timeline"), "{:?}", cut.notes);
        // Line 5 is the reply to a call of a turn that ended.
        std::fs::write(
            &path,
            text.replacen("\"call_id\":\"a\",\"tool\"", "\"call_id\":\"a\",tool", 1),
        )
        .unwrap();
        let Err(error) = take_up(&path) else {
            panic!("it is not safe")
        };
        assert!(error.to_string().contains("line 5 cannot be read"), "{error}");
    }

    #[test]
    fn a_file_without_its_first_event_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("timeline.jsonl");
        std::fs::write(&path, "{\"v\":1,\"seq\":1,\"at").unwrap();
        let Err(error) = take_up(&path) else {
            panic!("there is nothing")
        };
        assert!(error.to_string().ends_with("ask the question anew"), "{error}");
    }
}
