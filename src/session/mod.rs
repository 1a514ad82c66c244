//! State that outlives a turn: the events of a run, the files of a session, the plan.

pub mod event;
pub mod message;
pub mod resume;
pub mod store;
pub mod timeline;
pub mod todo;
