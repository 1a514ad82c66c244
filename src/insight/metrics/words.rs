//! Everything that metric functions say to people, in English and Chinese.

use super::Number;
use super::format::{amount, fixed};
use super::outliers::{Flag, Judge, Verdict};
use crate::text::Language;

/// At most this many names are listed in a note; the rest are counted.
const NAMES_IN_NOTE: usize = 8;

/// What a reader must know about a computation.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Note {
    AllNull {
        column: String,
    },
    NullsSkipped {
        column: String,
        nulls: usize,
    },
    TextReadAsNumbers {
        column: String,
    },
    /// Several rows bear the same name and are treated as different groups.
    SameName {
        names: Vec<String>,
    },
    RowsAdded {
        groups: usize,
        rows: usize,
    },
    NegativeValues {
        column: String,
    },
    ZeroTotal {
        column: String,
    },
    NoBase {
        count: usize,
    },
    MissingPeriods {
        periods: Vec<String>,
        group: String,
    },
    PeriodsAdded {
        rows: usize,
        periods: usize,
    },
    RowsWithoutPeriod {
        rows: usize,
    },
    OnlyOld {
        names: Vec<String>,
    },
    OnlyNew {
        names: Vec<String>,
    },
    DaysOfTotalUnknown,
    TotalUnchanged,
    TooFewPeers {
        groups: usize,
        needed: usize,
    },
    NoPeerSpread {
        median: Number,
    },
    TooLittleHistory {
        names: Vec<String>,
        needed: usize,
    },
    NoHistorySpread {
        names: Vec<String>,
    },
    AbsentFromLast {
        names: Vec<String>,
        period: String,
    },
    NoTarget {
        names: Vec<String>,
    },
    TargetZero {
        names: Vec<String>,
    },
    OutsideWindow {
        rows: usize,
    },
    AfterTop {
        left_out: usize,
    },
}

impl Note {
    pub(super) fn say(&self, language: Language) -> String {
        match language {
            Language::English => self.english(),
            Language::Chinese => self.chinese(),
        }
    }

    fn english(&self) -> String {
        let rows = |count: &usize| plural(*count, "row", "rows");
        match self {
            Note::AllNull { column } => format!("`{column}` has no values at all"),
            Note::NullsSkipped { column, nulls } => format!("{} without `{column}` left out", rows(nulls)),
            Note::TextReadAsNumbers { column } => format!("`{column}` is text and was read as numbers"),
            Note::SameName { names } => format!(
                "the same name stands for several rows, kept apart: {}",
                enough(names, ", ")
            ),
            Note::RowsAdded { groups, rows } => {
                format!("{rows} rows added up into {}", plural(*groups, "group", "groups"))
            }
            Note::NegativeValues { column } => {
                format!("`{column}` has negative values, so shares can be below 0% or above 100%")
            }
            Note::ZeroTotal { column } => format!("`{column}` adds up to zero, so there are no shares"),
            Note::NoBase { count } => {
                format!("no percentage where the base is zero or negative ({count} of the rows)")
            }
            Note::MissingPeriods { periods, group } if group.is_empty() => {
                format!("no data in {}", enough(periods, ", "))
            }
            Note::MissingPeriods { periods, group } => format!("{group}: no data in {}", enough(periods, ", ")),
            Note::PeriodsAdded { rows, periods } => format!("{rows} rows added up into {periods} periods"),
            Note::RowsWithoutPeriod { rows: count } => format!("{} without a date left out", rows(count)),
            Note::OnlyOld { names } => format!("only in the old period: {}", enough(names, ", ")),
            Note::OnlyNew { names } => format!("only in the new period: {}", enough(names, ", ")),
            Note::DaysOfTotalUnknown => "day counts differ by group, so the total has no per-day comparison".to_owned(),
            Note::TotalUnchanged => "the total did not change, so there are no contributions to it".to_owned(),
            Note::TooFewPeers { groups, needed } => format!(
                "{} too few to judge anyone against peers (at least {needed} are needed)",
                if *groups == 1 {
                    "1 value is".to_owned()
                } else {
                    format!("{groups} values are")
                }
            ),
            Note::NoPeerSpread { median } => {
                format!(
                    "more than half of the values are {}, so peers have no spread to judge by",
                    amount(*median)
                )
            }
            Note::TooLittleHistory { names, needed } => {
                format!(
                    "fewer than {needed} earlier periods, so no judgement by history: {}",
                    enough(names, ", ")
                )
            }
            Note::NoHistorySpread { names } => {
                format!("history without spread, so no judgement by it: {}", enough(names, ", "))
            }
            Note::AbsentFromLast { names, period } => format!("no value in {period}: {}", enough(names, ", ")),
            Note::NoTarget { names } => format!("no target, so not in the total: {}", enough(names, ", ")),
            Note::TargetZero { names } => format!("target of zero, so no attainment: {}", enough(names, ", ")),
            Note::OutsideWindow { rows: count } => format!("{} outside the window left out", rows(count)),
            Note::AfterTop { left_out } => format!("{} below the cut not shown", plural(*left_out, "group", "groups")),
        }
    }

