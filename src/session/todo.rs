//! The plan of a run: todo items and the rules by which a list may change.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

mod sent;

use sent::{SentItem, check_among_themselves, key, read_list};

/// A plan with more steps than this is a work log: the question should be split first.
pub const DEFAULT_MAX_ITEMS: usize = 12;
/// No configuration may ask for longer lists, which cost more tokens in every request than they give.
pub const HIGHEST_MAX_ITEMS: usize = 20;

/// Where a step stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    #[default]
    Pending,
    InProgress,
    Completed,
    Cancelled,
}

impl Status {
    /// Reads a status as models write it: any case, with or without a separator.
    fn read(text: &str) -> Option<Self> {
        let letters: String = text
            .chars()
            .filter(|c| c.is_alphabetic())
            .flat_map(char::to_lowercase)
            .collect();
        match letters.as_str() {
            "pending" => Some(Status::Pending),
            "inprogress" => Some(Status::InProgress),
            "completed" => Some(Status::Completed),
            "cancelled" | "canceled" => Some(Status::Cancelled),
            _ => None,
        }
    }

    /// Still to be done or being done.
    pub fn is_open(self) -> bool {
        matches!(self, Status::Pending | Status::InProgress)
    }

    /// The spelling that tools and files use.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Pending => "pending",
            Status::InProgress => "in_progress",
            Status::Completed => "completed",
            Status::Cancelled => "cancelled",
        }
    }

    fn mark(self) -> &'static str {
        match self {
            Status::Pending => "[ ]",
            Status::InProgress => "[>]",
            Status::Completed => "[x]",
            Status::Cancelled => "[-]",
        }
    }
}

/// May a todo item go from `from` to `to`? A list is forward-only, so that progress never lies.
fn may_become(from: Status, to: Status) -> bool {
    use Status::*;
    matches!(
        (from, to),
        (Pending, _)
            | (InProgress, InProgress | Completed | Cancelled)
            | (Completed, Completed)
            | (Cancelled, Cancelled)
    )
}

/// One step of the plan, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TodoItem {
    /// Numbered by the host from 1; never reused in a run.
    pub id: u32,
    /// What is to be done ("Rank employees by net sales").
    pub content: String,
    /// The same while it is being done ("Ranking employees by net sales").
    #[serde(rename = "activeForm")]
    pub active_form: String,
    pub status: Status,
}

/// What a successful plan write did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanChange {
    /// The list as it is stored now.
    pub todos: Vec<TodoItem>,
    /// Pending items that the new list no longer has.
    pub dropped: Vec<TodoItem>,
}

/// How many of a list's items are completed, and how many there are: what a progress line shows.
pub fn progress(todos: &[TodoItem]) -> (usize, usize) {
    (
        todos.iter().filter(|t| t.status == Status::Completed).count(),
        todos.len(),
    )
}

/// The list as people and models see it; an empty one is `No todos.`
pub fn render(todos: &[TodoItem]) -> String {
    if todos.is_empty() {
        return "No todos.".to_owned();
    }
    let mut text = String::new();
    for item in todos {
        let _ = write!(text, "{} #{}: {}", item.status.mark(), item.id, item.content);
        if item.status == Status::InProgress {
            let _ = write!(text, " ({})", item.active_form);
        }
        text.push('\n');
    }
    let (completed, total) = progress(todos);
    let _ = write!(text, "({completed}/{total} completed)");
    text
}

