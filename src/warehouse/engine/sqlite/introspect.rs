//! What a SQLite file contains, from its pragmas.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};

use crate::warehouse::Dialect;
use crate::warehouse::catalog::{Catalog, Column, DataType, ForeignKey, KeySource, RowCount, Table, TableKind, quote};
use crate::warehouse::engine::EngineError;

/// Reads tables, views, columns, declared keys and row counts. What cannot be read is left out, with a note.
pub(super) fn read(connection: &Connection, database: &str) -> Result<Catalog, EngineError> {
    let mut catalog = Catalog::empty(Dialect::Sqlite, database);
    for (name, kind, without_rowid) in relations(connection)? {
        match read_table(connection, &name, kind, without_rowid) {
            Ok((table, notes)) => {
                catalog.tables.push(table);
                catalog.notes.extend(notes);
            }
            Err(EngineError::Refused(reason)) => catalog.notes.push(format!("{name} is left out: {reason}")),
            Err(other) => return Err(other),
        }
    }
    settle_foreign_keys(&mut catalog);
    Ok(catalog)
}

/// Tables and views in the order in which they were made, as (name, kind, without rowid); SQLite's own and the shadow
/// tables of virtual ones are not for people.
fn relations(connection: &Connection) -> Result<Vec<(String, TableKind, bool)>, EngineError> {
    let sql = "SELECT l.name, l.type, l.wr FROM pragma_table_list AS l JOIN sqlite_schema AS s \
               ON s.name = l.name AND s.type IN ('table', 'view') \
               WHERE l.schema = 'main' AND l.type <> 'shadow' AND l.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
               ORDER BY s.rowid";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([], |row| {
        let kind = if row.get::<_, String>(1)? == "view" {
            TableKind::View
        } else {
            TableKind::Table
        };
        Ok((row.get(0)?, kind, row.get(2)?))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn read_table(
    connection: &Connection,
    name: &str,
    kind: TableKind,
    without_rowid: bool,
) -> Result<(Table, Vec<String>), EngineError> {
    let (columns, primary_key) = read_columns(connection, name, without_rowid)?;
    let mut notes = vec![];
    let rows = match kind {
        TableKind::View => None,
        TableKind::Table => match count(connection, name) {
            Ok(rows) => Some(RowCount { rows, exact: true }),
            Err(EngineError::Refused(reason) | EngineError::Damaged(reason)) => {
                notes.push(format!("the rows of {name} cannot be read: {reason}"));
                None
            }
            Err(other) => return Err(other),
        },
    };
    let table = Table {
        schema: None,
        name: name.to_owned(),
        kind,
        columns,
        primary_key,
        unique_keys: unique_keys(connection, name)?,
        foreign_keys: foreign_keys(connection, name)?,
        rows,
        comment: None,
        synonyms: vec![],
        read_through: None,
    };
    Ok((table, notes))
}

/// Columns, and the names of those in the primary key in key order.
fn read_columns(
    connection: &Connection,
    table: &str,
    without_rowid: bool,
) -> Result<(Vec<Column>, Vec<String>), EngineError> {
    // 1 marks the hidden columns of virtual tables; 2 and 3 are generated columns, which can be read like any other.
    let sql = "SELECT name, type, \"notnull\", pk FROM pragma_table_xinfo(?1) WHERE hidden <> 1 ORDER BY cid";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_map(params![table], |row| {
        Ok((
            row.get::<_, String>(0)?,
            row.get::<_, String>(1)?,
            row.get::<_, bool>(2)?,
            row.get::<_, u32>(3)?,
        ))
    })?;
    let found: Vec<_> = found.collect::<Result<_, _>>()?;
    let mut key: Vec<(u32, String)> = found
        .iter()
        .filter(|(.., place)| *place > 0)
        .map(|(name, .., place)| (*place, name.clone()))
        .collect();
    key.sort();
    let is_rowid = |declared: &str| key.len() == 1 && declared.eq_ignore_ascii_case("INTEGER");
    let columns = found
        .into_iter()
        .map(|(name, declared_type, not_null, place)| Column {
            // By an old fault that is kept for compatibility, SQLite allows NULL in other primary keys.
            nullable: !(not_null || place > 0 && (without_rowid || is_rowid(&declared_type))),
            data_type: DataType::from_declared(Dialect::Sqlite, &declared_type),
            name,
            declared_type,
            comment: None,
            synonyms: vec![],
            profile: None,
        })
        .collect();
    Ok((columns, key.into_iter().map(|(_, name)| name).collect()))
}

fn count(connection: &Connection, table: &str) -> Result<u64, EngineError> {
    let sql = format!("SELECT count(*) FROM {}", quote(Dialect::Sqlite, table));
    Ok(connection
        .query_row(&sql, [], |row| row.get::<_, i64>(0))
        .map(i64::unsigned_abs)?)
}

/// Unique keys over whole columns of all rows: no partial indexes, no expressions, not the primary key again.
fn unique_keys(connection: &Connection, table: &str) -> Result<Vec<Vec<String>>, EngineError> {
    let sql = "SELECT l.seq, i.name FROM pragma_index_list(?1) AS l, pragma_index_info(l.name) AS i \
               WHERE l.\"unique\" AND NOT l.partial AND l.origin <> 'pk' ORDER BY l.seq DESC, i.seqno";
    let mut statement = connection.prepare_cached(sql)?;
    let parts = statement.query_map(params![table], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, Option<String>>(1)?))
    })?;
    let mut keys: BTreeMap<i64, Option<Vec<String>>> = BTreeMap::new();
    for part in parts {
        let (index, column) = part?;
        let key = keys.entry(-index).or_insert_with(|| Some(vec![]));
        match (key.as_mut(), column) {
            (Some(columns), Some(column)) => columns.push(column),
            // An expression: the index says nothing about its columns.
            _ => *key = None,
        }
    }
    Ok(keys.into_values().flatten().collect())
}

