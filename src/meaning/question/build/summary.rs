//! Summaries: measures, and what they are grouped by.

use crate::meaning::query::{
    Comparison, Derive, Dimension, Filter, Having, Limit, Literal, Measure, NamedWindow, Query, Summary, TopPerGroup,
};
use crate::meaning::question::build::filters::all_of;
use crate::meaning::question::build::{Builder, Built};
use crate::meaning::question::draft::{Draft, Group, Key};
use crate::meaning::question::types::{Intent, Shift};
use crate::meaning::semantic::FieldRef;
use crate::time::Window;

impl Builder<'_> {
    fn dimensions(&self) -> Vec<Dimension> {
        let mut dimensions: Vec<Dimension> = Vec::new();
        let mut add = |dimension: Dimension| {
            if !dimensions.contains(&dimension) {
                dimensions.push(dimension);
            }
        };
        let shown_of = |dataset: &str| self.draft.shows.iter().any(|field| field.dataset == dataset);
        for field in &self.draft.shows {
            if self.are_told_apart(&field.dataset) {
                let own = self.draft.shows.iter().filter(|other| other.dataset == field.dataset);
                add(things(&field.dataset, own.cloned().collect()));
            } else {
                add(field_dimension(field));
            }
        }
        for group in &self.draft.groups {
            match group {
                Group::Field(field) => add(field_dimension(field)),
                Group::Entity(dataset) if !shown_of(dataset) => add(entity_dimension(dataset)),
                Group::Entity(_) => {}
            }
        }
        let ranks = self
            .draft
            .ranking
            .as_ref()
            .is_some_and(|ranking| matches!(ranking.key, Key::Measure(_)));
        let broad = ranks
            || !self.draft.having.is_empty()
            || self.has(Intent::Report)
            || self.has(Intent::Rank)
            || self.has(Intent::Outliers);
        for entity in &self.draft.entities {
            let counted = self.draft.measures.iter().any(|measure| match measure {
                Measure::Count(dataset) => *dataset == entity.dataset,
                Measure::Aggregate { field, .. } => field.dataset == entity.dataset && !ranks,
                Measure::Metric(_) | Measure::Ratio { .. } => false,
            });
            if (entity.leads || broad) && !counted && !shown_of(&entity.dataset) {
                add(entity_dimension(&entity.dataset));
            }
        }
        dimensions
    }

    /// Are rows of `dataset` themselves the groups, because something is measured of each and what names them is shown?
    fn are_told_apart(&self, dataset: &str) -> bool {
        let Some(known) = self.scope.model.dataset(dataset) else {
            return false;
        };
        let base = self.draft.measures.first().and_then(|measure| self.base(measure));
        let names_it =
            self.draft.shows.iter().any(|field| {
                field.dataset == dataset && (known.label.contains(&field.field) || self.scope.is_key(field))
            });
        base.is_some_and(|base| base != dataset) && names_it && !known.primary_key.is_empty()
    }

    pub(super) fn summary(mut self) -> Option<Built> {
        let mut dimensions = self.dimensions();
        let base = self.draft.measures.first().and_then(|measure| self.base(measure));
        let base = base.or_else(|| self.draft.subject())?;
        let mut filters = self.filters(&base);
        let all_filters = filters.clone();
        let mut only = Vec::new();
        if self.has(Intent::Share) && dimensions.is_empty() {
            only = share_out(&mut filters, &mut dimensions);
        }
        let (window, compare) = self.summary_windows(&base, &mut filters);
        let mut shown = dimensions.clone();
        if let Some(grain) = self.draft.grain {
            shown.insert(0, Dimension::Time { grain, field: None });
        }
        let order = self.order(&shown, !compare.is_empty());
        let mut limit = self.limit();
        let top_per_group = self.best_of_each(&shown, limit);
        if top_per_group.is_some() {
            limit = None;
        }
        let having = having(&self.draft);
        if self.draft.measures.is_empty() && shown.is_empty() {
            return None;
        }
        let summary = Summary {
            measures: self.draft.measures.clone(),
            dimensions: shown,
            via: self.draft.via.clone(),
            filter: all_of(filters),
            window,
            compare,
            having,
            order_by: order.clone(),
            limit: limit.map(|count| Limit {
                count,
                with_ties: false,
            }),
            top_per_group,
            ..Summary::default()
        };
        let exact = self.exact(&summary, only);
        Some(self.built(Query::Summary(summary), exact, dimensions, all_filters, order, limit))
    }

    /// "The three best products of each line": a limit within each group, where other things are ranked than those that
    /// make the groups.
    fn best_of_each(&self, shown: &[Dimension], limit: Option<u64>) -> Option<TopPerGroup> {
        let ranking = self.draft.ranking.as_ref()?;
        let is_group = |dimension: &Dimension| {
            self.draft.groups.iter().any(|group| match (group, dimension) {
                (Group::Entity(group), Dimension::Entity { dataset, .. }) => group == dataset,
                (Group::Field(group), Dimension::Field { field, .. }) => group == field,
                _ => false,
            })
        };
        let groups = shown.iter().take_while(|dimension| is_group(dimension)).count();
        // "Of each line the product with the most": both were named where groups are, and the last is what is ranked.
        let groups = if groups == 2 && shown.len() == 2 { 1 } else { groups };
        let ranks_others = groups > 0 && groups < shown.len();
        let by_measure = matches!(ranking.key, Key::Measure(_));
        (ranking.superlative && by_measure && ranks_others).then_some(TopPerGroup { count: limit?, groups })
    }

    /// The same with only the columns that the question names: no measure that merely ranks, no key beside a name.
    fn exact(&self, summary: &Summary, only: Vec<Literal>) -> Option<Query> {
        let mut exact = summary.clone();
        self.derive(&mut exact, only);
        let ranking = self.draft.ranking.as_ref();
        if !exact.dimensions.is_empty() {
            exact.measures.retain(|measure| !self.draft.silent.contains(measure));
        }
        if ranking.is_none() && !self.has(Intent::Rank) {
            exact.order_by.clear();
        }
        exact.dimensions = exact
            .dimensions
            .iter()
            .flat_map(|dimension| self.labelled(dimension))
            .collect();
        (exact != *summary).then_some(Query::Summary(exact))
    }

    /// "What share", "how much more than": what a report computes beside the query is part of the exact one.
    fn derive(&self, exact: &mut Summary, only: Vec<Literal>) {
        let report = self.has(Intent::Report) || self.has(Intent::Why) || self.draft.grain.is_some();
        let bounded = exact.limit.is_some() || exact.top_per_group.is_some() || exact.having.is_some();
        if report || bounded || exact.measures.len() != 1 {
            return;
        }
        if self.has(Intent::Share) && exact.compare.is_empty() && !exact.dimensions.is_empty() {
            exact.derive = Some(Derive::Share { only });
            return;
        }
        if exact.compare.len() == 2 {
            exact.compare.sort_by_key(|named| named.window.start);
            exact.derive = Some(Derive::Change);
        } else if let (Some(shift), Some(window)) = (self.draft.shift, exact.window) {
            let before = match shift {
                Shift::YearAgo => window.year_ago(),
                Shift::Previous => window.previous(),
            };
            let named = |window: Window| NamedWindow {
                label: window.label(self.language),
                window,
            };
            exact.window = None;
            exact.compare = vec![named(before), named(window)];
            exact.derive = Some(Derive::Change);
        }
    }

    /// An entity by the fields that name it, without its key.
    fn labelled(&self, dimension: &Dimension) -> Vec<Dimension> {
        let Dimension::Entity { dataset, show, .. } = dimension else {
            return vec![dimension.clone()];
        };
        if !show.is_empty() {
            return vec![dimension.clone()];
        }
        let label = self.scope.label(dataset);
        if label.is_empty() {
            return vec![dimension.clone()];
        }
        vec![things(dataset, label)]
    }
}

