//! `outliers`: which values stand out, against their peers or against their own history.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::output::{Output, heading};
use super::series::{From, SeriesSet};
use super::summary::median;
use super::table::Table;
use super::words::{Note, say_verdict};
use super::{Cell, Columns, Kind, MetricError, Number};
use crate::time::Grain;

/// Flags values whose robust z-score `0.6745 · (x − median) / MAD` passes the threshold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Outliers {
    /// Column(s) that name the groups.
    pub group: Columns,
    /// Column that is judged.
    pub value: String,
    /// Column with the period of each row: the last period is judged, the ones before it are each group's history.
    #[serde(default)]
    pub period: Option<String>,
    /// Length of a period; read from the column when missing.
    #[serde(default)]
    pub grain: Option<Grain>,
    /// What to judge against: `peers`, `history`, or `both` (the default when `period` is given).
    #[serde(default)]
    pub against: Option<Against>,
    /// Robust z beyond which a value is flagged; 3.5 when missing.
    #[serde(default)]
    pub threshold: Option<f64>,
}

/// What a value is judged against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Against {
    /// The other groups' values (of the last period).
    Peers,
    /// The same group's values in the periods before.
    History,
    Both,
}

/// The 0.75 quantile of the normal distribution: makes the MAD comparable with a standard deviation.
const NORMAL_MAD: f64 = 0.6745;
/// Iglewicz & Hoaglin's recommendation.
const THRESHOLD: f64 = 3.5;
/// With fewer values a median and its deviations say nothing about what is usual.
const FEWEST: usize = 5;

/// What values are judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Judge {
    Peers,
    History,
}

/// Which way a value stands out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flag {
    High,
    Low,
    Usual,
}

/// What became of judging one value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Verdict {
    /// `by`: how many values the median is of.
    Judged {
        median: Number,
        z: f64,
        by: usize,
        flag: Flag,
    },
    TooFew {
        have: usize,
    },
    /// The MAD is zero: more than half of the values are the median.
    NoSpread {
        median: Number,
    },
    /// The group has no value in the last period.
    Absent,
}

impl Verdict {
    fn code(&self) -> &'static str {
        match self {
            Verdict::Judged { flag: Flag::High, .. } => "high",
            Verdict::Judged { flag: Flag::Low, .. } => "low",
            Verdict::Judged { flag: Flag::Usual, .. } => "ok",
            Verdict::TooFew { .. } => "too-few",
            Verdict::NoSpread { .. } => "no-spread",
            Verdict::Absent => "absent",
        }
    }

    fn is_flagged(&self) -> bool {
        matches!(
            self,
            Verdict::Judged {
                flag: Flag::High | Flag::Low,
                ..
            }
        )
    }

    fn z(&self) -> Option<f64> {
        match self {
            Verdict::Judged { z, .. } => Some(*z),
            Verdict::TooFew { .. } | Verdict::NoSpread { .. } | Verdict::Absent => None,
        }
    }

    fn median(&self) -> Option<Number> {
        match self {
            Verdict::Judged { median, .. } | Verdict::NoSpread { median } => Some(*median),
            Verdict::TooFew { .. } | Verdict::Absent => None,
        }
    }
}

/// Judges `value` by the median and spread of `sample`: robust z = `0.6745 · (value − median) ÷ MAD`, where MAD is the
/// median of `|x − median|`; flagged when `|z|` passes `threshold`.
///
/// Source: Iglewicz & Hoaglin (1993), How to Detect and Handle Outliers.
pub(super) fn judge(value: Option<Number>, sample: &[Number], threshold: f64) -> Verdict {
    let Some(value) = value else { return Verdict::Absent };
    let sorted = |mut values: Vec<Number>| {
        values.sort_by(|a, b| a.compare(*b));
        values
    };
    if sample.len() < FEWEST {
        return Verdict::TooFew { have: sample.len() };
    }
    let Some(center) = median(&sorted(sample.to_vec())) else {
        return Verdict::TooFew { have: 0 };
    };
    let deviations = sorted(sample.iter().map(|x| x.minus(center).abs()).collect());
    let spread = median(&deviations).filter(|spread| !spread.is_zero());
    let Some(z) = spread
        .and_then(|spread| value.minus(center).over(spread))
        .map(|z| NORMAL_MAD * z.to_f64())
    else {
        return Verdict::NoSpread { median: center };
    };
    let flag = match z {
        _ if z > threshold => Flag::High,
        _ if z < -threshold => Flag::Low,
        _ => Flag::Usual,
    };
    Verdict::Judged {
        median: center,
        z,
        by: sample.len(),
        flag,
    }
}

