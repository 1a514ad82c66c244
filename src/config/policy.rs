//! What may be read of a database, whoever asks.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Limits on what is read. Names are compared without case, and `*` and `?` stand for letters.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// The only schemas (databases, for MySQL) that may be read; all if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schemas: Option<Vec<String>>,
    /// The only tables that may be read, as `table` or `schema.table`; all if left out. A view is read where it is named
    /// here without `*` and `?`, since it has its own way to what lies under it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tables: Option<Vec<String>>,
    /// Columns that may not be read at all, as `table.column`; `*.ssn` is the column of any table.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deny_columns: Vec<String>,
    /// Columns of which no value is read: text comes as `***`, everything else as NULL.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mask_columns: Vec<String>,
    /// By table, the condition in SQL that a row must meet to be read.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub row_filters: BTreeMap<String, String>,
    /// Rows of one result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_rows: Option<u64>,
}

/// A policy with the place in the configuration that it stands in: `policy`, `connections.shop.policy`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct NamedPolicy {
    pub name: String,
    pub policy: Policy,
}

impl Policy {
    /// Does it hide anything, rather than limit the number of rows alone?
    pub fn hides(&self) -> bool {
        self.schemas.is_some()
            || self.tables.is_some()
            || !self.deny_columns.is_empty()
            || !self.mask_columns.is_empty()
            || !self.row_filters.is_empty()
    }

    /// What cannot be meant, in words that go on after the policy's name.
    pub(super) fn check(&self) -> Result<(), String> {
        for (key, list) in [("schemas", &self.schemas), ("tables", &self.tables)] {
            if list.as_ref().is_some_and(Vec::is_empty) {
                return Err(format!(
                    "has an empty list `{key}`, so that nothing could be read; name some or take it out"
                ));
            }
        }
        let names = self.schemas.iter().chain(&self.tables).flatten();
        let columns = self.deny_columns.iter().chain(&self.mask_columns);
        if names.chain(columns.clone()).any(|name| name.trim().is_empty()) {
            return Err("has an empty name in it".to_owned());
        }
        if let Some(column) = columns.clone().find(|column| !column.contains('.')) {
            return Err(format!(
                "names the column `{column}` without its table; write table.column, or *.{column} for any table"
            ));
        }
        if let Some((table, _)) = self
            .row_filters
            .iter()
            .find(|(_, condition)| condition.trim().is_empty())
        {
            return Err(format!(
                "has an empty row filter for `{table}`; write a condition or take the line out"
            ));
        }
        match self.max_rows {
            Some(0) => Err("has `max_rows = 0`; it must be at least 1".to_owned()),
            Some(_) | None => Ok(()),
        }
    }
}
