use std::path::PathBuf;

use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use crate::config::Access;
use crate::warehouse::catalog::{DataType, KeySource, RowCount, TableKind};
use crate::warehouse::engine::{Ceiling, Engine, Target};
use crate::warehouse::fetch::ResultSet;
use crate::warehouse::{Dialect, profile};

/// Runs for hours unless it is stopped.
const ENDLESS: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";

struct Scratch {
    dir: tempfile::TempDir,
    path: PathBuf,
}

impl Scratch {
    fn new(sql: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("shop.sqlite");
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        Self { dir, path }
    }

    async fn open(&self) -> SqliteEngine {
        SqliteEngine::open(&self.path).await.unwrap()
    }

    async fn connect(&self) -> Engine {
        Engine::connect(&Target::parse(self.path.to_str().unwrap()).unwrap())
            .await
            .unwrap()
    }
}

async fn run(engine: &SqliteEngine, sql: &str) -> Result<ResultSet, EngineError> {
    let fetched = engine
        .run(sql, &RunLimits::default(), &CancellationToken::new())
        .await?;
    Ok(ResultSet::new("q1", sql, fetched))
}

async fn rows(engine: &SqliteEngine, sql: &str) -> Vec<Vec<Value>> {
    run(engine, sql).await.unwrap().preview(usize::MAX)
}

#[tokio::test]
async fn values_come_back_as_they_are_stored() {
    let scratch = Scratch::new(
        "CREATE TABLE t (i INTEGER, d DECIMAL(10,2), s TEXT, b BLOB, day DATE, mixed);
         INSERT INTO t VALUES (9223372036854775807, 5, 'naïve', x'00ff', '2005-08-01', 'x'), (NULL, 2.5, NULL, NULL, '2005-08-02', 7);",
    );
    let result = run(&scratch.open().await, "SELECT *, i AS again, d * 2 AS twice FROM t")
        .await
        .unwrap();
    assert_eq!(
        result.preview(10),
        [
            [
                json!({"integer": "9223372036854775807"}),
                json!(5.0),
                json!("naïve"),
                json!({"bytes": "AP8="}),
                json!("2005-08-01"),
                json!("x"),
                json!({"integer": "9223372036854775807"}),
                json!(10.0)
            ],
            [
                Value::Null,
                json!(2.5),
                Value::Null,
                Value::Null,
                json!("2005-08-02"),
                json!("7"),
                Value::Null,
                json!(5.0)
            ]
        ]
    );
    let types: Vec<_> = result
        .columns
        .iter()
        .map(|c| (c.name.as_str(), c.declared_type.as_str(), c.data_type.clone()))
        .collect();
    assert_eq!(
        types,
        [
            ("i", "INTEGER", DataType::Integer),
            ("d", "DECIMAL(10,2)", DataType::Float),
            ("s", "TEXT", DataType::Text),
            ("b", "BLOB", DataType::Blob),
            ("day", "DATE", DataType::Date),
            ("mixed", "", DataType::Text),
            ("again", "INTEGER", DataType::Integer),
            ("twice", "", DataType::Float)
        ]
    );
}

#[tokio::test]
async fn text_that_is_not_utf8_is_no_failure() {
    let scratch = Scratch::new("CREATE TABLE t (s TEXT); INSERT INTO t VALUES (CAST(x'61ff62' AS TEXT))");
    assert_eq!(
        rows(&scratch.open().await, "SELECT s FROM t").await,
        [[json!("a\u{FFFD}b")]]
    );
}

#[tokio::test]
async fn more_rows_than_the_limit_are_cut_and_said() {
    let scratch = Scratch::new("CREATE TABLE t (i); INSERT INTO t VALUES (1), (2), (3)");
    let engine = scratch.open().await;
    let limited = |max_rows| RunLimits {
        max_rows,
        ..RunLimits::default()
    };
    let cancel = CancellationToken::new();
    let two = engine.run("SELECT i FROM t", &limited(2), &cancel).await.unwrap();
    assert_eq!((two.frame.height(), two.truncated), (2, true));
    let three = engine.run("SELECT i FROM t", &limited(3), &cancel).await.unwrap();
    assert_eq!((three.frame.height(), three.truncated), (3, false));
}

