//! `analyst sessions`: what was asked before, shown, replayed, exported and removed.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Subcommand, ValueEnum};
use serde::Serialize;

use crate::faces::cli::Failure;
use crate::faces::cli::ask::interrupt;
use crate::faces::cli::options::Shared;
use crate::faces::cli::progress::{EventLines, print};
use crate::faces::cli::story::{Story, told};
use crate::insight::report::for_terminal;
use crate::jobs::answer::BEFORE;
use crate::session::event::{Event, EventKind, Usage};
use crate::session::export::export;
use crate::session::replay::replay;
use crate::session::resume::PastSession;
use crate::session::store::{self, Found};
use crate::session::timeline::{self, Recording};
use crate::session::todo;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List all sessions, oldest first
    List {
        /// Print one JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// Show what was asked, planned, called and made
    Show {
        /// An id or the beginning of one, `last`, or a folder
        session: String,
    },
    /// Show a session again as it happened
    Replay {
        /// An id or the beginning of one, `last`, or a folder
        session: String,
        /// How many times as fast; 0 is at once
        #[arg(long, default_value_t = 1.0, value_parser = speed)]
        speed: f64,
        /// Print the events as JSON lines
        #[arg(long, value_enum)]
        events: Option<Events>,
    },
    /// Copy a session into a folder that stands alone
    Export {
        /// An id or the beginning of one, `last`, or a folder
        session: String,
        /// A folder that is empty or not there yet
        folder: PathBuf,
    },
    /// Remove sessions with all their files
    Rm {
        /// Whole ids
        #[arg(required = true)]
        sessions: Vec<String>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Events {
    Jsonl,
}

fn speed(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(speed) if speed.is_finite() && speed >= 0.0 => Ok(speed),
        _ => Err("it must be a number such as 1, 10 or 0 (at once)".to_owned()),
    }
}

pub async fn run(args: Args) -> Result<ExitCode, Failure> {
    let home = Shared::default().resolve(None)?.output.home;
    match args.command {
        Command::List { json } => list(&home, json)?,
        Command::Show { session } => show(&store::find(&home, &session)?)?,
        Command::Replay { session, speed, events } => {
            let found = store::find(&home, &session)?;
            again(&found, speed, events.is_some()).await?;
        }
        Command::Export { session, folder } => {
            let found = store::find(&home, &session)?;
            export(&found, &folder)?;
            eprintln!("exported to {}", folder.display());
        }
        Command::Rm { sessions } => remove(&home, &sessions)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// One line of the list.
#[derive(Debug, Serialize)]
struct Line {
    v: u32,
    id: String,
    /// RFC 3339, UTC; empty where the first event is missing.
    started: String,
    outcome: String,
    question: String,
    model: String,
    database: String,
    tokens: u64,
}

fn list(home: &Path, json: bool) -> Result<(), Failure> {
    let ids = store::list(home)?;
    if ids.is_empty() && !json {
        return print("No sessions.");
    }
    for id in ids {
        let found = store::find(home, &id)?;
        let line = match read(&found) {
            Ok(recording) => line(id, &recording),
            Err(failure) => {
                eprintln!("analyst: {failure}");
                continue;
            }
        };
        let text = if json {
            serde_json::to_string(&line).map_err(|error| Failure::failed(error.to_string()))?
        } else {
            format!("{}  {:11}  {}", line.id, line.outcome, line.question)
        };
        print(&text)?;
    }
    Ok(())
}

fn line(id: String, recording: &Recording) -> Line {
    let past = PastSession::of(&recording.events);
    let outcome = outcome(&past);
    let tokens = past.runs.iter().map(|run| run.usage.total()).sum();
    let (question, model, database) = past
        .about
        .map(|about| (about.question, about.model, about.database))
        .unwrap_or_default();
    Line {
        v: 1,
        id,
        started: recording
            .events
            .first()
            .map(|event| event.at.clone())
            .unwrap_or_default(),
        outcome: outcome.to_owned(),
        question: question.split_whitespace().collect::<Vec<_>>().join(" "),
        model,
        database,
        tokens,
    }
}

fn outcome(past: &PastSession) -> &'static str {
    match past.runs.last().and_then(|run| run.outcome) {
        Some(outcome) => outcome.as_str(),
        None => "cut short",
    }
}

/// The events of a session, damaged ones left out.
pub fn read(found: &Found) -> Result<Recording, Failure> {
    timeline::read(&found.timeline()).map_err(|error| Failure::failed(error.to_string()))
}

fn show(found: &Found) -> Result<(), Failure> {
    let recording = read(found)?;
    say_what_is_damaged(&recording);
    let past = PastSession::of(&recording.events);
    if let Some(about) = recording.events.first().and_then(|event| told(&event.kind)) {
        print(&about)?;
    }
    for run in past.runs.iter().filter(|run| run.run != BEFORE) {
        let Usage { input, cached, output } = run.usage;
        print(&format!(
            "\nrun {}: {}, {} turns, tokens: {input} in ({cached} cached), {output} out",
            run.run,
            run.outcome.map_or("cut short", |outcome| outcome.as_str()),
            run.turns.len(),
        ))?;
        if let Some(question) = run.messages.first().filter(|_| past.runs.len() > 1) {
            print(&format!("? {}", question.text))?;
        }
        if !run.todos.is_empty() {
            print(&todo::render(&run.todos))?;
        }
        for call in &run.calls {
            let end = call.end.as_ref().map_or("had not ended", |end| end.summary.as_str());
            print(&format!("→ {}: {end}", call.tool))?;
        }
        for (id, _, path) in &run.artifacts {
            print(&format!("  {id} → {}", found.root().join(path).display()))?;
        }
    }
    if outcome(&past) == "cut short" {
        let name = found
            .root()
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        print(&format!("\n`analyst resume {name}` goes on with it."))?;
    }
    Ok(())
}

async fn again(found: &Found, speed: f64, as_events: bool) -> Result<(), Failure> {
    let recording = read(found)?;
    say_what_is_damaged(&recording);
    let cancel = interrupt();
    if as_events {
        replay(&recording.events, speed, &EventLines, &cancel).await;
        return Ok(());
    }
    replay(&recording.events, speed, &Story, &cancel).await;
    match last_report(found, &recording.events) {
        Some(report) if !cancel.is_cancelled() => print(&format!("\n{}", for_terminal(&report).trim_end())),
        _ => Ok(()),
    }
}

fn last_report(found: &Found, events: &[Event]) -> Option<String> {
    let run = events.iter().rev().find_map(|event| match event.kind {
        EventKind::RunFinished { run, .. } => Some(run),
        _ => None,
    })?;
    std::fs::read_to_string(found.run(run).join("report.md")).ok()
}

fn say_what_is_damaged(recording: &Recording) {
    for (line, problem) in &recording.damaged {
        eprintln!("analyst: line {line} of the timeline cannot be read and was passed over ({problem})");
    }
    if recording.torn_bytes > 0 {
        eprintln!(
            "analyst: the last line of the timeline is torn ({} bytes)",
            recording.torn_bytes
        );
    }
}

/// Nothing is removed by half a name.
fn remove(home: &Path, sessions: &[String]) -> Result<(), Failure> {
    let known = store::list(home)?;
    if let Some(unknown) = sessions.iter().find(|id| !known.contains(id)) {
        return Err(Failure::usage(format!(
            "no session `{unknown}` in {}; nothing was removed (`analyst sessions list` shows whole ids)",
            home.display()
        )));
    }
    for id in sessions {
        store::find(home, id)?.remove()?;
        eprintln!("removed {id}");
    }
    Ok(())
}
