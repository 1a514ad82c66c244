//! Who does not fit, against the others and against his own history, and what that hangs on.

use serde_json::json;

use crate::builtin::case::{Case, Fetched, Progress, Stop, optional};
use crate::builtin::report::drivers;
use crate::builtin::report::ranking::{Ranking, column};
use crate::builtin::show;
use crate::builtin::subject::Subject;
use crate::builtin::table::ReadDerived;
use crate::insight::chart::ChartKind;
use crate::insight::metrics::{Cell, Derived};
use crate::meaning::query::{ColumnKind, Comparison, Dimension, Filter, Literal, Measure, Query, Summary};
use crate::meaning::semantic::FieldRef;
use crate::text::Language;
use crate::tools::chart::{Args as ChartArgs, Drawn};

/// More groups than these are not looked into one by one.
const MOST_DRILLED: usize = 3;
/// A group that owes more than this share of its total to one transaction hangs on it.
pub const CONCENTRATED: f64 = 0.4;
/// Judging a group by its biggest transaction needs more than a few of them.
const FEWEST_TRANSACTIONS: f64 = 5.0;

/// The groups that do not fit.
pub struct OutlierFindings {
    /// One row a group and period.
    pub history: Fetched,
    pub judged: Derived,
    /// What each group's total hangs on; `None` where single transactions are not known.
    pub concentration: Option<Derived>,
    pub unusual: Vec<Unusual>,
    pub chart: Option<Drawn>,
}

/// One group that does not fit.
pub struct Unusual {
    pub label: String,
    pub kind: Oddity,
    /// Row in the concentration table.
    pub concentration_row: Option<usize>,
    /// Row in the judged table.
    pub judged_row: Option<usize>,
    /// The group's change by counterpart ("customer"), the strongest first.
    pub by_counterpart: Option<Derived>,
}

/// In which way a group does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Oddity {
    /// Far above what is usual.
    High,
    /// Far below.
    Low,
    /// Usual as a number, but one transaction makes it so.
    OneTransaction,
}

pub fn gather(case: &Case<'_>, subject: &Subject, ranking: &Ranking) -> Progress<OutlierFindings> {
    let Some(by) = subject.dimension() else {
        return Err(Stop::Failed("there are no groups to judge".to_owned()));
    };
    let query = subject.query(
        subject.core_measures(),
        vec![by.dimension.clone(), subject.by_time(subject.windows.grain)],
        Some(subject.windows.history),
    );
    let title = subject.language.pick("Each group's own history", "各组自身历史");
    let history = case.fetch("history", title, &Query::Summary(query));
    let transactions = transactions(case, subject, &by.dimension);
    let history = history?;
    let transactions = optional(transactions)?;
    let value = column(&history, subject.metric())?;
    let judged = case.compute(
        "history",
        history.id(),
        json!({
            "function": "outliers",
            "group": history.group(),
            "value": value,
            "period": history.first(ColumnKind::Period),
            "grain": subject.windows.grain,
        }),
    );
    let concentration = transactions.map(|(rows, key)| {
        case.compute(
            "transactions",
            rows.id(),
            json!({
                "function": "contribution",
                "group": rows.group(),
                "value": column(&rows, subject.metric())?,
                "item": key,
            }),
        )
    });
    let (judged, concentration) = (judged?, optional(concentration.transpose())?.flatten());
    let mut unusual = unusual(&judged, concentration.as_ref());
    let drilled: Vec<Progress<Option<Derived>>> = unusual
        .iter()
        .enumerate()
        .map(|(at, odd)| drill(case, subject, ranking, &odd.label, &format!("drill{at}")))
        .collect();
    let chart = lines(subject, &history, value, &unusual).map(|chart| case.draw("history", &chart));
    let chart = chart.transpose();
    for (odd, found) in unusual
        .iter_mut()
        .zip(drilled.into_iter().map(optional).collect::<Progress<Vec<_>>>()?)
    {
        odd.by_counterpart = found.flatten();
    }
    Ok(OutlierFindings {
        chart: optional(chart)?.flatten(),
        history,
        judged,
        concentration,
        unusual,
    })
}

/// Every single transaction of the window with its group, and the column that names it.
fn transactions(case: &Case<'_>, subject: &Subject, by: &Dimension) -> Progress<(Fetched, String)> {
    let Some(detail) = &subject.around.detail else {
        return Err(Stop::Failed("single transactions are not known".to_owned()));
    };
    let query = subject.query(
        vec![Measure::Metric(subject.metric().name.clone())],
        vec![
            by.clone(),
            Dimension::Field {
                field: detail.key.clone(),
                via: None,
            },
        ],
        Some(subject.windows.current),
    );
    let title = subject.language.pick("Single transactions", "逐笔明细");
    let rows = case.fetch("transactions", title, &Query::Summary(query))?;
    let key = rows
        .composed
        .compiled
        .columns
        .iter()
        .find(|column| column.field.as_ref() == Some(&detail.key))
        .map(|column| column.name.clone());
    match key {
        Some(key) => Ok((rows, key)),
        None => Err(Stop::Failed("the transactions have no key".to_owned())),
    }
}

