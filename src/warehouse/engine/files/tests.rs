use polars::prelude::{Column as FrameColumn, DataFrame};
use rstest::rstest;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::warehouse::catalog::{DataType, KeySource};
use crate::warehouse::engine::{Engine, RunLimits, Target};
use crate::warehouse::fetch::ResultSet;

fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, content) in files {
        fs::write(dir.path().join(name), content).unwrap();
    }
    dir
}

async fn open(path: &Path) -> Result<Engine, EngineError> {
    Engine::connect(&Target::parse(path.to_str().unwrap()).unwrap()).await
}

async fn rows(engine: &Engine, sql: &str) -> Vec<Vec<Value>> {
    let fetched = engine
        .run_text(sql, &RunLimits::default(), &CancellationToken::new())
        .await
        .unwrap();
    ResultSet::new("q1", sql, fetched).preview(usize::MAX)
}

#[tokio::test]
async fn a_folder_of_files_is_a_database_with_keys_between_its_tables() {
    let dir = folder(&[
        (
            "customers.csv",
            b"id,name,since\n1,\"Doe, Jane\",2005-08-01\n2,Ann,2005-09-01\n",
        ),
        (
            "orders.csv",
            b"\xEF\xBB\xBFid;customer_id;total;code\n1;2;10.50;007\n2;1;;008\n",
        ),
        ("notes.txt", b"no table"),
    ]);
    let engine = open(dir.path()).await.unwrap();
    assert_eq!(engine.display(), dir.path().display().to_string());
    let catalog = engine.introspect().await.unwrap();
    let names: Vec<_> = catalog.tables.iter().map(|table| table.name.as_str()).collect();
    assert_eq!(names, ["customers", "orders"]);
    let key = &catalog.table("orders").unwrap().foreign_keys[0];
    assert_eq!(
        (key.columns[0].as_str(), key.to_table.as_str(), key.source),
        ("customer_id", "customers", KeySource::Measured)
    );
    assert_eq!(
        catalog.table("customers").unwrap().column("since").unwrap().data_type,
        DataType::Date
    );
    let joined = "SELECT c.name, o.total, o.code FROM orders o JOIN customers c ON c.id = o.customer_id ORDER BY o.id";
    assert_eq!(
        rows(&engine, joined).await,
        [
            [json!("Ann"), json!(10.5), json!("007")],
            [json!("Doe, Jane"), Value::Null, json!("008")]
        ]
    );
}

#[tokio::test]
async fn the_tables_of_files_are_gone_when_the_engine_is() {
    let dir = folder(&[("t.csv", b"a\n1\n")]);
    let loaded = load(vec![dir.path().join("t.csv")]).await.unwrap();
    let path = loaded.path.clone();
    assert!(path.exists());
    drop(loaded);
    assert!(!path.exists());
}

#[tokio::test]
async fn parquet_keeps_its_values() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("day's sales.parquet");
    let mut frame = DataFrame::new_infer_height(vec![
        FrameColumn::new("i".into(), [Some(1_i64), None]),
        FrameColumn::new("f".into(), [0.5_f64, 2.0]),
        FrameColumn::new("s".into(), ["x", "客户"]),
        FrameColumn::new("b".into(), [true, false]),
        FrameColumn::new("u".into(), [1_u64, u64::MAX]),
    ])
    .unwrap();
    let file = fs::File::create(&path).unwrap();
    polars_io::parquet::write::ParquetWriter::new(file)
        .finish(&mut frame)
        .unwrap();
    let engine = open(&path).await.unwrap();
    assert_eq!(
        rows(&engine, "SELECT * FROM \"day's sales\"").await,
        [
            [json!(1), json!(0.5), json!("x"), json!(1), json!("1")],
            [
                Value::Null,
                json!(2.0),
                json!("客户"),
                json!(0),
                json!("18446744073709551615")
            ]
        ]
    );
}

#[tokio::test]
async fn a_file_that_is_no_table_is_refused_with_the_line() {
    let dir = folder(&[("torn.csv", b"a,b\n1,2\n3\n"), ("none.csv", b"")]);
    let torn = open(&dir.path().join("torn.csv")).await.unwrap_err().to_string();
    assert!(
        torn.ends_with("line 3 has 1 fields, and the first line names 2"),
        "{torn}"
    );
    let none = open(&dir.path().join("none.csv")).await.unwrap_err().to_string();
    assert!(
        none.ends_with("it is empty; the first line must name the columns"),
        "{none}"
    );
}

#[tokio::test]
async fn old_encodings_and_nameless_columns_are_read() {
    let dir = folder(&[("a.csv", b"name,,name\nM\xFCller,1,x\n")]);
    let engine = open(&dir.path().join("a.csv")).await.unwrap();
    let catalog = engine.introspect().await.unwrap();
    let names: Vec<_> = catalog.tables[0]
        .columns
        .iter()
        .map(|column| column.name.as_str())
        .collect();
    assert_eq!(names, ["name", "column_2", "name_2"]);
    assert_eq!(
        rows(&engine, "SELECT * FROM a").await,
        [[json!("Müller"), json!(1), json!("x")]]
    );
}

#[rstest]
#[case("*.csv", Ok(2))]
#[case("a?.csv", Ok(1))]
#[case("a1.csv", Ok(1))]
#[case("", Ok(3))]
#[case("*.json", Err("no CSV or Parquet file matches"))]
fn files_are_named_by_patterns(#[case] pattern: &str, #[case] expected: Result<usize, &str>) {
    let dir = folder(&[
        ("a1.csv", b"a\n1\n"),
        ("b.csv", b"a\n1\n"),
        ("c.TSV", b"a\n1\n"),
        ("d.json", b"{}"),
    ]);
    let text = if pattern.is_empty() {
        dir.path().to_owned()
    } else {
        dir.path().join(pattern)
    };
    let found = find(text.to_str().unwrap());
    match expected {
        Ok(count) => assert_eq!(found.unwrap().unwrap().len(), count),
        Err(words) => assert!(found.unwrap_err().to_string().starts_with(words)),
    }
}
