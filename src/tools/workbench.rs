//! What the tools of one run work on, and what they have made so far.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use polars::prelude::DataFrame;

use crate::config::Share;
use crate::insight::metrics::Derived;
use crate::meaning::query::{Compiled, Query};
use crate::meaning::semantic::Model;
use crate::session::store::write_whole;
use crate::skill::Skills;
use crate::text::Language;
use crate::time::TimeContext;
use crate::tools::ToolError;
use crate::tools::approval::Person;
use crate::tools::chart::ChartMade;
use crate::warehouse::catalog::Catalog;
use crate::warehouse::catalog::search::SearchIndex;
use crate::warehouse::catalog::values::ValueIndex;
use crate::warehouse::engine::{Engine, RunLimits};
use crate::warehouse::fetch::ResultSet;
use crate::warehouse::sql::Lint;

/// Where a run's files go.
#[derive(Debug, Clone)]
pub struct Folders {
    /// What paths in events and reports are relative to.
    pub root: PathBuf,
    pub results: PathBuf,
    pub charts: PathBuf,
}

/// Everything a tool may use: the database, its meaning, and what the run has made so far.
pub struct Workbench {
    pub engine: Engine,
    pub catalog: Arc<Catalog>,
    pub model: Arc<Model>,
    pub values: Arc<ValueIndex>,
    /// The words of the catalog's names, comments and values.
    pub search: Arc<SearchIndex>,
    pub time: TimeContext,
    /// The language of the question and so of the report.
    pub language: Language,
    pub limits: RunLimits,
    pub folders: Folders,
    pub skills: Arc<Skills>,
    /// What the model may be told of the data.
    pub share: Share,
    /// Who is asked before a command runs, and before a statement where `approve_sql` is set.
    pub person: Option<Person>,
    pub approve_sql: bool,
    made: Mutex<Made>,
}

/// What the run has made so far, in the order in which it was made.
#[derive(Default)]
struct Made {
    runs: Vec<Arc<QueryRun>>,
    derived: Vec<Arc<Derived>>,
    charts: Vec<Arc<ChartMade>>,
    /// Typed queries by the SQL that they were compiled to.
    composed: HashMap<String, Arc<FromQuery>>,
}

/// A statement that ran, with its result.
#[derive(Debug, Clone)]
pub struct QueryRun {
    /// What it asks, in a few words; may be empty.
    pub title: String,
    pub lints: Vec<Lint>,
    /// Codes of the error-level lints that it was run in spite of.
    pub accepted: Vec<String>,
    /// Its rows sum up others: see [`CheckedSql::is_aggregated`](crate::warehouse::sql::CheckedSql::is_aggregated).
    pub aggregated: bool,
    pub result: ResultSet,
}

/// The typed query that a statement was compiled from.
#[derive(Debug, Clone)]
pub struct FromQuery {
    pub query: Query,
    pub compiled: Compiled,
}

/// What a workbench is set up with.
pub struct Setup {
    pub engine: Engine,
    pub catalog: Arc<Catalog>,
    pub model: Arc<Model>,
    pub values: Arc<ValueIndex>,
    /// The words of the catalog's names, comments and values.
    pub search: Arc<SearchIndex>,
    pub time: TimeContext,
    pub language: Language,
    pub limits: RunLimits,
    pub folders: Folders,
    pub skills: Arc<Skills>,
    pub share: Share,
    pub person: Option<Person>,
    pub approve_sql: bool,
}

impl Workbench {
    pub fn new(setup: Setup) -> Self {
        Self {
            engine: setup.engine,
            catalog: setup.catalog,
            model: setup.model,
            values: setup.values,
            search: setup.search,
            time: setup.time,
            language: setup.language,
            limits: setup.limits,
            folders: setup.folders,
            skills: setup.skills,
            share: setup.share,
            person: setup.person,
            approve_sql: setup.approve_sql,
            made: Mutex::new(Made::default()),
        }
    }

    /// Statements that ran, in order of their ids.
    pub fn runs(&self) -> Vec<Arc<QueryRun>> {
        let mut runs = self.made().runs.clone();
        runs.sort_by_key(|run| id_number(&run.result.id));
        runs
    }

    /// Derived tables, in order of their ids.
    pub fn derived(&self) -> Vec<Arc<Derived>> {
        let mut derived = self.made().derived.clone();
        derived.sort_by_key(|derived| id_number(&derived.id));
        derived
    }

    /// Charts, in order of their ids.
    pub fn charts(&self) -> Vec<Arc<ChartMade>> {
        let mut charts = self.made().charts.clone();
        charts.sort_by_key(|chart| id_number(&chart.id));
        charts
    }

    /// The typed query that `sql` was compiled from, where it was.
    pub fn composed(&self, sql: &str) -> Option<Arc<FromQuery>> {
        self.made().composed.get(sql).cloned()
    }