/// One group with its verdicts.
struct Judged {
    group: String,
    value: Option<Number>,
    peers: Option<Verdict>,
    history: Option<Verdict>,
    /// Earlier periods that have a value.
    periods: usize,
}

impl Judged {
    fn verdicts(&self) -> impl Iterator<Item = (Judge, &Verdict)> {
        let peers = self.peers.iter().map(|verdict| (Judge::Peers, verdict));
        peers.chain(self.history.iter().map(|verdict| (Judge::History, verdict)))
    }

    fn largest_z(&self) -> f64 {
        self.verdicts()
            .filter_map(|(_, verdict)| verdict.z())
            .map(f64::abs)
            .fold(0.0, f64::max)
    }

    /// The flagged verdict with the largest z, or else the first code.
    fn flag(&self) -> &'static str {
        let z = |verdict: &Verdict| verdict.z().map_or(0.0, f64::abs);
        let flagged = self.verdicts().filter(|(_, verdict)| verdict.is_flagged());
        let worst = flagged.max_by(|(_, a), (_, b)| z(a).total_cmp(&z(b)));
        let judged = || self.verdicts().find(|(_, verdict)| verdict.z().is_some());
        worst
            .or_else(judged)
            .or_else(|| self.verdicts().next())
            .map_or("ok", |(_, verdict)| verdict.code())
    }
}

/// Computes the outliers; the columns are the group, the value, then for peers `peer_median`, `peer_z`, `peer_flag`, for
/// history `history_median`, `history_z`, `history_flag`, `history_periods` (how many earlier ones have a value), and then `flag` and `reason`.
///
/// Flags are `high`, `low`, `ok`, `too-few`, `no-spread`, `absent`. The most conspicuous groups come first.
/// Facts: `period` (the last one), `threshold`, `flagged`, `peers` (values judged), `peer_median`.
pub(super) fn compute(args: &Outliers, table: &Table<'_>) -> Result<Output, MetricError> {
    let threshold = args.threshold.unwrap_or(THRESHOLD);
    if threshold.is_nan() || threshold <= 0.0 {
        return Err(MetricError::BadArgument {
            argument: "threshold",
            value: threshold.to_string(),
            advice: "give a positive number; 3.5 is usual".to_owned(),
        });
    }
    let against = args.against.unwrap_or(if args.period.is_some() {
        Against::Both
    } else {
        Against::Peers
    });
    let mut output = Output::default();
    let histories = read(args, against, table, &mut output)?;
    let peers: Vec<Number> = histories.iter().filter_map(|(_, value, _)| *value).collect();
    let mut judged: Vec<Judged> = histories
        .into_iter()
        .map(|(group, value, history)| Judged {
            peers: matches!(against, Against::Peers | Against::Both).then(|| judge(value, &peers, threshold)),
            history: matches!(against, Against::History | Against::Both).then(|| judge(value, &history, threshold)),
            periods: history.len(),
            group,
            value,
        })
        .collect();
    judged.sort_by(|a, b| {
        b.largest_z()
            .total_cmp(&a.largest_z())
            .then_with(|| a.group.cmp(&b.group))
    });

    let heading = heading(&args.group);
    output.add_column(&heading, Kind::Label);
    output.add_column(&args.value, Kind::Amount);
    for (name, asked) in [
        ("peer", against != Against::History),
        ("history", against != Against::Peers),
    ] {
        if asked {
            output.add_column(&format!("{name}_median"), Kind::Amount);
            output.add_column(&format!("{name}_z"), Kind::Score);
            output.add_column(&format!("{name}_flag"), Kind::Flag);
        }
        if asked && name == "history" {
            output.add_column("history_periods", Kind::Count);
        }
    }
    output.add_column("flag", Kind::Flag);
    output.add_column("reason", Kind::Reason);
    output.fact("threshold", threshold, Kind::Score);
    let flagged = judged
        .iter()
        .filter(|judged| judged.verdicts().any(|(_, verdict)| verdict.is_flagged()))
        .count();
    output.fact("flagged", flagged, Kind::Count);
    let peer_median = judged
        .iter()
        .find_map(|judged| judged.peers.as_ref().and_then(Verdict::median));
    if against != Against::History {
        output.fact("peers", peers.len(), Kind::Count);
    }
    if peer_median.is_some() {
        output.fact("peer_median", peer_median, Kind::Amount);
    }
    add_notes(&judged, peers.len(), &mut output);
    output.rows = judged.iter().map(|judged| row(judged, table)).collect();
    Ok(output)
}

