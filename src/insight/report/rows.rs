//! The rows of a result as readers see them.

use super::QueryUsed;
use super::table::{Format, TableColumn, markdown};

/// The first rows with the id that they are cited by, as the text shows them; `None` where none are shown.
pub(super) fn cited_rows(query: &QueryUsed) -> Option<String> {
    let rows = first_rows(query);
    (!rows.is_empty()).then(|| format!("{rows}\n\n[{}]", query.id))
}

/// The first rows as a table, and a line of dots where there are more; empty where none are shown.
pub(super) fn first_rows(query: &QueryUsed) -> String {
    if query.first_rows.is_empty() {
        return String::new();
    }
    let is_number = |at: usize| {
        let cells = query.first_rows.iter().filter_map(|row| row.get(at));
        cells.clone().any(|cell| cell.number().is_some()) && cells.clone().all(|cell| cell.as_text().is_none())
    };
    let columns: Vec<TableColumn> = query
        .columns
        .iter()
        .enumerate()
        .map(|(at, name)| TableColumn::new(name, if is_number(at) { Format::Amount } else { Format::Text }))
        .collect();
    let table = markdown(&columns, &query.first_rows);
    match query.row_count > query.first_rows.len() {
        true => format!("{table}\n…"),
        false => table.trim_end().to_owned(),
    }
}
