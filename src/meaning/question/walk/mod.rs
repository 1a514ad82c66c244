//! Walks over a question's pieces from left to right and fills the slots of a draft.

mod conditions;
mod names;
mod reach;

use crate::meaning::query::{Comparison, Filter, Literal, Measure};
use crate::meaning::question::cue::{Cue, Quality};
use crate::meaning::question::draft::{Draft, Group, Key, Node, Person, Ranking, What};
use crate::meaning::question::scope::Scope;
use crate::meaning::question::types::Intent;
use crate::meaning::question::walk::reach::Against;
use crate::meaning::semantic::{Aggregate, FieldRef};

/// Which part of the question the walk is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Zone {
    /// What is shown.
    Show,
    /// What it is grouped by.
    Group,
    /// Which rows count.
    Where,
    /// What it is sorted by.
    Order,
}

/// A superlative that waits for what it measures.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Superlative {
    descending: bool,
    quality: Quality,
    count: Option<u64>,
    /// Node of the word.
    at: usize,
}

/// The aggregate of a superlative.
fn extreme(descending: bool) -> Aggregate {
    if descending { Aggregate::Max } else { Aggregate::Min }
}

/// Fills a draft from the nodes of one reading.
pub fn walk(nodes: &[Node], scope: &Scope<'_>) -> Draft {
    let mut turned = nodes.to_vec();
    reach::turned_comparatives(&mut turned);
    let nodes = turned.as_slice();
    let mut walker = Walker::new(nodes, scope);
    while walker.at < nodes.len() {
        let at = walker.at;
        walker.at += 1;
        if let Some(node) = nodes.get(at) {
            walker.take(at, node);
        }
    }
    walker.finish()
}

pub(super) struct Walker<'a> {
    nodes: &'a [Node],
    scope: &'a Scope<'a>,
    draft: Draft,
    at: usize,
    zone: Zone,
    count: bool,
    aggregates: Vec<Aggregate>,
    /// The aggregate that was just used, for "average age and weight".
    used_aggregates: Vec<Aggregate>,
    superlative: Option<Superlative>,
    /// "The three artists who …": how many a superlative further on leaves.
    top: Option<u64>,
    comparison: Option<Comparison>,
    number: Option<Literal>,
    between: Option<Literal>,
    in_between: bool,
    negated: bool,
    /// The node that negates.
    negated_at: Option<usize>,
    /// The condition that nothing of a kind exists, as long as what follows may belong to it.
    denied: Option<usize>,
    against: Option<Against>,
    /// "And" since the last condition, and a name or "that" after it: another thing is told of.
    tied: bool,
    told_anew: bool,
    or: bool,
    and: bool,
    /// The field that a condition will be about.
    field: Option<FieldRef>,
    /// It was named where conditions stand and has none yet.
    dangling: bool,
    /// What was measured last: "sales of more than 1000".
    last_measure: Option<Measure>,
    contains: Option<Cue>,
    average: Option<bool>,
    descending: Option<bool>,
    with: bool,
    /// "Missed", "reached": waits for the target.
    target: Option<bool>,
}

impl<'a> Walker<'a> {
    fn new(nodes: &'a [Node], scope: &'a Scope<'a>) -> Self {
        Self {
            nodes,
            scope,
            draft: Draft::default(),
            at: 0,
            zone: Zone::Show,
            count: false,
            aggregates: Vec::new(),
            used_aggregates: Vec::new(),
            superlative: None,
            top: None,
            comparison: None,
            number: None,
            between: None,
            in_between: false,
            negated: false,
            negated_at: None,
            denied: None,
            against: None,
            tied: false,
            told_anew: false,
            or: false,
            and: false,
            field: None,
            dangling: false,
            last_measure: None,
            contains: None,
            average: None,
            descending: None,
            with: false,
            target: None,
        }
    }

    fn take(&mut self, at: usize, node: &Node) {
        let says_letter = at
            .checked_sub(1)
            .and_then(|before| self.nodes.get(before))
            .is_some_and(|before| before.text.to_lowercase().ends_with("letter"));
        let stands_alone = |letter: char| letter.is_uppercase() || says_letter && letter.is_alphabetic();
        let is_letter = node.text.chars().count() == 1 && node.text.chars().all(stands_alone);
        if let (true, Some(cue)) = (is_letter, self.contains) {
            // "Start with A": the letter, not the article.
            self.contains = None;
            return self.like(cue, &node.text);
        }
        match &node.what {
            What::Cue(cue) => self.cue(at, node, *cue),
            What::Dataset(dataset) => self.dataset(at, dataset),
            What::Field(field) => self.take_field(at, field),
            What::Metric(metric) => self.metric(at, metric),
            What::Value { field, value } => self.value(field, value),
            What::Number(number) => self.take_number(at, number.clone()),
            What::Quoted(_) => self.quoted(at, node),
            What::Time { phrase, bare_year } => self.time(at, *phrase, *bare_year),
            What::Unknown => self.unknown(node),
            What::Punctuation => {}
        }
    }

