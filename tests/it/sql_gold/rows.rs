//! Gold statements through the checked way give the rows, in the order, that plain SQLite gives.

use std::collections::BTreeMap;
use std::path::Path;

use analyst::warehouse::engine::{Engine, RunLimits, Target};
use analyst::warehouse::fetch::ResultSet;
use analyst::warehouse::{Dialect, sql};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{GOLD, Gold};

/// Every how-manieth statement is run unless `ANALYST_GOLD_ALL` asks for all of them.
const SAMPLE: usize = 10;

/// Is `kept` the value that SQLite gave? Where values of several types meet in one column (`mixed`), they are kept as text.
fn same(given: ValueRef<'_>, kept: &Value, mixed: bool) -> bool {
    match (given, kept) {
        (ValueRef::Null, kept) => kept.is_null(),
        (ValueRef::Integer(given), Value::Number(kept)) => match kept.as_i64() {
            Some(kept) => given == kept,
            // A whole number in a column of numbers with fractions.
            None => kept.as_f64() == Some(given as f64) && given.unsigned_abs() <= 1 << 53,
        },
        (ValueRef::Integer(given), Value::Object(_)) => *kept == json!({"integer": given.to_string()}),
        (ValueRef::Integer(given), Value::String(kept)) => mixed && *kept == given.to_string(),
        (ValueRef::Real(given), Value::Number(kept)) => kept.as_f64() == Some(given),
        (ValueRef::Real(given), Value::Object(_)) => !given.is_finite(),
        (ValueRef::Real(given), Value::String(kept)) => mixed && kept.parse() == Ok(given),
        (ValueRef::Text(given), Value::String(kept)) => String::from_utf8_lossy(given) == *kept,
        (ValueRef::Blob(_), kept) => kept.get("bytes").is_some(),
        _ => false,
    }
}

/// What differs between the result and what `plain` SQLite gives, if anything does.
fn difference(plain: &Connection, text: &str, result: &ResultSet) -> Option<String> {
    let mut statement = plain.prepare(text).unwrap();
    if statement.column_count() != result.columns.len() {
        return Some(format!(
            "{} columns, {} kept",
            statement.column_count(),
            result.columns.len()
        ));
    }
    let mixed: Vec<bool> = result.columns.iter().map(|column| column.note.is_some()).collect();
    let mut rows = statement.query([]).unwrap();
    let mut count = 0;
    while let Some(row) = rows.next().unwrap() {
        let Some(kept) = result.row(count) else {
            return Some(format!("a row {count} that was not kept"));
        };
        for (at, kept) in kept.iter().enumerate() {
            let given = row.get_ref(at).unwrap();
            if !same(given, kept, mixed[at]) {
                return Some(format!("row {count}: {given:?}, kept as {kept}"));
            }
        }
        count += 1;
    }
    (count != result.row_count).then(|| format!("{count} rows, {} kept", result.row_count))
}

async fn compare(
    engine: &Engine,
    plain: &Connection,
    catalog: &analyst::warehouse::catalog::Catalog,
    gold: &Gold,
) -> Option<String> {
    let checked = match sql::check(&gold.sql, Dialect::Sqlite, Some(catalog)) {
        Ok(checked) => checked,
        Err(refusal) => return Some(format!("refused: {refusal}")),
    };
    let limits = RunLimits {
        max_rows: usize::MAX,
        ..RunLimits::default()
    };
    match engine.run(&checked, &limits, &CancellationToken::new()).await {
        Ok(fetched) => difference(plain, &gold.sql, &ResultSet::new("q1", checked.text(), fetched)),
        Err(error) => Some(error.to_string()),
    }
}

#[test]
fn gold_statements_give_the_rows_of_plain_sqlite() {
    let Some((gold, catalogs)) = GOLD.as_ref() else { return };
    let step = match std::env::var("ANALYST_GOLD_ALL") {
        Ok(_) => 1,
        Err(_) => SAMPLE,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let mut open: BTreeMap<&Path, (Engine, Connection)> = BTreeMap::new();
    let mut different = vec![];
    let mut counted = 0;
    for gold in gold.iter().step_by(step) {
        let (engine, plain) = open.entry(&gold.db).or_insert_with(|| {
            let target = Target::parse(gold.db.to_str().unwrap()).unwrap();
            let plain = Connection::open_with_flags(&gold.db, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
            (runtime.block_on(Engine::connect(&target)).unwrap(), plain)
        });
        counted += 1;
        if let Some(what) = runtime.block_on(compare(engine, plain, &catalogs[&gold.db], gold)) {
            different.push(format!("{}: {what}\n    {}", gold.id, gold.sql));
        }
    }
    println!("{counted} gold statements, {} with other rows", different.len());
    assert!(different.is_empty(), "{}", different.join("\n"));
}
