//! FROM: tables, CTEs, derived tables and table functions.

use std::rc::Rc;

use sqlparser::ast::{
    Expr, Ident, ObjectName, ObjectNamePart, Table as TableCommand, TableAlias, TableFactor, TableWithJoins,
};

use super::model::{How, Joined, Place, Relation, Shape, Used, address_of};
use super::parts::argument;
use super::shape::{function_fields, table_shape};
use super::{Binder, Clause, Scope};
use crate::warehouse::Dialect;
use crate::warehouse::sql::names::{Naming, fold, same};

/// The identifiers of a name, unless one of its parts is computed.
pub(in crate::warehouse::sql) fn idents(name: &ObjectName) -> Vec<&Ident> {
    name.0
        .iter()
        .filter_map(|part| match part {
            ObjectNamePart::Identifier(ident) => Some(ident),
            ObjectNamePart::Function(_) => None,
        })
        .collect()
}

impl<'a> Binder<'a> {
    /// Binds one comma-separated entry of FROM into `block`.
    pub(super) fn table_with_joins(&mut self, block: usize, entry: &'a TableWithJoins, how: How) {
        let first = self.relation_count(block);
        self.factor(block, &entry.relation, how, first);
        for join in &entry.joins {
            self.join(block, join, first);
        }
    }

    pub(super) fn relation_count(&self, block: usize) -> usize {
        self.bound.blocks.get(block).map_or(0, |b| b.relations.len())
    }

    /// Binds one table factor and adds its relations and its join to `block`.
    pub(super) fn factor(&mut self, block: usize, factor: &'a TableFactor, how: How, first: usize) {
        let start = self.relation_count(block);
        let how = match factor {
            TableFactor::NestedJoin {
                table_with_joins,
                alias,
            } => {
                self.table_with_joins(block, table_with_joins, How::First);
                if let Some(alias) = alias {
                    self.collapse(block, start, alias);
                }
                how
            }
            TableFactor::Table {
                name,
                alias,
                args: None,
                ..
            } => {
                self.table(block, name, alias.as_ref());
                how
            }
            TableFactor::Derived {
                lateral,
                subquery,
                alias,
                ..
            } => {
                let shape = self.in_from(block, *lateral, |binder| binder.query(subquery, Place::From));
                self.add(block, shape, alias.as_ref(), None, "");
                if *lateral { How::Lateral } else { how }
            }
            other => {
                self.function_factor(block, other, first);
                How::Lateral
            }
        };
        let end = self.relation_count(block);
        if let Some(b) = self.bound.blocks.get_mut(block) {
            b.joins.push(Joined {
                start,
                end,
                how,
                on: None,
            });
        }
    }

    /// A parenthesised join with an alias is one relation with all the columns.
    fn collapse(&mut self, block: usize, start: usize, alias: &'a TableAlias) {
        let Some(b) = self.bound.blocks.get_mut(block) else {
            return;
        };
        let inner: Vec<Relation> = b.relations.drain(start..).collect();
        b.joins.retain(|j| j.start < start);
        let fields = inner.iter().flat_map(|r| r.shape.fields.iter().cloned()).collect();
        let open = inner.iter().any(|r| r.shape.open);
        self.add(
            block,
            Rc::new(Shape {
                fields,
                keys: Vec::new(),
                open,
            }),
            Some(alias),
            None,
            "",
        );
    }

    /// Runs `bind` for something in FROM: LATERAL sees the entries before it, others see only enclosing queries.
    fn in_from<T>(&mut self, block: usize, lateral: bool, bind: impl FnOnce(&mut Self) -> T) -> T {
        if lateral {
            self.scopes.push(Scope {
                block,
                clause: Clause::On,
                first: 0,
                item: 0,
            });
        }
        let result = bind(self);
        if lateral {
            self.scopes.pop();
        }
        result
    }

    /// Functions in FROM; their arguments may name entries before them, and their columns are mostly not known.
    fn function_factor(&mut self, block: usize, factor: &'a TableFactor, first: usize) {
        let Called { name, alias, arguments } = called(factor);
        if let TableFactor::Pivot { table, .. }
        | TableFactor::Unpivot { table, .. }
        | TableFactor::MatchRecognize { table, .. } = factor
        {
            // The columns of the result depend on values; the table underneath is still checked.
            let inner = self.relation_count(block);
            self.factor(block, table, How::Lateral, first);
            if let Some(b) = self.bound.blocks.get_mut(block) {
                b.relations.truncate(inner);
                b.joins.retain(|j| j.start < inner);
            }
        }
        let fields = function_fields(&name);
        let shape = Shape {
            // SQLite's JSON functions have exactly these columns.
            open: fields.is_empty() || self.dialect != Dialect::Sqlite,
            fields,
            ..Shape::default()
        };
        self.in_from(block, true, |binder| arguments.into_iter().for_each(|e| binder.expr(e)));
        self.add(block, Rc::new(shape), alias, None, &name);
    }

