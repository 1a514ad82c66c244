//! Columns that grow value by value and widen when values of several types meet.

use std::collections::HashSet;

use polars::prelude::{
    BinaryChunkedBuilder, ChunkFullNull, ChunkedArray, ChunkedBuilder, Column, DataFrame, Float64Chunked, Float64Type,
    Int64Chunked, Int64Type, IntoColumn, PlSmallStr, PolarsNumericType, PolarsResult, PrimitiveChunkedBuilder,
    StringChunked, StringChunkedBuilder,
};

use super::growing::Growing;
use super::spelling::{Look, hex, look_of};
use super::{CELL_BYTES, EXACT_INTEGER, FetchError, ResultColumn};
use crate::warehouse::Dialect;
use crate::warehouse::catalog::DataType;

/// Collects the rows of a result whose values say their own type, as SQLite's do.
pub(crate) struct FrameBuilder {
    columns: Vec<ColumnBuilder>,
    rows: usize,
    /// What values longer than a cell of the frame take beside it.
    long_bytes: usize,
}

impl FrameBuilder {
    /// `columns`: name and declared type of each, in order; repeated names are numbered.
    pub(crate) fn new(columns: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut seen = HashSet::new();
        let columns = columns
            .into_iter()
            .map(|(name, declared)| ColumnBuilder::new(unique_name(name, &mut seen), declared))
            .collect();
        Self {
            columns,
            rows: 0,
            long_bytes: 0,
        }
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// About the memory that the rows take, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.rows * self.columns.len() * CELL_BYTES + self.long_bytes
    }

    /// The columns, to push one value to each; call [`FrameBuilder::end_row`] after.
    pub(crate) fn columns_mut(&mut self) -> &mut [ColumnBuilder] {
        &mut self.columns
    }

    /// `long_bytes`: the bytes of this row's texts and blobs.
    pub(crate) fn end_row(&mut self, long_bytes: usize) {
        self.rows += 1;
        self.long_bytes += long_bytes;
    }

    pub(crate) fn finish(self) -> Result<(DataFrame, Vec<ResultColumn>), FetchError> {
        let columns: Vec<_> = self
            .columns
            .into_iter()
            .map(ColumnBuilder::finish)
            .collect::<PolarsResult<_>>()?;
        let (frame, columns): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
        Ok((DataFrame::new(self.rows, frame)?, columns))
    }
}

/// `name`, or `name_2`, `name_3`, … where it is taken; frames need unique names and SQL does not.
pub(crate) fn unique_name(name: String, seen: &mut HashSet<String>) -> String {
    let mut unique = name.clone();
    let mut number = 2;
    while !seen.insert(unique.clone()) {
        unique = format!("{name}_{number}");
        number += 1;
    }
    unique
}

/// Which kinds of values a column has held.
#[derive(Default)]
struct Kinds {
    integer: bool,
    float: bool,
    text: bool,
    blob: bool,
}

impl Kinds {
    fn names(&self) -> String {
        let kinds = [
            (self.integer, "integers"),
            (self.float, "decimals"),
            (self.text, "text"),
            (self.blob, "bytes"),
        ];
        kinds
            .iter()
            .filter(|(held, _)| *held)
            .map(|(_, name)| *name)
            .collect::<Vec<_>>()
            .join(", ")
    }
}

enum Store {
    /// Only nulls so far, this many.
    Nulls(usize),
    Integer(Growing<PrimitiveChunkedBuilder<Int64Type>>),
    Float(Growing<PrimitiveChunkedBuilder<Float64Type>>),
    Text(Growing<StringChunkedBuilder>),
    Blob(Growing<BinaryChunkedBuilder>),
    /// Values of several types, each in its own spelling.
    Mixed(Growing<StringChunkedBuilder>),
}

pub(crate) struct ColumnBuilder {
    name: PlSmallStr,
    declared: String,
    /// Declared as a number with a fraction, so that integers among its values are numbers that happen to be whole.
    fractional: bool,
    store: Store,
    kinds: Kinds,
    look: Look,
    repaired: bool,
}

