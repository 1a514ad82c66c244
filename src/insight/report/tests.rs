//! Reports as a director reads them, in both languages.

use polars::prelude::df;

use super::*;
use crate::insight::evidence::{BindInput, ChartRecord, CitedResult, ResultRecord, bind};
use crate::insight::metrics::{Context, MetricCall};

fn compared(language: Language) -> Derived {
    let frame = df!(
        "staff" => ["Mike Hillyer", "Jon Stephens"],
        "july" => [14003.54, 14370.35],
        "august" => [11853.65, 12218.48],
    );
    let call: MetricCall = serde_json::from_str(
        r#"{"function": "compare", "group": "staff", "old": "july", "new": "august", "old_days": 14, "new_days": 10}"#,
    )
    .unwrap();
    call.compute(
        &frame.unwrap(),
        Context {
            id: "m1",
            source: "q1",
            language,
        },
    )
    .unwrap()
}

fn input(language: Language, answer: &str) -> ReportInput {
    let derived = vec![compared(language)];
    let frame = df!("staff" => ["Mike Hillyer", "Jon Stephens"], "sales" => [11853.65, 12218.48]).unwrap();
    let record = ResultRecord {
        id: "q1".to_owned(),
        sql: String::new(),
        row_count: 2,
        truncated: false,
        hash: String::new(),
        file: None,
    };
    let results = [CitedResult {
        record: &record,
        frame: &frame,
    }];
    let charts = ["c1", "c2"].map(|id| ChartRecord {
        id: id.to_owned(),
        title: String::new(),
        source: "q1".to_owned(),
        file: None,
    });
    let evidence = bind(BindInput {
        question: "",
        answer,
        results: &results,
        derived: &derived,
        charts: &charts,
    });
    let pick = |english: &str, chinese: &str| language.pick(english, chinese).to_owned();
    ReportInput {
        question: pick("analyze Aug 2005 employee sales", "分析 2005 年 8 月的员工销售业绩"),
        language,
        answer_markdown: answer.to_owned(),
        outcome: Ending::Incomplete,
        answer: Some("q1".to_owned()),
        plan: vec![
            PlanStep {
                content: pick("Rank employees | by sales", "员工销售排名"),
                state: StepState::Completed,
                note: None,
            },
            PlanStep {
                content: pick("Look for outliers", "查找异常"),
                state: StepState::Pending,
                note: Some(pick("the time was up", "时间用尽")),
            },
        ],
        windows: vec![WindowUsed {
            label: pick("Aug 2005", "2005 年 8 月"),
            start: "2005-08-01".to_owned(),
            end: "2005-09-01".to_owned(),
            note: Some(pick("10 of 31 days have data", "31 天中有 10 天有数据")),
        }],
        definitions: vec![Definition {
            formula: None,
            term: pick("sales", "销售额"),
            meaning: pick(
                "sum of payment.amount by payment_date",
                "按 payment_date 汇总的 payment.amount",
            ),
        }],
        queries: vec![QueryUsed {
            id: "q1".to_owned(),
            title: pick("Sales by employee", "员工销售额"),
            sql: "SELECT staff, SUM(amount) AS sales\nFROM payment\nGROUP BY staff".to_owned(),
            row_count: 2,
            truncated: false,
            elapsed_ms: None,
            lints: vec!["limit-without-order: rows may come in any order".to_owned()],
            columns: vec![],
            first_rows: vec![],
        }],
        derived,
        charts: vec![
            ChartUsed {
                id: "c1".to_owned(),
                title: pick("Sales by employee, Aug 2005", "2005 年 8 月员工销售额"),
                source: "q1".to_owned(),
                svg: Some("charts/c1.svg".to_owned()),
                png: Some("charts/c1.png".to_owned()),
                alt: None,
            },
            ChartUsed {
                id: "c2".to_owned(),
                title: pick("Sales per day", "每日销售额"),
                source: "q1".to_owned(),
                svg: Some("charts/c2.svg".to_owned()),
                png: None,
                alt: None,
            },
        ],
        caveats: vec![pick(
            "August has data on 10 days and July on 14, so the totals do not compare like with like.",
            "8 月只有 10 天有数据，7 月有 14 天，合计不可直接比较。",
        )],
        model: "builtin".to_owned(),
        database: "sqlite:sakila.sqlite".to_owned(),
        as_of: "2006-02-14".to_owned(),
        started: None,
        usage: TokensUsed::default(),
        budget_note: Some(pick("The time limit of 60 s was reached.", "已达到 60 秒的时间上限。")),
        evidence: Some(evidence),
    }
}

