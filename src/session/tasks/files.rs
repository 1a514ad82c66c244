//! The folder of task files: one a task, each written whole, changed by one process at a time.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::session::store::{StoreError, write_durably};
use crate::session::tasks::{TASK_VERSION, Task, TaskError, TaskId};
use crate::whole_file::{self, Readers};

/// Whoever holds its lock may write. It stays there, since taking it away would let two processes hold two locks.
const LOCK: &str = ".lock";
/// The next number to give, so that a deleted task's is not given again.
const NEXT: &str = ".next";
/// Between two tries for the lock.
const SHORTEST_WAIT: Duration = Duration::from_millis(1);
const LONGEST_WAIT: Duration = Duration::from_millis(20);
/// Readers of many files: more than this makes no list faster.
const MOST_READERS: usize = 4;
/// Files a reader takes at least, so that few are read without starting threads.
const FEWEST_A_READER: usize = 500;

/// A file that should be a task and is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub id: TaskId,
    pub file: PathBuf,
    pub problem: String,
}

/// The folder, held by this process.
pub(super) struct Held<'a> {
    folder: &'a Path,
    _lock: File,
}

/// Takes the folder's lock, waiting up to `patience`.
pub(super) fn hold(folder: &Path, patience: Duration) -> Result<Held<'_>, TaskError> {
    fs::create_dir_all(folder).map_err(|source| StoreError::Folder {
        path: folder.to_owned(),
        source,
    })?;
    let path = folder.join(LOCK);
    let failed = |source| StoreError::Write {
        path: path.clone(),
        source,
    };
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(failed)?;
    let began = Instant::now();
    let mut wait = SHORTEST_WAIT;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Held { folder, _lock: file }),
            Err(TryLockError::WouldBlock) if began.elapsed() < patience => {
                std::thread::sleep(wait);
                wait = (wait * 2).min(LONGEST_WAIT);
            }
            Err(TryLockError::WouldBlock) => {
                return Err(TaskError::Busy {
                    folder: folder.to_owned(),
                    seconds: patience.as_secs(),
                });
            }
            Err(TryLockError::Error(source)) => return Err(failed(source).into()),
        }
    }
}

pub(super) fn path_of(folder: &Path, id: TaskId) -> PathBuf {
    folder.join(format!("task_{id}.json"))
}

/// The number in a task file's name; `None` for every other name.
fn id_of(name: &str) -> Option<TaskId> {
    let digits = name.strip_prefix("task_")?.strip_suffix(".json")?;
    let plain = !digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit());
    digits.parse().ok().filter(|_| plain)
}

/// The numbers of all task files, in order; a folder that is not there has none.
pub(super) fn ids(folder: &Path) -> Result<Vec<TaskId>, TaskError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => {
            return Err(StoreError::Read {
                path: folder.to_owned(),
                source,
            }
            .into());
        }
    };
    let mut ids: Vec<TaskId> = entries
        .flatten()
        .filter_map(|entry| id_of(entry.file_name().to_str()?))
        .collect();
    ids.sort_unstable();
    Ok(ids)
}

/// Reads one task. The number in the file's name counts.
pub(super) fn read(folder: &Path, id: TaskId) -> Result<Task, TaskError> {
    let file = path_of(folder, id);
    let bytes = match fs::read(&file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(TaskError::Unknown { id }),
        Err(error) => {
            return Err(TaskError::Unreadable {
                file,
                problem: error.to_string(),
            });
        }
    };
    let mut task: Task = serde_json::from_slice(&bytes).map_err(|error| TaskError::Unreadable {
        file: file.clone(),
        problem: error.to_string(),
    })?;
    if task.v > TASK_VERSION {
        let problem = format!(
            "version {} is newer than this program, which reads {TASK_VERSION}",
            task.v
        );
        return Err(TaskError::Unreadable { file, problem });
    }
    task.id = id;
    Ok(task)
}

