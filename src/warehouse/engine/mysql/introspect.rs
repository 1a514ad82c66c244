//! What a MySQL or MariaDB database contains, from its information schema.

use std::collections::{BTreeMap, HashMap};

use futures_util::stream::{self, StreamExt};
use sqlx::mysql::MySqlRow;
use sqlx::{AssertSqlSafe, Row};

use super::MysqlEngine;
use crate::warehouse::Dialect;
use crate::warehouse::catalog::{Catalog, Column, DataType, ForeignKey, KeySource, RowCount, Table, TableKind, quote};
use crate::warehouse::engine::{EngineError, server};

/// The databases that were asked for, else the one that the connection is in; without one, all that the user made.
pub(super) fn in_schemas(engine: &MysqlEngine) -> String {
    if engine.schemas.is_empty() {
        return "(IF(DATABASE() IS NULL, t.table_schema NOT IN \
                ('information_schema', 'mysql', 'performance_schema', 'sys'), t.table_schema = DATABASE()))"
            .to_owned();
    }
    let names = engine.schemas.iter();
    let names: Vec<String> = names
        .map(|name| format!("'{}'", name.replace('\\', "\\\\").replace('\'', "''")))
        .collect();
    format!("(t.table_schema IN ({}))", names.join(", "))
}

/// Reads tables, views, columns, comments, declared keys, and row counts: exact for small tables, else the estimate.
///
/// Names are cast, since servers of several versions give them as different kinds of text.
pub(super) async fn read(engine: &MysqlEngine) -> Result<Catalog, EngineError> {
    let failed = |error| server::failure(error, engine.session.shown());
    let mut catalog = Catalog::empty(Dialect::Mysql, engine.name.clone());
    let current: Option<String> = sqlx::query_scalar("SELECT CAST(DATABASE() AS CHAR)")
        .fetch_one(engine.session.pool())
        .await
        .map_err(failed)?;
    catalog.search_path = current.iter().cloned().collect();
    let mut places = HashMap::new();
    let mut counted = vec![];
    let schemas = in_schemas(engine);
    for row in rows(
        engine,
        &format!(
            "SELECT CAST(t.table_schema AS CHAR), CAST(t.table_name AS CHAR), CAST(t.table_type AS CHAR), \
         CAST(t.table_comment AS CHAR), CAST(t.table_rows AS SIGNED), CAST(t.data_length AS SIGNED) \
         FROM information_schema.tables t WHERE {schemas} ORDER BY t.table_schema, t.create_time, t.table_name"
        ),
    )
    .await?
    {
        let (table, size) = table(&row).map_err(failed)?;
        places.insert(
            (table.schema.clone().unwrap_or_default(), table.name.clone()),
            counted.len(),
        );
        counted.push(count(engine, table, size));
    }
    catalog.tables = stream::iter(counted)
        .buffered(server::CONNECTIONS as usize)
        .collect()
        .await;
    for row in rows(
        engine,
        &format!(
            "SELECT CAST(t.table_schema AS CHAR), CAST(t.table_name AS CHAR), CAST(t.column_name AS CHAR), \
         CAST(t.column_type AS CHAR), CAST(t.is_nullable AS CHAR), CAST(t.column_comment AS CHAR) \
         FROM information_schema.columns t WHERE {schemas} ORDER BY t.table_schema, t.table_name, t.ordinal_position"
        ),
    )
    .await?
    {
        let column = column(&row).map_err(failed)?;
        if let Some(table) = at(&mut catalog, &places, &row).map_err(failed)? {
            table.columns.push(column);
        }
    }
    read_keys(engine, &mut catalog, &places).await?;
    read_foreign_keys(engine, &mut catalog, &places).await?;
    // A view that no longer compiles is listed without columns.
    let (whole, broken): (Vec<_>, Vec<_>) = catalog.tables.into_iter().partition(|table| !table.columns.is_empty());
    catalog.tables = whole;
    catalog.notes = broken
        .iter()
        .map(|table| format!("{} is left out: its columns cannot be read", table.name))
        .collect();
    Ok(catalog)
}

type Places = HashMap<(String, String), usize>;

async fn rows(engine: &MysqlEngine, sql: &str) -> Result<Vec<MySqlRow>, EngineError> {
    let rows = sqlx::query(AssertSqlSafe(sql.to_owned()))
        .fetch_all(engine.session.pool())
        .await;
    rows.map_err(|error| server::failure(error, engine.session.shown()))
}

/// The table that the first two columns of `row` name.
fn at<'a>(catalog: &'a mut Catalog, places: &Places, row: &MySqlRow) -> Result<Option<&'a mut Table>, sqlx::Error> {
    let place = places.get(&(row.try_get(0)?, row.try_get(1)?)).copied();
    Ok(place.and_then(|place| catalog.tables.get_mut(place)))
}

/// The table without its columns, and its size in bytes.
fn table(row: &MySqlRow) -> Result<(Table, i64), sqlx::Error> {
    let kind: String = row.try_get(2)?;
    let kind = if kind.contains("VIEW") {
        TableKind::View
    } else {
        TableKind::Table
    };
    let comment: Option<String> = row.try_get(3)?;
    let estimate: Option<i64> = row.try_get(4)?;
    let table = Table {
        schema: Some(row.try_get(0)?),
        name: row.try_get(1)?,
        kind,
        columns: vec![],
        primary_key: vec![],
        unique_keys: vec![],
        foreign_keys: vec![],
        rows: estimate.map(|rows| RowCount {
            rows: rows.unsigned_abs(),
            exact: false,
        }),
        // Views are commented `VIEW` by the server.
        comment: comment.filter(|comment| !comment.is_empty() && comment != "VIEW"),
        synonyms: vec![],
        read_through: None,
    };
    Ok((table, row.try_get::<Option<i64>, _>(5)?.unwrap_or_default()))
}

