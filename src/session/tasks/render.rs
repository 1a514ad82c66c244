//! Tasks as people, Mermaid and Graphviz read them.

use std::fmt::Write as _;

use crate::session::tasks::{Listing, Task, TaskId, TaskStatus};

/// The list: a line a task by number, then what could not be read.
pub fn lines(listing: &Listing) -> String {
    if listing.tasks.is_empty() && listing.problems.is_empty() {
        return "No tasks.".to_owned();
    }
    let completed = listing.completed();
    let mut text: Vec<String> = listing
        .tasks
        .iter()
        .map(|task| line(task, |id| completed.contains(&id)))
        .collect();
    for problem in &listing.problems {
        let name = problem.file.file_name().unwrap_or_default().to_string_lossy();
        text.push(format!("{name} cannot be read: {}", problem.problem));
    }
    text.join("\n")
}

fn line(task: &Task, is_completed: impl Fn(TaskId) -> bool) -> String {
    let mut line = format!("{} #{}: {}", task.status.mark(), task.id, task.subject);
    let open: Vec<String> = task
        .blocked_by
        .iter()
        .filter(|id| !is_completed(**id))
        .map(TaskId::to_string)
        .collect();
    let _ = match &task.status {
        TaskStatus::Pending if !open.is_empty() => write!(line, " (blocked by: {})", open.join(", ")),
        TaskStatus::InProgress => match &task.owner {
            Some(owner) => write!(line, " ({owner})"),
            None => Ok(()),
        },
        TaskStatus::Failed => write!(line, " (failed, attempts: {})", task.attempts),
        TaskStatus::Unknown(word) => write!(line, " ({word})"),
        TaskStatus::Pending | TaskStatus::Completed | TaskStatus::Cancelled => Ok(()),
    };
    line
}

/// The graph as Mermaid: arrows go from what comes first to what waits for it.
pub fn mermaid(tasks: &[Task]) -> String {
    let mut text = "graph TD\n".to_owned();
    for task in tasks {
        let label = label(task).replace('"', "#quot;");
        let _ = writeln!(text, "  t{}[\"{label}\"]", task.id);
    }
    for (blocker, waiting) in edges(tasks) {
        let _ = writeln!(text, "  t{blocker} --> t{waiting}");
    }
    text
}

/// The graph as DOT.
pub fn dot(tasks: &[Task]) -> String {
    let mut text = "digraph tasks {\n".to_owned();
    for task in tasks {
        let label = label(task).replace('\\', "\\\\").replace('"', "\\\"");
        let _ = writeln!(text, "  t{} [label=\"{label}\"];", task.id);
    }
    for (blocker, waiting) in edges(tasks) {
        let _ = writeln!(text, "  t{blocker} -> t{waiting};");
    }
    text + "}\n"
}

fn label(task: &Task) -> String {
    format!("#{} {} ({})", task.id, task.subject, task.status)
}

fn edges(tasks: &[Task]) -> impl Iterator<Item = (TaskId, TaskId)> {
    tasks
        .iter()
        .flat_map(|task| task.blocked_by.iter().map(|blocker| (*blocker, task.id)))
}
