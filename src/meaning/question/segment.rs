//! The best cover of a question by names, values, dates, numbers and function words.

use rust_decimal::Decimal;

use crate::meaning::question::cue::{Cue, cues_at, is_function_word};
use crate::meaning::question::lexicon::{Choice, Lexicon, Meaning, Values};
use crate::meaning::question::phrases::{Found, Phrase};
use crate::meaning::question::token::{Kind, Token};

/// What a piece of the question is.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// A name or value, with everything that it may mean.
    Term(Vec<Choice>),
    Number(Decimal),
    /// Quoted text that is no value of the database.
    Quoted(String),
    Time {
        phrase: Phrase,
        bare_year: bool,
    },
    Cue(Cue),
    Unknown,
    Punctuation,
}

/// A run of tokens that belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    pub item: Item,
    /// Index of the first token, and after the last.
    pub first: usize,
    pub end: usize,
}

/// Longer pieces explain more than their words one by one.
const LENGTH_POWER: f64 = 1.2;
const CUE: f64 = 0.9;
const TIME: f64 = 1.1;
const BARE_YEAR: f64 = 0.85;
const NUMBER: f64 = 0.6;
const QUOTED: f64 = 0.7;
/// Choices from this weight on are whole names or values.
pub const WHOLE: f64 = 0.7;

struct Edge {
    end: usize,
    score: f64,
    item: Item,
}

/// Cuts the question into pieces; every token is in exactly one.
pub fn segment(
    question: &str,
    tokens: &[Token],
    times: &[Found],
    lexicon: &Lexicon,
    values: &Values<'_>,
) -> Vec<Piece> {
    // best[i]: score of the best cover of the tokens from i on, and its first edge.
    let mut best: Vec<(f64, Option<Edge>)> = Vec::with_capacity(tokens.len() + 1);
    best.push((0.0, None));
    for at in (0..tokens.len()).rev() {
        let mut chosen: Option<(f64, Edge)> = None;
        for edge in edges(question, tokens, times, lexicon, values, at) {
            let rest = tokens.len() - edge.end;
            let after = best.get(rest).map_or(0.0, |(score, _)| *score);
            let score = edge.score + after;
            if chosen.as_ref().is_none_or(|(best, _)| score > *best) {
                chosen = Some((score, edge));
            }
        }
        match chosen {
            Some((score, edge)) => best.push((score, Some(edge))),
            None => best.push((0.0, None)),
        }
    }
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let Some(edge) = best.get_mut(tokens.len() - at).and_then(|(_, edge)| edge.take()) else {
            at += 1;
            continue;
        };
        pieces.push(Piece {
            item: edge.item,
            first: at,
            end: edge.end,
        });
        at = edge.end;
    }
    pieces
}

fn edges(
    question: &str,
    tokens: &[Token],
    times: &[Found],
    lexicon: &Lexicon,
    values: &Values<'_>,
    at: usize,
) -> Vec<Edge> {
    let mut edges = vec![single(tokens, at)];
    for found in times.iter().filter(|found| found.first == at) {
        let weight = if found.bare_year { BARE_YEAR } else { TIME };
        let item = Item::Time {
            phrase: found.phrase,
            bare_year: found.bare_year,
        };
        edges.push(edge(tokens, at, found.end, weight, item));
    }
    for (cue, end) in cues_at(tokens, at) {
        let weight = if cue == Cue::Filler { CUE - 0.2 } else { CUE };
        edges.push(edge(tokens, at, end, weight, Item::Cue(cue)));
    }
    let mut by_end: Vec<(usize, Vec<Choice>)> = Vec::new();
    let mut found = lexicon.whole_at(tokens, at);
    found.extend(values.at(question, tokens, at));
    if !tokens.get(at).is_some_and(|token| is_function_word(&token.text)) {
        found.extend(lexicon.part_at(tokens, at));
    }
    for (choice, end) in found {
        match by_end.iter_mut().find(|(known, _)| *known == end) {
            Some((_, choices)) => add(choices, choice),
            None => by_end.push((end, vec![choice])),
        }
    }
    for (end, mut choices) in by_end {
        keep_whole_names(&mut choices);
        let weight = choices.iter().map(|choice| choice.weight).fold(0.0, f64::max);
        edges.push(edge(tokens, at, end, weight, Item::Term(choices)));
    }
    edges
}

/// Where the words are the whole name of a metric or dataset, they are not a part of another name; where they are the
/// whole name of a field or value, they are not a part of a metric's or dataset's name.
fn keep_whole_names(choices: &mut Vec<Choice>) {
    let is_big = |choice: &Choice| matches!(choice.meaning, Meaning::Metric(_) | Meaning::Dataset(_));
    let whole = |choice: &&Choice| choice.weight >= WHOLE;
    let has_whole = choices.iter().any(|choice| whole(&choice));
    let has_whole_big = choices.iter().filter(whole).any(is_big);
    choices.retain(|choice| choice.weight >= WHOLE || !has_whole || !has_whole_big && !is_big(choice));
}

/// The same meaning by two names counts by the better one.
fn add(choices: &mut Vec<Choice>, choice: Choice) {
    match choices.iter_mut().find(|known| known.meaning == choice.meaning) {
        Some(known) if known.weight < choice.weight => *known = choice,
        Some(_) => {}
        None => choices.push(choice),
    }
}

fn edge(tokens: &[Token], at: usize, end: usize, weight: f64, item: Item) -> Edge {
    let length: f64 = tokens
        .get(at..end)
        .unwrap_or_default()
        .iter()
        // Two Chinese characters say about as much as one English word.
        .map(|token| if token.kind == Kind::Han { 0.6 } else { 1.0 })
        .sum();
    Edge {
        end,
        score: weight * length.powf(LENGTH_POWER),
        item,
    }
}

fn single(tokens: &[Token], at: usize) -> Edge {
    let (score, item) = match tokens.get(at).map(|token| (&token.kind, token)) {
        Some((Kind::Number(value), _)) => (NUMBER, Item::Number(*value)),
        Some((Kind::Quoted, token)) => (QUOTED, Item::Quoted(token.text.clone())),
        Some((Kind::Punctuation, _)) => (0.1, Item::Punctuation),
        Some((Kind::Word | Kind::Han, _)) | None => (0.0, Item::Unknown),
    };
    Edge {
        end: at + 1,
        score,
        item,
    }
}
