//! A plan write as models send it: read leniently, checked by itself.

use serde_json::Value;

use crate::session::todo::{Status, TodoError};

/// An item as it was sent, cleaned and checked by itself.
pub(super) struct SentItem {
    /// Counts from 1, for messages.
    pub position: usize,
    pub id: Option<u32>,
    pub content: String,
    pub active_form: String,
    pub status: Status,
}

pub(super) fn read_list(input: Value, max: usize) -> Result<Vec<SentItem>, TodoError> {
    let values = list_of(input)?;
    if values.is_empty() {
        return Err(TodoError::Empty);
    }
    if values.len() > max {
        return Err(TodoError::TooMany {
            count: values.len(),
            max,
        });
    }
    values
        .iter()
        .enumerate()
        .map(|(index, value)| read_item(index + 1, value))
        .collect()
}

/// Finds the list in what was sent; text that holds one is parsed once, wherever it stands.
fn list_of(input: Value) -> Result<Vec<Value>, TodoError> {
    let not_a_list = |problem: &str| TodoError::NotAList {
        problem: problem.to_owned(),
    };
    let (input, parsed) = parse_once(input, false)?;
    let value = match input {
        Value::Object(mut fields) => fields.remove("todos").ok_or_else(|| not_a_list("it is missing"))?,
        other => other,
    };
    match parse_once(value, parsed)?.0 {
        Value::Array(values) => Ok(values),
        Value::Null => Err(not_a_list("it is null")),
        Value::Object(_) => Err(not_a_list("it is one object")),
        Value::String(_) => Err(not_a_list("it is text inside text")),
        Value::Bool(_) | Value::Number(_) => Err(not_a_list("it is a single value")),
    }
}

fn parse_once(value: Value, parsed_before: bool) -> Result<(Value, bool), TodoError> {
    match value {
        Value::String(text) if !parsed_before => {
            serde_json::from_str(&text)
                .map(|value| (value, true))
                .map_err(|e| TodoError::NotAList {
                    problem: format!("it is text that is not JSON ({e})"),
                })
        }
        other => Ok((other, parsed_before)),
    }
}

fn read_item(position: usize, value: &Value) -> Result<SentItem, TodoError> {
    let Value::Object(fields) = value else {
        return Err(TodoError::NotAnItem { position });
    };
    let words = |names: &[&str]| {
        let text = names
            .iter()
            .find_map(|n| fields.get(*n))
            .and_then(Value::as_str)
            .unwrap_or_default();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let content = words(&["content"]);
    let active_form = words(&["activeForm", "active_form"]);
    for (field, text) in [("content", &content), ("activeForm", &active_form)] {
        if text.is_empty() {
            return Err(TodoError::Blank {
                position,
                field,
                content: content.clone(),
            });
        }
    }
    let status = match fields.get("status") {
        None | Some(Value::Null) => Some(Status::Pending),
        Some(Value::String(text)) => Status::read(text),
        Some(_) => None,
    };
    let Some(status) = status else {
        let value = fields.get("status").map(Value::to_string).unwrap_or_default();
        return Err(TodoError::UnknownStatus {
            position,
            content,
            value,
        });
    };
    Ok(SentItem {
        position,
        id: fields.get("id").and_then(read_id),
        content,
        active_form,
        status,
    })
}

/// An id as models send it: 2, "2" or "#2". Anything else names no stored item.
fn read_id(value: &Value) -> Option<u32> {
    match value {
        Value::Number(number) => number.as_u64().and_then(|n| u32::try_from(n).ok()),
        Value::String(text) => text.trim().trim_start_matches('#').parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// What two wordings of one step have in common.
pub(super) fn key(content: &str) -> String {
    content.trim_end_matches(['.', '。', ' ']).to_lowercase()
}

pub(super) fn check_among_themselves(sent: &[SentItem]) -> Result<(), TodoError> {
    for (index, item) in sent.iter().enumerate() {
        for earlier in sent.iter().take(index) {
            let (first, second) = (earlier.position, item.position);
            if earlier.status == Status::InProgress && item.status == Status::InProgress {
                let (first_content, second_content) = (earlier.content.clone(), item.content.clone());
                return Err(TodoError::TwoInProgress {
                    first,
                    second,
                    first_content,
                    second_content,
                });
            }
            if key(&earlier.content) == key(&item.content) {
                return Err(TodoError::Duplicate {
                    first,
                    second,
                    content: item.content.clone(),
                });
            }
            if let Some(id) = item.id.filter(|id| earlier.id == Some(*id)) {
                return Err(TodoError::DuplicateId { first, second, id });
            }
        }
    }
    Ok(())
}
