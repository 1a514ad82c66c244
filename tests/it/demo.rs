//! The sample database: the same rows everywhere, every trap in its place, and the facts recomputed in plain SQL.
//!
//! `ANALYST_BLESS=1` rewrites `fixtures/sales/facts.json` from the SQL files beside it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{env, fs};

use analyst::demo::{self, DemoError, Existing};
use analyst::jobs::batch::{self, Question};
use analyst::jobs::database::{Database, Source};
use analyst::meaning::query::{self, Measure, Query, Summary};
use analyst::meaning::semantic::MetricKind;
use analyst::time::Window;
use analyst::warehouse::Dialect;
use jiff::civil::date;
use rstest::rstest;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

/// Each table with the SHA-256 of its rows in the order of their keys: whoever changes one raises `demo::VERSION`.
const DIGESTS: [(&str, &str, &str); 10] = [
    (
        "offices",
        "office_id",
        "590faec18646da7d4b110ca32fbcef50cca214321a03b68e1af6f91c00542dd4",
    ),
    (
        "employees",
        "employee_id",
        "fcdb2dc4d94fcd18f499bf9e9b8260bcb30a63047b0657b528e46ade16135ea5",
    ),
    (
        "customers",
        "customer_id",
        "2734d935d48bf657da4a9ccab505e69551a684471ec632dc0910a1c36259bad9",
    ),
    (
        "product_lines",
        "product_line_id",
        "d63eef26ce7b52a589c8d04166d1a0473d282db800bcad9df16b18e069b4e913",
    ),
    (
        "products",
        "product_id",
        "bc19440234191670a19c336b4e592fc9bcc51ed797a6f638861ba1ffd564dd45",
    ),
    (
        "orders",
        "order_id",
        "dd194f7f5ef1cca0efa50c1e59cd2a1932381f2af6ea15c326f1eb85fc3371b1",
    ),
    (
        "order_items",
        "order_item_id",
        "c2eda8e121b4c2a30c6a51b46c9f7fa9382fef57017192939a9701cd5f41c8d1",
    ),
    (
        "payments",
        "payment_id",
        "b02afe6ad60838518a97390a86e1c0d9ab6d6d092725ec8d56cfd3468d8f9195",
    ),
    (
        "returns",
        "return_id",
        "740aaf1c50a7058753ed1e770e1393dcfb726ecc945b5cf8cc16853c02c35657",
    ),
    (
        "sales_targets",
        "employee_id, month",
        "676857239466d370da2099bf8dcdde7054c450baa45e5b68bdf5f321063581d0",
    ),
];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sales")
}

fn sample() -> Connection {
    let path = demo::cached().expect("the sample database can be written");
    Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).expect("it opens")
}

/// The one value that `sql` gives, as text.
fn one(connection: &Connection, sql: &str) -> String {
    connection
        .query_row(sql, [], |row| Ok(text(row.get_ref(0)?)))
        .unwrap_or_else(|error| panic!("{sql}: {error}"))
}

fn text(value: ValueRef) -> String {
    match value {
        ValueRef::Null => "NULL".into(),
        ValueRef::Integer(number) => number.to_string(),
        // Two digits: every number with a fraction in this database is money.
        ValueRef::Real(number) => format!("{number:.2}"),
        ValueRef::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        ValueRef::Blob(_) => panic!("no column holds bytes"),
    }
}

