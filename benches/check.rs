//! What a check costs: a 50-line query, resolved and linted against a catalog of 1,000 tables and 20,000 columns.

use analyst::warehouse::catalog::{Catalog, Column, DataType, ForeignKey, KeySource, Table, TableKind};
use analyst::warehouse::{Dialect, sql};
use divan::Bencher;

fn main() {
    divan::main();
}

const TABLES: usize = 1_000;
const COLUMNS: usize = 20;

const QUERY: &str = include_str!("check.sql");

fn column(name: String, data_type: DataType) -> Column {
    Column {
        declared_type: format!("{data_type:?}"),
        name,
        data_type,
        nullable: true,
        comment: None,
        synonyms: Vec::new(),
        profile: None,
    }
}

/// `table_0` to `table_999`, each with a key, a foreign key to the table before it, and measures, dates and texts.
fn catalog(dialect: Dialect) -> Catalog {
    let tables = (0..TABLES).map(|i| {
        let mut columns = vec![
            column("id".to_owned(), DataType::Integer),
            column("parent_id".to_owned(), DataType::Integer),
        ];
        columns.extend((2..COLUMNS).map(|c| match c % 4 {
            0 => column(
                format!("amount_{c}"),
                DataType::Decimal {
                    precision: Some(12),
                    scale: Some(2),
                },
            ),
            1 => column(format!("happened_at_{c}"), DataType::DateTime),
            2 => column(format!("kind_{c}"), DataType::Text),
            _ => column(format!("count_{c}"), DataType::Integer),
        }));
        Table {
            schema: None,
            name: format!("table_{i}"),
            kind: TableKind::Table,
            columns,
            primary_key: vec!["id".to_owned()],
            unique_keys: Vec::new(),
            foreign_keys: i
                .checked_sub(1)
                .map(|parent| ForeignKey {
                    columns: vec!["parent_id".to_owned()],
                    to_schema: None,
                    to_table: format!("table_{parent}"),
                    to_columns: vec!["id".to_owned()],
                    source: KeySource::Declared,
                })
                .into_iter()
                .collect(),
            rows: None,
            comment: None,
            read_through: None,
            synonyms: Vec::new(),
        }
    });
    Catalog {
        tables: tables.collect(),
        ..Catalog::empty(dialect, "bench")
    }
}

#[divan::bench]
fn check_and_resolve(bencher: Bencher<'_, '_>) {
    let catalog = catalog(Dialect::Sqlite);
    assert!(sql::check(QUERY, Dialect::Sqlite, Some(&catalog)).is_ok());
    bencher.bench(|| sql::check(divan::black_box(QUERY), Dialect::Sqlite, Some(&catalog)));
}

#[divan::bench]
fn parse_and_guard(bencher: Bencher<'_, '_>) {
    bencher.bench(|| sql::check(divan::black_box(QUERY), Dialect::Sqlite, None));
}

#[divan::bench]
fn refuse_with_the_nearest_names(bencher: Bencher<'_, '_>) {
    let catalog = catalog(Dialect::Sqlite);
    let wrong = QUERY.replace("amount_8", "amuont_8");
    assert!(sql::check(&wrong, Dialect::Sqlite, Some(&catalog)).is_err());
    bencher.bench(|| sql::check(divan::black_box(&wrong), Dialect::Sqlite, Some(&catalog)));
}
