//! The transcript's messages: what the model said, what the tools replied.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::session::event::Usage;

/// Who a message is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    User,
    Assistant,
    /// The result of one tool call.
    Tool,
}

/// One call of a tool, as the model asked for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCall {
    /// The provider's id, or one that the host made where the provider gave none; unique in a run.
    pub id: String,
    pub name: String,
    pub arguments: Arguments,
}

/// The arguments of a call: what parsed, or the text that did not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arguments {
    Parsed(Value),
    /// Not JSON, or cut off: answered with an error and never sent back to the provider as it was.
    Malformed {
        text: String,
        problem: String,
    },
}

/// Why a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The model was done.
    End,
    ToolCalls,
    /// Cut off by the output ceiling.
    Length,
    /// The provider or model declined to answer.
    Refusal,
}

/// What a reply of the model cost, and why it ended: what a resumed run has to know beside the message itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReplyEnd {
    pub usage: Usage,
    pub stop: StopReason,
}

/// One message of the history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Message {
    pub role: Role,
    pub text: String,
    /// Calls that an assistant message makes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// The call that a tool message answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// Whether a tool message reports an error.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// The provider's own blocks (thinking, signatures) that must be sent back as they came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_blocks: Option<Value>,
    /// Set by the loop on what the model said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<ReplyEnd>,
}

impl Message {
    fn new(role: Role, text: impl Into<String>) -> Self {
        Self {
            role,
            text: text.into(),
            tool_calls: Vec::new(),
            tool_call_id: None,
            is_error: false,
            provider_blocks: None,
            reply: None,
        }
    }
    pub fn user(text: impl Into<String>) -> Self {
        Self::new(Role::User, text)
    }
    pub fn assistant(text: impl Into<String>, tool_calls: Vec<ToolCall>) -> Self {
        Self {
            tool_calls,
            ..Self::new(Role::Assistant, text)
        }
    }
    pub fn tool(call_id: impl Into<String>, text: impl Into<String>, is_error: bool) -> Self {
        Self {
            tool_call_id: Some(call_id.into()),
            is_error,
            ..Self::new(Role::Tool, text)
        }
    }
}
