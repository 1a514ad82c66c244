//! What the values of columns look like: one pass over each table gives its profiles and the values people name things by.

use futures_util::stream::{self, StreamExt, TryStreamExt};
use tokio_util::sync::CancellationToken;

use crate::warehouse::catalog::names::words;
use crate::warehouse::catalog::values::{ValueEntry, ValueIndex};
use crate::warehouse::catalog::{Catalog, Column, Profile, Role, Table, TableKind, TimeFormat};
use crate::warehouse::engine::{Engine, EngineError};
use crate::warehouse::fetch::Cell;

mod format;
mod measure;
mod role;

use measure::Measure;

/// Tables with more rows are sampled: a million rows take seconds, and a profile is a hint.
const SAMPLE_ABOVE: u64 = 200_000;

/// Tables that are looked at side by side.
const SIDE_BY_SIDE: usize = 4;

/// Most frequent values that a profile keeps.
const TOP: usize = 10;

/// Longer texts are cut in profiles, with an ellipsis.
const LONGEST_SHOWN: usize = 80;

/// Longer values are prose, by which nobody names a thing.
const LONGEST_INDEXED: usize = 80;

/// Distinct values that a column of the value index may have.
const INDEXED_VALUES: u64 = 1_000;

/// The same for columns whose names speak of names.
const INDEXED_NAMES: u64 = 4_000;

/// Entries that the value index may have: some ten megabytes.
const LARGEST_INDEX: usize = 200_000;

/// Measures every column of every table, fills in the profiles, and gives back the index of values.
///
/// Tables of more than 200,000 rows are sampled, and their profiles say so. Views are not measured, since reading one
/// can cost anything; nor is a table that cannot be read, which gets a note in the catalog.
pub async fn survey(
    engine: &Engine,
    catalog: &mut Catalog,
    cancel: &CancellationToken,
) -> Result<ValueIndex, EngineError> {
    let tables = catalog
        .tables
        .iter()
        .enumerate()
        .filter(|(_, table)| table.kind == TableKind::Table);
    // Names as words and measures are made beside the reading, one table to a task.
    let surveys: Vec<_> = tables
        .map(|(at, table)| survey_table(engine, at, table, cancel))
        .collect();
    let mut surveys: Vec<Surveyed> = stream::iter(surveys)
        .buffer_unordered(SIDE_BY_SIDE)
        .try_collect()
        .await?;
    surveys.sort_by_key(|survey| survey.at);
    let mut entries = vec![];
    for survey in surveys {
        let Some(table) = catalog.tables.get_mut(survey.at) else {
            continue;
        };
        for (column, profile) in table.columns.iter_mut().zip(survey.profiles) {
            column.profile = Some(profile);
        }
        catalog.notes.extend(survey.note);
        entries.extend(survey.entries);
    }
    entries.truncate(LARGEST_INDEX);
    Ok(ValueIndex::from(entries))
}

/// What was found out about one table.
struct Surveyed {
    at: usize,
    profiles: Vec<Profile>,
    entries: Vec<ValueEntry>,
    note: Option<String>,
}

async fn survey_table(
    engine: &Engine,
    at: usize,
    table: &Table,
    cancel: &CancellationToken,
) -> Result<Surveyed, EngineError> {
    let sampled = table.rows.is_none_or(|count| count.rows > SAMPLE_ABOVE);
    let empty: Vec<Measure> = table.columns.iter().map(|_| Measure::new()).collect();
    let sample = sampled.then_some(SAMPLE_ABOVE);
    let measures = match engine.fold_values(table, sample, empty, add, cancel).await {
        Ok(measures) => measures,
        Err(EngineError::Refused(reason) | EngineError::Damaged(reason)) => {
            let note = Some(format!(
                "the values of {} cannot be read: {reason}",
                table.qualified_name()
            ));
            return Ok(Surveyed {
                at,
                profiles: vec![],
                entries: vec![],
                note,
            });
        }
        Err(other) => return Err(other),
    };
    let mut profiles = vec![];
    let mut entries = vec![];
    for (column, measure) in table.columns.iter().zip(&measures) {
        let words = words(&column.name);
        let profile = profile(table, column, &words, measure, sampled);
        entries.extend(index(table, column, &words, measure, &profile));
        profiles.push(profile);
    }
    Ok(Surveyed {
        at,
        profiles,
        entries,
        note: None,
    })
}

