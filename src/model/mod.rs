//! Chat models: the protocol types they share, and one file per provider.

pub mod chat;
