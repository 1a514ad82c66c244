//! Policies over a catalog: what of it may be seen, and through which query each table is read.

use std::sync::Arc;

use super::pattern::fits_pattern;
use super::{Catalog, Column, DataType, Table, TableKind, quote};
use crate::config::NamedPolicy;
use crate::warehouse::Dialect;

/// The policies that hold, with everything that they hide.
#[derive(Debug, Clone, PartialEq)]
pub struct Rules {
    pub policies: Vec<NamedPolicy>,
    /// The catalog without any policy, for telling what is hidden from what is not there.
    pub full: Catalog,
    /// What is hidden, by position in `full`.
    verdicts: Vec<Verdict>,
}

/// What the policies say of one table.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Verdict {
    /// Not to be read, and which policy says so.
    Hidden(String),
    /// To be read, but for these columns (by position) and their policies.
    Seen(Vec<(usize, String)>),
}

/// A name in a policy that fits nothing in the database.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    #[error(
        "`{policy}` in analyst.toml names `{name}`, and {database} has no such {what}; correct the name, or move the line to \
         the policy of the connection that it is meant for"
    )]
    Unknown {
        policy: String,
        name: String,
        what: &'static str,
        database: String,
    },
}

impl Rules {
    /// `full` as `policies` let it be seen; every later check goes by the rules that it carries.
    ///
    /// Errors where a policy names what is not there: a misspelt name would protect nothing.
    pub fn apply(policies: &[NamedPolicy], full: Catalog) -> Result<Catalog, RuleError> {
        for policy in policies {
            every_name_is_there(policy, &full)?;
        }
        let verdicts: Vec<Verdict> = full.tables.iter().map(|table| verdict(policies, table)).collect();
        let rules = Self {
            policies: policies.to_vec(),
            full,
            verdicts,
        };
        let mut seen = Catalog {
            tables: rules.seen().collect(),
            ..Catalog::empty(rules.full.dialect, rules.full.database.clone())
        };
        seen.search_path.clone_from(&rules.full.search_path);
        seen.notes.clone_from(&rules.full.notes);
        let names: Vec<(Option<String>, String, Vec<String>)> = seen.tables.iter().map(names_of).collect();
        for table in &mut seen.tables {
            table.foreign_keys.retain(|key| {
                names.iter().any(|(schema, name, columns)| {
                    *name == key.to_table
                        && (key.to_schema.is_none() || *schema == key.to_schema)
                        && key.to_columns.iter().all(|column| columns.contains(column))
                })
            });
        }
        seen.rules = Some(Arc::new(rules));
        Ok(seen)
    }

    /// Does any policy hide anything?
    pub fn hide(&self) -> bool {
        self.policies.iter().any(|named| named.policy.hides())
    }

    /// Why the table at this position of `full` may not be read, where it may not.
    pub fn hidden_table(&self, table: usize) -> Option<&str> {
        match self.verdicts.get(table)? {
            Verdict::Hidden(policy) => Some(policy),
            Verdict::Seen(_) => None,
        }
    }

    /// The policy that denies the column, where one does.
    pub fn denied_column(&self, table: usize, column: usize) -> Option<&str> {
        match self.verdicts.get(table)? {
            Verdict::Hidden(policy) => Some(policy),
            Verdict::Seen(denied) => denied
                .iter()
                .find(|(at, _)| *at == column)
                .map(|(_, policy)| policy.as_str()),
        }
    }

    /// The tables that may be seen, without their hidden parts.
    fn seen(&self) -> impl Iterator<Item = Table> {
        self.full
            .tables
            .iter()
            .zip(&self.verdicts)
            .filter_map(|(table, verdict)| match verdict {
                Verdict::Hidden(_) => None,
                Verdict::Seen(denied) => Some(self.shown(table, denied)),
            })
    }

