//! How far a negation, and a comparison with an aggregate, reach over the conditions that follow.

use crate::meaning::query::{Comparison, Filter};
use crate::meaning::question::build::year_filter;
use crate::meaning::question::cue::Cue;
use crate::meaning::question::draft::{Node, What};
use crate::meaning::question::walk::{Walker, Zone};
use crate::meaning::semantic::{Aggregate, FieldRef};
use crate::time::Window;

/// Words that ask for every one of those that follow, or for one of them.
const ALL: [&str; 5] = ["any", "all", "every", "each", "any of"];
const SOME: [&str; 1] = ["some"];
/// Negations that speak of what happened, as against "is not".
const NEVER: [&str; 13] = [
    "never",
    "no",
    "without",
    "don't",
    "doesn't",
    "didn't",
    "hasn't",
    "haven't",
    "hadn't",
    "has no",
    "have no",
    "do not have",
    "lacking",
];
/// Before "not" they say that something did not happen.
const AUXILIARIES: [&str; 6] = ["do", "does", "did", "have", "has", "had"];

/// A comparison with an aggregate whose rows are told of by the conditions that follow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Against {
    /// Index of the comparison among the conditions.
    place: usize,
}

impl Walker<'_> {
    /// Puts a condition under the negation before it: "had no exhibition in 2004". `false` when it is not about that.
    pub(super) fn deny(&mut self, filter: &Filter, field: &FieldRef) -> bool {
        let Some(place) = self.denied else { return false };
        let Some(Filter::Not(not)) = self.draft.conditions.get_mut(place).map(|known| &mut known.filter) else {
            return false;
        };
        let Filter::Exists { dataset, filter: inner } = not.as_mut() else {
            return false;
        };
        if *dataset != field.dataset && !self.scope.points_at(dataset, &field.dataset) {
            return false;
        }
        let both = match inner.take() {
            Some(known) => Filter::And(vec![*known, filter.clone()]),
            None => filter.clone(),
        };
        *inner = Some(Box::new(both));
        true
    }

    /// The same for a time, which is when the thing denied would have happened.
    pub(super) fn deny_window(&mut self, window: Window) -> bool {
        let Some(Filter::Not(not)) = self
            .denied
            .and_then(|place| self.draft.conditions.get(place))
            .map(|known| &known.filter)
        else {
            return false;
        };
        let Filter::Exists { dataset, .. } = not.as_ref() else {
            return false;
        };
        let dataset = dataset.clone();
        let Some(known) = self.scope.model.dataset(&dataset) else {
            return false;
        };
        let year = || {
            let mut fields = known.fields.iter().map(|field| FieldRef::new(&dataset, &field.name));
            fields.find(|field| self.scope.is_year(field))
        };
        let (filter, field) = match (&known.time, year()) {
            (Some(time), _) => {
                let field = FieldRef::new(&dataset, time);
                let during = Filter::During {
                    field: field.clone(),
                    window,
                };
                (during, field)
            }
            (None, Some(field)) => (year_filter(&field, window), field),
            (None, None) => return false,
        };
        self.deny(&filter, &field)
    }

    /// Does the negation at hand say that something did not happen, as in "never", "did not", "no"?
    pub(super) fn says_never(&self) -> bool {
        let Some(place) = self.negated_at else { return false };
        let said = |place: usize| self.nodes.get(place).map(|node| node.text.to_lowercase());
        let Some(word) = said(place) else { return false };
        let before = place.checked_sub(1).and_then(said).unwrap_or_default();
        NEVER.contains(&word.as_str()) || word == "not" && AUXILIARIES.contains(&before.as_str())
    }

    /// "Longer than any of those in English", "more than the largest college of Florida". `false` when what follows is a
    /// number or the like.
    pub(super) fn against_others(&mut self, at: usize, operator: Comparison) -> bool {
        let Some(said) = self.others(at) else { return false };
        let Some(field) = self.measured().or_else(|| said.field.clone()) else {
            return false;
        };
        let highest = matches!(operator, Comparison::Greater | Comparison::AtLeast);
        let function = said.function.unwrap_or(match (said.some, highest) {
            (false, true) | (true, false) => Aggregate::Max,
            (false, false) | (true, true) => Aggregate::Min,
        });
        let of = said.field.filter(|of| *of != field);
        self.at = said.next;
        self.dangling = false;
        self.add(Filter::CompareAggregate {
            field,
            operator,
            function,
            of,
            filter: None,
        });
        self.zone = Zone::Where;
        self.with = false;
        self.field = None;
        self.reach_from_here();
        true
    }

    /// The conditions from here on say over which rows the aggregate just added is taken.
    pub(super) fn reach_from_here(&mut self) {
        self.against = self
            .draft
            .conditions
            .len()
            .checked_sub(1)
            .map(|place| Against { place });
    }

    /// "The average age of students in Boston": do those follow over whom the average is taken?
    pub(super) fn others_follow(&self, at: usize) -> bool {
        let mut after = self.nodes.get(at..).unwrap_or_default().iter().peekable();
        while after.next_if(|node| matches!(node.what, What::Field(_))).is_some() {}
        let tied = after
            .next()
            .is_some_and(|node| matches!(node.what, What::Cue(Cue::Of | Cue::In)));
        let mut rest =
            after.skip_while(|node| node.what == What::Cue(Cue::Filler) && !node.text.eq_ignore_ascii_case("those"));
        tied && rest
            .next()
            .is_some_and(|node| matches!(node.what, What::Dataset(_)) || node.text.eq_ignore_ascii_case("those"))
    }

    /// Closes the reach of an aggregate: the conditions since then become its own.
    pub(super) fn close_reach(&mut self) {
        let Some(Against { place }) = self.against.take() else {
            return;
        };
        let inner: Vec<Filter> = self
            .draft
            .conditions
            .split_off((place + 1).min(self.draft.conditions.len()))
            .into_iter()
            .map(|condition| condition.filter)
            .collect();
        let inner = match inner.as_slice() {
            [] => return,
            [one] => one.clone(),
            many => Filter::And(many.to_vec()),
        };
        if let Some(Filter::CompareAggregate { filter, .. }) =
            self.draft.conditions.get_mut(place).map(|known| &mut known.filter)
        {
            *filter = Some(Box::new(inner));
        }
    }

    /// The number that a comparison is about: the field just said, or the last one shown.
    fn measured(&self) -> Option<FieldRef> {
        let can =
            |field: &FieldRef| (self.scope.is_numeric(field) || self.scope.is_time(field)) && !self.scope.is_key(field);
        self.field.clone().filter(can)
    }

    /// What stands after the comparison at `at`, where it is an aggregate of others.
    fn others(&self, at: usize) -> Option<Others> {
        let mut said = Others::default();
        let mut quantified = false;
        for (offset, node) in self.nodes.get(at + 1..)?.iter().enumerate() {
            let text = node.text.to_lowercase();
            match &node.what {
                What::Cue(Cue::Filler | Cue::Of | Cue::Group) if ALL.contains(&text.as_str()) => quantified = true,
                What::Cue(Cue::Filler) if SOME.contains(&text.as_str()) => {
                    quantified = true;
                    said.some = true;
                }
                What::Cue(Cue::Filler | Cue::Of) => {}
                What::Cue(Cue::Aggregate(function)) if said.function.is_none() => said.function = Some(*function),
                What::Cue(Cue::Superlative { descending, .. }) if said.function.is_none() => {
                    said.function = Some(if *descending { Aggregate::Max } else { Aggregate::Min });
                }
                What::Field(field) if said.field.is_none() && self.is_compared(field) => {
                    said.field = Some(field.clone())
                }
                What::Dataset(_) | What::Value { .. } | What::Field(_) | What::Cue(Cue::In | Cue::With | Cue::That)
                    if quantified || said.function.is_some() =>
                {
                    said.next = at + 1 + offset;
                    return Some(said);
                }
                _ => return None,
            }
        }
        said.next = self.nodes.len();
        (said.function.is_some() && said.field.is_some()).then_some(said)
    }

    fn is_compared(&self, field: &FieldRef) -> bool {
        (self.scope.is_numeric(field) || self.scope.is_time(field)) && !self.scope.is_key(field)
    }
}

