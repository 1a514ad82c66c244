//! Markdown tables of typed rows: numbers right-aligned, one number of decimals per column, data escaped.

use super::escape::cell as escaped;
use super::words::{flag_words, heading_words};
use crate::insight::metrics::format::{self, fixed, percent, places, signed};
use crate::insight::metrics::{Cell, Derived, Kind, Number};
use crate::text::{Language, display_width};

/// Stands for "no value".
const NOTHING: &str = "–";

/// How the cells of a column are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Format {
    /// As they are, left-aligned.
    Text,
    /// With as many decimals as the column needs: none where all are whole, two for money.
    Amount,
    /// As [`Format::Amount`] with its sign: for changes.
    Change,
    /// A fraction as a percentage.
    Percent,
    /// A fraction as a percentage with its sign.
    ChangePercent,
    /// Without decimals.
    Count,
    /// With exactly this many decimals.
    Places(u32),
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableColumn {
    pub heading: String,
    pub format: Format,
}

impl TableColumn {
    pub fn new(heading: impl Into<String>, format: Format) -> Self {
        Self {
            heading: heading.into(),
            format,
        }
    }
}

/// The markdown table of `rows`, with blanks so that it can be read as plain text too, and a line break at its end.
///
/// A row that is shorter than the columns is filled up; cells beyond the columns are left out.
pub fn markdown(columns: &[TableColumn], rows: &[Vec<Cell>]) -> String {
    let written: Vec<Vec<String>> = columns
        .iter()
        .enumerate()
        .map(|(position, column)| {
            let cells = rows.iter().map(|row| row.get(position).unwrap_or(&Cell::Null));
            write_column(&column.format, cells)
        })
        .collect();
    let headings: Vec<String> = columns.iter().map(|column| escaped(&column.heading)).collect();
    let widths: Vec<usize> = headings
        .iter()
        .zip(&written)
        .map(|(heading, cells)| {
            let widest = cells.iter().map(|cell| display_width(cell)).max().unwrap_or(0);
            display_width(heading).max(widest).max(3)
        })
        .collect();
    let right: Vec<bool> = columns.iter().map(|column| column.format != Format::Text).collect();
    let line = |cells: Vec<&str>| {
        let padded = cells
            .into_iter()
            .zip(&widths)
            .zip(&right)
            .map(|((cell, width), right)| pad(cell, *width, *right));
        format!("| {} |\n", padded.collect::<Vec<_>>().join(" | "))
    };
    let mut table = line(headings.iter().map(String::as_str).collect());
    let rule = widths.iter().zip(&right).map(|(width, right)| {
        if *right {
            format!("{}:", "-".repeat(width - 1))
        } else {
            "-".repeat(*width)
        }
    });
    table.push_str(&format!("| {} |\n", rule.collect::<Vec<_>>().join(" | ")));
    for row in 0..rows.len() {
        table.push_str(&line(
            written
                .iter()
                .map(|column| column.get(row).map_or(NOTHING, String::as_str))
                .collect(),
        ));
    }
    table
}

/// The markdown table of a derived table: its `columns` in this order (all when empty), headed in the report's language.
///
/// A pair is a column's name and its heading; an empty heading stands for the usual one.
pub fn of_derived(derived: &Derived, columns: &[(&str, &str)], language: Language) -> String {
    let all: Vec<(&str, &str)> = derived
        .columns
        .iter()
        .map(|column| (column.name.as_str(), ""))
        .collect();
    let chosen = if columns.is_empty() { all.as_slice() } else { columns };
    let known: Vec<(usize, TableColumn)> = chosen
        .iter()
        .filter_map(|(name, given)| {
            let position = derived.column(name)?;
            let kind = derived.columns.get(position)?.kind;
            let heading = if given.is_empty() {
                heading(name, language)
            } else {
                (*given).to_owned()
            };
            Some((position, TableColumn::new(heading, format_of(kind, name))))
        })
        .collect();
    let rows: Vec<Vec<Cell>> = derived
        .rows
        .iter()
        .map(|row| {
            let cell = |position: usize| match (row.get(position), derived.columns.get(position)) {
                (Some(Cell::Text(code)), Some(column)) if column.kind == Kind::Flag => {
                    Cell::Text(flag_words(code, language).to_owned())
                }
                (cell, _) => cell.cloned().unwrap_or_default(),
            };
            known.iter().map(|(position, _)| cell(*position)).collect()
        })
        .collect();
    let columns: Vec<TableColumn> = known.into_iter().map(|(_, column)| column).collect();
    markdown(&columns, &rows)
}

