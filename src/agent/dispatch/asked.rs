//! What a call asks for: its arguments, what makes two calls the same, and advice where it asks wrongly.

use serde_json::Value;

use crate::session::message::{Arguments, ToolCall};
use crate::tools::{Registry, Tool};

/// A name that is less like the wanted one than this is not worth proposing.
const NEAR_ENOUGH: f64 = 0.7;

/// The arguments as a value, or the text that is none. An object that arrives as a JSON string is parsed once.
pub(super) fn arguments_of(arguments: &Arguments) -> Result<Value, &str> {
    match arguments {
        Arguments::Malformed { text, .. } => Err(text),
        Arguments::Parsed(Value::String(text)) => Ok(match serde_json::from_str(text) {
            Ok(parsed @ (Value::Object(_) | Value::Array(_))) => parsed,
            _ => Value::String(text.clone()),
        }),
        Arguments::Parsed(value) => Ok(value.clone()),
    }
}

/// One text for a call and all that ask for the same, however their fields are ordered.
pub(super) fn key(tool: &str, arguments: &Value) -> String {
    format!("{tool} {}", sorted(arguments))
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut pairs: Vec<_> = fields.iter().map(|(k, v)| (k.clone(), sorted(v))).collect();
            pairs.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(pairs.into_iter().collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        other => other.clone(),
    }
}

pub(super) fn unknown_tool(name: &str, registry: &Registry) -> String {
    let wanted = name.to_lowercase();
    let mut near: Vec<(f64, &str)> = registry
        .iter()
        .map(|tool| (strsim::jaro_winkler(&wanted, &tool.name().to_lowercase()), tool.name()))
        .filter(|(likeness, _)| *likeness >= NEAR_ENOUGH)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let all = registry.iter().map(Tool::name).collect::<Vec<_>>().join(", ");
    match near.first() {
        Some((_, nearest)) => format!("there is no tool `{name}`; did you mean `{nearest}`? The tools are: {all}"),
        None => format!("there is no tool `{name}`; the tools are: {all}"),
    }
}

pub(super) fn malformed(call: &ToolCall, tool: &dyn Tool) -> String {
    let problem = match &call.arguments {
        Arguments::Malformed { problem, .. } => problem.as_str(),
        Arguments::Parsed(_) => "not an object",
    };
    let schema = tool.schema();
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let fields: Vec<String> = schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(|properties| properties.keys())
        .map(|name| {
            if required.contains(&name.as_str()) {
                format!("{name} (required)")
            } else {
                name.clone()
            }
        })
        .collect();
    format!(
        "the arguments of {} are not JSON ({problem}), so it was not run; send one JSON object with the fields: {}",
        call.name,
        if fields.is_empty() {
            "none".to_owned()
        } else {
            fields.join(", ")
        }
    )
}
