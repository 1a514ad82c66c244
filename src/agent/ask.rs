//! One request to the model: what happens on the way goes to the timeline, and a cancelled request ends at once.

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::model::chat::{ChatContext, ChatError, ChatModel, ChatProgress, ChatReply, ChatRequest};
use crate::session::event::EventKind;
use crate::session::timeline::{Timeline, TimelineError};

/// Asks `model` once. The outer error is the timeline's, the inner one the model's.
pub async fn ask(
    model: &dyn ChatModel,
    request: &ChatRequest,
    timeline: &Timeline,
    stop: &CancellationToken,
) -> Result<Result<ChatReply, ChatError>, TimelineError> {
    let (progress, mut heard) = mpsc::unbounded_channel();
    let context = ChatContext {
        progress,
        cancel: stop.clone(),
    };
    let reply = model.reply(request, &context);
    tokio::pin!(reply);
    let answer = loop {
        tokio::select! {
            biased;
            Some(progress) = heard.recv() => { timeline.record(told(progress))?; }
            answer = &mut reply => break answer,
            () = stop.cancelled() => break Err(ChatError::Cancelled),
        }
    };
    while let Ok(progress) = heard.try_recv() {
        timeline.record(told(progress))?;
    }
    Ok(answer)
}

fn told(progress: ChatProgress) -> EventKind {
    match progress {
        ChatProgress::TextDelta(text) => EventKind::TextDelta { text },
        ChatProgress::Retry { attempt, after, reason } => EventKind::Retry {
            attempt,
            after_ms: u64::try_from(after.as_millis()).unwrap_or(u64::MAX),
            text: reason,
        },
    }
}
