//! How sure is a reading? What can be counted of it, and the chance that follows.

mod used;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::OnAmbiguity;
use crate::meaning::question::build::Built;
use crate::meaning::question::choose::Ranked;
use crate::meaning::question::cue::Cue;
use crate::meaning::question::draft::{Node, What};
use crate::meaning::question::graph::Graph;
use crate::meaning::question::types::Reading;

pub(in crate::meaning::question) use used::Used;

/// Readings that are less sure than this are not answered where one may abstain: nine of ten that are surer are right.
pub const SURE: f64 = 0.82;

/// May the first of a question's readings be answered?
pub fn may_answer(policy: OnAmbiguity, first: &Reading, ambiguous: bool) -> bool {
    match policy {
        OnAmbiguity::First => true,
        OnAmbiguity::Ask => !ambiguous,
        // A name that was guessed at is not sure, however well the rest fits.
        OnAmbiguity::Abstain => !ambiguous && first.score >= SURE && first.signals.approximate < 1.0,
    }
}

/// What tells a reading that can be trusted from one that cannot. Counts unless said otherwise.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Signals {
    pub tokens: f64,
    /// Names of the model and values.
    pub names: f64,
    /// Words that nothing explains.
    pub unread: f64,
    pub loose_ends: f64,
    /// Names of which only a part was said, or that were spelled nearly so.
    pub approximate: f64,
    /// Weight of the weakest name, 0 to 1.
    pub weakest: f64,
    /// How much better the meaning taken is than the next, where that is least; 0.5 at most.
    pub closest: f64,
    /// Names whose second meaning is nearly as good.
    pub close: f64,
    /// Datasets that the query touches.
    pub datasets: f64,
    /// Steps between them.
    pub steps: f64,
    /// Fields, metrics, values and numbers that are said but not in the query.
    pub unused: f64,
    /// Datasets that are said but not in the query.
    pub unused_datasets: f64,
    /// Words such as "not" or "most" that the query does nothing about.
    pub unused_words: f64,
    /// In the query but not said: a measure, or what names a thing.
    pub assumed: f64,
    pub conditions: f64,
    /// Conditions with a query inside.
    pub nested: f64,
    pub groups: f64,
    pub having: f64,
    pub ranked: f64,
    pub shown: f64,
    /// 1 for set operations.
    pub set: f64,
    /// "Their", "its": what is told refers back.
    pub theirs: f64,
    /// 1 where an order is asked for.
    pub sorting: f64,
    /// Conditions that hold for any of several values.
    pub any_of: f64,
    /// Groups that a word such as "each" asks for.
    pub said_groups: f64,
}

/// The signals of one reading.
pub(in crate::meaning::question) fn signals(
    nodes: &[Node],
    ranked: &[Vec<Ranked>],
    built: &Built,
    unread: usize,
    graph: &Graph,
) -> Signals {
    let query = built.exact.as_ref().unwrap_or(&built.query);
    let used = Used::of(query);
    let is_name = |node: &&Node| {
        matches!(
            node.what,
            What::Metric(_) | What::Dataset(_) | What::Field(_) | What::Value { .. }
        )
    };
    let is_cue = |node: &&Node| matches!(node.what, What::Cue(_));
    let is_dataset = |node: &&Node| matches!(node.what, What::Dataset(_));
    let lacking = || nodes.iter().filter(|node| used.lacks(node));
    let firsts = || ranked.iter().filter_map(|choices| choices.first());
    let gaps: Vec<f64> = ranked
        .iter()
        .filter_map(|choices| match choices.as_slice() {
            [first, second, ..] => Some((first.score - second.score).clamp(0.0, FARTHEST)),
            _ => None,
        })
        .collect();
    Signals {
        tokens: count(nodes.iter().map(|node| node.end - node.first).sum()),
        names: count(nodes.iter().filter(is_name).count()),
        unread: count(unread),
        loose_ends: count(built.loose_ends),
        approximate: count(nodes.iter().filter(|node| node.approximate).count()),
        weakest: rounded(firsts().map(|first| first.choice.weight).fold(1.0, f64::min)),
        closest: rounded(gaps.iter().copied().fold(FARTHEST, f64::min)),
        close: count(gaps.iter().filter(|gap| **gap < CLOSE).count()),
        datasets: count(used.datasets.len()),
        steps: steps(&used, graph),
        unused: count(lacking().filter(|node| !is_cue(node) && !is_dataset(node)).count()),
        unused_datasets: count(lacking().filter(is_dataset).count()),
        unused_words: count(lacking().filter(is_cue).count()),
        assumed: count(usize::from(built.assumed_measure.is_some()) + usize::from(built.assumed_label)),
        conditions: count(used.conditions),
        nested: count(used.nested),
        groups: count(used.groups),
        having: count(used.having),
        ranked: count(used.ranked),
        shown: count(used.shown),
        set: count(used.sets),
        theirs: count(nodes.iter().filter(|node| node.what == What::Cue(Cue::Their)).count()),
        sorting: count(usize::from(nodes.iter().any(|node| sorts(&node)))),
        any_of: count(used.any_of),
        said_groups: count(used.groups.min(nodes.iter().filter(groups).count())),
    }
}

