//! How much a statement may cost.

use std::time::Duration;

use crate::config::ConnectionLimits;

/// How much a statement may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunLimits {
    /// Rows that are kept; one more is asked for, to know whether there are more.
    pub max_rows: usize,
    /// About the bytes of memory that the rows may take; a result that is cut there is truncated too.
    pub max_bytes: usize,
    /// From the start of the statement to its last row.
    pub timeout: Duration,
    pub ceiling: Ceiling,
}

impl Default for RunLimits {
    /// 100,000 rows are more than a report can show and still fit in a few megabytes; half a gigabyte is what a laptop can
    /// spare; a minute is more patience than people have.
    fn default() -> Self {
        Self {
            max_rows: 100_000,
            max_bytes: 512 << 20,
            timeout: Duration::from_secs(60),
            ceiling: Ceiling::default(),
        }
    }
}

/// What a statement may cost by the database's own estimate before it is run at all. `None` asks for no estimate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ceiling {
    /// In the planner's units (PostgreSQL, MySQL).
    pub cost: Option<u64>,
    /// Rows that one step of the plan is expected to handle (PostgreSQL, MySQL, MariaDB).
    pub plan_rows: Option<u64>,
    /// Instructions of the virtual machine, counted while it runs (SQLite, which estimates nothing).
    pub steps: Option<u64>,
}

impl Ceiling {
    /// What no question of a person needs: estimates that mean hours, such as every row of a million paired with every
    /// row of another million. For statements that a model wrote.
    pub const HOURS: Self = Self {
        cost: Some(10_000_000_000),
        plan_rows: Some(1_000_000_000_000),
        steps: Some(100_000_000_000),
    };
}

impl RunLimits {
    /// The stricter of these and the connection's own.
    pub(super) fn within(self, connection: &ConnectionLimits) -> Self {
        let size = |wanted: usize, limit: Option<u64>| {
            limit.map_or(wanted, |limit| wanted.min(usize::try_from(limit).unwrap_or(usize::MAX)))
        };
        let least = |one: Option<u64>, other: Option<u64>| match (one, other) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        let timeout = connection.timeout.map_or(Duration::MAX, Duration::from_secs);
        Self {
            max_rows: size(self.max_rows, connection.max_rows),
            max_bytes: size(self.max_bytes, connection.max_bytes),
            timeout: self.timeout.min(timeout),
            ceiling: Ceiling {
                cost: least(self.ceiling.cost, connection.max_cost),
                plan_rows: least(self.ceiling.plan_rows, connection.max_plan_rows),
                steps: least(self.ceiling.steps, connection.max_steps),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stricter_limit_holds_whoever_sets_it() {
        let asked = RunLimits {
            max_rows: 10,
            ceiling: Ceiling {
                cost: Some(5),
                ..Ceiling::default()
            },
            ..RunLimits::default()
        };
        let connection = ConnectionLimits {
            max_rows: Some(1_000),
            timeout: Some(7),
            max_cost: Some(9),
            max_steps: Some(3),
            ..ConnectionLimits::default()
        };
        let limits = asked.within(&connection);
        assert_eq!((limits.max_rows, limits.timeout), (10, Duration::from_secs(7)));
        assert_eq!(limits.max_bytes, 512 << 20);
        let ceiling = Ceiling {
            cost: Some(5),
            plan_rows: None,
            steps: Some(3),
        };
        assert_eq!(limits.ceiling, ceiling);
    }
}
