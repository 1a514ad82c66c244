//! `compare`: two periods (or any two columns) side by side, group by group.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Columns;

/// Old against new: per group the difference, its fraction, and its contribution to the total change.
///
/// Either `old` and `new` are two columns of a wide result, or, with `period` and `value`, two labels of the period column
/// of a long one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Compare {
    /// Column(s) that name the groups; without it only the totals are compared.
    #[serde(default)]
    pub group: Option<Columns>,
    /// Column of the old values, or the old period's label.
    pub old: String,
    /// Column of the new values, or the new period's label.
    pub new: String,
    /// Column that holds the period's label, when the result has one row per group and period.
    #[serde(default)]
    pub period: Option<String>,
    /// Column that is compared, together with `period`.
    #[serde(default)]
    pub value: Option<String>,
    /// Days with data in the old period: a number, or a column with each group's; gives the like-for-like change per day.
    #[serde(default)]
    pub old_days: Option<Days>,
    /// Days with data in the new period.
    #[serde(default)]
    pub new_days: Option<Days>,
}

/// A count of days: one for all groups, or a column of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Days {
    Count(u32),
    Column(String),
}
