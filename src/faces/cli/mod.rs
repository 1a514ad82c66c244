//! The command line: what may be written, and one file per command.

mod approve;
mod ask;
mod batch;
mod clarify;
mod demo;
mod errors;
mod eval;
mod grid;
mod models;
mod options;
mod progress;
mod resume;
mod schema;
mod semantic;
mod sessions;
mod sql;
mod story;
mod tasks;
mod tools;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub use errors::Failure;

/// Answers business questions about a SQL database with a report in which every number can be traced.
#[derive(Debug, Parser)]
#[command(name = "analyst", version, about, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Answer one question with a report.
    Ask(ask::Args),
    /// Answer every question of a file.
    Batch(batch::Args),
    /// Check or run one read-only SQL statement.
    Sql(sql::Args),
    /// Show tables, columns and keys of a database.
    Schema(schema::Args),
    /// Ask the questions of a suite with gold SQL, and count right and wrong answers.
    Eval(eval::Args),
    /// Draft a semantic model, or check one against its database.
    Semantic(semantic::Args),
    /// Go on with a question whose run was cut short.
    Resume(resume::Args),
    /// List, show, replay, export and remove what was asked before.
    Sessions(sessions::Args),
    /// Tasks that outlive a process: make, claim, complete, list, draw.
    Tasks(tasks::Args),
    /// Write the sample sales database to a file.
    Demo(demo::Args),
    /// List the tools that a model may call.
    Tools(tools::Args),
    /// Print a completion script for a shell.
    Completions {
        /// bash, elvish, fish, powershell or zsh
        shell: clap_complete::Shell,
    },
}

/// Reads the command line; wrong usage is explained and ends the program with exit code 2.
pub fn parse() -> Cli {
    Cli::parse()
}

/// Runs the command and gives the exit code.
pub fn run(cli: Cli) -> Result<ExitCode, Failure> {
    match cli.command {
        Command::Ask(args) => runtime()?.block_on(ask::run(args)),
        Command::Batch(args) => runtime()?.block_on(batch::run(args)),
        Command::Sql(args) => runtime()?.block_on(sql::run(args)),
        Command::Schema(args) => runtime()?.block_on(schema::run(args)),
        Command::Eval(args) => runtime()?.block_on(eval::run(args)),
        Command::Semantic(args) => runtime()?.block_on(semantic::run(args)),
        Command::Resume(args) => runtime()?.block_on(resume::run(args)),
        Command::Sessions(args) => runtime()?.block_on(sessions::run(args)),
        Command::Tasks(args) => tasks::run(args),
        Command::Demo(args) => demo::run(&args),
        Command::Tools(args) => tools::run(&args),
        Command::Completions { shell } => {
            let mut command = <Cli as clap::CommandFactory>::command();
            clap_complete::generate(shell, &mut command, "analyst", &mut std::io::stdout());
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::failed(format!("cannot start: {error}")))
}
