//! PostgreSQL's binary values, exact.
//!
//! By hand, since sqlx panics on infinite dates and rust_decimal knows neither NaN nor more than 28 digits.

use std::borrow::Cow;
use std::net::{Ipv4Addr, Ipv6Addr};

use serde_json::{Value, json};
use sqlx::TypeInfo;
use sqlx::postgres::{PgTypeInfo, PgTypeKind};

use crate::warehouse::Dialect;
use crate::warehouse::catalog::DataType;
use crate::warehouse::engine::wire::{Reader, iso_date, iso_datetime, iso_time, widened};
use crate::warehouse::fetch::{TypedValue, exact_json};

/// Days from 1970-01-01, where our dates start, to 2000-01-01, where PostgreSQL's do.
const EPOCH_DAYS: i64 = 10_957;

const EPOCH_MICROS: i64 = EPOCH_DAYS * 86_400_000_000;

/// How the values of a column are read.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Codec {
    Boolean,
    Small,
    Int,
    Big,
    Oid,
    Real,
    Double,
    Numeric,
    Money,
    Text,
    /// JSON in its binary clothing: a version byte in front of the text.
    Jsonb,
    Bytes,
    Date,
    Time,
    TimeTz,
    Timestamp,
    TimestampTz,
    Interval,
    Uuid,
    Bits,
    Address,
    Mac,
    Array(Box<Codec>),
    Range(Box<Codec>),
    Record(Vec<Codec>),
    /// A type that nothing here reads: its bytes come in hexadecimal.
    Unknown,
}

impl Codec {
    pub(super) fn of(info: &PgTypeInfo) -> Self {
        match info.kind() {
            PgTypeKind::Array(element) => Self::Array(Box::new(Self::of(element))),
            PgTypeKind::Domain(base) => Self::of(base),
            PgTypeKind::Enum(_) => Self::Text,
            PgTypeKind::Range(bound) => Self::Range(Box::new(Self::of(bound))),
            PgTypeKind::Composite(fields) => Self::Record(fields.iter().map(|(_, field)| Self::of(field)).collect()),
            PgTypeKind::Simple | PgTypeKind::Pseudo => Self::simple(&info.name().to_ascii_uppercase()),
        }
    }

    fn simple(name: &str) -> Self {
        match name {
            "BOOL" => Self::Boolean,
            "INT2" => Self::Small,
            "INT4" => Self::Int,
            "INT8" => Self::Big,
            "OID" | "XID" | "CID" | "REGCLASS" | "REGTYPE" | "REGPROC" => Self::Oid,
            "FLOAT4" => Self::Real,
            "FLOAT8" => Self::Double,
            "NUMERIC" => Self::Numeric,
            "MONEY" => Self::Money,
            "JSONB" => Self::Jsonb,
            "BYTEA" => Self::Bytes,
            "DATE" => Self::Date,
            "TIME" => Self::Time,
            "TIMETZ" => Self::TimeTz,
            "TIMESTAMP" => Self::Timestamp,
            "TIMESTAMPTZ" => Self::TimestampTz,
            "INTERVAL" => Self::Interval,
            "UUID" => Self::Uuid,
            "BIT" | "VARBIT" => Self::Bits,
            "INET" | "CIDR" => Self::Address,
            "MACADDR" | "MACADDR8" => Self::Mac,
            "TEXT" | "VARCHAR" | "CHAR" | "BPCHAR" | "NAME" | "\"CHAR\"" | "UNKNOWN" | "JSON" | "XML" | "CITEXT"
            | "VOID" => Self::Text,
            _ => Self::Unknown,
        }
    }

    /// The logical type of a column of `declared` type that is read so.
    pub(super) fn logical(&self, declared: &str) -> DataType {
        match self {
            Self::Boolean => DataType::Boolean,
            Self::Small | Self::Int | Self::Big | Self::Oid => DataType::Integer,
            Self::Real | Self::Double => DataType::Float,
            Self::Numeric | Self::Money => DataType::Decimal {
                precision: None,
                scale: None,
            },
            Self::Bytes => DataType::Blob,
            Self::Date => DataType::Date,
            Self::Time | Self::TimeTz => DataType::Time,
            Self::Timestamp => DataType::DateTime,
            Self::TimestampTz => DataType::DateTimeTz,
            Self::Jsonb => DataType::Json,
            Self::Text => match DataType::from_declared(Dialect::Postgres, declared) {
                DataType::Json => DataType::Json,
                _ => DataType::Text,
            },
            Self::Interval
            | Self::Uuid
            | Self::Bits
            | Self::Address
            | Self::Mac
            | Self::Array(_)
            | Self::Range(_)
            | Self::Record(_)
            | Self::Unknown => DataType::Other(declared.to_owned()),
        }
    }

