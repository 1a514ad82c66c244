//! What the functions promise, on small tables with written-out answers and on random ones.

use polars::prelude::{DataFrame, df};
use proptest::prelude::*;
use rstest::rstest;
use rust_decimal::Decimal;

use super::*;

const CONTEXT: Context<'_> = Context {
    id: "m1",
    source: "q1",
    language: Language::English,
};

fn call(json: &str) -> MetricCall {
    serde_json::from_str(json).unwrap()
}

fn compute(frame: &DataFrame, json: &str) -> Derived {
    call(json).compute(frame, CONTEXT).unwrap()
}

fn refusal(frame: &DataFrame, json: &str) -> String {
    call(json).compute(frame, CONTEXT).unwrap_err().to_string()
}

/// The rows as text, cells separated by blanks and null as `-`; floats with four decimals.
fn rows(derived: &Derived) -> Vec<String> {
    let cell = |cell: &Cell| match cell {
        Cell::Null => "-".to_owned(),
        Cell::Text(text) => text.replace(' ', "_"),
        Cell::Number(Number::Exact(decimal)) => decimal.normalize().to_string(),
        Cell::Number(Number::Float(float)) => format!("{float:.4}"),
    };
    derived
        .rows
        .iter()
        .map(|row| row.iter().map(cell).collect::<Vec<_>>().join(" "))
        .collect()
}

fn fact(derived: &Derived, name: &str) -> f64 {
    derived
        .fact(name)
        .and_then(Cell::as_f64)
        .unwrap_or_else(|| panic!("no fact {name} in {:?}", derived.facts))
}

fn staff() -> DataFrame {
    df!("name" => ["Ann", "Bob", "Cid", "Dan"], "sales" => [10.5, 30.25, 30.25, 29.0]).unwrap()
}

