//! What a PostgreSQL database contains, from its catalog.

use std::collections::HashMap;

use futures_util::stream::{self, StreamExt};
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Row};

use super::PostgresEngine;
use crate::warehouse::Dialect;
use crate::warehouse::catalog::{Catalog, Column, DataType, ForeignKey, KeySource, RowCount, Table, TableKind, quote};
use crate::warehouse::engine::{EngineError, server};

const TABLES: &str = "
    SELECT c.oid::int8, n.nspname::text, c.relname::text, c.relkind::text, obj_description(c.oid, 'pg_class'),
           c.reltuples::float8, coalesce(pg_relation_size(c.oid), 0)::int8
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
      AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
      AND (cardinality($1::text[]) = 0 OR n.nspname = ANY ($1::text[]))
      AND has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT')
    ORDER BY n.nspname, c.oid";

const COLUMNS: &str = "
    SELECT a.attrelid::int8, a.attname::text, format_type(a.atttypid, a.atttypmod), a.attnotnull,
           col_description(a.attrelid, a.attnum), t.typtype::text, format_type(t.typbasetype, t.typtypmod)
    FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
    WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attrelid = ANY ($1::int8[]::oid[])
    ORDER BY a.attrelid, a.attnum";

const KEYS: &str = "
    SELECT i.indrelid::int8, i.indisprimary,
           ARRAY(SELECT a.attname::text FROM unnest(i.indkey) WITH ORDINALITY AS k (attnum, place)
                 JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
                 WHERE k.place <= i.indnkeyatts ORDER BY k.place)
    FROM pg_index i
    WHERE i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
      AND i.indrelid = ANY ($1::int8[]::oid[])
    ORDER BY i.indrelid, i.indexrelid";

const FOREIGN_KEYS: &str = "
    SELECT f.conrelid::int8, f.confrelid::int8,
           ARRAY(SELECT a.attname::text FROM unnest(f.conkey) WITH ORDINALITY AS k (attnum, place)
                 JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = k.attnum ORDER BY k.place),
           ARRAY(SELECT a.attname::text FROM unnest(f.confkey) WITH ORDINALITY AS k (attnum, place)
                 JOIN pg_attribute a ON a.attrelid = f.confrelid AND a.attnum = k.attnum ORDER BY k.place)
    FROM pg_constraint f
    WHERE f.contype = 'f' AND f.conparentid = 0 AND f.conrelid = ANY ($1::int8[]::oid[])
    ORDER BY f.conrelid, f.oid";

/// Reads tables, views, columns, comments, declared keys, and row counts: exact for small tables, else the estimate.
pub(super) async fn read(engine: &PostgresEngine) -> Result<Catalog, EngineError> {
    let failed = |error| server::failure(error, engine.session.shown());
    let mut catalog = Catalog::empty(Dialect::Postgres, engine.name.clone());
    let path = sqlx::query("SELECT current_schemas(false)::text[], current_database()::text");
    let path = path.fetch_one(engine.session.pool()).await.map_err(failed)?;
    catalog.search_path = path.try_get(0).map_err(failed)?;
    catalog.database = path.try_get(1).map_err(failed)?;
    let mut places = HashMap::new();
    let tables = sqlx::query(TABLES).bind(engine.schemas.clone());
    let mut counted = vec![];
    for row in tables.fetch_all(engine.session.pool()).await.map_err(failed)? {
        let (oid, table, size) = table(&row).map_err(failed)?;
        places.insert(oid, counted.len());
        counted.push(count(engine, table, size));
    }
    catalog.tables = stream::iter(counted)
        .buffered(server::CONNECTIONS as usize)
        .collect()
        .await;
    let oids: Vec<i64> = places.keys().copied().collect();
    let rows = |sql| sqlx::query(sql).bind(oids.clone()).fetch_all(engine.session.pool());
    for row in rows(COLUMNS).await.map_err(failed)? {
        let column = column(&row).map_err(failed)?;
        if let Some(table) = at(&mut catalog, &places, row.try_get(0).map_err(failed)?) {
            table.columns.push(column);
        }
    }
    for row in rows(KEYS).await.map_err(failed)? {
        let columns: Vec<String> = row.try_get(2).map_err(failed)?;
        let is_primary: bool = row.try_get(1).map_err(failed)?;
        match at(&mut catalog, &places, row.try_get(0).map_err(failed)?) {
            Some(table) if is_primary => table.primary_key = columns,
            Some(table) => table.unique_keys.push(columns),
            None => (),
        }
    }
    for row in rows(FOREIGN_KEYS).await.map_err(failed)? {
        let to = places
            .get(&row.try_get::<i64, _>(1).map_err(failed)?)
            .and_then(|place| catalog.tables.get(*place));
        // A key may point at a table that this user must not read.
        let Some((to_schema, to_table)) = to.map(|to| (to.schema.clone(), to.name.clone())) else {
            continue;
        };
        let key = ForeignKey {
            columns: row.try_get(2).map_err(failed)?,
            to_schema,
            to_table,
            to_columns: row.try_get(3).map_err(failed)?,
            source: KeySource::Declared,
        };
        if let Some(table) = at(&mut catalog, &places, row.try_get(0).map_err(failed)?) {
            table.foreign_keys.push(key);
        }
    }
    Ok(catalog)
}

