//! The Apache Ossie format (0.2.0.dev0) as it is written down, and our own additions to it.
//!
//! What Ossie has no place for stands in `custom_extensions` of the vendor `ANALYST`, as a JSON string. Its keys:
//!
//! | of | keys |
//! | --- | --- |
//! | model | `fiscal_year_start` (1–12), `week_start` (`monday`, `sunday`), `time_zone`, `currency`, `definitions` (`[{term, text}]`) |
//! | dataset | `label_zh`, `description_zh`, `label` (fields that name a row), `default_filter`, `time`, `kind` (`fact`, `entity`, `bridge`) |
//! | field | `label_zh`, `description_zh`, `role`, `aggregation`, `unit`, `values` (`[{value, synonyms}]` or `{value: [synonyms]}`) |
//! | metric | `label`, `label_zh`, `description_zh`, `dataset`, `filter`, `time`, `derived`, `unit`, `currency`, `decimals`, `additive`, `direction`, `target_of`, `hidden` |
//!
//! Whatever else a file holds is kept in `rest` and written back.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::meaning::semantic::{
    Additive, Aggregate, CategoryValue, DatasetKind, Definition, Direction, Unit, WeekStart,
};
use crate::warehouse::catalog::Role;

/// The version of the format that is read here.
pub const OSSIE_VERSION: &str = "0.2.0.dev0";
/// The vendor whose extensions are ours.
pub const VENDOR: &str = "ANALYST";

/// A whole file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    pub version: String,
    pub semantic_model: Vec<OssieModel>,
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OssieModel {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ai_context: Option<AiContext>,
    pub datasets: Vec<OssieDataset>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relationships: Vec<OssieRelationship>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<OssieMetric>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub custom_extensions: Vec<CustomExtension>,
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OssieDataset {
    pub name: String,
    /// `table`, `schema.table`, `database.schema.table`, or a query.
    pub source: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub primary_key: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unique_keys: Vec<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ai_context: Option<AiContext>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<OssieField>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub custom_extensions: Vec<CustomExtension>,
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OssieField {
    pub name: String,
    pub expression: Expression,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dimension: Option<OssieDimension>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub datatype: Option<OssieType>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ai_context: Option<AiContext>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub custom_extensions: Vec<CustomExtension>,
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OssieRelationship {
    pub name: String,
    /// The dataset on the many side.
    pub from: String,
    /// The dataset on the one side.
    pub to: String,
    pub from_columns: Vec<String>,
    pub to_columns: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ai_context: Option<AiContext>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub custom_extensions: Vec<CustomExtension>,
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OssieMetric {
    pub name: String,
    pub expression: Expression,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub datatype: Option<OssieType>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ai_context: Option<AiContext>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub custom_extensions: Vec<CustomExtension>,
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// One expression in several dialects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expression {
    pub dialects: Vec<DialectExpression>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DialectExpression {
    pub dialect: String,
    pub expression: String,
}

impl Expression {
    /// The portable spelling, else the first one.
    pub fn portable(&self) -> Option<&str> {
        let ansi = self.dialects.iter().find(|spelled| spelled.dialect == "ANSI_SQL");
        ansi.or(self.dialects.first())
            .map(|spelled| spelled.expression.as_str())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OssieDimension {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_time: Option<bool>,
}

/// Logical types, by Ossie's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum OssieType {
    String,
    Integer,
    Decimal,
    Float,
    Boolean,
    Date,
    Time,
    DateTime,
    DateTimeTz,
    Opaque,
}

/// Words for machines: one text, or instructions, synonyms and examples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum AiContext {
    Text(String),
    Parts(AiParts),
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AiParts {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub synonyms: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl AiContext {
    pub fn synonyms(&self) -> &[String] {
        match self {
            AiContext::Text(_) => &[],
            AiContext::Parts(parts) => &parts.synonyms,
        }
    }
}

/// A vendor's own attributes, as a JSON string.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustomExtension {
    pub vendor_name: String,
    pub data: String,
}

/// Reads our own extension, or the default where there is none. The error names what is wrong with its JSON.
pub fn extension<T: DeserializeOwned + Default>(extensions: &[CustomExtension]) -> Result<T, String> {
    match extensions.iter().find(|extension| extension.vendor_name == VENDOR) {
        None => Ok(T::default()),
        Some(extension) => serde_json::from_str(&extension.data).map_err(|error| error.to_string()),
    }
}

/// Our additions to a model.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelExtension {
    pub fiscal_year_start: Option<u8>,
    pub week_start: Option<WeekStart>,
    pub time_zone: Option<String>,
    /// The currency of every amount that names none.
    pub currency: Option<String>,
    pub definitions: Vec<Definition>,
}

/// Our additions to a dataset.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DatasetExtension {
    pub label_zh: Option<String>,
    pub description_zh: Option<String>,
    pub label: Vec<String>,
    pub default_filter: Option<String>,
    pub time: Option<String>,
    pub kind: Option<DatasetKind>,
}

/// Our additions to a field.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FieldExtension {
    pub label_zh: Option<String>,
    pub description_zh: Option<String>,
    pub role: Option<Role>,
    pub aggregation: Option<Aggregate>,
    pub unit: Option<Unit>,
    #[serde(deserialize_with = "values")]
    pub values: Vec<CategoryValue>,
}

/// `[{value, synonyms}]`, or in short `{value: [synonyms]}`.
fn values<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<CategoryValue>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Values {
        List(Vec<CategoryValue>),
        Short(std::collections::BTreeMap<String, Vec<String>>),
    }
    Ok(match Values::deserialize(deserializer)? {
        Values::List(list) => list,
        Values::Short(map) => map
            .into_iter()
            .map(|(value, synonyms)| CategoryValue { value, synonyms })
            .collect(),
    })
}

/// Our additions to a metric.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MetricExtension {
    pub label: Option<String>,
    pub label_zh: Option<String>,
    pub description_zh: Option<String>,
    pub dataset: Option<String>,
    pub filter: Option<String>,
    pub time: Option<String>,
    pub derived: Option<String>,
    pub unit: Option<Unit>,
    pub currency: Option<String>,
    pub decimals: Option<u8>,
    pub additive: Option<Additive>,
    pub direction: Option<Direction>,
    pub target_of: Option<String>,
    pub hidden: bool,
}
