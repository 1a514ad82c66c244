//! The headline question on a database that was never seen, with no semantic model for it.

use serde_json::Value;

use crate::support::{run, shared, stderr, stdout};

fn plain(value: f64) -> String {
    crate::support::dollars(value).replace('$', "")
}

#[test]
fn employee_sales_on_sakila_equal_the_gold_facts_and_name_the_trap() {
    let (Some(database), Some(gold)) = (
        shared("data/db/sakila.sqlite"),
        shared("data/gold/sakila_aug2005_employee_sales.json"),
    ) else {
        return;
    };
    let gold: Value = serde_json::from_str(&std::fs::read_to_string(gold).unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let database = database.to_string_lossy().into_owned();
    let output = run(
        folder.path(),
        &[
            "ask",
            "analyze Aug 2005 employee sales",
            "--db",
            &database,
            "--out",
            "out",
        ],
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    let has = |expected: &str| assert!(text.contains(expected), "`{expected}` is not in:\n{text}");
    has(&plain(gold["aug_2005_total"]["total_sales"].as_f64().unwrap()));
    has(&plain(gold["jul_2005_total"]["total_sales"].as_f64().unwrap()));
    for staff in gold["aug_2005_by_staff"].as_array().unwrap() {
        has(staff["staff"].as_str().unwrap());
        has(&plain(staff["total_sales"].as_f64().unwrap()));
        has(&plain(staff["payments"].as_f64().unwrap()).replace(".00", ""));
    }
    has("−15.2%");
    has("August 2005 has 10 days with data, July 2005 has 14");
    has("2,407.21");
    has("2,026.71");
    has("`payment.staff_id = staff.staff_id`");
    assert!(!text.contains('†'), "{text}");
}
