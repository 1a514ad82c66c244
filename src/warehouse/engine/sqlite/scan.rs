//! One pass over a table's values, or over a sample spread through it.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Statement, ToSql, params};

use super::Watch;
use crate::warehouse::Dialect;
use crate::warehouse::catalog::quote;
use crate::warehouse::engine::EngineError;
use crate::warehouse::fetch::Cell;

/// Places in a big table from which rows are taken. Neighbouring rows are alike, so one stretch would mislead.
const STRETCHES: i64 = 100;

/// Gives each value of `columns` to `add`, row by row: of all rows of `table`, or of about `sample` from all over it.
pub(super) fn values(
    connection: &Connection,
    table: &str,
    columns: &[String],
    sample: Option<u64>,
    watch: &Watch,
    add: &mut dyn FnMut(usize, Cell<'_>),
) -> Result<(), EngineError> {
    if columns.is_empty() {
        return Ok(());
    }
    let list: Vec<String> = columns.iter().map(|column| quote(Dialect::Sqlite, column)).collect();
    let select = format!("SELECT {} FROM {}", list.join(", "), quote(Dialect::Sqlite, table));
    let Some(sample) = sample.map(|rows| i64::try_from(rows).unwrap_or(i64::MAX)) else {
        return add_rows(&mut connection.prepare(&select)?, &[], watch, add);
    };
    let Some((rowid, low, high)) = rowids(connection, table, columns) else {
        return add_rows(
            &mut connection.prepare(&format!("{select} LIMIT ?1"))?,
            &[&sample],
            watch,
            add,
        );
    };
    let stretch = format!("{select} WHERE {rowid} >= ?1 AND {rowid} <= ?2 ORDER BY {rowid} LIMIT ?3");
    let mut statement = connection.prepare(&stretch)?;
    let width = ((i128::from(high) - i128::from(low)) / i128::from(STRETCHES) + 1) as i64;
    for stretch in 0..STRETCHES {
        let from = low.saturating_add(width.saturating_mul(stretch));
        let to = from.saturating_add(width - 1).min(high);
        add_rows(&mut statement, &[&from, &to, &(sample / STRETCHES)], watch, add)?;
    }
    Ok(())
}

/// The name by which the rowid can be read, and its range; `None` for tables without one.
fn rowids(connection: &Connection, table: &str, columns: &[String]) -> Option<(&'static str, i64, i64)> {
    let hidden = |name: &&&str| columns.iter().any(|column| column.eq_ignore_ascii_case(name));
    let rowid = ["rowid", "_rowid_", "oid"].iter().find(|name| !hidden(name)).copied()?;
    let table = quote(Dialect::Sqlite, table);
    // Two statements, since each alone is answered from the edge of the tree.
    let edge = |function: &str| {
        let sql = format!("SELECT {function}({rowid}) FROM {table}");
        connection
            .query_row(&sql, params![], |row| row.get::<_, Option<i64>>(0))
            .ok()
            .flatten()
    };
    Some((rowid, edge("min")?, edge("max")?))
}

fn add_rows(
    statement: &mut Statement<'_>,
    parameters: &[&dyn ToSql],
    watch: &Watch,
    add: &mut dyn FnMut(usize, Cell<'_>),
) -> Result<(), EngineError> {
    let columns = statement.column_count();
    let mut rows = statement.query(parameters)?;
    while let Some(row) = rows.next()? {
        for at in 0..columns {
            match row.get_ref(at)? {
                ValueRef::Null => add(at, Cell::Null),
                ValueRef::Integer(value) => add(at, Cell::Integer(value)),
                ValueRef::Real(value) => add(at, Cell::Float(value)),
                ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
                    Ok(text) => add(at, Cell::Text(text)),
                    Err(_) => add(at, Cell::Text(&String::from_utf8_lossy(bytes))),
                },
                ValueRef::Blob(_) => add(at, Cell::Bytes),
            }
        }
    }
    if watch.is_over() {
        Err(EngineError::Cancelled)
    } else {
        Ok(())
    }
}
