//! The typed cells of computed tables: text, an exact or floating number, or nothing.

use std::borrow::Cow;
use std::cmp::Ordering;

use rust_decimal::Decimal;
use rust_decimal::prelude::{FromPrimitive, ToPrimitive};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A decimal number with at most this many digits survives the way through `f64` (IEEE 754 double: 15.95 digits).
const DIGITS_IN_F64: usize = 15;

/// A number that is exact where its source is exact.
///
/// Sums and differences of exact numbers are exact; ratios are floating.
#[derive(Debug, Clone, Copy)]
pub enum Number {
    Exact(Decimal),
    Float(f64),
}

impl Number {
    /// Zero, exactly.
    pub const ZERO: Number = Number::Exact(Decimal::ZERO);

    /// The number as `f64`: the nearest one where it is exact.
    pub fn to_f64(self) -> f64 {
        match self {
            Number::Exact(decimal) => decimal.to_f64().unwrap_or(f64::NAN),
            Number::Float(float) => float,
        }
    }

    pub fn is_zero(self) -> bool {
        self.to_f64() == 0.0
    }

    pub fn is_negative(self) -> bool {
        self.to_f64() < 0.0
    }

    pub fn abs(self) -> Number {
        match self {
            Number::Exact(decimal) => Number::Exact(decimal.abs()),
            Number::Float(float) => Number::Float(float.abs()),
        }
    }

    /// `self + other`: exact if both are and the sum fits, floating otherwise.
    pub fn plus(self, other: Number) -> Number {
        self.exactly(other, Decimal::checked_add)
            .unwrap_or_else(|| Number::Float(self.to_f64() + other.to_f64()))
    }

    /// `self − other`: exact if both are and the difference fits, floating otherwise.
    pub fn minus(self, other: Number) -> Number {
        self.exactly(other, Decimal::checked_sub)
            .unwrap_or_else(|| Number::Float(self.to_f64() - other.to_f64()))
    }

    /// `self ÷ other` as a floating number; `None` when `other` is zero or the ratio is not finite.
    pub fn over(self, other: Number) -> Option<Number> {
        let ratio = match (self, other) {
            (Number::Exact(a), Number::Exact(b)) => a.checked_div(b).and_then(|ratio| ratio.to_f64()),
            _ => Some(self.to_f64() / other.to_f64()),
        };
        ratio
            .filter(|ratio| ratio.is_finite() && !other.is_zero())
            .map(Number::Float)
    }

    /// `self ÷ 2`: exact if `self` is.
    pub fn half(self) -> Number {
        self.exactly(Number::Exact(Decimal::TWO), Decimal::checked_div)
            .unwrap_or_else(|| Number::Float(self.to_f64() / 2.0))
    }

    /// Total order by value; NaN comes last.
    pub fn compare(self, other: Number) -> Ordering {
        match (self, other) {
            (Number::Exact(a), Number::Exact(b)) => a.cmp(&b),
            _ => self.to_f64().total_cmp(&other.to_f64()),
        }
    }

    fn exactly(self, other: Number, operation: fn(Decimal, Decimal) -> Option<Decimal>) -> Option<Number> {
        match (self, other) {
            (Number::Exact(a), Number::Exact(b)) => operation(a, b).map(Number::Exact),
            _ => None,
        }
    }
}

/// By value: `Exact(0.25)` equals `Float(0.25)`.
impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Number::Exact(a), Number::Exact(b)) => a == b,
            _ => self.to_f64() == other.to_f64(),
        }
    }
}

impl std::iter::Sum for Number {
    fn sum<I: Iterator<Item = Number>>(numbers: I) -> Number {
        numbers.fold(Number::ZERO, Number::plus)
    }
}

impl From<i64> for Number {
    fn from(integer: i64) -> Self {
        Number::Exact(Decimal::from(integer))
    }
}

impl From<usize> for Number {
    fn from(count: usize) -> Self {
        Number::Exact(Decimal::from(count))
    }
}

