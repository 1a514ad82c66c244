//! What a model may see, which tools it gets, and what it has to ask for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a configured model may see of the data, least first. The built-in analyst runs on this machine and sees all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Share {
    /// No value of any cell: names, types, keys, comments and row counts.
    Schema,
    /// And the rows of results that are aggregated.
    Aggregates,
    /// And rows, examples, ranges and the values that a question names.
    #[default]
    Samples,
}

impl Share {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Schema => "schema",
            Self::Aggregates => "aggregates",
            Self::Samples => "samples",
        }
    }

    /// May the model see values that are no aggregates?
    pub fn shows_values(self) -> bool {
        self == Self::Samples
    }
}

/// Groups of tools that a run has only where they are asked for: each costs tokens in every request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Allow {
    /// `task_create`, `task_get`, `task_update`, `task_list`.
    Tasks,
    /// `write_file`, `edit_file`, and `read_file` for the session's own files.
    Files,
    /// `bash`; each command is shown at a terminal, and needs a yes.
    Shell,
}

/// What a person at a terminal is asked before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Approve {
    /// Each statement, before it runs.
    Sql,
}
