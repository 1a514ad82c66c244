//! Rows as scorers compare them.

use std::cmp::Ordering;

use polars::prelude::AnyValue;

use crate::warehouse::fetch::{Fetched, exact_json};

/// Numbers count as equal within this, relative to the larger one (and absolutely below 1).
pub const TOLERANCE: f64 = 1e-6;

/// One value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Null,
    Number(f64),
    Text(String),
}

impl Value {
    /// Equal by kind and content, numbers within [`TOLERANCE`].
    pub fn agrees(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::Number(a), Value::Number(b)) => {
                a == b || (a - b).abs() <= TOLERANCE * a.abs().max(b.abs()).max(1.0)
            }
            (Value::Text(a), Value::Text(b)) => a == b,
            (Value::Null | Value::Number(_) | Value::Text(_), _) => false,
        }
    }

    /// An order for sorting: NULL, numbers, texts.
    pub fn order(&self, other: &Value) -> Ordering {
        let rank = |value: &Value| match value {
            Value::Null => 0,
            Value::Number(_) => 1,
            Value::Text(_) => 2,
        };
        match (self, other) {
            (Value::Number(a), Value::Number(b)) => a.total_cmp(b),
            (Value::Text(a), Value::Text(b)) => a.cmp(b),
            (a, b) => rank(a).cmp(&rank(b)),
        }
    }
}

/// A result without names.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    pub width: usize,
    pub rows: Vec<Vec<Value>>,
}

impl Table {
    pub fn of(fetched: &Fetched) -> Self {
        let columns = fetched.frame.columns();
        let rows = (0..fetched.frame.height())
            .map(|row| {
                columns
                    .iter()
                    .map(|column| column.get(row).map_or(Value::Null, |cell| value(&cell)))
                    .collect()
            })
            .collect();
        Self {
            width: columns.len(),
            rows,
        }
    }

    /// The values of one column, top down.
    pub fn column(&self, at: usize) -> Vec<&Value> {
        self.rows.iter().filter_map(|row| row.get(at)).collect()
    }

    /// The table with the columns `order`, in that order.
    pub fn columns(&self, order: &[usize]) -> Table {
        let pick = |row: &Vec<Value>| order.iter().filter_map(|at| row.get(*at).cloned()).collect();
        Table {
            width: order.len(),
            rows: self.rows.iter().map(pick).collect(),
        }
    }

    /// The rows sorted, for comparisons that do not look at order.
    pub fn sorted(&self) -> Table {
        let mut rows = self.rows.clone();
        rows.sort_by(|a, b| by_values(a, b));
        Table {
            width: self.width,
            rows,
        }
    }

    /// Each row once, sorted.
    pub fn distinct(&self) -> Table {
        let mut table = self.sorted();
        table.rows.dedup_by(|a, b| same_row(a, b));
        table
    }

    /// The same rows in the same order.
    pub fn same(&self, other: &Table) -> bool {
        self.width == other.width
            && self.rows.len() == other.rows.len()
            && self.rows.iter().zip(&other.rows).all(|(a, b)| same_row(a, b))
    }
}

fn by_values(a: &[Value], b: &[Value]) -> Ordering {
    let pairs = a.iter().zip(b).map(|(a, b)| a.order(b));
    pairs.fold(Ordering::Equal, Ordering::then)
}

fn same_row(a: &[Value], b: &[Value]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.agrees(b))
}

fn value(cell: &AnyValue<'_>) -> Value {
    match cell {
        AnyValue::Null => Value::Null,
        AnyValue::Boolean(truth) => Value::Number(f64::from(u8::from(*truth))),
        AnyValue::String(text) => Value::Text((*text).to_owned()),
        AnyValue::StringOwned(text) => Value::Text(text.to_string()),
        number if number.is_primitive_numeric() || matches!(number, AnyValue::Decimal(..)) => number
            .extract::<f64>()
            .map_or_else(|| Value::Text(number.to_string()), Value::Number),
        other => match exact_json(other) {
            serde_json::Value::String(text) => Value::Text(text),
            json => Value::Text(json.to_string()),
        },
    }
}
