//! The model that the configuration names.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::builtin::{self, Builtin};
use crate::config::Config;
use crate::faces::cli::Failure;
use crate::faces::cli::options::variable;
use crate::model::anthropic::Anthropic;
use crate::model::chat::ChatModel;
use crate::model::limits::MinuteGate;
use crate::model::openai::OpenAi;

/// One gate a provider, which all its models share.
pub struct Gates(BTreeMap<String, Arc<MinuteGate>>);

impl Gates {
    pub fn of(config: &Config) -> Self {
        let gate = |limits: &crate::config::MinuteLimits| {
            Arc::new(MinuteGate::new(limits.requests_per_minute, limits.tokens_per_minute))
        };
        let known = ["openai", "anthropic"].map(|provider| (provider.to_owned(), Arc::default()));
        let limited = config
            .limits
            .iter()
            .map(|(provider, limits)| (provider.clone(), gate(limits)));
        Self(known.into_iter().chain(limited).collect())
    }

    fn to(&self, provider: &str) -> Arc<MinuteGate> {
        self.0.get(provider).cloned().unwrap_or_default()
    }
}

/// `builtin`, `openai:NAME` or `anthropic:NAME`, with keys and addresses from the environment.
pub fn model(config: &Config, gates: &Gates) -> Result<Box<dyn ChatModel>, Failure> {
    let name = config.model.as_str();
    match name.split_once(':') {
        None if name == builtin::NAME => Ok(Box::new(Builtin {
            on_ambiguity: config.on_ambiguity,
            reading: config.reading,
        })),
        Some((provider @ "openai", model)) if !model.trim().is_empty() => {
            OpenAi::from_environment(model.trim(), &variable)
                .map(|model| Box::new(model.with_gate(gates.to(provider))) as Box<dyn ChatModel>)
                .map_err(|error| Failure::usage(error.to_string()))
        }
        Some((provider @ "anthropic", model)) if !model.trim().is_empty() => {
            Anthropic::from_environment(model.trim(), &variable)
                .map(|model| Box::new(model.with_gate(gates.to(provider))) as Box<dyn ChatModel>)
                .map_err(|error| Failure::usage(error.to_string()))
        }
        _ => Err(Failure::usage(format!(
            "no model `{name}`; choose builtin, openai:NAME or anthropic:NAME"
        ))),
    }
}
