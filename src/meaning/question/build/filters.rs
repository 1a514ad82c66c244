//! The conditions of a draft, turned to the rows that are counted or listed.

use crate::meaning::query::{Comparison, Filter, Literal};
use crate::meaning::question::build::Builder;
use crate::meaning::semantic::FieldRef;

impl Builder<'_> {
    /// The draft's conditions, tied by "or" where they were, and turned to rows of `base`.
    pub(super) fn filters(&mut self, base: &str) -> Vec<Filter> {
        let mut groups: Vec<Vec<Filter>> = Vec::new();
        for condition in &self.draft.conditions {
            match groups.last_mut() {
                Some(group) if condition.or => group.push(condition.filter.clone()),
                _ => groups.push(vec![condition.filter.clone()]),
            }
        }
        let mut filters: Vec<Filter> = groups
            .into_iter()
            .filter_map(|mut group| {
                if group.len() > 1 {
                    Some(Filter::Or(group))
                } else {
                    group.pop()
                }
            })
            .collect();
        self.take_both_apart(base, &mut filters);
        self.reach_down(base, &mut filters);
        filters
    }

    /// "Both A and B" of rows that point at a row of `base`: one such row for each value.
    pub(super) fn take_both_apart(&mut self, base: &str, filters: &mut Vec<Filter>) {
        // "Customers who bought A and B": one row cannot be of both.
        if !(self.draft.both || self.draft.all_values) {
            return;
        }
        let is_below = |dataset: &str| dataset != base && !self.scope.points_at(base, dataset);
        let taken = filters
            .iter()
            .position(|filter| matches!(filter, Filter::In { field, .. } if is_below(&field.dataset)));
        let is_pair =
            |filter: &Filter| matches!(filter, Filter::In { values, .. } if self.draft.both || values.len() == 2);
        let taken = taken.filter(|taken| filters.get(*taken).is_some_and(is_pair));
        let Some(Filter::In { field, values }) = taken.map(|taken| filters.remove(taken)) else {
            return;
        };
        self.draft.both = false;
        filters.extend(values.into_iter().map(|value| {
            let equal = Filter::Compare {
                field: field.clone(),
                operator: Comparison::Equal,
                value,
            };
            Filter::And(vec![equal])
        }));
    }

    /// Conditions on rows that point at a row of `base` hold where such a row exists; conditions on one dataset, and
    /// the time where `base` has none, hold for the same row of it.
    pub(super) fn reach_down(&mut self, base: &str, filters: &mut Vec<Filter>) {
        let mut kept: Vec<Filter> = Vec::new();
        let mut below: Vec<(String, Vec<Filter>, bool)> = Vec::new();
        for filter in filters.drain(..) {
            let (inner, negated) = match &filter {
                Filter::Not(inner) => (inner.as_ref().clone(), true),
                _ => (filter.clone(), false),
            };
            let (dataset, inner) = match inner {
                Filter::Exists { dataset, filter } => (dataset, filter.map(|filter| *filter)),
                other => match filter_dataset(&other) {
                    Some(dataset) => (dataset, Some(other)),
                    None => {
                        kept.push(filter);
                        continue;
                    }
                },
            };
            let is_below =
                dataset != base && self.scope.points_at(&dataset, base) && !self.scope.points_at(base, &dataset);
            let is_exists = inner.is_none();
            if is_exists && !negated && (dataset == base || self.scope.points_at(base, &dataset)) {
                // Every row that is counted is such a row itself, or points at one.
                continue;
            }
            if !(is_below || is_exists) {
                kept.push(filter);
                continue;
            }
            match below.iter_mut().find(|(known, inner_filters, known_negated)| {
                *known == dataset && *known_negated == negated && !negated && !contradict(inner_filters, inner.as_ref())
            }) {
                Some((_, inner_filters, _)) => inner_filters.extend(inner),
                None => below.push((dataset, inner.into_iter().collect(), negated)),
            }
        }
        if let [(dataset, inner, _)] = below.as_mut_slice()
            && !self.has_time(base)
            && let Some(time) = self
                .scope
                .model
                .dataset(dataset)
                .and_then(|dataset| dataset.time.clone())
        {
            for window in std::mem::take(&mut self.draft.windows) {
                inner.push(Filter::During {
                    field: FieldRef::new(dataset.clone(), time.clone()),
                    window,
                });
            }
        }
        // "That have never served as hosts": the serving that there must not be is no second condition.
        let denied: Vec<String> = below
            .iter()
            .filter(|(_, _, negated)| *negated)
            .map(|(dataset, ..)| dataset.clone())
            .collect();
        below.retain(|(dataset, inner, negated)| {
            let bare = inner.is_empty() && !negated;
            !bare
                || !denied
                    .iter()
                    .any(|other| other == dataset || self.scope.points_at(dataset, other))
        });
        for (dataset, inner, negated) in below {
            let exists = Filter::Exists {
                dataset,
                filter: all_of(inner).map(Box::new),
            };
            kept.push(if negated { Filter::Not(Box::new(exists)) } else { exists });
        }
        *filters = kept;
    }
}

