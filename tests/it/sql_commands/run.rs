use rstest::rstest;
use serde_json::json;

use super::*;

#[test]
fn a_table_lines_up_and_hides_no_value() {
    let shop = Shop::new();
    let sql =
        "SELECT c.name, o.total FROM customer c LEFT JOIN orders o ON o.customer_id = c.id ORDER BY o.id IS NULL, o.id";
    assert_eq!(
        shop.rows(&[], sql),
        "name       total\n---------  -----\nZoë         10.5\nZoë         20.0\nLi, \"Wei\"    0.1\n            NULL\n"
    );
    assert_eq!(
        shop.rows(&[], "SELECT * FROM 客户 ORDER BY 编号"),
        "编号  城市\n----  ----\n   1  北京\n   2  上海\n"
    );
}

#[test]
fn a_table_lets_no_value_steer_the_terminal() {
    let text = Shop::new().rows(&[], "SELECT \"a\"\"b\" AS v FROM \"Odd Name; --\" ORDER BY 1 DESC");
    assert_eq!(text, "v\n-------------\nline\\nbreak\n\\u{1b}[31mred\n");
}

#[test]
fn csv_tells_null_from_an_empty_text_and_keeps_every_digit() {
    let shop = Shop::new();
    assert_eq!(
        shop.rows(
            &["--format", "csv"],
            "SELECT name, manager_id FROM customer ORDER BY id"
        ),
        "name,manager_id\nZoë,\n\"Li, \"\"Wei\"\"\",1\n\"\",1\n"
    );
    assert_eq!(
        shop.rows(
            &["--format", "csv"],
            "SELECT \"select\" AS n, \"a\"\"b\" AS t FROM \"Odd Name; --\" WHERE \"select\" > 1"
        ),
        "n,t\n9007199254740993,\"line\nbreak\"\n"
    );
}

#[test]
fn json_carries_values_exactly_and_says_what_they_are() {
    let sql = "SELECT \"select\" AS n, 1.5 AS f, x'00ff' AS b, NULL AS missing FROM \"Odd Name; --\" ORDER BY 1 DESC";
    let shop = Shop::new();
    let object: Value = serde_json::from_str(&shop.rows(&["--format", "json"], sql)).unwrap();
    assert_eq!(
        object["rows"],
        json!([
            [{"integer": "9007199254740993"}, 1.5, {"bytes": "AP8="}, null],
            [1, 1.5, {"bytes": "AP8="}, null]
        ])
    );
    assert_eq!(
        object["columns"][0],
        json!({"name": "n", "type": "integer", "declared_type": "INTEGER"})
    );
    assert_eq!(
        (&object["v"], &object["row_count"], &object["truncated"]),
        (&json!(1), &json!(2), &json!(false))
    );
    assert_eq!(object["hash"].as_str().unwrap().len(), 64);
}

#[test]
fn parquet_goes_to_a_file_or_a_pipe_and_comes_back_whole() {
    let shop = Shop::new();
    let sql = "SELECT id, name FROM customer ORDER BY id";
    shop.rows(&["--output", "out.parquet"], sql);
    let file = std::fs::read(shop.path().join("out.parquet")).unwrap();
    let arguments = ["sql", "run", "--db", "shop.sqlite", "--format", "parquet", "-"];
    let piped = shop.pipe(&arguments, sql);
    assert!(file.starts_with(b"PAR1") && piped.stdout.starts_with(b"PAR1"));
    let output = shop.pipe(
        &["sql", "run", "--db", "out.parquet", "--format", "csv", "-"],
        "SELECT * FROM out ORDER BY id",
    );
    assert_eq!(
        stdout(&output),
        "id,name\n1,Zoë\n2,\"Li, \"\"Wei\"\"\"\n3,\"\"\n",
        "{}",
        stderr(&output)
    );
}