#[tokio::test]
async fn an_empty_result_keeps_its_columns() {
    let scratch = Scratch::new("CREATE TABLE t (i INTEGER, s TEXT)");
    let result = run(&scratch.open().await, "SELECT i, s, i + 1 AS next FROM t")
        .await
        .unwrap();
    assert_eq!(result.frame.shape(), (0, 3));
    assert_eq!(result.columns[0].data_type, DataType::Integer);
}

#[rstest]
#[case("INSERT INTO t VALUES (2)")]
#[case("UPDATE t SET i = 2")]
#[case("DELETE FROM t")]
#[case("DROP TABLE t")]
#[case("CREATE TABLE u (i)")]
#[case("CREATE TEMP TABLE u (i)")]
#[case("CREATE TEMP TABLE u AS SELECT * FROM t")]
#[case("CREATE TEMP VIEW v AS SELECT 1")]
#[case("CREATE VIRTUAL TABLE temp.f USING fts5(a)")]
#[case("CREATE INDEX x ON t (i)")]
#[case("ALTER TABLE t ADD COLUMN j")]
#[case("VACUUM")]
#[case("VACUUM INTO 'DIR/copy.sqlite'")]
#[case("ATTACH 'DIR/other.sqlite' AS other")]
#[case("ATTACH ':memory:' AS other")]
#[case("DETACH main")]
#[case("REINDEX")]
#[case("ANALYZE")]
#[case("BEGIN")]
#[case("COMMIT")]
#[case("SAVEPOINT s")]
#[case("PRAGMA user_version = 7")]
#[case("PRAGMA journal_mode = WAL")]
#[case("PRAGMA query_only = 0")]
#[case("PRAGMA writable_schema = 1")]
#[case("PRAGMA temp_store_directory = 'DIR'")]
#[case("PRAGMA wal_checkpoint")]
#[case("PRAGMA optimize")]
#[case("SELECT load_extension('DIR/x.so')")]
#[case("SELECT fts3_tokenizer('simple')")]
#[case("WITH c AS (SELECT 1) INSERT INTO t SELECT * FROM c")]
#[case("REPLACE INTO t VALUES (1)")]
#[tokio::test]
async fn a_statement_that_would_do_more_than_read_changes_nothing(#[case] sql: &str) {
    let scratch = Scratch::new("CREATE TABLE t (i INTEGER PRIMARY KEY, s TEXT UNIQUE); INSERT INTO t (i) VALUES (1)");
    let other = scratch.dir.path().join("other.sqlite");
    Connection::open(&other)
        .unwrap()
        .execute_batch("CREATE TABLE secret (s)")
        .unwrap();
    let listed = || {
        let mut names: Vec<_> = std::fs::read_dir(scratch.dir.path())
            .unwrap()
            .map(|f| f.unwrap().file_name())
            .collect();
        names.sort();
        names
    };
    let (before, files) = (std::fs::read(&scratch.path).unwrap(), listed());
    let engine = scratch.open().await;
    let sql = sql.replace("DIR", scratch.dir.path().to_str().unwrap());
    let error = run(&engine, &sql).await.unwrap_err();
    assert!(matches!(error, EngineError::NotReadOnly(_)), "{sql}: {error:?}");
    assert_eq!(rows(&engine, "SELECT i FROM t").await, [[json!(1)]]);
    assert_eq!(std::fs::read(&scratch.path).unwrap(), before);
    assert_eq!(listed(), files);
}

#[rstest]
#[case("PRAGMA table_info(t)")]
#[case("SELECT name FROM pragma_table_info('t')")]
#[case("PRAGMA user_version")]
#[case("EXPLAIN QUERY PLAN SELECT * FROM t")]
#[case("VALUES (1), (2)")]
#[case("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT i FROM n")]
#[case("SELECT value FROM json_each('[1, 2]')")]
#[tokio::test]
async fn reading_in_every_form_is_allowed(#[case] sql: &str) {
    let scratch = Scratch::new("CREATE TABLE t (i INTEGER PRIMARY KEY)");
    run(&scratch.open().await, sql).await.unwrap();
}

