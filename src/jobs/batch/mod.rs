//! Many questions, one after the other or some at a time: a folder each, an index of all.
//!
//! Knows nothing of models or screens: whoever starts a batch hands in a [`Runner`] that answers one question.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::session::event::{Outcome, Usage};
use crate::session::store::{self, StoreError};
use crate::session::tasks::TaskError;
use crate::text::Language;

mod board;
mod file;
mod index;
mod ledger;

pub use file::{Options, Question, QuestionFileError, read};
pub use index::{Row, headline};

use board::Board;
use ledger::Ledger;

/// A line a question, for programs.
const RESULTS: &str = "results.jsonl";

/// The folder inside a batch's own that holds its tasks.
const TASKS_FOLDER: &str = "tasks";

/// Answers one question of a batch.
#[async_trait]
pub trait Runner: Send + Sync {
    /// Answers `question` and leaves its report in `folder`, which is there. A run that was cut short there goes on.
    ///
    /// `before`: what the questions found that this one comes after.
    /// An error is for what kept the question from being run at all; it is shown as the question's headline.
    async fn run(
        &self,
        question: &Question,
        before: &[Found],
        folder: &Path,
        cancel: &CancellationToken,
    ) -> Result<Ran, String>;
}

/// What an earlier question of the batch found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub question: String,
    /// Its whole answer, without citations.
    pub answer: String,
}

/// What became of one question.
#[derive(Debug, Clone, PartialEq)]
pub struct Ran {
    pub outcome: Outcome,
    /// The finding in one line; [`headline`] takes it out of an answer.
    pub headline: String,
    /// The whole answer, for questions that come after.
    pub text: String,
    pub usage: Usage,
    /// In the price table's currency.
    pub cost: Option<f64>,
    /// The result that answers the question, where one does.
    pub answer: Option<String>,
}

/// How a batch is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Questions at the same time, at least 1.
    pub jobs: usize,
    /// How often a question that failed is tried again.
    pub retries: u32,
    /// What all answers depend on beside their questions; where it changes, all are done again.
    pub about: String,
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
    #[error(transparent)]
    Tasks(#[from] TaskError),
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
/// Each question is a task in `out/tasks`, so that a batch that was stopped goes on when it is started again, and several
/// processes may work on the same folder. `results.jsonl` gets a line as each question ends, and is put into the order of
/// the file at the end, when the indexes are written. A question that fails, or whose runner panics, stops none of the
/// others.
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
    let ledger = Ledger::open(out, &questions, &settings.about, settings.retries)?;
    let board = Board::new(questions, ledger, runner, out, cancel.clone());
    board.work(settings.jobs.max(1), tell).await?;
    let rows = board.rows()?;
    let summary = Summary {
        rows,
        total: board.total(),
        interrupted: cancel.is_cancelled(),
        elapsed: began.elapsed(),
    };
    store::write_durably(
        &out.join(RESULTS),
        summary.rows.iter().map(index::line).collect::<String>().as_bytes(),
    )?;
    store::write_durably(
        &out.join("index.md"),
        index::markdown(&summary, settings.language).as_bytes(),
    )?;
    store::write_durably(
        &out.join("index.html"),
        index::html(&summary, settings.language).as_bytes(),
    )?;
    Ok(summary)
}

#[cfg(test)]
mod tests;
