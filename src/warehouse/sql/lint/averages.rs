//! `average-of-averages`: groups of different size weighed alike.

use super::super::resolve::is_average;
use super::super::resolve::model::Origin;
use super::super::resolve::parts::arguments;
use super::{LintLevel, Look};

pub(super) fn look(look: &Look<'_, '_>) {
    for aggregate in look.aggregates() {
        if !is_average(&aggregate.name.to_string()) {
            continue;
        }
        let arguments = arguments(aggregate);
        let Some(field) = arguments
            .first()
            .and_then(|e| look.bound.column(e))
            .and_then(|c| look.bound.field(c))
        else {
            continue;
        };
        if field.origin == (Origin::Aggregate { average: true }) {
            let message = format!(
                "`{aggregate}` averages `{}`, which is an average itself: small groups weigh as much as large ones; carry SUM and \
                 COUNT and divide once",
                field.name
            );
            look.note("average-of-averages", LintLevel::Warning, message, None);
        }
    }
}
