//! The words of the model and the values of the database, ready to be found in a question.

mod glued;

use std::collections::HashMap;

use crate::meaning::question::cue::is_function_word;
use crate::meaning::question::token::{Kind, Token, name_stems};
use crate::meaning::semantic::{Dataset, Field, FieldRef, Model, Source, Words};
use crate::warehouse::catalog::values::{MatchKind, ValueIndex};
use crate::warehouse::catalog::{Catalog, Role};

/// What a name stands for.
#[derive(Debug, Clone, PartialEq)]
pub enum Meaning {
    Metric(String),
    Dataset(String),
    Field(FieldRef),
    Value { field: FieldRef, value: String },
}

/// One thing that a piece of a question may mean.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    pub meaning: Meaning,
    /// 1 for the thing's own name, less for synonyms, parts of names and near spellings.
    pub weight: f64,
    /// A guess that must be told: a near spelling or a part of a name.
    pub approximate: bool,
}

/// A name's own weight; synonyms were given by people or by a dictionary and may be shared by several things.
const LABEL: f64 = 1.0;
const SYNONYM: f64 = 0.93;
/// A field's name without the words of its dataset; the dataset itself should be near.
const ALIAS: f64 = 0.9;
/// "Name" for what names a thing under another word: the title of a film.
const NAME_OF_LABEL: f64 = 0.86;
/// Values that are spelled without their capital letters may be ordinary words.
const VALUE: f64 = 0.96;
const VALUE_OTHER_CASE: f64 = 0.8;
/// An ordinary word in small letters that is also one of very many values.
const VALUE_BY_CHANCE: f64 = 0.45;
/// Categories have no more values than this; longer lists are names.
const MOST_CATEGORIES: usize = 80;
const NEAR_SPELLING: f64 = 0.5;
/// Ordinary words shorter than this are near to some value or other.
const SHORTEST_SLIP: usize = 6;
/// Values are looked for in spans of up to so many tokens.
const LONGEST_VALUE: usize = 9;
/// More columns with one value than this tell nothing about which is meant.
const MOST_COLUMNS_OF_A_VALUE: usize = 8;

/// Words for the money that a business takes in.
const TRADE: [&str; 16] = [
    "sales",
    "sell",
    "revenue",
    "turnover",
    "income",
    "sales performance",
    "卖",
    "卖出",
    "销售",
    "销售额",
    "销售业绩",
    "业绩",
    "营收",
    "营业额",
    "收入",
    "销售收入",
];
/// They give way to any name of the model's own, and are told as a guess.
const TRADE_WORD: f64 = 0.75;

struct Entry {
    words: Vec<String>,
    meaning: Meaning,
    weight: f64,
}

/// All names of one model.
pub struct Lexicon {
    entries: Vec<Entry>,
    by_first: HashMap<String, Vec<usize>>,
    /// Every word of names of several words → the entries that have it.
    by_word: HashMap<String, Vec<usize>>,
}

