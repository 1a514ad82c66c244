//! The report's text, section by section, in the question's language.

mod drivers;
mod headline;
mod outliers;
mod parts;
mod ranking;
mod targets;
mod trend;

use crate::builtin::report::{Findings, advice, quality};
use crate::builtin::subject::Subject;
use crate::text::{Language, is_han};

/// Writes the whole answer. Every section stands on what was found and is left out where nothing was.
pub fn report(subject: &Subject, findings: &Findings) -> String {
    let sections = [
        Some(headline::write(subject, findings)),
        findings
            .ranking
            .as_ref()
            .map(|ranking| ranking::write(subject, ranking)),
        findings
            .trend
            .as_ref()
            .map(|trend| trend::write(subject, trend, findings.totals.as_ref())),
        findings
            .outliers
            .as_ref()
            .map(|outliers| outliers::write(subject, outliers, findings)),
        findings
            .targets
            .as_ref()
            .map(|targets| targets::write(subject, targets)),
        findings
            .drivers
            .as_ref()
            .and_then(|drivers| drivers::write(subject, drivers)),
        quality::write(subject, findings),
        advice::write(subject, findings),
    ];
    let written: Vec<String> = sections
        .into_iter()
        .flatten()
        .filter(|section| !section.is_empty())
        .collect();
    let text = written.join("\n\n");
    match subject.language {
        Language::English => text,
        Language::Chinese => spaced(&text),
    }
}

/// Chinese text with a blank between Chinese characters and Latin letters or digits, as typesetters put it.
fn spaced(text: &str) -> String {
    let latin = |c: char| c.is_ascii_alphanumeric() || matches!(c, '$' | '€' | '£' | '−' | '+');
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    let mut before: Option<char> = None;
    for c in text.chars() {
        let joins = before.is_some_and(|before| is_han(before) && latin(c) || latin(before) && is_han(c));
        if joins {
            out.push(' ');
        }
        out.push(c);
        before = Some(c);
    }
    out
}

/// A section's heading.
fn heading(text: &str) -> String {
    format!("## {text}\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chinese_and_latin_stand_apart() {
        assert_eq!(
            spaced("较2005 年 7 月，Anna居首：$3（占比为5%）"),
            "较 2005 年 7 月，Anna 居首：$3（占比为 5%）"
        );
    }
}
