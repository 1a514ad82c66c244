//! Rows in aligned columns of plain text: the same on a terminal, in a pipe and in a file.

use crate::text::{display_width, pad_end, truncate};

/// Spaces between two columns.
const GAP: &str = "  ";

/// One column of a grid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    pub name: String,
    /// Numbers stand at the right, so that their digits line up.
    pub right: bool,
}

/// Lines of `rows` under `headings`, each ending with a newline; cells wider than `widest` are cut with an ellipsis.
///
/// What would break the lines or steer the terminal (newlines, tabs, escape characters) is written as an escape.
pub fn grid(headings: &[Heading], rows: &[Vec<String>], widest: Option<usize>) -> String {
    let shown = |text: &str| {
        let plain = visible(text);
        match widest {
            Some(columns) => truncate(&plain, columns),
            None => plain,
        }
    };
    let names: Vec<String> = headings.iter().map(|heading| shown(&heading.name)).collect();
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| row.iter().map(|cell| shown(cell)).collect())
        .collect();
    let widths: Vec<usize> = names
        .iter()
        .enumerate()
        .map(|(at, name)| {
            let below = cells
                .iter()
                .filter_map(|row| row.get(at))
                .map(|cell| display_width(cell));
            below.max().unwrap_or(0).max(display_width(name))
        })
        .collect();
    let rule: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
    let mut text = String::new();
    for line in [&names, &rule].into_iter().chain(&cells) {
        let placed = line.iter().zip(&widths).zip(headings).map(|((cell, width), heading)| {
            if heading.right {
                format!("{}{cell}", " ".repeat(width.saturating_sub(display_width(cell))))
            } else {
                pad_end(cell, *width)
            }
        });
        text.push_str(placed.collect::<Vec<_>>().join(GAP).trim_end());
        text.push('\n');
    }
    text
}

/// `text` with its control characters, and those that turn its direction, written as escapes.
pub fn visible(text: &str) -> String {
    let steers = |c: char| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if !text.chars().any(steers) {
        return text.to_owned();
    }
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        if steers(c) {
            plain.extend(c.escape_default());
        } else {
            plain.push(c);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heading(name: &str, right: bool) -> Heading {
        Heading {
            name: name.to_owned(),
            right,
        }
    }

    fn row(cells: [&str; 2]) -> Vec<String> {
        cells.map(str::to_owned).to_vec()
    }

    #[test]
    fn columns_line_up_by_their_width_on_screen() {
        let rows = [row(["北京", "9.50"]), row(["a\nb\u{1b}[31m", "12345.00"])];
        let text = grid(&[heading("city", false), heading("总额", true)], &rows, None);
        let lines = [
            "city                总额",
            "--------------  --------",
            "北京                9.50",
            "a\\nb\\u{1b}[31m  12345.00",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), lines);
    }

    #[test]
    fn wide_cells_are_cut_where_a_bound_is_given() {
        let rows = [row(["a long sentence", "1"])];
        assert_eq!(
            grid(&[heading("t", false), heading("n", true)], &rows, Some(7)),
            "t        n\n-------  -\na long…  1\n"
        );
    }

    #[test]
    fn no_rows_leave_the_heading() {
        assert_eq!(
            grid(&[heading("a", false), heading("b", true)], &[], None),
            "a  b\n-  -\n"
        );
    }
}
