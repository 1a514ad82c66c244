//! `sql_execute`: runs one checked, read-only statement and keeps its result under an id that reports cite.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::insight::metrics::{Cell, Number, decimal_of};
use crate::session::event::ArtifactKind;
use crate::tools::approval::{Asked, approved};
use crate::tools::workbench::QueryRun;
use crate::tools::{Call, Reply, Tool, ToolError, Workbench, args, sql_validate, withheld};
use crate::warehouse::catalog::DataType;
use crate::warehouse::engine::{EngineError, RunLimits};
use crate::warehouse::fetch::{ResultColumn, ResultSet};
use crate::warehouse::sql::{self, CheckedSql, Lint, LintLevel};

pub const NAME: &str = "sql_execute";

/// Rows that the model sees unless it asks for another number: enough for a ranking, little enough for its context.
const PREVIEW_ROWS: usize = 30;
/// The most rows that the model may ask to see.
const MOST_PREVIEW_ROWS: usize = 400;
/// Digits after the point up to which sums are exact.
const EXACT_PLACES: u32 = 4;

/// What the model sends.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// One read-only statement in the database's own dialect.
    sql: String,
    /// What the query asks, in a few words, for the report's appendix.
    #[serde(default)]
    title: Option<String>,
    /// Codes of error-level lints to run in spite of, after their explanation was read.
    #[serde(default)]
    accept_lints: Vec<String>,
    /// Rows to show (30, at most 400); the whole result is kept whatever is shown.
    #[serde(default)]
    preview_rows: Option<usize>,
}

/// What the model is told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Executed {
    /// `q1`, `q2`, …: cite it as `[q1]`.
    pub id: String,
    pub row_count: usize,
    /// There were more rows than the limit: `row_count` is the limit, not the answer to "how many".
    pub truncated: bool,
    pub columns: Vec<ColumnBrief>,
    /// The first rows, in column order.
    pub rows: Vec<Vec<Value>>,
    /// Sums of the number columns over all rows kept, where there is more than one row.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub totals: Map<String, Value>,
    pub elapsed_ms: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lints: Vec<Lint>,
    /// What a reader of the rows must know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One column of the result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ColumnBrief {
    pub name: String,
    #[serde(rename = "type")]
    pub data_type: DataType,
}

/// The tool.
pub struct SqlExecute;

#[async_trait]
impl Tool for SqlExecute {
    fn name(&self) -> &'static str {
        NAME
    }

    fn description(&self) -> &'static str {
        "Runs one checked, read-only SQL statement and keeps the result under an id (q1, q2, …) for metric_compute, chart \
         and citations. Shows the first rows, the row count, whether it was truncated, and column totals."
    }

    fn schema(&self) -> Value {
        args::schema::<Args>()
    }

    fn artifact_prefix(&self) -> Option<char> {
        Some('q')
    }

    async fn call(&self, call: Call, at: &Workbench) -> Result<Reply, ToolError> {
        self.result(call, at, Source::Database).await
    }

    /// The rows are those that were kept, even if the database has others by now.
    async fn restore(&self, call: Call, at: &Workbench) -> Result<Reply, ToolError> {
        self.result(call, at, Source::Disk).await
    }
}

/// Where the rows come from.
enum Source {
    Database,
    /// What an earlier part of the same run kept, where it is whole.
    Disk,
}

