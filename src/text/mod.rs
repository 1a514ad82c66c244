//! Languages, numerals, money and redaction: what every room needs to speak to people.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The language that a question was asked in and that its report is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
pub enum Language {
    #[default]
    #[serde(rename = "en")]
    English,
    #[serde(rename = "zh")]
    Chinese,
}
