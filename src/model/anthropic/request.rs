//! The request's body: roles alternate, results of one turn share a message, and cache marks stand at the end of what
//! stays the same.

use serde_json::{Value, json};

use crate::model::chat::{Arguments, ChatRequest, Message, Role};

/// The provider requires a ceiling; a long report fits into this one.
const DEFAULT_CEILING: u32 = 8_192;

/// The body of one streaming message.
pub(super) fn body(model: &str, request: &ChatRequest) -> Value {
    let mut tools: Vec<Value> = request
        .tools
        .iter()
        .map(|tool| json!({"name": tool.name, "description": tool.description, "input_schema": tool.schema}))
        .collect();
    if let Some(last) = tools.last_mut() {
        mark(last);
    }
    let mut system = json!({"type": "text", "text": request.system});
    mark(&mut system);
    let mut body = json!({
        "model": model,
        "max_tokens": request.max_output_tokens.unwrap_or(DEFAULT_CEILING),
        "stream": true,
        "system": [system],
        "messages": messages(request),
    });
    if let (Some(object), false) = (body.as_object_mut(), tools.is_empty()) {
        object.insert("tools".into(), Value::Array(tools));
    }
    body
}

/// Says that everything up to here stays the same and is worth keeping.
fn mark(block: &mut Value) {
    if let Some(object) = block.as_object_mut() {
        object.insert("cache_control".into(), json!({"type": "ephemeral"}));
    }
}

fn messages(request: &ChatRequest) -> Vec<Value> {
    let mut turns: Vec<(&'static str, Vec<Value>)> = Vec::new();
    for message in &request.messages {
        let role = match message.role {
            Role::User | Role::Tool => "user",
            Role::Assistant => "assistant",
        };
        let blocks = blocks(message);
        match turns.last_mut() {
            Some((last, content)) if *last == role => content.extend(blocks),
            _ => turns.push((role, blocks)),
        }
    }
    if let Some(block) = turns.last_mut().and_then(|(_, content)| content.last_mut()) {
        mark(block);
    }
    if let Some(text) = &request.ephemeral {
        let block = json!({"type": "text", "text": text});
        match turns.last_mut() {
            Some(("user", content)) => content.push(block),
            _ => turns.push(("user", vec![block])),
        }
    }
    turns
        .into_iter()
        .filter(|(_, content)| !content.is_empty())
        .map(|(role, content)| json!({"role": role, "content": content}))
        .collect()
}

fn blocks(message: &Message) -> Vec<Value> {
    match message.role {
        Role::User => vec![json!({"type": "text", "text": message.text})],
        Role::Tool => vec![json!({
            "type": "tool_result",
            "tool_use_id": message.tool_call_id,
            "content": message.text,
            "is_error": message.is_error,
        })],
        Role::Assistant => assistant(message),
    }
}

/// Thinking comes back as it was sent, before what followed it.
fn assistant(message: &Message) -> Vec<Value> {
    let mut blocks: Vec<Value> = message
        .provider_blocks
        .as_ref()
        .and_then(|blocks| blocks.get("thinking"))
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    if !message.text.trim().is_empty() {
        blocks.push(json!({"type": "text", "text": message.text}));
    }
    blocks.extend(message.tool_calls.iter().map(|call| {
        let input = match &call.arguments {
            Arguments::Parsed(value) if value.is_object() => value.clone(),
            Arguments::Parsed(_) | Arguments::Malformed { .. } => json!({}),
        };
        json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input})
    }));
    blocks
}
