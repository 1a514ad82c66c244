//! The full report: steps that gather, and the text that is written from what they found.

mod advice;
mod drivers;
mod outliers;
mod quality;
mod ranking;
mod targets;
mod totals;
mod trend;
mod write;

use crate::builtin::case::{Case, Progress, Stop};
use crate::builtin::plan::{Stand, Step};
use crate::builtin::subject::Subject;

/// Everything that the steps found; what failed is `None` and its reason stands in `failures`.
pub struct Findings {
    pub totals: Option<totals::Totals>,
    pub ranking: Option<ranking::Ranking>,
    pub trend: Option<trend::Trend>,
    pub outliers: Option<outliers::OutlierFindings>,
    pub targets: Option<targets::Targets>,
    pub drivers: Option<drivers::Drivers>,
    pub failures: Vec<(Step, String)>,
}

/// How far the report has come: where each step stands, and the text once all of them have ended.
pub struct Investigation {
    pub steps: Vec<(Step, Stand)>,
    pub answer: Option<String>,
}

const TOTALS: Step = Step {
    content: (
        "Measure the totals against the period before and the year before",
        "统计总量，并与上一期和去年同期比较",
    ),
    active: ("Measuring the totals", "正在统计总量"),
};
const RANKING: Step = Step {
    content: ("Rank the groups, with shares and changes", "给出排名、占比和变化"),
    active: ("Ranking the groups", "正在排名"),
};
const TREND: Step = Step {
    content: ("Follow the trend over time", "分析时间趋势"),
    active: ("Following the trend", "正在分析趋势"),
};
const OUTLIERS: Step = Step {
    content: ("Find outliers and drill down to their cause", "找出异常并追查原因"),
    active: ("Looking for outliers and their cause", "正在查找异常及原因"),
};
const TARGETS: Step = Step {
    content: ("Compare with the targets", "与目标对比"),
    active: ("Comparing with the targets", "正在与目标对比"),
};
const DRIVERS: Step = Step {
    content: ("Find what the change comes from", "查找变化的来源"),
    active: ("Finding what the change comes from", "正在查找变化的来源"),
};
const WRITE: Step = Step {
    content: (
        "Write the report with caveats and recommendations",
        "撰写报告、说明和建议",
    ),
    active: ("Writing the report", "正在撰写报告"),
};

/// The steps that a report on anything may need, before it is known what the question is about.
pub fn outline() -> Vec<Step> {
    vec![TOTALS, RANKING, TREND, OUTLIERS, WRITE]
}

/// Goes on with the first step that is not done; writes when all are.
pub fn investigate(case: &Case<'_>, subject: &Subject) -> Investigation {
    let mut walk = Walk::default();
    let totals = walk.step(TOTALS, || totals::gather(case, subject));
    let ranking = subject
        .dimension()
        .and_then(|_| walk.step(RANKING, || ranking::gather(case, subject)));
    let trend = walk.step(TREND, || trend::gather(case, subject));
    let outliers = match (&ranking, subject.dimension()) {
        (Some(ranking), Some(_)) => walk.step(OUTLIERS, || outliers::gather(case, subject, ranking)),
        _ if walk.is_waiting() && subject.dimension().is_some() => walk.later(OUTLIERS),
        _ => None,
    };
    let targets = subject
        .around
        .target
        .as_ref()
        .and_then(|target| walk.step(TARGETS, || targets::gather(case, subject, target)));
    let drivers = match subject.windows.previous {
        Some(_) if !subject.around.breakdowns.is_empty() => walk.step(DRIVERS, || drivers::gather(case, subject)),
        _ => None,
    };
    let waiting = walk.is_waiting();
    let findings = Findings {
        totals,
        ranking,
        trend,
        outliers,
        targets,
        drivers,
        failures: walk.failures,
    };
    let mut steps = walk.steps;
    steps.push((WRITE, if waiting { Stand::Open } else { Stand::Done }));
    Investigation {
        steps,
        answer: (!waiting).then(|| write::report(subject, &findings)),
    }
}

/// A walk along the steps: the first that waits is where the work goes on, the ones behind it are not begun.
#[derive(Default)]
struct Walk {
    steps: Vec<(Step, Stand)>,
    failures: Vec<(Step, String)>,
}

impl Walk {
    fn is_waiting(&self) -> bool {
        self.steps.iter().any(|(_, stand)| *stand == Stand::Open)
    }

    fn step<T>(&mut self, step: Step, gather: impl FnOnce() -> Progress<T>) -> Option<T> {
        if self.is_waiting() {
            return self.later(step);
        }
        let progress = gather();
        self.steps.push((step, Stand::of(&progress)));
        match progress {
            Ok(found) => Some(found),
            Err(Stop::Waiting) => None,
            Err(Stop::Failed(reason)) => {
                self.failures.push((step, reason));
                None
            }
        }
    }

    fn later<T>(&mut self, step: Step) -> Option<T> {
        self.steps.push((step, Stand::Open));
        None
    }
}
