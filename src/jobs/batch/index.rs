//! What a batch writes down: a line a question for programs, an index for people.

use std::fmt::Write as _;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::jobs::batch::{Question, Ran, Summary};
use crate::session::event::{Outcome, Usage};
use crate::text::Language;

/// The version of `results.jsonl`.
const VERSION: u32 = 1;
/// A headline is one line of a table.
const LONGEST_HEADLINE: usize = 160;
/// The page of the index, with places in braces.
const PAGE: &str = include_str!("index.html");

/// One question and what became of it; a line of `results.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub v: u32,
    pub id: String,
    pub question: String,
    pub database: Option<String>,
    pub outcome: Outcome,
    pub headline: String,
    /// The whole answer, without citations.
    #[serde(default)]
    pub text: String,
    /// The result that answers the question, where one does.
    pub answer: Option<String>,
    pub elapsed_ms: u64,
    pub usage: Usage,
    pub cost: Option<f64>,
    /// The report, relative to the index; `None` where there is none.
    pub report: Option<String>,
    /// Why the question could not be run at all.
    pub error: Option<String>,
}

impl Row {
    /// The row of a question that waited in vain for `before`.
    pub(super) fn not_run(question: &Question, before: &str) -> Self {
        let problem = format!("not run, since `{before}`, which it comes after, failed");
        Self::new(question, Err(problem), false, Duration::ZERO)
    }

    pub(super) fn new(question: &Question, ran: Result<Ran, String>, has_report: bool, elapsed: Duration) -> Self {
        let error = ran.as_ref().err().cloned();
        let ran = ran.unwrap_or_else(|problem| Ran {
            outcome: Outcome::Failed,
            headline: headline(&problem),
            text: String::new(),
            usage: Usage::default(),
            cost: None,
            answer: None,
        });
        Self {
            v: VERSION,
            report: has_report.then(|| format!("{}/report.md", question.id)),
            id: question.id.clone(),
            question: question.question.clone(),
            database: question.database.clone(),
            outcome: ran.outcome,
            headline: ran.headline,
            text: without_citations(&ran.text),
            answer: ran.answer,
            elapsed_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
            usage: ran.usage,
            cost: ran.cost,
            error,
        }
    }
}

/// One line of `results.jsonl`, with its end.
pub(super) fn line(row: &Row) -> String {
    // A row holds texts and numbers alone, which cannot fail to serialise.
    serde_json::to_string(row).map(|text| text + "\n").unwrap_or_default()
}

/// The finding of an answer in one line: its first sentence that is no heading, without marks and citations.
pub fn headline(markdown: &str) -> String {
    let is_prose = |line: &&str| !line.is_empty() && !line.starts_with(['#', '|', '!', '<', '`', '-', '>']);
    let trimmed = || markdown.lines().map(str::trim);
    let line = trimmed()
        .find(is_prose)
        .or_else(|| trimmed().find(|l| !l.is_empty()))
        .unwrap_or_default();
    let plain = without_citations(line.trim_start_matches(['#', '-', '>', ' '])).replace(['*', '`'], "");
    let words = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    let sentence = match words.find(['。', '！', '？']) {
        Some(at) => words
            .chars()
            .take(words.get(..at).map_or(0, |s| s.chars().count()) + 1)
            .collect(),
        None => match words.find(". ") {
            Some(at) => words.get(..=at).unwrap_or_default().to_owned(),
            None => words,
        },
    };
    if sentence.chars().count() <= LONGEST_HEADLINE {
        return sentence;
    }
    sentence.chars().take(LONGEST_HEADLINE - 1).chain(['…']).collect()
}

/// Takes `[q1]` and its like out, with the blank before.
fn without_citations(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('[') {
        let citation = after.split_once(']').filter(|(id, _)| {
            id.starts_with(['q', 'm', 'c']) && id.len() > 1 && id.chars().skip(1).all(|c| c.is_ascii_digit())
        });
        match citation {
            Some((_, behind)) => {
                plain.push_str(before.trim_end());
                rest = behind;
            }
            None => {
                plain.push_str(before);
                plain.push('[');
                rest = after;
            }
        }
    }
    plain.push_str(rest);
    plain
}

/// The words of the index in one language.
struct Words {
    title: &'static str,
    columns: &'static str,
    none_begun: &'static str,
    cost: &'static str,
}

fn words(language: Language) -> Words {
    match language {
        Language::English => Words {
            title: "Questions and answers",
            columns: "| # | Question | Outcome | Headline | Time | Tokens |",
            none_begun: "not begun",
            cost: "Cost:",
        },
        Language::Chinese => Words {
            title: "问题与回答",
            columns: "| # | 问题 | 结果 | 要点 | 用时 | Token |",
            none_begun: "未开始",
            cost: "费用：",
        },
    }
}

fn outcome_word(outcome: Outcome, language: Language) -> &'static str {
    match (language, outcome) {
        (Language::English, Outcome::Answered) => "answered",
        (Language::English, Outcome::Clarify) => "asked back",
        (Language::English, Outcome::Abstained) => "not answered",
        (Language::English, Outcome::Incomplete) => "incomplete",
        (Language::English, Outcome::Failed) => "failed",
        (Language::English, Outcome::Interrupted) => "interrupted",
        (Language::Chinese, Outcome::Answered) => "已回答",
        (Language::Chinese, Outcome::Clarify) => "需澄清",
        (Language::Chinese, Outcome::Abstained) => "无法回答",
        (Language::Chinese, Outcome::Incomplete) => "未完成",
        (Language::Chinese, Outcome::Failed) => "失败",
        (Language::Chinese, Outcome::Interrupted) => "已中断",
    }
}

