//! What a database behind an ADBC driver contains, as it tells of itself in SQL.
//!
//! Drivers have a call of their own for this, but few of them fill in comments and keys.

use std::collections::HashMap;

use futures_util::stream::{self, StreamExt};
use polars::prelude::AnyValue;
use tokio_util::sync::CancellationToken;

use super::{AdbcEngine, spark};
use crate::warehouse::Dialect;
use crate::warehouse::catalog::{Catalog, Column, DataType, ForeignKey, KeySource, RowCount, Table, TableKind, quote};
use crate::warehouse::engine::{EngineError, server};

/// A row of a result, each value as text.
pub(super) type Texts = Vec<Option<String>>;

/// A row count as an engine estimates it, up to which the rows are counted instead.
const COUNTED: u64 = 50_000_000;

/// The statements by which a dialect tells of its tables.
struct Reading {
    /// Schema, name, type, comment, number of rows.
    tables: &'static str,
    /// Schema, table, name, type, nullable, comment; in order.
    columns: &'static str,
    /// Key, schema, table, kind, column, and of foreign keys the schema, table and column that they point at; in order.
    keys: Option<&'static str>,
    current_schema: Option<&'static str>,
}

const DUCKDB: Reading = Reading {
    tables: "SELECT schema_name, table_name, 'TABLE', comment, estimated_size FROM duckdb_tables() \
             WHERE NOT internal AND database_name = current_database() UNION ALL \
             SELECT schema_name, view_name, 'VIEW', comment, NULL FROM duckdb_views() \
             WHERE NOT internal AND database_name = current_database() ORDER BY 1, 2",
    columns: "SELECT schema_name, table_name, column_name, data_type, CAST(is_nullable AS VARCHAR), comment \
              FROM duckdb_columns() WHERE NOT internal AND database_name = current_database() \
              ORDER BY schema_name, table_name, column_index",
    keys: Some(
        "SELECT CAST(constraint_index AS VARCHAR), schema_name, table_name, constraint_type, \
         UNNEST(constraint_column_names), schema_name, referenced_table, UNNEST(referenced_column_names) \
         FROM duckdb_constraints() WHERE database_name = current_database() \
         AND constraint_type IN ('PRIMARY KEY', 'UNIQUE', 'FOREIGN KEY')",
    ),
    current_schema: Some("SELECT current_schema()"),
};

const SNOWFLAKE: Reading = Reading {
    tables: "SELECT table_schema, table_name, table_type, comment, row_count FROM information_schema.tables \
             WHERE table_schema <> 'INFORMATION_SCHEMA' ORDER BY 1, 2",
    columns: "SELECT table_schema, table_name, column_name, CASE WHEN data_type = 'NUMBER' THEN \
              'NUMBER(' || numeric_precision || ',' || numeric_scale || ')' ELSE data_type END, is_nullable, comment \
              FROM information_schema.columns WHERE table_schema <> 'INFORMATION_SCHEMA' \
              ORDER BY table_schema, table_name, ordinal_position",
    keys: None,
    current_schema: Some("SELECT CURRENT_SCHEMA()"),
};

const BIGQUERY: Reading = Reading {
    tables: "SELECT table_schema, table_name, table_type, CAST(NULL AS STRING), CAST(NULL AS INT64) \
             FROM INFORMATION_SCHEMA.TABLES ORDER BY 1, 2",
    columns: "SELECT table_schema, table_name, column_name, data_type, is_nullable, CAST(NULL AS STRING) \
              FROM INFORMATION_SCHEMA.COLUMNS ORDER BY table_schema, table_name, ordinal_position",
    keys: None,
    current_schema: None,
};

const CLICKHOUSE: Reading = Reading {
    tables: "SELECT database, name, engine, comment, total_rows FROM system.tables \
             WHERE database = currentDatabase() ORDER BY 1, 2",
    columns: "SELECT database, table, name, type, if(startsWith(type, 'Nullable'), 'YES', 'NO'), comment \
              FROM system.columns WHERE database = currentDatabase() ORDER BY database, table, position",
    keys: None,
    current_schema: Some("SELECT currentDatabase()"),
};

const SQLITE: Reading = Reading {
    tables: "SELECT 'main', name, type, NULL, NULL FROM sqlite_master WHERE type IN ('table', 'view') \
             AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
    columns: "SELECT 'main', m.name, c.name, c.type, CASE c.\"notnull\" WHEN 0 THEN 'YES' ELSE 'NO' END, NULL \
              FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c ORDER BY m.name, c.cid",
    keys: Some(
        "SELECT 'pk', 'main', m.name, 'PRIMARY KEY', c.name, NULL, NULL, NULL \
         FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c WHERE c.pk > 0 ORDER BY m.name, c.pk",
    ),
    current_schema: None,
};

