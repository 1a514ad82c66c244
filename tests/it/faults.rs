//! What a person sees of each fault of a model, at the first, a middle and the last turn: the run ends or goes on by itself,
//! can be resumed where it failed, and nothing of the key leaks.

use std::path::Path;
use std::process::Output;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use rstest::rstest;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use wiremock::matchers::method;
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

use crate::providers::openai_stream;
use crate::support::{analyst, stderr, stdout};

const KEY: &str = "sk-secret-0123456789abcdefghijklmnop";
const SQL: &str = "SELECT status, COUNT(*) AS orders FROM orders GROUP BY status ORDER BY orders DESC";
/// Turns of a run without a fault: look, count, answer.
const TURNS: usize = 3;

/// Something that goes wrong with one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    ServerError,
    RateLimit,
    CutOff,
    NotJson,
    Html,
    Empty,
    EmptyTwice,
    BadKey,
    NoModel,
    Redirect,
    Refusal,
    Huge,
    Overflow,
    UnknownTool,
    ArgumentsNotJson,
}

/// How a run with a fault ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// As if nothing had been.
    Answered,
    /// Exit 1 with these words; the run can be resumed.
    Failed(&'static str),
    /// Exit 3 with these words in the report.
    Incomplete(&'static str),
}

/// Sends the script, except that the request number `at` (from 0) and, where it lasts, those after it go wrong.
struct Faulty {
    fault: Fault,
    at: usize,
    count: Mutex<usize>,
}

impl Respond for Faulty {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let number = {
            let mut count = self.count.lock().unwrap();
            *count += 1;
            *count - 1
        };
        let goes_wrong = number == self.at || number > self.at && lasts(self.fault, number - self.at);
        if goes_wrong { wrong(self.fault) } else { right(request) }
    }
}

/// Does the fault come again when it is asked again?
fn lasts(fault: Fault, again: usize) -> bool {
    match fault {
        Fault::BadKey | Fault::NoModel | Fault::Redirect | Fault::Huge => true,
        Fault::EmptyTwice => again == 1,
        _ => false,
    }
}

fn wrong(fault: Fault) -> ResponseTemplate {
    let stream = |body: &str| ResponseTemplate::new(200).set_body_raw(body.to_owned(), "text/event-stream");
    match fault {
        Fault::ServerError => ResponseTemplate::new(503).set_body_string("overloaded"),
        Fault::RateLimit => ResponseTemplate::new(429)
            .insert_header("Retry-After", "1")
            .set_body_string("slow down"),
        Fault::CutOff => stream("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Most or\"}}]}\n\n"),
        Fault::NotJson => stream("data: {\"choices\": oh\n\n"),
        Fault::Html => ResponseTemplate::new(200).set_body_raw("<html>It works!</html>", "text/html"),
        Fault::Empty | Fault::EmptyTwice => openai_stream(&[], "stop"),
        Fault::BadKey => {
            ResponseTemplate::new(401).set_body_string(format!("{{\"error\": {{\"message\": \"bad key {KEY}\"}}}}"))
        }
        Fault::NoModel => ResponseTemplate::new(404).set_body_string("no such model"),
        Fault::Redirect => ResponseTemplate::new(307).insert_header("Location", "http://elsewhere.invalid/v1"),
        Fault::Refusal => openai_stream(&[json!({"refusal": "I would rather not."})], "stop"),
        Fault::Huge => stream(
            &"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"abcdefghijklmnop\"}}]}\n\n".repeat(300_000),
        ),
        Fault::Overflow => ResponseTemplate::new(400).set_body_string("maximum context length is 8192 tokens"),
        Fault::UnknownTool => openai_stream(&[call("x", "run_python", json!({}).to_string())], "tool_calls"),
        Fault::ArgumentsNotJson => openai_stream(&[call("x", "sql_execute", "{sql: 'SELECT 1'".into())], "tool_calls"),
    }
}

fn call(id: &str, tool: &str, arguments: String) -> Value {
    json!({"tool_calls": [{"index": 0, "id": id, "function": {"name": tool, "arguments": arguments}}]})
}

/// The script, by what the conversation holds already.
fn right(request: &Request) -> ResponseTemplate {
    let body: Value = request.body_json().unwrap();
    let messages = body["messages"].as_array().unwrap();
    let has_answer_to = |id: &str| messages.iter().any(|message| message["tool_call_id"] == id);
    if has_answer_to("count") {
        return openai_stream(&[json!({"content": "Most orders were shipped [q1]."})], "stop");
    }
    if has_answer_to("look") {
        return openai_stream(
            &[call("count", "sql_execute", json!({"sql": SQL}).to_string())],
            "tool_calls",
        );
    }
    openai_stream(
        &[call("look", "schema_probe", json!({"tables": ["orders"]}).to_string())],
        "tool_calls",
    )
}

async fn run(folder: &Path, server: &MockServer, arguments: &[&str]) -> Output {
    let mut command = analyst(folder);
    command
        .args(arguments)
        .env("OPENAI_BASE_URL", format!("{}/v1", server.uri()))
        .env("OPENAI_API_KEY", KEY);
    tokio::task::spawn_blocking(move || command.output().unwrap())
        .await
        .unwrap()
}

async fn right_server() -> MockServer {
    let server = MockServer::start().await;
    Mock::given(method("POST")).respond_with(right).mount(&server).await;
    server
}

const ASK: [&str; 7] = [
    "ask",
    "which status is most frequent",
    "--out",
    "out",
    "--model",
    "openai:faulty",
    "-q",
];

