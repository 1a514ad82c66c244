//! One file per database: connect, introspect, run checked statements.
