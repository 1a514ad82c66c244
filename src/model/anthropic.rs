//! Anthropic's messages.

mod request;
mod streamer;

use std::sync::Arc;

use reqwest::header::{HeaderMap, HeaderValue};

use crate::model::chat::{ChatContext, ChatError, ChatModel, ChatReply, ChatRequest};
use crate::model::http::{Endpoint, SetupError};
use crate::model::limits::MinuteGate;
use crate::model::retry::retrying;
use streamer::Streamer;

/// The variables that a user sets.
const KEY: &str = "ANTHROPIC_API_KEY";
const BASE: &str = "ANTHROPIC_BASE_URL";
const DEFAULT_BASE: &str = "https://api.anthropic.com";
/// The version of the protocol that is spoken here.
const VERSION: &str = "2023-06-01";

/// One Anthropic model.
#[derive(Debug)]
pub struct Anthropic {
    name: String,
    model: String,
    endpoint: Endpoint,
}

impl Anthropic {
    /// `ANTHROPIC_API_KEY`, and `ANTHROPIC_BASE_URL` for a gateway.
    pub fn from_environment(model: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, SetupError> {
        let set = |name: &str| {
            variable(name)
                .map(|value| value.trim().to_owned())
                .filter(|value| !value.is_empty())
        };
        let Some(key) = set(KEY) else {
            return Err(SetupError::NoKey {
                model: format!("anthropic:{model}"),
                variable: KEY,
            });
        };
        Self::new(model, set(BASE).as_deref().unwrap_or(DEFAULT_BASE), &key)
    }

    /// `base`: the address without the version.
    pub fn new(model: &str, base: &str, key: &str) -> Result<Self, SetupError> {
        if reqwest::Url::parse(base).is_err() {
            return Err(SetupError::BadAddress {
                variable: BASE,
                value: base.to_owned(),
                example: DEFAULT_BASE,
            });
        }
        let mut headers = HeaderMap::new();
        let mut value = HeaderValue::from_str(key).map_err(|_| SetupError::BadKey { variable: KEY })?;
        value.set_sensitive(true);
        headers.insert("x-api-key", value);
        headers.insert("anthropic-version", HeaderValue::from_static(VERSION));
        Ok(Self {
            name: format!("anthropic:{model}"),
            model: model.to_owned(),
            endpoint: Endpoint::new(base, "/v1/messages", headers)?,
        })
    }
}

impl Anthropic {
    /// Shares what the provider allows a minute with all that go through `gate`.
    pub fn with_gate(mut self, gate: Arc<MinuteGate>) -> Self {
        self.endpoint.set_gate(gate);
        self
    }
}

#[async_trait::async_trait]
impl ChatModel for Anthropic {
    fn name(&self) -> &str {
        &self.name
    }

    async fn reply(&self, request: &ChatRequest, context: &ChatContext) -> Result<ChatReply, ChatError> {
        let body = request::body(&self.model, request);
        let body = &body;
        retrying(context, || async move {
            let mut streamer = Streamer::new(context.progress.clone());
            self.endpoint.stream(&self.name, body, &mut streamer).await?;
            let reply = streamer.finish(request);
            self.endpoint.spend(reply.usage.total());
            Ok(reply)
        })
        .await
    }
}
