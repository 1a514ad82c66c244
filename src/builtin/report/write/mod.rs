//! The report's text, section by section, in the question's language.

mod drivers;
mod headline;
mod outliers;
mod ranking;
mod targets;
mod trend;

pub use ranking::shown_label;

use crate::builtin::report::{Findings, advice, quality};
use crate::builtin::subject::Subject;

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
    written.join("\n\n")
}

/// A section's heading.
fn heading(text: &str) -> String {
    format!("## {text}\n\n")
}
