//! `analyst batch`: every question of a file, a folder each, an index of all.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use async_trait::async_trait;
use indicatif::{ProgressBar, ProgressStyle};
use tokio::sync::{Mutex, OnceCell};
use tokio_util::sync::CancellationToken;

use crate::config::Config;
use crate::faces::cli::ask::interrupt;
use crate::faces::cli::options::{Shared, skills, source, today, variable};
use crate::faces::cli::progress::{print, watched};
use crate::faces::cli::{Failure, models};
use crate::jobs::answer::{Job, answer};
use crate::jobs::batch::{self, Progress, Question, Ran, Runner, Settings, headline};
use crate::jobs::database::{Database, Source};
use crate::session::event::Outcome;
use crate::session::store::Session;
use crate::skill::Skills;
use crate::text::Language;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// One question a line, or YAML with id, question, database and options
    file: PathBuf,
    /// Questions that run at the same time
    #[arg(long, short, value_name = "N")]
    jobs: Option<usize>,
    #[command(flatten)]
    shared: Shared,
}

pub async fn run(args: Args) -> Result<ExitCode, Failure> {
    let config = args.shared.resolve(args.jobs)?;
    // A wrong model would fail every question alike.
    models::model(&config.model)?;
    let questions = batch::read(&args.file).map_err(|error| Failure::usage(error.to_string()))?;
    let cancel = interrupt();
    let runner = Arc::new(Questions {
        skills: Arc::new(skills()),
        databases: Mutex::new(HashMap::new()),
        config: config.clone(),
    });
    runner
        .database(&source(&config), &cancel)
        .await
        .map_err(Failure::failed)?;
    let out = config
        .output
        .out
        .clone()
        .unwrap_or_else(|| folder_of(&config, &args.file));
    let bar = watched(args.shared.quiet).then(|| bar(questions.len()));
    let tell = |progress: Progress<'_>| {
        if let Some(bar) = &bar {
            show(bar, &progress);
        }
    };
    let settings = Settings {
        jobs: config.batch.jobs,
        language: config.language.unwrap_or(Language::English),
    };
    let summary = batch::run(questions, runner, &out, settings, &cancel, &tell)
        .await
        .map_err(|error| Failure::failed(error.to_string()))?;
    if let Some(bar) = &bar {
        bar.finish_and_clear();
    }
    let answered = summary
        .rows
        .iter()
        .filter(|row| row.outcome == Outcome::Answered)
        .count();
    print(&format!(
        "{answered} of {} questions answered in {:.1} s; see {}",
        summary.total,
        summary.elapsed.as_secs_f64(),
        out.join("index.md").display()
    ))?;
    Ok(ExitCode::from(summary.exit_code()))
}

/// The same file always goes to the same folder.
fn folder_of(config: &Config, file: &Path) -> PathBuf {
    let stem = file.file_stem().unwrap_or(file.as_os_str());
    config.output.home.join("batches").join(stem)
}

fn bar(questions: usize) -> ProgressBar {
    let bar = ProgressBar::new(u64::try_from(questions).unwrap_or(u64::MAX));
    let style =
        ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style);
    bar
}

fn show(bar: &ProgressBar, progress: &Progress<'_>) {
    match progress {
        Progress::Started { question } => bar.set_message(question.id.clone()),
        Progress::Finished { row, done, .. } => {
            bar.set_position(u64::try_from(*done).unwrap_or(u64::MAX));
            if row.outcome != Outcome::Answered {
                bar.println(format!("{}: {}", row.id, row.headline));
            }
        }
    }
}

/// Answers the questions; each database is opened once, whoever asks first.
struct Questions {
    config: Config,
    skills: Arc<Skills>,
    databases: Mutex<HashMap<Source, Arc<OnceCell<Database>>>>,
}

impl Questions {
    async fn database(&self, source: &Source, cancel: &CancellationToken) -> Result<Database, String> {
        let cell = {
            let mut databases = self.databases.lock().await;
            Arc::clone(databases.entry(source.clone()).or_default())
        };
        let open = cell.get_or_try_init(|| Database::open(source, cancel)).await;
        open.cloned().map_err(|error| error.to_string())
    }

    /// The batch's configuration with what this question wants otherwise.
    fn config(&self, question: &Question) -> Result<Config, String> {
        let mut config = self.config.clone();
        let options = &question.options;
        if let Some(database) = &question.database {
            let connection = config
                .connection(database, &variable)
                .map_err(|error| error.to_string())?;
            config.db = Some(connection);
            // The batch's model describes the batch's database.
            config.semantic = None;
        }
        config.semantic = options.semantic.clone().or(config.semantic);
        config.model = options.model.clone().unwrap_or(config.model);
        config.as_of = options.as_of.or(config.as_of);
        config.language = options.language.or(config.language);
        config.plan.enabled = options.plan.unwrap_or(config.plan.enabled);
        config.budget.max_turns = options.max_turns.unwrap_or(config.budget.max_turns);
        config.budget.max_tokens = options.max_tokens.unwrap_or(config.budget.max_tokens);
        config.budget.max_seconds = options.max_seconds.unwrap_or(config.budget.max_seconds);
        Ok(config)
    }
}

#[async_trait]
impl Runner for Questions {
    async fn run(&self, question: &Question, folder: &Path, cancel: &CancellationToken) -> Result<Ran, String> {
        let config = self.config(question)?;
        let model = models::model(&config.model).map_err(|error| error.to_string())?;
        let database = self.database(&source(&config), cancel).await?;
        let session = Session::flat(folder, jiff::Timestamp::now()).map_err(|error| error.to_string())?;
        let answered = answer(Job {
            question: &question.question,
            database: &database,
            model: model.as_ref(),
            config: &config,
            skills: Arc::clone(&self.skills),
            today: today(),
            session: &session,
            listeners: Vec::new(),
            cancel: cancel.clone(),
        })
        .await
        .map_err(|error| error.to_string())?;
        Ok(Ran {
            outcome: answered.outcome,
            headline: headline(&answered.run.answer_markdown),
            usage: answered.run.usage,
            cost: answered.run.cost,
            answer: answered.run.answer_result.clone(),
        })
    }
}