/// Why a plan write was refused. Each message says what to do instead; the stored list is as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TodoError {
    #[error(
        "`todos` must be a list of items {{content, activeForm, status}}, but {problem}; send the list itself, not text"
    )]
    NotAList { problem: String },
    #[error("the list is empty; write at least one step, or leave the plan as it is and go on without TodoWrite")]
    Empty,
    #[error(
        "{count} items are more than the {max} that a plan may have; merge small steps, and refine one when you reach it"
    )]
    TooMany { count: usize, max: usize },
    #[error(
        "item {position} is not an object; write it as {{\"content\": …, \"activeForm\": …, \"status\": \"pending\"}}"
    )]
    NotAnItem { position: usize },
    #[error("item {position}{} has no `{field}`; {}", named(.content), field_advice(.field))]
    Blank {
        position: usize,
        field: &'static str,
        content: String,
    },
    #[error("item {position} (\"{content}\") has the status {value}; use pending, in_progress, completed or cancelled")]
    UnknownStatus {
        position: usize,
        content: String,
        value: String,
    },
    #[error(
        "items {first} and {second} are both in_progress (\"{first_content}\", \"{second_content}\"); keep one in_progress and set the other to pending or completed"
    )]
    TwoInProgress {
        first: usize,
        second: usize,
        first_content: String,
        second_content: String,
    },
    #[error("items {first} and {second} are the same step (\"{content}\"); send it once, or give each its own words")]
    Duplicate {
        first: usize,
        second: usize,
        content: String,
    },
    #[error("items {first} and {second} both carry the id {id}; leave the id out of new items")]
    DuplicateId { first: usize, second: usize, id: u32 },
    #[error(
        "#{id} (\"{content}\") is {} and cannot go back to {}; keep it {}, and add a new item with its own words for work that is left",
        .from.as_str(), .to.as_str(), .from.as_str()
    )]
    Backwards {
        id: u32,
        content: String,
        from: Status,
        to: Status,
    },
    #[error(
        "#{id} is {} as \"{stored}\" and keeps these words; send it unchanged, and add \"{sent}\" as a new item without an id",
        .status.as_str()
    )]
    Reworded {
        id: u32,
        status: Status,
        stored: String,
        sent: String,
    },
    #[error(
        "#{id} (\"{content}\") is in_progress and missing from the new list; send it as completed if it is done, or as cancelled if it is not needed"
    )]
    InProgressMissing { id: u32, content: String },
}

fn named(content: &str) -> String {
    if content.is_empty() {
        String::new()
    } else {
        format!(" (\"{content}\")")
    }
}

fn field_advice(field: &str) -> &'static str {
    if field == "content" {
        "say in a few words what is to be done, such as \"Rank employees by net sales\""
    } else {
        "say the same as it is being done, such as \"Ranking employees by net sales\""
    }
}

/// The plan of one run, changed only by whole replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TodoList {
    items: Vec<TodoItem>,
    /// Pending items that earlier writes dropped and that no later one brought back.
    dropped: Vec<TodoItem>,
    next_id: u32,
    max_items: usize,
}

impl Default for TodoList {
    fn default() -> Self {
        Self::new(DEFAULT_MAX_ITEMS)
    }
}

impl TodoList {
    /// An empty list that takes up to `max_items` items a write (kept within 1 and [`HIGHEST_MAX_ITEMS`]).
    pub fn new(max_items: usize) -> Self {
        Self {
            items: Vec::new(),
            dropped: Vec::new(),
            next_id: 1,
            max_items: max_items.clamp(1, HIGHEST_MAX_ITEMS),
        }
    }

    pub fn items(&self) -> &[TodoItem] {
        &self.items
    }

    /// Pending items that were dropped in the course of the run.
    pub fn dropped(&self) -> &[TodoItem] {
        &self.dropped
    }

    /// Items that are pending or in progress.
    pub fn open(&self) -> impl Iterator<Item = &TodoItem> {
        self.items.iter().filter(|t| t.status.is_open())
    }

    pub fn render(&self) -> String {
        render(&self.items)
    }

    /// Takes over what a stored `todo_progress` event says, when a session is read back.
    pub fn restore(&mut self, todos: Vec<TodoItem>, dropped: Vec<TodoItem>) {
        let highest = todos.iter().chain(&dropped).map(|t| t.id).max().unwrap_or(0);
        self.next_id = self.next_id.max(highest.saturating_add(1));
        self.remember_dropped(&todos, dropped);
        self.items = todos;
    }

