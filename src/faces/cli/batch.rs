//! `analyst batch`: every question of a file, a folder each, an index of all.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use async_trait::async_trait;
use indicatif::{ProgressBar, ProgressStyle};
use tokio::sync::{Mutex, OnceCell};
use tokio_util::sync::CancellationToken;

use crate::config::{Budget, Config, Share};
use crate::faces::cli::ask::interrupt;
use crate::faces::cli::options::{Ambiguity, Shared, skills, source, today, variable};
use crate::faces::cli::progress::{print, watched};
use crate::faces::cli::{Failure, approve, models};
use crate::jobs::answer::{Job, answer, resume};
use crate::jobs::batch::{self, Found, Progress, Question, Ran, Runner, Settings, headline};
use crate::jobs::database::{Database, Source};
use crate::jobs::terms::Terms;
use crate::model::chat::ChatModel;
use crate::session::cut_short::{CutShort, take_up_again};
use crate::session::event::Outcome;
use crate::session::message::Message;
use crate::session::store::Session;
use crate::skill::Skills;
use crate::text::Language;
use crate::tools::approval::Person;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// One question a line, or YAML with id, question, database and options
    file: PathBuf,
    /// Questions that run at the same time
    #[arg(long, short, value_name = "N")]
    jobs: Option<usize>,
    /// How often a question that failed is tried again
    #[arg(long, value_name = "N")]
    retries: Option<u32>,
    /// What to do with a question that has two readings, or one that is not sure; the built-in analyst takes the first and
    /// states the other if left out
    #[arg(long, value_enum)]
    on_ambiguity: Option<Ambiguity>,
    #[command(flatten)]
    shared: Shared,
}

pub async fn run(args: Args) -> Result<ExitCode, Failure> {
    let mut config = args.shared.resolve(args.jobs)?;
    config.on_ambiguity = args.on_ambiguity.unwrap_or(Ambiguity::First).into();
    // A wrong model would fail every question alike.
    let gates = models::Gates::of(&config);
    models::model(&config, &gates)?;
    let questions = batch::read(&args.file).map_err(|error| Failure::usage(error.to_string()))?;
    let bar = watched(args.shared.quiet).then(|| bar(questions.len()));
    let person = approve::person(&config, bar.clone())?;
    let cancel = interrupt();
    let runner = Arc::new(Questions {
        skills: Arc::new(skills()),
        databases: Mutex::new(HashMap::new()),
        models: Mutex::new(HashMap::new()),
        gates,
        person,
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
    let tell = |progress: Progress<'_>| {
        if let Some(bar) = &bar {
            show(bar, &progress);
        }
    };
    let settings = Settings {
        jobs: config.batch.jobs,
        retries: args.retries.unwrap_or(config.batch.retries),
        about: about(&config),
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

/// What every answer of the batch depends on beside its question.
fn about(config: &Config) -> String {
    let semantic = config
        .semantic_path()
        .and_then(|path| std::fs::read_to_string(path).ok());
    let terms = Terms {
        // An answer that was found yesterday is not to be paid for again today, and how much may be spent on one
        // does not make it another.
        today: jiff::civil::Date::MIN,
        budget: Budget {
            max_rows: config.budget.max_rows,
            ..Budget::default()
        },
        ..Terms::of(config, jiff::civil::Date::MIN)
    };
    let mut parts = serde_json::json!([config.model, config.language, terms, semantic]);
    let access = config
        .db
        .as_ref()
        .map_or_else(|| config.unnamed_access(), |db| db.access.clone());
    if let (false, Some(list)) = (access.policies.is_empty(), parts.as_array_mut()) {
        list.push(serde_json::json!(access.policies));
    }
    parts.to_string()
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
    models: Mutex<HashMap<String, Arc<dyn ChatModel>>>,
    gates: models::Gates,
    person: Option<Person>,
}

impl Questions {
    /// Each model once, so that its questions share its connections and its limits.
    async fn model(&self, config: &Config) -> Result<Arc<dyn ChatModel>, String> {
        let mut models = self.models.lock().await;
        if let Some(model) = models.get(&config.model) {
            return Ok(Arc::clone(model));
        }
        let model: Arc<dyn ChatModel> = models::model(config, &self.gates)
            .map_err(|error| error.to_string())?
            .into();
        models.insert(config.model.clone(), Arc::clone(&model));
        Ok(model)
    }

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
    async fn run(
        &self,
        question: &Question,
        before: &[Found],
        folder: &Path,
        cancel: &CancellationToken,
    ) -> Result<Ran, String> {
        let config = self.config(question)?;
        let model = self.model(&config).await?;
        let database = self.database(&source(&config), cancel).await?;
        let (session, cut) = open_session(folder)?;
        let job = Job {
            question: &question.question,
            database: &database,
            model: model.as_ref(),
            config: &config,
            skills: Arc::clone(&self.skills),
            today: cut.as_ref().map_or_else(today, |(_, terms)| terms.today),
            before: before
                .iter()
                .flat_map(|found| said_before(found, config.shared_with_model()))
                .collect(),
            session: &session,
            person: self.person.clone(),
            listeners: Vec::new(),
            cancel: cancel.clone(),
        };
        let answered = match cut {
            Some((cut, _)) => resume(job, cut).await,
            None => answer(job).await,
        };
        let answered = answered.map_err(|error| {
            if error.is_another_way() {
                // The next try starts from the question.
                let _ = std::fs::remove_file(session.timeline());
            }
            error.to_string()
        })?;
        Ok(Ran {
            outcome: answered.outcome,
            headline: headline(&answered.run.answer_markdown),
            text: answered.run.answer_markdown.clone(),
            usage: answered.run.usage,
            cost: answered.run.cost,
            answer: answered.run.answer_result.clone(),
        })
    }
}

/// What an earlier question asked and found, as a conversation.
///
/// Its answer may hold values that its own model was shown and this one must not be.
fn said_before(found: &Found, share: Share) -> [Message; 2] {
    let answer = match share.shows_values() {
        true => found.answer.clone(),
        false => format!(
            "(Answered. The answer is not shown to you: share = {}.)",
            share.as_str()
        ),
    };
    [
        Message::user(found.question.clone()),
        Message::assistant(answer, Vec::new()),
    ]
}

/// The session of a question's folder: one that was cut short goes on, else a new one begins.
fn open_session(folder: &Path) -> Result<(Session, Option<(CutShort, Terms)>), String> {
    let session = Session::flat(folder, jiff::Timestamp::now()).map_err(|error| error.to_string())?;
    if !session.timeline().is_file() {
        return Ok((session, None));
    }
    // A question whose task was not written down as done is gone over again, even if its run had ended.
    let cut = take_up_again(&session.timeline()).ok().and_then(|cut| {
        let terms = Terms::read(&cut.about.options).ok()?;
        Some((cut, terms))
    });
    Ok((session, cut))
}
