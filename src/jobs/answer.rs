//! One question: from an open database and a model to a finished report on disk.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::civil::Date;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::agent::prompt::PromptParts;
use crate::agent::run::{Earlier, RunError, RunInput, RunOutput, Settings, run};
use crate::config::Config;
use crate::insight::evidence::Evidence;
use crate::insight::report::{ReportInput, render};
use crate::jobs::database::Database;
use crate::jobs::report;
use crate::model::chat::ChatModel;
use crate::session::event::{ArtifactKind, EventKind, Outcome};
use crate::session::store::{Session, StoreError, write_durably};
use crate::session::timeline::{Listener, Timeline, TimelineError};
use crate::session::todo::{SharedPlan, TodoList};
use crate::skill::Skills;
use crate::text::{Language, redact};
use crate::tools::chart::Chart;
use crate::tools::glossary::Glossary;
use crate::tools::metric_compute::MetricCompute;
use crate::tools::query_compose::QueryCompose;
use crate::tools::schema_probe::SchemaProbe;
use crate::tools::skill::SkillTool;
use crate::tools::sql_execute::SqlExecute;
use crate::tools::sql_validate::SqlValidate;
use crate::tools::todo_write::TodoWrite;
use crate::tools::workbench::{Folders, Setup};
use crate::tools::{Registry, Tool, Workbench};
use crate::warehouse::engine::{Ceiling, RunLimits};

/// Tables named in the database brief of the prompt; `schema_probe` finds the others.
const BRIEF_TABLES: usize = 40;
/// The skill whose body is part of every prompt.
const MAIN_SKILL: &str = "data-analysis";
/// The longest question that is taken: what is longer is a document, not a question.
pub const LONGEST_QUESTION: usize = 20_000;

/// The parts that a question is answered with.
pub struct Job<'a> {
    pub question: &'a str,
    pub database: &'a Database,
    pub model: &'a dyn ChatModel,
    pub config: &'a Config,
    pub skills: Arc<Skills>,
    /// The calendar's today.
    pub today: Date,
    pub session: &'a Session,
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
    let timeline = Arc::new(Timeline::create(&job.session.timeline())?);
    for listener in &job.listeners {
        timeline.listen(Arc::clone(listener));
    }
    let started = Instant::now();
    let bench = workbench(&job, language);
    timeline.record(EventKind::SessionStarted {
        session: job.session.id().to_owned(),
        question: redact(question).into_owned(),
        model: job.model.name().to_owned(),
        database: job.database.name.clone(),
        language,
        as_of: bench.time.as_of.date.to_string(),
        options: json!({ "plan": job.config.plan.enabled, "max_rows": job.config.budget.max_rows }),
    })?;
    let plan = SharedPlan::new(TodoList::new(job.config.plan.max_items));
    let output = run(RunInput {
        run: 1,
        question: question.to_owned(),
        model: job.model,
        registry: Arc::new(registry(&plan, job.config.plan.enabled)),
        workbench: Arc::clone(&bench),
        plan,
        prompt: prompt(&job, &bench),
        settings: Settings::of(job.config),
        timeline: Arc::clone(&timeline),
        cancel: job.cancel.clone(),
        earlier: Earlier::default(),
    })
    .await?;
    let ran = started.elapsed();
    finish(&job, question, &bench, &timeline, output, ran)
}

/// Binds the numbers, writes the files, and ends the timeline.
fn finish(
    job: &Job<'_>,
    question: &str,
    bench: &Workbench,
    timeline: &Timeline,
    output: RunOutput,
    ran: Duration,
) -> Result<Answered, AnswerError> {
    let writing = Instant::now();
    let evidence = report::evidence(question, &output.answer_markdown, bench);
    let binding = writing.elapsed();
    let frame = report::Frame {
        question,
        model: job.model.name(),
        database: &job.database.name,
        language: bench.language,
    };
    let input = report::input(&frame, &output, bench, evidence.clone());
    let text = render(&input).map_err(|error| AnswerError::Report(error.to_string()))?;
    let folder = job.session.run(1);
    let path = folder.join("report.md");
    write_durably(&path, text.as_bytes())?;
    let json = serde_json::to_vec_pretty(&evidence).map_err(|error| AnswerError::Report(error.to_string()))?;
    write_durably(&folder.join("evidence.json"), &json)?;
    timeline.record(EventKind::Artifact {
        id: "report".to_owned(),
        kind: ArtifactKind::Report,
        path: job.session.relative(&path),
    })?;
    timeline.record(output.finished(1, output.outcome.exit_code()))?;
    timeline.sync()?;
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

fn workbench(job: &Job<'_>, language: Language) -> Arc<Workbench> {
    let database = job.database;
    Arc::new(Workbench::new(Setup {
        engine: database.engine.clone(),
        catalog: Arc::clone(&database.catalog),
        model: Arc::clone(&database.model),
        values: Arc::clone(&database.values),
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
            charts: job.session.charts(1),
        },
        skills: Arc::clone(&job.skills),
    }))
}

/// The tools in the order in which they are offered; without a plan, TodoWrite is not among them.
pub fn registry(plan: &SharedPlan, with_plan: bool) -> Registry {
    let mut tools: Vec<Box<dyn Tool>> = Vec::new();
    if with_plan {
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
    ]);
    Registry::new(tools)
}

fn prompt(job: &Job<'_>, bench: &Workbench) -> PromptParts {
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
        database_brief: brief(job.database),
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
