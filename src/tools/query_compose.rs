//! `query_compose`: from a typed query, in the words of the semantic model, to checked SQL.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::meaning::query::{Compiled, Query, compile};
use crate::tools::{Call, Reply, Tool, ToolError, Workbench, args, sql_validate};
use crate::warehouse::sql::{self, Lint};

/// A typed query in short.
const QUERY_SHAPE: &str = r#"As glossary gives it, e.g. {"form":"summary","measures":[{"metric":"net_sales"}],"dimensions":[{"entity":{"dataset":"employees"}}],"window":{"start":"2005-08-01","end":"2005-09-01"},"order_by":[{"key":{"measure":{"metric":"net_sales"}},"descending":true}],"limit":{"count":5}}. Other dimensions: {"field":{"field":"customers.country"}}, {"time":{"grain":"month"}}; filter: {"compare":{"field":"customers.country","operator":"=","value":"France"}}, {"and":[…]}; compare: [{"label":"2005-07","window":{…}}]."#;

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

    /// The shape in one example: the whole schema of a typed query is longer than all other tools together, and
    /// what it takes is what `glossary` gives.
    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "required": ["query"],
            "properties": {
                "query": {"type": "object", "description": QUERY_SHAPE},
            },
        })
    }

    async fn call(&self, call: Call, at: &Workbench) -> Result<Reply, ToolError> {
        let args: Args = args::parse(self.name(), call.arguments)?;
        let composed = compose(&args.query, at)?;
        let summary = format!("{} columns", composed.compiled.columns.len());
        Reply::json(&composed, summary)
    }

    /// The same query gives the same SQL, which the report looks up.
    async fn restore(&self, call: Call, at: &Workbench) -> Result<Reply, ToolError> {
        self.call(call, at).await
    }
}

/// Compiles and checks `query`, and remembers what its SQL was made from.
pub(super) fn compose(query: &Query, at: &Workbench) -> Result<Composed, ToolError> {
    let dialect = at.engine.dialect();
    let compiled = compile(query, &at.model, &at.catalog, dialect)
        .map_err(|error| ToolError::FixTheCall(format!("query_compose: {error}")))?;
    let checked =
        sql::check(&compiled.sql, dialect, Some(&at.catalog)).map_err(|refusal| sql_validate::advice(&refusal))?;
    at.remember_composed(checked.text(), query, &compiled);
    let lints = checked.lints().to_vec();
    Ok(Composed { compiled, lints })
}
