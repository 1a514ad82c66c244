//! Resolves every name of a statement against the catalog, scope by scope, and says where output columns come from.

use std::collections::HashMap;
use std::rc::Rc;

use sqlparser::ast::{Expr, Ident, Query};

use super::{OutputColumn, Reason};
use crate::warehouse::Dialect;
use crate::warehouse::catalog::Catalog;

mod aggregated;
mod expression;
mod join;
pub(super) mod keys;
mod kinds;
mod lookup;
pub(super) mod model;
mod output;
pub(super) mod parts;
mod query;
mod relation;
mod report;
mod select;
mod shape;

pub(super) use aggregated::is_aggregated;
pub(super) use kinds::kind_of;
use model::{Bound, Meaning, Place, Shape, Source, address};
pub(super) use output::{columns_of as block_columns, is_average, output_columns};
pub(super) use relation::idents;
pub(super) use select::has_group_by;

/// The part of a SELECT that is being looked at; engines differ in which of them see output aliases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Clause {
    On,
    Where,
    Item,
    GroupBy,
    Having,
    Qualify,
    OrderBy,
}

/// A block whose relations can be named from where we are.
#[derive(Debug, Clone, Copy)]
struct Scope {
    block: usize,
    clause: Clause,
    /// The first relation that can be seen; ON does not see earlier comma-separated entries in most engines.
    first: usize,
    /// Items before this one may be named by later ones, where the engine has lateral aliases.
    item: usize,
}

/// A common table expression in scope.
struct Named {
    name: String,
    shape: Rc<Shape>,
}

/// Walks a statement once and fills in [`Bound`].
pub(super) struct Binder<'a> {
    bound: Bound<'a>,
    dialect: Dialect,
    scopes: Vec<Scope>,
    ctes: Vec<Named>,
    /// Parameters of lambdas around the current expression.
    lambdas: Vec<&'a Ident>,
    /// ON conditions to bind when all of their block's FROM is known.
    late_conditions: Vec<(usize, &'a Expr)>,
    reasons: Vec<Reason>,
}

/// Resolves `query`; the reasons are empty when every name was found.
pub(super) fn resolve<'a>(query: &'a Query, dialect: Dialect, catalog: &'a Catalog) -> (Bound<'a>, Vec<Reason>) {
    let bound = Bound {
        catalog,
        blocks: Vec::new(),
        meanings: HashMap::new(),
        output: Rc::default(),
        used: HashMap::new(),
        read: Vec::new(),
        quoted_strings: Vec::new(),
        reaches_out: false,
    };
    let mut binder = Binder {
        bound,
        dialect,
        scopes: Vec::new(),
        ctes: Vec::new(),
        lambdas: Vec::new(),
        late_conditions: Vec::new(),
        reasons: Vec::new(),
    };
    let output = binder.query(query, Place::Top);
    let Binder {
        mut bound, mut reasons, ..
    } = binder;
    bound.output = output;
    bound.read.sort_unstable();
    bound.read.dedup();
    let mut seen: Vec<Reason> = Vec::new();
    reasons.retain(|reason| {
        let fresh = !seen.contains(reason);
        if fresh {
            seen.push(reason.clone());
        }
        fresh
    });
    (bound, reasons)
}

impl<'a> Binder<'a> {
    fn mean(&mut self, expr: &'a Expr, meaning: Meaning) {
        if let Meaning::Column(column) = meaning
            && let Some(field) = self.bound.field(column)
        {
            let sources = field.sources.clone();
            self.bound.read.extend(sources);
        }
        self.bound.meanings.insert(address(expr), meaning);
    }
}

/// `table.column`, or `schema.table.column` where the table has a schema.
pub(super) fn source_name(catalog: &Catalog, source: Source) -> Option<String> {
    let table = catalog.tables.get(source.table)?;
    let column = &table.columns.get(source.column)?.name;
    Some(match &table.schema {
        Some(schema) => format!("{schema}.{}.{column}", table.name),
        None => format!("{}.{column}", table.name),
    })
}

/// Output columns with their sources, as [`super::CheckedSql`] carries them.
pub(super) fn lineage(bound: &Bound<'_>) -> Vec<OutputColumn> {
    let column = |field: &model::Field| OutputColumn {
        name: field.name.clone(),
        sources: field
            .sources
            .iter()
            .filter_map(|s| source_name(bound.catalog, *s))
            .collect(),
    };
    bound.output.fields.iter().map(column).collect()
}
