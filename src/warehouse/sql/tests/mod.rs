//! `check` as its callers see it.

pub(crate) mod cases;
mod documented;
mod fixture;
mod fuzz;
mod guard;
mod lints;
mod resolve;
