//! Arrow's columns, value by value: exact, or spelled where a frame has no such type.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, DurationMicrosecondType,
    DurationMillisecondType, DurationNanosecondType, DurationSecondType, Float16Type, Float32Type, Float64Type,
    Int8Type, Int16Type, Int32Type, Int64Type, IntervalDayTimeType, IntervalMonthDayNanoType, IntervalYearMonthType,
    Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType as Arrow, IntervalUnit, TimeUnit};
use serde_json::{Map, Value, json};

use crate::warehouse::catalog::DataType;
use crate::warehouse::engine::wire::{iso_date, iso_datetime, iso_time, widened};
use crate::warehouse::fetch::TypedValue;

const DAY_MILLIS: i64 = 86_400_000;
const NANOS: i64 = 1_000_000_000;

/// A column of one batch.
pub(super) enum Cells {
    Plain(ArrayRef),
    /// Each row's place in the values; `None` is NULL.
    Dictionary(Vec<Option<usize>>, ArrayRef),
}

impl Cells {
    pub(super) fn of(array: &ArrayRef) -> Self {
        let Some(dictionary) = array.as_any_dictionary_opt() else {
            return Self::Plain(array.clone());
        };
        let keys = dictionary.normalized_keys().into_iter().enumerate();
        let keys = keys.map(|(row, key)| dictionary.is_valid(row).then_some(key));
        Self::Dictionary(keys.collect(), dictionary.values().clone())
    }

    pub(super) fn value(&self, row: usize) -> TypedValue<'_> {
        match self {
            Self::Plain(array) => value(array.as_ref(), row),
            Self::Dictionary(keys, values) => match keys.get(row).copied().flatten() {
                Some(key) => value(values.as_ref(), key),
                None => TypedValue::Null,
            },
        }
    }
}

/// The logical type of a column's values; `None` for types that cannot be read.
pub(super) fn logical(arrow: &Arrow) -> Option<DataType> {
    Some(match arrow {
        Arrow::Boolean => DataType::Boolean,
        Arrow::Int8
        | Arrow::Int16
        | Arrow::Int32
        | Arrow::Int64
        | Arrow::UInt8
        | Arrow::UInt16
        | Arrow::UInt32
        | Arrow::UInt64 => DataType::Integer,
        Arrow::Float16 | Arrow::Float32 | Arrow::Float64 => DataType::Float,
        Arrow::Decimal32(precision, scale)
        | Arrow::Decimal64(precision, scale)
        | Arrow::Decimal128(precision, scale)
        | Arrow::Decimal256(precision, scale) => DataType::Decimal {
            precision: Some(u32::from(*precision)),
            scale: Some(u32::try_from(*scale).unwrap_or(0)),
        },
        Arrow::Null | Arrow::Utf8 | Arrow::LargeUtf8 | Arrow::Utf8View => DataType::Text,
        Arrow::Duration(_) | Arrow::Interval(_) => DataType::Other("interval".to_owned()),
        Arrow::Binary | Arrow::LargeBinary | Arrow::BinaryView | Arrow::FixedSizeBinary(_) => DataType::Blob,
        Arrow::Date32 | Arrow::Date64 => DataType::Date,
        Arrow::Time32(_) | Arrow::Time64(_) => DataType::Time,
        Arrow::Timestamp(_, None) => DataType::DateTime,
        Arrow::Timestamp(_, Some(_)) => DataType::DateTimeTz,
        Arrow::List(item) | Arrow::LargeList(item) | Arrow::FixedSizeList(item, _) | Arrow::Map(item, _) => {
            logical(item.data_type())?;
            DataType::Json
        }
        Arrow::Struct(fields) => {
            fields
                .iter()
                .try_for_each(|field| logical(field.data_type()).map(|_| ()))?;
            DataType::Json
        }
        Arrow::Dictionary(_, values) => logical(values)?,
        Arrow::ListView(_) | Arrow::LargeListView(_) | Arrow::Union(..) | Arrow::RunEndEncoded(..) => return None,
    })
}

