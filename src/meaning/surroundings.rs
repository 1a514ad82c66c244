//! What belongs around a metric in a report: its companions, its target, what it can be broken down by.

use serde::{Deserialize, Serialize};

use crate::meaning::query::Dimension;
use crate::meaning::semantic::{Dataset, DatasetKind, FieldRef, Metric, MetricKind, Model, Unit, Words};
use crate::warehouse::catalog::Role;

/// Companions beyond this make a table that nobody reads.
const MOST_COMPANIONS: usize = 8;
/// Breakdowns beside the one that was asked for.
const MOST_BREAKDOWNS: usize = 3;
/// Groups that a breakdown may have: one group says nothing, more than these are a list.
const FEWEST_GROUPS: u64 = 2;
const MOST_GROUPS: u64 = 40;

/// A metric with what a report on it needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Surroundings {
    pub metric: Metric,
    /// The metric's own parts and other metrics over the same rows: counts first, then averages and rates.
    pub companions: Vec<Metric>,
    /// The metric that says what this one should have been.
    pub target: Option<Metric>,
    /// The dimension that was asked for.
    pub dimension: Option<NamedDimension>,
    /// Other ways to break the metric down, nearest first.
    pub breakdowns: Vec<NamedDimension>,
    /// Whom or what each transaction is with ("customer"), for saying where a group's change comes from.
    pub counterpart: Option<NamedDimension>,
    /// The dataset whose rows are the single transactions behind the metric ("orders"), for drill-downs.
    pub detail: Option<Detail>,
}

/// A dimension with its words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NamedDimension {
    pub dimension: Dimension,
    pub words: Words,
}

/// Single transactions: what they are called and how a row is named.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Detail {
    pub dataset: String,
    pub words: Words,
    /// The field that names a row: its key.
    pub key: FieldRef,
    /// When it happened.
    pub time: Option<FieldRef>,
}

/// Gathers what belongs around the metric called `metric`; `None` where there is no such metric.
pub fn surroundings(model: &Model, metric: &str, dimension: Option<&Dimension>) -> Option<Surroundings> {
    let metric = model.metric(metric)?;
    let facts = datasets_of(model, metric);
    let home = facts.first().and_then(|name| model.dataset(name));
    Some(Surroundings {
        metric: metric.clone(),
        companions: companions(model, metric, &facts),
        target: model
            .metrics
            .iter()
            .find(|other| {
                other
                    .target_of
                    .as_deref()
                    .is_some_and(|of| of.eq_ignore_ascii_case(&metric.name))
            })
            .cloned(),
        dimension: dimension.and_then(|dimension| named(model, dimension)),
        breakdowns: home.map(|home| breakdowns(model, home, dimension)).unwrap_or_default(),
        counterpart: home.and_then(|home| counterpart(model, metric, home, dimension)),
        detail: home.and_then(|home| detail(model, metric, home)),
    })
}

/// The datasets whose rows the metric is computed from, the first of its formula first.
fn datasets_of(model: &Model, metric: &Metric) -> Vec<String> {
    let mut found = Vec::new();
    gather(model, metric, &mut found, 0);
    found
}

fn gather(model: &Model, metric: &Metric, found: &mut Vec<String>, depth: usize) {
    /// Formulas of formulas; a deeper nest is a circle.
    const DEEPEST: usize = 8;
    if depth > DEEPEST {
        return;
    }
    let inputs: Vec<&String> = match &metric.kind {
        MetricKind::Simple { dataset, .. } => {
            if !found.contains(dataset) {
                found.push(dataset.clone());
            }
            return;
        }
        MetricKind::Ratio { numerator, denominator } => vec![numerator, denominator],
        MetricKind::Derived { inputs, .. } => inputs.iter().collect(),
    };
    for input in inputs {
        if let Some(input) = model.metric(input) {
            gather(model, input, found, depth + 1);
        }
    }
}

