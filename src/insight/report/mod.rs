//! The report: plain rows in, markdown out. Knows nothing of engines, models or sessions, and reads no clock.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::insight::evidence::Evidence;
use crate::insight::metrics::{Cell, Derived};
use crate::text::Language;

mod body;
pub mod escape;
mod json;
mod rows;
pub mod table;
#[cfg(test)]
mod tests;
mod view;
mod words;

pub use json::ReportJson;

const TEMPLATE: &str = include_str!("report.md.j2");

/// Why no report was written.
#[derive(Debug, thiserror::Error)]
#[error("the report's template cannot be filled in: {0:#}")]
pub struct ReportError(#[from] minijinja::Error);

/// The report as markdown. The same input gives the same bytes.
///
/// Unverified numbers of the answer get a `†` and a footnote; charts that the answer does not place come after it.
///
/// # Errors
/// When the template is faulty, which a test rules out for every kind of report.
pub fn render(input: &ReportInput) -> Result<String, ReportError> {
    let mut environment = minijinja::Environment::new();
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    environment.add_template("report.md", TEMPLATE)?;
    let rendered = environment
        .get_template("report.md")?
        .render(Serde(view::View::of(input)))?;
    Ok(tidy(&rendered))
}

/// `report` without the link targets at its end, which are for renderers and mere noise on a terminal.
pub fn for_terminal(report: &str) -> &str {
    let mut rest = report.trim_end();
    while let Some((before, last)) = rest.rsplit_once('\n') {
        let is_target = last.starts_with('[')
            && last
                .split_once("]: #")
                .is_some_and(|(id, target)| id.get(1..) == Some(target));
        if !is_target {
            break;
        }
        rest = before;
    }
    report.get(..rest.trim_end().len() + 1).unwrap_or(report)
}

/// At most one empty line in a row outside code, none at the start, one line break at the end.
fn tidy(markdown: &str) -> String {
    let mut tidy = String::with_capacity(markdown.len());
    let mut in_code = false;
    let mut was_empty = true;
    for line in markdown.lines() {
        in_code ^= line.starts_with("```");
        let is_empty = line.trim().is_empty();
        if is_empty && was_empty && !in_code {
            continue;
        }
        was_empty = is_empty;
        tidy.push_str(if in_code { line } else { line.trim_end() });
        tidy.push('\n');
    }
    tidy.truncate(tidy.trim_end().len());
    tidy.push('\n');
    tidy
}

/// The version of the JSON form of a report.
pub const REPORT_VERSION: u32 = 1;

/// Everything that a report says.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportInput {
    pub question: String,
    pub language: Language,
    /// The answer's body in markdown, with citations `[q1]` and charts placed as `[c1]` on a line of their own.
    pub answer_markdown: String,
    pub outcome: Ending,
    /// The result id that answers the question, where one does.
    pub answer: Option<String>,
    pub plan: Vec<PlanStep>,
    pub windows: Vec<WindowUsed>,
    pub definitions: Vec<Definition>,
    pub queries: Vec<QueryUsed>,
    pub derived: Vec<Derived>,
    pub charts: Vec<ChartUsed>,
    pub caveats: Vec<String>,
    /// How the model is named: `builtin`, `openai:gpt-5`.
    pub model: String,
    /// The database, redacted.
    pub database: String,
    /// The day that "today" means (ISO 8601).
    pub as_of: String,
    /// When the run started (RFC 3339), as handed in; left out when `None`.
    pub started: Option<String>,
    pub usage: TokensUsed,
    /// What a budget cut off, in words.
    pub budget_note: Option<String>,
    /// The binding of the answer's numbers; `None` when nothing was bound.
    pub evidence: Option<Evidence>,
}

/// How the run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    Answered,
    /// The question is asked back.
    Clarify,
    /// The question could not be read on this database.
    Abstained,
    /// A budget ended or steps were left.
    Incomplete,
    Failed,
    Interrupted,
}

/// A step of the plan and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanStep {
    pub content: String,
    pub state: StepState,
    /// Why, or what it led to.
    #[serde(default)]
    pub note: Option<String>,
}

/// What became of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepState {
    Pending,
    InProgress,
    Completed,
    Cancelled,
    /// Taken off the plan before it was begun.
    Dropped,
}

/// A time window that the answer uses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WindowUsed {
    /// What it is for, or the phrase that meant it: "Aug 2005".
    pub label: String,
    /// First day (ISO 8601).
    pub start: String,
    /// First day after it (ISO 8601).
    pub end: String,
    /// Such as "10 of 31 days have data".
    #[serde(default)]
    pub note: Option<String>,
}

/// What a word of the answer means.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Definition {
    pub term: String,
    pub meaning: String,
    /// How it is computed, as code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub formula: Option<String>,
}

/// A query that ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QueryUsed {
    pub id: String,
    /// What it asks, in a few words.
    pub title: String,
    pub sql: String,
    pub row_count: usize,
    pub truncated: bool,
    /// `None` leaves the time out, so that the report is the same in every run.
    #[serde(default)]
    pub elapsed_ms: Option<u64>,
    /// Lints that were accepted or are mere warnings, as `code: message`.
    #[serde(default)]
    pub lints: Vec<String>,
    /// Names of the result's columns, where rows are shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// Its first rows, so that a reader sees what the answer rests on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub first_rows: Vec<Vec<Cell>>,
}

/// A chart that was drawn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChartUsed {
    pub id: String,
    pub title: String,
    /// The result or derived table that it draws.
    pub source: String,
    /// Paths relative to the report.
    #[serde(default)]
    pub svg: Option<String>,
    #[serde(default)]
    pub png: Option<String>,
    /// What the picture shows, for those who cannot see it; the title when missing.
    #[serde(default)]
    pub alt: Option<String>,
}

/// Tokens used by the run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokensUsed {
    /// Input tokens, cached ones included.
    pub input: u64,
    pub cached: u64,
    pub output: u64,
}