    /// The value in `bytes`; what cannot be read as this codec says comes as hexadecimal text.
    pub(super) fn read<'a>(&self, bytes: &'a [u8]) -> TypedValue<'a> {
        self.try_read(bytes).unwrap_or_else(|| {
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            text(format!("\\x{digits}"))
        })
    }

    fn try_read<'a>(&self, bytes: &'a [u8]) -> Option<TypedValue<'a>> {
        let mut reader = Reader(bytes);
        Some(match self {
            Self::Boolean => TypedValue::Boolean(reader.u8()? != 0),
            Self::Small => TypedValue::Integer(reader.i16()?.into()),
            Self::Int => TypedValue::Integer(reader.i32()?.into()),
            Self::Big => TypedValue::Integer(reader.i64()?),
            Self::Oid => TypedValue::Integer((reader.i32()? as u32).into()),
            Self::Real => TypedValue::Float(widened(f32::from_bits(reader.i32()? as u32))),
            Self::Double => TypedValue::Float(f64::from_bits(reader.i64()? as u64)),
            Self::Numeric => numeric(&mut reader)?,
            // Cents, in every locale but a few.
            Self::Money => TypedValue::Decimal(reader.i64()?.into(), 2),
            Self::Text => TypedValue::Text(String::from_utf8_lossy(bytes)),
            Self::Jsonb => TypedValue::Text(String::from_utf8_lossy(bytes.get(1..)?)),
            Self::Bytes => TypedValue::Bytes(Cow::Borrowed(bytes)),
            Self::Date => match reader.i32()? {
                i32::MAX => text("infinity"),
                i32::MIN => text("-infinity"),
                days => text(iso_date(i64::from(days) + EPOCH_DAYS)),
            },
            Self::Time => text(iso_time(reader.i64()?)),
            Self::TimeTz => {
                let (time, west) = (reader.i64()?, reader.i32()?);
                text(format!("{}{}", iso_time(time), offset(-west)))
            }
            Self::Timestamp => text(timestamp(reader.i64()?, "")),
            Self::TimestampTz => text(timestamp(reader.i64()?, "Z")),
            Self::Interval => text(interval(reader.i64()?, reader.i32()?, reader.i32()?)),
            Self::Uuid => text(uuid(bytes)?),
            Self::Bits => text(bits(&mut reader)?),
            Self::Address => text(address(&mut reader)?),
            Self::Mac => text(
                bytes
                    .iter()
                    .map(|byte| format!("{byte:02x}"))
                    .collect::<Vec<_>>()
                    .join(":"),
            ),
            Self::Array(element) => text(array(element, &mut reader)?.to_string()),
            Self::Range(bound) => text(range(bound, &mut reader)?),
            Self::Record(fields) => text(record(fields, &mut reader)?.to_string()),
            Self::Unknown => return None,
        })
    }
}

fn text<'a>(text: impl Into<String>) -> TypedValue<'a> {
    TypedValue::Text(Cow::Owned(text.into()))
}

/// Digits in base 10,000 behind a header of count, weight of the first, sign, and digits after the point.
fn numeric<'a>(reader: &mut Reader<'_>) -> Option<TypedValue<'a>> {
    let (count, weight, sign, scale) = (reader.u16()?, reader.i16()?, reader.u16()?, reader.u16()?);
    match sign {
        0xC000 => return Some(text("NaN")),
        0xD000 => return Some(text("Infinity")),
        0xF000 => return Some(text("-Infinity")),
        _ => (),
    }
    let digits: Vec<u16> = (0..count).map(|_| reader.u16()).collect::<Option<_>>()?;
    let (weight, scale) = (i32::from(weight), u32::from(scale));
    let negative = sign == 0x4000;
    let exact = unscaled(&digits, weight, scale).map(|value| if negative { -value } else { value });
    Some(match exact {
        Some(value) if scale <= 38 => TypedValue::Decimal(value, scale),
        _ => text(spelled_numeric(&digits, weight, scale as usize, negative)),
    })
}

