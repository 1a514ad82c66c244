use serde_json::{Value, json};

use super::*;
use crate::warehouse::catalog::{KeySource, RowCount, TableKind};
use crate::warehouse::engine::{Backend, Ceiling, Engine, Target};
use crate::warehouse::fetch::ResultSet;
use crate::warehouse::profile;

/// The server of the tests, where there is one; a database of its own for each test, which is dropped first.
struct Server {
    url: String,
}

impl Server {
    async fn with(database: &'static str, statements: &[&str]) -> Option<Self> {
        let Ok(url) = std::env::var("ANALYST_TEST_MYSQL_URL") else {
            eprintln!("skipped: ANALYST_TEST_MYSQL_URL names no server");
            return None;
        };
        let mut connection = MySqlConnection::connect(&url).await.unwrap();
        let make = [
            format!("DROP DATABASE IF EXISTS {database}"),
            format!("CREATE DATABASE {database} CHARACTER SET utf8mb4"),
            format!("USE {database}"),
            "SET sql_mode = ''".to_owned(),
        ];
        for sql in make.into_iter().chain(statements.iter().map(|sql| (*sql).to_owned())) {
            connection.execute(sqlx::raw_sql(AssertSqlSafe(sql))).await.unwrap();
        }
        let (server, _) = url.rsplit_once('/').unwrap();
        Some(Self {
            url: format!("{server}/{database}"),
        })
    }

    async fn engine(&self) -> MysqlEngine {
        MysqlEngine::connect(&self.url, "mysql://test", "test", &Access::default())
            .await
            .unwrap()
    }
}

async fn run(engine: &MysqlEngine, sql: &str) -> Result<ResultSet, EngineError> {
    let fetched = engine
        .run(sql, &RunLimits::default(), &CancellationToken::new())
        .await?;
    Ok(ResultSet::new("q1", sql, fetched))
}

#[tokio::test]
async fn values_of_every_type_come_back_exact() {
    let Some(server) = Server::with(
        "t_values",
        &[
            "CREATE TABLE v (a TINYINT, b BIGINT UNSIGNED, c DECIMAL(10,2), d DECIMAL(65,10), e FLOAT, f DOUBLE, g DATE, h DATE, \
             i DATETIME(6), j DATETIME, k TIME, l YEAR, m BIT(10), n CHAR(4), o TEXT, p BLOB, q JSON, r ENUM('sad','ok'), \
             s SET('x','y'), t VARBINARY(4), u BOOLEAN, w DATE, x SMALLINT UNSIGNED, y TEXT CHARACTER SET latin1)",
            "INSERT INTO v VALUES (-128, 18446744073709551615, 12.30, 1234567890123456789012345678901234567890.5, 0.1, 1e300, \
             '2005-08-01', '0000-00-00', '2005-08-01 10:00:00.5', '2005-08-01', '-838:59:59', 2005, b'1000000001', 'ab', 'naïve', \
             x'00ff', '{\"a\": 1}', 'ok', 'x,y', x'01', true, NULL, 65535, 'né')",
        ],
    )
    .await
    else {
        return;
    };
    let result = run(&server.engine().await, "SELECT * FROM v").await.unwrap();
    let two = DataType::Decimal {
        precision: None,
        scale: Some(2),
    };
    let cases = [
        ("a", DataType::Integer, json!(-128)),
        (
            "b",
            DataType::Decimal {
                precision: None,
                scale: Some(0),
            },
            json!({"decimal": "18446744073709551615"}),
        ),
        ("c", two, json!({"decimal": "12.30"})),
        (
            "d",
            DataType::Text,
            json!("1234567890123456789012345678901234567890.5000000000"),
        ),
        ("e", DataType::Float, json!(0.1)),
        ("f", DataType::Float, json!(1e300)),
        ("g", DataType::Date, json!("2005-08-01")),
        ("h", DataType::Date, json!("0000-00-00")),
        ("i", DataType::DateTime, json!("2005-08-01T10:00:00.5")),
        ("j", DataType::DateTime, json!("2005-08-01T00:00:00")),
        ("k", DataType::Time, json!("-838:59:59")),
        ("l", DataType::Integer, json!(2005)),
        ("m", DataType::Integer, json!(513)),
        ("n", DataType::Text, json!("ab")),
        ("o", DataType::Text, json!("naïve")),
        ("p", DataType::Blob, json!({"bytes": "AP8="})),
        ("r", DataType::Text, json!("ok")),
        ("s", DataType::Text, json!("x,y")),
        ("t", DataType::Blob, json!({"bytes": "AQ=="})),
        ("u", DataType::Integer, json!(1)),
        ("w", DataType::Date, Value::Null),
        ("x", DataType::Integer, json!(65535)),
        ("y", DataType::Text, json!("né")),
    ];
    for (name, data_type, expected) in cases {
        assert_eq!(result.cell(0, name), Some(expected), "{name}");
        assert_eq!(result.column(name).unwrap().data_type, data_type, "{name}");
    }
    // MySQL spaces JSON out, MariaDB keeps it as it was written.
    assert_eq!(result.cell(0, "q"), Some(json!("{\"a\": 1}")));
}