impl ColumnBuilder {
    fn new(name: String, declared: String) -> Self {
        let fractional = match DataType::from_declared(Dialect::Sqlite, &declared) {
            DataType::Float => true,
            DataType::Decimal { scale, .. } => scale != Some(0),
            _ => false,
        };
        Self {
            name: name.into(),
            declared,
            fractional,
            store: Store::Nulls(0),
            kinds: Kinds::default(),
            look: Look::Unseen,
            repaired: false,
        }
    }

    pub(crate) fn push_null(&mut self) {
        match &mut self.store {
            Store::Nulls(count) => *count += 1,
            Store::Integer(values) => values.next().append_null(),
            Store::Float(values) => values.next().append_null(),
            Store::Text(values) | Store::Mixed(values) => values.next().append_null(),
            Store::Blob(values) => values.next().append_null(),
        }
    }

    pub(crate) fn push_integer(&mut self, value: i64) {
        self.kinds.integer = true;
        match &mut self.store {
            Store::Integer(values) => values.next().append_value(value),
            Store::Float(values) if exact_as_float(value) => values.next().append_value(value as f64),
            Store::Mixed(values) => values.next().append_value(value.to_string()),
            Store::Nulls(count) if self.fractional && exact_as_float(value) => {
                self.store = Store::Float(Growing::after_nulls(&self.name, *count));
                self.push_integer(value);
            }
            Store::Nulls(count) => {
                self.store = Store::Integer(Growing::after_nulls(&self.name, *count));
                self.push_integer(value);
            }
            Store::Float(_) | Store::Text(_) | Store::Blob(_) => {
                self.mix();
                self.push_integer(value);
            }
        }
    }

    pub(crate) fn push_float(&mut self, value: f64) {
        self.kinds.float = true;
        match &mut self.store {
            Store::Float(values) => values.next().append_value(value),
            Store::Mixed(values) => values.next().append_value(value.to_string()),
            Store::Nulls(count) => {
                self.store = Store::Float(Growing::after_nulls(&self.name, *count));
                self.push_float(value);
            }
            Store::Integer(_) => {
                self.widen_to_float();
                self.push_float(value);
            }
            Store::Text(_) | Store::Blob(_) => {
                self.mix();
                self.push_float(value);
            }
        }
    }

    /// Text as the database holds it; bytes that are no UTF-8 are replaced, and the column's note says so.
    pub(crate) fn push_text(&mut self, bytes: &[u8]) {
        self.kinds.text = true;
        let text = String::from_utf8_lossy(bytes);
        self.repaired |= matches!(text, std::borrow::Cow::Owned(_));
        if self.look != Look::Other {
            self.look = match (self.look, look_of(text.as_bytes())) {
                (Look::Unseen, look) => look,
                (seen, look) if seen == look => look,
                _ => Look::Other,
            };
        }
        match &mut self.store {
            Store::Text(values) | Store::Mixed(values) => values.next().append_value(&*text),
            Store::Nulls(count) => {
                let mut values = Growing::<StringChunkedBuilder>::after_nulls(&self.name, *count);
                values.next().append_value(&*text);
                self.store = Store::Text(values);
            }
            Store::Integer(_) | Store::Float(_) | Store::Blob(_) => {
                self.mix();
                if let Store::Mixed(values) = &mut self.store {
                    values.next().append_value(&*text);
                }
            }
        }
    }

    pub(crate) fn push_blob(&mut self, bytes: &[u8]) {
        self.kinds.blob = true;
        match &mut self.store {
            Store::Blob(values) => values.next().append_value(bytes),
            Store::Mixed(values) => values.next().append_value(hex(bytes)),
            Store::Nulls(count) => {
                let mut values = Growing::<BinaryChunkedBuilder>::after_nulls(&self.name, *count);
                values.next().append_value(bytes);
                self.store = Store::Blob(values);
            }
            Store::Integer(_) | Store::Float(_) | Store::Text(_) => {
                self.mix();
                self.push_blob(bytes);
            }
        }
    }

