//! `schema_probe`: what the database contains, as much of it as a question needs.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tools::{Call, Reply, Tool, ToolError, Workbench, args};
use crate::warehouse::catalog::search::close_over_keys;
use crate::warehouse::catalog::{Column, DataType, Role, Table, TableKind};
use crate::warehouse::sql;

/// Tables that are described when none is named; the rest is listed by name.
const MOST_TABLES: usize = 8;
/// Columns of one table that are described.
const MOST_COLUMNS: usize = 60;
/// Names proposed for one that is not there.
const MOST_PROPOSED: usize = 4;
/// Names listed where none is near.
const MOST_LISTED: usize = 60;
/// Example values of one column.
const EXAMPLES: usize = 4;
/// Longer examples say no more.
const EXAMPLE_LENGTH: usize = 40;

/// What the model sends.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Tables to describe, by name.
    #[serde(default)]
    tables: Vec<String>,
    /// Words to find tables by, such as the question itself.
    #[serde(default)]
    search: Option<String>,
}

/// What the model is told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    pub database: String,
    pub dialect: crate::warehouse::Dialect,
    pub tables: Vec<TableBrief>,
    /// Names of the tables that are not described here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_tables: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableBrief {
    pub name: String,
    #[serde(default, skip_serializing_if = "is_table")]
    pub kind: Option<TableKind>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    pub columns: Vec<ColumnBrief>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub primary_key: Vec<String>,
    /// `orders.employee_id -> employees.employee_id`, with `(inferred)` where it is not declared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign_keys: Vec<String>,
}

fn is_table(kind: &Option<TableKind>) -> bool {
    !matches!(kind, Some(TableKind::View))
}

/// One column with hints on its values; a hint is never an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ColumnBrief {
    pub name: String,
    #[serde(rename = "type")]
    pub data_type: DataType,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nulls: Option<u64>,
    /// Frequent values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
    /// Smallest and largest value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<(String, String)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

/// The tool.
pub struct SchemaProbe;

#[async_trait]
impl Tool for SchemaProbe {
    fn name(&self) -> &'static str {
        "schema_probe"
    }

    fn description(&self) -> &'static str {
        "Shows tables with columns, types, keys, row counts and example values: those named in `tables`, or those that \
         `search` (the question's words) is about, with what joins them."
    }

    fn schema(&self) -> Value {
        args::schema::<Args>()
    }

    async fn call(&self, call: Call, at: &Workbench) -> Result<Reply, ToolError> {
        let args: Args = args::parse(self.name(), call.arguments)?;
        let wanted = wanted(&args, at)?;
        let tables: Vec<TableBrief> = wanted.iter().map(|table| brief(table)).collect();
        let other_tables = at
            .catalog
            .tables
            .iter()
            .map(Table::qualified_name)
            .filter(|name| !tables.iter().any(|table| &table.name == name))
            .collect();
        let summary = match tables.len() {
            1 => "1 table".to_owned(),
            count => format!("{count} tables"),
        };
        let probe = Probe {
            database: at.catalog.database.clone(),
            dialect: at.engine.dialect(),
            tables,
            other_tables,
            notes: at.catalog.notes.clone(),
        };
        Reply::json(&probe, summary)
    }
}

fn wanted<'a>(args: &Args, at: &'a Workbench) -> Result<Vec<&'a Table>, ToolError> {
    if !args.tables.is_empty() {
        return args
            .tables
            .iter()
            .map(|name| at.catalog.table(name).ok_or_else(|| unknown(name, at)))
            .collect();
    }
    let found: Vec<String> = args
        .search
        .as_deref()
        .map(|text| {
            let hits = at.search.search(text, MOST_TABLES);
            let names: Vec<String> = hits.into_iter().map(|hit| hit.table).collect();
            close_over_keys(&at.catalog, &names)
        })
        .unwrap_or_default();
    let all = at.catalog.tables.iter();
    let chosen: Vec<&Table> = if found.is_empty() {
        all.take(MOST_TABLES).collect()
    } else {
        all.filter(|table| found.contains(&table.qualified_name()))
            .take(MOST_TABLES)
            .collect()
    };
    Ok(chosen)
}

fn unknown(name: &str, at: &Workbench) -> ToolError {
    let all: Vec<String> = at.catalog.tables.iter().map(Table::qualified_name).collect();
    let near = sql::nearest(name, all.iter().map(String::as_str), MOST_PROPOSED);
    let names = match near.is_empty() {
        true => all.into_iter().take(MOST_LISTED).collect(),
        false => near,
    };
    ToolError::FixTheCall(format!(
        "schema_probe: no table `{name}`; there is {}",
        names.join(", ")
    ))
}

fn brief(table: &Table) -> TableBrief {
    TableBrief {
        name: table.qualified_name(),
        kind: Some(table.kind),
        rows: table.rows.map(|rows| rows.rows),
        comment: table.comment.clone(),
        columns: table.columns.iter().take(MOST_COLUMNS).map(column).collect(),
        primary_key: table.primary_key.clone(),
        foreign_keys: table
            .foreign_keys
            .iter()
            .map(|key| {
                format!(
                    "{}.{} -> {}.{}{}",
                    table.name,
                    key.columns.join("+"),
                    key.to_table,
                    key.to_columns.join("+"),
                    key.source.remark()
                )
            })
            .collect(),
    }
}

fn column(column: &Column) -> ColumnBrief {
    let profile = column.profile.as_ref();
    let short = |text: &String| crate::text::truncate(text, EXAMPLE_LENGTH);
    ColumnBrief {
        name: column.name.clone(),
        data_type: column.data_type.clone(),
        role: profile
            .map(|profile| profile.role)
            .filter(|role| *role != Role::Unknown),
        nulls: profile.map(|profile| profile.nulls).filter(|nulls| *nulls > 0),
        examples: profile
            .filter(|profile| {
                matches!(
                    profile.role,
                    Role::Category | Role::FreeText | Role::Flag | Role::Unknown
                )
            })
            .map(|profile| {
                profile
                    .top
                    .iter()
                    .take(EXAMPLES)
                    .map(|(value, _)| short(value))
                    .collect()
            })
            .unwrap_or_default(),
        range: profile
            .filter(|profile| !matches!(profile.role, Role::Category | Role::FreeText | Role::Flag))
            .and_then(|profile| Some((short(profile.min.as_ref()?), short(profile.max.as_ref()?)))),
        comment: column.comment.clone(),
    }
}
