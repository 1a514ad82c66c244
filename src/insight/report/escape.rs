//! Data in markdown: a name or value from a database is shown as it is, and never becomes markup, a citation or a row.

/// `text` as plain words inside a line: in a heading, after other words.
///
/// Line breaks become blanks, control and direction-changing characters go, and what markdown would read as markup is
/// escaped; underscores and stars inside words stay as they are, since no reader takes them for emphasis.
pub fn inline(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    let mut characters = text.chars().peekable();
    let mut before: Option<char> = None;
    while let Some(c) = characters.next() {
        let after = characters.peek().copied();
        match c {
            '\n' | '\r' | '\t' => {
                if !escaped.ends_with(' ') {
                    escaped.push(' ');
                }
            }
            c if is_invisible(c) => continue,
            '_' if is_word(before) && is_word(after) => escaped.push('_'),
            '`' | '*' | '_' | '[' | ']' | '\\' | '~' => escaped.extend(['\\', c]),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' if looks_like_entity(after) => escaped.push_str("&amp;"),
            c => escaped.push(c),
        }
        before = Some(c);
    }
    escaped.trim().to_owned()
}

/// As [`inline`] for a cell of a table, where `|` ends the cell.
pub fn cell(text: &str) -> String {
    inline(text).replace('|', "\\|")
}

/// As [`inline`] for text that begins a line, where `#`, `-`, `+` and `1.` would begin a heading or a list.
pub fn paragraph(text: &str) -> String {
    let escaped = inline(text);
    let digits = escaped.len() - escaped.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, rest) = escaped.split_at_checked(digits).unwrap_or((&escaped, ""));
    if digits > 0 && rest.starts_with(['.', ')']) {
        return format!("{number}\\{rest}");
    }
    if escaped.starts_with(['#', '-', '+', '=']) {
        format!("\\{escaped}")
    } else {
        escaped
    }
}

/// `code` in a fenced block that nothing in it can close.
pub fn fenced(code: &str, language: &str) -> String {
    let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}", code.trim_end())
}

/// The target of a link or image: blanks and brackets percent-encoded.
pub fn target(path: &str) -> String {
    let mut escaped = String::with_capacity(path.len());
    for c in path.chars() {
        match c {
            ' ' => escaped.push_str("%20"),
            '(' => escaped.push_str("%28"),
            ')' => escaped.push_str("%29"),
            '<' => escaped.push_str("%3C"),
            '>' => escaped.push_str("%3E"),
            c if c.is_control() => {}
            c => escaped.push(c),
        }
    }
    escaped
}

fn is_word(c: Option<char>) -> bool {
    c.is_some_and(char::is_alphanumeric)
}

fn looks_like_entity(after: Option<char>) -> bool {
    after.is_some_and(|c| c.is_ascii_alphabetic() || c == '#')
}

/// Control characters, zero-width characters and those that turn the direction of text.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("Leslie Thompson", "Leslie Thompson")]
    #[case("two\nlines\r\nhere", "two lines here")]
    #[case("`rm`", r"\`rm\`")]
    #[case("[q1](http://evil)", r"\[q1\](http://evil)")]
    #[case("![x](y)", r"!\[x\](y)")]
    #[case("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;")]
    #[case("first_name", "first_name")]
    #[case("_emphasis_ **bold**", r"\_emphasis\_ \*\*bold\*\*")]
    #[case("-5.2", "-5.2")]
    #[case("AT&T", "AT&amp;T")]
    #[case("R & D", "R & D")]
    #[case("a\u{202e}b\u{0}c", "abc")]
    #[case("S10_1678", "S10_1678")]
    fn data_never_becomes_markup(#[case] data: &str, #[case] escaped: &str) {
        assert_eq!(inline(data), escaped);
    }

    #[rstest]
    #[case("# heading", r"\# heading")]
    #[case("---", r"\---")]
    #[case("1. item", r"1\. item")]
    #[case("2005 sales", "2005 sales")]
    fn a_line_of_data_begins_no_heading_or_list(#[case] data: &str, #[case] escaped: &str) {
        assert_eq!(paragraph(data), escaped);
    }

    #[rstest]
    #[case("a|b", r"a\|b")]
    #[case(r"a\|b", r"a\\\|b")]
    fn a_cell_of_data_ends_no_cell(#[case] data: &str, #[case] escaped: &str) {
        assert_eq!(cell(data), escaped);
    }

    #[test]
    fn a_fence_is_longer_than_any_in_the_code() {
        assert_eq!(fenced("SELECT 1", "sql"), "```sql\nSELECT 1\n```");
        assert_eq!(fenced("-- ````", "sql"), "`````sql\n-- ````\n`````");
    }
}
