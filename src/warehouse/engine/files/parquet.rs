//! Parquet files as tables: types that SQLite has not become the nearest that keeps every value.

use std::fs::File;
use std::path::Path;

use polars::prelude::{AnyValue, Column, DataFrame, DataType};
use polars_io::SerReader;
use polars_io::parquet::read::ParquetReader;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use serde_json::Value as Json;

use super::{NewColumn, create};
use crate::warehouse::fetch::exact_json;

/// Unscaled decimals up to here have at most 15 digits, which a 64-bit float keeps.
const EXACT_DECIMAL: u128 = 10_u128.pow(15);

/// Reads `file` into a new table; the error is the reason in words.
pub(super) fn load(file: &Path, table: &str, connection: &Connection) -> Result<(), String> {
    let opened = File::open(file).map_err(|error| error.to_string())?;
    let frame: DataFrame = ParquetReader::new(opened).finish().map_err(|error| error.to_string())?;
    if frame.width() == 0 {
        return Err("it has no columns".to_owned());
    }
    let declared: Vec<&'static str> = frame.columns().iter().map(declared).collect();
    let named = frame.columns().iter().zip(&declared);
    let columns = named.map(|(column, declared)| NewColumn {
        name: column.name().to_string(),
        declared,
    });
    let insert = create(connection, table, &columns.collect::<Vec<_>>()).map_err(|error| error.to_string())?;
    let mut insert = connection.prepare(&insert).map_err(|error| error.to_string())?;
    for row in 0..frame.height() {
        let cells = frame.columns().iter().zip(&declared);
        let values =
            cells.map(|(column, declared)| column.get(row).map_or(Value::Null, |value| stored(&value, declared)));
        insert
            .execute(params_from_iter(values))
            .map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn declared(column: &Column) -> &'static str {
    match column.dtype() {
        DataType::Boolean => "BOOLEAN",
        DataType::UInt64 => {
            let fits = |value: AnyValue<'_>| !matches!(value, AnyValue::UInt64(value) if i64::try_from(value).is_err());
            if column.as_materialized_series().iter().all(fits) {
                "INTEGER"
            } else {
                "TEXT"
            }
        }
        DataType::Int128 | DataType::UInt128 => "TEXT",
        data_type if data_type.is_integer() => "INTEGER",
        DataType::Float32 | DataType::Float64 => "REAL",
        DataType::Decimal(..) => {
            let fits = |value: AnyValue<'_>| match value {
                AnyValue::Decimal(value, ..) => value.unsigned_abs() < EXACT_DECIMAL,
                _ => true,
            };
            if column.as_materialized_series().iter().all(fits) {
                "DECIMAL"
            } else {
                "TEXT"
            }
        }
        DataType::Date => "DATE",
        DataType::Datetime(..) => "DATETIME",
        DataType::Binary => "BLOB",
        _ => "TEXT",
    }
}

fn stored(value: &AnyValue<'_>, declared: &str) -> Value {
    match value {
        AnyValue::Null => Value::Null,
        AnyValue::Boolean(value) => Value::Integer(i64::from(*value)),
        AnyValue::Float32(value) => Value::Real(f64::from(*value)),
        AnyValue::Binary(bytes) => Value::Blob(bytes.to_vec()),
        AnyValue::BinaryOwned(bytes) => Value::Blob(bytes.clone()),
        AnyValue::Datetime(..) | AnyValue::DatetimeOwned(..) => match exact_json(value) {
            // As SQLite's own functions spell it.
            Json::String(text) => Value::Text(text.replace('T', " ")),
            other => Value::Text(other.to_string()),
        },
        value => match exact_json(value) {
            Json::Null => Value::Null,
            Json::Bool(value) => Value::Integer(i64::from(value)),
            Json::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(value), _) => Value::Integer(value),
                (None, Some(value)) => Value::Real(value),
                (None, None) => Value::Text(number.to_string()),
            },
            Json::String(text) => Value::Text(text),
            // What JSON numbers cannot hold comes with its type: SQLite reads the digits by the column's type, and has
            // no number for NaN.
            Json::Object(tagged) => match tagged.values().next() {
                Some(Json::String(digits)) if declared == "DECIMAL" => {
                    digits.parse().map_or(Value::Text(digits.clone()), Value::Real)
                }
                Some(Json::String(digits)) => Value::Text(digits.clone()),
                _ => Value::Null,
            },
            Json::Array(values) => Value::Text(Json::Array(values).to_string()),
        },
    }
}
