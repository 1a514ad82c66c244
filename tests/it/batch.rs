//! Question files: all of the sample's questions, and one that fails among others.

use serde_json::Value;

use crate::support::{run, stderr};

#[test]
fn the_sample_question_file_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/sales/questions.yaml");
    let output = run(folder.path(), &["batch", file, "--out", "out", "--jobs", "2"]);
    let results = std::fs::read_to_string(folder.path().join("out/results.jsonl")).unwrap();
    let rows: Vec<Value> = results
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let unanswered: Vec<&Value> = rows.iter().filter(|row| row["outcome"] != "answered").collect();
    assert!(unanswered.is_empty(), "{unanswered:#?}\n{}", stderr(&output));
    assert!(rows.len() >= 20);
    assert_eq!(output.status.code(), Some(0));
    let index = std::fs::read_to_string(folder.path().join("out/index.md")).unwrap();
    for row in &rows {
        let id = row["id"].as_str().unwrap();
        assert!(index.contains(id));
        assert!(folder.path().join("out").join(id).join("report.md").exists(), "{id}");
    }
}

#[test]
fn one_question_that_cannot_be_read_stops_no_other() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("questions.txt"),
        "# two good ones around a bad one\ntotal sales in 2004\n\nsales in Atlantis\nhow many customers are there\n",
    )
    .unwrap();
    let output = run(folder.path(), &["batch", "questions.txt", "--out", "out"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let results = std::fs::read_to_string(folder.path().join("out/results.jsonl")).unwrap();
    let outcomes: Vec<String> = results
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["outcome"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(outcomes, ["answered", "abstained", "answered"]);
}