impl SqlExecute {
    async fn result(&self, call: Call, at: &Workbench, source: Source) -> Result<Reply, ToolError> {
        let args: Args = args::parse(self.name(), call.arguments.clone())?;
        let checked = sql::check(&args.sql, at.engine.dialect(), Some(&at.catalog))
            .map_err(|refusal| sql_validate::advice(&refusal))?;
        send_back_errors(&checked, &args.accept_lints)?;
        let preview = args.preview_rows.unwrap_or(PREVIEW_ROWS).clamp(1, MOST_PREVIEW_ROWS);
        if let Some(earlier) = at.query_run(checked.text()) {
            let note = format!(
                "the same statement ran before as {}; this is its result",
                earlier.result.id
            );
            let preview = at.may_show(&earlier.result.id).then_some(preview);
            return reply(&earlier, preview, vec![note], Vec::new());
        }
        let id = call
            .artifact_id
            .ok_or_else(|| ToolError::CannotBeDone("no id was given for the result".into()))?;
        let (result, path) = match source {
            // Under policies rows are read anew: what may be seen may be less by now.
            Source::Disk
                if checked.policies().is_empty()
                    && let Some(kept) = kept(at, &id, &checked) =>
            {
                kept
            }
            Source::Disk | Source::Database => {
                if at.approve_sql {
                    let title = args.title.clone().unwrap_or_default();
                    let sql = checked.text().to_owned();
                    approved(at.person.as_ref(), Asked::Sql { title, sql }).await?;
                }
                let fetched = run(at, &checked, &call.cancel).await?;
                let result = ResultSet::new(id, checked.text(), fetched);
                let path = result
                    .save(&at.folders.results)
                    .map_err(|error| ToolError::CannotBeDone(error.to_string()))?;
                (result, path)
            }
        };
        let mut notes = notes(&result, at);
        let run = Arc::new(QueryRun {
            title: args.title.unwrap_or_default(),
            lints: checked.lints().to_vec(),
            // What was accepted and is not there needed no acceptance.
            accepted: errors(&checked).map(|lint| lint.code.clone()).collect(),
            aggregated: checked.is_aggregated(),
            result,
        });
        at.remember_run(Arc::clone(&run));
        let shown = at.may_show(&run.result.id);
        if !shown {
            notes.push(withheld::rows(at.share, &run.result.id));
        }
        let preview = shown.then_some(preview);
        let artifact = (run.result.id.clone(), ArtifactKind::Result, at.relative(&path));
        reply(&run, preview, notes, vec![artifact])
    }
}

/// The result that was kept under `id` for the same statement.
fn kept(at: &Workbench, id: &str, checked: &CheckedSql) -> Option<(ResultSet, PathBuf)> {
    let result = ResultSet::load(&at.folders.results, id).ok()?;
    let path = at.folders.results.join(format!("{id}.parquet"));
    (result.sql == checked.text()).then_some((result, path))
}

fn errors(checked: &CheckedSql) -> impl Iterator<Item = &Lint> {
    checked.lints().iter().filter(|lint| lint.level == LintLevel::Error)
}

/// An error-level lint comes back once with its explanation; naming its code runs the statement all the same.
fn send_back_errors(checked: &CheckedSql, accepted: &[String]) -> Result<(), ToolError> {
    let errors: Vec<&Lint> = errors(checked).filter(|lint| !accepted.contains(&lint.code)).collect();
    if errors.is_empty() {
        return Ok(());
    }
    let told: Vec<String> = errors
        .iter()
        .map(|lint| match &lint.rewrite {
            Some(rewrite) => format!("{}: {}; write instead: {rewrite}", lint.code, lint.message),
            None => format!("{}: {}", lint.code, lint.message),
        })
        .collect();
    let codes: Vec<String> = errors.iter().map(|lint| format!("\"{}\"", lint.code)).collect();
    Err(ToolError::FixTheCall(format!(
        "not run, because its numbers would be wrong. {}. If it is meant so, repeat the call with accept_lints: [{}]",
        told.join(". "),
        codes.join(", ")
    )))
}

async fn run(
    at: &Workbench,
    checked: &CheckedSql,
    cancel: &tokio_util::sync::CancellationToken,
) -> Result<crate::warehouse::fetch::Fetched, ToolError> {
    let limits: RunLimits = at.limits;
    at.engine
        .run(checked, &limits, cancel)
        .await
        .map_err(|error| match &error {
            EngineError::Cancelled => ToolError::Cancelled,
            // The engine's own words may quote a value that it could not convert.
            _ if !at.share.shows_values() && !error.is_free_of_values() => {
                ToolError::FixTheCall(withheld::words(at.share))
            }
            EngineError::Refused(_)
            | EngineError::NotReadOnly(_)
            | EngineError::Timeout(_)
            | EngineError::TooCostly { .. } => ToolError::FixTheCall(error.to_string()),
            _ if error.may_pass() => ToolError::TryAgain(error.to_string()),
            _ => ToolError::CannotBeDone(error.to_string()),
        })
}

/// What the rows alone do not say: why there may be none, that there are more, how values were kept.
fn notes(result: &ResultSet, at: &Workbench) -> Vec<String> {
    let columns = result.columns.iter().filter(|_| at.share.shows_values());
    let mut notes: Vec<String> = columns
        .filter_map(|column| column.note.as_ref().map(|note| format!("`{}`: {note}", column.name)))
        .collect();
    if result.truncated {
        notes.push(format!(
            "only the first {} rows are kept; for a true count or total use COUNT(*) or SUM in SQL",
            result.row_count
        ));
    }
    if result.row_count == 0 {
        let covered = at
            .time
            .data
            .map(|data| format!(" The data covers {} to {}.", data.start, data.last_day()))
            .unwrap_or_default();
        notes.push(format!(
            "no row fits: check each filter's spelling and window against the data before you report that there is nothing.{covered}"
        ));
    }
    notes
}

