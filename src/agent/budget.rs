//! What a run may spend, what it has spent, and when that is enough.

use std::time::{Duration, Instant};

use crate::config::{Budget, Price};
use crate::session::event::Usage;

/// Prices are per this many tokens.
const PRICE_UNIT: f64 = 1_000_000.0;

/// The part of a budget that ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    Turns(u32),
    Tokens(u64),
    Cost(f64),
    Seconds(u64),
}

/// Counts what a run spends.
#[derive(Debug, Clone)]
pub struct Meter {
    budget: Budget,
    price: Option<Price>,
    started: Instant,
    /// What a resumed run took before it was cut short.
    before: Duration,
    pub turns: u32,
    pub usage: Usage,
    /// Tokens and cost of the last turn: what the next will cost at least, since a conversation only grows.
    last_turn: Usage,
}

impl Meter {
    pub fn start(budget: Budget, price: Option<Price>) -> Self {
        Self {
            budget,
            price,
            started: Instant::now(),
            before: Duration::ZERO,
            turns: 0,
            usage: Usage::default(),
            last_turn: Usage::default(),
        }
    }

    /// Adds a reply's usage.
    pub fn spend(&mut self, usage: Usage) {
        self.usage += usage;
        self.last_turn = usage;
    }

    /// Counts time that the run took before it was cut short.
    pub fn add_time(&mut self, before: Duration) {
        self.before += before;
    }

    pub fn elapsed(&self) -> Duration {
        self.before + self.started.elapsed()
    }

    /// How long the run may still take.
    pub fn time_left(&self) -> Duration {
        self.time_limit().saturating_sub(self.elapsed())
    }

    /// How long the whole run may take.
    pub fn time_limit(&self) -> Duration {
        Duration::from_secs(self.budget.max_seconds)
    }

    /// In the price table's currency; `None` where the model has no price.
    pub fn cost(&self) -> Option<f64> {
        self.price.map(|price| cost(self.usage, price))
    }

    /// The limit that leaves no room for another turn.
    pub fn exhausted(&self) -> Option<Limit> {
        if self.turns >= self.budget.max_turns {
            return Some(Limit::Turns(self.budget.max_turns));
        }
        if self.usage.total() >= self.budget.max_tokens {
            return Some(Limit::Tokens(self.budget.max_tokens));
        }
        if self.elapsed() >= self.time_limit() {
            return Some(Limit::Seconds(self.budget.max_seconds));
        }
        let max = self.budget.max_cost?;
        (self.cost()? >= max).then_some(Limit::Cost(max))
    }

    /// The limit that the turn after the coming one would hit: the coming turn is for the answer.
    pub fn last_turn(&self) -> Option<Limit> {
        let coming = self.last_turn.total().saturating_mul(2);
        if self.turns.saturating_add(1) >= self.budget.max_turns {
            return Some(Limit::Turns(self.budget.max_turns));
        }
        if self.usage.total().saturating_add(coming) >= self.budget.max_tokens {
            return Some(Limit::Tokens(self.budget.max_tokens));
        }
        let (price, max) = (self.price?, self.budget.max_cost?);
        (cost(self.usage, price) + 2.0 * cost(self.last_turn, price) >= max).then_some(Limit::Cost(max))
    }
}

fn cost(usage: Usage, price: Price) -> f64 {
    let fresh = usage.input.saturating_sub(usage.cached);
    let cached = price.cached.unwrap_or(price.input);
    (fresh as f64 * price.input + usage.cached as f64 * cached + usage.output as f64 * price.output) / PRICE_UNIT
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRICE: Price = Price {
        input: 2.0,
        cached: Some(0.5),
        output: 10.0,
    };

    fn usage(input: u64, cached: u64, output: u64) -> Usage {
        Usage { input, cached, output }
    }

    #[test]
    fn cached_tokens_have_their_own_price() {
        assert_eq!(
            cost(usage(1_000_000, 400_000, 100_000), PRICE),
            0.6 * 2.0 + 0.4 * 0.5 + 0.1 * 10.0
        );
        assert_eq!(cost(usage(1_000_000, 400_000, 0), Price { cached: None, ..PRICE }), 2.0);
    }

    #[test]
    fn the_last_turn_is_known_before_the_budget_ends() {
        let budget = Budget {
            max_turns: 3,
            ..Budget::default()
        };
        let mut meter = Meter::start(budget, None);
        let mut seen = Vec::new();
        while meter.exhausted().is_none() {
            seen.push(meter.last_turn().is_some());
            meter.turns += 1;
        }
        assert_eq!(seen, [false, false, true]);
        assert_eq!(meter.exhausted(), Some(Limit::Turns(3)));
    }

    #[test]
    fn tokens_and_cost_end_a_run() {
        let mut meter = Meter::start(
            Budget {
                max_tokens: 1_000,
                ..Budget::default()
            },
            None,
        );
        meter.spend(usage(300, 0, 20));
        assert_eq!((meter.last_turn(), meter.exhausted()), (None, None));
        meter.spend(usage(300, 0, 20));
        assert_eq!(
            (meter.last_turn(), meter.exhausted()),
            (Some(Limit::Tokens(1_000)), None)
        );
        meter.spend(usage(400, 0, 0));
        assert_eq!(meter.exhausted(), Some(Limit::Tokens(1_000)));

        let mut meter = Meter::start(
            Budget {
                max_cost: Some(1.0),
                ..Budget::default()
            },
            Some(PRICE),
        );
        meter.spend(usage(250_000, 0, 0));
        assert_eq!((meter.last_turn(), meter.exhausted()), (Some(Limit::Cost(1.0)), None));
        meter.spend(usage(250_000, 0, 0));
        assert_eq!(meter.exhausted(), Some(Limit::Cost(1.0)));
    }

    #[test]
    fn no_time_left_ends_a_run() {
        let meter = Meter::start(
            Budget {
                max_seconds: 0,
                ..Budget::default()
            },
            None,
        );
        assert_eq!(meter.exhausted(), Some(Limit::Seconds(0)));
    }
}
