//! From what a run made to the report's input.

use crate::agent::run::RunOutput;
use crate::insight::evidence::{BindInput, ChartRecord, CitedResult, Evidence, ResultRecord, bind};
use crate::insight::metrics::{Cell, Derived};
use crate::insight::report::{
    ChartUsed, Definition, Ending, PlanStep, QueryUsed, ReportInput, StepState, TokensUsed, WindowUsed,
};
use crate::meaning::query::{Filter, Query};
use crate::meaning::semantic::{self, MetricKind};
use crate::session::event::Outcome;
use crate::session::todo::{Status, TodoItem};
use crate::text::Language;
use crate::time::{Coverage, TimeContext, Window};
use crate::tools::Workbench;
use crate::tools::workbench::QueryRun;

/// Rows of each result that the appendix shows.
const SHOWN_ROWS: usize = 5;
/// Columns of each result that the appendix shows.
const SHOWN_COLUMNS: usize = 8;

/// What the report says beside the run itself.
pub(super) struct Frame<'a> {
    pub question: &'a str,
    pub model: &'a str,
    pub database: &'a str,
    pub language: Language,
}

/// Binds the answer's numbers to what was measured.
pub(super) fn evidence(question: &str, answer: &str, bench: &Workbench) -> Evidence {
    let runs = bench.runs();
    let records: Vec<ResultRecord> = runs
        .iter()
        .map(|run| ResultRecord {
            id: run.result.id.clone(),
            sql: run.result.sql.clone(),
            row_count: run.result.row_count,
            truncated: run.result.truncated,
            hash: run.result.hash.clone(),
            file: Some(bench.relative(&bench.folders.results.join(format!("{}.parquet", run.result.id)))),
        })
        .collect();
    let results: Vec<CitedResult<'_>> = records
        .iter()
        .zip(&runs)
        .map(|(record, run)| CitedResult {
            record,
            frame: &run.result.frame,
        })
        .collect();
    let derived: Vec<Derived> = bench.derived().iter().map(|derived| (**derived).clone()).collect();
    let charts: Vec<ChartRecord> = bench
        .charts()
        .iter()
        .map(|chart| ChartRecord {
            id: chart.id.clone(),
            title: chart.spec.title.clone(),
            source: chart.source.clone(),
            file: Some(chart.svg.clone()),
        })
        .collect();
    bind(BindInput {
        question,
        answer,
        results: &results,
        derived: &derived,
        charts: &charts,
    })
}

/// Everything that the report says.
pub(super) fn input(frame: &Frame<'_>, run: &RunOutput, bench: &Workbench, evidence: Evidence) -> ReportInput {
    let runs = bench.runs();
    ReportInput {
        question: frame.question.to_owned(),
        language: frame.language,
        answer_markdown: run.answer_markdown.clone(),
        outcome: ending(run.outcome),
        answer: run.answer_result.clone(),
        plan: plan(run),
        windows: windows(&runs, bench),
        definitions: definitions(&runs, bench),
        queries: runs.iter().map(|run| query(run)).collect(),
        derived: bench.derived().iter().map(|derived| (**derived).clone()).collect(),
        charts: charts(bench),
        caveats: caveats(run, &runs, frame.language),
        model: frame.model.to_owned(),
        database: frame.database.to_owned(),
        as_of: bench.time.as_of.date.to_string(),
        started: None,
        usage: TokensUsed {
            input: run.usage.input,
            cached: run.usage.cached,
            output: run.usage.output,
        },
        budget_note: None,
        evidence: Some(evidence),
    }
}

fn ending(outcome: Outcome) -> Ending {
    match outcome {
        Outcome::Answered => Ending::Answered,
        Outcome::Clarify => Ending::Clarify,
        Outcome::Abstained => Ending::Abstained,
        Outcome::Incomplete => Ending::Incomplete,
        Outcome::Failed => Ending::Failed,
        Outcome::Interrupted => Ending::Interrupted,
    }
}

/// The steps as they stand, and then those that were taken off.
fn plan(run: &RunOutput) -> Vec<PlanStep> {
    let step = |item: &TodoItem, state| PlanStep {
        content: item.content.clone(),
        state,
        note: None,
    };
    let kept = run.plan.iter().map(|item| {
        let state = match item.status {
            Status::Pending => StepState::Pending,
            Status::InProgress => StepState::InProgress,
            Status::Completed => StepState::Completed,
            Status::Cancelled => StepState::Cancelled,
        };
        step(item, state)
    });
    let dropped = run.dropped.iter().map(|item| step(item, StepState::Dropped));
    kept.chain(dropped).collect()
}

fn query(run: &QueryRun) -> QueryUsed {
    let accepted = run.accepted.iter().map(|code| format!("{code}: accepted"));
    let columns: Vec<String> = run.result.columns.iter().map(|column| column.name.clone()).collect();
    let rows = run.result.preview(SHOWN_ROWS);
    QueryUsed {
        id: run.result.id.clone(),
        title: run.title.clone(),
        sql: run.result.sql.clone(),
        row_count: run.result.row_count,
        truncated: run.result.truncated,
        elapsed_ms: None,
        lints: run
            .lints
            .iter()
            .map(|lint| format!("{}: {}", lint.code, lint.message))
            .chain(accepted)
            .collect(),
        columns: columns.into_iter().take(SHOWN_COLUMNS).collect(),
        first_rows: rows
            .into_iter()
            .map(|row| row.iter().take(SHOWN_COLUMNS).map(Cell::of_result).collect())
            .collect(),
    }
}

