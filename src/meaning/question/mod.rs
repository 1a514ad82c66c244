//! Reading a question: from text to ranked readings, each with a typed query.

mod cue;
pub mod phrases;
mod token;
mod types;

pub use types::{Intent, NotRead, Outcome, Reading, Shift, Span, SpanKind};
