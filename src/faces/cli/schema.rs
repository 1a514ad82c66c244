//! `analyst schema`: tables, columns and keys of a database, and on request what their values look like.

use std::io::IsTerminal;
use std::process::ExitCode;

use serde::Serialize;

use crate::faces::cli::Failure;
use crate::faces::cli::ask::interrupt;
use crate::faces::cli::grid::{Heading, grid, visible};
use crate::faces::cli::options::Place;
use crate::faces::cli::progress::{print, write};
use crate::faces::cli::sql::open;
use crate::text;
use crate::warehouse::Dialect;
use crate::warehouse::catalog::{Catalog, Column, ForeignKey, Profile, RowCount, Table, TableKind};

/// Beyond this many tables only their names are listed, unless some are picked.
const DESCRIBED: usize = 20;
/// Frequent values that are shown of one column.
const VALUES: usize = 3;
/// Columns of a cell on a terminal.
const WIDEST_CELL: usize = 60;
/// The same for the values of a column, wherever they are shown: they are hints.
const WIDEST_VALUE: usize = 24;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Tables to show: a name, a pattern such as 'order*', part of a name, a column, or words
    pattern: Option<String>,
    #[command(flatten)]
    place: Place,
    /// Measure the values of the tables shown: nulls, distinct values, range, frequent values, likely role
    #[arg(long)]
    profile: bool,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Printed<'a> {
    v: u32,
    #[serde(flatten)]
    catalog: &'a Catalog,
}

pub async fn run(args: Args) -> Result<ExitCode, Failure> {
    let cancel = interrupt();
    let config = args.place.resolve(None)?;
    let mut database = open(&config, &cancel).await?;
    let picked = match &args.pattern {
        None => None,
        Some(pattern) => Some(database.find(pattern).map_err(|near| nothing(pattern, &near))?),
    };
    let shown = |table: &Table| {
        picked
            .as_ref()
            .is_none_or(|names| names.contains(&table.qualified_name()))
    };
    if args.profile {
        database.measure(shown, &cancel).await?;
    }
    let mut catalog = database.catalog;
    catalog.tables.retain(shown);
    if args.json {
        let printed = Printed {
            v: 1,
            catalog: &catalog,
        };
        let json = serde_json::to_string_pretty(&printed).map_err(|error| Failure::failed(error.to_string()))?;
        print(&json)?;
        return Ok(ExitCode::SUCCESS);
    }
    let widest = std::io::stdout().is_terminal().then_some(WIDEST_CELL);
    let listed = picked.is_none() && catalog.tables.len() > DESCRIBED && !args.profile;
    let text = if listed {
        list(&catalog, widest)
    } else {
        describe(&catalog, widest)
    };
    write(text.as_bytes())?;
    for note in &catalog.notes {
        eprintln!("analyst: {note}");
    }
    if listed {
        eprintln!("analyst: `analyst schema PATTERN` shows the columns of some tables, --json those of all");
    }
    Ok(ExitCode::SUCCESS)
}

fn nothing(pattern: &str, near: &[String]) -> Failure {
    let hint = match near {
        [] => "leave the pattern out to see all tables".to_owned(),
        near => format!("did you mean {}?", near.join(", ")),
    };
    Failure::failed(format!("no table or column fits `{pattern}`; {hint}"))
}

/// What the file or server is, in one line.
fn heading(catalog: &Catalog) -> String {
    let tables = match catalog.tables.len() {
        1 => "1 table".to_owned(),
        count => format!("{count} tables"),
    };
    format!(
        "{} ({}), {tables}\n",
        visible(&catalog.database),
        engine(catalog.dialect)
    )
}

fn engine(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => "SQLite",
        Dialect::Postgres => "PostgreSQL",
        Dialect::Mysql => "MySQL or MariaDB",
        Dialect::Duckdb => "DuckDB",
        Dialect::Snowflake => "Snowflake",
        Dialect::Bigquery => "BigQuery",
        Dialect::Databricks => "Databricks or Spark",
        Dialect::Clickhouse => "ClickHouse",
    }
}

/// One line a table.
fn list(catalog: &Catalog, widest: Option<usize>) -> String {
    let headings = headings(&[
        ("table", false),
        ("kind", false),
        ("rows", true),
        ("columns", true),
        ("comment", false),
    ]);
    let row = |table: &Table| {
        vec![
            table.qualified_name(),
            kind(table.kind).to_owned(),
            table.rows.map(rows).unwrap_or_default(),
            table.columns.len().to_string(),
            table.comment.clone().unwrap_or_default(),
        ]
    };
    let rows: Vec<Vec<String>> = catalog.tables.iter().map(row).collect();
    format!("{}\n{}", heading(catalog), grid(&headings, &rows, widest))
}