impl Lexicon {
    /// `main_metric`: what plain words of trade ("sold", "revenue") mean where the model has no better name.
    pub fn new(model: &Model, main_metric: Option<&str>, catalog: &Catalog, values: &ValueIndex) -> Self {
        let mut builder = Builder::default();
        for dataset in &model.datasets {
            let meaning = Meaning::Dataset(dataset.name.clone());
            builder.words(&dataset.words, &meaning, LABEL);
            builder.add(&dataset.name, &meaning, SYNONYM);
            for field in &dataset.fields {
                let reference = FieldRef::new(&dataset.name, &field.name);
                let meaning = Meaning::Field(reference.clone());
                builder.words(&field.words, &meaning, LABEL);
                builder.add(&field.name, &meaning, LABEL - 0.01);
                if let Some(column) = &field.column {
                    builder.add(column, &meaning, LABEL - 0.01);
                }
                for alias in aliases(&dataset.words.label, &dataset.name, &[&field.words.label, &field.name]) {
                    builder.add_words(alias, &meaning, ALIAS);
                }
                for (words, weight) in glued::taken_apart(&field.name, &dataset.name, model) {
                    builder.add_words(words, &meaning, weight);
                }
                if dataset.label == [field.name.clone()] {
                    builder.add("name", &meaning, NAME_OF_LABEL);
                }
                for (word, value) in sexes(catalog, values, dataset, field) {
                    let meaning = Meaning::Value {
                        field: reference.clone(),
                        value,
                    };
                    builder.add(word, &meaning, SYNONYM);
                }
                for category in field
                    .values
                    .iter()
                    .filter(|category| category.value.parse::<f64>().is_err())
                {
                    let meaning = Meaning::Value {
                        field: reference.clone(),
                        value: category.value.clone(),
                    };
                    builder.add(&category.value, &meaning, VALUE);
                    category
                        .synonyms
                        .iter()
                        .for_each(|word| builder.add(word, &meaning, SYNONYM));
                }
            }
        }
        for metric in model.metrics.iter().filter(|metric| !metric.hidden) {
            let meaning = Meaning::Metric(metric.name.clone());
            builder.words(&metric.words, &meaning, LABEL);
            builder.add(&metric.name, &meaning, LABEL - 0.01);
        }
        if let Some(name) = main_metric {
            let meaning = Meaning::Metric(name.to_owned());
            TRADE.iter().for_each(|word| builder.add(word, &meaning, TRADE_WORD));
        }
        builder.finish()
    }

    /// What the tokens from `at` may name, whole names only, with the index after the last token.
    pub fn whole_at(&self, tokens: &[Token], at: usize) -> Vec<(Choice, usize)> {
        let Some(first) = tokens.get(at) else { return Vec::new() };
        let candidates = self.by_first.get(&first.stem).map_or(&[][..], Vec::as_slice);
        candidates
            .iter()
            .filter_map(|index| self.entries.get(*index))
            .filter_map(|entry| Some((entry, after_words(tokens, at, &entry.words)?)))
            .filter(|(entry, end)| !is_mere_word(entry, tokens.get(at..*end).unwrap_or_default()))
            .map(|(entry, end)| {
                let choice = Choice {
                    meaning: entry.meaning.clone(),
                    weight: entry.weight,
                    approximate: entry.weight <= TRADE_WORD,
                };
                (choice, end)
            })
            .collect()
    }

    /// What the tokens from `at` name a part of: `rank` for "ranking position", `budget` for "budget in billions".
    pub fn part_at(&self, tokens: &[Token], at: usize) -> Vec<(Choice, usize)> {
        let Some(first) = tokens
            .get(at)
            .filter(|token| token.kind == Kind::Word || token.kind == Kind::Han)
        else {
            return Vec::new();
        };
        let candidates = self.by_word.get(&first.stem).map_or(&[][..], Vec::as_slice);
        let mut found = Vec::new();
        for entry in candidates.iter().filter_map(|index| self.entries.get(*index)) {
            let mut end = at + 1;
            while tokens.get(end).is_some_and(|token| {
                entry.words.contains(&token.stem)
                    && !tokens
                        .get(at..end)
                        .unwrap_or_default()
                        .iter()
                        .any(|used| used.stem == token.stem)
            }) {
                end += 1;
            }
            let said = end - at;
            let in_order = entry.words.windows(said).any(|words| {
                words
                    .iter()
                    .zip(tokens.get(at..end).unwrap_or_default())
                    .all(|(word, token)| *word == token.stem)
            });
            if !in_order && matches!(entry.meaning, Meaning::Metric(_) | Meaning::Dataset(_)) {
                continue;
            }
            if said >= entry.words.len() {
                continue;
            }
            let is_han = first.kind == Kind::Han;
            // One Chinese character out of a longer word says nothing.
            if is_han && said < 2 {
                continue;
            }
            let coverage = ratio(said, entry.words.len());
            let is_head = tokens
                .get(end - 1)
                .is_some_and(|token| entry.words.last() == Some(&token.stem));
            // "Bought" is no "buying customers": a metric or dataset is named by its head at least.
            if !is_head && matches!(entry.meaning, Meaning::Metric(_) | Meaning::Dataset(_)) {
                continue;
            }
            let weight = entry.weight * (0.3 + 0.35 * coverage + if is_head { 0.1 } else { 0.05 });
            let choice = Choice {
                meaning: entry.meaning.clone(),
                weight,
                approximate: coverage < 0.5,
            };
            found.push((choice, end));
        }
        found
    }
}

