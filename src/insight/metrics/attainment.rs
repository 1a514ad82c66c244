//! `attainment`: how much of its target each group reached.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Columns;

/// Value ÷ target per group, with the gap, highest first, and the same for the total of groups that have a target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Attainment {
    /// Column(s) that name the groups.
    pub group: Columns,
    /// Column of the reached values.
    pub value: String,
    /// Column of the targets.
    pub target: String,
}
