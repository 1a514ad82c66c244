//! MySQL's and MariaDB's binary values, exact.
//!
//! By hand, since sqlx gives NULL for zero dates and fails on times beyond a day and decimals beyond 28 digits.

use std::borrow::Cow;

use crate::warehouse::catalog::DataType;
use crate::warehouse::engine::wire::{iso_time, widened};
use crate::warehouse::fetch::TypedValue;

/// How the values of a column are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Codec {
    Signed,
    Unsigned,
    Float,
    Double,
    Decimal,
    Date,
    DateTime,
    Time,
    /// Big-endian bytes that count as a number.
    Bits,
    Text,
    Json,
    Bytes,
    Null,
}

impl Codec {
    /// The codec of the type that sqlx calls `name`, such as `BIGINT UNSIGNED`.
    pub(super) fn of(name: &str) -> Self {
        match name {
            "BOOLEAN" | "TINYINT" | "SMALLINT" | "INT" | "MEDIUMINT" | "BIGINT" => Self::Signed,
            "YEAR" => Self::Unsigned,
            name if name.ends_with("UNSIGNED") => Self::Unsigned,
            "FLOAT" => Self::Float,
            "DOUBLE" => Self::Double,
            "DECIMAL" => Self::Decimal,
            "DATE" => Self::Date,
            "DATETIME" | "TIMESTAMP" => Self::DateTime,
            "TIME" => Self::Time,
            "BIT" => Self::Bits,
            "JSON" => Self::Json,
            "NULL" => Self::Null,
            "CHAR" | "VARCHAR" | "TINYTEXT" | "TEXT" | "MEDIUMTEXT" | "LONGTEXT" | "ENUM" | "SET" => Self::Text,
            _ => Self::Bytes,
        }
    }

    pub(super) fn logical(self) -> DataType {
        match self {
            Self::Signed | Self::Unsigned | Self::Bits => DataType::Integer,
            Self::Float | Self::Double => DataType::Float,
            Self::Decimal => DataType::Decimal {
                precision: None,
                scale: None,
            },
            Self::Date => DataType::Date,
            Self::DateTime => DataType::DateTime,
            Self::Time => DataType::Time,
            Self::Text | Self::Null => DataType::Text,
            Self::Json => DataType::Json,
            Self::Bytes => DataType::Blob,
        }
    }

    /// The value in `bytes`; what cannot be read as this codec says comes as bytes.
    pub(super) fn read<'a>(self, bytes: &'a [u8]) -> TypedValue<'a> {
        self.try_read(bytes).unwrap_or(TypedValue::Bytes(Cow::Borrowed(bytes)))
    }

    fn try_read<'a>(self, bytes: &'a [u8]) -> Option<TypedValue<'a>> {
        Some(match self {
            Self::Signed => TypedValue::Integer(match *bytes {
                [a] => i8::from_le_bytes([a]).into(),
                [a, b] => i16::from_le_bytes([a, b]).into(),
                [a, b, c, d] => i32::from_le_bytes([a, b, c, d]).into(),
                _ => i64::from_le_bytes(bytes.try_into().ok()?),
            }),
            Self::Unsigned => {
                let mut whole = [0; 8];
                whole.get_mut(..bytes.len())?.copy_from_slice(bytes);
                unsigned(u64::from_le_bytes(whole))
            }
            Self::Bits => unsigned(bytes.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte))),
            Self::Float => TypedValue::Float(widened(f32::from_le_bytes(bytes.try_into().ok()?))),
            Self::Double => TypedValue::Float(f64::from_le_bytes(bytes.try_into().ok()?)),
            Self::Decimal => decimal(std::str::from_utf8(bytes).ok()?),
            Self::Date => text(date(bytes)?),
            Self::DateTime => text(datetime(bytes)?),
            Self::Time => text(time(bytes)?),
            Self::Text | Self::Json => TypedValue::Text(String::from_utf8_lossy(bytes)),
            Self::Bytes => return None,
            Self::Null => TypedValue::Null,
        })
    }
}

fn text<'a>(text: String) -> TypedValue<'a> {
    TypedValue::Text(Cow::Owned(text))
}

fn unsigned<'a>(value: u64) -> TypedValue<'a> {
    i64::try_from(value).map_or(TypedValue::Decimal(value.into(), 0), TypedValue::Integer)
}

/// `-12.30`; beyond 38 digits (MySQL allows 65) the text itself.
fn decimal(spelled: &str) -> TypedValue<'_> {
    let scale = spelled.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let digits = spelled.bytes().filter(u8::is_ascii_digit).count();
    match spelled.replace('.', "").parse() {
        Ok(value) if digits <= 38 => TypedValue::Decimal(value, scale as u32),
        _ => TypedValue::Text(Cow::Borrowed(spelled)),
    }
}

/// A length byte, then year, month and day; nothing behind a length of 0 is the zero date.
fn date(bytes: &[u8]) -> Option<String> {
    match *bytes {
        [0] => Some("0000-00-00".to_owned()),
        [_, low, high, month, day, ..] => Some(format!("{:04}-{month:02}-{day:02}", u16::from_le_bytes([low, high]))),
        _ => None,
    }
}

/// As [`date`], then hour, minute and second where the time is not midnight, then microseconds where there are some.
fn datetime(bytes: &[u8]) -> Option<String> {
    let day = date(bytes)?;
    let micros = match *bytes {
        [0] | [4, ..] => 0,
        [7, _, _, _, _, hour, minute, second] => clock(hour, minute, second, 0),
        [11, _, _, _, _, hour, minute, second, a, b, c, d] => {
            clock(hour, minute, second, u32::from_le_bytes([a, b, c, d]))
        }
        _ => return None,
    };
    Some(format!("{day}T{}", iso_time(micros)))
}

fn clock(hour: u8, minute: u8, second: u8, micros: u32) -> i64 {
    (i64::from(hour) * 3600 + i64::from(minute) * 60 + i64::from(second)) * 1_000_000 + i64::from(micros)
}

/// A span of up to 838 hours with a sign, in MySQL's own spelling: `-27:00:00.5`.
fn time(bytes: &[u8]) -> Option<String> {
    let (sign, days, rest) = match *bytes {
        [0] => return Some("00:00:00".to_owned()),
        [8 | 12, sign, a, b, c, d, ref rest @ ..] => (sign, u32::from_le_bytes([a, b, c, d]), rest),
        _ => return None,
    };
    let within_day = match *rest {
        [hour, minute, second] => clock(hour, minute, second, 0),
        [hour, minute, second, a, b, c, d] => clock(hour, minute, second, u32::from_le_bytes([a, b, c, d])),
        _ => return None,
    };
    let sign = if sign == 0 { "" } else { "-" };
    Some(format!(
        "{sign}{}",
        iso_time(i64::from(days) * 86_400_000_000 + within_day)
    ))
}
