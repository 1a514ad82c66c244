//! Each lint on a statement that has the fault, and on correct spellings of the same question.

use rstest::rstest;

use super::fixture::{SHOP, catalog, codes, shop};
use crate::warehouse::Dialect;
use crate::warehouse::catalog::{Profile, Role};
use crate::warehouse::sql::check;

#[rstest]
// The measured table comes first, and the join repeats its rows.
#[case(
    "SELECT SUM(o.total) FROM orders o JOIN order_item i ON i.order_id = o.id",
    "error fan-out"
)]
#[case(
    "SELECT o.status, AVG(o.total) FROM orders o JOIN payment p ON p.order_id = o.id GROUP BY o.status",
    "error fan-out"
)]
#[case(
    "SELECT c.city, SUM(o.total) FROM customer c JOIN orders o ON o.customer_id = c.id JOIN order_item i ON i.order_id = o.id GROUP BY c.city",
    "error fan-out"
)]
// Two branches multiply each other.
#[case(
    "SELECT o.id, SUM(i.amount), SUM(p.amount) FROM orders o JOIN order_item i ON i.order_id = o.id JOIN payment p ON p.order_id = o.id GROUP BY o.id",
    "error fan-out"
)]
// Looked-up values over the rows of the table that FROM starts with may be meant.
#[case(
    "SELECT SUM(p.price) FROM order_item i JOIN product p ON p.id = i.product_id",
    "warning fan-out"
)]
#[case(
    "SELECT COUNT(o.id) FROM orders o JOIN order_item i ON i.order_id = o.id",
    "warning fan-out"
)]
#[case(
    "SELECT SUM(total) FROM (SELECT o.total, i.product_id FROM orders o JOIN order_item i ON i.order_id = o.id) x",
    "warning fan-out"
)]
#[case(
    "WITH j AS (SELECT o.total FROM orders o JOIN payment p ON p.order_id = o.id) SELECT AVG(total) FROM j",
    "warning fan-out"
)]
#[case(
    "SELECT SUM(DISTINCT o.total) FROM orders o JOIN order_item i ON i.order_id = o.id",
    "warning distinct-hides-fan-out"
)]
#[case(
    "SELECT DISTINCT c.name FROM customer c JOIN orders o ON o.customer_id = c.id",
    "info distinct-hides-fan-out"
)]
#[case("SELECT c.name, o.total FROM customer c, orders o", "error missing-join-condition")]
#[case("SELECT c.name FROM customer c JOIN orders o", "error missing-join-condition")]
#[case(
    "SELECT c.name FROM customer c JOIN orders o ON c.id = c.id",
    "error missing-join-condition"
)]
#[case(
    "SELECT id FROM orders WHERE placed_at BETWEEN '2005-08-01' AND '2005-08-31'",
    "warning between-timestamp"
)]
#[case(
    "SELECT id FROM orders WHERE placed_at >= '2005-08-01' AND placed_at <= '2005-08-31'",
    "warning between-timestamp"
)]
#[case(
    "SELECT id FROM orders WHERE strftime('%Y-%m', placed_at) = '2005-08'",
    "info non-sargable-date"
)]
#[case(
    "SELECT id FROM orders WHERE date(placed_at) BETWEEN '2005-08-01' AND '2005-08-31'",
    "info non-sargable-date"
)]
#[case(
    "SELECT id FROM orders WHERE strftime('%Y', placed_at) = 2005",
    "error string-number-comparison"
)]
#[case("SELECT id FROM customer WHERE zip > 10000", "warning string-number-comparison")]
#[case("SELECT id FROM customer WHERE age = '40'", "info string-number-comparison")]
#[case(
    "SELECT city FROM customer GROUP BY city HAVING COUNT(*) > '5'",
    "error string-number-comparison"
)]
#[case("SELECT SUM(items) / COUNT(*) FROM orders", "error integer-division")]
#[case("SELECT items / 10 FROM orders", "warning integer-division")]
#[case(
    "SELECT id FROM customer WHERE id NOT IN (SELECT manager_id FROM customer)",
    "warning not-in-nullable"
)]
#[case(
    "SELECT city, COUNT(*) FROM customer GROUP BY city LIMIT 3",
    "warning limit-without-order"
)]
#[case("SELECT name FROM customer LIMIT 3", "info limit-without-order")]
#[case("SELECT city, name, COUNT(*) FROM customer GROUP BY city", "warning bare-column")]
#[case("SELECT name, COUNT(*) FROM customer", "error bare-column")]
#[case(
    "SELECT AVG(a) FROM (SELECT customer_id, AVG(total) AS a FROM orders GROUP BY customer_id) x",
    "warning average-of-averages"
)]
#[case("SELECT id FROM customer WHERE city = \"Zürich\"", "warning double-quoted-string")]
fn a_fault_is_named(#[case] sql: &str, #[case] expected: &str) {
    let found = codes(sql);
    assert!(found.iter().any(|code| code == expected), "{sql}\nfound {found:?}");
}

