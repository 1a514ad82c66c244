//! FROM: tables, CTEs, derived tables, table functions, and the joins between them.

use std::rc::Rc;

use sqlparser::ast::{
    Expr, Ident, Join, JoinConstraint, JoinOperator, ObjectName, ObjectNamePart, Table as TableCommand, TableAlias,
    TableFactor, TableWithJoins,
};

use super::model::{ColumnRef, Field, How, Joined, Kind, Origin, Place, Relation, Shape, Source};
use super::{Binder, Clause, Scope};
use crate::warehouse::Dialect;
use crate::warehouse::catalog::Table;
use crate::warehouse::sql::names::{Naming, fold, same};

impl Field {
    /// A field of which the name is known alone.
    pub(super) fn unknown(name: String) -> Self {
        Self {
            name,
            kind: None,
            nullable: true,
            sources: Vec::new(),
            origin: Origin::Computed,
            multiplied_by: None,
        }
    }
}

/// The identifiers of a name, unless one of its parts is computed.
pub(super) fn idents(name: &ObjectName) -> Vec<&Ident> {
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

    fn relation_count(&self, block: usize) -> usize {
        self.bound.blocks.get(block).map_or(0, |b| b.relations.len())
    }

    fn join(&mut self, block: usize, join: &'a Join, first: usize) {
        use JoinOperator as J;
        let start = self.relation_count(block);
        let (constraint, left_optional, right_optional, semi) = match &join.join_operator {
            J::Join(c) | J::Inner(c) | J::StraightJoin(c) => (Some(c), false, false, false),
            J::CrossJoin(c) => (Some(c), false, false, false),
            J::Left(c) | J::LeftOuter(c) => (Some(c), false, true, false),
            J::Right(c) | J::RightOuter(c) => (Some(c), true, false, false),
            J::FullOuter(c) => (Some(c), true, true, false),
            J::Semi(c) | J::LeftSemi(c) | J::Anti(c) | J::LeftAnti(c) => (Some(c), false, false, true),
            J::RightSemi(c) | J::RightAnti(c) => (Some(c), false, false, false),
            J::AsOf { constraint, .. } => (Some(constraint), false, false, true),
            J::CrossApply | J::OuterApply | J::ArrayJoin | J::LeftArrayJoin | J::InnerArrayJoin => {
                (None, false, false, false)
            }
        };
        let how = match (&join.join_operator, constraint) {
            (J::CrossJoin(_), Some(JoinConstraint::None)) => How::Cross,
            (_, Some(JoinConstraint::None)) => How::Bare,
            (_, Some(_)) => How::Condition,
            (_, None) => How::Lateral,
        };
        self.factor(block, &join.relation, how, first);
        let end = self.relation_count(block);
        if let Some(b) = self.bound.blocks.get_mut(block) {
            for (i, relation) in b.relations.iter_mut().enumerate().skip(first) {
                relation.optional |= if i < start { left_optional } else { right_optional };
                if semi && i >= start {
                    // At most one row of a semi join's right side takes part, whatever its keys.
                    Rc::make_mut(&mut relation.shape).keys.push(Vec::new());
                }
            }
        }
        if let J::AsOf { match_condition, .. } = &join.join_operator {
            self.on(block, match_condition, first);
        }
        match constraint {
            Some(JoinConstraint::On(on)) => {
                self.on(block, on, first);
                if let Some(joined) = self.bound.blocks.get_mut(block).and_then(|b| b.joins.last_mut()) {
                    joined.on = Some(on);
                    joined.start = start;
                    joined.end = end;
                }
            }
            Some(JoinConstraint::Using(columns) | JoinConstraint::UsingAlias(columns, _)) => {
                for name in columns.iter().filter_map(|n| idents(n).into_iter().next_back()) {
                    self.using(block, name, first, start, end);
                }
            }
            Some(JoinConstraint::Natural) => self.natural(block, first, start, end),
            Some(JoinConstraint::None) | None => {}
        }
    }

    fn on(&mut self, block: usize, on: &'a Expr, first: usize) {
        if self.dialect == Dialect::Sqlite {
            // SQLite's ON sees all of FROM, later entries too.
            return self.late_conditions.push((block, on));
        }
        let strict = matches!(self.dialect, Dialect::Postgres | Dialect::Mysql);
        self.scopes.push(Scope {
            block,
            clause: Clause::On,
            first: if strict { first } else { 0 },
            item: 0,
        });
        self.expr(on);
        self.scopes.pop();
    }

    /// The field called `name` in relations `from..to` of `block`, not counting those that a merge hides.
    fn field_in(&self, block: usize, name: &str, from: usize, to: usize) -> Option<ColumnRef> {
        let b = self.bound.blocks.get(block)?;
        let hidden = |c: &ColumnRef| b.merged.iter().any(|(_, hides)| hides.contains(c));
        b.relations
            .iter()
            .enumerate()
            .take(to)
            .skip(from)
            .find_map(|(relation, r)| {
                r.shape.fields.iter().enumerate().find_map(|(field, f)| {
                    let column = ColumnRef { block, relation, field };
                    (same(name, &f.name, self.dialect, Naming::Column) && !hidden(&column)).then_some(column)
                })
            })
    }

    fn using(&mut self, block: usize, name: &'a Ident, first: usize, start: usize, end: usize) {
        let folded = fold(name, self.dialect, Naming::Column);
        let left = self.field_in(block, &folded, first, start);
        let right = self.field_in(block, &folded, start, end);
        match (left, right) {
            (Some(left), Some(right)) => self.merge(block, left, right),
            (left, _) => {
                let side = if left.is_none() { first..start } else { start..end };
                let open = self.bound.blocks.get(block).is_some_and(|b| {
                    b.relations
                        .iter()
                        .skip(side.start)
                        .take(side.len())
                        .any(|r| r.shape.open)
                });
                if !open {
                    self.unknown_using(block, name, side);
                }
            }
        }
    }

    fn natural(&mut self, block: usize, first: usize, start: usize, end: usize) {
        let Some(b) = self.bound.blocks.get(block) else { return };
        let right: Vec<String> = b
            .relations
            .iter()
            .take(end)
            .skip(start)
            .flat_map(|r| r.shape.fields.iter().map(|f| f.name.clone()))
            .collect();
        for name in right {
            if let Some(left) = self.field_in(block, &name, first, start)
                && let Some(right) = self.field_in(block, &name, start, end)
            {
                self.merge(block, left, right);
            }
        }
    }

    fn merge(&mut self, block: usize, left: ColumnRef, right: ColumnRef) {
        for column in [left, right] {
            if let Some(field) = self.bound.field(column) {
                let sources = field.sources.clone();
                self.bound.read.extend(sources);
            }
        }
        if let Some(b) = self.bound.blocks.get_mut(block) {
            b.pairs.push((left, right));
            match b.merged.iter_mut().find(|(shown, _)| *shown == left) {
                Some((_, hides)) => hides.push(right),
                None => b.merged.push((left, vec![right])),
            }
        }
    }

    /// Binds one table factor and adds its relations and its join to `block`.
    fn factor(&mut self, block: usize, factor: &'a TableFactor, how: How, first: usize) {
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
                let shape = self.in_from(block, *lateral, first, |binder| binder.query(subquery, Place::From));
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
    fn in_from<T>(&mut self, block: usize, lateral: bool, first: usize, bind: impl FnOnce(&mut Self) -> T) -> T {
        if lateral {
            let _ = first;
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
        let mut exprs: Vec<&'a Expr> = Vec::new();
        let mut shape = Shape {
            open: true,
            ..Shape::default()
        };
        let (alias, name) = match factor {
            TableFactor::Table { name, alias, args, .. } => {
                exprs.extend(
                    args.iter()
                        .flat_map(|a| a.args.iter())
                        .filter_map(super::parts::argument),
                );
                (
                    alias.as_ref(),
                    idents(name).last().map(|i| i.value.to_lowercase()).unwrap_or_default(),
                )
            }
            TableFactor::Function { name, args, alias, .. } => {
                exprs.extend(args.iter().filter_map(super::parts::argument));
                (
                    alias.as_ref(),
                    idents(name).last().map(|i| i.value.to_lowercase()).unwrap_or_default(),
                )
            }
            TableFactor::TableFunction { expr, alias } => {
                exprs.push(expr);
                (alias.as_ref(), String::new())
            }
            TableFactor::UNNEST { alias, array_exprs, .. } => {
                exprs.extend(array_exprs);
                (alias.as_ref(), "unnest".to_owned())
            }
            TableFactor::JsonTable { json_expr, alias, .. } => {
                exprs.push(json_expr);
                (alias.as_ref(), "json_table".to_owned())
            }
            TableFactor::Pivot { table, alias, .. }
            | TableFactor::Unpivot { table, alias, .. }
            | TableFactor::MatchRecognize { table, alias, .. } => {
                // The columns of the result depend on values; the table underneath is still checked.
                let inner = self.relation_count(block);
                self.factor(block, table, How::Lateral, first);
                if let Some(b) = self.bound.blocks.get_mut(block) {
                    b.relations.truncate(inner);
                    b.joins.retain(|j| j.start < inner);
                }
                (alias.as_ref(), "pivot".to_owned())
            }
            TableFactor::XmlTable { alias, .. }
            | TableFactor::SemanticView { alias, .. }
            | TableFactor::OpenJsonTable { alias, .. } => (alias.as_ref(), String::new()),
            TableFactor::UnpivotExpr { expression, .. } => {
                exprs.push(expression);
                (None, String::new())
            }
            TableFactor::Derived { .. } | TableFactor::NestedJoin { .. } => (None, String::new()),
        };
        shape.fields = function_fields(&name);
        // SQLite's JSON functions have exactly these columns.
        shape.open = shape.fields.is_empty() || self.dialect != Dialect::Sqlite;
        self.in_from(block, true, first, |binder| {
            exprs.into_iter().for_each(|e| binder.expr(e))
        });
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
                let (shape, name) = (Rc::clone(&cte.shape), cte.name.clone());
                return self.add(block, shape, alias, None, &name);
            }
        }
        match self.find_table(&parts) {
            Some((index, table)) => {
                let shape = Rc::new(table_shape(index, table));
                self.add(block, shape, alias, Some(index), &table.name);
            }
            None => {
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

/// The fields and keys of a catalog table.
fn table_shape(index: usize, table: &Table) -> Shape {
    let fields = table
        .columns
        .iter()
        .enumerate()
        .map(|(column, c)| {
            let source = Source { table: index, column };
            Field {
                name: c.name.clone(),
                kind: Some(Kind::of(&c.data_type)),
                nullable: c.nullable && !table.primary_key.contains(&c.name),
                sources: vec![source],
                origin: Origin::Column(source),
                multiplied_by: None,
            }
        })
        .collect();
    let position = |name: &String| table.columns.iter().position(|c| c.name == *name);
    let key = |names: &Vec<String>| {
        names
            .iter()
            .map(position)
            .collect::<Option<Vec<usize>>>()
            .filter(|k| !k.is_empty())
    };
    let mut keys: Vec<Vec<usize>> = std::iter::once(&table.primary_key)
        .chain(&table.unique_keys)
        .filter_map(key)
        .collect();
    // A profile of all rows that found no repeat is as good as a declared key.
    for (i, column) in table.columns.iter().enumerate() {
        if let Some(p) = &column.profile
            && !p.sampled
            && p.rows > 0
            && p.nulls == 0
            && p.distinct == p.rows
            && !keys.iter().any(|k| k.as_slice() == [i])
        {
            keys.push(vec![i]);
        }
    }
    // A table without any column known is one that could not be introspected.
    Shape {
        open: table.columns.is_empty(),
        fields,
        keys,
    }
}

/// The columns of well-known table functions.
fn function_fields(name: &str) -> Vec<Field> {
    let names: &[&str] = match name {
        "json_each" | "json_tree" | "jsonb_each" | "jsonb_tree" => &[
            "key", "value", "type", "atom", "id", "parent", "fullkey", "path", "json", "root",
        ],
        "pragma_table_info" => &["cid", "name", "type", "notnull", "dflt_value", "pk", "arg", "schema"],
        "pragma_table_xinfo" => &[
            "cid",
            "name",
            "type",
            "notnull",
            "dflt_value",
            "pk",
            "hidden",
            "arg",
            "schema",
        ],
        "pragma_index_list" => &["seq", "name", "unique", "origin", "partial", "arg", "schema"],
        "pragma_foreign_key_list" => &[
            "id",
            "seq",
            "table",
            "from",
            "to",
            "on_update",
            "on_delete",
            "match",
            "arg",
            "schema",
        ],
        "generate_series" => &["value", "start", "stop", "step"],
        _ => &[],
    };
    names.iter().map(|n| Field::unknown((*n).to_owned())).collect()
}
