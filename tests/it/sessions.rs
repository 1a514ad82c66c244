//! `analyst sessions` and `analyst resume`: what was asked can be seen again, moved, removed and gone on with.

use std::path::Path;

use serde_json::Value;

use crate::support::{analyst, run, stderr, stdout};

fn ask(folder: &Path) -> String {
    let output = run(folder, &["ask", "total sales in 2004", "-q"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let listed = run(folder, &["sessions", "list", "--json"]);
    let line: Value = serde_json::from_str(stdout(&listed).lines().last().unwrap()).unwrap();
    assert_eq!(
        (line["outcome"].as_str(), line["v"].as_u64()),
        (Some("answered"), Some(1))
    );
    line["id"].as_str().unwrap().to_owned()
}

/// Without the sample database's cache a replay would have to write it again.
fn replayed(folder: &Path, arguments: &[&str]) -> String {
    let output = analyst(folder)
        .args([&["sessions", "replay", "last", "--speed", "0"][..], arguments].concat())
        .env("XDG_CACHE_HOME", "/nowhere")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    stdout(&output)
}

#[test]
fn a_session_is_listed_shown_replayed_exported_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    assert_eq!(stdout(&run(at, &["sessions", "list"])), "No sessions.\n");
    let id = ask(at);
    let root = at.join(".analyst/sessions").join(&id);
    let kept = std::fs::read_to_string(root.join("timeline.jsonl")).unwrap();
    let report = std::fs::read_to_string(root.join("runs/1/report.md")).unwrap();

    let listed = stdout(&run(at, &["sessions", "list"]));
    assert_eq!(listed, format!("{id}  answered     total sales in 2004\n"));
    let shown = stdout(&run(at, &["sessions", "show", &id]));
    assert!(
        shown.starts_with("? total sales in 2004\n") && shown.contains("→ sql_execute: q1: 1 row"),
        "{shown}"
    );

    assert_eq!(replayed(at, &["--events", "jsonl"]), kept);
    let story = replayed(at, &[]);
    assert!(
        story.contains("→ sql_execute ") && story.contains("= answered (exit 0)"),
        "{story}"
    );
    let first = report.lines().next().unwrap();
    assert!(story.contains(first), "the report is not at the end: {story}");

    let output = run(at, &["sessions", "export", &id, "copy"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(std::fs::read_to_string(at.join("copy/report.md")).unwrap(), report);
    assert!(at.join("copy/results/q1.parquet").is_file());
    let evidence: Value =
        serde_json::from_str(&std::fs::read_to_string(at.join("copy/evidence.json")).unwrap()).unwrap();
    assert!(!evidence.to_string().contains("runs/1/"), "{evidence}");
    let again = run(at, &["sessions", "export", &id, "copy"]);
    assert!(stderr(&again).contains("not empty"), "{}", stderr(&again));

    let unknown = run(at, &["sessions", "rm", id.as_str(), "20000101-000000-0000"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(root.is_dir(), "nothing is removed when one name is wrong");
    assert_eq!(run(at, &["sessions", "rm", &id]).status.code(), Some(0));
    assert!(!root.exists());
}

#[test]
fn a_run_that_has_ended_shows_its_report_again() {
    let folder = tempfile::tempdir().unwrap();
    let id = ask(folder.path());
    let before = std::fs::read(folder.path().join(format!(".analyst/sessions/{id}/timeline.jsonl"))).unwrap();
    let output = run(folder.path(), &["resume", &id[..id.len() - 2]]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("2004") && stderr(&output).contains("the run had ended (answered)"));
    let after = std::fs::read(folder.path().join(format!(".analyst/sessions/{id}/timeline.jsonl"))).unwrap();
    assert!(before == after, "showing a report changes nothing");

    // A program that listens gets what it would have got: the events, and nothing else.
    let output = run(folder.path(), &["resume", &id, "--events", "jsonl", "-q"]);
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
    assert!(stdout(&output).as_bytes() == before, "{}", stdout(&output));
    let output = run(folder.path(), &["resume", &id, "--format", "json"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("evidence.json"), "{}", stderr(&output));
}

/// Cuts the timeline after every event, and in the middle of one: all of them end in the same report.
#[test]
fn a_run_cut_short_anywhere_ends_in_the_same_report() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let output = run(at, &["ask", "total sales in 2004", "--out", "out", "-q"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let whole = std::fs::read_to_string(at.join("out/timeline.jsonl")).unwrap();
    let report = std::fs::read_to_string(at.join("out/report.md")).unwrap();
    let evidence = std::fs::read_to_string(at.join("out/evidence.json")).unwrap();
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    for keep in 1..lines.len() {
        let torn = &lines[keep][..lines[keep].len() / 2];
        std::fs::write(at.join("out/timeline.jsonl"), lines[..keep].concat() + torn).unwrap();
        std::fs::remove_file(at.join("out/report.md")).unwrap();
        if keep % 2 == 0 {
            // The rows of a call whose end was not written may be gone or half there.
            std::fs::remove_dir_all(at.join("out/results")).ok();
        }
        let output = run(at, &["resume", "out", "-q"]);
        let context = format!("cut after {}{}", lines[keep - 1], stderr(&output));
        assert_eq!(output.status.code(), Some(0), "{context}");
        assert!(stderr(&output).contains("the last line was torn"), "{context}");
        assert_eq!(
            std::fs::read_to_string(at.join("out/report.md")).unwrap(),
            report,
            "{context}"
        );
        assert_eq!(
            std::fs::read_to_string(at.join("out/evidence.json")).unwrap(),
            evidence,
            "{context}"
        );
        let events: Vec<Value> = std::fs::read_to_string(at.join("out/timeline.jsonl"))
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let numbers: Vec<u64> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
        assert_eq!(numbers, (1..=events.len() as u64).collect::<Vec<_>>(), "{context}");
    }
}

#[test]
fn one_process_at_a_time_writes_to_a_session() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let output = run(at, &["ask", "total sales in 2004", "--out", "out", "-q"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let lock = std::fs::File::create(at.join("out/lock")).unwrap();
    lock.lock().unwrap();
    std::fs::write(at.join("out/lock"), "4711\n").unwrap();
    let refused = run(at, &["resume", "out"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        stderr(&refused).contains("in use by another analyst (process 4711)"),
        "{}",
        stderr(&refused)
    );
    drop(lock);
    // Whoever held it is gone: the lock file that it left is no hindrance.
    assert_eq!(run(at, &["resume", "out"]).status.code(), Some(0));
}

#[test]
fn mistakes_are_told_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for (arguments, code, words) in [
        (
            &["resume", "yesterday"][..],
            1,
            "no session `yesterday` in .analyst; `analyst sessions list` shows",
        ),
        (&["sessions", "show", "last"], 1, "no session `last`"),
        (
            &["sessions", "replay", "last", "--speed", "fast"],
            2,
            "it must be a number such as 1, 10 or 0",
        ),
    ] {
        let output = run(at, arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
        assert!(stderr(&output).contains(words), "{arguments:?}: {}", stderr(&output));
    }
}
