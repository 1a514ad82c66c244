//! Columns of engines whose columns have one type: exact in that type, or as text where a value does not fit it.

use std::borrow::Cow;
use std::collections::HashSet;

use polars::prelude::{
    BinaryChunkedBuilder, BooleanChunkedBuilder, ChunkedBuilder, Column, DataFrame, Float64Type, Int64Type, Int128Type,
    IntoColumn, IntoSeries, PlSmallStr, PrimitiveChunkedBuilder, StringChunkedBuilder,
};

use super::builder::unique_name;
use super::exact::decimal_text;
use super::growing::Growing;
use super::spelling::hex;
use super::{CELL_BYTES, FetchError, ResultColumn};
use crate::warehouse::catalog::DataType;

/// Digits that a decimal column can hold.
const PRECISION: u32 = 38;

/// One value, decoded from an engine's wire format.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TypedValue<'a> {
    Null,
    Boolean(bool),
    Integer(i64),
    Float(f64),
    /// `unscaled · 10^-scale`.
    Decimal(i128, u32),
    /// Text, and whatever else is kept in its spelling: dates and times in ISO 8601, UUIDs, arrays, infinities.
    Text(Cow<'a, str>),
    Bytes(Cow<'a, [u8]>),
}

impl TypedValue<'_> {
    /// The value as text, exact; NULL is empty.
    pub(crate) fn spelled(&self) -> String {
        match self {
            TypedValue::Null => String::new(),
            TypedValue::Boolean(value) => value.to_string(),
            TypedValue::Integer(value) => value.to_string(),
            TypedValue::Float(value) => value.to_string(),
            TypedValue::Decimal(value, scale) => decimal_text(*value, *scale as usize),
            TypedValue::Text(text) => text.to_string(),
            TypedValue::Bytes(bytes) => hex(bytes),
        }
    }

    /// The bytes of a text or blob.
    fn long_bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Bytes(bytes) => bytes.len(),
            Self::Null | Self::Boolean(_) | Self::Integer(_) | Self::Float(_) | Self::Decimal(..) => 0,
        }
    }
}

/// Collects the rows of a result whose columns have one type each.
pub(crate) struct TypedFrame {
    columns: Vec<TypedColumn>,
    rows: usize,
    /// What values longer than a cell of the frame take beside it.
    long_bytes: usize,
}

impl TypedFrame {
    /// `columns`: name, type in the engine's words, and logical type of each, in order; repeated names are numbered.
    pub(crate) fn new(columns: impl IntoIterator<Item = (String, String, DataType)>) -> Self {
        let mut seen = HashSet::new();
        let columns = columns
            .into_iter()
            .map(|(name, declared, logical)| TypedColumn::new(unique_name(name, &mut seen), declared, logical))
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

    /// Adds one row; `value(i)` gives the value of column `i`.
    pub(crate) fn push_row<'a, E>(
        &mut self,
        mut value: impl FnMut(usize) -> Result<TypedValue<'a>, E>,
    ) -> Result<(), E> {
        for (at, column) in self.columns.iter_mut().enumerate() {
            let value = value(at)?;
            self.long_bytes += value.long_bytes();
            column.push(value);
        }
        self.rows += 1;
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<(DataFrame, Vec<ResultColumn>), FetchError> {
        let mut frame = vec![];
        let mut columns = vec![];
        for column in self.columns {
            let (values, about) = column.finish()?;
            frame.push(values);
            columns.push(about);
        }
        Ok((DataFrame::new(self.rows, frame)?, columns))
    }
}

enum Store {
    Boolean(Growing<BooleanChunkedBuilder>),
    Integer(Growing<PrimitiveChunkedBuilder<Int64Type>>),
    Float(Growing<PrimitiveChunkedBuilder<Float64Type>>),
    Decimal(Decimals),
    Text(Growing<StringChunkedBuilder>),
    Bytes(Growing<BinaryChunkedBuilder>),
}

struct TypedColumn {
    name: PlSmallStr,
    declared: String,
    logical: DataType,
    store: Store,
    /// Some value did not fit the type, so all are spelled out.
    spelled: bool,
}

impl TypedColumn {
    fn new(name: String, declared: String, logical: DataType) -> Self {
        let name = PlSmallStr::from(name);
        let store = match &logical {
            DataType::Boolean => Store::Boolean(Growing::new(name.clone())),
            DataType::Integer => Store::Integer(Growing::new(name.clone())),
            DataType::Float => Store::Float(Growing::new(name.clone())),
            DataType::Decimal { scale, .. } => Store::Decimal(Decimals::new(&name, scale.unwrap_or(0))),
            DataType::Blob => Store::Bytes(Growing::new(name.clone())),
            DataType::Text
            | DataType::Date
            | DataType::Time
            | DataType::DateTime
            | DataType::DateTimeTz
            | DataType::Json
            | DataType::Other(_) => Store::Text(Growing::new(name.clone())),
        };
        Self {
            name,
            declared,
            logical,
            store,
            spelled: false,
        }
    }

