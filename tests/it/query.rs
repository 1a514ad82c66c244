//! Typed queries over drafted models of real databases: compiled, checked, run, and compared with the gold facts.

use std::collections::BTreeMap;
use std::path::Path;

use analyst::demo;
use analyst::meaning::query::{
    Combine, Comparison, Dimension, Filter, Having, Limit, Literal, Measure, NamedWindow, OrderBy, OrderKey, Query,
    Rows, SetOperator, Summary, TopPerGroup, compile,
};
use analyst::meaning::semantic::{Aggregate, FieldRef, Model, draft, load};
use analyst::time::{Grain, Window};
use analyst::warehouse::catalog::Catalog;
use analyst::warehouse::engine::{Engine, Target};
use analyst::warehouse::{Dialect, profile, sql};
use rusqlite::types::Value;
use tokio_util::sync::CancellationToken;

use crate::sql_guard::shared;

struct Shop {
    catalog: Catalog,
    model: Model,
    connection: rusqlite::Connection,
    /// Holds a generated database as long as it is open.
    _dir: Option<tempfile::TempDir>,
}

impl Shop {
    fn open(path: &Path) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let catalog = runtime.block_on(async {
            let engine = Engine::connect(&Target::Sqlite(path.to_owned())).await.unwrap();
            let mut catalog = engine.introspect().await.unwrap();
            profile::survey(&engine, &mut catalog, &CancellationToken::new())
                .await
                .unwrap();
            catalog
        });
        Self {
            model: draft(&catalog),
            catalog,
            connection: rusqlite::Connection::open(path).unwrap(),
            _dir: None,
        }
    }

    fn shared(name: &str) -> Option<Self> {
        shared(&format!("data/db/{name}.sqlite")).map(|path| Self::open(&path))
    }

    /// The sample database under its own semantic model.
    fn sample() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sales.sqlite");
        demo::write(&path, demo::Existing::Refuse).unwrap();
        let mut shop = Self::open(&path);
        shop.model = load(include_str!("../../fixtures/sales/semantic.yaml"), &shop.catalog).unwrap();
        shop._dir = Some(dir);
        shop
    }

    /// Compiles, checks and runs; every value as text, numbers with two digits after the point where they have any.
    fn run(&self, query: &Query) -> Vec<Vec<String>> {
        let compiled = compile(query, &self.model, &self.catalog, Dialect::Sqlite).unwrap();
        let sql = &compiled.sql;
        let checked = sql::check(sql, Dialect::Sqlite, Some(&self.catalog)).unwrap_or_else(|e| panic!("{e:?}\n{sql}"));
        let errors: Vec<_> = checked
            .lints()
            .iter()
            .filter(|l| l.level == sql::LintLevel::Error)
            .collect();
        assert!(errors.is_empty(), "{errors:#?}\n{sql}");
        let mut statement = self.connection.prepare(sql).unwrap_or_else(|e| panic!("{e}\n{sql}"));
        let names: Vec<String> = statement.column_names().iter().map(|n| (*n).to_owned()).collect();
        let promised: Vec<String> = compiled.columns.iter().map(|c| c.name.clone()).collect();
        assert_eq!(names, promised, "{sql}");
        let width = names.len();
        let rows = statement
            .query_map([], |row| {
                (0..width)
                    .map(|at| row.get::<_, Value>(at))
                    .collect::<Result<Vec<_>, _>>()
            })
            .unwrap();
        if std::env::var_os("SHOW_SQL").is_some() {
            println!("{sql}\n{:#?}\n", compiled.notes);
            for join in &compiled.joins {
                println!("  {} | {:?}", join.text, join.alternatives);
            }
        }
        rows.map(|row| row.unwrap().iter().map(shown).collect()).collect()
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "NULL".into(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => format!("{number:.2}"),
        Value::Text(text) => text.clone(),
        Value::Blob(_) => "BLOB".into(),
    }
}

fn month(year: i16, month: i8) -> Window {
    let start = jiff::civil::date(year, month, 1);
    Window {
        start,
        end: start.checked_add(jiff::Span::new().months(1)).unwrap(),
    }
}

fn metric(name: &str) -> Measure {
    Measure::Metric(name.into())
}

