//! Rows from the engines into frames, typed and lossless, and results kept on disk.

use std::time::Duration;

use polars::prelude::{DataFrame, PolarsError};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use crate::warehouse::catalog::DataType;

mod builder;
mod exact;
mod growing;
mod hash;
mod spelling;
mod store;
mod typed;

pub(crate) use builder::{FrameBuilder, unique_name};
pub use exact::exact_json;
pub use hash::content_hash;
pub(crate) use spelling::{Look, look_of};
pub(crate) use typed::{TypedFrame, TypedValue};

/// The largest integer up to which `f64`, and so JSON numbers, hold every integer.
pub(crate) const EXACT_INTEGER: u64 = 1 << 53;

/// What one value takes in a frame, beside the bytes of long texts: 8 as a number, 16 as a text.
pub(crate) const CELL_BYTES: usize = 16;

/// One column of a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultColumn {
    /// Unique within the result: a repeated name gets a number (`id`, `id_2`).
    pub name: String,
    /// The type as the database spells it; empty for a computed column where the engine gives none.
    pub declared_type: String,
    /// What the values are. Dates and times of SQLite are text in the frame and say `Date` or `DateTime` here when
    /// every value is one.
    pub data_type: DataType,
    /// What had to be done to keep the values, such as mixed types kept as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// One value, as an engine hands it over while it walks through a table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Cell<'a> {
    Null,
    Integer(i64),
    Float(f64),
    Text(&'a str),
    /// Bytes that are no text.
    Bytes,
}

/// Rows as an engine returned them.
#[derive(Debug, Clone, PartialEq)]
pub struct Fetched {
    pub frame: DataFrame,
    /// One for each column of `frame`, in its order.
    pub columns: Vec<ResultColumn>,
    /// There were more rows than the limit.
    pub truncated: bool,
    pub elapsed: Duration,
}

/// A result with its identity: what `[q1]` in a report stands for.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultSet {
    /// `q1`, `q2`, …
    pub id: String,
    /// The statement that was run.
    pub sql: String,
    pub frame: DataFrame,
    /// One for each column of `frame`, in its order.
    pub columns: Vec<ResultColumn>,
    pub row_count: usize,
    /// There were more rows than the limit.
    pub truncated: bool,
    pub elapsed: Duration,
    /// SHA-256 over names, types and values, in hexadecimal: the same for the same rows in the same order.
    pub hash: String,
}

/// Why rows could not be kept or brought back.
#[derive(Debug, Error)]
pub enum FetchError {
    #[error("the rows do not fit into a frame: {0}")]
    Frame(#[from] PolarsError),
    #[error("cannot {action} {path}: {reason}")]
    File {
        action: &'static str,
        path: String,
        reason: String,
    },
    #[error("{path} does not hold the rows that were saved: {reason}; run the query again")]
    Damaged { path: String, reason: String },
}

impl ResultSet {
    /// Names what was fetched, and takes its hash.
    pub fn new(id: impl Into<String>, sql: impl Into<String>, fetched: Fetched) -> Self {
        Self {
            id: id.into(),
            sql: sql.into(),
            row_count: fetched.frame.height(),
            hash: content_hash(&fetched.frame),
            frame: fetched.frame,
            columns: fetched.columns,
            truncated: fetched.truncated,
            elapsed: fetched.elapsed,
        }
    }

    /// The first `limit` rows, each value exact (see [`exact_json`]), in column order.
    pub fn preview(&self, limit: usize) -> Vec<Vec<Value>> {
        (0..self.row_count.min(limit)).filter_map(|row| self.row(row)).collect()
    }

    /// Row `index`, counted from 0, each value exact; `None` beyond the last.
    pub fn row(&self, index: usize) -> Option<Vec<Value>> {
        if index >= self.row_count {
            return None;
        }
        Some(
            self.frame
                .columns()
                .iter()
                .map(|column| column.get(index).map_or(Value::Null, |v| exact_json(&v)))
                .collect(),
        )
    }

    /// The value in row `index` of the column called `name`; `None` where there is no such cell.
    pub fn cell(&self, index: usize, name: &str) -> Option<Value> {
        let column = self.frame.column(name).ok()?;
        column.get(index).ok().map(|value| exact_json(&value))
    }

    /// The description of the column called `name`.
    pub fn column(&self, name: &str) -> Option<&ResultColumn> {
        self.columns.iter().find(|column| column.name == name)
    }
}

#[cfg(test)]
mod tests;
