//! Reading a question: from text to ranked readings, each with a typed query.
//!
//! `token` cuts the text; `phrases` finds dates; `lexicon` holds the names of the model and the values of the database;
//! `segment` covers the question with them and with the function words of `cue`; `choose` picks among meanings by what
//! stands around; `walk` fills the slots of a `draft`; `build` makes the typed query; `judge` decides whether enough
//! was understood to answer. Nothing is guessed silently: near spellings, assumed measures and skipped words are told
//! in the reading's notes, and what is not understood but restricts the question makes it [`Outcome::NotRead`].

mod build;
mod chinese;
mod choose;
mod confidence;
mod cue;
mod draft;
mod glance;
mod graph;
mod judge;
mod lexicon;
pub mod phrases;
mod roles;
mod say;
mod scope;
mod segment;
mod suggest;
mod tidy;
mod token;
mod types;
mod walk;

pub use crate::config::OnAmbiguity;
pub use confidence::{SURE, Signals, may_answer};
pub use glance::{intents, window_of};
pub use types::{Intent, NotRead, Outcome, Reading, Shift, Span, SpanKind};

use crate::meaning::query::Literal;
use crate::meaning::question::choose::{Ranked, TOO_CLOSE};
use crate::meaning::question::cue::Cue;
use crate::meaning::question::draft::{Node, What};
use crate::meaning::question::graph::Graph;
use crate::meaning::question::lexicon::{Kin, Lexicon, Meaning, Values};
use crate::meaning::question::phrases::Calendar;
use crate::meaning::question::scope::Scope;
use crate::meaning::question::segment::{Item, Piece};
use crate::meaning::question::token::{Kind, Token};
use crate::meaning::semantic::{Metric, Model, Unit};
use crate::text::Language;
use crate::time::TimeContext;
use crate::warehouse::catalog::Catalog;
use crate::warehouse::catalog::values::ValueIndex;

/// Readings beyond these are too unlikely to be worth a look.
const MOST_READINGS: usize = 4;
/// Second meanings that are tried, nearest first.
const MOST_RIVALS: usize = 8;
/// What a reading loses by a second meaning, and by how much less well that fits the words around it.
const SWAPPED: f64 = 0.05;
const SWAPPED_BY: f64 = 1.5;
/// Readings whose scores differ by less are equally sure.
const SAME_SCORE: f64 = 0.02;

/// Reads questions over one database; made once, used for many questions.
pub struct Reader<'a> {
    model: &'a Model,
    lexicon: Lexicon,
    kin: Kin,
    values: Values<'a>,
    graph: Graph,
}

/// Reads one question; [`Reader`] is cheaper for many.
pub fn read(question: &str, model: &Model, catalog: &Catalog, values: &ValueIndex, time: &TimeContext) -> Outcome {
    Reader::new(model, catalog, values).read(question, time)
}

impl<'a> Reader<'a> {
    pub fn new(model: &'a Model, catalog: &Catalog, values: &'a ValueIndex) -> Self {
        let graph = Graph::new(model);
        let scope = Scope { model, graph: &graph };
        let main = scope.main_money().map(|metric| metric.name.clone());
        Self {
            model,
            lexicon: Lexicon::new(model, main.as_deref(), catalog, values),
            kin: Kin::new(model),
            values: Values::new(model, catalog, values),
            graph,
        }
    }

    /// The metric that plain words of trade mean.
    fn main_metric(&self) -> Option<&Metric> {
        self.scope().main_money()
    }