fn at<'a>(catalog: &'a mut Catalog, places: &HashMap<i64, usize>, oid: i64) -> Option<&'a mut Table> {
    catalog.tables.get_mut(*places.get(&oid)?)
}

/// The table's oid, the table without its columns, and its size in bytes.
fn table(row: &PgRow) -> Result<(i64, Table, i64), sqlx::Error> {
    let kind: String = row.try_get(3)?;
    let estimate: f64 = row.try_get(5)?;
    let kind = if kind == "v" { TableKind::View } else { TableKind::Table };
    let table = Table {
        schema: Some(row.try_get(1)?),
        name: row.try_get(2)?,
        kind,
        columns: vec![],
        primary_key: vec![],
        unique_keys: vec![],
        foreign_keys: vec![],
        // Negative means that nobody has looked yet.
        rows: (kind == TableKind::Table && estimate >= 0.0).then_some(RowCount {
            rows: estimate as u64,
            exact: false,
        }),
        comment: row.try_get(4)?,
        synonyms: vec![],
        read_through: None,
    };
    Ok((row.try_get(0)?, table, row.try_get(6)?))
}

/// `table` with its rows counted, or as it is where it is big (`size` in bytes), a view, or must not be read.
async fn count(engine: &PostgresEngine, mut table: Table, size: i64) -> Table {
    if table.kind != TableKind::Table || size > server::COUNTED_BYTES {
        return table;
    }
    let schema = table.schema.as_deref().unwrap_or_default();
    let name = format!(
        "{}.{}",
        quote(Dialect::Postgres, schema),
        quote(Dialect::Postgres, &table.name)
    );
    let sql = AssertSqlSafe(format!("SELECT count(*) FROM {name}"));
    let count = sqlx::query(sql)
        .fetch_one(engine.session.pool())
        .await
        .and_then(|row| row.try_get::<i64, _>(0));
    if let Ok(count) = count {
        table.rows = Some(RowCount {
            rows: count.unsigned_abs(),
            exact: true,
        });
    }
    table
}

fn column(row: &PgRow) -> Result<Column, sqlx::Error> {
    let declared_type: String = row.try_get(2)?;
    let kind: String = row.try_get(5)?;
    let base: Option<String> = row.try_get(6)?;
    let data_type = match (kind.as_str(), base) {
        ("e", _) => DataType::Text,
        ("d", Some(base)) => DataType::from_declared(Dialect::Postgres, &base),
        _ => DataType::from_declared(Dialect::Postgres, &declared_type),
    };
    Ok(Column {
        name: row.try_get(1)?,
        declared_type,
        data_type,
        nullable: !row.try_get::<bool, _>(3)?,
        comment: row.try_get(4)?,
        synonyms: vec![],
        profile: None,
    })
}