/// Is it a function word or a single letter in small letters that happens to be a category's value too?
fn is_mere_word(entry: &Entry, tokens: &[Token]) -> bool {
    let [only] = tokens else { return false };
    let is_small = only.kind == Kind::Word && !only.capital;
    matches!(entry.meaning, Meaning::Value { .. })
        && is_small
        && (is_function_word(&only.text) || only.text.chars().count() == 1)
}

/// Shorter names of a field, without the words of its dataset: "name" for `region name` of regions, "phone" for
/// `DPhone` of departments (one letter stands for the dataset's name).
fn aliases(label: &str, name: &str, fields: &[&str]) -> Vec<Vec<String>> {
    let owners = [name_stems(label), name_stems(name)];
    let mut found: Vec<Vec<String>> = Vec::new();
    for words in fields.iter().map(|field| name_stems(field)) {
        for owner in &owners {
            let rest = words.strip_prefix(owner.as_slice()).filter(|rest| !rest.is_empty());
            // "StuID" of students, "cName" of colleges.
            let by_letter = words.split_first().filter(|(first, rest)| {
                !rest.is_empty() && owner.first().is_some_and(|owner| owner.starts_with(first.as_str()))
            });
            found.extend(rest.or(by_letter.map(|(_, rest)| rest)).map(<[String]>::to_vec));
        }
    }
    found
}

/// What people call the values of a field that tells women from men.
fn sexes(catalog: &Catalog, values: &ValueIndex, dataset: &Dataset, field: &Field) -> Vec<(&'static str, String)> {
    const WOMEN: [&str; 6] = ["female", "woman", "girl", "女", "女性", "女生"];
    const MEN: [&str; 6] = ["male", "man", "boy", "男", "男性", "男生"];
    let names = [name_stems(&field.words.label), name_stems(&field.name)];
    let tells = names.iter().flatten().any(|word| word == "gender" || word == "sex");
    let (true, Some(column), Source::Table { schema, name }) = (tells, &field.column, &dataset.source) else {
        return Vec::new();
    };
    let Some(table) = catalog
        .table_in(schema.as_deref(), name)
        .map(|table| table.qualified_name())
    else {
        return Vec::new();
    };
    let of_column = values.of_column(&table, column);
    of_column
        .flat_map(|entry| {
            let words: &[&'static str] = match entry.value.to_lowercase().as_str() {
                "f" | "female" | "w" | "woman" => &WOMEN,
                "m" | "male" | "man" => &MEN,
                _ => &[],
            };
            words.iter().map(|word| (*word, entry.value.clone()))
        })
        .collect()
}

fn ratio(part: usize, whole: usize) -> f64 {
    let small = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    small(part) / small(whole.max(1))
}

fn after_words(tokens: &[Token], at: usize, words: &[String]) -> Option<usize> {
    let mut end = at;
    for word in words {
        // "e-mail address", "pro-rated": a hyphen between two words of a name is not said.
        if end > at
            && tokens
                .get(end)
                .is_some_and(|token| token.text == "-" || token.text == "_")
        {
            end += 1;
        }
        // "Number of employees" for `num_employees`.
        if end > at && word != "of" && tokens.get(end).is_some_and(|token| token.text == "of") {
            end += 1;
        }
        let token = tokens.get(end)?;
        let is_name = matches!(token.kind, Kind::Word | Kind::Han | Kind::Number(_));
        if !is_name || token.stem != *word {
            return None;
        }
        end += 1;
    }
    Some(end)
}

