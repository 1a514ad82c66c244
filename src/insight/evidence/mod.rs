//! Evidence: every number of a report bound to the cell, count or formula that it equals. Pure.

use polars::prelude::DataFrame;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::insight::metrics::Derived;

mod bind;
mod blank;
mod formula;
mod mark;
mod prose;
mod table;
#[cfg(test)]
mod tests;

pub use bind::bind;
pub use mark::{MARK, mark};

/// The version of the evidence format.
pub const EVIDENCE_VERSION: u32 = 1;

/// What a report rests on: `evidence.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    pub version: u32,
    pub question: String,
    /// Every number of the answer, in reading order.
    pub figures: Vec<Figure>,
    pub results: Vec<ResultRecord>,
    pub derived: Vec<Derived>,
    pub charts: Vec<ChartRecord>,
    pub counts: Counts,
    /// Ids that the answer cites and that do not exist, each once.
    #[serde(default)]
    pub unknown_citations: Vec<String>,
}

/// A number in prose, and the cell or formula that it equals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    /// As it stands in the answer: `$1,234.50`, `49.2%`, `1.2 million`, `1,165万`.
    pub text: String,
    /// What it means: percentages as fractions, `1.2 million` as 1200000.
    pub value: f64,
    /// Line of the answer's markdown, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    pub source: Source,
    /// How sure the binding is.
    pub strength: Strength,
}

/// Where a number comes from. Rows count from 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Source {
    /// A cell of a result.
    Cell { result: String, row: usize, column: String },
    /// The number of rows of a result or derived table.
    RowCount { result: String },
    /// A cell of a derived table.
    Derived {
        derived: String,
        row: usize,
        column: String,
    },
    /// A fact of a derived table.
    Fact { derived: String, name: String },
    /// Computed from two cells of one table.
    Formula {
        of: String,
        operation: Operation,
        left: CellRef,
        right: CellRef,
    },
    /// The sum of a whole column.
    ColumnSum { of: String, column: String },
    /// A limit that the query itself sets, such as 10000 in `HAVING SUM(amount) > 10000`.
    Literal { result: String },
    /// Nothing equals it.
    Unverified,
}

/// A cell of the table that the formula names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellRef {
    pub row: usize,
    pub column: String,
}

/// How two cells make a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// left + right
    Sum,
    /// left − right
    Difference,
    /// left ÷ right
    Ratio,
    /// left ÷ right − 1
    Change,
}

/// How sure a binding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Strength {
    /// Found in a table cited in the same sentence, bullet or table.
    Cited,
    /// Found in a table of the same run that is cited elsewhere or nowhere.
    Nearby,
    /// Not found.
    None,
}

/// A result as evidence keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResultRecord {
    pub id: String,
    pub sql: String,
    pub row_count: usize,
    pub truncated: bool,
    /// Content hash of the rows.
    pub hash: String,
    /// Where the rows are kept, relative to the evidence file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// A chart as evidence keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChartRecord {
    pub id: String,
    pub title: String,
    /// The result or derived table that it draws.
    pub source: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// How the figures of an answer were bound.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// Numbers in the answer.
    pub figures: usize,
    /// Bound to something cited beside them.
    pub cited: usize,
    /// Bound to something of the same run that is cited elsewhere or nowhere.
    pub nearby: usize,
    pub unverified: usize,
}

impl Counts {
    /// Figures that have a source.
    pub fn bound(&self) -> usize {
        self.cited + self.nearby
    }
}

/// One result that an answer may cite: its record and its rows.
#[derive(Debug, Clone, Copy)]
pub struct CitedResult<'a> {
    pub record: &'a ResultRecord,
    pub frame: &'a DataFrame,
}

/// What to bind.
#[derive(Debug, Clone, Copy)]
pub struct BindInput<'a> {
    pub question: &'a str,
    /// The answer's markdown, citations as `[q1]`, `[m2]`.
    pub answer: &'a str,
    pub results: &'a [CitedResult<'a>],
    pub derived: &'a [Derived],
    pub charts: &'a [ChartRecord],
}