/// The type in the words of SQL.
pub(super) fn declared(arrow: &Arrow) -> String {
    match arrow {
        Arrow::Null => "null".to_owned(),
        Arrow::Boolean => "boolean".to_owned(),
        Arrow::Int8 => "tinyint".to_owned(),
        Arrow::Int16 => "smallint".to_owned(),
        Arrow::Int32 => "integer".to_owned(),
        Arrow::Int64 => "bigint".to_owned(),
        Arrow::UInt8 | Arrow::UInt16 | Arrow::UInt32 | Arrow::UInt64 => "unsigned integer".to_owned(),
        Arrow::Float16 | Arrow::Float32 => "real".to_owned(),
        Arrow::Float64 => "double".to_owned(),
        Arrow::Decimal32(precision, scale)
        | Arrow::Decimal64(precision, scale)
        | Arrow::Decimal128(precision, scale)
        | Arrow::Decimal256(precision, scale) => format!("decimal({precision},{scale})"),
        Arrow::Utf8 | Arrow::LargeUtf8 | Arrow::Utf8View => "varchar".to_owned(),
        Arrow::Binary | Arrow::LargeBinary | Arrow::BinaryView | Arrow::FixedSizeBinary(_) => "blob".to_owned(),
        Arrow::Date32 | Arrow::Date64 => "date".to_owned(),
        Arrow::Time32(_) | Arrow::Time64(_) => "time".to_owned(),
        Arrow::Timestamp(_, None) => "timestamp".to_owned(),
        Arrow::Timestamp(_, Some(_)) => "timestamp with time zone".to_owned(),
        Arrow::Duration(_) | Arrow::Interval(_) => "interval".to_owned(),
        Arrow::Dictionary(_, values) => declared(values),
        Arrow::List(item) | Arrow::LargeList(item) | Arrow::FixedSizeList(item, _) => {
            format!("{}[]", declared(item.data_type()))
        }
        Arrow::Struct(_) => "struct".to_owned(),
        Arrow::Map(..) => "map".to_owned(),
        other => other.to_string(),
    }
}

/// The value in `row`; of a type that [`logical`] knows.
fn value(array: &dyn Array, row: usize) -> TypedValue<'_> {
    use TypedValue as V;
    if array.is_null(row) {
        return V::Null;
    }
    match array.data_type() {
        Arrow::Boolean => V::Boolean(array.as_boolean().value(row)),
        Arrow::Int8 => V::Integer(i64::from(array.as_primitive::<Int8Type>().value(row))),
        Arrow::Int16 => V::Integer(i64::from(array.as_primitive::<Int16Type>().value(row))),
        Arrow::Int32 => V::Integer(i64::from(array.as_primitive::<Int32Type>().value(row))),
        Arrow::Int64 => V::Integer(array.as_primitive::<Int64Type>().value(row)),
        Arrow::UInt8 => V::Integer(i64::from(array.as_primitive::<UInt8Type>().value(row))),
        Arrow::UInt16 => V::Integer(i64::from(array.as_primitive::<UInt16Type>().value(row))),
        Arrow::UInt32 => V::Integer(i64::from(array.as_primitive::<UInt32Type>().value(row))),
        Arrow::UInt64 => {
            let value = array.as_primitive::<UInt64Type>().value(row);
            i64::try_from(value).map_or(V::Decimal(i128::from(value), 0), V::Integer)
        }
        Arrow::Float16 => V::Float(widened(array.as_primitive::<Float16Type>().value(row).to_f32())),
        Arrow::Float32 => V::Float(widened(array.as_primitive::<Float32Type>().value(row))),
        Arrow::Float64 => V::Float(array.as_primitive::<Float64Type>().value(row)),
        Arrow::Decimal32(_, scale) => decimal(i128::from(array.as_primitive::<Decimal32Type>().value(row)), *scale),
        Arrow::Decimal64(_, scale) => decimal(i128::from(array.as_primitive::<Decimal64Type>().value(row)), *scale),
        Arrow::Decimal128(_, scale) => decimal(array.as_primitive::<Decimal128Type>().value(row), *scale),
        Arrow::Decimal256(..) => {
            let decimals = array.as_primitive::<Decimal256Type>();
            match decimals.value(row).to_i128() {
                Some(value) => decimal(value, decimals.scale()),
                None => V::Text(decimals.value_as_string(row).into()),
            }
        }
        Arrow::Utf8 => V::Text(array.as_string::<i32>().value(row).into()),
        Arrow::LargeUtf8 => V::Text(array.as_string::<i64>().value(row).into()),
        Arrow::Utf8View => V::Text(array.as_string_view().value(row).into()),
        Arrow::Binary => V::Bytes(array.as_binary::<i32>().value(row).into()),
        Arrow::LargeBinary => V::Bytes(array.as_binary::<i64>().value(row).into()),
        Arrow::BinaryView => V::Bytes(array.as_binary_view().value(row).into()),
        Arrow::FixedSizeBinary(_) => V::Bytes(array.as_fixed_size_binary().value(row).into()),
        Arrow::Dictionary(..) => match Cells::of(&array.slice(row, 1)).value(0) {
            V::Text(text) => V::Text(text.into_owned().into()),
            V::Bytes(bytes) => V::Bytes(bytes.into_owned().into()),
            V::Null => V::Null,
            V::Boolean(value) => V::Boolean(value),
            V::Integer(value) => V::Integer(value),
            V::Float(value) => V::Float(value),
            V::Decimal(value, scale) => V::Decimal(value, scale),
        },
        Arrow::List(_) | Arrow::LargeList(_) | Arrow::FixedSizeList(..) | Arrow::Struct(_) | Arrow::Map(..) => {
            V::Text(nested(array, row).to_string().into())
        }
        _ => V::Text(temporal(array, row).unwrap_or_default().into()),
    }
}

