//! Going over recorded steps again: a resumed run takes the same way as before, and only what is new is written.
//!
//! The loop needs no second code path to resume: it runs from its beginning with the recorded replies, and each event
//! that it records meets the one that is in the file already.

use std::collections::VecDeque;

use crate::session::event::{Event, EventKind};

/// The recorded events that a resumed run has still to meet, in their order.
#[derive(Debug, Default)]
pub struct Retrace {
    left: VecDeque<Event>,
    /// Lines of the file could not be read, so events may be missing.
    has_gaps: bool,
}

/// What an event is to the file.
#[derive(Debug, PartialEq)]
pub(super) enum Met {
    /// It is there, with this number.
    Known(u64),
    /// It was never written.
    New,
    /// It stood in a line that could not be read; the file goes on after it.
    Lost,
    /// The file says something else.
    Differs(Box<Difference>),
}

/// Where a resumed run left the recorded way.
#[derive(Debug, PartialEq)]
pub(super) struct Difference {
    pub seq: u64,
    pub expected: &'static str,
    pub found: &'static str,
}

impl Retrace {
    /// `left`: what the run recorded, without `session_started`. `has_gaps`: whether lines were damaged.
    pub fn new(left: impl IntoIterator<Item = Event>, has_gaps: bool) -> Self {
        Self {
            left: left.into_iter().collect(),
            has_gaps,
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.left.is_empty()
    }

    /// Looks for `kind` among the events of the turn that is being gone over.
    ///
    /// Calls of one turn run side by side, so their events may have been written in another order.
    pub(super) fn meet(&mut self, kind: &EventKind) -> Met {
        let turn_end = self.left.iter().position(|event| is_turn_end(&event.kind));
        let window = turn_end.map_or(self.left.len(), |at| at + 1);
        let found = self
            .left
            .iter()
            .take(window)
            .position(|event| is_same(&event.kind, kind));
        let Some(at) = found else {
            return match (turn_end, self.left.front()) {
                (Some(_), Some(front)) if !self.has_gaps => differs(front, kind),
                (Some(_), _) => Met::Lost,
                (None, _) => {
                    if matches!(kind, EventKind::TurnStarted { .. }) {
                        // A new turn: what is left of the one before will not come any more.
                        self.left.clear();
                    }
                    Met::New
                }
            };
        };
        if turn_end == Some(at) {
            let passed_over = self.left.iter().take(at).find(|event| !may_be_missing(&event.kind));
            if let Some(event) = passed_over.filter(|_| !self.has_gaps) {
                return differs(event, kind);
            }
            let known = self.left.drain(..=at).next_back();
            return known.map_or(Met::New, |event| Met::Known(event.seq));
        }
        self.left.remove(at).map_or(Met::New, |event| Met::Known(event.seq))
    }
}

fn differs(expected: &Event, found: &EventKind) -> Met {
    Met::Differs(Box::new(Difference {
        seq: expected.seq,
        expected: expected.kind.name(),
        found: found.name(),
    }))
}

fn is_turn_end(kind: &EventKind) -> bool {
    matches!(kind, EventKind::TurnFinished { .. })
}

/// Retries were a matter of that day's network.
fn may_be_missing(kind: &EventKind) -> bool {
    matches!(kind, EventKind::Retry { .. })
}

/// Do both say the same, whatever the time they took?
fn is_same(recorded: &EventKind, now: &EventKind) -> bool {
    match (recorded, now) {
        (EventKind::TurnFinished { run, turn, .. }, EventKind::TurnFinished { run: r, turn: t, .. }) => {
            (run, turn) == (r, t)
        }
        (
            EventKind::ToolFinished {
                call_id,
                tool,
                status,
                reply,
                ..
            },
            EventKind::ToolFinished {
                call_id: c,
                tool: t,
                status: s,
                reply: r,
                ..
            },
        ) => (call_id, tool, status, reply) == (c, t, s, r),
        (a, b) => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::event::{CallStatus, Usage};

    fn started(id: &str) -> EventKind {
        EventKind::ToolStarted {
            call_id: id.into(),
            tool: "sql_execute".into(),
            arguments: serde_json::json!({}),
            artifact_id: None,
        }
    }

    fn finished(id: &str, elapsed_ms: u64) -> EventKind {
        EventKind::ToolFinished {
            call_id: id.into(),
            tool: "sql_execute".into(),
            status: CallStatus::Ok,
            elapsed_ms,
            summary: "1 row".into(),
            reply: "r".into(),
        }
    }

    fn turn(turn: u32, elapsed_ms: u64) -> EventKind {
        EventKind::TurnFinished {
            run: 1,
            turn,
            usage: Usage::default(),
            elapsed_ms,
        }
    }

    fn retrace(kinds: Vec<EventKind>, has_gaps: bool) -> Retrace {
        Retrace::new(
            kinds.into_iter().zip(1..).map(|(kind, seq)| Event::now(seq, kind)),
            has_gaps,
        )
    }

    #[test]
    fn calls_of_a_turn_are_met_in_any_order_and_the_unfinished_one_is_new() {
        let mut steps = retrace(
            vec![
                started("a"),
                started("b"),
                finished("a", 9),
                finished("b", 7),
                turn(1, 20),
                started("c"),
            ],
            false,
        );
        let met: Vec<Met> = [
            started("a"),
            finished("a", 0),
            started("b"),
            finished("b", 0),
            turn(1, 0),
        ]
        .iter()
        .map(|kind| steps.meet(kind))
        .collect();
        assert_eq!(met, [1, 3, 2, 4, 5].map(Met::Known));
        assert_eq!(steps.meet(&started("c")), Met::Known(6));
        assert!(steps.is_over());
        assert_eq!(steps.meet(&finished("c", 1)), Met::New);
    }

    #[test]
    fn another_way_is_noticed_unless_lines_were_lost() {
        let kinds = || vec![started("a"), finished("a", 1), turn(1, 1)];
        let Met::Differs(difference) = retrace(kinds(), false).meet(&started("b")) else {
            panic!("it is not the same call")
        };
        assert_eq!(
            (difference.seq, difference.expected, difference.found),
            (1, "tool_started", "tool_started")
        );
        assert_eq!(retrace(kinds(), true).meet(&started("b")), Met::Lost);
        // A step that was recorded and does not come again is another way as well.
        let mut steps = retrace(kinds(), false);
        steps.meet(&started("a"));
        assert!(matches!(steps.meet(&turn(1, 1)), Met::Differs(_)));
    }
}
