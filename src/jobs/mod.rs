//! Many questions at once: batches, evaluation, verification.
