//! The working model: what an Ossie document or a draft becomes once every name in it has been found.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::meaning::semantic::TimeFormat;
use crate::warehouse::catalog::{DataType, KeySource, Role};

/// Where a model comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Written by people, in a file.
    File,
    /// Drafted from the catalog: sensible guesses that a report must name as such.
    Drafted,
}

/// The whole working model. Names are matched without regard to case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Model {
    pub name: String,
    pub description: Option<String>,
    pub origin: Origin,
    pub datasets: Vec<Dataset>,
    pub relationships: Vec<Relationship>,
    pub metrics: Vec<Metric>,
    pub definitions: Vec<Definition>,
    pub settings: Settings,
}

/// How people call a thing, in both languages.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Words {
    /// Readable English name ("net sales").
    pub label: String,
    pub label_zh: Option<String>,
    pub description: Option<String>,
    pub description_zh: Option<String>,
    /// Other names in any language, without `label` and `label_zh`.
    pub synonyms: Vec<String>,
}

/// What rows of a dataset are taken from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A table or view, spelled as the catalog spells it.
    Table { schema: Option<String>, name: String },
    /// A SELECT of the database's own dialect.
    Query(String),
}

/// What the rows of a dataset are, which decides what is counted and what is grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DatasetKind {
    /// Things that happened: orders, payments, order lines.
    Fact,
    /// Things that exist: customers, products.
    Entity,
    /// Pairs that link two others, with little of their own.
    Bridge,
}

/// Rows of one table, under business names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dataset {
    pub name: String,
    pub words: Words,
    pub source: Source,
    pub kind: DatasetKind,
    /// Columns of the source; empty when no key is known.
    pub primary_key: Vec<String>,
    /// Unique keys beside the primary one, as columns of the source.
    pub unique_keys: Vec<Vec<String>>,
    /// Names of the fields that name a row for people, in the order in which they are shown (first name, last name);
    /// empty when only the key can.
    pub label: Vec<String>,
    /// ANSI SQL condition over fields that every query of this dataset keeps to.
    pub default_filter: Option<String>,
    /// Name of the time field that "when" means for this dataset's rows.
    pub time: Option<String>,
    pub fields: Vec<Field>,
    /// Rows of the source, where known; a hint, never an answer.
    pub rows: Option<u64>,
}

/// One attribute of a dataset's rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Field {
    pub name: String,
    pub words: Words,
    /// Scalar ANSI SQL over columns of the source and other fields of the dataset.
    pub expression: String,
    /// The column, as the catalog spells it, where the expression is nothing but that column.
    pub column: Option<String>,
    pub data_type: DataType,
    pub role: Role,
    pub is_time: bool,
    /// How values are put together when nobody says how; `None` for what is not a measure.
    pub aggregation: Option<Aggregate>,
    pub unit: Option<Unit>,
    /// Values of a category with what people call them; empty when not known.
    pub values: Vec<CategoryValue>,
    /// How dates are written; `None` for what is not a time.
    pub time_format: Option<TimeFormat>,
}

/// One value of a category.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CategoryValue {
    /// As it is stored.
    pub value: String,
    pub synonyms: Vec<String>,
}

/// Many rows of `from` point at one row of `to`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Relationship {
    pub name: String,
    pub from: String,
    pub to: String,
    /// Columns of the sources, in the same order on both sides.
    pub from_columns: Vec<String>,
    pub to_columns: Vec<String>,
    pub key_source: KeySource,
    pub synonyms: Vec<String>,
}

/// A quantity that can be asked for by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    pub name: String,
    pub words: Words,
    pub kind: MetricKind,
    pub unit: Unit,
    /// ISO 4217, where the unit is money and the currency is known.
    pub currency: Option<String>,
    /// Digits after the point when shown; the value itself is never rounded.
    pub decimals: Option<u8>,
    pub additive: Additive,
    pub direction: Direction,
    /// The metric that this one is the target of.
    pub target_of: Option<String>,
    /// Part of another metric's formula only; not offered by name.
    pub hidden: bool,
}

/// How a metric is computed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MetricKind {
    /// Aggregates over the rows of one dataset.
    Simple {
        dataset: String,
        /// ANSI SQL with aggregates over fields of the dataset, or of datasets that its rows point at
        /// (`SUM(order_items.quantity * order_items.unit_price)`).
        expression: String,
        /// ANSI SQL condition on the rows that count, beside the datasets' default filters.
        filter: Option<String>,
        /// When a row counts; may live on a dataset that the rows point at (the header's date).
        time: Option<FieldRef>,
    },
    /// One metric divided by another; NULL where the denominator is 0.
    Ratio { numerator: String, denominator: String },
    /// Arithmetic over other metrics, by their names (`gross_sales - returned_amount`).
    Derived { expression: String, inputs: Vec<String> },
}

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    Money,
    /// Whole things.
    Count,
    /// A part of one: 0.25 is shown as 25 %.
    Fraction,
    /// Any other amount.
    Quantity,
    Days,
}