#[derive(Default)]
struct Builder {
    entries: Vec<Entry>,
    seen: HashMap<(Vec<String>, String), usize>,
}

impl Builder {
    fn words(&mut self, words: &Words, meaning: &Meaning, weight: f64) {
        self.add(&words.label, meaning, weight);
        if let Some(label) = &words.label_zh {
            self.add(label, meaning, weight);
        }
        for synonym in &words.synonyms {
            self.add(synonym, meaning, SYNONYM);
        }
    }

    fn add(&mut self, name: &str, meaning: &Meaning, weight: f64) {
        self.add_words(name_stems(name), meaning, weight);
    }

    fn add_words(&mut self, words: Vec<String>, meaning: &Meaning, weight: f64) {
        if words.is_empty() {
            return;
        }
        let key = (words.clone(), format!("{meaning:?}"));
        if let Some(entry) = self.seen.get(&key).and_then(|index| self.entries.get_mut(*index)) {
            entry.weight = entry.weight.max(weight);
            return;
        }
        self.seen.insert(key, self.entries.len());
        self.entries.push(Entry {
            words,
            meaning: meaning.clone(),
            weight,
        });
    }

    fn finish(self) -> Lexicon {
        let mut by_first: HashMap<String, Vec<usize>> = HashMap::new();
        let mut by_word: HashMap<String, Vec<usize>> = HashMap::new();
        for (index, entry) in self.entries.iter().enumerate() {
            if let Some(first) = entry.words.first() {
                by_first.entry(first.clone()).or_default().push(index);
            }
            let partly = !matches!(entry.meaning, Meaning::Value { .. }) && entry.words.len() > 1;
            for word in entry.words.iter().filter(|_| partly) {
                let places = by_word.entry(word.clone()).or_default();
                if places.last() != Some(&index) {
                    places.push(index);
                }
            }
        }
        Lexicon {
            entries: self.entries,
            by_first,
            by_word,
        }
    }
}

/// The values of a database, by the fields of the model that show them.
pub struct Values<'a> {
    index: &'a ValueIndex,
    /// (table, column) → field.
    fields: HashMap<(String, String), Vec<FieldRef>>,
}

impl<'a> Values<'a> {
    pub fn new(model: &Model, catalog: &Catalog, index: &'a ValueIndex) -> Self {
        let mut fields: HashMap<(String, String), Vec<FieldRef>> = HashMap::new();
        for dataset in &model.datasets {
            let Source::Table { schema, name } = &dataset.source else {
                continue;
            };
            let Some(table) = catalog.table_in(schema.as_deref(), name) else {
                continue;
            };
            let table = table.qualified_name();
            // A key of digits is a number in any question; one of words is a name.
            let names = |field: &&Field| field.role != Role::Key || !field.data_type.is_numeric();
            for field in dataset.fields.iter().filter(names) {
                let Some(column) = &field.column else { continue };
                let reference = FieldRef::new(&dataset.name, &field.name);
                fields
                    .entry((table.clone(), column.clone()))
                    .or_default()
                    .push(reference);
            }
        }
        Self { index, fields }
    }

    /// The values that the text of the tokens from `at` spells, longest first, with the index after the last token.
    pub fn at(&self, question: &str, tokens: &[Token], at: usize) -> Vec<(Choice, usize)> {
        let Some(first) = tokens.get(at) else { return Vec::new() };
        // A number is a value only where it is quoted: every table has a 5.
        if matches!(first.kind, Kind::Punctuation) {
            return Vec::new();
        }
        let is_small = first.kind == Kind::Word
            && !first.capital
            && (is_function_word(&first.text) || first.text.chars().count() == 1);
        let mut found = Vec::new();
        for end in (at + 1..=(at + LONGEST_VALUE).min(tokens.len())).rev() {
            let Some(last) = tokens.get(end - 1) else { continue };
            if end == at + 1 && (is_small || matches!(first.kind, Kind::Number(_))) {
                continue;
            }
            let text = match (&first.kind, end == at + 1) {
                (Kind::Quoted, true) => inner(question.get(first.start..first.end).unwrap_or_default()),
                (Kind::Quoted, false) => continue,
                (Kind::Word | Kind::Number(_) | Kind::Han | Kind::Punctuation, _) => {
                    question.get(first.start..last.end).unwrap_or_default()
                }
            };
            found.extend(self.exact(text, first).into_iter().map(|choice| (choice, end)));
        }
        found
    }