    fn scope(&self) -> Scope<'_> {
        Scope {
            model: self.model,
            graph: &self.graph,
        }
    }

    /// The readings of `question`, best first, or why there is none. Only the first 4,000 bytes are read.
    pub fn read(&self, question: &str, time: &TimeContext) -> Outcome {
        match self.understand(question, time) {
            Ok((readings, ambiguous)) => Outcome::Read { readings, ambiguous },
            Err(mut not_read) => {
                not_read.suggestions = suggest::suggestions(self, not_read.language, time);
                Outcome::NotRead(*not_read)
            }
        }
    }

    /// Like [`Reader::read`], without suggestions.
    pub(in crate::meaning::question) fn understand(
        &self,
        question: &str,
        time: &TimeContext,
    ) -> Result<(Vec<Reading>, bool), Box<NotRead>> {
        let language = Language::detect(question);
        let tokens = self.unquoted(token::tokens(question), question);
        let times = phrases::find(&tokens, &Calendar::new(*time, &self.model.settings));
        let pieces = segment::segment(question, &tokens, &times, &self.lexicon, &self.values);
        let mut pieces = self.near_spellings(question, &tokens, pieces);
        let mut ranked = choose::choose(&pieces, self.model, &self.graph);
        let text = Text {
            question,
            tokens: &tokens,
            language,
        };
        let mut first = self.reading(&text, &pieces, &ranked, time);
        // What cannot be read as it stands is tried with words that are kin of names.
        if first.as_ref().is_err_and(|refusal| !refusal.unknown.is_empty())
            && let Some(kindred) = self.kindred(&tokens, &pieces)
        {
            let again = choose::choose(&kindred, self.model, &self.graph);
            if let Ok(reading) = self.reading(&text, &kindred, &again, time) {
                (pieces, ranked, first) = (kindred, again, Ok(reading));
            }
        }
        // Each with how far behind its meanings are.
        let mut found: Vec<(Reading, f64)> = first.iter().map(|reading| (reading.clone(), 0.0)).collect();
        for (piece, distance) in self.rivals(&ranked).into_iter().take(MOST_RIVALS) {
            let mut swapped = ranked.clone();
            if let Some(choices) = swapped.get_mut(piece) {
                choices.swap(0, 1);
            }
            let Ok(mut reading) = self.reading(&text, &pieces, &swapped, time) else {
                continue;
            };
            if found.iter().any(|(known, _)| known.query == reading.query) {
                continue;
            }
            let score = reading.score - SWAPPED - SWAPPED_BY * distance;
            reading.score = (score.clamp(0.0, 1.0) * 1000.0).round() / 1000.0;
            found.push((reading, distance));
        }
        if let (true, Err(refusal)) = (found.is_empty(), first) {
            return Err(refusal);
        }
        // The sort is stable: of equals the one whose meanings fit best comes first.
        found.sort_by(|a, b| b.0.score.total_cmp(&a.0.score));
        let ambiguous = match found.as_slice() {
            [first, second, ..] => {
                first.1.max(second.1) < TOO_CLOSE && first.0.score - second.0.score < SAME_SCORE + SWAPPED
            }
            _ => false,
        };
        found.truncate(MOST_READINGS);
        Ok((found.into_iter().map(|(reading, _)| reading).collect(), ambiguous))
    }

    /// A quoted name that no column holds as a whole, such as first and last name, is read word by word.
    fn unquoted(&self, tokens: Vec<Token>, question: &str) -> Vec<Token> {
        let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
        for token in tokens {
            let words = token.text.split_whitespace().count();
            let is_name = token.kind == Kind::Quoted && (2..=3).contains(&words);
            let inner = question.get(token.start..token.end).unwrap_or_default();
            let inner = inner.trim_matches(|c: char| !c.is_alphanumeric());
            let all_known = || inner.split_whitespace().all(|word| self.values.knows(word));
            if is_name && !self.values.knows(inner) && all_known() {
                let shift = question
                    .get(token.start..)
                    .and_then(|rest| rest.find(inner))
                    .unwrap_or(0)
                    + token.start;
                out.extend(token::tokens(inner).into_iter().map(|mut part| {
                    part.start += shift;
                    part.end += shift;
                    part.capital = true;
                    part
                }));
            } else {
                out.push(token);
            }
        }
        out
    }

    /// Pieces whose second meaning is nearly as good as the first, nearest first.
    fn rivals(&self, ranked: &[Vec<Ranked>]) -> Vec<(usize, f64)> {
        /// Second meanings that are farther behind are not offered.
        const FARTHEST: f64 = 0.25;
        let mut found: Vec<(usize, f64)> = ranked
            .iter()
            .enumerate()
            .filter_map(|(piece, choices)| match choices.as_slice() {
                [first, second, ..] => Some((piece, first.score - second.score)),
                _ => None,
            })
            .filter(|(piece, distance)| *distance < FARTHEST && !self.says_the_same(ranked.get(*piece)))
            .collect();
        found.sort_by(|a, b| a.1.total_cmp(&b.1));
        found
    }

    /// A metric that counts rows and the dataset of these rows: the metric says which of them count.
    fn says_the_same(&self, choices: Option<&Vec<Ranked>>) -> bool {
        let Some([first, second, ..]) = choices.map(Vec::as_slice) else {
            return false;
        };
        match (&first.choice.meaning, &second.choice.meaning) {
            (Meaning::Metric(name), Meaning::Dataset(dataset)) => self.model.metric(name).is_some_and(|metric| {
                metric.unit == Unit::Count && choose::metric_datasets(self.model, metric).first() == Some(dataset)
            }),
            _ => false,
        }
    }

    /// Words that nothing explains are looked up among the values once more, allowing for slips of the finger.
    fn near_spellings(&self, question: &str, tokens: &[Token], pieces: Vec<Piece>) -> Vec<Piece> {
        let mut near = pieces;
        for piece in &mut near {
            let is_unknown = matches!(piece.item, Item::Unknown | Item::Quoted(_));
            let Some(token) = tokens.get(piece.first).filter(|_| is_unknown) else {
                continue;
            };
            if !matches!(token.kind, Kind::Word | Kind::Quoted) {
                continue;
            }
            let text = match token.kind {
                Kind::Quoted => token.text.as_str(),
                _ => question.get(token.start..token.end).unwrap_or_default(),
            };
            let sure = token.kind == Kind::Quoted || token.capital && piece.first > 0;
            let choices = self.values.near(text, sure);
            if !choices.is_empty() {
                piece.item = Item::Term(choices);
            }
        }
        near
    }

    /// The pieces, with what words that nothing explains may mean; `None` where they mean nothing.
    fn kindred(&self, tokens: &[Token], pieces: &[Piece]) -> Option<Vec<Piece>> {
        let mut found = pieces.to_vec();
        let mut any = false;
        for piece in found.iter_mut().filter(|piece| piece.item == Item::Unknown) {
            let choices = tokens
                .get(piece.first)
                .map(|token| self.kin.of(token))
                .unwrap_or_default();
            if !choices.is_empty() {
                piece.item = Item::Term(choices);
                any = true;
            }
        }
        any.then_some(found)
    }

    fn reading(
        &self,
        text: &Text<'_>,
        pieces: &[Piece],
        ranked: &[Vec<Ranked>],
        time: &TimeContext,
    ) -> Result<Reading, Box<NotRead>> {
        let mut nodes = nodes(text, pieces, ranked);
        let scope = self.scope();
        tidy::tidy(&mut nodes, &scope);
        if text.language == Language::Chinese {
            chinese::arrange(&mut nodes, &scope);
        }
        let mut draft = walk::walk(&nodes, &scope);
        draft.via = roles::chosen(text.tokens, &draft.mentioned, self.model);
        let shift = draft.shift;
        let advise = draft.advise;
        let built = build::build(draft, &scope, time, text.language);
        judge::judge(self, text, &nodes, ranked, built, shift, advise)
    }
}

