//! How it went up to the window.

use crate::builtin::report::totals::Totals;
use crate::builtin::report::trend::Trend;
use crate::builtin::show;
use crate::builtin::subject::Subject;
use crate::builtin::table::ReadDerived;
use crate::insight::metrics::Derived;
use crate::meaning::query::ColumnKind;
use crate::text::Language;
use crate::time::{Grain, parse_date};

pub fn write(subject: &Subject, trend: &Trend, totals: Option<&Totals>) -> String {
    let mut out = super::heading(subject.language.pick("Trend", "趋势"));
    out.push_str(&extremes(subject, trend));
    if let Some(run) = run(subject, &trend.growth) {
        out.push_str(subject.language.pick(" ", ""));
        out.push_str(&run);
    }
    if let Some(days) = totals.and_then(|totals| best_day(subject, totals)) {
        out.push_str(subject.language.pick(" ", ""));
        out.push_str(&days);
    }
    if let Some(chart) = &trend.chart {
        out.push_str(&format!("\n\n[{}]", chart.id));
    }
    out
}

/// The highest and lowest period of the series.
fn extremes(subject: &Subject, trend: &Trend) -> String {
    let growth = &trend.growth;
    let metric = subject.metric();
    let (Some(value), Some(period)) = (trend.rows.metric(&metric.name), trend.rows.first(ColumnKind::Period)) else {
        return String::new();
    };
    let points: Vec<(String, f64)> = growth
        .all()
        .filter_map(|row| Some((growth.flag(row, period)?.to_owned(), growth.value(row, value)?)))
        .collect();
    let highest = points.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    let lowest = points.iter().min_by(|a, b| a.1.total_cmp(&b.1));
    let (Some(highest), Some(lowest)) = (highest, lowest) else {
        return String::new();
    };
    let cited = show::cite(&[trend.rows.id(), &growth.id]);
    let grain = subject.windows.grain.name(subject.language);
    let shown = |point: &(String, f64)| show::value(Some(point.1), metric);
    match subject.language {
        Language::English => format!(
            "Of the {} {grain}s shown, {} was the highest ({}) and {} the lowest ({}) {cited}.",
            points.len(),
            named(subject, &highest.0),
            shown(highest),
            named(subject, &lowest.0),
            shown(lowest)
        ),
        Language::Chinese => format!(
            "在所示 {} 个{grain}中，{}最高（{}），{}最低（{}）{cited}。",
            points.len(),
            named(subject, &highest.0),
            shown(highest),
            named(subject, &lowest.0),
            shown(lowest)
        ),
    }
}

/// The period's name in the report's language: `November 2004` for `2004-11`.
fn named(subject: &Subject, period: &str) -> String {
    let grain = subject.windows.grain;
    let start = match grain {
        Grain::Month => parse_date(&format!("{period}-01")).ok(),
        Grain::Day | Grain::Week | Grain::Quarter | Grain::Year => None,
    };
    start.map_or_else(
        || period.to_owned(),
        |start| grain.period_label(start, subject.language),
    )
}

/// How many periods in a row it has risen or fallen.
fn run(subject: &Subject, growth: &Derived) -> Option<String> {
    /// Two in a row happen by chance.
    const LONG_RUN: usize = 3;
    let deltas: Vec<f64> = growth.all().rev().map_while(|row| growth.value(row, "delta")).collect();
    let last = *deltas.first()?;
    let length = deltas
        .iter()
        .take_while(|delta| delta.signum() == last.signum())
        .count();
    if length < LONG_RUN || last == 0.0 {
        return None;
    }
    let grain = subject.windows.grain.name(subject.language);
    let cited = show::cite(&[&growth.id]);
    Some(match (subject.language, last > 0.0) {
        (Language::English, true) => format!("It has risen {length} {grain}s in a row {cited}."),
        (Language::English, false) => format!("It has fallen {length} {grain}s in a row {cited}."),
        (Language::Chinese, true) => format!("已连续 {length} 个{grain}上升 {cited}。"),
        (Language::Chinese, false) => format!("已连续 {length} 个{grain}下降 {cited}。"),
    })
}

/// The strongest day of the window.
fn best_day(subject: &Subject, totals: &Totals) -> Option<String> {
    let days = &totals.current_days.as_ref()?.rows;
    let metric = subject.metric();
    let (period, value) = (days.first(ColumnKind::Period)?, days.metric(&metric.name)?);
    let best = (0..days.rows())
        .filter_map(|row| Some((row, days.number(row, value)?)))
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    let day = days.text(best.0, period)?;
    let shown = show::value(Some(best.1), metric);
    let cited = show::cite(&[days.id()]);
    Some(match subject.language {
        Language::English => format!("The strongest day was {day} with {shown} {cited}."),
        Language::Chinese => format!("最高的一天是 {day}，为 {shown} {cited}。"),
    })
}
