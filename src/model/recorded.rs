//! A model that says again what was recorded: for replays and for tests that need a real conversation.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::model::chat::{ChatContext, ChatError, ChatModel, ChatReply, ChatRequest, Message, StopReason, Usage};

/// Replies in the order in which they were recorded.
#[derive(Debug)]
pub struct Recorded {
    name: String,
    replies: Mutex<VecDeque<Message>>,
}

impl Recorded {
    /// `name`: the model that was recorded. `messages`: its side of the conversation.
    pub fn new(name: impl Into<String>, messages: impl IntoIterator<Item = Message>) -> Self {
        Self {
            name: name.into(),
            replies: Mutex::new(messages.into_iter().collect()),
        }
    }
}

#[async_trait::async_trait]
impl ChatModel for Recorded {
    fn name(&self) -> &str {
        &self.name
    }

    async fn reply(&self, _request: &ChatRequest, _context: &ChatContext) -> Result<ChatReply, ChatError> {
        let next = self.replies.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let message = next.ok_or_else(|| ChatError::Unavailable("the recording has ended".to_owned()))?;
        let stop = match message.tool_calls.is_empty() {
            true => StopReason::End,
            false => StopReason::ToolCalls,
        };
        Ok(ChatReply {
            message,
            usage: Usage::default(),
            stop,
        })
    }
}
