//! Names written as one word: `clubname`, `dormid`, `stuid`.

use crate::meaning::question::token::name_stems;
use crate::meaning::semantic::Model;

/// What such names end in, with what people say.
const ENDINGS: [(&str, &str); 14] = [
    ("fname", "first name"),
    ("lname", "last name"),
    ("name", "name"),
    ("id", "id"),
    ("code", "code"),
    ("date", "date"),
    ("type", "type"),
    ("title", "title"),
    ("number", "number"),
    ("num", "number"),
    ("desc", "description"),
    ("phone", "phone"),
    ("year", "year"),
    ("time", "time"),
];
/// A field's name without the words of its dataset.
const OWN: f64 = 0.9;
/// A name with the dataset that it points at.
const WHOLE: f64 = 0.96;

/// The words of `field`, where it is one word made of a dataset's name, or the beginning of one, and an ending: the ending
/// alone where it is the field's own dataset, and both in any case.
pub fn taken_apart(field: &str, own: &str, model: &Model) -> Vec<(Vec<String>, f64)> {
    let lower = field.to_lowercase();
    if lower.contains(['_', ' ', '-']) {
        return Vec::new();
    }
    let Some((first, ending)) = ENDINGS.iter().find_map(|(ending, said)| {
        let first = lower.strip_suffix(ending).filter(|first| !first.is_empty())?;
        Some((first, said))
    }) else {
        return Vec::new();
    };
    let begins = |name: &str| name.to_lowercase().starts_with(first);
    let mut found = Vec::new();
    if begins(own) {
        found.push((name_stems(ending), OWN));
    }
    if first.chars().count() > 1
        && let Some(dataset) = model.datasets.iter().find(|dataset| begins(&dataset.name))
    {
        let mut words = name_stems(&dataset.words.label);
        words.extend(name_stems(ending));
        found.push((words, WHOLE));
    }
    found
}
