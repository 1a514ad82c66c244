//! OpenAI-compatible chat completions: OpenAI, Ollama, vLLM, llama.cpp, DeepSeek, Qwen and others.

mod request;
pub(super) mod streamer;

use std::sync::Arc;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};

use crate::model::chat::{ChatContext, ChatError, ChatModel, ChatReply, ChatRequest};
use crate::model::http::{Endpoint, SetupError};
use crate::model::limits::MinuteGate;
use crate::model::retry::retrying;
use streamer::Streamer;

/// The variables that a user sets.
const KEY: &str = "OPENAI_API_KEY";
const BASE: &str = "OPENAI_BASE_URL";
/// OpenAI's own address; servers of one's own need no key.
const DEFAULT_BASE: &str = "https://api.openai.com/v1";

/// One model behind an OpenAI-compatible address.
#[derive(Debug)]
pub struct OpenAi {
    name: String,
    model: String,
    endpoint: Endpoint,
    /// The server is on this machine, where models are small.
    is_local: bool,
}

impl OpenAi {
    /// `OPENAI_API_KEY`, which OpenAI itself requires, and `OPENAI_BASE_URL` for every other server.
    pub fn from_environment(model: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, SetupError> {
        let set = |name: &str| {
            variable(name)
                .map(|value| value.trim().to_owned())
                .filter(|value| !value.is_empty())
        };
        let key = set(KEY);
        let base = set(BASE);
        if key.is_none() && base.is_none() {
            return Err(SetupError::NoKey {
                model: format!("openai:{model}"),
                variable: KEY,
            });
        }
        Self::new(model, base.as_deref().unwrap_or(DEFAULT_BASE), key.as_deref())
    }

    /// `base`: the address up to and with the version, such as `http://127.0.0.1:8089/v1`.
    pub fn new(model: &str, base: &str, key: Option<&str>) -> Result<Self, SetupError> {
        let address = reqwest::Url::parse(base).map_err(|_| SetupError::BadAddress {
            variable: BASE,
            value: base.to_owned(),
            example: "http://127.0.0.1:11434/v1",
        })?;
        let mut headers = HeaderMap::new();
        if let Some(key) = key {
            let mut value =
                HeaderValue::from_str(&format!("Bearer {key}")).map_err(|_| SetupError::BadKey { variable: KEY })?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        Ok(Self {
            name: format!("openai:{model}"),
            model: model.to_owned(),
            endpoint: Endpoint::new(base, "/chat/completions", headers)?,
            is_local: is_this_machine(&address),
        })
    }
}

fn is_this_machine(address: &reqwest::Url) -> bool {
    let host = address.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost"
        || host
            .parse()
            .is_ok_and(|address: std::net::IpAddr| address.is_loopback())
}

impl OpenAi {
    /// Shares what the provider allows a minute with all that go through `gate`.
    pub fn with_gate(mut self, gate: Arc<MinuteGate>) -> Self {
        self.endpoint.set_gate(gate);
        self
    }
}

#[async_trait::async_trait]
impl ChatModel for OpenAi {
    fn name(&self) -> &str {
        &self.name
    }

    async fn reply(&self, request: &ChatRequest, context: &ChatContext) -> Result<ChatReply, ChatError> {
        let body = request::body(&self.model, request, self.is_local);
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

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("http://127.0.0.1:8089/v1", true)]
    #[case("http://localhost:11434/v1", true)]
    #[case("http://[::1]:8000/v1", true)]
    #[case("https://api.openai.com/v1", false)]
    #[case("http://10.0.0.7:8000/v1", false)]
    fn a_server_on_this_machine_is_known_by_its_address(#[case] base: &str, #[case] local: bool) {
        assert_eq!(OpenAi::new("m", base, None).unwrap().is_local, local);
    }
}
