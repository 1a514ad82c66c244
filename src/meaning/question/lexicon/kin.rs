//! A second look at words that no name explains: kin of a name by derivation ("attendees" of attendance), short forms in
//! names ("institution" for `inst`), words of like meaning, slips of the pen, and people for any table of people.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::meaning::question::lexicon::{Choice, Meaning};
use crate::meaning::question::token::{Kind, Token};
use crate::meaning::semantic::{Dataset, DatasetKind, FieldRef, Model, names};

/// How near a word is to a name's word, by the way they are kin.
const SAME: f64 = 0.66;
const SLIP: f64 = 0.68;
const DERIVED: f64 = 0.66;
const LIKE: f64 = 0.64;
const SHORT: f64 = 0.6;
/// A table of people, whatever they are called.
const PEOPLE: f64 = 0.5;
/// A table that says of what people it is.
const OTHER_PEOPLE: f64 = 0.42;
/// What the word of a name loses that is not its last, and a name of which nothing else was said.
const NOT_HEAD: f64 = 0.85;
const MERE_PART: f64 = 0.8;
/// Kin this far behind the nearest are not meant.
const FARTHEST: f64 = 0.14;
/// More would be guessing.
const MOST: usize = 8;
/// Shorter words are kin of too much.
const SHORTEST: usize = 3;
const SHORTEST_DERIVED: usize = 4;
const SHORTEST_SLIP: usize = 5;
/// Words this long may have two slips.
const LONG: usize = 9;

/// Endings that make a noun or a person of a verb, and verbs and adjectives of nouns; longest first.
const ENDINGS: [&str; 27] = [
    "ations", "ation", "ments", "ment", "ances", "ance", "ences", "ence", "ities", "ity", "ions", "ion", "ings", "ing",
    "ees", "ee", "ers", "er", "ors", "or", "ists", "ist", "ed", "es", "al", "e", "s",
];

struct Group {
    people: bool,
    words: Vec<&'static str>,
}

static GROUPS: LazyLock<Vec<Group>> = LazyLock::new(|| {
    include_str!("../kin.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let (people, words) = match line.split_once('\t') {
                Some((_, words)) => (true, words),
                None => (false, line),
            };
            Group {
                people,
                words: words.split('|').collect(),
            }
        })
        .collect()
});

/// Word → its groups.
static GROUPS_OF: LazyLock<HashMap<&'static str, Vec<usize>>> = LazyLock::new(|| {
    let mut of: HashMap<&'static str, Vec<usize>> = HashMap::new();
    for (index, group) in GROUPS.iter().enumerate() {
        for word in &group.words {
            of.entry(word).or_default().push(index);
        }
    }
    of
});

struct Name {
    meaning: Meaning,
    /// Lower case, the last in the singular.
    words: Vec<String>,
    bridge: bool,
}

/// The names of a model as plain words.
pub struct Kin {
    names: Vec<Name>,
    /// Tables of people, with whether they say of what people.
    people: Vec<(String, bool)>,
}

impl Kin {
    pub fn new(model: &Model) -> Self {
        let mut names = Vec::new();
        for dataset in &model.datasets {
            let bridge = dataset.kind == DatasetKind::Bridge;
            names.push(Name {
                meaning: Meaning::Dataset(dataset.name.clone()),
                words: plain(&dataset.words.label),
                bridge,
            });
            names.extend(dataset.fields.iter().map(|field| Name {
                meaning: Meaning::Field(FieldRef::new(&dataset.name, &field.name)),
                words: plain(&field.words.label),
                bridge,
            }));
        }
        let people = model.datasets.iter().filter(|dataset| holds_people(dataset));
        let people = people.map(|dataset| {
            (
                dataset.name.clone(),
                plain(&dataset.words.label).iter().any(|word| is_person(word)),
            )
        });
        Self {
            people: people.collect(),
            names,
        }
    }

    /// What `token` may mean that is no name as it stands; best first, each to be told as a guess.
    pub fn of(&self, token: &Token) -> Vec<Choice> {
        let is_long = token.text.chars().count() >= SHORTEST;
        if token.kind != Kind::Word || !is_long || !token.text.is_ascii() {
            return Vec::new();
        }
        let word = names::singular(&token.text);
        let mut found: Vec<(f64, &Meaning)> = self
            .names
            .iter()
            .filter_map(|name| Some((name_kinship(&word, name)?, &name.meaning)))
            .collect();
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        let best = found.first().map_or(0.0, |(weight, _)| *weight);
        found.retain(|(weight, _)| *weight >= best - FARTHEST);
        found.truncate(MOST);
        let mut choices: Vec<Choice> = found
            .into_iter()
            .map(|(weight, meaning)| choice(meaning.clone(), weight))
            .collect();
        let names_dataset = choices
            .iter()
            .any(|choice| matches!(choice.meaning, Meaning::Dataset(_)));
        if is_person(&word) && !names_dataset {
            // "Students" are no employees, but "people" may be.
            let anyone = are_alike(&word, "person");
            let people = self.people.iter().filter(|(_, of_others)| anyone || !of_others);
            choices.extend(people.map(|(dataset, of_others)| {
                choice(
                    Meaning::Dataset(dataset.clone()),
                    if *of_others { OTHER_PEOPLE } else { PEOPLE },
                )
            }));
        }
        choices
    }
}

