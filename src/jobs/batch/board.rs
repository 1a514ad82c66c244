//! The workers of one process: each takes the next question that can be taken, until none is left.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use tokio::sync::{Mutex, Notify};
use tokio_util::sync::CancellationToken;

use crate::jobs::batch::ledger::{Ending, Ledger, RENEWAL, Taken};
use crate::jobs::batch::{BatchError, Found, Progress, Question, RESULTS, Ran, Row, Runner, index};
use crate::session::event::Outcome;
use crate::session::tasks::TaskError;

/// How often a worker that has nothing to do looks again at what other processes are at.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

pub(super) struct Board {
    questions: Vec<Question>,
    places: HashMap<String, usize>,
    ledger: Arc<Ledger>,
    runner: Arc<dyn Runner>,
    out: PathBuf,
    cancel: CancellationToken,
    state: Mutex<State>,
    /// A question has ended, so that another may be free.
    freed: Notify,
    done: AtomicUsize,
}

#[derive(Default)]
struct State {
    /// Places of questions that are not known to have ended, the next one first.
    left: VecDeque<usize>,
    /// How the questions ended that have.
    ended: BTreeMap<usize, bool>,
    running: usize,
    /// Rows of questions that have none on disk: they were interrupted, or wait for one that failed.
    unwritten: BTreeMap<usize, Row>,
}

/// What a worker does next.
enum Next {
    Run(usize),
    Wait,
    Over,
}

/// What comes after a question's run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    Over,
    /// It is left to whoever starts the batch again.
    Stopped,
    Again,
}

impl Board {
    pub fn new(
        questions: Vec<Question>,
        ledger: Ledger,
        runner: Arc<dyn Runner>,
        out: &Path,
        cancel: CancellationToken,
    ) -> Self {
        let places = questions.iter().enumerate().map(|(at, q)| (q.id.clone(), at)).collect();
        let left = (0..questions.len()).collect();
        Self {
            questions,
            places,
            ledger: Arc::new(ledger),
            runner,
            out: out.to_owned(),
            cancel,
            state: Mutex::new(State {
                left,
                ..State::default()
            }),
            freed: Notify::new(),
            done: AtomicUsize::new(0),
        }
    }

    pub fn total(&self) -> usize {
        self.questions.len()
    }