#[tokio::test]
async fn a_statement_that_would_do_more_than_read_changes_nothing() {
    let Some(server) = Server::with("t_writes", &["CREATE TABLE t (i INT)", "INSERT INTO t VALUES (1)"]).await else {
        return;
    };
    let engine = server.engine().await;
    let statements = [
        "INSERT INTO t VALUES (2)",
        "DELETE FROM t",
        "DROP TABLE t",
        "CREATE TEMPORARY TABLE u (i INT)",
        "SET GLOBAL max_connections = 5",
        "SET SESSION TRANSACTION READ WRITE",
        "COMMIT",
        "KILL 1",
        "FLUSH TABLES",
        "/*!50000 DELETE FROM t */",
        "/*M! DELETE FROM t */",
        "SELECT 1; DELETE FROM t",
        "WITH c AS (SELECT 1) DELETE FROM t",
        "EXPLAIN SELECT 1; DELETE FROM t",
    ];
    for sql in statements {
        let error = run(&engine, sql).await.unwrap_err();
        assert!(
            matches!(error, EngineError::NotReadOnly(_) | EngineError::Refused(_)),
            "{sql}: {error:?}"
        );
    }
    assert_eq!(run(&engine, "SELECT i FROM t").await.unwrap().preview(9), [[json!(1)]]);
}

#[tokio::test]
async fn time_and_cancelling_end_a_statement_on_the_server() {
    let Some(server) = Server::with("t_time", &[]).await else {
        return;
    };
    let engine = server.engine().await;
    let endless =
        "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i FROM n) SELECT COUNT(*) FROM n AS endless_of_t_time";
    let limits = RunLimits {
        timeout: Duration::from_millis(300),
        ..RunLimits::default()
    };
    let slow = "SELECT COUNT(*) FROM information_schema.columns a, information_schema.columns b, information_schema.columns c, information_schema.columns endless_of_t_time";
    for sql in [endless, slow, "SELECT SLEEP(100)"] {
        let started = Instant::now();
        let outcome = engine.run(sql, &limits, &CancellationToken::new()).await;
        assert!(
            started.elapsed() < Duration::from_millis(2300),
            "{sql}: {:?}",
            started.elapsed()
        );
        // MariaDB ends a recursion at max_recursive_iterations, and a SLEEP that is cut returns 1.
        assert!(
            matches!(outcome, Err(EngineError::Timeout(_)) | Ok(_)),
            "{sql}: {outcome:?}"
        );
    }
    let cancel = CancellationToken::new();
    let cancelling = cancel.clone();
    let limits = RunLimits::default();
    let (outcome, ()) = tokio::join!(engine.run(slow, &limits, &cancel), async move {
        tokio::time::sleep(Duration::from_millis(200)).await;
        cancelling.cancel();
    });
    assert!(matches!(outcome.unwrap_err(), EngineError::Cancelled));
    tokio::time::sleep(Duration::from_millis(500)).await;
    let left = "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE '%endless_of_t_time%' AND id <> CONNECTION_ID()";
    assert_eq!(
        run(&engine, left).await.unwrap().preview(1),
        [[json!(0)]],
        "nothing runs on"
    );
}

#[tokio::test]
async fn more_rows_than_the_limit_are_cut_at_once() {
    let Some(server) = Server::with(
        "t_cut",
        &[
            "CREATE TABLE t (i INT, s TEXT)",
            "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')",
        ],
    )
    .await
    else {
        return;
    };
    let engine = server.engine().await;
    let limits = RunLimits {
        max_rows: 2,
        ..RunLimits::default()
    };
    for _ in 0..6 {
        let cut = engine
            .run("SELECT * FROM t", &limits, &CancellationToken::new())
            .await
            .unwrap();
        assert_eq!((cut.frame.height(), cut.truncated), (2, true));
    }
    let empty = run(&engine, "SELECT i, s FROM t WHERE false").await.unwrap();
    assert_eq!(empty.frame.shape(), (0, 2));
    assert_eq!(empty.columns[0].data_type, DataType::Integer);
    assert!(run(&engine, "SHOW TABLES").await.unwrap().row_count == 1);
}

