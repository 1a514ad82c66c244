use serde_json::json;

use super::*;

fn column_of(push: impl FnOnce(&mut FrameBuilder)) -> ResultSet {
    typed("", push)
}

fn typed(declared: &str, push: impl FnOnce(&mut FrameBuilder)) -> ResultSet {
    let mut rows = FrameBuilder::new([("v".to_owned(), declared.to_owned())]);
    push(&mut rows);
    let (frame, columns) = rows.finish().unwrap();
    let fetched = Fetched {
        frame,
        columns,
        truncated: false,
        elapsed: Duration::from_millis(3),
    };
    ResultSet::new("q1", "SELECT v FROM t", fetched)
}

fn row(rows: &mut FrameBuilder, push: impl FnOnce(&mut builder::ColumnBuilder)) {
    push(&mut rows.columns_mut()[0]);
    rows.end_row(0);
}

fn values(result: &ResultSet) -> Vec<Value> {
    result.preview(usize::MAX).into_iter().flatten().collect()
}

#[test]
fn integers_and_fractions_in_one_column_are_numbers() {
    let result = column_of(|rows| {
        row(rows, |c| c.push_null());
        row(rows, |c| c.push_integer(2));
        row(rows, |c| c.push_float(2.5));
        row(rows, |c| c.push_integer(3));
    });
    assert_eq!(values(&result), [json!(null), json!(2.0), json!(2.5), json!(3.0)]);
    assert_eq!(result.columns[0].data_type, DataType::Float);
    assert_eq!(result.columns[0].note, None);
}

#[test]
fn an_integer_that_a_float_cannot_hold_is_kept_as_text_beside_fractions() {
    let result = column_of(|rows| {
        row(rows, |c| c.push_integer(9_007_199_254_740_993));
        row(rows, |c| c.push_float(0.5));
    });
    assert_eq!(values(&result), [json!("9007199254740993"), json!("0.5")]);
    assert_eq!(
        result.columns[0].note.as_deref(),
        Some("values of several types (integers, decimals) are kept as text")
    );
}

#[test]
fn values_of_every_type_in_one_column_are_kept_as_text() {
    let result = column_of(|rows| {
        row(rows, |c| c.push_text("abc".as_bytes()));
        row(rows, |c| c.push_integer(7));
        row(rows, |c| c.push_float(1.25));
        row(rows, |c| c.push_blob(&[0, 255]));
        row(rows, |c| c.push_null());
    });
    assert_eq!(
        values(&result),
        [json!("abc"), json!("7"), json!("1.25"), json!("x'00ff'"), json!(null)]
    );
    assert_eq!(
        result.columns[0].note.as_deref(),
        Some("values of several types (integers, decimals, text, bytes) are kept as text")
    );
}

#[test]
fn what_json_numbers_cannot_hold_is_tagged() {
    let big = column_of(|rows| row(rows, |c| c.push_integer(i64::MAX)));
    assert_eq!(values(&big), [json!({"integer": "9223372036854775807"})]);
    let edge = column_of(|rows| row(rows, |c| c.push_integer(9_007_199_254_740_992)));
    assert_eq!(values(&edge), [json!(9_007_199_254_740_992_i64)]);
    let infinite = column_of(|rows| row(rows, |c| c.push_float(f64::NEG_INFINITY)));
    assert_eq!(values(&infinite), [json!({"float": "-Infinity"})]);
    let blob = column_of(|rows| row(rows, |c| c.push_blob(b"hi")));
    assert_eq!(values(&blob), [json!({"bytes": "aGk="})]);
    assert_eq!(
        exact_json(&polars::prelude::AnyValue::Decimal(-1230, 10, 2)),
        json!({"decimal": "-12.30"})
    );
    assert_eq!(
        exact_json(&polars::prelude::AnyValue::Decimal(5, 10, 3)),
        json!({"decimal": "0.005"})
    );
    assert_eq!(exact_json(&polars::prelude::AnyValue::Date(12996)), json!("2005-08-01"));
}

#[test]
fn text_that_is_not_utf8_is_repaired_and_said() {
    let result = column_of(|rows| row(rows, |c| c.push_text(&[b'a', 0xff, b'b'])));
    assert_eq!(values(&result), [json!("a\u{FFFD}b")]);
    assert!(result.columns[0].note.as_deref().unwrap().contains("UTF-8"));
}

