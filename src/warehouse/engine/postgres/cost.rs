//! What PostgreSQL's planner expects of a statement, before it is run.

use polars::prelude::AnyValue;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::PostgresWire;
use crate::warehouse::engine::server::{self, OWN_LIMITS};
use crate::warehouse::engine::session::Session;
use crate::warehouse::engine::{Ceiling, EngineError};

/// Errors with [`EngineError::TooCostly`] where the plan is beyond `ceiling`; asks nothing where there is none.
pub(super) async fn check(
    session: &Session<PostgresWire>,
    sql: &str,
    ceiling: &Ceiling,
    cancel: &CancellationToken,
) -> Result<(), EngineError> {
    if ceiling.cost.is_none() && ceiling.plan_rows.is_none() || !server::is_planned(sql) {
        return Ok(());
    }
    let explain = format!("EXPLAIN (FORMAT JSON) {sql}");
    let fetched = match session.run(&explain, &OWN_LIMITS, cancel).await {
        Ok(fetched) => fetched,
        // Running it tells what is wrong with it better than explaining it does.
        Err(EngineError::Refused(_)) => return Ok(()),
        Err(other) => return Err(other),
    };
    let cell = fetched.frame.columns().first().and_then(|column| column.get(0).ok());
    let text = cell.as_ref().and_then(AnyValue::get_str).unwrap_or_default();
    let plan: Value = serde_json::from_str(text).unwrap_or_default();
    let Some(top) = plan.pointer("/0/Plan") else {
        return Ok(());
    };
    server::check_cost(top.get("Total Cost").and_then(Value::as_f64), ceiling)?;
    server::check_plan_rows(Some(most_rows(top)), ceiling)
}

/// The most rows that any step of a plan is expected to give.
fn most_rows(step: &Value) -> f64 {
    let own = step.get("Plan Rows").and_then(Value::as_f64).unwrap_or_default();
    let below = step.get("Plans").and_then(Value::as_array).into_iter().flatten();
    below.map(most_rows).fold(own, f64::max)
}
