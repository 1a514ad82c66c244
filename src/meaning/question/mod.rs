//! Reading a question: from text to ranked readings, each with a typed query.

pub mod phrases;
mod token;
