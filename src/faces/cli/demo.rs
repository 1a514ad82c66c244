//! `analyst demo`: the sample database as a file.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::demo::{Existing, write};
use crate::faces::cli::Failure;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where to write the SQLite file
    path: PathBuf,
    /// Replace a file that is there already
    #[arg(long)]
    force: bool,
}

pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    let existing = if args.force {
        Existing::Replace
    } else {
        Existing::Refuse
    };
    write(&args.path, existing)?;
    eprintln!("wrote {}", args.path.display());
    Ok(ExitCode::SUCCESS)
}
