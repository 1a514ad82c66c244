//! Which tables a text is about: BM25 over names, comments, synonyms and values, then the tables that join them.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use serde::{Deserialize, Serialize};

use super::names::{is_cjk, stem, words};
use super::values::ValueIndex;
use super::{Catalog, Table};

/// How quickly more occurrences of a term stop counting.
const K1: f64 = 1.2;

/// How much a table with many columns and values is held to be about less in particular.
const B: f64 = 0.4;

/// What a term counts by the place where it stands: a table's own name says most, one of its values least.
const NAME_WEIGHT: f64 = 4.0;
const COLUMN_WEIGHT: f64 = 1.0;
const COMMENT_WEIGHT: f64 = 0.7;
const VALUE_WEIGHT: f64 = 0.4;

/// Values of one column whose words are indexed; beyond that the column identifies rows and does not describe the table.
const VALUES_PER_COLUMN: usize = 300;

/// A chain of more joins than this no longer shows that two tables belong together.
const LONGEST_PATH: usize = 4;

/// Words of questions that say nothing about tables.
const STOP_WORDS: &[&str] = &[
    "a", "about", "all", "an", "analyze", "and", "are", "as", "at", "be", "between", "by", "did", "do", "does", "each",
    "every", "for", "from", "give", "had", "has", "have", "how", "i", "in", "is", "it", "its", "list", "many", "me",
    "most", "much", "of", "on", "or", "our", "per", "show", "than", "that", "the", "their", "them", "there", "these",
    "they", "this", "to", "us", "was", "we", "were", "what", "when", "where", "which", "who", "whose", "why", "with",
    "you",
];

/// A table that a text seems to be about.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The table's [`qualified_name`](super::Table::qualified_name).
    pub table: String,
    /// Comparable within one search only.
    pub score: f64,
    /// The words of the text that spoke for it, as the index holds them (stems; pairs of Chinese characters).
    pub terms: Vec<String>,
}

/// The words of a catalog, ready to be searched.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SearchIndex {
    tables: Vec<String>,
    /// Term → (place in `tables`, weighted count).
    postings: HashMap<String, Vec<(usize, f64)>>,
    lengths: Vec<f64>,
    mean_length: f64,
}

impl SearchIndex {
    /// Indexes all tables of `catalog`, and of `values` the words of categories.
    pub fn build(catalog: &Catalog, values: &ValueIndex) -> Self {
        let mut counts: Vec<BTreeMap<String, f64>> = catalog.tables.iter().map(count_names).collect();
        let places: HashMap<String, usize> = catalog
            .tables
            .iter()
            .enumerate()
            .map(|(at, table)| (table.qualified_name(), at))
            .collect();
        let mut taken: HashMap<(&str, &str), usize> = HashMap::new();
        for entry in values.entries() {
            let taken = taken.entry((&entry.table, &entry.column)).or_default();
            *taken += 1;
            let place = places.get(&entry.table).and_then(|at| counts.get_mut(*at));
            if let (Some(counts), true) = (place, *taken <= VALUES_PER_COLUMN) {
                // A value counts once, however many rows or columns have it.
                terms(&entry.value).into_iter().for_each(|term| {
                    counts.entry(term).or_insert(VALUE_WEIGHT);
                });
            }
        }
        let lengths: Vec<f64> = counts.iter().map(|counts| counts.values().sum()).collect();
        let mut postings: HashMap<String, Vec<(usize, f64)>> = HashMap::new();
        for (at, counts) in counts.into_iter().enumerate() {
            for (term, count) in counts {
                postings.entry(term).or_default().push((at, count));
            }
        }
        Self {
            tables: catalog.tables.iter().map(Table::qualified_name).collect(),
            mean_length: lengths.iter().sum::<f64>() / (lengths.len().max(1) as f64),
            postings,
            lengths,
        }
    }