#[rstest]
#[case(ENDLESS)]
#[case("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n")]
#[case("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT random() AS r FROM n ORDER BY r")]
#[tokio::test]
async fn a_statement_ends_at_its_timeout_and_the_connection_works_on(#[case] sql: &str) {
    let scratch = Scratch::new("CREATE TABLE t (i); INSERT INTO t VALUES (1)");
    let engine = scratch.open().await;
    let limits = RunLimits {
        max_rows: usize::MAX,
        timeout: Duration::from_millis(200),
        ..RunLimits::default()
    };
    for _ in 0..6 {
        let started = Instant::now();
        let error = engine.run(sql, &limits, &CancellationToken::new()).await.unwrap_err();
        assert!(
            matches!(error, EngineError::Timeout(after) if after == limits.timeout),
            "{error:?}"
        );
        assert!(
            started.elapsed() < Duration::from_millis(1000),
            "{:?}",
            started.elapsed()
        );
    }
    assert_eq!(rows(&engine, "SELECT i FROM t").await, [[json!(1)]]);
}

#[tokio::test]
async fn cancelling_stops_the_statement_at_once_and_the_connection_works_on() {
    let scratch = Scratch::new("CREATE TABLE t (i); INSERT INTO t VALUES (1)");
    let engine = scratch.open().await;
    let cancel = CancellationToken::new();
    let (cancelling, stopper) = (cancel.clone(), async {
        tokio::time::sleep(Duration::from_millis(100)).await
    });
    let limits = RunLimits::default();
    let (outcome, cancelled_at) = tokio::join!(engine.run(ENDLESS, &limits, &cancel), async move {
        stopper.await;
        cancelling.cancel();
        Instant::now()
    });
    assert!(matches!(outcome.unwrap_err(), EngineError::Cancelled));
    assert!(
        cancelled_at.elapsed() < Duration::from_millis(100),
        "{:?}",
        cancelled_at.elapsed()
    );
    assert_eq!(rows(&engine, "SELECT i FROM t").await, [[json!(1)]]);
}

#[tokio::test]
async fn a_statement_that_nobody_waits_for_is_stopped() {
    let scratch = Scratch::new("CREATE TABLE t (i); INSERT INTO t VALUES (1)");
    let engine = scratch.open().await;
    let (limits, cancel) = (
        RunLimits {
            timeout: Duration::from_secs(3600),
            ..RunLimits::default()
        },
        CancellationToken::new(),
    );
    for _ in 0..10 {
        let run = engine.run(ENDLESS, &limits, &cancel);
        assert!(tokio::time::timeout(Duration::from_millis(20), run).await.is_err());
    }
    // More statements were given up than there are connections: were they still running, this one would wait for ever.
    let after = tokio::time::timeout(Duration::from_secs(5), rows(&engine, "SELECT i FROM t"));
    assert_eq!(after.await.unwrap(), [[json!(1)]]);
}

#[tokio::test]
async fn statements_run_side_by_side() {
    let scratch = Scratch::new("CREATE TABLE t (i); INSERT INTO t VALUES (1)");
    let engine = scratch.open().await;
    let slow = RunLimits {
        timeout: Duration::from_millis(1500),
        ..RunLimits::default()
    };
    let cancel = CancellationToken::new();
    let (_, quick) = tokio::join!(engine.run(ENDLESS, &slow, &cancel), async {
        let started = Instant::now();
        rows(&engine, "SELECT i FROM t").await;
        started.elapsed()
    });
    assert!(quick < Duration::from_millis(1000), "{quick:?}");
}

#[tokio::test]
async fn the_engines_own_words_come_through() {
    let scratch = Scratch::new("CREATE TABLE t (i)");
    let error = run(&scratch.open().await, "SELECT missing FROM t").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the database refused the statement: no such column: missing"
    );
}

#[tokio::test]
async fn a_file_that_only_starts_like_a_database_cannot_be_opened() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("torn.sqlite");
    std::fs::write(&path, [b"SQLite format 3\0".as_slice(), &[7; 4000]].concat()).unwrap();
    let error = SqliteEngine::open(&path).await.unwrap_err();
    assert!(matches!(error, EngineError::Open { .. }), "{error:?}");
}

