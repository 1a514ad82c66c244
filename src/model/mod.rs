//! Chat models: the protocol types they share, and one file per provider.

pub mod anthropic;
pub mod chat;
mod http;
pub mod limits;
pub mod openai;
pub mod recorded;
mod retry;
mod text_calls;