/// Flagged groups first, the most conspicuous at the top; then those that hang on one transaction.
fn unusual(judged: &Derived, concentration: Option<&Derived>) -> Vec<Unusual> {
    let row_of = |label: &str| concentration.and_then(|table| table.all().find(|row| table.label(*row) == label));
    let mut found: Vec<Unusual> = judged
        .all()
        .filter_map(|row| {
            let kind = match judged.flag(row, "history_flag").or(judged.flag(row, "flag"))? {
                "high" => Oddity::High,
                "low" => Oddity::Low,
                _ => match judged.flag(row, "flag")? {
                    "high" => Oddity::High,
                    "low" => Oddity::Low,
                    _ => return None,
                },
            };
            let label = judged.label(row);
            Some(Unusual {
                concentration_row: row_of(&label),
                judged_row: Some(row),
                label,
                kind,
                by_counterpart: None,
            })
        })
        .collect();
    if let Some(table) = concentration {
        for row in table.all() {
            let label = table.label(row);
            let hangs = table
                .value(row, "largest_share")
                .is_some_and(|share| share >= CONCENTRATED)
                && table.value(row, "rows").is_some_and(|rows| rows >= FEWEST_TRANSACTIONS);
            let judged_row = judged.all().find(|row| judged.label(*row) == label);
            if hangs && looks_strong(judged, judged_row) && !found.iter().any(|odd| odd.label == label) {
                found.push(Unusual {
                    judged_row,
                    concentration_row: Some(row),
                    label,
                    kind: Oddity::OneTransaction,
                    by_counterpart: None,
                });
            }
        }
    }
    found.truncate(MOST_DRILLED);
    found
}

/// Is the group at least as high as it usually is? One that fell hangs on no lucky transaction.
fn looks_strong(judged: &Derived, row: Option<usize>) -> bool {
    let value = row.and_then(|row| judged.rows.get(row)?.get(1)?.as_f64());
    let median = row.and_then(|row| judged.value(row, "history_median"));
    match (value, median) {
        (Some(value), Some(median)) => value >= median,
        _ => false,
    }
}

/// The group's change broken down by counterpart.
fn drill(case: &Case<'_>, subject: &Subject, ranking: &Ranking, label: &str, key: &str) -> Progress<Option<Derived>> {
    let (Some(previous), Some(counterpart)) = (subject.windows.previous, &subject.around.counterpart) else {
        return Ok(None);
    };
    let Some(only) = only_group(&ranking.current, label) else {
        return Ok(None);
    };
    let within = subject.comparison(
        vec![Measure::Metric(subject.metric().name.clone())],
        vec![counterpart.dimension.clone()],
        &[previous, subject.windows.current],
    );
    let query = match within {
        Query::Summary(summary) => Query::Summary(Summary {
            filter: Some(match summary.filter.clone() {
                Some(filter) => Filter::And(vec![filter, only]),
                None => only,
            }),
            ..summary
        }),
        other => other,
    };
    let what = show::name(&counterpart.words, subject.language);
    let title = match subject.language {
        Language::English => format!("{label} by {what}"),
        Language::Chinese => format!("{label}按{what}"),
    };
    let rows = case.fetch(key, &title, &query)?;
    drivers::compare(case, subject, &rows, key, &previous).map(Some)
}

/// The condition that keeps the group called `label` alone: by its key where there is one.
fn only_group(rows: &Fetched, label: &str) -> Option<Filter> {
    let label_column = rows.label()?;
    let row = (0..rows.rows()).find(|row| rows.text(*row, label_column).as_deref() == Some(label))?;
    let columns = &rows.composed.compiled.columns;
    let by = columns
        .iter()
        .find(|column| column.kind == ColumnKind::Key)
        .or_else(|| columns.iter().find(|column| column.kind == ColumnKind::Dimension))?;
    let field: FieldRef = by.field.clone()?;
    let value = match rows.cell(row, &by.name) {
        Cell::Null => return Some(Filter::IsNull { field }),
        Cell::Text(text) => Literal::Text(text),
        Cell::Number(number) if number.to_f64().fract() == 0.0 => Literal::Integer(number.to_f64() as i64),
        Cell::Number(number) => Literal::Number(number.to_f64()),
    };
    Some(Filter::Compare {
        field,
        operator: Comparison::Equal,
        value,
    })
}

/// Every group's history, the unusual ones in colour.
fn lines(subject: &Subject, history: &Fetched, value: &str, unusual: &[Unusual]) -> Option<ChartArgs> {
    let period = history.first(ColumnKind::Period)?;
    let label = history.label()?;
    let names: Vec<String> = unusual.iter().map(|odd| odd.label.clone()).collect();
    let metric = show::name(&subject.metric().words, subject.language).to_owned();
    let title = match (subject.language, names.is_empty()) {
        (Language::English, true) => format!("{} of each group by month: none stands out", show::capitalised(&metric)),
        (Language::Chinese, true) => format!("各组逐月{metric}：无明显异常"),
        (language @ Language::English, false) => format!("{} stand out", show::list(&names, language)),
        (language @ Language::Chinese, false) => format!("{}表现异常", show::list(&names, language)),
    };
    Some(ChartArgs {
        subtitle: Some(match subject.language {
            Language::English => format!(
                "{} by {}",
                show::capitalised(&metric),
                subject.windows.grain.name(subject.language)
            ),
            Language::Chinese => format!("逐{}{metric}", subject.windows.grain.name(subject.language)),
        }),
        x: Some(period.to_owned()),
        series: Some(label.to_owned()),
        grain: Some(subject.windows.grain),
        highlight: names,
        unit: subject.chart_unit(),
        ..ChartArgs::new(history.id(), ChartKind::MultiLine, title, vec![value.to_owned()])
    })
}
