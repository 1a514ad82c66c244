//! The model that the configuration names.

use crate::builtin::{self, Builtin};
use crate::faces::cli::Failure;
use crate::faces::cli::options::variable;
use crate::model::anthropic::Anthropic;
use crate::model::chat::ChatModel;
use crate::model::openai::OpenAi;

/// `builtin`, `openai:NAME` or `anthropic:NAME`, with keys and addresses from the environment.
pub fn model(name: &str) -> Result<Box<dyn ChatModel>, Failure> {
    match name.split_once(':') {
        None if name == builtin::NAME => Ok(Box::new(Builtin)),
        Some(("openai", model)) if !model.trim().is_empty() => OpenAi::from_environment(model.trim(), &variable)
            .map(|model| Box::new(model) as Box<dyn ChatModel>)
            .map_err(|error| Failure::usage(error.to_string())),
        Some(("anthropic", model)) if !model.trim().is_empty() => Anthropic::from_environment(model.trim(), &variable)
            .map(|model| Box::new(model) as Box<dyn ChatModel>)
            .map_err(|error| Failure::usage(error.to_string())),
        _ => Err(Failure::usage(format!(
            "no model `{name}`; choose builtin, openai:NAME or anthropic:NAME"
        ))),
    }
}
