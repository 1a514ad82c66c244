//! What the walk does with metrics, datasets and fields.

use crate::meaning::query::{Comparison, Filter, Literal, Measure};
use crate::meaning::question::cue::Cue;
use crate::meaning::question::draft::{Entity, Group, Key, Node, Ranking, What, aggregate};
use crate::meaning::question::types::Intent;
use crate::meaning::question::walk::conditions::{against_average, compare};
use crate::meaning::question::walk::{Superlative, Walker, Zone};
use crate::meaning::semantic::{Aggregate, FieldRef};

impl Walker<'_> {
    pub(super) fn dataset(&mut self, at: usize, dataset: &str) {
        self.draft.mention(dataset);
        self.draft.names_dataset = true;
        self.told_anew |= self.tied;
        self.draft.named.push(dataset.to_owned());
        if self.names_its_field(at, dataset) {
            return;
        }
        if self.draft.shows.is_empty() && !self.count {
            self.draft.distinct = false;
        }
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
            self.count = false;
            return self.settle_superlative(Key::Measure(Measure::Count(dataset.to_owned())));
        }
        let is_other = self.draft.subject().is_some_and(|subject| subject != dataset);
        if self.negated && is_other && self.value_follows(at) {
            return;
        }
        if self.negated && is_other && !self.value_follows(at) {
            return self.exists(dataset);
        }
        if self.count && self.zone == Zone::Order {
            self.count = false;
            return self.settle_order(Key::Measure(Measure::Count(dataset.to_owned())));
        }
        let is_compound = matches!(
            self.nodes.get(at + 1).map(|node| &node.what),
            Some(What::Field(field)) if field.dataset == dataset
        );
        if self.count && is_compound {
            // "How many captain ranks": the field is counted.
            return;
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
            // "Sort all the rooms by price": they are what is sorted.
            Zone::Order if self.draft.entities.is_empty() && self.draft.shows.is_empty() => self.entity(at, dataset),
            Zone::Order if self.draft.entities.iter().any(|known| known.dataset == dataset) => {}
            Zone::Order => self.settle_order(Key::Measure(Measure::Count(dataset.to_owned()))),
        }
    }

    /// "Each apartment type code", "in order of building height": the noun belongs to the field.
    fn names_its_field(&self, at: usize, dataset: &str) -> bool {
        let own = matches!(
            self.nodes.get(at + 1).map(|node| &node.what),
            Some(What::Field(field)) if field.dataset == dataset
        );
        let counts = self.count || self.comparison.is_some() || self.superlative.is_some() || self.negated;
        own && !counts && matches!(self.zone, Zone::Group | Zone::Order | Zone::Show)
    }

    /// "Never ordered product Latte": the "never" is about the value.
    fn value_follows(&self, at: usize) -> bool {
        let mut after = self
            .nodes
            .get(at + 1..)
            .unwrap_or_default()
            .iter()
            .map(|node| &node.what);
        let next = after.find(|what| {
            !matches!(
                what,
                What::Cue(Cue::Filler | Cue::Of | Cue::In | Cue::That | Cue::With)
                    | What::Dataset(_)
                    | What::Field(_)
                    | What::Punctuation
            )
        });
        matches!(next, Some(What::Value { .. } | What::Quoted(_)))
    }

    /// "How many orders": the count becomes a measure.
    pub(super) fn carry_count(&mut self, dataset: &str) {
        if self.count {
            self.count = false;
            self.draft.measure(Measure::Count(dataset.to_owned()));
            self.last_measure = Some(Measure::Count(dataset.to_owned()));
        }
    }

    /// A dataset named where things are shown.
    pub(super) fn entity(&mut self, at: usize, dataset: &str) {
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
    pub(super) fn beside_its_value(&self, at: usize, dataset: &str) -> bool {
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
    pub(super) fn superlative_counts(&self, superlative: Superlative, dataset: &str) -> bool {
        let is_subject = self.draft.entities.is_empty() && self.draft.shows.is_empty();
        !is_subject && superlative.count.is_none() && !self.draft.entities.iter().any(|known| known.dataset == dataset)
    }

    pub(super) fn exists(&mut self, dataset: &str) {
        let filter = Filter::Exists {
            dataset: dataset.to_owned(),
            filter: None,
        };
        let Some(subject) = self.draft.subject() else { return };
        if !self.negated && self.lies_on_a_denied_way(dataset, &subject) {
            return;
        }
        let shows_attribute = self
            .draft
            .shows
            .iter()
            .all(|field| field.dataset == dataset && !self.scope.names_rows(field));
        if subject == dataset && self.negated && shows_attribute && !self.draft.shows.is_empty() {
            self.negated = false;
            self.draft.none_from = Some(self.draft.conditions.len());
            return;
        }
        if self.scope.points_at(&subject, dataset) {
            // Each row points at one anyway; that it should point at none is more than can be said here.
            self.draft.loose_ends += usize::from(std::mem::take(&mut self.negated));
            return;
        }
        // What rows point at is no condition: "orders of customers in France".
        let is_below = subject != dataset && self.scope.points_at(dataset, &subject);
        if !(is_below || self.with || self.negated) || subject == dataset {
            return;
        }
        self.with = false;
        let denies = self.negated;
        self.add(filter);
        if denies {
            self.denied = self.draft.conditions.len().checked_sub(1);
        }
    }

    /// "Shops that have no devices in stock", where stock links the two: it is denied already.
    fn lies_on_a_denied_way(&self, dataset: &str, subject: &str) -> bool {
        let denied = self
            .draft
            .conditions
            .iter()
            .filter_map(|condition| match &condition.filter {
                Filter::Not(inner) => match inner.as_ref() {
                    Filter::Exists { dataset, .. } => Some(dataset),
                    _ => None,
                },
                _ => None,
            });
        let mut denied = denied.filter(|far| far.as_str() != dataset);
        self.scope.points_at(dataset, subject) && denied.any(|far| self.scope.points_at(dataset, far))
    }

    pub(super) fn take_field(&mut self, at: usize, field: &FieldRef) {
        self.draft.mention(&field.dataset);
        if self.names_its_value(at, field) {
            self.field = Some(field.clone());
            return;
        }
        if let Some(above) = self.average.take() {
            self.add(against_average(field.clone(), above));
            return self.reach_of_average(at + 1);
        }
        if let (Some(operator), Some(number)) = (self.comparison, self.number.clone())
            && !self.scope.is_key(field)
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
            if (self.scope.is_amount(field) || self.scope.counts_things(field)) && !self.draft.distinct {
                self.used_aggregates = vec![Aggregate::Sum];
                return self.aggregate_field(field);
            }
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
        if self.zone == Zone::Where
            && let [function @ (Aggregate::Max | Aggregate::Min)] = self.aggregates.as_slice()
            && !self.draft.entities.is_empty()
            && !self.condition_follows(at)
        {
            // "The product with the maximum price": a ranking.
            let descending = *function == Aggregate::Max;
            self.aggregates.clear();
            self.draft.ranking = Some(Ranking {
                key: Key::Field(field.clone()),
                descending,
                limit: Some(1),
                superlative: true,
            });
            return self.draft.intend(Intent::Rank);
        }
        if self.names_open_ranking(at, field) {
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
            Zone::Where
                if self.negated
                    && self.is_of_others(field)
                    && !self.condition_follows(at)
                    && !self.value_follows(at) =>
            {
                // "Courses without a prerequisite".
                let dataset = field.dataset.clone();
                self.exists(&dataset);
            }
            Zone::Where => {
                if let (true, true, Some(before)) = (self.dangling, self.with && self.and, self.field.clone()) {
                    // "With their names and addresses": nothing is said of the first, so it is shown.
                    self.draft.show(before);
                }
                self.field = Some(field.clone());
                self.dangling = true;
            }
        }
    }

    /// Is it a field of rows that point at what the question is about?
    fn is_of_others(&self, field: &FieldRef) -> bool {
        let subject = self.draft.subject();
        subject.is_some_and(|subject| subject != field.dataset && self.scope.points_at(&field.dataset, &subject))
    }

    /// "The artist with the oldest age": the field says what "oldest" goes by.
    pub(super) fn names_open_ranking(&mut self, at: usize, field: &FieldRef) -> bool {
        let follows = matches!(self.previous_content(at), Some(What::Cue(Cue::Superlative { .. })));
        let can = self.scope.is_numeric(field) || self.scope.is_time(field);
        match &mut self.draft.ranking {
            Some(ranking) if follows && can && ranking.superlative && matches!(ranking.key, Key::Open(_)) => {
                ranking.key = Key::Field(field.clone());
                true
            }
            _ => false,
        }
    }

    pub(super) fn group_field(&mut self, field: &FieldRef) {
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
    pub(super) fn names_its_value(&self, at: usize, field: &FieldRef) -> bool {
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
                        Cue::Filler
                            | Cue::Not
                            | Cue::In
                            | Cue::Of
                            | Cue::Compare(Comparison::Equal | Comparison::NotEqual)
                    ) | What::Punctuation
                )
            });
        let before = at
            .checked_sub(1)
            .and_then(|before| self.nodes.get(before))
            .map(|node| &node.what);
        // "That have Android as their platform".
        let mut back = self.nodes.get(..at).unwrap_or_default().iter().rev();
        let told = back
            .find(|node| !matches!(node.what, What::Cue(Cue::Filler | Cue::Their)))
            .map(|node| &node.what);
        let says_as = matches!(before, Some(What::Cue(Cue::Their))) && own(told);
        says_as || !asked && (own(next) || (own(before) || own(self.previous_content(at))) && self.zone != Zone::Group)
    }

    pub(super) fn aggregate_field(&mut self, field: &FieldRef) {
        let functions = self.used_aggregates.clone();
        for function in functions {
            let measure = match function {
                Aggregate::Sum if !self.scope.is_numeric(field) => Measure::Count(field.dataset.clone()),
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
    pub(super) fn superlative_of_field(&mut self, field: &FieldRef) -> bool {
        let Some(superlative) = self.superlative else {
            return false;
        };
        let can_be_ranked = self.scope.is_numeric(field) || self.scope.is_time(field);
        let is_alone = self.draft.entities.is_empty() && self.draft.shows.is_empty() && self.draft.who.is_none();
        if let (true, false, [function]) = (can_be_ranked, is_alone, self.aggregates.as_slice()) {
            // "The department with the highest total credits".
            let key = Key::Measure(aggregate(*function, field));
            self.aggregates.clear();
            self.settle_superlative(key);
            return true;
        }
        if !can_be_ranked {
            // "the most cities": how many different ones; "top 5 cities": the things ranked.
            return false;
        }
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

    pub(super) fn settle_order(&mut self, key: Key) {
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

    pub(super) fn metric(&mut self, at: usize, name: &str) {
        if let (Some(_), Some(node)) = (self.draft.who, self.nodes.get(at))
            && let Some(person) = self.scope.person_of_verb(&node.text)
        {
            self.draft.who = Some(person);
        }
        let negated = std::mem::take(&mut self.negated);
        if let Some(reached) = self.target.take()
            && let Some(attainment) = self.scope.attainment(name)
        {
            let operator = if reached != negated {
                Comparison::AtLeast
            } else {
                Comparison::Less
            };
            let attainment = Measure::Metric(attainment);
            self.draft.measure(attainment.clone());
            return self.group_condition(attainment, operator, Literal::Integer(1));
        }
        if let Some(dataset) = self.scope.counted_rows(name)
            && self.means_rows()
        {
            return self.dataset(at, &dataset);
        }
        if let (Some(field), true) = (self.scope.summed_field(name), self.superlative.is_some())
            && self.draft.entities.is_empty()
            && self.draft.shows.is_empty()
            && self.draft.groups.is_empty()
            && self.superlative_of_field(&field)
        {
            // "The largest payment amount".
            return;
        }
        let measure = Measure::Metric(name.to_owned());
        let other_than_sum = self.aggregates.iter().any(|function| *function != Aggregate::Sum);
        if let (true, Some(field)) = (other_than_sum, self.scope.summed_field(name)) {
            self.used_aggregates = std::mem::take(&mut self.aggregates);
            return self.aggregate_field(&field);
        }
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
            // "Which origin has the most flights": the flights only rank; alone they are what is asked for.
            if self.draft.entities.is_empty() && self.draft.shows.is_empty() && self.draft.who.is_none() {
                self.draft.measure(measure.clone());
            }
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

    /// "Which customers made orders": a word that counts rows where nothing is counted names the rows.
    fn means_rows(&self) -> bool {
        let counts =
            self.count || self.superlative.is_some() || self.comparison.is_some() || self.draft.ranking.is_some();
        let leads = self.draft.entities.first().is_some_and(|entity| entity.leads) || !self.draft.shows.is_empty();
        let groups = !self.draft.groups.is_empty() || self.draft.grain.is_some() || !self.draft.measures.is_empty();
        !counts && !groups && self.zone == Zone::Where && leads
    }

    /// Does a comparison with a number stand right after?
    pub(super) fn condition_follows(&self, at: usize) -> bool {
        matches!(
            self.next_content(at + 1),
            Some((
                _,
                What::Cue(Cue::Compare(_) | Cue::Between | Cue::AgainstAverage { .. })
            ))
        )
    }
}