    /// Is there a value spelled like `text`?
    pub fn knows(&self, text: &str) -> bool {
        !self.index.lookup(text).is_empty()
    }

    fn exact(&self, text: &str, first: &Token) -> Vec<Choice> {
        let plain = text.strip_suffix("'s").unwrap_or(text);
        let mut matches = self.index.lookup(plain);
        if matches.is_empty() {
            // "Motorcycle" for the value "Motorcycles", and the other way round.
            let singular = plain.strip_suffix('s').filter(|stem| stem.len() > 3);
            matches = singular.map(|stem| self.index.lookup(stem)).unwrap_or_default();
        }
        let sure = matches!(first.kind, Kind::Quoted | Kind::Han) || first.capital;
        // "Reported before 1990" is no status by the name of Reported.
        let is_participle = !sure && first.text.len() > 4 && first.text.ends_with("ed");
        let mut choices: Vec<Choice> = Vec::new();
        for found in matches {
            let is_one_word = !plain.contains(' ');
            let other_case = found.kind != MatchKind::Exact;
            let doubtful = !sure
                && is_one_word
                && (self.is_wide(&found.entry.table, &found.entry.column) || is_participle && other_case);
            let weight = match (found.kind, sure) {
                _ if doubtful => VALUE_BY_CHANCE,
                (MatchKind::Exact, _) | (MatchKind::Folded, true) => VALUE,
                (MatchKind::Folded, false) => VALUE_OTHER_CASE,
                (MatchKind::Typo(_), _) => NEAR_SPELLING,
            };
            let key = (found.entry.table.clone(), found.entry.column.clone());
            for field in self.fields.get(&key).into_iter().flatten() {
                choices.push(Choice {
                    meaning: Meaning::Value {
                        field: field.clone(),
                        value: found.entry.value.clone(),
                    },
                    weight,
                    approximate: doubtful,
                });
            }
        }
        choices.truncate(MOST_COLUMNS_OF_A_VALUE);
        choices
    }

    /// Has the column so many values that an ordinary word may be one of them by chance, as with family names?
    fn is_wide(&self, table: &str, column: &str) -> bool {
        self.index.of_column(table, column).nth(MOST_CATEGORIES).is_some()
    }

    /// Values spelled nearly like `text`, nearest first.
    ///
    /// `sure`: it stands where a name stands, by its capital letter or quotation marks; other words are mistaken for
    /// values too easily, and only a single slip in a long one counts.
    pub fn near(&self, text: &str, sure: bool) -> Vec<Choice> {
        if !sure && text.chars().count() < SHORTEST_SLIP {
            return Vec::new();
        }
        let matches = self.index.lookup_close(text, MOST_COLUMNS_OF_A_VALUE);
        matches
            .iter()
            .filter(|found| sure || found.kind == MatchKind::Typo(1))
            .flat_map(|found| {
                let key = (found.entry.table.clone(), found.entry.column.clone());
                let fields = self.fields.get(&key).map_or(&[][..], Vec::as_slice);
                fields.iter().map(|field| Choice {
                    meaning: Meaning::Value {
                        field: field.clone(),
                        value: found.entry.value.clone(),
                    },
                    weight: NEAR_SPELLING,
                    approximate: true,
                })
            })
            .collect()
    }
}

/// Text without the quotation marks around it.
fn inner(quoted: &str) -> &str {
    let mut characters = quoted.chars();
    characters.next();
    characters.next_back();
    characters.as_str().trim()
}
