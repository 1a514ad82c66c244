//! Values as JSON without loss.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use polars::prelude::{AnyValue, TimeUnit};
use serde_json::{Value, json};

use super::EXACT_INTEGER;

/// `value` as JSON that loses nothing.
///
/// What JSON numbers cannot carry becomes an object with one key that names the type: `{"integer": "9007199254740993"}`
/// beyond 2^53, `{"decimal": "12.30"}`, `{"float": "NaN"}` (or `Infinity`, `-Infinity`), `{"bytes": "<base64>"}`.
/// Dates and times are ISO 8601 strings; instants with a time zone are given in UTC with `Z`.
pub fn exact_json(value: &AnyValue<'_>) -> Value {
    match value {
        AnyValue::Null => Value::Null,
        AnyValue::Boolean(v) => json!(v),
        AnyValue::String(v) => json!(v),
        AnyValue::StringOwned(v) => json!(v.as_str()),
        AnyValue::UInt8(v) => json!(v),
        AnyValue::UInt16(v) => json!(v),
        AnyValue::UInt32(v) => json!(v),
        AnyValue::UInt64(v) => integer(i128::from(*v)),
        AnyValue::Int8(v) => json!(v),
        AnyValue::Int16(v) => json!(v),
        AnyValue::Int32(v) => json!(v),
        AnyValue::Int64(v) => integer(i128::from(*v)),
        AnyValue::Int128(v) => integer(*v),
        AnyValue::Float32(v) => float(f64::from(*v)),
        AnyValue::Float64(v) => float(*v),
        AnyValue::Date(days) => json!(iso_date(i64::from(*days))),
        AnyValue::Datetime(at, unit, zone) => json!(iso_datetime(*at, *unit, zone.is_some())),
        AnyValue::DatetimeOwned(at, unit, zone) => json!(iso_datetime(*at, *unit, zone.is_some())),
        AnyValue::Binary(v) => bytes(v),
        AnyValue::BinaryOwned(v) => bytes(v),
        AnyValue::Decimal(v, _, scale) => json!({ "decimal": decimal_text(*v, *scale) }),
        AnyValue::List(values) => Value::Array(values.iter().map(|v| exact_json(&v)).collect()),
        // Durations and the few types that no engine of ours makes: polars' own words.
        other => json!(other.to_string()),
    }
}

fn integer(value: i128) -> Value {
    match i64::try_from(value) {
        Ok(small) if small.unsigned_abs() <= EXACT_INTEGER => json!(small),
        _ => json!({ "integer": value.to_string() }),
    }
}

fn float(value: f64) -> Value {
    if value.is_finite() {
        json!(value)
    } else if value.is_nan() {
        json!({ "float": "NaN" })
    } else {
        json!({ "float": if value > 0.0 { "Infinity" } else { "-Infinity" } })
    }
}

fn bytes(value: &[u8]) -> Value {
    json!({ "bytes": BASE64.encode(value) })
}

/// `unscaled · 10^-scale` in plain digits, with all `scale` digits after the point.
pub(crate) fn decimal_text(unscaled: i128, scale: usize) -> String {
    let digits = format!("{:0>width$}", unscaled.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len().saturating_sub(scale));
    let sign = if unscaled < 0 { "-" } else { "" };
    if scale == 0 {
        format!("{sign}{whole}")
    } else {
        format!("{sign}{whole}.{fraction}")
    }
}

/// Days since 1970-01-01 as a date; beyond the calendar of the years -9999 to 9999, the count of days itself.
fn iso_date(days: i64) -> String {
    let epoch = jiff::civil::date(1970, 1, 1);
    let span = jiff::Span::new().try_days(days);
    span.and_then(|span| epoch.checked_add(span))
        .map_or_else(|_| format!("{days} days"), |date| date.to_string())
}

fn iso_datetime(at: i64, unit: TimeUnit, instant: bool) -> String {
    let stamp = match unit {
        TimeUnit::Nanoseconds => jiff::Timestamp::from_nanosecond(i128::from(at)),
        TimeUnit::Microseconds => jiff::Timestamp::from_microsecond(at),
        TimeUnit::Milliseconds => jiff::Timestamp::from_millisecond(at),
    };
    match stamp {
        Ok(stamp) if instant => stamp.to_string(),
        Ok(stamp) => jiff::tz::TimeZone::UTC.to_datetime(stamp).to_string(),
        Err(_) => format!("{at} {unit} since 1970-01-01"),
    }
}
