//! `analyst semantic`: a draft that fits its database, and what does not fit, named.

use crate::support::{run, shared, stderr, stdout};

#[test]
fn a_draft_fits_the_database_it_comes_from() {
    let folder = tempfile::tempdir().unwrap();
    assert!(run(folder.path(), &["demo", "sales.sqlite"]).status.success());
    let init = ["semantic", "init", "-o", "model.yaml", "--db", "sales.sqlite"];
    let output = run(folder.path(), &init);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = std::fs::read_to_string(folder.path().join("model.yaml")).unwrap();
    assert!(text.starts_with("# Semantic model of "), "{text}");
    assert!(
        text.contains("customers (entity): a row is named by customer_name"),
        "{text}"
    );
    let check = run(
        folder.path(),
        &["semantic", "check", "model.yaml", "--db", "sales.sqlite"],
    );
    assert!(check.status.success(), "{}", stdout(&check));
    // It is not written over by accident.
    let again = run(folder.path(), &init);
    assert_eq!(again.status.code(), Some(2));
    assert!(stderr(&again).contains("--force"), "{}", stderr(&again));
    std::fs::write(
        folder.path().join("model.yaml"),
        text.replace("credit_limit", "credit_line"),
    )
    .unwrap();
    let check = run(
        folder.path(),
        &["semantic", "check", "model.yaml", "--db", "sales.sqlite"],
    );
    assert_eq!(check.status.code(), Some(1));
    assert!(
        stdout(&check).contains("has no column `credit_line`"),
        "{}",
        stdout(&check)
    );
}

#[test]
fn a_dbt_project_is_checked_and_converted() {
    let (Some(project), Some(database)) = (
        shared("data/semantic/dbt/jaffle-shop-models"),
        shared("data/semantic/dbt/jaffle_shop.sqlite"),
    ) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let (project, database) = (project.to_str().unwrap(), database.to_str().unwrap());
    let check = run(folder.path(), &["semantic", "check", project, "--db", database]);
    assert!(
        stdout(&check).contains("metric median_revenue: there is no portable `median`"),
        "{}{}",
        stdout(&check),
        stderr(&check)
    );
    let convert = run(folder.path(), &["semantic", "convert", project]);
    assert!(convert.status.success(), "{}", stderr(&convert));
    assert!(
        stdout(&convert).contains("name: order_gross_profit"),
        "{}",
        stdout(&convert)
    );
}

#[test]
fn a_glossary_over_a_draft_says_what_it_cannot_place() {
    let folder = tempfile::tempdir().unwrap();
    assert!(run(folder.path(), &["demo", "sales.sqlite"]).status.success());
    std::fs::write(
        folder.path().join("glossary.md"),
        "# Terms\n- **accounts**: all our `customers`\n- churn: see `churn_rate`\n",
    )
    .unwrap();
    let check = run(
        folder.path(),
        &["semantic", "check", "glossary.md", "--db", "sales.sqlite"],
    );
    assert_eq!(
        stdout(&check).trim(),
        "glossary, churn: there is no metric, dataset or field `churn_rate`"
    );
}
