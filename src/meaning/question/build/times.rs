//! Where the times of a question belong: to the measure's own time, a date, or a year.

use crate::meaning::query::{Comparison, Filter, Literal, Measure, NamedWindow};
use crate::meaning::question::build::Builder;
use crate::meaning::semantic::FieldRef;
use crate::time::Window;

impl Builder<'_> {
    pub(super) fn summary_windows(
        &mut self,
        base: &str,
        filters: &mut Vec<Filter>,
    ) -> (Option<Window>, Vec<NamedWindow>) {
        let has_time = self.has_time(base);
        if !has_time && !self.draft.windows.is_empty() {
            let mut periods = Vec::new();
            for window in std::mem::take(&mut self.draft.windows) {
                match self.window_filter(base, window) {
                    Some(filter) => periods.push(filter),
                    None => self.draft.loose_ends += 1,
                }
            }
            // "In 2008 or 2010", "in 2008 and 2010": a row lies in one of them.
            filters.extend(if periods.len() > 1 {
                Some(Filter::Or(periods))
            } else {
                periods.pop()
            });
        }
        let windows: Vec<Window> = self.draft.windows.iter().map(|window| self.clip(*window)).collect();
        match windows.as_slice() {
            [] => (None, Vec::new()),
            [window] => (Some(*window), Vec::new()),
            several => {
                let mut ordered = several.to_vec();
                ordered.sort_by_key(|window| window.start);
                ordered.dedup();
                let named = ordered.into_iter().map(|window| NamedWindow {
                    label: window.label(self.language),
                    window,
                });
                (None, named.collect())
            }
        }
    }

    /// Does the measure's base say when its rows happened?
    pub(super) fn has_time(&self, base: &str) -> bool {
        let of_metric = self
            .draft
            .measures
            .iter()
            .any(|measure| matches!(measure, Measure::Metric(_)));
        of_metric
            || self
                .scope
                .model
                .dataset(base)
                .is_some_and(|dataset| dataset.time.is_some())
    }

    /// A window on a dataset without a time field of its own: on its year field, or its one date.
    pub(super) fn window_filter(&self, base: &str, window: Window) -> Option<Filter> {
        let mut datasets = vec![base.to_owned()];
        datasets.extend(self.draft.mentioned.iter().cloned());
        for name in datasets {
            let Some(dataset) = self.scope.model.dataset(&name) else {
                continue;
            };
            let references = dataset.fields.iter().map(|field| FieldRef::new(&name, &field.name));
            let (times, years): (Vec<FieldRef>, Vec<FieldRef>) = references
                .filter(|field| self.scope.is_time(field) || self.scope.is_year(field))
                .partition(|field| !self.scope.is_year(field));
            if let ([], [year, ..]) | ([_, ..], [year]) = (times.as_slice(), years.as_slice()) {
                return Some(year_filter(year, window));
            }
            if let [time, ..] = times.as_slice() {
                return Some(Filter::During {
                    field: time.clone(),
                    window,
                });
            }
        }
        None
    }

    /// An open end is closed where the data ends, so that a report can print the days it covers.
    pub(super) fn clip(&self, window: Window) -> Window {
        let Some(data) = self.time.data else { return window };
        let start = if window.is_open_start() {
            data.start.min(window.end)
        } else {
            window.start
        };
        let end = if window.is_open_end() {
            data.end.max(window.start)
        } else {
            window.end
        };
        Window::new(start, end).unwrap_or(window)
    }
}

/// A window on a field that holds years as numbers.
pub fn year_filter(field: &FieldRef, window: Window) -> Filter {
    let compare = |operator, year: i16| Filter::Compare {
        field: field.clone(),
        operator,
        value: Literal::Integer(year.into()),
    };
    let (first, last) = (window.start.year(), window.last_day().year());
    if window.is_open_start() {
        // "Before 1990" ends with the first day of 1990; "until 1990" with the first of 1991.
        return compare(Comparison::Less, window.end.year());
    }
    if window.is_open_end() {
        return compare(Comparison::AtLeast, first);
    }
    if first == last {
        return compare(Comparison::Equal, first);
    }
    Filter::Between {
        field: field.clone(),
        low: Literal::Integer(first.into()),
        high: Literal::Integer(last.into()),
    }
}
