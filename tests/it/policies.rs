//! Policies of the configuration, and tries to get round them, on each engine. What must not be seen begins with `zq-`.

use std::io::Write;
use std::path::Path;
use std::process::{Output, Stdio};

use rstest::rstest;

use crate::sql_commands::engines::Server;
use crate::support::{analyst, stderr, stdout};

const TABLES: &[&str] = &[
    "CREATE TABLE customers (id INT PRIMARY KEY, name VARCHAR(40) NOT NULL, email VARCHAR(40), phone VARCHAR(40), city VARCHAR(40))",
    "CREATE TABLE orders (id INT PRIMARY KEY, customer_id INT REFERENCES customers (id), region VARCHAR(10), amount INT, note VARCHAR(40))",
    "CREATE TABLE salaries (id INT PRIMARY KEY, who VARCHAR(40), pay VARCHAR(40))",
    "INSERT INTO customers VALUES (1, 'Ann', 'zq-mail-1', 'zq-phone-1', 'Oslo'), (2, 'Bo', 'zq-mail-2', 'zq-phone-2', 'Rome')",
    "INSERT INTO orders VALUES (1, 1, 'EU', 10, 'fine'), (2, 1, 'US', 20, 'zq-us-1'), (3, 2, 'EU', 30, 'ok'), (4, 2, 'US', 1000, 'zq-us-2')",
    "INSERT INTO salaries VALUES (1, 'Ann', 'zq-pay-1')",
    "CREATE VIEW all_customers AS SELECT * FROM customers",
    "CREATE VIEW order_names AS SELECT o.id, c.name FROM orders o JOIN customers c ON c.id = o.customer_id",
];

const POLICY: &str = r#"
[policy]
tables = ["customers", "order*", "order_names"]
deny_columns = ["customers.email"]
mask_columns = ["*.phone"]
max_rows = 3

[policy.row_filters]
orders = "region = 'EU' -- only ours"
"#;