/// An aggregate of others, as it is said after a comparison.
#[derive(Debug, Default)]
struct Others {
    function: Option<Aggregate>,
    some: bool,
    field: Option<FieldRef>,
    /// The node at which those are told of.
    next: usize,
}

/// "A higher salary than": the field in front of its comparison.
pub(super) fn turned_comparatives(nodes: &mut [Node]) {
    const MORE: [&str; 7] = ["higher", "larger", "greater", "bigger", "more", "longer", "older"];
    const LESS: [&str; 6] = ["lower", "smaller", "less", "shorter", "younger", "fewer"];
    for at in 0..nodes.len() {
        let Some(word) = nodes.get(at).map(|node| node.text.to_lowercase()) else {
            continue;
        };
        let is_more = MORE.contains(&word.as_str());
        let is_word = matches!(
            nodes.get(at).map(|node| &node.what),
            Some(What::Unknown | What::Cue(Cue::Filler | Cue::Compare(_)))
        );
        let than = nodes
            .get(at + 2)
            .is_some_and(|node| node.text.eq_ignore_ascii_case("than"));
        let field = nodes
            .get(at + 1)
            .filter(|node| matches!(node.what, What::Field(_)))
            .cloned();
        if !(is_word && than && (is_more || LESS.contains(&word.as_str()))) {
            continue;
        }
        let (Some(field), Some(comparative)) = (field, nodes.get(at).cloned()) else {
            continue;
        };
        let operator = if is_more { Comparison::Greater } else { Comparison::Less };
        if let Some(node) = nodes.get_mut(at) {
            *node = field;
        }
        if let Some(node) = nodes.get_mut(at + 1) {
            *node = Node {
                what: What::Cue(Cue::Compare(operator)),
                ..comparative
            };
        }
    }
}
