//! The headline question on the sample database: every number of the report against `facts.json`, and the order of events.

use std::path::Path;

use serde_json::Value;

use crate::support::{change, dollars, run, stderr, stdout};

const QUESTION: &str = "analyze Aug 2005 employee sales";

fn facts() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sales/facts.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn number(value: &Value, path: &str) -> f64 {
    value
        .pointer(path)
        .and_then(Value::as_f64)
        .unwrap_or_else(|| panic!("no number at {path}"))
}

#[test]
fn every_number_of_the_report_equals_the_facts() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &["ask", QUESTION, "--format", "json", "--out", "out"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = report["report_markdown"].as_str().unwrap();
    let facts = facts();
    let has = |expected: &str| assert!(text.contains(expected), "`{expected}` is not in:\n{text}");

    // Totals, with the changes on the month and the year before.
    let totals = &facts["totals"];
    has(&format!(
        "{}, {} on July 2005 ({}) and {} on August 2004 ({})",
        dollars(number(totals, "/0/net_sales")),
        change(number(&facts, "/change/month_on_month_rate")),
        dollars(number(totals, "/1/net_sales")),
        change(number(&facts, "/change/year_on_year_rate")),
        dollars(number(totals, "/2/net_sales")),
    ));
    has(&format!("Gross sales: {}", dollars(number(totals, "/0/gross_sales"))));
    has(&format!(
        "Returned amount: {}",
        dollars(number(totals, "/0/returned_amount"))
    ));
    has(&format!(
        "Average order value: {}",
        dollars(number(totals, "/0/average_order_value"))
    ));
    has(&format!("Orders: {}", number(totals, "/0/orders")));
    has(&format!("Cancelled orders: {}", number(totals, "/0/cancelled_orders")));
    has(&format!("August 2005 has {} days with data, July 2005 has {}", 28, 31));
    has(&dollars(number(totals, "/0/net_sales_per_active_day")));

    // The ranking: share, orders, changes and target of each employee.
    for employee in facts["employees"].as_array().unwrap() {
        let name = employee["employee"].as_str().unwrap();
        let year = employee["year_on_year_rate"].as_f64().map_or("—".to_owned(), change);
        let share = change(number(employee, "/share")).trim_start_matches('+').to_owned();
        has(&format!(
            "| {} | {name} | {} | {share} | {} | {} | {year} |",
            number(employee, "/rank"),
            dollars(number(employee, "/net_sales")),
            number(employee, "/orders"),
            change(number(employee, "/month_on_month_rate")),
        ));
        let attained = change(number(employee, "/target_attainment"))
            .trim_start_matches('+')
            .to_owned();
        has(&format!(
            "| {name} | {} | {} | {attained} |",
            dollars(number(employee, "/net_sales")),
            dollars(number(employee, "/target")),
        ));
    }
    has(&format!(
        "{} (4.9% of the total) belong to no employee",
        dollars(number(&facts, "/unassigned/net_sales"))
    ));

    let big_return = &facts["big_return"];
    has(&format!(
        "**Emma Clarke** falls furthest by what is taken off: rank {} by gross sales ({}), rank 10 by net sales",
        number(big_return, "/rank_by_gross_sales"),
        dollars(number(big_return, "/gross_sales")),
    ));

    // The outliers and why.
    has(&format!(
        "order `{}`, {}",
        facts["huge_order"]["order_id"],
        dollars(number(&facts, "/huge_order/order_value"))
    ));
    has(&format!(
        "without it {} remain",
        dollars(number(&facts, "/huge_order/net_sales_without_it"))
    ));
    has("**Julien Moreau** is far below their own history");
    has("(robust z −3.7)");
    has("Orders went from 19 in July 2005 to 5");

    // Targets, the shift between product lines, and the days without orders.
    has("Overall attainment is 98.2%");
    has("5 reached their target, 10 missed it");
    has("The share of Notebooks went from 20.2% in August 2004 to 39.4%");
    has("2005-08-16 – 2005-08-18");

    // Nothing in it is without a source.
    let counts = &report["evidence"]["counts"];
    assert_eq!(counts["unverified"], 0, "{counts}");
    assert!(number(counts, "/figures") > 150.0, "{counts}");
    assert!(!text.contains('†'));
    for chart in ["c1", "c2", "c3", "c4"] {
        for kind in ["svg", "png"] {
            let path = folder.path().join(format!("out/charts/{chart}.{kind}"));
            assert!(std::fs::metadata(&path).unwrap().len() > 1_000, "{}", path.display());
        }
    }
    assert!(folder.path().join("out/evidence.json").exists());
    assert_eq!(
        std::fs::read_to_string(folder.path().join("out/report.md")).unwrap(),
        text
    );
}

