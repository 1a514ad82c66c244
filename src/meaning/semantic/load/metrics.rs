//! The metrics of an Ossie file: simple ones, ratios, and formulas over others.

use crate::meaning::semantic::load::{Loader, words};
use crate::meaning::semantic::ossie::{MetricExtension, OssieMetric, extension};
use crate::meaning::semantic::spread::{Part, Spread, spread};
use crate::meaning::semantic::{
    Additive, Direction, FieldRef, Metric, MetricKind, Model, Unit, Words, expression, names,
};

impl Loader<'_> {
    /// The metric, and the hidden ones that it is put together from.
    pub(super) fn metric(&mut self, written: &OssieMetric, metrics: &[&str], model: &Model) -> Vec<Metric> {
        let place = format!("metric {}", written.name);
        let extra: MetricExtension = self.taken(extension(&written.custom_extensions), &place);
        let mut parts = Vec::new();
        let kind = match &extra.derived {
            Some(formula) => self.derived(formula, metrics, &place),
            None => self.simple(written, &extra, model, &place, &mut parts),
        };
        let Some(kind) = kind else { return Vec::new() };
        let unit = extra.unit.unwrap_or_else(|| unit_of(written, model));
        parts.push(Metric {
            name: written.name.clone(),
            words: words(
                extra.label.as_deref().unwrap_or(&names::readable(&written.name)),
                written.description.as_ref(),
                written.ai_context.as_ref(),
                extra.label_zh,
                extra.description_zh,
            ),
            currency: extra
                .currency
                .or_else(|| self.currency.clone().filter(|_| unit == Unit::Money)),
            unit,
            decimals: extra.decimals,
            additive: extra.additive.unwrap_or(match kind {
                MetricKind::Ratio { .. } => Additive::None,
                MetricKind::Simple { .. } | MetricKind::Derived { .. } => Additive::Full,
            }),
            direction: extra.direction.unwrap_or(Direction::Neutral),
            target_of: extra.target_of,
            hidden: extra.hidden,
            kind,
        });
        parts
    }

    /// A formula over other metrics; one metric divided by another is a ratio.
    fn derived(&mut self, formula: &str, metrics: &[&str], place: &str) -> Option<MetricKind> {
        let parsed = match expression::parse(formula) {
            Ok(parsed) => parsed,
            Err(problem) => {
                self.problem(place, format!("derived `{formula}`: {problem}"));
                return None;
            }
        };
        let inputs: Vec<String> = expression::names(&parsed)
            .into_iter()
            .map(|parts| parts.join("."))
            .collect();
        for input in &inputs {
            if !metrics.iter().any(|metric| metric.eq_ignore_ascii_case(input)) {
                self.problem(place, format!("derived `{formula}`: there is no metric `{input}`"));
            }
        }
        let ratio = formula.split_once('/').map(|(a, b)| (a.trim(), b.trim()));
        Some(match (ratio, inputs.as_slice()) {
            (Some((a, b)), [first, second]) if a == first && b == second => MetricKind::Ratio {
                numerator: first.clone(),
                denominator: second.clone(),
            },
            _ => MetricKind::Derived {
                expression: formula.to_owned(),
                inputs,
            },
        })
    }

    fn simple(
        &mut self,
        written: &OssieMetric,
        extra: &MetricExtension,
        model: &Model,
        place: &str,
        parts: &mut Vec<Metric>,
    ) -> Option<MetricKind> {
        let text = written.expression.portable().unwrap_or_default();
        for part in [Some(text), extra.filter.as_deref(), extra.time.as_deref()]
            .into_iter()
            .flatten()
        {
            self.check_names(part, model, place)?;
        }
        let parsed = expression::parse(text).ok()?;
        let spread = match &extra.dataset {
            Some(name) => model.dataset(name).map(|dataset| Spread::One(dataset.name.clone())),
            None => spread(&written.name, &parsed, model),
        };
        let dataset = match spread {
            Some(Spread::One(dataset)) => dataset,
            Some(Spread::Several {
                formula,
                parts: several,
            }) => {
                let inputs = several.iter().map(|part| part.name.clone()).collect();
                parts.extend(several.into_iter().map(hidden));
                return Some(MetricKind::Derived {
                    expression: formula,
                    inputs,
                });
            }
            None => {
                let named = extra
                    .dataset
                    .as_deref()
                    .map(|name| format!(" `{name}`"))
                    .unwrap_or_default();
                self.problem(
                    place,
                    format!("cannot tell the dataset{named} that it is measured over; name it as `dataset`"),
                );
                return None;
            }
        };
        Some(MetricKind::Simple {
            dataset,
            expression: text.to_owned(),
            filter: extra.filter.clone(),
            time: extra.time.as_deref().map(FieldRef::parse),
        })
    }

    /// Every name must be a field or column.
    fn check_names(&mut self, text: &str, model: &Model, place: &str) -> Option<()> {
        let parsed = match expression::parse(text) {
            Ok(parsed) => parsed,
            Err(problem) => {
                self.problem(place, format!("`{text}`: {problem}"));
                return None;
            }
        };
        for parts in expression::names(&parsed) {
            let (dataset, field) = match parts.as_slice() {
                [dataset, field] => (Some(dataset), field),
                [field] => (None, field),
                _ => continue,
            };
            let Some(dataset) = dataset else { continue };
            match model.dataset(dataset) {
                None => self.problem(place, format!("`{text}`: there is no dataset `{dataset}`")),
                Some(found) => {
                    if found.field(field).is_none() && found.field_of_column(field).is_none() {
                        self.problem(place, format!("`{text}`: dataset {dataset} has no field `{field}`"));
                    }
                }
            }
        }
        Some(())
    }

    pub(super) fn check_targets(&mut self, model: &Model) {
        for metric in &model.metrics {
            if let Some(of) = &metric.target_of
                && model.metric(of).is_none()
            {
                self.problem(
                    &format!("metric {}", metric.name),
                    format!("target_of: there is no metric `{of}`"),
                );
            }
        }
    }
}

/// A part of a metric that spans several datasets.
fn hidden(part: Part) -> Metric {
    Metric {
        words: Words {
            label: names::readable(&part.name),
            ..Words::default()
        },
        kind: MetricKind::Simple {
            dataset: part.dataset,
            expression: part.expression,
            filter: None,
            time: None,
        },
        name: part.name,
        unit: Unit::Quantity,
        currency: None,
        decimals: None,
        additive: Additive::Full,
        direction: Direction::Neutral,
        target_of: None,
        hidden: true,
    }
}

/// The unit of a metric that states none, by its aggregates and the fields in them.
fn unit_of(written: &OssieMetric, model: &Model) -> Unit {
    let text = written.expression.portable().unwrap_or_default();
    let Ok(parsed) = expression::parse(text) else {
        return Unit::Quantity;
    };
    let units: Vec<Option<Unit>> = expression::names(&parsed)
        .into_iter()
        .filter_map(|parts| match parts.as_slice() {
            [dataset, field] => model.field(&FieldRef::new(dataset, field)),
            [field] => model.field(&FieldRef::new("", field)),
            _ => None,
        })
        .map(|(_, field)| field.unit)
        .collect();
    let money = units.iter().filter(|unit| **unit == Some(Unit::Money)).count();
    match (text.contains('/'), money) {
        (true, two) if two > 1 => Unit::Fraction,
        (_, some) if some > 0 => Unit::Money,
        (false, _) if text.to_ascii_uppercase().starts_with("COUNT") => Unit::Count,
        _ => Unit::Quantity,
    }
}