#[rstest]
#[case("SELECT SUM(i.amount) FROM orders o JOIN order_item i ON i.order_id = o.id")]
#[case("SELECT SUM(i.quantity * p.price) FROM order_item i JOIN product p ON p.id = i.product_id")]
#[case("SELECT SUM(o.total) FROM orders o JOIN customer c ON c.id = o.customer_id WHERE c.city = 'Bern'")]
#[case("SELECT SUM(o.total) FROM orders o WHERE EXISTS (SELECT 1 FROM order_item i WHERE i.order_id = o.id)")]
#[case("SELECT SUM(o.total) FROM orders o WHERE o.id IN (SELECT order_id FROM order_item)")]
#[case(
    "SELECT SUM(o.total) FROM orders o JOIN (SELECT order_id, SUM(amount) AS a FROM order_item GROUP BY order_id) i ON i.order_id = o.id"
)]
#[case(
    "WITH i AS (SELECT DISTINCT order_id FROM order_item) SELECT SUM(o.total) FROM orders o JOIN i ON i.order_id = o.id"
)]
#[case("SELECT SUM(o.total) FROM orders o JOIN order_item i ON i.order_id = o.id AND i.product_id = 7")]
#[case("SELECT i.product_id, SUM(o.total) FROM orders o JOIN order_item i ON i.order_id = o.id GROUP BY i.product_id")]
#[case("SELECT MAX(o.total), COUNT(DISTINCT o.id) FROM orders o JOIN order_item i ON i.order_id = o.id")]
#[case("SELECT COUNT(*) FROM orders o JOIN order_item i ON i.order_id = o.id")]
#[case("SELECT AVG(c.age) FROM customer c JOIN profile p ON p.customer_id = c.id")]
#[case("SELECT c.id, SUM(o.total) FROM customer c LEFT JOIN orders o ON o.customer_id = c.id GROUP BY c.id")]
#[case(
    "SELECT SUM(o.total) FROM orders o JOIN (SELECT order_id FROM payment ORDER BY id LIMIT 1) p ON p.order_id = o.id"
)]
#[case("SELECT c.name FROM customer c CROSS JOIN product p")]
#[case("SELECT o.id, t.total FROM orders o, (SELECT SUM(total) AS total FROM orders) t")]
#[case("SELECT a.name, b.name FROM customer a, customer b WHERE a.id = 1 AND b.id = 2")]
#[case("SELECT id FROM orders WHERE placed_at >= '2005-08-01' AND placed_at < '2005-09-01'")]
#[case("SELECT what FROM log WHERE at BETWEEN '2005-08-01' AND '2005-08-31'")]
#[case("SELECT id FROM customer WHERE zip = '8000' AND age > 40")]
#[case("SELECT 1.0 * SUM(items) / COUNT(*) FROM orders")]
#[case("SELECT CAST(SUM(items) AS REAL) / COUNT(*), SUM(total) / COUNT(*) FROM orders")]
#[case("SELECT id FROM customer WHERE id NOT IN (SELECT manager_id FROM customer WHERE manager_id IS NOT NULL)")]
#[case("SELECT id FROM customer WHERE id NOT IN (SELECT customer_id FROM orders)")]
#[case("SELECT city, COUNT(*) AS n FROM customer GROUP BY city ORDER BY n DESC LIMIT 3")]
#[case("SELECT COUNT(*) FROM customer LIMIT 1")]
#[case("SELECT c.id, c.name, COUNT(*) FROM customer c JOIN orders o ON o.customer_id = c.id GROUP BY c.id")]
#[case(
    "SELECT c.name, o.customer_id, COUNT(*) FROM customer c JOIN orders o ON o.customer_id = c.id GROUP BY o.customer_id"
)]
#[case("SELECT name, MAX(age) FROM customer")]
#[case("SELECT substr(name, 1, 1), COUNT(*) FROM customer GROUP BY substr(name, 1, 1)")]
#[case("SELECT AVG(total) FROM (SELECT customer_id, SUM(total) AS total FROM orders GROUP BY customer_id) x")]
fn a_correct_spelling_is_quiet(#[case] sql: &str) {
    assert_eq!(codes(sql), Vec::<String>::new(), "{sql}");
}

