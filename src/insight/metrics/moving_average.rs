//! `moving_average`: a series with its short swings smoothed away.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Columns;
use crate::time::Grain;

/// Mean of each period and those before it. A window that holds a missing period has no average.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MovingAverage {
    /// Column with the date or period of each row.
    pub period: String,
    /// Column that is averaged.
    pub value: String,
    /// Periods per window, the current one included; at least 2.
    pub window: usize,
    /// Column(s) that name the series, when the result holds several.
    #[serde(default)]
    pub group: Option<Columns>,
    /// Length of a period; read from the column when missing.
    #[serde(default)]
    pub grain: Option<Grain>,
}
