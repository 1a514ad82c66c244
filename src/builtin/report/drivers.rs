//! Where a change comes from: the same total, broken down in other ways.

use serde_json::json;

use crate::builtin::case::{Case, Fetched, Progress, optional};
use crate::builtin::show;
use crate::builtin::subject::{Subject, period_label};
use crate::insight::metrics::Derived;
use crate::meaning::query::{ColumnKind, Measure};
use crate::meaning::surroundings::NamedDimension;
use crate::text::Language;
use crate::time::Window;

/// One entry for each breakdown.
pub struct Drivers {
    pub breakdowns: Vec<Breakdown>,
}

/// A breakdown with its changes.
pub struct Breakdown {
    pub by: NamedDimension,
    /// Against the period before.
    pub change: Option<Derived>,
    /// Against the same period a year before.
    pub year: Option<Derived>,
}

pub fn gather(case: &Case<'_>, subject: &Subject) -> Progress<Drivers> {
    let asked: Vec<Progress<Option<Breakdown>>> = subject
        .around
        .breakdowns
        .iter()
        .enumerate()
        .map(|(at, by)| optional(breakdown(case, subject, by, &format!("drivers{at}"))))
        .collect();
    let breakdowns: Vec<Breakdown> = asked
        .into_iter()
        .collect::<Progress<Vec<_>>>()?
        .into_iter()
        .flatten()
        .collect();
    Ok(Drivers { breakdowns })
}

fn breakdown(case: &Case<'_>, subject: &Subject, by: &NamedDimension, key: &str) -> Progress<Breakdown> {
    let windows = &subject.windows;
    let compared: Vec<Window> = [windows.year_ago, windows.previous, Some(windows.current)]
        .into_iter()
        .flatten()
        .collect();
    let measures = vec![Measure::Metric(subject.metric().name.clone())];
    let query = subject.comparison(measures, vec![by.dimension.clone()], &compared);
    let what = show::name(&by.words, subject.language);
    let title = match subject.language {
        Language::English => format!("By {what}, periods side by side"),
        Language::Chinese => format!("按{what}各期对比"),
    };
    let rows = case.fetch(key, &title, &query)?;
    let against = |part: &str, old: Option<Window>| -> Progress<Option<Derived>> {
        let Some(old) = old else { return Ok(None) };
        optional(compare(case, subject, &rows, &format!("{key}.{part}"), &old))
    };
    let change = against("change", windows.previous);
    let year = against("year", windows.year_ago);
    Ok(Breakdown {
        by: by.clone(),
        change: change?,
        year: year?,
    })
}

/// Group by group, `old` against the current window.
pub(super) fn compare(
    case: &Case<'_>,
    subject: &Subject,
    rows: &Fetched,
    key: &str,
    old: &Window,
) -> Progress<Derived> {
    let value = super::ranking::column(rows, subject.metric())?;
    case.compute(
        key,
        rows.id(),
        json!({
            "function": "compare",
            "group": rows.group(),
            "period": rows.first(ColumnKind::Period),
            "value": value,
            "old": period_label(old),
            "new": period_label(&subject.windows.current),
        }),
    )
}
