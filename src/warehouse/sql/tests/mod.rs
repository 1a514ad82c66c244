//! `check` as its callers see it.

mod fixture;
mod fuzz;
mod guard;
mod lints;
mod resolve;
