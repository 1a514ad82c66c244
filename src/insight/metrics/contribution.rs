//! `contribution`: what a total, or a change of it, hangs on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use std::collections::BTreeMap;

use super::output::{Output, heading};
use super::pairs::{Pairs, Sides};
use super::table::Table;
use super::words::Note;
use super::{Cell, Columns, Kind, MetricError, Number};

/// Which group drives a change (with `old` and `new`), or how concentrated each group's total is (without).
///
/// For a change: as in `compare`, sorted by size of contribution. For concentration: give one row per order (or other
/// detail); per group its total, its single largest row, that row's share, and the total without it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Contribution {
    /// Column(s) that name the groups.
    pub group: Columns,
    /// Column that is added up; needed for concentration and with `period`.
    #[serde(default)]
    pub value: Option<String>,
    /// Column with the name of each detail row, such as an order number; only for concentration.
    #[serde(default)]
    pub item: Option<Columns>,
    /// Column of the old values, or the old period's label.
    #[serde(default)]
    pub old: Option<String>,
    /// Column of the new values, or the new period's label.
    #[serde(default)]
    pub new: Option<String>,
    /// Column that holds the period's label, when the result has one row per group and period.
    #[serde(default)]
    pub period: Option<String>,
}

/// Computes contributions to a change, or concentration within groups.
pub(super) fn compute(args: &Contribution, table: &Table<'_>) -> Result<Output, MetricError> {
    match (&args.old, &args.new, &args.value) {
        (Some(old), Some(new), value) => {
            let sides = Sides {
                group: Some(&args.group),
                old,
                new,
                period: args.period.as_deref(),
                value: value.as_deref(),
                old_days: None,
                new_days: None,
            };
            change(args, sides, table)
        }
        (None, None, Some(value)) => concentration(args, value, table),
        (None, None, None) => Err(MetricError::BadArgument {
            argument: "value",
            value: "missing".to_owned(),
            advice: "name the column to add up, or `old` and `new` for what drives a change".to_owned(),
        }),
        (Some(_), None, _) | (None, Some(_), _) => Err(MetricError::BadArgument {
            argument: "old",
            value: "given without its counterpart".to_owned(),
            advice: "give both `old` and `new`, or neither".to_owned(),
        }),
    }
}

/// The columns are the group, `old`, `new`, `delta`, `contribution` (`delta ÷ total delta`) and `cumulative_contribution`;
/// groups that move with the total come first, the strongest at the top.
/// Facts: `delta`, `driver`, `driver_delta`, `driver_contribution`, `groups_up`, `groups_down`.
fn change(args: &Contribution, sides: Sides<'_>, table: &Table<'_>) -> Result<Output, MetricError> {
    let mut pairs = Pairs::read(table, sides)?;
    let total: Number = pairs.pairs.iter().map(|pair| pair.delta()).sum();
    let falls = total.is_negative();
    pairs.pairs.sort_by(|a, b| {
        let order = b.delta().compare(a.delta());
        (if falls { order.reverse() } else { order }).then_with(|| a.group.cmp(&b.group))
    });
    let group = heading(&args.group);
    let mut output = Output::with_columns([
        (&group, Kind::Label),
        ("old", Kind::Amount),
        ("new", Kind::Amount),
        ("delta", Kind::Amount),
        ("contribution", Kind::Fraction),
        ("cumulative_contribution", Kind::Fraction),
    ]);
    let mut running = Number::ZERO;
    for pair in &pairs.pairs {
        let delta = pair.delta();
        running = running.plus(delta);
        let mut row = vec![Cell::from(pair.group.as_str())];
        row.extend([pair.old, pair.new, Some(delta), delta.over(total), running.over(total)].map(Cell::from));
        output.rows.push(row);
    }
    output.fact("delta", total, Kind::Amount);
    if let Some(driver) = pairs.pairs.first() {
        output.fact("driver", driver.group.as_str(), Kind::Label);
        output.fact("driver_delta", driver.delta(), Kind::Amount);
        output.fact("driver_contribution", driver.delta().over(total), Kind::Fraction);
    }
    let up = pairs.pairs.iter().filter(|pair| pair.delta().to_f64() > 0.0).count();
    let down = pairs.pairs.iter().filter(|pair| pair.delta().is_negative()).count();
    output.fact("groups_up", up, Kind::Count);
    output.fact("groups_down", down, Kind::Count);
    output.notes.extend(pairs.one_sided());
    output.notes.extend(pairs.notes);
    if total.is_zero() {
        output.notes.push(Note::TotalUnchanged);
    }
    Ok(output)
}

