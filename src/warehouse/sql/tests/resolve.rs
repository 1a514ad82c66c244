//! Names: which resolve, what is said of those that do not, and where output columns come from.

use rstest::rstest;

use super::fixture::{SHOP, catalog, shop};
use crate::warehouse::Dialect;
use crate::warehouse::sql::{Stage, check};

use Dialect::{Bigquery, Clickhouse, Databricks, Duckdb, Mysql, Postgres, Snowflake, Sqlite};

#[rstest]
#[case(Sqlite, "SELECT NAME, Customer.City FROM CUSTOMER")]
#[case(Sqlite, "SELECT rowid, oid FROM customer")]
#[case(
    Sqlite,
    "SELECT name AS n FROM customer WHERE n LIKE 'A%' GROUP BY n HAVING n > 'B' ORDER BY n"
)]
#[case(Sqlite, "SELECT main.customer.name FROM main.customer")]
#[case(Sqlite, "SELECT j.value, j.fullkey FROM customer c, json_each(c.city) j")]
#[case(
    Sqlite,
    "SELECT a.id FROM customer a JOIN orders b ON b.customer_id = c.id JOIN customer c ON c.id = a.id"
)]
#[case(Sqlite, "SELECT name FROM sqlite_master WHERE type = 'table'")]
#[case(Postgres, "SELECT NAME FROM Customer")]
#[case(Postgres, "SELECT public.customer.name FROM public.customer")]
#[case(Postgres, "SELECT city AS c, COUNT(*) FROM customer GROUP BY c ORDER BY c")]
#[case(Postgres, "SELECT to_jsonb(c), c FROM customer c")]
#[case(Postgres, "SELECT ctid FROM customer")]
#[case(Postgres, "SELECT * FROM generate_series(1, 10) AS g(n) WHERE g.n > 3 AND n < 9")]
#[case(
    Postgres,
    "SELECT c.name, l.total FROM customer c CROSS JOIN LATERAL (SELECT SUM(total) AS total FROM orders o WHERE o.customer_id = c.id) l"
)]
#[case(Postgres, "SELECT table_name FROM information_schema.tables")]
#[case(
    Postgres,
    "SELECT DISTINCT ON (customer_id) customer_id, total FROM orders ORDER BY customer_id, placed_at DESC"
)]
#[case(
    Postgres,
    "SELECT SUM(total) OVER w FROM orders WINDOW w AS (PARTITION BY customer_id ORDER BY placed_at)"
)]
#[case(
    Postgres,
    "SELECT count(*) FILTER (WHERE status = 'x'), date_trunc('month', placed_at) AS m FROM orders GROUP BY 2 ORDER BY 2"
)]
#[case(Postgres, "SELECT city, GROUPING(city) FROM customer GROUP BY ROLLUP (city)")]
#[case(Mysql, "SELECT `NAME` FROM customer WHERE \"x\" = city")]
#[case(Mysql, "SELECT TIMESTAMPDIFF(MONTH, placed_at, NOW()) FROM orders")]
#[case(Mysql, "SELECT city AS c, COUNT(*) AS n FROM customer GROUP BY c HAVING n > 1")]
#[case(Mysql, "SELECT shop.customer.name FROM shop.customer")]
#[case(
    Duckdb,
    "SELECT total * 2 AS double_total, double_total + 1 FROM orders WHERE double_total > 4"
)]
#[case(Duckdb, "FROM customer SELECT name")]
#[case(Duckdb, "SELECT * EXCLUDE (zip) FROM customer")]
#[case(Duckdb, "SELECT city, COUNT(*) FROM customer GROUP BY ALL")]
#[case(Duckdb, "SELECT list_transform([1, 2], x -> x + 1)")]
#[case(
    Snowflake,
    "SELECT DATEDIFF(day, 1, 2) AS d QUALIFY ROW_NUMBER() OVER (ORDER BY d) = 1"
)]
#[case(
    Bigquery,
    "SELECT DATE_TRUNC(placed_at, MONTH) AS m, COUNT(*) FROM orders GROUP BY m"
)]
#[case(
    Databricks,
    "SELECT id FROM orders LATERAL VIEW explode(array(1, 2)) t AS n WHERE n > 1"
)]
#[case(
    Clickhouse,
    "SELECT toStartOfMonth(placed_at) AS m, sumIf(total, status = 'x') FROM orders GROUP BY m"
)]
#[case(
    Sqlite,
    "WITH RECURSIVE boss (id, depth) AS (SELECT id, 0 FROM customer UNION ALL SELECT c.id, boss.depth + 1 FROM customer c JOIN boss ON c.manager_id = boss.id) SELECT depth FROM boss"
)]
#[case(
    Sqlite,
    "WITH a AS (SELECT id FROM orders), b AS (SELECT id FROM a) SELECT b.id FROM b"
)]
#[case(Sqlite, "SELECT name FROM customer UNION SELECT name FROM product ORDER BY name")]
#[case(Sqlite, "SELECT id FROM orders JOIN payment USING (id)")]
#[case(Sqlite, "SELECT bio, customer_id FROM profile NATURAL JOIN orders")]
#[case(
    Sqlite,
    "SELECT (SELECT MAX(total) FROM orders o WHERE o.customer_id = c.id) FROM customer c"
)]
#[case(Sqlite, "SELECT x.total FROM (SELECT o.*, 1 AS one FROM orders o) x WHERE x.one = 1")]
#[case(Sqlite, "SELECT n FROM (VALUES (1), (2)) AS v, (SELECT 3 AS n)")]
fn a_name_is_found(#[case] dialect: Dialect, #[case] sql: &str) {
    if let Err(refusal) = shop(dialect, sql) {
        panic!("{sql}: {refusal}");
    }
}

