//! What waits for what: checks before an edge is made, and mirrors that follow.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::session::tasks::files::Held;
use crate::session::tasks::{Problem, Task, TaskError, TaskId, TaskStatus, save};

/// A task without words.
pub(super) fn blank() -> Task {
    Task {
        v: super::TASK_VERSION,
        id: 0,
        key: None,
        subject: String::new(),
        description: None,
        status: TaskStatus::Pending,
        attempts: 0,
        blocked_by: Vec::new(),
        blocks: Vec::new(),
        owner: None,
        lease_until: None,
        result: None,
        created_at: String::new(),
        updated_at: String::new(),
        started_at: None,
        completed_at: None,
        extra: serde_json::Map::new(),
    }
}

/// The blockers of `task` that are not known to be completed: what cannot be read or is gone blocks as well, since
/// nobody knows what it says.
pub(super) fn open_blockers(held: &Held<'_>, task: &Task) -> Vec<TaskId> {
    let is_completed = |id: &TaskId| held.read(*id).is_ok_and(|task| task.status == TaskStatus::Completed);
    task.blocked_by.iter().copied().filter(|id| !is_completed(id)).collect()
}

/// The tasks that wait for `task`, by number.
pub(super) fn dependents(held: &Held<'_>, task: &Task) -> Vec<Task> {
    let waits = |dependent: &Task| dependent.blocked_by.contains(&task.id);
    task.blocks
        .iter()
        .filter_map(|id| held.read(*id).ok())
        .filter(waits)
        .collect()
}

/// Which of `candidates` can be started now, by number.
pub(super) fn ready_among(held: &Held<'_>, candidates: impl IntoIterator<Item = TaskId>) -> Vec<TaskId> {
    let candidates: BTreeSet<TaskId> = candidates.into_iter().collect();
    let is_ready = |id: &TaskId| {
        held.read(*id)
            .is_ok_and(|task| task.status == TaskStatus::Pending && open_blockers(held, &task).is_empty())
    };
    candidates.into_iter().filter(is_ready).collect()
}

/// May `task` get these edges and lose those? Nothing is written.
pub(super) fn check(
    held: &Held<'_>,
    task: &Task,
    blocked_by: &[TaskId],
    blocks: &[TaskId],
    unblock: &[TaskId],
) -> Result<(), TaskError> {
    let changes_own = blocked_by.iter().any(|id| !task.blocked_by.contains(id))
        || unblock.iter().any(|id| task.blocked_by.contains(id));
    if changes_own {
        refuse_if_started(task)?;
    }
    let mut graph = Graph::over(held);
    for blocker in blocked_by {
        held.read(*blocker)?;
        graph.add(task.id, *blocker)?;
    }
    for blocked in blocks {
        let other = held.read(*blocked)?;
        if !other.blocked_by.contains(&task.id) {
            refuse_if_started(&other)?;
        }
        graph.add(*blocked, task.id)?;
    }
    Ok(())
}

fn refuse_if_started(task: &Task) -> Result<(), TaskError> {
    match &task.status {
        TaskStatus::Pending => Ok(()),
        status => Err(TaskError::Started {
            id: task.id,
            status: status.clone(),
        }),
    }
}

/// Makes and removes edges that [`check`] has allowed. `task` itself is left for the caller to write.
pub(super) fn connect(
    held: &Held<'_>,
    task: &mut Task,
    blocked_by: &[TaskId],
    blocks: &[TaskId],
    unblock: &[TaskId],
) -> Result<(), TaskError> {
    for id in blocked_by.iter().filter(|id| !unblock.contains(id)) {
        let mut blocker = held.read(*id)?;
        if insert(&mut blocker.blocks, task.id) {
            save(held, &mut blocker)?;
        }
        insert(&mut task.blocked_by, *id);
    }
    if !blocks.is_empty() {
        for id in blocks {
            insert(&mut task.blocks, *id);
        }
        // The mirror is on disk before the edges that it mirrors.
        let mut mirror = held.read(task.id)?;
        mirror.blocks.clone_from(&task.blocks);
        save(held, &mut mirror)?;
        for id in blocks {
            let mut blocked = held.read(*id)?;
            if insert(&mut blocked.blocked_by, task.id) {
                save(held, &mut blocked)?;
            }
        }
    }
    if unblock.iter().any(|id| task.blocked_by.contains(id)) {
        task.blocked_by.retain(|id| !unblock.contains(id));
        save(held, task)?;
        for id in unblock {
            if let Ok(mut blocker) = held.read(*id)
                && blocker.blocks.contains(&task.id)
            {
                blocker.blocks.retain(|blocked| *blocked != task.id);
                save(held, &mut blocker)?;
            }
        }
    }
    Ok(())
}

