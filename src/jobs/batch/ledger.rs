//! The questions of a batch as tasks on disk: what is done, what is left, and who is at it.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::jobs::batch::{BatchError, Question, Row, TASKS_FOLDER};
use crate::session::store::write_durably;
use crate::session::tasks::{Anew, Change, Named, NewTask, Task, TaskError, TaskId, TaskStatus, Tasks};

/// How long a question is ours without a sign of life: only a whole machine that is gone lets it run out, since a
/// process that ends lets go of its sign at once.
const LEASE: Duration = Duration::from_secs(120);
/// Signs of life come more often than leases run out.
pub(super) const RENEWAL: Duration = Duration::from_secs(40);
/// The task's field that says which question, with which options, its result answers.
const FINGERPRINT: &str = "fingerprint";
/// Says in a question's folder what was asked there.
const ABOUT: &str = "question.json";

/// The tasks of a batch, one a question, and this process's name among those that work on them.
pub(super) struct Ledger {
    tasks: Tasks,
    owner: String,
    /// Locked for as long as this process lives, however it ends.
    sign: Option<File>,
    sign_path: PathBuf,
    /// The task of each question, in the order of the file.
    ids: Vec<TaskId>,
    /// What each question's answer depends on.
    prints: Vec<String>,
    retries: u32,
}

/// What becomes of a question that a worker would take.
pub(super) enum Taken {
    Ours,
    /// Somebody else is at it, or it waits for another question.
    NotNow,
    /// It has its row.
    Ended {
        answered: bool,
    },
}

impl Ledger {
    /// Opens the ledger in `out`, with a task for each question. Questions that changed since are to be done again.
    pub fn open(out: &Path, questions: &[Question], settings: &str, retries: u32) -> Result<Self, BatchError> {
        let folder = out.join(TASKS_FOLDER);
        let tasks = Tasks::at(&folder);
        let prints = fingerprints(questions, settings);
        let new = questions.iter().zip(&prints).map(|(question, print)| NewTask {
            subject: question.question.clone(),
            key: Some(question.id.clone()),
            reference: Some(question.id.clone()),
            blocked_by: question.after.iter().cloned().map(Named::Reference).collect(),
            extra: [(FINGERPRINT.to_owned(), Value::String(print.clone()))]
                .into_iter()
                .collect(),
            ..NewTask::default()
        });
        let known = tasks.ensure(new.collect())?;
        let (sign, sign_path) = put_up_sign(&folder)?;
        let mut ledger = Self {
            owner: name_of(&sign_path),
            sign: Some(sign),
            sign_path,
            ids: Vec::with_capacity(questions.len()),
            tasks,
            prints: Vec::new(),
            retries,
        };
        let id_of = |question: &str| known.get(question).map(|task| task.id);
        let mut anew = Vec::new();
        for (question, print) in questions.iter().zip(&prints) {
            let Some(task) = known.get(&question.id) else { continue };
            ledger.ids.push(task.id);
            let is_same = task.extra.get(FINGERPRINT).and_then(Value::as_str) == Some(print);
            if is_same && task.status != TaskStatus::Failed {
                continue;
            }
            anew.push(Anew {
                id: task.id,
                subject: question.question.clone(),
                blocked_by: question.after.iter().filter_map(|id| id_of(id)).collect(),
                about: (FINGERPRINT.to_owned(), Value::String(print.clone())),
            });
        }
        ledger.prints = prints;
        if !anew.is_empty() {
            ledger.tasks.start_over(&anew, |task| ledger.is_alive(task))?;
        }
        Ok(ledger)
    }

    /// Tries to get question `at` for this process.
    pub fn take(&self, at: usize) -> Result<Taken, TaskError> {
        let Some(id) = self.ids.get(at).copied() else {
            return Ok(Taken::NotNow);
        };
        match self.tasks.claim(id, &self.owner, LEASE) {
            Ok(_) => Ok(Taken::Ours),
            Err(TaskError::Blocked { .. }) => Ok(Taken::NotNow),
            Err(TaskError::Taken { owner, .. }) => {
                if self.is_anybody(&owner) {
                    return Ok(Taken::NotNow);
                }
                // Whoever had it is gone: it is free for all again.
                match self.tasks.release(id, &owner) {
                    Ok(_) => self.take(at),
                    Err(TaskError::Taken { .. }) => Ok(Taken::NotNow),
                    Err(error) => Err(error),
                }
            }
            Err(TaskError::NotClaimable { status, .. }) => self.after_its_end(at, id, &status),
            Err(error) => Err(error),
        }
    }

    fn after_its_end(&self, at: usize, id: TaskId, status: &TaskStatus) -> Result<Taken, TaskError> {
        if *status == TaskStatus::Completed {
            return Ok(Taken::Ended { answered: true });
        }
        let task = self.tasks.get(id)?;
        if task.status == TaskStatus::Failed && task.attempts <= self.retries {
            let again = Change {
                status: Some(TaskStatus::Pending),
                ..Change::default()
            };
            self.tasks.update(id, again)?;
            return self.take(at);
        }
        Ok(Taken::Ended { answered: false })
    }

