use std::time::Instant;

use serde_json::{Value, json};

use super::*;
use crate::warehouse::catalog::{DataType, KeySource, RowCount, TableKind};
use crate::warehouse::engine::{Backend, Ceiling, Engine, Target};
use crate::warehouse::fetch::ResultSet;
use crate::warehouse::profile;

/// The server of the tests, where there is one; a schema of its own for each test, which is dropped first.
struct Server {
    url: String,
    schema: &'static str,
}

impl Server {
    async fn with(schema: &'static str, sql: &str) -> Option<Self> {
        let Ok(url) = std::env::var("ANALYST_TEST_POSTGRES_URL") else {
            eprintln!("skipped: ANALYST_TEST_POSTGRES_URL names no server");
            return None;
        };
        let mut connection = PgConnection::connect(&url).await.unwrap();
        let script = format!(
            "DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}; SET search_path = {schema}; {sql}"
        );
        connection.execute(sqlx::raw_sql(AssertSqlSafe(script))).await.unwrap();
        Some(Self { url, schema })
    }

    async fn engine(&self) -> PostgresEngine {
        let sign = if self.url.contains('?') { '&' } else { '?' };
        let url = format!("{}{sign}options[search_path]={}", self.url, self.schema);
        PostgresEngine::connect(&url, "postgres://test", "test", &Access::default())
            .await
            .unwrap()
    }

    async fn read(&self) -> Engine {
        Engine::from(Backend::Postgres(self.engine().await))
    }
}

async fn run(engine: &PostgresEngine, sql: &str) -> Result<ResultSet, EngineError> {
    let fetched = engine
        .run(sql, &RunLimits::default(), &CancellationToken::new())
        .await?;
    Ok(ResultSet::new("q1", sql, fetched))
}