#[rstest]
#[case(Sqlite, "SELECT nmae FROM customer", "unknown-column", Some("name"))]
#[case(Sqlite, "SELECT c.totl FROM customer c", "unknown-column", None)]
#[case(Sqlite, "SELECT o.totl FROM orders o", "unknown-column", Some("total"))]
#[case(Sqlite, "SELECT quantity FROM orders", "unknown-column", Some("order_item.quantity"))]
#[case(Sqlite, "SELECT 1 FROM custmer", "unknown-table", Some("customer"))]
#[case(Sqlite, "SELECT customer.name FROM customer c", "unknown-table", Some("c.name"))]
#[case(Sqlite, "SELECT id FROM customer, orders", "ambiguous-column", Some("customer.id"))]
#[case(Sqlite, "SELECT LENGHT(name) FROM customer", "unknown-function", Some("length"))]
#[case(
    Sqlite,
    "SELECT name FROM customer UNION SELECT id, name FROM product",
    "column-count-mismatch",
    None
)]
#[case(Sqlite, "SELECT name FROM customer ORDER BY 2", "position-out-of-range", None)]
#[case(Sqlite, "SELECT name FROM customer WHERE COUNT(*) > 1", "misplaced-aggregate", None)]
#[case(Sqlite, "SELECT SUM(AVG(age)) FROM customer", "nested-aggregate", None)]
#[case(
    Sqlite,
    "SELECT (SELECT id, name FROM customer) FROM orders",
    "column-count-mismatch",
    None
)]
#[case(Sqlite, "WITH a (x, y) AS (SELECT 1) SELECT x FROM a", "column-count-mismatch", None)]
#[case(Sqlite, "SELECT x.* FROM customer c", "unknown-table", None)]
#[case(
    Sqlite,
    "SELECT * FROM customer JOIN orders USING (customer_id)",
    "unknown-column",
    None
)]
#[case(Postgres, "SELECT \"Name\" FROM customer", "unknown-column", Some("name"))]
#[case(Postgres, "SELECT name AS n FROM customer WHERE n = 'x'", "unknown-column", None)]
#[case(
    Postgres,
    "SELECT city, COUNT(*) AS number FROM customer GROUP BY city HAVING number > 1",
    "unknown-column",
    None
)]
#[case(
    Postgres,
    "SELECT o.id FROM customer c, orders o JOIN payment p ON p.order_id = c.id",
    "unknown-table",
    None
)]
#[case(
    Postgres,
    "SELECT c.id FROM customer c, (SELECT total FROM orders WHERE customer_id = c.id) x",
    "unknown-table",
    None
)]
#[case(Mysql, "SELECT name FROM Customer", "unknown-table", Some("customer"))]
#[case(Mysql, "SELECT C.name FROM customer c", "unknown-table", Some("c.name"))]
fn a_wrong_name_is_refused_with_the_right_one(
    #[case] dialect: Dialect,
    #[case] sql: &str,
    #[case] code: &str,
    #[case] suggestion: Option<&str>,
) {
    let refusal = shop(dialect, sql).unwrap_err();
    let reason = refusal.reasons.first().unwrap();
    assert_eq!(reason.code, code, "{}", reason.message);
    if suggestion.is_some() {
        assert_eq!(reason.suggestion.as_deref(), suggestion, "{}", reason.message);
    }
}

#[test]
fn a_message_says_where_and_what_else_there_is() {
    let refusal = shop(Sqlite, "SELECT name,\n  quantiti FROM orders").unwrap_err();
    let messages: Vec<_> = refusal.reasons.iter().map(|r| r.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "no column `name` in `orders` at line 1, column 8; tables that have it: `customer.name`, `product.name`",
            "no column `quantiti` in `orders` at line 2, column 3; the columns are `id`, `customer_id`, `placed_at`, `status`, \
             `total`, `items`",
        ]
    );
    assert_eq!(refusal.stage, Stage::Resolve);
}

