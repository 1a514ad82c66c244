//! Marks in the report for numbers without a source.

use super::{Evidence, Source};

/// Stands behind every number that nothing equals.
pub const MARK: char = '†';

/// `answer` with [`MARK`] behind each figure of `evidence` that is unverified.
///
/// `answer` must be the text that was bound. The footnote that explains the mark is the report's.
pub fn mark(answer: &str, evidence: &Evidence) -> String {
    let mut marked = String::with_capacity(answer.len() + 8);
    for (at, line) in answer.split('\n').enumerate() {
        if at > 0 {
            marked.push('\n');
        }
        let unverified = evidence
            .figures
            .iter()
            .filter(|figure| figure.line == at + 1 && figure.source == Source::Unverified);
        let ends: Vec<usize> = unverified
            .map(|figure| figure.column - 1 + figure.text.chars().count())
            .collect();
        let mut position = 0;
        for c in line.chars() {
            if ends.contains(&position) {
                marked.push(MARK);
            }
            marked.push(c);
            position += 1;
        }
        if ends.contains(&position) {
            marked.push(MARK);
        }
    }
    marked
}
