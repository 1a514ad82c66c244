//! `moving_average`: a series with its short swings smoothed away.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::output::{Output, heading};
use super::series::{From, SeriesSet};
use super::table::Table;
use super::{Cell, Columns, Kind, MetricError, Number};
use crate::time::Grain;

/// Mean of each period and those before it. A window that holds a missing period has no average.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MovingAverage {
    /// Column with the date or period of each row.
    pub period: String,
    /// Column that is averaged.
    pub value: String,
    /// Periods per window, the current one included; at least 2.
    pub window: usize,
    /// Column(s) that name the series, when the result holds several.
    #[serde(default)]
    pub group: Option<Columns>,
    /// Length of a period; read from the column when missing.
    #[serde(default)]
    pub grain: Option<Grain>,
}

/// Computes the averages; the columns are the group (when given), the period, the value and `moving_average`.
///
/// `moving_average = (x₁ + … + x_window) ÷ window` over the period and the `window − 1` before it; null until a window is
/// full, and where a period in it has no value.
pub(super) fn compute(args: &MovingAverage, table: &Table<'_>) -> Result<Output, MetricError> {
    if args.window < 2 {
        return Err(MetricError::BadArgument {
            argument: "window",
            value: args.window.to_string(),
            advice: "give at least 2 periods, for example 3 months or 7 days".to_owned(),
        });
    }
    let from = From {
        period: &args.period,
        value: &args.value,
        group: args.group.as_ref(),
        grain: args.grain,
    };
    let set = SeriesSet::read(table, from)?;
    let longest = set.series.iter().map(|series| series.points.len()).max().unwrap_or(0);
    if args.window > longest {
        return Err(MetricError::BadArgument {
            argument: "window",
            value: args.window.to_string(),
            advice: format!("the series has {longest} periods; give at most that many"),
        });
    }
    let mut output = Output::default();
    if let Some(group) = &args.group {
        output.add_column(&heading(group), Kind::Label);
    }
    output.add_column(&args.period, Kind::Period);
    output.add_column(&args.value, Kind::Amount);
    output.add_column("moving_average", Kind::Amount);
    output.notes.extend(set.gaps());
    for series in &set.series {
        for (position, (start, value)) in series.points.iter().enumerate() {
            let window = (position + 1)
                .checked_sub(args.window)
                .and_then(|first| series.points.get(first..=position));
            let sum = window.and_then(|window| window.iter().map(|(_, value)| *value).sum::<Option<Number>>());
            let mut row = Vec::with_capacity(output.columns.len());
            if args.group.is_some() {
                row.push(Cell::from(series.group.as_str()));
            }
            row.push(Cell::from(set.calendar.label(*start)));
            row.push(Cell::from(*value));
            row.push(Cell::from(sum.and_then(|sum| sum.over(Number::from(args.window)))));
            output.rows.push(row);
        }
    }
    output.notes.extend(set.notes);
    Ok(output)
}
