//! Which parts of a model can be asked for: each field and metric is compiled and checked once.

use std::path::Path;

use crate::meaning::query::{Measure, Query, Rows, Summary, compile};
use crate::meaning::semantic::{FieldRef, MetricKind, Model, SemanticError, file, load};
use crate::warehouse::catalog::Catalog;
use crate::warehouse::sql;

/// The model at `path` as far as it can be asked for. An Ossie file must fit the database wholly; what other tools' files say
/// beyond it is left out.
pub fn open(path: &Path, catalog: &Catalog) -> Result<Model, SemanticError> {
    let mut opened = file::open(path, catalog)?;
    if opened.imported {
        keep_sound(&mut opened.model, catalog);
    }
    Ok(opened.model)
}

/// Everything at `path` that does not fit the database; empty when all is well.
pub fn problems(path: &Path, catalog: &Catalog) -> Result<Vec<String>, SemanticError> {
    match file::open(path, catalog) {
        Ok(mut opened) => {
            let mut found = opened.left_out;
            found.extend(keep_sound(&mut opened.model, catalog));
            if !opened.imported && !file::is_glossary(path) {
                found.extend(load::check(&file::text(path)?, catalog));
            }
            Ok(found)
        }
        Err(SemanticError::Invalid(_)) => Ok(load::check(&file::text(path)?, catalog)),
        Err(other) => Err(other),
    }
}

/// Takes out of `model` what no statement can be made of on this database, and says what and why.
pub fn keep_sound(model: &mut Model, catalog: &Catalog) -> Vec<String> {
    let mut left_out = Vec::new();
    let whole = model.clone();
    for dataset in &mut model.datasets {
        let name = dataset.name.clone();
        dataset.fields.retain(|field| {
            // A plain column was looked up already.
            if field.column.is_some() {
                return true;
            }
            let query = Query::Rows(Rows {
                dataset: name.clone(),
                fields: vec![FieldRef::new(&name, &field.name)],
                ..Rows::default()
            });
            let problem = problem(&query, &whole, catalog);
            left_out.extend(
                problem
                    .iter()
                    .map(|problem| format!("field {name}.{}: {problem}", field.name)),
            );
            problem.is_none()
        });
    }
    model.metrics.retain(|metric| {
        let query = Query::Summary(Summary {
            measures: vec![Measure::Metric(metric.name.clone())],
            ..Summary::default()
        });
        let problem = problem(&query, &whole, catalog);
        left_out.extend(
            problem
                .iter()
                .map(|problem| format!("metric {}: {problem}", metric.name)),
        );
        problem.is_none()
    });
    let names: Vec<String> = model.metrics.iter().map(|metric| metric.name.to_lowercase()).collect();
    let has = |name: &String| names.contains(&name.to_lowercase());
    model.metrics.retain(|metric| match &metric.kind {
        MetricKind::Simple { .. } => true,
        MetricKind::Ratio { numerator, denominator } => has(numerator) && has(denominator),
        MetricKind::Derived { inputs, .. } => inputs.iter().all(has),
    });
    left_out
}

fn problem(query: &Query, model: &Model, catalog: &Catalog) -> Option<String> {
    let compiled = match compile(query, model, catalog, catalog.dialect) {
        Ok(compiled) => compiled,
        Err(error) => return Some(error.to_string()),
    };
    let checked = sql::check(&compiled.sql, catalog.dialect, Some(catalog));
    checked.err().map(|refusal| refusal.to_string())
}