fn digest(connection: &Connection, table: &str, key: &str) -> String {
    let mut statement = connection
        .prepare(&format!("SELECT * FROM {table} ORDER BY {key}"))
        .unwrap();
    let columns = statement.column_count();
    let mut rows = statement.query([]).unwrap();
    let mut hash = Sha256::new();
    while let Some(row) = rows.next().unwrap() {
        let cells: Vec<String> = (0..columns).map(|at| text(row.get_ref(at).unwrap())).collect();
        hash.update(cells.join("\t"));
        hash.update("\n");
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn every_machine_has_the_same_rows() {
    let sample = sample();
    let found = DIGESTS.map(|(table, key, _)| (table, key, digest(&sample, table, key)));
    let expected = DIGESTS.map(|(table, key, digest)| (table, key, digest.to_string()));
    assert_eq!(found, expected);
}

#[test]
fn facts_follow_from_plain_sql() {
    let found = facts();
    let path = fixtures().join("facts.json");
    if env::var_os("ANALYST_BLESS").is_some() {
        fs::write(&path, format!("{found:#}\n")).unwrap();
    }
    let stored: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    for (name, fact) in found.as_object().unwrap() {
        assert_eq!(
            stored.get(name),
            Some(fact),
            "`{name}` in facts.json; ANALYST_BLESS=1 rewrites it"
        );
    }
    assert_eq!(stored.as_object().unwrap().len(), found.as_object().unwrap().len());
}

/// Every `facts/*.sql` by its name: one object where its first line is `-- one`, else a list of rows.
fn facts() -> Value {
    let folder = fixtures().join("facts");
    let sample = sample();
    sample
        .execute_batch(&fs::read_to_string(folder.join("base.sql")).unwrap())
        .unwrap();
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let mut facts = Map::new();
    facts.insert("database_version".into(), json!(demo::VERSION));
    for file in files {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        if name == "base" {
            continue;
        }
        let sql = fs::read_to_string(&file).unwrap();
        let mut rows = rows(&sample, &sql);
        let fact = if sql.starts_with("-- one") {
            assert_eq!(rows.len(), 1, "{name}");
            rows.remove(0)
        } else {
            Value::Array(rows)
        };
        facts.insert(name, fact);
    }
    Value::Object(facts)
}

fn rows(connection: &Connection, sql: &str) -> Vec<Value> {
    let mut statement = connection.prepare(sql).unwrap_or_else(|error| panic!("{sql}\n{error}"));
    let names: Vec<String> = statement
        .column_names()
        .iter()
        .map(|name| (*name).to_string())
        .collect();
    let row = |row: &rusqlite::Row| {
        let cell = |(at, name): (usize, &String)| Ok((name.clone(), cell(row.get_ref(at)?)));
        names
            .iter()
            .enumerate()
            .map(cell)
            .collect::<rusqlite::Result<Map<_, _>>>()
            .map(Value::Object)
    };
    statement.query_map([], row).unwrap().map(|row| row.unwrap()).collect()
}

fn cell(value: ValueRef) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => json!(number),
        ValueRef::Real(number) => json!(number),
        ValueRef::Text(_) | ValueRef::Blob(_) => json!(value.as_str().unwrap()),
    }
}

/// The traps as `fixtures/sales/README.md` tells them: question, SQL, answer.
#[rstest]
#[case::net_sales(
    "SELECT (SELECT sum(line_total) FROM order_items JOIN orders USING (order_id) WHERE status <> 'Cancelled'
    AND order_date BETWEEN '2005-08-01' AND '2005-08-31') - (SELECT sum(refund_amount) FROM returns
    WHERE return_date BETWEEN '2005-08-01' AND '2005-08-31')",
    "2117050.60"
)]
#[case::collapse(
    "SELECT count(*) || ' orders, the last on ' || max(order_date) FROM orders WHERE employee_id = 15
    AND status <> 'Cancelled' AND order_date LIKE '2005-08-%'",
    "5 orders, the last on 2005-08-04"
)]
#[case::huge_order("SELECT sum(line_total) FROM order_items WHERE order_id = 20406", "187952.40")]
#[case::nothing_else_comes_near(
    "SELECT max(total) FROM (SELECT sum(line_total) AS total FROM order_items
    WHERE order_id <> 20406 GROUP BY order_id HAVING order_id <> 20326)",
    "51727.31"
)]
#[case::outage(
    "SELECT count(*) FROM orders WHERE order_date IN ('2005-08-16', '2005-08-17', '2005-08-18')",
    "0"
)]
#[case::no_other_day_is_empty("SELECT count(DISTINCT order_date) FROM orders WHERE status <> 'Cancelled'", "1074")]
#[case::cancelled(
    "SELECT count(DISTINCT order_id) || ' ' || round(sum(line_total), 2) FROM orders JOIN order_items
    USING (order_id) WHERE status = 'Cancelled' AND order_date LIKE '2005-08-%'",
    "9 149655.28"
)]
#[case::cancelled_big(
    "SELECT status || ' ' || (SELECT sum(line_total) FROM order_items i WHERE i.order_id = o.order_id)
    FROM orders o WHERE order_id = 20326",
    "Cancelled 90558"
)]
#[case::big_return(
    "SELECT refund_amount FROM returns WHERE return_date = '2005-08-22' ORDER BY refund_amount DESC",
    "36457.20"
)]
#[case::nothing_cancelled_comes_back(
    "SELECT count(*) FROM returns JOIN order_items USING (order_item_id)
    JOIN orders USING (order_id) WHERE status <> 'Shipped'",
    "0"
)]
#[case::no_employee("SELECT count(*) FROM orders WHERE employee_id IS NULL", "1194")]
#[case::the_web_has_no_employee("SELECT count(*) FROM orders WHERE (employee_id IS NULL) <> (channel = 'Web')", "0")]
#[case::leaver(
    "SELECT max(order_date) || ' ' || (SELECT max(month) FROM sales_targets WHERE employee_id = 18)
    FROM orders WHERE employee_id = 18",
    "2005-06-09 2005-06-01"
)]
#[case::partial_month("SELECT max(order_date) FROM orders", "2005-12-12")]
#[case::same_last_name(
    "SELECT group_concat(first_name, ' and ') FROM (SELECT first_name FROM employees
    WHERE last_name = 'Chen' ORDER BY 1)",
    "Grace and Wei"
)]
#[case::no_other_last_name_twice("SELECT count(DISTINCT last_name) FROM employees", "22")]
#[case::two_part_payments(
    "SELECT count(*) FROM (SELECT 1 FROM payments GROUP BY order_id HAVING count(*) > 1)",
    "1855"
)]
#[case::weekends("SELECT count(*) FROM orders WHERE strftime('%w', order_date) IN ('0', '6')", "559")]
fn traps_are_where_the_readme_says(#[case] sql: &str, #[case] expected: &str) {
    assert_eq!(one(&sample(), sql), expected);
}

