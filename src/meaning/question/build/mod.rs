//! From a filled draft to a typed query.

mod filters;
mod nested;
mod rows;
mod summary;
mod times;

pub use times::year_filter;

use crate::meaning::query::{Comparison, Dimension, Filter, Literal, Measure, OrderBy, OrderKey, Query};
use crate::meaning::question::build::filters::filter_field;
use crate::meaning::question::choose::metric_datasets;
use crate::meaning::question::cue::Quality;
use crate::meaning::question::draft::{Draft, Entity, Group, Key, Ranking};
use crate::meaning::question::scope::Scope;
use crate::meaning::question::types::Intent;
use crate::meaning::semantic::{FieldRef, Metric, MetricKind, Unit};
use crate::text::Language;
use crate::time::{Grain, TimeContext, Window};

/// What a draft becomes.
pub struct Built {
    pub query: Query,
    pub exact: Option<Query>,
    pub dimensions: Vec<Dimension>,
    pub measures: Vec<Measure>,
    pub filters: Vec<Filter>,
    pub windows: Vec<Window>,
    pub grain: Option<Grain>,
    pub order: Vec<OrderBy>,
    pub limit: Option<u64>,
    pub intents: Vec<Intent>,
    /// The measure was not named and is the model's main one.
    pub assumed_measure: Option<String>,
    /// Nothing was asked to be shown, so what names a thing is.
    pub assumed_label: bool,
    pub loose_ends: usize,
}

/// Builds the query of a draft; `None` when it names nothing that can be asked for.
pub fn build(draft: Draft, scope: &Scope<'_>, time: &TimeContext, language: Language) -> Option<Built> {
    let mut builder = Builder {
        draft,
        scope,
        time,
        language,
        assumed_measure: None,
    };
    builder.people();
    builder.periods();
    builder.ranking();
    builder.rank_within();
    builder.list_each();
    builder.default_measure();
    builder.count_what_is_filtered();
    builder.metric_of_condition();
    builder.intents();
    let is_summary =
        !builder.draft.measures.is_empty() || !builder.draft.groups.is_empty() || builder.draft.grain.is_some();
    if is_summary { builder.summary() } else { builder.rows() }
}

struct Builder<'a> {
    draft: Draft,
    scope: &'a Scope<'a>,
    time: &'a TimeContext,
    language: Language,
    assumed_measure: Option<String>,
}

