//! Listings: rows of one dataset.

use crate::meaning::query::{Combine, Comparison, Filter, Limit, Literal, OrderKey, Query, Rows, SetOperator};
use crate::meaning::question::build::filters::{all_of, are_apart};
use crate::meaning::question::build::{Builder, Built};
use crate::meaning::question::draft::{Condition, Draft, Key, Ranking};
use crate::meaning::semantic::FieldRef;

impl Builder<'_> {
    pub(super) fn rows(mut self) -> Option<Built> {
        let dataset = self.draft.subject().or_else(|| self.draft.mentioned.first().cloned())?;
        self.show_what_is_ranked(&dataset);
        self.show_everything(&dataset);
        let excluded = self.excluded();
        let mut filters = self.filters(&dataset);
        let all_filters = filters.clone();
        let windows = std::mem::take(&mut self.draft.windows);
        let has_time = self
            .scope
            .model
            .dataset(&dataset)
            .is_some_and(|dataset| dataset.time.is_some());
        let mut window = None;
        let mut periods = Vec::new();
        for each in &windows {
            match (has_time, windows.len()) {
                (true, 1) => window = Some(*each),
                _ => match self.window_filter(&dataset, *each) {
                    Some(filter) => periods.push(filter),
                    None => self.draft.loose_ends += 1,
                },
            }
        }
        // "Before 1989 or after 2007": a row lies in one of them.
        filters.extend(if periods.len() > 1 {
            Some(Filter::Or(periods))
        } else {
            periods.pop()
        });
        self.draft.windows = windows;
        let order = self.order(&[], false);
        let limit = self.limit();
        if !self.draft.having.is_empty() {
            self.draft.loose_ends += 1;
        }
        let rows = Rows {
            dataset: dataset.clone(),
            fields: self.draft.shows.clone(),
            // Different values that are sorted by something else are no set any more.
            via: self.draft.via.clone(),
            distinct: self.draft.distinct && order.iter().all(|by| shows_key(&self.draft, &by.key)),
            filter: all_of(filters),
            window,
            order_by: order.clone(),
            limit: limit.map(|count| Limit {
                count,
                with_ties: false,
            }),
            ..Rows::default()
        };
        let exact = rows
            .fields
            .is_empty()
            .then(|| self.scope.label(&dataset))
            .filter(|label| !label.is_empty());
        let exact = exact.map(|fields| Query::Rows(Rows { fields, ..rows.clone() }));
        let except = excluded.and_then(|excluded| self.except(&rows, excluded));
        let query = except.or_else(|| self.intersect(&rows)).unwrap_or(Query::Rows(rows));
        let exact = exact.filter(|_| matches!(query, Query::Rows(_)));
        Some(self.built(query, exact, Vec::new(), all_filters, order, limit))
    }

    /// "The top 3 support rates": of nothing else is anything said, so the rates are shown.
    fn show_what_is_ranked(&mut self, dataset: &str) {
        let Some(Ranking {
            key: Key::Field(field), ..
        }) = &self.draft.ranking
        else {
            return;
        };
        let nothing_else = self.draft.entities.is_empty() && self.draft.shows.is_empty() && self.draft.who.is_none();
        if nothing_else && !self.draft.names_dataset && field.dataset == dataset {
            let field = field.clone();
            self.draft.show(field);
        }
    }

    /// "All information about the airports": each of their columns.
    fn show_everything(&mut self, dataset: &str) {
        let names_or_none = self.draft.shows.iter().all(|field| self.scope.names_rows(field));
        if !self.draft.everything || !names_or_none {
            return;
        }
        if let Some(known) = self.scope.model.dataset(dataset) {
            let all = known.fields.iter().filter(|field| field.column.is_some());
            self.draft.shows = all.map(|field| FieldRef::new(dataset, &field.name)).collect();
        }
    }

    /// The conditions on what there must not be.
    fn excluded(&mut self) -> Option<Vec<Condition>> {
        let from = self.draft.none_from?;
        (from < self.draft.conditions.len()).then(|| self.draft.conditions.split_off(from))
    }

    /// What is shown of `rows`, without what is shown of those that also fit `excluded`.
    fn except(&mut self, rows: &Rows, excluded: Vec<Condition>) -> Option<Query> {
        if rows.limit.is_some() {
            return None;
        }
        self.draft.conditions = excluded;
        let mut filters = self.filters(&rows.dataset);
        filters.extend(rows.filter.clone());
        let side = |filter: Option<Filter>| {
            Box::new(Query::Rows(Rows {
                filter,
                order_by: Vec::new(),
                ..rows.clone()
            }))
        };
        Some(Query::Combine(Combine {
            operator: SetOperator::Except,
            left: side(rows.filter.clone()),
            right: side(all_of(filters)),
        }))
    }

    /// "Countries with mountains above 5600 and with mountains below 5200": no row is both, but two rows may have what is
    /// shown in common.
    fn intersect_apart(&self, rows: &Rows, parts: &[Filter]) -> Option<Query> {
        let attributes = rows
            .fields
            .iter()
            .all(|field| !(field.dataset == rows.dataset && self.scope.names_rows(field)));
        if rows.fields.is_empty() || rows.limit.is_some() || !attributes {
            return None;
        }
        let pair = parts.iter().enumerate().find_map(|(first, one)| {
            let others = parts.iter().enumerate().skip(first + 1);
            let mut others = others.filter(|(_, other)| are_apart(one, other));
            others.next().map(|(second, _)| (first, second))
        });
        let (first, second) = pair?;
        let without = |place: usize| {
            let kept = parts.iter().enumerate().filter(|(at, _)| *at != place);
            let filter = all_of(kept.map(|(_, filter)| filter.clone()).collect());
            Box::new(Query::Rows(Rows {
                filter,
                order_by: Vec::new(),
                ..rows.clone()
            }))
        };
        Some(Query::Combine(Combine {
            operator: SetOperator::Intersect,
            left: without(second),
            right: without(first),
        }))
    }

    /// "Both A and B" of a field of `rows` itself: what is shown of the one and of the other.
    pub(super) fn intersect(&self, rows: &Rows) -> Option<Query> {
        let parts = match rows.filter.as_ref()? {
            Filter::And(parts) => parts.clone(),
            single => vec![single.clone()],
        };
        if let Some(query) = self.intersect_apart(rows, &parts) {
            return Some(query);
        }
        let place = parts.iter().position(|filter| matches!(filter, Filter::In { .. }))?;
        let Filter::In { field, values } = parts.get(place)? else {
            return None;
        };
        let [left, right] = values.as_slice() else { return None };
        if !self.draft.both || rows.fields.is_empty() || rows.fields.contains(field) || rows.limit.is_some() {
            return None;
        }
        let side = |value: &Literal| {
            let mut filters = parts.clone();
            if let Some(filter) = filters.get_mut(place) {
                *filter = Filter::Compare {
                    field: field.clone(),
                    operator: Comparison::Equal,
                    value: value.clone(),
                };
            }
            Box::new(Query::Rows(Rows {
                filter: all_of(filters),
                order_by: Vec::new(),
                ..rows.clone()
            }))
        };
        Some(Query::Combine(Combine {
            operator: SetOperator::Intersect,
            left: side(left),
            right: side(right),
        }))
    }
}

fn shows_key(draft: &Draft, key: &OrderKey) -> bool {
    matches!(key, OrderKey::Field(field) if draft.shows.contains(field))
}
