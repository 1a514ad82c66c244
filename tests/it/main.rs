//! The one integration-test binary: its modules drive the real `analyst` binary and the public rooms.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod approval;
mod bad_input;
mod batch;
mod demo;
mod eval;
mod faults;
mod full_disk;
mod headline;
mod injection;
mod interrupted;
mod killed;
mod lead;
mod policies;
mod providers;
mod query;
mod question;
mod sakila;
mod schemas;
mod scripted;
mod semantic;
mod server_lost;
mod sessions;
mod share;
mod sql_commands;
mod sql_gold;
mod sql_guard;
mod sql_mutants;
mod suites;
mod support;
mod tasks;