    /// Makes the folder of a question that is ours: what is there of another question goes, what is there of this one
    /// stays, so that its run can go on.
    pub fn prepare(&self, at: usize, question: &Question, folder: &Path) -> Result<(), BatchError> {
        let print = self.prints.get(at).map_or("", String::as_str);
        let about = folder.join(ABOUT);
        let same = fs::read(&about)
            .ok()
            .and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
        if same.is_some_and(|value| value.get(FINGERPRINT).and_then(Value::as_str) == Some(print)) {
            return Ok(());
        }
        if folder.join("timeline.jsonl").is_file() {
            fs::remove_dir_all(folder).map_err(|source| BatchError::Write {
                path: folder.to_owned(),
                source,
            })?;
        }
        fs::create_dir_all(folder).map_err(|source| BatchError::Folder {
            path: folder.to_owned(),
            source,
        })?;
        let said = json!({
            "v": 1,
            "id": question.id,
            "question": question.question,
            "database": question.database,
            "after": question.after,
            "options": question.options,
            FINGERPRINT: print,
        });
        Ok(write_durably(&about, format!("{said:#}\n").as_bytes())?)
    }

    /// Says that question `at` is still being worked on. False when somebody else has it.
    pub fn renew(&self, at: usize) -> bool {
        let id = self.ids.get(at).copied().unwrap_or_default();
        self.tasks.claim(id, &self.owner, LEASE).is_ok()
    }

    /// Writes down what became of question `at`. True when it is over: it was done, or its tries are used up.
    pub fn end(&self, at: usize, row: &Row, ending: Ending) -> Result<bool, TaskError> {
        let id = self.ids.get(at).copied().unwrap_or_default();
        let result = || serde_json::to_value(row).ok();
        match ending {
            Ending::Done => {
                self.tasks.complete(id, Some(&self.owner), result())?;
                Ok(true)
            }
            Ending::Failed => {
                let changed = self.tasks.fail(id, Some(&self.owner), result())?;
                Ok(changed.task.attempts > self.retries)
            }
            Ending::Interrupted => {
                self.tasks.release(id, &self.owner)?;
                Ok(false)
            }
        }
    }

    /// The rows of all questions that have one, by their place in the file.
    pub fn rows(&self) -> Result<BTreeMap<usize, Row>, TaskError> {
        let places: BTreeMap<TaskId, usize> = self.ids.iter().enumerate().map(|(at, id)| (*id, at)).collect();
        let listing = self.tasks.all()?;
        let row = |task: Task| {
            let ended = matches!(task.status, TaskStatus::Completed | TaskStatus::Failed);
            let row = serde_json::from_value(task.result.filter(|_| ended)?).ok()?;
            Some((*places.get(&task.id)?, row))
        };
        Ok(listing.tasks.into_iter().filter_map(row).collect())
    }

    /// The row of question `at`, once it has ended.
    pub fn row(&self, at: usize) -> Result<Option<Row>, TaskError> {
        let Some(id) = self.ids.get(at) else { return Ok(None) };
        let result = self.tasks.get(*id)?.result;
        Ok(result.and_then(|result| serde_json::from_value(result).ok()))
    }

    fn is_alive(&self, task: &Task) -> bool {
        task.owner.as_deref().is_some_and(|owner| self.is_anybody(owner))
    }

    /// Does the process of this name still hold its sign?
    fn is_anybody(&self, owner: &str) -> bool {
        if owner == self.owner {
            return true;
        }
        match File::open(sign_of(self.tasks.folder(), owner)) {
            Ok(file) => file.try_lock_shared().is_err(),
            Err(_) => false,
        }
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        self.sign = None;
        // A sign that nobody holds means nothing.
        let _ = fs::remove_file(&self.sign_path);
    }
}

/// How a question's run ended, as far as its task is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// Another try would not better it.
    Done,
    Failed,
    Interrupted,
}

fn sign_of(folder: &Path, owner: &str) -> PathBuf {
    folder.join(format!(".{owner}"))
}

fn name_of(sign: &Path) -> String {
    let name = sign.file_name().unwrap_or_default().to_string_lossy();
    name.trim_start_matches('.').to_owned()
}

/// A file of this process's own that it holds locked: whoever finds it unlocked knows that the process is gone.
fn put_up_sign(folder: &Path) -> Result<(File, PathBuf), BatchError> {
    let failed = |path: &Path, source| BatchError::Write {
        path: path.to_owned(),
        source,
    };
    for number in 0_u32.. {
        let path = sign_of(folder, &format!("process-{}-{number}", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => {
                file.lock().map_err(|source| failed(&path, source))?;
                return Ok((file, path));
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(source) => return Err(failed(&path, source)),
        }
    }
    Err(failed(folder, std::io::ErrorKind::AlreadyExists.into()))
}

/// What each question's answer depends on: itself, its options, the batch's settings, and the questions before it.
fn fingerprints(questions: &[Question], settings: &str) -> Vec<String> {
    let mut prints: BTreeMap<&str, String> = BTreeMap::new();
    // A question may stand before those it comes after; circles were refused when the file was read.
    while prints.len() < questions.len() {
        let known = prints.len();
        for question in questions {
            let before: Option<Vec<&String>> = question.after.iter().map(|id| prints.get(id.as_str())).collect();
            if let Some(before) = before.filter(|_| !prints.contains_key(question.id.as_str())) {
                let text = json!([question.question, question.database, question.options, before, settings]);
                let print: String = Sha256::digest(text.to_string())
                    .iter()
                    .take(16)
                    .map(|byte| format!("{byte:02x}"))
                    .collect();
                prints.insert(&question.id, print);
            }
        }
        if prints.len() == known {
            break;
        }
    }
    questions
        .iter()
        .map(|question| prints.get(question.id.as_str()).cloned().unwrap_or_default())
        .collect()
}
