//! How much in all, and against what was before.

use serde_json::json;

use crate::builtin::case::{Case, Fetched, Progress, optional};
use crate::builtin::subject::{Subject, period_label};
use crate::builtin::table::ReadDerived;
use crate::insight::metrics::Derived;
use crate::meaning::query::{ColumnKind, Query};
use crate::meaning::semantic::{Metric, Unit};
use crate::time::{Grain, Window};

/// Totals of the window and of those it is compared with.
pub struct Totals {
    /// One row a window: `period` and every measure.
    pub rows: Fetched,
    pub change: Option<Derived>,
    pub year: Option<Derived>,
    /// The changes of the companions against the period before, in their order; `None` where there is none.
    pub companions: Vec<Option<Derived>>,
    pub current_days: Option<Days>,
    pub previous_days: Option<Days>,
}

/// Which days of a window have data.
pub struct Days {
    pub rows: Fetched,
    pub coverage: Derived,
}

impl Days {
    pub fn present(&self) -> Option<f64> {
        self.coverage.number("present")
    }
    pub fn expected(&self) -> Option<f64> {
        self.coverage.number("expected")
    }
}

impl Totals {
    /// The value of `metric` in `window`.
    pub fn value(&self, metric: &Metric, window: &Window) -> Option<f64> {
        let period = self.rows.first(ColumnKind::Period);
        let row = match period {
            Some(period) => self.rows.find(period, &period_label(window))?,
            None => 0,
        };
        self.rows.number(row, self.rows.metric(&metric.name)?)
    }
}

pub fn gather(case: &Case<'_>, subject: &Subject) -> Progress<Totals> {
    let windows = &subject.windows;
    let language = subject.language;
    let compared: Vec<Window> = [windows.year_ago, windows.previous, Some(windows.current)]
        .into_iter()
        .flatten()
        .collect();
    let query = subject.comparison(subject.measures(), Vec::new(), &compared);
    let rows = case.fetch("totals", language.pick("Totals by period", "各期总量"), &query);
    let current_days = days(case, subject, "days", &windows.covered.unwrap_or(windows.current));
    let previous_days = windows
        .previous
        .map(|window| days(case, subject, "days_before", &window))
        .transpose();
    let rows = rows?;
    let (current_days, previous_days) = (optional(current_days)?, optional(previous_days)?.flatten());
    let counted = |days: &Option<Days>| days.as_ref().and_then(Days::present);
    let change = windows.previous.map(|previous| {
        let days = counted(&previous_days).zip(counted(&current_days));
        compare(case, "totals.change", &rows, subject, subject.metric(), &previous, days)
    });
    let companions: Vec<Progress<Option<Derived>>> = subject
        .around
        .companions
        .iter()
        .enumerate()
        .map(|(at, metric)| match windows.previous {
            Some(previous) if metric.unit != Unit::Fraction => {
                let key = format!("totals.companion{at}");
                optional(compare(case, &key, &rows, subject, metric, &previous, None))
            }
            _ => Ok(None),
        })
        .collect();
    let year = windows
        .year_ago
        .map(|year_ago| compare(case, "totals.year", &rows, subject, subject.metric(), &year_ago, None));
    let (change, year) = (
        optional(change.transpose())?.flatten(),
        optional(year.transpose())?.flatten(),
    );
    Ok(Totals {
        rows,
        change,
        year,
        companions: companions.into_iter().collect::<Progress<Vec<_>>>()?,
        current_days,
        previous_days,
    })
}

/// A metric of the window against an earlier one.
fn compare(
    case: &Case<'_>,
    key: &str,
    rows: &Fetched,
    subject: &Subject,
    metric: &Metric,
    old: &Window,
    days: Option<(f64, f64)>,
) -> Progress<Derived> {
    let mut arguments = json!({
        "function": "compare",
        "period": rows.first(ColumnKind::Period),
        "value": rows.metric(&metric.name),
        "old": period_label(old),
        "new": period_label(&subject.windows.current),
    });
    if let (Some((old, new)), Some(object)) = (days, arguments.as_object_mut()) {
        object.insert("old_days".into(), json!(old as u32));
        object.insert("new_days".into(), json!(new as u32));
    }
    case.compute(key, rows.id(), arguments)
}

/// Which days have data: only for windows that are short enough for a day to matter.
fn days(case: &Case<'_>, subject: &Subject, key: &str, window: &Window) -> Progress<Days> {
    let query = subject.query(
        subject.core_measures(),
        vec![subject.by_time(Grain::Day)],
        Some(*window),
    );
    let title = match subject.language {
        crate::text::Language::English => format!("Day by day in {}", subject.window_name(window)),
        crate::text::Language::Chinese => format!("{}逐日", subject.window_name(window)),
    };
    let rows = case.fetch(key, &title, &Query::Summary(query))?;
    let period = rows.first(ColumnKind::Period).map(str::to_owned);
    let coverage = case.compute(
        key,
        rows.id(),
        json!({
            "function": "coverage",
            "period": period,
            // A day on which only returns were booked is no day with transactions.
            "value": subject.count().and_then(|count| rows.metric(&count.name)),
            "grain": Grain::Day,
            "start": window.start,
            "end": window.end,
        }),
    )?;
    Ok(Days { rows, coverage })
}
