//! Snowflake semantic models: tables with dimensions, time dimensions, facts (once called measures) and metrics.

use serde_json::{Map, Value, json};

use crate::meaning::semantic::import::{
    Imported, aggregate, document, field, items, metric, ours, relationship, synonyms, text, texts,
};
use crate::meaning::semantic::ossie::{OssieDataset, OssieMetric, OssieRelationship};

pub(super) fn import(file: &Value) -> Result<Imported, String> {
    let name = text(file, "name").unwrap_or_else(|| "model".to_owned());
    let mut left_out = Vec::new();
    let mut metrics = Vec::new();
    let datasets: Vec<OssieDataset> = items(file, "tables")
        .into_iter()
        .filter_map(|table| dataset(table, &mut metrics, &mut left_out))
        .collect();
    if datasets.is_empty() {
        return Err("`tables` holds no table with a name and a base_table".to_owned());
    }
    for whole in items(file, "metrics") {
        metrics.extend(named_metric(whole, None, &mut left_out));
    }
    let relationships = items(file, "relationships")
        .into_iter()
        .filter_map(|written| relation(written, &mut left_out))
        .collect();
    Ok(Imported {
        document: document(&name, text(file, "description"), datasets, relationships, metrics),
        left_out,
    })
}

fn dataset(table: &Value, metrics: &mut Vec<OssieMetric>, left_out: &mut Vec<String>) -> Option<OssieDataset> {
    let name = text(table, "name")?;
    let source = source(table)?;
    let mut fields = Vec::new();
    let mut time = None;
    for (key, is_time) in [("time_dimensions", true), ("dimensions", false)] {
        for written in items(table, key) {
            let Some(own) = text(written, "name") else { continue };
            let mut made = field(&own, &text(written, "expr").unwrap_or_else(|| own.clone()), is_time);
            made.description = text(written, "description");
            made.ai_context = synonyms(written);
            let values: Vec<Value> = texts(written.get("sample_values"))
                .into_iter()
                .map(|value| json!({ "value": value, "synonyms": [] }))
                .collect();
            if !values.is_empty() {
                made.custom_extensions = ours(Map::from_iter([("values".to_owned(), Value::Array(values))]));
            }
            if is_time && time.is_none() {
                time = Some(own);
            }
            fields.push(made);
        }
    }
    for written in items(table, "facts").into_iter().chain(items(table, "measures")) {
        metrics.extend(fact(written, &name, left_out));
    }
    for written in items(table, "metrics") {
        metrics.extend(named_metric(written, Some(&name), left_out));
    }
    let mut extra = Map::new();
    if let Some(time) = time {
        extra.insert("time".to_owned(), json!(time));
    }
    Some(OssieDataset {
        name,
        source,
        primary_key: texts(table.get("primary_key").and_then(|key| key.get("columns"))),
        unique_keys: Vec::new(),
        description: text(table, "description"),
        ai_context: synonyms(table),
        fields,
        custom_extensions: ours(extra),
        rest: Map::new(),
    })
}

fn source(table: &Value) -> Option<String> {
    let base = table.get("base_table")?;
    if let Some(definition) = text(base, "definition") {
        return Some(definition);
    }
    let parts: Vec<String> = ["database", "schema", "table"]
        .iter()
        .filter_map(|part| text(base, part))
        .collect();
    (!parts.is_empty()).then(|| parts.join("."))
}

/// A fact with its default aggregation becomes a metric.
fn fact(written: &Value, dataset: &str, left_out: &mut Vec<String>) -> Option<OssieMetric> {
    let name = text(written, "name")?;
    let of = text(written, "expr").unwrap_or_else(|| name.clone());
    let function = text(written, "default_aggregation").unwrap_or_else(|| "sum".to_owned());
    let Some(expression) = aggregate(&function, &of) else {
        left_out.push(format!("measure {name}: there is no portable `{function}`"));
        return None;
    };
    Some(with_words(metric(&name, &expression, over(dataset)), written))
}

/// A metric with an expression of its own.
fn named_metric(written: &Value, dataset: Option<&str>, left_out: &mut Vec<String>) -> Option<OssieMetric> {
    let name = text(written, "name")?;
    let Some(expression) = text(written, "expr") else {
        left_out.push(format!("metric {name}: it has no `expr`"));
        return None;
    };
    let extra = dataset.map(over).unwrap_or_default();
    Some(with_words(metric(&name, &expression, extra), written))
}

fn over(dataset: &str) -> Map<String, Value> {
    Map::from_iter([("dataset".to_owned(), json!(dataset))])
}

fn with_words(mut metric: OssieMetric, written: &Value) -> OssieMetric {
    metric.description = text(written, "description");
    metric.ai_context = synonyms(written);
    metric
}

fn relation(written: &Value, left_out: &mut Vec<String>) -> Option<OssieRelationship> {
    let (from, to) = (text(written, "left_table")?, text(written, "right_table")?);
    let pairs = items(written, "relationship_columns");
    let side = |key: &str| -> Vec<String> { pairs.iter().filter_map(|pair| text(pair, key)).collect() };
    let (left, right) = (side("left_column"), side("right_column"));
    let mut made = match text(written, "relationship_type").as_deref() {
        None | Some("many_to_one" | "one_to_one") => relationship(&from, &to, left, right),
        Some(other) => {
            left_out.push(format!(
                "relationship {from} to {to}: `{other}` is not many_to_one or one_to_one"
            ));
            return None;
        }
    };
    if let Some(name) = text(written, "name") {
        made.name = name;
    }
    Some(made)
}
