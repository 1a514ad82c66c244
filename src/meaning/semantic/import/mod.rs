//! Semantic models of other tools, turned into Ossie documents: dbt (YAML files, or its manifest) and Snowflake.

mod dbt;
mod snowflake;

use serde_json::{Map, Value, json};

use crate::meaning::semantic::ossie::{
    AiContext, AiParts, CustomExtension, DialectExpression, Document, Expression, OSSIE_VERSION, OssieDataset,
    OssieDimension, OssieField, OssieMetric, OssieModel, OssieRelationship, VENDOR,
};

/// Which tool a file was written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Ossie,
    Dbt,
    Snowflake,
}

/// An imported model, with what was left out of it and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    pub document: Document,
    pub left_out: Vec<String>,
}

/// The tool that `value`, a file's content, was written for.
pub fn format_of(value: &Value) -> Format {
    let has = |key: &str| value.get(key).is_some();
    if has("semantic_model") {
        Format::Ossie
    } else if has("semantic_models") || has("metrics") && !has("tables") {
        Format::Dbt
    } else if has("tables") {
        Format::Snowflake
    } else {
        Format::Ossie
    }
}

/// One model of the files of a dbt project: `semantic_models` and `metrics` of all of them, in order.
pub fn dbt(name: &str, files: &[Value]) -> Result<Imported, String> {
    dbt::import(name, files)
}

/// The model of a Snowflake semantic-model file.
pub fn snowflake(file: &Value) -> Result<Imported, String> {
    snowflake::import(file)
}

fn document(
    name: &str,
    description: Option<String>,
    datasets: Vec<OssieDataset>,
    relationships: Vec<OssieRelationship>,
    metrics: Vec<OssieMetric>,
) -> Document {
    Document {
        version: OSSIE_VERSION.to_owned(),
        semantic_model: vec![OssieModel {
            name: name.to_owned(),
            description,
            ai_context: None,
            datasets,
            relationships,
            metrics,
            custom_extensions: Vec::new(),
            rest: Map::new(),
        }],
        rest: Map::new(),
    }
}

fn field(name: &str, expression: &str, is_time: bool) -> OssieField {
    OssieField {
        name: name.to_owned(),
        expression: ansi(expression),
        dimension: Some(OssieDimension {
            is_time: is_time.then_some(true),
        }),
        label: None,
        description: None,
        datatype: None,
        ai_context: None,
        custom_extensions: Vec::new(),
        rest: Map::new(),
    }
}

fn metric(name: &str, expression: &str, extra: Map<String, Value>) -> OssieMetric {
    OssieMetric {
        name: name.to_owned(),
        expression: ansi(expression),
        description: None,
        datatype: None,
        ai_context: None,
        custom_extensions: ours(extra),
        rest: Map::new(),
    }
}

fn relationship(from: &str, to: &str, from_columns: Vec<String>, to_columns: Vec<String>) -> OssieRelationship {
    OssieRelationship {
        name: format!("{from}_to_{to}"),
        from: from.to_owned(),
        to: to.to_owned(),
        from_columns,
        to_columns,
        ai_context: None,
        custom_extensions: Vec::new(),
        rest: Map::new(),
    }
}

fn ansi(expression: &str) -> Expression {
    Expression {
        dialects: vec![DialectExpression {
            dialect: "ANSI_SQL".to_owned(),
            expression: expression.trim().to_owned(),
        }],
    }
}

/// Our extension with `extra`; none where that is empty.
fn ours(extra: Map<String, Value>) -> Vec<CustomExtension> {
    if extra.is_empty() {
        return Vec::new();
    }
    vec![CustomExtension {
        vendor_name: VENDOR.to_owned(),
        data: json!(extra).to_string(),
    }]
}

fn synonyms(value: &Value) -> Option<AiContext> {
    let synonyms: Vec<String> = texts(value.get("synonyms"));
    (!synonyms.is_empty()).then(|| {
        AiContext::Parts(AiParts {
            synonyms,
            ..AiParts::default()
        })
    })
}

fn text(value: &Value, key: &str) -> Option<String> {
    let found = value.get(key)?;
    match found {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn texts(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

/// The items of a list, or the values of a map, as manifests have them.
fn items<'v>(value: &'v Value, key: &str) -> Vec<&'v Value> {
    match value.get(key) {
        Some(Value::Array(items)) => items.iter().collect(),
        Some(Value::Object(map)) => map.values().collect(),
        _ => Vec::new(),
    }
}

/// `AGG(expression)` of an aggregation by either tool's name; `None` for those that have no portable form.
fn aggregate(name: &str, expression: &str) -> Option<String> {
    let of = |function: &str| Some(format!("{function}({expression})"));
    match name.to_lowercase().as_str() {
        "sum" => of("SUM"),
        "avg" | "average" => of("AVG"),
        "min" => of("MIN"),
        "max" => of("MAX"),
        "count" => of("COUNT"),
        "count_distinct" => Some(format!("COUNT(DISTINCT {expression})")),
        "sum_boolean" => Some(format!("SUM(CASE WHEN {expression} THEN 1 ELSE 0 END)")),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
