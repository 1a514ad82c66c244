//! Which numbers find their source, and which do not.

use std::time::Instant;

use polars::prelude::{DataFrame, df};
use rstest::rstest;

use super::*;
use crate::insight::metrics::{Cell, Column, Fact, Kind};

fn record(id: &str, rows: usize) -> ResultRecord {
    ResultRecord {
        id: id.to_owned(),
        sql: "SELECT staff, sales FROM payment HAVING SUM(amount) >= 10000".to_owned(),
        row_count: rows,
        truncated: false,
        hash: "h".to_owned(),
        file: None,
    }
}

fn staff() -> DataFrame {
    df!(
        "staff" => ["Mike Hillyer", "Jon Stephens", "Ann Lee"],
        "sales" => [11853.65, 12218.48, 800.0],
        "share" => [0.4924, 0.5076, 0.0332],
        "change" => [-0.1535, -0.1497, 0.0],
    )
    .unwrap()
}

fn months() -> DataFrame {
    df!("month" => ["2005-07", "2005-08"], "sales" => [28373.89, 24072.13]).unwrap()
}

fn derived() -> Vec<Derived> {
    vec![Derived {
        id: "m1".to_owned(),
        function: "share".to_owned(),
        source: "q1".to_owned(),
        formula: String::new(),
        columns: vec![Column::new("staff", Kind::Label), Column::new("share", Kind::Fraction)],
        rows: vec![vec![Cell::from("Jon Stephens"), Cell::from(0.507_577_8)]],
        facts: vec![Fact {
            name: "groups".to_owned(),
            value: Cell::from(3_usize),
            kind: Kind::Count,
        }],
        notes: Vec::new(),
    }]
}

fn bound(answer: &str) -> Evidence {
    let (staff, months) = (staff(), months());
    let (q1, q2) = (record("q1", staff.height()), record("q2", 2));
    let results = [
        CitedResult {
            record: &q1,
            frame: &staff,
        },
        CitedResult {
            record: &q2,
            frame: &months,
        },
    ];
    let charts = [ChartRecord {
        id: "c1".to_owned(),
        title: String::new(),
        source: "q2".to_owned(),
        file: None,
    }];
    bind(BindInput {
        question: "?",
        answer,
        results: &results,
        derived: &derived(),
        charts: &charts,
    })
}

fn describe(figure: &Figure) -> String {
    let source = match &figure.source {
        Source::Cell { result, row, column } => format!("{result}[{row}].{column}"),
        Source::Derived { derived, row, column } => format!("{derived}[{row}].{column}"),
        Source::Fact { derived, name } => format!("{derived}:{name}"),
        Source::RowCount { result } => format!("rows({result})"),
        Source::ColumnSum { of, column } => format!("sum({of}.{column})"),
        Source::Literal { result } => format!("limit({result})"),
        Source::Formula {
            of,
            operation,
            left,
            right,
        } => {
            format!(
                "{of} {operation:?} {}.{} {}.{}",
                left.row, left.column, right.row, right.column
            )
        }
        Source::Unverified => "?".to_owned(),
    };
    let mark = if figure.strength == Strength::Nearby { "~" } else { "" };
    format!("{mark}{source}")
}