fn entity(dataset: &str) -> Dimension {
    Dimension::Entity {
        dataset: dataset.into(),
        via: None,
        show: Vec::new(),
    }
}

fn field(name: &str) -> Dimension {
    Dimension::Field {
        field: FieldRef::parse(name),
        via: None,
    }
}

fn best_first(measure: Measure) -> Vec<OrderBy> {
    vec![OrderBy {
        key: OrderKey::Measure(measure),
        descending: true,
    }]
}

fn sales_by(dataset: &str, window: Window) -> Query {
    Query::Summary(Summary {
        measures: vec![metric("sales")],
        dimensions: vec![entity(dataset)],
        window: Some(window),
        order_by: best_first(metric("sales")),
        ..Summary::default()
    })
}

fn gold(name: &str) -> Option<serde_json::Value> {
    let text = std::fs::read_to_string(shared(&format!("data/gold/{name}.json"))?).unwrap();
    serde_json::from_str(&text).ok()
}

/// Every month in focus and the whole monthly series, against the gold facts of "employee sales".
fn employee_sales(name: &str, employees: &str) {
    let (Some(shop), Some(facts)) = (Shop::shared(name), gold(&format!("employee_sales_{name}"))) else {
        println!("skipped: no shared data");
        return;
    };
    for focus in facts["focus"].as_array().unwrap() {
        let this = &focus["this_month"];
        let (year, number) = this["month"].as_str().unwrap().split_once('-').unwrap();
        let window = month(year.parse().unwrap(), number.parse().unwrap());
        let rows: BTreeMap<String, f64> = shop
            .run(&sales_by(employees, window))
            .into_iter()
            .map(|row| (row[1].clone(), row[2].parse().unwrap()))
            .collect();
        let expected: Vec<(&str, f64)> = this["per_employee"]
            .as_array()
            .unwrap()
            .iter()
            .map(|e| (e["employee"].as_str().unwrap(), e["sales"].as_f64().unwrap()))
            .collect();
        assert_eq!(rows.len(), expected.len(), "{name} {}", this["month"]);
        for (employee, sales) in expected {
            // Half cents are rounded up in the facts and to even in the display of a binary number.
            assert!(
                (rows[employee] - sales).abs() < 0.011,
                "{name} {} {employee}: {rows:?}",
                this["month"]
            );
        }
    }
    let monthly = Query::Summary(Summary {
        measures: vec![metric("sales")],
        dimensions: vec![Dimension::Time {
            grain: Grain::Month,
            field: None,
        }],
        ..Summary::default()
    });
    let rows = shop.run(&monthly);
    let expected = facts["monthly"].as_array().unwrap();
    assert_eq!(rows.len(), expected.len());
    for (row, fact) in rows.iter().zip(expected) {
        assert_eq!(row[0], fact["month"].as_str().unwrap());
        assert!(
            (row[1].parse::<f64>().unwrap() - fact["sales"].as_f64().unwrap()).abs() < 0.011,
            "{row:?} {fact}"
        );
    }
}

#[test]
fn employee_sales_of_sakila_are_payments_by_staff() {
    employee_sales("sakila", "staff");
}

#[test]
fn employee_sales_of_chinook_are_invoices_by_support_rep() {
    employee_sales("chinook", "employee");
}

#[test]
fn employee_sales_of_northwind_are_order_lines_by_employee() {
    employee_sales("northwind", "employees");
}

#[test]
fn two_windows_stand_side_by_side() {
    let Some(shop) = Shop::shared("sakila") else {
        return println!("skipped: no shared data");
    };
    let query = |dimensions| {
        Query::Summary(Summary {
            measures: vec![metric("sales"), metric("payment_count")],
            dimensions,
            compare: vec![
                NamedWindow {
                    label: "2005-08".into(),
                    window: month(2005, 8),
                },
                NamedWindow {
                    label: "2005-07".into(),
                    window: month(2005, 7),
                },
            ],
            ..Summary::default()
        })
    };
    assert_eq!(
        shop.run(&query(vec![])),
        [["2005-08", "24072.13", "5687"], ["2005-07", "28373.89", "6711"]]
    );
    assert_eq!(
        shop.run(&query(vec![entity("staff")])),
        [
            ["2005-08", "2", "Jon Stephens", "12218.48", "2852"],
            ["2005-08", "1", "Mike Hillyer", "11853.65", "2835"],
            ["2005-07", "2", "Jon Stephens", "14370.35", "3365"],
            ["2005-07", "1", "Mike Hillyer", "14003.54", "3346"],
        ]
    );
}

