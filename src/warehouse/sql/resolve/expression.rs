//! Expressions: every name in them, sub-queries in their own scope, and calls that no engine accepts where they stand.

use sqlparser::ast::{Expr, Function, FunctionArguments, OneOrManyWithParens};

use super::model::{ColumnRef, Place, Shape};
use super::parts::{self, Part};
use super::{Binder, Clause};
use crate::warehouse::Dialect;
use crate::warehouse::sql::guard::functions::is_aggregate;

/// Functions that take a unit such as `month` as a bare word.
const UNIT_FUNCTIONS: [&str; 28] = [
    "age",
    "date_add",
    "date_bucket",
    "date_diff",
    "date_part",
    "date_sub",
    "date_trunc",
    "dateadd",
    "datediff",
    "datename",
    "datepart",
    "datesub",
    "datetime_add",
    "datetime_diff",
    "datetime_sub",
    "datetime_trunc",
    "last_day",
    "next_day",
    "time_diff",
    "time_slice",
    "time_trunc",
    "timeadd",
    "timediff",
    "timestamp_diff",
    "timestamp_trunc",
    "timestampadd",
    "timestampdiff",
    "tumble",
];

/// The units.
const UNITS: [&str; 26] = [
    "century",
    "day",
    "dayofweek",
    "dayofyear",
    "days",
    "decade",
    "dow",
    "doy",
    "epoch",
    "hour",
    "hours",
    "isoweek",
    "isoyear",
    "microsecond",
    "millisecond",
    "minute",
    "minutes",
    "month",
    "months",
    "quarter",
    "second",
    "seconds",
    "week",
    "weeks",
    "year",
    "years",
];

impl<'a> Binder<'a> {
    /// Binds every name in `expr`.
    pub(super) fn expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Identifier(ident) => self.bare(expr, ident),
            Expr::CompoundIdentifier(parts) => self.compound(expr, parts),
            Expr::Function(function) => self.function(expr, function),
            Expr::Lambda(lambda) => {
                let before = self.lambdas.len();
                match &lambda.params {
                    OneOrManyWithParens::One(parameter) => self.lambdas.push(&parameter.name),
                    OneOrManyWithParens::Many(parameters) => self.lambdas.extend(parameters.iter().map(|p| &p.name)),
                }
                self.expr(&lambda.body);
                self.lambdas.truncate(before);
            }
            other => self.parts(other),
        }
    }

    fn parts(&mut self, expr: &'a Expr) {
        parts::for_each(expr, &mut |part| self.part(part));
    }

    fn part(&mut self, part: Part<'a>) {
        match part {
            Part::Expr(inner) => self.expr(inner),
            Part::Exists(query) => {
                self.query(query, Place::Exists);
            }
            Part::Scalar(query) => {
                let shape = self.query(query, Place::Scalar);
                self.one_column(&shape, "a sub-query that stands for a value");
            }
            Part::Membership(query) => {
                self.query(query, Place::Membership);
            }
        }
    }

    fn one_column(&mut self, shape: &Shape, what: &str) {
        if !shape.open && shape.fields.len() > 1 {
            let message = format!("{what} must have one column; this one has {}", shape.fields.len());
            self.refuse("column-count-mismatch", message, None);
        }
    }

    fn function(&mut self, expr: &'a Expr, function: &'a Function) {
        self.placement(function);
        let name = function.name.to_string().to_lowercase();
        let units = UNIT_FUNCTIONS.binary_search(&name.as_str()).is_ok();
        parts::for_each(expr, &mut |part| match part {
            Part::Expr(Expr::Identifier(ident)) if units && ident.quote_style.is_none() && is_unit(&ident.value) => {}
            other => self.part(other),
        });
        if function.over.is_none() && is_aggregate(self.dialect, &name, parts::arguments(function).len()) {
            self.outer_aggregate(expr, function);
        }
    }

    /// An aggregate of enclosing columns alone belongs to the enclosing query, whose WHERE cannot hold it; most often the
    /// column was meant to be one of the sub-query's own.
    fn outer_aggregate(&mut self, expr: &'a Expr, function: &'a Function) {
        let Some(own) = self.scopes.last().map(|s| s.block) else {
            return;
        };
        let columns: Vec<ColumnRef> = super::output::columns_anywhere(&self.bound, expr)
            .into_iter()
            .filter(|c| c.block <= own)
            .collect();
        let Some(first) = columns.first().copied() else { return };
        if columns.iter().any(|c| c.block == own) {
            return;
        }
        let filtered = |s: &super::Scope| s.block == first.block && matches!(s.clause, Clause::Where | Clause::On);
        if !self.scopes.iter().any(filtered) {
            return;
        }
        let name = self.bound.field(first).map(|f| f.name.clone()).unwrap_or_default();
        let tables: Vec<String> = self
            .bound
            .blocks
            .get(own)
            .map(|b| b.relations.iter().map(|r| format!("`{}`", r.name)).collect())
            .unwrap_or_default();
        let message = format!(
            "no column `{name}` in {}; `{function}` takes it from the enclosing query, whose WHERE cannot hold an aggregate",
            tables.join(", ")
        );
        self.refuse("unknown-column", message, None);
    }

    /// Aggregates in WHERE or inside one another, which every engine rejects.
    fn placement(&mut self, function: &'a Function) {
        let arguments = match &function.args {
            FunctionArguments::List(list) => list.args.len(),
            FunctionArguments::None | FunctionArguments::Subquery(_) => 0,
        };
        let name = function.name.to_string();
        if function.over.is_some() || !is_aggregate(self.dialect, &name, arguments) {
            return;
        }
        let clause = self.scopes.last().map(|s| s.clause);
        let place = match clause {
            Some(Clause::Where) => "WHERE",
            Some(Clause::GroupBy) => "GROUP BY",
            _ => "",
        };
        if !place.is_empty() {
            let instead = if place == "WHERE" {
                "; filter groups with HAVING"
            } else {
                ""
            };
            let message = format!("the aggregate `{name}` cannot stand in {place}{instead}");
            self.refuse("misplaced-aggregate", message, None);
        }
        let dialect = self.dialect;
        let nested = parts::arguments(function)
            .into_iter()
            .any(|argument| contains_aggregate(argument, dialect));
        if nested {
            let message = format!("`{name}` has another aggregate inside; compute the inner one in a sub-query first");
            self.refuse("nested-aggregate", message, None);
        }
    }
}

fn is_unit(word: &str) -> bool {
    UNITS.binary_search(&word.to_lowercase().as_str()).is_ok()
}

/// Whether `expr` aggregates rows of its own block (not in a sub-query, not as a window).
pub(super) fn contains_aggregate(expr: &Expr, dialect: Dialect) -> bool {
    let mut found = false;
    parts::walk(expr, &mut |e| {
        if let Expr::Function(function) = e
            && function.over.is_none()
        {
            let arguments = match &function.args {
                FunctionArguments::List(list) => list.args.len(),
                FunctionArguments::None | FunctionArguments::Subquery(_) => 0,
            };
            found |= is_aggregate(dialect, &function.name.to_string(), arguments);
        }
        !found
    });
    found
}