    /// Adds a relation under its alias, or under `name`.
    fn add(&mut self, block: usize, shape: Rc<Shape>, alias: Option<&'a TableAlias>, table: Option<usize>, name: &str) {
        let shape = match alias {
            Some(alias) => self.renamed(shape, &alias.columns, &alias.name),
            None => shape,
        };
        let real = table.and_then(|t| self.bound.catalog.tables.get(t));
        let relation = Relation {
            name: alias.map_or_else(
                || name.to_owned(),
                |a| fold(&a.name, self.dialect, Naming::Table).into_owned(),
            ),
            schema: real.and_then(|t| t.schema.clone()),
            table,
            shape,
            optional: false,
            aliased: alias.is_some(),
        };
        if let Some(b) = self.bound.blocks.get_mut(block) {
            b.relations.push(relation);
        }
    }

    fn table(&mut self, block: usize, name: &'a ObjectName, alias: Option<&'a TableAlias>) {
        let parts = idents(name);
        if let [only] = parts.as_slice() {
            let folded = fold(only, self.dialect, Naming::Table);
            let cte = self
                .ctes
                .iter()
                .rev()
                .find(|c| same(&folded, &c.name, self.dialect, Naming::Table));
            if let Some(cte) = cte {
                let (shape, shown) = (Rc::clone(&cte.shape), cte.name.clone());
                self.bound.used.insert(address_of(name), Used::Cte);
                return self.add(block, shape, alias, None, &shown);
            }
        }
        match self.find_table(&parts) {
            Some((index, table)) => {
                self.bound.used.insert(address_of(name), Used::Table(index));
                let shape = Rc::new(table_shape(index, table));
                self.add(block, shape, alias, Some(index), &table.name);
            }
            None => {
                self.bound.used.insert(address_of(name), Used::Other);
                let last = parts.last().map_or("", |i| i.value.as_str());
                if !self.is_system_table(&parts) && !self.is_column_path(block, &parts) {
                    self.unknown_table(&parts);
                }
                let open = Rc::new(Shape {
                    open: true,
                    ..Shape::default()
                });
                self.add(block, open, alias, None, last);
            }
        }
    }

    /// The output of `TABLE t`.
    pub(super) fn table_command(&mut self, table: &'a TableCommand) -> Rc<Shape> {
        let refs: Vec<&Ident> = [&table.schema_name, &table.table_name].into_iter().flatten().collect();
        match self.find_table(&refs) {
            Some((index, table)) => {
                let shape = Rc::new(table_shape(index, table));
                self.bound
                    .read
                    .extend(shape.fields.iter().flat_map(|f| f.sources.iter().copied()));
                shape
            }
            None => {
                if !self.is_system_table(&refs) {
                    self.unknown_table(&refs);
                }
                Rc::new(Shape {
                    open: true,
                    ..Shape::default()
                })
            }
        }
    }
}

/// Something in FROM that is no table: what it is called, renamed to, and takes.
struct Called<'a> {
    /// In lower case; empty where it has none.
    name: String,
    alias: Option<&'a TableAlias>,
    arguments: Vec<&'a Expr>,
}

fn called(factor: &TableFactor) -> Called<'_> {
    let lower = |name: &ObjectName| idents(name).last().map(|i| i.value.to_lowercase()).unwrap_or_default();
    let (name, alias, arguments) = match factor {
        TableFactor::Table { name, alias, args, .. } => {
            let arguments = args.iter().flat_map(|a| a.args.iter());
            (lower(name), alias.as_ref(), arguments.filter_map(argument).collect())
        }
        TableFactor::Function { name, args, alias, .. } => {
            (lower(name), alias.as_ref(), args.iter().filter_map(argument).collect())
        }
        TableFactor::TableFunction { expr, alias } => (String::new(), alias.as_ref(), vec![expr]),
        TableFactor::UNNEST { alias, array_exprs, .. } => {
            ("unnest".to_owned(), alias.as_ref(), array_exprs.iter().collect())
        }
        TableFactor::JsonTable { json_expr, alias, .. } => ("json_table".to_owned(), alias.as_ref(), vec![json_expr]),
        TableFactor::Pivot { alias, .. }
        | TableFactor::Unpivot { alias, .. }
        | TableFactor::MatchRecognize { alias, .. } => ("pivot".to_owned(), alias.as_ref(), Vec::new()),
        TableFactor::XmlTable { alias, .. }
        | TableFactor::SemanticView { alias, .. }
        | TableFactor::OpenJsonTable { alias, .. } => (String::new(), alias.as_ref(), Vec::new()),
        TableFactor::UnpivotExpr { expression, .. } => (String::new(), None, vec![expression]),
        TableFactor::Derived { .. } | TableFactor::NestedJoin { .. } => (String::new(), None, Vec::new()),
    };
    Called { name, alias, arguments }
}
