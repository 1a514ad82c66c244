//! question
