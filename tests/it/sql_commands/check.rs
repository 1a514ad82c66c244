use rstest::rstest;
use serde_json::json;

use super::*;

const DB: &[&str] = &["--db", "shop.sqlite"];

#[test]
fn an_accepted_statement_comes_with_its_lineage() {
    let sql = "SELECT c.name, SUM(o.total) AS revenue, COUNT(*) AS n FROM customer c JOIN orders o ON o.customer_id = c.id GROUP BY c.id";
    let (verdict, code) = Shop::new().verdict(DB, sql);
    assert_eq!(code, Some(0));
    assert_eq!(
        verdict,
        json!({"v": 1, "verdict": "accepted", "stage": null, "reasons": [], "lints": [], "lineage": [
            {"name": "name", "sources": ["customer.name"]},
            {"name": "revenue", "sources": ["orders.total"]},
            {"name": "n", "sources": []}]})
    );
}

#[rstest]
#[case("DELETE FROM customer", "guard", "not-read-only", None)]
#[case("SELECT 1; DROP TABLE customer", "guard", "several-statements", None)]
#[case("SELECT readfile('/etc/passwd')", "guard", "forbidden-function", None)]
#[case("", "guard", "empty-statement", None)]
#[case(" -- nothing\n", "guard", "empty-statement", None)]
#[case("SELECT FROM WHERE", "parse", "syntax-error", None)]
#[case("SELECT nmae FROM customer", "resolve", "unknown-column", Some("name"))]
#[case("SELECT name FROM custmer", "resolve", "unknown-table", Some("customer"))]
#[case(
    "SELECT id FROM customer JOIN orders ON customer_id = customer.id",
    "resolve",
    "ambiguous-column",
    Some("customer.id")
)]
#[case("SELECT 城 FROM 客户", "resolve", "unknown-column", Some("\"城市\""))]
fn a_refusal_says_where_why_and_what_instead(
    #[case] sql: &str,
    #[case] stage: &str,
    #[case] code: &str,
    #[case] suggestion: Option<&str>,
) {
    let (verdict, exit) = Shop::new().verdict(DB, sql);
    assert_eq!(exit, Some(1), "{verdict}");
    assert_eq!(
        (&verdict["verdict"], &verdict["stage"]),
        (&json!("refused"), &json!(stage))
    );
    let reason = &verdict["reasons"][0];
    assert_eq!(
        (&reason["code"], reason.get("suggestion")),
        (&json!(code), suggestion.map(|s| json!(s)).as_ref())
    );
}

#[test]
fn lints_refuse_from_the_level_that_is_denied() {
    let shop = Shop::new();
    let fan_out = "SELECT SUM(o.total) FROM orders o JOIN order_item i ON i.order_id = o.id";
    let (verdict, code) = shop.verdict(DB, fan_out);
    assert_eq!((code, &verdict["verdict"]), (Some(0), &json!("accepted")));
    let lint = &verdict["lints"][0];
    assert_eq!((&lint["code"], &lint["level"]), (&json!("fan-out"), &json!("error")));
    let (verdict, code) = shop.verdict(&["--db", "shop.sqlite", "--deny", "error"], fan_out);
    assert_eq!((code, &verdict["stage"]), (Some(1), &json!("lint")));
    assert_eq!(verdict["reasons"][0]["code"], "fan-out");
    assert_eq!(verdict["lints"][0]["code"], "fan-out");
    assert_eq!(verdict["lineage"][0]["sources"], json!(["orders.total"]));
}

#[test]
fn values_are_measured_before_a_lint_is_sure() {
    let sql = "SELECT COUNT(*) FROM orders WHERE placed_at BETWEEN '2005-08-01' AND '2005-08-31'";
    let (verdict, _) = Shop::new().verdict(DB, sql);
    assert_eq!(
        (&verdict["lints"][0]["code"], &verdict["lints"][0]["level"]),
        (&json!("between-timestamp"), &json!("error"))
    );
}

#[rstest]
#[case("sqlite", "SELECT strftime('%Y', d) FROM anything", 0)]
#[case("postgres", "SELECT d::date FROM anything", 0)]
#[case("postgresql", "TABLE anything", 0)]
#[case("mariadb", "SELECT `delete` FROM t", 0)]
#[case("duckdb", "FROM t SELECT *", 0)]
#[case("snowflake", "SELECT a FROM t QUALIFY ROW_NUMBER() OVER (ORDER BY a) = 1", 0)]
#[case("bigquery", "SELECT * EXCEPT (a) FROM `p.d.t`", 0)]
#[case("spark", "SELECT a FROM t LATERAL VIEW explode(b) x AS c", 0)]
#[case("clickhouse", "SELECT sumIf(a, b > 1) FROM t", 0)]
#[case("duckdb", "SELECT * FROM '/etc/passwd'", 1)]
#[case("postgres", "SELECT pg_sleep(9)", 1)]
fn a_dialect_alone_needs_no_database(#[case] dialect: &str, #[case] sql: &str, #[case] code: i32) {
    let (verdict, exit) = Shop::new().verdict(&["--dialect", dialect], sql);
    assert_eq!(exit, Some(code), "{verdict}");
    assert_eq!(verdict["lineage"], json!([]));
}