/// A question with its tokens.
struct Text<'a> {
    question: &'a str,
    tokens: &'a [Token],
    language: Language,
}

impl Text<'_> {
    /// The words of tokens `first..end`, as written.
    fn slice(&self, first: usize, end: usize) -> &str {
        let start = self.tokens.get(first).map(|token| token.start);
        let end = end
            .checked_sub(1)
            .and_then(|last| self.tokens.get(last))
            .map(|token| token.end);
        match (start, end) {
            (Some(start), Some(end)) => self.question.get(start..end).unwrap_or_default(),
            _ => "",
        }
    }
}

/// The pieces with their first meaning each; runs of unknown Chinese characters become one node.
fn nodes(text: &Text<'_>, pieces: &[Piece], ranked: &[Vec<Ranked>]) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::new();
    for (piece, choices) in pieces.iter().zip(ranked) {
        let mut approximate = false;
        let what = match (&piece.item, choices.first()) {
            (Item::Term(_), Some(best)) => {
                approximate = best.choice.approximate;
                match &best.choice.meaning {
                    Meaning::Metric(name) => What::Metric(name.clone()),
                    Meaning::Dataset(name) => What::Dataset(name.clone()),
                    Meaning::Field(field) => What::Field(field.clone()),
                    Meaning::Value { field, value } => What::Value {
                        field: field.clone(),
                        value: value.clone(),
                    },
                }
            }
            (Item::Term(_) | Item::Unknown, _) => What::Unknown,
            (Item::Number(value), _) => What::Number(literal(*value)),
            (Item::Quoted(quoted), _) => What::Quoted(quoted.clone()),
            (Item::Time { phrase, bare_year }, _) => What::Time {
                phrase: *phrase,
                bare_year: *bare_year,
            },
            (Item::Cue(cue), _) => What::Cue(*cue),
            (Item::Punctuation, _) => What::Punctuation,
        };
        let after_comparison = matches!(nodes.last().map(|node| &node.what), Some(What::Cue(Cue::Compare(_))));
        let what = match what {
            // "More than one": elsewhere it is no number.
            What::Cue(Cue::Filler) if after_comparison => spelled_number(text, piece).unwrap_or(What::Cue(Cue::Filler)),
            What::Unknown => spelled_number(text, piece).unwrap_or(What::Unknown),
            known => known,
        };
        let is_han = text
            .tokens
            .get(piece.first)
            .is_some_and(|token| token.kind == Kind::Han);
        if let (What::Unknown, true, Some(last)) = (&what, is_han, nodes.last_mut())
            && last.what == What::Unknown
            && last.end == piece.first
        {
            last.end = piece.end;
            last.text = text.slice(last.first, last.end).to_owned();
            continue;
        }
        nodes.push(Node {
            what,
            first: piece.first,
            end: piece.end,
            approximate,
            text: text.slice(piece.first, piece.end).to_owned(),
        });
    }
    nodes
}

/// `five`, `五`: a number in words.
fn spelled_number(text: &Text<'_>, piece: &Piece) -> Option<What> {
    let count = phrases::spelled_number(text.tokens, piece.first)?;
    Some(What::Number(Literal::Integer(count)))
}

fn literal(value: rust_decimal::Decimal) -> Literal {
    use rust_decimal::prelude::ToPrimitive;
    match value.to_i64().filter(|_| value.fract().is_zero()) {
        Some(whole) => Literal::Integer(whole),
        None => Literal::Number(value.to_f64().unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests;
