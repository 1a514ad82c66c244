//! `growth`: how a series changed from each period to the next.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::output::{Output, heading};
use super::series::{From, Series, SeriesSet};
use super::table::Table;
use super::words::Note;
use super::{Cell, Columns, Kind, MetricError, Number};
use crate::time::Grain;

/// Change of each period against an earlier one. Periods that the result lacks are shown as missing, not closed up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Growth {
    /// Column with the date or period of each row (2005-08-31, 2005-08, 2005-Q3, 2005-W35, 2005).
    pub period: String,
    /// Column that is compared.
    pub value: String,
    /// Column(s) that name the series, when the result holds several.
    #[serde(default)]
    pub group: Option<Columns>,
    /// Length of a period; read from the column when missing.
    #[serde(default)]
    pub grain: Option<Grain>,
    /// How many periods back to compare with: 1 (the default) is the period before; 12 is a year for months.
    #[serde(default)]
    pub lag: Option<usize>,
}

/// Computes the changes; the columns are the group (when given), the period, the value, `previous`, `delta`, `growth` and
/// `status` (`ok`, `first`, `missing`, `no-previous`, `no-base`).
///
/// `growth = value ÷ previous − 1`, a fraction. Facts, for a single series: `first`, `last`, `change`, `total_growth`, and
/// `compound_growth` per period, `(last ÷ first)^(1 ÷ periods) − 1`.
pub(super) fn compute(args: &Growth, table: &Table<'_>) -> Result<Output, MetricError> {
    let lag = args.lag.unwrap_or(1);
    if lag == 0 {
        return Err(MetricError::BadArgument {
            argument: "lag",
            value: "0".to_owned(),
            advice: "1 compares with the period before, 12 with the same month a year before".to_owned(),
        });
    }
    let from = From {
        period: &args.period,
        value: &args.value,
        group: args.group.as_ref(),
        grain: args.grain,
    };
    let set = SeriesSet::read(table, from)?;
    let mut output = Output::default();
    if let Some(group) = &args.group {
        output.add_column(&heading(group), Kind::Label);
    }
    output.add_column(&args.period, Kind::Period);
    output.add_column(&args.value, Kind::Amount);
    output.add_column("previous", Kind::Amount);
    output.add_column("delta", Kind::Amount);
    output.add_column("growth", Kind::Fraction);
    output.add_column("status", Kind::Flag);
    output.notes.extend(set.gaps());

    let mut without_base = 0;
    for series in &set.series {
        for (position, (start, value)) in series.points.iter().enumerate() {
            let earlier = position.checked_sub(lag).and_then(|earlier| series.points.get(earlier));
            let previous = earlier.and_then(|(_, value)| *value);
            let status = status(*value, earlier.map(|(_, value)| *value));
            without_base += usize::from(status == "no-base");
            let delta = value.zip(previous).map(|(value, previous)| value.minus(previous));
            let growth = delta
                .zip(previous)
                .and_then(|(delta, base)| fraction_of_base(delta, base));
            let mut row = Vec::with_capacity(output.columns.len());
            if args.group.is_some() {
                row.push(Cell::from(series.group.as_str()));
            }
            row.push(Cell::from(set.calendar.label(*start)));
            row.extend([*value, previous, delta, growth].map(Cell::from));
            row.push(Cell::from(status));
            output.rows.push(row);
        }
    }
    if let [series] = set.series.as_slice() {
        add_facts(series, &mut output);
    }
    output.notes.extend(set.notes);
    if without_base > 0 {
        output.notes.push(Note::NoBase { count: without_base });
    }
    Ok(output)
}

/// `delta ÷ base`; nothing where the base is zero or negative, since a percentage of it misleads.
pub(super) fn fraction_of_base(delta: Number, base: Number) -> Option<Number> {
    if base.to_f64() > 0.0 { delta.over(base) } else { None }
}

fn status(value: Option<Number>, earlier: Option<Option<Number>>) -> &'static str {
    match (value, earlier) {
        (None, _) => "missing",
        (Some(_), None) => "first",
        (Some(_), Some(None)) => "no-previous",
        (Some(_), Some(Some(base))) if base.to_f64() <= 0.0 => "no-base",
        (Some(_), Some(Some(_))) => "ok",
    }
}

fn add_facts(series: &Series, output: &mut Output) {
    let first = series
        .points
        .iter()
        .enumerate()
        .find_map(|(at, (_, value))| value.map(|value| (at, value)));
    let last = series
        .points
        .iter()
        .enumerate()
        .rev()
        .find_map(|(at, (_, value))| value.map(|value| (at, value)));
    let (Some((first_at, first)), Some((last_at, last))) = (first, last) else {
        return;
    };
    output.fact("first", first, Kind::Amount);
    output.fact("last", last, Kind::Amount);
    if last_at == first_at {
        return;
    }
    let change = last.minus(first);
    output.fact("change", change, Kind::Amount);
    output.fact("total_growth", fraction_of_base(change, first), Kind::Fraction);
    if first.to_f64() > 0.0 && last.to_f64() > 0.0 {
        let periods = (last_at - first_at) as f64;
        let compound = (last.to_f64() / first.to_f64()).powf(1.0 / periods) - 1.0;
        output.fact("compound_growth", compound, Kind::Fraction);
    }
}