#[test]
fn people_see_the_line_at_fault_and_no_colours_in_a_pipe() {
    let shop = Shop::new();
    std::fs::write(
        shop.path().join("q.sql"),
        "SELECT name,\n       totl\nFROM orders JOIN customer ON customer.id = customer_id\n",
    )
    .unwrap();
    let output = shop.run(&["sql", "check", "--db", "shop.sqlite", "q.sql"]);
    assert_eq!(output.status.code(), Some(1));
    let text = stdout(&output);
    assert_eq!(
        text,
        "refused because names do not resolve\n\n\
         unknown-column: no column `totl` in `orders`, `customer` at line 2, column 8; did you mean `total`?\n  \
         2 |        totl\n    |        ^\n  write instead: total\n"
    );
    assert!(stderr(&output).is_empty(), "{}", stderr(&output));
}

#[test]
fn people_see_lints_with_their_rewrite_and_the_lineage() {
    let sql = "SELECT SUM(o.total) AS total FROM orders o JOIN order_item i ON i.order_id = o.id WHERE i.quantity > 2";
    let output = Shop::new().pipe(&["sql", "check", "--db", "shop.sqlite", "-"], sql);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0));
    assert!(text.starts_with("accepted\n\nerror fan-out: "), "{text}");
    assert!(text.contains("write instead:\n    SELECT SUM(o.total)"), "{text}");
    assert!(text.ends_with("columns\n  total  orders.total\n"), "{text}");
}

#[test]
fn a_mark_before_the_text_is_no_part_of_it() {
    let (_, code) = Shop::new().verdict(DB, "\u{feff}SELECT 1");
    assert_eq!(code, Some(0));
}

#[test]
fn without_a_database_the_sample_is_taken() {
    let shop = Shop::new();
    let output = shop.pipe(&["sql", "check", "-"], "SELECT COUNT(*) FROM orders");
    assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
}

#[rstest]
#[case(&["sql", "check", "missing.sql", "--db", "shop.sqlite"], "missing.sql")]
#[case(&["sql", "check", "SELECT 1", "--db", "shop.sqlite"], "pipe it in")]
#[case(&["sql", "check", ".", "--db", "shop.sqlite"], "cannot read .")]
#[case(&["sql", "check", "bytes.sql", "--db", "shop.sqlite"], "UTF-8")]
#[case(&["sql", "check", "one.sql", "--db", "missing.sqlite"], "missing.sqlite")]
#[case(&["sql", "check", "one.sql", "--db", "oracle://host/db"], "oracle")]
#[case(&["sql", "run", "missing.sql", "--db", "shop.sqlite"], "missing.sql")]
#[case(&["sql", "run", "one.sql", "--db", "shop.sqlite", "--max-rows", "0"], "at least 1")]
#[case(&["sql", "run", "one.sql", "--db", "shop.sqlite", "--output", "."], "is a folder")]
#[case(&["schema", "--db", "missing.sqlite"], "missing.sqlite")]
fn wrong_usage_is_one_line_with_exit_code_two(#[case] arguments: &[&str], #[case] names: &str) {
    let shop = Shop::new();
    std::fs::write(shop.path().join("one.sql"), "SELECT 1").unwrap();
    std::fs::write(shop.path().join("bytes.sql"), [b'S', 0xff, 0xfe]).unwrap();
    let output = shop.run(arguments);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert_eq!(said.trim_end().lines().count(), 1, "{said}");
    assert!(said.starts_with("analyst: ") && said.contains(names), "{said}");
    assert!(output.stdout.is_empty());
}

#[rstest]
#[case(&["sql", "check", "--dialect", "oracle", "-"], "oracle")]
#[case(&["sql", "check", "--dialect", "sqlite", "--db", "shop.sqlite", "-"], "cannot be used with")]
#[case(&["sql", "check", "--deny", "maybe", "-"], "maybe")]
#[case(&["sql", "check"], "FILE")]
#[case(&["sql", "run", "--timeout", "0", "-"], "seconds above 0")]
#[case(&["sql", "run", "--timeout", "soon", "-"], "seconds above 0")]
#[case(&["sql", "run", "--format", "xml", "-"], "xml")]
#[case(&["sql"], "Usage")]
fn options_that_do_not_fit_are_explained(#[case] arguments: &[&str], #[case] names: &str) {
    let output = Shop::new().run(arguments);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains(names), "{}", stderr(&output));
}

#[test]
fn shells_complete_the_commands() {
    let output = Shop::new().run(&["completions", "bash"]);
    let script = stdout(&output);
    for word in [
        "analyst__subcmd__sql__subcmd__check",
        "--deny",
        "--dialect",
        "--max-rows",
        "clickhouse",
        "schema",
    ] {
        assert!(script.contains(word), "{word}");
    }
}
