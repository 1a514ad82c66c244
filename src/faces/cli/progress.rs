//! What a person sees while a question is being answered: the plan and the call in hand, on stderr.

use std::io::{IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::faces::cli::Failure;
use crate::session::event::{CallStatus, Event, EventKind};
use crate::session::timeline::Listener;
use crate::session::todo;

/// How often the spinner turns.
const TICK: Duration = Duration::from_millis(120);

/// Prints a line on stdout; a reader that went away (`| head`) ends the program quietly.
pub fn print(text: &str) -> Result<(), Failure> {
    write(format!("{text}\n").as_bytes())
}

/// Writes `bytes` to stdout as they are; a reader that went away ends the program quietly.
pub fn write(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => std::process::exit(0),
        Err(error) => Err(Failure::failed(format!("cannot write to stdout: {error}"))),
        Ok(()) => Ok(()),
    }
}

/// Is there somebody at a terminal who can see progress?
pub fn watched(quiet: bool) -> bool {
    !quiet && std::io::stderr().is_terminal()
}

/// The plan and the call in hand, redrawn in place.
pub struct Panel {
    bar: ProgressBar,
    shown: Mutex<Shown>,
}

#[derive(Default)]
struct Shown {
    plan: String,
    call: String,
}

impl Panel {
    pub fn start(question: &str) -> Self {
        let bar = ProgressBar::new_spinner();
        let style =
            ProgressStyle::with_template("{spinner} {msg}").unwrap_or_else(|_| ProgressStyle::default_spinner());
        bar.set_style(style);
        bar.set_message(question.to_owned());
        bar.enable_steady_tick(TICK);
        Self {
            bar,
            shown: Mutex::new(Shown::default()),
        }
    }

    pub fn bar(&self) -> ProgressBar {
        self.bar.clone()
    }

    /// Leaves the plan as it ended on the screen, and the rest of the screen alone.
    pub fn end(&self) {
        self.bar.finish_and_clear();
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if !shown.plan.is_empty() {
            eprintln!("{}\n", shown.plan);
        }
    }

    fn redraw(&self, change: impl FnOnce(&mut Shown)) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut shown);
        let text = match (shown.plan.is_empty(), shown.call.is_empty()) {
            (true, _) => shown.call.clone(),
            (false, true) => shown.plan.clone(),
            (false, false) => format!("{}\n{}", shown.plan, shown.call),
        };
        self.bar.set_message(text);
    }
}

impl Listener for Panel {
    fn hear(&self, event: &Event) {
        match &event.kind {
            EventKind::TodoProgress { todos, .. } => self.redraw(|shown| shown.plan = todo::render(todos)),
            EventKind::ToolStarted { tool, .. } => self.redraw(|shown| shown.call = format!("… {tool}")),
            EventKind::ToolFinished {
                tool, status, summary, ..
            } => self.redraw(|shown| {
                shown.call = match status {
                    CallStatus::Ok => format!("{tool}: {summary}"),
                    CallStatus::Error => format!("{tool} failed: {summary}"),
                    CallStatus::Cancelled => format!("{tool} was cancelled"),
                };
            }),
            EventKind::Retry {
                attempt,
                after_ms,
                text,
            } => self.redraw(|shown| {
                shown.call = format!("try {attempt} in {:.1} s: {text}", *after_ms as f64 / 1000.0);
            }),
            EventKind::SessionStarted { .. }
            | EventKind::Message { .. }
            | EventKind::TurnStarted { .. }
            | EventKind::TurnFinished { .. }
            | EventKind::TextDelta { .. }
            | EventKind::Clarification { .. }
            | EventKind::Reminder { .. }
            | EventKind::Compaction { .. }
            | EventKind::Notice { .. }
            | EventKind::Artifact { .. }
            | EventKind::Resumed { .. }
            | EventKind::RunFinished { .. } => {}
        }
    }
}

/// Prints every event as one JSON line on stdout.
pub struct EventLines;

impl Listener for EventLines {
    fn hear(&self, event: &Event) {
        if let Ok(line) = serde_json::to_string(event) {
            // A reader that went away must not stop the run: its files are still being written.
            let _ = writeln!(std::io::stdout().lock(), "{line}");
        }
    }
}
