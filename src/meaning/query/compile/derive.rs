//! Shares and changes: what is computed of the columns of a grouped result.

use crate::meaning::query::Derive;
use crate::meaning::query::compile::filter::literal;
use crate::meaning::query::compile::scope::Ground;
use crate::meaning::query::compile::select::{Output, Select, indent, text_literal};
use crate::meaning::query::compile::summary::PERIOD;
use crate::meaning::query::compile::{ColumnKind, Compiled, OutputColumn, QueryError};
use crate::meaning::query::{Literal, NamedWindow, Summary};
use crate::meaning::semantic::Unit;
use crate::warehouse::catalog::DataType;

/// The name of the grouped result inside the statement.
const GROUPED: &str = "grouped";

/// `inner` is the summary without what is derived, unordered.
pub(super) fn derived(
    summary: &Summary,
    derive: &Derive,
    inner: Compiled,
    ground: Ground<'_>,
) -> Result<Compiled, QueryError> {
    match derive {
        Derive::Share { only } => share(inner, only, ground),
        Derive::Change => change(inner, &summary.compare, ground),
    }
}

fn share(inner: Compiled, only: &[Literal], ground: Ground<'_>) -> Result<Compiled, QueryError> {
    let groups = of_kind(&inner, false);
    let measures = of_kind(&inner, true);
    let shares = measures.iter().map(|measure| {
        let name = ground.quote(&measure.name);
        let column = part_of(measure, "share", Unit::Fraction);
        let sql = format!("1.0 * {name} / NULLIF(SUM({name}) OVER (), 0)");
        (sql, column)
    });
    let shares: Vec<(String, OutputColumn)> = shares.collect();
    let plain = groups
        .iter()
        .chain(&measures)
        .map(|column| (ground.quote(&column.name), column.clone()));
    let order = measures
        .iter()
        .map(|measure| format!("{} DESC", ground.quote(&measure.name)));
    let order = order
        .chain(groups.iter().map(|group| ground.quote(&group.name)))
        .collect();
    let all = select(&inner, plain.chain(shares.clone()).collect(), order, ground);
    let [group] = groups.as_slice() else {
        return Ok(all);
    };
    if only.is_empty() {
        return Ok(all);
    }
    // "What share is France's": one number, taken out of the shares of all.
    let values: Vec<String> = only
        .iter()
        .map(|value| literal(value, &DataType::Text, ground.dialect))
        .collect();
    let mut each = select(
        &inner,
        [(ground.quote(&group.name), group.clone())]
            .into_iter()
            .chain(shares.clone())
            .collect(),
        Vec::new(),
        ground,
    );
    let sums = shares.iter().map(|(_, column)| {
        let name = ground.quote(&column.name);
        Output {
            sql: format!("SUM({name})"),
            alias: name,
        }
    });
    let outer = Select {
        outputs: sums.collect(),
        from: format!("(\n{}\n) AS shares", indent(&each.sql)),
        conditions: vec![format!("{} IN ({})", ground.quote(&group.name), values.join(", "))],
        ..Select::default()
    };
    each.sql = outer.to_sql();
    each.columns = shares.into_iter().map(|(_, column)| column).collect();
    Ok(each)
}

fn change(inner: Compiled, windows: &[NamedWindow], ground: Ground<'_>) -> Result<Compiled, QueryError> {
    let [before, after] = windows else {
        return Err(QueryError::shape(
            "a change needs two windows",
            "put the earlier and the later one into `compare`",
        ));
    };
    let groups: Vec<OutputColumn> = of_kind(&inner, false)
        .into_iter()
        .filter(|column| column.name != PERIOD)
        .collect();
    let mut outputs: Vec<(String, OutputColumn)> = groups
        .iter()
        .map(|column| (ground.quote(&column.name), column.clone()))
        .collect();
    for measure in of_kind(&inner, true) {
        let name = ground.quote(&measure.name);
        let within = |window: &NamedWindow| {
            format!(
                "SUM(CASE WHEN {PERIOD} = {} THEN {name} END)",
                text_literal(&window.label)
            )
        };
        let (old, new) = (within(before), within(after));
        let same = measure.unit.unwrap_or(Unit::Quantity);
        outputs.push((old.clone(), part_of(&measure, "before", same)));
        outputs.push((new.clone(), part_of(&measure, "after", same)));
        outputs.push((format!("{new} - {old}"), part_of(&measure, "change", same)));
        outputs.push((
            format!("1.0 * ({new} - {old}) / NULLIF({old}, 0)"),
            part_of(&measure, "change_rate", Unit::Fraction),
        ));
    }
    let order: Vec<String> = groups.iter().map(|group| ground.quote(&group.name)).collect();
    let mut compiled = Compiled {
        sql: String::new(),
        columns: outputs.iter().map(|(_, column)| column.clone()).collect(),
        ..inner.clone()
    };
    compiled.sql = Select {
        outputs: named(outputs, ground),
        from: format!("(\n{}\n) AS {GROUPED}", indent(&inner.sql)),
        group_by: order.clone(),
        order_by: order,
        ..Select::default()
    }
    .to_sql();
    Ok(compiled)
}

fn of_kind(inner: &Compiled, measures: bool) -> Vec<OutputColumn> {
    let fits = |column: &&OutputColumn| (column.kind == ColumnKind::Measure) == measures;
    inner.columns.iter().filter(fits).cloned().collect()
}

fn part_of(measure: &OutputColumn, what: &str, unit: Unit) -> OutputColumn {
    OutputColumn {
        name: format!("{}_{what}", measure.name),
        kind: ColumnKind::Measure,
        unit: Some(unit),
        field: None,
        metric: None,
    }
}

fn named(outputs: Vec<(String, OutputColumn)>, ground: Ground<'_>) -> Vec<Output> {
    let output = |(sql, column): (String, OutputColumn)| Output {
        sql,
        alias: ground.quote(&column.name),
    };
    outputs.into_iter().map(output).collect()
}

fn select(
    inner: &Compiled,
    outputs: Vec<(String, OutputColumn)>,
    order_by: Vec<String>,
    ground: Ground<'_>,
) -> Compiled {
    let columns = outputs.iter().map(|(_, column)| column.clone()).collect();
    let select = Select {
        outputs: named(outputs, ground),
        from: format!("(\n{}\n) AS {GROUPED}", indent(&inner.sql)),
        order_by,
        ..Select::default()
    };
    Compiled {
        sql: select.to_sql(),
        columns,
        ..inner.clone()
    }
}
