//! `analyst tools`: what a model may call.

use std::process::ExitCode;

use serde_json::json;

use crate::faces::cli::Failure;
use crate::jobs::answer::registry;
use crate::session::todo::SharedPlan;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print names, descriptions and argument schemas as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    let tools = registry(&SharedPlan::default(), true);
    if args.json {
        let list: Vec<_> = tools
            .iter()
            .map(|tool| json!({"name": tool.name(), "description": tool.description(), "input_schema": tool.schema()}))
            .collect();
        let text = serde_json::to_string_pretty(&json!({"v": 1, "tools": list}))
            .map_err(|error| Failure::failed(error.to_string()))?;
        crate::faces::cli::progress::print(&text)?;
    } else {
        for tool in tools.iter() {
            crate::faces::cli::progress::print(&format!("{:16} {}", tool.name(), tool.description()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
