//! `query_compose`: from a typed query, in the words of the semantic model, to checked SQL.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::meaning::query::{Compiled, Query, compile};
use crate::tools::{Call, Reply, Tool, ToolError, Workbench, args, sql_validate};
use crate::warehouse::sql::{self, Lint};

/// What the model sends.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The query in the words of the semantic model (see `glossary` for metrics, datasets and fields).
    query: Query,
}

/// What the model is told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Composed {
    #[serde(flatten)]
    pub compiled: Compiled,
    /// What the checker says about the statement.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lints: Vec<Lint>,
}

/// The tool.
pub struct QueryCompose;

#[async_trait]
impl Tool for QueryCompose {
    fn name(&self) -> &'static str {
        "query_compose"
    }

    fn description(&self) -> &'static str {
        "Turns a typed query (measures, dimensions, filter, window, order, limit) into correct, checked SQL for this \
         database: joins by keys, no fan-out, metric definitions applied. Run the returned `sql` with sql_execute."
    }

    fn schema(&self) -> Value {
        args::schema::<Args>()
    }

    async fn call(&self, call: Call, at: &Workbench) -> Result<Reply, ToolError> {
        let args: Args = args::parse(self.name(), call.arguments)?;
        let dialect = at.engine.dialect();
        let compiled = compile(&args.query, &at.model, &at.catalog, dialect)
            .map_err(|error| ToolError::FixTheCall(format!("query_compose: {error}")))?;
        let checked =
            sql::check(&compiled.sql, dialect, Some(&at.catalog)).map_err(|refusal| sql_validate::advice(&refusal))?;
        at.remember_composed(checked.text(), &args.query, &compiled);
        let lints = checked.lints().to_vec();
        let summary = format!("{} columns", compiled.columns.len());
        Reply::json(&Composed { compiled, lints }, summary)
    }
}