const STANDARD: Reading = Reading {
    tables: "SELECT table_schema, table_name, table_type, NULL, NULL FROM information_schema.tables \
             WHERE LOWER(table_schema) NOT IN ('information_schema', 'pg_catalog', 'mysql', 'performance_schema', 'sys') \
             ORDER BY table_schema, table_name",
    columns: "SELECT table_schema, table_name, column_name, data_type, is_nullable, NULL FROM information_schema.columns \
              WHERE LOWER(table_schema) NOT IN ('information_schema', 'pg_catalog', 'mysql', 'performance_schema', 'sys') \
              ORDER BY table_schema, table_name, ordinal_position",
    keys: Some(
        "SELECT k.constraint_name, k.table_schema, k.table_name, c.constraint_type, k.column_name, NULL, NULL, NULL \
         FROM information_schema.key_column_usage AS k JOIN information_schema.table_constraints AS c \
         ON c.constraint_name = k.constraint_name AND c.table_schema = k.table_schema AND c.table_name = k.table_name \
         WHERE c.constraint_type IN ('PRIMARY KEY', 'UNIQUE') ORDER BY k.table_schema, k.table_name, k.ordinal_position",
    ),
    current_schema: None,
};

/// Reads tables, views, columns, comments, and what keys the engine tells of.
pub(super) async fn read(engine: &AdbcEngine) -> Result<Catalog, EngineError> {
    let mut catalog = Catalog::empty(engine.dialect(), engine.name());
    let reading = match engine.dialect() {
        Dialect::Databricks => {
            spark::read(engine, &mut catalog).await?;
            return Ok(catalog);
        }
        Dialect::Duckdb => DUCKDB,
        Dialect::Snowflake => SNOWFLAKE,
        Dialect::Bigquery => BIGQUERY,
        Dialect::Clickhouse => CLICKHOUSE,
        Dialect::Sqlite => SQLITE,
        Dialect::Postgres | Dialect::Mysql => STANDARD,
    };
    catalog.search_path = search_path(engine, reading.current_schema).await?;
    let mut places = HashMap::new();
    for row in ask(engine, reading.tables).await? {
        let [Some(schema), Some(name), kind, comment, rows] = row.as_slice() else {
            continue;
        };
        if !is_wanted(engine, schema) {
            continue;
        }
        places.insert((schema.clone(), name.clone()), catalog.tables.len());
        let mut table = empty_table(schema, name, kind.as_deref().unwrap_or_default());
        table.comment = comment.clone().filter(|comment| !comment.is_empty());
        table.rows = rows
            .as_ref()
            .and_then(|rows| rows.parse().ok())
            .map(|rows| RowCount { rows, exact: false });
        catalog.tables.push(table);
    }
    for row in ask(engine, reading.columns).await? {
        let [Some(schema), Some(table), Some(name), Some(declared), nullable, comment] = row.as_slice() else {
            continue;
        };
        let place = places.get(&(schema.clone(), table.clone()));
        if let Some(table) = place.and_then(|place| catalog.tables.get_mut(*place)) {
            let nullable = nullable.as_deref().is_none_or(|word| !matches!(word, "NO" | "false"));
            table
                .columns
                .push(column(engine.dialect(), name, declared, nullable, comment.as_deref()));
        }
    }
    if let Some(keys) = reading.keys {
        match ask(engine, keys).await {
            Ok(rows) => add_keys(&mut catalog, &places, &rows),
            Err(EngineError::Refused(reason)) => catalog.notes.push(format!("declared keys cannot be read: {reason}")),
            Err(other) => return Err(other),
        }
    }
    catalog.tables.retain(|table| !table.columns.is_empty());
    count(engine, &mut catalog, |table| {
        table.rows.is_none_or(|count| count.rows <= COUNTED)
    })
    .await?;
    Ok(catalog)
}

/// The schemas that plain names are looked up in: those asked for, else the connection's own.
pub(super) async fn search_path(engine: &AdbcEngine, current: Option<&str>) -> Result<Vec<String>, EngineError> {
    match current {
        Some(current) if engine.schemas().is_empty() => {
            let rows = ask(engine, current).await?;
            Ok(rows
                .into_iter()
                .filter_map(|row| row.into_iter().next().flatten())
                .collect())
        }
        _ => Ok(engine.schemas().to_vec()),
    }
}

fn is_wanted(engine: &AdbcEngine, schema: &str) -> bool {
    engine.schemas().is_empty()
        || engine
            .schemas()
            .iter()
            .any(|wanted| wanted.eq_ignore_ascii_case(schema))
}

pub(super) fn empty_table(schema: &str, name: &str, kind: &str) -> Table {
    let is_view = kind.to_lowercase().contains("view");
    let kind = if is_view { TableKind::View } else { TableKind::Table };
    Table::empty(Some(schema), name, kind)
}