    /// Replaces the whole list by `input`: `{"todos": [{content, activeForm, status?, id?}]}`.
    ///
    /// A list that arrives as a JSON string is parsed once. Items are matched to the stored ones by their words, else by
    /// id. Finished items that the new list leaves out stay stored, so that the report can tell what became of every
    /// step. On an error nothing has changed.
    pub fn replace(&mut self, input: Value) -> Result<PlanChange, TodoError> {
        let sent = read_list(input, self.max_items)?;
        check_among_themselves(&sent)?;
        let matches = self.match_stored(&sent);
        let mut next_id = self.next_id;
        let mut items = Vec::with_capacity(sent.len());
        for (item, stored) in sent.iter().zip(&matches) {
            let id = match stored {
                Some(stored) => {
                    check_move(stored, item)?;
                    stored.id
                }
                None => {
                    let id = next_id;
                    next_id = next_id.saturating_add(1);
                    id
                }
            };
            items.push(TodoItem {
                id,
                content: item.content.clone(),
                active_form: item.active_form.clone(),
                status: item.status,
            });
        }
        let left_out = |t: &&TodoItem| !items.iter().any(|kept| kept.id == t.id);
        if let Some(lost) = self
            .items
            .iter()
            .filter(left_out)
            .find(|t| t.status == Status::InProgress)
        {
            return Err(TodoError::InProgressMissing {
                id: lost.id,
                content: lost.content.clone(),
            });
        }
        let dropped: Vec<_> = self
            .items
            .iter()
            .filter(left_out)
            .filter(|t| t.status.is_open())
            .cloned()
            .collect();
        let mut todos: Vec<_> = self
            .items
            .iter()
            .filter(left_out)
            .filter(|t| !t.status.is_open())
            .cloned()
            .collect();
        todos.append(&mut items);

        self.next_id = next_id;
        self.remember_dropped(&todos, dropped.clone());
        self.items = todos.clone();
        Ok(PlanChange { todos, dropped })
    }

    /// The stored item that each sent one continues. Words win over ids, because a model that renumbers its list still
    /// means the steps that it names.
    fn match_stored(&self, sent: &[SentItem]) -> Vec<Option<&TodoItem>> {
        let by_words: Vec<Option<&TodoItem>> = sent
            .iter()
            .map(|item| self.items.iter().find(|t| key(&t.content) == key(&item.content)))
            .collect();
        let taken = |t: &TodoItem| by_words.iter().flatten().any(|m| m.id == t.id);
        sent.iter()
            .zip(&by_words)
            .map(|(item, found)| {
                found.or_else(|| {
                    let id = item.id?;
                    self.items.iter().find(|t| t.id == id && !taken(t))
                })
            })
            .collect()
    }

    /// Adds to the dropped items, and forgets those that the list has again.
    fn remember_dropped(&mut self, todos: &[TodoItem], dropped: Vec<TodoItem>) {
        self.dropped.extend(dropped);
        self.dropped
            .retain(|d| !todos.iter().any(|t| key(&t.content) == key(&d.content)));
    }
}

/// The plan as the TodoWrite tool and the loop share it.
#[derive(Debug, Clone, Default)]
pub struct SharedPlan(Arc<Mutex<TodoList>>);

impl SharedPlan {
    pub fn new(list: TodoList) -> Self {
        Self(Arc::new(Mutex::new(list)))
    }

    /// The list, locked. A list is only ever replaced whole, so one that a panicking holder left behind is sound.
    pub fn lock(&self) -> MutexGuard<'_, TodoList> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn check_move(stored: &TodoItem, sent: &SentItem) -> Result<(), TodoError> {
    if !may_become(stored.status, sent.status) {
        let (from, to) = (stored.status, sent.status);
        return Err(TodoError::Backwards {
            id: stored.id,
            content: stored.content.clone(),
            from,
            to,
        });
    }
    if stored.status != Status::Pending && key(&stored.content) != key(&sent.content) {
        return Err(TodoError::Reworded {
            id: stored.id,
            status: stored.status,
            stored: stored.content.clone(),
            sent: sent.content.clone(),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