#[test]
fn equal_values_share_a_rank_and_the_next_is_skipped() {
    let derived = compute(&staff(), r#"{"function": "rank", "group": "name", "value": "sales"}"#);
    assert_eq!(rows(&derived), ["1 Bob 30.25", "1 Cid 30.25", "3 Dan 29", "4 Ann 10.5"]);
    assert_eq!(derived.fact("total"), Some(&Cell::from(Decimal::new(10_000, 2))));
}

#[rstest]
#[case(r#"{"function": "rank", "group": "name", "value": "sales", "top": 1}"#, &["1 Bob 30.25", "1 Cid 30.25"])]
#[case(r#"{"function": "rank", "group": "name", "value": "sales", "order": "ascending", "top": 2}"#, &["1 Ann 10.5", "2 Dan 29"])]
fn a_cut_keeps_ties(#[case] json: &str, #[case] expected: &[&str]) {
    let derived = compute(&staff(), json);
    assert_eq!(rows(&derived), expected);
    assert_eq!(derived.notes, ["2 groups below the cut not shown"]);
}

#[test]
fn money_in_floats_sums_to_the_cent() {
    let frame = df!("g" => ["a", "b", "c"], "v" => [0.1, 0.2, 12218.480000000001]).unwrap();
    let derived = compute(&frame, r#"{"function": "summary", "value": "v"}"#);
    assert_eq!(rows(&derived), ["v 3 12218.78 4072.9267 0.2 0.1 12218.48"]);
}

#[test]
fn numbers_in_text_are_read_and_nulls_are_told() {
    let frame = df!("g" => ["a", "b", "c"], "v" => [Some("1,000.50"), None, Some("$2")]).unwrap();
    let derived = compute(&frame, r#"{"function": "share", "group": "g", "value": "v"}"#);
    assert_eq!(rows(&derived), ["a 1000.5 0.9980 0.9980", "c 2 0.0020 1.0000"]);
    assert_eq!(
        derived.notes,
        ["1 row without `v` left out", "`v` is text and was read as numbers"]
    );
}

#[test]
fn shares_tell_how_few_groups_make_most_of_the_total() {
    let frame = df!("g" => ["a", "b", "c", "d"], "v" => [60, 20, 15, 5]).unwrap();
    let derived = compute(&frame, r#"{"function": "share", "group": "g", "value": "v"}"#);
    assert_eq!(
        rows(&derived),
        [
            "a 60 0.6000 0.6000",
            "b 20 0.2000 0.8000",
            "c 15 0.1500 0.9500",
            "d 5 0.0500 1.0000"
        ]
    );
    assert_eq!(fact(&derived, "groups_for_80_percent"), 2.0);
    assert_eq!(fact(&derived, "top_3_share"), 0.95);
    assert!((fact(&derived, "herfindahl") - 0.425).abs() < 1e-12);
}

#[test]
fn periods_without_data_are_shown_and_not_closed_up() {
    let frame = df!("month" => ["2005-01", "2005-02", "2005-04", "2005-05"], "v" => [100.0, 110.0, 90.0, 0.0]).unwrap();
    let derived = compute(&frame, r#"{"function": "growth", "period": "month", "value": "v"}"#);
    assert_eq!(
        rows(&derived),
        [
            "2005-01 100 - - - first",
            "2005-02 110 100 10 0.1000 ok",
            "2005-03 - 110 - - missing",
            "2005-04 90 - - - no-previous",
            "2005-05 0 90 -90 -1.0000 ok",
        ]
    );
    assert_eq!(derived.notes, ["no data in 2005-03"]);
    assert_eq!(fact(&derived, "total_growth"), -1.0);
}

#[test]
fn a_lag_of_twelve_months_compares_with_the_year_before() {
    let months: Vec<String> = (0..14)
        .map(|m| format!("{}-{:02}", 2004 + m / 12, m % 12 + 1))
        .collect();
    let frame = df!("month" => months, "v" => (0..14).map(|m| 100 + m).collect::<Vec<i64>>()).unwrap();
    let derived = compute(
        &frame,
        r#"{"function": "growth", "period": "month", "value": "v", "lag": 12}"#,
    );
    assert_eq!(
        rows(&derived)[12..],
        ["2005-01 112 100 12 0.1200 ok", "2005-02 113 101 12 0.1188 ok"]
    );
}

#[test]
fn days_are_added_up_when_a_coarser_grain_is_asked_for() {
    let frame = df!("day" => ["2005-07-30", "2005-07-31", "2005-08-02"], "v" => [1, 2, 9]).unwrap();
    let derived = compute(
        &frame,
        r#"{"function": "growth", "period": "day", "value": "v", "grain": "month"}"#,
    );
    assert_eq!(rows(&derived), ["2005-07 3 - - - first", "2005-08 9 3 6 2.0000 ok"]);
    assert_eq!(derived.notes, ["3 rows added up into 2 periods"]);
}

#[test]
fn two_rows_for_one_period_are_refused_with_a_way_out() {
    let frame = df!("month" => ["2005-01", "2005-01"], "v" => [1, 2]).unwrap();
    assert_eq!(
        refusal(&frame, r#"{"function": "growth", "period": "month", "value": "v"}"#),
        "q1 has more than one row for 2005-01; sum them in SQL, or name the column that tells them apart as `group`"
    );
}

const WIDE: &str = r#"{"function": "compare", "group": "name", "old": "july", "new": "august"}"#;

fn wide() -> DataFrame {
    df!(
        "name" => ["Ann", "Bob", "Cid", "Eve"],
        "july" => [Some(100.0), Some(50.5), Some(20.0), None],
        "august" => [Some(150.0), Some(25.25), None, Some(5.0)],
    )
    .unwrap()
}

#[test]
fn a_comparison_counts_one_sided_groups_as_zero_and_says_so() {
    let derived = compute(&wide(), WIDE);
    assert_eq!(
        rows(&derived),
        [
            "Ann 100 150 50 0.5000 5.1282 0.5865 0.8322 ok",
            "Bob 50.5 25.25 -25.25 -0.5000 -2.5897 0.2962 0.1401 ok",
            "Eve - 5 5 - 0.5128 - 0.0277 only-new",
            "Cid 20 - -20 -1.0000 -2.0513 0.1173 - only-old",
            "Total 170.5 180.25 9.75 0.0572 1.0000 1.0000 1.0000 ok",
        ]
    );
    assert_eq!(
        derived.notes,
        ["only in the old period: Cid", "only in the new period: Eve"]
    );
}

#[test]
fn like_for_like_divides_by_the_days_with_data() {
    // Sakila, July (14 days) against August 2005 (10 days): the total falls, the daily rate rises.
    let frame = df!(
        "staff" => ["Mike", "Jon", "Mike", "Jon"],
        "month" => ["2005-07", "2005-07", "2005-08", "2005-08"],
        "sales" => [14003.54, 14370.35, 11853.65, 12218.48],
    )
    .unwrap();
    let json = r#"{"function": "compare", "group": "staff", "period": "month", "value": "sales",
                   "old": "2005-07", "new": "2005-08-01", "old_days": 14, "new_days": 10}"#;
    let derived = compute(&frame, json);
    assert_eq!(
        rows(&derived),
        [
            "Jon 14370.35 12218.48 -2151.87 -0.1497 0.5002 0.5065 0.5076 1026.4536 1221.8480 0.1904 ok",
            "Mike 14003.54 11853.65 -2149.89 -0.1535 0.4998 0.4935 0.4924 1000.2529 1185.3650 0.1851 ok",
            "Total 28373.89 24072.13 -4301.76 -0.1516 1.0000 1.0000 1.0000 2026.7064 2407.2130 0.1877 ok",
        ]
    );
    assert!((fact(&derived, "growth_per_day") - 0.187_746).abs() < 1e-6);
}

#[rstest]
#[case(
    r#"{"function": "rank", "group": "nom", "value": "july"}"#,
    "no column `nom` in q1; it has `name`, `july`, `august`"
)]
#[case(
    r#"{"function": "rank", "group": "july", "value": "name"}"#,
    "column `name` of q1 holds no numbers (`Ann`); columns with numbers: `july`, `august`"
)]
#[case(
    r#"{"function": "growth", "period": "name", "value": "july"}"#,
    "column `name` of q1 holds no dates or periods (`Ann`); write days as 2005-08-31, months as 2005-08, quarters as 2005-Q3, years as 2005"
)]
#[case(
    r#"{"function": "compare", "period": "name", "value": "july", "old": "Ann", "new": "Zoe"}"#,
    "no period `Zoe` in column `name` of q1; it has `Ann`, `Bob`, `Cid`, `Eve`"
)]
#[case(
    r#"{"function": "compare", "old": "july", "new": "august", "old_days": 3}"#,
    "`old_days` is given without its counterpart: give both `old_days` and `new_days`, or neither"
)]
#[case(
    r#"{"function": "moving_average", "period": "name", "value": "july", "window": 1}"#,
    "`window` is 1: give at least 2 periods, for example 3 months or 7 days"
)]
#[case(
    r#"{"function": "contribution", "group": "name"}"#,
    "`value` is missing: name the column to add up, or `old` and `new` for what drives a change"
)]
fn a_wrong_call_is_told_how_to_call_right(#[case] json: &str, #[case] message: &str) {
    assert_eq!(refusal(&wide(), json), message);
}

