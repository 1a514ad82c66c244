//! The words inside names, and when two words are the same word.

use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;

static ENGLISH: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::English));

/// Plurals that no rule of spelling finds, with their stems.
const IRREGULAR: &[(&str, &str)] = &[
    ("people", "person"),
    ("persons", "person"),
    ("children", "child"),
    ("men", "man"),
    ("women", "woman"),
    ("indices", "index"),
];

/// `text` without case, accents, width and superfluous blanks: what two spellings of one word have in common.
///
/// `"  São  PAULO"` and `"sao paulo"` fold to the same.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        let lower = text.to_ascii_lowercase();
        return if lower.contains("  ") || lower.trim().len() < lower.len() || lower.contains(['\t', '\n', '\r']) {
            blanks(&lower)
        } else {
            lower
        };
    }
    // Only Latin, Greek and Cyrillic accents are dropped: kana and Indic marks make other letters.
    let plain: String = text
        .nfkd()
        .filter(|c| !('\u{300}'..='\u{36f}').contains(c))
        .nfc()
        .collect();
    blanks(&plain.to_lowercase().replace('ß', "ss"))
}

fn blanks(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The words of a name or of prose, folded: `EmployeeID` → employee, id; `ship_address2` → ship, address, 2;
/// `客户Name` → 客户, name. A run of Chinese, Japanese or Korean characters is one word.
pub fn words(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let mut words = vec![];
    let mut word = String::new();
    for (at, &c) in characters.iter().enumerate() {
        let kind = Kind::of(c);
        let before = at.checked_sub(1).and_then(|at| characters.get(at)).copied();
        let after = characters.get(at + 1).copied();
        if before.is_some_and(|before| starts_word(Kind::of(before), kind, after)) && !word.is_empty() {
            words.push(fold(&std::mem::take(&mut word)));
        }
        if kind != Kind::Between {
            word.push(c);
        }
    }
    if !word.is_empty() {
        words.push(fold(&word));
    }
    words
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Lower,
    Upper,
    Digit,
    Cjk,
    Between,
}

impl Kind {
    fn of(c: char) -> Self {
        if is_cjk(c) {
            Self::Cjk
        } else if c.is_numeric() {
            Self::Digit
        } else if c.is_uppercase() {
            Self::Upper
        } else if c.is_alphabetic() || ('\u{300}'..='\u{36f}').contains(&c) {
            Self::Lower
        } else {
            Self::Between
        }
    }
}

/// Does a word start at a character of kind `now`, after one of kind `before`? `HTTPServer` splits before the `S`.
fn starts_word(before: Kind, now: Kind, after: Option<char>) -> bool {
    match (before, now) {
        (Kind::Upper, Kind::Lower) => false,
        (Kind::Upper, Kind::Upper) => after.is_some_and(|after| Kind::of(after) == Kind::Lower),
        (before, now) => before != now,
    }
}

/// Is `c` written without blanks between words?
pub fn is_cjk(c: char) -> bool {
    matches!(u32::from(c), 0x2E80..=0x2FDF | 0x3005..=0x3007 | 0x3040..=0x30FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xAC00..=0xD7AF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

/// The stem of an English word that is already folded: `categories`, `category` → `categori`; `staffs` → `staff`.
pub fn stem(word: &str) -> String {
    let word = IRREGULAR
        .iter()
        .find(|(plural, _)| *plural == word)
        .map_or(word, |(_, singular)| singular);
    if word.is_ascii() {
        ENGLISH.stem(word).into_owned()
    } else {
        word.to_owned()
    }
}

/// The stems of a name's words, joined: names that differ only in case, separators and number have the same key.
pub fn name_key(words: &[String]) -> String {
    words.iter().map(|word| stem(word)).collect::<Vec<_>>().join("_")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("EmployeeID", &["employee", "id"])]
    #[case("ship_address2", &["ship", "address", "2"])]
    #[case("HTTPServerName", &["http", "server", "name"])]
    #[case("Total $", &["total"])]
    #[case("客户Name", &["客户", "name"])]
    #[case("Größe (cm)", &["grosse", "cm"])]
    #[case("customerId", &["customer", "id"])]
    #[case("___", &[])]
    #[case("", &[])]
    fn a_name_is_split_into_its_words(#[case] name: &str, #[case] expected: &[&str]) {
        assert_eq!(words(name), expected);
    }

    #[rstest]
    #[case("  São  PAULO", "sao paulo")]
    #[case("Ｔｏｋｙｏ", "tokyo")]
    #[case("が", "が")]
    #[case("STRASSE", "strasse")]
    #[case("Straße", "strasse")]
    #[case("New\tYork", "new york")]
    fn spellings_of_one_word_fold_to_the_same(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(fold(text), expected);
    }

    #[rstest]
    #[case("categories", "category")]
    #[case("movies", "movie")]
    #[case("addresses", "address")]
    #[case("people", "person")]
    #[case("statuses", "status")]
    fn a_plural_has_the_stem_of_its_singular(#[case] plural: &str, #[case] singular: &str) {
        assert_eq!(stem(plural), stem(singular));
    }
}
