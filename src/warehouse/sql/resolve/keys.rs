//! Which rows determine which: from keys and equalities, how often a join repeats the rows of a relation.

use sqlparser::ast::{BinaryOperator, Expr, InTarget};

use super::model::{Block, Bound, ColumnRef, Meaning, address};
use super::output::columns_of;
use super::parts::conjuncts;
use crate::warehouse::catalog::{ForeignKey, KeySource, Table};

/// `gives` has one value for each combination of `needs` (none: it is fixed by a constant).
#[derive(Debug)]
struct Link {
    needs: Vec<(usize, usize)>,
    gives: (usize, usize),
}

/// The equalities of one block, by relation and field.
#[derive(Debug)]
pub(in crate::warehouse::sql) struct Links {
    links: Vec<Link>,
    /// Plain column-to-column equalities.
    equal: Vec<((usize, usize), (usize, usize))>,
}

/// How sure it is that a relation has several rows for one of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::warehouse::sql) enum Certainty {
    /// Keys are known on the other side and not covered by the join.
    Likely,
    /// A foreign key or measured values say that it is one to many.
    Proved,
}

/// A relation that repeats the rows of another.
#[derive(Debug, Clone, Copy)]
pub(in crate::warehouse::sql) struct Multiplier {
    pub relation: usize,
    pub certainty: Certainty,
}

impl Links {
    /// Reads the equalities of `block` from ON, USING, NATURAL and WHERE.
    pub fn of(bound: &Bound<'_>, block: usize) -> Self {
        let mut links = Self {
            links: Vec::new(),
            equal: Vec::new(),
        };
        let Some(b) = bound.blocks.get(block) else { return links };
        for (left, right) in &b.pairs {
            links.both((left.relation, left.field), (right.relation, right.field));
        }
        for condition in conditions(b) {
            links.condition(bound, block, condition);
        }
        links
    }

    fn both(&mut self, left: (usize, usize), right: (usize, usize)) {
        self.links.push(Link {
            needs: vec![left],
            gives: right,
        });
        self.links.push(Link {
            needs: vec![right],
            gives: left,
        });
        self.equal.push((left, right));
    }

    fn condition(&mut self, bound: &Bound<'_>, block: usize, condition: &Expr) {
        match condition {
            Expr::BinaryOp {
                left,
                op: BinaryOperator::Eq | BinaryOperator::Spaceship,
                right,
            }
            | Expr::IsNotDistinctFrom(left, right) => {
                let sides = [(left, right), (right, left)];
                let plain: Vec<_> = sides.iter().map(|(a, _)| own_column(bound, block, a)).collect();
                if let [Some(l), Some(r)] = plain.as_slice()
                    && l != r
                {
                    return self.both(*l, *r);
                }
                for (column, other) in sides {
                    if let Some(gives) = own_column(bound, block, column) {
                        let needs: Vec<_> = columns_of(bound, block, other)
                            .iter()
                            .map(|c| (c.relation, c.field))
                            .collect();
                        if !needs.contains(&gives) {
                            self.links.push(Link { needs, gives });
                        }
                    }
                }
            }
            Expr::In {
                expr,
                target: InTarget::List(list),
                negated: false,
                ..
            } if list.len() == 1 => {
                if let Some(gives) = own_column(bound, block, expr) {
                    self.links.push(Link {
                        needs: Vec::new(),
                        gives,
                    });
                }
            }
            _ => {}
        }
    }

    /// The relations that can have several rows for one row of `seeds` with `columns` fixed.
    pub fn undetermined_from(
        &self,
        block: &Block<'_>,
        seeds: &[usize],
        columns: &[(usize, usize)],
    ) -> impl Iterator<Item = usize> + use<> {
        let determined = self.determined(block, seeds, columns);
        determined
            .into_iter()
            .enumerate()
            .filter(|(_, known)| !known)
            .map(|(relation, _)| relation)
    }

    fn determined(&self, block: &Block<'_>, seeds: &[usize], columns: &[(usize, usize)]) -> Vec<bool> {
        let mut whole: Vec<bool> = (0..block.relations.len()).map(|r| seeds.contains(&r)).collect();
        let mut known: Vec<(usize, usize)> = columns.to_vec();
        let is_known = |whole: &[bool], known: &[(usize, usize)], c: (usize, usize)| {
            whole.get(c.0).copied().unwrap_or(false) || known.contains(&c)
        };
        loop {
            let before = (known.len(), whole.iter().filter(|w| **w).count());
            for link in &self.links {
                if !is_known(&whole, &known, link.gives) && link.needs.iter().all(|c| is_known(&whole, &known, *c)) {
                    known.push(link.gives);
                }
            }
            for (relation, r) in block.relations.iter().enumerate() {
                let covered = |key: &Vec<usize>| key.iter().all(|f| known.contains(&(relation, *f)));
                if let Some(done) = whole.get_mut(relation)
                    && !*done
                    && r.shape.keys.iter().any(covered)
                {
                    *done = true;
                }
            }
            if before == (known.len(), whole.iter().filter(|w| **w).count()) {
                return whole;
            }
        }
    }

