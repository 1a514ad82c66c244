//! The task graph: units of work that outlive the process that made them and that many processes share.
//!
//! `blockedBy` is what counts; `blocks` mirrors it for readers. Every change is made under the folder's lock, mirrors
//! before edges, so that a crash leaves at most a mirror too many, which the next reader mends.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::session::event::timestamp;

mod edges;
mod error;
mod files;
mod render;
mod task;
#[cfg(test)]
mod tests;

pub use error::TaskError;
pub use files::Problem;
pub use render::{dot, lines, mermaid};
pub use task::{TASK_VERSION, Task, TaskId, TaskStatus, read_id};

use files::{Held, hold};

/// How long a change waits for others before it gives up.
const PATIENCE: Duration = Duration::from_secs(30);

/// A folder of tasks.
#[derive(Debug, Clone)]
pub struct Tasks {
    folder: PathBuf,
}

/// A task that is named: by its number, or by the local reference of one made in the same call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Named {
    Id(TaskId),
    Reference(String),
}

impl From<TaskId> for Named {
    fn from(id: TaskId) -> Self {
        Named::Id(id)
    }
}

/// A task that is to be made.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NewTask {
    pub subject: String,
    pub description: Option<String>,
    /// What others of the same call name it by.
    pub reference: Option<String>,
    pub key: Option<String>,
    pub blocked_by: Vec<Named>,
    pub blocks: Vec<Named>,
    /// Fields beside ours.
    pub extra: serde_json::Map<String, Value>,
}

/// What is to be changed about a task.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Change {
    pub status: Option<TaskStatus>,
    pub subject: Option<String>,
    pub description: Option<String>,
    pub blocked_by: Vec<TaskId>,
    pub blocks: Vec<TaskId>,
    /// Tasks that it is no longer to wait for.
    pub unblock: Vec<TaskId>,
}

/// A task that is to be done once more because what it is about has changed, or because it failed for good.
#[derive(Debug, Clone, PartialEq)]
pub struct Anew {
    pub id: TaskId,
    pub subject: String,
    /// All that it waits for from now on.
    pub blocked_by: Vec<TaskId>,
    /// A field beside ours that says what it is about.
    pub about: (String, Value),
}

/// A change that was made, and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Changed {
    pub task: Task,
    /// Pending tasks that can be started now and could not before.
    pub became_ready: Vec<TaskId>,
}

/// All tasks by number, and the files that could not be read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Listing {
    pub tasks: Vec<Task>,
    pub problems: Vec<Problem>,
}

impl Listing {
    /// The pending tasks whose blockers are all completed, by number.
    pub fn ready(&self) -> impl Iterator<Item = &Task> {
        let completed = self.completed();
        self.tasks.iter().filter(move |task| {
            task.status == TaskStatus::Pending && task.blocked_by.iter().all(|id| completed.contains(id))
        })
    }

    fn completed(&self) -> BTreeSet<TaskId> {
        let completed = self.tasks.iter().filter(|task| task.status == TaskStatus::Completed);
        completed.map(|task| task.id).collect()
    }
}