#[rstest]
#[case("Jon Stephens sold 12,218.48 [q1].", "q1[1].sales")]
#[case("Jon Stephens sold $12,218 [q1].", "q1[1].sales")]
#[case("Jon Stephens sold about 12.2K [q1].", "q1[1].sales")]
#[case("Jon 的销售额为 1.22 万元 [q1]。", "q1[1].sales")]
#[case("his share is 50.8% [q1]", "q1[1].share")]
#[case("his share is 50.76 % [m1]", "m1[0].share")]
#[case("Mike fell by 15.35% [q1]", "q1[0].change")]
#[case("Mike: −15.35% [q1]", "q1[0].change")]
#[case("3 people sold [q1]", "rows(q1)")]
#[case("all sold 24,872.13 [q1]", "sum(q1.sales)")]
#[case("August made 24,072.13 [c1]", "q2[1].sales")]
#[case(
    "Jon Stephens sold 364.83 more than Mike Hillyer [q1]",
    "q1 Difference 0.sales 1.sales"
)]
#[case("sales fell by 15.16% [q2]", "q2 Change 1.sales 0.sales")]
#[case("sales fell by 4,301.76 [q2]", "q2 Difference 0.sales 1.sales")]
#[case("Jon Stephens sold 12,218.48.", "~q1[1].sales")]
#[case("Jon Stephens sold 12,218.48 [q2].", "~q1[1].sales")]
#[case("those above 10,000 [q1]", "~limit(q1)")]
#[case("Jon Stephens sold 12,318.48 [q1].", "?")]
#[case("Jon Stephens sold 12,218.49 [q1].", "?")]
#[case("Mike rose by −50.8% [q1]", "?")]
#[case("his share is 50.77% [q1]", "?")]
#[case("costs fell by 37.1% [q1]", "?")]
#[case("July sold 1.2 times as much as August [q2]", "q2 Ratio 0.sales 1.sales")]
#[case(
    "Jon Stephens sold 1.03 times as much as Mike Hillyer [q1]",
    "q1 Ratio 1.sales 0.sales"
)]
#[case("our 3 stores did well", "?")]
fn a_number_finds_the_cell_or_formula_that_it_equals(#[case] answer: &str, #[case] expected: &str) {
    let evidence = bound(answer);
    assert_eq!(evidence.figures.iter().map(describe).collect::<Vec<_>>(), [expected]);
}

#[rstest]
#[case("In August 2005 and 2004, the top 5 of the last 12 months")]
#[case("1. `7` [q1]\n\n```\n42\n```\n## 2. Ranking")]
fn what_is_no_finding_is_no_figure(#[case] answer: &str) {
    assert_eq!(bound(answer).figures, []);
}

#[test]
fn of_equal_cells_the_one_whose_row_is_named_is_taken() {
    let frame = df!("staff" => ["Ann", "Bob", "Cid"], "orders" => [7, 7, 7]).unwrap();
    let record = record("q1", 3);
    let results = [CitedResult {
        record: &record,
        frame: &frame,
    }];
    let input = BindInput {
        question: "",
        answer: "Bob had 7 orders [q1].",
        results: &results,
        derived: &[],
        charts: &[],
    };
    assert_eq!(describe(&bind(input).figures[0]), "q1[1].orders");
}

#[rstest]
#[case("Orders: 1,026 (July 2005 1,154 [q1]), −11.1%", "q1 Change 2.orders 1.orders")]
#[case(
    "In July 2005 there were 128 more than in August 2005 [q1]",
    "q1 Difference 1.orders 2.orders"
)]
#[case("2005 年 7 月比 2005 年 8 月多 128 [q1]", "q1 Difference 1.orders 2.orders")]
#[case("they fell by 11.1% [q1]", "?")]
fn a_formula_needs_its_cells_stated_or_named(#[case] answer: &str, #[case] expected: &str) {
    let frame = df!("period" => ["2004-08", "2005-07", "2005-08"], "orders" => [900, 1154, 1026]).unwrap();
    let record = record("q1", 3);
    let results = [CitedResult {
        record: &record,
        frame: &frame,
    }];
    let evidence = bind(BindInput {
        question: "",
        answer,
        results: &results,
        derived: &[],
        charts: &[],
    });
    assert_eq!(evidence.figures.last().map(describe).as_deref(), Some(expected));
}

