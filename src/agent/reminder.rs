//! When to remind the model of its plan, and when to show it the plan again.

use crate::session::todo::{self, TodoItem};

/// What a reminder says. It goes into one request and is never stored in the history.
pub const REMINDER: &str = "<reminder>Refresh your current plan before continuing.</reminder>";

/// A plan reply older than this many turns has sunk too deep for a model to look at.
const IN_SIGHT_TURNS: u32 = 2;

/// Counts turns in which an open plan was not refreshed. Each reminder doubles the wait for the next.
#[derive(Debug, Clone)]
pub struct Reminder {
    /// Turns until the first reminder; 0 switches reminders off.
    first_after: u32,
    /// Turns that the next reminder waits for.
    wait: u32,
    quiet_turns: u32,
}

impl Reminder {
    pub fn new(first_after: u32) -> Self {
        Self {
            first_after,
            wait: first_after,
            quiet_turns: 0,
        }
    }

    /// Judges a turn that has ended: does the next request carry a reminder?
    ///
    /// `plan_written`: a plan write succeeded in it (only success counts). `open`: the stored list has open items.
    pub fn turn_ended(&mut self, plan_written: bool, open: bool) -> bool {
        if plan_written || !open {
            *self = Self::new(self.first_after);
            return false;
        }
        self.quiet_turns = self.quiet_turns.saturating_add(1);
        if self.first_after == 0 || self.quiet_turns < self.wait {
            return false;
        }
        self.wait = self.wait.saturating_mul(2);
        self.quiet_turns = 0;
        true
    }
}

/// The plan as it is restated at the end of a request: where it has open items and its last reply, `turns_back` turns
/// ago, is out of sight (`None`: there is none in the history any more).
pub fn restated_plan(todos: &[TodoItem], turns_back: Option<u32>) -> Option<String> {
    let open = todos.iter().any(|t| t.status.is_open());
    let out_of_sight = turns_back.is_none_or(|turns| turns > IN_SIGHT_TURNS);
    (open && out_of_sight).then(|| format!("<plan>\n{}\n</plan>", todo::render(todos)))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::session::todo::Status;

    fn reminded(first_after: u32, turns: u32) -> Vec<u32> {
        let mut reminder = Reminder::new(first_after);
        (1..=turns).filter(|_| reminder.turn_ended(false, true)).collect()
    }

    #[test]
    fn reminders_back_off() {
        // After 3 turns, then 6 more, then 12 more.
        assert_eq!(reminded(3, 40), [3, 9, 21]);
        assert_eq!(reminded(0, 40), Vec::<u32>::new());
    }

    #[test]
    fn only_a_write_or_a_finished_list_starts_the_count_again() {
        let mut reminder = Reminder::new(3);
        assert!(!reminder.turn_ended(false, true));
        assert!(!reminder.turn_ended(false, true));
        assert!(!reminder.turn_ended(true, true));
        assert!(!reminder.turn_ended(false, true));
        assert!(!reminder.turn_ended(false, true));
        assert!(!reminder.turn_ended(false, false));
        assert_eq!(
            (1..=3).map(|_| reminder.turn_ended(false, true)).collect::<Vec<_>>(),
            [false, false, true]
        );
    }

    #[rstest]
    #[case(Status::Pending, Some(0), false)]
    #[case(Status::Pending, Some(2), false)]
    #[case(Status::Pending, Some(3), true)]
    #[case(Status::InProgress, None, true)]
    #[case(Status::Completed, None, false)]
    #[case(Status::Cancelled, Some(9), false)]
    fn an_open_plan_out_of_sight_is_restated(#[case] status: Status, #[case] back: Option<u32>, #[case] shown: bool) {
        let item = TodoItem {
            id: 1,
            content: "Rank".into(),
            active_form: "Ranking".into(),
            status,
        };
        assert_eq!(restated_plan(&[item], back).is_some(), shown);
        assert_eq!(restated_plan(&[], back), None);
    }
}
