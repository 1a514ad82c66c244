//! `coverage`: which periods of a window have data, and which have none.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::time::Grain;

/// Runs of present and missing periods in a window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Coverage {
    /// Column with the date or period of each row.
    pub period: String,
    /// Column whose null or zero means that the period has no data, although there is a row.
    #[serde(default)]
    pub value: Option<String>,
    /// Length of a period; read from the column when missing.
    #[serde(default)]
    pub grain: Option<Grain>,
    /// First day of the window (ISO 8601); the first period with data when missing.
    #[serde(default)]
    pub start: Option<String>,
    /// First day after the window (ISO 8601, exclusive); the end of the last period with data when missing.
    #[serde(default)]
    pub end: Option<String>,
}
