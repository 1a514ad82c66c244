//! The first lines: how much, against what, and the few things to know.

use crate::builtin::report::Findings;
use crate::builtin::report::totals::Totals;
use crate::builtin::show;
use crate::builtin::subject::Subject;
use crate::builtin::table::ReadDerived;
use crate::insight::metrics::Derived;
use crate::text::Language;
use crate::time::Window;

pub fn write(subject: &Subject, findings: &Findings) -> String {
    let Some(totals) = &findings.totals else {
        return String::new();
    };
    let mut lines = vec![format!("**{}**", lead(subject, totals))];
    let mut points: Vec<String> = Vec::new();
    points.extend(days(subject, totals));
    points.extend(companions(subject, totals));
    if !points.is_empty() {
        lines.push(String::new());
        lines.extend(points.into_iter().map(|point| format!("- {point}")));
    }
    lines.join("\n")
}

/// "Net sales in August 2005 were $X, −12.3% on July 2005 ($Y) and +5.1% on August 2004 ($Z)."
fn lead(subject: &Subject, totals: &Totals) -> String {
    let metric = subject.metric();
    let language = subject.language;
    let name = show::name(&metric.words, language);
    let window = subject.window_name(&subject.windows.current);
    let value = show::value(totals.value(metric, &subject.windows.current), metric);
    let mut against: Vec<String> = Vec::new();
    let mut cited = vec![totals.rows.id().to_owned()];
    for (derived, old) in [
        (&totals.change, subject.windows.previous),
        (&totals.year, subject.windows.year_ago),
    ] {
        if let (Some(derived), Some(old)) = (derived, old) {
            against.push(versus(subject, derived, &old));
            cited.push(derived.id.clone());
        }
    }
    let cited: Vec<&str> = cited.iter().map(String::as_str).collect();
    let citations = show::cite(&cited);
    match (language, against.is_empty()) {
        (Language::English, true) => format!("{} in {window}: {value} {citations}.", show::capitalised(name)),
        (Language::English, false) => format!(
            "{} in {window}: {value}, {} {citations}.",
            show::capitalised(name),
            show::list(&against, language)
        ),
        (Language::Chinese, true) => format!("{window}{name}为 {value} {citations}。"),
        (Language::Chinese, false) => format!("{window}{name}为 {value}，{} {citations}。", against.join("，")),
    }
}

fn versus(subject: &Subject, derived: &Derived, old: &Window) -> String {
    let was = show::value(derived.number("old_total"), subject.metric());
    let grew = show::change(derived.number("growth"));
    let window = subject.window_name(old);
    match subject.language {
        Language::English => format!("{grew} on {window} ({was})"),
        Language::Chinese => format!("较{window}（{was}）{grew}"),
    }
}

/// The days behind the totals: a month with ten days of data is not comparable with one of fourteen.
fn days(subject: &Subject, totals: &Totals) -> Option<String> {
    let change = totals.change.as_ref()?;
    let (current, previous) = (totals.current_days.as_ref()?, totals.previous_days.as_ref()?);
    let (now, before) = (current.present()?, previous.present()?);
    if now == before {
        return None;
    }
    let metric = subject.metric();
    let (old_rate, new_rate) = (change.number("old_per_day")?, change.number("new_per_day")?);
    let rate = |rate| show::value(Some(rate), metric);
    let (window, old) = (
        subject.window_name(&subject.windows.current),
        subject.window_name(&subject.windows.previous?),
    );
    let grew = show::change(change.number("growth_per_day"));
    let cited = show::cite(&[&current.coverage.id, &previous.coverage.id, &change.id]);
    let (now, before) = (show::count(now), show::count(before));
    let name = show::name(&metric.words, subject.language);
    Some(match subject.language {
        Language::English => format!(
            "**Mind the days:** {window} has {now} days with data, {old} has {before}. Per day with data, {name} went from {} to {} ({grew}) {cited}.",
            rate(old_rate),
            rate(new_rate),
        ),
        Language::Chinese => format!(
            "**注意天数差异**：{window}有数据的天数为 {now} 天，{old}为 {before} 天。按有数据的日均计算，{name}由 {} 变为 {}（{grew}）{cited}。",
            rate(old_rate),
            rate(new_rate),
        ),
    })
}

/// The other measures of the window, each with the period before.
fn companions(subject: &Subject, totals: &Totals) -> Vec<String> {
    let cited = show::cite(&[totals.rows.id()]);
    subject
        .around
        .companions
        .iter()
        .zip(&totals.companions)
        .filter_map(|(metric, change)| {
            let now = totals.value(metric, &subject.windows.current)?;
            let name = show::capitalised(show::name(&metric.words, subject.language));
            let value = show::value(Some(now), metric);
            let before = subject
                .windows
                .previous
                .and_then(|window| Some((window, totals.value(metric, &window)?)));
            let moved = change
                .as_ref()
                .map(|change| moved(change, subject.language))
                .unwrap_or_default();
            Some(match (before, subject.language) {
                (Some((window, before)), Language::English) => format!(
                    "{name}: {value}{moved} ({} {}) {cited}",
                    subject.window_name(&window),
                    show::value(Some(before), metric),
                ),
                (Some((window, before)), Language::Chinese) => format!(
                    "{name}：{value}{moved}（{}为 {}）{cited}",
                    subject.window_name(&window),
                    show::value(Some(before), metric),
                ),
                (None, Language::English) => format!("{name}: {value} {cited}"),
                (None, Language::Chinese) => format!("{name}：{value} {cited}"),
            })
        })
        .collect()
}

/// ", −14.6% [m5]"; rates have no change, since a percentage of a percentage only confuses.
fn moved(change: &Derived, language: Language) -> String {
    let Some(growth) = change.number("growth") else {
        return String::new();
    };
    let (grew, cited) = (show::change(Some(growth)), show::cite(&[&change.id]));
    match language {
        Language::English => format!(", {grew} {cited}"),
        Language::Chinese => format!("，{grew} {cited}"),
    }
}
