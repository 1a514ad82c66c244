//! `metric_compute`: ranks, shares, growth, comparisons, outliers and the like, computed from a result by its id.

use std::sync::Arc;

use async_trait::async_trait;
use polars::prelude::DataFrame;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::insight::metrics::{Context, MetricCall, MetricError};
use crate::session::event::ArtifactKind;
use crate::tools::{Call, Reply, Tool, ToolError, Workbench, args, withheld};

/// Rows of the computed table that the model sees; all of them are kept.
const SHOWN_ROWS: usize = 60;

/// What the model sends: the source beside the function's own arguments.
#[derive(Debug, Deserialize, JsonSchema)]
struct Args {
    /// Id of the result (`q1`) or derived table (`m1`) to compute from.
    source: String,
    #[serde(flatten)]
    call: MetricCall,
}

/// The tool.
pub struct MetricCompute;

#[async_trait]
impl Tool for MetricCompute {
    fn name(&self) -> &'static str {
        "metric_compute"
    }

    fn description(&self) -> &'static str {
        "Computes from a result by its id, exactly and with the formula: rank, share, growth, compare (two periods), \
         moving_average, outliers, contribution, attainment, summary, coverage. Use it instead of doing sums yourself. \
         Gives a derived table with an id (m1, m2, …) to cite and chart."
    }

    fn schema(&self) -> Value {
        flat(&args::schema::<Args>())
    }

    fn artifact_prefix(&self) -> Option<char> {
        Some('m')
    }

    async fn call(&self, call: Call, at: &Workbench) -> Result<Reply, ToolError> {
        let args = read(self.name(), call.arguments)?;
        let frame = at.frame(&args.source)?;
        let id = call
            .artifact_id
            .ok_or_else(|| ToolError::CannotBeDone("no id was given for the derived table".into()))?;
        let context = Context {
            id: &id,
            source: &args.source,
            language: at.language,
        };
        let derived = args
            .call
            .compute(&frame, context)
            .map_err(|error| refused(error, &args.source, &frame, at))?;
        let derived = Arc::new(derived);
        let path = at.keep_derived(Arc::clone(&derived))?;
        let summary = format!(
            "{id}: {} of {}, {} rows",
            derived.function,
            derived.source,
            derived.rows.len()
        );
        let mut shown = (*derived).clone();
        if at.may_show(&id) {
            shown.rows.truncate(SHOWN_ROWS);
        } else {
            shown.rows.clear();
            shown.facts.clear();
            shown.notes = vec![withheld::rows(at.share, &id)];
        }
        if shown.rows.len() < derived.rows.len() {
            shown
                .notes
                .push(format!("{} of {} rows are shown", shown.rows.len(), derived.rows.len()));
        }
        let mut reply = Reply::json(&shown, summary)?;
        reply.artifacts = vec![(id.clone(), ArtifactKind::Derived, path)];
        Ok(reply)
    }

    /// The same rows give the same table.
    async fn restore(&self, call: Call, at: &Workbench) -> Result<Reply, ToolError> {
        self.call(call, at).await
    }
}

/// Why nothing was computed; what quotes values is told only where the model may see them.
fn refused(error: MetricError, source: &str, frame: &DataFrame, at: &Workbench) -> ToolError {
    let names_columns_only = matches!(error, MetricError::UnknownColumn { .. } | MetricError::NoRows { .. });
    if names_columns_only || at.may_show(source) {
        return ToolError::FixTheCall(format!("metric_compute: {error}"));
    }
    let columns: Vec<String> = frame.get_column_names().iter().map(ToString::to_string).collect();
    ToolError::FixTheCall(withheld::advice(at.share, "metric_compute", source, &columns))
}

/// Reads the source and the function's arguments, so that a refusal can name the function at fault.
fn read(tool: &str, arguments: Value) -> Result<Args, ToolError> {
    let Value::Object(mut object) = arguments else {
        return Err(ToolError::FixTheCall(format!(
            "{tool}: the arguments must be an object such as {{\"function\": \"rank\", \"source\": \"q1\", …}}"
        )));
    };
    let Some(source) = object
        .remove("source")
        .and_then(|source| source.as_str().map(str::to_owned))
    else {
        return Err(ToolError::FixTheCall(format!(
            "{tool}: `source` is missing: the id of a result or derived table, such as \"q1\""
        )));
    };
    let function = object.get("function").and_then(Value::as_str).map(str::to_owned);
    let call = serde_json::from_value(Value::Object(object)).map_err(|error| {
        let arguments = function
            .as_deref()
            .and_then(|function| variant(&args::schema::<Args>(), function).map(|schema| names(&schema)))
            .unwrap_or_else(|| "function* (rank, share, growth, compare, …)".to_owned());
        ToolError::FixTheCall(format!("{tool}: {error}. Arguments: source*, {arguments} (* required)"))
    })?;
    Ok(Args { source, call })
}

