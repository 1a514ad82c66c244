//! The answer's markdown as the binder sees it: numbers, the sentence that each stands in, and what is cited there.

use std::ops::Range;

use super::blank::blank;
use crate::text::{Numeral, numerals};

/// A number right after one of these is asked for and not found out: "top 5", "the last 12 months".
const ASKED_FOR: [&str; 16] = [
    "top", "bottom", "last", "past", "trailing", "previous", "next", "first", "no.", "rank", "step", "第", "前", "近",
    "过去", "最近",
];

/// A number in the answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mention {
    pub(super) text: String,
    pub(super) numeral: Numeral,
    /// From 1.
    pub(super) line: usize,
    /// In characters, from 1.
    pub(super) column: usize,
    /// Position in [`Prose::units`].
    pub(super) unit: usize,
    /// May be no finding at all: a year, or the 5 of "top 5".
    pub(super) may_be_skipped: bool,
}

/// A sentence, a bullet or a table row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Unit {
    /// In lower case, for finding names in it.
    pub(super) words: String,
    /// Ids cited in it; for a table row also those that the table or its caption cites.
    pub(super) citations: Vec<String>,
    /// Ids cited in the same paragraph.
    pub(super) around: Vec<String>,
    /// Its numbers, in order.
    pub(super) numerals: Vec<Numeral>,
}

/// The answer, taken apart.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Prose {
    pub(super) mentions: Vec<Mention>,
    pub(super) units: Vec<Unit>,
    /// Every id that the answer cites, once, in order.
    pub(super) cited: Vec<String>,
}

impl Prose {
    /// Takes `markdown` apart. Code, link targets, list numbers and headings' ordinals hold no figures.
    pub(super) fn read(markdown: &str) -> Self {
        let blocks = blocks(markdown);
        let citations: Vec<Vec<String>> = blocks.iter().map(|block| citations(&block.text)).collect();
        let mut prose = Prose::default();
        for (position, block) in blocks.iter().enumerate() {
            let own = citations.get(position).map_or(&[][..], Vec::as_slice);
            for id in own {
                if !prose.cited.contains(id) {
                    prose.cited.push(id.clone());
                }
            }
            let mut around = own.to_vec();
            if block.kind == BlockKind::Table {
                let neighbour = |at: Option<usize>| {
                    let at = at?;
                    let is_caption = blocks.get(at)?.kind != BlockKind::Table;
                    citations.get(at).filter(|_| is_caption)
                };
                let before = neighbour(position.checked_sub(1));
                let after = neighbour(Some(position + 1))
                    .filter(|_| blocks.get(position + 1).is_some_and(Block::is_source_line));
                around.extend(before.into_iter().chain(after).flatten().cloned());
            }
            prose.take(block, &around);
        }
        prose
    }

