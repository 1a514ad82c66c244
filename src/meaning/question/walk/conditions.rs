//! What the walk does with values, numbers, comparisons and times.

use crate::meaning::query::{Comparison, Filter, Literal, Measure};
use crate::meaning::question::build::year_filter;
use crate::meaning::question::cue::{Cue, Quality};
use crate::meaning::question::draft::{GroupCondition, Key, Node, Ranking, What};
use crate::meaning::question::phrases::Phrase;
use crate::meaning::question::types::{Intent, Shift};
use crate::meaning::question::walk::{Walker, Zone};
use crate::meaning::semantic::{Aggregate, FieldRef};
use crate::time::Window;

impl Walker<'_> {
    pub(super) fn compare(&mut self, at: usize, node: &Node, operator: Comparison) {
        let operator = if self.negated { opposite(operator) } else { operator };
        self.negated = false;
        if let Some(quality) = self.scope.quality_of(&node.text)
            && let Some(field) = self.quality_field(quality)
        {
            self.field = Some(field);
        }
        if let Some(number) = self.number.take() {
            let follows = self.next_content(at + 1).map(|(_, what)| what);
            if matches!(follows, Some(What::Dataset(_))) {
                // "4 or more transactions": a number of those.
                self.number = Some(number);
                self.comparison = Some(operator);
                return;
            }
            self.compare_number(operator, number);
            return;
        }
        if self.against_others(at, operator) {
            return;
        }
        self.comparison = Some(operator);
    }

    fn age(&self) -> Option<FieldRef> {
        self.scope.field_with(&self.draft, Quality::Age.words())
    }

    /// The field that "older" or "shorter" compares; people are short in height, films in length.
    fn quality_field(&self, quality: Quality) -> Option<FieldRef> {
        let field = self.scope.field_with(&self.draft, quality.words());
        let heights = || self.scope.field_with(&self.draft, Quality::Height.words());
        field.or_else(|| (quality == Quality::Length).then(heights).flatten())
    }

    pub(super) fn empty(&mut self) {
        let Some(field) = self.field.take() else { return };
        self.dangling = false;
        let filter = Filter::IsNull { field };
        self.add(filter);
    }

    pub(super) fn against_average(&mut self, at: usize, above: bool) {
        let next = self.next_content(at + 1).map(|(_, what)| what.clone());
        if let Some(quality) = self.nodes.get(at).and_then(|node| self.scope.quality_of(&node.text))
            && let Some(field) = self.quality_field(quality)
        {
            self.dangling = false;
            self.add(against_average(field, above));
            return self.reach_of_average(at + 1);
        }
        let measured = self
            .field
            .clone()
            .filter(|field| self.scope.is_numeric(field) || self.scope.is_time(field));
        if let (Some(field), false) = (measured, matches!(next, Some(What::Field(_)))) {
            self.dangling = false;
            self.add(against_average(field, above));
            self.reach_of_average(at + 1);
        } else {
            self.average = Some(above);
            self.zone = Zone::Where;
        }
    }

    /// "Above the average age of those in Boston": what follows from node `at` on says of whom.
    pub(super) fn reach_of_average(&mut self, at: usize) {
        if self.others_follow(at) {
            self.reach_from_here();
            self.zone = Zone::Where;
        }
    }

    pub(super) fn value(&mut self, field: &FieldRef, value: &str) {
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

    pub(super) fn take_number(&mut self, at: usize, number: Literal) {
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
        if matches!(
            self.next_content(at + 1),
            Some((_, What::Cue(Cue::Superlative { .. } | Cue::Frequent { .. })))
        ) && self.comparison.is_none()
        {
            // "The five oldest people".
            self.number = Some(number);
            return;
        }
        if let Some(superlative) = &mut self.superlative
            && superlative.count.is_none()
            && only_small_words(self.nodes.get(superlative.at + 1..at))
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
                || matches!(follows, Some(What::Field(field)) if self.scope.is_numeric(field) && !self.awaits_number());
            let beside = self.nodes.get(at + 1..).unwrap_or_default().iter();
            let mut beside = beside.skip_while(|node| matches!(node.what, What::Cue(Cue::Distinct | Cue::Filler)));
            let touches = matches!(
                beside.next().map(|node| &node.what),
                Some(What::Dataset(_) | What::Metric(_) | What::Field(_))
            );
            if counts && touches {
                self.number = Some(number);
                return;
            }
            self.comparison = None;
            return self.compare_number(operator, number);
        }
        if matches!(
            self.nodes.get(at + 1).map(|node| &node.what),
            Some(What::Cue(Cue::Compare(_)))
        ) {
            self.number = Some(number);
            return;
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
        if matches!(self.nodes.get(at + 1).map(|node| &node.what), Some(What::Dataset(_)))
            && self.superlative_follows(at)
        {
            self.top = whole(&number);
            return;
        }
        if let Some(field) = self.field.clone()
            && (self.dangling
                || matches!(
                    self.nodes.get(at.wrapping_sub(1)).map(|node| &node.what),
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

    fn superlative_follows(&self, at: usize) -> bool {
        let after = self.nodes.get(at + 1..).unwrap_or_default();
        after
            .iter()
            .any(|node| matches!(node.what, What::Cue(Cue::Superlative { .. } | Cue::Frequent { .. })))
    }

    /// Was a field named that a number may be compared with? "Names of the hotels with more than 3 stars" has named one that
    /// cannot.
    fn awaits_number(&self) -> bool {
        self.field
            .as_ref()
            .is_some_and(|field| self.dangling || self.scope.is_numeric(field))
    }

    pub(super) fn compare_number(&mut self, operator: Comparison, number: Literal) {
        let just_said = self.dangling;
        if let Some(field) = self
            .field
            .clone()
            .filter(|field| just_said || self.scope.is_numeric(field))
        {
            self.dangling = false;
            return self.add(compare(&field, operator, number));
        }
        match self.last_measure.clone() {
            Some(measure @ (Measure::Metric(_) | Measure::Aggregate { .. } | Measure::Ratio { .. })) => {
                self.group_condition(measure, operator, number);
            }
            Some(Measure::Count(_)) | None if self.age().is_some() => {
                // "People under 40".
                if let Some(field) = self.age() {
                    self.add(compare(&field, operator, number));
                }
            }
            // A number of what? "Rooms that cost more than 120" is not about the number of rooms.
            Some(Measure::Count(_)) | None => self.draft.loose_ends += 2,
        }
    }

    pub(super) fn between_numbers(&mut self, low: Literal, high: Literal) {
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

    pub(super) fn group_condition(&mut self, measure: Measure, operator: Comparison, value: Literal) {
        self.draft.having.push(GroupCondition {
            measure,
            operator,
            value,
        });
    }

    pub(super) fn quoted(&mut self, at: usize, node: &Node) {
        let quotes = |c: char| "\"'“”‘’「」《》`".contains(c);
        let text = node.text.trim_matches(quotes).trim();
        if let Some(cue) = self.contains.take() {
            return self.like(cue, text);
        }
        if let Some(field) = self.field_after() {
            // "Have 'a' in their names".
            self.field = Some(field);
            return self.like(Cue::Contains, text);
        }
        // "The club 'Deep Blue'": the quoted is its name.
        let named = match self.previous_content(at) {
            Some(What::Dataset(dataset)) => self.scope.label(dataset).into_iter().next(),
            _ => None,
        };
        let is_named = named.is_some();
        let Some(field) = named.or_else(|| self.field.clone()) else {
            self.draft.loose_ends += 1;
            return;
        };
        if !is_named
            && !matches!(
                self.previous_content(at),
                Some(What::Field(_) | What::Cue(Cue::Compare(_) | Cue::Or | Cue::And))
            )
        {
            // Nothing says whose value it is.
            self.draft.loose_ends += 2;
        }
        self.dangling = false;
        self.draft.shows.retain(|shown| *shown != field);
        let value = Literal::Text(text.to_owned());
        self.add(compare(&field, Comparison::Equal, value));
    }

    /// "The letter M in their first name": the field that stands after what it contains.
    fn field_after(&mut self) -> Option<FieldRef> {
        let mut place = self.at;
        let mut says_in = false;
        while let Some(node) = self.nodes.get(place) {
            match &node.what {
                What::Cue(Cue::In) => says_in = true,
                What::Cue(Cue::Filler | Cue::Their) => {}
                What::Field(field) if says_in => {
                    self.at = place + 1;
                    self.draft.mention(&field.dataset);
                    return Some(field.clone());
                }
                _ => return None,
            }
            place += 1;
        }
        None
    }

    pub(super) fn like(&mut self, cue: Cue, text: &str) {
        if let Some(field) = self.field_after() {
            self.field = Some(field);
        }
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

    pub(super) fn time(&mut self, at: usize, phrase: Phrase, bare_year: bool) {
        match phrase {
            Phrase::Grain(grain) => {
                if let Some(field) = self.scope.field_of_grain(&self.draft, grain) {
                    // Years are a field here, not something to be made of dates.
                    return self.take_field(at, &field);
                }
                if self.draft.grain.is_none() {
                    self.draft.grain = Some(grain);
                }
                // "By month and office": what is tied to the periods is grouped by too.
                if matches!(self.nodes.get(at + 1).map(|node| &node.what), Some(What::Cue(Cue::And))) {
                    self.zone = Zone::Group;
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
        if self.deny_window(window) {
            return;
        }
        if let Phrase::Range { from, to } = phrase {
            self.draft.range = Some((from, to));
        }
        self.draft.any_window |= std::mem::take(&mut self.or) && !self.draft.windows.is_empty();
        self.draft.windows.push(window);
    }

    pub(super) fn compares(&self) -> bool {
        self.draft
            .intents
            .iter()
            .any(|intent| matches!(intent, Intent::Compare | Intent::Growth))
    }

    /// "Hired after 2003", "opening year is 1990": the time is about that field.
    pub(super) fn time_field_before(&self, at: usize, _bare_year: bool) -> Option<FieldRef> {
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

    pub(super) fn during(&mut self, field: FieldRef, window: Window) {
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

    pub(super) fn within(&self, field: &FieldRef, window: Option<Window>) -> Filter {
        match window {
            Some(window) => Filter::During {
                field: field.clone(),
                window,
            },
            None => Filter::And(Vec::new()),
        }
    }

    /// Are no things asked for, but values of a field of the rows that the condition is about?
    fn asks_for_attribute(&self, filter: &Filter) -> bool {
        let Some(field) = condition_field(filter) else {
            return false;
        };
        let shows = &self.draft.shows;
        let attributes = shows
            .iter()
            .all(|shown| shown.dataset == field.dataset && *shown != field && !self.scope.names_rows(shown));
        self.draft.entities.is_empty() && !shows.is_empty() && attributes && self.draft.measures.is_empty()
    }

    pub(super) fn add(&mut self, filter: Filter) {
        if let (false, Some(field)) = (self.negated, condition_field(&filter))
            && self.deny(&filter, &field)
        {
            return;
        }
        let none_of_them = self.negated && self.says_never() && self.asks_for_attribute(&filter);
        if none_of_them && self.draft.none_from.is_none() {
            // "Countries that never took part in a friendly": no row of theirs may be so.
            self.negated = false;
            self.draft.none_from = Some(self.draft.conditions.len());
        }
        let filter = if self.negated {
            Filter::Not(Box::new(filter))
        } else {
            filter
        };
        self.negated = false;
        let or = std::mem::take(&mut self.or);
        let is_equal = matches!(
            filter,
            Filter::Compare {
                operator: Comparison::Equal,
                ..
            }
        );
        self.draft.all_values |= self.and && !or && is_equal;
        let last = self
            .draft
            .conditions
            .last()
            .and_then(|last| condition_field(&last.filter));
        if self.tied && self.told_anew && !or && is_equal && last.is_some() && last == condition_field(&filter) {
            // "That have players from A and players from B".
            self.draft.both = true;
        }
        self.tied = false;
        self.told_anew = false;
        self.draft.condition(filter, or);
    }
}

/// The field that a condition is about, a set of values included.
fn condition_field(filter: &Filter) -> Option<FieldRef> {
    match filter {
        Filter::Compare { field, .. }
        | Filter::In { field, .. }
        | Filter::Between { field, .. }
        | Filter::Like { field, .. }
        | Filter::During { field, .. } => Some(field.clone()),
        _ => None,
    }
}

pub(super) fn compare(field: &FieldRef, operator: Comparison, value: Literal) -> Filter {
    Filter::Compare {
        field: field.clone(),
        operator,
        value,
    }
}

pub(super) fn against_average(field: FieldRef, above: bool) -> Filter {
    Filter::CompareAggregate {
        field,
        operator: if above { Comparison::Greater } else { Comparison::Less },
        function: Aggregate::Avg,
        of: None,
        filter: None,
    }
}

/// Nothing but "the", "of" and their like.
pub(super) fn only_small_words(nodes: Option<&[Node]>) -> bool {
    nodes.is_some_and(|nodes| {
        nodes
            .iter()
            .all(|node| matches!(node.what, What::Cue(Cue::Filler | Cue::Of)))
    })
}

pub(super) fn whole(number: &Literal) -> Option<u64> {
    match number {
        Literal::Integer(count) => u64::try_from(*count).ok(),
        Literal::Boolean(_) | Literal::Number(_) | Literal::Text(_) => None,
    }
}

pub(super) fn opposite(operator: Comparison) -> Comparison {
    match operator {
        Comparison::Equal => Comparison::NotEqual,
        Comparison::NotEqual => Comparison::Equal,
        Comparison::Less => Comparison::AtLeast,
        Comparison::AtMost => Comparison::Greater,
        Comparison::Greater => Comparison::AtMost,
        Comparison::AtLeast => Comparison::Less,
    }
}
