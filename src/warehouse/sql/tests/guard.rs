//! Guard cases by dialect.
