//! One question: from an open database and a model to a finished report on disk.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::civil::Date;
use tokio_util::sync::CancellationToken;

use crate::agent::prompt::PromptParts;
use crate::agent::run::{Earlier, RunError, RunInput, RunOutput, Settings, run};
use crate::config::{Allow, Approve, Config};
use crate::insight::evidence::Evidence;
use crate::insight::report::{ReportInput, render};
use crate::jobs::database::Database;
use crate::jobs::report;
use crate::jobs::terms::Terms;
use crate::model::chat::ChatModel;
use crate::session::cut_short::CutShort;
use crate::session::event::{ArtifactKind, EventKind, Outcome};
use crate::session::message::Message;
use crate::session::resume::PastRun;
use crate::session::store::{Session, StoreError, write_durably};
use crate::session::tasks::Tasks;
use crate::session::timeline::{Listener, Timeline, TimelineError};
use crate::session::todo::{SharedPlan, TodoList};
use crate::skill::Skills;
use crate::text::{Language, redact};
use crate::tools::approval::Person;
use crate::tools::bash::Bash;
use crate::tools::chart::Chart;
use crate::tools::glossary::Glossary;
use crate::tools::metric_compute::MetricCompute;
use crate::tools::query_compose::QueryCompose;
use crate::tools::read_file::ReadFile;
use crate::tools::schema_probe::SchemaProbe;
use crate::tools::skill::SkillTool;
use crate::tools::sql_execute::SqlExecute;
use crate::tools::sql_validate::SqlValidate;
use crate::tools::task_create::{TaskCreate, TaskDesk, TaskList};
use crate::tools::task_update::{TaskGet, TaskUpdate};
use crate::tools::todo_write::TodoWrite;
use crate::tools::workbench::{Folders, Setup};
use crate::tools::write_file::{EditFile, WriteFile};
use crate::tools::{Registry, Tool, Workbench};
use crate::warehouse::engine::{Ceiling, RunLimits};

/// Tables named in the database brief of the prompt; `schema_probe` finds the others.
const BRIEF_TABLES: usize = 40;
/// The skill whose body is part of every prompt.
const MAIN_SKILL: &str = "data-analysis";
/// The longest question that is taken: what is longer is a document, not a question.
pub const LONGEST_QUESTION: usize = 20_000;

/// The run that a conversation from before the session is written down under.
pub const BEFORE: u32 = 0;

/// The parts that a question is answered with.
pub struct Job<'a> {
    pub question: &'a str,
    pub database: &'a Database,
    pub model: &'a dyn ChatModel,
    pub config: &'a Config,
    pub skills: Arc<Skills>,
    /// The calendar's today.
    pub today: Date,
    /// A conversation that the question builds on.
    pub before: Vec<Message>,
    pub session: &'a Session,
    /// Who is asked before something runs, where the configuration wants that.
    pub person: Option<Person>,
    pub listeners: Vec<Arc<dyn Listener>>,
    pub cancel: CancellationToken,
}

