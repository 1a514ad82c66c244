//! Many questions, one after the other or some at a time: a folder each, an index of all.
//!
//! Knows nothing of models or screens: whoever starts a batch hands in a [`Runner`] that answers one question.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures_util::stream::{self, StreamExt as _};
use tokio_util::sync::CancellationToken;

use crate::session::event::{Outcome, Usage};
use crate::session::store::{self, StoreError};
use crate::text::Language;

mod file;
mod index;

pub use file::{Options, Question, QuestionFileError, read};
pub use index::{Row, headline};

/// Answers one question of a batch.
#[async_trait]
pub trait Runner: Send + Sync {
    /// Answers `question` and leaves its report in `folder`, which is made by whoever writes there first.
    ///
    /// An error is for what kept the question from being run at all; it is shown as the question's headline.
    async fn run(&self, question: &Question, folder: &Path, cancel: &CancellationToken) -> Result<Ran, String>;
}

/// What became of one question.
#[derive(Debug, Clone, PartialEq)]
pub struct Ran {
    pub outcome: Outcome,
    /// The finding in one line; [`headline`] takes it out of an answer.
    pub headline: String,
    pub usage: Usage,
    /// In the price table's currency.
    pub cost: Option<f64>,
    /// The result that answers the question, where one does.
    pub answer: Option<String>,
}

/// How a batch is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Questions at the same time, at least 1.
    pub jobs: usize,
    /// The language of the index.
    pub language: Language,
}

/// What a batch tells while it runs.
#[derive(Debug)]
pub enum Progress<'a> {
    Started { question: &'a Question },
    Finished { row: &'a Row, done: usize, total: usize },
}

/// Why a batch could not be run or written down.
#[derive(Debug, thiserror::Error)]
pub enum BatchError {
    #[error("cannot create the folder {}: {source}; choose another place with --out DIR", .path.display())]
    Folder { path: PathBuf, source: std::io::Error },
    #[error("cannot write {}: {source}", .path.display())]
    Write { path: PathBuf, source: std::io::Error },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What a batch came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// One row a question, in the order of the file; questions that were not begun when the batch was interrupted have none.
    pub rows: Vec<Row>,
    pub total: usize,
    pub interrupted: bool,
    pub elapsed: Duration,
}

impl Summary {
    /// 0 when every question was answered, 130 when the batch was interrupted, else 1.
    pub fn exit_code(&self) -> u8 {
        if self.interrupted {
            return Outcome::Interrupted.exit_code();
        }
        let all = self.rows.len() == self.total && self.rows.iter().all(|r| r.outcome == Outcome::Answered);
        u8::from(!all)
    }
}

/// Runs `questions`, up to `settings.jobs` at a time, each into `out/<id>/`.
///
/// `results.jsonl` gets a line as each question ends, and is put into the order of the file at the end, when `index.md`
/// is written. A question that fails, or whose runner panics, stops none of the others.
pub async fn run(
    questions: Vec<Question>,
    runner: Arc<dyn Runner>,
    out: &Path,
    settings: Settings,
    cancel: &CancellationToken,
    tell: &(dyn Fn(Progress<'_>) + Sync),
) -> Result<Summary, BatchError> {
    let began = Instant::now();
    fs::create_dir_all(out).map_err(|source| BatchError::Folder {
        path: out.to_owned(),
        source,
    })?;
    let results = out.join("results.jsonl");
    let failed = |source| BatchError::Write {
        path: results.clone(),
        source,
    };
    let mut lines = File::create(&results).map_err(failed)?;
    let total = questions.len();
    let work = questions.into_iter().enumerate().map(|(place, question)| {
        let (runner, folder, cancel) = (runner.clone(), out.join(&question.id), cancel.clone());
        async move {
            if cancel.is_cancelled() {
                return None;
            }
            tell(Progress::Started { question: &question });
            Some((place, run_one(question, runner, folder, cancel).await))
        }
    });
    let mut finished = stream::iter(work).buffer_unordered(settings.jobs.max(1));
    let mut rows: Vec<(usize, Row)> = Vec::with_capacity(total);
    while let Some(ended) = finished.next().await {
        let Some((place, row)) = ended else { continue };
        lines
            .write_all(index::line(&row).as_bytes())
            .and_then(|()| lines.flush())
            .map_err(failed)?;
        tell(Progress::Finished {
            row: &row,
            done: rows.len() + 1,
            total,
        });
        rows.push((place, row));
    }
    rows.sort_by_key(|(place, _)| *place);
    let rows: Vec<Row> = rows.into_iter().map(|(_, row)| row).collect();
    let summary = Summary {
        rows,
        total,
        interrupted: cancel.is_cancelled(),
        elapsed: began.elapsed(),
    };
    store::write_durably(
        &results,
        summary.rows.iter().map(index::line).collect::<String>().as_bytes(),
    )?;
    store::write_durably(
        &out.join("index.md"),
        index::markdown(&summary, settings.language).as_bytes(),
    )?;
    Ok(summary)
}

/// Runs one question as a task of its own, so that a panic becomes a row like any other failure.
async fn run_one(question: Question, runner: Arc<dyn Runner>, folder: PathBuf, cancel: CancellationToken) -> Row {
    let began = Instant::now();
    let asked = question.clone();
    let task = tokio::spawn(async move {
        let ran = runner.run(&question, &folder, &cancel).await;
        (ran, folder.join("report.md").is_file())
    });
    let (ran, has_report) = match task.await {
        Ok(ended) => ended,
        Err(error) => (
            Err(format!("the run broke down, which is a fault of the program ({error})")),
            false,
        ),
    };
    Row::new(asked, ran, has_report, began.elapsed())
}

#[cfg(test)]
mod tests;
