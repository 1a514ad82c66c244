//! One question from an open database to a finished report, and many questions at once. Knows nothing of screens.

pub mod answer;
pub mod batch;
pub mod database;
mod report;
