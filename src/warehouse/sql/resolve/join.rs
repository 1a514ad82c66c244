//! Joins: their conditions, and the columns that USING and NATURAL make one of.

use std::rc::Rc;

use sqlparser::ast::{Expr, Ident, Join, JoinConstraint, JoinOperator};

use super::model::{ColumnRef, How};
use super::relation::idents;
use super::{Binder, Clause, Scope};
use crate::warehouse::Dialect;
use crate::warehouse::sql::names::{Naming, fold, same};

impl<'a> Binder<'a> {
    /// Binds one join of a FROM entry whose relations begin at `first`.
    pub(super) fn join(&mut self, block: usize, join: &'a Join, first: usize) {
        use JoinOperator as J;
        let start = self.relation_count(block);
        let Sides {
            constraint,
            left_optional,
            right_optional,
            semi,
        } = sides(&join.join_operator);
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
}

/// What a kind of join means for the rows of its two sides.
struct Sides<'a> {
    /// `None` where the right side is computed for each row of the left.
    constraint: Option<&'a JoinConstraint>,
    /// Columns of that side can be NULL for want of a partner.
    left_optional: bool,
    right_optional: bool,
    /// The right side only decides which rows of the left stay.
    semi: bool,
}

fn sides(operator: &JoinOperator) -> Sides<'_> {
    use JoinOperator as J;
    let (constraint, left_optional, right_optional, semi) = match operator {
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
    Sides {
        constraint,
        left_optional,
        right_optional,
        semi,
    }
}
