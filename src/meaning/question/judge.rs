//! Was enough understood to answer? The rule:
//!
//! - A question that names nothing of the database is not read.
//! - Words that nothing explains are *unread*. One that restricts the question (a name with a capital letter, a quoted
//!   text, or a word that stands where a name should) means that rows would be left in or out by guess: not read.
//! - Words of praise ("good", "important") pick rows by a scale that nobody named: not read.
//! - Other unread words, such as verbs and adjectives, lower the score and are told in a note; when there are more of them
//!   than names: not read.

use crate::meaning::question::build::Built;
use crate::meaning::question::choose::Ranked;
use crate::meaning::question::confidence::signals;
use crate::meaning::question::cue::Cue;
use crate::meaning::question::draft::{Node, What};
use crate::meaning::question::say::Say;
use crate::meaning::question::token::{Kind, LONGEST_QUESTION};
use crate::meaning::question::types::{NotRead, Reading, Shift, Span, SpanKind};
use crate::meaning::question::{Reader, Text};

/// At this many loose ends too little is tied together.
const MOST_LOOSE_ENDS: usize = 1;

/// Praise and blame: they pick rows by a scale that nobody named.
const VAGUE: [&str; 18] = [
    "good",
    "better",
    "bad",
    "worse",
    "important",
    "successful",
    "famous",
    "strong",
    "weak",
    "interesting",
    "nice",
    "great",
    "excellent",
    "poor",
    "promising",
    "dangerous",
    "well",
    "badly",
];

/// Turns what was built into a reading, or says why it must not be.
pub(super) fn judge(
    reader: &Reader<'_>,
    text: &Text<'_>,
    nodes: &[Node],
    ranked: &[Vec<Ranked>],
    built: Option<Built>,
    shift: Option<Shift>,
    advise: bool,
) -> Result<Reading, Box<NotRead>> {
    let say = Say {
        language: text.language,
    };
    let spans = spans(reader, text, nodes, &say);
    let (unread, restricting) = unread(reader, text, nodes);
    let named = nodes.iter().filter(|node| is_name(&node.what)).count();
    let fail = |reason: String| {
        Err(Box::new(NotRead {
            language: text.language,
            understood: spans.clone(),
            unknown: unread.clone(),
            near: near(reader, &unread),
            reason,
            suggestions: Vec::new(),
        }))
    };
    if text.tokens.is_empty() {
        return fail(say.empty());
    }
    // "Compare December 2005 with December 2004": the main measure is meant.
    let asks_for_times = built
        .as_ref()
        .is_some_and(|built| built.assumed_measure.is_some() && !built.windows.is_empty());
    if named == 0 && !(asks_for_times && unread.is_empty()) {
        return fail(say.nothing_known(&unread));
    }
    if let Some(word) = restricting.first() {
        return fail(say.unknown_restriction(word));
    }
    if unread.len() > named {
        return fail(say.too_much_unknown(&unread));
    }
    let Some(built) = built else {
        return fail(say.nothing_to_ask());
    };
    if built.loose_ends > MOST_LOOSE_ENDS {
        return fail(say.loose_ends());
    }
    let signals = signals(nodes, ranked, &built, unread.len(), &reader.graph);
    let mut notes: Vec<String> = spans
        .iter()
        .filter(|span| span.approximate)
        .map(|span| say.took(&span.text, &span.means))
        .collect();
    if let Some(metric) = built
        .assumed_measure
        .as_deref()
        .and_then(|name| reader.model.metric(name))
    {
        notes.push(say.assumed(say.name(&metric.words)));
    }
    if !unread.is_empty() {
        notes.push(say.skipped(&unread));
    }
    if text.question.len() > LONGEST_QUESTION {
        notes.push(say.cut(LONGEST_QUESTION));
    }
    Ok(Reading {
        // Rounded, so that it is the same after a trip through JSON.
        score: (signals.confidence() * 1000.0).round() / 1000.0,
        signals,
        language: text.language,
        intents: built.intents,
        measures: built.measures,
        dimensions: built.dimensions,
        filters: built.filters,
        windows: built.windows,
        shift,
        grain: built.grain,
        order: built.order,
        limit: built.limit,
        advise,
        query: built.query,
        exact: built.exact,
        spans,
        unread,
        notes,
    })
}

fn is_name(what: &What) -> bool {
    matches!(
        what,
        What::Metric(_) | What::Dataset(_) | What::Field(_) | What::Value { .. }
    )
}