/// The windows of the typed queries that ran, each once, with how much of it the data covers.
fn windows(runs: &[std::sync::Arc<QueryRun>], bench: &Workbench) -> Vec<WindowUsed> {
    let mut found: Vec<Window> = Vec::new();
    for run in runs {
        let Some(from) = bench.composed(&run.result.sql) else {
            continue;
        };
        for window in windows_of(&from.query) {
            if !found.contains(&window) {
                found.push(window);
            }
        }
    }
    found
        .into_iter()
        .map(|window| WindowUsed {
            label: window.label(bench.language),
            start: window.start.to_string(),
            end: window.end.to_string(),
            note: coverage_note(window, &bench.time, bench.language),
        })
        .collect()
}

fn coverage_note(window: Window, time: &TimeContext, language: Language) -> Option<String> {
    match Coverage::of(window, time.data?) {
        Coverage::Full => None,
        Coverage::None => Some(language.pick("no data", "无数据").to_owned()),
        Coverage::Partial { covered, days, of_days } => Some(match language {
            Language::English => format!(
                "data for {days} of {of_days} days ({} to {})",
                covered.start,
                covered.last_day()
            ),
            Language::Chinese => format!(
                "{of_days} 天中 {days} 天有数据（{} 至 {}）",
                covered.start,
                covered.last_day()
            ),
        }),
    }
}

fn windows_of(query: &Query) -> Vec<Window> {
    match query {
        Query::Summary(summary) => summary
            .compare
            .iter()
            .map(|named| named.window)
            .chain(summary.window)
            .chain(summary.filter.iter().flat_map(during))
            .collect(),
        Query::Rows(rows) => rows
            .window
            .into_iter()
            .chain(rows.filter.iter().flat_map(during))
            .collect(),
        Query::Combine(combine) => [&combine.left, &combine.right]
            .into_iter()
            .flat_map(|query| windows_of(query))
            .collect(),
    }
}

fn during(filter: &Filter) -> Vec<Window> {
    match filter {
        Filter::During { window, .. } => vec![*window],
        Filter::And(parts) | Filter::Or(parts) => parts.iter().flat_map(during).collect(),
        Filter::Not(inner) => during(inner),
        Filter::Compare { .. }
        | Filter::CompareFields { .. }
        | Filter::In { .. }
        | Filter::Between { .. }
        | Filter::Like { .. }
        | Filter::IsNull { .. }
        | Filter::InQuery { .. }
        | Filter::CompareAggregate { .. }
        | Filter::Exists { .. } => Vec::new(),
    }
}

/// What the metrics of the queries that ran mean, each once.
fn definitions(runs: &[std::sync::Arc<QueryRun>], bench: &Workbench) -> Vec<Definition> {
    let mut found: Vec<Definition> = Vec::new();
    for run in runs {
        let Some(from) = bench.composed(&run.result.sql) else {
            continue;
        };
        for definition in &from.compiled.definitions {
            let told = define(definition, bench);
            if !found.iter().any(|known| known.term == told.term) {
                found.push(told);
            }
        }
    }
    found
}

/// A metric by its name, meaning and formula in the report's language; anything else as it stands.
fn define(definition: &semantic::Definition, bench: &Workbench) -> Definition {
    let Some(metric) = bench.model.metric(&definition.term) else {
        return Definition {
            term: definition.term.clone(),
            meaning: definition.text.clone(),
            formula: None,
        };
    };
    let words = &metric.words;
    let chinese = bench.language == Language::Chinese;
    let label = words.label_zh.as_ref().filter(|_| chinese).unwrap_or(&words.label);
    let described = words
        .description_zh
        .as_ref()
        .filter(|_| chinese)
        .or(words.description.as_ref());
    Definition {
        term: label.clone(),
        meaning: described.unwrap_or(label).trim_end_matches(['.', '。']).to_owned(),
        formula: Some(formula(&metric.kind)),
    }
}

fn formula(kind: &MetricKind) -> String {
    match kind {
        MetricKind::Ratio { numerator, denominator } => format!("{numerator} / {denominator}"),
        MetricKind::Derived { expression, .. } => expression.clone(),
        MetricKind::Simple {
            expression,
            filter,
            time,
            ..
        } => {
            let time = time.as_ref().map(|time| format!(" BY {time}")).unwrap_or_default();
            let filter = filter
                .as_ref()
                .map(|filter| format!(" WHERE {filter}"))
                .unwrap_or_default();
            format!("{expression}{time}{filter}")
        }
    }
}

fn charts(bench: &Workbench) -> Vec<ChartUsed> {
    bench
        .charts()
        .iter()
        .map(|chart| ChartUsed {
            id: chart.id.clone(),
            title: chart.spec.title.clone(),
            source: chart.source.clone(),
            svg: Some(format!("charts/{}.svg", chart.id)),
            png: Some(format!("charts/{}.png", chart.id)),
            alt: chart.spec.subtitle.clone(),
        })
        .collect()
}

/// What the run itself has to confess: notices, and lints that were overruled.
fn caveats(run: &RunOutput, runs: &[std::sync::Arc<QueryRun>], language: Language) -> Vec<String> {
    let accepted = runs
        .iter()
        .filter(|run| !run.accepted.is_empty())
        .map(|run| match language {
            Language::English => format!("[{}] ran in spite of: {}.", run.result.id, run.accepted.join(", ")),
            Language::Chinese => format!("[{}] 忽略以下提示后运行：{}。", run.result.id, run.accepted.join("、")),
        });
    let notices = run.notices.iter().map(|notice| notice.text(language));
    notices.chain(accepted).collect()
}
