//! Recommendations, each of which follows from a finding and cites it.

use crate::builtin::report::Findings;
use crate::builtin::report::outliers::{CONCENTRATED, Oddity, Unusual};
use crate::builtin::report::quality;
use crate::builtin::show;
use crate::builtin::subject::Subject;
use crate::builtin::table::ReadDerived;
use crate::insight::report::escape;
use crate::meaning::semantic::Direction;
use crate::text::Language;

/// A group below this part of its target needs a talk.
const FAR_BELOW: f64 = 0.8;
/// Names in one recommendation.
const MOST_NAMES: usize = 4;
/// Periods without data are worth a check only where most days have some.
const MOSTLY_COVERED: f64 = 0.8;

pub fn write(subject: &Subject, findings: &Findings) -> Option<String> {
    let mut points: Vec<String> = findings
        .outliers
        .iter()
        .flat_map(|outliers| {
            outliers
                .unusual
                .iter()
                .map(|odd| about(subject, odd, &outliers.judged.id, findings))
        })
        .collect();
    points.extend(below_target(subject, findings));
    points.extend(losing(subject, findings));
    points.extend(missing_days(subject, findings));
    if points.is_empty() {
        return None;
    }
    let heading = subject.language.pick("Recommendations", "建议");
    let lines: Vec<String> = points
        .into_iter()
        .enumerate()
        .map(|(at, point)| format!("{}. {point}", at + 1))
        .collect();
    Some(format!("## {heading}\n\n{}", lines.join("\n")))
}

fn about(subject: &Subject, odd: &Unusual, judged: &str, findings: &Findings) -> String {
    let name = escape::cell(&odd.label);
    let table = odd.by_counterpart.as_ref();
    let counterpart = subject
        .around
        .counterpart
        .as_ref()
        .map(|counterpart| show::name(&counterpart.words, subject.language));
    let cited: Vec<&str> = [Some(judged), table.map(|table| table.id.as_str())]
        .into_iter()
        .flatten()
        .collect();
    let cited = show::cite(&cited);
    let concentration = findings
        .outliers
        .as_ref()
        .and_then(|found| found.concentration.as_ref());
    let hangs = concentration
        .zip(odd.concentration_row)
        .and_then(|(table, row)| table.value(row, "largest_share"))
        .is_some_and(|share| share >= CONCENTRATED);
    let kind = match odd.kind {
        Oddity::High if hangs => Oddity::OneTransaction,
        kind => kind,
    };
    match (kind, subject.language, counterpart) {
        (Oddity::Low, Language::English, Some(what)) => format!(
            "Review {name} now: find out whether the {what} business lost above is gone or only late, and who looks after it {cited}."
        ),
        (Oddity::Low, Language::English, None) => {
            format!("Review {name} now: the drop is far beyond what its history explains {cited}.")
        }
        (Oddity::Low, Language::Chinese, Some(what)) => {
            format!("尽快复盘{name}：确认上述流失的{what}业务是丢失还是推迟，并明确负责人 {cited}。")
        }
        (Oddity::Low, Language::Chinese, None) => format!("尽快复盘{name}：降幅远超其历史波动 {cited}。"),
        (Oddity::High, Language::English, _) => {
            format!("Find out what {name} did differently and whether it lasts before raising the plan {cited}.")
        }
        (Oddity::High, Language::Chinese, _) => format!("了解{name}的做法以及能否持续，再调整计划 {cited}。"),
        (Oddity::OneTransaction, language, _) => {
            let cited = concentration.map(|table| show::cite(&[&table.id])).unwrap_or(cited);
            match language {
                Language::English => {
                    format!("Judge {name} without the single large transaction, and do not plan on its return {cited}.")
                }
                Language::Chinese => format!("评价{name}时应剔除该单笔大额交易，也不要预期其重现 {cited}。"),
            }
        }
    }
}

/// Groups that missed the target by far.
fn below_target(subject: &Subject, findings: &Findings) -> Option<String> {
    let table = &findings.targets.as_ref()?.attainment;
    let behind: Vec<String> = (0..table.rows.len().saturating_sub(1))
        .rev()
        .filter(|row| table.value(*row, "attainment").is_some_and(|part| part < FAR_BELOW))
        .map(|row| {
            format!(
                "{} ({})",
                escape::cell(&table.label(row)),
                show::share(table.value(row, "attainment"))
            )
        })
        .take(MOST_NAMES)
        .collect();
    if behind.is_empty() {
        return None;
    }
    let names = show::list(&behind, subject.language);
    let cited = show::cite(&[&table.id]);
    Some(match subject.language {
        Language::English => format!("Agree a recovery plan with those furthest below target: {names} {cited}."),
        Language::Chinese => format!("与距离目标最远者制定追赶计划：{names} {cited}。"),
    })
}

/// The group of another breakdown that lost most within a year.
fn losing(subject: &Subject, findings: &Findings) -> Option<String> {
    /// A smaller loss is noise.
    const LOSS: f64 = -0.15;
    if subject.metric().direction == Direction::DownIsGood {
        return None;
    }
    let drivers = findings.drivers.as_ref()?;
    let (by, year, row) = drivers
        .breakdowns
        .iter()
        .filter_map(|breakdown| breakdown.year.as_ref().map(|year| (&breakdown.by, year)))
        .flat_map(|(by, year)| (0..year.rows.len().saturating_sub(1)).map(move |row| (by, year, row)))
        .filter(|(_, year, row)| year.value(*row, "growth").is_some_and(|growth| growth < LOSS))
        .min_by(|(_, a, i), (_, b, j)| {
            let delta = |table: &crate::insight::metrics::Derived, row: usize| table.value(row, "delta").unwrap_or(0.0);
            delta(a, *i).total_cmp(&delta(b, *j))
        })?;
    let what = show::name(&by.words, subject.language);
    let label = escape::cell(&year.label(row));
    let grew = show::change(year.value(row, "growth"));
    let window = subject.window_name(&subject.windows.year_ago?);
    let cited = show::cite(&[&year.id]);
    Some(match subject.language {
        Language::English => format!("Decide what is to become of {label} ({what}): {grew} on {window} {cited}."),
        Language::Chinese => format!("就{what}{label}作出决策：较{window}{grew} {cited}。"),
    })
}

/// A few days without data among many with are a fault to look for.
fn missing_days(subject: &Subject, findings: &Findings) -> Option<String> {
    let days = findings.totals.as_ref()?.current_days.as_ref()?;
    let coverage = days.coverage.number("coverage")?;
    if !(MOSTLY_COVERED..1.0).contains(&coverage) {
        return None;
    }
    let runs = quality::runs(days);
    let shown = show::list(
        &runs.iter().take(MOST_NAMES).cloned().collect::<Vec<_>>(),
        subject.language,
    );
    let cited = show::cite(&[&days.coverage.id]);
    Some(match subject.language {
        Language::English => {
            format!("Check whether the days without a single row are real or lost data: {shown} {cited}.")
        }
        Language::Chinese => format!("核实没有任何记录的日期是真实情况还是数据缺失：{shown} {cited}。"),
    })
}