/// The words that nothing explains, and those among them that restrict the question.
fn unread(reader: &Reader<'_>, text: &Text<'_>, nodes: &[Node]) -> (Vec<String>, Vec<String>) {
    let mut unread = Vec::new();
    let mut restricting = Vec::new();
    for (index, node) in nodes.iter().enumerate() {
        if node.what != What::Unknown {
            continue;
        }
        let Some(token) = text.tokens.get(node.first) else {
            continue;
        };
        let is_han = token.kind == Kind::Han;
        if is_han && node.end - node.first < 2 || !is_han && token.text.chars().count() < 2 {
            continue;
        }
        // "Who bought": the verb says whom "who" means.
        let asks_who = nodes.iter().any(|node| node.what == What::Cue(Cue::Who));
        if asks_who && reader.scope().person_of_verb(&node.text).is_some() {
            continue;
        }
        unread.push(node.text.clone());
        let before = nodes.get(..index).unwrap_or_default().iter().rev();
        let before = before
            .map(|node| &node.what)
            .find(|what| !matches!(what, What::Cue(Cue::Filler) | What::Punctuation));
        // After a name an unknown word is a verb or the like; anywhere else it stands where a name should stand.
        let after_name = before.is_some_and(|what| is_name(what) || matches!(what, What::Time { .. } | What::Unknown));
        let is_capital = token.capital && node.first > 0;
        // An adjective stands before a name, a verb after "that" or "not".
        let after = nodes.get(index + 1..).unwrap_or_default().iter().map(|node| &node.what);
        let mut after = after.skip_while(|what| matches!(what, What::Cue(Cue::Filler | Cue::Of) | What::Unknown));
        let before_name = after.next().is_some_and(is_name);
        let is_verb = before.is_some_and(|what| {
            matches!(
                what,
                What::Cue(Cue::That | Cue::Who | Cue::Not | Cue::Whose | Cue::And | Cue::Without | Cue::But)
            )
        });
        let is_vague = VAGUE.contains(&token.text.as_str());
        if is_capital || is_han || is_vague || !(after_name || before_name || is_verb) {
            restricting.push(node.text.clone());
        }
    }
    (unread, restricting)
}

fn spans(reader: &Reader<'_>, text: &Text<'_>, nodes: &[Node], say: &Say) -> Vec<Span> {
    let span = |node: &Node| -> Option<Span> {
        let (kind, means) = match &node.what {
            What::Metric(name) => (SpanKind::Metric, say.metric(reader.model, name)),
            What::Dataset(name) => (SpanKind::Dataset, say.dataset(reader.model, name)),
            What::Field(field) => (SpanKind::Field, say.field(reader.model, field)),
            What::Value { field, value } => (
                SpanKind::Value,
                format!("{} = '{value}'", say.field(reader.model, field)),
            ),
            What::Number(_) => (SpanKind::Number, node.text.clone()),
            What::Quoted(text) => (SpanKind::Number, text.clone()),
            What::Time { phrase, .. } => (SpanKind::Time, say.phrase(phrase)),
            What::Cue(cue) => (SpanKind::Cue, say.cue(*cue)?),
            What::Unknown | What::Punctuation => return None,
        };
        let start = text.tokens.get(node.first)?.start;
        let end = text.tokens.get(node.end.checked_sub(1)?)?.end;
        Some(Span {
            text: node.text.clone(),
            start,
            end,
            kind,
            means,
            approximate: node.approximate,
        })
    };
    nodes.iter().filter_map(span).collect()
}

/// Names of the model that are spelled nearly like an unknown word.
fn near(reader: &Reader<'_>, unknown: &[String]) -> Vec<String> {
    /// More would be a list to read, not a hint.
    const MOST: usize = 5;
    let names = reader.model.datasets.iter().flat_map(|dataset| {
        std::iter::once(&dataset.words.label).chain(dataset.fields.iter().map(|field| &field.words.label))
    });
    let mut found: Vec<(f64, String)> = names
        .chain(
            reader
                .model
                .metrics
                .iter()
                .filter(|metric| !metric.hidden)
                .map(|metric| &metric.words.label),
        )
        .filter_map(|name| {
            let best = unknown
                .iter()
                .map(|word| strsim::jaro_winkler(&word.to_lowercase(), &name.to_lowercase()));
            let best = best.fold(0.0, f64::max);
            (best > 0.86).then(|| (best, name.clone()))
        })
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    found.dedup_by(|a, b| a.1 == b.1);
    found.into_iter().take(MOST).map(|(_, name)| name).collect()
}