fn decimal(value: i128, scale: i8) -> TypedValue<'static> {
    match u32::try_from(scale) {
        Ok(scale) => TypedValue::Decimal(value, scale),
        // A negative scale stands for zeros at the end.
        Err(_) => {
            let zeros = usize::from(scale.unsigned_abs());
            let whole = 10_i128.checked_pow(u32::from(scale.unsigned_abs()));
            match whole.and_then(|whole| value.checked_mul(whole)) {
                Some(value) => TypedValue::Decimal(value, 0),
                None => TypedValue::Text(format!("{value}{}", "0".repeat(zeros)).into()),
            }
        }
    }
}

/// Dates, times and lengths of time, in ISO 8601; `None` for other types.
fn temporal(array: &dyn Array, row: usize) -> Option<String> {
    Some(match array.data_type() {
        Arrow::Date32 => match array.as_primitive::<Date32Type>().value(row) {
            // DuckDB's infinities.
            i32::MAX => "infinity".to_owned(),
            days if days == -i32::MAX => "-infinity".to_owned(),
            days => iso_date(i64::from(days)),
        },
        Arrow::Date64 => iso_date(array.as_primitive::<Date64Type>().value(row).div_euclid(DAY_MILLIS)),
        Arrow::Time32(TimeUnit::Second) => {
            iso_time(i64::from(array.as_primitive::<Time32SecondType>().value(row)) * 1_000_000)
        }
        Arrow::Time32(_) => iso_time(i64::from(array.as_primitive::<Time32MillisecondType>().value(row)) * 1_000),
        Arrow::Time64(TimeUnit::Nanosecond) => {
            let nanos = array.as_primitive::<Time64NanosecondType>().value(row);
            with_nanos(iso_time(nanos.div_euclid(NANOS) * 1_000_000), nanos.rem_euclid(NANOS))
        }
        Arrow::Time64(_) => iso_time(array.as_primitive::<Time64MicrosecondType>().value(row)),
        Arrow::Timestamp(unit, zone) => {
            let (at, per_second) = match unit {
                TimeUnit::Second => (array.as_primitive::<TimestampSecondType>().value(row), 1),
                TimeUnit::Millisecond => (array.as_primitive::<TimestampMillisecondType>().value(row), 1_000),
                TimeUnit::Microsecond => (array.as_primitive::<TimestampMicrosecondType>().value(row), 1_000_000),
                TimeUnit::Nanosecond => (array.as_primitive::<TimestampNanosecondType>().value(row), NANOS),
            };
            timestamp(at, per_second, zone.is_some())
        }
        Arrow::Duration(unit) => {
            let (length, per_second) = match unit {
                TimeUnit::Second => (array.as_primitive::<DurationSecondType>().value(row), 1),
                TimeUnit::Millisecond => (array.as_primitive::<DurationMillisecondType>().value(row), 1_000),
                TimeUnit::Microsecond => (array.as_primitive::<DurationMicrosecondType>().value(row), 1_000_000),
                TimeUnit::Nanosecond => (array.as_primitive::<DurationNanosecondType>().value(row), NANOS),
            };
            interval(0, 0, i128::from(length) * i128::from(NANOS / per_second))
        }
        Arrow::Interval(IntervalUnit::YearMonth) => {
            interval(array.as_primitive::<IntervalYearMonthType>().value(row), 0, 0)
        }
        Arrow::Interval(IntervalUnit::DayTime) => {
            let length = array.as_primitive::<IntervalDayTimeType>().value(row);
            interval(0, length.days, i128::from(length.milliseconds) * 1_000_000)
        }
        Arrow::Interval(IntervalUnit::MonthDayNano) => {
            let length = array.as_primitive::<IntervalMonthDayNanoType>().value(row);
            interval(length.months, length.days, i128::from(length.nanoseconds))
        }
        _ => return None,
    })
}

