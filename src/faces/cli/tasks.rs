//! `analyst tasks`: units of work that outlive a process, with what waits for what.

use std::process::ExitCode;
use std::time::Duration;

use clap::{Subcommand, ValueEnum};
use serde_json::{Value, json};

use crate::faces::cli::Failure;
use crate::faces::cli::options::Shared;
use crate::faces::cli::progress::print;
use crate::session::tasks::{
    Change, Changed, Listing, Named, NewTask, Problem, Task, TaskError, TaskId, TaskStatus, Tasks, dot, lines, mermaid,
};

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
    /// Folder of the tasks; .analyst/tasks if left out
    #[arg(long, global = true, value_name = "DIR")]
    dir: Option<std::path::PathBuf>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Make a task
    Create {
        subject: String,
        #[arg(long)]
        description: Option<String>,
        /// Tasks that have to be completed before
        #[arg(long, value_name = "IDS", value_delimiter = ',', value_parser = id)]
        blocked_by: Vec<TaskId>,
        /// Tasks that are to wait for it
        #[arg(long, value_name = "IDS", value_delimiter = ',', value_parser = id)]
        blocks: Vec<TaskId>,
    },
    /// Show one task
    Get {
        #[arg(value_parser = id)]
        id: TaskId,
    },
    /// Change a task
    Update {
        #[arg(value_parser = id)]
        id: TaskId,
        /// pending, in_progress, completed, failed or cancelled
        #[arg(long)]
        status: Option<String>,
        #[arg(long)]
        subject: Option<String>,
        #[arg(long)]
        description: Option<String>,
        /// Tasks that have to be completed before, beside those it waits for already
        #[arg(long, value_name = "IDS", value_delimiter = ',', value_parser = id)]
        blocked_by: Vec<TaskId>,
        /// Tasks that are to wait for it, beside those that do already
        #[arg(long, value_name = "IDS", value_delimiter = ',', value_parser = id)]
        blocks: Vec<TaskId>,
        /// Tasks that it is no longer to wait for
        #[arg(long, value_name = "IDS", value_delimiter = ',', value_parser = id)]
        unblock: Vec<TaskId>,
    },
    /// List all tasks by number
    List,
    /// List the tasks that can be started
    Ready,
    /// Take a task, for as long as the lease
    Claim {
        #[arg(value_parser = id)]
        id: TaskId,
        #[arg(long)]
        owner: String,
        /// Others may take it over after that; claim again to renew
        #[arg(long, default_value = "10m", value_parser = duration)]
        lease: Duration,
    },
    /// Complete a task and say what became ready
    Complete {
        #[arg(value_parser = id)]
        id: TaskId,
        /// Only if it is this owner's
        #[arg(long)]
        owner: Option<String>,
        /// What came of it
        #[arg(long)]
        result: Option<String>,
    },
    /// Remove a task; nothing waits for it any more
    Delete {
        #[arg(value_parser = id)]
        id: TaskId,
    },
    /// Print what waits for what
    Graph {
        #[arg(long, value_enum, default_value_t = Drawing::Mermaid)]
        format: Drawing,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Drawing {
    Mermaid,
    Dot,
}

fn id(text: &str) -> Result<TaskId, String> {
    crate::session::tasks::read_id(&Value::String(text.to_owned()))
        .ok_or_else(|| "a task is named by its number, such as 3".to_owned())
}

/// `90s`, `10m` or `2h`.
fn duration(text: &str) -> Result<Duration, String> {
    let wanted = || "write it as 90s, 10m or 2h".to_owned();
    let (number, seconds) = match text.trim().char_indices().next_back() {
        Some((at, 's')) => (text.get(..at), 1),
        Some((at, 'm')) => (text.get(..at), 60),
        Some((at, 'h')) => (text.get(..at), 3600),
        _ => (Some(text), 1),
    };
    let number: u64 = number.and_then(|n| n.trim().parse().ok()).ok_or_else(wanted)?;
    match number.checked_mul(seconds) {
        Some(seconds) if seconds > 0 => Ok(Duration::from_secs(seconds)),
        _ => Err(wanted()),
    }
}

pub fn run(args: Args) -> Result<ExitCode, Failure> {
    let folder = match args.dir {
        Some(folder) => folder,
        None => Shared::default().resolve(None)?.output.home.join("tasks"),
    };
    let tasks = Tasks::at(folder);
    let show = Show { json: args.json };
    match args.command {
        Command::Create {
            subject,
            description,
            blocked_by,
            blocks,
        } => {
            let named = |ids: Vec<TaskId>| ids.into_iter().map(Named::Id).collect();
            let task = tasks.create(NewTask {
                subject,
                description,
                blocked_by: named(blocked_by),
                blocks: named(blocks),
                ..NewTask::default()
            })?;
            show.one(&tasks, &task)?;
        }
        Command::Get { id } => show.whole(&tasks.get(id)?)?,
        Command::Update {
            id,
            status,
            subject,
            description,
            blocked_by,
            blocks,
            unblock,
        } => {
            let status = status.as_deref().map(read_status).transpose()?;
            let change = Change {
                status,
                subject,
                description,
                blocked_by,
                blocks,
                unblock,
            };
            show.changed(&tasks, &tasks.update(id, change)?)?;
        }
        Command::List => show.list(&tasks.all()?)?,
        Command::Ready => {
            let all = tasks.all()?;
            let ready: Vec<Task> = all.ready().cloned().collect();
            let listing = Listing {
                tasks: ready,
                problems: Vec::new(),
            };
            warn(&all.problems);
            show.ready(&listing)?;
        }
        Command::Claim { id, owner, lease } => show.one(&tasks, &tasks.claim(id, &owner, lease)?)?,
        Command::Complete { id, owner, result } => {
            let changed = tasks.complete(id, owner.as_deref(), result.map(Value::String))?;
            show.changed(&tasks, &changed)?;
        }
        Command::Delete { id } => {
            let changed = tasks.delete(id)?;
            eprintln!("deleted #{id}");
            show.became_ready(&tasks, &changed.became_ready)?;
        }
        Command::Graph { format } => {
            let all = tasks.all()?;
            warn(&all.problems);
            let drawn = match format {
                Drawing::Mermaid => mermaid(&all.tasks),
                Drawing::Dot => dot(&all.tasks),
            };
            print(drawn.trim_end())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn read_status(word: &str) -> Result<TaskStatus, TaskError> {
    TaskStatus::read(word).ok_or_else(|| TaskError::NoStatus { word: word.to_owned() })
}

fn warn(problems: &[Problem]) {
    for problem in problems {
        eprintln!(
            "analyst: {} cannot be read: {}",
            problem.file.display(),
            problem.problem
        );
    }
}

/// How tasks are shown.
struct Show {
    json: bool,
}

impl Show {
    fn print_json(value: &Value) -> Result<(), Failure> {
        print(&serde_json::to_string_pretty(value).map_err(|error| Failure::failed(error.to_string()))?)
    }

    fn list(&self, listing: &Listing) -> Result<(), Failure> {
        if !self.json {
            return print(&lines(listing));
        }
        let problems: Vec<Value> = listing
            .problems
            .iter()
            .map(|problem| json!({"file": problem.file, "problem": problem.problem}))
            .collect();
        Self::print_json(&json!({"v": 1, "tasks": listing.tasks, "problems": problems}))
    }

    /// Their blockers are all completed, so that none is named.
    fn ready(&self, listing: &Listing) -> Result<(), Failure> {
        if self.json || listing.tasks.is_empty() {
            return self.list(listing);
        }
        let text: Vec<String> = listing
            .tasks
            .iter()
            .map(|task| format!("[ ] #{}: {}", task.id, task.subject))
            .collect();
        print(&text.join("\n"))
    }

    /// One task as a line of the list.
    fn one(&self, tasks: &Tasks, task: &Task) -> Result<(), Failure> {
        if self.json {
            return self.whole(task);
        }
        let blockers = task.blocked_by.iter().filter_map(|id| tasks.get(*id).ok());
        let known: Vec<Task> = blockers.chain(std::iter::once(task.clone())).collect();
        let all = lines(&Listing {
            tasks: known,
            problems: Vec::new(),
        });
        print(all.lines().last().unwrap_or_default())
    }

    fn whole(&self, task: &Task) -> Result<(), Failure> {
        Self::print_json(&serde_json::to_value(task).map_err(|error| Failure::failed(error.to_string()))?)
    }

    fn changed(&self, tasks: &Tasks, changed: &Changed) -> Result<(), Failure> {
        if self.json {
            return Self::print_json(&json!({"v": 1, "task": changed.task, "became_ready": changed.became_ready}));
        }
        self.one(tasks, &changed.task)?;
        self.became_ready(tasks, &changed.became_ready)
    }

    fn became_ready(&self, tasks: &Tasks, ids: &[TaskId]) -> Result<(), Failure> {
        for id in ids {
            let subject = tasks.get(*id).map(|task| task.subject).unwrap_or_default();
            print(&format!("ready now: #{id}: {subject}"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[rstest::rstest]
    #[case("90s", Some(90))]
    #[case("10m", Some(600))]
    #[case("2h", Some(7200))]
    #[case("45", Some(45))]
    #[case("0m", None)]
    #[case("10d", None)]
    #[case("soon", None)]
    #[case("", None)]
    fn a_lease_is_read(#[case] text: &str, #[case] seconds: Option<u64>) {
        assert_eq!(duration(text).ok(), seconds.map(Duration::from_secs));
    }
}
