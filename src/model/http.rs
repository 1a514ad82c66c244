//! One streaming request over HTTP: what the providers share below their formats.

use std::sync::Arc;
use std::time::Duration;

use eventsource_stream::Eventsource;
use futures_util::StreamExt;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode};
use serde_json::Value;

use crate::model::chat::ChatError;
use crate::model::limits::MinuteGate;
use crate::model::retry::{Fault, MOST_PATIENCE};
use crate::text::redact;

/// How long a connection may take to come up.
const CONNECT: Duration = Duration::from_secs(10);
/// How long a provider may say nothing at all; local models read a long prompt for minutes.
const SILENCE: Duration = Duration::from_secs(300);
/// The longest reply that is taken, in bytes as they are streamed: far more than any model says in one turn.
const LONGEST_REPLY: usize = 16 << 20;
/// Of an error's body, this much is shown.
const SHOWN: usize = 300;

/// Why a provider cannot be used at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    #[error("{model} needs a key; set the environment variable {variable}")]
    NoKey { model: String, variable: &'static str },
    #[error("{variable} is `{value}`, which is no address; set it to something like {example}")]
    BadAddress {
        variable: &'static str,
        value: String,
        example: &'static str,
    },
    #[error("the key in {variable} holds characters that cannot be sent; check it for line breaks")]
    BadKey { variable: &'static str },
    #[error("cannot set up HTTP: {0}")]
    Client(String),
}

/// What puts a reply together from the pieces of a stream.
pub(super) trait Assemble: Send {
    /// Takes one event's data; true when the reply is complete.
    fn take(&mut self, data: &str) -> Result<bool, Fault>;
    /// Has the provider said how the reply ended? Then a stream may end without its last mark.
    fn is_whole(&self) -> bool;
}

/// A provider's address with the headers that every request carries; the key is marked sensitive.
#[derive(Debug, Clone)]
pub(super) struct Endpoint {
    client: Client,
    url: String,
    headers: HeaderMap,
    gate: Arc<MinuteGate>,
}

impl Endpoint {
    /// `base` without a trailing slash, and the `path` of the one call that is made.
    pub fn new(base: &str, path: &str, headers: HeaderMap) -> Result<Self, SetupError> {
        // A second installation is refused, which is as good: a provider is there.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .connect_timeout(CONNECT)
            .read_timeout(SILENCE)
            // A key is for the address that was configured, and for no other that it may point to.
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| SetupError::Client(error.to_string()))?;
        Ok(Self {
            client,
            url: format!("{}{path}", base.trim_end_matches('/')),
            headers,
            gate: Arc::default(),
        })
    }

    /// From now on, requests go through `gate`, which others may share.
    pub fn set_gate(&mut self, gate: Arc<MinuteGate>) {
        self.gate = gate;
    }

    /// Counts what a reply cost.
    pub fn spend(&self, tokens: u64) {
        self.gate.spend(tokens);
    }

    /// Sends `body` and hands each event's data to `reply` until it is complete.
    ///
    /// A body that is one JSON object instead of a stream is handed over whole.
    pub async fn stream(&self, model: &str, body: &Value, reply: &mut dyn Assemble) -> Result<(), Fault> {
        self.gate.enter().await;
        let response = self
            .client
            .post(&self.url)
            .headers(self.headers.clone())
            .json(body)
            .send()
            .await
            .map_err(|error| Fault::Passing {
                reason: self.unreachable(&error),
                after: None,
            })?;
        let response = accepted(model, response).await.inspect_err(|fault| {
            if let Fault::Passing { after: Some(after), .. } = fault {
                self.gate.close_for((*after).min(MOST_PATIENCE));
            }
        })?;
        if !is_event_stream(&response) {
            let text = whole(model, response).await?;
            return match reply.take(&text)? {
                true => Ok(()),
                false => Err(Fault::passing("the reply ended early")),
            };
        }
        let mut taken = 0_usize;
        let bytes = response.bytes_stream().map(move |part| {
            let part = part.map_err(|error| error.to_string())?;
            taken = taken.saturating_add(part.len());
            match taken > LONGEST_REPLY {
                true => Err(TOO_MUCH.to_owned()),
                false => Ok(part),
            }
        });
        let mut events = bytes.eventsource();
        while let Some(event) = events.next().await {
            let event = event.map_err(|error| broke_off(model, &error))?;
            if reply.take(&event.data)? {
                return Ok(());
            }
        }
        match reply.is_whole() {
            true => Ok(()),
            false => Err(Fault::passing("the stream broke off before the reply was complete")),
        }
    }

    fn unreachable(&self, error: &reqwest::Error) -> String {
        let why = if error.is_timeout() {
            "it does not answer in time"
        } else if error.is_connect() {
            "nothing answers there"
        } else {
            "the request broke off"
        };
        let base = redact(&self.url).into_owned();
        format!("cannot reach {base}: {why}; check the address and that the server runs")
    }
}

/// What a stream that goes on for ever is cut off with.
const TOO_MUCH: &str = "the reply is longer than 16 MiB";

