//! Who did how much, what share, and how that changed.

use serde_json::json;

use crate::builtin::case::{Case, Fetched, Progress, Stop, optional};
use crate::builtin::show;
use crate::builtin::subject::{Subject, period_label};
use crate::insight::chart::ChartKind;
use crate::insight::metrics::Derived;
use crate::meaning::query::{ColumnKind, OrderBy, OrderKey, Query, Summary};
use crate::meaning::semantic::Metric;
use crate::text::Language;
use crate::time::Window;
use crate::tools::chart::{Args as ChartArgs, Drawn};

/// The groups of the window, compared with the windows before.
pub struct Ranking {
    /// One row a group, the largest first.
    pub current: Fetched,
    pub share: Derived,
    pub change: Option<Derived>,
    /// The change of the transactions' number.
    pub count_change: Option<Derived>,
    pub year: Option<Derived>,
    pub chart: Option<Drawn>,
}

pub fn gather(case: &Case<'_>, subject: &Subject) -> Progress<Ranking> {
    let Some(dimension) = subject.dimension() else {
        return Err(Stop::Failed("there is nothing to rank by".to_owned()));
    };
    let windows = &subject.windows;
    let by = vec![dimension.dimension.clone()];
    let measures = subject.measures();
    let order = measures.first().map(|measure| OrderBy {
        key: OrderKey::Measure(measure.clone()),
        descending: true,
    });
    let ranking = Summary {
        order_by: order.into_iter().collect(),
        include_unassigned: true,
        ..subject.query(measures, by.clone(), Some(windows.current))
    };
    let what = show::name(&dimension.words, subject.language).to_owned();
    let title = match subject.language {
        Language::English => format!("By {what} in {}", subject.window_name(&windows.current)),
        Language::Chinese => format!("{}按{what}", subject.window_name(&windows.current)),
    };
    let current = case.fetch("ranking", &title, &Query::Summary(ranking));
    let before = [windows.year_ago, windows.previous];
    let compared: Vec<Window> = before.into_iter().flatten().chain([windows.current]).collect();
    let side_by_side = (compared.len() > 1).then(|| {
        let Query::Summary(summary) = subject.comparison(subject.core_measures(), by, &compared) else {
            return Err(Stop::Waiting);
        };
        let query = Query::Summary(Summary {
            include_unassigned: true,
            ..summary
        });
        let title = match subject.language {
            Language::English => format!("By {what}, periods side by side"),
            Language::Chinese => format!("按{what}各期对比"),
        };
        case.fetch("ranking_periods", &title, &query)
    });
    let current = current?;
    let side_by_side = side_by_side.transpose()?;
    let value = column(&current, subject.metric())?;
    let share = case.compute(
        "ranking",
        current.id(),
        json!({"function": "share", "group": current.group(), "value": value}),
    );
    let chart = case.draw("ranking", &bar(subject, &current, value));
    let against = |key: &str, metric: &Metric, old: Option<Window>| -> Progress<Option<Derived>> {
        let (Some(old), Some(rows)) = (old, &side_by_side) else {
            return Ok(None);
        };
        optional(case.compute(
            key,
            rows.id(),
            json!({
                "function": "compare",
                "group": rows.group(),
                "period": rows.first(ColumnKind::Period),
                "value": column(rows, metric)?,
                "old": period_label(&old),
                "new": period_label(&windows.current),
            }),
        ))
    };
    let change = against("ranking.change", subject.metric(), windows.previous);
    let year = against("ranking.year", subject.metric(), windows.year_ago);
    let count_change = match subject.count() {
        Some(count) => against("ranking.count", count, windows.previous),
        None => Ok(None),
    };
    Ok(Ranking {
        chart: optional(chart)?,
        share: share?,
        change: change?,
        count_change: count_change?,
        year: year?,
        current,
    })
}

/// The result's column of `metric`.
pub(super) fn column<'a>(rows: &'a Fetched, metric: &Metric) -> Progress<&'a str> {
    rows.metric(&metric.name)
        .ok_or_else(|| Stop::Failed(format!("{} has no column of {}", rows.id(), metric.name)))
}

fn bar(subject: &Subject, rows: &Fetched, value: &str) -> ChartArgs {
    let label = rows.label().unwrap_or_default();
    let leader = (0..rows.rows()).find_map(|row| rows.text(row, label));
    let metric = show::name(&subject.metric().words, subject.language).to_owned();
    let window = subject.window_name(&subject.windows.current);
    let title = match (subject.language, &leader) {
        (Language::English, Some(leader)) => format!("{leader} led in {window}"),
        (Language::Chinese, Some(leader)) => format!("{window}{leader}居首"),
        (Language::English, None) => format!("{} in {window}", show::capitalised(&metric)),
        (Language::Chinese, None) => format!("{window}{metric}"),
    };
    ChartArgs {
        subtitle: Some(match subject.language {
            Language::English => format!("{}, {window}", show::capitalised(&metric)),
            Language::Chinese => format!("{metric}，{window}"),
        }),
        highlight: leader.into_iter().collect(),
        x: Some(label.to_owned()),
        unit: subject.chart_unit(),
        ..ChartArgs::new(rows.id(), ChartKind::Bar, title, vec![value.to_owned()])
    }
}