/// `table` with its rows counted, or with the estimate where it is big (`size` in bytes) or must not be read.
async fn count(engine: &MysqlEngine, mut table: Table, size: i64) -> Table {
    if table.kind != TableKind::Table || size > server::COUNTED_BYTES {
        return table;
    }
    let schema = table.schema.as_deref().unwrap_or_default();
    let name = format!(
        "{}.{}",
        quote(Dialect::Mysql, schema),
        quote(Dialect::Mysql, &table.name)
    );
    let sql = AssertSqlSafe(format!("SELECT CAST(COUNT(*) AS SIGNED) FROM {name}"));
    if let Ok(count) = sqlx::query_scalar::<_, i64>(sql).fetch_one(engine.session.pool()).await {
        table.rows = Some(RowCount {
            rows: count.unsigned_abs(),
            exact: true,
        });
    }
    table
}

fn column(row: &MySqlRow) -> Result<Column, sqlx::Error> {
    let declared_type: String = row.try_get(3)?;
    let nullable: String = row.try_get(4)?;
    let comment: Option<String> = row.try_get(5)?;
    let is_set = declared_type.starts_with("set(") || declared_type.starts_with("enum(");
    Ok(Column {
        name: row.try_get(2)?,
        data_type: if is_set {
            DataType::Text
        } else {
            DataType::from_declared(Dialect::Mysql, &declared_type)
        },
        declared_type,
        nullable: nullable == "YES",
        comment: comment.filter(|comment| !comment.is_empty()),
        synonyms: vec![],
        profile: None,
    })
}

async fn read_keys(engine: &MysqlEngine, catalog: &mut Catalog, places: &Places) -> Result<(), EngineError> {
    let failed = |error| server::failure(error, engine.session.shown());
    let schemas = in_schemas(engine);
    let sql = format!(
        "SELECT CAST(t.table_schema AS CHAR), CAST(t.table_name AS CHAR), CAST(t.index_name AS CHAR), \
         CAST(t.column_name AS CHAR), CAST(t.sub_part AS SIGNED) \
         FROM information_schema.statistics t WHERE {schemas} AND t.non_unique = 0 \
         ORDER BY t.table_schema, t.table_name, t.index_name, t.seq_in_index"
    );
    let mut keys: BTreeMap<(usize, String), Option<Vec<String>>> = BTreeMap::new();
    for row in rows(engine, &sql).await? {
        let place = (row.try_get(0).map_err(failed)?, row.try_get(1).map_err(failed)?);
        let Some(place) = places.get(&place) else { continue };
        let key = keys
            .entry((*place, row.try_get(2).map_err(failed)?))
            .or_insert_with(|| Some(vec![]));
        let column: Option<String> = row.try_get(3).map_err(failed)?;
        let prefix: Option<i64> = row.try_get(4).map_err(failed)?;
        match (key.as_mut(), column, prefix) {
            (Some(columns), Some(column), None) => columns.push(column),
            // An expression, or the first letters of a column: nothing is said of the column itself.
            _ => *key = None,
        }
    }
    for ((place, name), columns) in keys {
        if let (Some(table), Some(columns)) = (catalog.tables.get_mut(place), columns) {
            if name == "PRIMARY" {
                table.primary_key = columns;
            } else {
                table.unique_keys.push(columns);
            }
        }
    }
    Ok(())
}

async fn read_foreign_keys(engine: &MysqlEngine, catalog: &mut Catalog, places: &Places) -> Result<(), EngineError> {
    let failed = |error| server::failure(error, engine.session.shown());
    let schemas = in_schemas(engine);
    let sql = format!(
        "SELECT CAST(t.table_schema AS CHAR), CAST(t.table_name AS CHAR), CAST(t.constraint_name AS CHAR), \
         CAST(t.column_name AS CHAR), CAST(t.referenced_table_schema AS CHAR), CAST(t.referenced_table_name AS CHAR), \
         CAST(t.referenced_column_name AS CHAR) \
         FROM information_schema.key_column_usage t WHERE {schemas} AND t.referenced_table_name IS NOT NULL \
         ORDER BY t.table_schema, t.table_name, t.constraint_name, t.ordinal_position"
    );
    let mut keys: BTreeMap<(usize, String), ForeignKey> = BTreeMap::new();
    for row in rows(engine, &sql).await? {
        let place = (row.try_get(0).map_err(failed)?, row.try_get(1).map_err(failed)?);
        let Some(place) = places.get(&place) else { continue };
        let (to_schema, to_table) = (row.try_get(4).map_err(failed)?, row.try_get(5).map_err(failed)?);
        let key = keys
            .entry((*place, row.try_get(2).map_err(failed)?))
            .or_insert_with(|| ForeignKey {
                columns: vec![],
                to_schema,
                to_table,
                to_columns: vec![],
                source: KeySource::Declared,
            });
        key.columns.push(row.try_get(3).map_err(failed)?);
        key.to_columns.push(row.try_get(6).map_err(failed)?);
    }
    for ((place, _), key) in keys {
        if let Some(table) = catalog.tables.get_mut(place) {
            table.foreign_keys.push(key);
        }
    }
    Ok(())
}