fn choice(meaning: Meaning, weight: f64) -> Choice {
    Choice {
        meaning,
        weight,
        approximate: true,
    }
}

fn plain(label: &str) -> Vec<String> {
    names::split(&names::singular(label))
}

/// How near `word` is to the name as a whole.
fn name_kinship(word: &str, name: &Name) -> Option<f64> {
    let last = name.words.len().checked_sub(1)?;
    let is_dataset = matches!(name.meaning, Meaning::Dataset(_));
    let of_words = name.words.iter().enumerate().filter_map(|(place, own)| {
        let near = kinship(word, own)?;
        let head = if place == last { 1.0 } else { NOT_HEAD };
        let part = if last == 0 || is_dataset { 1.0 } else { MERE_PART };
        Some(near * head * part)
    });
    let best = of_words.fold(0.0, f64::max);
    let weight = if name.bridge { best * 0.95 } else { best };
    (weight > 0.0).then_some(weight)
}

/// How near two words are, in the way that makes them kin.
fn kinship(word: &str, own: &str) -> Option<f64> {
    if word == own {
        return Some(SAME);
    }
    if is_derived(word, own) {
        return Some(DERIVED);
    }
    if are_alike(word, own) {
        return Some(LIKE);
    }
    if is_slip(word, own) {
        return Some(SLIP);
    }
    // `useracct`: a name written as one word begins with it.
    let begins = word.len() >= SHORTEST_DERIVED && own.starts_with(word);
    (begins || is_short_form(own, word)).then_some(SHORT)
}

/// "Attendee" and "attendance", "investor" and "invested": the same root with another ending.
fn is_derived(word: &str, own: &str) -> bool {
    let (a, b) = (root(word), root(own));
    a.len() >= SHORTEST_DERIVED && a == b
}

fn root(word: &str) -> &str {
    let cut = ENDINGS
        .iter()
        .find_map(|ending| word.strip_suffix(ending).filter(|rest| rest.len() >= SHORTEST_DERIVED));
    let root = cut.unwrap_or(word);
    // "Programmer", "program": a doubled consonant before the ending.
    let mut backwards = root.chars().rev();
    match (cut, backwards.next(), backwards.next()) {
        (Some(_), Some(a), Some(b)) if a == b && !"aeiou".contains(a) => {
            root.get(..root.len() - a.len_utf8()).unwrap_or(root)
        }
        _ => root,
    }
}

fn are_alike(word: &str, own: &str) -> bool {
    let groups = |word: &str| GROUPS_OF.get(word).map_or(&[][..], Vec::as_slice);
    groups(word).iter().any(|group| groups(own).contains(group))
}

fn is_slip(word: &str, own: &str) -> bool {
    let length = word.chars().count().min(own.chars().count());
    let most = if length >= LONG { 2 } else { 1 };
    let same_start = word.chars().next() == own.chars().next();
    same_start && length >= SHORTEST_SLIP && strsim::osa_distance(word, own) <= most
}

/// `inst` of institution, `crs` of course: its beginning, or its consonants in their order.
fn is_short_form(short: &str, word: &str) -> bool {
    let is_vowel = |c: char| "aeiou".contains(c);
    if short.len() < SHORTEST || word.len() < short.len() + 2 || !short.chars().all(|c| c.is_ascii_alphabetic()) {
        return false;
    }
    if word.starts_with(short) {
        return true;
    }
    let same_start = word.chars().next() == short.chars().next();
    if !same_start || short.chars().any(is_vowel) {
        return false;
    }
    let mut rest = word.chars();
    short.chars().all(|c| rest.any(|other| other == c))
}

fn is_person(word: &str) -> bool {
    let groups = GROUPS_OF.get(word).map_or(&[][..], Vec::as_slice);
    groups
        .iter()
        .filter_map(|group| GROUPS.get(*group))
        .any(|group| group.people)
}

/// Does it tell of people: by its name, or by what only people have?
fn holds_people(dataset: &Dataset) -> bool {
    const TELLING: [&str; 12] = [
        "first name",
        "last name",
        "fname",
        "lname",
        "firstname",
        "lastname",
        "surname",
        "gender",
        "sex",
        "birth date",
        "date of birth",
        "nationality",
    ];
    let by_name = plain(&dataset.words.label).last().is_some_and(|word| is_person(word));
    let says = |label: &String| TELLING.contains(&label.as_str());
    let by_field = dataset
        .fields
        .iter()
        .any(|field| says(&field.words.label.to_lowercase()));
    (by_name || by_field) && dataset.kind != DatasetKind::Bridge
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("attendee", "attendance", Some(DERIVED))]
    #[case("enrollment", "enrolled", Some(DERIVED))]
    #[case("invested", "investor", Some(DERIVED))]
    #[case("institution", "inst", Some(SHORT))]
    #[case("course", "crs", Some(SHORT))]
    #[case("physician", "doctor", Some(LIKE))]
    #[case("deparment", "department", Some(SLIP))]
    #[case("organization", "organisation", Some(LIKE))]
    #[case("user", "useracct", Some(SHORT))]
    #[case("candidate", "cat", None)]
    #[case("house", "mouse", None)]
    #[case("price", "priority", None)]
    fn words_are_kin_by_form_or_meaning(#[case] word: &str, #[case] own: &str, #[case] near: Option<f64>) {
        assert_eq!(kinship(word, own), near);
    }
}
