//! From a typed query to correct SQL.

mod branch;
mod combine;
mod dates;
mod derive;
mod dimension;
mod error;
mod filter;
mod measure;
mod order;
mod rows;
mod scope;
mod select;
mod summary;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::meaning::query::Query;
use crate::meaning::semantic::{Definition, FieldRef, Model, Unit};
use crate::warehouse::Dialect;
use crate::warehouse::catalog::Catalog;

pub use error::QueryError;
use scope::Ground;

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

/// Where a query stands.
#[derive(Debug, Clone, Copy)]
struct Place<'t> {
    /// Aliases of the queries around it.
    taken: &'t [String],
    /// Its rows come out in order; inside another query nobody sees them.
    ordered: bool,
}

/// Compiles `query` to one SELECT of `dialect`, with names spelled as `catalog` spells them.
///
/// Measures of different rows are aggregated before they are put together, so no join multiplies what is measured. The
/// model's default filters hold; `notes` says which.
pub fn compile(query: &Query, model: &Model, catalog: &Catalog, dialect: Dialect) -> Result<Compiled, QueryError> {
    let ground = Ground {
        model,
        catalog,
        dialect,
    };
    let place = Place {
        taken: &[],
        ordered: true,
    };
    compile_at(query, ground, &place)
}

/// A query inside another one.
fn compile_inside(query: &Query, ground: Ground<'_>, taken: &[String]) -> Result<Compiled, QueryError> {
    compile_at(query, ground, &Place { taken, ordered: false })
}

fn compile_at(query: &Query, ground: Ground<'_>, place: &Place<'_>) -> Result<Compiled, QueryError> {
    match query {
        Query::Summary(summary) => summary::compile_summary(summary, ground, place),
        Query::Rows(rows) => rows::compile_rows(rows, ground, place),
        Query::Combine(combine) => combine::compile_combine(combine, ground, place),
    }
}