/// What one group's total is made of.
struct Make {
    total: Number,
    rows: usize,
    largest: Number,
    largest_item: Option<String>,
}

/// The columns are the group, `total`, `rows`, `largest`, the item (when given), `largest_share` (`largest ÷ total`) and
/// `without_largest`; groups that hang most on a single row come first.
/// Facts: `total`, `rows`, `largest`, `largest_share` over all groups together.
fn concentration(args: &Contribution, value: &str, table: &Table<'_>) -> Result<Output, MetricError> {
    let numbers = table.numbers(value)?;
    let groups = table.groups(&args.group)?;
    let items = args.item.as_ref().map(|item| table.groups(item)).transpose()?;
    let mut makes: BTreeMap<String, Make> = BTreeMap::new();
    for (row, (group, value)) in groups.into_iter().zip(&numbers.values).enumerate() {
        let Some(value) = *value else { continue };
        let item = || items.as_ref().and_then(|items| items.get(row)).cloned();
        makes
            .entry(group)
            .and_modify(|make| {
                make.total = make.total.plus(value);
                make.rows += 1;
                if value.compare(make.largest).is_gt() {
                    make.largest = value;
                    make.largest_item = item();
                }
            })
            .or_insert_with(|| Make {
                total: value,
                rows: 1,
                largest: value,
                largest_item: item(),
            });
    }
    let share = |make: &Make| make.largest.over(make.total);
    let mut ordered: Vec<(String, Make)> = makes.into_iter().collect();
    ordered.sort_by(|(_, a), (_, b)| {
        let (a, b) = (share(a).unwrap_or(Number::ZERO), share(b).unwrap_or(Number::ZERO));
        b.compare(a)
    });

    let group = heading(&args.group);
    let mut output = Output::with_columns([
        (&group, Kind::Label),
        ("total", Kind::Amount),
        ("rows", Kind::Count),
        ("largest", Kind::Amount),
    ]);
    if let Some(item) = &args.item {
        output.add_column(&heading(item), Kind::Label);
    }
    output.add_column("largest_share", Kind::Fraction);
    output.add_column("without_largest", Kind::Amount);
    output.notes = numbers.notes;
    let total: Number = ordered.iter().map(|(_, make)| make.total).sum();
    let largest = ordered
        .iter()
        .map(|(_, make)| make.largest)
        .max_by(|a, b| a.compare(*b));
    output.fact("total", total, Kind::Amount);
    output.fact(
        "rows",
        ordered.iter().map(|(_, make)| make.rows).sum::<usize>(),
        Kind::Count,
    );
    output.fact("largest", largest, Kind::Amount);
    output.fact(
        "largest_share",
        largest.and_then(|largest| largest.over(total)),
        Kind::Fraction,
    );
    for (group, make) in ordered {
        let largest_share = share(&make);
        let mut row = vec![
            Cell::from(group),
            Cell::from(make.total),
            Cell::from(make.rows),
            Cell::from(make.largest),
        ];
        if items.is_some() {
            row.push(make.largest_item.map_or(Cell::Null, Cell::Text));
        }
        row.push(Cell::from(largest_share));
        row.push(Cell::from(make.total.minus(make.largest)));
        output.rows.push(row);
    }
    Ok(output)
}
