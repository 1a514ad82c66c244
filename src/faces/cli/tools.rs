//! `analyst tools`: what a model may call.

use std::process::ExitCode;

use serde_json::json;

use crate::config::Config;
use crate::faces::cli::Failure;
use crate::faces::cli::options::Allowed;
use crate::jobs::answer::registry;
use crate::session::todo::SharedPlan;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print names, descriptions and argument schemas as JSON
    #[arg(long)]
    json: bool,
    /// List these tools as well: tasks, files, shell
    #[arg(long, value_enum, value_delimiter = ',')]
    allow: Vec<Allowed>,
}

pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    let config = Config {
        allow: args.allow.iter().map(|allowed| (*allowed).into()).collect(),
        ..Config::default()
    };
    let tools = registry(&SharedPlan::default(), &config);
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
