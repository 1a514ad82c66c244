//! What leaves the machine: every value of the database is one that occurs nowhere else, and no request may hold one.

use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

use rstest::rstest;
use serde_json::{Value, json};
use wiremock::matchers::method;
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

use crate::providers::openai_stream;
use crate::support::{analyst, stderr, stdout};

/// Cells that must not be told, as text; amounts are whole so that they are written in one way only.
const CELLS: [&str; 15] = [
    "Zqaberdeen",
    "Zqbrighton",
    "Zqcardiff",
    "Zqalice",
    "Zqbob",
    "Zqcarla",
    "zqsecret",
    "紫晶客户",
    "1987-03-21",
    "1991-11-05",
    "1994-08-17",
    "70000013",
    "70000031",
    "70000057",
    "8000071",
];

fn database(path: &Path) {
    let connection = rusqlite::Connection::open(path).unwrap();
    connection
        .execute_batch(
            "CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT, note TEXT);
             CREATE TABLE sales (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers (id), sold_on DATE,
                 amount INTEGER);
             INSERT INTO customers VALUES (8000071, 'Zqalice', 'Zqaberdeen', 'zqsecret one'),
                 (8000072, 'Zqbob', 'Zqbrighton', '紫晶客户'), (8000073, 'Zqcarla', 'Zqcardiff', NULL);
             INSERT INTO sales VALUES (1, 8000071, '1987-03-21', 70000013), (2, 8000072, '1991-11-05', 70000031),
                 (3, 8000073, '1994-08-17', 70000057), (4, 8000071, '1994-08-17', 70000057)",
        )
        .unwrap();
}

/// Tries every tool on every table, with calls that fail too, and then answers.
struct Curious {
    turns: Mutex<usize>,
}

fn calls(turn: usize) -> Vec<(&'static str, Value)> {
    let sql = |sql: &str| ("sql_execute", json!({"sql": sql, "preview_rows": 400}));
    let metric = |arguments: Value| ("metric_compute", arguments);
    match turn {
        0 => vec![
            ("schema_probe", json!({"tables": ["customers", "sales"]})),
            ("schema_probe", json!({"search": "sales by city"})),
            (
                "glossary",
                json!({"question": "total amount of sales by city in zqaberden"}),
            ),
            (
                "glossary",
                json!({"question": "sales of zqalice last month", "around": true}),
            ),
            (
                "glossary",
                json!({"terms": ["zqbob", "zqcardif", "last month", "amount", "all data"]}),
            ),
            (
                "sql_validate",
                json!({"sql": "SELECT * FROM sales WHERE sold_on BETWEEN '1990-01-01' AND '1990-12-31'"}),
            ),
        ],
        1 => vec![
            sql("SELECT * FROM customers"),
            sql(
                "SELECT c.city, SUM(s.amount) AS total FROM sales s JOIN customers c ON c.id = s.customer_id GROUP BY c.city",
            ),
            sql("SELECT sold_on, amount FROM sales ORDER BY id"),
            sql(
                "SELECT name, amount, sold_on FROM customers JOIN sales ON customers.id = customer_id WHERE sales.id = 2",
            ),
            sql("SELECT id, json_extract(note, '$.a') AS a FROM customers"),
            sql("SELECT * FROM customers WHERE name = 'nobody'"),
            sql("SELECT max(name) AS last, group_concat(city) AS cities FROM customers"),
        ],
        2 => vec![
            metric(json!({"function": "rank", "source": "q2", "value": "total", "group": "city"})),
            metric(json!({"function": "rank", "source": "q3", "value": "sold_on"})),
            metric(json!({"function": "rank", "source": "q3", "value": "missing"})),
            metric(json!({"function": "growth", "source": "q3", "value": "amount", "period": "sold_on"})),
            metric(json!({"function": "growth", "source": "q1", "value": "id", "period": "name"})),
            metric(
                json!({"function": "compare", "source": "q3", "value": "amount", "period": "sold_on", "old": "2001", "new": "2002"}),
            ),
            metric(json!({"function": "summary", "source": "q3", "value": "amount"})),
            (
                "chart",
                json!({"source": "q2", "kind": "bar", "title": "Sales by city", "x": "city", "y": ["total"]}),
            ),
            (
                "chart",
                json!({"source": "q1", "kind": "line", "title": "Broken", "x": "name", "y": ["city"]}),
            ),
            sql("SELECT * FROM customers"),
        ],
        _ => Vec::new(),
    }
}

impl Respond for Curious {
    fn respond(&self, _request: &Request) -> ResponseTemplate {
        let mut turns = self.turns.lock().unwrap();
        let calls = calls(*turns);
        *turns += 1;
        if calls.is_empty() {
            let answer = "<!-- answer: q2 -->\n# Sales by city\n\nThe totals by city:\n\n[q2]\n";
            return openai_stream(&[json!({"content": answer})], "stop");
        }
        let deltas: Vec<Value> = calls
            .iter()
            .enumerate()
            .map(|(at, (tool, arguments))| {
                let function = json!({"name": tool, "arguments": arguments.to_string()});
                json!({"tool_calls": [{"index": at, "id": format!("t{turns}c{at}"), "function": function}]})
            })
            .collect();
        openai_stream(&deltas, "tool_calls")
    }
}

