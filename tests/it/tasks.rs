//! `analyst tasks`: the commands, many processes at once, and many tasks.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use analyst::session::tasks::{Change, Named, NewTask, Task, TaskId, TaskStatus, Tasks};

use crate::support::{run, stderr, stdout};

/// Tells the test's own binary, started again as a worker, where the tasks lie.
const WORKER_FOLDER: &str = "ANALYST_TEST_TASKS_FOLDER";
const WORKER_SEED: &str = "ANALYST_TEST_TASKS_SEED";
const WORKERS: u64 = 8;
const OPERATIONS: usize = 500;

fn said(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, &[&["tasks"][..], arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
    stdout(&output).trim_end().to_owned()
}

fn refused(folder: &Path, arguments: &[&str], code: i32) -> String {
    let output = run(folder, &[&["tasks"][..], arguments].concat());
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", stdout(&output));
    stderr(&output).trim_end().to_owned()
}

#[test]
fn a_small_graph_from_beginning_to_end() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    assert_eq!(said(at, &["list"]), "No tasks.");
    assert_eq!(said(at, &["create", "gather"]), "[ ] #1: gather");
    assert_eq!(
        said(at, &["create", "check", "--blocked-by", "1"]),
        "[ ] #2: check (blocked by: 1)"
    );
    assert_eq!(
        said(at, &["create", "write", "--description", "all of it"]),
        "[ ] #3: write"
    );
    assert_eq!(
        said(at, &["update", "3", "--blocked-by", "1,#2"]),
        "[ ] #3: write (blocked by: 1, 2)"
    );
    assert_eq!(said(at, &["ready"]), "[ ] #1: gather");
    assert_eq!(
        said(at, &["claim", "1", "--owner", "ann", "--lease", "5m"]),
        "[>] #1: gather (ann)"
    );
    assert_eq!(
        said(at, &["complete", "1", "--owner", "ann"]),
        "[x] #1: gather\nready now: #2: check"
    );
    assert_eq!(
        said(at, &["list"]),
        "[x] #1: gather\n[ ] #2: check\n[ ] #3: write (blocked by: 2)"
    );
    assert!(said(at, &["graph"]).contains("t2 --> t3"));
    assert!(said(at, &["graph", "--format", "dot"]).contains("t2 -> t3;"));
    assert_eq!(said(at, &["delete", "2"]), "ready now: #3: write");
    let task: serde_json::Value = serde_json::from_str(&said(at, &["get", "3"])).unwrap();
    assert_eq!(task["description"], "all of it");
    assert_eq!(task["blockedBy"], serde_json::json!([1]));
    assert!(at.join(".analyst/tasks/task_3.json").is_file());
}

#[test]
fn mistakes_are_told_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    said(at, &["create", "one"]);
    said(at, &["create", "two", "--blocked-by", "1"]);
    for (arguments, code, words) in [
        (
            &["update", "1", "--blocked-by", "2"][..],
            1,
            "#1 waits for #2 waits for #1",
        ),
        (&["update", "1", "--blocked-by", "9"], 1, "there is no task #9"),
        (&["update", "1", "--status", "done"], 2, "no status `done`; use pending"),
        (&["claim", "2", "--owner", "ann"], 1, "#2 is blocked by #1"),
        (&["get", "two"], 2, "a task is named by its number"),
        (
            &["claim", "1", "--owner", "ann", "--lease", "soon"],
            2,
            "write it as 90s, 10m or 2h",
        ),
        (&["create", "  "], 2, "a task needs a subject"),
    ] {
        let error = refused(at, arguments, code);
        assert!(error.contains(words), "{arguments:?}: {error}");
    }
    std::fs::write(at.join(".analyst/tasks/task_1.json"), "{").unwrap();
    assert!(said(at, &["list"]).contains("task_1.json cannot be read"));
    assert!(refused(at, &["get", "1"], 1).contains("task_1.json cannot be read"));
}

/// What a worker did, as it tells on stdout: one line an operation that succeeded.
fn tell(what: &str, id: TaskId) {
    println!("did {what} {id}");
}

/// One of many processes: does not test anything by itself.
#[test]
#[ignore = "started by the test of many processes"]
fn a_worker_among_others() {
    let Some(folder) = std::env::var_os(WORKER_FOLDER) else {
        return;
    };
    let tasks = Tasks::at(Path::new(&folder));
    let seed: u64 = std::env::var(WORKER_SEED).unwrap().parse().unwrap();
    let owner = format!("worker-{seed}");
    let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = |below: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % below
    };
    let mut mine: Vec<TaskId> = Vec::new();
    let mut highest = 1;
    for _ in 0..OPERATIONS {
        match next(10) {
            0..=2 => {
                let blocked_by: Vec<Named> = (0..next(3)).map(|_| Named::Id(1 + next(highest))).collect();
                let new = NewTask {
                    subject: format!("of {owner}"),
                    blocked_by,
                    ..NewTask::default()
                };
                if let Ok(task) = tasks.create(new) {
                    highest = highest.max(task.id);
                    tell("create", task.id);
                }
            }
            3..=4 => {
                let change = Change {
                    blocked_by: vec![1 + next(highest)],
                    ..Change::default()
                };
                let _ = tasks.update(1 + next(highest), change);
            }
            5..=7 => {
                let id = 1 + next(highest);
                let was_mine = mine.contains(&id);
                if tasks.claim(id, &owner, Duration::from_secs(600)).is_ok() && !was_mine {
                    mine.push(id);
                    tell("claim", id);
                }
            }
            8 => {
                if let Some(id) = mine.pop()
                    && tasks.complete(id, Some(&owner), Some(owner.clone().into())).is_ok()
                {
                    tell("complete", id);
                }
            }
            _ => {
                let id = 1 + next(highest);
                // What somebody works on is not taken away under them.
                let is_free = tasks
                    .get(id)
                    .is_ok_and(|task| task.status == TaskStatus::Pending && id % 7 == 0);
                if is_free && tasks.delete(id).is_ok() {
                    tell("delete", id);
                }
            }
        }
    }
}