impl Tasks {
    /// The tasks in `folder`, which is made when the first one is.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn create(&self, new: NewTask) -> Result<Task, TaskError> {
        let made = self.create_all(vec![new])?;
        made.into_iter().next().ok_or(TaskError::NoSubject)
    }

    /// Makes several tasks that may name each other by their references; all of them, or none.
    pub fn create_all(&self, new: Vec<NewTask>) -> Result<Vec<Task>, TaskError> {
        let held = hold(&self.folder, PATIENCE)?;
        make(&held, new)
    }

    /// Makes those of `new` whose key no task has; gives all tasks that have one of their keys.
    pub fn ensure(&self, new: Vec<NewTask>) -> Result<BTreeMap<String, Task>, TaskError> {
        let held = hold(&self.folder, PATIENCE)?;
        let (tasks, _) = files::read_all(&self.folder)?;
        let keyed = |task: Task| task.key.clone().map(|key| (key, task));
        let mut known: BTreeMap<String, Task> = tasks.into_iter().filter_map(keyed).collect();
        let missing = new
            .into_iter()
            .filter(|new| new.key.as_ref().is_none_or(|key| !known.contains_key(key)))
            .map(|mut new| {
                // Others of the file are known by their keys already.
                for named in &mut new.blocked_by {
                    if let Named::Reference(key) = named
                        && let Some(task) = known.get(key)
                    {
                        *named = Named::Id(task.id);
                    }
                }
                new
            })
            .collect();
        known.extend(make(&held, missing)?.into_iter().filter_map(keyed));
        Ok(known)
    }

    /// Opens tasks again, all under one lock: pending, without result or failed attempts, with new edges. Those that
    /// are about the same as before and have not failed stay as they are, as do those that `is_busy`.
    pub fn start_over(&self, anew: &[Anew], is_busy: impl Fn(&Task) -> bool) -> Result<(), TaskError> {
        let held = hold(&self.folder, PATIENCE)?;
        let mut opened = Vec::new();
        for item in anew {
            let mut task = held.read(item.id)?;
            let is_same = task.extra.get(&item.about.0) == Some(&item.about.1);
            let stays = is_same && task.status != TaskStatus::Failed;
            if stays || task.status == TaskStatus::InProgress && is_busy(&task) {
                continue;
            }
            if task.status != TaskStatus::Pending {
                task.status = TaskStatus::Unknown(String::new());
                set_status(&held, &mut task, TaskStatus::Pending)?;
            }
            task.attempts = 0;
            let edges = task.blocked_by.clone();
            edges::connect(&held, &mut task, &[], &[], &edges)?;
            save(&held, &mut task)?;
            opened.push(item);
        }
        // Edges are made when all old ones are gone, which might close a circle with them.
        for item in opened {
            let mut task = held.read(item.id)?;
            edges::check(&held, &task, &item.blocked_by, &[], &[])?;
            edges::connect(&held, &mut task, &item.blocked_by, &[], &[])?;
            task.subject.clone_from(&item.subject);
            task.extra.insert(item.about.0.clone(), item.about.1.clone());
            save(&held, &mut task)?;
        }
        Ok(())
    }

    pub fn get(&self, id: TaskId) -> Result<Task, TaskError> {
        files::read(&self.folder, id)
    }

    /// All tasks by number. Mirrors that a crash left torn are mended on the way.
    pub fn all(&self) -> Result<Listing, TaskError> {
        let (mut tasks, mut problems) = files::read_all(&self.folder)?;
        // Where nothing may be written, a list can be read all the same.
        if edges::has_torn_mirror(&tasks, &problems)
            && let Ok(held) = hold(&self.folder, PATIENCE)
        {
            (tasks, problems) = files::read_all(&self.folder)?;
            for task in edges::mend_mirrors(&mut tasks, &problems) {
                let _ = held.write(task);
            }
        }
        Ok(Listing { tasks, problems })
    }

    /// Changes words, edges and status, in this order; on an error nothing has changed.
    pub fn update(&self, id: TaskId, change: Change) -> Result<Changed, TaskError> {
        let held = hold(&self.folder, PATIENCE)?;
        let mut task = held.read(id)?;
        let before = task.status.clone();
        if let Some(subject) = change.subject {
            task.subject = subject_of(&subject)?;
        }
        if change.description.is_some() {
            task.description = change.description;
        }
        edges::check(&held, &task, &change.blocked_by, &change.blocks, &change.unblock)?;
        let mut wanted = task.clone();
        wanted.blocked_by.extend(&change.blocked_by);
        wanted.blocked_by.retain(|blocker| !change.unblock.contains(blocker));
        if let Some(status) = change.status {
            set_status(&held, &mut wanted, status)?;
        }
        (task.status, task.attempts, task.owner) = (wanted.status, wanted.attempts, wanted.owner);
        (task.lease_until, task.result) = (wanted.lease_until, wanted.result);
        (task.started_at, task.completed_at) = (wanted.started_at, wanted.completed_at);
        edges::connect(&held, &mut task, &change.blocked_by, &change.blocks, &change.unblock)?;
        let waiting: Vec<TaskId> = match change.unblock.is_empty() {
            true => Vec::new(),
            false => vec![id],
        };
        self.saved(&held, task, &before, waiting)
    }

    /// Gives the task to `owner` for as long as `lease`: a pending one that is ready, the owner's own again, or one
    /// whose lease has run out.
    pub fn claim(&self, id: TaskId, owner: &str, lease: Duration) -> Result<Task, TaskError> {
        let held = hold(&self.folder, PATIENCE)?;
        let mut task = held.read(id)?;
        let now = jiff::Timestamp::now();
        let taken = |task: &Task| TaskError::Taken {
            id,
            owner: task.owner.clone().unwrap_or_else(|| "somebody".to_owned()),
            until: task.lease_until.clone(),
        };
        match &task.status {
            TaskStatus::Pending => {
                refuse_if_blocked(&held, &task)?;
                task.started_at = Some(timestamp(now));
            }
            TaskStatus::InProgress if task.owner.as_deref() == Some(owner) => {}
            TaskStatus::InProgress if task.is_leased(now) || task.lease_until.is_none() => return Err(taken(&task)),
            TaskStatus::InProgress => task.started_at = Some(timestamp(now)),
            status @ (TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Cancelled | TaskStatus::Unknown(_)) => {
                let status = status.clone();
                return Err(TaskError::NotClaimable { id, status });
            }
        }
        task.status = TaskStatus::InProgress;
        task.owner = Some(owner.to_owned());
        let lease = jiff::SignedDuration::try_from(lease).unwrap_or(jiff::SignedDuration::ZERO);
        task.lease_until = Some(timestamp(now.saturating_add(lease).unwrap_or(now)));
        save(&held, &mut task)?;
        Ok(task)
    }

    /// Ends a task well. With `owner`, only while it is the owner's.
    pub fn complete(&self, id: TaskId, owner: Option<&str>, result: Option<Value>) -> Result<Changed, TaskError> {
        self.end(id, owner, TaskStatus::Completed, result)
    }

    /// Ends a task badly, which counts as an attempt.
    pub fn fail(&self, id: TaskId, owner: Option<&str>, result: Option<Value>) -> Result<Changed, TaskError> {
        self.end(id, owner, TaskStatus::Failed, result)
    }

    /// Gives a task back that its owner did not finish.
    pub fn release(&self, id: TaskId, owner: &str) -> Result<Changed, TaskError> {
        self.end(id, Some(owner), TaskStatus::Pending, None)
    }

    fn end(
        &self,
        id: TaskId,
        owner: Option<&str>,
        status: TaskStatus,
        result: Option<Value>,
    ) -> Result<Changed, TaskError> {
        let held = hold(&self.folder, PATIENCE)?;
        let mut task = held.read(id)?;
        let is_owners = task.status == TaskStatus::InProgress && task.owner.as_deref() == owner;
        if owner.is_some() && !is_owners {
            return Err(TaskError::Taken {
                id,
                owner: task.owner.clone().unwrap_or_else(|| "nobody".to_owned()),
                until: task.lease_until.clone(),
            });
        }
        let before = task.status.clone();
        set_status(&held, &mut task, status)?;
        if result.is_some() {
            task.result = result;
        }
        self.saved(&held, task, &before, Vec::new())
    }

    /// Removes a task; nothing waits for it any more.
    pub fn delete(&self, id: TaskId) -> Result<Changed, TaskError> {
        let held = hold(&self.folder, PATIENCE)?;
        let task = held.read(id)?;
        let waiting = edges::dependents(&held, &task);
        for mut dependent in waiting.iter().cloned() {
            dependent.blocked_by.retain(|blocker| *blocker != id);
            save(&held, &mut dependent)?;
        }
        held.remove(id)?;
        for blocker in &task.blocked_by {
            if let Ok(mut blocker) = held.read(*blocker) {
                blocker.blocks.retain(|blocked| *blocked != id);
                save(&held, &mut blocker)?;
            }
        }
        let became_ready = match task.status {
            TaskStatus::Completed => Vec::new(),
            _ => edges::ready_among(&held, waiting.iter().map(|task| task.id)),
        };
        Ok(Changed { task, became_ready })
    }

    /// Writes the task, and sees what became ready: of those that waited for it, and of `besides`.
    fn saved(
        &self,
        held: &Held<'_>,
        mut task: Task,
        before: &TaskStatus,
        besides: Vec<TaskId>,
    ) -> Result<Changed, TaskError> {
        save(held, &mut task)?;
        let mut candidates = besides;
        if task.status == TaskStatus::Completed && *before != TaskStatus::Completed {
            candidates.extend(edges::dependents(held, &task).iter().map(|task| task.id));
        }
        let became_ready = edges::ready_among(held, candidates);
        Ok(Changed { task, became_ready })
    }
}