/// Asks, and gives the output with everything that the model's server was sent, unescaped.
async fn asked(folder: &Path, prepare: impl FnOnce(&mut Command)) -> (std::process::Output, String) {
    let server = MockServer::start().await;
    let model = Curious { turns: Mutex::new(0) };
    Mock::given(method("POST")).respond_with(model).mount(&server).await;
    let mut command = analyst(folder);
    command
        .args([
            "ask",
            "total sales by city",
            "--db",
            "shop.sqlite",
            "--out",
            "out",
            "--model",
            "openai:curious",
        ])
        .args(["--no-plan"])
        .env("OPENAI_BASE_URL", format!("{}/v1", server.uri()));
    prepare(&mut command);
    let output = tokio::task::spawn_blocking(move || command.output().unwrap())
        .await
        .unwrap();
    let sent: Vec<String> = server
        .received_requests()
        .await
        .unwrap()
        .iter()
        .map(|request| {
            let body: Value = request.body_json().unwrap();
            let replies = body["messages"].as_array().unwrap().iter().map(|message| {
                // What the model itself had asked for is no news to it.
                match message["role"].as_str() {
                    Some("assistant") => String::new(),
                    _ => message["content"].to_string(),
                }
            });
            replies.collect::<Vec<_>>().join("\n") + &body["tools"].to_string()
        })
        .collect();
    (output, sent.join("\n"))
}

fn told(sent: &str) -> Vec<&'static str> {
    CELLS.into_iter().filter(|cell| sent.contains(cell)).collect()
}

#[rstest]
#[case::by_flag(true)]
#[case::by_the_file(false)]
#[tokio::test(flavor = "multi_thread")]
async fn with_schema_no_cell_leaves_and_the_report_holds_the_numbers(#[case] by_flag: bool) {
    let folder = tempfile::tempdir().unwrap();
    database(&folder.path().join("shop.sqlite"));
    if !by_flag {
        std::fs::write(folder.path().join("analyst.toml"), "share = \"schema\"\n").unwrap();
    }
    let (output, sent) = asked(folder.path(), |command| {
        if by_flag {
            command.args(["--share", "schema"]);
        }
    })
    .await;
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(told(&sent), Vec::<&str>::new());
    // The test has teeth: the tools were called, and what may be told was told.
    for known in [
        "customers",
        "sold_on",
        "q7",
        "row_count",
        "share = schema",
        "Values are not shown to you",
    ] {
        assert!(sent.contains(known), "{known} was not told");
    }
    let report = stdout(&output);
    for number in ["140,000,070", "70,000,031", "70,000,057", "Zqaberdeen"] {
        assert!(report.contains(number), "{number} in\n{report}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn with_aggregates_only_rows_of_aggregated_results_leave() {
    let folder = tempfile::tempdir().unwrap();
    database(&folder.path().join("shop.sqlite"));
    let (output, sent) = asked(folder.path(), |command| {
        command.args(["--share", "aggregates"]);
    })
    .await;
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    // The total by city, its keys, and the first and the last day of the data.
    let mut seen = told(&sent);
    seen.retain(|cell| !cell.starts_with("Zqa") || *cell == "Zqalice");
    assert!(sent.contains("140000070") && sent.contains("Zqaberdeen"));
    for hidden in [
        "Zqalice",
        "Zqbob",
        "Zqcarla",
        "zqsecret",
        "紫晶客户",
        "1991-11-05",
        "8000071",
        "70000013",
    ] {
        assert!(!seen.contains(&hidden), "{hidden} was told");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn with_samples_rows_leave() {
    let folder = tempfile::tempdir().unwrap();
    database(&folder.path().join("shop.sqlite"));
    let (output, sent) = asked(folder.path(), |_| {}).await;
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(told(&sent), CELLS.to_vec());
}

#[test]
fn the_built_in_analyst_sees_all_since_nothing_leaves() {
    let folder = tempfile::tempdir().unwrap();
    database(&folder.path().join("shop.sqlite"));
    let mut command = analyst(folder.path());
    let asked = [
        "ask",
        "total amount by city",
        "--db",
        "shop.sqlite",
        "--share",
        "schema",
    ];
    let output = command.args(asked).output().unwrap();
    assert!(
        stdout(&output).contains("Zqaberdeen"),
        "{}{}",
        stdout(&output),
        stderr(&output)
    );
}

#[test]
fn a_word_that_is_no_share_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let output = analyst(folder.path())
        .args(["ask", "sales", "--share", "all"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let words = stderr(&output);
    assert!(words.contains("'all'") && words.contains("aggregates"), "{words}");
}
