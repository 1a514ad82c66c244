//! What a SELECT gives out: its fields with their sources, and the keys that its rows are known to have.

use std::ops::ControlFlow;

use sqlparser::ast::{Distinct, Expr, Visit, Visitor};

use super::expression::contains_aggregate;
use super::keys::Links;
use super::model::{Bound, ColumnRef, Field, Item, Meaning, Origin, Place, Shape, Source, address};
use super::select::has_group_by;
use super::{Binder, kind_of};

impl<'a> Binder<'a> {
    /// The output of a block whose names are all bound.
    pub(super) fn output(&self, block: usize) -> Shape {
        let Some(b) = self.bound.blocks.get(block) else {
            return Shape::default();
        };
        let fields: Vec<Field> = b.items.iter().map(|item| self.item_field(item)).collect();
        let star_of_unknown = b.select.projection.len() != b.items.len()
            || b.select.projection.iter().any(|p| p.to_string().ends_with('*'));
        let open = star_of_unknown && b.relations.iter().any(|r| r.shape.open);
        let mut shape = Shape {
            fields,
            keys: Vec::new(),
            open,
        };
        shape.keys = self.output_keys(block);
        if matches!(b.select.distinct, Some(Distinct::Distinct)) {
            shape.keys.push((0..shape.fields.len()).collect());
        }
        if b.place == Place::From && !b.grouped && b.select.distinct.is_none() {
            self.mark_multiplied(block, &mut shape);
        }
        shape
    }

    fn item_field(&self, item: &Item<'a>) -> Field {
        if let Some(column) = item.column {
            let field = self.bound.field(column).cloned();
            return Field {
                name: item.name.clone(),
                ..field.unwrap_or_else(|| Field::unknown(String::new()))
            };
        }
        let Some(expr) = item.expr else {
            return Field::unknown(item.name.clone());
        };
        if let Some(column) = self.bound.column(expr)
            && let Some(field) = self.bound.field(column)
        {
            let optional = self.bound.relation(column).is_some_and(|r| r.optional);
            return Field {
                name: item.name.clone(),
                nullable: field.nullable || optional,
                ..field.clone()
            };
        }
        let origin = match expr {
            Expr::Function(f) if f.over.is_none() && contains_aggregate(expr, self.dialect) => Origin::Aggregate {
                average: is_average(&f.name.to_string()),
            },
            _ if contains_aggregate(expr, self.dialect) => Origin::Aggregate {
                average: self.is_rounded_average(expr),
            },
            _ => Origin::Computed,
        };
        Field {
            name: item.name.clone(),
            kind: kind_of(&self.bound, expr),
            nullable: !is_never_null(expr),
            sources: sources(&self.bound, expr),
            origin,
            multiplied_by: None,
        }
    }

    /// `ROUND(AVG(x), 2)` is still an average.
    fn is_rounded_average(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => self.is_rounded_average(inner),
            Expr::Function(f) if is_average(&f.name.to_string()) => true,
            Expr::Function(f)
                if ["round", "coalesce", "ifnull", "trunc"].contains(&f.name.to_string().to_lowercase().as_str()) =>
            {
                super::parts::arguments(f)
                    .first()
                    .is_some_and(|e| self.is_rounded_average(e))
            }
            _ => false,
        }
    }

    /// Positions of output columns that plainly show `column`.
    fn shown(&self, block: usize, column: ColumnRef) -> Option<usize> {
        let b = self.bound.blocks.get(block)?;
        let stands_for = |c: ColumnRef| {
            c == column
                || b.pairs
                    .iter()
                    .any(|(l, r)| (*l == c && *r == column) || (*r == c && *l == column))
        };
        b.items.iter().position(|item| {
            item.column.is_some_and(stands_for) || item.expr.and_then(|e| self.bound.column(e)).is_some_and(stands_for)
        })
    }

    fn output_keys(&self, block: usize) -> Vec<Vec<usize>> {
        let Some(b) = self.bound.blocks.get(block) else {
            return Vec::new();
        };
        if b.relations.is_empty() && !b.grouped {
            return vec![Vec::new()];
        }
        if b.grouped {
            if !has_group_by(&b.select.group_by) {
                return vec![Vec::new()];
            }
            let key: Option<Vec<usize>> = b.group_by.iter().map(|e| self.shown_expr(block, e)).collect();
            let mut keys: Vec<Vec<usize>> = key.into_iter().collect();
            keys.extend(self.keys_through_group(block));
            return keys;
        }
        let links = Links::of(&self.bound, block);
        let mut keys = Vec::new();
        for (relation, r) in b.relations.iter().enumerate() {
            if r.optional || links.undetermined_from(b, &[relation], &[]).next().is_some() {
                continue;
            }
            for key in &r.shape.keys {
                let shown: Option<Vec<usize>> = key
                    .iter()
                    .map(|field| {
                        self.shown(
                            block,
                            ColumnRef {
                                block,
                                relation,
                                field: *field,
                            },
                        )
                    })
                    .collect();
                keys.extend(shown);
            }
        }
        keys
    }

    /// `GROUP BY t.id, t.name` has the key `id` too, when it is a key of t.
    fn keys_through_group(&self, block: usize) -> Vec<Vec<usize>> {
        let Some(b) = self.bound.blocks.get(block) else {
            return Vec::new();
        };
        let grouped: Vec<ColumnRef> = b.group_by.iter().filter_map(|e| self.bound.column(e)).collect();
        if grouped.len() != b.group_by.len() {
            return Vec::new();
        }
        let mut keys = Vec::new();
        for (relation, r) in b.relations.iter().enumerate() {
            let all_here = grouped.iter().all(|c| c.relation == relation && c.block == block);
            if !all_here || r.optional {
                continue;
            }
            for key in &r.shape.keys {
                let inside = key.iter().all(|f| grouped.iter().any(|c| c.field == *f));
                let shown: Option<Vec<usize>> = key
                    .iter()
                    .map(|field| {
                        self.shown(
                            block,
                            ColumnRef {
                                block,
                                relation,
                                field: *field,
                            },
                        )
                    })
                    .collect();
                keys.extend(shown.filter(|_| inside));
            }
        }
        keys
    }

    /// The output position of the expression of a GROUP BY.
    fn shown_expr(&self, block: usize, expr: &Expr) -> Option<usize> {
        if let Some(column) = self.bound.column(expr) {
            return self.shown(block, column);
        }
        let b = self.bound.blocks.get(block)?;
        b.items
            .iter()
            .position(|item| item.expr.is_some_and(|e| std::ptr::eq(e, expr) || e == expr))
    }

    /// Notes on the fields of a plain join which relation repeats their rows, for aggregates further out.
    fn mark_multiplied(&self, block: usize, shape: &mut Shape) {
        let Some(b) = self.bound.blocks.get(block) else { return };
        if b.relations.len() < 2 {
            return;
        }
        let links = Links::of(&self.bound, block);
        for (field, item) in shape.fields.iter_mut().zip(&b.items) {
            let column = item.column.or_else(|| item.expr.and_then(|e| self.bound.column(e)));
            let Some(column) = column.filter(|c| c.block == block) else {
                continue;
            };
            let by = links
                .multipliers(&self.bound, block, &[column.relation], &[])
                .into_iter()
                .next();
            if let Some(by) = by.and_then(|m| b.relations.get(m.relation)) {
                field.multiplied_by = Some(by.name.as_str().into());
            }
        }
    }
}

