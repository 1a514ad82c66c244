//! What comes out of reading a question.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::meaning::query::{Dimension, Filter, Measure, OrderBy, Query};
use crate::meaning::question::confidence::Signals;
use crate::text::Language;
use crate::time::{Grain, Window};

/// What a question wants done with the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    /// Rows or names.
    List,
    /// How many.
    Count,
    /// One or several numbers, perhaps broken down.
    Total,
    /// Best or worst first.
    Rank,
    /// How it went over time.
    Trend,
    /// Two or more periods, or groups, side by side.
    Compare,
    /// Parts of a whole.
    Share,
    /// Change against an earlier period.
    Growth,
    /// How values spread.
    Distribution,
    /// What does not fit.
    Outliers,
    /// How two quantities go together.
    Relation,
    /// What a change comes from.
    Why,
    /// The whole picture: headline, ranking, share, trend, comparison, outliers.
    Report,
}

/// A period that the one asked for is compared with, named by its relation to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Shift {
    /// The period of the same kind just before (环比).
    Previous,
    /// The same dates a year earlier (同比).
    YearAgo,
}

/// What kind of thing a span of the question names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SpanKind {
    Metric,
    Dataset,
    Field,
    Value,
    Time,
    Number,
    /// A function word that mattered: "top", "more than", "per".
    Cue,
}

/// A piece of the question and what it was taken to mean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Span {
    /// As written.
    pub text: String,
    /// Place in the question, in bytes.
    pub start: usize,
    pub end: usize,
    pub kind: SpanKind,
    /// In words: `city = 'Beijing'`, `net sales`, `August 2005`.
    pub means: String,
    /// A guess: the spelling was near but not the same, or only part of the name was said.
    pub approximate: bool,
}

/// One way to understand a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reading {
    /// 0 to 1: the chance that it is what was meant, as far as [`Signals`] tell.
    pub score: f64,
    #[serde(default)]
    pub signals: Signals,
    pub language: Language,
    /// Most telling first; never empty.
    pub intents: Vec<Intent>,
    /// What is measured; empty where rows are listed.
    pub measures: Vec<Measure>,
    /// What it is grouped by, time excepted.
    pub dimensions: Vec<Dimension>,
    /// Conditions on rows, each to hold, in the order said.
    pub filters: Vec<Filter>,
    /// The periods asked for, in the order said; empty for all dates. Two or more are to be compared.
    pub windows: Vec<Window>,
    /// A comparison with a period that is named by its relation to the one asked for.
    pub shift: Option<Shift>,
    /// The periods of a series, where one is asked for.
    pub grain: Option<Grain>,
    pub order: Vec<OrderBy>,
    /// How many rows are wanted.
    pub limit: Option<u64>,
    /// Recommendations are asked for.
    pub advise: bool,
    /// What answers the question, ready to compile.
    pub query: Query,
    /// The same with no column beside those that the question names, where that differs.
    pub exact: Option<Query>,
    pub spans: Vec<Span>,
    /// Words that may matter and were not understood.
    pub unread: Vec<String>,
    /// What a reader of the answer should know of how the question was understood, in the question's language.
    pub notes: Vec<String>,
}

/// What became of a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// Best first, at least one. `ambiguous`: the first two are too close to call and ask for different things.
    Read { readings: Vec<Reading>, ambiguous: bool },
    /// Too much of it is unknown to answer without guessing.
    NotRead(NotRead),
}

/// Why a question was not read, and what could be asked instead.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NotRead {
    pub language: Language,
    /// What was understood.
    pub understood: Vec<Span>,
    /// What was not.
    pub unknown: Vec<String>,
    /// Names and values of this database that are spelled nearly like what is unknown.
    pub near: Vec<String>,
    /// One sentence in the question's language.
    pub reason: String,
    /// Up to three questions that this database can answer, in the question's language.
    pub suggestions: Vec<String>,
}
