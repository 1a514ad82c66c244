//! `analyst ask`: one question, one report.

use std::io::Read;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use tokio_util::sync::CancellationToken;

use crate::faces::cli::errors::INTERRUPTED;
use crate::faces::cli::options::{Shared, source, today};
use crate::faces::cli::progress::{EventLines, Panel, print, watched};
use crate::faces::cli::{Failure, models};
use crate::insight::report::{ReportJson, for_terminal};
use crate::jobs::answer::{Answered, Job, answer, check_question};
use crate::jobs::database::Database;
use crate::session::store::Session;
use crate::session::timeline::Listener;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The question; `-` reads it from standard input
    question: String,
    #[command(flatten)]
    shared: Shared,
    /// What is printed: the report, or one object for programs
    #[arg(long, value_enum, default_value_t = Format::Markdown)]
    format: Format,
    /// Print what happens as JSON lines instead; the report goes to files only
    #[arg(long, value_enum)]
    events: Option<Events>,
    /// Print how long each part took, on stderr
    #[arg(long)]
    timings: bool,
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
    let config = args.shared.resolve(None)?;
    let model = models::model(&config.model)?;
    let cancel = interrupt();
    let database = Database::open(&source(&config), &cancel).await?;
    let session = match &config.output.out {
        Some(folder) => Session::flat(folder, jiff::Timestamp::now())?,
        None => Session::create(&config.output.home, jiff::Timestamp::now())?,
    };
    let panel = (args.events.is_none() && watched(args.shared.quiet)).then(|| Arc::new(Panel::start(question)));
    let mut listeners: Vec<Arc<dyn Listener>> = Vec::new();
    if let Some(panel) = &panel {
        listeners.push(Arc::clone(panel) as Arc<dyn Listener>);
    }
    if args.events.is_some() {
        listeners.push(Arc::new(EventLines));
    }
    let answered = answer(Job {
        question,
        database: &database,
        model: model.as_ref(),
        config: &config,
        skills: Arc::new(crate::faces::cli::options::skills()),
        today: today(),
        session: &session,
        listeners,
        cancel,
    })
    .await;
    if let Some(panel) = &panel {
        panel.end();
    }
    let answered = answered?;
    show(&args, &answered)?;
    if args.timings {
        timings(&database, &answered, started.elapsed());
    }
    if !args.shared.quiet && watched(false) {
        eprintln!("Report, charts and evidence: {}", answered.folder.display());
    }
    Ok(ExitCode::from(answered.outcome.exit_code()))
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

fn show(args: &Args, answered: &Answered) -> Result<(), Failure> {
    if args.events.is_some() {
        return Ok(());
    }
    match args.format {
        Format::Markdown => print(for_terminal(&answered.report).trim_end()),
        Format::Json => {
            let object = ReportJson::new(answered.input.clone(), answered.report.clone());
            let text = serde_json::to_string_pretty(&object).map_err(|error| Failure::failed(error.to_string()))?;
            print(&text)
        }
    }
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