fn timestamp(at: i64, per_second: i64, is_instant: bool) -> String {
    match at {
        i64::MAX => return "infinity".to_owned(),
        at if at == -i64::MAX => return "-infinity".to_owned(),
        _ => (),
    }
    let (seconds, fraction) = (at.div_euclid(per_second), at.rem_euclid(per_second));
    let Some(micros) = seconds.checked_mul(1_000_000) else {
        return format!("{seconds} s since 1970-01-01");
    };
    let zone = if is_instant { "Z" } else { "" };
    format!(
        "{}{zone}",
        with_nanos(iso_datetime(micros), fraction * (NANOS / per_second))
    )
}

/// `whole` seconds with the fraction that there is.
fn with_nanos(whole: String, nanos: i64) -> String {
    match nanos {
        0 => whole,
        _ => format!("{whole}.{}", format!("{nanos:09}").trim_end_matches('0')),
    }
}

/// `P1M2DT3.5S`.
fn interval(months: i32, days: i32, nanos: i128) -> String {
    let mut text = "P".to_owned();
    if months != 0 {
        text.push_str(&format!("{months}M"));
    }
    if days != 0 {
        text.push_str(&format!("{days}D"));
    }
    if nanos != 0 || text == "P" {
        let sign = if nanos < 0 { "-" } else { "" };
        let (seconds, fraction) = (nanos.abs() / i128::from(NANOS), nanos.abs() % i128::from(NANOS));
        let fraction = i64::try_from(fraction).unwrap_or_default();
        text.push_str(&format!("T{sign}{}S", with_nanos(seconds.to_string(), fraction)));
    }
    text
}