    /// Runs until every question has ended, here or in another process.
    pub async fn work(&self, jobs: usize, tell: &(dyn Fn(Progress<'_>) + Sync)) -> Result<(), BatchError> {
        let workers = (0..jobs.min(self.total())).map(|_| self.worker(tell));
        join_all(workers).await.into_iter().collect()
    }

    async fn worker(&self, tell: &(dyn Fn(Progress<'_>) + Sync)) -> Result<(), BatchError> {
        loop {
            match self.next().await? {
                Next::Run(at) => self.run(at, tell).await?,
                Next::Over => {
                    self.freed.notify_waiters();
                    return Ok(());
                }
                Next::Wait => {
                    tokio::select! {
                        () = self.freed.notified() => {}
                        () = tokio::time::sleep(LOOK_AGAIN) => {}
                        () = self.cancel.cancelled() => {}
                    }
                }
            }
        }
    }

    async fn next(&self) -> Result<Next, BatchError> {
        let mut state = self.state.lock().await;
        for _ in 0..state.left.len() {
            if self.cancel.is_cancelled() {
                return Ok(Next::Over);
            }
            let Some(at) = state.left.pop_front() else { break };
            let Some(question) = self.questions.get(at) else {
                continue;
            };
            let before = question.after.iter().filter_map(|id| self.places.get(id));
            let ends: Vec<Option<bool>> = before.map(|at| state.ended.get(at).copied()).collect();
            if ends.contains(&Some(false)) {
                let row = Row::not_run(question, &self.failed_before(question, &state));
                state.unwritten.insert(at, row);
                state.ended.insert(at, false);
                self.done.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            if ends.contains(&None) {
                state.left.push_back(at);
                continue;
            }
            match self.take(at).await? {
                Taken::Ours => {
                    state.running += 1;
                    return Ok(Next::Run(at));
                }
                Taken::NotNow => state.left.push_back(at),
                Taken::Ended { answered } => {
                    state.ended.insert(at, answered);
                    self.done.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
        Ok(match (state.left.is_empty(), state.running) {
            (true, 0) => Next::Over,
            _ if self.cancel.is_cancelled() => Next::Over,
            _ => Next::Wait,
        })
    }

    /// The first question that this one comes after and that has no answer.
    fn failed_before(&self, question: &Question, state: &State) -> String {
        let failed = |id: &&String| self.places.get(*id).and_then(|at| state.ended.get(at)) == Some(&false);
        question.after.iter().find(failed).cloned().unwrap_or_default()
    }

    /// Waiting for the tasks' lock must not hold up the questions that run.
    async fn take(&self, at: usize) -> Result<Taken, BatchError> {
        let ledger = Arc::clone(&self.ledger);
        Ok(off_the_loop(move || ledger.take(at)).await?)
    }

    async fn run(&self, at: usize, tell: &(dyn Fn(Progress<'_>) + Sync)) -> Result<(), BatchError> {
        let Some(question) = self.questions.get(at) else {
            return Ok(());
        };
        tell(Progress::Started { question });
        let (ran, has_report, elapsed) = self.answer(at, question).await;
        let ending = match ran.as_ref().map(|ran| ran.outcome) {
            Ok(Outcome::Interrupted) => Ending::Interrupted,
            Ok(Outcome::Failed) | Err(_) => Ending::Failed,
            Ok(Outcome::Answered | Outcome::Clarify | Outcome::Abstained | Outcome::Incomplete) => Ending::Done,
        };
        let row = Row::new(question, ran, has_report, elapsed);
        let (ledger, kept) = (Arc::clone(&self.ledger), row.clone());
        let after = match off_the_loop(move || ledger.end(at, &kept, ending)).await {
            Ok(true) => After::Over,
            Ok(false) if ending == Ending::Interrupted => After::Stopped,
            Ok(false) => After::Again,
            // Somebody else has taken it over, and writes down what comes of it.
            Err(TaskError::Taken { .. }) => After::Again,
            Err(error) => return Err(error.into()),
        };
        let mut state = self.state.lock().await;
        state.running -= 1;
        match after {
            After::Over => {
                state.ended.insert(at, ending == Ending::Done);
                append(&self.out.join(RESULTS), &row)?;
            }
            After::Stopped => {
                state.unwritten.insert(at, row.clone());
            }
            After::Again => state.left.push_back(at),
        }
        drop(state);
        if after != After::Again {
            tell(Progress::Finished {
                row: &row,
                done: self.done.fetch_add(1, Ordering::Relaxed) + 1,
                total: self.total(),
            });
        }
        self.freed.notify_waiters();
        Ok(())
    }

    /// Runs one question as a task of its own, so that a panic becomes a row like any other failure, and shows a sign of
    /// life while it does.
    async fn answer(&self, at: usize, question: &Question) -> (Result<Ran, String>, bool, Duration) {
        let began = Instant::now();
        let folder = self.out.join(&question.id);
        let prepared = self
            .ledger
            .prepare(at, question, &folder)
            .map_err(|error| error.to_string())
            .and_then(|()| self.before(question));
        let before = match prepared {
            Ok(before) => before,
            Err(problem) => return (Err(problem), false, began.elapsed()),
        };
        let (runner, cancel, question) = (Arc::clone(&self.runner), self.cancel.child_token(), question.clone());
        let stop = cancel.clone();
        let mut task = tokio::spawn(async move {
            let ran = runner.run(&question, &before, &folder, &cancel).await;
            (ran, folder.join("report.md").is_file())
        });
        let ended = loop {
            tokio::select! {
                ended = &mut task => break ended,
                () = tokio::time::sleep(RENEWAL) => {
                    let ledger = Arc::clone(&self.ledger);
                    let is_ours = tokio::task::spawn_blocking(move || ledger.renew(at)).await.unwrap_or(true);
                    if !is_ours {
                        stop.cancel();
                    }
                }
            }
        };
        let (ran, has_report) = ended.unwrap_or_else(|error| {
            let text = format!("the run broke down, which is a fault of the program ({error})");
            (Err(text), false)
        });
        (ran, has_report, began.elapsed())
    }

    /// What the questions found that this one comes after.
    fn before(&self, question: &Question) -> Result<Vec<Found>, String> {
        let found = |id: &String| {
            let at = self.places.get(id).copied().unwrap_or_default();
            let row = self.ledger.row(at).map_err(|error| error.to_string())?;
            let row = row.ok_or_else(|| format!("the answer of `{id}` is gone; start the batch again"))?;
            Ok(Found {
                question: row.question,
                answer: row.text,
            })
        };
        question.after.iter().map(found).collect()
    }

    /// All rows that there are, in the order of the file.
    pub fn rows(&self) -> Result<Vec<Row>, BatchError> {
        let mut rows = self.ledger.rows()?;
        let unwritten = self.state.try_lock().map(|state| state.unwritten.clone());
        for (at, row) in unwritten.unwrap_or_default() {
            rows.entry(at).or_insert(row);
        }
        Ok(rows.into_values().collect())
    }
}

async fn off_the_loop<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, TaskError> + Send + 'static,
) -> Result<T, TaskError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => Err(TaskError::Broken(error.to_string())),
    }
}

/// Adds a line in one write, so that processes side by side do not tear each other's.
fn append(path: &Path, row: &Row) -> Result<(), BatchError> {
    OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .and_then(|mut file| file.write_all(index::line(row).as_bytes()))
        .map_err(|source| BatchError::Write {
            path: path.to_owned(),
            source,
        })
}
