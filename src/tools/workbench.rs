//! What the tools of one run work on.

/// Everything a tool may use: the database, its meaning, and what the run has made so far.
pub struct Workbench {}
