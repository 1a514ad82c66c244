//! What an evaluation comes to, for people and for programs.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::jobs::eval::score::Scorer;
use crate::jobs::eval::shape::Shape;
use crate::jobs::eval::stage::Stage;
use crate::jobs::eval::suite::Case;
use crate::jobs::eval::{Given, Settings};
use crate::meaning::question::Signals;
use crate::session::store::{StoreError, write_whole};

/// What became of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Correct,
    Wrong,
    /// No answer was given.
    Abstained,
    /// An answer was meant, but there is no statement that runs.
    Error,
}

/// One question with its answer and the judgement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Item {
    pub id: String,
    pub question: String,
    pub database: String,
    pub shape: Shape,
    pub sql: Option<String>,
    pub gold: Vec<String>,
    pub status: Status,
    /// Where it went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<Stage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// A gold statement could not be run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gold_problem: Option<String>,
    /// How sure the reading was, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signals: Option<Signals>,
    /// What each scorer says of the answer.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub scores: BTreeMap<Scorer, bool>,
    pub seconds: f64,
    pub tokens: u64,
}

impl Item {
    pub(super) fn of(case: &Case, given: &Given) -> Self {
        Self {
            id: case.id.clone(),
            question: case.question.clone(),
            database: case.database(),
            shape: case.gold_sql.first().map_or(Shape::Unknown, |sql| Shape::of(sql)),
            sql: given.sql.clone(),
            gold: case.gold_sql.clone(),
            status: Status::Abstained,
            stage: None,
            problem: given.problem.clone(),
            gold_problem: None,
            confidence: given.confidence,
            signals: given.signals.clone(),
            scores: BTreeMap::new(),
            seconds: 0.0,
            tokens: given.usage.input + given.usage.output,
        }
    }

    /// A question whose database cannot be opened.
    pub(super) fn failed(case: &Case, problem: &str) -> Self {
        Self {
            status: Status::Error,
            stage: Some(Stage::NotRun),
            problem: Some(problem.to_owned()),
            ..Self::of(case, &Given::default())
        }
    }
}

/// How many, and what share of them.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Counts {
    pub total: usize,
    /// Questions with a statement, right or wrong; errors count as answered wrongly.
    pub answered: usize,
    pub correct: usize,
    /// Correct of all.
    pub accuracy: f64,
    /// Correct of answered; 0 where none is.
    pub precision: f64,
}

impl Counts {
    fn of<'i>(items: impl Iterator<Item = &'i Item>) -> Self {
        let mut counts = Counts::default();
        for item in items {
            counts.total += 1;
            counts.answered += usize::from(item.status != Status::Abstained);
            counts.correct += usize::from(item.status == Status::Correct);
        }
        counts.accuracy = share(counts.correct, counts.total);
        counts.precision = share(counts.correct, counts.answered);
        counts
    }
}

fn share(part: usize, whole: usize) -> f64 {
    let small = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    if whole == 0 { 0.0 } else { small(part) / small(whole) }
}

/// The whole evaluation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    pub v: u32,
    pub suite: String,
    pub model: String,
    pub scorer: Scorer,
    #[serde(flatten)]
    pub counts: Counts,
    /// Questions left out because their gold statement asks for today.
    pub skipped: usize,
    /// Correct answers by each scorer.
    pub by_scorer: BTreeMap<Scorer, usize>,
    pub by_shape: BTreeMap<Shape, Counts>,
    pub by_database: BTreeMap<String, Counts>,
    /// Answers that are not right, by where they went wrong.
    pub by_stage: BTreeMap<Stage, usize>,
    pub median_seconds: f64,
    pub tokens: u64,
    pub items: Vec<Item>,
}

/// Why a report cannot be kept or gone on with.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("cannot read {}: {source}", .path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{} is no evaluation: {problem}; remove it, or leave out --resume", .path.display())]
    Damaged { path: PathBuf, problem: String },
}

impl Report {
    pub fn new(suite: &Path, settings: &Settings, skipped: usize, items: Vec<Item>) -> Self {
        let mut by_scorer = BTreeMap::new();
        for scorer in Scorer::ALL {
            let right = items
                .iter()
                .filter(|item| item.scores.get(&scorer) == Some(&true))
                .count();
            by_scorer.insert(scorer, right);
        }
        let mut by_stage = BTreeMap::new();
        for stage in items.iter().filter_map(|item| item.stage) {
            *by_stage.entry(stage).or_default() += 1;
        }
        let mut seconds: Vec<f64> = items.iter().map(|item| item.seconds).collect();
        seconds.sort_by(f64::total_cmp);
        Self {
            v: 1,
            suite: suite.display().to_string(),
            model: settings.model.clone(),
            scorer: settings.scorer,
            counts: Counts::of(items.iter()),
            skipped,
            by_scorer,
            by_shape: grouped(&items, |item| item.shape),
            by_database: grouped(&items, |item| item.database.clone()),
            by_stage,
            median_seconds: seconds.get(seconds.len() / 2).copied().unwrap_or_default(),
            tokens: items.iter().map(|item| item.tokens).sum(),
            items,
        }
    }