/// What the model is told; without a `preview` no value of the result is in it.
fn reply(
    run: &QueryRun,
    preview: Option<usize>,
    notes: Vec<String>,
    artifacts: Vec<(String, ArtifactKind, String)>,
) -> Result<Reply, ToolError> {
    let result = &run.result;
    let brief = |column: &ResultColumn| ColumnBrief {
        name: column.name.clone(),
        data_type: column.data_type.clone(),
    };
    let executed = Executed {
        id: result.id.clone(),
        row_count: result.row_count,
        truncated: result.truncated,
        columns: result.columns.iter().map(brief).collect(),
        rows: preview.map(|rows| result.preview(rows)).unwrap_or_default(),
        totals: match preview {
            Some(_) if result.row_count > 1 => totals(result),
            Some(_) | None => Map::new(),
        },
        elapsed_ms: u64::try_from(result.elapsed.as_millis()).unwrap_or(u64::MAX),
        lints: run.lints.clone(),
        notes,
    };
    let rows = match (result.row_count, result.truncated) {
        (1, false) => "1 row".to_owned(),
        (count, false) => format!("{count} rows"),
        (count, true) => format!("{count} rows, more were left"),
    };
    let mut reply = Reply::json(&executed, format!("{}: {rows}", result.id))?;
    reply.artifacts = artifacts;
    Ok(reply)
}

/// The sum of each number column, exact where all values are.
fn totals(result: &ResultSet) -> Map<String, Value> {
    result
        .frame
        .columns()
        .iter()
        .filter(|column| column.dtype().is_primitive_numeric())
        .filter_map(|column| {
            let floats = column.cast(&polars::prelude::DataType::Float64).ok()?;
            let sum: Number = floats
                .f64()
                .ok()?
                .iter()
                .flatten()
                .map(|value| decimal_of(value, EXACT_PLACES).map_or(Number::Float(value), Number::Exact))
                .sum();
            let cell = serde_json::to_value(Cell::Number(sum)).ok()?;
            Some((column.name().to_string(), cell))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tools::workbench::testing::workbench;

    /// A header with two lines and two payments: joined, each line counts twice.
    const SHOP: &str = "CREATE TABLE orders (id INTEGER PRIMARY KEY);
        CREATE TABLE lines (id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL REFERENCES orders(id), amount INTEGER NOT NULL);
        CREATE TABLE payments (id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL REFERENCES orders(id), paid INTEGER NOT NULL);
        INSERT INTO orders VALUES (1);
        INSERT INTO lines VALUES (1, 1, 10), (2, 1, 20);
        INSERT INTO payments VALUES (1, 1, 15), (2, 1, 15);";

    async fn execute(bench: &Workbench, sql: &str, accept: &[&str]) -> Result<Reply, ToolError> {
        let call = Call {
            call_id: "a".to_owned(),
            arguments: json!({"sql": sql, "accept_lints": accept}),
            artifact_id: Some("q1".to_owned()),
            cancel: tokio_util::sync::CancellationToken::new(),
        };
        SqlExecute.call(call, bench).await
    }

    #[tokio::test]
    async fn only_lints_that_are_there_are_run_in_spite_of() {
        let folder = tempfile::tempdir().unwrap();
        let bench = workbench(folder.path(), SHOP);
        execute(
            &bench,
            "SELECT SUM(amount) FROM lines",
            &["fan-out", "integer-division"],
        )
        .await
        .unwrap();
        assert_eq!(bench.runs()[0].accepted, Vec::<String>::new());
    }

    #[tokio::test]
    async fn an_error_level_lint_comes_back_once_and_is_kept_with_the_run() {
        let folder = tempfile::tempdir().unwrap();
        let bench = workbench(folder.path(), SHOP);
        let fans_out = "SELECT SUM(l.amount) FROM lines l JOIN payments p ON p.order_id = l.order_id";
        let refused = execute(&bench, fans_out, &[]).await.unwrap_err();
        assert!(refused.to_string().contains("accept_lints: [\"fan-out\"]"), "{refused}");
        execute(&bench, fans_out, &["fan-out", "integer-division"])
            .await
            .unwrap();
        assert_eq!(bench.runs()[0].accepted, ["fan-out"]);
    }
}