    /// Whether the block's rows give one value of `column` for each combination of the group's `columns`.
    pub fn is_determined(&self, block: &Block<'_>, columns: &[(usize, usize)], column: (usize, usize)) -> bool {
        if columns.contains(&column) {
            return true;
        }
        let whole = self.determined(block, &[], columns);
        if whole.get(column.0).copied().unwrap_or(false) {
            return true;
        }
        self.links.iter().any(|l| {
            l.gives == column
                && l.needs
                    .iter()
                    .all(|n| columns.contains(n) || whole.get(n.0).copied().unwrap_or(false))
        })
    }

    /// The relations that repeat rows of `seeds`, with how sure that is; those of which no key is known are left out, and
    /// those that are many only because they hang on another one that is.
    pub fn multipliers(
        &self,
        bound: &Bound<'_>,
        block: usize,
        seeds: &[usize],
        columns: &[(usize, usize)],
    ) -> Vec<Multiplier> {
        let Some(b) = bound.blocks.get(block) else {
            return Vec::new();
        };
        let many: Vec<usize> = self.undetermined_from(b, seeds, columns).collect();
        let left_by = |one: usize| -> Vec<usize> {
            let with: Vec<usize> = seeds.iter().copied().chain([one]).collect();
            self.undetermined_from(b, &with, columns).collect()
        };
        let left: Vec<(usize, Vec<usize>)> = many.iter().map(|m| (*m, left_by(*m))).collect();
        // `one` hangs on `other` when a row of `other` fixes it and not the other way round, or, of two that fix each other,
        // when it comes later.
        let hangs = |one: &(usize, Vec<usize>)| {
            left.iter().any(|other| {
                let fixed = other.0 != one.0 && !other.1.contains(&one.0);
                fixed && (one.1.contains(&other.0) || other.0 < one.0)
            })
        };
        let roots = left.iter().filter(|one| !hangs(one)).map(|(relation, _)| *relation);
        let known = |relation| {
            Some(Multiplier {
                relation,
                certainty: self.certainty(bound, b, relation)?,
            })
        };
        roots.filter_map(known).collect()
    }

    fn certainty(&self, bound: &Bound<'_>, block: &Block<'_>, relation: usize) -> Option<Certainty> {
        let r = block.relations.get(relation)?;
        let joined: Vec<(usize, (usize, usize))> = self
            .equal
            .iter()
            .flat_map(|(l, r)| [(*l, *r), (*r, *l)])
            .filter(|(own, other)| own.0 == relation && other.0 != relation)
            .map(|(own, other)| (own.1, other))
            .collect();
        let table = r.table.and_then(|t| bound.catalog.tables.get(t));
        if let Some(table) = table
            && joined
                .iter()
                .any(|(field, _)| repeats(table, *field) || strong_foreign_key(table, *field))
        {
            return Some(Certainty::Proved);
        }
        if r.shape.open || joined.is_empty() {
            return None;
        }
        (!r.shape.keys.is_empty()).then_some(Certainty::Likely)
    }
}

/// A profile of all rows found repeated values in the column.
fn repeats(table: &Table, field: usize) -> bool {
    table
        .columns
        .get(field)
        .and_then(|c| c.profile.as_ref())
        .is_some_and(|p| !p.sampled && p.distinct + p.nulls < p.rows)
}

/// The column belongs to a foreign key that more than names suggest; such a key is the many side unless it is unique.
fn strong_foreign_key(table: &Table, field: usize) -> bool {
    let Some(column) = table.columns.get(field) else {
        return false;
    };
    let strong = |key: &ForeignKey| key.source != KeySource::Inferred && key.columns.contains(&column.name);
    let has_keys = !table.primary_key.is_empty() || !table.unique_keys.is_empty();
    has_keys && table.foreign_keys.iter().any(strong)
}

/// The conditions that hold for the rows of a block: ON and WHERE, split at AND.
pub(in crate::warehouse::sql) fn conditions<'a>(block: &Block<'a>) -> Vec<&'a Expr> {
    let mut all = Vec::new();
    for joined in &block.joins {
        if let Some(on) = joined.on {
            conjuncts(on, &mut all);
        }
    }
    block
        .select
        .prewhere
        .iter()
        .chain(&block.select.selection)
        .for_each(|e| conjuncts(e, &mut all));
    all
}

/// The column of `block` that `expr` plainly is; a cast of one counts, since casts keep equal values equal.
pub(in crate::warehouse::sql) fn own_column(bound: &Bound<'_>, block: usize, expr: &Expr) -> Option<(usize, usize)> {
    match expr {
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } | Expr::Collate { expr: inner, .. } => {
            own_column(bound, block, inner)
        }
        _ => match bound.meanings.get(&address(expr))? {
            Meaning::Column(ColumnRef {
                block: b,
                relation,
                field,
            }) if *b == block => Some((*relation, *field)),
            _ => None,
        },
    }
}
