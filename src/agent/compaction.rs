//! Keeps a conversation within what the model can hold: old tool results become handles, then old turns a summary.
//!
//! The question, the skill, the plan and the ledger are never lost: the prompt holds the skill, the plan is restated
//! from the store, and the summary is made from the question and the ledger, not from memory.

use crate::agent::dispatch::CallRecord;
use crate::session::event::CallStatus;
use crate::session::message::{Arguments, Message, Role};

/// Tool results below this size are not worth a handle.
const SMALL_BYTES: usize = 800;
/// How much of a shortened result stays, so that the model recognises it.
const KEPT_CHARS: usize = 240;
/// The latest turns are what the model works on.
const RECENT_TURNS: usize = 2;

/// Estimates the tokens of a text: four ASCII characters, or one other character, a token.
pub fn estimate_tokens(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let others = text.chars().filter(|c| !c.is_ascii()).count();
    (ascii.div_ceil(4) + others) as u64
}

/// Estimates the tokens of messages, their calls included.
pub fn estimate_messages(messages: &[Message]) -> u64 {
    let of_call = |arguments: &Arguments| match arguments {
        Arguments::Parsed(value) => estimate_tokens(&value.to_string()),
        Arguments::Malformed { problem, .. } => estimate_tokens(problem),
    };
    messages
        .iter()
        .map(|m| estimate_tokens(&m.text) + m.tool_calls.iter().map(|c| of_call(&c.arguments) + 8).sum::<u64>() + 4)
        .sum()
}

/// Makes `messages` smaller than `target` tokens, as far as that goes. Returns what was done, or `None` if nothing was.
///
/// `question_at`: where the run's question stands. `ledger`: the run's calls, for the summary.
pub fn compact(messages: &mut Vec<Message>, question_at: usize, ledger: &[CallRecord], target: u64) -> Option<String> {
    let before = estimate_messages(messages);
    if before <= target {
        return None;
    }
    let mut shortened = 0;
    let mut folded = 0;
    for keep in (1..=RECENT_TURNS).rev() {
        shortened += shorten_old_results(messages, keep);
        if estimate_messages(messages) > target {
            folded += fold_old_turns(messages, question_at, ledger, keep);
        }
        if estimate_messages(messages) <= target {
            break;
        }
    }
    let after = estimate_messages(messages);
    (after < before).then(|| {
        format!("about {before} tokens became {after}: {shortened} results shortened, {folded} messages summarised")
    })
}

/// Where the last `turns` turns begin: at the assistant message of the first of them.
fn start_of_recent(messages: &[Message], turns: usize) -> usize {
    let starts: Vec<usize> = messages
        .iter()
        .enumerate()
        .filter(|(_, m)| m.role == Role::Assistant)
        .map(|(index, _)| index)
        .collect();
    starts
        .len()
        .checked_sub(turns)
        .and_then(|at| starts.get(at))
        .copied()
        .unwrap_or(0)
}

/// Replaces large tool results before the recent turns by handles. Returns how many.
fn shorten_old_results(messages: &mut [Message], keep: usize) -> usize {
    let recent = start_of_recent(messages, keep);
    let mut count = 0;
    for message in messages
        .iter_mut()
        .take(recent)
        .filter(|m| m.role == Role::Tool && m.text.len() > SMALL_BYTES)
    {
        let beginning: String = message.text.chars().take(KEPT_CHARS).collect();
        message.text = format!(
            "{beginning}…\n(shortened from {} bytes; what it made is stored under its id, and the same call gives the whole \
             reply again)",
            message.text.len()
        );
        count += 1;
    }
    count
}