/// Lists, structs and maps as JSON; numbers that JSON cannot carry exactly are texts in it.
fn nested(array: &dyn Array, row: usize) -> Value {
    if array.is_null(row) {
        return Value::Null;
    }
    let all = |items: ArrayRef| {
        (0..items.len())
            .map(|at| nested(items.as_ref(), at))
            .collect::<Vec<_>>()
    };
    match array.data_type() {
        Arrow::List(_) => Value::Array(all(array.as_list::<i32>().value(row))),
        Arrow::LargeList(_) => Value::Array(all(array.as_list::<i64>().value(row))),
        Arrow::FixedSizeList(..) => Value::Array(all(array.as_fixed_size_list().value(row))),
        Arrow::Struct(fields) => {
            let parts = array.as_struct();
            let parts = fields.iter().zip(parts.columns());
            Value::Object(
                parts
                    .map(|(field, part)| (field.name().clone(), nested(part.as_ref(), row)))
                    .collect(),
            )
        }
        Arrow::Map(..) => {
            let entries = array.as_map().value(row);
            let mut object = Map::new();
            if let [keys, values] = entries.columns() {
                for at in 0..entries.len() {
                    let key = match nested(keys.as_ref(), at) {
                        Value::String(key) => key,
                        other => other.to_string(),
                    };
                    object.insert(key, nested(values.as_ref(), at));
                }
            }
            Value::Object(object)
        }
        _ => match value(array, row) {
            TypedValue::Null => Value::Null,
            TypedValue::Boolean(value) => json!(value),
            TypedValue::Integer(value) => json!(value),
            TypedValue::Float(value) if value.is_finite() => json!(value),
            TypedValue::Text(text) => json!(text),
            other => json!(other.spelled()),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{
        Date32Array, Decimal128Array, Decimal256Array, DictionaryArray, Float32Array, Int32Array, ListArray,
        StringArray, StructArray, TimestampMicrosecondArray, TimestampNanosecondArray, UInt64Array,
    };
    use arrow_schema::Field;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(Arc::new(UInt64Array::from(vec![u64::MAX])), "18446744073709551615")]
    #[case(Arc::new(Float32Array::from(vec![0.1])), "0.1")]
    #[case(Arc::new(Decimal128Array::from(vec![-1230]).with_precision_and_scale(10, 2).unwrap()), "-12.30")]
    #[case(Arc::new(Decimal128Array::from(vec![12]).with_precision_and_scale(10, -3).unwrap()), "12000")]
    #[case(Arc::new(Decimal256Array::from_iter_values([arrow_buffer(7)]).with_precision_and_scale(76, 1).unwrap()), "0.7")]
    #[case(Arc::new(Date32Array::from(vec![12_996])), "2005-08-01")]
    #[case(Arc::new(Date32Array::from(vec![i32::MAX])), "infinity")]
    #[case(Arc::new(TimestampMicrosecondArray::from(vec![1_122_890_400_500_000])), "2005-08-01T10:00:00.5")]
    #[case(Arc::new(TimestampMicrosecondArray::from(vec![0]).with_timezone("UTC")), "1970-01-01T00:00:00Z")]
    #[case(Arc::new(TimestampNanosecondArray::from(vec![-1])), "1969-12-31T23:59:59.999999999")]
    #[case(Arc::new(["ok"].into_iter().collect::<DictionaryArray<Int32Type>>()), "ok")]
    #[case(Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1), None])])), "[1,null]")]
    #[case(Arc::new(StructArray::from(vec![
        (Arc::new(Field::new("a", Arrow::Int32, true)), Arc::new(Int32Array::from(vec![1])) as ArrayRef),
        (Arc::new(Field::new("客", Arrow::Utf8, true)), Arc::new(StringArray::from(vec![None::<&str>])) as ArrayRef),
    ])), r#"{"a":1,"客":null}"#)]
    #[case(Arc::new(Int32Array::from(vec![None])), "NULL")]
    fn values_are_exact_or_spelled(#[case] array: ArrayRef, #[case] spelled: &str) {
        assert!(logical(array.data_type()).is_some());
        let cells = Cells::of(&array);
        let value = match cells.value(0) {
            TypedValue::Null => "NULL".to_owned(),
            other => other.spelled(),
        };
        assert_eq!(value, spelled);
    }

    fn arrow_buffer(value: i128) -> <Decimal256Type as arrow_array::ArrowPrimitiveType>::Native {
        <Decimal256Type as arrow_array::ArrowPrimitiveType>::Native::from_i128(value)
    }

    #[rstest]
    #[case(14, 3, 0, "P14M3D")]
    #[case(0, 0, 0, "PT0S")]
    #[case(0, -1, -1_500_000_000, "P-1DT-1.5S")]
    fn lengths_of_time_are_iso(#[case] months: i32, #[case] days: i32, #[case] nanos: i128, #[case] text: &str) {
        assert_eq!(interval(months, days, nanos), text);
    }
}
