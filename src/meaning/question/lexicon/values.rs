//! The values of the database, found in a question as they stand or spelled nearly so.

use std::collections::HashMap;

use crate::meaning::question::cue::is_function_word;
use crate::meaning::question::lexicon::{Choice, Meaning, VALUE, exonyms, is_verb};
use crate::meaning::question::token::{Kind, Token};
use crate::meaning::semantic::{Field, FieldRef, Model, Source};
use crate::warehouse::catalog::values::{MatchKind, ValueIndex};
use crate::warehouse::catalog::{Catalog, Role};

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
            if end == at + 1 && (is_small || is_verb(tokens, at, end) || matches!(first.kind, Kind::Number(_))) {
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
        if matches.is_empty() {
            matches = exonyms::spellings(plain)
                .iter()
                .flat_map(|spelling| self.index.lookup(spelling))
                .collect();
        }
        let sure = matches!(first.kind, Kind::Quoted | Kind::Han) || first.capital;
        let mut choices: Vec<Choice> = Vec::new();
        for found in matches {
            let is_one_word = !plain.contains(' ');
            let doubtful = !sure && is_one_word && self.is_wide(&found.entry.table, &found.entry.column);
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