    fn shown(&self, table: &Table, denied: &[(usize, String)]) -> Table {
        let mut shown = table.clone();
        let is_denied = |at: usize| denied.iter().any(|(column, _)| *column == at);
        let mut at = 0;
        shown.columns.retain(|_| {
            at += 1;
            !is_denied(at - 1)
        });
        let masked: Vec<String> = shown
            .columns
            .iter()
            .filter(|column| self.masks(table, column))
            .map(|column| column.name.clone())
            .collect();
        for column in shown.columns.iter_mut().filter(|column| masked.contains(&column.name)) {
            column.nullable = true;
        }
        let conditions = self.conditions(table);
        if !conditions.is_empty() {
            // The size of the whole table is none of the reader's business.
            shown.rows = None;
        }
        // A mask makes all values alike, so that they identify nothing any more.
        let is_whole = |names: &[String]| {
            names
                .iter()
                .all(|name| !masked.contains(name) && shown.columns.iter().any(|column| column.name == *name))
        };
        let primary_key_stays = is_whole(&table.primary_key);
        let unique_keys = table.unique_keys.iter().filter(|key| is_whole(key)).cloned().collect();
        let foreign_keys = table
            .foreign_keys
            .iter()
            .filter(|key| is_whole(&key.columns))
            .cloned()
            .collect();
        if !primary_key_stays {
            shown.primary_key.clear();
        }
        shown.unique_keys = unique_keys;
        shown.foreign_keys = foreign_keys;
        if shown.columns.len() < table.columns.len() || !masked.is_empty() || !conditions.is_empty() {
            shown.read_through = Some(read_through(self.full.dialect, &shown, &masked, &conditions));
        }
        shown
    }

    fn masks(&self, table: &Table, column: &Column) -> bool {
        let mut patterns = self.policies.iter().flat_map(|named| &named.policy.mask_columns);
        patterns.any(|pattern| names_column(pattern, table, column))
    }

    fn conditions(&self, table: &Table) -> Vec<&str> {
        let filters = self.policies.iter().flat_map(|named| &named.policy.row_filters);
        filters
            .filter(|(pattern, _)| names_table(pattern, table))
            .map(|(_, condition)| condition.as_str())
            .collect()
    }

    /// Every row filter with the tables that it is for, and the policy that it stands in.
    pub fn row_filters(&self) -> impl Iterator<Item = (&Table, &str, String)> {
        let filters = self.policies.iter().flat_map(|named| {
            let filters = named.policy.row_filters.iter();
            filters.map(move |(pattern, condition)| (named, pattern, condition))
        });
        filters.flat_map(|(named, pattern, condition)| {
            let place = format!("{}.row_filters.{pattern}", named.name);
            let tables = self.full.tables.iter().filter(move |table| names_table(pattern, table));
            tables.map(move |table| (table, condition.as_str(), place.clone()))
        })
    }
}

impl Table {
    /// The table's whole name as it stands in a statement, so that no search path can take it for another.
    pub fn written(&self, dialect: Dialect) -> String {
        let name = quote(dialect, &self.name);
        match (&self.schema, dialect) {
            (Some(schema), _) => format!("{}.{name}", quote(dialect, schema)),
            (None, Dialect::Sqlite) => format!("{}.{name}", quote(dialect, "main")),
            (None, _) => name,
        }
    }
}

fn names_of(table: &Table) -> (Option<String>, String, Vec<String>) {
    let columns = table.columns.iter().map(|column| column.name.clone());
    (table.schema.clone(), table.name.clone(), columns.collect())
}

/// The query that stands for a table: the columns that are left, masks in their places, and the rows that may be seen.
fn read_through(dialect: Dialect, table: &Table, masked: &[String], conditions: &[&str]) -> String {
    let columns: Vec<String> = table
        .columns
        .iter()
        .map(|column| {
            let name = quote(dialect, &column.name);
            match (masked.contains(&column.name), &column.data_type) {
                (false, _) => name,
                (true, DataType::Text) => format!("CASE WHEN {name} IS NOT NULL THEN '***' END AS {name}"),
                // NULL of the column's own type.
                (true, _) => format!("CASE WHEN 1 = 0 THEN {name} END AS {name}"),
            }
        })
        .collect();
    let from = format!("SELECT {} FROM {}", columns.join(", "), table.written(dialect));
    if conditions.is_empty() {
        return from;
    }
    // On a line of its own, so that a comment at the end of a condition ends there.
    let all: Vec<String> = conditions.iter().map(|condition| format!("({condition}\n)")).collect();
    // Keeps the planner from testing the reader's conditions first, on rows that must not be seen: the error of a cast
    // would quote them.
    let fence = match dialect {
        Dialect::Sqlite => " LIMIT -1 OFFSET 0",
        Dialect::Mysql => " LIMIT 18446744073709551615",
        Dialect::Postgres => " OFFSET 0",
        Dialect::Duckdb | Dialect::Snowflake | Dialect::Bigquery | Dialect::Databricks | Dialect::Clickhouse => {
            " LIMIT 9223372036854775807"
        }
    };
    format!("{from} WHERE {}{fence}", all.join(" AND "))
}

