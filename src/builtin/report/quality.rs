//! What a reader must know before he trusts the numbers.

use crate::builtin::report::Findings;
use crate::builtin::report::totals::Days;
use crate::builtin::show;
use crate::builtin::subject::Subject;
use crate::builtin::table::ReadDerived;
use crate::text::Language;

/// Single missing days are named up to this many runs.
const MOST_RUNS: usize = 6;

pub fn write(subject: &Subject, findings: &Findings) -> Option<String> {
    let points: Vec<String> = [
        partial(subject),
        missing_days(subject, findings),
        unassigned(subject, findings),
    ]
    .into_iter()
    .flatten()
    .chain(attribution(subject, findings))
    .chain(findings.failures.iter().map(|(step, reason)| {
        let step = subject.language.pick(step.content.0, step.content.1);
        match subject.language {
            Language::English => format!("Not done: \u{201c}{step}\u{201d}, because {reason}."),
            Language::Chinese => format!("未完成：“{step}”，原因：{reason}。"),
        }
    }))
    .collect();
    if points.is_empty() {
        return None;
    }
    let heading = subject.language.pick("Data quality and caveats", "数据质量与说明");
    let lines: Vec<String> = points.into_iter().map(|point| format!("- {point}")).collect();
    Some(format!("## {heading}\n\n{}", lines.join("\n")))
}

/// The data ends, or begins, within the window.
fn partial(subject: &Subject) -> Option<String> {
    let covered = subject.windows.covered?;
    let window = subject.window_name(&subject.windows.current);
    Some(match subject.language {
        Language::English => format!(
            "{window} is only partly covered: the data runs from {} to {}. It is compared with as many days of the earlier periods.",
            covered.start,
            covered.last_day()
        ),
        Language::Chinese => format!(
            "{window}数据不完整：仅覆盖 {} 至 {}，与之前各期的相同天数比较。",
            covered.start,
            covered.last_day()
        ),
    })
}

/// Days without a single row.
fn missing_days(subject: &Subject, findings: &Findings) -> Option<String> {
    let days = findings.totals.as_ref()?.current_days.as_ref()?;
    let missing = days.coverage.number("missing").filter(|missing| *missing > 0.0)?;
    let runs = runs(days);
    let (present, expected) = (show::count(days.present()?), show::count(days.expected()?));
    let shown = show::list(
        &runs.iter().take(MOST_RUNS).cloned().collect::<Vec<_>>(),
        subject.language,
    );
    let cited = show::cite(&[days.rows.id(), &days.coverage.id]);
    let missing = show::count(missing);
    let window = subject.window_name(&subject.windows.current);
    let more = runs.len().saturating_sub(MOST_RUNS);
    let shown = match (more, subject.language) {
        (0, _) => shown,
        (_, Language::English) => format!("{shown} and more"),
        (_, Language::Chinese) => format!("{shown}等"),
    };
    Some(match subject.language {
        Language::English => {
            format!("{present} of {expected} days in {window} have data; {missing} have none: {shown} {cited}.")
        }
        Language::Chinese => {
            format!("{window}的 {expected} 天中有 {present} 天有数据，{missing} 天没有：{shown} {cited}。")
        }
    })
}

/// The runs of missing days: `2005-08-09`, `2005-08-03 to 2005-08-15`.
pub fn runs(days: &Days) -> Vec<String> {
    let table = &days.coverage;
    table
        .all()
        .filter(|row| table.flag(*row, "status") == Some("missing"))
        .filter_map(|row| {
            let (from, to) = (table.flag(row, "from")?, table.flag(row, "to")?);
            Some(if from == to {
                from.to_owned()
            } else {
                format!("{from} – {to}")
            })
        })
        .collect()
}

/// What belongs to no group.
fn unassigned(subject: &Subject, findings: &Findings) -> Option<String> {
    let ranking = findings.ranking.as_ref()?;
    let rows = &ranking.current;
    let label = rows.label()?;
    let key = rows.first(crate::meaning::query::ColumnKind::Key).unwrap_or(label);
    let row = (0..rows.rows()).find(|row| rows.cell(*row, key).is_null())?;
    let metric = subject.metric();
    let value = rows.number(row, rows.metric(&metric.name)?)?;
    let total = findings.totals.as_ref()?.value(metric, &subject.windows.current)?;
    let part = show::share((total != 0.0).then(|| value / total));
    let value = show::value(Some(value), metric);
    let name = show::name(&subject.dimension()?.words, subject.language);
    let cited = show::cite(&[rows.id()]);
    Some(match subject.language {
        Language::English => {
            format!("{value} ({part} of the total) belong to no {name}; they count in the total {cited}.")
        }
        Language::Chinese => format!("{value}（占总额 {part}）没有对应的{name}，已计入总额 {cited}。"),
    })
}

/// By which key the groups were attributed, and which other way there would be.
fn attribution(subject: &Subject, findings: &Findings) -> Vec<String> {
    let Some(ranking) = &findings.ranking else {
        return Vec::new();
    };
    let compiled = &ranking.current.composed.compiled;
    // The first join is the main metric's; the companions' own are of no interest here.
    let mut points: Vec<String> = compiled
        .joins
        .iter()
        .take(1)
        .filter(|join| !join.alternatives.is_empty())
        .map(|join| {
            let others: Vec<String> = join.alternatives.iter().map(|other| format!("`{other}`")).collect();
            match subject.language {
                Language::English => format!(
                    "{} is attributed by `{}`; another way would be {}.",
                    show::capitalised(show::name(&subject.metric().words, subject.language)),
                    join.text,
                    others.join(" or ")
                ),
                Language::Chinese => format!(
                    "{}按 `{}` 归属；另一种方式是 {}。",
                    show::name(&subject.metric().words, subject.language),
                    join.text,
                    others.join("、")
                ),
            }
        })
        .collect();
    points.extend(compiled.notes.iter().cloned());
    points
}
