//! A person who is asked before something runs.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::tools::ToolError;

/// What a person is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// A statement, with its title.
    Sql { title: String, sql: String },
    /// A command for the shell.
    Shell { command: String },
}

impl Asked {
    fn thing(&self) -> &'static str {
        match self {
            Asked::Sql { .. } => "this statement",
            Asked::Shell { .. } => "this command",
        }
    }
}

/// Somebody who says yes or no. Questions come one at a time, however many calls run side by side.
#[derive(Clone)]
pub struct Person {
    decide: Arc<dyn Fn(&Asked) -> bool + Send + Sync>,
    turn: Arc<Mutex<()>>,
}

impl fmt::Debug for Person {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Person")
    }
}

impl Person {
    /// `decide` may wait for as long as it likes.
    pub fn new(decide: impl Fn(&Asked) -> bool + Send + Sync + 'static) -> Self {
        Self {
            decide: Arc::new(decide),
            turn: Arc::default(),
        }
    }

    async fn says_yes(&self, asked: Asked) -> bool {
        let (answer, heard) = tokio::sync::oneshot::channel();
        let person = self.clone();
        // A thread of its own: one that waits at a terminal must not keep the program from ending.
        std::thread::spawn(move || {
            let _turn = person.turn.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = answer.send((person.decide)(&asked));
        });
        heard.await.unwrap_or(false)
    }
}

/// Asks `person`; without one, and without a yes, the thing does not run.
pub(super) async fn approved(person: Option<&Person>, asked: Asked) -> Result<(), ToolError> {
    let thing = asked.thing();
    let Some(person) = person else {
        return Err(ToolError::CannotBeDone(format!(
            "{thing} needs the user's yes, and there is no terminal to ask at; answer from what you have"
        )));
    };
    match person.says_yes(asked).await {
        true => Ok(()),
        false => Err(ToolError::CannotBeDone(format!(
            "the user said no to {thing}, so it was not run; do not send it again, but go another way or answer from what you have"
        ))),
    }
}