/// The part of the schema that belongs to `function`.
fn variant(schema: &Value, function: &str) -> Option<Value> {
    variants(schema)
        .into_iter()
        .find(|variant| variant.pointer("/properties/function/const").and_then(Value::as_str) == Some(function))
}

/// The variants with `$ref`s to their argument types taken in.
fn variants(schema: &Value) -> Vec<Value> {
    let Some(variants) = schema.get("oneOf").and_then(Value::as_array) else {
        return Vec::new();
    };
    let merged = |variant: &Value| {
        let mut merged = variant.clone();
        let referred = variant
            .get("$ref")
            .and_then(Value::as_str)
            .and_then(|path| schema.pointer(path.trim_start_matches('#')));
        if let (Some(referred), Some(object)) = (referred, merged.as_object_mut()) {
            let mut properties = property_map(variant);
            properties.extend(property_map(referred));
            object.insert("properties".into(), Value::Object(properties));
            let required: Vec<Value> = [variant, referred]
                .iter()
                .filter_map(|part| part.get("required")?.as_array().cloned())
                .flatten()
                .collect();
            object.insert("required".into(), Value::Array(required));
            object.remove("$ref");
        }
        merged
    };
    variants.iter().map(merged).collect()
}

fn property_map(schema: &Value) -> Map<String, Value> {
    schema
        .get("properties")
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default()
}

/// `value*, group, n`
fn names(variant: &Value) -> String {
    let required: Vec<&str> = variant
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let names: Vec<String> = property_map(variant)
        .keys()
        .map(|name| match required.contains(&name.as_str()) {
            true => format!("{name}*"),
            false => name.clone(),
        })
        .collect();
    names.join(", ")
}

/// One flat object schema: several providers refuse `oneOf` at the top. Each property says which functions take it.
fn flat(schema: &Value) -> Value {
    let mut properties = property_map(schema);
    let mut functions = Vec::new();
    let mut takers: Map<String, Value> = Map::new();
    for variant in variants(schema) {
        let Some(function) = variant.pointer("/properties/function/const").and_then(Value::as_str) else {
            continue;
        };
        functions.push(json!(function));
        for (name, property) in property_map(&variant) {
            if name == "function" {
                continue;
            }
            properties.entry(name.clone()).or_insert(property);
            if let Some(list) = takers.entry(name).or_insert_with(|| json!([])).as_array_mut() {
                list.push(json!(function));
            }
        }
    }
    for (name, functions) in &takers {
        let list: Vec<&str> = functions
            .as_array()
            .map(|list| list.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        if let Some(property) = properties.get_mut(name).and_then(Value::as_object_mut) {
            let text = property.get("description").and_then(Value::as_str).unwrap_or_default();
            let text = format!("[{}] {text}", list.join(", "));
            property.insert("description".into(), json!(text.trim_end()));
        }
    }
    properties.insert("function".into(), json!({"type": "string", "enum": functions}));
    let mut flat = json!({
        "type": "object",
        "properties": properties,
        "required": ["function", "source"],
    });
    if let (Some(definitions), Some(object)) = (schema.get("$defs"), flat.as_object_mut()) {
        object.insert("$defs".into(), definitions.clone());
    }
    flat
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_is_one_flat_object_that_names_each_functions_arguments() {
        let schema = MetricCompute.schema();
        assert_eq!(schema["type"], "object");
        assert!(schema.get("oneOf").is_none());
        assert!(
            schema["properties"]["function"]["enum"]
                .as_array()
                .unwrap()
                .contains(&json!("moving_average"))
        );
        let description = schema["properties"]["old_days"]["description"].as_str().unwrap();
        assert!(description.starts_with("[compare]"), "{description}");
    }

    #[test]
    fn a_wrong_argument_is_answered_with_those_of_its_function() {
        let refusal = read(
            "metric_compute",
            json!({"function": "compare", "source": "q1", "before": "a"}),
        )
        .unwrap_err();
        let text = refusal.to_string();
        assert!(text.contains("old*"), "{text}");
        assert!(!text.contains("window*"), "{text}");
    }
}
