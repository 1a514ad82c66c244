//! Who does not fit, and why.

use crate::builtin::report::Findings;
use crate::builtin::report::outliers::{Oddity, OutlierFindings, Unusual};
use crate::builtin::show;
use crate::builtin::subject::Subject;
use crate::builtin::table::ReadDerived;
use crate::insight::metrics::Derived;
use crate::insight::report::escape;
use crate::text::Language;

/// Counterparts named as the cause of a change.
const CAUSES: usize = 3;

pub fn write(subject: &Subject, outliers: &OutlierFindings, findings: &Findings) -> String {
    let language = subject.language;
    let mut out = super::heading(language.pick("Outliers and their cause", "异常及原因"));
    if outliers.unusual.is_empty() {
        out.push_str(&none(subject, outliers));
    }
    for odd in &outliers.unusual {
        out.push_str(&format!("- {}\n", paragraph(subject, outliers, odd, findings)));
    }
    if let Some(chart) = &outliers.chart {
        out.push_str(&format!("\n[{}]", chart.id));
    }
    out
}

fn none(subject: &Subject, outliers: &OutlierFindings) -> String {
    let cited = show::cite(&[outliers.history.id(), &outliers.judged.id]);
    match subject.language {
        Language::English => format!("No group stands out against its own history or against the others {cited}.\n"),
        Language::Chinese => format!("没有哪一组明显偏离自身历史或其他组 {cited}。\n"),
    }
}

fn paragraph(subject: &Subject, outliers: &OutlierFindings, odd: &Unusual, findings: &Findings) -> String {
    let mut sentences = vec![what(subject, outliers, odd)];
    sentences.extend(volume(subject, odd, findings));
    sentences.extend(concentration(subject, outliers, odd));
    sentences.extend(causes(subject, odd));
    match subject.language {
        Language::English => sentences.join(" "),
        Language::Chinese => sentences.join(""),
    }
}

/// "**Bo Chen** is far below his own history: $X against a median of $Y (robust z −5.1)."
fn what(subject: &Subject, outliers: &OutlierFindings, odd: &Unusual) -> String {
    let judged = &outliers.judged;
    let name = format!("**{}**", escape::cell(&odd.label));
    let Some(row) = odd.judged_row else {
        return name;
    };
    let metric = subject.metric();
    let value = judged
        .rows
        .get(row)
        .and_then(|cells| cells.get(1))
        .and_then(|cell| cell.as_f64());
    let by_history = matches!(judged.flag(row, "history_flag"), Some("high" | "low"));
    let by_peers = matches!(judged.flag(row, "peer_flag"), Some("high" | "low"));
    let (median, z) = match (by_history, by_peers) {
        (false, true) => (judged.value(row, "peer_median"), judged.value(row, "peer_z")),
        _ => (judged.value(row, "history_median"), judged.value(row, "history_z")),
    };
    let (value, median) = (show::value(value, metric), show::value(median, metric));
    let z = z.map_or_else(|| "—".to_owned(), show::score);
    let cited = show::cite(&[outliers.history.id(), &judged.id]);
    let against = match (by_history || !by_peers, subject.language) {
        (true, Language::English) => "their own history",
        (false, Language::English) => "the other groups",
        (true, Language::Chinese) => "自身历史",
        (false, Language::Chinese) => "其他组",
    };
    match (odd.kind, subject.language) {
        (Oddity::High, Language::English) => {
            format!("{name} is far above {against}: {value} against a median of {median} (robust z {z}) {cited}.")
        }
        (Oddity::Low, Language::English) => {
            format!("{name} is far below {against}: {value} against a median of {median} (robust z {z}) {cited}.")
        }
        (Oddity::OneTransaction, Language::English) => format!("{name} looks strong with {value}, but {cited}:"),
        (Oddity::High, Language::Chinese) => {
            format!("{name}远高于{against}：{value}，中位数为 {median}（稳健 z 值 {z}）{cited}。")
        }
        (Oddity::Low, Language::Chinese) => {
            format!("{name}远低于{against}：{value}，中位数为 {median}（稳健 z 值 {z}）{cited}。")
        }
        (Oddity::OneTransaction, Language::Chinese) => format!("{name}为 {value}，但 {cited}："),
    }
}