#[test]
fn measures_of_different_rows_do_not_multiply_each_other() {
    let Some(shop) = Shop::shared("sakila") else {
        return println!("skipped: no shared data");
    };
    let query = Query::Summary(Summary {
        measures: vec![
            metric("sales"),
            metric("rental_count"),
            Measure::Count("customer".into()),
            Measure::Ratio {
                numerator: Box::new(metric("sales")),
                denominator: Box::new(metric("rental_count")),
            },
        ],
        dimensions: vec![entity("store")],
        via: vec!["customer_store".into()],
        ..Summary::default()
    });
    let expected = [
        ["1", "37001.52", "8747", "326", "4.23"],
        ["2", "30414.99", "7297", "273", "4.17"],
    ];
    assert_eq!(shop.run(&query), expected);
}

#[test]
fn things_of_one_name_stay_apart_whatever_is_shown_of_them() {
    let Some(shop) = Shop::shared("sakila") else {
        return println!("skipped: no shared data");
    };
    let query = |measures: Vec<Measure>| {
        Query::Summary(Summary {
            measures,
            dimensions: vec![Dimension::Entity {
                dataset: "customer".into(),
                via: None,
                show: vec![FieldRef::parse("customer.first_name")],
            }],
            ..Summary::default()
        })
    };
    // 599 customers have 591 first names.
    let rows = shop.run(&query(vec![Measure::Count("rental".into())]));
    assert_eq!((rows.len(), rows[0].len()), (599, 2));
    // Counts of two kinds of rows meet by customer, not by name.
    let rows = shop.run(&query(vec![metric("sales"), Measure::Count("rental".into())]));
    assert_eq!((rows.len(), rows[0].len()), (599, 3));
}

