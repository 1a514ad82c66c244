//! Our own suites: Chinese questions, ambiguous ones, ones that cannot be answered. What was reached is held.

use std::path::{Path, PathBuf};

use rstest::rstest;
use serde_json::Value;

use crate::support::{run, shared, stderr, stdout};

fn suite(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suites").join(name)
}

/// Runs `eval` and reads what it wrote.
fn evaluated(folder: &Path, suite: &Path, databases: &Path, more: &[&str]) -> Value {
    let mut arguments = vec![
        "eval",
        suite.to_str().unwrap(),
        "--databases",
        databases.to_str().unwrap(),
    ];
    arguments.extend_from_slice(more);
    arguments.extend_from_slice(&["--json", "out.json", "-q"]);
    let output = run(folder, &arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    serde_json::from_str(&std::fs::read_to_string(folder.join("out.json")).unwrap()).unwrap()
}

/// How many of the right kind there must be, and which were not.
fn assert_at_least(report: &Value, status: &str, floor: usize) {
    let items = report["items"].as_array().unwrap();
    let (fit, rest): (Vec<&Value>, Vec<&Value>) = items.iter().partition(|item| item["status"] == status);
    let rest: Vec<&str> = rest.iter().map(|item| item["question"].as_str().unwrap()).collect();
    assert!(fit.len() >= floor, "{} {status}, not {floor}: {rest:#?}", fit.len());
}

#[rstest]
#[case("chinese/sales.jsonl", 67)]
#[case("chinese/sales_held_out.jsonl", 43)]
fn chinese_questions_on_the_sample_database_are_answered_rightly(#[case] name: &str, #[case] floor: usize) {
    let folder = tempfile::tempdir().unwrap();
    let written = run(folder.path(), &["demo", "sales.sqlite"]);
    assert!(written.status.success(), "{}", stderr(&written));
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sales/semantic.yaml");
    let more = [
        "--semantic",
        model.to_str().unwrap(),
        "--as-of",
        "2005-08-31",
        "--on-ambiguity",
        "first",
    ];
    let report = evaluated(folder.path(), &suite(name), folder.path(), &more);
    assert_at_least(&report, "correct", floor);
}

#[rstest]
#[case("chinese/sakila.jsonl", 43)]
#[case("chinese/sakila_held_out.jsonl", 20)]
fn chinese_questions_on_an_english_database_are_answered_rightly(#[case] name: &str, #[case] floor: usize) {
    let Some(database) = shared("data/db/sakila.sqlite") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let more = ["--as-of", "2005-08-31", "--on-ambiguity", "first"];
    let report = evaluated(folder.path(), &suite(name), database.parent().unwrap(), &more);
    assert_at_least(&report, "correct", floor);
}

#[rstest]
#[case("ambiguity/ambiguous.jsonl", "abstained", 90)]
#[case("ambiguity/unanswerable.jsonl", "abstained", 90)]
#[case("ambiguity/answerable.jsonl", "correct", 130)]
fn what_is_not_sure_is_asked_back(#[case] name: &str, #[case] status: &str, #[case] floor: usize) {
    let Some(databases) = shared("data/spider") else { return };
    let folder = tempfile::tempdir().unwrap();
    let report = evaluated(folder.path(), &suite(name), &databases, &["--on-ambiguity", "abstain"]);
    assert_at_least(&report, status, floor);
}

/// "City" is that of an office or of a customer. Nobody sits at a terminal here, so that nothing can be asked on the way.
#[rstest]
#[case(&[], 0, "can also be read so")]
#[case(&["--on-ambiguity", "first"], 0, "can also be read so")]
#[case(&["--on-ambiguity", "ask"], 4, "1. “total” → total")]
#[case(&["--on-ambiguity", "abstain"], 4, "2. “total” → total")]
fn a_question_with_two_readings_is_answered_or_asked_back(
    #[case] more: &[&str],
    #[case] code: i32,
    #[case] says: &str,
) {
    let folder = tempfile::tempdir().unwrap();
    let mut arguments = vec!["ask", "total by city", "-q"];
    arguments.extend_from_slice(more);
    let output = run(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(code), "{}", stdout(&output));
    assert!(stdout(&output).contains(says), "{}", stdout(&output));
}
