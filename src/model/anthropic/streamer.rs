//! Puts a reply together from the events of a stream.

use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

use crate::model::chat::{ChatError, ChatProgress, ChatReply, ChatRequest, Message, StopReason, ToolCall, Usage};
use crate::model::http::{Assemble, said};
use crate::model::openai::streamer::{arguments, name_calls};
use crate::model::retry::Fault;
use crate::model::text_calls;

/// One block of the reply as far as it has come.
#[derive(Debug)]
enum Block {
    Text(String),
    /// Kept whole, with its signature, to be sent back.
    Thinking(Value),
    Call {
        id: String,
        name: String,
        arguments: String,
    },
}

/// The reply as far as it has come.
pub(super) struct Streamer {
    progress: UnboundedSender<ChatProgress>,
    blocks: Vec<Block>,
    stop: Option<String>,
    usage: Usage,
}

impl Streamer {
    pub fn new(progress: UnboundedSender<ChatProgress>) -> Self {
        Self {
            progress,
            blocks: Vec::new(),
            stop: None,
            usage: Usage::default(),
        }
    }

    fn count(&mut self, usage: Option<&Value>) {
        let number = |name: &str| usage.and_then(|usage| usage.get(name)).and_then(Value::as_u64);
        let cached = number("cache_read_input_tokens");
        if let Some(input) = number("input_tokens") {
            // The provider counts what it read from and wrote to its cache beside the rest.
            self.usage.input = input + cached.unwrap_or(0) + number("cache_creation_input_tokens").unwrap_or(0);
        }
        self.usage.cached = cached.unwrap_or(self.usage.cached);
        self.usage.output = number("output_tokens").unwrap_or(self.usage.output);
    }

    fn open(&mut self, block: Option<&Value>) {
        let Some(block) = block else { return };
        let text = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let opened = match block.get("type").and_then(Value::as_str).unwrap_or_default() {
            "tool_use" => Block::Call {
                id: text("id"),
                name: text("name"),
                arguments: match block.get("input") {
                    Some(Value::Object(input)) if !input.is_empty() => Value::Object(input.clone()).to_string(),
                    _ => String::new(),
                },
            },
            "thinking" | "redacted_thinking" => Block::Thinking(block.clone()),
            _ => Block::Text(text("text")),
        };
        self.blocks.push(opened);
    }

    fn grow(&mut self, delta: Option<&Value>) {
        let (Some(delta), Some(block)) = (delta, self.blocks.last_mut()) else {
            return;
        };
        let piece = |name: &str| delta.get(name).and_then(Value::as_str).unwrap_or_default();
        match block {
            Block::Text(text) => {
                text.push_str(piece("text"));
                // A listener that went away is no reason to stop.
                let _ = self.progress.send(ChatProgress::TextDelta(piece("text").to_owned()));
            }
            Block::Call { arguments, .. } => arguments.push_str(piece("partial_json")),
            Block::Thinking(whole) => {
                for name in ["thinking", "signature"] {
                    let grown = whole.get(name).and_then(Value::as_str).unwrap_or_default().to_owned() + piece(name);
                    if let (Some(object), false) = (whole.as_object_mut(), grown.is_empty()) {
                        object.insert(name.to_owned(), json!(grown));
                    }
                }
            }
        }
    }

    /// The whole reply.
    pub fn finish(self, request: &ChatRequest) -> ChatReply {
        let cut = self.stop.as_deref() == Some("max_tokens");
        let (mut text, mut calls, mut thinking) = (String::new(), Vec::new(), Vec::new());
        let last = self.blocks.len().saturating_sub(1);
        for (at, block) in self.blocks.into_iter().enumerate() {
            match block {
                Block::Text(part) => text.push_str(&part),
                Block::Thinking(whole) => thinking.push(whole),
                Block::Call {
                    id,
                    name,
                    arguments: json,
                } => calls.push(ToolCall {
                    id,
                    name,
                    arguments: arguments(&json, cut && at == last),
                }),
            }
        }
        if calls.is_empty() {
            let parted = text_calls::part(&text, &request.tools);
            text = parted.text;
            calls = parted.calls.into_iter().map(text_calls::call_of).collect();
        }
        name_calls(&mut calls, &request.messages);
        let stop = match (self.stop.as_deref(), calls.is_empty()) {
            (Some("refusal"), true) => StopReason::Refusal,
            (Some("max_tokens"), _) => StopReason::Length,
            (_, false) => StopReason::ToolCalls,
            (_, true) => StopReason::End,
        };
        let mut message = Message::assistant(text, calls);
        if !thinking.is_empty() {
            message.provider_blocks = Some(json!({"thinking": thinking}));
        }
        ChatReply {
            message,
            usage: self.usage,
            stop,
        }
    }
}

impl Assemble for Streamer {
    fn take(&mut self, data: &str) -> Result<bool, Fault> {
        let event: Value = serde_json::from_str(data)
            .map_err(|error| Fault::passing(format!("the stream holds what is no JSON: {error}")))?;
        match event.get("type").and_then(Value::as_str).unwrap_or_default() {
            "message_start" => self.count(event.pointer("/message/usage")),
            "content_block_start" => self.open(event.get("content_block")),
            "content_block_delta" => self.grow(event.get("delta")),
            "message_delta" => {
                self.count(event.get("usage"));
                if let Some(stop) = event.pointer("/delta/stop_reason").and_then(Value::as_str) {
                    self.stop = Some(stop.to_owned());
                }
            }
            "message_stop" => return Ok(true),
            "error" => return Err(failed(&event, data)),
            // `ping`, `content_block_stop`, and kinds that do not exist yet.
            _ => {}
        }
        Ok(false)
    }

    fn is_whole(&self) -> bool {
        self.stop.is_some()
    }
}

fn failed(event: &Value, data: &str) -> Fault {
    let told = said(data);
    match event.pointer("/error/type").and_then(Value::as_str) {
        Some("invalid_request_error" | "authentication_error" | "permission_error" | "not_found_error") => {
            Fault::Final(ChatError::Rejected(told))
        }
        _ => Fault::passing(told),
    }
}