pub(super) fn column(dialect: Dialect, name: &str, declared: &str, nullable: bool, comment: Option<&str>) -> Column {
    Column {
        name: name.to_owned(),
        data_type: DataType::from_declared(dialect, unwrapped(declared)),
        declared_type: declared.to_owned(),
        nullable,
        comment: comment.filter(|comment| !comment.is_empty()).map(str::to_owned),
        synonyms: vec![],
        profile: None,
    }
}

/// ClickHouse's `Nullable(…)` and `LowCardinality(…)` say nothing about the values.
fn unwrapped(declared: &str) -> &str {
    let inner = ["Nullable(", "LowCardinality("]
        .iter()
        .find_map(|wrapper| declared.strip_prefix(wrapper)?.strip_suffix(')'));
    inner.map_or(declared, unwrapped)
}

fn add_keys(catalog: &mut Catalog, places: &HashMap<(String, String), usize>, rows: &[Texts]) {
    let mut keys: Vec<((usize, String, String), ForeignKey)> = vec![];
    for row in rows {
        let [
            Some(key),
            Some(schema),
            Some(table),
            Some(kind),
            Some(column),
            to_schema,
            to_table,
            to_column,
        ] = row.as_slice()
        else {
            continue;
        };
        let Some(place) = places.get(&(schema.clone(), table.clone())) else {
            continue;
        };
        let key = (*place, kind.clone(), key.clone());
        if keys.last().is_none_or(|(last, _)| *last != key) {
            let target = ForeignKey {
                columns: vec![],
                to_schema: to_schema.clone(),
                to_table: to_table.clone().unwrap_or_default(),
                to_columns: vec![],
                source: KeySource::Declared,
            };
            keys.push((key, target));
        }
        if let Some((_, key)) = keys.last_mut() {
            key.columns.push(column.clone());
            key.to_columns.extend(to_column.clone());
        }
    }
    for ((place, kind, _), key) in keys {
        let Some(table) = catalog.tables.get_mut(place) else {
            continue;
        };
        match kind.as_str() {
            "PRIMARY KEY" => table.primary_key = key.columns,
            "UNIQUE" => table.unique_keys.push(key.columns),
            _ if key.columns.len() == key.to_columns.len() => table.foreign_keys.push(key),
            _ => (),
        }
    }
}

/// Counts the rows of the tables that `wanted` picks; one that cannot be counted keeps what was said of it.
pub(super) async fn count(
    engine: &AdbcEngine,
    catalog: &mut Catalog,
    wanted: impl Fn(&Table) -> bool,
) -> Result<(), EngineError> {
    let tables = catalog.tables.iter().enumerate();
    let tables = tables.filter(|(_, table)| table.kind == TableKind::Table && wanted(table));
    let asked: Vec<_> = tables.map(|(place, table)| count_table(engine, place, table)).collect();
    let counts: Vec<(usize, Option<u64>)> = stream::iter(asked)
        .buffered(server::CONNECTIONS as usize)
        .collect()
        .await;
    for (place, rows) in counts {
        if let (Some(table), Some(rows)) = (catalog.tables.get_mut(place), rows) {
            table.rows = Some(RowCount { rows, exact: true });
        }
    }
    Ok(())
}

async fn count_table(engine: &AdbcEngine, place: usize, table: &Table) -> (usize, Option<u64>) {
    let sql = format!("SELECT COUNT(*) FROM {}", name_in(engine.dialect(), table));
    let rows = ask(engine, &sql).await.ok();
    let first = rows.and_then(|rows| rows.into_iter().next()?.into_iter().next().flatten());
    (place, first.and_then(|count| count.parse().ok()))
}

/// The table's name as it stands in a statement.
pub(super) fn name_in(dialect: Dialect, table: &Table) -> String {
    let name = quote(dialect, &table.name);
    match &table.schema {
        Some(schema) => format!("{}.{name}", quote(dialect, schema)),
        None => name,
    }
}

/// Runs a statement of our own and gives its rows as texts.
pub(super) async fn ask(engine: &AdbcEngine, sql: &str) -> Result<Vec<Texts>, EngineError> {
    let fetched = engine.run(sql, &server::OWN_LIMITS, &CancellationToken::new()).await?;
    let text = |value: AnyValue<'_>| match (value.get_str(), &value) {
        (Some(text), _) => Some(text.to_owned()),
        (None, AnyValue::Null) => None,
        (None, other) => Some(other.to_string()),
    };
    let row = |at: usize| {
        let columns = fetched.frame.columns().iter();
        columns.map(|column| column.get(at).ok().and_then(text)).collect()
    };
    Ok((0..fetched.frame.height()).map(row).collect())
}