#[rstest]
#[case("SELECT name FROM customer", &[("name", "customer.name")])]
#[case("SELECT SUM(total) AS t, COUNT(*) AS n FROM orders", &[("t", "orders.total"), ("n", "")])]
#[case("SELECT q * 2 AS d FROM (SELECT quantity + amount AS q FROM order_item)", &[("d", "order_item.quantity order_item.amount")])]
#[case("WITH a AS (SELECT id AS k FROM orders) SELECT k FROM a UNION SELECT id FROM product", &[("k", "product.id orders.id")])]
#[case("SELECT p.* FROM profile p", &[("customer_id", "profile.customer_id"), ("bio", "profile.bio"), ("score", "profile.score")])]
#[case("SELECT (SELECT MAX(age) FROM customer) AS oldest", &[("oldest", "customer.age")])]
#[case("SELECT total AS t FROM orders ORDER BY t", &[("t", "orders.total")])]
fn an_output_column_knows_its_sources(#[case] sql: &str, #[case] expected: &[(&str, &str)]) {
    let checked = shop(Sqlite, sql).unwrap();
    let found: Vec<(String, String)> = checked
        .lineage()
        .iter()
        .map(|c| (c.name.clone(), c.sources.join(" ")))
        .collect();
    let expected: Vec<(String, String)> = expected
        .iter()
        .map(|(n, s)| ((*n).to_owned(), (*s).to_owned()))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn columns_of_filters_and_joins_are_read_too() {
    let sql = "SELECT c.name FROM customer c JOIN orders o ON o.customer_id = c.id WHERE o.status = 'x'";
    let checked = shop(Sqlite, sql).unwrap();
    assert_eq!(
        checked.reads(),
        ["customer.id", "customer.name", "orders.customer_id", "orders.status"]
    );
}

#[test]
fn the_search_path_decides_between_schemas() {
    let ddl = "CREATE TABLE public.t (a INTEGER); CREATE TABLE sales.t (b INTEGER); CREATE TABLE sales.only_here (c INTEGER);";
    let mut catalog = catalog(Postgres, ddl);
    let ok = |catalog: &_, sql: &str| check(sql, Postgres, Some(catalog)).map(|_| ());
    assert!(ok(&catalog, "SELECT a FROM t").is_ok());
    assert!(ok(&catalog, "SELECT b FROM sales.t").is_ok());
    let refusal = ok(&catalog, "SELECT c FROM only_here").unwrap_err();
    assert_eq!(
        refusal.reasons.first().unwrap().suggestion.as_deref(),
        Some("sales.only_here")
    );
    catalog.search_path = vec!["sales".to_owned(), "public".to_owned()];
    assert!(ok(&catalog, "SELECT b FROM t").is_ok());
}

#[test]
fn quoted_names_keep_the_catalogs_spelling() {
    let ddl = r#"CREATE TABLE "Order Details" ("Unit Price" REAL, "order" INTEGER, "客户" TEXT);"#;
    let catalog = catalog(Postgres, ddl);
    let sql = r#"SELECT d."Unit Price", "order", "客户" FROM "Order Details" d"#;
    assert!(check(sql, Postgres, Some(&catalog)).is_ok());
    let refusal = check(r#"SELECT unit_price FROM "Order Details""#, Postgres, Some(&catalog)).unwrap_err();
    assert_eq!(
        refusal.reasons.first().unwrap().suggestion.as_deref(),
        Some("\"Unit Price\"")
    );
    assert!(
        check(
            "SELECT 1 FROM customer",
            Sqlite,
            Some(&super::fixture::catalog(Sqlite, SHOP))
        )
        .is_ok()
    );
}

#[rstest]
#[case("SELECT COUNT(*) FROM customer", true)]
#[case("SELECT city, COUNT(*) AS n FROM customer GROUP BY city", true)]
#[case(
    "SELECT c.name, SUM(o.total) FROM customer c JOIN orders o ON o.customer_id = c.id GROUP BY c.id, c.name",
    true
)]
#[case(
    "SELECT city, ROUND(AVG(age), 1), MAX(age) - MIN(age) FROM customer GROUP BY 1 HAVING COUNT(*) > 2",
    true
)]
#[case(
    "WITH t AS (SELECT * FROM customer) SELECT city, SUM(age) FROM t GROUP BY city",
    true
)]
#[case(
    "SELECT city, SUM(age) FROM customer GROUP BY city UNION ALL SELECT 'all', SUM(age) FROM customer",
    true
)]
#[case(
    "SELECT city, SUM(age) FROM customer GROUP BY city UNION ALL SELECT name, age FROM customer",
    false
)]
#[case("SELECT name FROM customer", false)]
#[case("SELECT DISTINCT city FROM customer", false)]
#[case("SELECT MAX(name) FROM customer", false)]
#[case("SELECT GROUP_CONCAT(name) FROM customer", false)]
#[case("SELECT city, MIN(age), name FROM customer GROUP BY city", false)]
#[case("SELECT id, SUM(age) FROM customer GROUP BY id", false)]
#[case("SELECT SUM(age) FROM customer WHERE id = 7", false)]
#[case("SELECT SUM(age) FROM (SELECT age FROM customer ORDER BY age LIMIT 1)", false)]
#[case("SELECT COUNT(*), (SELECT name FROM customer LIMIT 1) FROM customer", false)]
#[case("SELECT name, SUM(age) OVER () FROM customer", false)]
#[case("SELECT 1", false)]
fn a_result_is_aggregated_when_its_rows_say_nothing_of_single_rows(#[case] sql: &str, #[case] expected: bool) {
    let checked = shop(Sqlite, sql).unwrap();
    assert_eq!(checked.is_aggregated(), expected, "{sql}");
}
