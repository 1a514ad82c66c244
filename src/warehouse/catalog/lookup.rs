//! Finding tables and columns by name, and the paths between tables.

use super::{Catalog, Column, ForeignKey, Table};
use crate::warehouse::Dialect;

impl Catalog {
    /// A catalog without tables.
    pub fn empty(dialect: Dialect, database: impl Into<String>) -> Self {
        Self {
            dialect,
            database: database.into(),
            search_path: vec![],
            tables: vec![],
            notes: vec![],
            rules: None,
        }
    }

    /// The table called `name`, plain or as `schema.table`.
    ///
    /// The exact spelling wins; where the dialect folds case, another case will do as long as only one table has it.
    /// A plain name is looked up along the search path first.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.position(name).and_then(|at| self.tables.get(at))
    }

    /// As [`Catalog::table`], to be changed.
    pub fn table_mut(&mut self, name: &str) -> Option<&mut Table> {
        let at = self.position(name)?;
        self.tables.get_mut(at)
    }

    /// The table called exactly so in exactly that schema, up to case where the dialect folds it.
    pub fn table_in(&self, schema: Option<&str>, name: &str) -> Option<&Table> {
        let in_schema = |table: &&Table| schema.is_none() || same(table.schema.as_deref(), schema);
        self.tables
            .iter()
            .filter(in_schema)
            .find(|table| table.name == name)
            .or_else(|| {
                only(
                    self.tables
                        .iter()
                        .filter(in_schema)
                        .filter(|table| self.alike(&table.name, name)),
                )
            })
    }

    /// The table that a foreign key points at.
    pub fn target(&self, key: &ForeignKey) -> Option<&Table> {
        self.table_in(key.to_schema.as_deref(), &key.to_table)
    }

    /// The tables that have a column called `name`, in any case.
    pub fn tables_with_column<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Table> {
        self.tables.iter().filter(move |table| table.column(name).is_some())
    }

    fn position(&self, name: &str) -> Option<usize> {
        let along_path = |fits: &dyn Fn(&Table) -> bool| {
            let found: Vec<usize> = self
                .tables
                .iter()
                .enumerate()
                .filter(|(_, table)| fits(table))
                .map(|(at, _)| at)
                .collect();
            self.search_path
                .iter()
                .find_map(|schema| {
                    let here = |at: &&usize| {
                        self.tables
                            .get(**at)
                            .is_some_and(|t| t.schema.as_deref() == Some(schema.as_str()))
                    };
                    only(found.iter().filter(here)).copied()
                })
                .or_else(|| only(found.into_iter()))
        };
        along_path(&|table| table.name == name)
            .or_else(|| along_path(&|table| self.alike(&table.name, name)))
            .or_else(|| along_path(&|table| self.alike(&table.qualified_name(), name)))
    }

    /// Are two names the same where neither is quoted?
    fn alike(&self, one: &str, other: &str) -> bool {
        match self.dialect {
            // Only ASCII letters are folded by SQLite.
            Dialect::Sqlite => one.eq_ignore_ascii_case(other),
            Dialect::Postgres
            | Dialect::Mysql
            | Dialect::Duckdb
            | Dialect::Snowflake
            | Dialect::Bigquery
            | Dialect::Databricks
            | Dialect::Clickhouse => one.to_lowercase() == other.to_lowercase(),
        }
    }
}

impl Table {
    /// `schema.table`, or the name alone where there is no schema. Not quoted: for people and for keys of maps.
    pub fn qualified_name(&self) -> String {
        match &self.schema {
            Some(schema) => format!("{schema}.{}", self.name),
            None => self.name.clone(),
        }
    }