/// Takes the run's older turns out and says in the question's message what they came to. Returns how many messages went.
fn fold_old_turns(messages: &mut Vec<Message>, question_at: usize, ledger: &[CallRecord], keep: usize) -> usize {
    let (from, to) = (question_at + 1, start_of_recent(messages, keep));
    if to <= from {
        return 0;
    }
    let gone: Vec<Message> = messages.drain(from..to).collect();
    let answered: Vec<&str> = gone.iter().filter_map(|m| m.tool_call_id.as_deref()).collect();
    let lines: Vec<String> = ledger
        .iter()
        .filter(|c| answered.contains(&c.call_id.as_str()) && !c.repeated)
        .map(|call| {
            let made = call
                .artifact_id
                .as_deref()
                .map(|id| format!("[{id}] "))
                .unwrap_or_default();
            let ended = if call.status == CallStatus::Ok { "" } else { "failed: " };
            let asked: String = call.arguments.to_string().chars().take(KEPT_CHARS).collect();
            format!("- {made}{} {asked} → {ended}{}", call.tool, call.summary)
        })
        .collect();
    if let Some(question) = messages.get_mut(question_at) {
        question.text = format!(
            "{}\n\n<earlier>\nYour earlier turns of this run, summarised; results keep their ids:\n{}\n</earlier>",
            question.text,
            lines.join("\n")
        );
    }
    gone.len()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::session::message::ToolCall;

    fn turn(number: u32, bytes: usize) -> [Message; 2] {
        let call = ToolCall {
            id: format!("call{number}"),
            name: "sql_execute".into(),
            arguments: Arguments::Parsed(json!({"sql": format!("SELECT {number}")})),
        };
        let text = format!("result {number} {}", "x".repeat(bytes));
        [
            Message::assistant("", vec![call.clone()]),
            Message::tool(call.id, text, false),
        ]
    }

    fn record(number: u32) -> CallRecord {
        CallRecord {
            call_id: format!("call{number}"),
            tool: "sql_execute".into(),
            arguments: json!({"sql": format!("SELECT {number}")}),
            artifact_id: Some(format!("q{number}")),
            status: CallStatus::Ok,
            summary: "1 row".into(),
            elapsed_ms: 1,
            repeated: false,
        }
    }

    fn conversation(turns: u32, bytes: usize) -> (Vec<Message>, Vec<CallRecord>) {
        let mut messages = vec![Message::user("how many?")];
        messages.extend((1..=turns).flat_map(|n| turn(n, bytes)));
        (messages, (1..=turns).map(record).collect())
    }

    /// Every tool message answers a call of the assistant message before it.
    fn assert_well_formed(messages: &[Message]) {
        let mut open: Vec<&str> = vec![];
        for message in messages {
            match message.role {
                Role::Tool => {
                    let id = message.tool_call_id.as_deref().unwrap();
                    assert!(open.contains(&id), "{id} answers nothing");
                    open.retain(|o| *o != id);
                }
                Role::Assistant | Role::User => {
                    assert!(open.is_empty(), "{open:?} unanswered");
                    open = message.tool_calls.iter().map(|c| c.id.as_str()).collect();
                }
            }
        }
        assert!(open.is_empty());
    }

    #[test]
    fn tokens_are_estimated_by_script() {
        assert_eq!(estimate_tokens("SELECT 1"), 2);
        assert_eq!(estimate_tokens("销售额"), 3);
    }

    #[test]
    fn a_conversation_that_fits_is_left_alone() {
        let (mut messages, ledger) = conversation(5, 100);
        assert_eq!(compact(&mut messages, 0, &ledger, 10_000), None);
    }

    #[test]
    fn old_results_become_handles_and_recent_ones_stay() {
        let (mut messages, ledger) = conversation(5, 4_000);
        assert!(compact(&mut messages, 0, &ledger, 2_600).is_some());
        assert_eq!(messages.len(), 11);
        assert!(messages[2].text.starts_with("result 1 xxx") && messages[2].text.contains("shortened from 4009 bytes"));
        assert_eq!(messages[8].text.len(), 4_009);
        assert_well_formed(&messages);
    }

    #[test]
    fn old_turns_become_a_summary_that_keeps_question_and_ids() {
        let (mut messages, ledger) = conversation(50, 700);
        assert!(compact(&mut messages, 0, &ledger, 2_500).is_some());
        assert_eq!(messages.len(), 5);
        assert!(messages[0].text.starts_with("how many?\n\n<earlier>"));
        assert!(
            messages[0]
                .text
                .contains("- [q1] sql_execute {\"sql\":\"SELECT 1\"} → 1 row\n")
        );
        assert!(!messages[0].text.contains("[q49]"));
        assert_well_formed(&messages);
    }
}
