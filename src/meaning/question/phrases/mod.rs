//! Date phrases of English and Chinese questions, resolved against an as-of date into half-open windows.

mod chinese;
mod english;
mod point;
mod scan;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::meaning::question::token::Token;
use crate::meaning::semantic::Settings;
use crate::time::{Grain, TimeContext, Window};

pub use scan::find;

/// What a phrase about time means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phrase {
    /// Days. `relative` says by how many of which unit it is counted back from the as-of date, where it is
    /// ("last month" is one month back), so that "compared with last year" can be understood beside another window.
    Window {
        window: Window,
        relative: Option<(Grain, i64)>,
    },
    /// From the first window to the second, both included; a comparison may want the two ends apart.
    Range { from: Window, to: Window },
    /// The window of the same kind just before the one talked about ("the month before", 环比).
    Previous,
    /// The same dates a year earlier ("year over year", 同比).
    YearAgo,
    /// The periods of a series ("monthly", 按月).
    Grain(Grain),
}

impl Phrase {
    /// The days that it names; `None` for shifts and grains.
    pub fn window(&self) -> Option<Window> {
        match *self {
            Phrase::Window { window, .. } => Some(window),
            Phrase::Range { from, to } => Some(from.hull(&to)),
            Phrase::Previous | Phrase::YearAgo | Phrase::Grain(_) => None,
        }
    }
}

/// A phrase and the tokens it takes up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// Index of the first token.
    pub first: usize,
    /// Index after the last token.
    pub end: usize,
    pub phrase: Phrase,
    /// Four lone digits with nothing beside them that speaks of time: a year, unless the number has another meaning.
    pub bare_year: bool,
}

/// What phrases are resolved against.
#[derive(Debug, Clone, Copy)]
pub struct Calendar {
    pub time: TimeContext,
    /// Month (1 to 12) in which the fiscal year starts.
    pub fiscal_year_start: i8,
    /// The one year that the question names, for months said without one.
    pub said_year: Option<i16>,
}

impl Calendar {
    pub fn new(time: TimeContext, settings: &Settings) -> Self {
        let start = settings.fiscal_year_start.and_then(|month| i8::try_from(month).ok());
        Self {
            time,
            fiscal_year_start: start.filter(|month| (1..=12).contains(month)).unwrap_or(1),
            said_year: None,
        }
    }
}

/// A number in words at `at` (`five`, `五`), taking up exactly one token.
pub fn spelled_number(tokens: &[Token], at: usize) -> Option<i64> {
    let token = std::slice::from_ref(tokens.get(at)?);
    english::count_at(token, 0).or_else(|| chinese::number(token, 0).map(|(value, _)| value))
}

/// A parser's answer: what was read, and the index after its last token.
type Parsed<T> = Option<(T, usize)>;

fn word_at(tokens: &[Token], at: usize) -> &str {
    tokens.get(at).map_or("", |token| token.text.as_str())
}

/// The index after `words`, if these stand at `at`.
fn after_words(tokens: &[Token], at: usize, words: &[&str]) -> Option<usize> {
    let end = at + words.len();
    words
        .iter()
        .enumerate()
        .all(|(offset, word)| word_at(tokens, at + offset) == *word)
        .then_some(end)
}

/// The index after the first of `phrases` (words separated by spaces; Chinese by characters) that stands at `at`.
fn after_any(tokens: &[Token], at: usize, phrases: &[&str]) -> Option<usize> {
    phrases.iter().find_map(|phrase| {
        if phrase.is_ascii() {
            let words: Vec<&str> = phrase.split(' ').collect();
            return after_words(tokens, at, &words);
        }
        let mut end = at;
        for c in phrase.chars() {
            let token = word_at(tokens, end);
            let mut chars = token.chars();
            if chars.next() != Some(c) || chars.next().is_some() {
                return None;
            }
            end += 1;
        }
        Some(end)
    })
}

#[cfg(test)]
mod tests;
