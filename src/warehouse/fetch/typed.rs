//! Columns of engines whose columns have one type: exact in that type, or as text where a value does not fit it.

use std::borrow::Cow;
use std::collections::HashSet;

use polars::prelude::{
    BinaryChunkedBuilder, BooleanChunkedBuilder, ChunkedBuilder, Column, DataFrame, Float64Type, Int64Type, Int128Type,
    IntoColumn, IntoSeries, PlSmallStr, PrimitiveChunkedBuilder, StringChunkedBuilder,
};

use super::builder::unique_name;
use super::exact::decimal_text;
use super::spelling::hex;
use super::{FetchError, ResultColumn};
use crate::warehouse::catalog::DataType;

/// A first guess at the rows of a result; columns grow by doubling.
const FIRST_ROWS: usize = 256;

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

/// Collects the rows of a result whose columns have one type each.
pub(crate) struct TypedFrame {
    columns: Vec<TypedColumn>,
    rows: usize,
}

impl TypedFrame {
    /// `columns`: name, type in the engine's words, and logical type of each, in order; repeated names are numbered.
    pub(crate) fn new(columns: impl IntoIterator<Item = (String, String, DataType)>) -> Self {
        let mut seen = HashSet::new();
        let columns = columns
            .into_iter()
            .map(|(name, declared, logical)| TypedColumn::new(unique_name(name, &mut seen), declared, logical))
            .collect();
        Self { columns, rows: 0 }
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Adds one row; `value(i)` gives the value of column `i`.
    pub(crate) fn push_row<'a, E>(
        &mut self,
        mut value: impl FnMut(usize) -> Result<TypedValue<'a>, E>,
    ) -> Result<(), E> {
        for (at, column) in self.columns.iter_mut().enumerate() {
            column.push(value(at)?);
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
    Boolean(BooleanChunkedBuilder),
    Integer(PrimitiveChunkedBuilder<Int64Type>),
    Float(PrimitiveChunkedBuilder<Float64Type>),
    Decimal { values: Vec<Option<i128>>, scale: u32 },
    Text(StringChunkedBuilder),
    Bytes(BinaryChunkedBuilder),
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
            DataType::Boolean => Store::Boolean(BooleanChunkedBuilder::new(name.clone(), FIRST_ROWS)),
            DataType::Integer => Store::Integer(PrimitiveChunkedBuilder::new(name.clone(), FIRST_ROWS)),
            DataType::Float => Store::Float(PrimitiveChunkedBuilder::new(name.clone(), FIRST_ROWS)),
            DataType::Decimal { scale, .. } => Store::Decimal {
                values: vec![],
                scale: scale.unwrap_or(0).min(PRECISION),
            },
            DataType::Blob => Store::Bytes(BinaryChunkedBuilder::new(name.clone(), FIRST_ROWS)),
            DataType::Text
            | DataType::Date
            | DataType::Time
            | DataType::DateTime
            | DataType::DateTimeTz
            | DataType::Json
            | DataType::Other(_) => Store::Text(StringChunkedBuilder::new(name.clone(), FIRST_ROWS)),
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
            (Store::Boolean(values), TypedValue::Null) => values.append_null(),
            (Store::Integer(values), TypedValue::Null) => values.append_null(),
            (Store::Float(values), TypedValue::Null) => values.append_null(),
            (Store::Decimal { values, .. }, TypedValue::Null) => values.push(None),
            (Store::Text(values), TypedValue::Null) => values.append_null(),
            (Store::Bytes(values), TypedValue::Null) => values.append_null(),
            (Store::Boolean(values), TypedValue::Boolean(value)) => values.append_value(value),
            (Store::Integer(values), TypedValue::Integer(value)) => values.append_value(value),
            (Store::Float(values), TypedValue::Float(value)) => values.append_value(value),
            (Store::Bytes(values), TypedValue::Bytes(value)) => values.append_value(&*value),
            (Store::Text(values), TypedValue::Text(text)) => values.append_value(&*text),
            (Store::Text(values), value) => values.append_value(spell(&value)),
            (Store::Decimal { values, scale }, TypedValue::Decimal(value, given)) => {
                if !push_decimal(values, scale, value, given) {
                    self.spell_out();
                    self.push(TypedValue::Decimal(value, given));
                }
            }
            (Store::Decimal { .. }, TypedValue::Integer(value)) => self.push(TypedValue::Decimal(i128::from(value), 0)),
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
        let decimal = Store::Decimal {
            values: vec![],
            scale: 0,
        };
        if let Store::Integer(values) = std::mem::replace(&mut self.store, decimal) {
            let values = PrimitiveChunkedBuilder::finish(values);
            let values = values.iter().map(|value| value.map(i128::from)).collect();
            self.store = Store::Decimal { values, scale: 0 };
            self.logical = DataType::Decimal {
                precision: None,
                scale: Some(0),
            };
        }
    }

    /// Rewrites what is there as text, so that a value which does not fit the type can join.
    fn spell_out(&mut self) {
        self.spelled = true;
        let mut texts = StringChunkedBuilder::new(self.name.clone(), FIRST_ROWS);
        let empty = Store::Text(StringChunkedBuilder::new(self.name.clone(), 0));
        match std::mem::replace(&mut self.store, empty) {
            Store::Boolean(values) => {
                values
                    .finish()
                    .iter()
                    .for_each(|v| texts.append_option(v.map(|v| spell(&TypedValue::Boolean(v)))));
            }
            Store::Integer(values) => {
                values
                    .finish()
                    .iter()
                    .for_each(|v| texts.append_option(v.map(|v| spell(&TypedValue::Integer(v)))));
            }
            Store::Float(values) => {
                values
                    .finish()
                    .iter()
                    .for_each(|v| texts.append_option(v.map(|v| spell(&TypedValue::Float(v)))));
            }
            Store::Decimal { values, scale } => {
                values
                    .iter()
                    .for_each(|v| texts.append_option(v.map(|v| spell(&TypedValue::Decimal(v, scale)))));
            }
            Store::Bytes(values) => values.finish().iter().for_each(|v| texts.append_option(v.map(hex))),
            Store::Text(values) => texts = values,
        }
        self.store = Store::Text(texts);
    }

    fn finish(self) -> Result<(Column, ResultColumn), FetchError> {
        let mut logical = self.logical;
        let column = match self.store {
            Store::Boolean(values) => values.finish().into_column(),
            Store::Integer(values) => values.finish().into_column(),
            Store::Float(values) => values.finish().into_column(),
            Store::Text(values) => values.finish().into_column(),
            Store::Bytes(values) => values.finish().into_column(),
            Store::Decimal { values, scale } => {
                let mut decimals = PrimitiveChunkedBuilder::<Int128Type>::new(self.name.clone(), values.len());
                values.into_iter().for_each(|value| match value {
                    Some(value) => decimals.append_value(value),
                    None => decimals.append_null(),
                });
                let precision = match logical {
                    DataType::Decimal { precision, .. } => precision,
                    _ => None,
                };
                logical = DataType::Decimal {
                    precision,
                    scale: Some(scale),
                };
                decimals
                    .finish()
                    .into_decimal(PRECISION as usize, scale as usize)?
                    .into_series()
                    .into_column()
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

/// Adds a decimal, at the larger of the two scales; false where some value would no longer fit.
fn push_decimal(values: &mut Vec<Option<i128>>, scale: &mut u32, value: i128, given: u32) -> bool {
    let limit = 10_i128.pow(PRECISION);
    let rescaled = |value: i128, digits: u32| {
        let factor = 10_i128.checked_pow(digits)?;
        value
            .checked_mul(factor)
            .filter(|value| value.unsigned_abs() < limit.unsigned_abs())
    };
    if given > *scale {
        let digits = given - *scale;
        let widened: Option<Vec<Option<i128>>> = values
            .iter()
            .map(|value| value.map_or(Some(None), |value| rescaled(value, digits).map(Some)))
            .collect();
        match widened.filter(|_| given <= PRECISION) {
            Some(widened) => (*values, *scale) = (widened, given),
            None => return false,
        }
    }
    match rescaled(value, scale.saturating_sub(given)) {
        Some(value) => {
            values.push(Some(value));
            true
        }
        None => false,
    }
}

fn spell(value: &TypedValue<'_>) -> String {
    match value {
        TypedValue::Null => String::new(),
        TypedValue::Boolean(value) => value.to_string(),
        TypedValue::Integer(value) => value.to_string(),
        TypedValue::Float(value) => value.to_string(),
        TypedValue::Decimal(value, scale) => decimal_text(*value, *scale as usize),
        TypedValue::Text(text) => text.to_string(),
        TypedValue::Bytes(bytes) => hex(bytes),
    }
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