#[test]
fn eight_processes_lose_nothing_and_double_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("tasks");
    let tasks = Tasks::at(&at);
    tasks
        .create(NewTask {
            subject: "first".into(),
            ..NewTask::default()
        })
        .unwrap();
    let began = Instant::now();
    let workers: Vec<_> = (1..=WORKERS)
        .map(|seed| {
            Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "tasks::a_worker_among_others", "--ignored", "--nocapture"])
                .env(WORKER_FOLDER, &at)
                .env(WORKER_SEED, seed.to_string())
                .stdout(std::process::Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let mut did: BTreeMap<String, Vec<TaskId>> = BTreeMap::new();
    for worker in workers {
        let output = worker.wait_with_output().unwrap();
        assert!(output.status.success());
        for line in String::from_utf8(output.stdout).unwrap().lines() {
            // The first line of a test may share its line with the test's name.
            let Some((_, words)) = line.split_once("did ") else {
                continue;
            };
            let (what, id) = words.split_once(' ').unwrap();
            did.entry(what.to_owned()).or_default().push(id.parse().unwrap());
        }
    }
    println!(
        "{} operations in {:.1} s",
        WORKERS as usize * OPERATIONS,
        began.elapsed().as_secs_f64()
    );
    let of = |what: &str| did.get(what).cloned().unwrap_or_default();
    let unique = |ids: Vec<TaskId>| {
        let set: BTreeSet<TaskId> = ids.iter().copied().collect();
        assert_eq!(set.len(), ids.len(), "twice: {ids:?}");
        set
    };
    let (created, deleted) = (unique(of("create")), of("delete").into_iter().collect::<BTreeSet<_>>());
    let completed = unique(of("complete"));
    let listing = tasks.all().unwrap();
    assert_eq!(listing.problems, []);
    let there: BTreeMap<TaskId, &Task> = listing.tasks.iter().map(|task| (task.id, task)).collect();
    let expected: BTreeSet<TaskId> = created
        .iter()
        .copied()
        .chain([1])
        .filter(|id| !deleted.contains(id))
        .collect();
    assert_eq!(there.keys().copied().collect::<BTreeSet<_>>(), expected);
    // Nobody released a task, so nobody could claim one that another had claimed; a claim that raced with a deletion
    // is gone with its task.
    unique(of("claim"));
    for id in completed.iter().filter(|id| !deleted.contains(id)) {
        assert_eq!(there[id].status, TaskStatus::Completed, "#{id}");
    }
    for task in there.values() {
        for blocker in &task.blocked_by {
            assert!(there[blocker].blocks.contains(&task.id), "#{} and #{blocker}", task.id);
            if task.status == TaskStatus::Completed {
                assert_eq!(
                    there[blocker].status,
                    TaskStatus::Completed,
                    "#{} ran before #{blocker}",
                    task.id
                );
            }
        }
        for blocked in &task.blocks {
            assert!(
                there[blocked].blocked_by.contains(&task.id),
                "#{} and #{blocked}",
                task.id
            );
        }
    }
    // Without a circle, taking away what waits for nothing leaves nothing.
    let mut left: BTreeMap<TaskId, Vec<TaskId>> =
        there.iter().map(|(id, task)| (*id, task.blocked_by.clone())).collect();
    while let Some(free) = left
        .iter()
        .find(|(_, blockers)| blockers.iter().all(|b| !left.contains_key(b)))
        .map(|x| *x.0)
    {
        left.remove(&free);
    }
    assert!(left.is_empty(), "a circle among {:?}", left.keys());
}

#[test]
fn ten_thousand_tasks_are_listed_quickly() {
    let folder = tempfile::tempdir().unwrap();
    let tasks = Tasks::at(folder.path());
    for id in 1..=10_000_u64 {
        let text = format!(
            "{{\n  \"v\": 1,\n  \"id\": {id},\n  \"subject\": \"task {id}\",\n  \"status\": \"pending\",\n  \"blockedBy\": [{}],\n  \"blocks\": [{}],\n  \"createdAt\": \"2026-11-30T16:15:02.113Z\",\n  \"updatedAt\": \"2026-11-30T16:15:02.113Z\"\n}}\n",
            if id % 2 == 0 {
                (id - 1).to_string()
            } else {
                String::new()
            },
            if id % 2 == 1 {
                (id + 1).to_string()
            } else {
                String::new()
            },
        );
        std::fs::write(folder.path().join(format!("task_{id}.json")), text).unwrap();
    }
    tasks.all().unwrap();
    let began = Instant::now();
    let listing = tasks.all().unwrap();
    let took = began.elapsed();
    assert_eq!((listing.tasks.len(), listing.ready().count()), (10_000, 5_000));
    assert_eq!(listing.tasks.last().map(|task| task.id), Some(10_000));
    println!("10,000 tasks in {:.0} ms", took.as_secs_f64() * 1000.0);
    // What is measured without optimisation, on a machine that does other things, is not the figure; it only must not
    // be of another kind.
    assert!(took < Duration::from_secs(5), "{took:?}");
}
