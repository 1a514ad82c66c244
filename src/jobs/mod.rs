//! Many questions at once: batches, evaluation, verification.

pub mod batch;