/// Parts of the metric's formula first, then metrics over rows of the same facts or of what these point at.
fn companions(model: &Model, metric: &Metric, facts: &[String]) -> Vec<Metric> {
    let parts: Vec<&str> = match &metric.kind {
        MetricKind::Simple { .. } => Vec::new(),
        MetricKind::Ratio { numerator, denominator } => vec![numerator, denominator],
        MetricKind::Derived { inputs, .. } => inputs.iter().map(String::as_str).collect(),
    };
    let touches = |other: &Metric| {
        datasets_of(model, other).iter().any(|dataset| {
            facts
                .iter()
                .any(|fact| fact == dataset || points_at(model, fact, dataset))
        })
    };
    let of_facts = |other: &Metric| {
        datasets_of(model, other).iter().all(|dataset| {
            model
                .dataset(dataset)
                .is_some_and(|dataset| dataset.kind != DatasetKind::Entity)
        })
    };
    let mut companions: Vec<(usize, &Metric)> = model
        .metrics
        .iter()
        .filter(|other| !other.hidden && other.target_of.is_none() && other.name != metric.name)
        .filter(|other| !is_about_targets(model, other))
        .filter_map(|other| {
            if parts.iter().any(|part| part.eq_ignore_ascii_case(&other.name)) {
                return Some((0, other));
            }
            let rates = computes_with(other, metric, &parts);
            (touches(other) && of_facts(other)).then(|| (if rates { 2 } else { 3 + unit_order(other.unit) }, other))
        })
        .collect();
    // The first count is what the transactions are called, and stands before everything but the parts.
    if let Some((order, _)) = companions.iter_mut().find(|(_, metric)| metric.unit == Unit::Count) {
        *order = 1;
    }
    companions.sort_by_key(|(order, _)| *order);
    companions
        .into_iter()
        .map(|(_, metric)| metric.clone())
        .take(MOST_COMPANIONS)
        .collect()
}

/// Is the metric, or a part of it, among what `other` is computed from?
fn computes_with(other: &Metric, metric: &Metric, parts: &[&str]) -> bool {
    let inputs: Vec<&String> = match &other.kind {
        MetricKind::Simple { .. } => return false,
        MetricKind::Ratio { numerator, denominator } => vec![numerator, denominator],
        MetricKind::Derived { inputs, .. } => inputs.iter().collect(),
    };
    inputs
        .into_iter()
        .any(|input| *input == metric.name || parts.iter().any(|part| part.eq_ignore_ascii_case(input)))
}

/// Is a target among what the metric is computed from? Such a metric has its own place in a report.
fn is_about_targets(model: &Model, metric: &Metric) -> bool {
    let inputs: Vec<&String> = match &metric.kind {
        MetricKind::Simple { .. } => return metric.target_of.is_some(),
        MetricKind::Ratio { numerator, denominator } => vec![numerator, denominator],
        MetricKind::Derived { inputs, .. } => inputs.iter().collect(),
    };
    inputs
        .into_iter()
        .filter_map(|input| model.metric(input))
        .any(|input| input.target_of.is_some())
}

fn unit_order(unit: Unit) -> usize {
    match unit {
        Unit::Count => 0,
        Unit::Money => 1,
        Unit::Fraction => 2,
        Unit::Quantity => 3,
        Unit::Days => 4,
    }
}

/// Does each row of `from` belong to one row of `to`?
fn points_at(model: &Model, from: &str, to: &str) -> bool {
    from == to || model.path(from, to).is_some_and(|path| path.is_many_to_one())
}

/// Entities with few rows that each row of `home` belongs to, nearest first.
fn breakdowns(model: &Model, home: &Dataset, asked: Option<&Dimension>) -> Vec<NamedDimension> {
    let asked_dataset = asked.and_then(dataset_of);
    let mut found: Vec<(usize, &Dataset)> = model
        .datasets
        .iter()
        .filter(|dataset| dataset.kind == DatasetKind::Entity && !dataset.label.is_empty())
        .filter(|dataset| asked_dataset.is_none_or(|asked| !asked.eq_ignore_ascii_case(&dataset.name)))
        .filter(|dataset| {
            dataset
                .rows
                .is_some_and(|rows| (FEWEST_GROUPS..=MOST_GROUPS).contains(&rows))
        })
        .filter_map(|dataset| {
            let path = model.path(&home.name, &dataset.name)?;
            path.is_many_to_one().then(|| (path.relationships().len(), dataset))
        })
        .collect();
    found.sort_by_key(|(steps, _)| *steps);
    found
        .into_iter()
        .take(MOST_BREAKDOWNS)
        .map(|(_, dataset)| NamedDimension {
            dimension: Dimension::Entity {
                dataset: dataset.name.clone(),
                via: None,
                show: Vec::new(),
            },
            words: dataset.words.clone(),
        })
        .collect()
}

