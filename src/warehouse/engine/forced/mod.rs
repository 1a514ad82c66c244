//! Every statement that the guard refuses, run past it on the engines' own connections, changes nothing: neither data,
//! nor schema, nor a file. On servers they run as the role that docs/sql.md tells people to create.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use super::{Engine, EngineError, RunLimits, Target};
use crate::warehouse::sql::tests::cases;

mod mysql;
mod postgres;
mod sqlite;

/// Enough for what answers at all; what sleeps must not hold the test up.
fn limits() -> RunLimits {
    RunLimits {
        timeout: Duration::from_millis(150),
        ..RunLimits::default()
    }
}

/// What the engine said to the statements, by kind, with their number.
type Told = BTreeMap<&'static str, usize>;

/// The refused statements of the project's own cases and, where it is there, of the shared list.
fn statements() -> Vec<String> {
    let mut all = cases::refused();
    let root = std::env::var_os("ANALYST_SHARED").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared"),
        PathBuf::from,
    );
    match std::fs::read_to_string(root.join("cases/sql_guard.jsonl")) {
        Ok(text) => {
            let cases = text.lines().filter(|line| !line.is_empty());
            let cases = cases.map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
            let refused = cases.filter(|case| case["verdict"] == "refuse");
            all.extend(refused.map(|case| case["sql"].as_str().unwrap().to_owned()));
        }
        Err(_) => println!("skipped: the shared guard cases are not there"),
    }
    all.sort();
    all.dedup();
    all
}

/// Forces each statement, with `state` told before and after all of them; if the two differ, one by one to name the
/// culprits.
async fn force(engine: &Engine, state: impl AsyncFn() -> String) -> (Told, Vec<String>) {
    let statements = statements();
    assert!(statements.len() > 300, "{} statements", statements.len());
    let mut told = Told::new();
    let mut wrong = vec![];
    let mut before = state().await;
    for batch in statements.chunks(40) {
        let files = files(batch);
        for sql in batch {
            *told.entry(run(engine, sql).await).or_default() += 1;
        }
        if self::files(batch) != files {
            wrong.push(format!("a file named in one of {batch:#?} was changed"));
        }
        let after = state().await;
        if after != before {
            wrong.push(format!("one of {batch:#?} changed the database:\n{before}\n{after}"));
            before = after;
        }
    }
    (told, wrong)
}

async fn run(engine: &Engine, sql: &str) -> &'static str {
    match engine.run_text(sql, &limits(), &CancellationToken::new()).await {
        Ok(_) => "ran, and changed nothing",
        Err(EngineError::Timeout(_)) => "stopped in time",
        Err(EngineError::NotReadOnly(_)) => "not read-only",
        Err(EngineError::Refused(_)) => "refused by the database",
        Err(_) => "no answer",
    }
}

/// Size and time of each file that a statement names in a string; nothing for those that are not there.
fn files(statements: &[String]) -> Vec<Option<(u64, std::time::SystemTime)>> {
    let texts = statements
        .iter()
        .flat_map(|sql| sql.split(['\'', '"', '`']).skip(1).step_by(2));
    let about = |path: &str| {
        let about = std::fs::metadata(Path::new(path)).ok()?;
        Some((about.len(), about.modified().ok()?))
    };
    texts.map(about).collect()
}

/// The same engine still answers after all that.
async fn still_answers(engine: &Engine) {
    let fetched = engine
        .run_text(
            "SELECT count(*) FROM t",
            &RunLimits::default(),
            &CancellationToken::new(),
        )
        .await
        .unwrap();
    assert_eq!(fetched.frame.height(), 1);
}

async fn open(target: &str) -> Engine {
    Engine::connect(&Target::parse(target).unwrap()).await.unwrap()
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The SQL block below the paragraph of docs/sql.md that opens with `heading`, as single statements.
fn documented_role(heading: &str) -> Vec<String> {
    let page = include_str!("../../../../docs/sql.md");
    let (_, after) = page.split_once(heading).unwrap();
    let (_, block) = after.split_once("```sql\n").unwrap();
    let (block, _) = block.split_once("```").unwrap();
    block
        .split(';')
        .map(str::trim)
        .filter(|sql| !sql.is_empty())
        .map(str::to_owned)
        .collect()
}

/// `scheme://who@host:port/database` of a server's URL with another login and database.
fn login(url: &str, who: &str, database: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap();
    let server = rest.split('/').next().unwrap();
    let host = server.rsplit('@').next().unwrap();
    format!("{scheme}://{who}@{host}/{database}")
}
