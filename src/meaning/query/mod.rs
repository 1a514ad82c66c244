//! The typed query: what a question asks for, in the words of the semantic model; compiles to SQL.

pub mod compile;
pub mod types;

pub use compile::{ColumnKind, Compiled, JoinUsed, OutputColumn, QueryError, compile};
pub use types::{
    Combine, Comparison, Derive, Dimension, Filter, Having, Limit, Literal, Measure, NamedWindow, OrderBy, OrderKey,
    Query, Rows, SetOperator, Summary, TopPerGroup,
};
