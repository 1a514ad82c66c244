//! Keys of two columns that nobody declared: in a table whose rows no single column tells apart, pairs of columns that
//! look like parts of a key are measured.

use futures_util::stream::{self, StreamExt, TryStreamExt};

use super::keys::{SIDE_BY_SIDE, WHOLE, counts};
use super::{Engine, EngineError};
use crate::warehouse::catalog::keys::key_parts;
use crate::warehouse::catalog::{Catalog, Table, TableKind, quote};

/// In fewer rows many a pair is unique by chance.
const FEWEST_ROWS: u64 = 20;

/// Columns of a table that are paired: ten pairs, each a pass over the table.
const PAIRED: usize = 5;

/// Adds to `catalog` the pairs of columns that were found unique, in tables without any key.
pub(super) async fn infer(engine: &Engine, catalog: &mut Catalog) -> Result<(), EngineError> {
    let measured = catalog
        .tables
        .iter()
        .map(|table| unique_keys(engine, table))
        .collect::<Vec<_>>();
    let measured: Vec<Vec<Vec<String>>> = stream::iter(measured).buffered(SIDE_BY_SIDE).try_collect().await?;
    for (table, keys) in catalog.tables.iter_mut().zip(measured) {
        table.unique_keys.extend(keys);
    }
    Ok(())
}

/// The key of one column where there is one, else every pair that is one.
async fn unique_keys(engine: &Engine, table: &Table) -> Result<Vec<Vec<String>>, EngineError> {
    let is_measured = table
        .rows
        .is_some_and(|count| count.exact && (FEWEST_ROWS..=WHOLE).contains(&count.rows));
    let has_key = !table.primary_key.is_empty() || !table.unique_keys.is_empty();
    if table.kind != TableKind::Table || has_key || !is_measured {
        return Ok(vec![]);
    }
    let mut parts = key_parts(table);
    parts.truncate(PAIRED);
    if parts.len() < 2 {
        return Ok(vec![]);
    }
    let name = engine.table_name(table);
    let quoted: Vec<String> = parts.iter().map(|part| quote(engine.dialect(), part)).collect();
    let each = quoted
        .iter()
        .map(|part| format!("COUNT({part}), COUNT(DISTINCT {part})"))
        .collect::<Vec<_>>()
        .join(", ");
    let Some(counted) = counts(engine, &format!("SELECT COUNT(*), {each} FROM {name}")).await? else {
        return Ok(vec![]);
    };
    let Some((&rows, counted)) = counted.split_first() else {
        return Ok(vec![]);
    };
    let columns: Vec<(&String, &String, i64, i64)> = parts
        .iter()
        .zip(&quoted)
        .zip(counted.chunks_exact(2))
        .filter_map(|((part, quoted), counts)| match counts {
            [held, distinct] => Some((part, quoted, *held, *distinct)),
            _ => None,
        })
        .collect();
    let alone = columns
        .iter()
        .filter(|(.., held, distinct)| *held == rows && *distinct == rows);
    let alone: Vec<Vec<String>> = alone.map(|(part, ..)| vec![(*part).clone()]).collect();
    if !alone.is_empty() {
        return Ok(alone);
    }
    let mut keys = vec![];
    for (at, (one, one_quoted, held, distinct)) in columns.iter().enumerate() {
        for (other, other_quoted, other_held, other_distinct) in columns.iter().skip(at + 1) {
            let can_be = *held == rows && *other_held == rows && distinct.saturating_mul(*other_distinct) >= rows;
            if can_be && is_unique(engine, &name, [one_quoted, other_quoted], rows).await? {
                keys.push(vec![(*one).clone(), (*other).clone()]);
            }
        }
    }
    Ok(keys)
}

async fn is_unique(engine: &Engine, table: &str, pair: [&str; 2], rows: i64) -> Result<bool, EngineError> {
    let pair = pair.join(", ");
    let sql = format!("SELECT COUNT(*) FROM (SELECT DISTINCT {pair} FROM {table}) AS d");
    Ok(counts(engine, &sql).await?.is_some_and(|counts| counts == [rows]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::warehouse::engine::Target;

    #[tokio::test]
    async fn a_table_without_a_key_gets_the_pairs_that_tell_its_rows_apart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shop.sqlite");
        let rows = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 59)";
        rusqlite::Connection::open(&path)
            .unwrap()
            .execute_batch(&format!(
                "CREATE TABLE \"订单 lines\" (order_id INTEGER, \"line no\" INTEGER, amount REAL, made DATE);
                 INSERT INTO \"订单 lines\" {rows} SELECT i / 4, i % 4, i, '2005-01-01' FROM n;
                 CREATE TABLE repeated (order_id INTEGER, \"line no\" INTEGER);
                 INSERT INTO repeated {rows} SELECT i / 4 % 5, i % 4 FROM n;
                 CREATE TABLE partly (order_id INTEGER, \"line no\" INTEGER);
                 INSERT INTO partly {rows} SELECT i / 4, NULLIF(i % 4, 0) FROM n;
                 CREATE TABLE single (row_id INTEGER, order_id INTEGER, \"line no\" INTEGER);
                 INSERT INTO single {rows} SELECT i, i / 4, i % 4 FROM n;
                 CREATE TABLE few (order_id INTEGER, \"line no\" INTEGER);
                 INSERT INTO few VALUES (1, 1), (1, 2);
                 CREATE TABLE keyed (id INTEGER PRIMARY KEY, order_id INTEGER, \"line no\" INTEGER);
                 INSERT INTO keyed {rows} SELECT i, i / 4, i % 4 FROM n"
            ))
            .unwrap();
        let target = Target::parse(path.to_str().unwrap()).unwrap();
        let catalog = Engine::connect(&target).await.unwrap().introspect().await.unwrap();
        let keys = |name: &str| catalog.table(name).unwrap().unique_keys.clone();
        let pair = vec![vec!["order_id".to_owned(), "line no".to_owned()]];
        assert_eq!(keys("订单 lines"), pair);
        assert_eq!(keys("repeated"), Vec::<Vec<String>>::new());
        assert_eq!(keys("partly"), Vec::<Vec<String>>::new(), "NULLs are no part of a key");
        assert_eq!(keys("single"), [["row_id".to_owned()]]);
        assert_eq!(keys("few"), Vec::<Vec<String>>::new());
        assert_eq!(keys("keyed"), Vec::<Vec<String>>::new());
    }
}
