//! Undeclared foreign keys: what names suggest is measured on the data, and marked with how it is known.

use std::collections::HashMap;

use futures_util::stream::{self, StreamExt, TryStreamExt};
use polars::prelude::AnyValue;
use tokio::sync::OnceCell;

use super::{Engine, EngineError};
use crate::warehouse::catalog::keys::{Candidate, candidates};
use crate::warehouse::catalog::{Catalog, ForeignKey, KeySource, Table, quote};

/// Columns that are looked at side by side.
pub(super) const SIDE_BY_SIDE: usize = 4;

/// Tables with more rows are not measured whole.
pub(super) const WHOLE: u64 = 200_000;

/// Rows of a bigger table whose values are looked up.
const SAMPLE: u64 = 50_000;

/// A name that fits well outweighs a few values that point at nothing; with more of them it is no key.
const LEAST_SHARE_FOUND: f64 = 0.9;

/// Whether the rows of a table (its place in the catalog) are told apart by a column, each asked of the database once.
type Uniqueness = HashMap<(usize, String), OnceCell<bool>>;

/// Adds to `catalog` the foreign keys that nobody declared: `Measured` where every value of the column was found among
/// unique values of the target, `Inferred` where rows are missing, too many, or a few values point at nothing.
pub(super) async fn infer(engine: &Engine, catalog: &mut Catalog) -> Result<(), EngineError> {
    let candidates = candidates(catalog);
    let unproven = candidates.iter().flatten().filter(|candidate| !candidate.proven_unique);
    let unique: Uniqueness = unproven.map(|candidate| (target(candidate), OnceCell::new())).collect();
    let columns: Vec<_> = candidates
        .iter()
        .map(|options| first_key(engine, catalog, options, &unique))
        .collect();
    let found: Vec<Option<(usize, ForeignKey)>> = stream::iter(columns).buffered(SIDE_BY_SIDE).try_collect().await?;
    let measured = unique
        .into_iter()
        .filter(|(_, is_unique)| is_unique.get() == Some(&true));
    let mut measured: Vec<_> = measured.map(|(place, _)| place).collect();
    measured.sort();
    for (at, key) in found.into_iter().flatten() {
        if let Some(table) = catalog.tables.get_mut(at) {
            table.foreign_keys.push(key);
        }
    }
    for (at, column) in measured {
        if let Some(table) = catalog.tables.get_mut(at) {
            table.unique_keys.push(vec![column]);
        }
    }
    Ok(())
}

fn target(candidate: &Candidate) -> (usize, String) {
    (candidate.to, candidate.to_column.clone())
}

/// The first of a column's options that its values bear out, with the place of the column's table.
async fn first_key(
    engine: &Engine,
    catalog: &Catalog,
    options: &[Candidate],
    unique: &Uniqueness,
) -> Result<Option<(usize, ForeignKey)>, EngineError> {
    for candidate in options {
        let (Some(from), Some(to)) = (catalog.tables.get(candidate.from), catalog.tables.get(candidate.to)) else {
            continue;
        };
        if let Some(known) = unique.get(&target(candidate)).filter(|_| !candidate.proven_unique) {
            let ask = || is_unique(engine, to, &candidate.to_column);
            if !*known.get_or_try_init(ask).await? {
                continue;
            }
        }
        if let Some(source) = measure(engine, from, to, candidate).await? {
            let key = ForeignKey {
                columns: vec![candidate.column.clone()],
                to_schema: to.schema.clone(),
                to_table: to.name.clone(),
                to_columns: vec![candidate.to_column.clone()],
                source,
            };
            return Ok(Some((candidate.from, key)));
        }
    }
    Ok(None)
}

/// Does every row of `table` have a value of its own in `column`?
async fn is_unique(engine: &Engine, table: &Table, column: &str) -> Result<bool, EngineError> {
    if !table
        .rows
        .is_some_and(|count| count.exact && (1..=WHOLE).contains(&count.rows))
    {
        return Ok(false);
    }
    let (table, column) = (engine.table_name(table), quote(engine.dialect(), column));
    let sql = format!("SELECT COUNT(*), COUNT({column}), COUNT(DISTINCT {column}) FROM {table}");
    let counts = counts(engine, &sql).await?;
    Ok(counts
        .is_some_and(|counts| matches!(counts.as_slice(), [all, held, distinct] if all == held && held == distinct)))
}