fn field_dimension(field: &FieldRef) -> Dimension {
    Dimension::Field {
        field: field.clone(),
        via: None,
    }
}

/// Things of a dataset, shown by `fields`.
fn things(dataset: &str, fields: Vec<FieldRef>) -> Dimension {
    Dimension::Entity {
        dataset: dataset.to_owned(),
        via: None,
        show: fields,
    }
}

fn entity_dimension(dataset: &str) -> Dimension {
    Dimension::Entity {
        dataset: dataset.to_owned(),
        via: None,
        show: Vec::new(),
    }
}

/// "What share came from France": all countries are needed, so the condition becomes a grouping.
fn share_out(filters: &mut Vec<Filter>, dimensions: &mut Vec<Dimension>) -> Vec<Literal> {
    let place = filters.iter().position(|filter| {
        matches!(
            filter,
            Filter::Compare {
                operator: Comparison::Equal,
                ..
            } | Filter::In { .. }
        )
    });
    let Some(place) = place else { return Vec::new() };
    match filters.remove(place) {
        Filter::Compare { field, value, .. } => {
            dimensions.push(field_dimension(&field));
            vec![value]
        }
        Filter::In { field, values } => {
            dimensions.push(field_dimension(&field));
            values
        }
        _ => Vec::new(),
    }
}

fn having(draft: &Draft) -> Option<Having> {
    let mut conditions: Vec<Having> = draft
        .having
        .iter()
        .map(|condition| Having::Compare {
            measure: condition.measure.clone(),
            operator: condition.operator,
            value: condition.value.clone(),
        })
        .collect();
    if conditions.len() > 1 {
        Some(Having::And(conditions))
    } else {
        conditions.pop()
    }
}
