//! Why a task could not be made, read or changed; each message says what to do.

use std::path::PathBuf;

use crate::session::store::StoreError;
use crate::session::tasks::{TaskId, TaskStatus};

#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    #[error("there is no task #{id}; `analyst tasks list` shows those there are")]
    Unknown { id: TaskId },
    #[error("{} cannot be read ({problem}); mend it by hand or remove it", .file.display())]
    Unreadable { file: PathBuf, problem: String },
    #[error("a task needs a subject: say in a few words what is to be done")]
    NoSubject,
    #[error("#{id} cannot wait for itself")]
    SelfDependency { id: TaskId },
    #[error("that would be a circle, in which nothing could ever start: {}", circle(.path))]
    Cycle { path: Vec<TaskId> },
    #[error("#{id} is blocked by {}; complete {} first", numbers(.blockers), them(.blockers))]
    Blocked { id: TaskId, blockers: Vec<TaskId> },
    #[error("#{id} is {status}, and what a started task waited for does not change; set it to pending first")]
    Started { id: TaskId, status: TaskStatus },
    #[error("#{id} is {from} and cannot become {to}{}", advice(.from))]
    Status {
        id: TaskId,
        from: TaskStatus,
        to: TaskStatus,
    },
    #[error("no status `{word}`; use pending, in_progress, completed, failed or cancelled")]
    NoStatus { word: String },
    #[error("#{id} belongs to {owner}{}; take another task", .until.as_ref().map(|u| format!(" until {u}")).unwrap_or_default())]
    Taken {
        id: TaskId,
        owner: String,
        until: Option<String>,
    },
    #[error("#{id} is {status}; only a pending task can be claimed")]
    NotClaimable { id: TaskId, status: TaskStatus },
    #[error(
        "no task is called `{name}` in this call or before; name a task by its number, or by the `ref` of one that is created before"
    )]
    NoReference { name: String },
    #[error("the tasks in {} are locked by another process for more than {seconds} s; try again", .folder.display())]
    Busy { folder: PathBuf, seconds: u64 },
    #[error("the work on the tasks broke down, which is a fault of the program ({0})")]
    Broken(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn circle(path: &[TaskId]) -> String {
    path.iter()
        .map(|id| format!("#{id}"))
        .collect::<Vec<_>>()
        .join(" waits for ")
}

pub(super) fn numbers(ids: &[TaskId]) -> String {
    ids.iter().map(|id| format!("#{id}")).collect::<Vec<_>>().join(", ")
}

fn them(ids: &[TaskId]) -> &'static str {
    if ids.len() == 1 { "it" } else { "them" }
}

fn advice(from: &TaskStatus) -> &'static str {
    match from {
        TaskStatus::Completed | TaskStatus::Cancelled | TaskStatus::Unknown(_) => {
            "; set it to pending to open it again"
        }
        TaskStatus::Failed => "; set it to pending to try again",
        TaskStatus::Pending | TaskStatus::InProgress => "",
    }
}
