//! Which values the database's categories have, so that a word of a question finds the column that holds it.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use strsim::osa_distance;

use super::names::fold;

/// Shorter words are too near to too many others for a slip of the finger to be told from another word.
const SHORTEST_WITH_TYPO: usize = 4;

/// From this length on two slips are still nearer than chance.
const SHORTEST_WITH_TWO_TYPOS: usize = 8;

/// One distinct value of one column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValueEntry {
    /// The table's [`qualified_name`](super::Table::qualified_name).
    pub table: String,
    pub column: String,
    /// As the database spells it.
    pub value: String,
    /// Rows that have it, among those looked at.
    pub count: u64,
}

/// How a text matched a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MatchKind {
    /// Letter by letter.
    Exact,
    /// Up to case, accents, width and blanks.
    Folded,
    /// With so many letters wrong, missing, added or swapped: a guess that must be shown as one.
    Typo(usize),
}

/// A value that a text may mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValueMatch<'a> {
    pub entry: &'a ValueEntry,
    pub kind: MatchKind,
}

/// The distinct values of the columns that people name things by.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "Vec<ValueEntry>", into = "Vec<ValueEntry>")]
pub struct ValueIndex {
    entries: Vec<ValueEntry>,
    /// Folded value → places in `entries`.
    places: HashMap<String, Vec<usize>>,
}

impl From<Vec<ValueEntry>> for ValueIndex {
    fn from(entries: Vec<ValueEntry>) -> Self {
        let mut places: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, entry) in entries.iter().enumerate() {
            places.entry(fold(&entry.value)).or_default().push(at);
        }
        Self { entries, places }
    }
}

impl From<ValueIndex> for Vec<ValueEntry> {
    fn from(index: ValueIndex) -> Self {
        index.entries
    }
}

impl ValueIndex {
    /// All entries, table by table and column by column.
    pub fn entries(&self) -> &[ValueEntry] {
        &self.entries
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The values of one column, most frequent first.
    pub fn of_column<'a>(&'a self, table: &'a str, column: &'a str) -> impl Iterator<Item = &'a ValueEntry> {
        self.entries
            .iter()
            .filter(move |entry| entry.table == table && entry.column == column)
    }

    /// The values that `text` spells, up to case, accents and blanks: exact spellings first, then the most frequent.
    pub fn lookup(&self, text: &str) -> Vec<ValueMatch<'_>> {
        let mut found: Vec<ValueMatch<'_>> = self
            .at(&fold(text))
            .map(|entry| ValueMatch {
                entry,
                kind: if entry.value == text {
                    MatchKind::Exact
                } else {
                    MatchKind::Folded
                },
            })
            .collect();
        found.sort_by(|a, b| a.kind.cmp(&b.kind).then_with(|| order(a.entry, b.entry)));
        found
    }

    /// The values that `text` may mean with one slip of the finger (two from 8 letters on), nearest first, at most `limit`.
    ///
    /// Values that [`ValueIndex::lookup`] finds are not among them. Texts under 4 letters have no typos.
    pub fn lookup_close(&self, text: &str, limit: usize) -> Vec<ValueMatch<'_>> {
        let wanted = fold(text);
        let length = wanted.chars().count();
        let allowed = match length {
            0..SHORTEST_WITH_TYPO => return vec![],
            SHORTEST_WITH_TYPO..SHORTEST_WITH_TWO_TYPOS => 1,
            _ => 2,
        };
        let mut found = vec![];
        for folded in self.places.keys() {
            if folded.chars().count().abs_diff(length) > allowed {
                continue;
            }
            let distance = osa_distance(&wanted, folded);
            if (1..=allowed).contains(&distance) {
                found.extend(self.at(folded).map(|entry| ValueMatch {
                    entry,
                    kind: MatchKind::Typo(distance),
                }));
            }
        }
        found.sort_by(|a, b| a.kind.cmp(&b.kind).then_with(|| order(a.entry, b.entry)));
        found.truncate(limit);
        found
    }

    fn at(&self, folded: &str) -> impl Iterator<Item = &ValueEntry> {
        self.places
            .get(folded)
            .into_iter()
            .flatten()
            .filter_map(|at| self.entries.get(*at))
    }
}

/// Most frequent first; the rest makes the order the same on every run.
fn order(a: &ValueEntry, b: &ValueEntry) -> std::cmp::Ordering {
    b.count
        .cmp(&a.count)
        .then_with(|| (&a.table, &a.column, &a.value).cmp(&(&b.table, &b.column, &b.value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index() -> ValueIndex {
        let entry = |table: &str, column: &str, value: &str, count| ValueEntry {
            table: table.into(),
            column: column.into(),
            value: value.into(),
            count,
        };
        ValueIndex::from(vec![
            entry("customer", "city", "São Paulo", 3),
            entry("office", "city", "Sao Paulo", 9),
            entry("office", "country", "UK", 2),
            entry("product", "line", "Motorcycles", 13),
            entry("customer", "city", "北京", 4),
        ])
    }

    fn found(matches: &[ValueMatch<'_>]) -> Vec<(String, MatchKind)> {
        matches
            .iter()
            .map(|m| {
                (
                    format!("{}.{}={}", m.entry.table, m.entry.column, m.entry.value),
                    m.kind,
                )
            })
            .collect()
    }

    #[test]
    fn a_value_is_found_without_case_and_accents() {
        let index = index();
        assert_eq!(
            found(&index.lookup("sao paulo")),
            [
                ("office.city=Sao Paulo".into(), MatchKind::Folded),
                ("customer.city=São Paulo".into(), MatchKind::Folded)
            ]
        );
        assert_eq!(
            found(&index.lookup("São Paulo")),
            [
                ("customer.city=São Paulo".into(), MatchKind::Exact),
                ("office.city=Sao Paulo".into(), MatchKind::Folded)
            ]
        );
        assert_eq!(
            found(&index.lookup("北京")),
            [("customer.city=北京".into(), MatchKind::Exact)]
        );
        assert!(index.lookup("Rio").is_empty());
    }

    #[test]
    fn a_slip_is_found_and_marked_as_one() {
        let index = index();
        assert_eq!(
            found(&index.lookup_close("motorcylces", 5)),
            [("product.line=Motorcycles".into(), MatchKind::Typo(1))]
        );
        assert_eq!(
            found(&index.lookup_close("mtorcycle", 5)),
            [("product.line=Motorcycles".into(), MatchKind::Typo(2))]
        );
        assert!(index.lookup_close("UX", 5).is_empty(), "short words have no typos");
        assert!(
            index.lookup_close("Motorcycles", 5).is_empty(),
            "an exact match is no typo"
        );
        assert!(index.lookup_close("motorbikes", 5).is_empty());
    }

    #[test]
    fn an_index_survives_its_file() {
        let text = serde_json::to_string(&index()).unwrap();
        let back: ValueIndex = serde_json::from_str(&text).unwrap();
        assert_eq!(back.entries(), index().entries());
        assert_eq!(back.lookup("uk").len(), 1);
    }
}