/// A question with its answer.
pub struct Answered {
    pub outcome: Outcome,
    /// The whole report in markdown.
    pub report: String,
    /// What it was made of.
    pub input: ReportInput,
    pub evidence: Evidence,
    pub run: RunOutput,
    /// Where report, charts and evidence lie.
    pub folder: PathBuf,
    pub timings: Vec<(&'static str, Duration)>,
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    #[error("the question is empty; ask something, such as \"analyze Aug 2005 employee sales\"")]
    EmptyQuestion,
    #[error("the question has {length} bytes, more than the {LONGEST_QUESTION} that are read; ask it in fewer words")]
    LongQuestion { length: usize },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Timeline(#[from] TimelineError),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error("the report could not be written down: {0}")]
    Report(String),
}

impl AnswerError {
    /// Did a resumed run leave the way that it had recorded?
    pub fn is_another_way(&self) -> bool {
        matches!(
            self,
            AnswerError::Timeline(TimelineError::Differs { .. })
                | AnswerError::Run(RunError::Timeline(TimelineError::Differs { .. }))
        )
    }
}

/// Checks what can be checked before anything is opened or written.
pub fn check_question(question: &str) -> Result<&str, AnswerError> {
    let question = question.trim();
    match question.len() {
        0 => Err(AnswerError::EmptyQuestion),
        length if length > LONGEST_QUESTION => Err(AnswerError::LongQuestion { length }),
        _ => Ok(question),
    }
}

/// Answers one question and writes its report.
pub async fn answer(job: Job<'_>) -> Result<Answered, AnswerError> {
    let question = check_question(job.question)?;
    let language = job.config.language.unwrap_or_else(|| Language::detect(question));
    let timeline = Timeline::create(&job.session.timeline())?;
    let stage = Stage::set(&job, question, 1, language, timeline);
    let options = serde_json::to_value(Terms::of(job.config, job.today))
        .map_err(|error| AnswerError::Report(error.to_string()))?;
    stage.timeline.record(EventKind::SessionStarted {
        session: job.session.id().to_owned(),
        question: redact(question).into_owned(),
        model: job.model.name().to_owned(),
        database: job.database.name.clone(),
        language,
        as_of: stage.bench.time.as_of.date.to_string(),
        options,
    })?;
    for message in &job.before {
        stage.timeline.record(EventKind::Message {
            run: BEFORE,
            message: message.clone(),
        })?;
    }
    let earlier = Earlier {
        messages: job.before.clone(),
        artifact_ids: Vec::new(),
    };
    stage.play(earlier, None).await
}

/// Goes on with a question whose run was cut short, and writes the report that it would have had.
///
/// `job.question` and the configuration are those that `cut` recorded.
pub async fn resume(job: Job<'_>, cut: CutShort) -> Result<Answered, AnswerError> {
    let question = check_question(job.question)?;
    job.session.begin_run(cut.run.run)?;
    let stage = Stage::set(&job, question, cut.run.run, cut.about.language, cut.timeline);
    let earlier = Earlier {
        artifact_ids: cut.earlier.artifact_ids().map(str::to_owned).collect(),
        messages: cut.earlier.conversation(),
    };
    stage.play(earlier, Some(cut.run)).await
}

/// One run with everything that it needs.
struct Stage<'a> {
    job: &'a Job<'a>,
    question: &'a str,
    run: u32,
    /// As the model is told of it.
    database: Database,
    bench: Arc<Workbench>,
    timeline: Arc<Timeline>,
}

impl<'a> Stage<'a> {
    fn set(job: &'a Job<'a>, question: &'a str, run: u32, language: Language, timeline: Timeline) -> Self {
        for listener in &job.listeners {
            timeline.listen(Arc::clone(listener));
        }
        let database = job.database.told(job.config.shared_with_model());
        Self {
            job,
            question,
            run,
            bench: workbench(job, &database, run, language),
            database,
            timeline: Arc::new(timeline),
        }
    }

    async fn play(&self, earlier: Earlier, past: Option<PastRun>) -> Result<Answered, AnswerError> {
        let started = Instant::now();
        let plan = SharedPlan::new(TodoList::new(self.job.config.plan.max_items));
        let output = run(RunInput {
            run: self.run,
            question: self.question.to_owned(),
            model: self.job.model,
            registry: Arc::new(registry(&plan, self.job.config)),
            workbench: Arc::clone(&self.bench),
            plan,
            prompt: prompt(self.job, &self.database, &self.bench),
            settings: Settings::of(self.job.config),
            timeline: Arc::clone(&self.timeline),
            cancel: self.job.cancel.clone(),
            earlier,
            past,
        })
        .await?;
        let ran = started.elapsed();
        self.finish(output, ran)
    }

