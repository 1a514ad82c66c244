//! One SELECT: its FROM, its output columns, and its clauses in the order in which names become visible.

use std::rc::Rc;

use sqlparser::ast::{
    Distinct, ExcludeSelectItem, Expr, GroupByExpr, GroupByWithModifier, Ident, NamedWindowExpr, OrderByKind, Query,
    Select, SelectItem, SelectItemQualifiedWildcardKind, Value, WildcardAdditionalOptions,
};

use super::expression::contains_aggregate;
use super::model::{Block, ColumnRef, Field, How, Item, Meaning, Place, Relation, Shape, address};
use super::parts::{self, Part};
use super::relation::idents;
use super::{Binder, Clause, Scope};
use crate::warehouse::Dialect;
use crate::warehouse::sql::names::{Naming, fold, same};

impl<'a> Binder<'a> {
    /// Binds `select`; with `query`, its ORDER BY and LIMIT belong to it.
    pub(super) fn select(&mut self, select: &'a Select, query: Option<&'a Query>, place: Place) -> Rc<Shape> {
        let block = self.bound.blocks.len();
        self.bound.blocks.push(Block {
            select,
            query,
            place,
            relations: Vec::new(),
            joins: Vec::new(),
            pairs: Vec::new(),
            merged: Vec::new(),
            items: Vec::new(),
            grouped: false,
            group_by: Vec::new(),
            output: Rc::default(),
        });
        for (i, entry) in select.from.iter().enumerate() {
            self.table_with_joins(block, entry, if i == 0 { How::First } else { How::Comma });
        }
        self.lateral_views(block, select);
        let late = self
            .late_conditions
            .iter()
            .position(|(b, _)| *b == block)
            .unwrap_or(self.late_conditions.len());
        for (_, on) in self.late_conditions.split_off(late) {
            self.scopes.push(Scope {
                block,
                clause: Clause::On,
                first: 0,
                item: 0,
            });
            self.expr(on);
            self.scopes.pop();
        }
        self.items(block, select);
        self.scopes.push(Scope {
            block,
            clause: Clause::Item,
            first: 0,
            item: 0,
        });
        self.clauses(block, select);
        if let Some(query) = query {
            self.in_clause(Clause::OrderBy);
            self.order_by(block, query);
            self.limits(query);
        }
        self.scopes.pop();
        let shape = Rc::new(self.output(block));
        if let Some(b) = self.bound.blocks.get_mut(block) {
            b.output = Rc::clone(&shape);
        }
        shape
    }