#[test]
fn text_columns_say_when_every_value_is_a_date() {
    let text = |texts: &[&str]| {
        let result = column_of(|rows| {
            texts
                .iter()
                .for_each(|text| row(rows, |c| c.push_text(text.as_bytes())))
        });
        result.columns[0].data_type.clone()
    };
    assert_eq!(text(&["2005-08-01", "2005-12-31"]), DataType::Date);
    assert_eq!(
        text(&["2005-08-01 10:00:00.000", "2005-08-01T23:59"]),
        DataType::DateTime
    );
    assert_eq!(text(&["2005-08-01", "unknown"]), DataType::Text);
    assert_eq!(text(&["2005-13-01"]), DataType::Text);
    assert_eq!(text(&["2005-08"]), DataType::Text);
}

#[test]
fn whole_numbers_in_a_column_declared_with_a_fraction_stay_floats() {
    let result = typed("DECIMAL(10,2)", |rows| row(rows, |c| c.push_integer(5)));
    assert_eq!(values(&result), [json!(5.0)]);
    let result = typed("INTEGER", |rows| row(rows, |c| c.push_integer(5)));
    assert_eq!(values(&result), [json!(5)]);
}

#[test]
fn a_result_without_rows_keeps_its_columns() {
    let result = typed("INTEGER", |_| ());
    assert_eq!(result.row_count, 0);
    assert_eq!(result.columns[0].name, "v");
    assert_eq!(result.columns[0].data_type, DataType::Integer);
    assert_eq!(result.frame.shape(), (0, 1));
}

#[test]
fn repeated_names_are_numbered() {
    let names = ["id", "id", "id_2", ""].map(|name| (name.to_owned(), String::new()));
    let (_, columns) = FrameBuilder::new(names).finish().unwrap();
    let names: Vec<_> = columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["id", "id_2", "id_2_2", ""]);
}

#[test]
fn the_hash_is_of_the_rows_and_of_nothing_else() {
    let one = column_of(|rows| row(rows, |c| c.push_integer(1)));
    let again = column_of(|rows| row(rows, |c| c.push_integer(1)));
    let text = column_of(|rows| row(rows, |c| c.push_text(b"1")));
    let two = column_of(|rows| row(rows, |c| c.push_integer(2)));
    let zero = column_of(|rows| row(rows, |c| c.push_float(0.0)));
    let minus_zero = column_of(|rows| row(rows, |c| c.push_float(-0.0)));
    assert_eq!(one.hash, again.hash);
    assert_eq!(one.hash.len(), 64);
    assert_ne!(one.hash, text.hash);
    assert_ne!(one.hash, two.hash);
    assert_eq!(zero.hash, minus_zero.hash);
}

#[test]
fn a_saved_result_comes_back_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let saved = column_of(|rows| {
        row(rows, |c| c.push_null());
        row(rows, |c| c.push_text("日本".as_bytes()));
    });
    let path = saved.save(&dir.path().join("results")).unwrap();
    assert_eq!(path, dir.path().join("results/q1.parquet"));
    assert_eq!(ResultSet::load(&dir.path().join("results"), "q1").unwrap(), saved);
    let left: Vec<_> = std::fs::read_dir(dir.path().join("results"))
        .unwrap()
        .map(|f| f.unwrap().file_name())
        .collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn a_result_whose_rows_were_changed_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let one = column_of(|rows| row(rows, |c| c.push_integer(1)));
    let mut forged = column_of(|rows| row(rows, |c| c.push_integer(2)));
    forged.hash = one.hash.clone();
    forged.save(dir.path()).unwrap();
    let error = ResultSet::load(dir.path(), "q1").unwrap_err();
    assert!(matches!(error, FetchError::Damaged { .. }), "{error}");
    assert!(matches!(
        ResultSet::load(dir.path(), "q9").unwrap_err(),
        FetchError::File { .. }
    ));
}

#[test]
fn an_empty_result_survives_the_disk() {
    let dir = tempfile::tempdir().unwrap();
    let saved = typed("TEXT", |_| ());
    saved.save(dir.path()).unwrap();
    assert_eq!(ResultSet::load(dir.path(), "q1").unwrap(), saved);
}