    /// Binds the numbers, writes the files, and ends the timeline.
    fn finish(&self, output: RunOutput, ran: Duration) -> Result<Answered, AnswerError> {
        let (job, bench) = (self.job, self.bench.as_ref());
        let writing = Instant::now();
        let evidence = report::evidence(self.question, &output.answer_markdown, bench);
        let binding = writing.elapsed();
        let frame = report::Frame {
            question: self.question,
            model: job.model.name(),
            database: &job.database.name,
            language: bench.language,
        };
        let input = report::input(&frame, &output, bench, evidence.clone());
        let text = render(&input).map_err(|error| AnswerError::Report(error.to_string()))?;
        let folder = job.session.run(self.run);
        let path = folder.join("report.md");
        write_durably(&path, text.as_bytes())?;
        let json = serde_json::to_vec_pretty(&evidence).map_err(|error| AnswerError::Report(error.to_string()))?;
        write_durably(&folder.join("evidence.json"), &json)?;
        self.timeline.record(EventKind::Artifact {
            id: "report".to_owned(),
            kind: ArtifactKind::Report,
            path: job.session.relative(&path),
        })?;
        self.timeline
            .record(output.finished(self.run, output.outcome.exit_code()))?;
        self.timeline.sync()?;
        Ok(Answered {
            outcome: output.outcome,
            report: text,
            input,
            evidence,
            folder,
            timings: vec![
                ("agent run", ran),
                ("bind numbers", binding),
                ("write report", writing.elapsed().saturating_sub(binding)),
            ],
            run: output,
        })
    }
}

fn workbench(job: &Job<'_>, database: &Database, run: u32, language: Language) -> Arc<Workbench> {
    Arc::new(Workbench::new(Setup {
        engine: database.engine.clone(),
        catalog: Arc::clone(&database.catalog),
        model: Arc::clone(&database.model),
        values: Arc::clone(&database.values),
        search: Arc::clone(&database.search),
        time: database.time(job.config.as_of, job.today),
        language,
        limits: RunLimits {
            max_rows: usize::try_from(job.config.budget.max_rows).unwrap_or(usize::MAX),
            ceiling: Ceiling::HOURS,
            ..RunLimits::default()
        },
        folders: Folders {
            root: job.session.root().to_owned(),
            results: job.session.results(),
            charts: job.session.charts(run),
        },
        skills: Arc::clone(&job.skills),
        share: job.config.shared_with_model(),
        person: job.person.clone(),
        approve_sql: job.config.approve.contains(&Approve::Sql),
    }))
}

/// The tools in the order in which they are offered: without a plan no TodoWrite, and others only where they are allowed.
pub fn registry(plan: &SharedPlan, config: &Config) -> Registry {
    let mut tools: Vec<Box<dyn Tool>> = Vec::new();
    if config.plan.enabled {
        tools.push(Box::new(TodoWrite::new(plan.clone())));
    }
    tools.extend([
        Box::new(SchemaProbe) as Box<dyn Tool>,
        Box::new(Glossary),
        Box::new(QueryCompose),
        Box::new(SqlValidate),
        Box::new(SqlExecute),
        Box::new(MetricCompute),
        Box::new(Chart),
        Box::new(SkillTool),
        Box::new(ReadFile {
            of_session: config.allow.contains(&Allow::Files),
        }),
    ]);
    if config.allow.contains(&Allow::Files) {
        tools.extend([Box::new(WriteFile) as Box<dyn Tool>, Box::new(EditFile)]);
    }
    if config.allow.contains(&Allow::Shell) {
        tools.push(Box::new(Bash));
    }
    if config.allow.contains(&Allow::Tasks) {
        let desk = TaskDesk::new(Tasks::at(config.output.home.join("tasks")));
        tools.extend([
            Box::new(TaskCreate(desk.clone())) as Box<dyn Tool>,
            Box::new(TaskGet(desk.clone())),
            Box::new(TaskUpdate(desk.clone())),
            Box::new(TaskList(desk)),
        ]);
    }
    Registry::new(tools)
}

fn prompt(job: &Job<'_>, database: &Database, bench: &Workbench) -> PromptParts {
    PromptParts {
        skill: job
            .skills
            .get(MAIN_SKILL)
            .ok()
            .map(|skill| (skill.name.clone(), skill.body.clone())),
        other_skills: job
            .skills
            .iter()
            .filter(|skill| skill.name != MAIN_SKILL)
            .map(|skill| (skill.name.clone(), skill.description.clone()))
            .collect(),
        database_brief: brief(database),
        share: bench.share,
        as_of: bench.time.as_of.date.to_string(),
        language: bench.language,
    }
}

/// The database in a few lines: engine, days covered, tables with their sizes, metrics by name.
fn brief(database: &Database) -> String {
    let catalog = &database.catalog;
    let mut tables: Vec<String> = catalog
        .tables
        .iter()
        .take(BRIEF_TABLES)
        .map(|table| match table.rows {
            Some(rows) => format!("{} ({} rows)", table.qualified_name(), rows.rows),
            None => table.qualified_name(),
        })
        .collect();
    let more = catalog.tables.len().saturating_sub(BRIEF_TABLES);
    if more > 0 {
        tables.push(format!("and {more} more"));
    }
    let metrics: Vec<&str> = database
        .model
        .metrics
        .iter()
        .filter(|metric| !metric.hidden)
        .map(|metric| metric.name.as_str())
        .collect();
    let days = database
        .data
        .map(|data| format!("\nData: {} to {}", data.start, data.last_day()))
        .unwrap_or_default();
    format!(
        "SQL dialect: {:?}{days}\nTables: {}\nMetrics: {}",
        catalog.dialect,
        tables.join(", "),
        metrics.join(", ")
    )
}
