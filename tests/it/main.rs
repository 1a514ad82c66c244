//! The one integration-test binary: its modules drive the real `analyst` binary and the public rooms.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod bad_input;
mod batch;
mod demo;
mod eval;
mod headline;
mod providers;
mod query;
mod question;
mod sakila;
mod scripted;
mod semantic;
mod sql_commands;
mod sql_gold;
mod sql_guard;
mod sql_mutants;
mod support;
