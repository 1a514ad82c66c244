//! Ctrl-C: once ends a run cleanly and leaves it resumable, twice ends the program at once.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wiremock::matchers::method;
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

use crate::providers::openai_stream;
use crate::support::{analyst, stderr, stdout};

const SQL: &str = "SELECT status, COUNT(*) AS orders FROM orders GROUP BY status ORDER BY orders DESC";
/// Longer than any test waits.
const FOR_EVER: Duration = Duration::from_secs(60);

/// Runs a statement first, and then thinks for `patience` before it answers.
struct Slow {
    patience: Duration,
}

impl Respond for Slow {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let body: Value = request.body_json().unwrap();
        let messages = body["messages"].as_array().unwrap();
        let asked_before = messages.iter().any(|message| message["tool_call_id"] == "a");
        if asked_before {
            return openai_stream(&[json!({"content": "Most orders were shipped [q1]."})], "stop")
                .set_delay(self.patience);
        }
        let call = json!({"index": 0, "id": "a", "function": {"name": "sql_execute", "arguments": json!({"sql": SQL}).to_string()}});
        openai_stream(&[json!({"tool_calls": [call]})], "tool_calls")
    }
}

async fn server(patience: Duration) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .respond_with(Slow { patience })
        .mount(&server)
        .await;
    server
}

fn command(folder: &Path, server: &MockServer, arguments: &[&str]) -> Command {
    let mut command = analyst(folder);
    command
        .args(arguments)
        .env("OPENAI_BASE_URL", format!("{}/v1", server.uri()))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

const ASK: [&str; 6] = [
    "ask",
    "which status is most frequent",
    "--out",
    "out",
    "--model",
    "openai:slow",
];

/// Waits until the run's second turn has begun.
fn wait_for_the_second_turn(folder: &Path, child: &mut Child) {
    let began = Instant::now();
    let timeline = folder.join("out/timeline.jsonl");
    while std::fs::read_to_string(&timeline).map_or(0, |text| text.matches("\"turn_started\"").count()) < 2 {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        assert!(began.elapsed() < FOR_EVER, "it never came to its second turn");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn interrupt(child: &Child) {
    let sent = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
}

fn events(folder: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.join("out/timeline.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

async fn resumed(folder: &Path) -> String {
    let quick = server(Duration::ZERO).await;
    let mut command = command(folder, &quick, &["resume", "out"]);
    let output = tokio::task::spawn_blocking(move || command.output().unwrap())
        .await
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}{}", stderr(&output), stdout(&output));
    // The first turn was paid for, and so it is not asked again.
    assert_eq!(quick.received_requests().await.unwrap().len(), 1);
    stdout(&output)
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_once_writes_the_report_and_leaves_the_run_resumable() {
    let folder = tempfile::tempdir().unwrap();
    let slow = server(FOR_EVER).await;
    let mut child = command(folder.path(), &slow, &ASK).spawn().unwrap();
    wait_for_the_second_turn(folder.path(), &mut child);
    let began = Instant::now();
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(
        stdout(&output).contains("The run was interrupted."),
        "{}",
        stdout(&output)
    );
    let events = events(folder.path());
    let last = events.last().unwrap();
    assert_eq!(
        (last["event"].as_str(), last["outcome"].as_str()),
        (Some("run_finished"), Some("interrupted"))
    );
    let count = |kind: &str| events.iter().filter(|event| event["event"] == kind).count();
    assert_eq!(count("tool_started"), count("tool_finished"));
    let report = resumed(folder.path()).await;
    assert!(
        report.contains("Most orders were shipped") && !report.contains("interrupted"),
        "{report}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_twice_ends_at_once_and_the_run_is_resumable_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let slow = server(FOR_EVER).await;
    let mut child = command(folder.path(), &slow, &ASK).spawn().unwrap();
    wait_for_the_second_turn(folder.path(), &mut child);
    interrupt(&child);
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(resumed(folder.path()).await.contains("Most orders were shipped"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_goes_away_in_the_middle_leaves_the_run_resumable() {
    let folder = tempfile::tempdir().unwrap();
    let server = MockServer::start().await;
    let call = json!({"index": 0, "id": "a", "function": {"name": "sql_execute", "arguments": json!({"sql": SQL}).to_string()}});
    Mock::given(method("POST"))
        .respond_with(openai_stream(&[json!({"tool_calls": [call]})], "tool_calls"))
        .up_to_n_times(1)
        .mount(&server)
        .await;
    Mock::given(method("POST"))
        .respond_with(ResponseTemplate::new(401).set_body_string("no such key"))
        .mount(&server)
        .await;
    let mut command = command(folder.path(), &server, &ASK);
    let output = tokio::task::spawn_blocking(move || command.output().unwrap())
        .await
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stdout(&output).contains("HTTP 401: no such key"), "{}", stdout(&output));
    assert!(resumed(folder.path()).await.contains("Most orders were shipped"));
}