#[tokio::test]
async fn an_empty_file_is_a_database_without_tables() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("empty.sqlite");
    std::fs::write(&path, "").unwrap();
    let engine = Engine::connect(&Target::parse(path.to_str().unwrap()).unwrap())
        .await
        .unwrap();
    let mut catalog = engine.introspect().await.unwrap();
    assert_eq!((catalog.tables.len(), catalog.database.as_str()), (0, "empty"));
    assert!(
        profile::survey(&engine, &mut catalog, &CancellationToken::new())
            .await
            .unwrap()
            .is_empty()
    );
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 0);
}

#[tokio::test]
async fn the_catalog_tells_columns_keys_and_rows() {
    let scratch = Scratch::new(
        r#"CREATE TABLE region (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
           CREATE TABLE "order" (no TEXT PRIMARY KEY, "Total $" DECIMAL(10,2), region INTEGER REFERENCES REGION,
               客户 TEXT, "say ""hi""" TEXT, twice AS ("Total $" * 2));
           CREATE TABLE line (order_no TEXT, n INT, sku TEXT, PRIMARY KEY (order_no, n),
               FOREIGN KEY (order_no) REFERENCES "ORDER" (NO)) WITHOUT ROWID;
           CREATE UNIQUE INDEX whole ON line (sku, n);
           CREATE UNIQUE INDEX part ON line (n) WHERE n > 5;
           CREATE UNIQUE INDEX expression ON line (lower(sku));
           CREATE VIEW big AS SELECT no, "Total $" FROM "order" WHERE "Total $" > 100;
           CREATE VIEW broken AS SELECT gone FROM nowhere;
           CREATE VIRTUAL TABLE notes USING fts5(body);
           INSERT INTO region VALUES (1, 'North'), (2, 'South');
           INSERT INTO "order" VALUES ('A', 12.5, 1, '张', 'hi');"#,
    );
    let catalog = scratch.connect().await.introspect().await.unwrap();
    assert_eq!(catalog.dialect, Dialect::Sqlite);
    assert_eq!(catalog.database, "shop");
    let names: Vec<_> = catalog
        .tables
        .iter()
        .map(|table| (table.name.as_str(), table.kind))
        .collect();
    assert_eq!(
        names,
        [
            ("region", TableKind::Table),
            ("order", TableKind::Table),
            ("line", TableKind::Table),
            ("big", TableKind::View),
            ("notes", TableKind::Table)
        ]
    );
    assert_eq!(catalog.notes, ["broken is left out: no such table: main.nowhere"]);
    let order = catalog.table("ORDER").unwrap();
    let columns: Vec<_> = order
        .columns
        .iter()
        .map(|c| (c.name.as_str(), c.declared_type.as_str(), c.nullable))
        .collect();
    assert_eq!(
        columns,
        [
            ("no", "TEXT", true),
            ("Total $", "DECIMAL(10,2)", true),
            ("region", "INTEGER", true),
            ("客户", "TEXT", true),
            ("say \"hi\"", "TEXT", true),
            ("twice", "", true)
        ]
    );
    assert_eq!(order.rows, Some(RowCount { rows: 1, exact: true }));
    assert_eq!(order.primary_key, ["no"]);
    let key = &order.foreign_keys[0];
    assert_eq!(
        (key.to_table.as_str(), key.to_columns.as_slice(), key.source),
        ("region", &["id".to_owned()][..], KeySource::Declared)
    );
    let line = catalog.table("line").unwrap();
    assert_eq!(line.primary_key, ["order_no", "n"]);
    assert_eq!(line.unique_keys, [["sku", "n"]]);
    assert!(
        !line.column("order_no").unwrap().nullable,
        "a key without rowid is never null"
    );
    assert_eq!(line.foreign_keys[0].to_table, "order");
    assert_eq!(line.foreign_keys[0].to_columns, ["no"]);
    let region = catalog.table("region").unwrap();
    assert_eq!(region.unique_keys, [["name"]]);
    assert!(!region.column("id").unwrap().nullable);
    assert_eq!(catalog.table("big").unwrap().rows, None);
}

