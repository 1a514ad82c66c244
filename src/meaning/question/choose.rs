//! Which of several meanings a piece has, from what stands around it.

use std::collections::HashSet;

use crate::meaning::query::Comparison;
use crate::meaning::question::cue::Cue;
use crate::meaning::question::graph::{Graph, UNREACHABLE};
use crate::meaning::question::lexicon::{Choice, Meaning};
use crate::meaning::question::segment::{Item, Piece, WHOLE};
use crate::meaning::semantic::{DatasetKind, Metric, MetricKind, Model, Unit};
use crate::warehouse::catalog::Role;

/// A choice with how well it fits its surroundings.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    pub choice: Choice,
    pub score: f64,
}

/// Within this distance the first two choices are too close to call.
pub const TOO_CLOSE: f64 = 0.04;

const OWNER_NAMED: f64 = 0.3;
const OWNER_NEXT_TO_IT: f64 = 0.3;
/// A field of a dataset that is not named, where others are.
const OWNER_UNNAMED: f64 = 0.12;
const STEP_AWAY: f64 = 0.06;
const NOTHING_JOINS: f64 = 0.5;
const KEY: f64 = 0.12;
const FITS_CUE: f64 = 0.25;
const PLAIN_DATASET: f64 = 0.03;
const GROUPED: f64 = 0.1;
const COUNTED: f64 = 0.15;
/// What links two other things is seldom what a noun names that only a part of its name has.
const BRIDGE_IN_PART: f64 = 0.06;
/// The second round knows what the first chose.
const MOST_ROUNDS: usize = 2;

/// The choices of each piece, best first; empty for pieces that name nothing.
pub fn choose(pieces: &[Piece], model: &Model, graph: &Graph) -> Vec<Vec<Ranked>> {
    let context = Context { pieces, model, graph };
    let mut ranked: Vec<Vec<Ranked>> = pieces
        .iter()
        .map(|piece| match &piece.item {
            Item::Term(choices) => choices
                .iter()
                .map(|choice| Ranked {
                    choice: choice.clone(),
                    score: choice.weight,
                })
                .collect(),
            Item::Number(_)
            | Item::Quoted(_)
            | Item::Time { .. }
            | Item::Cue(_)
            | Item::Unknown
            | Item::Punctuation => Vec::new(),
        })
        .collect();
    for round in 0..MOST_ROUNDS {
        let anchors = context.anchors(&ranked, round > 0);
        let next: Vec<Vec<Ranked>> = ranked
            .iter()
            .enumerate()
            .map(|(index, choices)| {
                let mut scored: Vec<Ranked> = choices
                    .iter()
                    .map(|ranked| Ranked {
                        choice: ranked.choice.clone(),
                        score: context.score(index, &ranked.choice, &anchors),
                    })
                    .collect();
                scored.sort_by(|a, b| b.score.total_cmp(&a.score));
                scored
            })
            .collect();
        ranked = next;
    }
    ranked
}

/// The datasets that a metric's rows come from.
pub fn metric_datasets(model: &Model, metric: &Metric) -> Vec<String> {
    fn collect(model: &Model, metric: &Metric, depth: usize, found: &mut Vec<String>) {
        /// Derived metrics are built from a few layers of others.
        const DEEPEST: usize = 6;
        if depth > DEEPEST {
            return;
        }
        let mut inner = |name: &String| {
            if let Some(metric) = model.metric(name) {
                collect(model, metric, depth + 1, found);
            }
        };
        match &metric.kind {
            MetricKind::Simple { dataset, .. } => found.push(dataset.clone()),
            MetricKind::Ratio { numerator, denominator } => {
                inner(numerator);
                inner(denominator);
            }
            MetricKind::Derived { inputs, .. } => inputs.iter().for_each(inner),
        }
    }
    let mut found = Vec::new();
    collect(model, metric, 0, &mut found);
    found
}

struct Context<'a> {
    pieces: &'a [Piece],
    model: &'a Model,
    graph: &'a Graph,
}

/// A dataset that is certainly talked about, and at which piece.
struct Anchor {
    dataset: String,
    piece: usize,
    /// Named itself, not by a field or metric of it.
    by_name: bool,
}

