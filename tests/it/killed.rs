//! Runs that are killed at a random moment and taken up again end in the report that they would have had.
//!
//! `ANALYST_KILL_RUNS=200` runs the whole measurement; `ANALYST_KILL_SEED` chooses other moments.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{analyst, run, stderr, stdout};

/// A report of many steps, a question of one, and one in Chinese.
const QUESTIONS: [&str; 3] = [
    "analyze Aug 2005 employee sales",
    "top 5 products by sales in 2004",
    "2004 年每个月的销售额",
];

/// Runs without the environment's wish: enough to notice a fault of the kind, little enough for every day.
const USUAL_RUNS: usize = 6;

fn wish(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(otherwise)
}

/// Moments that are the same for the same seed.
struct Moments(u64);

impl Moments {
    fn next(&mut self, below: Duration) -> Duration {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        Duration::from_micros(self.0 % below.as_micros().max(1) as u64)
    }
}

/// What a run leaves behind, apart from times: each file by its name, those that hold times without them.
fn left(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for part in ["", "results", "charts"] {
        let Ok(entries) = std::fs::read_dir(folder.join(part)) else {
            continue;
        };
        for entry in entries.flatten().filter(|entry| entry.path().is_file()) {
            let name = format!("{part}/{}", entry.file_name().to_string_lossy());
            let bytes = match name.rsplit('.').next() {
                // Holds when and how long; what it must hold is looked at elsewhere.
                Some("jsonl") => continue,
                // The rows' hash stands in evidence.json; the file itself also says how long the query took.
                Some("parquet") => Vec::new(),
                _ => std::fs::read(entry.path()).unwrap(),
            };
            files.insert(name, bytes);
        }
    }
    files
}

fn kill_after(child: &mut Child, moment: Duration) -> bool {
    let began = Instant::now();
    while began.elapsed() < moment {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1).min(moment - began.elapsed().min(moment)));
    }
    let was_running = child.try_wait().unwrap().is_none();
    let _ = child.kill();
    child.wait().unwrap();
    was_running
}

/// Every whole line that a listener got must be in the file, as it was.
fn nothing_heard_was_lost(heard: &str, folder: &Path) {
    let kept = std::fs::read_to_string(folder.join("timeline.jsonl")).unwrap_or_default();
    for line in heard.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
        let event: Value = serde_json::from_str(line).unwrap();
        if event["seq"] != 0 {
            assert!(kept.contains(line), "heard and not kept: {line}");
        }
    }
}

#[test]
fn a_killed_question_is_resumed_to_the_same_report() {
    let folder = tempfile::tempdir().unwrap();
    let wholes: Vec<(BTreeMap<String, Vec<u8>>, Duration)> = QUESTIONS
        .iter()
        .enumerate()
        .map(|(at, question)| {
            let out = format!("whole-{at}");
            let began = Instant::now();
            let output = run(folder.path(), &["ask", question, "--out", &out, "-q"]);
            assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
            (left(&folder.path().join(out)), began.elapsed())
        })
        .collect();
    let seed = wish("ANALYST_KILL_SEED", 20_261_130);
    let runs = wish("ANALYST_KILL_RUNS", USUAL_RUNS as u64) as usize;
    let mut moments = Moments(seed.max(1));
    let (mut killed, mut unbegun) = (0, 0);
    for number in 0..runs {
        let at = number % QUESTIONS.len();
        let (whole, usual) = &wholes[at];
        let out = format!("cut-{number}");
        let path = folder.path().join(&out);
        let mut next: Vec<&str> = vec!["ask", QUESTIONS[at], "--out", &out, "--events", "jsonl", "-q"];
        // Killed once, sometimes while it is being resumed as well.
        for _ in 0..1 + number % 2 {
            let mut child = analyst(folder.path())
                .args(&next)
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            killed += usize::from(kill_after(&mut child, moments.next(*usual)));
            let mut heard = String::new();
            child.stdout.take().unwrap().read_to_string(&mut heard).unwrap();
            nothing_heard_was_lost(&heard, &path);
            if std::fs::read_to_string(path.join("timeline.jsonl")).is_ok_and(|text| text.contains('\n')) {
                next = vec!["resume", &out, "--events", "jsonl", "-q"];
            } else {
                unbegun += 1;
            }
        }
        let output = run(folder.path(), &next);
        let context = format!(
            "run {number} (seed {seed}): {next:?}\n{}{}",
            stderr(&output),
            stdout(&output)
        );
        assert_eq!(output.status.code(), Some(0), "{context}");
        let now = left(&path);
        assert_eq!(
            now.keys().collect::<Vec<_>>(),
            whole.keys().collect::<Vec<_>>(),
            "{context}"
        );
        for (name, bytes) in whole {
            assert!(now[name] == *bytes, "{name} differs\n{context}");
        }
        std::fs::remove_dir_all(&path).unwrap();
    }
    println!("{runs} of {runs} runs ended in the same report; {killed} kills, {unbegun} before the first event");
}

#[test]
fn a_killed_batch_is_started_again_to_the_same_reports() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("q.txt"), QUESTIONS.join("\n")).unwrap();
    let began = Instant::now();
    let output = run(at, &["batch", "q.txt", "--out", "whole", "-q"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let usual = began.elapsed();
    let ids = |out: &str| -> Vec<String> {
        let text = std::fs::read_to_string(at.join(out).join("results.jsonl")).unwrap();
        let row = |line: &str| serde_json::from_str::<Value>(line).unwrap();
        text.lines()
            .map(|line| row(line)["id"].as_str().unwrap().to_owned())
            .collect()
    };
    let seed = wish("ANALYST_KILL_SEED", 20_261_130);
    let runs = wish("ANALYST_KILL_RUNS", USUAL_RUNS as u64).div_ceil(4);
    let mut moments = Moments(seed.max(1));
    let mut killed = 0;
    for number in 0..runs {
        let out = format!("cut-{number}");
        let jobs = (1 + number % 2).to_string();
        let arguments = ["batch", "q.txt", "--out", &out, "--jobs", &jobs, "-q"];
        let mut child = analyst(at)
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        killed += usize::from(kill_after(&mut child, moments.next(usual)));
        let output = run(at, &arguments);
        let context = format!("batch {number} (seed {seed}): {}{}", stderr(&output), stdout(&output));
        assert_eq!(output.status.code(), Some(0), "{context}");
        assert_eq!(ids(&out), ids("whole"), "{context}");
        for id in ids("whole") {
            assert!(
                left(&at.join(&out).join(&id)) == left(&at.join("whole").join(&id)),
                "{id} differs\n{context}"
            );
        }
        let tasks = std::fs::read_dir(at.join(&out).join("tasks")).unwrap().flatten();
        let names: Vec<String> = tasks
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        let is_task = |name: &&String| name.starts_with("task_");
        assert_eq!(names.iter().filter(is_task).count(), QUESTIONS.len(), "{context}");
        std::fs::remove_dir_all(at.join(&out)).unwrap();
    }
    println!("{runs} of {runs} batches ended in the same reports; {killed} kills");
}
