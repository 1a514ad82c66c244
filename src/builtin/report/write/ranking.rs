//! Ranking, shares and changes of the groups, as a table.

use crate::builtin::report::ranking::Ranking;
use crate::builtin::show;
use crate::builtin::subject::Subject;
use crate::builtin::table::ReadDerived;
use crate::insight::metrics::{Derived, no_name};
use crate::insight::report::escape;
use crate::text::Language;
use crate::time::Window;

/// Rows of a table that a reader takes in; the rest is told as a number.
const MOST_ROWS: usize = 20;

pub fn write(subject: &Subject, ranking: &Ranking) -> String {
    let language = subject.language;
    let mut out = super::heading(language.pick("Ranking and share", "排名与占比"));
    out.push_str(&sentence(subject, ranking));
    out.push_str("\n\n");
    if let Some(chart) = &ranking.chart {
        out.push_str(&format!("[{}]\n\n", chart.id));
    }
    out.push_str(&table(subject, ranking));
    if let Some(fall) = super::parts::write(subject, &ranking.current) {
        out.push_str("\n\n");
        out.push_str(&fall);
    }
    out
}

/// "Anna Berg leads with $X (18.2%); the top three make 44.1%."
fn sentence(subject: &Subject, ranking: &Ranking) -> String {
    let share = &ranking.share;
    let metric = subject.metric();
    let Some(first) = share.all().find(|row| share.label(*row) != no_name(subject.language)) else {
        return subject
            .language
            .pick("There are no groups in this window.", "该时间段没有数据。")
            .to_owned();
    };
    let leader = escape::cell(&share.label(first));
    let value = show::value(value_of(share, first), metric);
    let part = show::share(share.value(first, "share"));
    let cited = show::cite(&[ranking.current.id(), &share.id]);
    let top = show::share(share.number("top_3_share"));
    let many = share.rows.len() > 4;
    match (subject.language, many) {
        (Language::English, true) => {
            format!("{leader} leads with {value}, {part} of the total; the top three make {top} {cited}.")
        }
        (Language::English, false) => format!("{leader} leads with {value}, {part} of the total {cited}."),
        (Language::Chinese, true) => format!("{leader}居首，为 {value}，占 {part}；前三名合计占 {top} {cited}。"),
        (Language::Chinese, false) => format!("{leader}居首，为 {value}，占 {part} {cited}。"),
    }
}

/// The value's column of a share table is the second, after the group.
fn value_of(share: &Derived, row: usize) -> Option<f64> {
    share.rows.get(row)?.get(1)?.as_f64()
}

fn table(subject: &Subject, ranking: &Ranking) -> String {
    let language = subject.language;
    let metric = subject.metric();
    let count = subject.count();
    let share = &ranking.share;
    let mut header = vec![
        "#".to_owned(),
        subject
            .dimension()
            .map(|by| show::capitalised(show::name(&by.words, language)))
            .unwrap_or_default(),
        show::capitalised(show::name(&metric.words, language)),
        language.pick("Share", "占比").to_owned(),
    ];
    if let Some(count) = count {
        header.push(show::capitalised(show::name(&count.words, language)));
    }
    let columns = [
        (&ranking.change, subject.windows.previous),
        (&ranking.year, subject.windows.year_ago),
    ];
    for (derived, window) in &columns {
        if let (Some(_), Some(window)) = (derived, window) {
            header.push(versus(subject, window));
        }
    }
    // What belongs to no group has no place among them and stands last.
    let (assigned, unassigned): (Vec<usize>, Vec<usize>) = share
        .all()
        .partition(|row| share.label(*row) != no_name(subject.language));
    let places = (1..).map(Some).zip(assigned.into_iter().take(MOST_ROWS));
    let rows: Vec<Vec<String>> = places
        .chain(unassigned.into_iter().map(|row| (None, row)))
        .map(|(place, row)| {
            let label = share.label(row);
            let mut cells = vec![
                place.map_or_else(|| "—".to_owned(), |place: usize| place.to_string()),
                escape::cell(&label),
                show::value(value_of(share, row), metric),
                show::share(share.value(row, "share")),
            ];
            if let Some(count) = count {
                cells.push(show::value(measure_of(ranking, &label, &count.name), count));
            }
            for (derived, _) in &columns {
                if let Some(derived) = derived {
                    cells.push(change_of(derived, &label));
                }
            }
            cells
        })
        .collect();
    let mut out = show::table(&header, 2, &rows);
    let cited: Vec<&str> = [ranking.current.id(), &share.id]
        .into_iter()
        .chain(
            columns
                .iter()
                .filter_map(|(derived, _)| derived.as_ref().map(|derived| derived.id.as_str())),
        )
        .collect();
    let rest = share.rows.len().saturating_sub(rows.len());
    out.push('\n');
    out.push_str(&match (language, rest) {
        (Language::English, 0) => format!("Sources: {}", show::cite(&cited)),
        (Language::Chinese, 0) => format!("来源：{}", show::cite(&cited)),
        (Language::English, rest) => format!("{rest} further groups are not shown. Sources: {}", show::cite(&cited)),
        (Language::Chinese, rest) => format!("另有 {rest} 组未列出。来源：{}", show::cite(&cited)),
    });
    out
}

fn versus(subject: &Subject, window: &Window) -> String {
    let name = subject.window_name(window);
    match subject.language {
        Language::English => format!("vs {name}"),
        Language::Chinese => format!("较{name}"),
    }
}

/// The group's change: a percentage, or "new" and "gone" where there is no base.
pub fn change_of(derived: &Derived, label: &str) -> String {
    let Some(row) = derived.all().find(|row| derived.label(*row) == label) else {
        return "—".to_owned();
    };
    show::change(derived.value(row, "growth"))
}

fn measure_of(ranking: &Ranking, label: &str, metric: &str) -> Option<f64> {
    let rows = &ranking.current;
    let row = rows.find(rows.label()?, label)?;
    rows.number(row, rows.metric(metric)?)
}
