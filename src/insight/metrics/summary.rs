//! `summary`: count, sum, mean, median, minimum and maximum of columns.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Columns;

/// One row of statistics per column (and group).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// Column(s) to summarise.
    pub value: Columns,
    /// Column(s) that name the groups; one summary over all rows when missing.
    #[serde(default)]
    pub group: Option<Columns>,
}