/// Every table with its columns and keys.
fn describe(catalog: &Catalog, widest: Option<usize>) -> String {
    let mut out = heading(catalog);
    for table in &catalog.tables {
        let about = match table.rows {
            Some(count) => format!("{}, {} rows", kind(table.kind), rows(count)),
            None => kind(table.kind).to_owned(),
        };
        out.push_str(&format!("\n{} ({about})\n", visible(&table.qualified_name())));
        if let Some(comment) = table.comment.as_deref().filter(|comment| !comment.is_empty()) {
            out.push_str(&format!("{}\n", visible(comment)));
        }
        out.push_str(&columns(table, widest));
        for key in &table.unique_keys {
            out.push_str(&format!("unique: {}\n", visible(&key.join(", "))));
        }
        for key in &table.foreign_keys {
            out.push_str(&format!("{}\n", visible(&foreign_key(key))));
        }
    }
    out
}

fn columns(table: &Table, widest: Option<usize>) -> String {
    let measured = table.columns.iter().any(|column| column.profile.is_some());
    let commented = table.columns.iter().any(|column| column.comment.is_some());
    let mut names = vec![("column", false), ("type", false), ("null", false), ("key", false)];
    if measured {
        names.extend([("role", false), ("nulls", true), ("distinct", true), ("values", false)]);
    }
    if commented {
        names.push(("comment", false));
    }
    let row = |column: &Column| {
        let mut row = vec![
            column.name.clone(),
            column.declared_type.clone(),
            if column.nullable { "null" } else { "not null" }.to_owned(),
            if table.primary_key.contains(&column.name) {
                "primary"
            } else {
                ""
            }
            .to_owned(),
        ];
        if measured {
            row.extend(column.profile.as_ref().map_or_else(|| vec![String::new(); 4], measures));
        }
        if commented {
            row.push(column.comment.clone().unwrap_or_default());
        }
        row
    };
    let rows: Vec<Vec<String>> = table.columns.iter().map(row).collect();
    grid(&headings(&names), &rows, widest)
}

/// Role, nulls, distinct values, and the values themselves in short.
fn measures(profile: &Profile) -> Vec<String> {
    let short = |value: &String| text::truncate(value, WIDEST_VALUE);
    let top = profile
        .top
        .iter()
        .take(VALUES)
        .map(|(value, count)| format!("{} ×{count}", short(value)));
    let range = match (&profile.min, &profile.max) {
        (Some(min), Some(max)) => format!("{} … {}", short(min), short(max)),
        _ => String::new(),
    };
    // Where every value is another, frequent ones say nothing.
    let repeated = profile.top.first().is_some_and(|(_, count)| *count > 1);
    let values = match (repeated, range.is_empty()) {
        (true, true) => top.collect::<Vec<_>>().join(", "),
        (true, false) => format!("{range}; {}", top.collect::<Vec<_>>().join(", ")),
        (false, _) => range,
    };
    let sampled = if profile.sampled { "~" } else { "" };
    let role = serde_json::to_value(profile.role).ok();
    vec![
        role.and_then(|role| role.as_str().map(str::to_owned))
            .unwrap_or_default(),
        format!("{sampled}{}", profile.nulls),
        format!("{sampled}{}", profile.distinct),
        values,
    ]
}

fn foreign_key(key: &ForeignKey) -> String {
    let to = match &key.to_schema {
        Some(schema) => format!("{schema}.{}", key.to_table),
        None => key.to_table.clone(),
    };
    let (from, columns) = (key.columns.join(", "), key.to_columns.join(", "));
    format!("{from} -> {to} ({columns}){}", key.source.remark())
}

fn rows(count: RowCount) -> String {
    let number = text::grouped(&count.rows.to_string());
    if count.exact { number } else { format!("~{number}") }
}

fn kind(kind: TableKind) -> &'static str {
    match kind {
        TableKind::Table => "table",
        TableKind::View => "view",
    }
}

fn headings(names: &[(&str, bool)]) -> Vec<Heading> {
    let heading = |(name, right): &(&str, bool)| Heading {
        name: (*name).to_owned(),
        right: *right,
    };
    names.iter().map(heading).collect()
}