/// The dimension with what people call it.
pub fn named(model: &Model, dimension: &Dimension) -> Option<NamedDimension> {
    let words = match dimension {
        Dimension::Entity { dataset, .. } => model.dataset(dataset)?.words.clone(),
        Dimension::Field { field, .. } => model.field(field)?.1.words.clone(),
        Dimension::Time { .. } => return None,
    };
    Some(NamedDimension {
        dimension: dimension.clone(),
        words,
    })
}

/// The largest entity that a transaction points at directly, other than the one asked for.
fn counterpart(model: &Model, metric: &Metric, home: &Dataset, asked: Option<&Dimension>) -> Option<NamedDimension> {
    let transactions = transactions(model, metric, home);
    let asked = asked.and_then(dataset_of);
    model
        .relationships
        .iter()
        .filter(|relationship| relationship.from.eq_ignore_ascii_case(&transactions.name))
        .filter(|relationship| asked.is_none_or(|asked| !relationship.to.eq_ignore_ascii_case(asked)))
        .filter_map(|relationship| model.dataset(&relationship.to))
        .filter(|dataset| dataset.kind == DatasetKind::Entity && !dataset.label.is_empty())
        .max_by_key(|dataset| dataset.rows.unwrap_or(0))
        .map(|dataset| NamedDimension {
            dimension: Dimension::Entity {
                dataset: dataset.name.clone(),
                via: None,
                show: Vec::new(),
            },
            words: dataset.words.clone(),
        })
}

/// The dataset that a dimension lies on; none for time.
fn dataset_of(dimension: &Dimension) -> Option<&str> {
    match dimension {
        Dimension::Entity { dataset, .. } => Some(dataset),
        Dimension::Field { field, .. } => Some(&field.dataset),
        Dimension::Time { .. } => None,
    }
}

/// The rows that carry the metric's time: the order of an order line, or the payment itself.
fn transactions<'a>(model: &'a Model, metric: &Metric, home: &'a Dataset) -> &'a Dataset {
    time_of(model, metric, 0)
        .and_then(|field| model.dataset(&field.dataset))
        .unwrap_or(home)
}

fn detail(model: &Model, metric: &Metric, home: &Dataset) -> Option<Detail> {
    let time = time_of(model, metric, 0);
    let dataset = transactions(model, metric, home);
    let key = match dataset.primary_key.as_slice() {
        [key] => dataset.field_of_column(key)?,
        _ => dataset.fields.iter().find(|field| field.role == Role::Key)?,
    };
    Some(Detail {
        dataset: dataset.name.clone(),
        words: dataset.words.clone(),
        key: FieldRef::new(dataset.name.clone(), key.name.clone()),
        time: time.or_else(|| {
            dataset
                .time
                .as_ref()
                .map(|time| FieldRef::new(dataset.name.clone(), time.clone()))
        }),
    })
}

/// The time field of the first simple metric in the formula.
fn time_of(model: &Model, metric: &Metric, depth: usize) -> Option<FieldRef> {
    /// As in [`gather`].
    const DEEPEST: usize = 8;
    if depth > DEEPEST {
        return None;
    }
    match &metric.kind {
        MetricKind::Simple { time, dataset, .. } => time.clone().or_else(|| {
            let dataset = model.dataset(dataset)?;
            Some(FieldRef::new(dataset.name.clone(), dataset.time.clone()?))
        }),
        MetricKind::Ratio { numerator, .. } => time_of(model, model.metric(numerator)?, depth + 1),
        MetricKind::Derived { inputs, .. } => time_of(model, model.metric(inputs.first()?)?, depth + 1),
    }
}