#[tokio::test]
async fn values_of_every_type_come_back_exact() {
    let Some(server) = Server::with("t_values", "CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE DOMAIN cents AS numeric(10,2); CREATE TYPE pair AS (a int, b text)").await
    else {
        return;
    };
    let engine = server.engine().await;
    let cases = [
        ("true", DataType::Boolean, json!(true)),
        ("32767::int2", DataType::Integer, json!(32767)),
        (
            "9223372036854775807::int8",
            DataType::Integer,
            json!({"integer": "9223372036854775807"}),
        ),
        ("0.1::float4", DataType::Float, json!(0.1)),
        ("'NaN'::float8", DataType::Float, json!({"float": "NaN"})),
        (
            "12.30::numeric(10,2)",
            DataType::Decimal {
                precision: None,
                scale: Some(2),
            },
            json!({"decimal": "12.30"}),
        ),
        (
            "-0.00010::numeric",
            DataType::Decimal {
                precision: None,
                scale: Some(5),
            },
            json!({"decimal": "-0.00010"}),
        ),
        (
            "1e20::numeric",
            DataType::Decimal {
                precision: None,
                scale: Some(0),
            },
            json!({"decimal": "100000000000000000000"}),
        ),
        (
            "(1e60 + 0.25)::numeric",
            DataType::Text,
            json!(format!("1{}.25", "0".repeat(60))),
        ),
        ("'NaN'::numeric", DataType::Text, json!("NaN")),
        (
            "'5.5'::cents",
            DataType::Decimal {
                precision: None,
                scale: Some(2),
            },
            json!({"decimal": "5.50"}),
        ),
        (
            "'$1,234.50'::money",
            DataType::Decimal {
                precision: None,
                scale: Some(2),
            },
            json!({"decimal": "1234.50"}),
        ),
        ("'naïve'::text", DataType::Text, json!("naïve")),
        ("'ab'::char(4)", DataType::Text, json!("ab  ")),
        ("'ok'::mood", DataType::Text, json!("ok")),
        ("'\\x00ff'::bytea", DataType::Blob, json!({"bytes": "AP8="})),
        ("'2005-08-01'::date", DataType::Date, json!("2005-08-01")),
        ("'infinity'::date", DataType::Date, json!("infinity")),
        ("'0044-03-15 BC'::date", DataType::Date, json!("-0043-03-15")),
        (
            "'2005-08-01 10:00:00.5'::timestamp",
            DataType::DateTime,
            json!("2005-08-01T10:00:00.5"),
        ),
        (
            "'2005-08-01 10:00:00+02'::timestamptz",
            DataType::DateTimeTz,
            json!("2005-08-01T08:00:00Z"),
        ),
        ("'-infinity'::timestamptz", DataType::DateTimeTz, json!("-infinity")),
        ("'10:00'::time", DataType::Time, json!("10:00:00")),
        ("'10:00+02'::timetz", DataType::Time, json!("10:00:00+02:00")),
        (
            "'1 year 2 months 3 days 04:05:06.5'::interval",
            DataType::Other("interval".into()),
            json!("P1Y2M3DT4H5M6.5S"),
        ),
        (
            "'-00:00:01.5'::interval",
            DataType::Other("interval".into()),
            json!("PT-1.5S"),
        ),
        (
            "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid",
            DataType::Other("uuid".into()),
            json!("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
        ),
        ("'{\"a\": 1}'::jsonb", DataType::Json, json!("{\"a\": 1}")),
        ("'{\"a\":1}'::json", DataType::Json, json!("{\"a\":1}")),
        ("B'101'", DataType::Other("bit".into()), json!("101")),
        (
            "'10.1.2.3/8'::inet",
            DataType::Other("inet".into()),
            json!("10.1.2.3/8"),
        ),
        (
            "'08:00:2b:01:02:03'::macaddr",
            DataType::Other("macaddr".into()),
            json!("08:00:2b:01:02:03"),
        ),
        (
            "ARRAY[[1, NULL], [3, 4]]",
            DataType::Other("int4[]".into()),
            json!("[[1,null],[3,4]]"),
        ),
        (
            "ARRAY[1.5]::numeric[]",
            DataType::Other("numeric[]".into()),
            json!("[{\"decimal\":\"1.5\"}]"),
        ),
        ("'{}'::text[]", DataType::Other("text[]".into()), json!("[]")),
        (
            "daterange('2005-08-01', NULL)",
            DataType::Other("daterange".into()),
            json!("[2005-08-01,)"),
        ),
        ("int4range(1, 5)", DataType::Other("int4range".into()), json!("[1,5)")),
        ("ROW(1, 'x')::pair", DataType::Other("pair".into()), json!("[1,\"x\"]")),
        (
            "NULL::numeric",
            DataType::Decimal {
                precision: None,
                scale: Some(0),
            },
            Value::Null,
        ),
        (
            "'(1,2)'::point",
            DataType::Other("point".into()),
            json!("\\x3ff00000000000004000000000000000"),
        ),
    ];
    for (expression, data_type, expected) in cases {
        let result = run(&engine, &format!("SELECT {expression} AS v")).await.unwrap();
        assert_eq!(result.cell(0, "v"), Some(expected), "{expression}");
        assert_eq!(result.columns[0].data_type, data_type, "{expression}");
    }
}

#[tokio::test]
async fn a_statement_that_would_do_more_than_read_changes_nothing() {
    let Some(server) = Server::with(
        "t_writes",
        "CREATE TABLE t (i int); INSERT INTO t VALUES (1); CREATE SEQUENCE s",
    )
    .await
    else {
        return;
    };
    let engine = server.engine().await;
    let statements = [
        "INSERT INTO t VALUES (2)",
        "WITH gone AS (DELETE FROM t RETURNING i) SELECT * FROM gone",
        "SELECT i INTO u FROM t",
        "SELECT nextval('s')",
        "SELECT i FROM t FOR UPDATE",
        "EXPLAIN ANALYZE DELETE FROM t",
        "COPY t TO '/tmp/t.csv'",
        "COMMIT",
        "BEGIN",
        "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE",
        "DO $$ BEGIN DELETE FROM t; END $$",
        "CALL nothing()",
        "SELECT 1; DELETE FROM t",
    ];
    for sql in statements {
        let error = run(&engine, sql).await.unwrap_err();
        assert!(
            matches!(error, EngineError::NotReadOnly(_) | EngineError::Refused(_)),
            "{sql}: {error:?}"
        );
    }
    // A setting that a statement changes goes with its transaction.
    run(&engine, "SELECT set_config('transaction_read_only', 'off', false)")
        .await
        .unwrap_err();
    run(
        &engine,
        "SELECT set_config('default_transaction_read_only', 'off', false)",
    )
    .await
    .unwrap();
    let setting = run(&engine, "SHOW default_transaction_read_only").await.unwrap();
    assert_eq!(setting.preview(1), [[json!("on")]]);
    assert_eq!(run(&engine, "SELECT i FROM t").await.unwrap().preview(9), [[json!(1)]]);
    assert_eq!(
        run(&engine, "SELECT last_value, is_called FROM s")
            .await
            .unwrap()
            .preview(9),
        [[json!(1), json!(false)]]
    );
}

#[tokio::test]
async fn time_and_cancelling_end_a_statement_on_the_server() {
    let Some(server) = Server::with("t_time", "").await else {
        return;
    };
    let engine = server.engine().await;
    let endless = "SELECT count(*) FROM generate_series(1, 1000000000000) AS endless_of_t_time";
    let limits = RunLimits {
        timeout: Duration::from_millis(300),
        ..RunLimits::default()
    };
    let started = Instant::now();
    let error = engine
        .run(endless, &limits, &CancellationToken::new())
        .await
        .unwrap_err();
    assert!(matches!(error, EngineError::Timeout(_)), "{error:?}");
    assert!(
        started.elapsed() < Duration::from_millis(1300),
        "{:?}",
        started.elapsed()
    );
    let cancel = CancellationToken::new();
    let cancelling = cancel.clone();
    let limits = RunLimits::default();
    let (outcome, ()) = tokio::join!(engine.run(endless, &limits, &cancel), async move {
        tokio::time::sleep(Duration::from_millis(200)).await;
        cancelling.cancel();
    });
    assert!(matches!(outcome.unwrap_err(), EngineError::Cancelled));
    for _ in 0..6 {
        let never = CancellationToken::new();
        let given_up = tokio::time::timeout(Duration::from_millis(50), engine.run(endless, &limits, &never));
        assert!(given_up.await.is_err());
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    let left = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid() AND query LIKE '%endless_of_t_time%'";
    assert_eq!(
        run(&engine, left).await.unwrap().preview(1),
        [[json!(0)]],
        "nothing runs on"
    );
}

#[tokio::test]
async fn more_rows_than_the_limit_are_cut_at_once() {
    let Some(server) = Server::with("t_cut", "").await else {
        return;
    };
    let engine = server.engine().await;
    let limits = RunLimits {
        max_rows: 2,
        ..RunLimits::default()
    };
    for _ in 0..6 {
        let started = Instant::now();
        let cut = engine
            .run(
                // In the list of columns the series is made row by row, so the server itself has nothing to wait for.
                "SELECT generate_series(1, 50000000) AS n",
                &limits,
                &CancellationToken::new(),
            )
            .await
            .unwrap();
        assert_eq!((cut.frame.height(), cut.truncated), (2, true));
        assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
    }
    let empty = run(&engine, "SELECT 1 AS one, 'x' AS two WHERE false").await.unwrap();
    assert_eq!(empty.frame.shape(), (0, 2));
}

#[tokio::test]
async fn the_catalog_tells_columns_keys_and_comments() {
    let Some(server) = Server::with(
        "t_catalog",
        r#"CREATE TABLE region (id int PRIMARY KEY, name text NOT NULL UNIQUE);
           CREATE TABLE "Order" (no text PRIMARY KEY, "Total $" numeric(10,2), region int REFERENCES region, placed timestamptz, 客户 varchar(20));
           CREATE TABLE visit (region_id int, at date);
           CREATE UNIQUE INDEX part ON visit (region_id) WHERE at IS NULL;
           CREATE VIEW big AS SELECT no FROM "Order";
           COMMENT ON TABLE region IS 'where we sell'; COMMENT ON COLUMN region.name IS 'in English';
           INSERT INTO region VALUES (1, 'North'), (2, 'South'); INSERT INTO visit VALUES (1, '2005-08-01'), (2, NULL);"#,
    )
    .await
    else {
        return;
    };
    let engine = server.read().await;
    let mut catalog = engine.introspect().await.unwrap();
    assert_eq!(catalog.search_path, ["t_catalog"]);
    catalog
        .tables
        .retain(|table| table.schema.as_deref() == Some("t_catalog"));
    let names: Vec<_> = catalog
        .tables
        .iter()
        .map(|table| (table.name.as_str(), table.kind))
        .collect();
    assert_eq!(
        names,
        [
            ("region", TableKind::Table),
            ("Order", TableKind::Table),
            ("visit", TableKind::Table),
            ("big", TableKind::View)
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
    let order = catalog.table("Order").unwrap();
    assert_eq!(order.columns[1].declared_type, "numeric(10,2)");
    assert_eq!(order.columns[3].data_type, DataType::DateTimeTz);
    assert_eq!(
        (order.foreign_keys[0].to_table.as_str(), order.foreign_keys[0].source),
        ("region", KeySource::Declared)
    );
    let visit = catalog.table("visit").unwrap();
    assert!(visit.unique_keys.is_empty(), "a partial index makes nothing unique");
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
    assert_eq!(
        catalog.table("region").unwrap().columns[0]
            .profile
            .as_ref()
            .unwrap()
            .max
            .as_deref(),
        Some("2")
    );
}

#[tokio::test]
async fn a_server_that_is_not_there_is_said_to_be_so() {
    let target = Target::parse("postgres://ann:secret@127.0.0.1:1/none").unwrap();
    let error = Engine::connect(&target).await.unwrap_err();
    assert!(matches!(error, EngineError::NoAnswer { .. }), "{error:?}");
    assert!(!error.to_string().contains("secret"), "{error}");
}

#[tokio::test]
async fn a_statement_beyond_the_ceiling_is_not_run() {
    let Some(server) = Server::with("t_ceiling", "").await else {
        return;
    };
    let engine = server.engine().await;
    let pairs = "SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b";
    let cases = [
        (Some(1_000), None, "max_cost"),
        (None, Some(1_000_000), "max_plan_rows"),
    ];
    for (cost, plan_rows, key) in cases {
        let limits = RunLimits {
            ceiling: Ceiling {
                cost,
                plan_rows,
                steps: None,
            },
            ..RunLimits::default()
        };
        let error = engine.run(pairs, &limits, &CancellationToken::new()).await.unwrap_err();
        let told = error.to_string();
        assert!(told.starts_with("not run: the database's planner expects"), "{told}");
        assert!(told.contains(&format!("raise `limits.{key}`")), "{told}");
        let small = engine
            .run("SELECT 1", &limits, &CancellationToken::new())
            .await
            .unwrap();
        assert_eq!(small.frame.height(), 1);
    }
}

#[tokio::test]
async fn a_result_is_cut_where_it_would_take_too_much_memory() {
    let Some(server) = Server::with("t_bytes", "").await else {
        return;
    };
    let limits = RunLimits {
        max_bytes: 1 << 20,
        ..RunLimits::default()
    };
    let long = "SELECT repeat('x', 1000) FROM generate_series(1, 100000)";
    let engine = server.engine().await;
    let fetched = engine.run(long, &limits, &CancellationToken::new()).await.unwrap();
    assert!(fetched.truncated);
    assert_eq!(fetched.frame.height(), (1 << 20) / 1016 + 1);
}

/// Ends the server's processes that run a statement with `mark` in it, as soon as there is one.
async fn break_connection(url: &str, mark: &str) {
    let mut connection = PgConnection::connect(url).await.unwrap();
    let sql = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
               WHERE pid <> pg_backend_pid() AND state = 'active' AND query LIKE '%' || $1 || '%'";
    for _ in 0..200 {
        let ended: i64 = sqlx::query_scalar(sql)
            .bind(mark)
            .fetch_one(&mut connection)
            .await
            .unwrap();
        if ended > 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("no statement was marked {mark}");
}

#[tokio::test]
async fn a_connection_that_breaks_is_replaced_before_the_first_row_and_told_after_it() {
    let Some(server) = Server::with("t_break", "").await else {
        return;
    };
    let engine = server.read().await;
    let (limits, never) = (RunLimits::default(), CancellationToken::new());
    let slow = "SELECT 7 AS broken_before FROM (SELECT pg_sleep(0.5)) s";
    let (fetched, ()) = tokio::join!(
        engine.run_text(slow, &limits, &never),
        break_connection(&server.url, "broken_before")
    );
    assert_eq!(fetched.unwrap().frame.height(), 1);
    let late = "SELECT i AS broken_after, CASE WHEN i = 50000 THEN pg_sleep(5) END FROM generate_series(1, 50000) i";
    let (fetched, ()) = tokio::join!(engine.run_text(late, &limits, &never), async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        break_connection(&server.url, "broken_after").await;
    });
    let error = fetched.unwrap_err();
    assert!(matches!(error, EngineError::Lost { rows: 1.., .. }), "{error:?}");
}

#[tokio::test]
async fn a_connection_works_as_its_role_in_its_schemas() {
    let setup = "CREATE TABLE seen (id int PRIMARY KEY, other_id int); DROP SCHEMA IF EXISTS t_other CASCADE; \
                 CREATE SCHEMA t_other; CREATE TABLE t_other.hidden (id int); \
                 DO $$ BEGIN CREATE ROLE t_reader; EXCEPTION WHEN duplicate_object THEN NULL; END $$; \
                 GRANT USAGE ON SCHEMA t_role, t_other TO t_reader; GRANT SELECT ON t_role.seen, t_other.hidden TO t_reader";
    let Some(server) = Server::with("t_role", setup).await else {
        return;
    };
    let access = Access {
        role: Some("t_reader".into()),
        schemas: vec!["t_role".into()],
        ..Access::default()
    };
    let engine = PostgresEngine::connect(&server.url, "postgres://test", "test", &access)
        .await
        .unwrap();
    let result = run(&engine, "SELECT current_user::text, count(*) FROM seen")
        .await
        .unwrap();
    assert_eq!(result.preview(1), [[json!("t_reader"), json!(0)]]);
    let catalog = engine.introspect().await.unwrap();
    let names: Vec<String> = catalog.tables.iter().map(|table| table.qualified_name()).collect();
    assert_eq!(names, ["t_role.seen"]);
    assert_eq!(catalog.search_path, ["t_role"]);
}

#[tokio::test]
async fn a_certificate_that_is_not_there_or_does_not_fit_is_told() {
    let Some(server) = Server::with("t_tls", "").await else {
        return;
    };
    let with_ca = |ca: std::path::PathBuf| {
        let tls = crate::config::Tls {
            ca: Some(ca),
            ..crate::config::Tls::default()
        };
        Access {
            tls,
            ..Access::default()
        }
    };
    let access = with_ca("/nowhere/ca.pem".into());
    let error = PostgresEngine::connect(&server.url, "postgres://test", "test", &access)
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("cannot read the certificate /nowhere/ca.pem"), "{error}");
    let empty = tempfile::NamedTempFile::new().unwrap();
    let access = with_ca(empty.path().to_owned());
    let refused = PostgresEngine::connect(&server.url, "postgres://test", "test", &access).await;
    assert!(
        refused.is_err(),
        "a server that no authority vouches for is not talked to"
    );
}

#[tokio::test]
async fn a_lock_of_the_session_does_not_outlive_the_statement_that_took_it() {
    let Some(server) = Server::with("t_advisory", "").await else {
        return;
    };
    let engine = server.engine().await;
    run(&engine, "SELECT pg_advisory_lock(7412, 1)").await.unwrap();
    // A statement that fails has taken its lock before.
    run(
        &engine,
        "SELECT pg_advisory_lock(7412, 2), 1 / (SELECT count(*) - 1 FROM generate_series(1, 1))",
    )
    .await
    .unwrap_err();
    let held = "SELECT count(*) AS held FROM pg_locks WHERE locktype = 'advisory' AND classid = 7412";
    let result = run(&engine, held).await.unwrap();
    assert_eq!(result.cell(0, "held"), Some(json!(0)));
}
