//! Blanking: what stands in a block of markdown and is no prose (code, citations, links, ordinals) becomes blanks.

use std::ops::Range;

use super::prose::{Block, BlockKind, ids_of, lines, list_marker};

/// A table column under one of these headings numbers its rows.
const ORDINAL_HEADINGS: [&str; 9] = ["#", "no", "no.", "nr", "rank", "名次", "排名", "序号", "编号"];
/// The block's text with everything that is no prose turned into blanks, byte for byte.
pub(super) fn blank(block: &Block) -> String {
    let text = &block.text;
    let mut holes: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = text.get(at..).unwrap_or_default();
        let length = match c {
            '`' => code_span(rest),
            '!' if rest.starts_with("![") => link(rest.get(1..).unwrap_or_default()).map(|length| length + 1),
            '[' => bracket(rest),
            '<' => html_tag(rest),
            'h' if rest.starts_with("http://") || rest.starts_with("https://") => Some(
                rest.find(|c: char| c.is_whitespace() || matches!(c, ')' | '|' | '>'))
                    .unwrap_or(rest.len()),
            ),
            _ => None,
        };
        match length {
            Some(length) => {
                holes.push(at..at + length);
                at += length;
            }
            None => at += c.len_utf8(),
        }
    }
    for line in lines(text) {
        let content = text.get(line.clone()).unwrap_or_default();
        let marker = match block.kind {
            BlockKind::Heading => heading_ordinal(content),
            BlockKind::Item => list_marker(content),
            BlockKind::Paragraph | BlockKind::Table => None,
        };
        holes.extend(marker.map(|marker| line.start + marker.start..line.start + marker.end));
    }
    if block.kind == BlockKind::Table {
        holes.extend(ordinal_cells(text));
    }
    let is_hole = |at: usize| holes.iter().any(|hole| hole.contains(&at));
    let mut blanked = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        if is_hole(at) {
            blanked.extend(std::iter::repeat_n(' ', c.len_utf8()));
        } else {
            blanked.push(c);
        }
    }
    blanked
}

fn code_span(rest: &str) -> Option<usize> {
    let ticks = rest.len() - rest.trim_start_matches('`').len();
    let marker = rest.get(..ticks)?;
    let close = rest.get(ticks..)?.find(marker)?;
    Some(ticks + close + ticks)
}

/// `[text](target)`, whole.
fn link(rest: &str) -> Option<usize> {
    let close = rest.find("](")?;
    let end = rest.get(close..)?.find(')')?;
    Some(close + end + 1)
}

/// A citation with its target, or a footnote mark; of an ordinary link nothing, since its text is prose.
fn bracket(rest: &str) -> Option<usize> {
    let close = rest.find(']')?;
    let inner = rest.get(1..close)?;
    if ids_of(inner).is_none() && !inner.starts_with('^') {
        return None;
    }
    let after = rest.get(close + 1..)?;
    let target = after
        .starts_with('(')
        .then(|| after.find(')'))
        .flatten()
        .map_or(0, |end| end + 1);
    Some(close + 1 + target)
}

fn html_tag(rest: &str) -> Option<usize> {
    if rest.starts_with("<!--") {
        return rest.find("-->").map(|end| end + 3);
    }
    let is_tag = rest
        .get(1..)?
        .starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
    is_tag.then(|| rest.find('>')).flatten().map(|end| end + 1)
}

/// `## 2. `, `### 2.1 `: the marks and the ordinal.
fn heading_ordinal(line: &str) -> Option<Range<usize>> {
    let title = line.trim_start_matches(['#', ' ']);
    let start = line.len() - title.len();
    let after = title.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let ordinal = title.len() - after.len();
    let is_ordinal =
        ordinal > 0 && after.starts_with([' ', ')', '、', '．']) && !title.get(..ordinal)?.starts_with('.');
    // "## 12 offices lost sales" begins with a finding; "## 2. Ranking" and "## 2.1 Ranking" do not.
    let marked = title.get(..ordinal)?.contains('.') || !after.starts_with(' ');
    (is_ordinal && marked).then(|| 0..start + ordinal)
}

/// The cells of table columns that number the rows.
fn ordinal_cells(table: &str) -> Vec<Range<usize>> {
    let rows: Vec<Vec<Range<usize>>> = lines(table).into_iter().map(|line| cells(table, line)).collect();
    let Some((header, body)) = rows.split_first() else {
        return Vec::new();
    };
    let is_ordinal = |cell: &Range<usize>| {
        let heading = table
            .get(cell.clone())
            .unwrap_or_default()
            .trim()
            .trim_matches('*')
            .to_lowercase();
        ORDINAL_HEADINGS.contains(&heading.as_str())
    };
    let columns: Vec<usize> = header
        .iter()
        .enumerate()
        .filter(|(_, cell)| is_ordinal(cell))
        .map(|(column, _)| column)
        .collect();
    body.iter()
        .flat_map(|row| columns.iter().filter_map(|column| row.get(*column).cloned()))
        .collect()
}

fn cells(table: &str, line: Range<usize>) -> Vec<Range<usize>> {
    let text = table.get(line.clone()).unwrap_or_default();
    let bars: Vec<usize> = text.match_indices('|').map(|(at, _)| line.start + at).collect();
    bars.iter()
        .zip(bars.iter().skip(1))
        .map(|(open, close)| open + 1..*close)
        .collect()
}
