//! What is computed from a result: ranks, shares, growth, comparisons, outliers. Pure functions over a frame.

use polars::prelude::DataFrame;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::table::Table;
use crate::text::Language;

mod attainment;
mod cell;
mod columns;
mod compare;
mod contribution;
mod coverage;
pub mod format;
mod formula;
mod frame;
mod growth;
mod moving_average;
mod outliers;
mod output;
mod pairs;
mod period;
mod rank;
mod series;
mod share;
mod summary;
mod table;
mod words;

#[cfg(test)]
mod tests;

pub use attainment::Attainment;
pub use cell::{Cell, Column, Kind, Number, decimal_of};
pub use columns::Columns;
pub use compare::{Compare, Days};
pub use contribution::Contribution;
pub use coverage::Coverage;
pub use growth::Growth;
pub use moving_average::MovingAverage;
pub use outliers::{Against, Outliers};
pub use rank::{Order, Rank};
pub use share::Share;
pub use summary::Summary;
pub(crate) use table::{number_of_text, text_of};
pub use words::no_name;

/// Which function to compute, with its arguments: column names of the result that it is computed from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "function", rename_all = "snake_case")]
pub enum MetricCall {
    Rank(Rank),
    Share(Share),
    Growth(Growth),
    Compare(Compare),
    MovingAverage(MovingAverage),
    Outliers(Outliers),
    Contribution(Contribution),
    Attainment(Attainment),
    Summary(Summary),
    Coverage(Coverage),
}

/// What a metric function computed, from which result and by which formula.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Derived {
    /// `m1`, `m2`, …
    pub id: String,
    /// The function's name as it is called: `rank`, `moving_average`, …
    pub function: String,
    /// The result (or derived table) that it was computed from: `q1`.
    pub source: String,
    /// In words and maths, with the columns' names.
    pub formula: String,
    pub columns: Vec<Column>,
    /// One cell per column.
    pub rows: Vec<Vec<Cell>>,
    /// Single numbers about the whole: `total`, `top_1_share`, `missing`, …
    pub facts: Vec<Fact>,
    /// What a reader must know: skipped nulls, gaps, groups on one side only.
    pub notes: Vec<String>,
}

/// A single number (or label) about the whole table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fact {
    pub name: String,
    pub value: Cell,
    pub kind: Kind,
}

/// What the computation needs beside the data: the ids that its output carries and the language of its words.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The id that the output gets: `m1`.
    pub id: &'a str,
    /// The id of the result that the frame comes from: `q1`.
    pub source: &'a str,
    pub language: Language,
}

/// Why nothing was computed. Every message says how to call it right.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MetricError {
    #[error("no column `{name}` in {source_id}; it has {}", list(.available))]
    UnknownColumn {
        name: String,
        source_id: String,
        available: Vec<String>,
    },
    #[error("column `{column}` of {source_id} holds no numbers (`{example}`); columns with numbers: {}", list(.numeric))]
    NotNumbers {
        column: String,
        source_id: String,
        example: String,
        numeric: Vec<String>,
    },
    #[error(
        "column `{column}` of {source_id} holds no dates or periods (`{example}`); write days as 2005-08-31, months as 2005-08, quarters as 2005-Q3, years as 2005"
    )]
    NotPeriods {
        column: String,
        source_id: String,
        example: String,
    },
    #[error("{source_id} has no rows to compute from")]
    NoRows { source_id: String },
    #[error("no period `{label}` in column `{column}` of {source_id}; it has {}", list(.available))]
    UnknownPeriod {
        label: String,
        column: String,
        source_id: String,
        available: Vec<String>,
    },
    #[error(
        "{source_id} has more than one row for {what}; sum them in SQL, or name the column that tells them apart as `group`"
    )]
    Repeated { what: String, source_id: String },
    #[error("`{argument}` is {value}: {advice}")]
    BadArgument {
        argument: &'static str,
        value: String,
        advice: String,
    },
}

fn list(names: &[String]) -> String {
    names
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

impl MetricCall {
    /// The function's name as it is called.
    pub fn function(&self) -> &'static str {
        match self {
            MetricCall::Rank(_) => "rank",
            MetricCall::Share(_) => "share",
            MetricCall::Growth(_) => "growth",
            MetricCall::Compare(_) => "compare",
            MetricCall::MovingAverage(_) => "moving_average",
            MetricCall::Outliers(_) => "outliers",
            MetricCall::Contribution(_) => "contribution",
            MetricCall::Attainment(_) => "attainment",
            MetricCall::Summary(_) => "summary",
            MetricCall::Coverage(_) => "coverage",
        }
    }

    /// Computes the function over `frame`, which is read and not changed.
    ///
    /// Nulls are skipped and counted in the notes; text that holds numbers is read as numbers. Sums and differences are
    /// exact where all inputs have at most four decimals; fractions are 0 to 1.
    /// Errors when a named column is not there or holds the wrong kind of value, and when there are no rows.
    pub fn compute(&self, frame: &DataFrame, context: Context<'_>) -> Result<Derived, MetricError> {
        let table = Table::new(frame, context)?;
        let output = match self {
            MetricCall::Rank(args) => rank::compute(args, &table),
            MetricCall::Share(args) => share::compute(args, &table),
            MetricCall::Growth(args) => growth::compute(args, &table),
            MetricCall::Compare(args) => compare::compute(args, &table),
            MetricCall::MovingAverage(args) => moving_average::compute(args, &table),
            MetricCall::Outliers(args) => outliers::compute(args, &table),
            MetricCall::Contribution(args) => contribution::compute(args, &table),
            MetricCall::Attainment(args) => attainment::compute(args, &table),
            MetricCall::Summary(args) => summary::compute(args, &table),
            MetricCall::Coverage(args) => coverage::compute(args, &table),
        }?;
        Ok(output.into_derived(self.function(), formula::of(self, context.language), context))
    }
}

impl Derived {
    /// Position of the column called `name`.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// The cell in row `row` (from 0) of the column called `name`.
    pub fn cell(&self, row: usize, name: &str) -> Option<&Cell> {
        self.rows.get(row)?.get(self.column(name)?)
    }

    /// The fact called `name`.
    pub fn fact(&self, name: &str) -> Option<&Cell> {
        self.facts.iter().find(|fact| fact.name == name).map(|fact| &fact.value)
    }
}