    fn take(&mut self, block: &Block, around: &[String]) {
        let blanked = blank(block);
        let ranges = match block.kind {
            BlockKind::Table => lines(&block.text),
            BlockKind::Paragraph => sentences(&block.text),
            BlockKind::Item | BlockKind::Heading => std::iter::once(0..block.text.len()).collect(),
        };
        let first_unit = self.units.len();
        for range in &ranges {
            let text = block.text.get(range.clone()).unwrap_or_default();
            let citations = if block.kind == BlockKind::Table {
                around.to_vec()
            } else {
                citations(text)
            };
            self.units.push(Unit {
                words: text.to_lowercase(),
                citations,
                around: around.to_vec(),
                numerals: Vec::new(),
            });
        }
        for numeral in numerals(&blanked) {
            let offset = ranges
                .iter()
                .position(|range| numeral.start < range.end)
                .unwrap_or(ranges.len().saturating_sub(1));
            let before = block.text.get(..numeral.start).unwrap_or_default();
            let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
            let asked_for = {
                let before = before.trim_end().to_lowercase();
                ASKED_FOR.iter().any(|word| ends_with_word(&before, word))
            };
            if let Some(unit) = self.units.get_mut(first_unit + offset) {
                unit.numerals.push(numeral.clone());
            }
            self.mentions.push(Mention {
                text: block
                    .text
                    .get(numeral.start..numeral.end)
                    .unwrap_or_default()
                    .to_owned(),
                line: block.first_line + before.matches('\n').count(),
                column: before.get(line_start..).unwrap_or_default().chars().count() + 1,
                unit: first_unit + offset,
                may_be_skipped: numeral.maybe_year || asked_for,
                numeral,
            });
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockKind {
    Paragraph,
    Item,
    Table,
    Heading,
}

/// Lines that belong together.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) kind: BlockKind,
    first_line: usize,
    pub(super) text: String,
}

impl Block {
    /// Is it a line under a table that says where the table comes from?
    fn is_source_line(&self) -> bool {
        let text = self.text.trim_start_matches(['*', '_', '(', ' ', '（']).to_lowercase();
        text.starts_with('[') || text.starts_with("source") || text.starts_with("来源") || text.starts_with("数据来源")
    }
}

fn blocks(markdown: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut fence: Option<&str> = None;
    let mut open = false;
    for (at, line) in markdown.split('\n').enumerate() {
        let trimmed = line.trim_start();
        let marker = ["```", "~~~"].into_iter().find(|marker| trimmed.starts_with(marker));
        match (fence, marker) {
            (Some(begun), Some(marker)) if begun == marker => {
                fence = None;
                open = false;
                continue;
            }
            (Some(_), _) => continue,
            (None, Some(marker)) => {
                fence = Some(marker);
                continue;
            }
            (None, None) => {}
        }
        if trimmed.trim_end().is_empty() {
            open = false;
            continue;
        }
        let kind = if trimmed.starts_with('#') {
            BlockKind::Heading
        } else if trimmed.starts_with('|') {
            BlockKind::Table
        } else if list_marker(line).is_some() {
            BlockKind::Item
        } else {
            BlockKind::Paragraph
        };
        let continues = |block: &&mut Block| {
            open && match kind {
                BlockKind::Paragraph => matches!(block.kind, BlockKind::Paragraph | BlockKind::Item),
                BlockKind::Table => block.kind == BlockKind::Table,
                BlockKind::Item | BlockKind::Heading => false,
            }
        };
        match blocks.last_mut().filter(continues) {
            Some(block) => {
                block.text.push('\n');
                block.text.push_str(line);
            }
            None => blocks.push(Block {
                kind,
                first_line: at + 1,
                text: line.to_owned(),
            }),
        }
        open = true;
    }
    blocks
}

/// The bytes of a list item's indent and marker: `- `, `* `, `12. `, `3) `.
pub(super) fn list_marker(line: &str) -> Option<Range<usize>> {
    let trimmed = line.trim_start_matches([' ', '\t', '>']);
    let start = line.len() - trimmed.len();
    let after_bullet = trimmed
        .strip_prefix(['-', '*', '+'])
        .filter(|rest| rest.starts_with(' '));
    let digits = trimmed.len() - trimmed.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let after_number = trimmed
        .get(digits..)
        .filter(|_| digits > 0)
        .and_then(|rest| rest.strip_prefix(['.', ')', '、', '．']))
        .filter(|rest| {
            rest.is_empty()
                || rest.starts_with(' ')
                || trimmed.get(digits..).is_some_and(|r| r.starts_with(['、', '．']))
        });
    after_bullet.or(after_number).map(|rest| start..line.len() - rest.len())
}

pub(super) fn lines(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        ranges.push(start..start + line.len());
        start += line.len();
    }
    ranges
}

/// The sentences of a paragraph; citations that follow a full stop belong to the sentence before it.
fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut start = 0;
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let ends = match c {
            '。' | '！' | '？' | '；' => true,
            '.' | '!' | '?' => characters
                .peek()
                .is_none_or(|(_, next)| next.is_whitespace() || *next == '['),
            _ => false,
        };
        if !ends {
            continue;
        }
        let mut end = at + c.len_utf8();
        while let Some(length) = citation_ahead(text.get(end..).unwrap_or_default()) {
            end += length;
        }
        while characters.next_if(|(next, _)| *next < end).is_some() {}
        ranges.push(start..end);
        start = end;
    }
    if text.get(start..).is_some_and(|rest| !rest.trim().is_empty()) || ranges.is_empty() {
        ranges.push(start..text.len());
    } else if let Some(last) = ranges.last_mut() {
        last.end = text.len();
    }
    ranges
}

/// The length of blanks and one citation at the start of `text`.
fn citation_ahead(text: &str) -> Option<usize> {
    let trimmed = text.trim_start();
    let inner = trimmed.strip_prefix('[')?;
    let end = inner.find(']')?;
    ids_of(inner.get(..end)?)?;
    Some(text.len() - trimmed.len() + end + 2)
}