/// The number without its point; `None` beyond 128 bits.
fn unscaled(digits: &[u16], weight: i32, scale: u32) -> Option<i128> {
    let mut value: i128 = 0;
    for digit in digits {
        value = value.checked_mul(10_000)?.checked_add(i128::from(*digit))?;
    }
    // The last digit stands for multiples of 10,000^(weight - count + 1).
    let last = 4 * (weight + 1 - i32::try_from(digits.len()).ok()?) + i32::try_from(scale).ok()?;
    let factor = 10_i128.checked_pow(last.unsigned_abs());
    if value == 0 {
        Some(0)
    } else if last >= 0 {
        value.checked_mul(factor?)
    } else {
        // Digits beyond the scale are zeros that fill the last base-10,000 digit.
        Some(value / factor?)
    }
}

fn spelled_numeric(digits: &[u16], weight: i32, scale: usize, negative: bool) -> String {
    let digit = |place: i32| {
        usize::try_from(weight - place)
            .ok()
            .and_then(|at| digits.get(at))
            .copied()
            .unwrap_or(0)
    };
    let whole: String = (0..=weight.max(0))
        .rev()
        .map(|place| format!("{:04}", digit(place)))
        .collect();
    let groups = i32::try_from(scale.div_ceil(4)).unwrap_or(i32::MAX);
    let fraction: String = (1..=groups).map(|group| format!("{:04}", digit(-group))).collect();
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let sign = if negative { "-" } else { "" };
    match fraction.get(..scale).filter(|fraction| !fraction.is_empty()) {
        Some(fraction) => format!("{sign}{whole}.{fraction}"),
        None => format!("{sign}{whole}"),
    }
}

fn timestamp(micros: i64, zone: &str) -> String {
    match micros {
        i64::MAX => "infinity".to_owned(),
        i64::MIN => "-infinity".to_owned(),
        micros => match micros.checked_add(EPOCH_MICROS) {
            Some(micros) => format!("{}{zone}", iso_datetime(micros)),
            None => format!("{micros} microseconds after 2000-01-01{zone}"),
        },
    }
}

/// `+02:00`, from seconds east of Greenwich.
fn offset(seconds: i32) -> String {
    let sign = if seconds < 0 { '-' } else { '+' };
    let seconds = seconds.unsigned_abs();
    let rest = if seconds.is_multiple_of(60) {
        String::new()
    } else {
        format!(":{:02}", seconds % 60)
    };
    format!("{sign}{:02}:{:02}{rest}", seconds / 3600, seconds / 60 % 60)
}

/// ISO 8601: `P1Y2M3DT4H5M6.5S`; parts of different sign keep their own.
fn interval(micros: i64, days: i32, months: i32) -> String {
    let part = |value: i64, unit: char| {
        if value == 0 {
            String::new()
        } else {
            format!("{value}{unit}")
        }
    };
    let date = [
        part(i64::from(months / 12), 'Y'),
        part(i64::from(months % 12), 'M'),
        part(i64::from(days), 'D'),
    ]
    .concat();
    let (seconds, fraction) = (micros / 1_000_000 % 60, (micros % 1_000_000).abs());
    let sign = if micros < 0 { "-" } else { "" };
    let seconds = match (seconds, fraction) {
        (0, 0) => String::new(),
        (seconds, 0) => format!("{seconds}S"),
        (seconds, fraction) => format!(
            "{sign}{}.{}S",
            seconds.abs(),
            format!("{fraction:06}").trim_end_matches('0')
        ),
    };
    let time = [
        part(micros / 3_600_000_000, 'H'),
        part(micros / 60_000_000 % 60, 'M'),
        seconds,
    ]
    .concat();
    match (date.is_empty(), time.is_empty()) {
        (true, true) => "PT0S".to_owned(),
        (_, true) => format!("P{date}"),
        (_, false) => format!("P{date}T{time}"),
    }
}

fn uuid(bytes: &[u8]) -> Option<String> {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let part = |range: std::ops::Range<usize>| digits.get(range);
    Some([part(0..8)?, part(8..12)?, part(12..16)?, part(16..20)?, part(20..32)?].join("-"))
}

