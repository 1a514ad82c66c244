//! Queries: WITH, set operations, VALUES, ORDER BY and LIMIT.

use std::rc::Rc;

use sqlparser::ast::{
    Cte, Expr, Ident, LimitClause, OrderByKind, Query, SetExpr, SetOperator, SetQuantifier, TableAliasColumnDef, Value,
    With,
};

use super::model::{Field, Origin, Place, Shape};
use super::{Binder, Named};
use crate::warehouse::Dialect;
use crate::warehouse::sql::names::{Naming, fold, same};

impl<'a> Binder<'a> {
    /// Binds `query` in the current scopes and gives its output.
    pub(super) fn query(&mut self, query: &'a Query, place: Place) -> Rc<Shape> {
        let outer_ctes = self.ctes.len();
        if let Some(with) = &query.with {
            self.with(with);
        }
        let mut shape = match query.body.as_ref() {
            SetExpr::Select(select) => self.select(select, Some(query), place),
            other => {
                let shape = self.set(other, place);
                self.order_by_output(query, &shape);
                self.limits(query);
                shape
            }
        };
        self.ctes.truncate(outer_ctes);
        if !query.pipe_operators.is_empty() {
            return Rc::new(Shape {
                open: true,
                ..Shape::default()
            });
        }
        if limit_is_one(query) && !shape.single_row() {
            Rc::make_mut(&mut shape).keys.push(Vec::new());
        }
        shape
    }

    fn with(&mut self, with: &'a With) {
        for cte in &with.cte_tables {
            let name = fold(&cte.alias.name, self.dialect, Naming::Table).into_owned();
            // SQLite, DuckDB, Snowflake and BigQuery let a CTE name itself without the word RECURSIVE or need it: seeing
            // itself is harmless where it is not meant, since a table of the same name is then named by the anchor.
            let recursive = with.recursive || matches!(self.dialect, Dialect::Sqlite | Dialect::Snowflake);
            let shape = match cte.query.body.as_ref() {
                SetExpr::SetOperation { left, .. } if recursive && mentions(cte, &name, self.dialect) => {
                    self.recursive(cte, left, &name)
                }
                _ => self.query(&cte.query, Place::From),
            };
            let shape = self.renamed(shape, &cte.alias.columns, &cte.alias.name);
            self.ctes.push(Named { name, shape });
        }
    }

    /// Binds the anchor alone to learn the columns, then the whole query with itself in sight.
    fn recursive(&mut self, cte: &'a Cte, anchor: &'a SetExpr, name: &str) -> Rc<Shape> {
        let (reasons, blocks) = (self.reasons.len(), self.bound.blocks.len());
        let outer_ctes = self.ctes.len();
        if let Some(with) = &cte.query.with {
            self.with(with);
        }
        let shape = self.set(anchor, Place::From);
        self.ctes.truncate(outer_ctes);
        // The whole query is bound again below, anchor included.
        self.reasons.truncate(reasons);
        self.bound.blocks.truncate(blocks);
        let mut own = (*self.renamed(shape, &cte.alias.columns, &cte.alias.name)).clone();
        own.keys.clear();
        self.ctes.push(Named {
            name: name.to_owned(),
            shape: Rc::new(own),
        });
        let shape = self.query(&cte.query, Place::From);
        self.ctes.pop();
        shape
    }

    /// `shape` with the columns that an alias gives it: `AS t (a, b)`.
    pub(super) fn renamed(&mut self, shape: Rc<Shape>, columns: &'a [TableAliasColumnDef], alias: &Ident) -> Rc<Shape> {
        if columns.is_empty() {
            return shape;
        }
        let mut shape = shape;
        if shape.open && shape.fields.is_empty() {
            let fields = columns
                .iter()
                .map(|c| Field::unknown(fold(&c.name, self.dialect, Naming::Column).into_owned()));
            return Rc::new(Shape {
                fields: fields.collect(),
                keys: Vec::new(),
                open: true,
            });
        }
        let (given, real) = (columns.len(), shape.fields.len());
        if given > real || (given != real && self.dialect != Dialect::Postgres) {
            self.refuse(
                "column-count-mismatch",
                format!("`{alias}` names {given} columns, but its query has {real}"),
                None,
            );
        }
        let dialect = self.dialect;
        let fields = &mut Rc::make_mut(&mut shape).fields;
        for (field, column) in fields.iter_mut().zip(columns) {
            field.name = fold(&column.name, dialect, Naming::Column).into_owned();
        }
        shape
    }