impl From<Decimal> for Number {
    fn from(decimal: Decimal) -> Self {
        Number::Exact(decimal)
    }
}

impl From<f64> for Number {
    fn from(float: f64) -> Self {
        Number::Float(float)
    }
}

/// One cell of a computed table.
///
/// In JSON: a string, `null`, or a number; a number that a JSON reader would round is `{"decimal": "…"}`, and what is
/// not finite is `{"float": "nan" | "inf" | "-inf"}`.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Cell {
    #[default]
    Null,
    Number(Number),
    Text(String),
}

impl Cell {
    pub fn text(text: impl Into<String>) -> Cell {
        Cell::Text(text.into())
    }

    /// The number in the cell, if it holds one.
    pub fn number(&self) -> Option<Number> {
        match self {
            Cell::Number(number) => Some(*number),
            Cell::Null | Cell::Text(_) => None,
        }
    }

    pub fn as_f64(&self) -> Option<f64> {
        self.number().map(Number::to_f64)
    }

    /// The text in the cell, if it holds one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Cell::Text(text) => Some(text),
            Cell::Null | Cell::Number(_) => None,
        }
    }

    pub fn is_null(&self) -> bool {
        matches!(self, Cell::Null)
    }

    /// The cell of a value as a result's JSON shows it: numbers that are tagged to stay exact (`{"decimal": "0.10"}`,
    /// `{"integer": "9007199254740993"}`) are read as such, what has another tag by its text, flags as 0 and 1.
    pub fn of_result(value: &serde_json::Value) -> Cell {
        use serde_json::{Value, from_value, json};
        match value {
            Value::Object(tagged) => match tagged.get("integer").or_else(|| tagged.get("decimal")) {
                Some(number) => from_value(json!({ "decimal": number })).unwrap_or_default(),
                None => tagged
                    .values()
                    .next()
                    .and_then(Value::as_str)
                    .map_or(Cell::Null, Cell::from),
            },
            Value::Bool(flag) => Cell::from(i64::from(*flag)),
            other => from_value(other.clone()).unwrap_or_default(),
        }
    }
}

impl<T: Into<Number>> From<T> for Cell {
    fn from(number: T) -> Self {
        Cell::Number(number.into())
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Cell::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Cell::Text(text)
    }
}

impl From<Option<Number>> for Cell {
    fn from(number: Option<Number>) -> Self {
        number.map_or(Cell::Null, Cell::Number)
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Cell::Null => serializer.serialize_none(),
            Cell::Text(text) => serializer.serialize_str(text),
            Cell::Number(Number::Exact(decimal)) => serialize_decimal(decimal.normalize(), serializer),
            Cell::Number(Number::Float(float)) if float.is_finite() => serializer.serialize_f64(*float),
            Cell::Number(Number::Float(float)) => {
                let name = if float.is_nan() {
                    "nan"
                } else if *float > 0.0 {
                    "inf"
                } else {
                    "-inf"
                };
                tagged("float", name, serializer)
            }
        }
    }
}

fn serialize_decimal<S: Serializer>(decimal: Decimal, serializer: S) -> Result<S::Ok, S::Error> {
    let text = decimal.to_string();
    let digits = text
        .trim_start_matches(['-', '0', '.'])
        .bytes()
        .filter(u8::is_ascii_digit)
        .count();
    match (decimal.scale(), decimal.to_i64(), decimal.to_f64()) {
        (0, Some(integer), _) if digits <= DIGITS_IN_F64 => serializer.serialize_i64(integer),
        (_, _, Some(float)) if digits <= DIGITS_IN_F64 => serializer.serialize_f64(float),
        _ => tagged("decimal", &text, serializer),
    }
}

fn tagged<S: Serializer>(tag: &str, text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(1))?;
    map.serialize_entry(tag, text)?;
    map.end()
}