/// Makes the tasks of one call: mirrors first, and each with its final edges.
fn make(held: &Held<'_>, new: Vec<NewTask>) -> Result<Vec<Task>, TaskError> {
    if new.is_empty() {
        return Ok(Vec::new());
    }
    let subjects = new
        .iter()
        .map(|new| subject_of(&new.subject))
        .collect::<Result<Vec<_>, _>>()?;
    let ids = held.new_ids(new.len())?;
    let references: BTreeMap<&str, TaskId> = new
        .iter()
        .zip(&ids)
        .filter_map(|(new, id)| Some((new.reference.as_deref()?, *id)))
        .collect();
    let resolve = |named: &Named| match named {
        Named::Id(id) => Ok(*id),
        Named::Reference(name) => references
            .get(name.as_str())
            .copied()
            .ok_or_else(|| TaskError::NoReference { name: name.clone() }),
    };
    let now = timestamp(jiff::Timestamp::now());
    let mut fresh: BTreeMap<TaskId, Task> = BTreeMap::new();
    let mut edges_to_make: Vec<(TaskId, TaskId)> = Vec::new();
    for ((new, id), subject) in new.iter().zip(&ids).zip(subjects) {
        for named in &new.blocked_by {
            edges_to_make.push((*id, resolve(named)?));
        }
        for named in &new.blocks {
            edges_to_make.push((resolve(named)?, *id));
        }
        fresh.insert(
            *id,
            Task {
                v: TASK_VERSION,
                id: *id,
                key: new.key.clone(),
                subject,
                description: new.description.clone(),
                created_at: now.clone(),
                updated_at: now.clone(),
                extra: new.extra.clone(),
                ..edges::blank()
            },
        );
    }
    edges::connect_new(held, &mut fresh, &edges_to_make)?;
    Ok(fresh.into_values().collect())
}

