//! `analyst resume`: a run that was cut short goes on, and ends in the report that it would have had.

use std::process::ExitCode;
use std::sync::Arc;

use crate::faces::cli::ask::{Shown, interrupt};
use crate::faces::cli::options::{Shared, skills, source, variable};
use crate::faces::cli::{Failure, approve, models, sessions};
use crate::jobs::answer::{Job, resume};
use crate::jobs::database::Database;
use crate::jobs::terms::Terms;
use crate::session::cut_short::{CutShort, TakenUp, take_up};
use crate::session::resume::PastSession;
use crate::session::store::{self, Found, Session};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The session's id or the beginning of it, `last`, or the folder that --out named
    session: String,
    /// Database, where the session's cannot be found again by itself
    #[arg(long, value_name = "DB")]
    db: Option<String>,
    /// Configuration file; ./analyst.toml if left out
    #[arg(long, value_name = "FILE")]
    config: Option<std::path::PathBuf>,
    /// Say nothing on the way
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    shown: Shown,
}

pub async fn run(args: Args) -> Result<ExitCode, Failure> {
    let shared = Shared {
        db: args.db.clone(),
        config: args.config.clone(),
        quiet: args.quiet,
        ..Shared::default()
    };
    let config = shared.resolve(None)?;
    let found = store::find(&config.output.home, &args.session)?;
    let session = Session::reopen(&found, id_of(&found)?)?;
    let cut = match take_up(&session.timeline()).map_err(|error| Failure::failed(error.to_string()))? {
        // A run that has ended is not run again: all of it is on disk.
        TakenUp::Over { run, outcome } => {
            if !args.quiet {
                eprintln!("analyst: the run had ended ({})", outcome.as_str());
            }
            args.shown
                .show_again(&sessions::read(&found)?.events, &found.run(run).join("report.md"))?;
            return Ok(ExitCode::from(outcome.exit_code()));
        }
        TakenUp::CutShort(cut) => *cut,
    };
    for note in &cut.notes {
        eprintln!("analyst: {note}");
    }
    let about = cut.about.clone();
    let terms = Terms::read(&about.options).map_err(|error| Failure::failed(error.to_string()))?;
    let chosen = crate::config::Config {
        // What the file or the environment choose today is not what the session was about.
        db: args.db.is_some().then(|| config.db.clone()).flatten(),
        ..config
    };
    let config = terms
        .restore(chosen, &about.model, about.language, &variable)
        .map_err(|error| Failure::usage(error.to_string()))?;
    let question = question_of(&cut);
    let model = models::model(&config, &models::Gates::of(&config))?;
    let cancel = interrupt();
    let database = Database::open(&source(&config), &cancel).await?;
    let watching = args.shown.watching(&question, args.quiet);
    let person = approve::person(&config, watching.bar())?;
    watching.catch_up(&cut.events);
    let answered = resume(
        Job {
            question: &question,
            database: &database,
            model: model.as_ref(),
            config: &config,
            skills: Arc::new(skills()),
            today: terms.today,
            before: Vec::new(),
            session: &session,
            person,
            listeners: watching.listeners(),
            cancel,
        },
        cut,
    )
    .await;
    watching.end();
    args.shown.show(&answered?, args.quiet)
}

/// The id that the timeline's first event gives; a folder's own name where there is none.
fn id_of(found: &Found) -> Result<String, Failure> {
    let past = PastSession::of(&sessions::read(found)?.events);
    let folder = || {
        found
            .root()
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    Ok(past.about.map_or_else(folder, |about| about.session))
}

/// The question of the run that goes on: a session's later runs have their own.
fn question_of(cut: &CutShort) -> String {
    let asked = cut.run.messages.first().map(|message| message.text.clone());
    asked.unwrap_or_else(|| cut.about.question.clone())
}
