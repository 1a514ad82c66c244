//! What a file does not speak of stays as drafted: tables, columns and joins beside those that it names.

use crate::meaning::semantic::{Dataset, MetricKind, Model, Source, names};

/// `model` with what only `drafted` has.
pub fn complete(mut model: Model, drafted: Model) -> Model {
    spell_as_the_database(&mut model, &drafted);
    let renamed: Vec<(String, String)> = drafted
        .datasets
        .iter()
        .filter_map(|dataset| {
            let known = model.datasets.iter().find(|known| same_table(known, dataset))?;
            Some((dataset.name.clone(), known.name.clone()))
        })
        .collect();
    let name = |drafted: &str| {
        let known = renamed.iter().find(|(own, _)| own == drafted);
        known.map_or(drafted, |(_, name)| name.as_str()).to_owned()
    };
    for dataset in drafted.datasets {
        match model.datasets.iter_mut().find(|known| same_table(known, &dataset)) {
            Some(known) => add_fields(known, dataset),
            None => model.datasets.push(dataset),
        }
    }
    for mut relationship in drafted.relationships {
        relationship.from = name(&relationship.from);
        relationship.to = name(&relationship.to);
        let is_known = model.relationships.iter().any(|known| {
            known.from == relationship.from
                && known.to == relationship.to
                && same_columns(&known.from_columns, &relationship.from_columns)
        });
        let is_taken = model.relationships.iter().any(|known| known.name == relationship.name);
        if !is_known && !is_taken {
            model.relationships.push(relationship);
        }
    }
    // Of a dataset that the file measures, it says what there is to measure.
    let measured: Vec<String> = model.metrics.iter().flat_map(|metric| over(&metric.kind)).collect();
    for mut metric in drafted.metrics {
        if let MetricKind::Simple { dataset, .. } = &mut metric.kind {
            if *dataset != name(dataset) {
                continue;
            }
            if !measured.contains(dataset) && model.metric(&metric.name).is_none() {
                model.metrics.push(metric);
            }
        }
    }
    model
}

/// A file may spell a table in another way than the database does: `fire_claim` for `FireClaim`.
fn spell_as_the_database(model: &mut Model, drafted: &Model) {
    for dataset in &mut model.datasets {
        if drafted.datasets.iter().any(|own| same_table(own, dataset)) {
            continue;
        }
        let Source::Table { name, .. } = &dataset.source else {
            continue;
        };
        let wanted = names::snake(name);
        let mut alike = drafted
            .datasets
            .iter()
            .filter(|own| matches!(&own.source, Source::Table { name, .. } if names::snake(name) == wanted));
        if let (Some(only), None) = (alike.next(), alike.next()) {
            dataset.source = only.source.clone();
        }
    }
}

fn over(kind: &MetricKind) -> Option<String> {
    match kind {
        MetricKind::Simple { dataset, .. } => Some(dataset.clone()),
        MetricKind::Ratio { .. } | MetricKind::Derived { .. } => None,
    }
}

fn same_table(a: &Dataset, b: &Dataset) -> bool {
    match (&a.source, &b.source) {
        (
            Source::Table { schema, name },
            Source::Table {
                schema: other,
                name: named,
            },
        ) => schema == other && name == named,
        _ => false,
    }
}

fn same_columns(a: &[String], b: &[String]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.eq_ignore_ascii_case(b))
}

fn add_fields(known: &mut Dataset, drafted: Dataset) {
    for field in drafted.fields {
        let has = known.fields.iter().any(|own| {
            own.name.eq_ignore_ascii_case(&field.name)
                || own.column.is_some()
                    && own.column.as_ref().map(|c| c.to_lowercase()) == field.column.as_ref().map(|c| c.to_lowercase())
        });
        if !has {
            known.fields.push(field);
        }
    }
    if known.label.is_empty() {
        let all_known = drafted.label.iter().all(|name| known.field(name).is_some());
        if all_known {
            known.label = drafted.label;
        }
    }
    if known.primary_key.is_empty() {
        known.primary_key = drafted.primary_key;
    }
}