/// Over what a metric may be added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Additive {
    Full,
    /// Over everything but time (stock levels).
    Semi,
    /// Ratios, averages, distinct counts.
    None,
}

/// Which way is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    UpIsGood,
    DownIsGood,
    Neutral,
}

/// An aggregate function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Aggregate {
    Sum,
    Avg,
    Min,
    Max,
    Count,
    CountDistinct,
}

/// What a term means here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    pub term: String,
    pub text: String,
}

/// The calendar that questions are read with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Month (1 to 12) in which the fiscal year starts; `None` for January.
    pub fiscal_year_start: Option<u8>,
    pub week_start: WeekStart,
    /// IANA name of the zone that days are cut in.
    pub time_zone: Option<String>,
}

/// The first day of a week.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WeekStart {
    #[default]
    Monday,
    Sunday,
}

/// A field of a dataset, written `dataset.field`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldRef {
    /// Empty when only the field was named; it is then looked for in all datasets.
    pub dataset: String,
    pub field: String,
}

impl FieldRef {
    pub fn new(dataset: impl Into<String>, field: impl Into<String>) -> Self {
        Self {
            dataset: dataset.into(),
            field: field.into(),
        }
    }
    /// `dataset.field`, or a lone field name.
    pub fn parse(text: &str) -> Self {
        match text.split_once('.') {
            Some((dataset, field)) => Self::new(dataset.trim(), field.trim()),
            None => Self::new("", text.trim()),
        }
    }
}

impl fmt::Display for FieldRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.dataset.is_empty() {
            true => f.write_str(&self.field),
            false => write!(f, "{}.{}", self.dataset, self.field),
        }
    }
}

impl Serialize for FieldRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for FieldRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| FieldRef::parse(&text))
    }
}

impl JsonSchema for FieldRef {
    fn schema_name() -> Cow<'static, str> {
        "FieldRef".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "description": "A field, written `dataset.field`" })
    }
}

impl Model {
    pub fn dataset(&self, name: &str) -> Option<&Dataset> {
        self.datasets.iter().find(|d| d.name.eq_ignore_ascii_case(name))
    }
    pub fn metric(&self, name: &str) -> Option<&Metric> {
        self.metrics.iter().find(|m| m.name.eq_ignore_ascii_case(name))
    }
    pub fn relationship(&self, name: &str) -> Option<&Relationship> {
        self.relationships.iter().find(|r| r.name.eq_ignore_ascii_case(name))
    }
    /// The dataset and field that `field` names; a lone field name is found when only one dataset has it.
    pub fn field(&self, field: &FieldRef) -> Option<(&Dataset, &Field)> {
        if !field.dataset.is_empty() {
            let dataset = self.dataset(&field.dataset)?;
            return dataset.field(&field.field).map(|f| (dataset, f));
        }
        let mut hits = self
            .datasets
            .iter()
            .filter_map(|d| d.field(&field.field).map(|f| (d, f)));
        match (hits.next(), hits.next()) {
            (Some(hit), None) => Some(hit),
            _ => None,
        }
    }
}

impl Model {
    /// When rows of `dataset` happened: its own time field, else that of the nearest dataset that its rows point at (the
    /// order of a line).
    pub fn time_of(&self, dataset: &str) -> Option<FieldRef> {
        let own = self.dataset(dataset)?;
        if let Some(time) = &own.time {
            return Some(FieldRef::new(&own.name, time));
        }
        self.points_at(&own.name)
            .into_iter()
            .filter(|d| d.kind == DatasetKind::Fact)
            .find_map(|d| d.time.as_ref().map(|time| FieldRef::new(&d.name, time)))
    }

    /// The datasets that each row of `dataset` has at most one row of, nearest first.
    pub fn points_at(&self, dataset: &str) -> Vec<&Dataset> {
        let mut found: Vec<&Dataset> = Vec::new();
        let mut open: VecDeque<&str> = VecDeque::from([dataset]);
        while let Some(at) = open.pop_front() {
            for step in self.relationships.iter().filter(|r| r.from.eq_ignore_ascii_case(at)) {
                let Some(next) = self.dataset(&step.to) else { continue };
                let known = next.name.eq_ignore_ascii_case(dataset) || found.iter().any(|d| d.name == next.name);
                if !known {
                    found.push(next);
                    open.push_back(&next.name);
                }
            }
        }
        found
    }
}

impl Dataset {
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|f| f.name.eq_ignore_ascii_case(name))
    }
    /// The field that is nothing but `column`.
    pub fn field_of_column(&self, column: &str) -> Option<&Field> {
        self.fields
            .iter()
            .find(|f| f.column.as_deref().is_some_and(|c| c.eq_ignore_ascii_case(column)))
    }
}