/// All tasks by number, and the files that are none. A task that is deleted meanwhile is left out.
pub(super) fn read_all(folder: &Path) -> Result<(Vec<Task>, Vec<Problem>), TaskError> {
    let ids = ids(folder)?;
    let readers = std::thread::available_parallelism().map_or(1, |n| n.get().min(MOST_READERS));
    let share = ids.len().div_ceil(readers).max(FEWEST_A_READER);
    let (mut tasks, mut problems) = (Vec::with_capacity(ids.len()), Vec::new());
    let read_part = |part: &[TaskId]| part.iter().map(|id| (*id, read(folder, *id))).collect::<Vec<_>>();
    let parts: Vec<Vec<_>> = std::thread::scope(|scope| {
        let readers: Vec<_> = ids
            .chunks(share)
            .map(|part| scope.spawn(move || read_part(part)))
            .collect();
        readers
            .into_iter()
            .map(|reader| reader.join().unwrap_or_default())
            .collect()
    });
    for (id, read) in parts.into_iter().flatten() {
        match read {
            Ok(task) => tasks.push(task),
            Err(TaskError::Unknown { .. }) => {}
            Err(TaskError::Unreadable { file, problem }) => problems.push(Problem { id, file, problem }),
            Err(other) => return Err(other),
        }
    }
    Ok((tasks, problems))
}

impl Held<'_> {
    pub fn read(&self, id: TaskId) -> Result<Task, TaskError> {
        read(self.folder, id)
    }

    /// Replaces a task's file.
    pub fn write(&self, task: &Task) -> Result<(), TaskError> {
        Ok(write_durably(&path_of(self.folder, task.id), &bytes(task))?)
    }

    /// Writes a task that must not be there yet.
    pub fn write_new(&self, task: &Task) -> Result<(), TaskError> {
        let path = path_of(self.folder, task.id);
        let failed = |source| StoreError::Write {
            path: path.clone(),
            source,
        };
        let mut file = whole_file::beside(&path, Readers::AsUsual).map_err(failed)?;
        file.write_all(&bytes(task))
            .and_then(|()| file.as_file().sync_all())
            .map_err(failed)?;
        file.persist_noclobber(&path).map_err(|error| failed(error.error))?;
        Ok(())
    }

    pub fn remove(&self, id: TaskId) -> Result<(), TaskError> {
        let path = path_of(self.folder, id);
        fs::remove_file(&path).map_err(|source| StoreError::Write { path, source }.into())
    }

    /// `count` numbers that were never given. They are used up even if nothing is made of them.
    pub fn new_ids(&self, count: usize) -> Result<Vec<TaskId>, TaskError> {
        let path = self.folder.join(NEXT);
        let noted = fs::read_to_string(&path)
            .ok()
            .and_then(|text| text.trim().parse::<TaskId>().ok());
        let mut next = match noted {
            Some(noted) => noted.max(1),
            None => ids(self.folder)?.last().map_or(1, |highest| highest.saturating_add(1)),
        };
        let mut given = Vec::with_capacity(count);
        while given.len() < count {
            // Somebody may have made a task by hand.
            if !path_of(self.folder, next).exists() {
                given.push(next);
            }
            next = next.saturating_add(1);
        }
        write_durably(&path, format!("{next}\n").as_bytes())?;
        Ok(given)
    }
}

fn bytes(task: &Task) -> Vec<u8> {
    // A task holds texts, numbers and JSON, which cannot fail to serialise.
    let mut bytes = serde_json::to_vec_pretty(task).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names_are_tasks() {
        for (name, id) in [
            ("task_1.json", Some(1)),
            ("task_10.json", Some(10)),
            ("task_.json", None),
            ("task_01.json", None),
            ("task_0.json", None),
            ("task_-1.json", None),
            ("task_1.json~", None),
            ("task_1.5.json", None),
            ("task_99999999999999999999999.json", None),
            ("notes.txt", None),
            (".next", None),
        ] {
            assert_eq!(id_of(name), id, "{name}");
        }
    }
}