/// How a column of this kind is written; changes show their sign.
pub fn format_of(kind: Kind, name: &str) -> Format {
    match kind {
        Kind::Label | Kind::Period | Kind::Flag | Kind::Reason => Format::Text,
        Kind::Amount if matches!(name, "delta" | "gap") => Format::Change,
        Kind::Amount => Format::Amount,
        Kind::Fraction if name.starts_with("growth") => Format::ChangePercent,
        Kind::Fraction => Format::Percent,
        Kind::Count => Format::Count,
        Kind::Score => Format::Places(1),
    }
}

/// A column's name as a heading: known ones in the report's language, others with blanks for underscores.
pub fn heading(name: &str, language: Language) -> String {
    if let Some(words) = heading_words(name, language) {
        return words.to_owned();
    }
    let words = name.replace('_', " ");
    let mut characters = words.chars();
    match characters.next() {
        Some(first) => first.to_uppercase().chain(characters).collect(),
        None => words,
    }
}

fn write_column<'a>(format: &Format, cells: impl Iterator<Item = &'a Cell> + Clone) -> Vec<String> {
    let needed = cells.clone().filter_map(Cell::number).map(places).max().unwrap_or(0);
    cells
        .map(|cell| match cell {
            Cell::Null => NOTHING.to_owned(),
            Cell::Text(text) => escaped(text),
            Cell::Number(number) => write_number(*number, format, needed),
        })
        .collect()
}

fn write_number(number: Number, format: &Format, needed: u32) -> String {
    match format {
        Format::Text => format::amount(number),
        Format::Amount => fixed(number, needed),
        Format::Change => signed(&fixed(number, needed)),
        Format::Percent => percent(number),
        Format::ChangePercent => signed(&percent(number)),
        Format::Count => fixed(number, 0),
        Format::Places(places) => fixed(number, *places),
    }
}

fn pad(cell: &str, width: usize, right: bool) -> String {
    let blanks = " ".repeat(width.saturating_sub(display_width(cell)));
    if right {
        format!("{blanks}{cell}")
    } else {
        format!("{cell}{blanks}")
    }
}

#[cfg(test)]
mod tests {
    use rust_decimal::Decimal;

    use super::*;
    use crate::insight::metrics::Column;

    #[test]
    fn numbers_stand_right_with_the_same_decimals_and_data_is_escaped() {
        let columns = [
            TableColumn::new("Name", Format::Text),
            TableColumn::new("Sales", Format::Amount),
            TableColumn::new("Change", Format::ChangePercent),
        ];
        let rows = [
            vec![
                Cell::from("Ann | <b>"),
                Cell::from(Decimal::new(1_221_848, 2)),
                Cell::from(-0.1516),
            ],
            vec![Cell::from("李雷"), Cell::from(900_i64), Cell::from(0.032)],
            vec![Cell::from("Bob"), Cell::Null],
        ];
        assert_eq!(
            markdown(&columns, &rows),
            "\
| Name             |     Sales | Change |
| ---------------- | --------: | -----: |
| Ann \\| &lt;b&gt; | 12,218.48 | −15.2% |
| 李雷             |    900.00 |  +3.2% |
| Bob              |         – |      – |
"
        );
    }

    #[test]
    fn a_derived_table_is_headed_in_the_reports_language() {
        let derived = Derived {
            id: "m1".to_owned(),
            function: "compare".to_owned(),
            source: "q1".to_owned(),
            formula: String::new(),
            columns: vec![
                Column::new("employee_name", Kind::Label),
                Column::new("delta", Kind::Amount),
                Column::new("status", Kind::Flag),
            ],
            rows: vec![vec![Cell::from("Ann"), Cell::from(5_i64), Cell::from("only-new")]],
            facts: Vec::new(),
            notes: Vec::new(),
        };
        assert_eq!(
            of_derived(&derived, &[], Language::English),
            "\
| Employee name | Change | Status          |
| ------------- | -----: | --------------- |
| Ann           |     +5 | new period only |
"
        );
        assert_eq!(
            of_derived(&derived, &[("employee_name", "员工"), ("delta", "")], Language::Chinese),
            "| 员工 | 变化 |\n| ---- | ---: |\n| Ann  |   +5 |\n"
        );
    }
}
