//! The one integration-test binary: its modules drive the real `analyst` binary and the public rooms.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod demo;
mod sql_gold;
mod sql_guard;
