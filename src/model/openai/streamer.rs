//! Puts a reply together from the pieces of a stream.

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

use crate::model::chat::{
    Arguments, ChatError, ChatProgress, ChatReply, ChatRequest, Message, StopReason, ToolCall, Usage,
};
use crate::model::http::{Assemble, said};
use crate::model::retry::Fault;
use crate::model::text_calls;

/// Tool calls in one reply; what runs on beyond them is no plan any more, and the stream is ended there.
const MOST_CALLS: usize = 32;
/// Bytes of text a token has on average, for providers that count none.
const BYTES_PER_TOKEN: usize = 4;

#[derive(Debug, Default, Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Vec<Choice>,
    #[serde(default)]
    usage: Option<Counted>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
struct Choice {
    /// In a stream.
    #[serde(default)]
    delta: Option<Delta>,
    /// From servers that do not stream.
    #[serde(default)]
    message: Option<Delta>,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct Delta {
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    reasoning_content: Option<String>,
    #[serde(default)]
    refusal: Option<String>,
    #[serde(default)]
    tool_calls: Option<Vec<CallPiece>>,
}

#[derive(Debug, Default, Deserialize)]
struct CallPiece {
    #[serde(default)]
    index: Option<usize>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    function: Option<FunctionPiece>,
}

#[derive(Debug, Default, Deserialize)]
struct FunctionPiece {
    #[serde(default)]
    name: Option<String>,
    /// A string in pieces; some servers send the object itself.
    #[serde(default)]
    arguments: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
struct Counted {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
    #[serde(default)]
    prompt_tokens_details: Option<Details>,
    /// DeepSeek's name for it.
    #[serde(default)]
    prompt_cache_hit_tokens: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
struct Details {
    #[serde(default)]
    cached_tokens: Option<u64>,
}

/// A call as far as it has come.
#[derive(Debug, Default)]
struct Growing {
    index: Option<usize>,
    id: String,
    name: String,
    arguments: String,
}

/// The reply as far as it has come.
pub(super) struct Streamer {
    progress: UnboundedSender<ChatProgress>,
    text: String,
    thought: String,
    refusal: String,
    calls: Vec<Growing>,
    /// One call more than [`MOST_CALLS`] has begun.
    is_enough: bool,
    finish: Option<String>,
    usage: Option<Usage>,
}

impl Streamer {
    pub fn new(progress: UnboundedSender<ChatProgress>) -> Self {
        Self {
            progress,
            is_enough: false,
            text: String::new(),
            thought: String::new(),
            refusal: String::new(),
            calls: Vec::new(),
            finish: None,
            usage: None,
        }
    }

    fn is_empty(&self) -> bool {
        self.text.is_empty() && self.calls.is_empty() && self.thought.is_empty() && self.refusal.is_empty()
    }

    fn grow(&mut self, delta: Delta) {
        if let Some(text) = delta.content.filter(|text| !text.is_empty()) {
            self.text.push_str(&text);
            // A listener that went away is no reason to stop.
            let _ = self.progress.send(ChatProgress::TextDelta(text));
        }
        self.thought.push_str(&delta.reasoning_content.unwrap_or_default());
        self.refusal.push_str(&delta.refusal.unwrap_or_default());
        for piece in delta.tool_calls.unwrap_or_default() {
            self.grow_call(piece);
        }
    }

    /// A piece belongs to the call with its index; without one, to the last call unless it brings an id or name.
    fn grow_call(&mut self, piece: CallPiece) {
        let function = piece.function.unwrap_or_default();
        let known = match piece.index {
            Some(index) => self.calls.iter().position(|call| call.index == Some(index)),
            None if piece.id.is_some() || function.name.is_some() => None,
            None => self.calls.len().checked_sub(1),
        };
        if known.is_none() && self.calls.len() >= MOST_CALLS {
            self.is_enough = true;
            return;
        }
        let at = known.unwrap_or_else(|| {
            self.calls.push(Growing {
                index: piece.index,
                ..Growing::default()
            });
            self.calls.len() - 1
        });
        let Some(call) = self.calls.get_mut(at) else { return };
        if let Some(id) = piece.id.filter(|_| call.id.is_empty()) {
            call.id = id;
        }
        if let Some(name) = function.name.filter(|_| call.name.is_empty()) {
            call.name = name;
        }
        match function.arguments {
            Some(Value::String(text)) => call.arguments.push_str(&text),
            Some(Value::Null) | None => {}
            Some(object) => call.arguments.push_str(&object.to_string()),
        }
    }