#[expect(clippy::ptr_arg, reason = "the state that the engine folds into is the vector")]
fn add(measures: &mut Vec<Measure>, column: usize, cell: Cell<'_>) {
    if let Some(measure) = measures.get_mut(column) {
        measure.add(cell);
    }
}

fn profile(table: &Table, column: &Column, words: &[String], measure: &Measure, sampled: bool) -> Profile {
    let format = time_format(words, measure);
    // A password's hash must not travel to a model only because it is frequent.
    let secret = role::is_secret(words);
    let (min, max) = if secret { (None, None) } else { range(measure) };
    Profile {
        rows: measure.rows,
        nulls: measure.nulls,
        distinct: measure.distinct(),
        min,
        max,
        top: if secret { vec![] } else { top(measure) },
        sampled,
        role: role::role(table, column, words, measure, format),
        format,
    }
}

fn time_format(words: &[String], measure: &Measure) -> Option<TimeFormat> {
    match (measure.integer_range, measure.text_count()) {
        _ if measure.bytes > 0 || measure.float_range.is_some() => None,
        (Some((low, high)), 0) => format::numeric(words, low, high),
        (None, texts) if texts > 0 => measure
            .format
            .format()
            .filter(|format| format::is_named(*format, words)),
        _ => None,
    }
}

/// Smallest and largest value in SQLite's order: numbers before texts.
fn range(measure: &Measure) -> (Option<String>, Option<String>) {
    let numbers = match (measure.integer_range, measure.float_range) {
        (Some((low, high)), None) => Some((low.to_string(), high.to_string())),
        (None, Some((low, high))) => Some((low.to_string(), high.to_string())),
        (Some((low, high)), Some((from, to))) => {
            let least = if (low as f64) <= from {
                low.to_string()
            } else {
                from.to_string()
            };
            let most = if (high as f64) >= to {
                high.to_string()
            } else {
                to.to_string()
            };
            Some((least, most))
        }
        (None, None) => None,
    };
    let texts = measure
        .text_range
        .as_ref()
        .map(|(low, high)| (shorten(low), shorten(high)));
    match (numbers, texts) {
        (Some((low, _)), Some((_, high))) => (Some(low), Some(high)),
        (Some((low, high)), None) | (None, Some((low, high))) => (Some(low), Some(high)),
        (None, None) => (None, None),
    }
}

fn top(measure: &Measure) -> Vec<(String, u64)> {
    let integers = measure
        .integers
        .counts
        .iter()
        .map(|(value, count)| (value.to_string(), *count));
    let floats = measure
        .floats
        .counts
        .iter()
        .map(|(bits, count)| (f64::from_bits(*bits).to_string(), *count));
    let texts = measure.texts.counts.iter().map(|(text, count)| (shorten(text), *count));
    most_frequent(integers.chain(floats).chain(texts).collect(), TOP)
}

/// The `limit` entries with the highest counts; equal counts in the order of their values.
fn most_frequent(mut counts: Vec<(String, u64)>, limit: usize) -> Vec<(String, u64)> {
    let by_count = |a: &(String, u64), b: &(String, u64)| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0));
    if counts.len() > limit {
        counts.select_nth_unstable_by(limit, by_count);
        counts.truncate(limit);
    }
    counts.sort_by(by_count);
    counts
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(LONGEST_SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// The values of a column that people name things by.
fn index(table: &Table, column: &Column, words: &[String], measure: &Measure, profile: &Profile) -> Vec<ValueEntry> {
    let names = words.iter().any(|word| role::NAME_WORDS.contains(&word.as_str()));
    let limit = if names { INDEXED_NAMES } else { INDEXED_VALUES };
    let is_label = matches!(profile.role, Role::Category | Role::Key | Role::Flag);
    if role::is_secret(words) || !is_label || !measure.texts.is_complete() || profile.distinct > limit {
        return vec![];
    }
    let values = measure
        .texts
        .counts
        .iter()
        .filter(|(text, _)| !text.trim().is_empty() && text.len() <= LONGEST_INDEXED);
    let values = most_frequent(values.map(|(text, count)| (text.clone(), *count)).collect(), usize::MAX);
    let entry = |(value, count)| ValueEntry {
        table: table.qualified_name(),
        column: column.name.clone(),
        value,
        count,
    };
    values.into_iter().map(entry).collect()
}

#[cfg(test)]
mod tests;