    fn in_clause(&mut self, clause: Clause) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.clause = clause;
        }
    }

    /// Spark's LATERAL VIEW adds columns that a generator makes.
    fn lateral_views(&mut self, block: usize, select: &'a Select) {
        for view in &select.lateral_views {
            self.scopes.push(Scope {
                block,
                clause: Clause::On,
                first: 0,
                item: 0,
            });
            self.expr(&view.lateral_view);
            self.scopes.pop();
            let fields = view
                .lateral_col_alias
                .iter()
                .map(|c| Field::unknown(c.value.clone()))
                .collect();
            let relation = Relation {
                name: view.lateral_view_name.to_string(),
                schema: None,
                table: None,
                shape: Rc::new(Shape {
                    fields,
                    keys: Vec::new(),
                    open: view.lateral_col_alias.is_empty(),
                }),
                optional: false,
                aliased: true,
            };
            if let Some(b) = self.bound.blocks.get_mut(block) {
                let start = b.relations.len();
                b.relations.push(relation);
                b.joins.push(super::model::Joined {
                    start,
                    end: start + 1,
                    how: How::Lateral,
                    on: None,
                });
            }
        }
    }

    /// Lists the output columns, stars spelt out.
    fn items(&mut self, block: usize, select: &'a Select) {
        let mut items: Vec<Item<'a>> = Vec::new();
        for item in &select.projection {
            match item {
                SelectItem::UnnamedExpr(expr) => {
                    items.push(Item {
                        name: self.output_name(expr),
                        alias: None,
                        expr: Some(expr),
                        column: None,
                    });
                }
                SelectItem::ExprWithAlias { expr, alias } => items.push(Item {
                    name: fold(alias, self.dialect, Naming::Column).into_owned(),
                    alias: Some(alias),
                    expr: Some(expr),
                    column: None,
                }),
                SelectItem::ExprWithAliases { expr, aliases } => items.extend(aliases.iter().map(|alias| Item {
                    name: alias.value.clone(),
                    alias: Some(alias),
                    expr: Some(expr),
                    column: None,
                })),
                SelectItem::Wildcard(options) => {
                    let all = 0..self.bound.blocks.get(block).map_or(0, |b| b.relations.len());
                    if all.is_empty() && select.from.is_empty() {
                        self.refuse("star-without-from", "`*` needs a FROM clause".to_owned(), None);
                    }
                    self.star(block, all.collect(), false, options, &mut items);
                }
                SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), options) => {
                    let qualifier: Vec<Ident> = idents(name).into_iter().cloned().collect();
                    let scope = Scope {
                        block,
                        clause: Clause::Item,
                        first: 0,
                        item: 0,
                    };
                    match self.relation_named(scope, &qualifier) {
                        Some(relation) => self.star(block, vec![relation], true, options, &mut items),
                        None => self.unknown_star(block, &qualifier),
                    }
                }
                SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::Expr(expr), _) => {
                    items.push(Item {
                        name: expr.to_string(),
                        alias: None,
                        expr: Some(expr),
                        column: None,
                    });
                }
            }
        }
        if let Some(b) = self.bound.blocks.get_mut(block) {
            b.items = items;
        }
    }

    fn star(
        &mut self,
        block: usize,
        relations: Vec<usize>,
        qualified: bool,
        options: &'a WildcardAdditionalOptions,
        items: &mut Vec<Item<'a>>,
    ) {
        let excluded = excluded(options);
        let Some(b) = self.bound.blocks.get(block) else { return };
        let mut columns: Vec<(ColumnRef, String)> = Vec::new();
        for relation in relations {
            let Some(r) = b.relations.get(relation) else { continue };
            for (field, f) in r.shape.fields.iter().enumerate() {
                let column = ColumnRef { block, relation, field };
                let hidden = !qualified && b.merged.iter().any(|(_, hides)| hides.contains(&column));
                let left_out = excluded.iter().any(|name| {
                    same(
                        &fold(name, self.dialect, Naming::Column),
                        &f.name,
                        self.dialect,
                        Naming::Column,
                    )
                });
                if !hidden && !left_out {
                    columns.push((column, f.name.clone()));
                }
            }
        }
        let replaced: Vec<_> = options.opt_replace.iter().flat_map(|r| r.items.iter()).collect();
        for (column, name) in columns {
            let new = replaced.iter().find(|r| {
                same(
                    &fold(&r.column_name, self.dialect, Naming::Column),
                    &name,
                    self.dialect,
                    Naming::Column,
                )
            });
            if let Some(field) = self.bound.field(column) {
                let sources = field.sources.clone();
                self.bound.read.extend(sources);
            }
            items.push(match new {
                Some(new) => Item {
                    name,
                    alias: None,
                    expr: Some(&new.expr),
                    column: None,
                },
                None => Item {
                    name,
                    alias: None,
                    expr: None,
                    column: Some(column),
                },
            });
        }
    }

    fn output_name(&self, expr: &Expr) -> String {
        match (expr, self.dialect) {
            (Expr::Identifier(ident), _) => fold(ident, self.dialect, Naming::Column).into_owned(),
            (Expr::CompoundIdentifier(parts), _) => parts
                .last()
                .map(|i| fold(i, self.dialect, Naming::Column).into_owned())
                .unwrap_or_default(),
            (Expr::Nested(inner), Dialect::Postgres) => self.output_name(inner),
            (Expr::Function(f), Dialect::Postgres) => idents(&f.name)
                .last()
                .map(|i| i.value.to_lowercase())
                .unwrap_or_default(),
            (Expr::Cast { expr, .. }, Dialect::Postgres) => self.output_name(expr),
            (_, Dialect::Postgres) => "?column?".to_owned(),
            (other, _) => other.to_string(),
        }
    }

    /// Binds the clauses after FROM.
    fn clauses(&mut self, block: usize, select: &'a Select) {
        let exprs: Vec<(usize, &'a Expr)> = self
            .bound
            .blocks
            .get(block)
            .map(|b| {
                b.items
                    .iter()
                    .enumerate()
                    .filter_map(|(i, item)| Some((i, item.expr?)))
                    .collect()
            })
            .unwrap_or_default();
        for (i, expr) in &exprs {
            if let Some(scope) = self.scopes.last_mut() {
                scope.item = *i;
            }
            self.expr(expr);
        }
        if let Some(Distinct::On(list)) = &select.distinct {
            self.in_clause(Clause::OrderBy);
            list.iter().for_each(|e| self.expr(e));
        }
        self.in_clause(Clause::Where);
        select
            .prewhere
            .iter()
            .chain(&select.selection)
            .for_each(|e| self.expr(e));
        self.in_clause(Clause::GroupBy);
        self.group_by(block, select);
        self.in_clause(Clause::Having);
        select.having.iter().for_each(|e| self.expr(e));
        self.in_clause(Clause::Qualify);
        select.qualify.iter().for_each(|e| self.expr(e));
        for window in &select.named_window {
            if let NamedWindowExpr::WindowSpec(spec) = &window.1 {
                let mut inner: Vec<&'a Expr> = Vec::new();
                parts::each_of_window(spec, &mut |part| {
                    if let Part::Expr(e) = part {
                        inner.push(e);
                    }
                });
                inner.into_iter().for_each(|e| self.expr(e));
            }
        }
        self.in_clause(Clause::OrderBy);
        select.sort_by.iter().for_each(|o| self.expr(&o.expr));
        select
            .cluster_by
            .iter()
            .chain(&select.distribute_by)
            .for_each(|e| self.expr(e));
        let dialect = self.dialect;
        let aggregates = exprs.iter().any(|(_, e)| contains_aggregate(e, dialect))
            || select.having.as_ref().is_some_and(|e| contains_aggregate(e, dialect));
        if let Some(b) = self.bound.blocks.get_mut(block) {
            b.grouped = aggregates || select.having.is_some() || has_group_by(&select.group_by);
        }
    }

    fn group_by(&mut self, block: usize, select: &'a Select) {
        let (list, modifiers): (Vec<&'a Expr>, _) = match &select.group_by {
            GroupByExpr::Expressions(list, modifiers) => (list.iter().collect(), modifiers),
            GroupByExpr::All(modifiers) => {
                let dialect = self.dialect;
                let items = self
                    .bound
                    .blocks
                    .get(block)
                    .map(|b| b.items.clone())
                    .unwrap_or_default();
                (
                    items
                        .iter()
                        .filter_map(|i| i.expr)
                        .filter(|e| !contains_aggregate(e, dialect))
                        .collect(),
                    modifiers,
                )
            }
        };
        let all = matches!(select.group_by, GroupByExpr::All(_));
        let mut keys: Vec<&'a Expr> = Vec::new();
        for expr in list {
            flatten(expr, &mut keys);
        }
        for modifier in modifiers {
            if let GroupByWithModifier::GroupingSets(expr) = modifier {
                flatten(expr, &mut keys);
            }
        }
        let mut resolved: Vec<&'a Expr> = Vec::new();
        for expr in keys {
            if all {
                resolved.push(expr);
                continue;
            }
            if let Expr::Value(value) = expr {
                let columns = self.bound.blocks.get(block).map_or(0, |b| b.items.len());
                self.check_position(&value.value, columns, "GROUP BY");
                let item = position(&value.value).and_then(|p| self.bound.blocks.get(block)?.items.get(p)?.expr);
                resolved.push(item.unwrap_or(expr));
                continue;
            }
            self.expr(expr);
            resolved.push(match self.bound.meanings.get(&address(expr)) {
                Some(Meaning::Alias { block, item }) => self
                    .bound
                    .blocks
                    .get(*block)
                    .and_then(|b| b.items.get(*item))
                    .and_then(|i| i.expr)
                    .unwrap_or(expr),
                _ => expr,
            });
        }
        if let Some(b) = self.bound.blocks.get_mut(block) {
            b.group_by = resolved;
        }
    }

    fn order_by(&mut self, block: usize, query: &'a Query) {
        let Some(order) = &query.order_by else { return };
        let OrderByKind::Expressions(list) = &order.kind else {
            return;
        };
        for item in list {
            match &item.expr {
                Expr::Value(value) => {
                    let columns = self.bound.blocks.get(block).map_or(0, |b| b.items.len());
                    let open = self
                        .bound
                        .blocks
                        .get(block)
                        .is_some_and(|b| b.relations.iter().any(|r| r.shape.open));
                    if !open {
                        self.check_position(&value.value, columns, "ORDER BY");
                    }
                }
                other => self.expr(other),
            }
        }
    }
}

