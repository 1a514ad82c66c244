//! The semantic model: datasets, fields, relationships and metrics in the words of the business.
//!
//! It comes from an Apache Ossie file ([`ossie`]) or is drafted from a catalog ([`draft()`]).

pub mod draft;
pub mod model;

pub use draft::draft;
pub use model::{
    Additive, Aggregate, CategoryValue, Dataset, DatasetKind, Definition, Direction, Field, FieldRef, Metric,
    MetricKind, Model, Origin, Relationship, Settings, Source, Unit, Words,
};
