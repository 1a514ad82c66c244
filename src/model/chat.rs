//! What goes to a chat model and what comes back, the same for every provider.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

pub use crate::session::event::Usage;
pub use crate::session::message::{Arguments, Message, Role, StopReason, ToolCall};

/// A tool as it is offered to a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// JSON schema of the arguments.
    pub schema: Value,
}

/// One request. `system` and `tools` stay the same through a run so that prompt caches hit.
#[derive(Debug, Clone, Default)]
pub struct ChatRequest {
    pub system: String,
    pub messages: Vec<Message>,
    /// Text appended to the last message of this request alone; never stored in the history.
    pub ephemeral: Option<String>,
    pub tools: Vec<ToolSpec>,
    /// Ceiling of the reply in tokens; `None` leaves it to the provider.
    pub max_output_tokens: Option<u32>,
}

/// One whole reply.
#[derive(Debug, Clone)]
pub struct ChatReply {
    pub message: Message,
    pub usage: Usage,
    pub stop: StopReason,
}

/// What happens while a reply is on its way.
#[derive(Debug, Clone)]
pub enum ChatProgress {
    TextDelta(String),
    /// The request failed in a way that may pass, and is tried again after `after`.
    Retry {
        attempt: u32,
        after: Duration,
        reason: String,
    },
}

/// What a model needs beside the request: where to report progress, and when to stop.
#[derive(Debug, Clone)]
pub struct ChatContext {
    pub progress: UnboundedSender<ChatProgress>,
    pub cancel: CancellationToken,
}

/// Why no reply came. Every message is free of keys.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ChatError {
    /// The history is too long for the model: compact once and try again.
    #[error("the conversation is too long for {model}: {detail}")]
    ContextOverflow { model: String, detail: String },
    /// Wrong key, unknown model, malformed request: trying again cannot help.
    #[error("{0}")]
    Rejected(String),
    /// Still failing after all retries.
    #[error("{0}")]
    Unavailable(String),
    #[error("the model call was cancelled")]
    Cancelled,
}

/// Anything that answers a conversation with text and tool calls.
#[async_trait::async_trait]
pub trait ChatModel: Send + Sync {
    /// How reports and logs name it, such as `builtin` or `openai:gpt-5`.
    fn name(&self) -> &str;
    async fn reply(&self, request: &ChatRequest, context: &ChatContext) -> Result<ChatReply, ChatError>;
}
