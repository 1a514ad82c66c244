//! `growth`: how a series changed from each period to the next.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Columns;
use crate::time::Grain;

/// Change of each period against an earlier one. Periods that the result lacks are shown as missing, not closed up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Growth {
    /// Column with the date or period of each row (2005-08-31, 2005-08, 2005-Q3, 2005-W35, 2005).
    pub period: String,
    /// Column that is compared.
    pub value: String,
    /// Column(s) that name the series, when the result holds several.
    #[serde(default)]
    pub group: Option<Columns>,
    /// Length of a period; read from the column when missing.
    #[serde(default)]
    pub grain: Option<Grain>,
    /// How many periods back to compare with: 1 (the default) is the period before; 12 is a year for months.
    #[serde(default)]
    pub lag: Option<usize>,
}
