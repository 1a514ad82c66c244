//! `outliers`: which values stand out, against their peers or against their own history.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Columns;
use crate::time::Grain;

/// Flags values whose robust z-score `0.6745 · (x − median) / MAD` passes the threshold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Outliers {
    /// Column(s) that name the groups.
    pub group: Columns,
    /// Column that is judged.
    pub value: String,
    /// Column with the period of each row: the last period is judged, the ones before it are each group's history.
    #[serde(default)]
    pub period: Option<String>,
    /// Length of a period; read from the column when missing.
    #[serde(default)]
    pub grain: Option<Grain>,
    /// What to judge against: `peers`, `history`, or `both` (the default when `period` is given).
    #[serde(default)]
    pub against: Option<Against>,
    /// Robust z beyond which a value is flagged; 3.5 when missing.
    #[serde(default)]
    pub threshold: Option<f64>,
}

/// What a value is judged against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Against {
    /// The other groups' values (of the last period).
    Peers,
    /// The same group's values in the periods before.
    History,
    Both,
}
