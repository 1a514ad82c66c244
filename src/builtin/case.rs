//! One question under investigation: asks for calls, and reads what they came back with.
//!
//! The analyst keeps nothing between turns. Each turn it walks the same steps again over the transcript: what was
//! answered already is read, and the first thing that was not becomes the next call. So a run can be stopped anywhere
//! and goes on from its history alone.

use std::cell::RefCell;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::builtin::transcript::Transcript;
use crate::insight::metrics::Derived;
use crate::meaning::query::Query;
use crate::model::chat::{Arguments, ToolCall};
use crate::text::Language;
use crate::tools::chart::{Args as ChartArgs, Drawn};
use crate::tools::query_compose::Composed;
use crate::tools::sql_execute::Executed;

/// Rows that are asked to be shown: more than any table of a report holds.
const SHOWN_ROWS: usize = 400;

/// Why a step has no result yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// Its calls have not come back.
    Waiting,
    /// A call failed for good.
    Failed(String),
}

/// What a step gives: its result, or why there is none yet.
pub type Progress<T> = Result<T, Stop>;

/// A question with its transcript, and the calls that the next turn will make.
pub struct Case<'a> {
    pub transcript: &'a Transcript<'a>,
    pub language: Language,
    pending: RefCell<Vec<ToolCall>>,
}

/// A query's rows with the words of the query.
#[derive(Debug, Clone)]
pub struct Fetched {
    pub composed: Composed,
    pub executed: Executed,
}

impl<'a> Case<'a> {
    pub fn new(transcript: &'a Transcript<'a>, language: Language) -> Self {
        Self {
            transcript,
            language,
            pending: RefCell::new(Vec::new()),
        }
    }

    /// The calls that were asked for and not answered yet.
    pub fn into_pending(self) -> Vec<ToolCall> {
        self.pending.into_inner()
    }

    /// The reply to `tool` called with `arguments` under the id `call`; asks for the call if it was not made yet.
    pub fn call<T: DeserializeOwned>(&self, call: &str, tool: &str, arguments: Value) -> Progress<T> {
        match self.transcript.reply(call) {
            Some(reply) if reply.is_error => Err(Stop::Failed(reply.text.to_owned())),
            Some(reply) => serde_json::from_str(reply.text)
                .map_err(|error| Stop::Failed(format!("the reply of {tool} cannot be read: {error}"))),
            None => {
                self.pending.borrow_mut().push(ToolCall {
                    id: call.to_owned(),
                    name: tool.to_owned(),
                    arguments: Arguments::Parsed(arguments),
                });
                Err(Stop::Waiting)
            }
        }
    }

    /// Composes, validates and executes `query`, one call after the other.
    pub fn fetch(&self, key: &str, title: &str, query: &Query) -> Progress<Fetched> {
        let composed: Composed = self.call(&format!("{key}.compose"), "query_compose", json!({ "query": query }))?;
        let sql = &composed.compiled.sql;
        let _: Value = self.call(&format!("{key}.validate"), "sql_validate", json!({ "sql": sql }))?;
        let executed = self.call(
            &format!("{key}.execute"),
            "sql_execute",
            json!({ "sql": sql, "title": title, "preview_rows": SHOWN_ROWS }),
        )?;
        Ok(Fetched { composed, executed })
    }

    /// Computes a metric function from the table `source`.
    pub fn compute(&self, key: &str, source: &str, mut arguments: Value) -> Progress<Derived> {
        if let Some(object) = arguments.as_object_mut() {
            object.insert("source".into(), json!(source));
        }
        self.call(&format!("{key}.compute"), "metric_compute", arguments)
    }

    /// Draws a chart.
    pub fn draw(&self, key: &str, arguments: &ChartArgs) -> Progress<Drawn> {
        let arguments = serde_json::to_value(arguments).map_err(|error| Stop::Failed(error.to_string()))?;
        self.call(&format!("{key}.chart"), "chart", arguments)
    }
}

/// A result that the report can do without: waits for it, but its failure is no failure of the step.
pub fn optional<T>(progress: Progress<T>) -> Progress<Option<T>> {
    match progress {
        Ok(value) => Ok(Some(value)),
        Err(Stop::Waiting) => Err(Stop::Waiting),
        Err(Stop::Failed(_)) => Ok(None),
    }
}
