//! `analyst` answers business questions about a SQL database with a report whose every number can be traced.
//!
//! Rooms, from the roof down; each may use those below it, never those above:
//! [`faces`], [`jobs`], [`agent`], [`builtin`], [`tools`], [`model`], [`session`], [`insight`], [`meaning`],
//! [`warehouse`], [`demo`], [`skill`] and [`config`], [`text`] and [`time`], [`whole_file`].

pub mod agent;
pub mod builtin;
pub mod config;
pub mod demo;
pub mod faces;
pub mod insight;
pub mod jobs;
pub mod meaning;
pub mod model;
pub mod session;
pub mod skill;
pub mod text;
pub mod time;
pub mod tools;
pub mod warehouse;
pub mod whole_file;