    /// Integers become floats when all of them stay exact, and text beside floats otherwise.
    fn widen_to_float(&mut self) {
        let Store::Integer(values) = std::mem::replace(&mut self.store, Store::Nulls(0)) else {
            return;
        };
        let chunks = values.into_chunks();
        if chunks.iter().all(|chunk| chunk.iter().flatten().all(exact_as_float)) {
            let mut floats = Growing::<PrimitiveChunkedBuilder<Float64Type>>::new(self.name.clone());
            let values = chunks.iter().flat_map(|chunk| chunk.iter());
            values.for_each(|value| floats.next().append_option(value.map(|value| value as f64)));
            self.store = Store::Float(floats);
        } else {
            self.store = Store::Mixed(spelled(&self.name, &chunks, |value: i64| value.to_string()));
        }
    }

    /// Rewrites what is there in its own spelling, so that values of another type can join.
    fn mix(&mut self) {
        let name = self.name.clone();
        self.store = match std::mem::replace(&mut self.store, Store::Nulls(0)) {
            Store::Nulls(count) => Store::Mixed(Growing::after_nulls(&name, count)),
            Store::Integer(values) => {
                Store::Mixed(spelled(&name, &values.into_chunks(), |value: i64| value.to_string()))
            }
            Store::Float(values) => Store::Mixed(spelled(&name, &values.into_chunks(), |value: f64| value.to_string())),
            Store::Blob(values) => {
                let mut texts = Growing::<StringChunkedBuilder>::new(name);
                let chunks = values.into_chunks();
                let values = chunks.iter().flat_map(|chunk| chunk.iter());
                values.for_each(|value| texts.next().append_option(value.map(hex)));
                Store::Mixed(texts)
            }
            Store::Text(values) | Store::Mixed(values) => Store::Mixed(values),
        };
    }

    fn finish(self) -> PolarsResult<(Column, ResultColumn)> {
        let declared = DataType::from_declared(Dialect::Sqlite, &self.declared);
        let mixed = matches!(self.store, Store::Mixed(_));
        let name = self.name.clone();
        let (column, data_type) = match self.store {
            Store::Nulls(count) => all_null(name, count, declared),
            Store::Integer(values) => (values.finish()?.into_column(), DataType::Integer),
            Store::Float(values) => (values.finish()?.into_column(), DataType::Float),
            Store::Text(values) => (values.finish()?.into_column(), text_type(self.look, declared)),
            Store::Mixed(values) => (values.finish()?.into_column(), DataType::Text),
            Store::Blob(values) => (values.finish()?.into_column(), DataType::Blob),
        };
        let note = match (mixed, self.repaired) {
            (true, _) => Some(format!(
                "values of several types ({}) are kept as text",
                self.kinds.names()
            )),
            (false, true) => {
                Some("some values are not valid UTF-8; the bytes at fault are shown as \u{FFFD}".to_owned())
            }
            (false, false) => None,
        };
        Ok((
            column,
            ResultColumn {
                name: self.name.to_string(),
                declared_type: self.declared,
                data_type,
                note,
            },
        ))
    }
}

fn exact_as_float(value: i64) -> bool {
    value.unsigned_abs() <= EXACT_INTEGER
}

fn spelled<T: PolarsNumericType>(
    name: &PlSmallStr,
    chunks: &[ChunkedArray<T>],
    spell: fn(T::Native) -> String,
) -> Growing<StringChunkedBuilder> {
    let mut texts = Growing::<StringChunkedBuilder>::new(name.clone());
    let values = chunks.iter().flat_map(|chunk| chunk.iter());
    values.for_each(|value| texts.next().append_option(value.map(spell)));
    texts
}

/// A column without a single value takes the type that it was declared with.
fn all_null(name: PlSmallStr, rows: usize, declared: DataType) -> (Column, DataType) {
    match declared {
        DataType::Integer => (Int64Chunked::full_null(name, rows).into_column(), DataType::Integer),
        DataType::Float | DataType::Decimal { .. } => {
            (Float64Chunked::full_null(name, rows).into_column(), DataType::Float)
        }
        DataType::Boolean => (Int64Chunked::full_null(name, rows).into_column(), DataType::Integer),
        other => (StringChunked::full_null(name, rows).into_column(), other),
    }
}

fn text_type(look: Look, declared: DataType) -> DataType {
    match (look, declared) {
        (Look::Date, _) => DataType::Date,
        (Look::DateTime, _) => DataType::DateTime,
        (_, DataType::Json) => DataType::Json,
        _ => DataType::Text,
    }
}
