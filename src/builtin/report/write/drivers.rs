//! Where the change came from, by other breakdowns.

use crate::builtin::report::drivers::{Breakdown, Drivers};
use crate::builtin::show;
use crate::builtin::subject::Subject;
use crate::builtin::table::ReadDerived;
use crate::insight::metrics::Derived;
use crate::insight::report::escape;
use crate::text::Language;
use crate::time::Window;

/// Rows of each table.
const MOST_ROWS: usize = 10;
/// A share that moved by this much within a year is a shift worth a sentence.
const SHIFT: f64 = 0.05;

pub fn write(subject: &Subject, drivers: &Drivers) -> Option<String> {
    let parts: Vec<String> = drivers
        .breakdowns
        .iter()
        .filter_map(|breakdown| section(subject, breakdown))
        .collect();
    if parts.is_empty() {
        return None;
    }
    let heading = super::heading(subject.language.pick("Where the change comes from", "变化来源"));
    Some(heading + &parts.join("\n\n"))
}

fn section(subject: &Subject, breakdown: &Breakdown) -> Option<String> {
    let change = breakdown.change.as_ref()?;
    // A single group is no breakdown.
    if super::outliers::groups(change).count() < 2 {
        return None;
    }
    let language = subject.language;
    let what = show::name(&breakdown.by.words, language);
    let mut out = match language {
        Language::English => format!("**By {what}.** {}", strongest(subject, change)),
        Language::Chinese => format!("**按{what}**：{}", strongest(subject, change)),
    };
    if let Some((year, window)) = breakdown.year.as_ref().zip(subject.windows.year_ago) {
        for shift in shifts(subject, year, &window) {
            out.push_str(subject.language.pick(" ", ""));
            out.push_str(&shift);
        }
    }
    out.push_str("\n\n");
    out.push_str(&table(subject, breakdown, change));
    Some(out)
}

/// The group that moved the total most.
fn strongest(subject: &Subject, change: &Derived) -> String {
    let metric = subject.metric();
    let Some(row) = super::outliers::groups(change).max_by(|a, b| {
        let size = |row: &usize| change.value(*row, "delta").map_or(0.0, f64::abs);
        size(a).total_cmp(&size(b))
    }) else {
        return String::new();
    };
    let label = escape::cell(&change.label(row));
    let delta = show::difference(change.value(row, "delta"), metric);
    let grew = show::change(change.value(row, "growth"));
    let cited = show::cite(&[&change.id]);
    match subject.language {
        Language::English => format!("{label} moved most: {delta} ({grew}) {cited}."),
        Language::Chinese => format!("{label}变化最大：{delta}（{grew}）{cited}。"),
    }
}

/// Groups whose share of the total moved by [`SHIFT`] or more.
fn shifts(subject: &Subject, year: &Derived, window: &Window) -> Vec<String> {
    super::outliers::groups(year)
        .filter_map(|row| {
            let before = year.value(row, "old_share")?;
            let now = year.value(row, "new_share")?;
            if (now - before).abs() < SHIFT {
                return None;
            }
            let label = escape::cell(&year.label(row));
            let grew = show::change(year.value(row, "growth"));
            let (before, now) = (show::share(Some(before)), show::share(Some(now)));
            let window = subject.window_name(window);
            let cited = show::cite(&[&year.id]);
            Some(match subject.language {
                Language::English => {
                    format!("The share of {label} went from {before} in {window} to {now} ({grew} in value) {cited}.")
                }
                Language::Chinese => format!("{label}的占比由{window}的 {before} 变为 {now}（金额{grew}）{cited}。"),
            })
        })
        .collect()
}

fn table(subject: &Subject, breakdown: &Breakdown, change: &Derived) -> String {
    let language = subject.language;
    let metric = subject.metric();
    let header = [
        show::capitalised(show::name(&breakdown.by.words, language)),
        subject
            .windows
            .previous
            .map(|window| subject.window_name(&window))
            .unwrap_or_default(),
        subject.window_name(&subject.windows.current),
        language.pick("Change", "变化").to_owned(),
        "%".to_owned(),
    ];
    let mut order: Vec<usize> = super::outliers::groups(change).collect();
    order.sort_by(|a, b| {
        let new = |row: &usize| change.value(*row, "new").unwrap_or(f64::MIN);
        new(b).total_cmp(&new(a))
    });
    let rows: Vec<Vec<String>> = order
        .into_iter()
        .take(MOST_ROWS)
        .map(|row| {
            vec![
                escape::cell(&change.label(row)),
                show::value(change.value(row, "old"), metric),
                show::value(change.value(row, "new"), metric),
                show::difference(change.value(row, "delta"), metric),
                show::change(change.value(row, "growth")),
            ]
        })
        .collect();
    let cited = show::cite(&[&change.source, &change.id]);
    let sources = match language {
        Language::English => format!("Sources: {cited}"),
        Language::Chinese => format!("来源：{cited}"),
    };
    format!("{}\n{sources}", show::table(&header, 1, &rows))
}
