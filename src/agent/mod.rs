//! The loop: from a question, a model and tools to an answer.

pub mod dispatch;
pub mod stall;
#[cfg(test)]
mod testing;