/// Writes tasks that are new, with edges (waiting, blocker) among them and to those there are.
pub(super) fn connect_new(
    held: &Held<'_>,
    fresh: &mut BTreeMap<TaskId, Task>,
    edges: &[(TaskId, TaskId)],
) -> Result<(), TaskError> {
    let mut graph = Graph::over(held);
    for id in fresh.keys() {
        graph.waits_for.insert(*id, Vec::new());
    }
    let mut there: BTreeMap<TaskId, Task> = BTreeMap::new();
    for (waiting, blocker) in edges {
        for id in [waiting, blocker] {
            if !fresh.contains_key(id) && !there.contains_key(id) {
                there.insert(*id, held.read(*id)?);
            }
        }
        if let Some(old) = there.get(waiting) {
            refuse_if_started(old)?;
        }
        graph.add(*waiting, *blocker)?;
    }
    for (waiting, blocker) in edges {
        if let Some(task) = fresh.get_mut(blocker).or_else(|| there.get_mut(blocker)) {
            insert(&mut task.blocks, *waiting);
        }
    }
    for task in there.values_mut() {
        save(held, task)?;
    }
    for (waiting, blocker) in edges {
        if let Some(task) = fresh.get_mut(waiting).or_else(|| there.get_mut(waiting)) {
            insert(&mut task.blocked_by, *blocker);
        }
    }
    for task in fresh.values() {
        held.write_new(task)?;
    }
    // Last, so that a task that was there never waits for one that is not.
    for id in edges.iter().map(|edge| edge.0).collect::<BTreeSet<_>>() {
        if let Some(task) = there.get_mut(&id) {
            save(held, task)?;
        }
    }
    Ok(())
}

/// Keeps `ids` sorted; false when `id` was there.
fn insert(ids: &mut Vec<TaskId>, id: TaskId) -> bool {
    match ids.binary_search(&id) {
        Ok(_) => false,
        Err(at) => {
            ids.insert(at, id);
            true
        }
    }
}

/// Who waits for whom, read as far as it is asked for.
struct Graph<'a> {
    held: &'a Held<'a>,
    waits_for: HashMap<TaskId, Vec<TaskId>>,
}

impl<'a> Graph<'a> {
    fn over(held: &'a Held<'a>) -> Self {
        Self {
            held,
            waits_for: HashMap::new(),
        }
    }

    /// What cannot be read waits for nothing that we know.
    fn blockers(&mut self, id: TaskId) -> &mut Vec<TaskId> {
        let held = self.held;
        self.waits_for
            .entry(id)
            .or_insert_with(|| held.read(id).map(|task| task.blocked_by).unwrap_or_default())
    }

    /// Adds the edge, unless it closes a circle, which is then named.
    fn add(&mut self, waiting: TaskId, blocker: TaskId) -> Result<(), TaskError> {
        if waiting == blocker {
            return Err(TaskError::SelfDependency { id: waiting });
        }
        if let Some(way) = self.way(blocker, waiting) {
            let path = std::iter::once(waiting).chain(way).collect();
            return Err(TaskError::Cycle { path });
        }
        self.blockers(waiting).push(blocker);
        Ok(())
    }

    /// The tasks from `from` to `to` along what waits for what; `None` where there is no way.
    fn way(&mut self, from: TaskId, to: TaskId) -> Option<Vec<TaskId>> {
        let mut came_from: HashMap<TaskId, TaskId> = HashMap::new();
        let mut open = vec![from];
        while let Some(id) = open.pop() {
            if id == to {
                let mut way = vec![to];
                let mut at = to;
                while let Some(before) = came_from.get(&at) {
                    at = *before;
                    way.push(at);
                }
                way.reverse();
                return Some(way);
            }
            for blocker in self.blockers(id).clone() {
                if blocker != from && !came_from.contains_key(&blocker) {
                    came_from.insert(blocker, id);
                    open.push(blocker);
                }
            }
        }
        None
    }
}

/// Does any task's `blocks` say something else than the `blockedBy` of the others?
pub(super) fn has_torn_mirror(tasks: &[Task], problems: &[Problem]) -> bool {
    let mirrors = mirrors(tasks);
    tasks
        .iter()
        .any(|task| mirror_of(task, &mirrors, problems) != task.blocks)
}

/// Sets every `blocks` right; gives those that were wrong.
pub(super) fn mend_mirrors<'a>(tasks: &'a mut [Task], problems: &[Problem]) -> Vec<&'a Task> {
    let mirrors = mirrors(tasks);
    let mut mended = Vec::new();
    for task in tasks {
        let right = mirror_of(task, &mirrors, problems);
        if task.blocks != right {
            task.blocks = right;
            mended.push(&*task);
        }
    }
    mended
}

fn mirrors(tasks: &[Task]) -> HashMap<TaskId, BTreeSet<TaskId>> {
    let mut mirrors: HashMap<TaskId, BTreeSet<TaskId>> = HashMap::new();
    for task in tasks {
        for blocker in &task.blocked_by {
            mirrors.entry(*blocker).or_default().insert(task.id);
        }
    }
    mirrors
}

/// What waits for `task`; of what cannot be read, the old mirror is believed.
fn mirror_of(task: &Task, mirrors: &HashMap<TaskId, BTreeSet<TaskId>>, problems: &[Problem]) -> Vec<TaskId> {
    if problems.is_empty() {
        return mirrors
            .get(&task.id)
            .map(|ids| ids.iter().copied().collect())
            .unwrap_or_default();
    }
    let unreadable = |id: &&TaskId| problems.iter().any(|problem| problem.id == **id);
    let mut right = mirrors.get(&task.id).cloned().unwrap_or_default();
    right.extend(task.blocks.iter().filter(unreadable));
    right.into_iter().collect()
}
