//! A model without what policies hide: nobody is offered a field that may not be read.

use super::{Dataset, FieldRef, Metric, MetricKind, Model, Source};
use crate::warehouse::catalog::{Catalog, Table};

/// `model` with only those datasets, fields, relationships and metrics whose tables and columns `catalog` has.
pub fn visible(mut model: Model, catalog: &Catalog) -> Model {
    let mut hidden: Vec<FieldRef> = Vec::new();
    model
        .datasets
        .retain(|dataset| matches!(&dataset.source, Source::Query(_)) || table_of(dataset, catalog).is_some());
    for dataset in &mut model.datasets {
        if let Some(table) = table_of(dataset, catalog) {
            hide_fields(dataset, table, &mut hidden);
        }
    }
    let sees = |name: &str, columns: &[String]| {
        let dataset = model.datasets.iter().find(|dataset| dataset.name == name);
        dataset.is_some_and(|dataset| {
            table_of(dataset, catalog).is_none_or(|table| columns.iter().all(|column| table.column(column).is_some()))
        })
    };
    model
        .relationships
        .retain(|joins| sees(&joins.from, &joins.from_columns) && sees(&joins.to, &joins.to_columns));
    let names: Vec<String> = model.datasets.iter().map(|dataset| dataset.name.clone()).collect();
    model.metrics.retain(|metric| stands(&metric.kind, &names, &hidden));
    loop {
        let left: Vec<String> = model.metrics.iter().map(|metric| metric.name.clone()).collect();
        model.metrics.retain(|metric| has_its_parts(metric, &left));
        if model.metrics.len() == left.len() {
            return model;
        }
    }
}

fn table_of<'a>(dataset: &Dataset, catalog: &'a Catalog) -> Option<&'a Table> {
    match &dataset.source {
        Source::Table { schema, name } => catalog.table_in(schema.as_deref(), name),
        Source::Query(_) => None,
    }
}

fn hide_fields(dataset: &mut Dataset, table: &Table, hidden: &mut Vec<FieldRef>) {
    let is_seen = |column: &str| table.column(column).is_some();
    let name = dataset.name.clone();
    dataset.fields.retain(|field| {
        let seen = field.column.as_deref().is_none_or(is_seen);
        if !seen {
            hidden.push(FieldRef::new(name.clone(), field.name.clone()));
        }
        seen
    });
    let fields: Vec<&str> = dataset.fields.iter().map(|field| field.name.as_str()).collect();
    dataset.label.retain(|label| fields.contains(&label.as_str()));
    dataset.time = dataset.time.take().filter(|time| fields.contains(&time.as_str()));
    if !dataset.primary_key.iter().all(|column| is_seen(column)) {
        dataset.primary_key.clear();
    }
    dataset
        .unique_keys
        .retain(|key| key.iter().all(|column| is_seen(column)));
    if table.read_through.is_some() {
        // What was counted and listed of the whole table is not what may be seen of it.
        dataset.rows = table.rows.map(|rows| rows.rows);
        dataset.fields.iter_mut().for_each(|field| field.values.clear());
    }
}

/// Is everything there that a simple metric computes with?
fn stands(kind: &MetricKind, datasets: &[String], hidden: &[FieldRef]) -> bool {
    let MetricKind::Simple {
        dataset,
        expression,
        filter,
        time,
    } = kind
    else {
        return true;
    };
    let texts = || std::iter::once(expression).chain(filter);
    let uses = |field: &FieldRef| {
        time.as_ref() == Some(field) || texts().any(|text| mentions(text, field, *dataset == field.dataset))
    };
    datasets.contains(dataset) && !hidden.iter().any(uses)
}

/// Does `text` name the field, with its dataset or, where it is the text's `own`, without?
fn mentions(text: &str, field: &FieldRef, own: bool) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let whole = format!("{}.{}", field.dataset, field.field);
    let mut words = text.split(|c| !is_part(c));
    words.any(|word| word == whole || (own && word == field.field))
}

fn has_its_parts(metric: &Metric, left: &[String]) -> bool {
    match &metric.kind {
        MetricKind::Simple { .. } => true,
        MetricKind::Ratio { numerator, denominator } => left.contains(numerator) && left.contains(denominator),
        MetricKind::Derived { inputs, .. } => inputs.iter().all(|input| left.contains(input)),
    }
}
