//! `share`: how much of the whole each group makes, and how few make most of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Columns;

/// Each group's share of the total, largest first, with the running share (Pareto).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// Column(s) that name the groups.
    pub group: Columns,
    /// Column whose total is shared out.
    pub value: String,
}
