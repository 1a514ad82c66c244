//! What is asked at a terminal before it runs, and that nothing runs without one.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;

use rstest::rstest;
use serde_json::{Value, json};
use wiremock::matchers::method;
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

use crate::providers::openai_stream;
use crate::support::{analyst, run, stderr, stdout};

fn shop(folder: &Path) {
    let connection = rusqlite::Connection::open(folder.join("shop.sqlite")).unwrap();
    connection
        .execute_batch(
            "CREATE TABLE orders (id INTEGER PRIMARY KEY, amount INTEGER); INSERT INTO orders VALUES (1, 4711)",
        )
        .unwrap();
}

#[rstest]
#[case(&["--approve", "sql"], "--approve sql shows each statement")]
#[case(&["--allow", "shell"], "--allow shell shows each command")]
fn without_a_terminal_it_is_an_error_that_says_what_to_do(#[case] options: &[&str], #[case] words: &str) {
    let folder = tempfile::tempdir().unwrap();
    shop(folder.path());
    let ask = ["ask", "total amount of orders", "--db", "shop.sqlite", "--out", "out"];
    let output = run(folder.path(), &[&ask[..], options].concat());
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(
        said.contains(words) && said.contains("start it in a terminal"),
        "{said}"
    );
    assert!(!folder.path().join("out").exists(), "something was written");
}

#[rstest]
#[case("share = \"schema\"", "share = schema")]
#[case("[policy]\ndeny_columns = [\"orders.amount\"]", "`policy`")]
fn a_shell_does_not_go_with_what_is_kept_back(#[case] config: &str, #[case] words: &str) {
    let folder = tempfile::tempdir().unwrap();
    shop(folder.path());
    std::fs::write(folder.path().join("analyst.toml"), config).unwrap();
    let output = run(
        folder.path(),
        &[
            "ask",
            "total amount of orders",
            "--db",
            "shop.sqlite",
            "--allow",
            "shell",
        ],
    );
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains(words), "{}", stderr(&output));
}

/// Runs `command` at a terminal of its own, with `typed` on the keyboard; `None` where the machine has no `script`.
fn at_a_terminal(command: &Command, typed: &str) -> Option<Output> {
    let quoted = |text: &std::ffi::OsStr| format!("'{}'", text.to_str().unwrap().replace('\'', "'\\''"));
    let words = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(quoted);
    let line = words.collect::<Vec<_>>().join(" ");
    let mut script = Command::new("script");
    script
        .args(["-qec", &line, "/dev/null"])
        .current_dir(command.get_current_dir().unwrap())
        .env_clear()
        .envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let Ok(mut child) = script.spawn() else {
        println!("skipped: there is no `script` to make a terminal with");
        return None;
    };
    child.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
    Some(child.wait_with_output().unwrap())
}

#[rstest]
#[case("y\ny\ny\ny\n", true)]
#[case("n\nn\nn\nn\n", false)]
fn a_statement_is_shown_and_runs_on_a_yes(#[case] typed: &str, #[case] runs: bool) {
    let folder = tempfile::tempdir().unwrap();
    shop(folder.path());
    let mut command = analyst(folder.path());
    command.args([
        "ask",
        "total amount of orders",
        "--db",
        "shop.sqlite",
        "--out",
        "out",
        "--approve",
        "sql",
    ]);
    let Some(output) = at_a_terminal(&command, typed) else {
        return;
    };
    let screen = stdout(&output);
    assert!(
        screen.contains("wants to run this statement") && screen.contains("Run it? [y/N]"),
        "{screen}"
    );
    assert!(screen.contains("SUM("), "{screen}");
    assert_eq!(screen.contains("4,711") || screen.contains("4711"), runs, "{screen}");
    assert_eq!(
        folder.path().join("out/results/q1.parquet").exists() || folder.path().join("out/q1.parquet").exists(),
        runs
    );
}

/// Calls `bash` once, and then answers with what it was told.
struct Typist {
    turns: Mutex<usize>,
}

impl Respond for Typist {
    fn respond(&self, _request: &Request) -> ResponseTemplate {
        let mut turns = self.turns.lock().unwrap();
        *turns += 1;
        if *turns == 1 {
            let arguments = json!({"command": "echo hello-$((40+2)); echo $OPENAI_API_KEY > key.txt; pwd"}).to_string();
            let call =
                json!({"tool_calls": [{"index": 0, "id": "b1", "function": {"name": "bash", "arguments": arguments}}]});
            return openai_stream(&[call], "tool_calls");
        }
        openai_stream(&[json!({"content": "Done."})], "stop")
    }
}

#[rstest]
#[case("y\n", true)]
#[case("n\n", false)]
#[tokio::test(flavor = "multi_thread")]
async fn a_command_is_shown_and_runs_on_a_yes_without_our_secrets(#[case] typed: &'static str, #[case] runs: bool) {
    let folder = tempfile::tempdir().unwrap();
    shop(folder.path());
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .respond_with(Typist { turns: Mutex::new(0) })
        .mount(&server)
        .await;
    let mut command = analyst(folder.path());
    command
        .args([
            "ask",
            "say hello",
            "--db",
            "shop.sqlite",
            "--out",
            "out",
            "--allow",
            "shell",
            "--no-plan",
        ])
        .args(["--model", "openai:typist"])
        .env("OPENAI_API_KEY", "sk-test-0123456789abcdefghijklmnop")
        .env("OPENAI_BASE_URL", format!("{}/v1", server.uri()));
    let Some(output) = tokio::task::spawn_blocking(move || at_a_terminal(&command, typed))
        .await
        .unwrap()
    else {
        return;
    };
    let screen = stdout(&output);
    assert!(
        screen.contains("wants to run this command on your machine") && screen.contains("echo hello-$((40+2))"),
        "{screen}"
    );
    let requests = server.received_requests().await.unwrap();
    let last: Value = requests.last().unwrap().body_json().unwrap();
    let told = last["messages"].to_string();
    assert_eq!(told.contains("hello-42"), runs, "{told}");
    assert_eq!(told.contains("the user said no"), !runs, "{told}");
    let key = std::fs::read_to_string(folder.path().join("out/files/key.txt")).ok();
    assert_eq!(key.as_deref(), runs.then_some("\n"));
}
