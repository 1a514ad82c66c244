//! The guard against the shared list of statements to refuse and to accept.

use std::path::PathBuf;

use analyst::warehouse::{Dialect, sql};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    dialect: Dialect,
    sql: String,
    verdict: String,
}

/// A file of the shared folder beside the project, or `None` (with a note) where it is absent.
pub fn shared(path: &str) -> Option<PathBuf> {
    let root = std::env::var_os("ANALYST_SHARED").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared"),
        PathBuf::from,
    );
    let file = root.join(path);
    if file.exists() {
        return Some(file);
    }
    println!("skipped: {} is not here", file.display());
    None
}

#[test]
fn every_shared_guard_case_gets_its_verdict() {
    let Some(file) = shared("cases/sql_guard.jsonl") else {
        return;
    };
    let text = std::fs::read_to_string(file).unwrap();
    let mut wrong = Vec::new();
    let mut counts = (0, 0);
    for line in text.lines().filter(|l| !l.is_empty()) {
        let case: Case = serde_json::from_str(line).unwrap();
        let verdict = sql::check(&case.sql, case.dialect, None);
        match (case.verdict.as_str(), &verdict) {
            ("refuse", Err(_)) => counts.0 += 1,
            ("accept", Ok(_)) => counts.1 += 1,
            _ => wrong.push(format!(
                "{:?} {}: {:?}",
                case.dialect,
                case.sql,
                verdict.map(|c| c.text().to_owned())
            )),
        }
    }
    println!("{} refused, {} accepted", counts.0, counts.1);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
