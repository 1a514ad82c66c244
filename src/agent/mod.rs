//! The loop: from a question, a model and tools to an answer.
//!
//! [`run::run`] is the way in. One turn is one reply of the model: without tool calls it is the answer, else
//! [`dispatch`] runs the calls. Around the turn stand [`prompt`], [`reminder`], [`compaction`], [`budget`],
//! [`stall`] and [`at_hand`].

pub mod answer;
mod ask;
mod at_hand;
pub mod budget;
pub mod compaction;
pub mod dispatch;
pub mod notice;
pub mod prompt;
pub mod reminder;
pub mod run;
pub mod stall;
#[cfg(test)]
mod testing;
