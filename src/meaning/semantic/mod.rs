//! The semantic model: datasets, fields, relationships and metrics in the words of the business.
//!
//! It comes from an Apache Ossie file ([`ossie`]) or is drafted from a catalog ([`draft()`]).

pub mod complete;
pub mod dates;
pub mod draft;
pub mod export;
pub mod expression;
pub mod file;
pub mod glossary;
mod hand_down;
pub mod import;
pub mod load;
pub mod model;
pub mod names;
pub mod ossie;
pub mod paths;
pub mod schema;
pub mod spread;
mod visible;

pub use dates::TimeFormat;
pub use draft::draft;
pub use export::document;
pub use hand_down::hand_down;
pub use load::{SemanticError, check, load, read, write};
pub use model::{
    Additive, Aggregate, CategoryValue, Dataset, DatasetKind, Definition, Direction, Field, FieldRef, Metric,
    MetricKind, Model, Origin, Relationship, Settings, Source, Unit, WeekStart, Words,
};
pub use paths::{Path, Step};
pub use visible::visible;
