//! Superlatives that pick the thing of which something else is told: "students in the dorm with the most amenities".

use crate::meaning::query::{Comparison, Dimension, Filter, Limit, Measure, OrderBy, OrderKey, Query, Summary};
use crate::meaning::question::build::Builder;
use crate::meaning::question::draft::{Condition, Key, Ranking};
use crate::meaning::semantic::{Aggregate, FieldRef};

impl Builder<'_> {
    /// Turns a ranking of what the subject points at into a condition.
    pub(super) fn rank_within(&mut self) {
        let Some(ranking) = self.draft.ranking.clone() else {
            return;
        };
        if !ranking.superlative || ranking.limit != Some(1) || !self.draft.groups.is_empty() {
            return;
        }
        let Some(subject) = self.draft.subject() else { return };
        let filter = match &ranking.key {
            Key::Field(field) => self.best_by_field(&subject, field, &ranking),
            Key::Measure(measure @ Measure::Count(counted)) => self.best_by_count(&subject, counted, measure, &ranking),
            Key::Measure(_) | Key::Open(_) => None,
        };
        if let Some(filter) = filter {
            self.draft.ranking = None;
            self.draft.conditions.push(Condition { filter, or: false });
        }
    }

    /// Is `holder` what a row of `subject` points at, and is only the subject told of?
    fn is_beside(&self, subject: &str, holder: &str) -> bool {
        let draft = &self.draft;
        let of_measures = draft
            .measures
            .iter()
            .all(|measure| self.base(measure).as_deref() == Some(subject));
        holder != subject
            && draft.named.iter().any(|named| named == holder)
            && draft.shows.iter().all(|field| field.dataset != holder)
            && draft.entities.first().is_none_or(|entity| entity.dataset != holder)
            && of_measures
    }

    fn best_by_field(&self, subject: &str, field: &FieldRef, ranking: &Ranking) -> Option<Filter> {
        let several = self.scope.points_at(subject, &field.dataset) || !self.draft.measures.is_empty();
        let holds = several && self.is_beside(subject, &field.dataset);
        holds.then(|| Filter::CompareAggregate {
            field: field.clone(),
            operator: Comparison::Equal,
            function: if ranking.descending {
                Aggregate::Max
            } else {
                Aggregate::Min
            },
            of: None,
            filter: None,
        })
    }

    fn best_by_count(&self, subject: &str, counted: &str, measure: &Measure, ranking: &Ranking) -> Option<Filter> {
        let holder = self.draft.ranked_of.clone()?;
        let counts_other = counted != subject && counted != holder && self.scope.points_at(counted, &holder);
        if !counts_other || !self.is_beside(subject, &holder) || self.scope.points_at(&holder, subject) {
            return None;
        }
        let [key] = self.scope.model.dataset(&holder)?.primary_key.as_slice() else {
            return None;
        };
        let key = FieldRef::new(&holder, key);
        let best = Summary {
            dimensions: vec![Dimension::Entity {
                dataset: holder,
                via: None,
                show: vec![key.clone()],
            }],
            order_by: vec![OrderBy {
                key: OrderKey::Measure(measure.clone()),
                descending: ranking.descending,
            }],
            limit: Some(Limit {
                count: 1,
                with_ties: false,
            }),
            ..Summary::default()
        };
        Some(Filter::InQuery {
            field: key,
            query: Box::new(Query::Summary(best)),
        })
    }
}
