//! Names: how each engine folds and compares them, and which real names are near a wrong one.

use std::borrow::Cow;

use sqlparser::ast::Ident;

use crate::warehouse::Dialect;

/// Similarity (0 to 1) below which a name is not worth proposing.
const NEAR: f64 = 0.62;

/// How an engine treats the case of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Case {
    /// Any case matches.
    Any,
    /// Unquoted names are folded to lower case, then compared exactly.
    Lower,
    /// Unquoted names are folded to upper case, then compared exactly.
    Upper,
    /// Compared exactly as written.
    Exact,
}

/// What a name names; some engines treat tables and columns differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Naming {
    Table,
    Column,
}

fn case(dialect: Dialect, naming: Naming) -> Case {
    match (dialect, naming) {
        (Dialect::Sqlite | Dialect::Duckdb | Dialect::Databricks, _) => Case::Any,
        (Dialect::Postgres, _) => Case::Lower,
        (Dialect::Snowflake, _) => Case::Upper,
        (Dialect::Mysql | Dialect::Bigquery, Naming::Column) => Case::Any,
        (Dialect::Mysql | Dialect::Bigquery, Naming::Table) | (Dialect::Clickhouse, _) => Case::Exact,
    }
}

/// The name that `ident` defines or asks for, as the engine stores it.
pub(super) fn fold(ident: &Ident, dialect: Dialect, naming: Naming) -> Cow<'_, str> {
    match case(dialect, naming) {
        Case::Lower if ident.quote_style.is_none() && ident.value.chars().any(char::is_uppercase) => {
            Cow::Owned(ident.value.to_lowercase())
        }
        Case::Upper if ident.quote_style.is_none() && ident.value.chars().any(char::is_lowercase) => {
            Cow::Owned(ident.value.to_uppercase())
        }
        _ => Cow::Borrowed(&ident.value),
    }
}

/// Whether a folded name and a stored one are the same to the engine.
pub(super) fn same(folded: &str, stored: &str, dialect: Dialect, naming: Naming) -> bool {
    match case(dialect, naming) {
        Case::Any => same_any_case(folded, stored),
        Case::Lower | Case::Upper | Case::Exact => folded == stored,
    }
}

fn same_any_case(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b) || (!(a.is_ascii() && b.is_ascii()) && a.to_lowercase() == b.to_lowercase())
}

/// How alike two names are, 0 to 1: spelling first, then shared words (`name` and `customer_name`).
pub(super) fn likeness(wrong: &str, real: &str) -> f64 {
    let (a, b) = (plain(wrong), plain(real));
    if a == b {
        return 1.0;
    }
    let longest = a.chars().count().max(b.chars().count());
    if longest == 0 {
        return 0.0;
    }
    let distance = strsim::damerau_levenshtein(&a, &b);
    // Lengths of names are far below 2^52, so the conversions are exact.
    #[allow(clippy::cast_precision_loss)]
    let spelling = 1.0 - distance as f64 / longest as f64;
    let contained = a.len() >= 3 && b.len() >= 3 && (b.contains(&a) || a.contains(&b));
    let shared = if contained { 0.7 + 0.2 * spelling } else { 0.0 };
    spelling.max(shared).max(strsim::jaro_winkler(&a, &b) * 0.72)
}

/// A name without case and word separators.
fn plain(name: &str) -> String {
    name.chars()
        .filter(|c| !matches!(c, '_' | ' ' | '-' | '.'))
        .flat_map(char::to_lowercase)
        .collect()
}

/// Up to `count` of `candidates` that are near `wrong`, nearest first; ties by name, so that answers never change.
pub(crate) fn nearest<'a>(wrong: &str, candidates: impl Iterator<Item = &'a str>, count: usize) -> Vec<String> {
    let mut scored: Vec<(f64, &str)> = candidates
        .map(|c| (likeness(wrong, c), c))
        .filter(|(score, _)| *score >= NEAR)
        .collect();
    scored.sort_by(|(a, left), (b, right)| b.total_cmp(a).then_with(|| left.cmp(right)));
    scored.dedup_by(|(_, left), (_, right)| left == right);
    scored
        .into_iter()
        .take(count)
        .map(|(_, name)| name.to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_comes_first() {
        let real = ["customer_id", "amount", "amount_tax", "staff_id"];
        assert_eq!(
            nearest("amuont", real.into_iter(), 3).first().map(String::as_str),
            Some("amount")
        );
        assert_eq!(nearest("CustomerID", real.into_iter(), 1), ["customer_id"]);
        assert!(nearest("zebra", real.into_iter(), 3).is_empty());
    }
}
