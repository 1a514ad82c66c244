//! Breaking a text into lines of a given width, and cutting what does not fit with an ellipsis.

use super::fonts::Fonts;

/// How a text is set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Face {
    /// Pixels per em.
    pub size: f64,
    /// Semi-bold instead of regular.
    pub bold: bool,
}

impl Face {
    /// Regular weight.
    pub const fn regular(size: f64) -> Face {
        Face { size, bold: false }
    }

    /// Semi-bold weight.
    pub const fn bold(size: f64) -> Face {
        Face { size, bold: true }
    }

    /// Distance between baselines.
    pub fn leading(self) -> f64 {
        (self.size * 1.3).round()
    }
}

/// May not begin a line.
const CLOSING: &str = "、，。；：？！）】》」』”’,.;:?!)]}%…";
/// May not end a line.
const OPENING: &str = "（【《「『“‘([{";

/// Lines of at most `width` pixels, at most `most` of them; the last one ends in `…` if the text goes on.
/// White space is collapsed; a word longer than a line is broken.
pub(super) fn wrap(text: &str, face: Face, width: f64, most: usize, fonts: &Fonts) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for piece in pieces(text) {
        let joined = format!("{line}{piece}");
        if fits(joined.trim_end(), face, width, fonts) {
            line = joined;
            continue;
        }
        if !line.trim().is_empty() {
            lines.push(line.trim_end().to_string());
        }
        line = piece.trim_start().to_string();
        while !fits(line.trim_end(), face, width, fonts) {
            let head = longest_head(&line, face, width, fonts);
            let rest = line.split_off(head.len());
            lines.push(std::mem::replace(&mut line, rest));
        }
    }
    if !line.trim().is_empty() {
        lines.push(line.trim_end().to_string());
    }
    if lines.len() > most {
        let rest = lines.split_off(most.saturating_sub(1)).join(" ");
        lines.push(ellipsize(&rest, face, width, fonts));
    }
    lines
}

/// `text`, or its beginning and `…`, whichever fits into `width` pixels.
pub(super) fn ellipsize(text: &str, face: Face, width: f64, fonts: &Fonts) -> String {
    if fits(text, face, width, fonts) {
        return text.to_string();
    }
    let room = width - fonts.width("…", face.size, face.bold);
    format!(
        "{}…",
        longest_head(text, face, room, fonts).trim_end_matches([' ', ',', '.', '，', '、', '-'])
    )
}

fn fits(text: &str, face: Face, width: f64, fonts: &Fonts) -> bool {
    fonts.width(text, face.size, face.bold) <= width
}

/// The longest beginning that fits, at least one character of it.
fn longest_head<'a>(text: &'a str, face: Face, width: f64, fonts: &Fonts) -> &'a str {
    let ends: Vec<usize> = text
        .char_indices()
        .map(|(at, character)| at + character.len_utf8())
        .collect();
    let fitting = ends.partition_point(|end| text.get(..*end).is_some_and(|head| fits(head, face, width, fonts)));
    let end = ends.get(fitting.saturating_sub(1)).copied().unwrap_or(text.len());
    text.get(..end).unwrap_or(text)
}

/// The text cut at every place where a line may end; a space stays with the piece before it.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut last: Option<char> = None;
    for character in text.split_whitespace().collect::<Vec<_>>().join(" ").chars() {
        let starts = last.is_none_or(|before| may_break(before, character));
        match pieces.last_mut() {
            Some(piece) if !starts => piece.push(character),
            _ => pieces.push(character.to_string()),
        }
        last = Some(character);
    }
    pieces
}

fn may_break(before: char, after: char) -> bool {
    if after == ' ' || CLOSING.contains(after) || OPENING.contains(before) {
        return false;
    }
    before == ' ' || matches!(before, '-' | '/' | '_' | '·') || is_wide(before) || is_wide(after)
}

/// Written without spaces: Chinese, kana, full-width forms.
fn is_wide(character: char) -> bool {
    matches!(character, '\u{2E80}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{FF00}'..='\u{FFEF}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::short_text_is_one_line("Net sales", 200.0, &["Net sales"])]
    #[case::words_move_down_whole("Net sales by employee", 75.0, &["Net sales", "by", "employee"])]
    #[case::chinese_breaks_between_characters("八月份销售额，按员工", 70.0, &["八月份销售", "额，按员工"])]
    #[case::a_comma_never_starts_a_line("八月份销售额，按员工", 84.0, &["八月份销售", "额，按员工"])]
    #[case::white_space_is_collapsed("  a \n b ", 200.0, &["a b"])]
    #[case::nothing_is_no_line("", 200.0, &[])]
    fn wrapping(#[case] text: &str, #[case] width: f64, #[case] lines: &[&str]) {
        assert_eq!(wrap(text, Face::regular(13.0), width, 9, Fonts::embedded()), lines);
    }

    #[test]
    fn a_word_longer_than_the_line_is_broken() {
        let lines = wrap(
            "Donaudampfschifffahrtsgesellschaft",
            Face::regular(13.0),
            80.0,
            9,
            Fonts::embedded(),
        );
        assert_eq!(lines.concat(), "Donaudampfschifffahrtsgesellschaft");
        assert!(lines.len() >= 3);
    }

    #[test]
    fn what_goes_on_ends_in_an_ellipsis() {
        let fonts = Fonts::embedded();
        let lines = wrap("one two three four five six", Face::regular(13.0), 60.0, 2, fonts);
        assert_eq!(lines.len(), 2);
        assert!(lines[1].ends_with('…'), "{lines:?}");
        let cut = ellipsize("Leslie Jennings", Face::regular(13.0), 60.0, fonts);
        assert!(cut.starts_with("Leslie") && cut.ends_with('…'), "{cut}");
        assert!(fonts.width(&cut, 13.0, false) <= 60.0);
    }
}