    fn chinese(&self) -> String {
        match self {
            Note::AllNull { column } => format!("`{column}` 没有任何数值"),
            Note::NullsSkipped { column, nulls } => format!("{nulls} 行缺少 `{column}`，未计入"),
            Note::TextReadAsNumbers { column } => format!("`{column}` 是文本，已按数字读取"),
            Note::SameName { names } => format!("同名的多行分别计算：{}", enough(names, "、")),
            Note::RowsAdded { groups, rows } => format!("{rows} 行合并为 {groups} 组"),
            Note::NegativeValues { column } => format!("`{column}` 含负值，占比可能低于 0% 或高于 100%"),
            Note::ZeroTotal { column } => format!("`{column}` 合计为零，无法计算占比"),
            Note::NoBase { count } => format!("基数为零或负数时不计算百分比（{count} 行）"),
            Note::MissingPeriods { periods, group } if group.is_empty() => {
                format!("以下时段没有数据：{}", enough(periods, "、"))
            }
            Note::MissingPeriods { periods, group } => format!("{group}：以下时段没有数据：{}", enough(periods, "、")),
            Note::PeriodsAdded { rows, periods } => format!("{rows} 行合并为 {periods} 个时段"),
            Note::RowsWithoutPeriod { rows } => format!("{rows} 行没有日期，未计入"),
            Note::OnlyOld { names } => format!("仅出现在旧时段：{}", enough(names, "、")),
            Note::OnlyNew { names } => format!("仅出现在新时段：{}", enough(names, "、")),
            Note::DaysOfTotalUnknown => "各组天数不同，合计不作日均比较".to_owned(),
            Note::TotalUnchanged => "合计没有变化，无法计算贡献度".to_owned(),
            Note::TooFewPeers { groups, needed } => {
                format!("只有 {groups} 个数值，不足以与同组比较（至少需要 {needed} 个）")
            }
            Note::NoPeerSpread { median } => format!("过半数值都是 {}，同组没有离散度可供判断", amount(*median)),
            Note::TooLittleHistory { names, needed } => {
                format!("历史时段不足 {needed} 个，不作历史判断：{}", enough(names, "、"))
            }
            Note::NoHistorySpread { names } => format!("历史没有波动，不作历史判断：{}", enough(names, "、")),
            Note::AbsentFromLast { names, period } => format!("{period} 没有数值：{}", enough(names, "、")),
            Note::NoTarget { names } => format!("没有目标，不计入合计：{}", enough(names, "、")),
            Note::TargetZero { names } => format!("目标为零，无达成率：{}", enough(names, "、")),
            Note::OutsideWindow { rows } => format!("{rows} 行在时间窗口之外，未计入"),
            Note::AfterTop { left_out } => format!("其余 {left_out} 组未列出"),
        }
    }
}