    fn push(&mut self, value: TypedValue<'_>) {
        match (&mut self.store, value) {
            (Store::Boolean(values), TypedValue::Null) => values.next().append_null(),
            (Store::Integer(values), TypedValue::Null) => values.next().append_null(),
            (Store::Float(values), TypedValue::Null) => values.next().append_null(),
            (Store::Decimal(values), TypedValue::Null) => values.push_null(),
            (Store::Text(values), TypedValue::Null) => values.next().append_null(),
            (Store::Bytes(values), TypedValue::Null) => values.next().append_null(),
            (Store::Boolean(values), TypedValue::Boolean(value)) => values.next().append_value(value),
            (Store::Integer(values), TypedValue::Integer(value)) => values.next().append_value(value),
            (Store::Float(values), TypedValue::Float(value)) => values.next().append_value(value),
            (Store::Bytes(values), TypedValue::Bytes(value)) => values.next().append_value(&*value),
            (Store::Text(values), TypedValue::Text(text)) => values.next().append_value(&*text),
            (Store::Text(values), value) => values.next().append_value(value.spelled()),
            (Store::Decimal(values), TypedValue::Decimal(value, scale)) => {
                if !values.push(value, scale) {
                    self.spell_out();
                    self.push(TypedValue::Decimal(value, scale));
                }
            }
            (Store::Decimal(_), TypedValue::Integer(value)) => self.push(TypedValue::Decimal(i128::from(value), 0)),
            (Store::Integer(_), TypedValue::Decimal(value, 0)) => {
                self.widen_to_decimal();
                self.push(TypedValue::Decimal(value, 0));
            }
            (_, value) => {
                self.spell_out();
                self.push(value);
            }
        }
    }

    /// Integers that pass 64 bits go on as decimals without digits after the point.
    fn widen_to_decimal(&mut self) {
        let decimals = Store::Decimal(Decimals::new(&self.name, 0));
        let Store::Integer(values) = std::mem::replace(&mut self.store, decimals) else {
            return;
        };
        for chunk in values.into_chunks() {
            for value in chunk.iter() {
                self.push(value.map_or(TypedValue::Null, TypedValue::Integer));
            }
        }
        self.logical = DataType::Decimal {
            precision: None,
            scale: Some(0),
        };
    }