impl Builder<'_> {
    fn has(&self, intent: Intent) -> bool {
        self.draft.intents.contains(&intent)
    }

    /// "Who" becomes the dataset of those people.
    fn people(&mut self) {
        let Some(person) = self.draft.who else { return };
        let near = self.draft.measures.first().and_then(|measure| self.base(measure));
        let near = near.or_else(|| self.draft.mentioned.first().cloned());
        if let Some(dataset) = self.scope.people(person, near.as_deref()) {
            self.draft.mention(&dataset);
            self.draft.entities.retain(|entity| entity.dataset != dataset);
            self.draft.entities.insert(0, Entity { dataset, leads: true });
        } else {
            self.draft.loose_ends += 1;
        }
    }

    /// Takes the ends of a range apart where two periods are compared, and picks the periods of a trend.
    fn periods(&mut self) {
        let compares = self.has(Intent::Compare) || self.has(Intent::Growth);
        if let (Some((from, to)), true, None) = (self.draft.range, compares, self.draft.grain)
            && self.draft.windows.len() == 1
            && from.units().0 == to.units().0
        {
            self.draft.windows = vec![from, to];
        }
        let lists = self.draft.measures.is_empty() && !self.draft.shows.is_empty() && self.draft.grain.is_none();
        if self.draft.windows.len() > 1 && lists && !compares {
            // "Names of those hired in 2003 or 2005": nothing is measured that could be compared.
            self.draft.any_window = true;
        }
        if self.draft.windows.len() > 1 && !self.draft.any_window {
            self.draft.intend(Intent::Compare);
        }
        if self.has(Intent::Trend) && self.draft.grain.is_none() && !self.has(Intent::Report) {
            let whole = self.draft.windows.first().copied().or(self.time.data);
            self.draft.grain = Some(whole.map_or(Grain::Month, Grain::fitting));
        }
    }

    /// "The title and director of each film": nothing is measured, so films are listed.
    fn list_each(&mut self) {
        let draft = &self.draft;
        let measures = !draft.measures.is_empty() || !draft.having.is_empty() || draft.grain.is_some();
        let by_measure = matches!(
            &draft.ranking,
            Some(Ranking {
                key: Key::Measure(_),
                ..
            })
        );
        let more = [
            Intent::Report,
            Intent::Trend,
            Intent::Compare,
            Intent::Share,
            Intent::Growth,
            Intent::Distribution,
        ];
        // "List every album sorted by title".
        let listed = !draft.shows.is_empty() || self.has(Intent::List) && draft.ranking.is_some();
        if measures || by_measure || !listed || more.iter().any(|intent| self.has(*intent)) {
            return;
        }
        let groups: Option<Vec<String>> = draft
            .groups
            .iter()
            .map(|group| match group {
                Group::Entity(dataset) => Some(dataset.clone()),
                Group::Field(_) => None,
            })
            .collect();
        if let Some(groups) = groups.filter(|groups| !groups.is_empty()) {
            self.draft.groups.clear();
            for dataset in groups {
                if !self.draft.entities.iter().any(|known| known.dataset == dataset) {
                    self.draft.entities.push(Entity { dataset, leads: true });
                }
            }
        }
    }

    /// Gives an open superlative what it goes by.
    fn ranking(&mut self) {
        let Some(ranking) = self.draft.ranking.clone() else {
            return;
        };
        let Key::Open(quality) = ranking.key else { return };
        let mut descending = ranking.descending;
        let key = match quality {
            Quality::Any | Quality::Activity => {
                let said = self.draft.measures.first().cloned();
                said.or_else(|| self.activity(quality)).map(Key::Measure)
            }
            Quality::Age => match self.quality(quality) {
                Some(field) => Some(Key::Field(field)),
                None => {
                    descending = !descending;
                    let birth = self
                        .scope
                        .field_with(&self.draft, &["birth", "birthday", "dob", "birthdate"]);
                    birth.or_else(|| self.scope.time_field_for(&self.draft)).map(Key::Field)
                }
            },
            Quality::Time => {
                let field = self.scope.time_field_for(&self.draft);
                field
                    .or_else(|| self.scope.field_with(&self.draft, quality.words()))
                    .map(Key::Field)
            }
            Quality::Length => {
                let heights = || self.quality(Quality::Height);
                self.quality(quality).or_else(heights).map(Key::Field)
            }
            Quality::Price | Quality::Weight | Quality::Height => self.quality(quality).map(Key::Field),
        };
        let key = key.or_else(|| self.main_measure().map(Key::Measure));
        match key {
            Some(key) => {
                self.draft.ranking = Some(Ranking {
                    key,
                    descending,
                    ..ranking
                })
            }
            None => {
                self.draft.ranking = None;
                self.draft.loose_ends += 2;
            }
        }
    }

    /// The field that has a quality: of what is named, or of the one thing that it points at.
    fn quality(&self, quality: Quality) -> Option<FieldRef> {
        if let Some(field) = self.scope.field_with(&self.draft, quality.words()) {
            return Some(field);
        }
        let subject = self.draft.subject()?;
        let relationships = self.scope.model.relationships.iter();
        let mut above: Vec<String> = relationships
            .filter(|known| known.from == subject && known.to != subject)
            .map(|known| known.to.clone())
            .collect();
        above.sort();
        above.dedup();
        let mut found = above.into_iter().filter_map(|dataset| {
            let draft = Draft {
                mentioned: vec![dataset],
                ..Draft::default()
            };
            self.scope.field_with(&draft, quality.words())
        });
        let first = found.next();
        first.filter(|_| found.next().is_none())
    }

    /// "Most frequently", "most often": by the number of rows of what else is named, or of the one thing that happens to it.
    fn activity(&self, quality: Quality) -> Option<Measure> {
        if quality != Quality::Activity {
            return None;
        }
        let subject = self.draft.subject()?;
        let below = |dataset: &&String| **dataset != subject && self.scope.points_at(dataset, &subject);
        if let Some(named) = self.draft.mentioned.iter().find(below) {
            return Some(Measure::Count(named.clone()));
        }
        let pointing = self
            .scope
            .model
            .relationships
            .iter()
            .filter(|known| known.to == subject && known.from != subject);
        let mut pointing: Vec<&String> = pointing.map(|known| &known.from).collect();
        pointing.dedup();
        // "Which type code appears most often": by the rows that have it.
        let of_attributes = !self.draft.shows.is_empty()
            && self
                .draft
                .shows
                .iter()
                .all(|field| field.dataset == subject && !self.scope.names_rows(field));
        match pointing.as_slice() {
            _ if of_attributes => Some(Measure::Count(subject)),
            [only] => Some(Measure::Count((*only).clone())),
            _ => None,
        }
    }

    /// The model's main measure, where nothing else says what "most" or "analyze" goes by.
    fn main_measure(&mut self) -> Option<Measure> {
        let metric = self.scope.main_money()?.clone();
        let base = metric_datasets(self.scope.model, &metric).into_iter().next()?;
        let joins = self
            .draft
            .mentioned
            .iter()
            .all(|dataset| *dataset == base || self.scope.points_at(&base, dataset));
        if !joins {
            return None;
        }
        self.assumed_measure = Some(metric.name.clone());
        Some(Measure::Metric(metric.name))
    }

    fn default_measure(&mut self) {
        let ranked = match &self.draft.ranking {
            Some(Ranking {
                key: Key::Measure(measure),
                ..
            }) => Some(measure.clone()),
            _ => None,
        };
        let picked = self.draft.having.iter().map(|condition| condition.measure.clone());
        let used: Vec<Measure> = ranked.into_iter().chain(picked).collect();
        for measure in used {
            if !self.draft.measures.contains(&measure) {
                self.draft.silent.push(measure.clone());
                self.draft.measure(measure);
            }
        }
        let wants = [
            Intent::Report,
            Intent::Trend,
            Intent::Compare,
            Intent::Share,
            Intent::Growth,
            Intent::Outliers,
            Intent::Why,
            Intent::Distribution,
        ];
        let wants_measure =
            wants.iter().any(|intent| self.has(*intent)) || !self.draft.groups.is_empty() || self.draft.grain.is_some();
        if !self.draft.measures.is_empty() || !wants_measure {
            return;
        }
        let report = self.has(Intent::Report) || self.has(Intent::Outliers);
        let of_entity = self
            .draft
            .entities
            .first()
            .map(|entity| Measure::Count(entity.dataset.clone()));
        let numeric = self
            .draft
            .shows
            .iter()
            .find(|field| self.scope.is_numeric(field) && !self.scope.is_key(field))
            .cloned();
        let shown = numeric.and_then(|field| {
            let function = self.scope.model.field(&field)?.1.aggregation?;
            self.draft.shows.retain(|shown| *shown != field);
            Some(Measure::Aggregate { function, field })
        });
        let is_listing = self.draft.shows.iter().any(|_| true) && !self.draft.groups.is_empty();
        let measure = match (shown, report) {
            (Some(measure), _) => Some(measure),
            (None, true) => self.main_measure().or(of_entity),
            (None, false) if is_listing => None,
            (None, false) => of_entity.or_else(|| self.main_measure()),
        };
        if let Some(measure) = measure {
            self.draft.measure(measure);
        }
    }

    /// A count that leaves rows out by definition cannot count those very rows: "how many orders were cancelled" counts
    /// rows of orders, not the metric without the cancelled ones.
    fn count_what_is_filtered(&mut self) {
        let asked: Vec<FieldRef> = self
            .draft
            .conditions
            .iter()
            .filter_map(|condition| filter_field(&condition.filter))
            .collect();
        for measure in &mut self.draft.measures {
            let Measure::Metric(name) = measure else { continue };
            let Some(metric) = self.scope.model.metric(name) else {
                continue;
            };
            let MetricKind::Simple {
                dataset,
                filter: Some(own),
                ..
            } = &metric.kind
            else {
                continue;
            };
            if metric.unit == Unit::Count && asked.iter().any(|field| own.contains(&field.to_string())) {
                *measure = Measure::Count(dataset.clone());
            }
        }
    }

    /// A metric that counts exactly the rows that the conditions leave is meant by its definition: "how many orders were
    /// cancelled" is the metric of cancelled orders, where the model has one.
    fn metric_of_condition(&mut self) {
        let [Measure::Count(dataset)] = self.draft.measures.as_slice() else {
            return;
        };
        let counts = |metric: &&Metric, condition: &str| match &metric.kind {
            MetricKind::Simple {
                dataset: own,
                filter: Some(filter),
                ..
            } => metric.unit == Unit::Count && !metric.hidden && own == dataset && filter.trim() == condition,
            MetricKind::Simple { .. } | MetricKind::Ratio { .. } | MetricKind::Derived { .. } => false,
        };
        let found = self.draft.conditions.iter().enumerate().find_map(|(place, condition)| {
            let Filter::Compare {
                field,
                operator: Comparison::Equal,
                value: Literal::Text(value),
            } = &condition.filter
            else {
                return None;
            };
            let condition = format!("{field} = '{value}'");
            let metric = self
                .scope
                .model
                .metrics
                .iter()
                .find(|metric| counts(metric, &condition))?;
            Some((place, metric.name.clone()))
        });
        if let Some((place, name)) = found {
            self.draft.conditions.remove(place);
            self.draft.measures = vec![Measure::Metric(name)];
        }
    }

    /// Puts the intents in order of what they tell, and adds those that follow from the slots.
    fn intents(&mut self) {
        if self.draft.grain.is_some() && !self.has(Intent::Report) {
            self.draft.intend(Intent::Trend);
        }
        if !self.draft.measures.is_empty() {
            self.draft.intents.retain(|intent| *intent != Intent::List);
        }
        let only_count = self.draft.intents == [Intent::Count];
        if self.draft.intents.is_empty() || only_count && !self.draft.groups.is_empty() {
            let intent = if self.draft.measures.is_empty() {
                Intent::List
            } else {
                Intent::Total
            };
            self.draft.intend(intent);
        }

        self.draft.intents.sort_by_key(|intent| match intent {
            Intent::Report => 0,
            Intent::Why => 1,
            Intent::Outliers => 2,
            Intent::Relation => 3,
            Intent::Distribution => 4,
            Intent::Share => 5,
            Intent::Growth => 6,
            Intent::Compare => 7,
            Intent::Trend => 8,
            Intent::Rank => 9,
            Intent::Count => 10,
            Intent::Total => 11,
            Intent::List => 12,
        });
    }

    /// The dataset whose rows a measure is taken over.
    fn base(&self, measure: &Measure) -> Option<String> {
        match measure {
            Measure::Count(dataset) => Some(dataset.clone()),
            Measure::Aggregate { field, .. } => Some(field.dataset.clone()),
            Measure::Metric(name) => {
                let metric = self.scope.model.metric(name)?;
                metric_datasets(self.scope.model, metric).into_iter().next()
            }
            Measure::Ratio { numerator, .. } => self.base(numerator),
        }
    }

    fn limit(&self) -> Option<u64> {
        self.draft.ranking.as_ref().and_then(|ranking| ranking.limit)
    }

    fn order(&self, dimensions: &[Dimension], compares: bool) -> Vec<OrderBy> {
        if let Some(ranking) = &self.draft.ranking {
            let key = match &ranking.key {
                Key::Measure(measure) => OrderKey::Measure(measure.clone()),
                Key::Field(field) => OrderKey::Field(field.clone()),
                Key::Open(_) => return Vec::new(),
            };
            return vec![OrderBy {
                key,
                descending: ranking.descending,
            }];
        }
        let ascending = |key| OrderBy { key, descending: false };
        let has_time = dimensions
            .iter()
            .any(|dimension| matches!(dimension, Dimension::Time { .. }));
        let mut order = Vec::new();
        if compares {
            order.push(ascending(OrderKey::Period));
        }
        if has_time {
            order.push(ascending(OrderKey::Time));
        }
        if !dimensions.is_empty()
            && order.is_empty()
            && let Some(measure) = self.draft.measures.first()
        {
            order.push(OrderBy {
                key: OrderKey::Measure(measure.clone()),
                descending: true,
            });
        }
        order
    }

    fn built(
        self,
        query: Query,
        exact: Option<Query>,
        dimensions: Vec<Dimension>,
        filters: Vec<Filter>,
        order: Vec<OrderBy>,
        limit: Option<u64>,
    ) -> Built {
        let windows = self.draft.windows.iter().map(|window| self.clip(*window)).collect();
        let names_things = |query: &Query| matches!(query, Query::Rows(rows) if rows.fields.is_empty());
        Built {
            assumed_label: names_things(&query),
            query,
            exact,
            dimensions,
            measures: self.draft.measures,
            filters,
            windows,
            grain: self.draft.grain,
            order,
            limit,
            intents: self.draft.intents,
            assumed_measure: self.assumed_measure,
            loose_ends: self.draft.loose_ends,
        }
    }
}
