//! `analyst ask`: one question, one report.

use std::io::{IsTerminal as _, Read};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use indicatif::ProgressBar;
use tokio_util::sync::CancellationToken;

use crate::builtin;
use crate::config::OnAmbiguity;
use crate::faces::cli::errors::INTERRUPTED;
use crate::faces::cli::options::{Ambiguity, Shared, source, today};
use crate::faces::cli::progress::{EventLines, Panel, print, watched};
use crate::faces::cli::{Failure, approve, clarify, models};
use crate::insight::report::{ReportJson, for_terminal};
use crate::jobs::answer::{Answered, Job, answer, check_question};
use crate::jobs::database::Database;
use crate::session::event::Event;
use crate::session::store::Session;
use crate::session::timeline::Listener;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The question; `-` reads it from standard input
    question: String,
    #[command(flatten)]
    shared: Shared,
    #[command(flatten)]
    shown: Shown,
    /// Print how long each part took, on stderr
    #[arg(long)]
    timings: bool,
    /// What to do with a question that has two readings, or one that is not sure; if left out, asks on a terminal, and
    /// elsewhere takes the first and states the other
    #[arg(long, value_enum)]
    on_ambiguity: Option<Ambiguity>,
}

/// What is printed of a run, while it goes on and when it has ended.
#[derive(Debug, clap::Args)]
pub struct Shown {
    /// What is printed: the report, or one object for programs
    #[arg(long, value_enum, default_value_t = Format::Markdown)]
    format: Format,
    /// Print what happens as JSON lines instead; the report goes to files only
    #[arg(long, value_enum)]
    events: Option<Events>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Markdown,
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Events {
    Jsonl,
}

pub async fn run(args: Args) -> Result<ExitCode, Failure> {
    let started = Instant::now();
    let question = question(&args.question)?;
    let question = check_question(&question)?;
    let mut config = args.shared.resolve(None)?;
    let interactive = std::io::stdin().is_terminal() && std::io::stderr().is_terminal() && args.question != "-";
    config.on_ambiguity = match args.on_ambiguity {
        Some(said) => said.into(),
        None if interactive => OnAmbiguity::Ask,
        None => OnAmbiguity::First,
    };
    // Without a terminal nothing is opened and nothing written.
    approve::person(&config, None)?;
    // A wrong name is told before a database is opened.
    models::model(&config, &models::Gates::of(&config))?;
    let cancel = interrupt();
    let database = Database::open(&source(&config), &cancel).await?;
    if interactive && config.on_ambiguity == OnAmbiguity::Ask && config.model == builtin::NAME {
        config.reading = clarify::chosen(&database, question, &config)?;
    }
    let model = models::model(&config, &models::Gates::of(&config))?;
    let session = match &config.output.out {
        Some(folder) => Session::flat(folder, jiff::Timestamp::now())?,
        None => Session::create(&config.output.home, jiff::Timestamp::now())?,
    };
    let watching = args.shown.watching(question, args.shared.quiet);
    let person = approve::person(&config, watching.bar())?;
    let answered = answer(Job {
        question,
        database: &database,
        model: model.as_ref(),
        config: &config,
        skills: Arc::new(crate::faces::cli::options::skills()),
        today: today(),
        before: Vec::new(),
        session: &session,
        person,
        listeners: watching.listeners(),
        cancel,
    })
    .await;
    watching.end();
    let answered = answered?;
    if args.timings {
        timings(&database, &answered, started.elapsed());
    }
    args.shown.show(&answered, args.shared.quiet)
}

/// Who watches a run on the command line.
pub struct Watching {
    panel: Option<Arc<Panel>>,
    as_lines: bool,
}

impl Watching {
    pub fn listeners(&self) -> Vec<Arc<dyn Listener>> {
        let panel = self.panel.iter().map(|panel| Arc::clone(panel) as Arc<dyn Listener>);
        let lines = self.as_lines.then(|| Arc::new(EventLines) as Arc<dyn Listener>);
        panel.chain(lines).collect()
    }

    /// Shows what a resumed run had done before.
    pub fn catch_up(&self, events: &[Event]) {
        if let Some(panel) = &self.panel {
            events.iter().for_each(|event| panel.hear(event));
        }
    }

    /// What is drawn anew all the time, and must stand back while somebody is asked.
    pub fn bar(&self) -> Option<ProgressBar> {
        self.panel.as_ref().map(|panel| panel.bar())
    }

    pub fn end(&self) {
        if let Some(panel) = &self.panel {
            panel.end();
        }
    }
}

impl Shown {
    pub fn watching(&self, question: &str, quiet: bool) -> Watching {
        Watching {
            panel: (self.events.is_none() && watched(quiet)).then(|| Arc::new(Panel::start(question))),
            as_lines: self.events.is_some(),
        }
    }

    /// Prints the report or the object, and gives the exit code.
    pub fn show(&self, answered: &Answered, quiet: bool) -> Result<ExitCode, Failure> {
        match (self.events, self.format) {
            (Some(Events::Jsonl), _) => {}
            (None, Format::Markdown) => print(for_terminal(&answered.report).trim_end())?,
            (None, Format::Json) => {
                let object = ReportJson::new(answered.input.clone(), answered.report.clone());
                let text = serde_json::to_string_pretty(&object).map_err(|error| Failure::failed(error.to_string()))?;
                print(&text)?;
            }
        }
        if watched(quiet) {
            eprintln!("Report, charts and evidence: {}", answered.folder.display());
        }
        Ok(ExitCode::from(answered.outcome.exit_code()))
    }

    /// Prints a run that has ended, from the events and the report that it left.
    pub fn show_again(&self, events: &[Event], report: &Path) -> Result<(), Failure> {
        match (self.events, self.format) {
            (Some(Events::Jsonl), _) => {
                events.iter().for_each(|event| EventLines.hear(event));
                Ok(())
            }
            (None, Format::Markdown) => {
                let text = std::fs::read_to_string(report)
                    .map_err(|error| Failure::failed(format!("cannot read {}: {error}", report.display())))?;
                print(for_terminal(&text).trim_end())
            }
            (None, Format::Json) => Err(Failure::usage(format!(
                "the run has ended, and its object is printed only once; what it found is in {}",
                report.with_file_name("evidence.json").display()
            ))),
        }
    }
}

fn question(given: &str) -> Result<String, Failure> {
    if given != "-" {
        return Ok(given.to_owned());
    }
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| Failure::usage(format!("cannot read the question from standard input: {error}")))?;
    Ok(text)
}

fn timings(database: &Database, answered: &Answered, total: Duration) {
    let parts = database.timings.iter().chain(&answered.timings);
    for (part, took) in parts {
        eprintln!("{part:16} {:8.1} ms", took.as_secs_f64() * 1000.0);
    }
    eprintln!("{:16} {:8.1} ms", "total", total.as_secs_f64() * 1000.0);
}

/// Ctrl-C once ends the run cleanly; twice ends the program at once.
pub fn interrupt() -> CancellationToken {
    let token = CancellationToken::new();
    let cancelled = token.clone();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            cancelled.cancel();
        }
        if tokio::signal::ctrl_c().await.is_ok() {
            std::process::exit(i32::from(INTERRUPTED));
        }
    });
    token
}
