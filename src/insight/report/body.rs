//! The answer's body: its title taken out, unverified numbers marked, charts and rows put where it places them.

use super::escape::{inline, target};
use super::rows::cited_rows;
use super::{ChartUsed, ReportInput};
use crate::insight::evidence::{Source, mark};

/// The body as it goes into the report.
pub(super) struct Body {
    /// The body's own first heading, when it has one.
    pub(super) title: Option<String>,
    pub(super) markdown: String,
    /// Charts that the body did not place.
    pub(super) unplaced: Vec<String>,
    pub(super) has_marks: bool,
}

pub(super) fn body(input: &ReportInput) -> Body {
    let evidence = input.evidence.as_ref();
    let marked = evidence.map_or_else(
        || input.answer_markdown.clone(),
        |evidence| mark(&input.answer_markdown, evidence),
    );
    let (title, rest) = split_title(&marked);
    let mut placed: Vec<&str> = Vec::new();
    let mut lines: Vec<String> = Vec::new();
    let mut in_code = false;
    for line in rest.lines() {
        let trimmed = line.trim();
        in_code ^= trimmed.starts_with("```") || trimmed.starts_with("~~~");
        let chart = input
            .charts
            .iter()
            .find(|chart| !in_code && is_place_of(trimmed, &chart.id));
        let rows = input
            .queries
            .iter()
            .find(|query| !in_code && is_place_of(trimmed, &query.id))
            .and_then(cited_rows);
        match (chart, rows) {
            (Some(chart), _) => {
                placed.push(&chart.id);
                lines.push(image(chart));
            }
            // A model that may not see the rows has them put where they belong.
            (None, Some(rows)) => lines.push(rows),
            (None, None) => lines.push(line.to_owned()),
        }
    }
    let shows = |chart: &&ChartUsed| {
        let path_is_there =
            |path: &Option<String>| path.as_deref().is_some_and(|path| rest.contains(&format!("]({path})")));
        placed.contains(&chart.id.as_str()) || path_is_there(&chart.svg) || path_is_there(&chart.png)
    };
    let unplaced = input.charts.iter().filter(|chart| !shows(chart)).map(image).collect();
    let is_unverified = |evidence: &crate::insight::evidence::Evidence| {
        evidence
            .figures
            .iter()
            .any(|figure| figure.source == Source::Unverified)
    };
    Body {
        title,
        markdown: lines.join("\n").trim().to_owned(),
        unplaced,
        has_marks: evidence.is_some_and(is_unverified),
    }
}

/// The text of a first line `# …`, and what follows it.
fn split_title(markdown: &str) -> (Option<String>, &str) {
    let trimmed = markdown.trim_start();
    let first = trimmed.lines().next().unwrap_or_default();
    match first.strip_prefix("# ") {
        Some(title) => (
            Some(title.trim().to_owned()),
            trimmed.get(first.len()..).unwrap_or_default(),
        ),
        None => (None, markdown),
    }
}

/// Is the line nothing but `[c1]` or `![…](c1)`?
fn is_place_of(line: &str, id: &str) -> bool {
    let bare = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let linked = line
        .strip_prefix("![")
        .and_then(|rest| rest.split_once("]("))
        .and_then(|(_, rest)| rest.strip_suffix(')'));
    bare == Some(id) || linked == Some(id)
}

/// The picture with its title and the id of what it draws.
fn image(chart: &ChartUsed) -> String {
    let alt = inline(chart.alt.as_deref().unwrap_or(&chart.title));
    let caption = format!("*{}* [{}] [{}]", inline(&chart.title), chart.id, chart.source);
    match chart.svg.as_ref().or(chart.png.as_ref()) {
        Some(path) => format!("![{alt}]({})\n\n{caption}", target(path)),
        None => caption,
    }
}
