//! Calls that a model wrote as plain text because its template knows no better.
//!
//! Read are `<tool_call>…</tool_call>`, `<tools>…</tools>`, a fenced block, and a bare object or array, each holding
//! `{"name": …, "arguments": {…}}`. Only names of tools that were offered count, so that JSON which belongs to an answer
//! stays where it is.

use serde_json::{Map, Value};

use crate::model::chat::{Arguments, ToolCall, ToolSpec};

/// What a text holds beside its calls.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parted {
    pub text: String,
    /// Name and arguments of each call, in order.
    pub calls: Vec<(String, Value)>,
}

/// Takes the calls of offered tools out of `text`.
pub(super) fn part(text: &str, tools: &[ToolSpec]) -> Parted {
    let mut parted = Parted {
        text: text.to_owned(),
        calls: Vec::new(),
    };
    for (open, close) in [
        ("<tool_call>", "</tool_call>"),
        ("<tools>", "</tools>"),
        ("```json", "```"),
        ("```", "```"),
    ] {
        take_marked(&mut parted, open, close, tools);
    }
    if parted.calls.is_empty() {
        take_bare(&mut parted, tools);
    }
    parted.text = parted.text.trim().to_owned();
    parted
}

/// A call as the loop takes it; its id is given later, since the text has none.
pub(super) fn call_of((name, arguments): (String, Value)) -> ToolCall {
    ToolCall {
        id: String::new(),
        name,
        arguments: Arguments::Parsed(arguments),
    }
}

/// Takes out every block between `open` and `close` that holds nothing but calls. The last one may lack its end.
fn take_marked(parted: &mut Parted, open: &str, close: &str, tools: &[ToolSpec]) {
    let mut kept = String::new();
    let mut rest = parted.text.as_str();
    let mut found = Vec::new();
    while let Some((before, after)) = rest.split_once(open) {
        kept.push_str(before);
        let (inside, behind) = after.split_once(close).unwrap_or((after, ""));
        match calls_in(inside, tools) {
            Some(calls) => found.extend(calls),
            None => {
                kept.push_str(open);
                kept.push_str(inside);
                if after.contains(close) {
                    kept.push_str(close);
                }
            }
        }
        rest = behind;
    }
    kept.push_str(rest);
    parted.calls.extend(found);
    parted.text = kept;
}

/// A reply that is, from some brace on, nothing but calls.
fn take_bare(parted: &mut Parted, tools: &[ToolSpec]) {
    let Some(start) = parted.text.find(['{', '[']) else {
        return;
    };
    let (before, json) = parted.text.split_at(start);
    if let Some(calls) = calls_in(json, tools) {
        parted.calls = calls;
        parted.text = before.to_owned();
    }
}

/// The calls in `text`, if it holds one or more and nothing else.
fn calls_in(text: &str, tools: &[ToolSpec]) -> Option<Vec<(String, Value)>> {
    let mut calls = Vec::new();
    let values = serde_json::Deserializer::from_str(text.trim()).into_iter::<Value>();
    for value in values {
        match value.ok()? {
            Value::Array(items) => {
                for item in items {
                    calls.push(call(&item, tools)?);
                }
            }
            value => calls.push(call(&value, tools)?),
        }
    }
    (!calls.is_empty()).then_some(calls)
}

fn call(value: &Value, tools: &[ToolSpec]) -> Option<(String, Value)> {
    let object = value.as_object()?;
    let object = object.get("function").and_then(Value::as_object).unwrap_or(object);
    let name = object.get("name")?.as_str()?;
    if !tools.iter().any(|tool| tool.name == name) {
        return None;
    }
    let arguments = object.get("arguments").or_else(|| object.get("parameters"));
    let arguments = match arguments {
        None => Value::Object(Map::new()),
        // Some write the arguments as a string that holds JSON.
        Some(Value::String(text)) => serde_json::from_str(text).ok()?,
        Some(other) => other.clone(),
    };
    Some((name.to_owned(), arguments))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn tools() -> Vec<ToolSpec> {
        ["sql_execute", "glossary"]
            .map(|name| ToolSpec {
                name: name.into(),
                description: String::new(),
                schema: json!({}),
            })
            .to_vec()
    }

    #[rstest]
    #[case(
        "<tool_call>\n{\"name\": \"sql_execute\", \"arguments\": {\"sql\": \"SELECT 1\"}}\n</tool_call>",
        ""
    )]
    #[case(
        "I look.\n<tools>{\"name\": \"sql_execute\", \"arguments\": {\"sql\": \"SELECT 1\"}}</tools>",
        "I look."
    )]
    #[case(
        "```json\n{\"name\": \"sql_execute\", \"arguments\": {\"sql\": \"SELECT 1\"}}\n```",
        ""
    )]
    #[case("```\n{\"name\": \"sql_execute\", \"parameters\": {\"sql\": \"SELECT 1\"}}\n```", "")]
    #[case(
        "{\"name\": \"sql_execute\", \"arguments\": \"{\\\"sql\\\": \\\"SELECT 1\\\"}\"}",
        ""
    )]
    #[case(
        "[{\"function\": {\"name\": \"sql_execute\", \"arguments\": {\"sql\": \"SELECT 1\"}}}]",
        ""
    )]
    #[case("<tool_call>{\"name\": \"sql_execute\", \"arguments\": {\"sql\": \"SELECT 1\"}}", "")]
    fn a_call_in_plain_text_is_found(#[case] text: &str, #[case] left: &str) {
        let parted = part(text, &tools());
        assert_eq!(parted.calls, [("sql_execute".to_owned(), json!({"sql": "SELECT 1"}))]);
        assert_eq!(parted.text, left);
    }

    #[rstest]
    #[case("The result:\n```json\n{\"name\": \"Anna\", \"sales\": 3}\n```")]
    #[case("```sql\nSELECT 1\n```")]
    #[case("Sales were {high} [q1].")]
    #[case("{\"name\": \"rm_rf\", \"arguments\": {}}")]
    fn json_that_belongs_to_the_answer_stays(#[case] text: &str) {
        assert_eq!(
            part(text, &tools()),
            Parted {
                text: text.to_owned(),
                calls: vec![]
            }
        );
    }

    #[test]
    fn several_calls_keep_their_order() {
        let text = "<tool_call>{\"name\":\"glossary\",\"arguments\":{}}</tool_call>\n<tool_call>{\"name\":\"sql_execute\",\"arguments\":{}}</tool_call>";
        let names: Vec<String> = part(text, &tools()).calls.into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["glossary", "sql_execute"]);
    }
}