    /// The whole reply.
    pub fn finish(self, request: &ChatRequest) -> ChatReply {
        let cut = self.finish.as_deref() == Some("length");
        let estimated = Usage {
            input: tokens(
                request.system.len() + request.messages.iter().map(|message| message.text.len()).sum::<usize>(),
            ),
            cached: 0,
            output: tokens(self.text.len() + self.calls.iter().map(|call| call.arguments.len()).sum::<usize>()),
        };
        let mut text = self.text;
        let mut calls: Vec<ToolCall> = self.calls.into_iter().map(|call| finished(call, cut)).collect();
        if calls.is_empty() {
            let parted = text_calls::part(&text, &request.tools);
            text = parted.text;
            calls = parted.calls.into_iter().map(text_calls::call_of).collect();
        }
        name_calls(&mut calls, &request.messages);
        let refused = !self.refusal.is_empty() || self.finish.as_deref() == Some("content_filter");
        let stop = match (refused, calls.is_empty(), cut) {
            (true, true, _) => StopReason::Refusal,
            (_, _, true) => StopReason::Length,
            (_, false, false) => StopReason::ToolCalls,
            (false, true, false) => StopReason::End,
        };
        if text.is_empty() && !self.refusal.is_empty() {
            text = self.refusal;
        }
        let mut message = Message::assistant(text, calls);
        if !self.thought.is_empty() {
            message.provider_blocks = Some(json!({"reasoning_content": self.thought}));
        }
        ChatReply {
            message,
            usage: self.usage.unwrap_or(estimated),
            stop,
        }
    }
}

impl Assemble for Streamer {
    fn take(&mut self, data: &str) -> Result<bool, Fault> {
        if data.trim() == "[DONE]" {
            return match self.is_empty() && self.finish.is_none() {
                true => Err(Fault::passing("the stream ended without a reply")),
                false => Ok(true),
            };
        }
        let chunk: Chunk = serde_json::from_str(data)
            .map_err(|error| Fault::passing(format!("the stream holds what is no JSON: {error}")))?;
        if let Some(error) = &chunk.error {
            return Err(failed(error, data));
        }
        if let Some(counted) = chunk.usage {
            self.usage = Some(usage(&counted));
        }
        let mut whole = false;
        for choice in chunk.choices.into_iter().take(1) {
            whole = choice.message.is_some();
            if let Some(delta) = choice.delta.or(choice.message) {
                self.grow(delta);
            }
            self.finish = choice.finish_reason.or(self.finish.take());
        }
        Ok(whole || self.is_enough)
    }

    fn is_whole(&self) -> bool {
        self.finish.is_some()
    }
}

fn failed(error: &Value, data: &str) -> Fault {
    let code = error
        .get("code")
        .map(|code| code.as_str().map_or_else(|| code.to_string(), str::to_owned));
    let told = said(data);
    match code.as_deref() {
        Some("context_length_exceeded") => Fault::Final(ChatError::ContextOverflow {
            model: "the model".to_owned(),
            detail: told,
        }),
        Some("400" | "401" | "403" | "404" | "invalid_api_key" | "model_not_found") => {
            Fault::Final(ChatError::Rejected(told))
        }
        _ => Fault::passing(told),
    }
}

fn usage(counted: &Counted) -> Usage {
    let details = counted
        .prompt_tokens_details
        .as_ref()
        .and_then(|details| details.cached_tokens);
    Usage {
        input: counted.prompt_tokens,
        cached: details.or(counted.prompt_cache_hit_tokens).unwrap_or(0),
        output: counted.completion_tokens,
    }
}

/// Tokens of a text of `bytes`, by the usual rule of thumb.
fn tokens(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(BYTES_PER_TOKEN)).unwrap_or(u64::MAX)
}

fn finished(call: Growing, cut: bool) -> ToolCall {
    ToolCall {
        id: call.id,
        name: call.name,
        arguments: arguments(&call.arguments, cut),
    }
}

/// The arguments as JSON; nothing at all counts as an empty object.
pub(in crate::model) fn arguments(text: &str, cut: bool) -> Arguments {
    if text.trim().is_empty() && !cut {
        return Arguments::Parsed(json!({}));
    }
    match serde_json::from_str(text) {
        Ok(value) => Arguments::Parsed(value),
        Err(error) => Arguments::Malformed {
            text: text.to_owned(),
            problem: match cut {
                true => "the reply was cut off by its length limit; send a shorter call".to_owned(),
                false => format!("the arguments are no JSON: {error}"),
            },
        },
    }
}

/// Gives every call an id that no other call of the conversation has.
pub(in crate::model) fn name_calls(calls: &mut [ToolCall], history: &[Message]) {
    let mut taken: Vec<String> = history
        .iter()
        .flat_map(|message| message.tool_calls.iter().map(|call| call.id.clone()))
        .collect();
    for call in calls {
        if call.id.is_empty() || taken.contains(&call.id) {
            let mut number = taken.len() + 1;
            while taken.contains(&format!("call_{number}")) {
                number += 1;
            }
            call.id = format!("call_{number}");
        }
        taken.push(call.id.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_that_makes_calls_without_end_is_ended() {
        let (progress, _told) = tokio::sync::mpsc::unbounded_channel();
        let mut streamer = Streamer::new(progress);
        let piece = |index: usize| {
            json!({"choices": [{"delta": {"tool_calls": [
                {"index": index, "id": format!("c{index}"), "function": {"name": "glossary", "arguments": "{}"}},
            ]}}]})
            .to_string()
        };
        for index in 0..MOST_CALLS {
            assert!(!streamer.take(&piece(index)).unwrap(), "{index}");
        }
        assert!(streamer.take(&piece(MOST_CALLS)).unwrap());
        let reply = streamer.finish(&ChatRequest::default());
        assert_eq!(reply.message.tool_calls.len(), MOST_CALLS);
        assert_eq!(reply.stop, StopReason::ToolCalls);
    }
}