impl Context<'_> {
    fn anchors(&self, ranked: &[Vec<Ranked>], all: bool) -> Vec<Anchor> {
        let mut anchors = Vec::new();
        for (piece, choices) in ranked.iter().enumerate() {
            let Some(best) = choices.first() else { continue };
            let datasets: HashSet<String> = choices
                .iter()
                .flat_map(|ranked| self.datasets(&ranked.choice))
                .collect();
            let is_dataset = matches!(best.choice.meaning, Meaning::Dataset(_));
            if !(all || datasets.len() == 1 || is_dataset) {
                continue;
            }
            let own = self.datasets(&best.choice);
            anchors.extend(own.into_iter().map(|dataset| Anchor {
                dataset,
                piece,
                by_name: is_dataset,
            }));
        }
        anchors
    }

    fn datasets(&self, choice: &Choice) -> Vec<String> {
        match &choice.meaning {
            Meaning::Dataset(dataset) => vec![dataset.clone()],
            Meaning::Field(field) | Meaning::Value { field, .. } => vec![field.dataset.clone()],
            Meaning::Metric(name) => {
                let mut datasets = self
                    .model
                    .metric(name)
                    .map(|metric| metric_datasets(self.model, metric))
                    .unwrap_or_default();
                datasets.truncate(1);
                datasets
            }
        }
    }

    fn score(&self, index: usize, choice: &Choice, anchors: &[Anchor]) -> f64 {
        let mut score = choice.weight + self.fit(index, choice);
        let Some(own) = self.datasets(choice).into_iter().next() else {
            return score;
        };
        let others = anchors.iter().filter(|anchor| anchor.piece != index);
        let mut farthest = 0_u32;
        let mut apart = false;
        let mut owner_bonus = 0.0_f64;
        // A field or value is more likely where its dataset is named; a dataset gains nothing from being named twice.
        let belongs =
            matches!(choice.meaning, Meaning::Field(_) | Meaning::Value { .. }) && !self.also_names(index, &own);
        for anchor in others {
            let distance = self.graph.distance(&own, &anchor.dataset);
            if distance == UNREACHABLE {
                apart = true;
            } else {
                farthest = farthest.max(distance);
            }
            if anchor.dataset == own && belongs {
                let gap = anchor.piece.abs_diff(index);
                let near = OWNER_NEXT_TO_IT / (1.0 + f64::from(u32::try_from(gap).unwrap_or(u32::MAX)) / 2.0);
                let bonus = if anchor.by_name { OWNER_NAMED + near } else { near / 2.0 };
                owner_bonus = owner_bonus.max(bonus);
            }
        }
        let others_named = anchors.iter().any(|anchor| anchor.by_name && anchor.piece != index);
        let own_named = anchors.iter().any(|anchor| anchor.by_name && anchor.dataset == own);
        if matches!(choice.meaning, Meaning::Field(_)) && others_named && !own_named {
            score -= OWNER_UNNAMED;
        }
        score += owner_bonus * choice.weight - f64::from(farthest) * STEP_AWAY;
        if apart {
            score -= NOTHING_JOINS;
        }
        score
    }

    /// How well the kind of thing fits the words around it.
    fn fit(&self, index: usize, choice: &Choice) -> f64 {
        let before = self.cue_before(index);
        match &choice.meaning {
            Meaning::Dataset(name) => {
                self.in_part(name, choice)
                    + match before {
                        Some(Cue::List | Cue::Which | Cue::Who) => FITS_CUE,
                        Some(Cue::Superlative { .. }) => FITS_CUE,
                        Some(Cue::Count) => COUNTED,
                        Some(Cue::Group) => GROUPED,
                        _ if self.number_before(index) => FITS_CUE,
                        _ => PLAIN_DATASET,
                    }
            }
            Meaning::Metric(name) => {
                let unit = self.model.metric(name).map(|metric| metric.unit);
                match before {
                    Some(Cue::Count) if unit == Some(Unit::Count) => COUNTED + PLAIN_DATASET,
                    Some(Cue::Aggregate(_)) => FITS_CUE / 2.0,
                    Some(Cue::Compare(Comparison::Greater)) => 0.0,
                    _ => 0.0,
                }
            }
            Meaning::Field(reference) => {
                let role = self.model.field(reference).map(|(_, field)| field.role);
                let is_key = role == Some(Role::Key);
                match before {
                    Some(Cue::Group) if role == Some(Role::Category) => 0.01,
                    _ if is_key && !self.says_key(index) => -KEY,
                    _ => 0.0,
                }
            }
            Meaning::Value { field, .. } => {
                // "city Tokyo", "Tokyo office": the field or its owner stands right beside it.
                let beside = [index.checked_sub(1), Some(index + 1)].into_iter().flatten();
                let named = beside
                    .filter_map(|index| self.pieces.get(index))
                    .any(|piece| match &piece.item {
                        Item::Term(choices) => choices.iter().any(|other| match &other.meaning {
                            Meaning::Field(other) => other == field,
                            Meaning::Dataset(dataset) => *dataset == field.dataset,
                            Meaning::Metric(_) | Meaning::Value { .. } => false,
                        }),
                        _ => false,
                    });
                match (named, before) {
                    (true, _) => FITS_CUE,
                    (false, Some(Cue::Group)) => -GROUPED,
                    (false, _) => 0.0,
                }
            }
        }
    }

    fn cue_before(&self, index: usize) -> Option<Cue> {
        let before = self.pieces.get(..index)?.iter().rev();
        before
            .take_while(|piece| matches!(piece.item, Item::Cue(_) | Item::Number(_)))
            .find_map(|piece| match piece.item {
                Item::Cue(Cue::Filler | Cue::Of | Cue::Distinct) => None,
                Item::Cue(cue) => Some(cue),
                _ => None,
            })
    }

    /// May the piece also be the name of `dataset` itself?
    fn also_names(&self, index: usize, dataset: &str) -> bool {
        match self.pieces.get(index).map(|piece| &piece.item) {
            Some(Item::Term(choices)) => choices
                .iter()
                .any(|choice| matches!(&choice.meaning, Meaning::Dataset(name) if name == dataset)),
            _ => false,
        }
    }

    /// What a dataset loses that links two others and is not named in full.
    fn in_part(&self, dataset: &str, choice: &Choice) -> f64 {
        let links = self
            .model
            .dataset(dataset)
            .is_some_and(|known| known.kind == DatasetKind::Bridge);
        if links && choice.weight < WHOLE {
            -BRIDGE_IN_PART
        } else {
            0.0
        }
    }

    fn number_before(&self, index: usize) -> bool {
        let before = index.checked_sub(1).and_then(|before| self.pieces.get(before));
        before.is_some_and(|piece| matches!(piece.item, Item::Number(_)))
    }

    /// Is the piece longer than one word, as "customer id" is?
    fn says_key(&self, index: usize) -> bool {
        self.pieces.get(index).is_some_and(|piece| piece.end - piece.first > 1)
    }
}
