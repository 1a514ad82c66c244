//! `analyst semantic`: a first draft of a semantic model, and whether one still fits its database.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::faces::cli::Failure;
use crate::faces::cli::ask::interrupt;
use crate::faces::cli::options::{Shared, source};
use crate::faces::cli::progress::print;
use crate::jobs::database::{Database, Source};
use crate::meaning::semantic::{self, Model, document, file};
use crate::meaning::sound;
use crate::session::store::write_whole;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Draft a model from a database, as Apache Ossie YAML with comments
    Init {
        /// Write it to this file; to standard output if left out
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Replace a file that is there already
        #[arg(long)]
        force: bool,
        #[command(flatten)]
        shared: Shared,
    },
    /// List what of a model does not fit its database
    Check {
        /// Apache Ossie, dbt (a file or the project's folder), Snowflake, or a glossary.md
        file: PathBuf,
        #[command(flatten)]
        shared: Shared,
    },
    /// Write another tool's model as Apache Ossie
    Convert {
        /// dbt (a file or the project's folder) or Snowflake
        model: PathBuf,
    },
}

/// The database of the options, whatever model the configuration has for it.
async fn open(shared: &Shared) -> Result<Database, Failure> {
    let source = match source(&shared.resolve(None)?) {
        Source::Given { url, access, .. } => Source::Given {
            url,
            semantic: None,
            access,
        },
        sample @ Source::Sample { .. } => sample,
    };
    Ok(Database::open(&source, &interrupt()).await?)
}

pub async fn run(args: Args) -> Result<ExitCode, Failure> {
    match &args.command {
        Command::Init { output, force, shared } => {
            let database = open(shared).await?;
            init(&database, output.as_deref(), *force)
        }
        Command::Check { file, shared } => {
            let database = open(shared).await?;
            check(file, &database)
        }
        Command::Convert { model } => {
            let failed = |error: semantic::SemanticError| Failure::failed(format!("{}: {error}", model.display()));
            match file::as_ossie(model).map_err(failed)? {
                Some(text) => print(text.trim_end())?,
                None => return Err(Failure::usage(format!("{} is Apache Ossie already", model.display()))),
            }
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn init(database: &Database, output: Option<&Path>, force: bool) -> Result<ExitCode, Failure> {
    let drafted = semantic::draft(&database.catalog);
    let body = semantic::write(&document(&drafted)).map_err(|error| Failure::failed(error.to_string()))?;
    let text = format!("{}{body}", head(&database.name, &drafted));
    let Some(path) = output else {
        print(text.trim_end())?;
        return Ok(ExitCode::SUCCESS);
    };
    if path.exists() && !force {
        return Err(Failure::usage(format!(
            "{} exists; choose another name, or replace it with --force",
            path.display()
        )));
    }
    write_whole(path, text.as_bytes())?;
    eprintln!("wrote {}", path.display());
    Ok(ExitCode::SUCCESS)
}

/// What a reader should look at first.
fn head(name: &str, model: &Model) -> String {
    let mut out = format!("# Semantic model of {name}, drafted from its tables, keys and values.\n#\n");
    out.push_str("# Everything here is a guess until somebody has read it. Look at these first:\n#\n");
    for dataset in &model.datasets {
        let kind = serde_json::to_value(dataset.kind).ok();
        let kind = kind.as_ref().and_then(|kind| kind.as_str()).unwrap_or_default();
        let label = if dataset.label.is_empty() {
            "its key".to_owned()
        } else {
            dataset.label.join(", ")
        };
        let time = dataset
            .time
            .as_deref()
            .map(|time| format!("; when: {time}"))
            .unwrap_or_default();
        let _ = writeln!(out, "#   {} ({kind}): a row is named by {label}{time}", dataset.name);
    }
    out.push_str("#\n# Measures that can be asked for by name:\n#\n");
    for metric in model.metrics.iter().filter(|metric| !metric.hidden) {
        let _ = writeln!(out, "#   {}", metric.name);
    }
    out.push_str(
        "#\n# Add synonyms under ai_context, and what Ossie has no place for under custom_extensions of ANALYST;\n",
    );
    out.push_str("# then run `analyst semantic check` on this file.\n\n");
    out
}

fn check(path: &Path, database: &Database) -> Result<ExitCode, Failure> {
    let problems = sound::problems(path, &database.catalog)
        .map_err(|error| Failure::failed(format!("{}: {error}", path.display())))?;
    if problems.is_empty() {
        print(&format!("{} fits {}", path.display(), database.name))?;
        return Ok(ExitCode::SUCCESS);
    }
    print(&problems.join("\n"))?;
    let count = problems.len();
    eprintln!("{count} of what {} says does not fit {}", path.display(), database.name);
    Ok(ExitCode::FAILURE)
}
