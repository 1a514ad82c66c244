//! What a provider lets us do in a minute: one gate that all requests to it go through, however many questions run.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The span that providers count in.
const MINUTE: Duration = Duration::from_secs(60);

/// Lets requests through as fast as the provider's limits allow. The default lets everything through.
#[derive(Debug, Default)]
pub struct MinuteGate {
    requests: Option<usize>,
    tokens: Option<u64>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// When the requests of the last minute went out.
    sent: VecDeque<Instant>,
    /// Tokens that the replies of the last minute cost.
    spent: VecDeque<(Instant, u64)>,
    /// The provider asked to be left alone until then.
    closed_until: Option<Instant>,
}

impl MinuteGate {
    /// `requests` and `tokens` a minute; `None` is no limit. A limit of 0 counts as 1, since it would let nothing through
    /// for ever.
    pub fn new(requests: Option<u32>, tokens: Option<u64>) -> Self {
        Self {
            requests: requests.map(|n| usize::try_from(n).unwrap_or(usize::MAX).max(1)),
            tokens: tokens.map(|n| n.max(1)),
            state: Mutex::default(),
        }
    }

    /// Waits until one more request may go out. What a request will cost is known only afterwards, so tokens hold back the
    /// requests that come after.
    pub async fn enter(&self) {
        while let Some(wait) = self.try_enter(Instant::now()) {
            tokio::time::sleep(wait).await;
        }
    }

    /// Counts a request that goes out at `now`, or says how long it has to wait.
    fn try_enter(&self, now: Instant) -> Option<Duration> {
        let mut state = self.lock();
        let wait = self.wait(&mut state, now);
        if wait.is_none() && self.requests.is_some() {
            state.sent.push_back(now);
        }
        wait
    }

    /// Counts what a reply cost.
    pub fn spend(&self, tokens: u64) {
        self.spend_at(Instant::now(), tokens);
    }

    fn spend_at(&self, now: Instant, tokens: u64) {
        if self.tokens.is_some() && tokens > 0 {
            self.lock().spent.push_back((now, tokens));
        }
    }

    /// The provider asked for patience: nobody sends anything for so long.
    pub fn close_for(&self, patience: Duration) {
        self.close_until(Instant::now() + patience);
    }

    fn close_until(&self, until: Instant) {
        let mut state = self.lock();
        state.closed_until = state.closed_until.max(Some(until));
    }

    /// How long the next request has to wait; `None`: it may go.
    fn wait(&self, state: &mut State, now: Instant) -> Option<Duration> {
        let is_old = |at: Instant| now.duration_since(at) >= MINUTE;
        while state.sent.front().is_some_and(|at| is_old(*at)) {
            state.sent.pop_front();
        }
        while state.spent.front().is_some_and(|(at, _)| is_old(*at)) {
            state.spent.pop_front();
        }
        let closed = state.closed_until.map(|until| until.saturating_duration_since(now));
        let left = |at: Instant| MINUTE.saturating_sub(now.duration_since(at));
        let requests = self.requests.filter(|limit| state.sent.len() >= *limit);
        let for_requests = requests.and_then(|limit| {
            let oldest = state.sent.get(state.sent.len() - limit)?;
            Some(left(*oldest))
        });
        let spent: u64 = state.spent.iter().map(|(_, tokens)| tokens).sum();
        let over = self.tokens.filter(|limit| spent >= *limit).map(|limit| spent - limit);
        let for_tokens = over.and_then(|over| {
            // The first moment by which enough of the minute has gone by.
            let mut freed = 0;
            let enough = state.spent.iter().find(|(_, tokens)| {
                freed += tokens;
                freed > over
            })?;
            Some(left(enough.0))
        });
        let longest = [closed, for_requests, for_tokens].into_iter().flatten().max();
        longest.filter(|wait| !wait.is_zero())
    }

    /// Every change is a single push, so that what a panicking thread left behind is whole.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When each of `count` requests goes through, in seconds from `began`, each costing `tokens`.
    fn passed(gate: &MinuteGate, began: Instant, count: usize, tokens: u64) -> Vec<u64> {
        let mut now = began;
        let mut moments = Vec::new();
        while moments.len() < count {
            match gate.try_enter(now) {
                Some(wait) => now += wait,
                None => {
                    moments.push(now.duration_since(began).as_secs());
                    gate.spend_at(now, tokens);
                }
            }
        }
        moments
    }

    #[test]
    fn no_more_requests_a_minute_than_allowed() {
        let began = Instant::now();
        let gate = MinuteGate::new(Some(2), None);
        assert_eq!(passed(&gate, began, 5, 1_000), [0, 0, 60, 60, 120]);
        assert_eq!(passed(&MinuteGate::default(), began, 3, 1_000), [0, 0, 0]);
    }

    #[test]
    fn tokens_hold_back_the_requests_after() {
        let gate = MinuteGate::new(None, Some(1_000));
        assert_eq!(passed(&gate, Instant::now(), 4, 600), [0, 0, 60, 60]);
    }

    #[test]
    fn a_provider_that_asks_for_patience_is_left_alone_by_all() {
        let began = Instant::now();
        let gate = MinuteGate::default();
        gate.close_until(began + Duration::from_secs(7));
        gate.close_until(began + Duration::from_secs(3));
        assert_eq!(passed(&gate, began, 2, 0), [7, 7]);
    }
}
