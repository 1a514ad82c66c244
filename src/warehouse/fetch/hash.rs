//! The content hash of rows.

use polars::prelude::{AnyValue, Column, DataFrame, DataType};
use sha2::{Digest, Sha256};

/// Parts are gathered to this size before they are hashed, since hashing a few bytes at a time is slow.
const BUFFER: usize = 1 << 16;

/// SHA-256 over a frame's names, types and values, column by column, in lower-case hexadecimal.
///
/// The same for the same rows in the same order, whatever the chunks, the file format or the version of polars.
pub fn content_hash(frame: &DataFrame) -> String {
    let mut digest = Digester {
        sha: Sha256::new(),
        buffer: Vec::with_capacity(BUFFER + 64),
    };
    digest.number(frame.height() as u64);
    digest.number(frame.width() as u64);
    for column in frame.columns() {
        digest.bytes(column.name().as_bytes());
        digest.bytes(column.dtype().to_string().as_bytes());
        digest.column(column);
    }
    digest.finish()
}

struct Digester {
    sha: Sha256,
    buffer: Vec<u8>,
}

impl Digester {
    fn column(&mut self, column: &Column) {
        let series = column.as_materialized_series();
        match series.dtype() {
            DataType::Int64 => {
                series
                    .i64()
                    .iter()
                    .flat_map(|c| c.iter())
                    .for_each(|v| self.fixed(v.map(i64::to_le_bytes)));
            }
            DataType::Float64 => {
                series
                    .f64()
                    .iter()
                    .flat_map(|c| c.iter())
                    .for_each(|v| self.fixed(v.map(canonical_float)));
            }
            DataType::String => {
                series
                    .str()
                    .iter()
                    .flat_map(|c| c.iter())
                    .for_each(|v| self.text(v.map(str::as_bytes)));
            }
            DataType::Binary => series.binary().iter().flat_map(|c| c.iter()).for_each(|v| self.text(v)),
            _ => series.iter().for_each(|value| match value {
                AnyValue::Null => self.text(None),
                value => self.text(Some(super::exact_json(&value).to_string().as_bytes())),
            }),
        }
    }

    fn fixed(&mut self, value: Option<[u8; 8]>) {
        self.part(&[u8::from(value.is_some())]);
        self.part(&value.unwrap_or_default());
    }

    fn text(&mut self, value: Option<&[u8]>) {
        self.part(&[u8::from(value.is_some())]);
        self.bytes(value.unwrap_or_default());
    }

    fn bytes(&mut self, value: &[u8]) {
        self.number(value.len() as u64);
        self.part(value);
    }

    fn number(&mut self, value: u64) {
        self.part(&value.to_le_bytes());
    }

    fn part(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= BUFFER {
            self.sha.update(&self.buffer);
            self.buffer.clear();
        }
    }

    fn finish(mut self) -> String {
        self.sha.update(&self.buffer);
        self.sha.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// One spelling for each number: every NaN alike, and -0 like 0, as they compare equal in SQL.
fn canonical_float(value: f64) -> [u8; 8] {
    let value = if value.is_nan() {
        f64::NAN
    } else if value == 0.0 {
        0.0
    } else {
        value
    };
    value.to_le_bytes()
}
