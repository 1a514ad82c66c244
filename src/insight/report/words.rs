//! What the report says in its own voice, in English and Chinese.

use serde::Serialize;

use super::{Ending, StepState};
use crate::text::Language;

/// The fixed words of the template.
#[derive(Debug, Serialize)]
pub(super) struct Words {
    pub(super) question: &'static str,
    pub(super) charts: &'static str,
    pub(super) plan: &'static str,
    pub(super) step: &'static str,
    pub(super) outcome: &'static str,
    pub(super) note: &'static str,
    pub(super) definitions: &'static str,
    pub(super) window: &'static str,
    pub(super) first_day: &'static str,
    pub(super) last_day: &'static str,
    pub(super) caveats: &'static str,
    pub(super) queries: &'static str,
    pub(super) computations: &'static str,
    pub(super) evidence: &'static str,
    pub(super) mark: &'static str,
    pub(super) rows: &'static str,
    pub(super) lints: &'static str,
    pub(super) from: &'static str,
    /// Between a label and what it is.
    pub(super) colon: &'static str,
    pub(super) open: &'static str,
    pub(super) close: &'static str,
}

pub(super) fn words(language: Language) -> Words {
    match language {
        Language::English => Words {
            question: "Question",
            charts: "Charts",
            plan: "Plan",
            step: "Step",
            outcome: "Outcome",
            note: "Note",
            definitions: "Definitions and time windows",
            window: "Window",
            first_day: "First day",
            last_day: "Last day",
            caveats: "Caveats",
            queries: "Appendix: queries",
            computations: "Appendix: computations",
            evidence: "Evidence",
            mark: "† No query result or computation of this run holds this number.",
            rows: "rows",
            lints: "Checks",
            from: "from",
            colon: ": ",
            open: " (",
            close: ")",
        },
        Language::Chinese => Words {
            question: "问题",
            charts: "图表",
            plan: "计划",
            step: "步骤",
            outcome: "结果",
            note: "说明",
            definitions: "定义与时间窗口",
            window: "窗口",
            first_day: "首日",
            last_day: "末日",
            caveats: "注意事项",
            queries: "附录：查询",
            computations: "附录：计算",
            evidence: "证据",
            mark: "† 本次运行的查询结果和计算中都没有这个数字。",
            rows: "行",
            lints: "检查",
            from: "来自",
            colon: "：",
            open: "（",
            close: "）",
        },
    }
}

/// What stands above an answer that is not whole.
pub(super) fn ending_notice(ending: Ending, language: Language) -> Option<&'static str> {
    let (english, chinese) = match ending {
        Ending::Answered => return None,
        Ending::Clarify => (
            "The question can be read in more than one way. It was not answered; please choose a reading.",
            "这个问题有不止一种理解，尚未回答；请选择其中一种。",
        ),
        Ending::Abstained => (
            "The question could not be read with confidence on this database, so it was not answered.",
            "无法在此数据库上可靠地理解这个问题，因此没有作答。",
        ),
        Ending::Incomplete => ("This report is incomplete.", "本报告不完整。"),
        Ending::Failed => (
            "The run failed; what was found until then follows.",
            "运行失败；以下是此前的发现。",
        ),
        Ending::Interrupted => (
            "The run was interrupted; what was found until then follows.",
            "运行被中断；以下是此前的发现。",
        ),
    };
    Some(language.pick(english, chinese))
}

/// What became of a step.
pub(super) fn step_words(state: StepState, language: Language) -> &'static str {
    let (english, chinese) = match state {
        StepState::Pending => ("not done", "未执行"),
        StepState::InProgress => ("begun, not finished", "已开始，未完成"),
        StepState::Completed => ("done", "完成"),
        StepState::Cancelled => ("cancelled", "已取消"),
        StepState::Dropped => ("dropped from the plan", "移出计划"),
    };
    language.pick(english, chinese)
}

/// The usual heading of a computed column.
pub(super) fn heading_words(name: &str, language: Language) -> Option<&'static str> {
    let (english, chinese) = match name {
        "rank" => ("Rank", "名次"),
        "share" => ("Share", "占比"),
        "cumulative_share" => ("Cumulative share", "累计占比"),
        "old_share" => ("Share before", "此前占比"),
        "new_share" => ("Share now", "本期占比"),
        "previous" => ("Previous", "上期"),
        "delta" => ("Change", "变化"),
        "growth" => ("Change %", "变化率"),
        "contribution" => ("Contribution", "贡献度"),
        "cumulative_contribution" => ("Cumulative contribution", "累计贡献度"),
        "old" => ("Before", "此前"),
        "new" => ("Now", "本期"),
        "old_per_day" => ("Before, per day", "此前日均"),
        "new_per_day" => ("Now, per day", "本期日均"),
        "growth_per_day" => ("Change % per day", "日均变化率"),
        "moving_average" => ("Moving average", "移动平均"),
        "attainment" => ("Attainment", "达成率"),
        "gap" => ("Gap", "差额"),
        "status" => ("Status", "状态"),
        "flag" => ("Verdict", "判断"),
        "reason" => ("Reason", "原因"),
        "peer_median" => ("Peer median", "同组中位数"),
        "peer_z" => ("Peer z", "同组 z 值"),
        "peer_flag" => ("Against peers", "与同组相比"),
        "history_median" => ("Own median", "自身中位数"),
        "history_z" => ("Own z", "自身 z 值"),
        "history_flag" => ("Against own history", "与自身历史相比"),
        "history_periods" => ("Earlier periods", "历史时段数"),
        "total" => ("Total", "合计"),
        "rows" => ("Rows", "行数"),
        "largest" => ("Largest", "最大一笔"),
        "largest_share" => ("Largest, share", "最大一笔占比"),
        "without_largest" => ("Without the largest", "去掉最大一笔"),
        "count" => ("Count", "计数"),
        "sum" => ("Sum", "合计"),
        "mean" => ("Mean", "均值"),
        "median" => ("Median", "中位数"),
        "min" => ("Smallest", "最小值"),
        "max" => ("Largest", "最大值"),
        "from" => ("From", "自"),
        "to" => ("To", "至"),
        "periods" => ("Periods", "时段数"),
        "column" => ("Column", "列"),
        "group" => ("Group", "分组"),
        _ => return None,
    };
    Some(language.pick(english, chinese))
}