    fn set(&mut self, body: &'a SetExpr, place: Place) -> Rc<Shape> {
        match body {
            SetExpr::Select(select) => self.select(select, None, place),
            SetExpr::Query(query) => self.query(query, place),
            SetExpr::SetOperation {
                left,
                op,
                set_quantifier,
                right,
            } => {
                let (left, right) = (self.set(left, place), self.set(right, place));
                self.combine(&left, *op, *set_quantifier, &right)
            }
            SetExpr::Values(values) => {
                for expr in values.rows.iter().flat_map(|row| row.content.iter()) {
                    self.expr(expr);
                }
                let first = values
                    .rows
                    .first()
                    .map(|row| row.content.as_slice())
                    .unwrap_or_default();
                let name = |i: usize| match self.dialect {
                    Dialect::Mysql => format!("column_{i}"),
                    Dialect::Duckdb => format!("col{i}"),
                    _ => format!("column{}", i + 1),
                };
                let fields: Vec<Field> = first
                    .iter()
                    .enumerate()
                    .map(|(i, e)| Field {
                        kind: super::kind_of(&self.bound, e),
                        ..Field::unknown(name(i))
                    })
                    .collect();
                let keys = if values.rows.len() == 1 {
                    vec![Vec::new()]
                } else {
                    Vec::new()
                };
                Rc::new(Shape {
                    fields,
                    keys,
                    open: false,
                })
            }
            SetExpr::Table(table) => self.table_command(table),
            // The guard has refused these already.
            SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_) => Rc::default(),
        }
    }

    fn combine(&mut self, left: &Shape, op: SetOperator, quantifier: SetQuantifier, right: &Shape) -> Rc<Shape> {
        let open = left.open || right.open;
        let by_name = matches!(
            quantifier,
            SetQuantifier::ByName | SetQuantifier::AllByName | SetQuantifier::DistinctByName
        );
        if !open && !by_name && left.fields.len() != right.fields.len() {
            let message = format!(
                "the two sides of {op} have {} and {} columns; they must have as many",
                left.fields.len(),
                right.fields.len()
            );
            self.refuse("column-count-mismatch", message, None);
        }
        let all = matches!(quantifier, SetQuantifier::All | SetQuantifier::AllByName);
        let mut fields = left.fields.clone();
        for (field, other) in fields.iter_mut().zip(&right.fields) {
            field.sources.extend_from_slice(&other.sources);
            field.sources.sort_unstable();
            field.sources.dedup();
            field.nullable |= other.nullable;
            if field.kind != other.kind {
                field.kind = None;
            }
            if field.origin != other.origin {
                field.origin = Origin::Computed;
            }
        }
        let every: Vec<usize> = (0..fields.len()).collect();
        let keys = match op {
            SetOperator::Union if all => Vec::new(),
            SetOperator::Union => vec![every],
            SetOperator::Except | SetOperator::Intersect | SetOperator::Minus if all => left.keys.clone(),
            SetOperator::Except | SetOperator::Intersect | SetOperator::Minus => {
                left.keys.iter().cloned().chain([every]).collect()
            }
        };
        Rc::new(Shape { fields, keys, open })
    }

    /// ORDER BY after a set operation sees output columns only.
    fn order_by_output(&mut self, query: &'a Query, shape: &Shape) {
        let Some(order) = &query.order_by else { return };
        let OrderByKind::Expressions(list) = &order.kind else {
            return;
        };
        for item in list {
            match &item.expr {
                Expr::Identifier(ident) => {
                    let name = fold(ident, self.dialect, Naming::Column);
                    let known = shape
                        .fields
                        .iter()
                        .any(|f| same(&name, &f.name, self.dialect, Naming::Column));
                    if !known && !shape.open {
                        self.unknown_output(ident, shape);
                    }
                }
                Expr::Value(value) => self.check_position(&value.value, shape.fields.len(), "ORDER BY"),
                // Engines that allow expressions here match them against the select lists, which were bound already.
                _ => {}
            }
        }
    }

    /// Positions in ORDER BY and GROUP BY count from 1 to the number of output columns.
    pub(super) fn check_position(&mut self, value: &Value, columns: usize, clause: &str) {
        if let Value::Number(digits, _) = value
            && let Ok(position) = digits.parse::<usize>()
            && (position == 0 || position > columns)
        {
            let message = format!("{clause} {position} points past the {columns} output columns");
            self.refuse("position-out-of-range", message, None);
        }
    }

    /// LIMIT and OFFSET hold constants or sub-queries.
    pub(super) fn limits(&mut self, query: &'a Query) {
        match &query.limit_clause {
            Some(LimitClause::LimitOffset {
                limit,
                offset,
                limit_by,
            }) => {
                limit.iter().for_each(|e| self.expr(e));
                offset.iter().for_each(|o| self.expr(&o.value));
                limit_by.iter().for_each(|e| self.expr(e));
            }
            Some(LimitClause::OffsetCommaLimit { offset, limit }) => {
                self.expr(offset);
                self.expr(limit);
            }
            None => {}
        }
    }
}

fn is_number(expr: &Expr, expected: &str) -> bool {
    matches!(expr, Expr::Value(v) if matches!(&v.value, Value::Number(digits, _) if digits == expected))
}

fn limit_is_one(query: &Query) -> bool {
    let limit = match &query.limit_clause {
        Some(LimitClause::LimitOffset { limit, .. }) => limit.as_ref(),
        Some(LimitClause::OffsetCommaLimit { limit, .. }) => Some(limit),
        None => None,
    };
    let fetch = query
        .fetch
        .as_ref()
        .filter(|f| !f.with_ties && !f.percent)
        .and_then(|f| f.quantity.as_ref());
    limit.or(fetch).is_some_and(|e| is_number(e, "1"))
}

/// Whether a CTE's own query names the CTE anywhere, so that it is recursive.
fn mentions(cte: &Cte, name: &str, dialect: Dialect) -> bool {
    use std::ops::ControlFlow;
    sqlparser::ast::visit_relations(&cte.query, |relation| {
        let itself = match relation.0.as_slice() {
            [sqlparser::ast::ObjectNamePart::Identifier(ident)] => {
                same(&fold(ident, dialect, Naming::Table), name, dialect, Naming::Table)
            }
            _ => false,
        };
        if itself {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })
    .is_break()
}