/// What a statement comes to under the policy.
#[derive(Debug, Clone, Copy)]
enum Ends {
    /// These rows as CSV, without the heading.
    Rows(&'static str),
    /// A refusal that says so.
    Refused(&'static str),
    /// Anything that shows nothing, such as the engine's own error.
    ShowsNothing,
}

use Ends::{Refused, Rows, ShowsNothing};

const DENIED: Ends = Refused("policy.deny_columns forbids it");
const NOT_ALLOWED: Ends = Refused("policy.tables does not allow it");

/// Statements that mean the same everywhere.
const EVERYWHERE: &[(&str, Ends)] = &[
    (
        "SELECT * FROM customers ORDER BY id",
        Rows("1,Ann,***,Oslo\n2,Bo,***,Rome\n"),
    ),
    ("SELECT c.* FROM customers AS c WHERE c.id = 2", Rows("2,Bo,***,Rome\n")),
    ("SELECT COUNT(*) AS n, SUM(amount) AS s FROM orders", Rows("2,40\n")),
    (
        "WITH o AS (SELECT * FROM orders) SELECT COUNT(*) AS n FROM o",
        Rows("2\n"),
    ),
    (
        "WITH RECURSIVE up AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM up WHERE n < 3) SELECT COUNT(*) AS n FROM up JOIN orders ON orders.id = up.n",
        Rows("2\n"),
    ),
    (
        "SELECT name FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id AND o.amount > 500)",
        Rows(""),
    ),
    (
        "SELECT c.name, (SELECT MAX(amount) FROM orders WHERE customer_id = c.id) AS top FROM customers AS c ORDER BY c.id",
        Rows("Ann,10\nBo,30\n"),
    ),
    (
        "SELECT a.id AS a, b.id AS b FROM orders a, orders b WHERE a.id < b.id",
        Rows("1,3\n"),
    ),
    (
        "SELECT c.name, o.id FROM customers c LEFT JOIN orders o ON o.customer_id = c.id AND o.amount > 20 ORDER BY c.id",
        Rows("Ann,\nBo,3\n"),
    ),
    (
        "SELECT x.n FROM (SELECT note AS n FROM orders) x ORDER BY x.n",
        Rows("fine\nok\n"),
    ),
    (
        "SELECT COUNT(*) AS n FROM customers WHERE phone = 'zq-phone-1'",
        Rows("0\n"),
    ),
    (
        "SELECT COUNT(DISTINCT phone) AS n, MIN(phone) AS p FROM customers",
        Rows("1,***\n"),
    ),
    (
        "SELECT id FROM orders UNION ALL SELECT id FROM orders ORDER BY 1",
        Rows("1\n1\n3\n"),
    ),
    (
        "SELECT\n  '客户' AS 名,\n  note\nFROM orders -- 客户\nWHERE note = 'ok'",
        Rows("客户,ok\n"),
    ),
    ("SELECT COUNT(*) AS n FROM order_names", Rows("4\n")),
    // A condition of the reader must not meet rows that the filter keeps out: the error would quote them.
    (
        "SELECT id FROM orders WHERE CASE WHEN amount > 500 THEN CAST(note AS DECIMAL(9)) ELSE 0 END = 0 ORDER BY id",
        Rows("1\n3\n"),
    ),
    ("SELECT email FROM customers", DENIED),
    ("SELECT UPPER(c.email) AS x FROM customers c", DENIED),
    ("SELECT MAX(email) FROM customers WHERE id = 1", DENIED),
    ("SELECT e FROM (SELECT email AS e FROM customers) t", DENIED),
    ("WITH t AS (SELECT id, email FROM customers) SELECT id FROM t", DENIED),
    ("SELECT name FROM customers WHERE email LIKE 'z%'", DENIED),
    ("SELECT name FROM customers ORDER BY email", DENIED),
    ("SELECT COUNT(*) FROM customers GROUP BY email", DENIED),
    ("SELECT COUNT(*) FROM customers HAVING MIN(email) > 'a'", DENIED),
    ("SELECT o.id FROM orders o JOIN customers c ON c.email = o.note", DENIED),
    (
        "SELECT id FROM orders WHERE note IN (SELECT email FROM customers)",
        DENIED,
    ),
    ("SELECT ROW_NUMBER() OVER (ORDER BY email) FROM customers", DENIED),
    (
        "SELECT id FROM orders UNION SELECT LENGTH(email) FROM customers",
        DENIED,
    ),
    ("SELECT * FROM salaries", NOT_ALLOWED),
    ("SELECT COUNT(*) FROM salaries", NOT_ALLOWED),
    (
        "SELECT name FROM customers WHERE id IN (SELECT id FROM salaries)",
        NOT_ALLOWED,
    ),
    (
        "SELECT * FROM all_customers",
        Refused("policy.tables does not name this view"),
    ),
    (
        "WITH customers AS (SELECT * FROM customers) SELECT * FROM customers",
        Refused("the CTE `customers` has the name of a table"),
    ),
    (
        "WITH Salaries AS (SELECT 1 AS pay) SELECT pay FROM Salaries",
        Refused("the CTE `Salaries` has the name of a table"),
    ),
];

const SQLITE: &[(&str, Ends)] = &[
    ("SELECT \"email\" FROM customers", DENIED),
    ("SELECT [email] FROM customers", DENIED),
    (
        "SELECT main.customers.name, main.customers.phone FROM main.customers",
        Rows("Ann,***\nBo,***\n"),
    ),
    (
        "SELECT main.orders.* FROM main.orders WHERE main.orders.id = 3",
        ShowsNothing,
    ),
    (
        "SELECT j.value FROM orders, json_each('[7]') j WHERE orders.id = 1",
        Rows("7\n"),
    ),
    ("SELECT sql FROM sqlite_master", Refused("table of the engine itself")),
    (
        "SELECT * FROM pragma_table_info('customers')",
        Refused("not called in FROM"),
    ),
    ("PRAGMA table_info(customers)", Refused("only queries are run")),
    (
        "EXPLAIN QUERY PLAN SELECT * FROM customers",
        Refused("only queries are run"),
    ),
    ("SELECT rowid FROM orders", ShowsNothing),
    ("SELECT * FROM orders NOT INDEXED", Refused("index hint")),
];

const POSTGRES: &[(&str, Ends)] = &[
    (
        "SELECT public.orders.note FROM public.orders ORDER BY 1",
        Rows("fine\nok\n"),
    ),
    (
        "SELECT public.orders.* FROM public.orders WHERE public.orders.id = 3",
        Rows("3,2,EU,30,ok\n"),
    ),
    (
        "SELECT to_jsonb(c) ->> 'name' AS j FROM customers c ORDER BY 1",
        Rows("Ann\nBo\n"),
    ),
    ("SELECT c FROM customers c", ShowsNothing),
    ("SELECT to_jsonb(c) FROM customers c", ShowsNothing),
    (
        "SELECT most_common_vals FROM pg_stats",
        Refused("table of the engine itself"),
    ),
    (
        "SELECT column_name FROM information_schema.columns",
        Refused("table of the engine itself"),
    ),
    ("TABLE orders", Refused("SELECT * FROM t")),
    ("SELECT 1 AS x UNION ALL TABLE salaries", ShowsNothing),
    ("SELECT * FROM orders TABLESAMPLE SYSTEM (100)", Refused("no sample")),
    ("SELECT ctid, xmin FROM orders", ShowsNothing),
    (
        "SELECT id FROM orders WHERE 1 / (amount - 1000) = 0 ORDER BY id",
        Rows("1\n3\n"),
    ),
    (
        "SELECT l.n FROM customers c CROSS JOIN LATERAL (SELECT COUNT(*) AS n FROM orders o WHERE o.customer_id = c.id) l",
        Rows("1\n1\n"),
    ),
    ("EXPLAIN SELECT * FROM orders", Refused("only queries are run")),
];

const MYSQL: &[(&str, Ends)] = &[
    ("SELECT `email` FROM `customers`", DENIED),
    ("SELECT `o`.`note` FROM `orders` `o` ORDER BY 1", Rows("fine\nok\n")),
    ("SHOW TABLES", Refused("only queries are run")),
    ("DESCRIBE customers", Refused("only queries are run")),
    (
        "SELECT column_name FROM information_schema.columns",
        Refused("table of the engine itself"),
    ),
    ("SELECT * FROM orders USE INDEX (PRIMARY)", Refused("index hint")),
    ("TABLE orders", ShowsNothing),
];

/// Runs `sql` on `db` with `config` beside it.
fn run(folder: &Path, db: &str, sql: &str) -> Output {
    let mut child = analyst(folder)
        .args(["sql", "run", "--format", "csv", "--db", db, "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(sql.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn each_ends_as_said(db: &str, cases: &[&[(&str, Ends)]]) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("analyst.toml"), POLICY).unwrap();
    let mut wrong = Vec::new();
    for (sql, ends) in cases.iter().copied().flatten() {
        let output = run(folder.path(), db, sql);
        let (rows, said) = (stdout(&output), stderr(&output));
        let below = rows.split_once('\n').map_or("", |(_, below)| below);
        let fits = match ends {
            Rows(expected) => output.status.success() && below == *expected,
            Refused(words) => {
                !output.status.success() && rows.is_empty() && said.contains(words) && said.contains("analyst.toml")
            }
            ShowsNothing => true,
        };
        if !fits || (rows.clone() + &said).contains("zq-") {
            wrong.push(format!("{sql}\n  expected {ends:?}\n  got {rows:?}\n  {said}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let output = analyst(folder.path())
        .args(["schema", "--db", db, "--profile"])
        .output()
        .unwrap();
    let shown = stdout(&output);
    assert!(
        shown.contains("customers") && shown.contains("Oslo"),
        "{shown}{}",
        stderr(&output)
    );
    for hidden in ["email", "salaries", "all_customers", "zq-", "US"] {
        assert!(!shown.contains(hidden), "{hidden} in\n{shown}");
    }
}

fn sqlite(folder: &Path) -> String {
    let path = folder.join("shop.sqlite");
    let connection = rusqlite::Connection::open(&path).unwrap();
    TABLES.iter().for_each(|sql| connection.execute_batch(sql).unwrap());
    path.to_string_lossy().into_owned()
}

#[test]
fn policies_hold_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    each_ends_as_said(&sqlite(folder.path()), &[EVERYWHERE, SQLITE]);
}

#[test]
fn policies_hold_on_postgres() {
    if let Some(server) = Server::postgres("policies") {
        server.execute(TABLES);
        each_ends_as_said(&server.url, &[EVERYWHERE, POSTGRES]);
    }
}

#[test]
fn policies_hold_on_mariadb() {
    if let Some(server) = Server::mysql("policies") {
        server.execute(TABLES);
        each_ends_as_said(&server.url, &[EVERYWHERE, MYSQL]);
    }
}

/// The policy of one connection holds for it alone, and an unnamed database has the one for all.
#[test]
fn policies_hold_by_connection_and_for_a_report() {
    let folder = tempfile::tempdir().unwrap();
    sqlite(folder.path());
    let config = "[connections.ours]\nurl = \"./shop.sqlite\"\n[connections.ours.policy.row_filters]\norders = \"region = 'EU'\"\n\
                  [connections.all]\nurl = \"./shop.sqlite\"\n";
    std::fs::write(folder.path().join("analyst.toml"), config).unwrap();
    let total = |db: &str| stdout(&run(folder.path(), db, "SELECT SUM(amount) AS s FROM orders"));
    assert_eq!(
        (total("ours"), total("all")),
        ("s\n40\n".to_owned(), "s\n1060\n".to_owned())
    );
    let ask = [
        "ask",
        "total amount of orders",
        "--db",
        "ours",
        "--format",
        "json",
        "--out",
        "out",
    ];
    let answered = analyst(folder.path()).args(ask).output().unwrap();
    let report = stdout(&answered);
    assert!(
        report.contains("40") && !report.contains("1060") && !report.contains("1,060"),
        "{report}{}",
        stderr(&answered)
    );
    for entry in std::fs::read_dir(folder.path().join("out")).unwrap().flatten() {
        let text = std::fs::read(entry.path()).unwrap_or_default();
        assert!(
            !String::from_utf8_lossy(&text).contains("zq-us"),
            "{}",
            entry.path().display()
        );
    }
    let batch = "- id: a\n  question: total amount of orders\n";
    std::fs::write(folder.path().join("questions.yaml"), batch).unwrap();
    let output = analyst(folder.path())
        .args(["batch", "questions.yaml", "--db", "ours", "--out", "many"])
        .output()
        .unwrap();
    let index = std::fs::read_to_string(folder.path().join("many/index.md")).unwrap();
    assert!(
        index.contains("40") && !index.contains("1,060"),
        "{index}{}",
        stderr(&output)
    );
}

#[rstest]
#[case(
    "deny_columns = [\"customers.emial\"]",
    "`policy.deny_columns` in analyst.toml names `customers.emial`"
)]
#[case("tables = [\"order_lines\"]", "no such table")]
#[case("deny_columns = [\"email\"]", "write table.column, or *.email for any table")]
#[case("tables = []", "nothing could be read")]
#[case("max_rows = 0", "it must be at least 1")]
#[case("deny_column = [\"customers.email\"]", "did you mean `deny_columns`?")]
#[case(
    "[policy.row_filters]\norders = \"regoin = 'EU'\"",
    "`policy.row_filters.orders` in analyst.toml"
)]
#[case(
    "[policy.row_filters]\norders = \"region = 'EU') OR (1 = 1\"",
    "parentheses do not match"
)]
#[case(
    "[policy.row_filters]\norders = \"region = 'EU'; DROP TABLE orders\"",
    "`policy.row_filters.orders` in analyst.toml"
)]
#[case("[policy.row_filters]\norder = \"region = 'EU'\"", "no such table")]
fn a_policy_that_cannot_be_meant_is_refused(#[case] line: &str, #[case] words: &str) {
    let folder = tempfile::tempdir().unwrap();
    let db = sqlite(folder.path());
    std::fs::write(folder.path().join("analyst.toml"), format!("[policy]\n{line}\n")).unwrap();
    let output = run(folder.path(), &db, "SELECT COUNT(*) FROM orders");
    assert!(!output.status.success() && stdout(&output).is_empty());
    assert!(stderr(&output).contains(words), "{}", stderr(&output));
}