#[test]
fn the_plan_comes_first_and_every_call_ends_once() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &["ask", QUESTION, "--events", "jsonl", "--out", "out"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let events: Vec<Value> = stdout(&output)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let kind = |event: &Value| event["event"].as_str().unwrap().to_owned();

    let place = |wanted: &dyn Fn(&Value) -> bool| events.iter().position(wanted).unwrap();
    let planned = place(&|event| kind(event) == "todo_progress");
    let executed = place(&|event| kind(event) == "tool_started" && event["tool"] == "sql_execute");
    assert!(planned < executed);

    let mut started: Vec<&str> = Vec::new();
    let mut ended: Vec<&str> = Vec::new();
    for event in &events {
        match event["event"].as_str().unwrap() {
            "tool_started" => started.push(event["call_id"].as_str().unwrap()),
            "tool_finished" => ended.push(event["call_id"].as_str().unwrap()),
            _ => {}
        }
    }
    let mut once = ended.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), ended.len(), "a call ended twice");
    assert_eq!(started.len(), ended.len(), "a call never ended");

    let lists: Vec<&Vec<Value>> = events
        .iter()
        .filter(|event| kind(event) == "todo_progress")
        .map(|event| event["todos"].as_array().unwrap())
        .collect();
    for list in &lists {
        let working = list.iter().filter(|item| item["status"] == "in_progress").count();
        assert!(working <= 1);
    }
    let last = lists.last().unwrap();
    assert!(last.len() >= 6);
    assert!(
        last.iter()
            .all(|item| item["status"] == "completed" || item["status"] == "cancelled")
    );

    let numbered: Vec<u64> = events
        .iter()
        .map(|event| event["seq"].as_u64().unwrap())
        .filter(|seq| *seq > 0)
        .collect();
    assert!(numbered.windows(2).all(|pair| pair[1] == pair[0] + 1));
    let stored = std::fs::read_to_string(folder.path().join("out/timeline.jsonl")).unwrap();
    assert_eq!(stored.lines().count(), numbered.len());
}

#[test]
fn a_chinese_question_gets_a_chinese_report() {
    let folder = tempfile::tempdir().unwrap();
    let question = "分析 2005 年 8 月的员工销售业绩，给出排名、趋势、异常员工和建议";
    let output = run(folder.path(), &["ask", question, "--out", "out"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    for expected in [
        "2005 年 8 月净销售额为 $2,117,050.60",
        "## 排名与占比",
        "## 趋势",
        "## 异常及原因",
        "## 目标完成情况",
        "## 建议",
        "Julien Moreau",
        "28 天有数据",
    ] {
        assert!(text.contains(expected), "`{expected}` is not in:\n{text}");
    }
    assert!(!text.contains('†'));
}

#[test]
fn a_simple_question_gets_one_query_and_no_plan() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(
        folder.path(),
        &[
            "ask",
            "查一下 2005 年 8 月的总销售额",
            "--events",
            "jsonl",
            "--out",
            "out",
        ],
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let events: Vec<Value> = stdout(&output)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let executed = events
        .iter()
        .filter(|event| event["event"] == "tool_started" && event["tool"] == "sql_execute")
        .count();
    assert_eq!(executed, 1);
    assert!(events.iter().all(|event| event["event"] != "todo_progress"));
    let report = std::fs::read_to_string(folder.path().join("out/report.md")).unwrap();
    assert!(report.contains("$2,117,050.60"), "{report}");
}
