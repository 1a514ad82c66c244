//! `missing-join-condition`: relations of one FROM that nothing ties together.

use sqlparser::ast::{BinaryOperator, Expr, Value};

use super::super::resolve::block_columns;
use super::super::resolve::keys::conditions;
use super::super::resolve::model::How;
use super::{LintLevel, Look, is_distinct};

/// Which conditions tie relations together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ties {
    /// Any that uses both.
    Any,
    /// Those that could equate something; `<`, `>` and BETWEEN do not.
    Equal,
}

pub(super) fn look(look: &Look<'_, '_>) {
    if look.block.relations.len() < 2 {
        return;
    }
    let any = groups(look, Ties::Any);
    if !untied(look, &any) {
        unused_key(look);
    }
}

/// Notes relations that nothing ties to the others; whether there was one.
fn untied(look: &Look<'_, '_>, groups: &[usize]) -> bool {
    let several: Vec<usize> = look.links.undetermined_from(look.block, &[], &[]).collect();
    let members = |wanted: usize| {
        groups
            .iter()
            .enumerate()
            .filter(move |(_, g)| **g == wanted)
            .map(|(r, _)| r)
    };
    let one_row = |group: usize| members(group).all(|m| !several.contains(&m));
    let stored = |group: usize| members(group).any(|r| look.block.relations.get(r).is_some_and(|r| r.table.is_some()));
    let main = groups.first().copied().unwrap_or(0);
    let mut seen = vec![main];
    let mut found = false;
    for (relation, group) in groups.iter().copied().enumerate() {
        if seen.contains(&group) {
            continue;
        }
        seen.push(group);
        if one_row(group) || one_row(main) || is_meant(look, relation) {
            continue;
        }
        let (one, other) = (
            look.relation(members(main).next().unwrap_or(0)),
            look.relation(relation),
        );
        let message = format!(
            "nothing joins `{other}` to `{one}`: every row of one is paired with every row of the other; add a condition, or \
             write CROSS JOIN where that is meant"
        );
        let level = if stored(main) && stored(group) && !is_immune(look) {
            LintLevel::Error
        } else {
            LintLevel::Warning
        };
        let proposal = proposal(look, relation, |other| groups.get(other) != Some(&group));
        look.note("missing-join-condition", level, message, proposal);
        found = true;
    }
    found
}

/// Notes tables that have a foreign key between them and are tied by an inequality, or by constants, alone.
fn unused_key(look: &Look<'_, '_>) {
    let groups = groups(look, Ties::Equal);
    let main = groups.first().copied().unwrap_or(0);
    let mut seen = vec![main];
    for (relation, group) in groups.iter().copied().enumerate() {
        if seen.contains(&group) || is_meant(look, relation) {
            continue;
        }
        seen.push(group);
        if let Some(proposal) = proposal(look, relation, |other| groups.get(other) != Some(&group)) {
            let message = format!(
                "no equality joins `{}` to the tables before it, although a foreign key does; add `{proposal}`",
                look.relation(relation)
            );
            look.note("missing-join-condition", LintLevel::Warning, message, Some(proposal));
        }
    }
}

/// All that comes out are aggregates that repeats do not change, so the pairs cost time alone.
fn is_immune(look: &Look<'_, '_>) -> bool {
    let immune = |f: &&sqlparser::ast::Function| {
        let name = f.name.to_string().to_lowercase();
        is_distinct(f) && name == "count" || name == "min" || name == "max"
    };
    let aggregates = look.aggregates();
    look.block.grouped && !aggregates.is_empty() && aggregates.iter().all(immune)
}

