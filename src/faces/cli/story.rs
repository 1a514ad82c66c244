//! A session told line by line, for people who look at it afterwards.

use std::io::Write as _;

use crate::session::event::{CallStatus, Event, EventKind};
use crate::session::message::Role;
use crate::session::timeline::Listener;
use crate::session::todo;

/// Longer arguments and texts are cut for the screen; the file has them whole.
const LONGEST_LINE: usize = 200;

/// Prints each event as a line or a few on stdout.
pub struct Story;

impl Listener for Story {
    fn hear(&self, event: &Event) {
        if let Some(text) = told(&event.kind) {
            // A reader that went away (`| head`) has seen enough.
            let _ = writeln!(std::io::stdout().lock(), "{text}");
        }
    }
}

/// The event in words; `None` for what says nothing to a reader.
pub fn told(kind: &EventKind) -> Option<String> {
    Some(match kind {
        EventKind::SessionStarted {
            question,
            model,
            database,
            as_of,
            ..
        } => format!("? {question}\n  {model} on {database}, as of {as_of}"),
        EventKind::Message { message, .. } => match message.role {
            Role::Assistant if !message.text.trim().is_empty() && !message.tool_calls.is_empty() => {
                format!("  {}", short(&message.text))
            }
            Role::User | Role::Assistant | Role::Tool => return None,
        },
        EventKind::ToolStarted { tool, arguments, .. } => format!("→ {tool} {}", short(&arguments.to_string())),
        EventKind::ToolFinished {
            tool, status, summary, ..
        } => match status {
            CallStatus::Ok => format!("← {tool}: {}", short(summary)),
            CallStatus::Error => format!("✗ {tool} failed: {}", short(summary)),
            CallStatus::Cancelled => format!("✗ {tool} was cancelled"),
        },
        EventKind::TodoProgress { todos, dropped, .. } => {
            let dropped: String = dropped
                .iter()
                .map(|item| format!("\n  dropped: {}", item.content))
                .collect();
            format!("  {}{dropped}", todo::render(todos).replace('\n', "\n  "))
        }
        EventKind::Clarification { question, .. } => format!("? {}", short(question)),
        EventKind::Reminder { text } | EventKind::Compaction { text } | EventKind::Notice { text } => {
            format!("! {}", short(text))
        }
        EventKind::Retry {
            attempt,
            after_ms,
            text,
        } => format!("! try {attempt} in {:.1} s: {}", *after_ms as f64 / 1000.0, short(text)),
        EventKind::Artifact { id, path, .. } => format!("  {id} → {path}"),
        EventKind::Resumed { notes, .. } => std::iter::once("! the run was cut short, and goes on".to_owned())
            .chain(notes.iter().map(|note| format!("  {note}")))
            .collect::<Vec<_>>()
            .join("\n"),
        EventKind::RunFinished {
            outcome,
            exit,
            usage,
            elapsed_ms,
            ..
        } => format!(
            "= {} (exit {exit}), {} tokens, {:.1} s",
            outcome.as_str(),
            usage.total(),
            *elapsed_ms as f64 / 1000.0
        ),
        EventKind::TurnStarted { .. } | EventKind::TurnFinished { .. } | EventKind::TextDelta { .. } => return None,
    })
}

/// One line of the text, cut where it is long.
fn short(text: &str) -> String {
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match one_line.char_indices().nth(LONGEST_LINE) {
        Some((at, _)) => format!("{}…", one_line.get(..at).unwrap_or_default()),
        None => one_line,
    }
}
