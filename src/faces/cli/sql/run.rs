//! `analyst sql run`: one checked statement, and its rows on stdout or in a file.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use super::rows::{Format, render};
use super::words::{Paint, reason};
use super::{Statement, open, statement};
use crate::faces::cli::Failure;
use crate::faces::cli::ask::interrupt;
use crate::faces::cli::progress::write;
use crate::session::store::write_whole;
use crate::warehouse::engine::RunLimits;
use crate::warehouse::fetch::ResultSet;
use crate::warehouse::sql::{CheckedSql, LintLevel, Refusal};

/// The longest time that `--timeout` takes, in seconds: a day.
const LONGEST: f64 = 86_400.0;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    statement: Statement,
    /// How the rows are printed; by the ending of --output, else as a table
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Write the rows to this file instead of printing them
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Rows that are kept; a note says when there are more
    #[arg(long, value_name = "N")]
    max_rows: Option<u64>,
    /// Stop the statement after so many seconds, in the database too
    #[arg(long, value_name = "S", value_parser = seconds)]
    timeout: Option<Duration>,
}

pub async fn run(args: Args) -> Result<ExitCode, Failure> {
    let cancel = interrupt();
    let terminal = args.output.is_none() && std::io::stdout().is_terminal();
    let format = args.format();
    if format == Format::Parquet && terminal {
        return Err(Failure::usage(
            "Parquet is not for a terminal; name a file with --output FILE, or redirect the output",
        ));
    }
    let config = args.statement.place.resolve(args.max_rows)?;
    let text = statement(&args.statement.file)?;
    let limits = args.limits(config.budget.max_rows);
    let database = open(&config, &cancel).await?;
    let checked = match database.check(&text) {
        Ok(checked) => checked,
        Err(refusal) => {
            refused(&refusal, &text);
            return Ok(ExitCode::FAILURE);
        }
    };
    warn(&checked);
    let fetched = database.engine.run(&checked, &limits, &cancel).await?;
    let result = ResultSet::new("q1", checked.text(), fetched);
    let bytes = render(&result, checked.lints(), format, terminal)?;
    match &args.output {
        Some(path) => save(path, &bytes)?,
        None => write(&bytes)?,
    }
    notes(&result);
    Ok(ExitCode::SUCCESS)
}

impl Args {
    fn limits(&self, max_rows: u64) -> RunLimits {
        let mut limits = RunLimits {
            max_rows: usize::try_from(max_rows).unwrap_or(usize::MAX),
            ..RunLimits::default()
        };
        if let Some(timeout) = self.timeout {
            limits.timeout = timeout;
        }
        limits
    }

    fn format(&self) -> Format {
        let by_ending = || {
            let ending = self.output.as_deref()?.extension()?.to_str()?;
            Format::of_ending(ending)
        };
        self.format.or_else(by_ending).unwrap_or(Format::Table)
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= LONGEST => Ok(Duration::from_secs_f64(seconds)),
        _ => Err(format!("write seconds above 0, up to {LONGEST}, such as 30 or 0.5")),
    }
}

/// Says on stderr why the statement was not run.
fn refused(refusal: &Refusal, text: &str) {
    let paint = Paint::when(std::io::stderr().is_terminal());
    eprint!("analyst: the statement was not run");
    for found in &refusal.reasons {
        eprint!("{}", reason(found, text, paint));
    }
}

/// Lints do not refuse; what may make the numbers wrong is said before they appear.
fn warn(checked: &CheckedSql) {
    for lint in checked.lints().iter().filter(|lint| lint.level >= LintLevel::Warning) {
        eprintln!("analyst: {} {}: {}", lint.level.as_str(), lint.code, lint.message);
    }
}

fn save(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    if path.is_dir() {
        return Err(Failure::usage(format!(
            "{} is a folder; name a file in it",
            path.display()
        )));
    }
    Ok(write_whole(path, bytes)?)
}

/// What a reader of the rows must know beside them.
fn notes(result: &ResultSet) {
    for column in &result.columns {
        if let Some(note) = &column.note {
            eprintln!("analyst: column {}: {note}", column.name);
        }
    }
    if result.truncated {
        eprintln!(
            "analyst: only the first {} rows; there are more, --max-rows N gives up to N of them",
            result.row_count
        );
    }
}
