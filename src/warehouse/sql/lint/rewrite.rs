//! Proposals: the statement without the join that repeats rows.

use sqlparser::ast::{Expr, Function, JoinConstraint, JoinOperator, Select, TableFactor};

use super::super::resolve::keys::own_column;
use super::super::resolve::parts::{arguments, conjuncts};
use super::super::resolve::{block_columns, parts};
use super::Look;

/// SQL to use instead of an aggregate that the join to `by` repeats the rows of.
///
/// Where `by` only filters, its join becomes an EXISTS. Where it is only summed up, its sums are made before the join.
/// A COUNT of a key becomes a COUNT of distinct keys.
pub(super) fn without_fan_out(look: &Look<'_, '_>, aggregate: &Function, by: usize) -> Option<String> {
    if aggregate.name.to_string().eq_ignore_ascii_case("count") {
        let argument = arguments(aggregate).into_iter().next()?;
        return Some(format!("COUNT(DISTINCT {argument})"));
    }
    let select = look.block.select;
    let (entry, position) = join_of(look, select, by)?;
    let join = select.from.get(entry)?.joins.get(position)?;
    let (JoinOperator::Join(JoinConstraint::On(on)) | JoinOperator::Inner(JoinConstraint::On(on))) =
        &join.join_operator
    else {
        return None;
    };
    exists(look, select, entry, position, on, by).or_else(|| pre_aggregated(look, select, entry, position, on, by))
}

/// Where the relation's join stands in FROM, when it is a plain table joined by itself.
fn join_of(look: &Look<'_, '_>, select: &Select, relation: usize) -> Option<(usize, usize)> {
    let name = look.relation(relation);
    select.from.iter().enumerate().find_map(|(entry, from)| {
        let position = from.joins.iter().position(|join| match &join.relation {
            TableFactor::Table {
                name: table,
                alias,
                args: None,
                ..
            } => match alias {
                Some(alias) => alias.name.value.eq_ignore_ascii_case(name),
                None => table
                    .0
                    .last()
                    .is_some_and(|part| part.to_string().trim_matches(['"', '`']).eq_ignore_ascii_case(name)),
            },
            _ => false,
        })?;
        Some((entry, position))
    })
}

/// The relations of this block that `expr` uses.
fn relations(look: &Look<'_, '_>, expr: &Expr) -> Vec<usize> {
    let mut used: Vec<usize> = block_columns(look.bound, look.index, expr)
        .iter()
        .map(|c| c.relation)
        .collect();
    used.sort_unstable();
    used.dedup();
    used
}

fn and(conditions: Vec<Expr>) -> Option<Expr> {
    conditions.into_iter().reduce(|left, right| Expr::BinaryOp {
        left: Box::new(left),
        op: sqlparser::ast::BinaryOperator::And,
        right: Box::new(right),
    })
}

/// `by` is used in its own ON and in WHERE alone: test that a row of it exists.
fn exists(look: &Look<'_, '_>, select: &Select, entry: usize, position: usize, on: &Expr, by: usize) -> Option<String> {
    let elsewhere = look
        .expressions()
        .into_iter()
        .filter(|e| !select.selection.as_ref().is_some_and(|w| std::ptr::eq(*e, w)))
        .chain(
            look.block
                .joins
                .iter()
                .filter_map(|j| j.on)
                .filter(|o| !std::ptr::eq(*o, on)),
        );
    if elsewhere.into_iter().any(|e| relations(look, e).contains(&by))
        || look.block.items.iter().any(|i| i.column.is_some())
    {
        return None;
    }
    let mut terms = Vec::new();
    select.selection.iter().for_each(|w| conjuncts(w, &mut terms));
    let (inside, outside): (Vec<&Expr>, Vec<&Expr>) = terms.into_iter().partition(|t| relations(look, t).contains(&by));
    let mut rewritten = select.clone();
    let join = rewritten.from.get_mut(entry)?.joins.remove(position);
    let condition = and(std::iter::once(on).chain(inside).cloned().collect())?;
    let test = format!("EXISTS (SELECT 1 FROM {} WHERE {condition})", join.relation);
    rewritten.selection = and(outside.into_iter().cloned().collect());
    Some(with_condition(&rewritten, &test))
}

/// The text of `select` with `test` added to its WHERE.
///
/// A character that no statement can contain (the scan refuses it) marks the place.
fn with_condition(select: &Select, test: &str) -> String {
    let mut marked = select.clone();
    let mark = Expr::Value(sqlparser::ast::Value::Placeholder("\u{1}".to_owned()).into());
    marked.selection = and(marked.selection.into_iter().chain([mark]).collect());
    marked.to_string().replace('\u{1}', test)
}

/// `by` is joined by its own columns and otherwise only summed up: sum it up before the join.
fn pre_aggregated(
    look: &Look<'_, '_>,
    select: &Select,
    entry: usize,
    position: usize,
    on: &Expr,
    by: usize,
) -> Option<String> {
    let mut terms = Vec::new();
    conjuncts(on, &mut terms);
    let mut keys: Vec<String> = Vec::new();
    for term in terms {
        let Expr::BinaryOp {
            left,
            op: sqlparser::ast::BinaryOperator::Eq,
            right,
        } = term
        else {
            return None;
        };
        let own = [left, right]
            .into_iter()
            .find(|e| own_column(look.bound, look.index, e).is_some_and(|c| c.0 == by))?;
        keys.push(last_part(own)?);
    }
    let mut sums: Vec<String> = Vec::new();
    for expr in look.expressions_and_joins() {
        if std::ptr::eq(expr, on) {
            continue;
        }
        let mut fine = true;
        parts::walk(expr, &mut |e| match e {
            Expr::Function(f) if f.over.is_none() && f.name.to_string().eq_ignore_ascii_case("sum") => {
                let own: Option<Vec<String>> = arguments(f)
                    .into_iter()
                    .map(|a| {
                        own_column(look.bound, look.index, a)
                            .filter(|c| c.0 == by)
                            .and_then(|_| last_part(a))
                    })
                    .collect();
                match own {
                    Some(names) => {
                        sums.extend(names);
                        false
                    }
                    None => true,
                }
            }
            other => {
                fine &= !look
                    .bound
                    .column(other)
                    .is_some_and(|c| c.block == look.index && c.relation == by);
                true
            }
        });
        if !fine {
            return None;
        }
    }
    sums.sort();
    sums.dedup();
    if sums.is_empty() || keys.is_empty() || look.block.items.iter().any(|i| i.column.is_some()) {
        return None;
    }
    let join = select.from.get(entry)?.joins.get(position)?;
    let TableFactor::Table { name, .. } = &join.relation else {
        return None;
    };
    let keys = keys.join(", ");
    let sums = sums
        .iter()
        .map(|s| format!("SUM({s}) AS {s}"))
        .collect::<Vec<_>>()
        .join(", ");
    let derived = format!(
        "(SELECT {keys}, {sums} FROM {name} GROUP BY {keys}) AS {}",
        look.relation(by)
    );
    Some(select.to_string().replacen(&join.relation.to_string(), &derived, 1))
}

/// The column's own name, without its qualifier.
fn last_part(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Identifier(ident) => Some(ident.to_string()),
        Expr::CompoundIdentifier(parts) => parts.last().map(ToString::to_string),
        Expr::Nested(inner) => last_part(inner),
        _ => None,
    }
}