/// The zero-based column that a position in GROUP BY or ORDER BY points at.
pub(in crate::warehouse::sql) fn position(value: &Value) -> Option<usize> {
    match value {
        Value::Number(digits, _) => digits.parse::<usize>().ok()?.checked_sub(1),
        _ => None,
    }
}

/// Whether there is any GROUP BY.
pub(in crate::warehouse::sql) fn has_group_by(group_by: &GroupByExpr) -> bool {
    match group_by {
        GroupByExpr::All(_) => true,
        GroupByExpr::Expressions(list, modifiers) => !list.is_empty() || !modifiers.is_empty(),
    }
}

/// The expressions that ROLLUP, CUBE, GROUPING SETS and tuples list.
fn flatten<'a>(expr: &'a Expr, into: &mut Vec<&'a Expr>) {
    match expr {
        Expr::Rollup(sets) | Expr::Cube(sets) | Expr::GroupingSets(sets) => into.extend(sets.iter().flatten()),
        Expr::Tuple(list) => into.extend(list),
        other => into.push(other),
    }
}

fn excluded(options: &WildcardAdditionalOptions) -> Vec<&Ident> {
    let mut names: Vec<&Ident> = Vec::new();
    match &options.opt_exclude {
        Some(ExcludeSelectItem::Single(name)) => names.extend(idents(name).last()),
        Some(ExcludeSelectItem::Multiple(list)) => {
            names.extend(list.iter().filter_map(|n| idents(n).into_iter().next_back()))
        }
        None => {}
    }
    if let Some(except) = &options.opt_except {
        names.push(&except.first_element);
        names.extend(&except.additional_elements);
    }
    names
}
