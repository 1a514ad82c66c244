//! Trying again: what may pass is tried a few times, later and later, and a listener is told.

use std::future::Future;
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};

use crate::model::chat::{ChatContext, ChatError, ChatProgress};

/// Tries after the first one.
const RETRIES: usize = 5;
/// The first wait; each further one is twice as long, with jitter.
const FIRST_WAIT: Duration = Duration::from_millis(500);
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// A provider that asks for more patience than this is not waited for.
pub(super) const MOST_PATIENCE: Duration = Duration::from_secs(120);

/// Why one try gave no reply.
#[derive(Debug)]
pub(super) enum Fault {
    /// May pass; `after`: how long the provider asked us to wait.
    Passing { reason: String, after: Option<Duration> },
    /// Trying again cannot help.
    Final(ChatError),
}

impl Fault {
    pub fn passing(reason: impl Into<String>) -> Self {
        Self::Passing {
            reason: reason.into(),
            after: None,
        }
    }
}

/// Tries until it works, fails for good, the tries are used up, or the run is cancelled.
pub(super) async fn retrying<T, F, Try>(context: &ChatContext, mut attempt: F) -> Result<T, ChatError>
where
    F: FnMut() -> Try,
    Try: Future<Output = Result<T, Fault>>,
{
    let mut waits = ExponentialBuilder::default()
        .with_min_delay(FIRST_WAIT)
        .with_max_delay(LONGEST_WAIT)
        .with_max_times(RETRIES)
        .with_jitter()
        .build();
    let mut tried: u32 = 1;
    loop {
        let outcome = tokio::select! {
            outcome = attempt() => outcome,
            () = context.cancel.cancelled() => return Err(ChatError::Cancelled),
        };
        let (reason, asked) = match outcome {
            Ok(reply) => return Ok(reply),
            Err(Fault::Final(error)) => return Err(error),
            Err(Fault::Passing { reason, after }) => (reason, after),
        };
        let Some(wait) = waits
            .next()
            .map(|wait| asked.unwrap_or(wait))
            .filter(|wait| *wait <= MOST_PATIENCE)
        else {
            return Err(ChatError::Unavailable(format!("{reason} ({tried} tries)")));
        };
        tried += 1;
        // Nobody may be listening any more; the retry does not depend on it.
        let _ = context.progress.send(ChatProgress::Retry {
            attempt: tried,
            after: wait,
            reason,
        });
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = context.cancel.cancelled() => return Err(ChatError::Cancelled),
        }
    }
}
