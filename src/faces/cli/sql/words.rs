//! A verdict in words for people: what, where, and what to write instead.

use crate::faces::cli::grid::visible;
use crate::text::{display_width, truncate};
use crate::warehouse::sql::{Lint, LintLevel, Outcome, Position, Reason, Stage, Verdict};

/// Columns of a statement's line that are shown; a generated line can have thousands.
const SHOWN: usize = 100;
/// Where the fault stands in a long line that is cut at both ends.
const BEFORE: usize = 60;

/// What the statement was checked against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    Database,
    /// A dialect alone: no name was looked up.
    Dialect,
}

/// Colours, where there is somebody to see them.
#[derive(Debug, Clone, Copy)]
pub struct Paint(bool);

impl Paint {
    /// Colours on a terminal, unless `NO_COLOR` says otherwise (<https://no-color.org>).
    pub fn when(terminal: bool) -> Self {
        Self(terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()))
    }

    fn colour(self, code: &str, text: &str) -> String {
        if self.0 {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
    fn good(self, text: &str) -> String {
        self.colour("1;32", text)
    }
    fn bad(self, text: &str) -> String {
        self.colour("1;31", text)
    }
    fn doubtful(self, text: &str) -> String {
        self.colour("1;33", text)
    }
    fn quiet(self, text: &str) -> String {
        self.colour("2", text)
    }
}

/// The whole verdict on the statement `text`; ends with a newline.
pub fn verdict(verdict: &Verdict, text: &str, known: Known, paint: Paint) -> String {
    let mut out = String::new();
    match (verdict.verdict, known) {
        (Outcome::Accepted, Known::Database) => out.push_str(&format!("{}\n", paint.good("accepted"))),
        (Outcome::Accepted, Known::Dialect) => {
            let note = paint.quiet("(names were not looked up; --db does that)");
            out.push_str(&format!("{} {note}\n", paint.good("accepted")));
        }
        (Outcome::Refused, _) => {
            let step = verdict.stage.map(step).unwrap_or_default();
            out.push_str(&format!("{} {step}\n", paint.bad("refused")));
        }
    }
    if verdict.stage != Some(Stage::Lint) {
        out.extend(verdict.reasons.iter().map(|found| reason(found, text, paint)));
    }
    out.extend(verdict.lints.iter().map(|found| lint(found, paint)));
    out.push_str(&lineage(verdict, paint));
    out
}

fn step(stage: Stage) -> &'static str {
    match stage {
        Stage::Guard => "by the guard: it would do more than read",
        Stage::Parse => "by the parser: it cannot be read",
        Stage::Resolve => "because names do not resolve",
        Stage::Policy => "because a policy forbids it",
        Stage::Lint => "because of lints that --deny names",
    }
}

/// One reason with the line that it stands in.
pub fn reason(reason: &Reason, text: &str, paint: Paint) -> String {
    let mut out = format!("\n{}: {}\n", paint.bad(&reason.code), visible(&reason.message));
    if let Some(line) = reason.position.and_then(|at| excerpt(text, at)) {
        out.push_str(&line);
    }
    if let Some(suggestion) = &reason.suggestion {
        out.push_str(&format!("  write instead: {}\n", visible(suggestion)));
    }
    out
}

fn lint(lint: &Lint, paint: Paint) -> String {
    let level = match lint.level {
        LintLevel::Error => paint.bad("error"),
        LintLevel::Warning => paint.doubtful("warning"),
        LintLevel::Info => paint.quiet("info"),
    };
    let mut out = format!("\n{level} {}: {}\n", lint.code, visible(&lint.message));
    if let Some(rewrite) = &lint.rewrite {
        out.push_str("  write instead:\n");
        out.extend(rewrite.lines().map(|line| format!("    {}\n", visible(line))));
    }
    out
}

fn lineage(verdict: &Verdict, paint: Paint) -> String {
    let widest = verdict
        .lineage
        .iter()
        .map(|column| display_width(&visible(&column.name)))
        .max();
    let Some(widest) = widest else { return String::new() };
    let mut out = format!("\n{}\n", paint.quiet("columns"));
    for column in &verdict.lineage {
        let name = crate::text::pad_end(&visible(&column.name), widest);
        let sources = match column.sources.is_empty() {
            true => paint.quiet("(from no column)"),
            false => visible(&column.sources.join(", ")),
        };
        out.push_str(&format!("  {name}  {sources}\n"));
    }
    out
}

/// The line of `text` at `at`, with a mark under the place.
fn excerpt(text: &str, at: Position) -> Option<String> {
    let number = usize::try_from(at.line).ok()?;
    let column = usize::try_from(at.column).ok()?.checked_sub(1)?;
    let line = text.lines().nth(number.checked_sub(1)?)?.replace('\t', " ");
    let skipped = if column > SHOWN {
        column.saturating_sub(BEFORE)
    } else {
        0
    };
    let before: String = line.chars().skip(skipped).take(column - skipped).collect();
    let rest: String = line.chars().skip(column).collect();
    let cut = if skipped > 0 { "…" } else { "" };
    let before = format!("{cut}{}", visible(&before));
    let shown = truncate(&format!("{before}{}", visible(&rest)), SHOWN + BEFORE);
    let margin = number.to_string();
    let blank = " ".repeat(margin.len());
    let under = " ".repeat(display_width(&before));
    Some(format!("  {margin} | {shown}\n  {blank} | {under}^\n"))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(
        "SELECT a\nFROM 客户 WHERE x",
        2,
        15,
        "  2 | FROM 客户 WHERE x\n    |                 ^\n"
    )]
    #[case("SELECT a", 1, 8, "  1 | SELECT a\n    |        ^\n")]
    #[case("\tSELECT a", 1, 2, "  1 |  SELECT a\n    |  ^\n")]
    fn the_mark_stands_under_the_fault(
        #[case] text: &str,
        #[case] line: u64,
        #[case] column: u64,
        #[case] shown: &str,
    ) {
        assert_eq!(excerpt(text, Position { line, column }).unwrap(), shown);
    }

    #[test]
    fn a_long_line_is_cut_around_the_fault() {
        let text = format!("SELECT {} oops {}", "a, ".repeat(1_000), "b, ".repeat(1_000));
        let shown = excerpt(&text, Position { line: 1, column: 3_009 }).unwrap();
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines[0].find("oops"), lines[1].find('^').map(|at| at + "…".len() - 1));
        assert!(display_width(lines[0]) < 180);
    }

    #[test]
    fn a_place_beyond_the_text_is_not_shown() {
        assert_eq!(excerpt("SELECT 1", Position { line: 9, column: 1 }), None);
        assert_eq!(excerpt("SELECT 1", Position { line: 0, column: 0 }), None);
    }
}
