//! Catalogs for tests, written as CREATE TABLE statements.

use sqlparser::ast::{ColumnOption, ObjectName, Statement, TableConstraint};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;

use crate::warehouse::Dialect;
use crate::warehouse::catalog::{Catalog, Column, DataType, ForeignKey, KeySource, Table, TableKind};
use crate::warehouse::sql::{CheckedSql, Refusal, check};

/// A small shop: customers place orders of items, and pay in parts.
pub const SHOP: &str = "
    CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT, zip TEXT, age INTEGER, manager_id INTEGER REFERENCES customer (id));
    CREATE TABLE product (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price DECIMAL(10, 2), units INTEGER);
    CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customer (id), placed_at TIMESTAMP, status TEXT, total DECIMAL(10, 2), items INTEGER);
    CREATE TABLE order_item (order_id INTEGER REFERENCES orders (id), product_id INTEGER REFERENCES product (id), quantity INTEGER, amount DECIMAL(10, 2), PRIMARY KEY (order_id, product_id));
    CREATE TABLE payment (id INTEGER PRIMARY KEY, order_id INTEGER REFERENCES orders (id), paid_at TIMESTAMP, amount DECIMAL(10, 2));
    CREATE TABLE profile (customer_id INTEGER PRIMARY KEY REFERENCES customer (id), bio TEXT, score INTEGER);
    CREATE TABLE log (what TEXT, at DATE);
";

fn last(name: &ObjectName) -> String {
    name.0
        .last()
        .and_then(|p| p.as_ident())
        .map(|i| i.value.clone())
        .unwrap()
}

/// The catalog of `ddl` for `dialect`; a table named `schema.table` lives in that schema.
pub fn catalog(dialect: Dialect, ddl: &str) -> Catalog {
    let statements = Parser::parse_sql(&GenericDialect {}, ddl).unwrap();
    let tables = statements.iter().map(|s| table(dialect, s)).collect();
    let search_path = if dialect == Dialect::Postgres {
        vec!["public".to_owned()]
    } else {
        Vec::new()
    };
    Catalog {
        dialect,
        database: "shop".to_owned(),
        search_path,
        tables,
        notes: Vec::new(),
        rules: None,
    }
}

fn table(dialect: Dialect, statement: &Statement) -> Table {
    let Statement::CreateTable(create) = statement else {
        panic!("only CREATE TABLE, not {statement}")
    };
    let mut table = Table {
        schema: (create.name.0.len() > 1).then(|| create.name.0.first().unwrap().to_string()),
        name: last(&create.name),
        kind: TableKind::Table,
        columns: Vec::new(),
        primary_key: Vec::new(),
        unique_keys: Vec::new(),
        foreign_keys: Vec::new(),
        rows: None,
        comment: None,
        synonyms: Vec::new(),
        read_through: None,
    };
    if dialect == Dialect::Postgres && table.schema.is_none() {
        table.schema = Some("public".to_owned());
    }
    let names =
        |columns: &[sqlparser::ast::IndexColumn]| columns.iter().map(|c| c.column.expr.to_string()).collect::<Vec<_>>();
    for column in &create.columns {
        let name = column.name.value.clone();
        let mut nullable = true;
        for option in &column.options {
            match &option.option {
                ColumnOption::NotNull => nullable = false,
                ColumnOption::PrimaryKey(_) => table.primary_key = vec![name.clone()],
                ColumnOption::Unique(_) => table.unique_keys.push(vec![name.clone()]),
                ColumnOption::ForeignKey(key) => table.foreign_keys.push(ForeignKey {
                    columns: vec![name.clone()],
                    to_schema: table.schema.clone(),
                    to_table: last(&key.foreign_table),
                    to_columns: key.referred_columns.iter().map(|c| c.value.clone()).collect(),
                    source: KeySource::Declared,
                }),
                _ => {}
            }
        }
        let declared_type = column.data_type.to_string();
        table.columns.push(Column {
            data_type: DataType::from_declared(dialect, &declared_type),
            declared_type,
            name,
            nullable,
            comment: None,
            synonyms: Vec::new(),
            profile: None,
        });
    }
    for constraint in &create.constraints {
        match constraint {
            TableConstraint::PrimaryKey(key) => table.primary_key = names(&key.columns),
            TableConstraint::Unique(key) => table.unique_keys.push(names(&key.columns)),
            _ => {}
        }
    }
    table
}

/// Checks `sql` against the shop.
pub fn shop(dialect: Dialect, sql: &str) -> Result<CheckedSql, Refusal> {
    check(sql, dialect, Some(&catalog(dialect, SHOP)))
}

/// The codes of the lints of an accepted statement, gravest first.
pub fn codes(sql: &str) -> Vec<String> {
    let checked = shop(Dialect::Sqlite, sql).unwrap_or_else(|refusal| panic!("{sql}: {refusal}"));
    checked
        .lints()
        .iter()
        .map(|l| format!("{} {}", format!("{:?}", l.level).to_lowercase(), l.code))
        .collect()
}