/// For each relation the group that conditions tie it to.
fn groups(look: &Look<'_, '_>, ties: Ties) -> Vec<usize> {
    let count = look.block.relations.len();
    // One more for what lies outside the block: enclosing queries tie their correlated relations together.
    let mut group: Vec<usize> = (0..=count).collect();
    let mut tie = |a: usize, b: usize| {
        let (from, to) = (group.get(a).copied(), group.get(b).copied());
        if let (Some(from), Some(to)) = (from, to) {
            group.iter_mut().filter(|g| **g == from).for_each(|g| *g = to);
        }
    };
    for (left, right) in &look.block.pairs {
        tie(left.relation, right.relation);
    }
    for condition in conditions(look.block).into_iter().filter(|c| is_tie(look, c, ties)) {
        let (own, outer) = used(look, condition);
        for pair in own.windows(2) {
            if let [a, b] = pair {
                tie(*a, *b);
            }
        }
        if outer && let Some(first) = own.first() {
            tie(*first, count);
        }
    }
    for joined in look.block.joins.iter().filter(|j| j.how == How::Lateral) {
        (joined.start..joined.end).for_each(|r| tie(r, 0));
    }
    group.truncate(count);
    group
}

/// Whether some term of the condition uses two relations; `a.x = 1 OR b.y = 2` does not tie a to b.
fn is_tie(look: &Look<'_, '_>, condition: &Expr, ties: Ties) -> bool {
    use BinaryOperator as B;
    match condition {
        Expr::Nested(inner) => is_tie(look, inner, ties),
        Expr::BinaryOp {
            left,
            op: B::And | B::Or,
            right,
        } => is_tie(look, left, ties) || is_tie(look, right, ties),
        Expr::BinaryOp {
            op: B::Lt | B::LtEq | B::Gt | B::GtEq | B::NotEq,
            ..
        }
        | Expr::Between { .. }
            if ties == Ties::Equal =>
        {
            false
        }
        other => {
            let (own, outer) = used(look, other);
            own.len() + usize::from(outer) > 1
        }
    }
}

/// The relations that `condition` uses, and whether it names enclosing queries.
fn used(look: &Look<'_, '_>, condition: &Expr) -> (Vec<usize>, bool) {
    let mut own: Vec<usize> = block_columns(look.bound, look.index, condition)
        .iter()
        .map(|c| c.relation)
        .collect();
    own.sort_unstable();
    own.dedup();
    let outer = (0..look.index).any(|b| !block_columns(look.bound, b, condition).is_empty());
    (own, outer)
}

/// CROSS JOIN in words, or `ON TRUE`.
fn is_meant(look: &Look<'_, '_>, relation: usize) -> bool {
    let joined = look
        .block
        .joins
        .iter()
        .filter(|j| j.start <= relation && relation < j.end);
    joined.into_iter().any(|j| match (j.how, j.on) {
        (How::Cross | How::Lateral, _) => true,
        (How::Condition, Some(on)) => is_true(on),
        (How::First | How::Comma | How::Bare | How::Condition, _) => false,
    })
}

fn is_true(expr: &Expr) -> bool {
    match expr {
        Expr::Value(v) => match &v.value {
            Value::Boolean(value) => *value,
            Value::Number(digits, _) => digits == "1",
            _ => false,
        },
        Expr::BinaryOp { left, right, .. } => left == right && matches!(left.as_ref(), Expr::Value(_)),
        Expr::Nested(inner) => is_true(inner),
        _ => false,
    }
}

/// A condition from a foreign key between `relation` and another table, one of those that `with` picks.
fn proposal(look: &Look<'_, '_>, relation: usize, with: impl Fn(usize) -> bool) -> Option<String> {
    let catalog = look.bound.catalog;
    let table = |r: usize| look.block.relations.get(r)?.table.and_then(|t| catalog.tables.get(t));
    let own = table(relation)?;
    (0..look.block.relations.len())
        .filter(|r| *r != relation && with(*r))
        .find_map(|other| {
            let their = table(other).filter(|their| their.name != own.name)?;
            let (from, to, key) = own
                .foreign_keys
                .iter()
                .find(|k| k.to_table == their.name)
                .map(|k| (relation, other, k))
                .or_else(|| {
                    their
                        .foreign_keys
                        .iter()
                        .find(|k| k.to_table == own.name)
                        .map(|k| (other, relation, k))
                })?;
            let terms: Vec<String> = key
                .columns
                .iter()
                .zip(&key.to_columns)
                .map(|(a, b)| format!("{}.{a} = {}.{b}", look.relation(from), look.relation(to)))
                .collect();
            Some(terms.join(" AND "))
        })
}
