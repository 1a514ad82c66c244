//! Notices when a run goes in circles: the same call fails again and again, or turns bring nothing new.

use std::collections::HashMap;

use crate::agent::dispatch::CallRecord;
use crate::session::event::CallStatus;

/// At this many identical failures, or turns in a row without anything new, the model is told.
const TOLD_AT: u32 = 3;
/// A model that was told has one more try with the same call; turns that only repeat get two.
const FAILURES_END_AT: u32 = 4;
const IDLE_TURNS_END_AT: u32 = 5;

/// What to do after a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    GoOn,
    /// Say this to the model in its next request.
    Tell(String),
    /// The model goes in circles: no more tools.
    End(Circle),
}

/// How a model went in circles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Circle {
    /// The same call failed [`FAILURES_END_AT`] times.
    Failing { tool: String },
    /// Turn after turn asked only for what had been answered.
    Repeating,
}

/// What is remembered of a run's calls to judge by.
#[derive(Debug, Default)]
pub struct Stall {
    failures: HashMap<String, u32>,
    idle_turns: u32,
}

impl Stall {
    /// Judges a turn by its calls, in their order.
    pub fn judge(&mut self, calls: &[CallRecord]) -> Verdict {
        let mut verdict = Verdict::GoOn;
        for call in calls.iter().filter(|c| c.status == CallStatus::Error) {
            let count = self.failures.entry(call.key()).or_default();
            *count += 1;
            if *count >= FAILURES_END_AT {
                return Verdict::End(Circle::Failing {
                    tool: call.tool.clone(),
                });
            }
            if *count >= TOLD_AT {
                verdict = Verdict::Tell(format!(
                    "The same call of {} has failed {count} times. Do not send it again: change its arguments as the \
                     error says, use another tool, or answer with what is known.",
                    call.tool
                ));
            }
        }
        let news = calls.iter().any(|c| c.status == CallStatus::Ok && !c.repeated);
        let repeats = calls.iter().any(|c| c.repeated);
        match (news, repeats) {
            (true, _) => self.idle_turns = 0,
            (false, true) => self.idle_turns += 1,
            (false, false) => {}
        }
        if self.idle_turns >= IDLE_TURNS_END_AT {
            return Verdict::End(Circle::Repeating);
        }
        if self.idle_turns >= TOLD_AT && verdict == Verdict::GoOn {
            verdict = Verdict::Tell(format!(
                "The last {} turns asked only for what was answered before. Use the replies that you have: take the \
                 next step or give the answer.",
                self.idle_turns
            ));
        }
        verdict
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(sql: &str, status: CallStatus, repeated: bool) -> CallRecord {
        CallRecord {
            call_id: "1".into(),
            tool: "sql_execute".into(),
            arguments: json!({ "sql": sql }),
            artifact_id: None,
            status,
            summary: String::new(),
            elapsed_ms: 1,
            repeated,
        }
    }

    #[test]
    fn the_third_identical_failure_is_told_and_the_fourth_ends() {
        let mut stall = Stall::default();
        let fails = || [call("SELEC 1", CallStatus::Error, false)];
        assert_eq!(stall.judge(&fails()), Verdict::GoOn);
        assert_eq!(stall.judge(&[call("SELEC 2", CallStatus::Error, false)]), Verdict::GoOn);
        assert_eq!(stall.judge(&fails()), Verdict::GoOn);
        assert!(matches!(stall.judge(&fails()), Verdict::Tell(text) if text.contains("failed 3 times")));
        assert_eq!(
            stall.judge(&fails()),
            Verdict::End(Circle::Failing {
                tool: "sql_execute".into()
            })
        );
    }

    #[test]
    fn turns_that_only_repeat_are_told_and_then_ended() {
        let mut stall = Stall::default();
        let repeats = || [call("SELECT 1", CallStatus::Ok, true)];
        assert_eq!(stall.judge(&repeats()), Verdict::GoOn);
        assert_eq!(stall.judge(&repeats()), Verdict::GoOn);
        assert!(matches!(stall.judge(&repeats()), Verdict::Tell(text) if text.contains("last 3 turns")));
        assert!(matches!(stall.judge(&repeats()), Verdict::Tell(_)));
        assert_eq!(stall.judge(&repeats()), Verdict::End(Circle::Repeating));
    }

    #[test]
    fn anything_new_starts_the_count_again() {
        let mut stall = Stall::default();
        for _ in 0..20 {
            assert_eq!(stall.judge(&[call("SELECT 1", CallStatus::Ok, true)]), Verdict::GoOn);
            assert_eq!(stall.judge(&[call("SELECT 2", CallStatus::Ok, false)]), Verdict::GoOn);
        }
    }
}
