//! What the template is given: every string escaped, every table written, nothing left to decide.

use serde::Serialize;

use super::body::body;
use super::escape::{fenced, inline, paragraph};
use super::rows::{cited_rows, first_rows};
use super::table::{Format, TableColumn, markdown};
use super::words::{
    Words, completed_words, ending_notice, evidence_words, footer_words, step_words, truncated_words,
    unknown_citation_words, words,
};
use super::{Definition, QueryUsed, ReportInput, StepState, WindowUsed};
use crate::insight::metrics::{Cell, Derived};
use crate::text::grouped;
use crate::time::parse_date;

/// The template's variables.
#[derive(Debug, Serialize)]
pub(super) struct View {
    words: Words,
    title: String,
    /// The question, where the title is another.
    question: Option<String>,
    notice: Option<String>,
    body: String,
    /// The result that answers the question, where the body names it and shows nothing of it.
    answer_rows: Option<String>,
    charts: Vec<String>,
    mark: bool,
    plan: Option<String>,
    completed: String,
    windows: Option<String>,
    definitions: Vec<(String, String)>,
    caveats: Vec<String>,
    queries: Vec<Query>,
    computations: Vec<Computation>,
    evidence: Option<String>,
    footer: String,
    /// Ids that citations in the text lead to.
    anchors: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Query {
    id: String,
    /// With its size in brackets.
    title: String,
    sql: String,
    rows: String,
    lints: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Computation {
    id: String,
    function: String,
    source: String,
    formula: String,
    notes: Vec<String>,
}

impl View {
    pub(super) fn of(input: &ReportInput) -> Self {
        let body = body(input);
        let words = words(input.language);
        let question = inline(&input.question);
        let anchors = input
            .queries
            .iter()
            .map(|query| &query.id)
            .chain(input.derived.iter().map(|derived| &derived.id));
        View {
            question: body.title.is_some().then(|| question.clone()),
            title: body.title.unwrap_or_else(|| capitalized(&question)),
            notice: notice(input),
            answer_rows: answer_rows(input, &body.markdown),
            body: body.markdown,
            charts: body.unplaced,
            mark: body.has_marks,
            plan: plan(input, &words),
            completed: completed(input),
            windows: windows(&input.windows, &words),
            definitions: input
                .definitions
                .iter()
                .map(|d| (inline(&d.term), defined(d)))
                .collect(),
            caveats: caveats(input),
            queries: input.queries.iter().map(|query| self::query(query, &words)).collect(),
            computations: input.derived.iter().map(computation).collect(),
            evidence: input
                .evidence
                .as_ref()
                .map(|evidence| evidence_words(evidence.counts, input.language)),
            footer: footer_words(input),
            anchors: anchors.cloned().collect(),
            words,
        }
    }
}

/// A finding in words alone gets the rows that it rests on.
fn answer_rows(input: &ReportInput, body: &str) -> Option<String> {
    let named = input.answer.as_ref()?;
    let query = input.queries.iter().find(|query| query.id == *named)?;
    let states_numbers = input
        .evidence
        .as_ref()
        .is_none_or(|evidence| !evidence.figures.is_empty());
    let has_table = body.lines().any(|line| line.trim_start().starts_with('|'));
    if states_numbers || has_table {
        return None;
    }
    cited_rows(query)
}

/// The meaning with the formula behind it, as code.
fn defined(definition: &Definition) -> String {
    let meaning = inline(&definition.meaning);
    match &definition.formula {
        None => meaning,
        Some(formula) => format!("{meaning} (`{}`)", formula.replace(['`', '\n'], " ")),
    }
}

fn notice(input: &ReportInput) -> Option<String> {
    let ending = ending_notice(input.outcome, input.language).map(str::to_owned);
    let budget = input.budget_note.as_deref().map(inline);
    match (ending, budget) {
        (Some(ending), Some(budget)) => Some(format!("{ending}{}{budget}", input.language.pick(" ", ""))),
        (ending, budget) => ending.or(budget),
    }
}

fn capitalized(text: &str) -> String {
    let mut characters = text.chars();
    characters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

fn plan(input: &ReportInput, words: &Words) -> Option<String> {
    if input.plan.is_empty() {
        return None;
    }
    let mut columns = vec![
        TableColumn::new("#", Format::Count),
        TableColumn::new(words.step, Format::Text),
        TableColumn::new(words.outcome, Format::Text),
    ];
    let has_notes = input.plan.iter().any(|step| step.note.is_some());
    if has_notes {
        columns.push(TableColumn::new(words.note, Format::Text));
    }
    let rows: Vec<Vec<Cell>> = input
        .plan
        .iter()
        .enumerate()
        .map(|(position, step)| {
            vec![
                Cell::from(position + 1),
                Cell::from(step.content.as_str()),
                Cell::from(step_words(step.state, input.language)),
                Cell::from(step.note.as_deref().unwrap_or_default()),
            ]
        })
        .collect();
    Some(markdown(&columns, &rows))
}

fn completed(input: &ReportInput) -> String {
    let completed = input
        .plan
        .iter()
        .filter(|step| step.state == StepState::Completed)
        .count();
    completed_words(completed, input.plan.len(), input.language)
}

fn windows(windows: &[WindowUsed], words: &Words) -> Option<String> {
    if windows.is_empty() {
        return None;
    }
    let mut columns = vec![
        TableColumn::new(words.window, Format::Text),
        TableColumn::new(words.first_day, Format::Text),
        TableColumn::new(words.last_day, Format::Text),
    ];
    if windows.iter().any(|window| window.note.is_some()) {
        columns.push(TableColumn::new(words.note, Format::Text));
    }
    // A reader counts days inclusively; the half-open end is for programs.
    let last_day = |window: &WindowUsed| {
        let last = parse_date(&window.end).ok().and_then(|end| end.yesterday().ok());
        last.map_or_else(|| format!("< {}", window.end), |last| last.to_string())
    };
    let row = |window: &WindowUsed| {
        vec![
            Cell::from(window.label.as_str()),
            Cell::from(window.start.as_str()),
            Cell::from(last_day(window)),
            Cell::from(window.note.as_deref().unwrap_or_default()),
        ]
    };
    Some(markdown(&columns, &windows.iter().map(row).collect::<Vec<_>>()))
}

/// The run's caveats, and those that the report knows itself.
fn caveats(input: &ReportInput) -> Vec<String> {
    let mut caveats: Vec<String> = input
        .caveats
        .iter()
        .map(|caveat| caveat.trim().replace('\n', " "))
        .collect();
    let cut_off = input.queries.iter().filter(|query| query.truncated);
    caveats.extend(cut_off.map(|query| truncated_words(&query.id, query.row_count, input.language)));
    if let Some(evidence) = input
        .evidence
        .as_ref()
        .filter(|evidence| !evidence.unknown_citations.is_empty())
    {
        caveats.push(unknown_citation_words(
            &evidence.unknown_citations.join(", "),
            input.language,
        ));
    }
    caveats
}

fn query(query: &QueryUsed, words: &Words) -> Query {
    let rows = grouped(&query.row_count.to_string());
    let more = if query.truncated { "+" } else { "" };
    let elapsed = query
        .elapsed_ms
        .map_or_else(String::new, |elapsed| format!(", {elapsed} ms"));
    let size = format!("{rows}{more} {}{elapsed}", words.rows);
    let title = paragraph(&query.title);
    Query {
        id: query.id.clone(),
        title: if title.is_empty() {
            size
        } else {
            format!("{title}{}{size}{}", words.open, words.close)
        },
        sql: fenced(&query.sql, "sql"),
        rows: first_rows(query),
        lints: query.lints.iter().map(|lint| inline(lint)).collect(),
    }
}

fn computation(derived: &Derived) -> Computation {
    Computation {
        id: derived.id.clone(),
        function: paragraph(&derived.function),
        source: derived.source.clone(),
        formula: inline(&derived.formula),
        notes: derived.notes.iter().map(|note| inline(note)).collect(),
    }
}
