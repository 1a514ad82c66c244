//! The words of the model and the values of the database, ready to be found in a question.

mod exonyms;
mod glued;
mod kin;
mod values;

use std::collections::HashMap;

pub use kin::Kin;
pub use values::Values;

use crate::meaning::question::cue::is_function_word;
use crate::meaning::question::token::{Kind, Token, name_stems};
use crate::meaning::semantic::{Dataset, Field, FieldRef, Model, Source, Words};
use crate::warehouse::catalog::Catalog;
use crate::warehouse::catalog::values::ValueIndex;

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
            .filter(|(entry, end)| {
                let is_value = matches!(entry.meaning, Meaning::Value { .. });
                let said = tokens.get(at..*end).unwrap_or_default();
                !(is_value && (is_mere_word(said) || is_verb(tokens, at, *end)))
            })
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
fn is_mere_word(tokens: &[Token]) -> bool {
    let [only] = tokens else { return false };
    let is_small = only.kind == Kind::Word && !only.capital;
    is_small && (is_function_word(&only.text) || only.text.chars().count() == 1)
}

/// "Reported by", "issued before": a participle that goes on is a verb, whatever value is spelled like it.
fn is_verb(tokens: &[Token], at: usize, end: usize) -> bool {
    const GOES_ON: [&str; 7] = ["by", "before", "after", "as", "to", "with", "for"];
    let is_participle = tokens.get(at).is_some_and(|token| {
        !token.capital && token.kind == Kind::Word && token.text.len() > 4 && token.text.ends_with("ed")
    });
    let goes_on = tokens
        .get(end)
        .is_some_and(|next| GOES_ON.contains(&next.text.as_str()));
    is_participle && end == at + 1 && goes_on
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
        if end > at
            && word != "of"
            && tokens
                .get(end)
                .is_some_and(|token| matches!(token.text.as_str(), "of" | "的"))
        {
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