const ALL_OUTCOMES: [Outcome; 6] = [
    Outcome::Answered,
    Outcome::Clarify,
    Outcome::Abstained,
    Outcome::Incomplete,
    Outcome::Failed,
    Outcome::Interrupted,
];

/// How many questions ended how, in how much time, for how many tokens.
fn counts(summary: &Summary, language: Language) -> String {
    let mut counts: Vec<String> = ALL_OUTCOMES
        .iter()
        .map(|outcome| (summary.rows.iter().filter(|r| r.outcome == *outcome).count(), *outcome))
        .filter(|(count, _)| *count > 0)
        .map(|(count, outcome)| format!("{count} {}", outcome_word(outcome, language)))
        .collect();
    let missing = summary.total.saturating_sub(summary.rows.len());
    if missing > 0 {
        counts.push(format!("{missing} {}", words(language).none_begun));
    }
    let tokens: u64 = summary.rows.iter().map(|r| r.usage.total()).sum();
    format!(
        "{}: {} · {} · {tokens} tokens",
        summary.total,
        counts.join(", "),
        time(summary.elapsed)
    )
}

/// `index.md`: how many ended how, then a table with a row a question.
pub(super) fn markdown(summary: &Summary, language: Language) -> String {
    let words = words(language);
    let mut text = format!("# {}\n\n{}\n", words.title, counts(summary, language));
    let cost: f64 = summary.rows.iter().filter_map(|r| r.cost).sum();
    if cost > 0.0 {
        let _ = writeln!(text, "\n{} {cost:.4}", words.cost);
    }
    let _ = writeln!(text, "\n{}\n| ---: | --- | --- | --- | ---: | ---: |", words.columns);
    for (index, row) in summary.rows.iter().enumerate() {
        let question = cell(&row.question);
        let linked = match &row.report {
            Some(report) => format!("[{question}](<{report}>)"),
            None => question,
        };
        let _ = writeln!(
            text,
            "| {} | {linked} | {} | {} | {} | {} |",
            index + 1,
            outcome_word(row.outcome, language),
            cell(&row.headline),
            time(Duration::from_millis(row.elapsed_ms)),
            row.usage.total()
        );
    }
    text
}

/// The index as a page that stands alone.
pub(super) fn html(summary: &Summary, language: Language) -> String {
    let words = words(language);
    let columns: Vec<&str> = words
        .columns
        .split('|')
        .map(str::trim)
        .filter(|c| !c.is_empty())
        .collect();
    let heads: String = columns
        .iter()
        .map(|column| format!("<th>{}</th>", escape(column)))
        .collect();
    let rows: String = summary
        .rows
        .iter()
        .enumerate()
        .map(|(at, row)| html_row(at + 1, row, language))
        .collect();
    PAGE.replace("{language}", language.pick("en", "zh"))
        .replace("{title}", &escape(words.title))
        .replace("{counts}", &escape(&counts(summary, language)))
        .replace("{heads}", &heads)
        .replace("{rows}", &rows)
}

fn html_row(number: usize, row: &Row, language: Language) -> String {
    let question = escape(&row.question);
    let linked = match &row.report {
        Some(report) => format!("<a href=\"{}\">{question}</a>", escape(&link(report))),
        None => question,
    };
    format!(
        "<tr class=\"{}\"><td>{number}</td><td>{linked}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
        row.outcome.as_str(),
        outcome_word(row.outcome, language),
        escape(&row.headline),
        time(Duration::from_millis(row.elapsed_ms)),
        row.usage.total()
    )
}

/// A path as an address: letters beyond ASCII and spaces are fine, what ends a path is not.
fn link(path: &str) -> String {
    path.replace('%', "%25").replace('#', "%23").replace('?', "%3F")
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

fn time(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64();
    if seconds < 60.0 {
        format!("{seconds:.1} s")
    } else {
        format!("{}:{:02} min", seconds as u64 / 60, seconds as u64 % 60)
    }
}

/// Text that cannot break out of a table's cell or a link.
fn cell(text: &str) -> String {
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = one_line.chars().take(LONGEST_HEADLINE).collect();
    let mut safe = String::with_capacity(short.len());
    for letter in short.chars() {
        if matches!(letter, '|' | '[' | ']' | '<' | '>' | '\\' | '`' | '*' | '_') {
            safe.push('\\');
        }
        safe.push(letter);
    }
    safe
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(
        "# Sales\n\n**Jon Stephens** sold most: 12,218.48 [q1]. Mike came second.",
        "Jon Stephens sold most: 12,218.48."
    )]
    #[case(
        "# 报告\n\n2005 年 8 月净销售额为 5 万元 [q1][m2]。其他。",
        "2005 年 8 月净销售额为 5 万元。"
    )]
    #[case("# Only a heading", "Only a heading")]
    #[case("| a | b |\n\nSee [the docs] first", "See [the docs] first")]
    #[case("", "")]
    fn a_headline_is_the_first_sentence(#[case] markdown: &str, #[case] expected: &str) {
        assert_eq!(headline(markdown), expected);
    }

    #[test]
    fn a_headline_is_never_longer_than_a_line() {
        assert_eq!(headline(&"字".repeat(500)).chars().count(), 160);
    }

    #[test]
    fn cells_cannot_break_the_table() {
        assert_eq!(cell("a | b\n[c](d)"), "a \\| b \\[c\\](d)");
    }
}
