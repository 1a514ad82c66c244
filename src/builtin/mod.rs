//! The built-in analyst: a chat model that needs no network, and decides from the transcript and the tools' replies.

mod case;
mod transcript;