fn subject_of(text: &str) -> Result<String, TaskError> {
    let subject = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match subject.is_empty() {
        true => Err(TaskError::NoSubject),
        false => Ok(subject),
    }
}

fn save(held: &Held<'_>, task: &mut Task) -> Result<(), TaskError> {
    task.updated_at = timestamp(jiff::Timestamp::now());
    held.write(task)
}

fn refuse_if_blocked(held: &Held<'_>, task: &Task) -> Result<(), TaskError> {
    let blockers = edges::open_blockers(held, task);
    match blockers.is_empty() {
        true => Ok(()),
        false => Err(TaskError::Blocked { id: task.id, blockers }),
    }
}

fn set_status(held: &Held<'_>, task: &mut Task, to: TaskStatus) -> Result<(), TaskError> {
    if !task.status.may_become(&to) {
        return Err(TaskError::Status {
            id: task.id,
            from: task.status.clone(),
            to,
        });
    }
    if task.status == to {
        return Ok(());
    }
    let starts = task.status != TaskStatus::InProgress && matches!(to, TaskStatus::InProgress | TaskStatus::Completed);
    if starts {
        refuse_if_blocked(held, task)?;
    }
    let now = timestamp(jiff::Timestamp::now());
    task.lease_until = None;
    match &to {
        TaskStatus::Pending => {
            (task.owner, task.result) = (None, None);
            (task.started_at, task.completed_at) = (None, None);
        }
        TaskStatus::InProgress => task.started_at = Some(now),
        TaskStatus::Completed => task.completed_at = Some(now),
        TaskStatus::Failed => task.attempts = task.attempts.saturating_add(1),
        TaskStatus::Cancelled | TaskStatus::Unknown(_) => {}
    }
    task.status = to;
    Ok(())
}