#[test]
fn a_bridge_counts_a_row_in_each_of_its_groups() {
    let Some(shop) = Shop::shared("sakila") else {
        return println!("skipped: no shared data");
    };
    let query = Query::Summary(Summary {
        measures: vec![metric("sales")],
        dimensions: vec![entity("category")],
        order_by: best_first(metric("sales")),
        limit: Some(Limit {
            count: 2,
            with_ties: false,
        }),
        ..Summary::default()
    });
    assert_eq!(
        shop.run(&query),
        [["15", "Sports", "5314.21"], ["14", "Sci-Fi", "4756.98"]]
    );
    // A customer rents many films of a category and is still one customer.
    let customers = Query::Summary(Summary {
        measures: vec![Measure::Count("customer".into())],
        dimensions: vec![entity("category")],
        filter: Some(Filter::Compare {
            field: FieldRef::parse("category.name"),
            operator: Comparison::Equal,
            value: Literal::Text("Sports".into()),
        }),
        ..Summary::default()
    });
    let rows = shop.run(&customers);
    let direct: i64 = shop
        .connection
        .query_row(
            "SELECT COUNT(DISTINCT r.customer_id) FROM rental r JOIN inventory i USING (inventory_id) \
             JOIN film_category f USING (film_id) WHERE f.category_id = 15",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert!(
        rows.iter().any(|r| r[1] == "Sports" && r[2] == direct.to_string()),
        "{rows:?}"
    );
}

#[test]
fn rows_are_listed_with_what_they_point_at() {
    let Some(shop) = Shop::shared("northwind") else {
        return println!("skipped: no shared data");
    };
    let query = Query::Rows(Rows {
        dataset: "orders".into(),
        fields: ["orders.order_id", "orders.order_date", "customers.company_name"]
            .map(FieldRef::parse)
            .into(),
        measures: vec![metric("sales")],
        filter: Some(Filter::Compare {
            field: FieldRef::parse("orders.employee_id"),
            operator: Comparison::Equal,
            value: Literal::Integer(7),
        }),
        window: Some(Window {
            start: jiff::civil::date(1997, 1, 1),
            end: jiff::civil::date(1998, 1, 1),
        }),
        order_by: best_first(metric("sales")),
        limit: Some(Limit {
            count: 2,
            with_ties: false,
        }),
        ..Rows::default()
    });
    assert_eq!(
        shop.run(&query),
        [
            ["10424", "1997-01-23 00:00:00.000", "Mère Paillarde", "9194.56"],
            ["10633", "1997-08-15 00:00:00.000", "Ernst Handel", "5510.59"],
        ]
    );
}

#[test]
fn the_best_of_each_group_are_ranked_within_it() {
    let Some(shop) = Shop::shared("northwind") else {
        return println!("skipped: no shared data");
    };
    let query = Query::Summary(Summary {
        measures: vec![metric("sales")],
        dimensions: vec![field("categories.category_name"), entity("products")],
        order_by: best_first(metric("sales")),
        top_per_group: Some(TopPerGroup { count: 1, groups: 1 }),
        ..Summary::default()
    });
    let rows = shop.run(&query);
    assert_eq!(rows.len(), 8);
    assert_eq!(rows[0], ["Beverages", "38", "Côte de Blaye", "141396.73"]);
}

#[test]
fn filters_reach_other_datasets_without_multiplying_rows() {
    let Some(shop) = Shop::shared("chinook") else {
        return println!("skipped: no shared data");
    };
    let bought_rock = Filter::Compare {
        field: FieldRef::parse("genre.name"),
        operator: Comparison::Equal,
        value: Literal::Text("Rock".into()),
    };
    let count = |filter: Filter| {
        Query::Summary(Summary {
            measures: vec![Measure::Count("invoice".into()), metric("sales")],
            filter: Some(filter),
            ..Summary::default()
        })
    };
    let direct: (i64, f64) = shop
        .connection
        .query_row(
            "SELECT COUNT(*), SUM(Total) FROM Invoice WHERE InvoiceId IN (SELECT il.InvoiceId FROM InvoiceLine il \
             JOIN Track t ON t.TrackId = il.TrackId JOIN Genre g ON g.GenreId = t.GenreId WHERE g.Name = 'Rock')",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .unwrap();
    assert_eq!(
        shop.run(&count(bought_rock)),
        [[direct.0.to_string(), format!("{:.2}", direct.1)]]
    );
    let above_average = Filter::CompareAggregate {
        field: FieldRef::parse("invoice.total"),
        operator: Comparison::Greater,
        function: Aggregate::Avg,
        of: None,
        filter: None,
    };
    let direct: (i64, f64) = shop
        .connection
        .query_row(
            "WITH a AS (SELECT AVG(Total) AS m FROM Invoice) SELECT COUNT(*), SUM(Total) FROM Invoice, a WHERE Total > m",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .unwrap();
    assert_eq!(
        shop.run(&count(above_average)),
        [[direct.0.to_string(), format!("{:.2}", direct.1)]]
    );
}

#[test]
fn groups_are_kept_by_measures_and_sets_are_put_together() {
    let Some(shop) = Shop::shared("chinook") else {
        return println!("skipped: no shared data");
    };
    let big = Query::Summary(Summary {
        dimensions: vec![field("invoice.billing_country")],
        having: Some(Having::Compare {
            measure: metric("sales"),
            operator: Comparison::Greater,
            value: Literal::Integer(150),
        }),
        ..Summary::default()
    });
    assert_eq!(
        shop.run(&big),
        [["Brazil"], ["Canada"], ["France"], ["Germany"], ["USA"]]
    );
    let employees = Query::Summary(Summary {
        dimensions: vec![field("employee.country")],
        ..Summary::default()
    });
    let both = |operator| {
        Query::Combine(Combine {
            operator,
            left: Box::new(big.clone()),
            right: Box::new(employees.clone()),
        })
    };
    assert_eq!(shop.run(&both(SetOperator::Intersect)), [["Canada"]]);
    assert_eq!(shop.run(&both(SetOperator::Except)).len(), 4);
    let never = Query::Rows(Rows {
        dataset: "artist".into(),
        fields: vec![FieldRef::parse("artist.name")],
        filter: Some(Filter::Not(Box::new(Filter::InQuery {
            field: FieldRef::parse("artist.artist_id"),
            query: Box::new(Query::Rows(Rows {
                dataset: "album".into(),
                fields: vec![FieldRef::parse("album.artist_id")],
                ..Rows::default()
            })),
        }))),
        limit: Some(Limit {
            count: 1,
            with_ties: false,
        }),
        ..Rows::default()
    });
    assert_eq!(shop.run(&never), [["Milton Nascimento & Bebeto"]]);
}

/// `aug_2005` of the sample's totals, and its employees.
fn sample_facts() -> serde_json::Value {
    serde_json::from_str(include_str!("../../fixtures/sales/facts.json")).unwrap()
}

#[test]
fn metrics_over_orders_returns_and_targets_meet_in_one_row() {
    let shop = Shop::sample();
    let names = [
        "net_sales",
        "gross_sales",
        "returned_amount",
        "orders",
        "average_order_value",
        "return_rate",
        "units",
        "cancelled_orders",
        "sales_target",
        "target_attainment",
    ];
    let query = Query::Summary(Summary {
        measures: names.map(metric).into(),
        window: Some(month(2005, 8)),
        ..Summary::default()
    });
    let rows = shop.run(&query);
    let expected = [
        "2117050.60",
        "2181722.14",
        "64671.54",
        "295",
        "7395.67",
        "0.03",
        "6982",
        "9",
        "2050000",
        "0.98",
    ];
    let number = |text: &str| text.parse::<f64>().unwrap();
    for ((row, expected), name) in rows[0].iter().zip(expected).zip(names) {
        assert!((number(row) - number(expected)).abs() < 0.006, "{name}: {row}");
    }
}

#[test]
fn orders_without_an_employee_stand_apart_and_equal_last_names_do_not_merge() {
    let shop = Shop::sample();
    let query = Query::Summary(Summary {
        measures: vec![metric("net_sales"), metric("orders")],
        dimensions: vec![entity("employees")],
        window: Some(month(2005, 8)),
        include_unassigned: true,
        order_by: best_first(metric("net_sales")),
        ..Summary::default()
    });
    let rows = shop.run(&query);
    let facts = sample_facts();
    let employees = facts["employees"].as_array().unwrap();
    assert_eq!(rows.len(), employees.len() + 1);
    let row_of = |id: &str| rows.iter().find(|r| r[0] == id).unwrap();
    for employee in employees {
        let row = row_of(&employee["employee_id"].to_string());
        assert_eq!(row[1], employee["employee"].as_str().unwrap());
        assert!(
            (row[2].parse::<f64>().unwrap() - employee["net_sales"].as_f64().unwrap()).abs() < 0.006,
            "{row:?}"
        );
        assert_eq!(row[3], employee["orders"].to_string());
    }
    assert_eq!(row_of("NULL")[1..], ["NULL", "104427.69", "29"]);
}

#[test]
fn managers_are_reached_by_their_role() {
    let shop = Shop::sample();
    let query = Query::Summary(Summary {
        measures: vec![Measure::Count("employees".into())],
        dimensions: vec![Dimension::Entity {
            dataset: "employees".into(),
            via: Some("employees_to_managers".into()),
            show: Vec::new(),
        }],
        ..Summary::default()
    });
    let total: i64 = shop
        .connection
        .query_row("SELECT COUNT(manager_id) FROM employees", [], |row| row.get(0))
        .unwrap();
    let rows = shop.run(&query);
    assert_eq!(rows.iter().map(|r| r[2].parse::<i64>().unwrap()).sum::<i64>(), total);
    assert!(rows.len() > 1);
}

#[test]
fn the_largest_orders_of_one_employee_are_listed() {
    let shop = Shop::sample();
    let query = Query::Rows(Rows {
        dataset: "orders".into(),
        fields: ["orders.order_id", "orders.order_date", "customers.customer_name"]
            .map(FieldRef::parse)
            .into(),
        measures: vec![metric("gross_sales")],
        filter: Some(Filter::Compare {
            field: FieldRef::parse("orders.employee_id"),
            operator: Comparison::Equal,
            value: Literal::Integer(11),
        }),
        window: Some(month(2005, 8)),
        order_by: best_first(metric("gross_sales")),
        limit: Some(Limit {
            count: 1,
            with_ties: false,
        }),
        ..Rows::default()
    });
    assert_eq!(
        shop.run(&query),
        [["20406", "2005-08-23", "Falcon City Council", "187952.40"]]
    );
}