    /// The rows of a result or derived table.
    ///
    /// Errors with advice that names the ids there are.
    pub fn frame(&self, id: &str) -> Result<DataFrame, ToolError> {
        let made = self.made();
        if let Some(run) = made.runs.iter().find(|run| run.result.id == id) {
            return Ok(run.result.frame.clone());
        }
        if let Some(derived) = made.derived.iter().find(|derived| derived.id == id) {
            return derived
                .to_frame()
                .map_err(|error| ToolError::CannotBeDone(error.to_string()));
        }
        let ids: Vec<&str> = made
            .runs
            .iter()
            .map(|run| run.result.id.as_str())
            .chain(made.derived.iter().map(|derived| derived.id.as_str()))
            .collect();
        Err(ToolError::FixTheCall(match ids.as_slice() {
            [] => format!("there is no result `{id}` yet; run a query with sql_execute first"),
            ids => format!("there is no result `{id}`; there are {}", ids.join(", ")),
        }))
    }

    /// May the model be told the values of a result or derived table?
    pub(super) fn may_show(&self, id: &str) -> bool {
        match self.share {
            Share::Samples => true,
            Share::Schema => false,
            Share::Aggregates => {
                let made = self.made();
                // A table derived from another is as open as the result that both go back to.
                let mut at = id;
                while let Some(derived) = made.derived.iter().find(|derived| derived.id == at) {
                    at = &derived.source;
                }
                made.runs.iter().any(|run| run.result.id == at && run.aggregated)
            }
        }
    }

    pub(super) fn query_run(&self, sql: &str) -> Option<Arc<QueryRun>> {
        self.made().runs.iter().find(|run| run.result.sql == sql).cloned()
    }

    pub(super) fn remember_run(&self, run: Arc<QueryRun>) {
        self.made().runs.push(run);
    }

    pub(super) fn remember_composed(&self, sql: &str, query: &Query, compiled: &Compiled) {
        let from = FromQuery {
            query: query.clone(),
            compiled: compiled.clone(),
        };
        self.made().composed.insert(sql.to_owned(), Arc::new(from));
    }

    /// Keeps a derived table, in memory and as `m1.json` beside the results; gives its path relative to the root.
    pub(super) fn keep_derived(&self, derived: Arc<Derived>) -> Result<String, ToolError> {
        let path = self.folders.results.join(format!("{}.json", derived.id));
        let json = serde_json::to_vec_pretty(&*derived).map_err(|error| ToolError::CannotBeDone(error.to_string()))?;
        write_whole(&path, &json).map_err(|error| ToolError::CannotBeDone(error.to_string()))?;
        self.made().derived.push(derived);
        Ok(self.relative(&path))
    }

    pub(super) fn remember_chart(&self, chart: Arc<ChartMade>) {
        self.made().charts.push(chart);
    }

    /// `path` below the root, with forward slashes; the whole path where it lies elsewhere.
    pub fn relative(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.folders.root).unwrap_or(path);
        below.to_string_lossy().replace('\\', "/")
    }

    fn made(&self) -> MutexGuard<'_, Made> {
        // Every change is a single push or insert, so that what a panicking call left behind is whole.
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// `12` of `q12`.
fn id_number(id: &str) -> u32 {
    id.trim_start_matches(|c: char| !c.is_ascii_digit())
        .parse()
        .unwrap_or(u32::MAX)
}

#[cfg(test)]
pub(crate) mod testing {
    //! A workbench over a small database of its own, for tests of tools and of the loop.

    use std::path::Path;

    use super::*;
    use crate::meaning::semantic;
    use crate::time::{AsOf, Window};
    use crate::warehouse::engine::Target;

    /// A workbench whose database and files lie in `folder`; `sql` fills the database.
    pub fn workbench(folder: &Path, sql: &str) -> Workbench {
        let path = folder.join("test.sqlite");
        rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        // Tests of the loop are asynchronous already, so the database is opened on a thread of its own.
        let opened = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let engine = Engine::connect(&Target::Sqlite(path)).await.unwrap();
                let mut catalog = engine.introspect().await.unwrap();
                let cancel = tokio_util::sync::CancellationToken::new();
                let values = crate::warehouse::profile::survey(&engine, &mut catalog, &cancel)
                    .await
                    .unwrap();
                (engine, catalog, values)
            })
        });
        let (engine, catalog, values) = opened.join().unwrap();
        for part in ["results", "charts"] {
            std::fs::create_dir_all(folder.join(part)).unwrap();
        }
        let today = jiff::civil::date(2005, 12, 12);
        Workbench::new(Setup {
            engine,
            model: Arc::new(semantic::draft(&catalog)),
            search: Arc::new(SearchIndex::build(&catalog, &values)),
            catalog: Arc::new(catalog),
            values: Arc::new(values),
            time: TimeContext {
                as_of: AsOf::resolve(None, today, None),
                data: Window::year(2005),
            },
            language: Language::English,
            limits: RunLimits::default(),
            folders: Folders {
                root: folder.to_owned(),
                results: folder.join("results"),
                charts: folder.join("charts"),
            },
            skills: Arc::new(Skills::default()),
            share: Share::Samples,
            person: None,
            approve_sql: false,
        })
    }
}