#[test]
fn digits_inside_a_name_from_the_data_are_no_figure() {
    let frame = df!("product" => ["57 Chevy", "Boeing 747"], "sales" => [900.5, 800.25]).unwrap();
    let record = record("q1", 2);
    let results = [CitedResult {
        record: &record,
        frame: &frame,
    }];
    let answer = "The 57 Chevy sold 900.50 and the Boeing 747 800.25 [q1]; 58 did not.";
    let evidence = bind(BindInput {
        question: "",
        answer,
        results: &results,
        derived: &[],
        charts: &[],
    });
    assert_eq!(
        evidence.figures.iter().map(describe).collect::<Vec<_>>(),
        ["q1[0].sales", "q1[1].sales", "?"]
    );
}

#[test]
fn table_rows_are_bound_by_the_tables_caption() {
    let answer = "By seller [q1]:\n\n| # | Seller | Sales |\n|---|---|---:|\n| 1 | Jon Stephens | 12,218.48 |\n| 2 | Mike Hillyer | 11,853.66 |\n";
    let evidence = bound(answer);
    assert_eq!(
        evidence.figures.iter().map(describe).collect::<Vec<_>>(),
        ["q1[1].sales", "?"]
    );
    assert_eq!(
        evidence.counts,
        Counts {
            figures: 2,
            cited: 1,
            nearby: 0,
            unverified: 1
        }
    );
    assert_eq!((evidence.figures[1].line, evidence.figures[1].column), (6, 22));
}

#[test]
fn an_unverified_number_is_marked_where_it_stands() {
    let answer = "销售额 **99.5** 万元，Jon Stephens 12,218.48 [q1]\n另有 42.42%。";
    let marked = mark(answer, &bound(answer));
    assert_eq!(
        marked,
        "销售额 **99.5†** 万元，Jon Stephens 12,218.48 [q1]\n另有 42.42%†。"
    );
}

#[test]
fn citations_of_nothing_are_listed() {
    assert_eq!(
        bound("It was 12,218.48 [q9], see [q1] and [m7, c1].").unknown_citations,
        ["q9", "m7"]
    );
}

#[test]
fn a_cut_off_result_has_no_row_count_to_cite() {
    let frame = staff();
    let record = ResultRecord {
        truncated: true,
        ..record("q1", 3)
    };
    let results = [CitedResult {
        record: &record,
        frame: &frame,
    }];
    let input = BindInput {
        question: "",
        answer: "3 people [q1]",
        results: &results,
        derived: &[],
        charts: &[],
    };
    assert_eq!(describe(&bind(input).figures[0]), "?");
}

#[test]
fn evidence_survives_json() {
    let evidence = bound("Jon Stephens sold 12,218.48 [q1], 5% more.");
    let json = serde_json::to_string(&evidence).unwrap();
    assert_eq!(serde_json::from_str::<Evidence>(&json).unwrap(), evidence);
}

#[test]
fn two_hundred_numbers_find_their_cells_among_a_hundred_thousand_in_no_time() {
    let values = |seed: u64| -> Vec<f64> {
        (0..20_000_u64)
            .map(|at| ((at * 7919 + seed * 104_729) % 9_999_991) as f64 / 100.0)
            .collect()
    };
    let frame = df!("a" => values(1), "b" => values(2), "c" => values(3), "d" => values(4), "e" => values(5)).unwrap();
    let answer: String = values(3)
        .iter()
        .step_by(100)
        .map(|value| format!("- it was {value:.2} [q1]\n"))
        .collect();
    let record = record("q1", 20_000);
    let results = [CitedResult {
        record: &record,
        frame: &frame,
    }];
    let started = Instant::now();
    let evidence = bind(BindInput {
        question: "",
        answer: &answer,
        results: &results,
        derived: &[],
        charts: &[],
    });
    let elapsed = started.elapsed();
    println!("bound {} numbers in {elapsed:?}", evidence.figures.len());
    assert_eq!(evidence.counts.cited, 200);
    // An unoptimised build on a busy machine; optimised it is a tenth of this.
    assert!(elapsed.as_millis() < 2_000, "{elapsed:?}");
}
