//! One column name or several, as a model may write either.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One column, or several whose values are joined with a blank (`["first_name", "last_name"]`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Columns {
    One(String),
    Several(Vec<String>),
}

impl Columns {
    /// The names, in the order given.
    pub fn names(&self) -> &[String] {
        match self {
            Columns::One(name) => std::slice::from_ref(name),
            Columns::Several(names) => names,
        }
    }
}

impl From<&str> for Columns {
    fn from(name: &str) -> Self {
        Columns::One(name.to_owned())
    }
}
