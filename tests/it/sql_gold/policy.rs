//! Gold statements under policies: one that hides nothing changes no result, and one that denies columns refuses just
//! those statements that read one.

use std::collections::BTreeMap;
use std::path::Path;

use analyst::config::{Access, NamedPolicy, Policy};
use analyst::warehouse::catalog::{Catalog, Rules};
use analyst::warehouse::engine::{Engine, RunLimits, Target};
use analyst::warehouse::fetch::ResultSet;
use analyst::warehouse::{Dialect, sql};
use tokio_util::sync::CancellationToken;

use super::{GOLD, Gold};

/// Every how-manieth statement is run unless `ANALYST_GOLD_ALL` asks for all of them.
const SAMPLE: usize = 25;

fn named(policy: Policy) -> Vec<NamedPolicy> {
    vec![NamedPolicy {
        name: "policy".to_owned(),
        policy,
    }]
}

async fn open(db: &Path, policies: Vec<NamedPolicy>) -> (Engine, Catalog) {
    let target = Target::parse(db.to_str().unwrap()).unwrap();
    let access = Access {
        policies,
        ..Access::default()
    };
    let engine = Engine::connect_with(&target, &access, None).await.unwrap();
    let catalog = engine.introspect().await.unwrap();
    (engine, catalog)
}

/// The rows without their order; `None` where the statement is refused or cannot be run.
async fn rows(engine: &Engine, catalog: &Catalog, text: &str) -> Result<Vec<String>, String> {
    let checked = sql::check(text, Dialect::Sqlite, Some(catalog)).map_err(|refusal| refusal.to_string())?;
    let limits = RunLimits {
        max_rows: usize::MAX,
        ..RunLimits::default()
    };
    let fetched = engine
        .run(&checked, &limits, &CancellationToken::new())
        .await
        .map_err(|error| error.to_string())?;
    let result = ResultSet::new("q1", text, fetched);
    let mut rows: Vec<String> = result
        .preview(result.row_count)
        .iter()
        .map(|row| format!("{row:?}"))
        .collect();
    rows.sort();
    Ok(rows)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_policy_that_hides_nothing_changes_no_result() {
    let Some((gold, _)) = GOLD.as_ref() else { return };
    let step = if std::env::var_os("ANALYST_GOLD_ALL").is_some() {
        1
    } else {
        SAMPLE
    };
    let mut by_db: BTreeMap<&Path, Vec<&Gold>> = BTreeMap::new();
    for g in gold.iter().step_by(step) {
        by_db.entry(&g.db).or_default().push(g);
    }
    let all_rows = Policy {
        row_filters: BTreeMap::from([("*".to_owned(), "1 = 1".to_owned())]),
        ..Policy::default()
    };
    let (mut same, mut by_name, mut wrong) = (0, 0, Vec::new());
    for (db, gold) in by_db {
        let (plain, plain_catalog) = open(db, Vec::new()).await;
        let (engine, catalog) = open(db, named(all_rows.clone())).await;
        for g in gold {
            let expected = rows(&plain, &plain_catalog, &g.sql).await;
            match rows(&engine, &catalog, &g.sql).await {
                Err(problem) if problem.contains("has the name of a table") => by_name += 1,
                Err(problem) if expected.is_ok() => wrong.push(format!("{} {problem}\n    {}", g.id, g.sql)),
                // Where several rows are equally good for LIMIT, either may come.
                Ok(rows) if expected.as_ref() != Ok(&rows) && !g.sql.to_uppercase().contains("LIMIT") => {
                    wrong.push(format!("{}: other rows\n    {}", g.id, g.sql));
                }
                Ok(_) | Err(_) => same += 1,
            }
        }
    }
    println!(
        "{same} the same, {by_name} refused for the name of a CTE, {} wrong",
        wrong.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_denied_column_refuses_the_statements_that_read_it_and_no_others() {
    let Some((gold, catalogs)) = GOLD.as_ref() else { return };
    let mut seen: BTreeMap<&Path, (Catalog, Vec<String>)> = BTreeMap::new();
    let (mut refused, mut accepted, mut wrong) = (0, 0, Vec::new());
    for g in gold {
        let full = &catalogs[&g.db];
        let (catalog, denied) = seen.entry(&g.db).or_insert_with(|| {
            let denied = every_fourth_column(full);
            let policy = Policy {
                deny_columns: denied.clone(),
                ..Policy::default()
            };
            (Rules::apply(&named(policy), full.clone()).unwrap(), denied)
        });
        let plain = sql::check(&g.sql, Dialect::Sqlite, Some(full)).unwrap();
        let reads_denied = plain.reads().iter().any(|read| denied.contains(&read.to_lowercase()));
        match (sql::check(&g.sql, Dialect::Sqlite, Some(catalog)), reads_denied) {
            (Ok(_), false) => accepted += 1,
            // A star stands for the columns that are left.
            (Ok(_), true) if g.sql.contains('*') => accepted += 1,
            (Err(refusal), true) if refusal.stage == sql::Stage::Policy => refused += 1,
            (Err(refusal), false) if refusal.to_string().contains("has the name of a table") => refused += 1,
            (Ok(_), true) => wrong.push(format!("{} was accepted\n    {}", g.id, g.sql)),
            (Err(refusal), _) => wrong.push(format!("{} {refusal}\n    {}", g.id, g.sql)),
        }
    }
    println!("{refused} refused, {accepted} accepted, {} wrong", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(
        refused > 100 && accepted > 100,
        "{refused} refused, {accepted} accepted"
    );
}

/// As `table.column` in lower case; no name of theirs holds a wildcard.
fn every_fourth_column(catalog: &Catalog) -> Vec<String> {
    let mut columns = Vec::new();
    for (at, table) in catalog.tables.iter().enumerate() {
        for (place, column) in table.columns.iter().enumerate() {
            if (at + place) % 4 == 1 && !column.name.contains(['*', '?', '.']) {
                columns.push(format!("{}.{}", table.name, column.name).to_lowercase());
            }
        }
    }
    columns
}