/// Declared foreign keys in the order of their declaration; target columns that are not named are left empty for now.
fn foreign_keys(connection: &Connection, table: &str) -> Result<Vec<ForeignKey>, EngineError> {
    let sql = "SELECT id, \"table\", \"from\", \"to\" FROM pragma_foreign_key_list(?1) ORDER BY id DESC, seq";
    let mut statement = connection.prepare_cached(sql)?;
    let parts = statement.query_map(params![table], |row| {
        Ok((
            row.get::<_, i64>(0)?,
            row.get::<_, String>(1)?,
            row.get::<_, String>(2)?,
            row.get::<_, Option<String>>(3)?,
        ))
    })?;
    let mut keys: BTreeMap<i64, ForeignKey> = BTreeMap::new();
    for part in parts {
        let (id, to_table, from, to) = part?;
        let key = keys.entry(-id).or_insert_with(|| ForeignKey {
            columns: vec![],
            to_schema: None,
            to_table,
            to_columns: vec![],
            source: KeySource::Declared,
        });
        key.columns.push(from);
        key.to_columns.extend(to);
    }
    Ok(keys.into_values().collect())
}

/// Gives foreign keys the catalog's spelling of tables and columns, and the primary key where they name no target
/// columns; drops those that point at nothing, with a note.
fn settle_foreign_keys(catalog: &mut Catalog) {
    let mut notes = vec![];
    let mut settled: Vec<Vec<ForeignKey>> = vec![];
    for table in &catalog.tables {
        let keys = table.foreign_keys.iter().filter_map(|key| {
            let found = settle(catalog, table, key);
            if found.is_none() {
                let columns = key.columns.join(", ");
                notes.push(format!(
                    "the foreign key {}({columns}) points at {}, which has no such key",
                    table.name, key.to_table
                ));
            }
            found
        });
        settled.push(keys.collect());
    }
    for (table, keys) in catalog.tables.iter_mut().zip(settled) {
        table.foreign_keys = keys;
    }
    catalog.notes.extend(notes);
}

fn settle(catalog: &Catalog, from: &Table, key: &ForeignKey) -> Option<ForeignKey> {
    let to = catalog.table(&key.to_table)?;
    let to_columns = if key.to_columns.is_empty() {
        &to.primary_key
    } else {
        &key.to_columns
    };
    if to_columns.len() != key.columns.len() {
        return None;
    }
    let spelled = |table: &Table, names: &[String]| -> Option<Vec<String>> {
        names
            .iter()
            .map(|name| table.column(name).map(|column| column.name.clone()))
            .collect()
    };
    Some(ForeignKey {
        columns: spelled(from, &key.columns)?,
        to_schema: None,
        to_table: to.name.clone(),
        to_columns: spelled(to, to_columns)?,
        source: key.source,
    })
}