#[rstest]
#[case::keys("SELECT count(*) FROM pragma_foreign_key_check")]
#[case::line_totals(
    "SELECT count(*) FROM order_items WHERE CAST(round(line_total * 100) AS INTEGER) <>
    (quantity * CAST(round(unit_price * 100) AS INTEGER) * (100 - discount_percent) + 50) / 100"
)]
#[case::whole_cents("SELECT count(*) FROM order_items WHERE line_total <> round(line_total, 2)")]
#[case::refunds_within_lines(
    "SELECT count(*) FROM returns r JOIN order_items i USING (order_item_id)
    WHERE r.quantity > i.quantity OR r.refund_amount > i.line_total OR r.refund_amount <= 0"
)]
#[case::payments_within_orders(
    "SELECT count(*) FROM (SELECT order_id, sum(amount) AS paid FROM payments GROUP BY 1) p
    JOIN (SELECT order_id, sum(line_total) AS total FROM order_items GROUP BY 1) t USING (order_id)
    WHERE round(p.paid, 2) > round(t.total, 2)"
)]
#[case::in_service(
    "SELECT count(*) FROM orders JOIN employees USING (employee_id)
    WHERE order_date < hire_date OR order_date > leaving_date"
)]
#[case::shipped_after_ordered(
    "SELECT count(*) FROM orders WHERE shipped_date <= order_date OR shipped_date > '2005-12-12'
    OR (shipped_date IS NULL) = (status = 'Shipped')"
)]
#[case::orders_by_date(
    "SELECT count(*) FROM orders a JOIN orders b ON b.order_id = a.order_id + 1 WHERE b.order_date < a.order_date"
)]
fn nothing_contradicts_itself(#[case] sql: &str) {
    assert_eq!(one(&sample(), sql), "0");
}

#[test]
fn writing_refuses_what_is_there_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sales.sqlite");
    let began = Instant::now();
    demo::write(&path, Existing::Refuse).unwrap();
    println!("written in {:?}", began.elapsed());
    assert!(matches!(
        demo::write(&path, Existing::Refuse),
        Err(DemoError::Exists { .. })
    ));
    fs::write(&path, "something else").unwrap();
    demo::write(&path, Existing::Replace).unwrap();
    assert_eq!(fs::read(&path).unwrap().get(..6), Some(&b"SQLite"[..]));
    assert!(matches!(
        demo::write(folder.path(), Existing::Replace),
        Err(DemoError::IsFolder { .. })
    ));
    let missing = folder.path().join("no/such/folder.sqlite");
    assert!(matches!(
        demo::write(&missing, Existing::Refuse),
        Err(DemoError::Place { .. })
    ));
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        1,
        "no temporary file is left"
    );
}

#[test]
fn the_semantic_model_names_only_what_is_there() {
    let document: Value = serde_saphyr::from_str(demo::SEMANTIC_YAML).unwrap();
    let model = &document["semantic_model"][0];
    let sample = sample();
    for dataset in model["datasets"].as_array().unwrap() {
        let table = dataset["source"].as_str().unwrap();
        for field in dataset["fields"].as_array().unwrap() {
            let expression = field["expression"]["dialects"][0]["expression"].as_str().unwrap();
            one(&sample, &format!("SELECT count({expression}) FROM {table}"));
            for value in extension(field)["values"].as_array().into_iter().flatten() {
                let value = value["value"].as_str().unwrap();
                let sql = format!("SELECT count(*) > 0 FROM {table} WHERE {expression} = '{value}'");
                assert_eq!(one(&sample, &sql), "1", "{table}.{expression} = {value}");
            }
        }
    }
    let mut synonyms = BTreeSet::new();
    for metric in model["metrics"].as_array().unwrap() {
        assert!(extension(metric)["label_zh"].is_string(), "{metric}");
        for synonym in metric["ai_context"]["synonyms"].as_array().into_iter().flatten() {
            assert!(
                synonyms.insert(synonym.as_str().unwrap()),
                "{synonym} names two metrics"
            );
        }
    }
    for word in [
        "sales",
        "revenue",
        "销售额",
        "业绩",
        "营收",
        "订单数",
        "目标",
        "客单价",
        "退货率",
        "目标达成率",
    ] {
        assert!(synonyms.contains(word), "{word}");
    }
}