fn verdict(policies: &[NamedPolicy], table: &Table) -> Verdict {
    let hides = policies.iter().any(|named| named.policy.hides());
    if table.kind == TableKind::View && hides {
        let named = policies
            .iter()
            .filter_map(|named| named.policy.tables.as_ref())
            .flatten();
        let mut whole = named.filter(|pattern| !has_wildcard(pattern));
        if !whole.any(|pattern| names_table(pattern, table)) {
            let first = policies.iter().find(|named| named.policy.hides());
            let name = first.map_or("policy", |named| named.name.as_str());
            return Verdict::Hidden(format!("{name}.tables does not name this view"));
        }
    }
    for NamedPolicy { name, policy } in policies {
        if let Some(schemas) = &policy.schemas {
            let schema = table.schema.as_deref().unwrap_or("main").to_lowercase();
            if !schemas
                .iter()
                .any(|pattern| fits_pattern(&pattern.to_lowercase(), &schema))
            {
                return Verdict::Hidden(format!("{name}.schemas does not allow its schema"));
            }
        }
        if let Some(tables) = &policy.tables
            && !tables.iter().any(|pattern| names_table(pattern, table))
        {
            return Verdict::Hidden(format!("{name}.tables does not allow it"));
        }
    }
    let mut denied = Vec::new();
    for (at, column) in table.columns.iter().enumerate() {
        let by = policies.iter().find(|named| {
            let mut patterns = named.policy.deny_columns.iter();
            patterns.any(|pattern| names_column(pattern, table, column))
        });
        denied.extend(by.map(|named| (at, format!("{}.deny_columns forbids it", named.name))));
    }
    match denied.first() {
        Some((_, policy)) if denied.len() == table.columns.len() => Verdict::Hidden(policy.clone()),
        Some(_) | None => Verdict::Seen(denied),
    }
}

fn every_name_is_there(named: &NamedPolicy, catalog: &Catalog) -> Result<(), RuleError> {
    let NamedPolicy { name, policy } = named;
    let unknown = |key: &str, pattern: &str, what| {
        Err(RuleError::Unknown {
            policy: format!("{name}.{key}"),
            name: pattern.to_owned(),
            what,
            database: catalog.database.clone(),
        })
    };
    let has_table = |pattern: &str| catalog.tables.iter().any(|table| names_table(pattern, table));
    let has_column = |pattern: &str| {
        let mut tables = catalog.tables.iter();
        tables.any(|table| table.columns.iter().any(|column| names_column(pattern, table, column)))
    };
    for pattern in policy.tables.iter().flatten().filter(|pattern| !has_wildcard(pattern)) {
        if !has_table(pattern) {
            return unknown("tables", pattern, "table");
        }
    }
    for pattern in policy.row_filters.keys().filter(|pattern| !has_wildcard(pattern)) {
        if !has_table(pattern) {
            return unknown("row_filters", pattern, "table");
        }
    }
    let lists = [
        ("deny_columns", &policy.deny_columns),
        ("mask_columns", &policy.mask_columns),
    ];
    for (key, pattern) in lists
        .into_iter()
        .flat_map(|(key, list)| list.iter().map(move |p| (key, p)))
    {
        if !has_wildcard(pattern) && !has_column(pattern) {
            return unknown(key, pattern, "column");
        }
    }
    Ok(())
}

fn has_wildcard(pattern: &str) -> bool {
    pattern.contains(['*', '?'])
}

/// `orders` or `sales.orders`.
fn names_table(pattern: &str, table: &Table) -> bool {
    let pattern = pattern.to_lowercase();
    let name = table.name.to_lowercase();
    let schema = table.schema.as_deref().unwrap_or("main").to_lowercase();
    fits_pattern(&pattern, &name) || fits_pattern(&pattern, &format!("{schema}.{name}"))
}

/// `orders.note` or `sales.orders.note`. A column's name may hold a dot of its own, so every place is tried.
fn names_column(pattern: &str, table: &Table, column: &Column) -> bool {
    let name = column.name.to_lowercase();
    let lower = pattern.to_lowercase();
    lower.match_indices('.').any(|(at, _)| {
        let (of_table, of_column) = (lower.get(..at), lower.get(at + 1..));
        of_table.is_some_and(|pattern| names_table(pattern, table))
            && of_column.is_some_and(|pattern| fits_pattern(pattern, &name))
    })
}
