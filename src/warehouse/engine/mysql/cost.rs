//! What the planner of MySQL or MariaDB expects of a statement, before it is run.

use std::collections::HashMap;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::MysqlWire;
use crate::warehouse::engine::server::{self, OWN_LIMITS};
use crate::warehouse::engine::session::Session;
use crate::warehouse::engine::{Ceiling, EngineError};
use crate::warehouse::fetch::Fetched;

/// Errors with [`EngineError::TooCostly`] where the plan is beyond `ceiling`; asks nothing where there is none.
pub(super) async fn check(
    session: &Session<MysqlWire>,
    sql: &str,
    ceiling: &Ceiling,
    cancel: &CancellationToken,
) -> Result<(), EngineError> {
    if !server::is_planned(sql) {
        return Ok(());
    }
    if ceiling.plan_rows.is_some() {
        let plan = explained(session, &format!("EXPLAIN {sql}"), cancel).await?;
        server::check_plan_rows(plan.as_ref().map(most_rows), ceiling)?;
    }
    if ceiling.cost.is_some() {
        let plan = explained(session, &format!("EXPLAIN FORMAT=JSON {sql}"), cancel).await?;
        server::check_cost(plan.as_ref().and_then(cost), ceiling)?;
    }
    Ok(())
}

async fn explained(
    session: &Session<MysqlWire>,
    sql: &str,
    cancel: &CancellationToken,
) -> Result<Option<Fetched>, EngineError> {
    match session.run(sql, &OWN_LIMITS, cancel).await {
        Ok(fetched) => Ok(Some(fetched)),
        // Running the statement tells what is wrong with it better than explaining it does.
        Err(EngineError::Refused(_)) => Ok(None),
        Err(other) => Err(other),
    }
}

/// The rows that the largest join reads: within one SELECT each table's rows are read for each row before them.
fn most_rows(plan: &Fetched) -> f64 {
    let number = |name: &str, row: usize| -> Option<f64> { plan.frame.column(name).ok()?.get(row).ok()?.extract() };
    let mut selects: HashMap<i64, f64> = HashMap::new();
    for row in 0..plan.frame.height() {
        if let Some(rows) = number("rows", row) {
            let select = number("id", row).unwrap_or_default() as i64;
            *selects.entry(select).or_insert(1.0) *= rows;
        }
    }
    selects.into_values().fold(0.0, f64::max)
}

/// The cost of the whole; MariaDB tells it from version 11 on.
fn cost(plan: &Fetched) -> Option<f64> {
    let cell = plan.frame.columns().first()?.get(0).ok()?;
    let plan: Value = serde_json::from_str(cell.get_str()?).ok()?;
    let told = plan
        .pointer("/query_block/cost_info/query_cost")
        .or_else(|| plan.pointer("/query_block/cost"))?;
    told.as_f64().or_else(|| told.as_str()?.parse().ok())
}