#[rstest]
#[case(
    "SELECT SUM(o.total) FROM orders AS o JOIN order_item AS i ON i.order_id = o.id WHERE i.quantity > 5",
    "SELECT SUM(o.total) FROM orders AS o WHERE EXISTS (SELECT 1 FROM order_item AS i WHERE i.order_id = o.id AND i.quantity > 5)"
)]
#[case(
    "SELECT SUM(o.total), SUM(i.amount) FROM orders AS o JOIN order_item AS i ON i.order_id = o.id",
    "SELECT SUM(o.total), SUM(i.amount) FROM orders AS o JOIN (SELECT order_id, SUM(amount) AS amount FROM order_item GROUP BY order_id) AS i ON i.order_id = o.id"
)]
#[case(
    "SELECT COUNT(o.id) FROM orders AS o JOIN order_item AS i ON i.order_id = o.id",
    "COUNT(DISTINCT o.id)"
)]
#[case(
    "SELECT id FROM orders WHERE placed_at BETWEEN '2005-08-01' AND '2005-08-31'",
    "placed_at >= '2005-08-01' AND placed_at < '2005-09-01'"
)]
#[case(
    "SELECT id FROM orders WHERE strftime('%Y', placed_at) = '2005'",
    "placed_at >= '2005-01-01' AND placed_at < '2006-01-01'"
)]
#[case("SELECT c.name, o.total FROM customer c, orders o", "o.customer_id = c.id")]
#[case("SELECT SUM(items) / COUNT(*) FROM orders", "CAST(SUM(items) AS REAL) / COUNT(*)")]
#[case(
    "SELECT id FROM customer WHERE id NOT IN (SELECT manager_id FROM customer)",
    "id NOT IN (SELECT manager_id FROM customer WHERE manager_id IS NOT NULL)"
)]
fn a_rewrite_is_proposed(#[case] sql: &str, #[case] expected: &str) {
    let checked = shop(Dialect::Sqlite, sql).unwrap();
    let rewrites: Vec<_> = checked.lints().iter().filter_map(|l| l.rewrite.as_deref()).collect();
    assert!(rewrites.contains(&expected), "{sql}\nfound {rewrites:?}");
    if expected.starts_with("SELECT") {
        assert_eq!(codes(expected), Vec::<String>::new(), "the rewrite has a fault itself");
    }
}

#[test]
fn measured_values_decide_what_types_leave_open() {
    let mut catalog = catalog(Dialect::Sqlite, SHOP);
    let profile = |min: &str, max: &str| Profile {
        rows: 100,
        nulls: 0,
        distinct: 100,
        min: Some(min.to_owned()),
        max: Some(max.to_owned()),
        top: Vec::new(),
        sampled: false,
        role: Role::Time,
        format: None,
    };
    let sql = "SELECT id FROM orders WHERE placed_at BETWEEN '2005-08-01' AND '2005-08-31'";
    let level = |catalog: &crate::warehouse::catalog::Catalog| {
        let checked = check(sql, Dialect::Sqlite, Some(catalog)).unwrap();
        checked
            .lints()
            .iter()
            .map(|l| format!("{:?}", l.level))
            .collect::<Vec<_>>()
    };
    let column = |catalog: &mut crate::warehouse::catalog::Catalog, profile| {
        let table = catalog.tables.iter_mut().find(|t| t.name == "orders").unwrap();
        table
            .columns
            .iter_mut()
            .find(|c| c.name == "placed_at")
            .unwrap()
            .profile = Some(profile);
    };
    column(&mut catalog, profile("2005-05-24 22:54:33", "2006-02-14 15:16:03"));
    assert_eq!(level(&catalog), ["Error"]);
    column(&mut catalog, profile("2005-05-24", "2006-02-14"));
    assert_eq!(level(&catalog), Vec::<String>::new());
}

#[test]
fn a_column_without_repeats_in_all_rows_is_as_good_as_a_key() {
    let mut catalog = catalog(Dialect::Sqlite, SHOP);
    let sql = "SELECT SUM(o.total) FROM orders o JOIN payment p ON p.order_id = o.id";
    assert_eq!(check(sql, Dialect::Sqlite, Some(&catalog)).unwrap().lints().len(), 1);
    let table = catalog.tables.iter_mut().find(|t| t.name == "payment").unwrap();
    table.columns.iter_mut().find(|c| c.name == "order_id").unwrap().profile = Some(Profile {
        rows: 50,
        nulls: 0,
        distinct: 50,
        min: None,
        max: None,
        top: Vec::new(),
        sampled: false,
        role: Role::Key,
        format: None,
    });
    assert_eq!(check(sql, Dialect::Sqlite, Some(&catalog)).unwrap().lints().len(), 0);
}
