//! The analyst's own plan: where each step stands, and the list that says so.

use serde_json::{Value, json};

use crate::builtin::case::{Progress, Stop};
use crate::text::Language;

/// A step's place in the plan, in both languages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// "Rank employees by net sales"
    pub content: (&'static str, &'static str),
    /// "Ranking employees by net sales"
    pub active: (&'static str, &'static str),
}

/// How far a step has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stand {
    Open,
    Done,
    /// Its calls failed: the report does without.
    GivenUp,
}

impl Stand {
    pub fn of<T>(progress: &Progress<T>) -> Self {
        match progress {
            Ok(_) => Stand::Done,
            Err(Stop::Waiting) => Stand::Open,
            Err(Stop::Failed(_)) => Stand::GivenUp,
        }
    }
}

/// The arguments of a TodoWrite: steps in order, the first open one in progress.
pub fn todos(steps: &[(Step, Stand)], language: Language) -> Value {
    let mut working = false;
    let items: Vec<Value> = steps
        .iter()
        .map(|(step, stand)| {
            let status = match stand {
                Stand::Done => "completed",
                Stand::GivenUp => "cancelled",
                Stand::Open if working => "pending",
                Stand::Open => {
                    working = true;
                    "in_progress"
                }
            };
            json!({
                "content": language.pick(step.content.0, step.content.1),
                "activeForm": language.pick(step.active.0, step.active.1),
                "status": status,
            })
        })
        .collect();
    json!({ "todos": items })
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Step = Step {
        content: ("Do a", "做甲"),
        active: ("Doing a", "正在做甲"),
    };

    #[test]
    fn one_step_at_a_time_is_in_progress() {
        let list = todos(
            &[
                (A, Stand::Done),
                (A, Stand::GivenUp),
                (A, Stand::Open),
                (A, Stand::Open),
            ],
            Language::English,
        );
        let statuses: Vec<&str> = list["todos"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["status"].as_str().unwrap())
            .collect();
        assert_eq!(statuses, ["completed", "cancelled", "in_progress", "pending"]);
    }
}
