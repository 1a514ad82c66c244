//! One question from an open database to a finished report, many questions at once, and single statements. Knows nothing of screens.

pub mod answer;
pub mod batch;
pub mod database;
pub mod eval;
mod report;
pub mod statements;
pub mod terms;
