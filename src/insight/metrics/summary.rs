//! `summary`: count, sum, mean, median, minimum and maximum of columns.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use std::collections::BTreeMap;

use super::output::{Output, heading};
use super::table::Table;
use super::{Cell, Columns, Kind, MetricError, Number};

/// One row of statistics per column (and group).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// Column(s) to summarise.
    pub value: Columns,
    /// Column(s) that name the groups; one summary over all rows when missing.
    #[serde(default)]
    pub group: Option<Columns>,
}

/// Computes the statistics; the columns are the group (when given), `column`, `count`, `sum`, `mean`, `median`, `min`, `max`.
///
/// Nulls are not counted. The median of an even count is the mean of the two in the middle.
pub(super) fn compute(args: &Summary, table: &Table<'_>) -> Result<Output, MetricError> {
    let groups = table.optional_groups(args.group.as_ref())?;
    if args.value.names().is_empty() {
        return Err(MetricError::BadArgument {
            argument: "value",
            value: "[]".to_owned(),
            advice: "name at least one column with numbers".to_owned(),
        });
    }
    let mut output = Output::default();
    if let Some(group) = &args.group {
        output.add_column(&heading(group), Kind::Label);
    }
    output.add_column("column", Kind::Label);
    output.add_column("count", Kind::Count);
    for name in ["sum", "mean", "median", "min", "max"] {
        output.add_column(name, Kind::Amount);
    }
    for column in args.value.names() {
        let numbers = table.numbers(column)?;
        let mut by_group: BTreeMap<&str, Vec<Number>> = BTreeMap::new();
        for (group, value) in groups.iter().zip(&numbers.values) {
            by_group.entry(group).or_default().extend(*value);
        }
        for (group, mut values) in by_group {
            values.sort_by(|a, b| a.compare(*b));
            let sum: Number = values.iter().copied().sum();
            let mut row = Vec::with_capacity(output.columns.len());
            if args.group.is_some() {
                row.push(Cell::from(group));
            }
            row.push(Cell::from(column.as_str()));
            row.push(Cell::from(values.len()));
            row.push(if values.is_empty() { Cell::Null } else { Cell::from(sum) });
            row.push(Cell::from(sum.over(Number::from(values.len()))));
            row.push(Cell::from(median(&values)));
            row.push(Cell::from(values.first().copied()));
            row.push(Cell::from(values.last().copied()));
            output.rows.push(row);
        }
        output.notes.extend(numbers.notes);
    }
    Ok(output)
}

/// The value in the middle of `sorted`; exact for an odd count.
pub(super) fn median(sorted: &[Number]) -> Option<Number> {
    let middle = sorted.len() / 2;
    let upper = sorted.get(middle).copied()?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = sorted.get(middle.checked_sub(1)?).copied()?;
    Some(lower.plus(upper).half())
}