#[test]
fn an_empty_result_is_refused() {
    assert_eq!(
        refusal(
            &staff().head(Some(0)),
            r#"{"function": "rank", "group": "name", "value": "sales"}"#
        ),
        "q1 has no rows to compute from"
    );
}

#[test]
fn two_people_of_one_name_are_not_added_up_unseen() {
    let frame = df!("name" => ["Patterson", "Patterson"], "july" => [1, 2], "august" => [3, 4]).unwrap();
    assert_eq!(
        refusal(&frame, WIDE),
        "q1 has more than one row for `Patterson`; sum them in SQL, or name the column that tells them apart as `group`"
    );
    let derived = compute(&frame, r#"{"function": "rank", "group": "name", "value": "july"}"#);
    assert_eq!(
        derived.notes,
        ["the same name stands for several rows, kept apart: Patterson"]
    );
}

#[test]
fn a_moving_average_needs_a_full_window() {
    let frame = df!("day" => ["2005-08-01", "2005-08-02", "2005-08-03", "2005-08-05"], "v" => [3, 6, 9, 1]).unwrap();
    let derived = compute(
        &frame,
        r#"{"function": "moving_average", "period": "day", "value": "v", "window": 2}"#,
    );
    assert_eq!(
        rows(&derived),
        [
            "2005-08-01 3 -",
            "2005-08-02 6 4.5000",
            "2005-08-03 9 7.5000",
            "2005-08-04 - -",
            "2005-08-05 1 -"
        ]
    );
}

#[test]
fn outliers_stand_out_from_peers_by_the_robust_z_score() {
    let frame = df!("g" => ["a", "b", "c", "d", "e", "f", "g"], "v" => [2.1, 2.6, 2.4, 2.5, 2.3, 2.1, 26.3]).unwrap();
    let derived = compute(&frame, r#"{"function": "outliers", "group": "g", "value": "v"}"#);
    // Median 2.4, MAD 0.2: 0.6745 · (26.3 − 2.4) ÷ 0.2 = 80.60.
    assert_eq!(
        rows(&derived)[0],
        "g 26.3 2.4 80.6028 high high far_above_peers:_26.30_against_a_median_of_2.40_among_7_values_(robust_z_80.6)"
    );
    assert_eq!(fact(&derived, "flagged"), 1.0);
    assert_eq!(derived.cell(1, "flag").and_then(Cell::as_text), Some("ok"));
}

#[test]
fn a_collapse_shows_against_a_groups_own_history_although_peers_are_alike() {
    let months = ["2005-01", "2005-02", "2005-03", "2005-04", "2005-05", "2005-06"];
    let mut names = Vec::new();
    let mut periods = Vec::new();
    let mut values = Vec::new();
    for (name, series) in [("Ann", [100, 110, 90, 105, 95, 20]), ("Bob", [20, 22, 18, 21, 19, 20])] {
        for (month, value) in months.iter().zip(series) {
            names.push(name);
            periods.push(*month);
            values.push(value);
        }
    }
    let frame = df!("g" => names, "month" => periods, "v" => values).unwrap();
    let derived = compute(
        &frame,
        r#"{"function": "outliers", "group": "g", "value": "v", "period": "month"}"#,
    );
    // Ann's history: median 100, MAD 5, so z = 0.6745 · (20 − 100) ÷ 5 = −10.79.
    assert_eq!(derived.cell(0, "g"), Some(&Cell::from("Ann")));
    assert_eq!(derived.cell(0, "history_flag"), Some(&Cell::from("low")));
    assert!((derived.cell(0, "history_z").and_then(Cell::as_f64).unwrap() + 10.792).abs() < 1e-9);
    assert_eq!(derived.cell(0, "peer_flag"), Some(&Cell::from("too-few")));
    assert_eq!(derived.cell(1, "flag"), Some(&Cell::from("ok")));
    assert_eq!(
        derived.notes,
        ["2 values are too few to judge anyone against peers (at least 5 are needed)"]
    );
}

#[test]
fn without_spread_nobody_is_judged() {
    let frame = df!("g" => ["a", "b", "c", "d", "e"], "v" => [5, 5, 5, 5, 9]).unwrap();
    let derived = compute(&frame, r#"{"function": "outliers", "group": "g", "value": "v"}"#);
    assert!(derived.rows.iter().all(|row| row.contains(&Cell::from("no-spread"))));
    assert_eq!(
        derived.notes,
        ["more than half of the values are 5, so peers have no spread to judge by"]
    );
}

#[test]
fn who_has_no_value_in_the_last_period_is_absent() {
    let frame = df!("g" => ["a", "a", "b"], "m" => ["2005-01", "2005-02", "2005-01"], "v" => [1, 2, 3]).unwrap();
    let derived = compute(
        &frame,
        r#"{"function": "outliers", "group": "g", "value": "v", "period": "m", "against": "history"}"#,
    );
    assert_eq!(derived.cell(1, "flag"), Some(&Cell::from("absent")));
    assert!(derived.notes.contains(&"no value in 2005-02: b".to_owned()));
}

#[test]
fn the_driver_of_a_fall_comes_first() {
    let derived = compute(
        &wide(),
        r#"{"function": "contribution", "group": "name", "old": "august", "new": "july"}"#,
    );
    assert_eq!(derived.fact("driver"), Some(&Cell::from("Ann")));
    assert_eq!(
        rows(&derived),
        [
            "Ann 150 100 -50 5.1282 5.1282",
            "Eve 5 - -5 0.5128 5.6410",
            "Cid - 20 20 -2.0513 3.5897",
            "Bob 25.25 50.5 25.25 -2.5897 1.0000",
        ]
    );
}

#[test]
fn concentration_finds_the_single_huge_order() {
    let frame = df!(
        "name" => ["Ann", "Ann", "Bob", "Bob", "Bob"],
        "order" => [1, 2, 3, 4, 5],
        "amount" => [900.0, 100.0, 10.0, 20.0, 30.0],
    )
    .unwrap();
    let derived = compute(
        &frame,
        r#"{"function": "contribution", "group": "name", "value": "amount", "item": "order"}"#,
    );
    assert_eq!(
        rows(&derived),
        ["Ann 1000 2 900 1 0.9000 100", "Bob 60 3 30 5 0.5000 30"]
    );
}

#[test]
fn attainment_leaves_groups_without_target_out_of_the_total() {
    let frame = df!(
        "g" => ["a", "b", "c", "d"],
        "v" => [Some(120.0), Some(40.0), Some(7.0), None],
        "t" => [Some(100.0), Some(50.0), None, Some(50.0)],
    )
    .unwrap();
    let derived = compute(
        &frame,
        r#"{"function": "attainment", "group": "g", "value": "v", "target": "t"}"#,
    );
    assert_eq!(
        rows(&derived),
        [
            "a 120 100 1.2000 20 reached",
            "b 40 50 0.8000 -10 missed",
            "c 7 - - - no-target",
            "d - 50 - - no-value",
            "Total 160 200 0.8000 -40 missed",
        ]
    );
}

#[test]
fn coverage_lists_the_runs_of_days_with_and_without_data() {
    let frame = df!("day" => ["2005-08-01", "2005-08-02", "2005-08-06"], "v" => [1, 2, 3]).unwrap();
    let derived = compute(
        &frame,
        r#"{"function": "coverage", "period": "day", "start": "2005-08-01", "end": "2005-08-08"}"#,
    );
    assert_eq!(
        rows(&derived),
        [
            "present 2005-08-01 2005-08-02 2",
            "missing 2005-08-03 2005-08-05 3",
            "present 2005-08-06 2005-08-06 1",
            "missing 2005-08-07 2005-08-07 1",
        ]
    );
    assert_eq!(fact(&derived, "missing"), 4.0);
    assert_eq!(fact(&derived, "longest_gap"), 3.0);
    assert_eq!(
        derived.notes,
        ["no data in 2005-08-03, 2005-08-04, 2005-08-05, 2005-08-07"]
    );
}

#[test]
fn chinese_words_come_in_chinese() {
    let context = Context {
        language: Language::Chinese,
        ..CONTEXT
    };
    let derived = call(WIDE).compute(&wide(), context).unwrap();
    assert_eq!(derived.rows.last().unwrap()[0], Cell::from("合计"));
    assert_eq!(derived.notes, ["仅出现在旧时段：Cid", "仅出现在新时段：Eve"]);
}

#[test]
fn a_derived_table_survives_json_and_becomes_a_frame() {
    let derived = compute(&staff(), r#"{"function": "rank", "group": "name", "value": "sales"}"#);
    let json = serde_json::to_string(&derived).unwrap();
    assert!(json.contains(r#"[1,"Bob",30.25]"#), "{json}");
    assert_eq!(serde_json::from_str::<Derived>(&json).unwrap(), derived);
    assert_eq!(
        derived.to_frame().unwrap(),
        df!("rank" => [1i64, 1, 3, 4], "name" => ["Bob", "Cid", "Dan", "Ann"], "sales" => [30.25, 30.25, 29.0, 10.5])
            .unwrap()
    );
}

#[rstest]
#[case(
    Cell::from(Decimal::new(123_456_789_012_345_678, 2)),
    r#"{"decimal":"1234567890123456.78"}"#
)]
#[case(Cell::from(f64::NAN), r#"{"float":"nan"}"#)]
#[case(Cell::from(9_007_199_254_740_993_i64), r#"{"decimal":"9007199254740993"}"#)]
#[case(Cell::from(5_i64), "5")]
#[case(Cell::from(Decimal::new(550, 2)), "5.5")]
#[case(Cell::Null, "null")]
fn cells_keep_their_value_in_json(#[case] cell: Cell, #[case] json: &str) {
    assert_eq!(serde_json::to_string(&cell).unwrap(), json);
    let back: Cell = serde_json::from_str(json).unwrap();
    assert!(back == cell || (back.as_f64().unwrap().is_nan() && cell.as_f64().unwrap().is_nan()));
}

#[test]
fn every_function_has_a_schema_that_names_its_arguments() {
    let schema = serde_json::to_value(schemars::schema_for!(MetricCall))
        .unwrap()
        .to_string();
    for word in [
        "rank",
        "share",
        "growth",
        "compare",
        "moving_average",
        "outliers",
        "contribution",
        "attainment",
        "summary",
        "coverage",
    ] {
        assert!(
            schema.contains(&format!("\"const\":\"{word}\"")),
            "{word} is not in {schema}"
        );
    }
}

fn groups() -> impl Strategy<Value = Vec<(i64, i64)>> {
    prop::collection::vec((0..10_000_000_i64, 0..10_000_000_i64), 1..40)
}

fn cents(values: impl Iterator<Item = i64>) -> Vec<f64> {
    values.map(|cents| cents as f64 / 100.0).collect()
}

fn frame_of(pairs: &[(i64, i64)]) -> DataFrame {
    let names: Vec<String> = (0..pairs.len()).map(|at| format!("g{at:03}")).collect();
    df!("g" => names, "old" => cents(pairs.iter().map(|p| p.0)), "new" => cents(pairs.iter().map(|p| p.1))).unwrap()
}

fn column(derived: &Derived, name: &str) -> Vec<Number> {
    (0..derived.rows.len())
        .filter_map(|row| derived.cell(row, name).and_then(Cell::number))
        .collect()
}

proptest! {
    #[test]
    fn shares_sum_to_one(pairs in groups()) {
        let total: i64 = pairs.iter().map(|p| p.1).sum();
        let derived = compute(&frame_of(&pairs), r#"{"function": "share", "group": "g", "value": "new"}"#);
        let sum: f64 = column(&derived, "share").into_iter().map(Number::to_f64).sum();
        prop_assert!(total == 0 || (sum - 1.0).abs() < 1e-9);
        prop_assert_eq!(derived.fact("total"), Some(&Cell::from(Decimal::new(total, 2))));
    }

    #[test]
    fn deltas_sum_to_the_total_delta_to_the_cent(pairs in groups()) {
        let derived = compute(&frame_of(&pairs), r#"{"function": "compare", "group": "g", "old": "old", "new": "new"}"#);
        let mut deltas = column(&derived, "delta");
        let total = deltas.pop().unwrap();
        let expected: i64 = pairs.iter().map(|p| p.1 - p.0).sum();
        prop_assert_eq!(deltas.into_iter().sum::<Number>(), total);
        prop_assert_eq!(total, Number::Exact(Decimal::new(expected, 2)));
    }

    #[test]
    fn the_order_of_the_rows_does_not_matter(pairs in groups(), seed in 0..100_usize) {
        let frame = frame_of(&pairs);
        let turned = frame.slice(seed as i64 % pairs.len() as i64, pairs.len()).vstack(&frame.slice(0, seed % pairs.len())).unwrap();
        for json in [
            r#"{"function": "rank", "group": "g", "value": "new"}"#,
            r#"{"function": "share", "group": "g", "value": "new"}"#,
            r#"{"function": "compare", "group": "g", "old": "old", "new": "new"}"#,
            r#"{"function": "contribution", "group": "g", "old": "old", "new": "new"}"#,
            r#"{"function": "outliers", "group": "g", "value": "new"}"#,
            r#"{"function": "summary", "value": ["old", "new"]}"#,
        ] {
            prop_assert_eq!(compute(&frame, json), compute(&turned, json));
        }
    }
}