    /// The column called `name`: the exact spelling first, then any case as long as only one column has it.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name).or_else(|| {
            only(
                self.columns
                    .iter()
                    .filter(|column| column.name.to_lowercase() == name.to_lowercase()),
            )
        })
    }

    /// Do `columns` hold each combination of values at most once, by the primary key or a unique key?
    ///
    /// A superset of a key is unique too. Names are compared without case.
    pub fn is_unique(&self, columns: &[&str]) -> bool {
        let covers = |key: &Vec<String>| {
            !key.is_empty()
                && key
                    .iter()
                    .all(|part| columns.iter().any(|column| column.eq_ignore_ascii_case(part)))
        };
        covers(&self.primary_key) || self.unique_keys.iter().any(covers)
    }
}

fn same(one: Option<&str>, other: Option<&str>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one.eq_ignore_ascii_case(other),
        (None, None) => true,
        _ => false,
    }
}

/// The item, if there is exactly one.
fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    let first = items.next()?;
    items.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::warehouse::catalog::{DataType, TableKind};

    fn table(schema: Option<&str>, name: &str, columns: &[&str]) -> Table {
        Table {
            schema: schema.map(str::to_owned),
            name: name.to_owned(),
            kind: TableKind::Table,
            columns: columns
                .iter()
                .map(|name| Column {
                    name: (*name).to_owned(),
                    declared_type: "TEXT".into(),
                    data_type: DataType::Text,
                    nullable: true,
                    comment: None,
                    synonyms: vec![],
                    profile: None,
                })
                .collect(),
            primary_key: vec![],
            unique_keys: vec![],
            foreign_keys: vec![],
            rows: None,
            comment: None,
            synonyms: vec![],
            read_through: None,
        }
    }

    #[rstest]
    #[case(Dialect::Sqlite, "Order", Some("Order"))]
    #[case(Dialect::Sqlite, "ORDER", Some("Order"))]
    #[case(Dialect::Sqlite, "客户", Some("客户"))]
    #[case(Dialect::Sqlite, "Total $", Some("Total $"))]
    #[case(Dialect::Sqlite, "total $", Some("Total $"))]
    #[case(Dialect::Sqlite, "orders", None)]
    fn a_table_is_found_by_its_name(#[case] dialect: Dialect, #[case] name: &str, #[case] found: Option<&str>) {
        let mut catalog = Catalog::empty(dialect, "shop");
        catalog.tables = ["Order", "客户", "Total $"].map(|name| table(None, name, &[])).into();
        assert_eq!(catalog.table(name).map(|table| table.name.as_str()), found);
    }

    #[test]
    fn the_exact_spelling_wins_and_a_tie_is_no_match() {
        let mut catalog = Catalog::empty(Dialect::Postgres, "shop");
        catalog.tables = ["Sales", "sales", "Item", "ITEM"]
            .map(|name| table(None, name, &[]))
            .into();
        assert_eq!(catalog.table("sales").map(|table| table.name.as_str()), Some("sales"));
        assert_eq!(catalog.table("Sales").map(|table| table.name.as_str()), Some("Sales"));
        assert_eq!(catalog.table("item"), None);
    }

    #[test]
    fn a_plain_name_is_looked_up_along_the_search_path() {
        let mut catalog = Catalog::empty(Dialect::Postgres, "shop");
        catalog.search_path = vec!["app".into(), "public".into()];
        catalog.tables = ["public", "app", "old"]
            .map(|schema| table(Some(schema), "sales", &[]))
            .into();
        let schema = |name: &str| catalog.table(name).and_then(|table| table.schema.clone());
        assert_eq!(schema("sales").as_deref(), Some("app"));
        assert_eq!(schema("old.sales").as_deref(), Some("old"));
        assert_eq!(schema("none.sales"), None);
    }

    #[test]
    fn a_superset_of_a_key_is_unique() {
        let mut items = table(None, "items", &["Order_ID", "line", "sku"]);
        items.primary_key = vec!["Order_ID".into(), "line".into()];
        items.unique_keys = vec![vec!["sku".into()]];
        assert!(items.is_unique(&["line", "order_id"]));
        assert!(items.is_unique(&["sku"]));
        assert!(!items.is_unique(&["order_id"]));
        assert!(!table(None, "log", &["a"]).is_unique(&["a"]));
    }
}
