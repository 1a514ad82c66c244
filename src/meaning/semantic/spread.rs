//! Metrics whose formula spans several datasets, taken apart into one part for each kind of rows, so that no join between
//! them multiplies anything.

use std::ops::ControlFlow;

use sqlparser::ast::{DuplicateTreatment, Expr, FunctionArguments, Ident, visit_expressions, visit_expressions_mut};

use crate::meaning::semantic::{DatasetKind, Model, expression};

/// Over which rows a formula is computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spread {
    /// All of it over the rows of one dataset.
    One(String),
    /// Parts over different rows, and the arithmetic over the parts' names.
    Several { formula: String, parts: Vec<Part> },
}

/// Aggregates over the rows of one dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    pub name: String,
    pub dataset: String,
    pub expression: String,
}

/// Takes the formula of `metric` apart, or `None` when it cannot be told whose rows it is about.
///
/// `SUM(sales.amount) / COUNT(DISTINCT customers.id)` stays whole over `sales`, since distinct counts do not mind how often
/// a customer occurs; `SUM(sales.amount) / SUM(stores.employees)` is taken apart, since stores would be added up once a
/// sale.
pub fn spread(metric: &str, formula: &Expr, model: &Model) -> Option<Spread> {
    let all = home(&datasets_in(formula, model), model);
    let mut found: Vec<(Expr, Option<String>)> = Vec::new();
    let _ = visit_expressions(formula, |expr| {
        if expression::is_aggregate(expr) && !found.iter().any(|(known, _)| known == expr) {
            found.push((expr.clone(), rows_of(expr, all.as_ref(), model)));
        }
        ControlFlow::<()>::Continue(())
    });
    let mut homes: Vec<String> = found.iter().filter_map(|(_, dataset)| dataset.clone()).collect();
    homes.sort();
    homes.dedup();
    match homes.as_slice() {
        [] => all.or_else(|| only_fact(model)).map(Spread::One),
        [one] => Some(Spread::One(one.clone())),
        _ => {
            let mut parts = Vec::new();
            for (at, (aggregate, dataset)) in found.iter().enumerate() {
                parts.push(Part {
                    name: format!("{metric}__{}", at + 1),
                    dataset: dataset.clone().or_else(|| all.clone())?,
                    expression: aggregate.to_string(),
                });
            }
            let mut rest = formula.clone();
            let _ = visit_expressions_mut(&mut rest, |expr| {
                if let Some(at) = found.iter().position(|(known, _)| known == expr)
                    && let Some(part) = parts.get(at)
                {
                    *expr = Expr::Identifier(Ident::new(part.name.clone()));
                }
                ControlFlow::<()>::Continue(())
            });
            Some(Spread::Several {
                formula: rest.to_string(),
                parts,
            })
        }
    }
}

/// The dataset over whose rows one aggregate is taken.
fn rows_of(aggregate: &Expr, all: Option<&String>, model: &Model) -> Option<String> {
    let own = home(&datasets_in(aggregate, model), model);
    match all.filter(|_| does_not_mind_repeats(aggregate)) {
        Some(all) => Some(all.clone()),
        None => own,
    }
}

/// Is the aggregate the same however often a row is repeated?
fn does_not_mind_repeats(aggregate: &Expr) -> bool {
    let Expr::Function(function) = aggregate else {
        return false;
    };
    let name = function.name.to_string().to_ascii_uppercase();
    let distinct = matches!(
        &function.args,
        FunctionArguments::List(list) if list.duplicate_treatment == Some(DuplicateTreatment::Distinct)
    );
    distinct || name == "MIN" || name == "MAX"
}

/// The datasets that an expression names; a plain name means the only dataset that has such a field.
fn datasets_in(formula: &Expr, model: &Model) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for parts in expression::names(formula) {
        let dataset = match parts.as_slice() {
            [.., dataset, _] => model.dataset(dataset),
            [field] => {
                let has =
                    |d: &&crate::meaning::semantic::Dataset| d.field(field).or(d.field_of_column(field)).is_some();
                let mut owners = model.datasets.iter().filter(has);
                owners.next().filter(|_| owners.next().is_none())
            }
            [] => None,
        };
        if let Some(dataset) = dataset
            && !found.contains(&dataset.name)
        {
            found.push(dataset.name.clone());
        }
    }
    found
}

/// The dataset whose rows point at all others of `datasets`.
pub fn home(datasets: &[String], model: &Model) -> Option<String> {
    let reaches =
        |from: &String, to: &String| from == to || model.path(from, to).is_some_and(|path| path.is_many_to_one());
    datasets
        .iter()
        .find(|from| datasets.iter().all(|to| reaches(from, to)))
        .cloned()
}

/// The one dataset of things that happened that nothing points at: what `COUNT(*)` by itself counts.
fn only_fact(model: &Model) -> Option<String> {
    let is_pointed_at = |name: &String| model.relationships.iter().any(|r| r.to.eq_ignore_ascii_case(name));
    let is_end = |d: &&crate::meaning::semantic::Dataset| d.kind == DatasetKind::Fact && !is_pointed_at(&d.name);
    let mut ends = model.datasets.iter().filter(is_end);
    ends.next().filter(|_| ends.next().is_none()).map(|d| d.name.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meaning::semantic::draft;
    use crate::meaning::semantic::draft::tests::northwind_like;

    fn spread_of(text: &str) -> Option<Spread> {
        spread("m", &expression::parse(text).unwrap(), &draft(&northwind_like()))
    }

    #[test]
    fn sums_over_different_rows_are_taken_apart() {
        let expected = Spread::Several {
            formula: "m__1 / NULLIF(m__2, 0)".into(),
            parts: vec![
                Part {
                    name: "m__1".into(),
                    dataset: "order_details".into(),
                    expression: "SUM(order_details.quantity)".into(),
                },
                Part {
                    name: "m__2".into(),
                    dataset: "orders".into(),
                    expression: "SUM(orders.freight)".into(),
                },
            ],
        };
        assert_eq!(
            spread_of("SUM(order_details.quantity) / NULLIF(SUM(orders.freight), 0)"),
            Some(expected)
        );
    }

    #[test]
    fn distinct_counts_stay_with_the_rows_that_they_are_divided_by() {
        let whole = Spread::One("order_details".into());
        assert_eq!(
            spread_of("SUM(order_details.quantity) / COUNT(DISTINCT orders.customer_id)"),
            Some(whole.clone())
        );
        assert_eq!(spread_of("SUM(quantity)"), Some(whole));
    }
}
