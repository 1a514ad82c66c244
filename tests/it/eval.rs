//! `analyst eval`: a small suite over the sample database, and the promise that no suite's question is in the source.

use std::path::Path;

use serde_json::Value;

use crate::support::{run, shared, stderr, stdout};

/// Three questions on the sample database: one read rightly, one whose gold asks for something else, one that cannot be
/// read.
fn suite(folder: &Path) {
    let written = run(folder, &["demo", "sales.sqlite"]);
    assert!(written.status.success(), "{}", stderr(&written));
    let lines = [
        r#"{"id": "a", "question": "how many customers are there?", "gold_sql": ["SELECT COUNT(*) FROM customers"], "db": "sales.sqlite"}"#,
        r#"{"id": "b", "question": "how many employees are there?", "gold_sql": ["SELECT -1"], "db": "sales.sqlite"}"#,
        r#"{"id": "c", "question": "which wombats sneeze?", "gold_sql": ["SELECT 1"], "db": "sales.sqlite"}"#,
        r#"{"id": "d", "question": "what day is it?", "gold_sql": ["SELECT DATE('now')"], "db": "sales.sqlite"}"#,
    ];
    std::fs::write(folder.join("suite.jsonl"), lines.join("\n")).unwrap();
}

#[test]
fn a_suite_is_asked_counted_and_written_down() {
    let folder = tempfile::tempdir().unwrap();
    suite(folder.path());
    let output = run(
        folder.path(),
        &[
            "eval",
            "suite.jsonl",
            "--json",
            "out.json",
            "--on-ambiguity",
            "first",
            "--as-of",
            "2005-12-12",
        ],
    );
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        stdout(&output).starts_with("2 of 3 answered, 1 correct: accuracy 33.3 %, precision 50.0 % (strict scorer)"),
        "{}",
        stdout(&output)
    );
    let report: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.path().join("out.json")).unwrap()).unwrap();
    assert_eq!(report["skipped"], 1);
    let statuses: Vec<&str> = report["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["status"].as_str().unwrap())
        .collect();
    assert_eq!(statuses, ["correct", "wrong", "abstained"]);
    assert_eq!(report["items"][2]["stage"], "not_read");
    assert_eq!(report["by_shape"]["single_table"]["correct"], 1);
    assert!(!folder.path().join("out.json.partial").exists());
}

#[test]
fn an_evaluation_goes_on_where_it_was_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    suite(folder.path());
    let options = ["eval", "suite.jsonl", "--json", "out.json", "--limit", "1"];
    assert!(run(folder.path(), &options).status.success());
    let text = std::fs::read_to_string(folder.path().join("out.json")).unwrap();
    // What is known already is not asked again: a mark put into it stays.
    std::fs::write(
        folder.path().join("out.json"),
        text.replace("how many customers", "HOW MANY customers"),
    )
    .unwrap();
    let output = run(
        folder.path(),
        &["eval", "suite.jsonl", "--json", "out.json", "--resume"],
    );
    assert!(output.status.success(), "{}", stderr(&output));
    let report: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.path().join("out.json")).unwrap()).unwrap();
    assert_eq!(report["total"], 3);
    assert_eq!(report["items"][0]["question"], "HOW MANY customers are there?");
}

#[test]
fn what_is_wrong_with_a_suite_is_said_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bad.jsonl"), "{\"id\": 1}\n").unwrap();
    let output = run(folder.path(), &["eval", "bad.jsonl"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(stderr(&output).lines().count(), 1, "{}", stderr(&output));
    assert!(
        stderr(&output).contains("line 1 of bad.jsonl is no question"),
        "{}",
        stderr(&output)
    );
}

/// The words of a text, in lower case with single blanks between.
fn plain(text: &str) -> String {
    let words = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

#[test]
fn no_question_of_a_suite_is_in_the_source() {
    /// Shorter questions are phrases that any text may hold.
    const SHORTEST: usize = 6;
    let mut questions: Vec<String> = Vec::new();
    for suite in [
        "data/spider/train.jsonl",
        "data/spider/dev_seen.jsonl",
        "data/defog/questions.jsonl",
        "data/defog/instruct_basic.jsonl",
        "data/acme/questions.jsonl",
    ] {
        let Some(path) = shared(suite) else { return };
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let case: Value = serde_json::from_str(line).unwrap();
            let question = plain(case["question"].as_str().unwrap());
            if question.split(' ').count() >= SHORTEST {
                questions.push(question);
            }
        }
    }
    // Chinese has no blanks: what is long enough is told by characters.
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suites/chinese");
    for entry in std::fs::read_dir(own).unwrap() {
        for line in std::fs::read_to_string(entry.unwrap().path()).unwrap().lines() {
            let case: Value = serde_json::from_str(line).unwrap();
            let question = plain(case["question"].as_str().unwrap());
            if question.chars().count() >= SHORTEST {
                questions.push(question);
            }
        }
    }
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let Ok(text) = std::fs::read_to_string(&path) else {
                continue;
            };
            let text = plain(&text);
            found.extend(
                questions
                    .iter()
                    .filter(|question| text.contains(question.as_str()))
                    .map(|question| format!("{}: {question}", path.display())),
            );
        }
    }
    assert_eq!(found, Vec::<String>::new());
}
