//! `rank`: who is first, second, third.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Columns;

/// Ranks groups by a value. Equal values share a rank and the next rank is skipped (1, 2, 2, 4).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rank {
    /// Column(s) that name the groups.
    pub group: Columns,
    /// Column to rank by.
    pub value: String,
    #[serde(default)]
    pub order: Order,
    /// Keep ranks up to this one only, ties included; all when missing.
    #[serde(default)]
    pub top: Option<usize>,
}

/// Which end comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// The largest value has rank 1.
    #[default]
    Descending,
    Ascending,
}
