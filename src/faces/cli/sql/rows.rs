//! Rows as a table, CSV, JSON or Parquet. Every value is exact in each of them.

use clap::ValueEnum;
use serde::Serialize;
use serde_json::Value;

use crate::faces::cli::Failure;
use crate::faces::cli::grid::{Heading, grid};
use crate::warehouse::catalog::DataType;
use crate::warehouse::fetch::{ResultColumn, ResultSet};
use crate::warehouse::sql::Lint;

/// Columns of a cell on a terminal; longer texts are cut there, and there alone.
const WIDEST_CELL: usize = 60;
/// How a table shows NULL.
const NULL: &str = "NULL";

/// How rows are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Aligned columns for people
    Table,
    /// A header and one line a row; NULL is empty, an empty text is ""
    Csv,
    /// One object with columns, rows, and whether there were more
    Json,
    /// A Parquet file
    Parquet,
}

impl Format {
    /// The format that a file's ending asks for.
    pub fn of_ending(ending: &str) -> Option<Self> {
        match ending.to_ascii_lowercase().as_str() {
            "csv" => Some(Self::Csv),
            "json" => Some(Self::Json),
            "parquet" => Some(Self::Parquet),
            "txt" => Some(Self::Table),
            _ => None,
        }
    }
}

/// The rows of `result` in `format`; long cells of tables are cut if it is to be read on a `terminal`.
pub fn render(result: &ResultSet, lints: &[Lint], format: Format, terminal: bool) -> Result<Vec<u8>, Failure> {
    match format {
        Format::Table => Ok(table(result, terminal.then_some(WIDEST_CELL)).into_bytes()),
        Format::Csv => Ok(csv(result).into_bytes()),
        Format::Json => json(result, lints),
        Format::Parquet => {
            let mut bytes = Vec::new();
            result
                .write_parquet(&mut bytes)
                .map_err(|error| Failure::failed(error.to_string()))?;
            Ok(bytes)
        }
    }
}

/// A value in plain words: digits as they are, texts without quotes; `None` for NULL.
fn plain(value: Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text),
        // `{"decimal": "12.30"}`: the value that JSON's own numbers cannot carry.
        Value::Object(tagged) => tagged.into_iter().next().and_then(|(_, value)| plain(value)),
        other => Some(other.to_string()),
    }
}

fn rows(result: &ResultSet) -> impl Iterator<Item = Vec<Value>> + '_ {
    (0..result.row_count).filter_map(|row| result.row(row))
}

fn table(result: &ResultSet, widest: Option<usize>) -> String {
    let headings: Vec<Heading> = result
        .columns
        .iter()
        .map(|column| Heading {
            name: column.name.clone(),
            right: column.data_type.is_numeric(),
        })
        .collect();
    let cell = |value| plain(value).unwrap_or_else(|| NULL.to_owned());
    let cells: Vec<Vec<String>> = rows(result).map(|row| row.into_iter().map(cell).collect()).collect();
    grid(&headings, &cells, widest)
}

/// RFC 4180, except that lines end with a newline alone. The csv crate cannot tell NULL from an empty text, so the few
/// lines that can stand here.
fn csv(result: &ResultSet) -> String {
    let field = |value: Option<String>| match value {
        None => String::new(),
        Some(text) if text.is_empty() || text.contains(['"', ',', '\n', '\r']) => {
            format!("\"{}\"", text.replace('"', "\"\""))
        }
        Some(text) => text,
    };
    let names = result.columns.iter().map(|column| field(Some(column.name.clone())));
    let mut text = names.collect::<Vec<_>>().join(",");
    text.push('\n');
    for row in rows(result) {
        let fields: Vec<String> = row.into_iter().map(|value| field(plain(value))).collect();
        text.push_str(&fields.join(","));
        text.push('\n');
    }
    text
}

#[derive(Serialize)]
struct Printed<'a> {
    v: u32,
    columns: Vec<PrintedColumn<'a>>,
    /// In column order.
    rows: Vec<Vec<Value>>,
    row_count: usize,
    truncated: bool,
    elapsed_ms: u128,
    /// SHA-256 over names, types and values.
    hash: &'a str,
    lints: &'a [Lint],
}

#[derive(Serialize)]
struct PrintedColumn<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    data_type: &'a DataType,
    declared_type: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
}

impl<'a> PrintedColumn<'a> {
    fn of(column: &'a ResultColumn) -> Self {
        Self {
            name: &column.name,
            data_type: &column.data_type,
            declared_type: &column.declared_type,
            note: column.note.as_deref(),
        }
    }
}

fn json(result: &ResultSet, lints: &[Lint]) -> Result<Vec<u8>, Failure> {
    let printed = Printed {
        v: 1,
        columns: result.columns.iter().map(PrintedColumn::of).collect(),
        rows: rows(result).collect(),
        row_count: result.row_count,
        truncated: result.truncated,
        elapsed_ms: result.elapsed.as_millis(),
        hash: &result.hash,
        lints,
    };
    let mut bytes = serde_json::to_vec(&printed).map_err(|error| Failure::failed(error.to_string()))?;
    bytes.push(b'\n');
    Ok(bytes)
}
