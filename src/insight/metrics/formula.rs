//! The formula of each function, in maths and the columns' own names.

use super::MetricCall;
use crate::text::Language;

/// How `call` computes what it computes.
pub(super) fn of(call: &MetricCall, language: Language) -> String {
    match call {
        MetricCall::Rank(args) => language.pick(
            format!("rank = 1 + number of groups ahead by {}", args.value),
            format!("名次 = 1 + {} 领先的组数", args.value),
        ),
        MetricCall::Share(args) => {
            format!(
                "share = {value} ÷ Σ {value}; cumulative_share = Σ share",
                value = args.value
            )
        }
        MetricCall::Growth(args) => {
            let lag = args.lag.unwrap_or(1);
            format!(
                "delta = {0}(t) − {0}(t − {lag}); growth = delta ÷ {0}(t − {lag})",
                args.value
            )
        }
        MetricCall::Compare(args) => {
            let per_day = if args.old_days.is_some() {
                "; per_day = value ÷ days"
            } else {
                ""
            };
            let (old, new) = (&args.old, &args.new);
            let value = args
                .value
                .as_ref()
                .map_or_else(String::new, |value| format!("{value}: "));
            format!(
                "{value}old = {old}, new = {new}; delta = new − old; growth = delta ÷ old; contribution = delta ÷ Σ delta{per_day}"
            )
        }
        MetricCall::MovingAverage(args) => {
            format!(
                "moving_average(t) = ({0}(t) + … + {0}(t − {1})) ÷ {2}",
                args.value,
                args.window.saturating_sub(1),
                args.window
            )
        }
        MetricCall::Outliers(args) => language.pick(
            format!(
                "robust z = 0.6745 · ({0} − median) ÷ MAD, MAD = median of |{0} − median|",
                args.value
            ),
            format!(
                "稳健 z 值 = 0.6745 · ({0} − 中位数) ÷ MAD，MAD = |{0} − 中位数| 的中位数",
                args.value
            ),
        ),
        MetricCall::Contribution(args) => match (&args.old, &args.new) {
            (Some(old), Some(new)) => {
                format!("old = {old}, new = {new}; delta = new − old; contribution = delta ÷ Σ delta")
            }
            _ => {
                let value = args.value.as_deref().unwrap_or_default();
                format!("largest_share = max({value}) ÷ Σ {value}")
            }
        },
        MetricCall::Attainment(args) => {
            format!("attainment = {0} ÷ {1}; gap = {0} − {1}", args.value, args.target)
        }
        MetricCall::Summary(args) => {
            let columns = args.value.names().join(", ");
            language.pick(
                format!("count, sum, mean, median, min, max of {columns}"),
                format!("{columns} 的计数、合计、均值、中位数、最小值、最大值"),
            )
        }
        MetricCall::Coverage(args) => language.pick(
            format!("coverage = periods with {0} ÷ periods of the window", args.period),
            format!("覆盖率 = 有 {0} 的时段数 ÷ 窗口内的时段数", args.period),
        ),
    }
}
