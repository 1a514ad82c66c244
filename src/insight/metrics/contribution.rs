//! `contribution`: what a total, or a change of it, hangs on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Columns;

/// Which group drives a change (with `old` and `new`), or how concentrated each group's total is (without).
///
/// For a change: as in `compare`, sorted by size of contribution. For concentration: give one row per order (or other
/// detail); per group its total, its single largest row, that row's share, and the total without it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Contribution {
    /// Column(s) that name the groups.
    pub group: Columns,
    /// Column that is added up; needed for concentration and with `period`.
    #[serde(default)]
    pub value: Option<String>,
    /// Column with the name of each detail row, such as an order number; only for concentration.
    #[serde(default)]
    pub item: Option<Columns>,
    /// Column of the old values, or the old period's label.
    #[serde(default)]
    pub old: Option<String>,
    /// Column of the new values, or the new period's label.
    #[serde(default)]
    pub new: Option<String>,
    /// Column that holds the period's label, when the result has one row per group and period.
    #[serde(default)]
    pub period: Option<String>,
}
