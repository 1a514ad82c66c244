//! Bad input: one line that says what to do, the right exit code, and nothing half-written.

use std::path::Path;

use rstest::rstest;

use crate::support::{analyst, run, stderr};

/// What a test folder holds before the command runs.
fn prepare(folder: &Path) {
    std::fs::write(
        folder.join("text.sqlite"),
        "this is no database, only text that is long enough to look like a file",
    )
    .unwrap();
    rusqlite::Connection::open(folder.join("empty.sqlite"))
        .unwrap()
        .execute_batch("VACUUM")
        .unwrap();
    std::fs::write(folder.join("zero.sqlite"), "").unwrap();
    std::fs::create_dir(folder.join("folder")).unwrap();
}

#[rstest]
#[case(&["ask", "sales", "--db", "missing.sqlite"], 2, "missing.sqlite")]
#[case(&["ask", "sales", "--db", "text.sqlite"], 2, "text.sqlite is not a SQLite database; name")]
#[case(&["ask", "sales", "--db", "folder"], 2, "folder")]
#[case(&["ask", "sales", "--db", "empty.sqlite"], 1, "no tables")]
#[case(&["ask", "sales", "--db", "zero.sqlite"], 1, "no tables")]
#[case(&["ask", "   "], 2, "the question is empty")]
#[case(&["ask", "sales", "--as-of", "yesterday-ish"], 2, "yesterday-ish")]
#[case(&["ask", "sales", "--model", "gpt"], 2, "gpt")]
#[case(&["ask", "sales", "--model", "openai:gpt-5"], 2, "OPENAI_API_KEY")]
#[case(&["ask", "sales", "--model", "anthropic:claude"], 2, "ANTHROPIC_API_KEY")]
#[case(&["ask", "sales", "--semantic", "missing.yaml", "--db", "empty.sqlite"], 1, "no tables")]
#[case(&["batch", "missing.txt"], 2, "missing.txt")]
#[case(&["demo", "folder"], 1, "folder")]
fn bad_input_gets_one_line_and_an_exit_code(#[case] arguments: &[&str], #[case] code: i32, #[case] names: &str) {
    let folder = tempfile::tempdir().unwrap();
    prepare(folder.path());
    let output = run(folder.path(), arguments);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{said}");
    assert!(output.stdout.is_empty());
    assert_eq!(said.trim_end().lines().count(), 1, "{said}");
    assert!(said.starts_with("analyst: ") && said.contains(names), "{said}");
    assert!(!folder.path().join(".analyst").exists(), "something was left behind");
}

#[test]
fn an_unknown_option_is_wrong_usage() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &["ask", "sales", "--colour", "red"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--colour"));
}

#[test]
fn a_question_of_a_hundred_kilobytes_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let long = "sales and ".repeat(10_000);
    let output = run(folder.path(), &["ask", &long]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("100000 bytes") || stderr(&output).contains("99999 bytes"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_server_that_is_not_there_is_named_after_the_retries() {
    let folder = tempfile::tempdir().unwrap();
    let output = analyst(folder.path())
        .args([
            "ask",
            "total sales",
            "--model",
            "openai:local",
            "--out",
            "out",
            "--max-seconds",
            "3",
        ])
        .env("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
        .output()
        .unwrap();
    assert_ne!(output.status.code(), Some(0));
    let said = format!("{}{}", stderr(&output), String::from_utf8_lossy(&output.stdout));
    assert!(!said.contains("panicked"), "{said}");
}

#[test]
fn what_cannot_be_read_is_said_with_suggestions() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &["ask", "sales in Atlantis", "--out", "out"]);
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("Atlantis"), "{text}");
    let suggested = text
        .lines()
        .skip_while(|line| !line.starts_with("Questions that"))
        .filter(|line| line.starts_with("- "))
        .count();
    assert_eq!(suggested, 3, "{text}");
}

#[test]
fn a_key_never_appears_in_what_is_stored_or_shown() {
    let folder = tempfile::tempdir().unwrap();
    let key = "sk-test-0123456789abcdefghijklmnopqrstuv";
    let output = analyst(folder.path())
        .args([
            "ask",
            "total sales",
            "--model",
            "openai:local",
            "--out",
            "out",
            "--max-seconds",
            "2",
        ])
        .env("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
        .env("OPENAI_API_KEY", key)
        .output()
        .unwrap();
    let mut all = format!("{}{}", stderr(&output), String::from_utf8_lossy(&output.stdout));
    for name in ["timeline.jsonl", "report.md", "evidence.json"] {
        all.push_str(&std::fs::read_to_string(folder.path().join("out").join(name)).unwrap_or_default());
    }
    assert!(!all.contains(key), "the key leaked");
}

#[cfg(not(feature = "adbc"))]
#[test]
fn an_adbc_database_says_which_build_it_needs() {
    let folder = tempfile::tempdir().unwrap();
    let database = "adbc:flightsql:grpc://ann:hunter2@127.0.0.1:1";
    let output = run(folder.path(), &["schema", "--db", database]);
    assert_eq!(output.status.code(), Some(1));
    let text = stderr(&output);
    assert!(text.contains("--features adbc") && !text.contains("hunter2"), "{text}");
}

#[rstest::rstest]
#[case("adbc:oracle:h", "no ADBC driver is known as `oracle`")]
#[case("adbc:duckdb", "names no place")]
#[case("adbc:postgres:h", "needs no ADBC driver")]
fn an_adbc_database_that_cannot_be_is_refused(#[case] database: &str, #[case] part: &str) {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &["schema", "--db", database]);
    assert_ne!(output.status.code(), Some(0));
    assert!(stderr(&output).contains(part), "{}", stderr(&output));
}