/// Rivals farther behind than this do not matter.
const FARTHEST: f64 = 0.5;
/// A second meaning this near is nearly as good.
const CLOSE: f64 = 0.12;

fn steps(used: &Used, graph: &Graph) -> f64 {
    let Some(first) = used.datasets.first() else { return 0.0 };
    let distances = used
        .datasets
        .iter()
        .map(|dataset| graph.distance(first, dataset).min(9));
    f64::from(distances.sum::<u32>())
}

fn sorts(node: &&Node) -> bool {
    matches!(node.what, What::Cue(Cue::Ranked | Cue::Direction { .. }))
}

fn groups(node: &&Node) -> bool {
    node.what == What::Cue(Cue::Group)
}

/// To three digits, so that it is the same after a trip through JSON.
fn rounded(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

fn count(number: usize) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}

impl Signals {
    /// By name, in the order of [`WEIGHTS`].
    fn values(&self) -> [f64; 25] {
        [
            self.tokens,
            self.names,
            self.unread,
            self.loose_ends,
            self.approximate,
            self.weakest,
            self.closest,
            self.close,
            self.datasets,
            self.steps,
            self.unused,
            self.unused_datasets,
            self.unused_words,
            self.assumed,
            self.conditions,
            self.nested,
            self.groups,
            self.having,
            self.ranked,
            self.shown,
            self.set,
            self.theirs,
            self.sorting,
            self.any_of,
            self.said_groups,
        ]
    }

    /// The chance that the reading is right, 0 to 1.
    pub fn confidence(&self) -> f64 {
        let weighted = self.values().into_iter().zip(WEIGHTS);
        let sum: f64 = weighted.map(|(value, weight)| value * weight).sum();
        1.0 / (1.0 + (-(BIAS + sum)).exp())
    }
}

/// Fitted by logistic regression over answered questions of the development databases; docs/accuracy.md says how. In the
/// order of the fields of [`Signals`].
const BIAS: f64 = 2.33;
const WEIGHTS: [f64; 25] = [
    -0.06, 0.236, -0.462, -1.469, -0.191, 0.556, 0.627, -0.239, -0.193, -0.351, -1.377, -1.194, -0.916, -1.323, -0.441,
    0.623, -0.915, 0.209, -0.572, -0.456, 1.119, -0.552, -0.291, -1.119, 0.413,
];

#[cfg(test)]
mod tests {
    use super::*;

    /// "How many customers are there": everything is said and used.
    fn plain() -> Signals {
        Signals {
            tokens: 6.0,
            names: 1.0,
            weakest: 1.0,
            closest: 0.5,
            datasets: 1.0,
            shown: 1.0,
            ..Signals::default()
        }
    }

    #[test]
    fn a_question_that_is_used_up_is_sure() {
        assert!(plain().confidence() >= SURE, "{}", plain().confidence());
    }

    #[test]
    fn what_is_said_and_not_used_makes_a_reading_unsure() {
        let mut worse = plain();
        worse.unused_words = 1.0;
        assert!(worse.confidence() < SURE, "{}", worse.confidence());
        worse.unread = 1.0;
        worse.unused = 1.0;
        assert!(worse.confidence() < 0.5, "{}", worse.confidence());
    }
}
