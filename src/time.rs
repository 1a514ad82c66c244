//! Calendar dates, half-open windows and grains. No clock is read here: "today" is handed in.

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A half-open span of days `[start, end)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Window {
    /// First day that belongs to the window (ISO 8601).
    #[schemars(with = "String")]
    pub start: Date,
    /// First day that no longer belongs to it (ISO 8601).
    #[schemars(with = "String")]
    pub end: Date,
}

/// The length of the periods that a series is cut into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Grain {
    Day,
    Week,
    Month,
    Quarter,
    Year,
}
