//! A working model from nothing but a catalog: names, joins, times, measures and synonyms.

mod columns;
mod datasets;
mod metrics;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::HashSet;

use crate::meaning::semantic::{Dataset, Model, Origin, Relationship, names};
use crate::warehouse::catalog::{Catalog, ForeignKey, Table, TableKind};

/// Tables of the engines' own that no question is about.
const INTERNAL: &[&str] = &[
    "sqlite_sequence",
    "sqlite_stat1",
    "sqlite_stat4",
    "schema_migrations",
    "alembic_version",
];

/// Drafts a model of `catalog`, using profiles where columns have them. Never fails: what cannot be told is left out.
///
/// Views are left out where there are tables, since they repeat their rows.
pub fn draft(catalog: &Catalog) -> Model {
    let tables = tables(catalog);
    let mut taken = HashSet::new();
    let named: Vec<(&Table, String)> = tables
        .into_iter()
        .map(|table| (table, dataset_name(table, &mut taken)))
        .collect();
    let mut datasets: Vec<Dataset> = named
        .iter()
        .map(|(table, name)| datasets::dataset(catalog, table, name))
        .collect();
    let relationships = relationships(catalog, &named);
    datasets::settle_kinds(&mut datasets, &relationships);
    let mut model = Model {
        name: catalog.database.clone(),
        description: None,
        origin: Origin::Drafted,
        datasets,
        relationships,
        metrics: Vec::new(),
        definitions: Vec::new(),
        settings: Default::default(),
    };
    model.metrics = metrics::metrics(&model);
    model
}

fn tables(catalog: &Catalog) -> Vec<&Table> {
    let wanted = |table: &&Table| !INTERNAL.contains(&table.name.as_str()) && !table.columns.is_empty();
    let is_table = |table: &&Table| table.kind == TableKind::Table;
    let tables: Vec<&Table> = catalog.tables.iter().filter(wanted).filter(is_table).collect();
    match tables.is_empty() {
        true => catalog.tables.iter().filter(wanted).collect(),
        false => tables,
    }
}

/// A name that no other dataset has: the table's own, with the schema or a number where that is not enough.
fn dataset_name(table: &Table, taken: &mut HashSet<String>) -> String {
    let plain = names::snake(&table.name);
    let with_schema = table
        .schema
        .as_ref()
        .map(|schema| names::snake(&format!("{schema} {}", table.name)));
    let numbered = (2..).map(|n| format!("{plain}_{n}"));
    let mut candidates = [Some(plain.clone()), with_schema].into_iter().flatten().chain(numbered);
    let name = candidates.find(|name| !taken.contains(name)).unwrap_or(plain);
    taken.insert(name.clone());
    name
}

fn relationships(catalog: &Catalog, named: &[(&Table, String)]) -> Vec<Relationship> {
    let mut taken = HashSet::new();
    let mut found = Vec::new();
    for (table, from) in named {
        for key in &table.foreign_keys {
            let Some(target) = catalog.target(key) else { continue };
            let Some((_, to)) = named.iter().find(|(t, _)| std::ptr::eq(*t, target)) else {
                continue;
            };
            let to_columns = match key.to_columns.is_empty() {
                true => target.primary_key.clone(),
                false => key.to_columns.clone(),
            };
            if to_columns.len() != key.columns.len() {
                continue;
            }
            found.push(Relationship {
                name: relationship_name(from, to, key, &mut taken),
                from: from.clone(),
                to: to.clone(),
                from_columns: key.columns.clone(),
                to_columns,
                key_source: key.source,
                synonyms: Vec::new(),
            });
        }
    }
    found
}

/// `payment` by its column `staff_id` → `payment_staff`: the role that the other side plays.
fn relationship_name(from: &str, to: &str, key: &ForeignKey, taken: &mut HashSet<String>) -> String {
    let role = match key.columns.as_slice() {
        [column] => {
            let mut words = names::split(column);
            let is_key_word = |word: &String| ["id", "key", "code", "fk", "no"].contains(&word.as_str());
            while words.len() > 1 && words.last().is_some_and(is_key_word) {
                words.pop();
            }
            words.join("_")
        }
        _ => to.to_owned(),
    };
    let plain = format!("{from}_{role}");
    let numbered = (2..).map(|n| format!("{plain}_{n}"));
    let mut candidates = [plain.clone(), format!("{from}_{role}_{to}")]
        .into_iter()
        .chain(numbered);
    let name = candidates.find(|name| !taken.contains(name)).unwrap_or(plain);
    taken.insert(name.clone());
    name
}