/// Fewer transactions, or smaller ones?
fn volume(subject: &Subject, odd: &Unusual, findings: &Findings) -> Option<String> {
    let ranking = findings.ranking.as_ref()?;
    let count = subject.count()?;
    let changes = ranking.count_change.as_ref()?;
    let row = changes.all().find(|row| changes.label(*row) == odd.label)?;
    let (old, new) = (changes.value(row, "old")?, changes.value(row, "new")?);
    let name = show::name(&count.words, subject.language);
    let before = subject.window_name(&subject.windows.previous?);
    let grew = show::change(changes.value(row, "growth"));
    let cited = show::cite(&[&changes.id]);
    let (old, new) = (show::value(Some(old), count), show::value(Some(new), count));
    Some(match subject.language {
        Language::English => format!(
            "{} went from {old} in {before} to {new} ({grew}) {cited}.",
            show::capitalised(name)
        ),
        Language::Chinese => format!("{name}由{before}的 {old} 变为 {new}（{grew}）{cited}。"),
    })
}

/// How much hangs on the largest single transaction.
fn concentration(subject: &Subject, outliers: &OutlierFindings, odd: &Unusual) -> Option<String> {
    let table = outliers.concentration.as_ref()?;
    let row = odd.concentration_row?;
    if odd.kind == Oddity::Low {
        return None;
    }
    let metric = subject.metric();
    let part = table.value(row, "largest_share")?;
    let largest = show::value(table.value(row, "largest"), metric);
    let rest = show::value(table.value(row, "without_largest"), metric);
    let item = table
        .columns
        .iter()
        .position(|column| {
            column.name != "largest"
                && column.kind == crate::insight::metrics::Kind::Label
                && column.name != table.columns.first().map_or("", |first| first.name.as_str())
        })
        .and_then(|at| table.rows.get(row)?.get(at))
        .and_then(|cell| match cell {
            crate::insight::metrics::Cell::Text(text) => Some(text.clone()),
            crate::insight::metrics::Cell::Number(number) => Some(show::count(number.to_f64()).replace(',', "")),
            crate::insight::metrics::Cell::Null => None,
        })
        .unwrap_or_default();
    let what = subject
        .around
        .detail
        .as_ref()
        .map(|detail| show::name(&detail.words, subject.language).to_owned())
        .unwrap_or_default();
    let part = show::share(Some(part));
    let cited = show::cite(&[&table.id]);
    Some(match subject.language {
        Language::English => format!(
            "A single transaction ({what} `{item}`, {largest}) makes {part} of the total; without it {rest} remain {cited}."
        ),
        Language::Chinese => {
            format!("单笔交易（{what} `{item}`，{largest}）占其总额的 {part}；剔除后为 {rest} {cited}。")
        }
    })
}

/// With whom the change came about.
fn causes(subject: &Subject, odd: &Unusual) -> Option<String> {
    let table = odd.by_counterpart.as_ref()?;
    let counterpart = subject.around.counterpart.as_ref()?;
    let metric = subject.metric();
    let sign = match odd.kind {
        Oddity::Low => -1.0,
        Oddity::High | Oddity::OneTransaction => 1.0,
    };
    let mut moves: Vec<(String, f64)> = groups(table)
        .filter_map(|row| Some((table.label(row), table.value(row, "delta")?)))
        .filter(|(_, delta)| delta * sign > 0.0)
        .collect();
    moves.sort_by(|a, b| (b.1 * sign).total_cmp(&(a.1 * sign)));
    let named: Vec<String> = moves
        .iter()
        .take(CAUSES)
        .map(|(label, delta)| format!("{} ({})", escape::cell(label), show::difference(Some(*delta), metric)))
        .collect();
    if named.is_empty() {
        return None;
    }
    let what = show::name(&counterpart.words, subject.language);
    let names = show::list(&named, subject.language);
    let cited = show::cite(&[&table.id]);
    Some(match (subject.language, sign < 0.0) {
        (Language::English, true) => format!("The largest losses by {what}: {names} {cited}."),
        (Language::English, false) => format!("The largest gains by {what}: {names} {cited}."),
        (Language::Chinese, true) => format!("按{what}看，降幅最大的是：{names} {cited}。"),
        (Language::Chinese, false) => format!("按{what}看，增幅最大的是：{names} {cited}。"),
    })
}

/// The rows of a comparison without its last one, the total.
pub fn groups(table: &Derived) -> impl Iterator<Item = usize> + use<> {
    0..table.rows.len().saturating_sub(1)
}
