//! What the conversation so far holds: the question, and what became of each call.

use std::collections::HashMap;

use crate::model::chat::{Arguments, Message, Role, ToolCall};

/// The history of a run, with replies found by the call that they answer.
pub struct Transcript<'a> {
    question: &'a str,
    replies: HashMap<&'a str, Reply<'a>>,
    /// Arguments of the last TodoWrite that was accepted.
    last_plan: Option<&'a serde_json::Value>,
    calls: Vec<&'a ToolCall>,
}

/// What a call came back with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply<'a> {
    pub text: &'a str,
    pub is_error: bool,
}

impl<'a> Transcript<'a> {
    /// Reads the history from the last message of the user on: what was said before belongs to earlier questions.
    pub fn read(messages: &'a [Message]) -> Self {
        let start = messages
            .iter()
            .rposition(|message| message.role == Role::User && !is_from_the_host(&message.text))
            .unwrap_or(0);
        let current = messages.get(start..).unwrap_or_default();
        let replies: HashMap<&str, Reply<'_>> = current
            .iter()
            .filter_map(|message| {
                let id = message.tool_call_id.as_deref()?;
                let reply = Reply {
                    text: &message.text,
                    is_error: message.is_error,
                };
                Some((id, reply))
            })
            .collect();
        let calls: Vec<&ToolCall> = current.iter().flat_map(|message| &message.tool_calls).collect();
        let last_plan = calls
            .iter()
            .filter(|call| call.name == crate::tools::todo_write::NAME)
            .filter(|call| replies.get(call.id.as_str()).is_some_and(|reply| !reply.is_error))
            .filter_map(|call| match &call.arguments {
                Arguments::Parsed(arguments) => Some(arguments),
                Arguments::Malformed { .. } => None,
            })
            .next_back();
        Self {
            question: current.first().map(|message| message.text.as_str()).unwrap_or_default(),
            replies,
            last_plan,
            calls,
        }
    }

    pub fn question(&self) -> &'a str {
        self.question
    }

    /// The reply to the call with the id `call`, once it has come.
    pub fn reply(&self, call: &str) -> Option<Reply<'a>> {
        self.replies.get(call).copied()
    }

    /// The arguments of the last accepted plan write.
    pub fn last_plan(&self) -> Option<&'a serde_json::Value> {
        self.last_plan
    }

    /// How many calls were made since the question.
    pub fn calls(&self) -> usize {
        self.calls.len()
    }

    /// Was the same call made and refused?
    pub fn refused(&self, tool: &str, arguments: &Arguments) -> bool {
        self.calls
            .iter()
            .filter(|call| call.name == tool && &call.arguments == arguments)
            .any(|call| self.reply(&call.id).is_some_and(|reply| reply.is_error))
    }
}

/// Does the host speak here, rather than the person who asked?
fn is_from_the_host(text: &str) -> bool {
    text.starts_with("<reminder>") || text.starts_with("<host>")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(id: &str, name: &str) -> ToolCall {
        ToolCall {
            id: id.into(),
            name: name.into(),
            arguments: Arguments::Parsed(json!({"of": id})),
        }
    }

    #[test]
    fn the_last_question_counts_and_replies_are_found_by_their_call() {
        let messages = [
            Message::user("how many orders?"),
            Message::assistant("", vec![call("a", "glossary")]),
            Message::tool("a", "old", false),
            Message::assistant("12", vec![]),
            Message::user("and by office?"),
            Message::assistant("", vec![call("p", "TodoWrite"), call("b", "glossary")]),
            Message::tool("p", "ok", false),
            Message::tool("b", "no such term", true),
            Message::user("<reminder>Refresh your current plan before continuing.</reminder>"),
        ];
        let transcript = Transcript::read(&messages);
        assert_eq!(transcript.question(), "and by office?");
        assert_eq!(transcript.reply("a"), None);
        assert_eq!(transcript.reply("b").map(|reply| reply.is_error), Some(true));
        assert_eq!(transcript.last_plan(), Some(&json!({"of": "p"})));
        assert_eq!(transcript.calls(), 2);
    }
}