/// How it is known that the candidate's values point at its target; `None` where they do not.
async fn measure(
    engine: &Engine,
    from: &Table,
    to: &Table,
    candidate: &Candidate,
) -> Result<Option<KeySource>, EngineError> {
    let by_name = (!candidate.weak).then_some(KeySource::Inferred);
    let empty = |table: &Table| table.rows.is_some_and(|count| count.exact && count.rows == 0);
    if empty(from) || empty(to) {
        return Ok(by_name);
    }
    let whole =
        from.rows.is_some_and(|count| count.rows <= WHOLE) && to.rows.is_some_and(|count| count.rows <= WHOLE * 10);
    let column = quote(engine.dialect(), &candidate.column);
    let key = quote(engine.dialect(), &candidate.to_column);
    let limit = if whole {
        String::new()
    } else {
        format!(" LIMIT {SAMPLE}")
    };
    let sql = format!(
        "SELECT COUNT(*), COUNT(k.{key}) FROM \
         (SELECT DISTINCT s.{column} AS v FROM (SELECT {column} FROM {from} WHERE {column} IS NOT NULL{limit}) AS s) AS d \
         LEFT JOIN {to} AS k ON k.{key} = d.v",
        from = engine.table_name(from),
        to = engine.table_name(to),
    );
    let Some(counts) = counts(engine, &sql).await? else {
        return Ok(None);
    };
    Ok(match *counts.as_slice() {
        [0, _] => by_name,
        [all, found] if all == found && whole => Some(KeySource::Measured),
        [all, found] if all == found => Some(KeySource::Inferred),
        [all, found] if found as f64 >= all as f64 * LEAST_SHARE_FOUND => by_name,
        _ => None,
    })
}

/// The counts in the only row of `sql`; `None` where the database would not compare such values.
pub(super) async fn counts(engine: &Engine, sql: &str) -> Result<Option<Vec<i64>>, EngineError> {
    let fetched = match engine.ask(sql).await {
        Ok(fetched) => fetched,
        Err(EngineError::Refused(_) | EngineError::Damaged(_) | EngineError::Timeout(_)) => return Ok(None),
        Err(other) => return Err(other),
    };
    let value = |column: &polars::prelude::Column| match column.get(0) {
        Ok(AnyValue::Int64(value)) => Some(value),
        _ => None,
    };
    Ok(fetched.frame.columns().iter().map(value).collect())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::warehouse::engine::Target;

    /// How well keys are found where they are known: declared keys are forgotten and must be found again.
    #[tokio::test]
    async fn most_forgotten_keys_of_real_databases_are_found_again() {
        let shared = std::env::var_os("ANALYST_SHARED").map(PathBuf::from);
        let shared = shared.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared"));
        let Ok(files) = std::fs::read_dir(shared.join("data/spider/db")) else {
            eprintln!("skipped: no databases in {}", shared.display());
            return;
        };
        let mut paths: Vec<PathBuf> = files.flatten().map(|file| file.path()).collect();
        paths.sort();
        let (mut declared, mut again, mut other, mut missed) = (0, 0, 0, vec![]);
        for path in paths
            .iter()
            .filter(|path| path.extension().is_some_and(|e| e == "sqlite"))
        {
            let engine = Engine::connect(&Target::parse(path.to_str().unwrap()).unwrap())
                .await
                .unwrap();
            let mut catalog = engine.introspect().await.unwrap();
            catalog
                .notes
                .iter()
                .for_each(|note| eprintln!("{}: {note}", path.display()));
            let known: Vec<Vec<ForeignKey>> = catalog
                .tables
                .iter_mut()
                .map(|table| {
                    std::mem::take(&mut table.foreign_keys)
                        .into_iter()
                        .filter(|k| k.source == KeySource::Declared)
                        .collect()
                })
                .collect();
            infer(&engine, &mut catalog).await.unwrap();
            for (table, known) in catalog.tables.iter().zip(&known) {
                let same = |a: &ForeignKey, b: &ForeignKey| {
                    (&a.columns, &a.to_table, &a.to_columns) == (&b.columns, &b.to_table, &b.to_columns)
                };
                declared += known.len();
                for key in known {
                    let found = table.foreign_keys.iter().any(|found| same(found, key));
                    again += usize::from(found);
                    if !found {
                        missed.push(format!(
                            "{}: {}.{:?} → {}.{:?}",
                            path.file_stem().unwrap().display(),
                            table.name,
                            key.columns,
                            key.to_table,
                            key.to_columns
                        ));
                    }
                }
                for found in table
                    .foreign_keys
                    .iter()
                    .filter(|found| !known.iter().any(|key| same(found, key)))
                {
                    other += 1;
                    eprintln!(
                        "{}: {:?} {}.{:?} → {}.{:?}",
                        path.file_stem().unwrap().display(),
                        found.source,
                        table.name,
                        found.columns,
                        found.to_table,
                        found.to_columns
                    );
                }
            }
        }
        missed.iter().for_each(|missed| eprintln!("missed {missed}"));
        eprintln!("{declared} declared keys, {again} found again, {other} others found");
        assert!(again * 100 >= declared * 60, "{again} of {declared}");
    }
}