/// Each group's judged value and the values before it.
type History = (String, Option<Number>, Vec<Number>);

fn read(
    args: &Outliers,
    against: Against,
    table: &Table<'_>,
    output: &mut Output,
) -> Result<Vec<History>, MetricError> {
    let Some(period) = &args.period else {
        if against != Against::Peers {
            return Err(MetricError::BadArgument {
                argument: "period",
                value: "missing".to_owned(),
                advice: "name the period column to judge groups by their own history".to_owned(),
            });
        }
        let numbers = table.numbers(&args.value)?;
        let groups = table.groups(&args.group)?;
        let repeated = super::output::repeated_names(&groups);
        if !repeated.is_empty() {
            output.notes.push(Note::SameName { names: repeated });
        }
        output.notes.extend(numbers.notes);
        let pairs = groups.into_iter().zip(numbers.values);
        return Ok(pairs
            .filter(|(_, value)| value.is_some())
            .map(|(group, value)| (group, value, Vec::new()))
            .collect());
    };
    let from = From {
        period,
        value: &args.value,
        group: Some(&args.group),
        grain: args.grain,
    };
    let set = SeriesSet::read(table, from)?;
    let last = set
        .series
        .iter()
        .filter_map(|series| series.points.last())
        .map(|(start, _)| *start)
        .max();
    let label = last.map(|start| set.calendar.label(start)).unwrap_or_default();
    output.fact("period", label.as_str(), Kind::Period);
    let histories: Vec<History> = set
        .series
        .into_iter()
        .map(|series| {
            let value = series.points.last().and_then(|(_, value)| *value);
            let before = series.points.len().saturating_sub(1);
            let history = series
                .points
                .iter()
                .take(before)
                .filter_map(|(_, value)| *value)
                .collect();
            (series.group, value, history)
        })
        .collect();
    let absent: Vec<String> = histories
        .iter()
        .filter(|(_, value, _)| value.is_none())
        .map(|(group, _, _)| group.clone())
        .collect();
    if !absent.is_empty() {
        output.notes.push(Note::AbsentFromLast {
            names: absent,
            period: label,
        });
    }
    output.notes.extend(set.notes);
    Ok(histories)
}

fn add_notes(judged: &[Judged], peers: usize, output: &mut Output) {
    let first_peer = judged
        .iter()
        .filter_map(|judged| judged.peers.as_ref())
        .find(|verdict| **verdict != Verdict::Absent);
    match first_peer {
        Some(Verdict::TooFew { .. }) => output.notes.push(Note::TooFewPeers {
            groups: peers,
            needed: FEWEST,
        }),
        Some(Verdict::NoSpread { median }) => output.notes.push(Note::NoPeerSpread { median: *median }),
        Some(Verdict::Judged { .. } | Verdict::Absent) | None => {}
    }
    let names = |is: fn(&Verdict) -> bool| -> Vec<String> {
        judged
            .iter()
            .filter(|judged| judged.history.as_ref().is_some_and(is))
            .map(|judged| judged.group.clone())
            .collect()
    };
    let too_little = names(|verdict| matches!(verdict, Verdict::TooFew { .. }));
    if !too_little.is_empty() {
        output.notes.push(Note::TooLittleHistory {
            names: too_little,
            needed: FEWEST,
        });
    }
    let no_spread = names(|verdict| matches!(verdict, Verdict::NoSpread { .. }));
    if !no_spread.is_empty() {
        output.notes.push(Note::NoHistorySpread { names: no_spread });
    }
}

fn row(judged: &Judged, table: &Table<'_>) -> Vec<Cell> {
    let mut row = vec![Cell::from(judged.group.as_str()), Cell::from(judged.value)];
    for (by, verdict) in judged.verdicts() {
        row.push(Cell::from(verdict.median()));
        row.push(verdict.z().map_or(Cell::Null, Cell::from));
        row.push(Cell::from(verdict.code()));
        if by == Judge::History {
            row.push(Cell::from(judged.periods));
        }
    }
    row.push(Cell::from(judged.flag()));
    let mut reasons: Vec<String> = Vec::new();
    for (by, verdict) in judged.verdicts() {
        let reason = say_verdict(verdict, judged.value, by, table.language);
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    row.push(Cell::from(reasons.join(table.language.pick("; ", "；"))));
    row
}