fn bits(reader: &mut Reader<'_>) -> Option<String> {
    let count = usize::try_from(reader.i32()?).ok()?;
    let all: String = reader.0.iter().map(|byte| format!("{byte:08b}")).collect();
    all.get(..count).map(str::to_owned)
}

fn address(reader: &mut Reader<'_>) -> Option<String> {
    let (_family, mask, is_network, length) = (reader.u8()?, reader.u8()?, reader.u8()?, reader.u8()?);
    let bytes = reader.take(length.into())?;
    let (address, whole) = match bytes.len() {
        4 => (Ipv4Addr::from(<[u8; 4]>::try_from(bytes).ok()?).to_string(), 32),
        _ => (Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?).to_string(), 128),
    };
    Some(if mask == whole && is_network == 0 {
        address
    } else {
        format!("{address}/{mask}")
    })
}

/// A value inside another one, as JSON.
fn inner(codec: &Codec, bytes: Option<&[u8]>) -> Value {
    match bytes.map(|bytes| codec.read(bytes)) {
        None | Some(TypedValue::Null) => Value::Null,
        Some(TypedValue::Boolean(value)) => json!(value),
        Some(TypedValue::Integer(value)) => exact_json(&polars::prelude::AnyValue::Int64(value)),
        Some(TypedValue::Float(value)) => exact_json(&polars::prelude::AnyValue::Float64(value)),
        Some(TypedValue::Decimal(value, scale)) => {
            exact_json(&polars::prelude::AnyValue::Decimal(value, 38, scale as usize))
        }
        Some(TypedValue::Bytes(value)) => exact_json(&polars::prelude::AnyValue::Binary(&value)),
        Some(TypedValue::Text(text)) => match codec {
            Codec::Array(_) | Codec::Record(_) | Codec::Jsonb => {
                serde_json::from_str(&text).unwrap_or_else(|_| Value::String(text.into_owned()))
            }
            _ => Value::String(text.into_owned()),
        },
    }
}

/// An array as nested JSON arrays.
fn array(element: &Codec, reader: &mut Reader<'_>) -> Option<Value> {
    let (dimensions, _has_nulls, _element_oid) = (reader.i32()?, reader.i32()?, reader.i32()?);
    let mut lengths = vec![];
    for _ in 0..dimensions {
        lengths.push(usize::try_from(reader.i32()?).ok()?);
        let _lower_bound = reader.i32()?;
    }
    if lengths.is_empty() {
        return Some(json!([]));
    }
    nested(element, &lengths, reader)
}

fn nested(element: &Codec, lengths: &[usize], reader: &mut Reader<'_>) -> Option<Value> {
    let (length, deeper) = lengths.split_first()?;
    let item = |_| {
        if deeper.is_empty() {
            reader.sized().map(|bytes| inner(element, bytes))
        } else {
            nested(element, deeper, reader)
        }
    };
    (0..*length).map(item).collect::<Option<Vec<Value>>>().map(Value::Array)
}

/// PostgreSQL's own spelling: `[2005-08-01,2005-09-01)`.
fn range(bound: &Codec, reader: &mut Reader<'_>) -> Option<String> {
    let flags = reader.u8()?;
    if flags & 0x01 != 0 {
        return Some("empty".to_owned());
    }
    let mut end = |is_infinite: bool| -> Option<String> {
        if is_infinite {
            return Some(String::new());
        }
        let value = inner(bound, reader.sized()?);
        Some(match value {
            Value::String(text) => text,
            Value::Object(tagged) => tagged
                .values()
                .next()
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned(),
            other => other.to_string(),
        })
    };
    let (low, high) = (end(flags & 0x08 != 0)?, end(flags & 0x10 != 0)?);
    let open = if flags & 0x02 != 0 { '[' } else { '(' };
    let close = if flags & 0x04 != 0 { ']' } else { ')' };
    Some(format!("{open}{low},{high}{close}"))
}

fn record(fields: &[Codec], reader: &mut Reader<'_>) -> Option<Value> {
    let count = usize::try_from(reader.i32()?).ok()?;
    let mut values = vec![];
    for at in 0..count {
        let _type_oid = reader.i32()?;
        values.push(inner(fields.get(at).unwrap_or(&Codec::Unknown), reader.sized()?));
    }
    Some(Value::Array(values))
}
