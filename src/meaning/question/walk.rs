//! Walks over a question's pieces from left to right and fills the slots of a draft.

use crate::meaning::query::{Comparison, Filter, Literal, Measure};
use crate::meaning::question::build::year_filter;
use crate::meaning::question::cue::{Cue, Quality};
use crate::meaning::question::draft::{
    Draft, Entity, Group, GroupCondition, Key, Node, Person, Ranking, What, aggregate,
};
use crate::meaning::question::phrases::Phrase;
use crate::meaning::question::scope::Scope;
use crate::meaning::question::types::{Intent, Shift};
use crate::meaning::semantic::{Aggregate, FieldRef};
use crate::time::Window;

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

/// Fills a draft from the nodes of one reading.
pub fn walk(nodes: &[Node], scope: &Scope<'_>) -> Draft {
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
    comparison: Option<Comparison>,
    number: Option<Literal>,
    between: Option<Literal>,
    in_between: bool,
    negated: bool,
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
            comparison: None,
            number: None,
            between: None,
            in_between: false,
            negated: false,
            or: false,
            and: false,
            field: None,
            dangling: false,
            last_measure: None,
            contains: None,
            average: None,
            descending: None,
            with: false,
        }
    }

    fn take(&mut self, at: usize, node: &Node) {
        match &node.what {
            What::Cue(cue) => self.cue(at, node, *cue),
            What::Dataset(dataset) => self.dataset(at, dataset),
            What::Field(field) => self.take_field(at, field),
            What::Metric(metric) => self.metric(at, metric),
            What::Value { field, value } => self.value(field, value),
            What::Number(number) => self.take_number(at, number.clone()),
            What::Quoted(text) => self.quoted(text),
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
        match cue {
            Cue::List => {
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
            Cue::Count => {
                self.count = true;
                self.draft.intend(Intent::Count);
            }
            Cue::HowMuch | Cue::Filler | Cue::Both => {}
            Cue::Aggregate(function) => {
                if !self.and {
                    self.aggregates.clear();
                }
                self.aggregates.push(function);
            }
            Cue::Superlative { descending, quality } => self.superlative(at, descending, quality),
            Cue::Frequent { descending } => self.frequent(at, descending),
            Cue::Group => self.zone = Zone::Group,
            Cue::Ranked => self.zone = Zone::Order,
            Cue::Direction { descending } => match &mut self.draft.ranking {
                Some(ranking) if !ranking.superlative => ranking.descending = descending,
                _ => {
                    self.descending = Some(descending);
                    self.zone = Zone::Order;
                }
            },
            Cue::Compare(operator) => self.compare(node, operator),
            Cue::Between => self.in_between = true,
            Cue::Not => self.negated = !self.negated,
            Cue::Except | Cue::Without => {
                self.negated = true;
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
            Cue::Of | Cue::In => {
                if self.zone == Zone::Order {
                    self.zone = Zone::Where;
                }
            }
            Cue::And | Cue::But => {
                self.and = true;
                self.or = false;
            }
            Cue::Or => self.or = true,
            Cue::Distinct => self.draft.distinct = true,
            Cue::Contains | Cue::Starts | Cue::Ends => self.contains = Some(cue),
            Cue::Empty => self.empty(),
            Cue::AgainstAverage { above } => self.against_average(at, above),
            Cue::Intent(intent) => self.draft.intend(intent),
            Cue::Advise => self.draft.advise = true,
        }
        if !matches!(cue, Cue::And | Cue::But | Cue::Filler | Cue::Aggregate(_)) {
            self.and = false;
        }
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
        if matches!(self.previous_content(at), Some(What::Dataset(_))) {
            self.zone = Zone::Where;
            return;
        }
        if self.draft.entities.is_empty() {
            self.draft.who = Some(Person::Any);
            self.zone = Zone::Show;
        }
    }

    fn superlative(&mut self, at: usize, descending: bool, quality: Quality) {
        let count_before = match at
            .checked_sub(1)
            .and_then(|before| self.nodes.get(before))
            .map(|node| &node.what)
        {
            Some(What::Number(Literal::Integer(count))) => u64::try_from(*count).ok(),
            _ => None,
        };
        if count_before.is_some() {
            self.number = None;
        }
        self.superlative = Some(Superlative {
            descending,
            quality,
            count: count_before,
            at,
        });
        self.draft.intend(Intent::Rank);
        if quality != Quality::Any {
            self.settle_superlative(Key::Open(quality));
        }
    }

    fn settle_superlative(&mut self, key: Key) {
        let Some(superlative) = self.superlative.take() else {
            return;
        };
        let limit = superlative.count.or(Some(1));
        self.draft.ranking = Some(Ranking {
            key,
            descending: superlative.descending,
            limit,
            superlative: true,
        });
    }

    /// "Most common city": by the number of rows.
    fn frequent(&mut self, at: usize, descending: bool) {
        let target = self.next_content(at + 1).map(|(_, what)| what.clone());
        let limit = Some(1);
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
                    count: None,
                    at,
                });
                self.settle_superlative(Key::Open(Quality::Activity));
            }
        }
    }

    fn compare(&mut self, node: &Node, operator: Comparison) {
        let operator = if self.negated { opposite(operator) } else { operator };
        self.negated = false;
        if let Some(quality) = self.scope.quality_of(&node.text)
            && let Some(field) = self.scope.field_with(&self.draft, quality.words())
        {
            self.field = Some(field);
        }
        if let Some(number) = self.number.take() {
            self.compare_number(operator, number);
            return;
        }
        self.comparison = Some(operator);
    }

    fn empty(&mut self) {
        let Some(field) = self.field.take() else { return };
        self.dangling = false;
        let filter = Filter::IsNull { field };
        self.add(filter);
    }

    fn against_average(&mut self, at: usize, above: bool) {
        let next = self.next_content(at + 1).map(|(_, what)| what.clone());
        if let (Some(field), false) = (self.field.clone(), matches!(next, Some(What::Field(_)))) {
            self.dangling = false;
            self.add(against_average(field, above));
        } else {
            self.average = Some(above);
            self.zone = Zone::Where;
        }
    }

    fn dataset(&mut self, at: usize, dataset: &str) {
        self.draft.mention(dataset);
        self.draft.distinct = self.draft.distinct && self.count;
        if self.beside_its_value(at, dataset) {
            return self.carry_count(dataset);
        }
        if let (Some(operator), Some(number)) = (self.comparison, self.number.clone()) {
            self.comparison = None;
            self.number = None;
            self.group_condition(Measure::Count(dataset.to_owned()), operator, number);
            return;
        }
        if let Some(superlative) = self.superlative
            && self.superlative_counts(superlative, dataset)
        {
            return self.settle_superlative(Key::Measure(Measure::Count(dataset.to_owned())));
        }
        if self.count {
            return self.carry_count(dataset);
        }
        if self.aggregates.first() == Some(&Aggregate::Sum) && self.zone == Zone::Show {
            self.aggregates.clear();
            self.draft.intend(Intent::Count);
            self.draft.measure(Measure::Count(dataset.to_owned()));
            return;
        }
        match self.zone {
            Zone::Group => self.draft.group(Group::Entity(dataset.to_owned())),
            Zone::Show => self.entity(at, dataset),
            Zone::Where => self.exists(dataset),
            Zone::Order => self.settle_order(Key::Measure(Measure::Count(dataset.to_owned()))),
        }
    }

    /// "How many orders": the count becomes a measure.
    fn carry_count(&mut self, dataset: &str) {
        if self.count {
            self.count = false;
            self.draft.measure(Measure::Count(dataset.to_owned()));
            self.last_measure = Some(Measure::Count(dataset.to_owned()));
        }
    }

    /// A dataset named where things are shown.
    fn entity(&mut self, at: usize, dataset: &str) {
        if self.draft.entities.iter().any(|known| known.dataset == dataset) {
            return;
        }
        let before = at
            .checked_sub(1)
            .and_then(|before| self.nodes.get(before))
            .map(|node| &node.what);
        let belongs = matches!(before, Some(What::Cue(Cue::Of | Cue::In)))
            || matches!(before, Some(What::Cue(Cue::Filler)))
                && matches!(
                    at.checked_sub(2)
                        .and_then(|before| self.nodes.get(before))
                        .map(|node| &node.what),
                    Some(What::Cue(Cue::Of | Cue::In))
                );
        self.draft.entities.push(Entity {
            dataset: dataset.to_owned(),
            leads: self.draft.measures.is_empty() && !belongs,
        });
    }

    /// "Tokyo office", "office Tokyo": the noun belongs to the value and asks for nothing of its own.
    fn beside_its_value(&self, at: usize, dataset: &str) -> bool {
        let is_own = |node: Option<&Node>| {
            node.is_some_and(|node| matches!(&node.what, What::Value { field, .. } if field.dataset == *dataset))
        };
        let asked = at.checked_sub(1).and_then(|before| self.nodes.get(before));
        let is_asked = matches!(
            asked.map(|node| &node.what),
            Some(What::Cue(Cue::Which | Cue::List | Cue::Count | Cue::Group))
        );
        let before = at.checked_sub(1).and_then(|before| self.nodes.get(before));
        !is_asked
            && (is_own(before) && !self.draft.entities.is_empty()
                || is_own(self.nodes.get(at + 1)) && !self.draft.entities.is_empty())
    }

    /// Does "the most orders" count orders, rather than ask for the top order?
    fn superlative_counts(&self, superlative: Superlative, dataset: &str) -> bool {
        let is_subject = self.draft.entities.is_empty() && self.draft.shows.is_empty();
        !is_subject && superlative.count.is_none() && !self.draft.entities.iter().any(|known| known.dataset == dataset)
    }

    fn exists(&mut self, dataset: &str) {
        let filter = Filter::Exists {
            dataset: dataset.to_owned(),
            filter: None,
        };
        let Some(subject) = self.draft.subject() else { return };
        // What rows point at is no condition: "orders of customers in France".
        let is_below = subject != dataset && self.scope.points_at(dataset, &subject);
        if !is_below && !(self.with || self.negated) || subject == dataset {
            return;
        }
        self.with = false;
        self.add(filter);
    }

    fn take_field(&mut self, at: usize, field: &FieldRef) {
        self.draft.mention(&field.dataset);
        if self.names_its_value(at, field) {
            self.field = Some(field.clone());
            return;
        }
        if let Some(above) = self.average.take() {
            return self.add(against_average(field.clone(), above));
        }
        if let (Some(operator), Some(number)) = (self.comparison, self.number.clone())
            && self.scope.is_numeric(field)
        {
            self.comparison = None;
            self.number = None;
            let filter = compare(field, operator, number);
            return self.add(filter);
        }
        if self.superlative.is_some() && self.superlative_of_field(field) {
            return;
        }
        if self.count {
            self.count = false;
            let distinct = !self.scope.is_key(field);
            let measure = if distinct {
                aggregate(Aggregate::CountDistinct, field)
            } else {
                Measure::Count(field.dataset.clone())
            };
            self.draft.measure(measure);
            self.draft.distinct = false;
            return;
        }
        if !self.aggregates.is_empty() {
            self.used_aggregates = std::mem::take(&mut self.aggregates);
            return self.aggregate_field(field);
        }
        if self.and && !self.used_aggregates.is_empty() && self.zone == Zone::Show && self.scope.is_numeric(field) {
            return self.aggregate_field(field);
        }
        match self.zone {
            Zone::Show => {
                self.draft.show(field.clone());
                self.field = Some(field.clone());
            }
            Zone::Group => self.group_field(field),
            Zone::Order => self.settle_order(Key::Field(field.clone())),
            Zone::Where => {
                self.field = Some(field.clone());
                self.dangling = true;
            }
        }
    }

    fn group_field(&mut self, field: &FieldRef) {
        let ranks =
            self.draft.ranking.is_some() || self.superlative.is_some() || self.draft.intents.contains(&Intent::Rank);
        if ranks && self.scope.is_numeric(field) && !self.scope.is_key(field) {
            if self.superlative.is_some() {
                return self.settle_superlative(Key::Field(field.clone()));
            }
            return self.settle_order(Key::Field(field.clone()));
        }
        self.draft.group(Group::Field(field.clone()));
    }

    /// "City Tokyo", "status is Cancelled": the field only says of what the value is.
    fn names_its_value(&self, at: usize, field: &FieldRef) -> bool {
        let own = |what: Option<&What>| matches!(what, Some(What::Value { field: other, .. }) if other == field);
        let asked = matches!(
            self.previous_content(at),
            Some(What::Cue(Cue::Which | Cue::Group | Cue::Count))
        );
        let next = self
            .nodes
            .get(at + 1..)
            .unwrap_or_default()
            .iter()
            .map(|node| &node.what)
            .find(|what| {
                !matches!(
                    what,
                    What::Cue(
                        Cue::Filler | Cue::Not | Cue::In | Cue::Compare(Comparison::Equal | Comparison::NotEqual)
                    ) | What::Punctuation
                )
            });
        let before = at
            .checked_sub(1)
            .and_then(|before| self.nodes.get(before))
            .map(|node| &node.what);
        !asked && (own(next) || own(before) && self.zone != Zone::Group)
    }

    fn aggregate_field(&mut self, field: &FieldRef) {
        let functions = self.used_aggregates.clone();
        for function in functions {
            let measure = match function {
                Aggregate::Sum | Aggregate::Avg if !self.scope.is_numeric(field) => {
                    Measure::Count(field.dataset.clone())
                }
                _ => aggregate(function, field),
            };
            if self.zone == Zone::Order {
                return self.settle_order(Key::Measure(measure));
            }
            self.last_measure = Some(measure.clone());
            if self.zone == Zone::Where && (self.with || self.superlative.is_some()) {
                // "whose average salary is more than 1000": a condition on the group.
                self.field = None;
                self.dangling = false;
                continue;
            }
            self.draft.measure(measure);
        }
        self.draft.intend(Intent::Total);
    }

    /// "The highest salary": what is shown, or what the ranking goes by. `false` when it goes by something else.
    fn superlative_of_field(&mut self, field: &FieldRef) -> bool {
        let Some(superlative) = self.superlative else {
            return false;
        };
        let can_be_ranked = self.scope.is_numeric(field) || self.scope.is_time(field);
        if !can_be_ranked {
            // "the most cities": how many different ones; "top 5 cities": the things ranked.
            return false;
        }
        let is_alone = self.draft.entities.is_empty() && self.draft.shows.is_empty() && self.draft.who.is_none();
        if is_alone
            && superlative.count.is_none()
            && self.zone == Zone::Show
            && !self.draft.intents.contains(&Intent::List)
        {
            let function = if superlative.descending {
                Aggregate::Max
            } else {
                Aggregate::Min
            };
            self.superlative = None;
            self.draft.intents.retain(|intent| *intent != Intent::Rank);
            self.draft.measure(aggregate(function, field));
            self.last_measure = None;
            self.used_aggregates = vec![function];
            return true;
        }
        self.settle_superlative(Key::Field(field.clone()));
        true
    }

    fn settle_order(&mut self, key: Key) {
        match &mut self.draft.ranking {
            Some(ranking) if matches!(ranking.key, Key::Open(_)) => ranking.key = key,
            Some(_) => {}
            None => {
                let descending = self
                    .descending
                    .take()
                    .unwrap_or_else(|| matches!(key, Key::Measure(_)) && self.draft.intents.contains(&Intent::Rank));
                self.draft.ranking = Some(Ranking {
                    key,
                    descending,
                    limit: None,
                    superlative: false,
                });
            }
        }
    }

    fn metric(&mut self, at: usize, name: &str) {
        if let (Some(_), Some(node)) = (self.draft.who, self.nodes.get(at))
            && let Some(person) = self.scope.person_of_verb(&node.text)
        {
            self.draft.who = Some(person);
        }
        let measure = Measure::Metric(name.to_owned());
        self.last_measure = Some(measure.clone());
        self.aggregates.clear();
        self.count = false;
        if let (Some(operator), Some(number)) = (self.comparison, self.number.clone()) {
            self.comparison = None;
            self.number = None;
            self.group_condition(measure, operator, number);
            return;
        }
        if self.superlative.is_some() {
            self.draft.measure(measure.clone());
            return self.settle_superlative(Key::Measure(measure));
        }
        let ranks = matches!(self.zone, Zone::Order)
            || self.zone == Zone::Group && (self.draft.ranking.is_some() || self.draft.intents.contains(&Intent::Rank));
        if ranks {
            self.draft.measure(measure.clone());
            return self.settle_order(Key::Measure(measure));
        }
        if self.zone == Zone::Group && matches!(self.previous_content(at), Some(What::Cue(Cue::Group))) {
            self.zone = Zone::Show;
        }
        if self.zone == Zone::Where && self.condition_follows(at) {
            return;
        }
        self.draft.measure(measure);
    }

    /// Does a comparison with a number stand right after?
    fn condition_follows(&self, at: usize) -> bool {
        matches!(
            self.next_content(at + 1),
            Some((
                _,
                What::Cue(Cue::Compare(_) | Cue::Between | Cue::AgainstAverage { .. })
            ))
        )
    }

    fn value(&mut self, field: &FieldRef, value: &str) {
        self.draft.mention(&field.dataset);
        if let Some(cue) = self.contains.take()
            && self.field.is_some()
        {
            return self.like(cue, value);
        }
        self.dangling = false;
        let operator = match self.comparison.take() {
            Some(Comparison::NotEqual) => Comparison::NotEqual,
            _ => Comparison::Equal,
        };
        let filter = Filter::Compare {
            field: field.clone(),
            operator,
            value: self.scope.literal(field, value),
        };
        self.field = Some(field.clone());
        self.add(filter);
    }

    fn take_number(&mut self, at: usize, number: Literal) {
        if self.in_between {
            match self.between.take() {
                None => self.between = Some(number),
                Some(low) => {
                    self.in_between = false;
                    self.between_numbers(low, number);
                }
            }
            return;
        }
        if let Some(superlative) = &mut self.superlative
            && superlative.count.is_none()
            && at == superlative.at + 1
        {
            superlative.count = whole(&number);
            return;
        }
        if let Some(ranking) = &mut self.draft.ranking
            && ranking.superlative
            && self.comparison.is_none()
            && matches!(
                self.nodes.get(at.wrapping_sub(1)).map(|node| &node.what),
                Some(What::Cue(Cue::Superlative { .. } | Cue::Frequent { .. }))
            )
        {
            ranking.limit = whole(&number);
            return;
        }
        if let Some(operator) = self.comparison {
            let follows = self.next_content(at + 1).map(|(_, what)| what);
            let counts = matches!(follows, Some(What::Dataset(_)))
                || matches!(follows, Some(What::Metric(_)))
                || matches!(follows, Some(What::Field(field)) if self.field.is_none() && self.scope.is_numeric(field));
            let touches = matches!(
                self.nodes.get(at + 1).map(|node| &node.what),
                Some(What::Dataset(_) | What::Metric(_) | What::Field(_))
            );
            if counts && touches {
                self.number = Some(number);
                return;
            }
            self.comparison = None;
            return self.compare_number(operator, number);
        }
        let ranked_next = matches!(
            self.next_content(at + 1),
            Some((
                _,
                What::Dataset(_) | What::Field(_) | What::Cue(Cue::Superlative { .. })
            ))
        );
        if ranked_next && self.zone == Zone::Show && self.draft.entities.is_empty() && self.draft.shows.is_empty() {
            // "the 5 products with the highest sales"
            self.draft.ranking = Some(Ranking {
                key: Key::Open(Quality::Any),
                descending: true,
                limit: whole(&number),
                superlative: false,
            });
            self.number = Some(number);
            return;
        }
        if let Some(field) = self.field.clone()
            && (self.dangling
                || matches!(
                    self.previous_content(at),
                    Some(What::Field(_) | What::Cue(Cue::Compare(_)))
                ))
        {
            if matches!(self.previous_content(at), Some(What::Field(_))) {
                self.draft.shows.retain(|shown| *shown != field);
            }
            self.dangling = false;
            return self.add(compare(&field, Comparison::Equal, number));
        }
        self.number = Some(number);
    }

    fn compare_number(&mut self, operator: Comparison, number: Literal) {
        if let Some(field) = self.field.clone().filter(|field| self.scope.is_numeric(field)) {
            self.dangling = false;
            return self.add(compare(&field, operator, number));
        }
        if let Some(measure) = self.last_measure.clone() {
            return self.group_condition(measure, operator, number);
        }
        self.draft.loose_ends += 1;
    }

    fn between_numbers(&mut self, low: Literal, high: Literal) {
        match self.field.clone() {
            Some(field) => {
                self.dangling = false;
                self.add(Filter::Between { field, low, high });
            }
            None => match self.last_measure.clone() {
                Some(measure) => {
                    self.group_condition(measure.clone(), Comparison::AtLeast, low);
                    self.group_condition(measure, Comparison::AtMost, high);
                }
                None => self.draft.loose_ends += 1,
            },
        }
    }

    fn group_condition(&mut self, measure: Measure, operator: Comparison, value: Literal) {
        self.draft.having.push(GroupCondition {
            measure,
            operator,
            value,
        });
    }

    fn quoted(&mut self, text: &str) {
        if let Some(cue) = self.contains.take() {
            return self.like(cue, text);
        }
        let Some(field) = self.field.clone() else {
            self.draft.loose_ends += 1;
            return;
        };
        self.dangling = false;
        self.draft.shows.retain(|shown| *shown != field);
        let value = Literal::Text(text.to_owned());
        self.add(compare(&field, Comparison::Equal, value));
    }

    fn like(&mut self, cue: Cue, text: &str) {
        let Some(field) = self.field.clone() else {
            self.draft.loose_ends += 1;
            return;
        };
        let pattern = match cue {
            Cue::Starts => format!("{text}%"),
            Cue::Ends => format!("%{text}"),
            _ => format!("%{text}%"),
        };
        self.dangling = false;
        self.add(Filter::Like { field, pattern });
    }

    fn time(&mut self, at: usize, phrase: Phrase, bare_year: bool) {
        match phrase {
            Phrase::Grain(grain) => {
                if self.draft.grain.is_none() {
                    self.draft.grain = Some(grain);
                }
                return;
            }
            Phrase::YearAgo | Phrase::Previous => {
                self.draft.shift = Some(if phrase == Phrase::YearAgo {
                    Shift::YearAgo
                } else {
                    Shift::Previous
                });
                return self.draft.intend(Intent::Growth);
            }
            Phrase::Window { .. } | Phrase::Range { .. } => {}
        }
        let Some(window) = phrase.window() else { return };
        if let Phrase::Window {
            relative: Some((grain, 1)),
            ..
        } = phrase
            && !self.draft.windows.is_empty()
            && self.compares()
        {
            self.draft.shift = self.scope.shift(self.draft.windows.first().copied(), grain);
            if self.draft.shift.is_some() {
                return;
            }
        }
        if let Some(field) = self.time_field_before(at, bare_year) {
            self.dangling = false;
            self.draft.shows.retain(|shown| *shown != field);
            return self.during(field, window);
        }
        if let Phrase::Range { from, to } = phrase {
            self.draft.range = Some((from, to));
        }
        self.draft.windows.push(window);
    }

    fn compares(&self) -> bool {
        self.draft
            .intents
            .iter()
            .any(|intent| matches!(intent, Intent::Compare | Intent::Growth))
    }

    /// "Hired after 2003", "opening year is 1990": the time is about that field.
    fn time_field_before(&self, at: usize, _bare_year: bool) -> Option<FieldRef> {
        let field = self.field.clone()?;
        let before = self.nodes.get(..at)?.iter().rev().map(|node| &node.what).find(|what| {
            !matches!(
                what,
                What::Cue(Cue::Filler | Cue::In | Cue::Of | Cue::Not | Cue::Compare(_) | Cue::Between)
                    | What::Punctuation
            )
        });
        let stands_before = matches!(before, Some(What::Field(other)) if *other == field);
        (stands_before && (self.scope.is_time(&field) || self.scope.is_year(&field))).then_some(field)
    }

    fn during(&mut self, field: FieldRef, window: Window) {
        let filter = match (self.comparison.take(), self.scope.is_year(&field)) {
            (Some(operator), true) => compare(&field, operator, Literal::Integer(window.start.year().into())),
            (_, true) => year_filter(&field, window),
            (Some(operator), false) => match operator {
                Comparison::Greater => self.within(&field, Window::new(window.end, Window::OPEN_END)),
                Comparison::AtLeast => self.within(&field, Window::new(window.start, Window::OPEN_END)),
                Comparison::Less => self.within(&field, Window::new(Window::OPEN_START, window.start)),
                Comparison::AtMost => self.within(&field, Window::new(Window::OPEN_START, window.end)),
                Comparison::Equal | Comparison::NotEqual => self.within(&field, Some(window)),
            },
            (None, false) => self.within(&field, Some(window)),
        };
        self.add(filter);
    }

    fn within(&self, field: &FieldRef, window: Option<Window>) -> Filter {
        match window {
            Some(window) => Filter::During {
                field: field.clone(),
                window,
            },
            None => Filter::And(Vec::new()),
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

    fn add(&mut self, filter: Filter) {
        let filter = if self.negated {
            Filter::Not(Box::new(filter))
        } else {
            filter
        };
        self.negated = false;
        let or = std::mem::take(&mut self.or);
        self.draft.condition(filter, or);
    }

    fn finish(mut self) -> Draft {
        if let Some(superlative) = self.superlative {
            self.settle_superlative(Key::Open(superlative.quality));
        }
        if self.dangling
            && let Some(field) = self.field.take()
        {
            // "customers with their email": named where conditions stand, but nothing is said of it.
            self.draft.show(field);
        }
        if self.count {
            // "How many" of what the conditions speak of.
            if let Some(dataset) = self.draft.mentioned.first().cloned()
                && self.draft.measures.is_empty()
            {
                self.draft.measure(Measure::Count(dataset));
            }
        }
        if self.comparison.is_some() || self.average.is_some() {
            self.draft.loose_ends += 1;
        }
        self.draft
    }
}

fn compare(field: &FieldRef, operator: Comparison, value: Literal) -> Filter {
    Filter::Compare {
        field: field.clone(),
        operator,
        value,
    }
}

fn against_average(field: FieldRef, above: bool) -> Filter {
    Filter::CompareAggregate {
        field,
        operator: if above { Comparison::Greater } else { Comparison::Less },
        function: Aggregate::Avg,
        of: None,
        filter: None,
    }
}

fn whole(number: &Literal) -> Option<u64> {
    match number {
        Literal::Integer(count) => u64::try_from(*count).ok(),
        Literal::Boolean(_) | Literal::Number(_) | Literal::Text(_) => None,
    }
}

fn opposite(operator: Comparison) -> Comparison {
    match operator {
        Comparison::Equal => Comparison::NotEqual,
        Comparison::NotEqual => Comparison::Equal,
        Comparison::Less => Comparison::AtLeast,
        Comparison::AtMost => Comparison::Greater,
        Comparison::Greater => Comparison::AtMost,
        Comparison::AtLeast => Comparison::Less,
    }
}
