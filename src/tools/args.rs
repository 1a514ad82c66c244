//! From the JSON that a model sends to a tool's own argument type, and the schema that tells the model what to send.

use schemars::{JsonSchema, schema_for};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::tools::ToolError;

/// Reads `arguments` as `T`; nothing at all counts as an empty object.
///
/// The refusal names the tool, the fault, and the arguments that there are, required ones marked with `*`.
pub(crate) fn parse<T: DeserializeOwned + JsonSchema>(tool: &str, arguments: Value) -> Result<T, ToolError> {
    let arguments = match arguments {
        Value::Null => Value::Object(Map::new()),
        other => other,
    };
    serde_json::from_value(arguments)
        .map_err(|error| ToolError::FixTheCall(format!("{tool}: {error}. Arguments: {}", outline(&schema::<T>()))))
}

/// The JSON schema of `T`, without what only validators read.
pub(crate) fn schema<T: JsonSchema>() -> Value {
    let mut schema = schema_for!(T).to_value();
    if let Some(object) = schema.as_object_mut() {
        object.remove("$schema");
        object.remove("title");
        object.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    }
    slim(&mut schema);
    schema
}

/// Takes out what costs tokens and tells a model nothing: null among types, defaults, number formats, and enums that are
/// spelled as one schema a value.
fn slim(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(slim),
        Value::Object(object) => {
            for noise in ["default", "format", "minimum", "$comment"] {
                object.remove(noise);
            }
            if let Some(Value::Array(types)) = object.get_mut("type") {
                types.retain(|kind| kind != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    object.insert("type".into(), only);
                }
            }
            for several in ["oneOf", "anyOf"] {
                let Some(Value::Array(parts)) = object.get_mut(several) else {
                    continue;
                };
                parts.retain(|part| part.get("type").and_then(Value::as_str) != Some("null"));
                let constants: Option<Vec<Value>> = parts.iter().map(|part| part.get("const").cloned()).collect();
                let only = match parts.as_slice() {
                    [only] => only.as_object().cloned(),
                    _ => None,
                };
                if let Some(constants) = constants.filter(|constants| !constants.is_empty()) {
                    object.remove(several);
                    object.insert("enum".into(), Value::Array(constants));
                } else if let Some(only) = only {
                    object.remove(several);
                    for (name, value) in only {
                        object.entry(name).or_insert(value);
                    }
                }
            }
            object.values_mut().for_each(slim);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// `{sql*, title, accept_lints}`
fn outline(schema: &Value) -> String {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let names: Vec<String> = schema
        .get("properties")
        .and_then(Value::as_object)
        .map(|properties| properties.keys().cloned().collect())
        .unwrap_or_default();
    let marked: Vec<String> = names
        .into_iter()
        .map(|name| match required.contains(&name.as_str()) {
            true => format!("{name}*"),
            false => name,
        })
        .collect();
    format!("{{{}}} (* required)", marked.join(", "))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Args {
        sql: String,
        #[serde(default)]
        title: Option<String>,
    }

    #[test]
    fn a_wrong_argument_is_answered_with_the_right_ones() {
        let refusal = parse::<Args>("sql_execute", json!({"query": "SELECT 1"})).unwrap_err();
        let text = refusal.to_string();
        assert!(text.contains("unknown field `query`"), "{text}");
        assert!(text.contains("{sql*, title} (* required)"), "{text}");
    }

    #[test]
    fn right_arguments_are_read() {
        let args: Args = parse("sql_execute", json!({"sql": "SELECT 1"})).unwrap();
        assert_eq!((args.sql.as_str(), args.title), ("SELECT 1", None));
    }
}
