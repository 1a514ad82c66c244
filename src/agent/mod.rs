//! The loop: from a question, a model and tools to an answer.
