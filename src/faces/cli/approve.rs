//! Asking at the terminal before something runs.

use std::io::{BufRead, IsTerminal, Write};

use indicatif::ProgressBar;

use crate::config::{Allow, Approve, Config};
use crate::faces::cli::Failure;
use crate::faces::cli::grid::visible;
use crate::tools::approval::{Asked, Person};

/// The person at the terminal, where the configuration wants one to be asked; `bar` is out of the way meanwhile.
///
/// Errors where there is no terminal to ask at.
pub fn person(config: &Config, bar: Option<ProgressBar>) -> Result<Option<Person>, Failure> {
    let wanted = match (
        config.approve.contains(&Approve::Sql),
        config.allow.contains(&Allow::Shell),
    ) {
        (true, _) => "--approve sql shows each statement before it runs",
        (false, true) => "--allow shell shows each command before it runs",
        (false, false) => return Ok(None),
    };
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Err(Failure::usage(format!(
            "{wanted} and asks for your yes, and there is no terminal to ask at; start it in a terminal with nothing piped \
             in, or leave the option out"
        )));
    }
    let ask = move |asked: &Asked| match &bar {
        Some(bar) => bar.suspend(|| ask(asked)),
        None => ask(asked),
    };
    Ok(Some(Person::new(ask)))
}

/// Shows what is to run, and waits for an answer; everything but a yes is a no.
fn ask(asked: &Asked) -> bool {
    let mut screen = std::io::stderr().lock();
    let shown = write!(screen, "{}", question(asked)).and_then(|()| screen.flush());
    drop(screen);
    let mut answer = String::new();
    // What cannot be shown, or cannot be answered, is not agreed to.
    shown.is_ok() && std::io::stdin().lock().read_line(&mut answer).is_ok() && is_yes(&answer)
}

/// What the terminal shows. A model's text must not steer it, so control characters are written out.
fn question(asked: &Asked) -> String {
    let (head, text) = match asked {
        Asked::Sql { title, sql } if title.trim().is_empty() => {
            ("The model wants to run this statement:".to_owned(), sql)
        }
        Asked::Sql { title, sql } => (
            format!("The model wants to run this statement ({}):", visible(title)),
            sql,
        ),
        Asked::Shell { command } => (
            "The model wants to run this command on your machine:".to_owned(),
            command,
        ),
    };
    let lines: Vec<String> = text.lines().map(|line| format!("    {}", visible(line))).collect();
    format!("\n{head}\n\n{}\n\nRun it? [y/N] ", lines.join("\n"))
}

fn is_yes(answer: &str) -> bool {
    ["y", "yes", "是", "好"].contains(&answer.trim().to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("y\n", true)]
    #[case("YES\r\n", true)]
    #[case("是\n", true)]
    #[case("\n", false)]
    #[case("", false)]
    #[case("yes please\n", false)]
    #[case("no\n", false)]
    fn only_a_yes_is_a_yes(#[case] answer: &str, #[case] expected: bool) {
        assert_eq!(is_yes(answer), expected);
    }

    #[test]
    fn a_text_cannot_steer_the_terminal() {
        let asked = Asked::Sql {
            title: "x\u{1b}[2J".into(),
            sql: "SELECT 1\n-- \u{1b}[1A\u{202e}".into(),
        };
        let shown = question(&asked);
        assert!(
            shown.contains("SELECT 1\n") && !shown.contains('\u{1b}') && !shown.contains('\u{202e}'),
            "{shown}"
        );
    }
}