#[tokio::test]
async fn the_catalog_tells_columns_keys_and_comments() {
    let Some(server) = Server::with(
        "t_catalog",
        &[
            "CREATE TABLE region (id INT PRIMARY KEY, name VARCHAR(20) NOT NULL UNIQUE COMMENT 'in English') COMMENT 'where we sell'",
            "CREATE TABLE `order` (no VARCHAR(5) PRIMARY KEY, `Total $` DECIMAL(10,2), region INT, flag TINYINT(1), FOREIGN KEY (region) REFERENCES region (id))",
            "CREATE TABLE visit (region_id INT, note TEXT, UNIQUE KEY part (note(5)))",
            "CREATE VIEW big AS SELECT no FROM `order`",
            "INSERT INTO region VALUES (1, 'North'), (2, 'South')",
            "INSERT INTO visit VALUES (1, 'a'), (2, 'b')",
        ],
    )
    .await
    else {
        return;
    };
    let engine = Engine::from(Backend::Mysql(server.engine().await));
    let mut catalog = engine.introspect().await.unwrap();
    let mut names: Vec<_> = catalog
        .tables
        .iter()
        .map(|table| (table.name.as_str(), table.kind))
        .collect();
    names.sort_by_key(|(name, _)| *name);
    assert_eq!(
        names,
        [
            ("big", TableKind::View),
            ("order", TableKind::Table),
            ("region", TableKind::Table),
            ("visit", TableKind::Table)
        ]
    );
    let region = catalog.table("region").unwrap();
    assert_eq!(region.comment.as_deref(), Some("where we sell"));
    assert_eq!(region.columns[1].comment.as_deref(), Some("in English"));
    assert_eq!(
        (region.primary_key.as_slice(), region.unique_keys.as_slice()),
        (&["id".to_owned()][..], &[vec!["name".to_owned()]][..])
    );
    assert_eq!(region.rows, Some(RowCount { rows: 2, exact: true }));
    let order = catalog.table("order").unwrap();
    assert_eq!(order.columns[1].declared_type, "decimal(10,2)");
    assert_eq!(order.columns[3].data_type, DataType::Boolean);
    assert_eq!(
        (order.foreign_keys[0].to_table.as_str(), order.foreign_keys[0].source),
        ("region", KeySource::Declared)
    );
    let visit = catalog.table("visit").unwrap();
    assert!(visit.unique_keys.is_empty(), "a key over a prefix makes nothing unique");
    assert_eq!(
        (
            visit.foreign_keys[0].to_columns[0].as_str(),
            visit.foreign_keys[0].source
        ),
        ("id", KeySource::Measured)
    );
    let values = profile::survey(&engine, &mut catalog, &CancellationToken::new())
        .await
        .unwrap();
    assert_eq!(values.lookup("north").len(), 1);
}

#[tokio::test]
async fn a_server_that_is_not_there_is_said_to_be_so() {
    let target = Target::parse("mysql://ann:secret@127.0.0.1:1/none").unwrap();
    let error = Engine::connect(&target).await.unwrap_err();
    assert!(matches!(error, EngineError::NoAnswer { .. }), "{error:?}");
    assert!(!error.to_string().contains("secret"), "{error}");
}

#[tokio::test]
async fn a_statement_beyond_the_ceiling_is_not_run() {
    let numbers = "INSERT INTO n SELECT seq FROM seq_1_to_2000";
    let Some(server) = Server::with("t_ceiling", &["CREATE TABLE n (i INT)", numbers]).await else {
        return;
    };
    let engine = server.engine().await;
    let limits = RunLimits {
        ceiling: Ceiling {
            plan_rows: Some(1_000_000_000),
            ..Ceiling::default()
        },
        ..RunLimits::default()
    };
    let never = CancellationToken::new();
    let triples = engine.run("SELECT count(*) FROM n a, n b, n c", &limits, &never).await;
    let told = triples.unwrap_err().to_string();
    assert!(told.contains("raise `limits.max_plan_rows`"), "{told}");
    let pairs = engine.run("SELECT count(*) FROM n a, n b", &limits, &never).await;
    assert_eq!(pairs.unwrap().frame.height(), 1);
}

#[tokio::test]
async fn a_connection_looks_at_its_schemas_alone() {
    let Some(server) = Server::with("t_one", &["CREATE TABLE seen (id INT PRIMARY KEY)"]).await else {
        return;
    };
    let Some(_other) = Server::with("t_two", &["CREATE TABLE hidden (id INT PRIMARY KEY)"]).await else {
        return;
    };
    let base = std::env::var("ANALYST_TEST_MYSQL_URL").unwrap();
    let nowhere = base.rsplit_once('/').map(|(base, _)| format!("{base}/")).unwrap();
    let access = Access {
        schemas: vec!["t_one".into()],
        ..Access::default()
    };
    let engine = MysqlEngine::connect(&nowhere, "mysql://test", "test", &access)
        .await
        .unwrap();
    let catalog = engine.introspect().await.unwrap();
    let names: Vec<String> = catalog.tables.iter().map(|table| table.qualified_name()).collect();
    assert_eq!(names, ["t_one.seen"]);
    assert_eq!(
        run(&engine, "SELECT count(*) FROM seen").await.unwrap().preview(1),
        [[json!(0)]]
    );
    drop(server);
}