fn english() -> ReportInput {
    let table = table::of_derived(
        &compared(Language::English),
        &[
            ("staff", "Employee"),
            ("old", "July"),
            ("new", "August"),
            ("growth", ""),
            ("growth_per_day", ""),
        ],
        Language::English,
    );
    let answer = format!(
        "Employees sold **24,072.13** in August 2005 [m1], 15.2% less than in July; per day with data they sold 18.8% more [m1].\n\n[c1]\n\n## Ranking\n\nAgainst July [m1]:\n\n{table}\nJon Stephens leads with 12,218.48 [q1]. The market grew by 7.5%.\n"
    );
    input(Language::English, &answer)
}

fn chinese() -> ReportInput {
    let table = table::of_derived(
        &compared(Language::Chinese),
        &[
            ("staff", "员工"),
            ("old", "7 月"),
            ("new", "8 月"),
            ("growth", ""),
            ("growth_per_day", ""),
        ],
        Language::Chinese,
    );
    let answer = format!(
        "# 2005 年 8 月员工销售业绩\n\n8 月销售额为 **24,072.13** [m1]，比 7 月下降 15.2%；按有数据的天数计，日均增长 18.8% [m1]。\n\n[c1]\n\n## 排名\n\n与 7 月相比 [m1]：\n\n{table}\nJon Stephens 以 12,218.48 居首 [q1]。市场增长 7.5%。\n"
    );
    input(Language::Chinese, &answer)
}

#[test]
fn the_english_report_reads_well() {
    insta::assert_snapshot!(render(&english()).unwrap());
}

#[test]
fn the_chinese_report_reads_well() {
    insta::assert_snapshot!(render(&chinese()).unwrap());
}

#[test]
fn a_simple_answer_has_no_empty_sections() {
    let mut simple = english();
    simple.answer_markdown = "Total sales were 24,072.13 [q1].".to_owned();
    simple.outcome = Ending::Answered;
    simple.budget_note = None;
    simple.plan.clear();
    simple.windows.clear();
    simple.definitions.clear();
    simple.derived.clear();
    simple.charts.clear();
    simple.caveats.clear();
    simple.evidence = None;
    simple.usage = TokensUsed {
        input: 12_345,
        cached: 8_000,
        output: 321,
    };
    insta::assert_snapshot!(render(&simple).unwrap());
}

#[test]
fn a_finding_in_words_alone_stands_beside_the_rows_that_it_rests_on() {
    let body_of = |answer: &str| {
        let mut named = input(Language::English, answer);
        named.answer = Some("q1".to_owned());
        named.queries[0].columns = vec!["staff".to_owned(), "sales".to_owned()];
        named.queries[0].first_rows = vec![vec![Cell::from("Jon Stephens"), Cell::from(12_218.48)]];
        let report = render(&named).unwrap();
        report.split("## ").next().unwrap_or_default().to_owned()
    };
    let shown = body_of("Jon Stephens sold the most.");
    assert!(
        shown.contains("| Jon Stephens | 12,218.48 |") && shown.contains("\n[q1]\n"),
        "{shown}"
    );
    for answer in [
        "Jon Stephens sold 12,218.48 [q1].",
        "The staff:\n\n| staff |\n| --- |\n| Jon Stephens |",
    ] {
        let body = body_of(answer);
        assert!(!body.contains("| 12,218.48 |"), "{body}");
    }
}

#[test]
fn data_in_names_cannot_break_the_report() {
    let mut hostile = english();
    hostile.question = "x\n# y | `z` [q9](http://evil) <script>".to_owned();
    hostile.answer_markdown = "nothing".to_owned();
    if let Some(query) = hostile.queries.first_mut() {
        query.sql = "SELECT '```' AS a\n-- ```\n# x".to_owned();
        query.truncated = true;
    }
    let report = render(&hostile).unwrap();
    assert!(
        report.starts_with("# X # y | \\`z\\` \\[q9\\](http://evil) &lt;script&gt;\n"),
        "{report}"
    );
    assert!(
        report.contains("````sql\nSELECT '```' AS a\n-- ```\n# x\n````\n"),
        "{report}"
    );
    assert!(report.contains("- [q1] was cut off at 2 rows"), "{report}");
}

#[test]
fn a_terminal_is_spared_the_link_targets() {
    let report = render(&english()).unwrap();
    let shown = for_terminal(&report);
    assert!(shown.ends_with("As of: 2006-02-14\n"), "{shown}");
    assert!(report.starts_with(shown));
}

#[test]
fn the_json_form_has_everything_and_comes_back_the_same() {
    let input = english();
    let json = ReportJson::new(input.clone(), render(&input).unwrap());
    let text = serde_json::to_string(&json).unwrap();
    assert_eq!(serde_json::from_str::<ReportJson>(&text).unwrap(), json);
    assert_eq!(json.version, 1);
}
