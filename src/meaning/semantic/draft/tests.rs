//! Drafts of catalogs in the shape of well-known sample databases.

use super::*;
use crate::meaning::semantic::{DatasetKind, FieldRef, MetricKind};
use crate::warehouse::Dialect;
use crate::warehouse::catalog::{Column, DataType, KeySource};

/// Name, key, columns with types, foreign keys as (column, table, its column).
type TableOf<'a> = (
    &'a str,
    &'a [&'a str],
    &'a [(&'a str, &'a str)],
    &'a [(&'a str, &'a str, &'a str)],
);

/// A SQLite catalog of these tables, with declared keys and without profiles.
pub(crate) fn catalog(tables: &[TableOf<'_>]) -> Catalog {
    let mut catalog = Catalog::empty(Dialect::Sqlite, "shop");
    for (name, key, columns, foreign) in tables {
        catalog.tables.push(Table {
            schema: None,
            name: (*name).into(),
            kind: TableKind::Table,
            columns: columns
                .iter()
                .map(|(name, declared)| Column {
                    name: (*name).into(),
                    declared_type: (*declared).into(),
                    data_type: DataType::from_declared(Dialect::Sqlite, declared),
                    nullable: false,
                    comment: None,
                    synonyms: vec![],
                    profile: None,
                })
                .collect(),
            primary_key: key.iter().map(|k| (*k).to_owned()).collect(),
            unique_keys: vec![],
            foreign_keys: foreign
                .iter()
                .map(|(column, table, to)| ForeignKey {
                    columns: vec![(*column).into()],
                    to_schema: None,
                    to_table: (*table).into(),
                    to_columns: vec![(*to).into()],
                    source: KeySource::Declared,
                })
                .collect(),
            rows: None,
            comment: None,
            synonyms: vec![],
            read_through: None,
        });
    }
    catalog
}

pub(crate) fn sakila_like() -> Catalog {
    catalog(&[
        (
            "category",
            &["category_id"],
            &[("category_id", "INT"), ("name", "TEXT")],
            &[],
        ),
        (
            "customer",
            &["customer_id"],
            &[
                ("customer_id", "INT"),
                ("first_name", "TEXT"),
                ("last_name", "TEXT"),
                ("create_date", "TIMESTAMP"),
                ("store_id", "INT"),
            ],
            &[("store_id", "store", "store_id")],
        ),
        (
            "film",
            &["film_id"],
            &[
                ("film_id", "INT"),
                ("title", "TEXT"),
                ("rental_rate", "DECIMAL(4,2)"),
                ("last_update", "TIMESTAMP"),
            ],
            &[],
        ),
        (
            "film_category",
            &["film_id", "category_id"],
            &[("film_id", "INT"), ("category_id", "INT"), ("last_update", "TIMESTAMP")],
            &[
                ("film_id", "film", "film_id"),
                ("category_id", "category", "category_id"),
            ],
        ),
        (
            "inventory",
            &["inventory_id"],
            &[
                ("inventory_id", "INT"),
                ("film_id", "INT"),
                ("store_id", "INT"),
                ("last_update", "TIMESTAMP"),
            ],
            &[("film_id", "film", "film_id"), ("store_id", "store", "store_id")],
        ),
        (
            "staff",
            &["staff_id"],
            &[
                ("staff_id", "INT"),
                ("first_name", "TEXT"),
                ("last_name", "TEXT"),
                ("store_id", "INT"),
            ],
            &[("store_id", "store", "store_id")],
        ),
        (
            "store",
            &["store_id"],
            &[("store_id", "INT"), ("manager_staff_id", "INT")],
            &[("manager_staff_id", "staff", "staff_id")],
        ),
        (
            "rental",
            &["rental_id"],
            &[
                ("rental_id", "INT"),
                ("rental_date", "TIMESTAMP"),
                ("inventory_id", "INT"),
                ("customer_id", "INT"),
                ("return_date", "TIMESTAMP"),
                ("staff_id", "INT"),
            ],
            &[
                ("inventory_id", "inventory", "inventory_id"),
                ("customer_id", "customer", "customer_id"),
                ("staff_id", "staff", "staff_id"),
            ],
        ),
        (
            "payment",
            &["payment_id"],
            &[
                ("payment_id", "INT"),
                ("customer_id", "INT"),
                ("staff_id", "INT"),
                ("rental_id", "INT"),
                ("amount", "DECIMAL(5,2)"),
                ("payment_date", "TIMESTAMP"),
                ("last_update", "TIMESTAMP"),
            ],
            &[
                ("customer_id", "customer", "customer_id"),
                ("staff_id", "staff", "staff_id"),
                ("rental_id", "rental", "rental_id"),
            ],
        ),
    ])
}

pub(crate) fn northwind_like() -> Catalog {
    catalog(&[
        (
            "Employees",
            &["EmployeeID"],
            &[
                ("EmployeeID", "INTEGER"),
                ("LastName", "TEXT"),
                ("FirstName", "TEXT"),
                ("BirthDate", "DATE"),
                ("HireDate", "DATE"),
                ("ReportsTo", "INTEGER"),
            ],
            &[("ReportsTo", "Employees", "EmployeeID")],
        ),
        (
            "Customers",
            &["CustomerID"],
            &[
                ("CustomerID", "TEXT"),
                ("CompanyName", "TEXT"),
                ("ContactName", "TEXT"),
                ("Country", "TEXT"),
            ],
            &[],
        ),
        (
            "Products",
            &["ProductID"],
            &[
                ("ProductID", "INTEGER"),
                ("ProductName", "TEXT"),
                ("UnitPrice", "NUMERIC"),
            ],
            &[],
        ),
        (
            "Orders",
            &["OrderID"],
            &[
                ("OrderID", "INTEGER"),
                ("CustomerID", "TEXT"),
                ("EmployeeID", "INTEGER"),
                ("OrderDate", "DATETIME"),
                ("RequiredDate", "DATETIME"),
                ("ShippedDate", "DATETIME"),
                ("Freight", "NUMERIC"),
            ],
            &[
                ("EmployeeID", "Employees", "EmployeeID"),
                ("CustomerID", "Customers", "CustomerID"),
            ],
        ),
        (
            "Order Details",
            &["OrderID", "ProductID"],
            &[
                ("OrderID", "INTEGER"),
                ("ProductID", "INTEGER"),
                ("UnitPrice", "NUMERIC"),
                ("Quantity", "INTEGER"),
                ("Discount", "REAL"),
            ],
            &[("OrderID", "Orders", "OrderID"), ("ProductID", "Products", "ProductID")],
        ),
    ])
}

#[test]
fn payments_are_what_sales_means_in_a_rental_shop() {
    let model = draft(&sakila_like());
    let sales = model.metric("sales").unwrap();
    assert_eq!(
        sales.kind,
        MetricKind::Simple {
            dataset: "payment".into(),
            expression: "SUM(payment.amount)".into(),
            filter: None,
            time: Some(FieldRef::new("payment", "payment_date")),
        }
    );
    assert!(sales.words.synonyms.contains(&"revenue".to_owned()));
    assert!(sales.words.synonyms.contains(&"营收".to_owned()));
    assert_eq!(model.dataset("staff").unwrap().label, ["first_name", "last_name"]);
    assert!(
        model
            .dataset("staff")
            .unwrap()
            .words
            .synonyms
            .contains(&"employee".to_owned())
    );
}

#[test]
fn lines_are_multiplied_out_and_dated_by_their_order() {
    let model = draft(&northwind_like());
    assert_eq!(
        model.metric("sales").unwrap().kind,
        MetricKind::Simple {
            dataset: "order_details".into(),
            expression: "SUM(order_details.unit_price * order_details.quantity * (1 - order_details.discount))".into(),
            filter: None,
            time: Some(FieldRef::new("orders", "order_date")),
        }
    );
    assert_eq!(
        model.metric("average_order_value").unwrap().kind,
        MetricKind::Ratio {
            numerator: "sales".into(),
            denominator: "order_count".into()
        }
    );
}

#[test]
fn tables_are_told_apart_by_what_their_rows_are() {
    let model = draft(&sakila_like());
    let kind = |name: &str| model.dataset(name).unwrap().kind;
    assert_eq!(kind("payment"), DatasetKind::Fact);
    assert_eq!(kind("rental"), DatasetKind::Fact);
    assert_eq!(kind("film_category"), DatasetKind::Bridge);
    assert_eq!(kind("inventory"), DatasetKind::Entity);
    assert_eq!(kind("store"), DatasetKind::Entity);
    assert_eq!(kind("customer"), DatasetKind::Entity);
    let northwind = draft(&northwind_like());
    assert_eq!(northwind.dataset("order_details").unwrap().kind, DatasetKind::Fact);
    assert_eq!(northwind.dataset("employees").unwrap().kind, DatasetKind::Entity);
    assert_eq!(northwind.dataset("orders").unwrap().time.as_deref(), Some("order_date"));
}

#[test]
fn joins_are_named_by_the_role_of_the_other_side() {
    let model = draft(&northwind_like());
    let names: Vec<&str> = model.relationships.iter().map(|r| r.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "employees_reports_to",
            "orders_employee",
            "orders_customer",
            "order_details_order",
            "order_details_product"
        ]
    );
}

#[test]
fn an_empty_catalog_drafts_an_empty_model() {
    let model = draft(&Catalog::empty(Dialect::Postgres, "nothing"));
    assert!(model.datasets.is_empty() && model.metrics.is_empty());
}
