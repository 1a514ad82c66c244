//! Random statements never make `check` panic.
