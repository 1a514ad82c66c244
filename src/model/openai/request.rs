//! The request's body: the same history always gives the same bytes, so that prompt caches hit.

use serde_json::{Map, Value, json};

use crate::model::chat::{Arguments, ChatRequest, Message, Role, ToolSpec};

/// Small models keep to the form of a call only when little is left to chance.
const TEMPERATURE_LOCAL: f64 = 0.2;

/// The body of one streaming chat completion. `is_local`: for a server on this machine, where models are small.
pub(super) fn body(model: &str, request: &ChatRequest, is_local: bool) -> Value {
    let mut messages = vec![json!({"role": "system", "content": request.system})];
    messages.extend(request.messages.iter().map(message));
    if let Some(text) = &request.ephemeral {
        append(&mut messages, text);
    }
    let mut body = json!({
        "model": model,
        "messages": messages,
        "stream": true,
        "stream_options": {"include_usage": true},
    });
    if let Some(object) = body.as_object_mut() {
        if !request.tools.is_empty() {
            object.insert("tools".into(), Value::Array(request.tools.iter().map(tool).collect()));
        }
        if is_local {
            object.insert("temperature".into(), json!(TEMPERATURE_LOCAL));
        }
        if let Some(ceiling) = request.max_output_tokens {
            object.insert("max_tokens".into(), json!(ceiling));
        }
    }
    body
}

fn message(message: &Message) -> Value {
    match message.role {
        Role::User => json!({"role": "user", "content": message.text}),
        Role::Tool => json!({
            "role": "tool",
            "tool_call_id": message.tool_call_id,
            "content": message.text,
        }),
        Role::Assistant => assistant(message),
    }
}

fn assistant(message: &Message) -> Value {
    let mut object = Map::new();
    object.insert("role".into(), json!("assistant"));
    let content = match message.text.is_empty() && !message.tool_calls.is_empty() {
        true => Value::Null,
        false => json!(message.text),
    };
    object.insert("content".into(), content);
    if let Some(thought) = message
        .provider_blocks
        .as_ref()
        .and_then(|blocks| blocks.get("reasoning_content"))
    {
        object.insert("reasoning_content".into(), thought.clone());
    }
    if !message.tool_calls.is_empty() {
        let calls: Vec<Value> = message
            .tool_calls
            .iter()
            .map(|call| {
                // What did not parse is never sent back: servers answer it with an error.
                let arguments = match &call.arguments {
                    Arguments::Parsed(value) => value.to_string(),
                    Arguments::Malformed { .. } => "{}".to_owned(),
                };
                json!({
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": arguments},
                })
            })
            .collect();
        object.insert("tool_calls".into(), Value::Array(calls));
    }
    Value::Object(object)
}

/// Appends `text` to the last message, whoever it is from.
fn append(messages: &mut Vec<Value>, text: &str) {
    let last = messages
        .last_mut()
        .filter(|last| last.get("role").and_then(Value::as_str) != Some("assistant"));
    match last.and_then(|last| last.get_mut("content")) {
        Some(Value::String(content)) => {
            content.push_str("\n\n");
            content.push_str(text);
        }
        _ => messages.push(json!({"role": "user", "content": text})),
    }
}

fn tool(tool: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema},
    })
}
