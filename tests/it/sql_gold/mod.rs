//! Gold statements of the shared data sets: all resolve against their databases, and error-level lints are listed.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::LazyLock;

use analyst::warehouse::catalog::Catalog;
use analyst::warehouse::engine::{Engine, Target};
use analyst::warehouse::{Dialect, sql};
use serde::Deserialize;

use crate::sql_guard::shared;

mod policy;
mod rows;

#[derive(Deserialize)]
pub struct Question {
    pub id: String,
    pub gold_sql: Vec<String>,
    pub db: String,
}

/// A gold statement with the database that it belongs to.
pub struct Gold {
    pub id: String,
    pub sql: String,
    pub db: PathBuf,
}

const SETS: [&str; 5] = [
    "data/spider/train.jsonl",
    "data/spider/dev_seen.jsonl",
    "data/defog/questions.jsonl",
    "data/defog/instruct_basic.jsonl",
    "data/acme/questions.jsonl",
];

/// Gold statements, and the catalogs of their databases by path.
pub type GoldData = (Vec<Gold>, BTreeMap<PathBuf, Catalog>);

/// Every distinct gold statement, and the catalogs of their databases.
pub static GOLD: LazyLock<Option<GoldData>> = LazyLock::new(|| {
    let mut gold: Vec<Gold> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for set in SETS {
        let file = shared(set)?;
        let folder = file.parent().unwrap().to_owned();
        for line in std::fs::read_to_string(&file)
            .unwrap()
            .lines()
            .filter(|l| !l.is_empty())
        {
            let question: Question = serde_json::from_str(line).unwrap();
            let db = folder.join(&question.db);
            for sql in question.gold_sql {
                if seen.insert((db.clone(), sql.clone())) {
                    gold.push(Gold {
                        id: question.id.clone(),
                        sql,
                        db: db.clone(),
                    });
                }
            }
        }
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let mut catalogs = BTreeMap::new();
    for g in &gold {
        if !catalogs.contains_key(&g.db) {
            let catalog = runtime.block_on(async {
                let engine = Engine::connect(&Target::parse(g.db.to_str().unwrap()).unwrap())
                    .await
                    .unwrap();
                engine.introspect().await.unwrap()
            });
            catalogs.insert(g.db.clone(), catalog);
        }
    }
    Some((gold, catalogs))
});

#[test]
fn gold_statements_are_accepted() {
    let Some((gold, catalogs)) = GOLD.as_ref() else { return };
    let mut refused = Vec::new();
    let mut lints: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut errors = String::new();
    let started = std::time::Instant::now();
    for g in gold {
        match sql::check(&g.sql, Dialect::Sqlite, Some(&catalogs[&g.db])) {
            Ok(checked) => {
                for lint in checked.lints() {
                    *lints
                        .entry((format!("{:?}", lint.level), lint.code.clone()))
                        .or_default() += 1;
                    if lint.level == sql::LintLevel::Error {
                        let db = g.db.file_stem().unwrap().to_string_lossy();
                        errors.push_str(&format!(
                            "{}\t{}\t{db}\t{}\n\t{}\n",
                            lint.code,
                            g.id,
                            g.sql.replace('\n', " "),
                            lint.message
                        ));
                    }
                }
            }
            Err(refusal) => refused.push(format!("{} {:?} {}\n    {}", g.id, refusal.stage, refusal, g.sql)),
        }
    }
    println!(
        "{} statements in {:?}; {} refused",
        gold.len(),
        started.elapsed(),
        refused.len()
    );
    println!("{lints:#?}");
    if let Ok(path) = std::env::var("ANALYST_GOLD_LINTS") {
        std::fs::write(path, errors).unwrap();
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}