/// The ids between two brackets, such as `q1`, `q1, m2`; `None` when it is no citation.
pub(super) fn ids_of(inner: &str) -> Option<Vec<String>> {
    let is_id = |word: &str| {
        let digits = word.strip_prefix(['q', 'm', 'c', 'Q', 'M', 'C']);
        digits.is_some_and(|digits| {
            !digits.is_empty() && digits.len() < 7 && digits.bytes().all(|byte| byte.is_ascii_digit())
        })
    };
    let words: Vec<&str> = inner
        .split([',', ';', ' ', '，', '、'])
        .filter(|word| !word.is_empty())
        .collect();
    let ids: Vec<String> = words
        .iter()
        .filter(|word| is_id(word))
        .map(|word| word.to_ascii_lowercase())
        .collect();
    words.first().is_some_and(|word| is_id(word)).then_some(ids)
}

/// The ids that `text` cites, in order.
fn citations(text: &str) -> Vec<String> {
    let mut ids = Vec::new();
    for (open, _) in text.match_indices('[') {
        let inner = text.get(open + 1..).unwrap_or_default();
        let Some(inner) = inner.find(']').and_then(|close| inner.get(..close)) else {
            continue;
        };
        ids.extend(ids_of(inner).unwrap_or_default());
    }
    ids
}

fn ends_with_word(text: &str, word: &str) -> bool {
    text.strip_suffix(word)
        .is_some_and(|before| !word.is_ascii() || !before.ends_with(|c: char| c.is_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn texts(markdown: &str) -> Vec<String> {
        Prose::read(markdown)
            .mentions
            .into_iter()
            .map(|mention| mention.text)
            .collect()
    }

    #[rstest]
    #[case("Sales were 12,218.48 [q1].", &["12,218.48"])]
    #[case("1. first of 3\n2) second of 4", &["3", "4"])]
    #[case("## 2. Ranking of 23\n### 2.1 Top", &["23"])]
    #[case("## 12 offices lost", &["12"])]
    #[case("```sql\nSELECT 42\n```\nand 7", &["7"])]
    #[case("use `LIMIT 10` for 5", &["5"])]
    #[case("![chart 1](charts/c1.svg)", &[])]
    #[case("[q1, m12] [^1] [see 5](page9.html)", &["5"])]
    #[case("<a id=\"x1\"></a> 6 <!-- 7 -->", &["6"])]
    #[case("| # | name | sales |\n|---|---|---|\n| 1 | Ann | 20 |\n| 2 | Bob | 10 |", &["20", "10"])]
    #[case("| 名次 | 销售额 |\n|---|---|\n| 1 | 20 |", &["20"])]
    fn only_prose_holds_figures(#[case] markdown: &str, #[case] expected: &[&str]) {
        assert_eq!(texts(markdown), expected);
    }

    #[test]
    fn places_are_counted_from_one_in_characters() {
        let prose = Prose::read("标题\n\n销售额为 12.5 万元\n以及 3");
        let places: Vec<(usize, usize)> = prose
            .mentions
            .iter()
            .map(|mention| (mention.line, mention.column))
            .collect();
        assert_eq!(places, [(3, 6), (4, 4)]);
    }

    #[rstest]
    #[case("A is 1 [q1]. B is 2 [q2].", &["q1", "q2"])]
    #[case("A is 1. [q1] B is 2. [q2]", &["q1", "q2"])]
    #[case("甲为 1[q1]。乙为 2[q2]。", &["q1", "q2"])]
    #[case("- A is 1. B is 2 [q1, m2]", &["q1 m2", "q1 m2"])]
    #[case("By month [q3]:\n\n| m | n |\n|---|---|\n| a | 1 |\n", &["q3"])]
    #[case("| m | n |\n|---|---|\n| a | 1 |\n\nSource: [q4]", &["q4"])]
    fn a_number_is_cited_by_its_sentence_bullet_or_table(#[case] markdown: &str, #[case] expected: &[&str]) {
        let prose = Prose::read(markdown);
        let cited: Vec<String> = prose
            .mentions
            .iter()
            .map(|mention| prose.units[mention.unit].citations.join(" "))
            .collect();
        assert_eq!(cited, expected);
    }

    #[rstest]
    #[case("the top 5 of 2005", &[true, true])]
    #[case("the last 12 months had 7", &[true, false])]
    #[case("前 5 名共 30", &[true, false])]
    #[case("stop 5", &[false])]
    fn what_was_asked_for_may_go_without_a_source(#[case] markdown: &str, #[case] expected: &[bool]) {
        let skippable: Vec<bool> = Prose::read(markdown)
            .mentions
            .into_iter()
            .map(|mention| mention.may_be_skipped)
            .collect();
        assert_eq!(skippable, expected);
    }
}
