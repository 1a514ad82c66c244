//! `sql_validate`: would this statement run, and would its numbers be right? Touches no data.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::tools::{Call, Reply, Tool, ToolError, Workbench, args};
use crate::warehouse::sql::{self, Refusal, Verdict};

/// What the model sends.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// One read-only statement in the database's own dialect.
    sql: String,
}

/// The refusal of a statement as advice to the model.
pub(crate) fn advice(refusal: &Refusal) -> ToolError {
    let reasons: Vec<String> = refusal
        .reasons
        .iter()
        .map(|reason| match &reason.suggestion {
            Some(suggestion) => format!("{} ({}); try: {suggestion}", reason.message, reason.code),
            None => format!("{} ({})", reason.message, reason.code),
        })
        .collect();
    ToolError::FixTheCall(format!("the statement was not run: {}", reasons.join("; ")))
}

/// The tool.
pub struct SqlValidate;

#[async_trait]
impl Tool for SqlValidate {
    fn name(&self) -> &'static str {
        "sql_validate"
    }

    fn description(&self) -> &'static str {
        "Checks one SQL statement without running it: read-only, every table and column exists, and no pattern that makes \
         numbers wrong (fan-out joins, last-day BETWEEN, integer division). Unknown names come back with the nearest real ones."
    }

    fn schema(&self) -> Value {
        args::schema::<Args>()
    }

    async fn call(&self, call: Call, at: &Workbench) -> Result<Reply, ToolError> {
        let args: Args = args::parse(self.name(), call.arguments)?;
        let checked =
            sql::check(&args.sql, at.engine.dialect(), Some(&at.catalog)).map_err(|refusal| advice(&refusal))?;
        let summary = match checked.lints().len() {
            0 => "valid".to_owned(),
            1 => "valid, 1 lint".to_owned(),
            lints => format!("valid, {lints} lints"),
        };
        Reply::json(&Verdict::new(Ok(&checked), None), summary)
    }
}