/// The name of the total's row.
pub(super) fn say_total(language: Language) -> &'static str {
    language.pick("Total", "合计")
}

/// Stands for a group without a name: the rows that belong to nobody.
pub fn no_name(language: Language) -> &'static str {
    language.pick("(none)", "（无）")
}

/// The `reason` of an outlier table's row.
pub(super) fn say_verdict(verdict: &Verdict, value: Option<Number>, by: Judge, language: Language) -> String {
    match language {
        Language::English => verdict_in_english(verdict, value, by),
        Language::Chinese => verdict_in_chinese(verdict, value, by),
    }
}

fn verdict_in_english(verdict: &Verdict, value: Option<Number>, by: Judge) -> String {
    let yardstick = match by {
        Judge::Peers => "peers",
        Judge::History => "its own history",
    };
    match verdict {
        Verdict::Judged {
            flag: Flag::Usual, z, ..
        } => format!("in line with {yardstick} (robust z {})", z_score(*z)),
        Verdict::Judged {
            flag,
            z,
            median,
            by: count,
        } => format!(
            "far {} {yardstick}: {} against a median of {} {} {count} {} (robust z {})",
            if *flag == Flag::High { "above" } else { "below" },
            value.map_or_else(String::new, amount),
            amount(*median),
            if by == Judge::Peers { "among" } else { "over" },
            if by == Judge::Peers {
                "values"
            } else {
                "earlier periods"
            },
            z_score(*z)
        ),
        Verdict::TooFew { have } => match by {
            Judge::Peers => format!("too few values to judge by peers ({have})"),
            Judge::History => format!("too few earlier periods to judge by history ({have})"),
        },
        Verdict::NoSpread { median } => match by {
            Judge::Peers => format!("peers have no spread: more than half are {}", amount(*median)),
            Judge::History => format!("history has no spread: more than half of it is {}", amount(*median)),
        },
        Verdict::Absent => "no value in the last period".to_owned(),
    }
}

fn verdict_in_chinese(verdict: &Verdict, value: Option<Number>, by: Judge) -> String {
    let yardstick = match by {
        Judge::Peers => "同组水平",
        Judge::History => "自身历史",
    };
    match verdict {
        Verdict::Judged {
            flag: Flag::Usual, z, ..
        } => format!("与{yardstick}相符（稳健 z 值 {}）", z_score(*z)),
        Verdict::Judged {
            flag,
            z,
            median,
            by: count,
        } => format!(
            "远{}于{yardstick}：{}，{}中位数 {}（稳健 z 值 {}）",
            if *flag == Flag::High { "高" } else { "低" },
            value.map_or_else(String::new, amount),
            if by == Judge::Peers {
                format!("{count} 个数值的")
            } else {
                format!("此前 {count} 个时段的")
            },
            amount(*median),
            z_score(*z)
        ),
        Verdict::TooFew { have } => match by {
            Judge::Peers => format!("数值太少，无法与同组比较（{have} 个）"),
            Judge::History => format!("历史时段太少，无法判断（{have} 个）"),
        },
        Verdict::NoSpread { median } => match by {
            Judge::Peers => format!("同组没有离散度：过半为 {}", amount(*median)),
            Judge::History => format!("历史没有波动：过半为 {}", amount(*median)),
        },
        Verdict::Absent => "最后一个时段没有数值".to_owned(),
    }
}

fn z_score(z: f64) -> String {
    fixed(Number::Float(z), 1)
}

fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn enough(names: &[String], separator: &str) -> String {
    let shown = names
        .iter()
        .take(NAMES_IN_NOTE)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(separator);
    match names.len().checked_sub(NAMES_IN_NOTE).filter(|left| *left > 0) {
        Some(left) => format!("{shown} (+{left})"),
        None => shown,
    }
}
