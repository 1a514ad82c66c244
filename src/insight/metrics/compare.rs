//! `compare`: two periods (or any two columns) side by side, group by group.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::growth::fraction_of_base;
use super::output::{Output, heading};
use super::pairs::{Pair, Pairs, Sides};
use super::table::Table;
use super::words::{Note, say_total};
use super::{Cell, Columns, Kind, MetricError, Number};

/// Old against new: per group the difference, its fraction, and its contribution to the total change.
///
/// Either `old` and `new` are two columns of a wide result, or, with `period` and `value`, two labels of the period column
/// of a long one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Compare {
    /// Column(s) that name the groups; without it only the totals are compared.
    #[serde(default)]
    pub group: Option<Columns>,
    /// Column of the old values, or the old period's label.
    pub old: String,
    /// Column of the new values, or the new period's label.
    pub new: String,
    /// Column that holds the period's label, when the result has one row per group and period.
    #[serde(default)]
    pub period: Option<String>,
    /// Column that is compared, together with `period`.
    #[serde(default)]
    pub value: Option<String>,
    /// Days with data in the old period: a number, or a column with each group's; gives the like-for-like change per day.
    #[serde(default)]
    pub old_days: Option<Days>,
    /// Days with data in the new period.
    #[serde(default)]
    pub new_days: Option<Days>,
}

/// A count of days: one for all groups, or a column of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Days {
    Count(u32),
    Column(String),
}

impl Compare {
    fn sides(&self) -> Sides<'_> {
        Sides {
            group: self.group.as_ref(),
            old: &self.old,
            new: &self.new,
            period: self.period.as_deref(),
            value: self.value.as_deref(),
            old_days: self.old_days.as_ref(),
            new_days: self.new_days.as_ref(),
        }
    }
}

/// Compares; the columns are the group, `old`, `new`, `delta`, `growth`, `contribution`, `old_share`, `new_share` (of the
/// old and the new total), with day counts also
/// `old_per_day`, `new_per_day`, `growth_per_day`, and `status` (`ok`, `only-old`, `only-new`, `no-base`).
///
/// `delta = new − old`, `growth = delta ÷ old`, `contribution = delta ÷ total delta`; a group on one side only counts as
/// zero on the other. Rows are sorted by `new`, largest first; the last row is the total.
/// Facts: `old_label`, `new_label`, `old_total`, `new_total`, `delta`, `growth`, with day counts `growth_per_day`.
pub(super) fn compute(args: &Compare, table: &Table<'_>) -> Result<Output, MetricError> {
    if args.old_days.is_some() != args.new_days.is_some() {
        return Err(MetricError::BadArgument {
            argument: "old_days",
            value: "given without its counterpart".to_owned(),
            advice: "give both `old_days` and `new_days`, or neither".to_owned(),
        });
    }
    let mut pairs = Pairs::read(table, args.sides())?;
    pairs.pairs.sort_by(|a, b| {
        let new = |pair: &Pair| pair.new.unwrap_or(Number::ZERO);
        new(b).compare(new(a)).then_with(|| a.group.cmp(&b.group))
    });
    let per_day = args.old_days.is_some();
    let total = pairs.total(
        say_total(table.language),
        args.old_days.as_ref(),
        args.new_days.as_ref(),
    );

    let mut output = Output::default();
    let group = args.group.as_ref().map_or_else(|| "group".to_owned(), heading);
    output.add_column(&group, Kind::Label);
    for name in ["old", "new", "delta"] {
        output.add_column(name, Kind::Amount);
    }
    output.add_column("growth", Kind::Fraction);
    output.add_column("contribution", Kind::Fraction);
    output.add_column("old_share", Kind::Fraction);
    output.add_column("new_share", Kind::Fraction);
    if per_day {
        output.add_column("old_per_day", Kind::Amount);
        output.add_column("new_per_day", Kind::Amount);
        output.add_column("growth_per_day", Kind::Fraction);
    }
    output.add_column("status", Kind::Flag);

    if args.group.is_some() {
        output
            .rows
            .extend(pairs.pairs.iter().map(|pair| row(pair, &total, per_day)));
    }
    output.rows.push(row(&total, &total, per_day));
    let without_base = output
        .rows
        .iter()
        .filter(|row| row.last().and_then(Cell::as_text) == Some("no-base"))
        .count();

    add_facts(args, &total, &mut output);
    if args.group.is_some() {
        output.notes.extend(pairs.one_sided());
    }
    output.notes.extend(pairs.notes);
    if without_base > 0 {
        output.notes.push(Note::NoBase { count: without_base });
    }
    if total.delta().is_zero() {
        output.notes.push(Note::TotalUnchanged);
    }
    if per_day && total.old_days.is_none() {
        output.notes.push(Note::DaysOfTotalUnknown);
    }
    Ok(output)
}

fn row(pair: &Pair, total: &Pair, per_day: bool) -> Vec<Cell> {
    let delta = pair.delta();
    let mut row = vec![
        Cell::from(pair.group.as_str()),
        Cell::from(pair.old),
        Cell::from(pair.new),
        Cell::from(delta),
        Cell::from(pair.old.and_then(|old| fraction_of_base(delta, old))),
        Cell::from(delta.over(total.delta())),
        Cell::from(pair.old.zip(total.old).and_then(|(part, whole)| part.over(whole))),
        Cell::from(pair.new.zip(total.new).and_then(|(part, whole)| part.over(whole))),
    ];
    if per_day {
        let (old, new) = rates(pair);
        row.extend([old, new, rate_growth(old, new)].map(Cell::from));
    }
    row.push(Cell::from(match (pair.old, pair.new) {
        (Some(_), None) => "only-old",
        (None, _) => "only-new",
        (Some(old), Some(_)) if old.to_f64() <= 0.0 => "no-base",
        (Some(_), Some(_)) => "ok",
    }));
    row
}

/// Old and new value per day.
fn rates(pair: &Pair) -> (Option<Number>, Option<Number>) {
    let rate = |value: Option<Number>, days: Option<Number>| value.zip(days).and_then(|(value, days)| value.over(days));
    (rate(pair.old, pair.old_days), rate(pair.new, pair.new_days))
}

fn rate_growth(old: Option<Number>, new: Option<Number>) -> Option<Number> {
    old.zip(new)
        .and_then(|(old, new)| fraction_of_base(new.minus(old), old))
}

fn add_facts(args: &Compare, total: &Pair, output: &mut Output) {
    output.fact("old_label", args.old.as_str(), Kind::Label);
    output.fact("new_label", args.new.as_str(), Kind::Label);
    output.fact("old_total", total.old, Kind::Amount);
    output.fact("new_total", total.new, Kind::Amount);
    output.fact("delta", total.delta(), Kind::Amount);
    output.fact(
        "growth",
        total.old.and_then(|old| fraction_of_base(total.delta(), old)),
        Kind::Fraction,
    );
    if let (Some(_), Some(_)) = (total.old_days, total.new_days) {
        let (old, new) = rates(total);
        output.fact("old_per_day", old, Kind::Amount);
        output.fact("new_per_day", new, Kind::Amount);
        output.fact("growth_per_day", rate_growth(old, new), Kind::Fraction);
    }
}
