//! The store against what a task graph must do, and against a model of it in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use proptest::prelude::*;

use super::*;

const LEASE: Duration = Duration::from_secs(600);

fn store() -> (tempfile::TempDir, Tasks) {
    let folder = tempfile::tempdir().unwrap();
    let tasks = Tasks::at(folder.path().join("tasks"));
    (folder, tasks)
}

fn new(subject: &str, blocked_by: &[TaskId]) -> NewTask {
    NewTask {
        subject: subject.into(),
        blocked_by: blocked_by.iter().copied().map(Named::Id).collect(),
        ..NewTask::default()
    }
}

fn to(status: TaskStatus) -> Change {
    Change {
        status: Some(status),
        ..Change::default()
    }
}

fn refusal<T: std::fmt::Debug>(result: Result<T, TaskError>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn a_list_looks_as_people_expect() {
    let (_folder, tasks) = store();
    assert_eq!(lines(&tasks.all().unwrap()), "No tasks.");
    for subject in ["one", "two", "  three\nlines "] {
        tasks.create(new(subject, &[])).unwrap();
    }
    tasks
        .update(
            3,
            Change {
                blocked_by: vec![1, 2],
                ..Change::default()
            },
        )
        .unwrap();
    for n in 4..=10 {
        tasks.create(new(&format!("task {n}"), &[])).unwrap();
    }
    tasks.claim(2, "ann", LEASE).unwrap();
    tasks.fail(4, None, None).unwrap();
    tasks.update(5, to(TaskStatus::Cancelled)).unwrap();
    let text = lines(&tasks.all().unwrap());
    let first: Vec<&str> = text.lines().take(5).collect();
    assert_eq!(
        first,
        [
            "[ ] #1: one",
            "[>] #2: two (ann)",
            "[ ] #3: three lines (blocked by: 1, 2)",
            "[!] #4: task 4 (failed, attempts: 1)",
            "[-] #5: task 5",
        ]
    );
    assert_eq!(text.lines().last(), Some("[ ] #10: task 10"));
    let changed = tasks.complete(1, None, Some("done".into())).unwrap();
    assert!(changed.became_ready.is_empty());
    let changed = tasks.complete(2, Some("ann"), None).unwrap();
    assert_eq!(changed.became_ready, [3]);
    assert!(lines(&tasks.all().unwrap()).contains("[x] #2: two\n[ ] #3: three lines\n"));
}

#[test]
fn files_are_indented_and_keep_what_others_wrote() {
    let (_folder, tasks) = store();
    tasks.create(new("one", &[])).unwrap();
    let path = tasks.folder().join("task_1.json");
    let text = fs::read_to_string(&path).unwrap();
    assert!(
        text.starts_with("{\n  \"v\": 1,\n  \"id\": 1,\n  \"subject\": \"one\",\n  \"status\": \"pending\""),
        "{text}"
    );
    fs::write(
        &path,
        r#"{"subject": "by hand", "status": "waiting for Bob", "blockedBy": [], "mood": {"of": "Bob"}}"#,
    )
    .unwrap();
    assert!(lines(&tasks.all().unwrap()).starts_with("[?] #1: by hand (waiting for Bob)"));
    tasks.update(1, to(TaskStatus::Pending)).unwrap();
    assert_eq!(tasks.get(1).unwrap().extra["mood"]["of"], "Bob");
}

#[test]
fn ids_are_the_same_however_they_are_written() {
    let (_folder, tasks) = store();
    tasks.create(new("one", &[])).unwrap();
    fs::write(
        tasks.folder().join("task_2.json"),
        r##"{"subject": "two", "blockedBy": [1.0, "#1"]}"##,
    )
    .unwrap();
    let all = tasks.all().unwrap();
    assert_eq!(all.tasks[1].blocked_by, [1]);
    assert_eq!(all.tasks[0].blocks, [2], "the mirror is mended on reading");
    assert_eq!(tasks.get(1).unwrap().blocks, [2]);
    assert_eq!(tasks.complete(1, None, None).unwrap().became_ready, [2]);
}

#[test]
fn numbers_are_never_given_twice() {
    let (_folder, tasks) = store();
    for subject in ["one", "two", "three"] {
        tasks.create(new(subject, &[])).unwrap();
    }
    tasks.delete(3).unwrap();
    fs::write(tasks.folder().join("task_5.json"), r#"{"subject": "by hand"}"#).unwrap();
    assert_eq!(tasks.create(new("four", &[])).unwrap().id, 4);
    assert_eq!(tasks.create(new("six", &[])).unwrap().id, 6);
}

#[test]
fn a_file_that_is_no_task_is_named_and_breaks_nothing() {
    let (_folder, tasks) = store();
    for subject in ["one", "two", "three"] {
        tasks.create(new(subject, &[])).unwrap();
    }
    let blocked = Change {
        blocked_by: vec![1, 2],
        ..Change::default()
    };
    tasks.update(3, blocked).unwrap();
    fs::write(tasks.folder().join("task_2.json"), "{ torn").unwrap();
    for name in ["task_.json", "task_x.json", "notes.txt", "task_7.json.bak"] {
        fs::write(tasks.folder().join(name), "").unwrap();
    }
    let text = lines(&tasks.all().unwrap());
    assert!(
        text.starts_with("[ ] #1: one\n[ ] #3: three (blocked by: 1, 2)\ntask_2.json cannot be read: "),
        "{text}"
    );
    // What cannot be read may be unfinished.
    assert!(tasks.complete(1, None, None).unwrap().became_ready.is_empty());
    assert_eq!(tasks.get(1).unwrap().blocks, [3]);
    assert!(refusal(tasks.get(2)).contains("task_2.json cannot be read"));
    assert_eq!(tasks.create(new("four", &[])).unwrap().id, 4);
}

#[test]
fn circles_and_unknown_tasks_are_refused_by_name() {
    let (_folder, tasks) = store();
    tasks.create(new("one", &[])).unwrap();
    tasks.create(new("two", &[1])).unwrap();
    tasks.create(new("three", &[2])).unwrap();
    let by = |id: TaskId, blocked_by: &[TaskId], blocks: &[TaskId]| {
        tasks.update(
            id,
            Change {
                blocked_by: blocked_by.to_vec(),
                blocks: blocks.to_vec(),
                ..Change::default()
            },
        )
    };
    let circle = "that would be a circle, in which nothing could ever start: #1 waits for #3 waits for #2 waits for #1";
    assert_eq!(refusal(by(1, &[3], &[])), circle);
    assert_eq!(refusal(by(3, &[], &[1])), circle);
    assert_eq!(refusal(by(1, &[1], &[])), "#1 cannot wait for itself");
    assert!(refusal(by(1, &[9], &[])).starts_with("there is no task #9"));
    assert!(refusal(tasks.create(new(" ", &[]))).starts_with("a task needs a subject"));
    assert!(tasks.get(1).unwrap().blocked_by.is_empty());
    tasks.claim(1, "ann", LEASE).unwrap();
    assert_eq!(
        refusal(tasks.update(
            1,
            Change {
                unblock: vec![2],
                blocked_by: vec![3],
                ..Change::default()
            }
        )),
        "#1 is in_progress, and what a started task waited for does not change; set it to pending first"
    );
}

#[test]
fn what_is_blocked_cannot_start_and_reopening_blocks_again() {
    let (_folder, tasks) = store();
    tasks.create(new("one", &[])).unwrap();
    tasks.create(new("two", &[1])).unwrap();
    let blocked = "#2 is blocked by #1; complete it first";
    assert_eq!(refusal(tasks.claim(2, "ann", LEASE)), blocked);
    assert_eq!(refusal(tasks.update(2, to(TaskStatus::InProgress))), blocked);
    assert_eq!(refusal(tasks.complete(2, None, None)), blocked);
    assert_eq!(tasks.complete(1, None, None).unwrap().became_ready, [2]);
    tasks.update(1, to(TaskStatus::Pending)).unwrap();
    assert_eq!(refusal(tasks.claim(2, "ann", LEASE)), blocked);
    let unblocked = Change {
        unblock: vec![1],
        ..Change::default()
    };
    assert_eq!(tasks.update(2, unblocked).unwrap().became_ready, [2]);
    assert!(tasks.get(1).unwrap().blocks.is_empty());
}

#[test]
fn a_claim_is_a_lease() {
    let (_folder, tasks) = store();
    tasks.create(new("one", &[])).unwrap();
    tasks.claim(1, "ann", Duration::from_millis(30)).unwrap();
    assert!(refusal(tasks.claim(1, "bob", LEASE)).starts_with("#1 belongs to ann until 20"));
    tasks.claim(1, "ann", Duration::from_millis(30)).unwrap();
    std::thread::sleep(Duration::from_millis(60));
    assert_eq!(tasks.claim(1, "bob", LEASE).unwrap().owner.as_deref(), Some("bob"));
    assert!(refusal(tasks.complete(1, Some("ann"), None)).starts_with("#1 belongs to bob until 20"));
    assert_eq!(tasks.release(1, "bob").unwrap().task.status, TaskStatus::Pending);
    tasks.claim(1, "ann", LEASE).unwrap();
    tasks.complete(1, Some("ann"), Some("42".into())).unwrap();
    assert_eq!(
        refusal(tasks.claim(1, "bob", LEASE)),
        "#1 is completed; only a pending task can be claimed"
    );
}

#[test]
fn tasks_of_one_call_name_each_other() {
    let (_folder, tasks) = store();
    let named = |reference: &str, after: &[&str]| NewTask {
        subject: reference.into(),
        reference: Some(reference.into()),
        blocked_by: after.iter().map(|name| Named::Reference((*name).into())).collect(),
        ..NewTask::default()
    };
    // The one that waits comes first.
    tasks.create_all(vec![named("b", &["a"]), named("a", &[])]).unwrap();
    assert_eq!(tasks.get(1).unwrap().blocked_by, [2]);
    assert_eq!(tasks.get(2).unwrap().blocks, [1]);
    let circle = tasks.create_all(vec![named("c", &["d"]), named("d", &["c"])]);
    assert!(refusal(circle).ends_with("#4 waits for #3 waits for #4"));
    assert!(refusal(tasks.create_all(vec![named("e", &["f"])])).starts_with("no task is called `f`"));
    assert_eq!(tasks.all().unwrap().tasks.len(), 2, "all of a call or none");
}

#[test]
fn drawings_have_an_arrow_for_each_edge() {
    let (_folder, tasks) = store();
    tasks.create(new("say \"hi\"", &[])).unwrap();
    tasks.create(new("two", &[1])).unwrap();
    let all = tasks.all().unwrap().tasks;
    assert_eq!(
        mermaid(&all),
        "graph TD\n  t1[\"#1 say #quot;hi#quot; (pending)\"]\n  t2[\"#2 two (pending)\"]\n  t1 --> t2\n"
    );
    assert_eq!(
        dot(&all),
        "digraph tasks {\n  t1 [label=\"#1 say \\\"hi\\\" (pending)\"];\n  t2 [label=\"#2 two (pending)\"];\n  t1 -> t2;\n}\n"
    );
}

/// A thing that somebody may want of the graph; numbers are taken modulo those there are.
#[derive(Debug, Clone)]
enum Wish {
    Create { blocked_by: Vec<u8> },
    Wait { id: u8, blocker: u8 },
    Stop { id: u8, blocker: u8 },
    Status { id: u8, status: TaskStatus },
    Claim { id: u8, owner: u8 },
    Delete { id: u8 },
}

fn wishes() -> impl Strategy<Value = Vec<Wish>> {
    let status = prop_oneof![
        Just(TaskStatus::Pending),
        Just(TaskStatus::InProgress),
        Just(TaskStatus::Completed),
        Just(TaskStatus::Failed),
        Just(TaskStatus::Cancelled),
    ];
    let id = 0..12_u8;
    let wish = prop_oneof![
        3 => prop::collection::vec(id.clone(), 0..3).prop_map(|blocked_by| Wish::Create { blocked_by }),
        3 => (id.clone(), id.clone()).prop_map(|(id, blocker)| Wish::Wait { id, blocker }),
        1 => (id.clone(), id.clone()).prop_map(|(id, blocker)| Wish::Stop { id, blocker }),
        4 => (id.clone(), status).prop_map(|(id, status)| Wish::Status { id, status }),
        3 => (id.clone(), 0..3_u8).prop_map(|(id, owner)| Wish::Claim { id, owner }),
        1 => id.prop_map(|id| Wish::Delete { id }),
    ];
    prop::collection::vec(wish, 1..40)
}

/// The graph as it should be: statuses, owners and edges, without files.
#[derive(Debug, Default, PartialEq)]
struct Model {
    tasks: BTreeMap<TaskId, (TaskStatus, Option<String>, BTreeSet<TaskId>)>,
    given: TaskId,
}

impl Model {
    fn reaches(&self, from: TaskId, to: TaskId) -> bool {
        from == to || self.tasks[&from].2.iter().any(|next| self.reaches(*next, to))
    }

    fn is_ready(&self, id: TaskId) -> bool {
        self.tasks[&id]
            .2
            .iter()
            .all(|blocker| self.tasks[blocker].0 == TaskStatus::Completed)
    }

    /// Does it, and says whether it may be done.
    fn take(&mut self, wish: &Wish) -> bool {
        let known = |id: &u8| self.tasks.contains_key(&TaskId::from(*id));
        match wish {
            Wish::Create { blocked_by } => {
                self.given += 1;
                let is_fine = blocked_by.iter().all(known);
                if is_fine {
                    let edges = blocked_by.iter().map(|id| TaskId::from(*id)).collect();
                    self.tasks.insert(self.given, (TaskStatus::Pending, None, edges));
                }
                is_fine
            }
            Wish::Wait { id, blocker } => {
                if !known(id) || !known(blocker) {
                    return false;
                }
                let (id, blocker) = (TaskId::from(*id), TaskId::from(*blocker));
                let has_it = self.tasks[&id].2.contains(&blocker);
                let is_fine = has_it || self.tasks[&id].0 == TaskStatus::Pending && !self.reaches(blocker, id);
                if is_fine {
                    self.tasks.get_mut(&id).unwrap().2.insert(blocker);
                }
                is_fine
            }
            Wish::Stop { id, blocker } => {
                if !known(id) {
                    return false;
                }
                let task = self.tasks.get_mut(&TaskId::from(*id)).unwrap();
                let blocker = TaskId::from(*blocker);
                if task.2.contains(&blocker) && task.0 != TaskStatus::Pending {
                    return false;
                }
                task.2.remove(&blocker);
                true
            }
            Wish::Status { id, status } => {
                if !known(id) {
                    return false;
                }
                let id = TaskId::from(*id);
                let from = self.tasks[&id].0.clone();
                let starts = matches!(status, TaskStatus::InProgress | TaskStatus::Completed)
                    && from != *status
                    && from != TaskStatus::InProgress;
                if !from.may_become(status) || starts && !self.is_ready(id) {
                    return false;
                }
                let task = self.tasks.get_mut(&id).unwrap();
                if *status == TaskStatus::Pending && from != TaskStatus::Pending {
                    task.1 = None;
                }
                task.0 = status.clone();
                true
            }
            Wish::Claim { id, owner } => {
                if !known(id) {
                    return false;
                }
                let id = TaskId::from(*id);
                let owner = Some(format!("w{owner}"));
                let is_fine = match self.tasks[&id].0 {
                    TaskStatus::Pending => self.is_ready(id),
                    TaskStatus::InProgress => self.tasks[&id].1 == owner,
                    _ => false,
                };
                if is_fine {
                    let task = self.tasks.get_mut(&id).unwrap();
                    (task.0, task.1) = (TaskStatus::InProgress, owner);
                }
                is_fine
            }
            Wish::Delete { id } => {
                let id = TaskId::from(*id);
                let was_there = self.tasks.remove(&id).is_some();
                self.tasks.values_mut().for_each(|task| {
                    task.2.remove(&id);
                });
                was_there
            }
        }
    }
}

fn grant(tasks: &Tasks, wish: &Wish) -> bool {
    let ids = |ids: &[u8]| ids.iter().map(|id| TaskId::from(*id)).collect::<Vec<_>>();
    match wish {
        Wish::Create { blocked_by } => tasks.create(new("a task", &ids(blocked_by))).is_ok(),
        Wish::Wait { id, blocker } => {
            let change = Change {
                blocked_by: ids(&[*blocker]),
                ..Change::default()
            };
            tasks.update(TaskId::from(*id), change).is_ok()
        }
        Wish::Stop { id, blocker } => {
            let change = Change {
                unblock: ids(&[*blocker]),
                ..Change::default()
            };
            tasks.update(TaskId::from(*id), change).is_ok()
        }
        Wish::Status { id, status } => tasks.update(TaskId::from(*id), to(status.clone())).is_ok(),
        Wish::Claim { id, owner } => tasks.claim(TaskId::from(*id), &format!("w{owner}"), LEASE).is_ok(),
        Wish::Delete { id } => tasks.delete(TaskId::from(*id)).is_ok(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn the_store_does_what_the_model_does(wishes in wishes()) {
        let (_folder, tasks) = store();
        let mut model = Model::default();
        for wish in &wishes {
            prop_assert_eq!(grant(&tasks, wish), model.take(wish), "{:?} of {:?}", wish, wishes);
        }
        let listing = tasks.all().unwrap();
        let mut stored = Model { given: model.given, ..Model::default() };
        for task in &listing.tasks {
            let edges = task.blocked_by.iter().copied().collect();
            stored.tasks.insert(task.id, (task.status.clone(), task.owner.clone(), edges));
            let mirror: Vec<TaskId> = listing.tasks.iter()
                .filter(|other| other.blocked_by.contains(&task.id)).map(|other| other.id).collect();
            prop_assert_eq!(&task.blocks, &mirror);
        }
        prop_assert_eq!(stored, model);
    }
}
