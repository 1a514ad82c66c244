//! How it went over time: the periods up to the window, and the days within it.

use serde_json::json;

use crate::builtin::case::{Case, Fetched, Progress, optional};
use crate::builtin::show;
use crate::builtin::subject::{Subject, period_name};
use crate::insight::chart::{Annotation, ChartKind};
use crate::insight::metrics::Derived;
use crate::meaning::query::{ColumnKind, Query};
use crate::text::Language;
use crate::tools::chart::{Args as ChartArgs, Drawn};

/// The series up to the window.
pub struct Trend {
    pub rows: Fetched,
    pub growth: Derived,
    pub chart: Option<Drawn>,
}

pub fn gather(case: &Case<'_>, subject: &Subject) -> Progress<Trend> {
    let grain = subject.windows.grain;
    let query = subject.query(
        subject.core_measures(),
        vec![subject.by_time(grain)],
        Some(subject.windows.trend),
    );
    let title = match subject.language {
        Language::English => format!(
            "By {} up to {}",
            grain.name(subject.language),
            subject.window_name(&subject.windows.current)
        ),
        Language::Chinese => format!(
            "截至{}的逐{}序列",
            subject.window_name(&subject.windows.current),
            grain.name(subject.language)
        ),
    };
    let rows = case.fetch("trend", &title, &Query::Summary(query))?;
    let value = super::ranking::column(&rows, subject.metric())?;
    let period = rows.first(ColumnKind::Period).unwrap_or_default();
    let growth = case.compute(
        "trend",
        rows.id(),
        json!({"function": "growth", "period": period, "value": value, "grain": grain}),
    );
    let chart = (rows.rows() > 2).then(|| case.draw("trend", &line(subject, &rows, period, value)));
    let chart = optional(chart.transpose())?.flatten();
    Ok(Trend {
        growth: growth?,
        chart,
        rows,
    })
}

fn line(subject: &Subject, rows: &Fetched, period: &str, value: &str) -> ChartArgs {
    let metric = show::name(&subject.metric().words, subject.language).to_owned();
    let grain = subject.windows.grain;
    let window = subject.window_name(&subject.windows.current);
    let title = match subject.language {
        Language::English => format!(
            "{} by {} up to {window}",
            show::capitalised(&metric),
            grain.name(subject.language)
        ),
        Language::Chinese => format!("截至{window}的逐{}{metric}", grain.name(subject.language)),
    };
    let mark = Annotation {
        at: period_name(grain.truncate(subject.windows.current.last_day()), grain),
        text: window,
    };
    ChartArgs {
        x: Some(period.to_owned()),
        grain: Some(grain),
        unit: subject.chart_unit(),
        annotations: vec![mark],
        ..ChartArgs::new(rows.id(), ChartKind::Line, title, vec![value.to_owned()])
    }
}