impl<'de> Deserialize<'de> for Cell {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde_json::Value;
        let value = Value::deserialize(deserializer)?;
        match &value {
            Value::Null => Ok(Cell::Null),
            Value::String(text) => Ok(Cell::Text(text.clone())),
            Value::Number(number) => number_from_json(number).map(Cell::Number).map_err(D::Error::custom),
            Value::Object(map) => {
                let text = |tag: &str| map.get(tag).and_then(Value::as_str);
                if let Some(decimal) = text("decimal") {
                    let decimal = Decimal::from_str_exact(decimal).map_err(D::Error::custom)?;
                    return Ok(Cell::Number(Number::Exact(decimal)));
                }
                match text("float") {
                    Some("nan") => Ok(Cell::from(f64::NAN)),
                    Some("inf") => Ok(Cell::from(f64::INFINITY)),
                    Some("-inf") => Ok(Cell::from(f64::NEG_INFINITY)),
                    _ => Err(D::Error::custom(format!(
                        "`{value}` is no cell: expected {{\"decimal\": …}} or {{\"float\": …}}"
                    ))),
                }
            }
            Value::Bool(_) | Value::Array(_) => Err(D::Error::custom(format!(
                "`{value}` is no cell: expected text, a number or null"
            ))),
        }
    }
}

fn number_from_json(number: &serde_json::Number) -> Result<Number, String> {
    if let Some(integer) = number.as_i64() {
        return Ok(Number::from(integer));
    }
    let text = number.to_string();
    let digits = text
        .trim_start_matches(['-', '0', '.'])
        .bytes()
        .filter(u8::is_ascii_digit)
        .count();
    if digits <= DIGITS_IN_F64
        && !text.contains(['e', 'E'])
        && let Ok(decimal) = Decimal::from_str_exact(&text)
    {
        return Ok(Number::Exact(decimal));
    }
    number
        .as_f64()
        .map(Number::Float)
        .ok_or_else(|| format!("`{text}` is no number that fits"))
}

impl JsonSchema for Cell {
    fn schema_name() -> Cow<'static, str> {
        "Cell".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Text, a number or nothing; numbers that JSON readers would round are tagged strings.",
            "anyOf": [
                { "type": "null" },
                { "type": "string" },
                { "type": "number" },
                { "type": "object", "required": ["decimal"], "properties": { "decimal": { "type": "string" } } },
                { "type": "object", "required": ["float"], "properties": { "float": { "enum": ["nan", "inf", "-inf"] } } }
            ]
        })
    }
}

/// What a column of a computed table holds, which decides how reports write it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Names of groups.
    Label,
    /// Dates or period labels.
    Period,
    /// In the unit of the measured column.
    Amount,
    /// A fraction, where 1 is the whole; reports write it as a percentage.
    Fraction,
    /// A whole number of things.
    Count,
    /// A number without a unit, such as a z-score.
    Score,
    /// A code such as `high` or `missing`.
    Flag,
    /// A sentence in the report's language.
    Reason,
}

/// A column of a computed table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Column {
    pub name: String,
    pub kind: Kind,
}

impl Column {
    pub fn new(name: impl Into<String>, kind: Kind) -> Self {
        Self {
            name: name.into(),
            kind,
        }
    }
}

/// The number that `float` stands for when it was written with at most `places` decimals: `12218.48` for
/// `12218.480000000001`, and `None` for a third.
pub fn decimal_of(float: f64, places: u32) -> Option<Decimal> {
    /// Noise that sums of a few thousand floats leave behind, relative to the value.
    const NOISE: f64 = 1e-12;
    /// Beyond this a double no longer resolves a hundredth of a cent.
    const LARGEST: f64 = 1e11;
    if !float.is_finite() || float.abs() > LARGEST {
        return None;
    }
    let rounded = Decimal::from_f64(float)?.round_dp(places);
    let distance = (rounded.to_f64()? - float).abs();
    (distance <= float.abs() * NOISE).then(|| rounded.normalize())
}