#[tokio::test]
async fn undeclared_keys_are_found_and_say_how_they_are_known() {
    let scratch = Scratch::new(
        "CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT);
         CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, seller INTEGER, empty_id INTEGER);
         CREATE TABLE sellers (id INTEGER, name TEXT);
         CREATE TABLE empties (id INTEGER PRIMARY KEY);
         CREATE TABLE visits (customer_id INTEGER);
         INSERT INTO customers VALUES (1, 'a'), (2, 'b'), (3, 'c');
         INSERT INTO sellers VALUES (7, 'x'), (8, 'y');
         INSERT INTO orders VALUES (1, 1, 7, 5), (2, 3, 8, NULL), (3, NULL, 7, NULL);
         INSERT INTO visits VALUES (40), (50), (1);",
    );
    let catalog = scratch.connect().await.introspect().await.unwrap();
    let found: Vec<_> = catalog
        .tables
        .iter()
        .flat_map(|table| table.foreign_keys.iter().map(move |key| (table.name.as_str(), key)))
        .map(|(table, key)| {
            (
                format!("{table}.{} → {}.{}", key.columns[0], key.to_table, key.to_columns[0]),
                key.source,
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            ("orders.customer_id → customers.id".to_owned(), KeySource::Measured),
            ("orders.seller → sellers.id".to_owned(), KeySource::Measured),
            ("orders.empty_id → empties.id".to_owned(), KeySource::Inferred),
        ]
    );
    assert_eq!(catalog.table("sellers").unwrap().unique_keys, [["id"]]);
}

#[tokio::test]
async fn explain_tells_the_plan() {
    let scratch = Scratch::new("CREATE TABLE t (i)");
    let plan = scratch
        .open()
        .await
        .explain("SELECT * FROM t", &CancellationToken::new())
        .await
        .unwrap();
    assert_eq!(plan, ["SCAN t"]);
}

#[tokio::test]
async fn a_statement_that_takes_too_many_instructions_is_stopped() {
    let scratch = Scratch::new("CREATE TABLE t (a)");
    let engine = scratch.open().await;
    let limits = RunLimits {
        ceiling: Ceiling {
            steps: Some(1_000_000),
            ..Ceiling::default()
        },
        ..RunLimits::default()
    };
    let error = engine
        .run(ENDLESS, &limits, &CancellationToken::new())
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            EngineError::TooCostly {
                limit: 1_000_000,
                key: "max_steps",
                ..
            }
        ),
        "{error:?}"
    );
    assert_eq!(rows(&engine, "SELECT 1").await, [[json!(1)]]);
}

#[tokio::test]
async fn a_result_is_cut_where_it_would_take_too_much_memory() {
    let scratch = Scratch::new("CREATE TABLE t (a)");
    let limits = RunLimits {
        max_bytes: 1 << 20,
        ..RunLimits::default()
    };
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT printf('%1000d', i) FROM n";
    let engine = scratch.open().await;
    let fetched = engine.run(endless, &limits, &CancellationToken::new()).await.unwrap();
    assert!(fetched.truncated);
    assert_eq!(fetched.frame.height(), (1 << 20) / 1016 + 1);
}

#[tokio::test]
async fn a_long_result_is_whole_where_its_chunks_meet_and_its_types_change() {
    let scratch = Scratch::new("CREATE TABLE t (a)");
    let sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 70000)
               SELECT i, CASE WHEN i < 66000 THEN i ELSE i + 0.5 END AS wide, CASE WHEN i < 66000 THEN NULL ELSE 'x' || i END AS late,
                      CASE WHEN i < 66000 THEN i ELSE 'text' END AS mixed FROM n";
    let result = run(&scratch.open().await, sql).await.unwrap();
    assert_eq!(result.row_count, 70_000);
    let row = |at: usize| result.row(at).unwrap();
    assert_eq!(row(0), [json!(1), json!(1.0), Value::Null, json!("1")]);
    assert_eq!(
        row(65_536),
        [json!(65_537), json!(65_537.0), Value::Null, json!("65537")]
    );
    assert_eq!(
        row(69_999),
        [json!(70_000), json!(70_000.5), json!("x70000"), json!("text")]
    );
}

#[tokio::test]
async fn a_file_has_no_roles() {
    let scratch = Scratch::new("CREATE TABLE t (a)");
    let access = Access {
        role: Some("reader".into()),
        ..Access::default()
    };
    let target = Target::parse(scratch.path.to_str().unwrap()).unwrap();
    let error = Engine::connect_with(&target, &access, None)
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.ends_with("only a server has `role`; take it out of the connection"),
        "{error}"
    );
}
