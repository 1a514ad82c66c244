use std::path::PathBuf;
use std::time::Instant;

use super::*;
use crate::warehouse::catalog::values::MatchKind;
use crate::warehouse::engine::Target;

async fn surveyed(sql: &str) -> (Catalog, ValueIndex) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("shop.sqlite");
    rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    survey_file(path).await
}

async fn survey_file(path: PathBuf) -> (Catalog, ValueIndex) {
    let engine = Engine::connect(&Target::parse(path.to_str().unwrap()).unwrap())
        .await
        .unwrap();
    let started = Instant::now();
    let mut catalog = engine.introspect().await.unwrap();
    let introspected = started.elapsed();
    let index = survey(&engine, &mut catalog, &CancellationToken::new()).await.unwrap();
    let name = path.file_name().unwrap().to_string_lossy();
    eprintln!(
        "{name}: introspected in {introspected:?}, surveyed in {:?}, {} values",
        started.elapsed() - introspected,
        index.entries().len()
    );
    (catalog, index)
}

fn profile_of<'a>(catalog: &'a Catalog, table: &str, column: &str) -> &'a Profile {
    catalog
        .table(table)
        .unwrap()
        .column(column)
        .unwrap()
        .profile
        .as_ref()
        .unwrap()
}

/// A file of the shared data, where that is at hand.
fn shared(file: &str) -> Option<PathBuf> {
    let shared = std::env::var_os("ANALYST_SHARED").map(PathBuf::from);
    let shared = shared.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared"));
    let path = shared.join("data").join(file);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: {} is not at hand", path.display());
    None
}

#[tokio::test]
async fn a_profile_counts_values_and_tells_the_role() {
    let (catalog, _) = surveyed(
        "CREATE TABLE sale (sale_id INTEGER PRIMARY KEY, region TEXT, amount REAL, discount REAL, quantity INTEGER,
             is_paid INTEGER, sold_at TEXT, fiscal_year INTEGER, remark TEXT, missing TEXT, photo BLOB);
         INSERT INTO sale VALUES
             (1, 'North', 10.5, 0.1, 3, 1, '2005-08-01 10:00:00', 2005, 'A long remark that somebody wrote about the sale', NULL, x'00'),
             (2, 'South', 2, 0.25, 3, 0, '2005-08-02 11:30:00', 2005, 'Another long remark, which is different from the first', NULL, NULL),
             (3, 'North', NULL, 0.0, 9, 1, '2005-12-31 00:00:00', 2006, 'A third remark that goes on for quite some time as well', NULL, NULL);",
    )
    .await;
    let region = profile_of(&catalog, "sale", "region");
    assert_eq!(
        (region.rows, region.nulls, region.distinct, region.sampled),
        (3, 0, 2, false)
    );
    assert_eq!(
        (region.min.as_deref(), region.max.as_deref()),
        (Some("North"), Some("South"))
    );
    assert_eq!(region.top, [("North".to_owned(), 2), ("South".to_owned(), 1)]);
    let amount = profile_of(&catalog, "sale", "amount");
    assert_eq!((amount.nulls, amount.distinct), (1, 2));
    assert_eq!(
        (amount.min.as_deref(), amount.max.as_deref()),
        (Some("2"), Some("10.5"))
    );
    let roles = [
        ("sale_id", Role::Key),
        ("region", Role::Category),
        ("amount", Role::Money),
        ("discount", Role::Percentage),
        ("quantity", Role::Measure),
        ("is_paid", Role::Flag),
        ("sold_at", Role::Time),
        ("fiscal_year", Role::Time),
        ("remark", Role::FreeText),
        ("missing", Role::Unknown),
        ("photo", Role::Unknown),
    ];
    for (column, role) in roles {
        assert_eq!(profile_of(&catalog, "sale", column).role, role, "{column}");
    }
    assert_eq!(
        profile_of(&catalog, "sale", "sold_at").format,
        Some(TimeFormat::DateTime)
    );
    assert_eq!(
        profile_of(&catalog, "sale", "fiscal_year").format,
        Some(TimeFormat::Year)
    );
    assert_eq!(profile_of(&catalog, "sale", "missing").distinct, 0);
}

#[tokio::test]
async fn an_empty_table_has_profiles_without_values() {
    let (catalog, index) = surveyed("CREATE TABLE t (a INTEGER, b TEXT)").await;
    let profile = profile_of(&catalog, "t", "b");
    assert_eq!((profile.rows, profile.distinct, profile.role), (0, 0, Role::Unknown));
    assert_eq!((profile.min.clone(), profile.top.len()), (None, 0));
    assert!(index.is_empty());
}

#[tokio::test]
async fn a_big_table_is_sampled_from_end_to_end_and_says_so() {
    let (catalog, index) = surveyed(
        "CREATE TABLE big (id INTEGER PRIMARY KEY, half TEXT, n INTEGER);
         WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 300000)
         INSERT INTO big SELECT i, CASE WHEN i <= 150000 THEN 'first' ELSE 'second' END, i % 7 FROM s;",
    )
    .await;
    let half = profile_of(&catalog, "big", "half");
    assert!(half.sampled);
    assert_eq!((half.rows, half.distinct), (200_000, 2));
    assert_eq!(
        half.top,
        [("first".to_owned(), 100_000), ("second".to_owned(), 100_000)]
    );
    assert_eq!(
        catalog.table("big").unwrap().rows.unwrap().rows,
        300_000,
        "the count of rows is exact all the same"
    );
    assert_eq!(index.lookup("second").len(), 1);
}

#[tokio::test]
async fn values_are_found_in_real_data() {
    let Some(path) = shared("db/sakila.sqlite") else { return };
    let (catalog, index) = survey_file(path).await;
    let found: Vec<_> = index
        .lookup("animation")
        .iter()
        .map(|m| (m.entry.table.clone(), m.entry.column.clone(), m.kind))
        .collect();
    assert_eq!(found, [("category".to_owned(), "name".to_owned(), MatchKind::Folded)]);
    assert_eq!(profile_of(&catalog, "payment", "amount").role, Role::Money);
    assert_eq!(profile_of(&catalog, "payment", "payment_date").role, Role::Time);
    assert_eq!(
        profile_of(&catalog, "payment", "payment_date").format,
        Some(TimeFormat::DateTime)
    );
    assert_eq!(profile_of(&catalog, "payment", "staff_id").role, Role::Key);
}

#[tokio::test]
async fn real_databases_are_read_without_a_fault() {
    let Some(folder) = shared("db") else { return };
    for name in ["sakila", "chinook", "northwind"] {
        let (catalog, _) = survey_file(folder.join(format!("{name}.sqlite"))).await;
        let tables: Vec<_> = catalog
            .tables
            .iter()
            .filter(|table| table.kind == TableKind::Table)
            .collect();
        assert!(!tables.is_empty());
        for table in tables {
            for column in &table.columns {
                let profile = column.profile.as_ref().unwrap();
                eprintln!(
                    "{}.{}: {} {:?} {:?} distinct {}",
                    table.name, column.name, column.declared_type, profile.role, profile.format, profile.distinct
                );
            }
            for key in table
                .foreign_keys
                .iter()
                .filter(|key| key.source != crate::warehouse::catalog::KeySource::Declared)
            {
                eprintln!(
                    "  {:?} {}.{:?} → {}.{:?}",
                    key.source, table.name, key.columns, key.to_table, key.to_columns
                );
            }
        }
    }
}