    /// The tables that `text` is about, best first, at most `limit`; none where no word of it is known.
    pub fn search(&self, text: &str, limit: usize) -> Vec<Hit> {
        let telling = words(text)
            .into_iter()
            .filter(|word| !STOP_WORDS.contains(&word.as_str()));
        let mut wanted: Vec<String> = telling.flat_map(terms_of_word).collect();
        wanted.sort();
        wanted.dedup();
        let mut scores: BTreeMap<usize, (f64, Vec<String>)> = BTreeMap::new();
        for term in wanted {
            let Some(postings) = self.postings.get(&term) else {
                continue;
            };
            let rarity = self.rarity(postings.len());
            for (at, count) in postings {
                let length =
                    self.lengths.get(*at).copied().unwrap_or_default() / self.mean_length.max(f64::MIN_POSITIVE);
                let gain = rarity * count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length));
                let entry = scores.entry(*at).or_default();
                entry.0 += gain;
                entry.1.push(term.clone());
            }
        }
        let mut hits: Vec<Hit> = scores
            .into_iter()
            .filter_map(|(at, (score, terms))| {
                Some(Hit {
                    table: self.tables.get(at)?.clone(),
                    score,
                    terms,
                })
            })
            .collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.table.cmp(&b.table)));
        hits.truncate(limit);
        hits
    }

    /// A term in few tables tells more than one in many.
    fn rarity(&self, tables_with_term: usize) -> f64 {
        let (all, with) = (self.tables.len() as f64, tables_with_term as f64);
        (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
    }
}

/// `tables` (qualified names, most wanted first) and after them the tables on the shortest foreign-key paths that join
/// each to those before it. Tables that no path of up to 4 joins reaches stay without company.
pub fn close_over_keys(catalog: &Catalog, tables: &[String]) -> Vec<String> {
    let neighbours = neighbours(catalog);
    let place = |name: &String| catalog.tables.iter().position(|table| &table.qualified_name() == name);
    let wanted: Vec<usize> = tables.iter().filter_map(place).collect();
    let mut joined: Vec<usize> = vec![];
    let mut between: Vec<usize> = vec![];
    for at in wanted {
        let known: HashSet<usize> = joined.iter().chain(&between).copied().collect();
        if !known.contains(&at) && !known.is_empty() {
            between.extend(path_to(at, &known, &neighbours));
        }
        joined.push(at);
    }
    let mut seen = HashSet::new();
    let order = joined.into_iter().chain(between).filter(|at| seen.insert(*at));
    order
        .filter_map(|at| catalog.tables.get(at))
        .map(Table::qualified_name)
        .collect()
}

/// For each table, those that a foreign key joins it to, in either direction.
fn neighbours(catalog: &Catalog) -> Vec<Vec<usize>> {
    let places: HashMap<(Option<&str>, &str), usize> = catalog
        .tables
        .iter()
        .enumerate()
        .map(|(at, table)| ((table.schema.as_deref(), table.name.as_str()), at))
        .collect();
    let mut neighbours = vec![vec![]; catalog.tables.len()];
    for (from, table) in catalog.tables.iter().enumerate() {
        for key in &table.foreign_keys {
            let schema = key.to_schema.as_deref().or(table.schema.as_deref());
            let Some(&to) = places.get(&(schema, key.to_table.as_str())) else {
                continue;
            };
            for (one, other) in [(from, to), (to, from)] {
                if let Some(list) = neighbours
                    .get_mut(one)
                    .filter(|list| one != other && !list.contains(&other))
                {
                    list.push(other);
                }
            }
        }
    }
    neighbours
}

/// The tables strictly between `from` and the nearest of `goals`.
fn path_to(from: usize, goals: &HashSet<usize>, neighbours: &[Vec<usize>]) -> Vec<usize> {
    let mut came_from: HashMap<usize, usize> = HashMap::from([(from, from)]);
    let mut queue = VecDeque::from([(from, 0)]);
    while let Some((at, depth)) = queue.pop_front() {
        if goals.contains(&at) {
            let mut path = vec![];
            let mut step = came_from.get(&at).copied();
            while let Some(between) = step.filter(|between| *between != from) {
                path.push(between);
                step = came_from.get(&between).copied();
            }
            return path;
        }
        if depth < LONGEST_PATH {
            for &next in neighbours.get(at).into_iter().flatten() {
                came_from.entry(next).or_insert_with(|| {
                    queue.push_back((next, depth + 1));
                    at
                });
            }
        }
    }
    vec![]
}

