//! What a database contains: tables, columns, keys. Facts carry their source; nothing here runs SQL.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::warehouse::Dialect;

pub(crate) mod keys;
mod lookup;
pub mod names;
pub(crate) mod pattern;
mod quote;
mod rules;
pub mod search;
mod types;
pub mod values;

pub use quote::quote;
pub use rules::{RuleError, Rules};

/// Everything that is known about one database.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Catalog {
    pub dialect: Dialect,
    /// The database's own name (a file's stem for SQLite).
    pub database: String,
    /// The schemas that an unqualified name is looked up in, in order; empty where the engine has none.
    pub search_path: Vec<String>,
    pub tables: Vec<Table>,
    /// What could not be read, or not fully, such as a view that no longer compiles.
    #[serde(default)]
    pub notes: Vec<String>,
    /// The policies that it is seen under; every check goes by them.
    #[serde(skip)]
    pub rules: Option<Arc<Rules>>,
}

/// Whether a relation stores rows or is computed from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TableKind {
    Table,
    View,
}

/// One table or view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// The schema it lives in; `None` where the engine has none (SQLite's main database).
    pub schema: Option<String>,
    pub name: String,
    pub kind: TableKind,
    pub columns: Vec<Column>,
    /// Column names; empty when none is declared.
    pub primary_key: Vec<String>,
    /// Unique keys beside the primary one.
    pub unique_keys: Vec<Vec<String>>,
    pub foreign_keys: Vec<ForeignKey>,
    pub rows: Option<RowCount>,
    pub comment: Option<String>,
    /// Other words for the table, handed down from the semantic model.
    pub synonyms: Vec<String>,
    /// The query that stands for the table, where a policy hides a part of it.
    #[serde(skip)]
    pub read_through: Option<String>,
}

impl Table {
    /// A table of which nothing but its name is known.
    pub fn empty(schema: Option<&str>, name: &str, kind: TableKind) -> Self {
        Self {
            schema: schema.map(str::to_owned),
            name: name.to_owned(),
            kind,
            columns: vec![],
            primary_key: vec![],
            unique_keys: vec![],
            foreign_keys: vec![],
            rows: None,
            comment: None,
            synonyms: vec![],
            read_through: None,
        }
    }
}

/// How many rows a table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowCount {
    pub rows: u64,
    /// Counted, rather than the engine's estimate.
    pub exact: bool,
}

/// One column of a table or view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Column {
    pub name: String,
    /// The type as the database spells it (`DECIMAL(10,2)`, `int4`); empty when it has none.
    pub declared_type: String,
    pub data_type: DataType,
    pub nullable: bool,
    pub comment: Option<String>,
    /// Other words for the column, handed down from the semantic model.
    pub synonyms: Vec<String>,
    /// What was measured of its values; a profile is a hint for choosing columns, never an answer.
    pub profile: Option<Profile>,
}

/// The logical type that a declared type stands for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DataType {
    Boolean,
    Integer,
    /// Approximate number.
    Float,
    /// Exact number with `scale` digits after the point, where declared.
    Decimal {
        precision: Option<u32>,
        scale: Option<u32>,
    },
    Text,
    Date,
    Time,
    DateTime,
    /// Instant with an offset or time zone.
    DateTimeTz,
    Blob,
    Json,
    /// A type of the engine that has no place above, by its name.
    Other(String),
}

/// `columns` of one table point at `to_columns` of another, in the same order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignKey {
    pub columns: Vec<String>,
    pub to_schema: Option<String>,
    pub to_table: String,
    pub to_columns: Vec<String>,
    pub source: KeySource,
}

/// Where the knowledge of a key comes from, strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeySource {
    /// The database enforces it.
    Declared,
    /// The semantic model states it.
    Semantic,
    /// A uniqueness or inclusion check over all rows found it true.
    Measured,
    /// Names and types suggest it.
    Inferred,
}

impl KeySource {
    /// What is said behind a key that the database does not enforce: ` (inferred)`.
    pub fn remark(self) -> &'static str {
        match self {
            Self::Declared => "",
            Self::Semantic => " (semantic model)",
            Self::Measured => " (measured)",
            Self::Inferred => " (inferred)",
        }
    }
}

/// What the values of a column look like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// Rows looked at.
    pub rows: u64,
    pub nulls: u64,
    pub distinct: u64,
    /// Smallest and largest value, as text in the engine's own spelling.
    pub min: Option<String>,
    pub max: Option<String>,
    /// Most frequent values with their counts, most frequent first.
    pub top: Vec<(String, u64)>,
    /// Only a sample of the table was looked at.
    pub sampled: bool,
    pub role: Role,
    /// How the column spells points in time, where all its values are such.
    #[serde(default)]
    pub format: Option<TimeFormat>,
}

/// How values that are points in time are spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeFormat {
    /// `2005-08-01`, or a native date.
    Date,
    /// `2005-08-01 10:00:00`, with or without seconds and their fraction, or a native timestamp.
    DateTime,
    /// `2005-08-01T10:00:00`.
    DateTimeT,
    /// `2005-08`.
    YearMonth,
    /// `2005`, as a number or as text.
    Year,
    /// `20050801`, as a number or as text.
    CompactDate,
    /// `8/1/2005`: month, day, year.
    MonthDayYear,
    /// `1/8/2005`: day, month, year.
    DayMonthYear,
    UnixSeconds,
    UnixMilliseconds,
    /// Several of the above, or with times in some values and not in others.
    Varied,
}

/// What a column is likely used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Key,
    Category,
    Measure,
    Money,
    Percentage,
    Time,
    Flag,
    FreeText,
    Unknown,
}