    /// Rewrites what is there as text, so that a value which does not fit the type can join.
    fn spell_out(&mut self) {
        self.spelled = true;
        let mut texts = Growing::<StringChunkedBuilder>::new(self.name.clone());
        let mut add = |value: Option<String>| texts.next().append_option(value);
        let empty = Store::Text(Growing::new(self.name.clone()));
        match std::mem::replace(&mut self.store, empty) {
            Store::Boolean(values) => {
                let chunks = values.into_chunks();
                let values = chunks.iter().flat_map(|chunk| chunk.iter());
                values.for_each(|value| add(value.map(|value| TypedValue::Boolean(value).spelled())));
            }
            Store::Integer(values) => {
                let chunks = values.into_chunks();
                let values = chunks.iter().flat_map(|chunk| chunk.iter());
                values.for_each(|value| add(value.map(|value| TypedValue::Integer(value).spelled())));
            }
            Store::Float(values) => {
                let chunks = values.into_chunks();
                let values = chunks.iter().flat_map(|chunk| chunk.iter());
                values.for_each(|value| add(value.map(|value| TypedValue::Float(value).spelled())));
            }
            Store::Decimal(decimals) => {
                let scale = decimals.scale;
                let chunks = decimals.values.into_chunks();
                let values = chunks.iter().flat_map(|chunk| chunk.iter());
                values.for_each(|value| add(value.map(|value| TypedValue::Decimal(value, scale).spelled())));
            }
            Store::Bytes(values) => {
                let chunks = values.into_chunks();
                let values = chunks.iter().flat_map(|chunk| chunk.iter());
                values.for_each(|value| add(value.map(hex)));
            }
            Store::Text(values) => texts = values,
        }
        self.store = Store::Text(texts);
    }

    fn finish(self) -> Result<(Column, ResultColumn), FetchError> {
        let mut logical = self.logical;
        let column = match self.store {
            Store::Boolean(values) => values.finish()?.into_column(),
            Store::Integer(values) => values.finish()?.into_column(),
            Store::Float(values) => values.finish()?.into_column(),
            Store::Text(values) => values.finish()?.into_column(),
            Store::Bytes(values) => values.finish()?.into_column(),
            Store::Decimal(decimals) => {
                let precision = match logical {
                    DataType::Decimal { precision, .. } => precision,
                    _ => None,
                };
                let scale = decimals.scale;
                logical = DataType::Decimal {
                    precision,
                    scale: Some(scale),
                };
                let values = decimals.values.finish()?;
                let decimals = values.into_decimal(PRECISION as usize, scale as usize)?;
                decimals.into_series().into_column()
            }
        };
        let note = self.spelled.then(|| {
            format!(
                "some values do not fit the type {}, so all are kept as text",
                self.declared
            )
        });
        if self.spelled {
            logical = DataType::Text;
        }
        let about = ResultColumn {
            name: self.name.to_string(),
            declared_type: self.declared,
            data_type: logical,
            note,
        };
        Ok((column, about))
    }
}

/// Decimals with as many digits after the point as any of them needs.
struct Decimals {
    values: Growing<PrimitiveChunkedBuilder<Int128Type>>,
    scale: u32,
    /// The largest value without its sign, at that scale.
    largest: u128,
    name: PlSmallStr,
}

impl Decimals {
    fn new(name: &PlSmallStr, scale: u32) -> Self {
        Self {
            values: Growing::new(name.clone()),
            scale: scale.min(PRECISION),
            largest: 0,
            name: name.clone(),
        }
    }

    fn push_null(&mut self) {
        self.values.next().append_null();
    }

    /// Adds `value · 10^-scale`, at the larger of the two scales; false where some value would no longer fit.
    fn push(&mut self, value: i128, scale: u32) -> bool {
        if scale > self.scale && !self.rescale(scale) {
            return false;
        }
        match rescaled(value, self.scale - scale) {
            Some(value) => {
                self.largest = self.largest.max(value.unsigned_abs());
                self.values.next().append_value(value);
                true
            }
            None => false,
        }
    }

