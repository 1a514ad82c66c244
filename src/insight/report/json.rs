//! The report as one object for programs: `--format json`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ChartUsed, Definition, Ending, PlanStep, QueryUsed, REPORT_VERSION, ReportInput, TokensUsed, WindowUsed};
use crate::insight::evidence::Evidence;
use crate::insight::metrics::Derived;
use crate::text::Language;

/// Everything that the report says, as data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportJson {
    pub version: u32,
    pub question: String,
    pub language: Language,
    pub outcome: Ending,
    /// The result id that answers the question, where one does.
    pub answer: Option<String>,
    /// The answer's body as it was written, without marks.
    pub answer_markdown: String,
    /// The whole report.
    pub report_markdown: String,
    pub plan: Vec<PlanStep>,
    pub windows: Vec<WindowUsed>,
    pub definitions: Vec<Definition>,
    pub queries: Vec<QueryUsed>,
    pub derived: Vec<Derived>,
    pub charts: Vec<ChartUsed>,
    pub caveats: Vec<String>,
    pub evidence: Option<Evidence>,
    pub model: String,
    /// Redacted.
    pub database: String,
    pub as_of: String,
    pub started: Option<String>,
    pub usage: TokensUsed,
    pub budget_note: Option<String>,
}

impl ReportJson {
    /// The object of `input`, whose markdown is `report_markdown`.
    pub fn new(input: ReportInput, report_markdown: String) -> Self {
        Self {
            version: REPORT_VERSION,
            question: input.question,
            language: input.language,
            outcome: input.outcome,
            answer: input.answer,
            answer_markdown: input.answer_markdown,
            report_markdown,
            plan: input.plan,
            windows: input.windows,
            definitions: input.definitions,
            queries: input.queries,
            derived: input.derived,
            charts: input.charts,
            caveats: input.caveats,
            evidence: input.evidence,
            model: input.model,
            database: input.database,
            as_of: input.as_of,
            started: input.started,
            usage: input.usage,
            budget_note: input.budget_note,
        }
    }
}