/// The sample database as the analyst opens it: with its catalog, and the semantic model loaded from its file.
async fn opened() -> Database {
    let never = CancellationToken::new();
    let sample = Source::Sample { access: Box::default() };
    Database::open(&sample, &never)
        .await
        .expect("the semantic model loads without a complaint")
}

#[tokio::test]
async fn the_semantic_model_loads_whole() {
    let database = opened().await;
    let model = &database.model;
    assert_eq!(
        (model.datasets.len(), model.relationships.len(), model.metrics.len()),
        (10, 10, 20)
    );
    assert!(
        matches!(&model.metric("net_sales").unwrap().kind, MetricKind::Derived { inputs, .. }
        if *inputs == ["gross_sales", "returned_amount"])
    );
    assert!(
        matches!(&model.metric("target_attainment").unwrap().kind, MetricKind::Ratio { denominator, .. }
        if denominator == "sales_target")
    );
    assert_eq!(
        database.data.map(|days| (days.start, days.end)),
        Some((date(2003, 1, 1), date(2005, 12, 13)))
    );
}

/// The metrics of the model, compiled and run for August 2005, against the facts that plain SQL gives.
#[tokio::test]
async fn the_metrics_of_the_model_give_the_facts() {
    const PAIRS: [(&str, &str); 14] = [
        ("net_sales", "net_sales"),
        ("gross_sales", "gross_sales"),
        ("returned_amount", "returned_amount"),
        ("orders", "orders"),
        ("average_order_value", "average_order_value"),
        ("return_rate", "return_rate"),
        ("units", "units"),
        ("active_customers", "customers"),
        ("cancelled_orders", "cancelled_orders"),
        ("cancelled_value", "cancelled_value"),
        ("cancellation_rate", "cancellation_rate"),
        ("employee_net_sales", "employee_net_sales"),
        ("sales_target", "target"),
        ("target_attainment", "target_attainment"),
    ];
    let database = opened().await;
    let facts: Value = serde_json::from_str(&fs::read_to_string(fixtures().join("facts.json")).unwrap()).unwrap();
    let query = Query::Summary(Summary {
        measures: PAIRS.map(|(metric, _)| Measure::Metric(metric.into())).to_vec(),
        window: Some(Window {
            start: date(2005, 8, 1),
            end: date(2005, 9, 1),
        }),
        ..Summary::default()
    });
    let compiled = query::compile(&query, &database.model, &database.catalog, Dialect::Sqlite).unwrap();
    let found = rows(&sample(), &compiled.sql);
    assert_eq!(found.len(), 1);
    for (at, (metric, fact)) in PAIRS.iter().enumerate() {
        let found = found[0][&compiled.columns[at].name].as_f64().unwrap_or(f64::NAN);
        let expected = facts["totals"][0][fact].as_f64().unwrap();
        // Facts are rounded: money to cents, rates to six digits.
        let unit = if expected.abs() < 10.0 { 1e-6 } else { 0.01 };
        assert!(
            (found - expected).abs() <= unit / 2.0 + 1e-9,
            "{metric}: {found}, not {expected}\n{}",
            compiled.sql
        );
    }
}

/// What stands in the ANALYST extension of a field or metric.
fn extension(of: &Value) -> Value {
    let data = of["custom_extensions"][0]["data"].as_str().unwrap_or("{}");
    serde_json::from_str(data).unwrap_or_else(|error| panic!("{data}: {error}"))
}

#[test]
fn the_two_question_files_ask_the_same() {
    let with_ids = batch::read(&fixtures().join("questions.yaml")).unwrap();
    let plain = batch::read(&fixtures().join("questions.txt")).unwrap();
    let asked = |questions: &[Question]| questions.iter().map(|q| q.question.clone()).collect::<Vec<_>>();
    assert_eq!(asked(&with_ids), asked(&plain));
    assert_eq!(with_ids.len(), 24);
}