    /// Writes the report as JSON, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<(), ReportError> {
        let text = serde_json::to_vec_pretty(self).map_err(|error| ReportError::Damaged {
            path: path.to_owned(),
            problem: error.to_string(),
        })?;
        Ok(write_whole(path, &text)?)
    }

    /// The tables that a person reads.
    pub fn text(&self) -> String {
        let counts = &self.counts;
        let mut out = format!(
            "{} of {} answered, {} correct: accuracy {:.1} %, precision {:.1} % ({} scorer)\n",
            counts.answered,
            counts.total,
            counts.correct,
            counts.accuracy * 100.0,
            counts.precision * 100.0,
            self.scorer.name(),
        );
        if self.skipped > 0 {
            let _ = writeln!(out, "{} left out: their gold statement asks for today", self.skipped);
        }
        let others: Vec<String> = self
            .by_scorer
            .iter()
            .map(|(scorer, right)| format!("{} {:.1} %", scorer.name(), share(*right, counts.total) * 100.0))
            .collect();
        let _ = writeln!(out, "accuracy by scorer: {}", others.join(", "));
        let _ = writeln!(
            out,
            "median {:.1} ms a question, {} tokens in all\n",
            self.median_seconds * 1000.0,
            self.tokens
        );
        out.push_str(&table(
            "kind of question",
            self.by_shape.iter().map(|(shape, own)| (shape.name().to_owned(), *own)),
        ));
        out.push('\n');
        out.push_str(&table(
            "database",
            self.by_database.iter().map(|(name, own)| (name.clone(), *own)),
        ));
        out.push_str("\nnot right, by stage\n");
        for (stage, count) in &self.by_stage {
            let _ = writeln!(out, "  {:24} {count:6}", stage.name());
        }
        let faults = self.items.iter().filter(|item| item.gold_problem.is_some()).count();
        if faults > 0 {
            let _ = writeln!(out, "\n{faults} gold statements do not run; see gold_problem");
        }
        out
    }
}

fn grouped<K: Ord>(items: &[Item], key: impl Fn(&Item) -> K) -> BTreeMap<K, Counts> {
    let mut groups: BTreeMap<K, Vec<&Item>> = BTreeMap::new();
    for item in items {
        groups.entry(key(item)).or_default().push(item);
    }
    groups
        .into_iter()
        .map(|(key, own)| (key, Counts::of(own.into_iter())))
        .collect()
}

fn table(title: &str, rows: impl Iterator<Item = (String, Counts)>) -> String {
    let mut out = format!(
        "{title:32} {:>6} {:>9} {:>8} {:>9} {:>10}\n",
        "total", "answered", "correct", "accuracy", "precision"
    );
    for (name, counts) in rows {
        let _ = writeln!(
            out,
            "  {name:30} {:6} {:9} {:8} {:8.1}% {:9.1}%",
            counts.total,
            counts.answered,
            counts.correct,
            counts.accuracy * 100.0,
            counts.precision * 100.0,
        );
    }
    out
}

/// The items of an evaluation that was written to `path` or was cut off while it was, by id; none where there is none.
pub fn known_items(path: &Path) -> Result<HashMap<String, Item>, ReportError> {
    let mut known = HashMap::new();
    let damaged = |path: &Path, error: serde_json::Error| ReportError::Damaged {
        path: path.to_owned(),
        problem: error.to_string(),
    };
    if let Some(text) = read(path)? {
        let report: Report = serde_json::from_str(&text).map_err(|error| damaged(path, error))?;
        known.extend(report.items.into_iter().map(|item| (item.id.clone(), item)));
    }
    // The last line may be half a line.
    let partial = partial(path);
    let lines = read(&partial)?.unwrap_or_default();
    known.extend(
        lines
            .lines()
            .filter_map(|line| serde_json::from_str::<Item>(line).ok())
            .map(|item| (item.id.clone(), item)),
    );
    Ok(known)
}

/// Where items are kept until the evaluation has ended, one a line.
pub fn partial(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".partial");
    path.with_file_name(name)
}

fn read(path: &Path) -> Result<Option<String>, ReportError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(ReportError::Read {
            path: path.to_owned(),
            source,
        }),
    }
}
