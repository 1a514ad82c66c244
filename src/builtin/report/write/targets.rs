//! Who reached the target.

use crate::builtin::report::targets::Targets;
use crate::builtin::show;
use crate::builtin::subject::Subject;
use crate::builtin::table::ReadDerived;
use crate::insight::report::escape;
use crate::text::Language;

/// Rows of the table.
const MOST_ROWS: usize = 20;

pub fn write(subject: &Subject, targets: &Targets) -> String {
    let language = subject.language;
    let table = &targets.attainment;
    let mut out = super::heading(language.pick("Target attainment", "目标完成情况"));
    let cited = show::cite(&[&table.source, &table.id]);
    let overall = show::share(table.number("attainment"));
    let gap = show::difference(table.number("gap"), subject.metric());
    let reached = show::count(table.number("reached").unwrap_or_default());
    let missed = show::count(table.number("missed").unwrap_or_default());
    out.push_str(&match language {
        Language::English => format!(
            "Overall attainment is {overall} ({gap} to the target); {reached} reached their target, {missed} missed it {cited}."
        ),
        Language::Chinese => {
            format!("总体完成率为 {overall}（与目标相差 {gap}）；{reached} 个达标，{missed} 个未达标 {cited}。")
        }
    });
    if let Some(chart) = &targets.chart {
        out.push_str(&format!("\n\n[{}]", chart.id));
    }
    if subject.dimension().is_some() {
        out.push_str("\n\n");
        out.push_str(&rows(subject, targets));
    }
    out
}

fn rows(subject: &Subject, targets: &Targets) -> String {
    let language = subject.language;
    let table = &targets.attainment;
    let metric = subject.metric();
    let name = |words| show::capitalised(show::name(words, language));
    let header = [
        subject.dimension().map(|by| name(&by.words)).unwrap_or_default(),
        name(&metric.words),
        subject
            .around
            .target
            .as_ref()
            .map(|target| name(&target.words))
            .unwrap_or_default(),
        language.pick("Attainment", "完成率").to_owned(),
        language.pick("Gap", "差额").to_owned(),
    ];
    let amount = |row: usize, at: usize| {
        table
            .rows
            .get(row)
            .and_then(|cells| cells.get(at))
            .and_then(|cell| cell.as_f64())
    };
    let rows: Vec<Vec<String>> = table
        .all()
        .filter(|row| table.value(*row, "attainment").is_some())
        .take(MOST_ROWS)
        .map(|row| {
            vec![
                escape::cell(&table.label(row)),
                show::value(amount(row, 1), metric),
                show::value(amount(row, 2), metric),
                show::share(table.value(row, "attainment")),
                show::difference(table.value(row, "gap"), metric),
            ]
        })
        .collect();
    let mut out = show::table(&header, 1, &rows);
    let cited = show::cite(&[&table.source, &table.id]);
    out.push('\n');
    out.push_str(&match language {
        Language::English => format!("Sources: {cited}"),
        Language::Chinese => format!("来源：{cited}"),
    });
    out
}