/// Names of functions that average.
pub(in crate::warehouse::sql) fn is_average(name: &str) -> bool {
    ["avg", "mean", "favg"].iter().any(|n| name.eq_ignore_ascii_case(n))
}

fn is_never_null(expr: &Expr) -> bool {
    match expr {
        Expr::Value(v) => !matches!(v.value, sqlparser::ast::Value::Null),
        Expr::Function(f) => f.name.to_string().eq_ignore_ascii_case("count"),
        Expr::Nested(inner) => is_never_null(inner),
        _ => false,
    }
}

/// The table columns that `expr` is computed from, sub-queries included.
pub(in crate::warehouse::sql) fn sources(bound: &Bound<'_>, expr: &Expr) -> Vec<Source> {
    let mut collect = Collect {
        bound,
        columns: Vec::new(),
    };
    let _: ControlFlow<()> = expr.visit(&mut collect);
    let mut sources: Vec<Source> = collect
        .columns
        .iter()
        .filter_map(|c| bound.field(*c))
        .flat_map(|f| f.sources.iter().copied())
        .collect();
    sources.sort_unstable();
    sources.dedup();
    sources
}

/// The columns of `block` that `expr` uses, also from inside sub-queries.
pub(in crate::warehouse::sql) fn columns_of(bound: &Bound<'_>, block: usize, expr: &Expr) -> Vec<ColumnRef> {
    let mut collect = Collect {
        bound,
        columns: Vec::new(),
    };
    let _: ControlFlow<()> = expr.visit(&mut collect);
    collect.columns.retain(|c| c.block == block);
    collect.columns.sort_unstable();
    collect.columns.dedup();
    collect.columns
}

/// The columns of `block` that its output shows or computes with.
pub(in crate::warehouse::sql) fn output_columns(bound: &Bound<'_>, block: usize) -> Vec<ColumnRef> {
    let Some(b) = bound.blocks.get(block) else {
        return Vec::new();
    };
    let mut columns: Vec<ColumnRef> = b.items.iter().filter_map(|i| i.column).collect();
    columns.extend(
        b.items
            .iter()
            .filter_map(|i| i.expr)
            .flat_map(|e| columns_of(bound, block, e)),
    );
    columns
}

/// The columns of any block that `expr` uses.
pub(super) fn columns_anywhere(bound: &Bound<'_>, expr: &Expr) -> Vec<ColumnRef> {
    let mut collect = Collect {
        bound,
        columns: Vec::new(),
    };
    let _: ControlFlow<()> = expr.visit(&mut collect);
    collect.columns
}

struct Collect<'b, 'a> {
    bound: &'b Bound<'a>,
    columns: Vec<ColumnRef>,
}

impl Collect<'_, '_> {
    fn meaning(&mut self, meaning: Meaning) {
        match meaning {
            Meaning::Column(column) => self.columns.push(column),
            Meaning::Alias { block, item } => {
                let Some(item) = self.bound.blocks.get(block).and_then(|b| b.items.get(item)) else {
                    return;
                };
                self.columns.extend(item.column);
                if let Some(expr) = item.expr {
                    let _: ControlFlow<()> = expr.visit(self);
                }
            }
            Meaning::Literal => {}
        }
    }
}

impl Visitor for Collect<'_, '_> {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if let Some(meaning) = self.bound.meanings.get(&address(expr)).copied() {
            self.meaning(meaning);
        }
        ControlFlow::Continue(())
    }
}