/// Nothing that was said or written holds the key.
fn no_leak(folder: &Path, output: &Output) {
    let secret = &KEY[10..];
    assert!(!stdout(output).contains(secret) && !stderr(output).contains(secret));
    for entry in std::fs::read_dir(folder.join("out")).into_iter().flatten().flatten() {
        let bytes = std::fs::read(entry.path()).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&bytes).contains(secret), "{:?}", entry.path());
    }
}

#[rstest]
#[case(Fault::ServerError, End::Answered)]
#[case(Fault::RateLimit, End::Answered)]
#[case(Fault::CutOff, End::Answered)]
#[case(Fault::NotJson, End::Answered)]
#[case(Fault::Html, End::Answered)]
#[case(Fault::Empty, End::Answered)]
#[case(Fault::UnknownTool, End::Answered)]
#[case(Fault::ArgumentsNotJson, End::Answered)]
#[case(Fault::EmptyTwice, End::Incomplete("The model sent empty replies"))]
#[case(Fault::BadKey, End::Failed("HTTP 401"))]
#[case(Fault::NoModel, End::Failed("HTTP 404"))]
#[case(Fault::Redirect, End::Failed("points to another one, which is not followed"))]
#[case(Fault::Huge, End::Failed("the reply is longer than 16 MiB"))]
#[case(Fault::Refusal, End::Failed("declined to answer"))]
#[tokio::test(flavor = "multi_thread")]
async fn a_fault_ends_or_passes(#[case] fault: Fault, #[case] end: End) {
    for at in 0..TURNS {
        let folder = tempfile::tempdir().unwrap();
        let server = MockServer::start().await;
        let faulty = Faulty {
            fault,
            at,
            count: Mutex::default(),
        };
        Mock::given(method("POST")).respond_with(faulty).mount(&server).await;
        let output = run(folder.path(), &server, &ASK).await;
        let said = format!("{}{}", stdout(&output), stderr(&output));
        let context = format!("{fault:?} at request {at}: {said}");
        no_leak(folder.path(), &output);
        match end {
            End::Answered => {
                assert_eq!(output.status.code(), Some(0), "{context}");
                assert!(said.contains("Most orders were shipped"), "{context}");
            }
            End::Incomplete(words) => {
                assert_eq!(output.status.code(), Some(3), "{context}");
                assert!(said.contains(words), "{context}");
            }
            End::Failed(words) => {
                assert_eq!(output.status.code(), Some(1), "{context}");
                assert!(said.contains(words), "{context}");
                let good = right_server().await;
                let again = run(folder.path(), &good, &["resume", "out", "-q"]).await;
                assert_eq!(again.status.code(), Some(0), "{context}\nresumed: {}", stderr(&again));
                assert!(stdout(&again).contains("Most orders were shipped"), "{context}");
            }
        }
    }
}

/// An overflow is mended by shortening once; with nothing to shorten the run says so.
#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_that_is_too_long_is_said_to_be() {
    for (at, code) in [(0, 3), (1, 3)] {
        let folder = tempfile::tempdir().unwrap();
        let server = MockServer::start().await;
        let faulty = Faulty {
            fault: Fault::Overflow,
            at,
            count: Mutex::default(),
        };
        Mock::given(method("POST")).respond_with(faulty).mount(&server).await;
        let output = run(folder.path(), &server, &ASK).await;
        let said = format!("{}{}", stdout(&output), stderr(&output));
        // A short conversation may have something to shorten in its middle: then it goes on.
        assert!([Some(code), Some(0)].contains(&output.status.code()), "at {at}: {said}");
        assert!(
            said.contains("too long") || said.contains("Most orders were shipped"),
            "at {at}: {said}"
        );
    }
}

/// A server that takes a request and then does as `serve` says with the connection.
async fn raw_server(chunk: &'static str, pause: Duration) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let Ok((mut connection, _)) = listener.accept().await else {
                return;
            };
            tokio::spawn(async move {
                let mut request = vec![0; 64 << 10];
                let _ = connection.read(&mut request).await;
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
                let _ = connection.write_all(head.as_bytes()).await;
                while connection.write_all(chunk.as_bytes()).await.is_ok() {
                    tokio::time::sleep(pause).await;
                }
            });
        }
    });
    format!("http://{address}/v1")
}

#[rstest]
#[case::slow_drip(": still here\n\n", Duration::from_millis(100))]
#[case::endless_reply(
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"and \"}}]}\n\n",
    Duration::from_millis(20)
)]
#[tokio::test(flavor = "multi_thread")]
async fn a_reply_that_never_ends_is_ended_by_the_clock(#[case] chunk: &'static str, #[case] pause: Duration) {
    let folder = tempfile::tempdir().unwrap();
    let base = raw_server(chunk, pause).await;
    let mut command = analyst(folder.path());
    command
        .args(ASK)
        .args(["--max-seconds", "2"])
        .env("OPENAI_BASE_URL", base)
        .env("OPENAI_API_KEY", KEY);
    let began = Instant::now();
    let output = tokio::task::spawn_blocking(move || command.output().unwrap())
        .await
        .unwrap();
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stdout(&output).contains("--max-seconds"), "{}", stdout(&output));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_speaks_no_tls_is_told_apart_from_an_answer() {
    let folder = tempfile::tempdir().unwrap();
    let base = raw_server("", Duration::from_secs(1))
        .await
        .replace("http://", "https://");
    let mut command = analyst(folder.path());
    command
        .args(ASK)
        .args(["--max-seconds", "2"])
        .env("OPENAI_BASE_URL", &base)
        .env("OPENAI_API_KEY", KEY);
    let output = tokio::task::spawn_blocking(move || command.output().unwrap())
        .await
        .unwrap();
    let said = format!("{}{}", stdout(&output), stderr(&output));
    assert!([Some(1), Some(3)].contains(&output.status.code()), "{said}");
    no_leak(folder.path(), &output);
}