/// The weighted words of a table's names, comments and synonyms.
fn count_names(table: &Table) -> BTreeMap<String, f64> {
    let mut counts = BTreeMap::new();
    let mut add = |text: &str, weight: f64| {
        for term in terms(text) {
            *counts.entry(term).or_insert(0.0) += weight;
        }
    };
    add(&table.name, NAME_WEIGHT);
    table.synonyms.iter().for_each(|synonym| add(synonym, NAME_WEIGHT));
    table.comment.iter().for_each(|comment| add(comment, COMMENT_WEIGHT));
    for column in &table.columns {
        add(&column.name, COLUMN_WEIGHT);
        column.synonyms.iter().for_each(|synonym| add(synonym, COLUMN_WEIGHT));
        column.comment.iter().for_each(|comment| add(comment, COMMENT_WEIGHT));
    }
    counts
}

/// What a text is searched by: stems of words, and of Chinese every pair of neighbouring characters.
fn terms(text: &str) -> Vec<String> {
    words(text).into_iter().flat_map(terms_of_word).collect()
}

fn terms_of_word(word: String) -> Vec<String> {
    if !word.chars().next().is_some_and(is_cjk) {
        return vec![stem(&word)];
    }
    let characters: Vec<char> = word.chars().collect();
    match characters.len() {
        1 => vec![word],
        _ => characters.windows(2).map(|pair| pair.iter().collect()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::values::ValueEntry;
    use super::super::{Column, DataType, ForeignKey, KeySource, TableKind};
    use super::*;
    use crate::warehouse::Dialect;

    fn table(name: &str, columns: &[&str], to: &[&str]) -> Table {
        Table {
            schema: None,
            name: name.to_owned(),
            kind: TableKind::Table,
            columns: columns
                .iter()
                .map(|name| Column {
                    name: (*name).to_owned(),
                    declared_type: String::new(),
                    data_type: DataType::Text,
                    nullable: true,
                    comment: None,
                    synonyms: vec![],
                    profile: None,
                })
                .collect(),
            primary_key: vec![],
            unique_keys: vec![],
            foreign_keys: to
                .iter()
                .map(|to| ForeignKey {
                    columns: vec![format!("{to}_id")],
                    to_schema: None,
                    to_table: (*to).to_owned(),
                    to_columns: vec![format!("{to}_id")],
                    source: KeySource::Declared,
                })
                .collect(),
            rows: None,
            comment: None,
            synonyms: vec![],
            read_through: None,
        }
    }

    fn shop() -> Catalog {
        let mut catalog = Catalog::empty(Dialect::Sqlite, "shop");
        catalog.tables = vec![
            table(
                "staff",
                &["staff_id", "first_name", "last_name", "store_id"],
                &["store"],
            ),
            table("store", &["store_id", "address_id"], &["address"]),
            table("address", &["address_id", "city_id"], &["city"]),
            table("city", &["city_id", "city"], &[]),
            table(
                "payment",
                &["payment_id", "staff_id", "amount", "payment_date"],
                &["staff"],
            ),
            table("SalesTargets", &["month", "amount"], &[]),
            table("客户", &["客户名称"], &[]),
        ];
        catalog
    }

    fn best(text: &str) -> Vec<String> {
        let values = ValueIndex::from(vec![ValueEntry {
            table: "city".into(),
            column: "city".into(),
            value: "Rio de Janeiro".into(),
            count: 1,
        }]);
        SearchIndex::build(&shop(), &values)
            .search(text, 3)
            .into_iter()
            .map(|hit| hit.table)
            .collect()
    }

    #[test]
    fn tables_are_found_by_the_words_of_their_names() {
        assert_eq!(best("payments by staff")[..2], ["payment", "staff"]);
        assert_eq!(best("which cities?")[0], "city");
        assert_eq!(best("sales target")[0], "SalesTargets");
        assert_eq!(best("客户有多少")[0], "客户");
        assert_eq!(best("rio de janeiro")[0], "city");
        assert!(best("weather tomorrow").is_empty());
        assert!(best("").is_empty());
    }

    #[test]
    fn the_tables_between_are_added() {
        let close =
            |names: &[&str]| close_over_keys(&shop(), &names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>());
        assert_eq!(
            close(&["payment", "city"]),
            ["payment", "city", "staff", "store", "address"]
        );
        assert_eq!(close(&["payment", "staff"]), ["payment", "staff"]);
        assert_eq!(close(&["payment", "客户"]), ["payment", "客户"]);
        assert!(close(&[]).is_empty());
    }
}