/// A stream that cannot be read further. One that was too long is not asked for again.
fn broke_off(model: &str, error: &impl std::fmt::Display) -> Fault {
    let text = redact(&error.to_string()).into_owned();
    match text.contains(TOO_MUCH) {
        true => Fault::Final(ChatError::Unavailable(format!("{model}: {TOO_MUCH}"))),
        false => Fault::passing(format!("the stream broke off: {text}")),
    }
}

/// A body that comes in one piece, unless it is too long.
async fn whole(model: &str, mut response: Response) -> Result<String, Fault> {
    let mut bytes = Vec::new();
    while let Some(part) = response.chunk().await.map_err(|error| broken(&error))? {
        bytes.extend_from_slice(&part);
        if bytes.len() > LONGEST_REPLY {
            return Err(broke_off(model, &TOO_MUCH));
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn is_event_stream(response: &Response) -> bool {
    response
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .is_none_or(|kind| !kind.starts_with("application/json"))
}

fn broken(error: &reqwest::Error) -> Fault {
    Fault::passing(format!("the reply broke off: {}", error.without_url_text()))
}

/// An error's text without the address, which may hold a key.
trait WithoutUrl {
    fn without_url_text(&self) -> String;
}

impl WithoutUrl for reqwest::Error {
    fn without_url_text(&self) -> String {
        redact(&self.to_string()).into_owned()
    }
}

/// The response if the provider took the request, else what to do about it.
async fn accepted(model: &str, response: Response) -> Result<Response, Fault> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let after = retry_after(response.headers());
    if status.is_redirection() {
        return Err(Fault::Final(ChatError::Rejected(format!(
            "{model}: HTTP {}: the address points to another one, which is not followed; configure that one{}",
            status.as_u16(),
            target(response.headers())
        ))));
    }
    let body = whole(model, response).await.unwrap_or_default();
    let said = said(&body);
    if is_overflow(status, &said) {
        return Err(Fault::Final(ChatError::ContextOverflow {
            model: model.to_owned(),
            detail: said,
        }));
    }
    let reason = format!("{model}: HTTP {}: {said}", status.as_u16());
    match status.as_u16() {
        408 | 409 | 429 | 500..=599 => Err(Fault::Passing { reason, after }),
        401 | 403 => Err(Fault::Final(ChatError::Rejected(format!("{reason}; check the key")))),
        404 => Err(Fault::Final(ChatError::Rejected(format!(
            "{reason}; check the model's name and the address"
        )))),
        _ => Err(Fault::Final(ChatError::Rejected(reason))),
    }
}

/// Where a redirect points to, in brackets.
fn target(headers: &HeaderMap<HeaderValue>) -> String {
    let target = headers.get(LOCATION).and_then(|value| value.to_str().ok());
    target
        .map(|target| format!(" ({})", redact(target)))
        .unwrap_or_default()
}

/// `Retry-After` in seconds; its date form is rare and counts as not given.
fn retry_after(headers: &HeaderMap<HeaderValue>) -> Option<Duration> {
    let seconds: f64 = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    (seconds.is_finite() && seconds >= 0.0).then(|| Duration::from_secs_f64(seconds.min(3600.0)))
}

/// The provider's own words, without keys and not too many.
pub(super) fn said(body: &str) -> String {
    let parsed: Option<Value> = serde_json::from_str(body).ok();
    let message = parsed.as_ref().and_then(|value| {
        value
            .pointer("/error/message")
            .or_else(|| value.get("message"))
            .or_else(|| value.get("error"))
            .and_then(Value::as_str)
    });
    let text = redact(message.unwrap_or(body)).replace(['\n', '\r'], " ");
    let short: String = text.chars().take(SHOWN).collect();
    match short.trim() {
        "" => "no explanation was given".to_owned(),
        short => short.to_owned(),
    }
}

/// Providers have no common code for it, only common words.
fn is_overflow(status: StatusCode, said: &str) -> bool {
    const WORDS: [&str; 7] = [
        "context length",
        "context_length",
        "context window",
        "context size",
        "maximum context",
        "prompt is too long",
        "too many tokens",
    ];
    let said = said.to_lowercase();
    (status == StatusCode::BAD_REQUEST || status == StatusCode::PAYLOAD_TOO_LARGE || status.is_server_error())
        && WORDS.iter().any(|words| said.contains(words))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(400, "This model's maximum context length is 8192 tokens", true)]
    #[case(400, "prompt is too long: 210000 tokens > 200000 maximum", true)]
    #[case(400, "the request exceeds the available context size", true)]
    #[case(400, "unknown parameter: tools", false)]
    #[case(429, "too many tokens per minute", false)]
    fn an_overflow_is_known_by_its_words(#[case] status: u16, #[case] said: &str, #[case] overflow: bool) {
        assert_eq!(is_overflow(StatusCode::from_u16(status).unwrap(), said), overflow);
    }

    #[rstest]
    #[case(r#"{"error":{"message":"no such model"}}"#, "no such model")]
    #[case(r#"{"error":"bad key sk-abcdefghijklmnopqrstuvwxyz123456"}"#, "bad key ")]
    #[case("", "no explanation was given")]
    fn the_providers_words_come_without_keys(#[case] body: &str, #[case] starts: &str) {
        let told = said(body);
        assert!(told.starts_with(starts), "{told}");
        assert!(!told.contains("abcdefghij"), "{told}");
    }
}