/// Does a row that fits `known` certainly not fit `new`, because one field would need two values? Then two rows are meant.
fn contradict(known: &[Filter], new: Option<&Filter>) -> bool {
    fn equal(filter: &Filter) -> Option<(&FieldRef, &crate::meaning::query::Literal)> {
        match filter {
            Filter::Compare {
                field,
                operator: Comparison::Equal,
                value,
            } => Some((field, value)),
            Filter::And(parts) => match parts.as_slice() {
                [only] => equal(only),
                _ => None,
            },
            _ => None,
        }
    }
    if new.is_some_and(|new| known.iter().any(|known| are_apart(known, new))) {
        return true;
    }
    let Some((field, value)) = new.and_then(equal) else {
        return false;
    };
    known
        .iter()
        .filter_map(equal)
        .any(|(own, other)| own == field && other != value)
}

/// Two conditions on one field that no value meets: above 20 and below 10, in 1989 and in 1990.
pub(super) fn are_apart(one: &Filter, other: &Filter) -> bool {
    match (one, other) {
        (
            Filter::During { field, window },
            Filter::During {
                field: same,
                window: second,
            },
        ) => field == same && (window.end <= second.start || second.end <= window.start),
        _ => match (bounds(one), bounds(other)) {
            (Some((field, low, high)), Some((same, second_low, second_high))) => {
                field == same
                    && (low > second_high || second_low > high || {
                        // "More than 10" and "less than 10" share no number either.
                        let open = low.max(second_low) == high.min(second_high);
                        open && !(low == high && second_low == second_high)
                            && (low != high && second_low != second_high)
                    })
            }
            _ => false,
        },
    }
}

/// The least and the greatest number that a condition lets pass.
fn bounds(filter: &Filter) -> Option<(&FieldRef, f64, f64)> {
    let Filter::Compare { field, operator, value } = filter else {
        return None;
    };
    let value = match value {
        #[allow(clippy::cast_precision_loss)]
        Literal::Integer(number) => *number as f64,
        Literal::Number(number) => *number,
        Literal::Boolean(_) | Literal::Text(_) => return None,
    };
    match operator {
        Comparison::Equal => Some((field, value, value)),
        Comparison::Less | Comparison::AtMost => Some((field, f64::NEG_INFINITY, value)),
        Comparison::Greater | Comparison::AtLeast => Some((field, value, f64::INFINITY)),
        Comparison::NotEqual => None,
    }
}

/// The field that a plain condition is about.
pub(super) fn filter_field(filter: &Filter) -> Option<FieldRef> {
    match filter {
        Filter::Compare { field, .. } | Filter::In { field, .. } => Some(field.clone()),
        Filter::Not(inner) => filter_field(inner),
        _ => None,
    }
}

/// The dataset that a condition is about; `None` when it is about several.
pub(super) fn filter_dataset(filter: &Filter) -> Option<String> {
    match filter {
        Filter::Compare { field, .. }
        | Filter::In { field, .. }
        | Filter::Between { field, .. }
        | Filter::Like { field, .. }
        | Filter::IsNull { field }
        | Filter::During { field, .. }
        | Filter::InQuery { field, .. }
        | Filter::CompareAggregate { field, .. } => Some(field.dataset.clone()),
        Filter::CompareFields { left, right, .. } => (left.dataset == right.dataset).then(|| left.dataset.clone()),
        Filter::Exists { dataset, .. } => Some(dataset.clone()),
        Filter::Not(inner) => filter_dataset(inner),
        Filter::And(filters) | Filter::Or(filters) => {
            let mut datasets = filters.iter().map(filter_dataset);
            let first = datasets.next()??;
            datasets
                .all(|dataset| dataset.as_ref() == Some(&first))
                .then_some(first)
        }
    }
}

pub(super) fn all_of(mut filters: Vec<Filter>) -> Option<Filter> {
    if filters.len() > 1 {
        Some(Filter::And(filters))
    } else {
        filters.pop()
    }
}
