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

fn rows(folder: &std::path::Path) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.join("results.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// When a question's run began, by its timeline: a question that is not asked again keeps its own.
fn began(folder: &std::path::Path, id: &str) -> String {
    let text = std::fs::read_to_string(folder.join(id).join("timeline.jsonl")).unwrap();
    let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    first["at"].as_str().unwrap().to_owned()
}

#[test]
fn a_batch_that_is_started_again_does_only_what_changed() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let file = |second: &str| {
        let text = format!(
            "- {{id: one, question: total sales in 2004}}\n- {{id: two, question: {second}}}\n- {{id: three, question: how many customers are there, after: [two]}}\n"
        );
        std::fs::write(at.join("q.yaml"), text).unwrap();
    };
    file("total sales in 2003");
    let out = at.join("out");
    let batch = || {
        let output = run(at, &["batch", "q.yaml", "--out", "out", "-q"]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let ids = ["one", "two", "three"];
        assert_eq!(
            rows(&out)
                .iter()
                .map(|row| row["id"].as_str().unwrap().to_owned())
                .collect::<Vec<_>>(),
            ids
        );
        ids.map(|id| began(&out, id))
    };
    let first = batch();
    let second = batch();
    assert_eq!(first, second, "nothing has changed, so nothing is asked again");
    file("total sales in 2005");
    let third = batch();
    assert_eq!(third[0], first[0]);
    assert!(third[1] > first[1], "the changed question is asked again");
    assert!(third[2] > first[2], "and so is the one that builds on it");
    let text = std::fs::read_to_string(out.join("three/timeline.jsonl")).unwrap();
    assert!(
        text.contains("total sales in 2005") && text.contains("\"run\":0"),
        "it sees what was found before: {text}"
    );
    let page = std::fs::read_to_string(out.join("index.html")).unwrap();
    assert!(
        page.contains("<a href=\"two/report.md\">total sales in 2005</a>"),
        "{page}"
    );
}

#[test]
fn two_processes_share_one_folder() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let questions: String = (0..12)
        .map(|n| format!("total sales in 2004 for order {n}\ntop {} products\n", n + 2))
        .collect();
    std::fs::write(at.join("q.txt"), questions).unwrap();
    let start = || {
        crate::support::analyst(at)
            .args(["batch", "q.txt", "--out", "out", "--jobs", "1", "-q"])
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap()
    };
    let both = [start(), start()];
    let codes = both.map(|process| {
        let output = process.wait_with_output().unwrap();
        (output.status.code(), stderr(&output))
    });
    assert_eq!(codes[0], codes[1]);
    assert_eq!(rows(&at.join("out")).len(), 24);
    for entry in std::fs::read_dir(at.join("out")).unwrap().flatten() {
        let Ok(text) = std::fs::read_to_string(entry.path().join("timeline.jsonl")) else {
            continue;
        };
        assert_eq!(
            text.matches("\"event\":\"session_started\"").count(),
            1,
            "{:?}",
            entry.path()
        );
        assert_eq!(
            text.matches("\"event\":\"run_finished\"").count(),
            1,
            "asked twice: {:?}",
            entry.path()
        );
    }
}

#[test]
fn a_killed_batch_goes_on_and_pays_for_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(
        at.join("q.txt"),
        "analyze Aug 2005 employee sales\ntotal sales in 2004\ntop 5 products by sales\nhow many customers are there\n",
    )
    .unwrap();
    let whole = run(at, &["batch", "q.txt", "--out", "whole", "-q"]);
    assert_eq!(whole.status.code(), Some(0), "{}", stderr(&whole));
    let mut child = crate::support::analyst(at)
        .args(["batch", "q.txt", "--out", "cut", "--jobs", "1", "-q"])
        .spawn()
        .unwrap();
    // As soon as two questions have their line.
    while std::fs::read_to_string(at.join("cut/results.jsonl")).map_or(0, |text| text.lines().count()) < 2 {
        assert!(
            child.try_wait().unwrap().is_none(),
            "it ended before it could be killed"
        );
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let before: Vec<String> = rows(&at.join("cut"))
        .iter()
        .map(|row| began(&at.join("cut"), row["id"].as_str().unwrap()))
        .collect();
    let again = run(at, &["batch", "q.txt", "--out", "cut", "-q"]);
    assert_eq!(again.status.code(), Some(0), "{}", stderr(&again));
    let now = rows(&at.join("cut"));
    assert_eq!(now.len(), 4);
    let kept: Vec<String> = now
        .iter()
        .map(|row| began(&at.join("cut"), row["id"].as_str().unwrap()))
        .collect();
    assert_eq!(kept[..2], before[..2], "what was done is not done again");
    for row in &now {
        let report = |out: &str| std::fs::read_to_string(at.join(out).join(row["report"].as_str().unwrap())).unwrap();
        assert_eq!(report("whole"), report("cut"));
    }
}
