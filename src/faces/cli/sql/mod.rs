//! `analyst sql`: a statement from a file or standard input, checked or run.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::builder::PossibleValue;
use clap::{Subcommand, ValueEnum};
use tokio_util::sync::CancellationToken;

use crate::config::Config;
use crate::faces::cli::Failure;
use crate::faces::cli::options::{Place, source};
use crate::jobs::statements::Statements;
use crate::warehouse::Dialect;
use crate::warehouse::sql::LintLevel;

mod check;
mod rows;
mod run;
mod words;

/// A file beyond this holds no single statement, whatever it holds; the check itself bounds statements more tightly.
const LARGEST_FILE: u64 = 16 << 20;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Say whether a statement may run, what is wrong with it, and which columns it reads
    Check(check::Args),
    /// Run a statement and print its rows
    Run(run::Args),
}

pub async fn run(args: Args) -> Result<ExitCode, Failure> {
    match args.command {
        Command::Check(args) => check::run(args).await,
        Command::Run(args) => run::run(args).await,
    }
}

/// The database of `config`, unless Ctrl-C comes first.
pub async fn open(config: &Config, cancel: &CancellationToken) -> Result<Statements, Failure> {
    let source = source(config);
    tokio::select! {
        opened = Statements::open(&source) => Ok(opened?),
        () = cancel.cancelled() => Err(Failure::interrupted()),
    }
}

/// The statement in `file`, or on standard input for `-`.
fn statement(file: &Path) -> Result<String, Failure> {
    let (bytes, name) = if file == Path::new("-") {
        (read(std::io::stdin().lock()), "standard input".to_owned())
    } else {
        (std::fs::File::open(file).and_then(read), file.display().to_string())
    };
    let bytes = bytes.map_err(|error| {
        let hint = match name.contains(char::is_whitespace) {
            true => "; write the statement to a file, or pipe it in: echo 'SELECT …' | analyst sql … -",
            false => "",
        };
        Failure::usage(format!("cannot read {name}: {error}{hint}"))
    })?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(Failure::usage(format!(
            "{name} is larger than {} MB; give it one statement",
            LARGEST_FILE >> 20
        )));
    }
    let text =
        String::from_utf8(bytes).map_err(|_| Failure::usage(format!("{name} is no UTF-8 text; save it as UTF-8")))?;
    // Some editors put a mark before the text that is no part of it.
    Ok(text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned())
}

/// All bytes, or one more than the largest file has.
fn read(from: impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(LARGEST_FILE + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

impl ValueEnum for Dialect {
    fn value_variants<'a>() -> &'a [Self] {
        &[
            Self::Sqlite,
            Self::Postgres,
            Self::Mysql,
            Self::Duckdb,
            Self::Snowflake,
            Self::Bigquery,
            Self::Databricks,
            Self::Clickhouse,
        ]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::Sqlite => PossibleValue::new("sqlite"),
            Self::Postgres => PossibleValue::new("postgres").alias("postgresql"),
            Self::Mysql => PossibleValue::new("mysql").alias("mariadb"),
            Self::Duckdb => PossibleValue::new("duckdb"),
            Self::Snowflake => PossibleValue::new("snowflake"),
            Self::Bigquery => PossibleValue::new("bigquery"),
            Self::Databricks => PossibleValue::new("databricks").alias("spark"),
            Self::Clickhouse => PossibleValue::new("clickhouse"),
        })
    }
}

impl ValueEnum for LintLevel {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Info, Self::Warning, Self::Error]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.as_str()))
    }
}

/// What both commands take: a statement, and the database that it is for.
#[derive(Debug, clap::Args)]
struct Statement {
    /// File with one statement; `-` reads standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    place: Place,
}
