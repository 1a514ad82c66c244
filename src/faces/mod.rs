//! What people and programs see: each face listens to events and shows them.

pub mod cli;
