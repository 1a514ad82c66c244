//! What the report and the screen must say about how a run went, in both languages.

use crate::agent::budget::Limit;
use crate::agent::dispatch::CallRecord;
use crate::agent::stall::Circle;
use crate::session::event::CallStatus;
use crate::text::Language;

/// Something that a reader of the report should know about the run.
#[derive(Debug, Clone, PartialEq)]
pub enum Notice {
    /// Steps of the plan that were neither done nor cancelled.
    StepsLeft(Vec<String>),
    /// Steps that the model took off its plan without doing them.
    StepsDropped(Vec<String>),
    BudgetEnded(Limit),
    WentInCircles(Circle),
    /// The model sent nothing, twice.
    EmptyReplies,
    /// The answer was cut off by the length limit, twice.
    CutOff,
    /// The model or its provider declined to answer.
    Refused,
    /// The model could not be reached any more, in the words of its provider.
    ModelFailed(String),
    /// The conversation does not fit into the model even when it is shortened.
    TooLong,
    Interrupted,
}

impl Notice {
    pub fn text(&self, language: Language) -> String {
        match language {
            Language::English => self.english(),
            Language::Chinese => self.chinese(),
        }
    }

    fn english(&self) -> String {
        match self {
            Notice::StepsLeft(steps) => format!("These steps of the plan were not done: {}.", steps.join("; ")),
            Notice::StepsDropped(steps) => format!("These steps were taken off the plan: {}.", steps.join("; ")),
            Notice::BudgetEnded(limit) => format!("The run ended early: {}.", english_limit(*limit)),
            Notice::WentInCircles(Circle::Failing { tool }) => {
                format!("The run was ended because the same call of {tool} failed again and again.")
            }
            Notice::WentInCircles(Circle::Repeating) => {
                "The run was ended because the model only repeated calls that had been answered.".to_owned()
            }
            Notice::EmptyReplies => "The model sent empty replies, so the run was ended.".to_owned(),
            Notice::CutOff => "The model's answer reached its length limit and is cut off.".to_owned(),
            Notice::Refused => "The model declined to answer.".to_owned(),
            Notice::ModelFailed(problem) => format!("The model failed: {problem}."),
            Notice::TooLong => "The conversation grew too long for the model.".to_owned(),
            Notice::Interrupted => "The run was interrupted.".to_owned(),
        }
    }

    fn chinese(&self) -> String {
        match self {
            Notice::StepsLeft(steps) => format!("计划中以下步骤未完成：{}。", steps.join("；")),
            Notice::StepsDropped(steps) => format!("以下步骤已从计划中移除：{}。", steps.join("；")),
            Notice::BudgetEnded(limit) => format!("运行提前结束：{}。", chinese_limit(*limit)),
            Notice::WentInCircles(Circle::Failing { tool }) => format!("对 {tool} 的同一调用反复失败，运行已结束。"),
            Notice::WentInCircles(Circle::Repeating) => "模型只是重复已有答复的调用，运行已结束。".to_owned(),
            Notice::EmptyReplies => "模型返回了空回复，运行已结束。".to_owned(),
            Notice::CutOff => "模型的回答达到长度上限，被截断。".to_owned(),
            Notice::Refused => "模型拒绝回答。".to_owned(),
            Notice::ModelFailed(problem) => format!("模型出错：{problem}。"),
            Notice::TooLong => "对话过长，超出模型的上限。".to_owned(),
            Notice::Interrupted => "运行被中断。".to_owned(),
        }
    }
}

fn english_limit(limit: Limit) -> String {
    match limit {
        Limit::Turns(n) => format!("its budget of {n} turns is used up (--max-turns)"),
        Limit::Tokens(n) => format!("its budget of {n} tokens is used up (--max-tokens)"),
        Limit::Cost(n) => format!("its budget of {n} is used up (--max-cost)"),
        Limit::Seconds(n) => format!("its {n} seconds are over (--max-seconds)"),
    }
}

fn chinese_limit(limit: Limit) -> String {
    match limit {
        Limit::Turns(n) => format!("{n} 轮的预算已用完（--max-turns）"),
        Limit::Tokens(n) => format!("{n} 个 token 的预算已用完（--max-tokens）"),
        Limit::Cost(n) => format!("{n} 的费用预算已用完（--max-cost）"),
        Limit::Seconds(n) => format!("{n} 秒的时限已到（--max-seconds）"),
    }
}

/// The body of a report whose run ended without an answer: what is known, by the results that there are.
pub fn what_is_known(calls: &[CallRecord], language: Language) -> String {
    let known: Vec<String> = calls
        .iter()
        .filter(|c| c.status == CallStatus::Ok && !c.repeated)
        .filter_map(|c| {
            c.artifact_id
                .as_ref()
                .map(|id| format!("- [{id}] {}: {}", c.tool, c.summary))
        })
        .collect();
    let (none, some) = match language {
        Language::English => (
            "The run ended before there was an answer or a result.",
            "The run ended before there was an answer. These results are known:",
        ),
        Language::Chinese => (
            "运行在得出回答或结果之前结束。",
            "运行在得出回答之前结束。已有以下结果：",
        ),
    };
    if known.is_empty() {
        none.to_owned()
    } else {
        format!("{some}\n\n{}", known.join("\n"))
    }
}
