//! Which of two readings is meant? Asked on the terminal before the run, so that the run itself asks nothing.

use std::io::BufRead;

use crate::builtin::in_words;
use crate::config::Config;
use crate::faces::cli::Failure;
use crate::faces::cli::options::today;
use crate::jobs::database::Database;
use crate::meaning::question::{Outcome, Reader, Reading};

/// The reading that a person chose, counted from 0; `None` where there is nothing to choose.
pub fn chosen(database: &Database, question: &str, config: &Config) -> Result<Option<usize>, Failure> {
    let reader = Reader::new(&database.model, &database.catalog, &database.values);
    let time = database.time(config.as_of, today());
    let Outcome::Read {
        readings,
        ambiguous: true,
    } = reader.read(question, &time)
    else {
        return Ok(None);
    };
    eprint!("{}", asked(&readings));
    answer(&mut std::io::stdin().lock(), readings.len()).map(Some)
}

/// The readings as a numbered list.
fn asked(readings: &[Reading]) -> String {
    let question = readings.first().map_or("", |first| {
        first.language.pick(
            "The question can be read in several ways. Which one is meant? (number, Enter for 1)",
            "问题有多种理解，请选择（输入编号，直接回车选 1）",
        )
    });
    let lines: Vec<String> = readings
        .iter()
        .enumerate()
        .map(|(place, reading)| format!("  {}. {}", place + 1, in_words(reading)))
        .collect();
    format!("{question}\n{}\n> ", lines.join("\n"))
}

/// Reads a number from 1 to `count`, asking again for anything else; an empty line or the end of input is 1.
fn answer(input: &mut dyn BufRead, count: usize) -> Result<usize, Failure> {
    loop {
        let mut line = String::new();
        let read = input
            .read_line(&mut line)
            .map_err(|error| Failure::usage(format!("cannot read the answer: {error}")))?;
        let said = line.trim();
        if read == 0 || said.is_empty() {
            return Ok(0);
        }
        match said.parse::<usize>() {
            Ok(number) if (1..=count).contains(&number) => return Ok(number - 1),
            _ => eprint!("`{said}` is none of them; give a number from 1 to {count}\n> "),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("2\n", 1)]
    #[case("\n", 0)]
    #[case("", 0)]
    #[case("5\nno\n2\n", 1)]
    fn a_number_is_asked_for_until_it_is_one_of_them(#[case] typed: &str, #[case] expected: usize) {
        let chosen = answer(&mut typed.as_bytes(), 2).ok();
        assert_eq!(chosen, Some(expected));
    }
}