    fn rescale(&mut self, scale: u32) -> bool {
        let digits = scale - self.scale;
        let largest = i128::try_from(self.largest)
            .ok()
            .and_then(|largest| rescaled(largest, digits));
        let (Some(largest), true) = (largest, scale <= PRECISION) else {
            return false;
        };
        let narrow = std::mem::replace(&mut self.values, Growing::new(self.name.clone()));
        for chunk in narrow.into_chunks() {
            // Each of them fits, since the largest does.
            let wide = chunk
                .iter()
                .map(|value| value.and_then(|value| rescaled(value, digits)));
            wide.for_each(|value| self.values.next().append_option(value));
        }
        (self.scale, self.largest) = (scale, largest.unsigned_abs());
        true
    }
}

/// `value` with so many more digits after the point; `None` beyond the digits that a decimal can have.
fn rescaled(value: i128, digits: u32) -> Option<i128> {
    let limit = 10_i128.pow(PRECISION).unsigned_abs();
    let wide = value.checked_mul(10_i128.checked_pow(digits)?)?;
    (wide.unsigned_abs() < limit).then_some(wide)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::exact_json;
    use super::*;

    fn column(logical: DataType, values: Vec<TypedValue<'_>>) -> (Vec<serde_json::Value>, ResultColumn) {
        let mut frame = TypedFrame::new([("v".to_owned(), "numeric".to_owned(), logical)]);
        for value in values {
            frame.push_row(|_| Ok::<_, ()>(value.clone())).unwrap();
        }
        let (frame, mut columns) = frame.finish().unwrap();
        let values = (0..frame.height())
            .map(|at| exact_json(&frame.columns()[0].get(at).unwrap()))
            .collect();
        (values, columns.remove(0))
    }

    const NUMERIC: DataType = DataType::Decimal {
        precision: None,
        scale: None,
    };

    #[test]
    fn decimals_of_several_scales_take_the_largest() {
        let values = vec![
            TypedValue::Decimal(5, 0),
            TypedValue::Null,
            TypedValue::Decimal(-125, 2),
            TypedValue::Decimal(1, 1),
        ];
        let (values, about) = column(NUMERIC, values);
        assert_eq!(
            values,
            [
                json!({"decimal": "5.00"}),
                json!(null),
                json!({"decimal": "-1.25"}),
                json!({"decimal": "0.10"})
            ]
        );
        assert_eq!(
            about.data_type,
            DataType::Decimal {
                precision: None,
                scale: Some(2)
            }
        );
        assert_eq!(about.note, None);
    }

    #[test]
    fn what_does_not_fit_a_decimal_is_kept_as_text() {
        let huge = 10_i128.pow(37);
        let values = vec![
            TypedValue::Decimal(huge, 0),
            TypedValue::Decimal(125, 2),
            TypedValue::Text("NaN".into()),
        ];
        let (values, about) = column(NUMERIC, values);
        assert_eq!(values, [json!(huge.to_string()), json!("1.25"), json!("NaN")]);
        assert_eq!(about.data_type, DataType::Text);
        assert_eq!(
            about.note.as_deref(),
            Some("some values do not fit the type numeric, so all are kept as text")
        );
    }

    #[test]
    fn integers_beyond_64_bits_go_on_as_decimals() {
        let values = vec![TypedValue::Integer(1), TypedValue::Decimal(i128::from(u64::MAX), 0)];
        let (values, about) = column(DataType::Integer, values);
        assert_eq!(
            values,
            [json!({"decimal": "1"}), json!({"decimal": "18446744073709551615"})]
        );
        assert_eq!(
            about.data_type,
            DataType::Decimal {
                precision: None,
                scale: Some(0)
            }
        );
    }

    #[test]
    fn columns_without_values_keep_their_type() {
        assert_eq!(
            column(NUMERIC, vec![]).1.data_type,
            DataType::Decimal {
                precision: None,
                scale: Some(0)
            }
        );
        assert_eq!(
            column(DataType::Date, vec![TypedValue::Null]),
            (
                vec![json!(null)],
                ResultColumn {
                    name: "v".into(),
                    declared_type: "numeric".into(),
                    data_type: DataType::Date,
                    note: None,
                }
            )
        );
    }
}
