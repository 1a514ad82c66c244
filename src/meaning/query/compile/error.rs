//! Why a query cannot be compiled, and what to write instead.

use crate::meaning::semantic::Model;

/// Names farther apart than this are no slips of the pen.
const NEAR: f64 = 0.55;

/// Why a query cannot be compiled.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum QueryError {
    #[error("no metric `{name}`{}", did_you_mean(.nearest))]
    UnknownMetric { name: String, nearest: Vec<String> },
    #[error("no dataset `{name}`{}", did_you_mean(.nearest))]
    UnknownDataset { name: String, nearest: Vec<String> },
    #[error("no field `{name}`{}", did_you_mean(.nearest))]
    UnknownField { name: String, nearest: Vec<String> },
    #[error("`{name}` is a field of {}; write the dataset in front", .datasets.join(" and "))]
    AmbiguousField { name: String, datasets: Vec<String> },
    #[error("no relationship `{name}`{}", did_you_mean(.nearest))]
    UnknownRelationship { name: String, nearest: Vec<String> },
    #[error("nothing joins `{from}` to `{to}`; {advice}")]
    Unreachable { from: String, to: String, advice: String },
    #[error("`{dataset}` has no time field, so it cannot be cut by time; name one in `time_field`")]
    NoTime { dataset: String },
    #[error("cannot read the expression `{expression}` of {owner}: {problem}")]
    Expression {
        expression: String,
        owner: String,
        problem: String,
    },
    #[error("{problem}; {advice}")]
    Shape { problem: String, advice: String },
}

impl QueryError {
    /// The query has a shape that makes no sense.
    pub(super) fn shape(problem: impl Into<String>, advice: impl Into<String>) -> Self {
        Self::Shape {
            problem: problem.into(),
            advice: advice.into(),
        }
    }
    pub(super) fn metric(model: &Model, name: &str) -> Self {
        let names = model.metrics.iter().filter(|m| !m.hidden).map(|m| m.name.as_str());
        Self::UnknownMetric {
            name: name.to_owned(),
            nearest: nearest(name, names),
        }
    }
    pub(super) fn dataset(model: &Model, name: &str) -> Self {
        Self::UnknownDataset {
            name: name.to_owned(),
            nearest: nearest(name, model.datasets.iter().map(|d| d.name.as_str())),
        }
    }
    pub(super) fn relationship(model: &Model, name: &str) -> Self {
        Self::UnknownRelationship {
            name: name.to_owned(),
            nearest: nearest(name, model.relationships.iter().map(|r| r.name.as_str())),
        }
    }
}

fn did_you_mean(names: &[String]) -> String {
    match names {
        [] => String::new(),
        names => {
            let quoted: Vec<String> = names.iter().map(|n| format!("`{n}`")).collect();
            format!("; did you mean {}?", quoted.join(" or "))
        }
    }
}

/// Up to three of `names` that look most like `name`, best first.
pub(crate) fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let wanted = name.to_lowercase();
    let mut scored: Vec<(f64, &str)> = names
        .map(|candidate| {
            let lower = candidate.to_lowercase();
            let contained = !wanted.is_empty() && (lower.contains(&wanted) || wanted.contains(&lower));
            let score = strsim::jaro_winkler(&wanted, &lower) + if contained { 0.3 } else { 0.0 };
            (score, candidate)
        })
        .filter(|(score, _)| *score >= NEAR)
        .collect();
    scored.sort_by(|(a, x), (b, y)| b.total_cmp(a).then(x.cmp(y)));
    scored
        .into_iter()
        .take(3)
        .map(|(_, candidate)| candidate.to_owned())
        .collect()
}