/// A flag's code in words; an unknown code stays as it is.
pub(super) fn flag_words(code: &str, language: Language) -> &str {
    let (english, chinese) = match code {
        "ok" => ("usual", "正常"),
        "high" => ("high", "偏高"),
        "low" => ("low", "偏低"),
        "too-few" => ("too few values", "数据太少"),
        "no-spread" => ("no spread", "无离散度"),
        "absent" => ("absent", "缺席"),
        "missing" => ("no data", "无数据"),
        "present" => ("data", "有数据"),
        "first" => ("first", "首期"),
        "no-previous" => ("no earlier value", "无上期数值"),
        "no-base" => ("base not positive", "基数非正"),
        "only-old" => ("old period only", "仅旧时段"),
        "only-new" => ("new period only", "仅新时段"),
        "reached" => ("reached", "达成"),
        "missed" => ("missed", "未达成"),
        "no-target" => ("no target", "无目标"),
        "no-value" => ("no value", "无数值"),
        other => return other,
    };
    language.pick(english, chinese)
}

pub(super) fn completed_words(completed: usize, total: usize, language: Language) -> String {
    language.pick(
        format!("{completed} of {total} steps were completed."),
        format!("共 {total} 步，完成 {completed} 步。"),
    )
}

pub(super) fn truncated_words(id: &str, rows: usize, language: Language) -> String {
    let rows = crate::text::grouped(&rows.to_string());
    language.pick(
        format!("[{id}] was cut off at {rows} rows; there are more, and nothing here is a total of it."),
        format!("[{id}] 在 {rows} 行处被截断；实际行数更多，不能据此求合计。"),
    )
}

pub(super) fn unknown_citation_words(ids: &str, language: Language) -> String {
    language.pick(
        format!("The answer cites {ids}, which does not exist."),
        format!("回答引用了不存在的 {ids}。"),
    )
}

/// The evidence in one sentence.
pub(super) fn evidence_words(counts: crate::insight::evidence::Counts, language: Language) -> String {
    let crate::insight::evidence::Counts {
        figures,
        cited,
        nearby,
        unverified,
    } = counts;
    if figures == 0 {
        return language
            .pick("The answer states no numbers.", "回答中没有数字。")
            .to_owned();
    }
    let bound = counts.bound();
    match language {
        Language::English => {
            let elsewhere = if nearby > 0 {
                format!(" ({cited} where it is cited, {nearby} elsewhere in the run)")
            } else {
                String::new()
            };
            let without = match unverified {
                0 => "none is without a source".to_owned(),
                1 => "1 has no source and is marked †".to_owned(),
                _ => format!("{unverified} have no source and are marked †"),
            };
            format!(
                "{bound} of the answer's {figures} numbers equal a cell, count or formula of a result{elsewhere}; {without}."
            )
        }
        Language::Chinese => {
            let elsewhere = if nearby > 0 {
                format!("（{cited} 个在引用处，{nearby} 个在本次运行的其他结果中）")
            } else {
                String::new()
            };
            let without = if unverified == 0 {
                "没有无来源的数字".to_owned()
            } else {
                format!("{unverified} 个没有来源，以 † 标出")
            };
            format!("回答中的 {figures} 个数字，{bound} 个与查询结果的单元格、行数或公式相符{elsewhere}；{without}。")
        }
    }
}

/// The last line: who said this, from what, as of when.
pub(super) fn footer_words(input: &super::ReportInput) -> String {
    let language = input.language;
    let inline = super::escape::inline;
    let mut parts = vec![
        format!("{} {}", language.pick("Model:", "模型："), inline(&input.model)),
        format!("{} {}", language.pick("Database:", "数据库："), inline(&input.database)),
        format!("{} {}", language.pick("As of:", "截至："), inline(&input.as_of)),
    ];
    if let Some(started) = &input.started {
        parts.push(format!("{} {}", language.pick("Started:", "开始："), inline(started)));
    }
    let usage = input.usage;
    if usage.input + usage.output > 0 {
        let number = |count: u64| crate::text::grouped(&count.to_string());
        let (tokens, cached, output) = (number(usage.input), number(usage.cached), number(usage.output));
        parts.push(language.pick(
            format!("Tokens: {tokens} in ({cached} cached), {output} out"),
            format!("令牌：输入 {tokens}（缓存 {cached}），输出 {output}"),
        ));
    }
    let line = parts.join(" · ");
    if language == Language::Chinese {
        line.replace("： ", "：")
    } else {
        line
    }
}
