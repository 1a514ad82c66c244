//! stub
use std::process::ExitCode;
use crate::faces::cli::Failure;
#[derive(Debug, clap::Args)]
pub struct Args { file: std::path::PathBuf }
pub async fn run(_a: Args) -> Result<ExitCode, Failure> { Err(Failure::failed("x")) }
