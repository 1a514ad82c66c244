//! The headline question through mock servers, driven by a model that does everything wrong that models do.

use std::path::Path;
use std::sync::Mutex;

use serde_json::{Value, json};
use wiremock::matchers::method;
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

use crate::providers::{anthropic_stream, openai_stream};
use crate::support::{analyst, stderr, stdout};

const QUESTION: &str = "analyze Aug 2005 employee sales";
const SQL: &str = "SELECT status, COUNT(*) AS orders FROM orders GROUP BY status ORDER BY orders DESC";

/// One reply of the script.
enum Turn {
    /// Names and arguments; a text that is no JSON stays as it is.
    Calls(Vec<(&'static str, String)>),
    Text(&'static str),
}

/// Forgets its plan, repeats calls, sends bad arguments, stops early, and sends a list as a string.
fn script() -> Vec<Turn> {
    let item = |content: &str, status: &str| json!({"content": content, "activeForm": content, "status": status});
    let todos = json!([
        item("Look at the schema", "in_progress"),
        item("Count the orders", "pending"),
        item("Write it up", "pending")
    ]);
    let stringified = json!({"todos": todos.to_string()}).to_string();
    let sql = json!({"sql": SQL}).to_string();
    vec![
        Turn::Calls(vec![
            ("TodoWrite", stringified),
            ("schema_probe", json!({"tables": ["orders"]}).to_string()),
        ]),
        Turn::Calls(vec![
            ("sql_execute", "{sql: 'SELECT 1'".into()),
            ("sql_execute", json!({"query": SQL}).to_string()),
        ]),
        Turn::Calls(vec![
            ("sql_execute", json!({"sql": "SELECT stattus FROM orders"}).to_string()),
            ("no_such_tool", "{}".into()),
        ]),
        Turn::Calls(vec![
            ("sql_execute", json!({"sql": "DELETE FROM orders"}).to_string()),
            ("sql_execute", sql.clone()),
        ]),
        Turn::Calls(vec![("sql_execute", sql.clone())]),
        Turn::Calls(vec![(
            "metric_compute",
            json!({"function": "share", "source": "q99", "group": "status", "value": "orders"}).to_string(),
        )]),
        Turn::Text("Most orders were shipped. I invented that 4,711 of them were lost."),
        Turn::Text("Most orders were shipped [q5]. I invented that 4,711 of them were lost."),
    ]
}

/// Sends one reply of the script after the other, in the shape of `provider`.
struct Scripted {
    provider: &'static str,
    turns: Mutex<std::vec::IntoIter<Turn>>,
}

impl Respond for Scripted {
    fn respond(&self, _request: &Request) -> ResponseTemplate {
        let turn = self.turns.lock().unwrap().next().unwrap_or(Turn::Text("Done."));
        match (self.provider, turn) {
            ("openai", Turn::Text(text)) => openai_stream(&[json!({"content": text})], "stop"),
            ("openai", Turn::Calls(calls)) => {
                let deltas: Vec<Value> = calls
                    .iter()
                    .enumerate()
                    .map(|(at, (name, arguments))| json!({"tool_calls": [{"index": at, "id": format!("call_{at}"), "function": {"name": name, "arguments": arguments}}]}))
                    .collect();
                openai_stream(&deltas, "tool_calls")
            }
            (_, Turn::Text(text)) => anthropic_stream(&[(json!({"type": "text", "text": text}), vec![])], "end_turn"),
            (_, Turn::Calls(calls)) => {
                let blocks: Vec<(Value, Vec<Value>)> = calls
                    .iter()
                    .enumerate()
                    .map(|(at, (name, arguments))| {
                        let start = json!({"type": "tool_use", "id": format!("toolu_{at}"), "name": name, "input": {}});
                        (
                            start,
                            vec![json!({"type": "input_json_delta", "partial_json": arguments})],
                        )
                    })
                    .collect();
                anthropic_stream(&blocks, "tool_use")
            }
        }
    }
}

async fn drive(provider: &'static str, folder: &Path, arguments: &[&str]) -> std::process::Output {
    let server = MockServer::start().await;
    let scripted = Scripted {
        provider,
        turns: Mutex::new(script().into_iter()),
    };
    Mock::given(method("POST")).respond_with(scripted).mount(&server).await;
    let mut command = analyst(folder);
    command
        .args([
            "ask",
            QUESTION,
            "--out",
            "out",
            "--model",
            &format!("{provider}:scripted"),
        ])
        .args(arguments)
        .env("OPENAI_BASE_URL", format!("{}/v1", server.uri()))
        .env("ANTHROPIC_BASE_URL", server.uri())
        .env("ANTHROPIC_API_KEY", "test");
    tokio::task::spawn_blocking(move || command.output().unwrap())
        .await
        .unwrap()
}

#[rstest::rstest]
#[case("openai")]
#[case("anthropic")]
#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_does_everything_wrong_still_ends_in_an_honest_report(#[case] provider: &'static str) {
    let folder = tempfile::tempdir().unwrap();
    let output = drive(provider, folder.path(), &[]).await;
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(3), "{}\n{text}", stderr(&output));
    assert!(text.contains("Most orders were shipped"), "{text}");
    // The plan table says what was not done.
    assert!(
        text.contains("Count the orders") && text.contains("Write it up"),
        "{text}"
    );
    assert!(!text.contains("3 of 3 steps were completed"), "{text}");
    // An invented number is marked.
    assert!(text.contains("4,711†"), "{text}");
    // The statement that ran is in the appendix, and the one that was refused is not.
    assert!(text.contains("FROM orders GROUP BY status"), "{text}");
    assert!(!text.contains("DELETE FROM orders"), "{text}");
}

#[rstest::rstest]
#[case("openai")]
#[case("anthropic")]
#[tokio::test(flavor = "multi_thread")]
async fn its_calls_end_once_each_and_repeated_ones_are_answered_from_the_ledger(#[case] provider: &'static str) {
    let folder = tempfile::tempdir().unwrap();
    let output = drive(provider, folder.path(), &["--events", "jsonl"]).await;
    let events: Vec<Value> = stdout(&output)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of = |kind: &str| events.iter().filter(|event| event["event"] == kind).collect::<Vec<_>>();
    let mut started: Vec<String> = of("tool_started")
        .iter()
        .map(|event| event["call_id"].as_str().unwrap().to_owned())
        .collect();
    let mut ended: Vec<String> = of("tool_finished")
        .iter()
        .map(|event| event["call_id"].as_str().unwrap().to_owned())
        .collect();
    started.sort();
    ended.sort();
    assert_eq!(started, ended);
    ended.dedup();
    assert_eq!(ended.len(), started.len(), "an id was used twice");
    let good: Vec<&Value> = of("tool_finished")
        .into_iter()
        .filter(|event| event["tool"] == "sql_execute" && event["status"] == "ok")
        .collect();
    assert_eq!(
        good.len(),
        2,
        "the statement ran once and was answered once more: {good:#?}"
    );
    assert_eq!(
        of("artifact").iter().filter(|event| event["kind"] == "result").count(),
        1
    );
    let progress = of("todo_progress");
    assert_eq!(progress[0]["total"], 3);
    assert!(!of("reminder").is_empty(), "the forgotten plan was not recalled");
    let finished = of("run_finished");
    assert_eq!(finished[0]["outcome"], "incomplete");
    assert_eq!(finished[0]["exit"], 3);
}
