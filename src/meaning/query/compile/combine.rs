//! Two queries put together row by row.

use crate::meaning::query::compile::scope::Ground;
use crate::meaning::query::compile::select::{Output, Select, indent};
use crate::meaning::query::compile::{Compiled, Place, QueryError, compile_at};
use crate::meaning::query::{Combine, SetOperator};

pub(super) fn compile_combine(
    combine: &Combine,
    ground: Ground<'_>,
    place: &Place<'_>,
) -> Result<Compiled, QueryError> {
    let inside = Place {
        taken: place.taken,
        ordered: false,
    };
    let left = compile_at(&combine.left, ground, &inside)?;
    let right = compile_at(&combine.right, ground, &inside)?;
    if left.columns.len() != right.columns.len() {
        return Err(QueryError::shape(
            format!(
                "the two sides have {} and {} columns",
                left.columns.len(),
                right.columns.len()
            ),
            "give both the same measures and dimensions",
        ));
    }
    let word = match combine.operator {
        SetOperator::Union => "UNION",
        SetOperator::Intersect => "INTERSECT",
        SetOperator::Except => "EXCEPT",
    };
    let side = |part: &Compiled, name: &str| Select {
        outputs: part
            .columns
            .iter()
            .map(|c| {
                let column = ground.quote(&c.name);
                Output {
                    sql: column.clone(),
                    alias: column,
                }
            })
            .collect(),
        from: format!("(\n{}\n) AS {name}", indent(&part.sql)),
        ..Select::default()
    };
    let mut sql = format!(
        "{}\n{word}\n{}",
        side(&left, "one").to_sql(),
        side(&right, "other").to_sql()
    );
    if place.ordered {
        let order: Vec<String> = left.columns.iter().map(|c| ground.quote(&c.name)).collect();
        sql.push_str(&format!("\nORDER BY {}", order.join(", ")));
    }
    let mut whole = left;
    whole.sql = sql;
    let add = |into: &mut Vec<String>, from: Vec<String>| {
        for item in from {
            if !into.contains(&item) {
                into.push(item);
            }
        }
    };
    add(&mut whole.notes, right.notes);
    whole.joins.extend(right.joins);
    whole.definitions.extend(right.definitions);
    whole.joins.dedup();
    whole.definitions.dedup();
    Ok(whole)
}