#[test]
fn the_ending_of_the_file_chooses_the_format() {
    let shop = Shop::new();
    assert_eq!(
        shop.rows(&["--output", "客户.csv"], "SELECT 城市 FROM 客户 WHERE 编号 = 1"),
        ""
    );
    assert_eq!(
        std::fs::read_to_string(shop.path().join("客户.csv")).unwrap(),
        "城市\n北京\n"
    );
}

#[test]
fn a_cut_result_says_so_beside_the_rows() {
    let shop = Shop::new();
    let arguments = [
        "sql",
        "run",
        "--db",
        "shop.sqlite",
        "--format",
        "csv",
        "--max-rows",
        "2",
        "-",
    ];
    let output = shop.pipe(&arguments, "SELECT id FROM order_item ORDER BY id");
    assert_eq!(stdout(&output), "id\n1\n2\n");
    assert_eq!(
        stderr(&output),
        "analyst: only the first 2 rows; there are more, --max-rows N gives up to N of them\n"
    );
    let whole = shop.pipe(&arguments, "SELECT id FROM orders WHERE id < 3 ORDER BY id");
    assert_eq!((stdout(&whole).as_str(), stderr(&whole).as_str()), ("id\n1\n2\n", ""));
}

#[test]
fn no_rows_leave_the_heading() {
    let shop = Shop::new();
    assert_eq!(
        shop.rows(&[], "SELECT id, name FROM customer WHERE id > 9"),
        "id  name\n--  ----\n"
    );
    assert_eq!(
        shop.rows(&["--format", "csv"], "SELECT id FROM customer WHERE id > 9"),
        "id\n"
    );
}

#[rstest]
#[case("PRAGMA table_info(customer)", "manager_id")]
#[case("EXPLAIN QUERY PLAN SELECT name FROM customer", "SCAN")]
#[case("VALUES (1, 'a'), (2, 'b')", "b")]
#[case(
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT i FROM n",
    "5"
)]
fn what_only_reads_runs(#[case] sql: &str, #[case] shows: &str) {
    let text = Shop::new().rows(&[], sql);
    assert!(text.contains(shows), "{text}");
}

#[test]
fn a_refused_statement_is_not_run_and_exits_with_one() {
    let shop = Shop::new();
    let output = shop.pipe(&["sql", "run", "--db", "shop.sqlite", "-"], "DROP TABLE orders");
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    assert!(
        stderr(&output).starts_with("analyst: the statement was not run\nnot-read-only: DROP"),
        "{}",
        stderr(&output)
    );
    assert_eq!(
        shop.rows(&["--format", "csv"], "SELECT COUNT(*) AS n FROM orders"),
        "n\n3\n"
    );
}

#[test]
fn what_may_be_wrong_is_said_before_the_rows() {
    let sql = "SELECT SUM(o.total) AS total FROM orders o JOIN order_item i ON i.order_id = o.id";
    let output = Shop::new().pipe(&["sql", "run", "--db", "shop.sqlite", "-"], sql);
    assert_eq!(output.status.code(), Some(0));
    assert!(
        stderr(&output).starts_with("analyst: error fan-out: "),
        "{}",
        stderr(&output)
    );
}

#[test]
fn an_error_of_the_database_is_told_in_its_words() {
    let output = Shop::new().pipe(
        &["sql", "run", "--db", "shop.sqlite", "-"],
        "SELECT abs(-9223372036854775807 - 1)",
    );
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        stderr(&output),
        "analyst: the database refused the statement: integer overflow\n"
    );
}

#[test]
fn csv_files_are_a_database() {
    let shop = Shop::new();
    std::fs::write(shop.path().join("销售.csv"), "城市,金额\n北京,10.50\n上海,7\n").unwrap();
    let output = shop.pipe(
        &["sql", "run", "--db", "销售.csv", "--format", "csv", "-"],
        "SELECT 城市, 金额 FROM 销售 ORDER BY 金额",
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).starts_with("城市,金额\n上海,7"), "{}", stdout(&output));
}
