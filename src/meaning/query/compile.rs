//! From a typed query to correct SQL.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::meaning::query::Query;
use crate::meaning::semantic::{Definition, FieldRef, Model, Unit};
use crate::warehouse::Dialect;
use crate::warehouse::catalog::Catalog;

/// A query as SQL, with what a report must say about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Compiled {
    /// One indented SELECT without a trailing semicolon.
    pub sql: String,
    /// The result's columns, in order.
    pub columns: Vec<OutputColumn>,
    /// What the metrics used mean.
    pub definitions: Vec<Definition>,
    /// The joins, in words.
    pub joins: Vec<JoinUsed>,
    /// What a reader should know: filters that apply by default, rows counted in several groups.
    pub notes: Vec<String>,
}

/// One column of the result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutputColumn {
    pub name: String,
    pub kind: ColumnKind,
    pub unit: Option<Unit>,
    /// The field shown, for dimensions.
    pub field: Option<FieldRef>,
    /// The metric's name, for measures that are one.
    pub metric: Option<String>,
}

/// What a column of the result is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ColumnKind {
    /// A group's name, or a value of a listed row.
    Dimension,
    /// The key of an entity, beside the label that people read.
    Key,
    Measure,
    /// A period of a time dimension, or the label of a compared window.
    Period,
}

/// How one dataset was reached from another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinUsed {
    pub from: String,
    pub to: String,
    /// Relationships gone through, in order.
    pub relationships: Vec<String>,
    /// `payment.staff_id = staff.staff_id`
    pub text: String,
    /// Other ways that were not taken, in the same words.
    pub alternatives: Vec<String>,
}

/// Why a query cannot be compiled.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum QueryError {
    #[error("no metric `{name}`{}", did_you_mean(.nearest))]
    UnknownMetric { name: String, nearest: Vec<String> },
    #[error("no dataset `{name}`{}", did_you_mean(.nearest))]
    UnknownDataset { name: String, nearest: Vec<String> },
    #[error("no field `{name}`{}", did_you_mean(.nearest))]
    UnknownField { name: String, nearest: Vec<String> },
    #[error("`{name}` is a field of {}; write the dataset in front", .datasets.join(" and "))]
    AmbiguousField { name: String, datasets: Vec<String> },
    #[error("no relationship `{name}`{}", did_you_mean(.nearest))]
    UnknownRelationship { name: String, nearest: Vec<String> },
    #[error("nothing joins `{from}` to `{to}`; {advice}")]
    Unreachable { from: String, to: String, advice: String },
    #[error("`{dataset}` has no time field, so it cannot be cut by time; name one in `time_field`")]
    NoTime { dataset: String },
    #[error("cannot read the expression `{expression}` of {owner}: {problem}")]
    Expression {
        expression: String,
        owner: String,
        problem: String,
    },
    #[error("{problem}; {advice}")]
    Shape { problem: String, advice: String },
}

fn did_you_mean(names: &[String]) -> String {
    match names {
        [] => String::new(),
        names => format!(
            "; did you mean {}?",
            names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(" or ")
        ),
    }
}

/// Compiles `query` to one SELECT of `dialect`, with names spelled as `catalog` spells them.
pub fn compile(query: &Query, model: &Model, catalog: &Catalog, dialect: Dialect) -> Result<Compiled, QueryError> {
    let _ = (query, model, catalog, dialect);
    Err(QueryError::Shape {
        problem: "the query is empty".into(),
        advice: "ask for a measure or a dimension".into(),
    })
}
