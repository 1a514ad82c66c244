//! `analyst sql check`: may the statement run, and would its numbers be right? Exit code 0 if so, 1 if it is refused.

use std::io::IsTerminal;
use std::process::ExitCode;

use serde::Serialize;

use super::words::{Known, Paint, verdict};
use super::{Statement, open, statement};
use crate::faces::cli::Failure;
use crate::faces::cli::ask::interrupt;
use crate::faces::cli::progress::print;
use crate::warehouse::Dialect;
use crate::warehouse::sql::{self, LintLevel, Outcome, Verdict};

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    statement: Statement,
    /// Check for this engine without a database: no names are looked up
    #[arg(long, value_name = "DIALECT", conflicts_with = "db")]
    dialect: Option<Dialect>,
    /// Print the verdict as JSON
    #[arg(long)]
    json: bool,
    /// Refuse the statement if it has a lint of this level or above
    #[arg(long, value_name = "LEVEL")]
    deny: Option<LintLevel>,
}

/// The verdict as it is printed for programs.
#[derive(Serialize)]
struct Printed<'a> {
    v: u32,
    #[serde(flatten)]
    verdict: &'a Verdict,
}

pub async fn run(args: Args) -> Result<ExitCode, Failure> {
    let cancel = interrupt();
    let text = statement(&args.statement.file)?;
    let (checked, known) = match args.dialect {
        Some(dialect) => (sql::check(&text, dialect, None), Known::Dialect),
        None => {
            let config = args.statement.place.resolve(None)?;
            let mut database = open(&config, &cancel).await?;
            (database.check_measured(&text, &cancel).await?, Known::Database)
        }
    };
    let verdict_of = Verdict::new(checked.as_ref(), args.deny);
    if args.json {
        let printed = Printed {
            v: 1,
            verdict: &verdict_of,
        };
        let json = serde_json::to_string_pretty(&printed).map_err(|error| Failure::failed(error.to_string()))?;
        print(&json)?;
    } else {
        let paint = Paint::when(std::io::stdout().is_terminal());
        print(verdict(&verdict_of, &text, known, paint).trim_end())?;
    }
    Ok(match verdict_of.verdict {
        Outcome::Accepted => ExitCode::SUCCESS,
        Outcome::Refused => ExitCode::FAILURE,
    })
}
