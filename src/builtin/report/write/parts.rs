//! What a part of the metric does to the ranking: rank 5 by gross sales, rank 10 by net sales, because of returns.

use crate::builtin::case::Fetched;
use crate::builtin::show;
use crate::builtin::subject::Subject;
use crate::insight::report::escape;
use crate::meaning::semantic::{Metric, MetricKind};
use crate::text::Language;

/// A group that falls by fewer places is not worth a sentence.
const FEWEST_PLACES: usize = 3;

/// The group that falls furthest between the metric's first part and the metric, where one falls far.
pub fn write(subject: &Subject, ranking: &Fetched) -> Option<String> {
    let metric = subject.metric();
    let [whole, taken_off] = parts(subject)?;
    let label = ranking.label()?;
    let has = |row: usize, metric: &Metric| {
        ranking
            .metric(&metric.name)
            .is_some_and(|at| ranking.number(row, at).is_some())
    };
    let groups: Vec<usize> = (0..ranking.rows())
        .filter(|row| !ranking.cell(*row, label).is_null() && has(*row, whole) && has(*row, metric))
        .collect();
    let (before, after) = (places(ranking, whole, &groups)?, places(ranking, metric, &groups)?);
    let (fallen, row) = groups
        .iter()
        .enumerate()
        .max_by_key(|(at, _)| places_lost(&before, &after, *at))?;
    if places_lost(&before, &after, fallen) < FEWEST_PLACES {
        return None;
    }
    let name = format!("**{}**", escape::cell(&ranking.text(*row, label)?));
    let (before, after) = (before.get(fallen)?, after.get(fallen)?);
    let value = |metric: &Metric| {
        let value = ranking.number(*row, ranking.metric(&metric.name)?);
        Some(show::value(Some(value?), metric))
    };
    let (gross, net, lost) = (value(whole)?, value(metric)?, value(taken_off)?);
    let [whole, metric, part] = [whole, metric, taken_off].map(|metric| show::name(&metric.words, subject.language));
    let cited = show::cite(&[ranking.id()]);
    Some(match subject.language {
        Language::English => format!(
            "{name} falls furthest by what is taken off: rank {before} by {whole} ({gross}), rank {after} by {metric} ({net}); {part}: {lost} {cited}."
        ),
        Language::Chinese => {
            format!(
                "{name}受扣减影响最大：按{whole}（{gross}）排名第 {before}，按{metric}（{net}）排名第 {after}；{part}为 {lost} {cited}。"
            )
        }
    })
}

/// The two metrics of the same unit that the metric is the difference of: the one that it starts from, and what is taken
/// off (`gross_sales - returned_amount`).
fn parts(subject: &Subject) -> Option<[&Metric; 2]> {
    let metric = subject.metric();
    let MetricKind::Derived { expression, .. } = &metric.kind else {
        return None;
    };
    let (whole, taken_off) = expression.split_once('-')?;
    let companion = |name: &str| {
        let mut companions = subject.around.companions.iter();
        companions.find(|other| other.name == name.trim() && other.unit == metric.unit)
    };
    Some([companion(whole)?, companion(taken_off)?])
}

/// The place of each group by `metric`, 1 the largest; equal values share one.
fn places(ranking: &Fetched, metric: &Metric, groups: &[usize]) -> Option<Vec<usize>> {
    let column = ranking.metric(&metric.name)?;
    let values: Option<Vec<f64>> = groups.iter().map(|row| ranking.number(*row, column)).collect();
    let values = values?;
    let place = |value: &f64| 1 + values.iter().filter(|other| *other > value).count();
    Some(values.iter().map(place).collect())
}

fn places_lost(before: &[usize], after: &[usize], at: usize) -> usize {
    match (before.get(at), after.get(at)) {
        (Some(before), Some(after)) => after.saturating_sub(*before),
        _ => 0,
    }
}