    /// The next node that says something, from `at` on.
    fn next_content(&self, at: usize) -> Option<(usize, &'a What)> {
        let rest = self.nodes.get(at..)?.iter().enumerate();
        rest.map(|(offset, node)| (at + offset, &node.what))
            .find(|(_, what)| !matches!(what, What::Cue(Cue::Filler | Cue::Of) | What::Punctuation))
    }

    fn previous_content(&self, at: usize) -> Option<&'a What> {
        let before = self.nodes.get(..at)?.iter().rev();
        before
            .map(|node| &node.what)
            .find(|what| !matches!(what, What::Cue(Cue::Filler | Cue::Of) | What::Punctuation))
    }

    fn cue(&mut self, at: usize, node: &Node, cue: Cue) {
        self.end_of_reach(cue);
        match cue {
            Cue::Everything => self.draft.everything = true,
            Cue::Their => {
                if self.zone == Zone::Where {
                    self.zone = Zone::Show;
                }
            }
            Cue::List => {
                if at > 0 {
                    self.zone = Zone::Show;
                }
                if self.draft.entities.is_empty() && self.draft.measures.is_empty() {
                    self.draft.intend(Intent::List);
                }
            }
            Cue::Which => self.which(at),
            Cue::Who => self.who(at),
            Cue::When => self
                .scope
                .time_field_for(&self.draft)
                .into_iter()
                .for_each(|field| self.draft.show(field)),
            // "Phone numbers of": the number belongs to the name.
            Cue::Count if self.is_part_of_a_name(at, node) => {}
            // "The average number of rooms" is an average.
            Cue::Count if self.aggregates.iter().any(|function| *function != Aggregate::Sum) => {}
            Cue::Count => {
                self.count = true;
                self.draft.intend(Intent::Count);
            }
            Cue::HowMuch | Cue::Filler => {}
            Cue::Both => self.draft.both = true,
            Cue::Aggregate(function) => {
                if !self.and {
                    self.aggregates.clear();
                }
                self.aggregates.push(function);
            }
            Cue::Superlative { descending, quality } => self.superlative(at, descending, quality),
            Cue::Frequent { descending } => self.frequent(at, descending),
            // "In descending order by" says what it is sorted by.
            Cue::Group if self.descending.is_some() && self.draft.ranking.is_none() => self.zone = Zone::Order,
            Cue::Group => self.zone = Zone::Group,
            Cue::Ranked => self.zone = Zone::Order,
            Cue::Direction { descending } => match &mut self.draft.ranking {
                Some(ranking) if !ranking.superlative => ranking.descending = descending,
                _ => {
                    self.descending = Some(descending);
                    self.zone = Zone::Order;
                }
            },
            Cue::Compare(operator) => self.compare(at, node, operator),
            Cue::Between => self.in_between = true,
            Cue::Not => {
                self.negated = !self.negated;
                self.negated_at = Some(at);
            }
            Cue::Except | Cue::Without => {
                self.negated = true;
                self.negated_at = Some(at);
                self.zone = Zone::Where;
                self.with = cue == Cue::Without;
            }
            Cue::Outside => self.negated = true,
            Cue::With => {
                self.zone = Zone::Where;
                self.with = true;
            }
            Cue::Whose | Cue::That => {
                self.zone = Zone::Where;
                self.with = false;
            }
            // "In ascending alphabetical order of".
            Cue::Of | Cue::In
                if self.zone == Zone::Order
                    && matches!(
                        self.previous_content(at),
                        Some(What::Cue(Cue::Direction { .. } | Cue::Ranked))
                    ) => {}
            Cue::Of | Cue::In => {
                let places = cue == Cue::In && !(self.draft.entities.is_empty() && self.draft.measures.is_empty());
                if self.zone == Zone::Order || places && self.zone == Zone::Show {
                    self.zone = Zone::Where;
                    self.with = false;
                }
            }
            Cue::And | Cue::But => {
                self.and = true;
                self.or = false;
            }
            Cue::Or => self.or = true,
            Cue::Distinct => self.draft.distinct = true,
            // "End with the letter m".
            Cue::Contains if matches!(self.contains, Some(Cue::Starts | Cue::Ends)) => {}
            Cue::Contains | Cue::Starts | Cue::Ends => self.contains = Some(cue),
            Cue::Empty => self.empty(),
            Cue::AgainstAverage { above } => self.against_average(at, above),
            // "Employees who report to Jones".
            Cue::Intent(Intent::Report)
                if matches!(self.previous_content(at), Some(What::Cue(Cue::That | Cue::Who))) => {}
            // "Report the name of each city".
            Cue::Intent(Intent::Report) if at == 0 && matches!(self.next_content(1), Some((_, What::Field(_)))) => {
                self.draft.intend(Intent::List);
            }
            Cue::Intent(intent) => self.draft.intend(intent),
            Cue::Advise => self.draft.advise = true,
            Cue::Target { reached } => self.target = Some(reached),
        }
        if !matches!(cue, Cue::And | Cue::But | Cue::Filler | Cue::Aggregate(_)) {
            self.and = false;
        }
    }

    /// Where a negation, or what an aggregate is taken over, ends.
    fn end_of_reach(&mut self, cue: Cue) {
        match cue {
            Cue::And | Cue::But => {
                self.denied = None;
                self.tied = true;
                self.told_anew = false;
            }
            Cue::Or => self.tied = false,
            Cue::That | Cue::Who | Cue::With | Cue::Whose => {
                self.told_anew |= self.tied;
                if self.and {
                    self.close_reach();
                }
            }
            Cue::Ranked | Cue::Direction { .. } => {
                self.denied = None;
                self.close_reach();
            }
            _ => {}
        }
    }

    /// "Phone number of", "flight numbers of": a thing has a number, rather than being counted.
    fn is_part_of_a_name(&self, at: usize, node: &Node) -> bool {
        let before = at.checked_sub(1).and_then(|before| self.nodes.get(before));
        let names = matches!(
            before.map(|node| &node.what),
            Some(What::Field(_) | What::Dataset(_) | What::Metric(_))
        );
        names && node.text.to_lowercase().starts_with("number")
    }

    /// "Which" asks at the beginning and ties a condition to a name later on.
    fn which(&mut self, at: usize) {
        let ties = matches!(
            self.previous_content(at),
            Some(What::Dataset(_) | What::Field(_) | What::Metric(_))
        ) && !self.draft.entities.is_empty();
        if ties {
            self.zone = Zone::Where;
            self.with = false;
        } else {
            self.zone = Zone::Show;
        }
    }

    fn who(&mut self, at: usize) {
        let is_named =
            !self.draft.entities.is_empty() || !self.draft.shows.is_empty() || !self.draft.measures.is_empty();
        if is_named || matches!(self.previous_content(at), Some(What::Dataset(_))) {
            self.zone = Zone::Where;
            self.with = false;
            return;
        }
        let named_next = self
            .nodes
            .get(at + 1..)
            .unwrap_or_default()
            .iter()
            .map(|node| &node.what);
        let mut named_next = named_next.skip_while(|what| matches!(what, What::Cue(Cue::Filler)));
        if matches!(named_next.next(), Some(What::Field(_) | What::Dataset(_))) {
            // "Who are the advisors": they are named.
            self.zone = Zone::Show;
            return;
        }
        if self.draft.entities.is_empty() {
            self.draft.who = Some(Person::Any);
            self.zone = Zone::Show;
        }
    }

    fn superlative(&mut self, at: usize, descending: bool, quality: Quality) {
        if let Some(first) = self.superlative
            && self.and
            && first.quality == Quality::Any
            && quality == Quality::Any
            && self.zone == Zone::Show
        {
            // "The highest and lowest prices": both are shown.
            self.superlative = None;
            self.aggregates = vec![extreme(first.descending), extreme(descending)];
            self.draft.intents.retain(|intent| *intent != Intent::Rank);
            return;
        }
        if self.and && !self.aggregates.is_empty() && quality == Quality::Any && self.zone == Zone::Show {
            // "The average and largest salary".
            return self.aggregates.push(extreme(descending));
        }
        let count_before = self.count_before(at);
        // "The top 3 products which have the largest number of problems".
        self.top = self.superlative.and_then(|first| first.count).or(self.top);
        self.superlative = Some(Superlative {
            descending,
            quality,
            count: count_before,
            at,
        });
        self.draft.ranked_of = self.draft.named.last().cloned();
        self.draft.intend(Intent::Rank);
        if quality != Quality::Any {
            self.settle_superlative(Key::Open(quality));
        }
    }

    /// "The 3 most": how many, where a number stands right before.
    fn count_before(&mut self, at: usize) -> Option<u64> {
        let before = at.checked_sub(1).and_then(|before| self.nodes.get(before))?;
        let What::Number(Literal::Integer(count)) = &before.what else {
            return None;
        };
        self.number = None;
        u64::try_from(*count).ok()
    }

    fn settle_superlative(&mut self, key: Key) {
        let Some(superlative) = self.superlative.take() else {
            return;
        };
        // "The largest number of years working": what is counted is what the ranking goes by.
        self.count = false;
        let said = self.draft.ranking.as_ref().and_then(|ranking| ranking.limit);
        let limit = superlative.count.or(self.top.take()).or(said).or(Some(1));
        self.draft.ranking = Some(Ranking {
            key,
            descending: superlative.descending,
            limit,
            superlative: true,
        });
    }

    /// "Most common city": by the number of rows.
    fn frequent(&mut self, at: usize, descending: bool) {
        let next = self.next_content(at + 1);
        // "Most common apartment type": the noun in front belongs to the field.
        let compound = next.and_then(
            |(place, what)| match (what, self.nodes.get(place + 1).map(|node| &node.what)) {
                (What::Dataset(dataset), Some(What::Field(field))) if field.dataset == *dataset => {
                    Some(What::Field(field.clone()))
                }
                _ => None,
            },
        );
        let target = compound.or_else(|| next.map(|(_, what)| what.clone()));
        let count = self.count_before(at);
        let limit = count.or(self.top.take()).or(Some(1));
        let ranking = |measure| Ranking {
            key: Key::Measure(measure),
            descending,
            limit,
            superlative: true,
        };
        self.draft.intend(Intent::Rank);
        match target {
            Some(What::Field(field)) => {
                self.draft.ranking = Some(ranking(Measure::Count(field.dataset.clone())));
                self.draft.group(Group::Field(field));
            }
            _ => {
                self.superlative = Some(Superlative {
                    descending,
                    quality: Quality::Activity,
                    count: limit,
                    at,
                });
                self.settle_superlative(Key::Open(Quality::Activity));
            }
        }
    }

    fn unknown(&mut self, node: &Node) {
        if let Some(person) = self.scope.person_of_verb(&node.text)
            && self.draft.who.is_some()
        {
            self.draft.who = Some(person);
        }
        if let Some(cue) = self.contains.take() {
            self.like(cue, &node.text);
        }
    }

    /// "In alphabetical order": by what is shown first.
    fn sort_by_first(&mut self, descending: bool) {
        let spells = ["alphabet", "lexico", "chrono", "字母"];
        let by_spelling = self.nodes.iter().any(|node| {
            let text = node.text.to_lowercase();
            matches!(node.what, What::Cue(Cue::Direction { .. })) && spells.iter().any(|word| text.contains(word))
        });
        if let (Some(measure), false) = (self.draft.measures.last().cloned(), by_spelling) {
            // "Regions and the number of their shops in descending order": what was measured last.
            self.draft.ranking = Some(Ranking {
                key: Key::Measure(measure),
                descending,
                limit: None,
                superlative: false,
            });
            return;
        }
        let subject = self.draft.entities.first().map(|entity| entity.dataset.clone());
        let label = subject.and_then(|subject| self.scope.label(&subject).into_iter().next());
        let Some(field) = self.draft.shows.first().cloned().or(label) else {
            return;
        };
        self.draft.ranking = Some(Ranking {
            key: Key::Field(field),
            descending,
            limit: None,
            superlative: false,
        });
    }

    /// The count that was asked for.
    fn counted(&self) -> Option<Measure> {
        let mut measures = self.draft.measures.iter();
        measures.find(|measure| matches!(measure, Measure::Count(_))).cloned()
    }

    /// "Services that have never been used": nothing that points at them, where only one thing does.
    fn deny_the_rest(&mut self) {
        if !self.negated || !self.says_never() {
            return;
        }
        let Some(subject) = self.draft.subject() else { return };
        let relationships = self.scope.model.relationships.iter();
        let mut pointing: Vec<&String> = relationships
            .filter(|known| known.to == subject && known.from != subject)
            .map(|known| &known.from)
            .collect();
        pointing.dedup();
        match pointing.as_slice() {
            [only] => {
                let filter = Filter::Exists {
                    dataset: (*only).clone(),
                    filter: None,
                };
                self.add(filter);
            }
            _ => self.draft.loose_ends += 1,
        }
    }

    fn finish(mut self) -> Draft {
        self.deny_the_rest();
        self.close_reach();
        if let Some(superlative) = self.superlative {
            self.settle_superlative(Key::Open(superlative.quality));
        }
        // "Customers with email": named where conditions stand, but nothing is said of it.
        if let (true, true, Some(field)) = (self.dangling, self.with, self.field.take()) {
            self.draft.show(field);
        }
        if let (true, Zone::Order, Some(measure)) = (self.count, self.zone, self.counted()) {
            // "Sorted by the count".
            self.count = false;
            self.settle_order(Key::Measure(measure));
        }
        if self.count {
            // "How many" of what the conditions speak of.
            if let Some(dataset) = self.draft.mentioned.first().cloned()
                && self.draft.measures.is_empty()
            {
                self.draft.measure(Measure::Count(dataset));
            }
        }
        if let (Some(descending), None) = (self.descending, &self.draft.ranking) {
            self.sort_by_first(descending);
        }
        if self.comparison.is_some() || self.average.is_some() {
            self.draft.loose_ends += 1;
        }
        self.draft
    }
}
