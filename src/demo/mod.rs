//! The sample sales database and its generator.
