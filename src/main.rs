//! Parse, run, exit.

use std::process::ExitCode;

use analyst::faces::cli;

fn main() -> ExitCode {
    match cli::run(cli::parse()) {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("analyst: {failure}");
            failure.exit_code()
        }
    }
}
