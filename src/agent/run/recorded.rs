//! The model's side of turns that a resumed run goes over again.

use crate::model::chat::{ChatError, ChatReply, Message, StopReason};
use crate::session::message::ReplyEnd;
use crate::session::resume::{PastTurn, TOO_LONG};

/// What the model said in a turn that is gone over again: at first that the conversation is too long, where it was so.
/// `None` where no reply was recorded.
pub(super) fn said_again(turn: &mut PastTurn) -> Option<Result<ChatReply, ChatError>> {
    if std::mem::take(&mut turn.too_long) {
        return Some(Err(ChatError::ContextOverflow {
            model: String::new(),
            detail: TOO_LONG.to_owned(),
        }));
    }
    match turn.reply.take() {
        Some(message) => {
            let end = message.reply.unwrap_or(ReplyEnd {
                usage: turn.usage,
                stop: match message.tool_calls.is_empty() {
                    true => StopReason::End,
                    false => StopReason::ToolCalls,
                },
            });
            Some(Ok(ChatReply {
                message,
                usage: end.usage,
                stop: end.stop,
            }))
        }
        None => turn.ended.then(|| {
            Ok(ChatReply {
                message: Message::assistant("", Vec::new()),
                usage: turn.usage,
                stop: StopReason::End,
            })
        }),
    }
}
