//! How wide text is in a terminal, where Chinese characters take two columns.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns that `text` takes in a terminal.
pub fn display_width(text: &str) -> usize {
    text.width()
}

/// `text` if it fits into `columns`, else as much of it as fits with `…` at the end.
pub fn truncate(text: &str, columns: usize) -> String {
    if display_width(text) <= columns {
        return text.to_owned();
    }
    let Some(room) = columns.checked_sub(1) else {
        return String::new();
    };
    let mut used = 0;
    let mut short: String = text
        .chars()
        .take_while(|c| {
            used += c.width().unwrap_or_default();
            used <= room
        })
        .collect();
    short.push('…');
    short
}

/// `text` followed by spaces up to `columns`; longer text is left as it is.
pub fn pad_end(text: &str, columns: usize) -> String {
    let missing = columns.saturating_sub(display_width(text));
    format!("{text}{}", " ".repeat(missing))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("sales", 5, "sales")]
    #[case("sales by office", 6, "sales…")]
    #[case("销售额分析", 6, "销售…")]
    #[case("销售", 0, "")]
    fn text_is_cut_to_its_columns(#[case] text: &str, #[case] columns: usize, #[case] expected: &str) {
        assert_eq!(truncate(text, columns), expected);
        assert!(display_width(&truncate(text, columns)) <= columns);
    }

    #[test]
    fn chinese_is_padded_by_its_width() {
        assert_eq!(pad_end("销售", 6), "销售  ");
        assert_eq!(pad_end("sales", 3), "sales");
    }
}
