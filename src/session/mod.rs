//! State that outlives a turn: the events of a run, the files of a session, the plan.

pub mod cut_short;
pub mod event;
pub mod export;
pub mod message;
pub mod replay;
pub mod resume;
pub mod retrace;
pub mod store;
pub mod tasks;
pub mod timeline;
pub mod todo;
