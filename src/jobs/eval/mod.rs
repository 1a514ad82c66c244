//! How many questions of a suite are answered, and how many of the answers are right.
//!
//! Each question has gold SQL. It and the statement that the contestant answers with are run on the same database, and the
//! rows are compared (`score`). Questions of one database share one open, warm catalog. The built-in analyst is asked
//! directly: reading, query, checked SQL; other models go through the whole agent.

mod agent;
mod direct;
mod report;
mod rows;
mod score;
mod shape;
mod stage;
mod suite;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use futures_util::stream::{self, StreamExt as _};
use jiff::civil::Date;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

pub use agent::Agent;
pub use report::{Counts, Item, Report, ReportError, Status, known_items, partial};
pub use score::Scorer;
pub use shape::Shape;
pub use stage::Stage;
pub use suite::{Case, Part, Split, SuiteError, read};

use crate::jobs::database::{Database, Source};
use crate::jobs::eval::rows::Table;
use crate::jobs::eval::stage::Facts;
use crate::meaning::question::{OnAmbiguity, Reader, Signals};
use crate::session::event::Usage;
use crate::warehouse::engine::RunLimits;
use crate::warehouse::sql;

/// Rows of a gold result beyond these are no answer that anybody reads; both sides are cut alike.
const MOST_ROWS: usize = 50_000;
/// Half a minute for a statement: a wrong join may take for ever.
const LONGEST_RUN: Duration = Duration::from_secs(30);

/// Who answers.
pub enum Contestant {
    /// The built-in analyst without its report: what it reads is what is run.
    Builtin,
    /// A chat model with all tools.
    Agent(Box<Agent>),
}

/// How a suite is run.
pub struct Settings {
    pub contestant: Contestant,
    /// The name under which the report files it.
    pub model: String,
    /// Databases at the same time, at least 1.
    pub jobs: usize,
    pub scorer: Scorer,
    pub on_ambiguity: OnAmbiguity,
    /// The day that counts as today.
    pub as_of: Option<Date>,
    pub today: Date,
    /// A semantic model for every database of the suite.
    pub semantic: Option<PathBuf>,
}

/// What a contestant said to one question.
#[derive(Debug, Clone, Default)]
pub struct Given {
    /// The statement that answers; `None` where it abstained.
    pub sql: Option<String>,
    /// Why there is none, or what went wrong.
    pub problem: Option<String>,
    pub confidence: Option<f64>,
    pub signals: Option<Signals>,
    pub usage: Usage,
}

/// Answers all `cases` but those in `known`, telling each item as it ends; the items come back in the order of the cases.
pub async fn run(
    cases: &[Case],
    known: &HashMap<String, Item>,
    settings: &Settings,
    cancel: &CancellationToken,
    tell: &mut (dyn FnMut(&Item) + Send),
) -> Vec<Item> {
    let (sender, mut receiver) = mpsc::unbounded_channel::<Item>();
    let groups = by_database(cases.iter().filter(|case| !known.contains_key(&case.id)));
    let work = groups.into_iter().map(|(path, cases)| {
        let sender = sender.clone();
        async move {
            for item in of_database(&path, &cases, settings, cancel, &sender).await {
                // The receiver lives as long as this function.
                let _ = sender.send(item);
            }
        }
    });
    let working = stream::iter(work)
        .buffer_unordered(settings.jobs.max(1))
        .collect::<Vec<()>>();
    let mut items = known.clone();
    {
        tokio::pin!(working);
        loop {
            tokio::select! {
                _ = &mut working => break,
                Some(item) = receiver.recv() => {
                    tell(&item);
                    items.insert(item.id.clone(), item);
                }
            }
        }
    }
    drop(sender);
    while let Some(item) = receiver.recv().await {
        tell(&item);
        items.insert(item.id.clone(), item);
    }
    cases.iter().filter_map(|case| items.remove(&case.id)).collect()
}

/// The cases of each database, in the order in which databases first appear.
fn by_database<'c>(cases: impl Iterator<Item = &'c Case>) -> Vec<(PathBuf, Vec<&'c Case>)> {
    let mut groups: Vec<(PathBuf, Vec<&Case>)> = Vec::new();
    let mut places: HashMap<&Path, usize> = HashMap::new();
    for case in cases {
        let place = *places.entry(case.db.as_path()).or_insert_with(|| {
            groups.push((case.db.clone(), Vec::new()));
            groups.len() - 1
        });
        if let Some((_, group)) = groups.get_mut(place) {
            group.push(case);
        }
    }
    groups
}

/// Sends an item for each case as it ends; gives items for all of them where the database cannot be opened.
async fn of_database(
    path: &Path,
    cases: &[&Case],
    settings: &Settings,
    cancel: &CancellationToken,
    sender: &mpsc::UnboundedSender<Item>,
) -> Vec<Item> {
    let source = Source::Given {
        url: path.to_string_lossy().into_owned(),
        semantic: settings.semantic.clone(),
        access: Box::default(),
    };
    let database = match Database::open(&source, cancel).await {
        Ok(database) => database,
        Err(error) => {
            let failed = |case: &&Case| Item::failed(case, &error.to_string());
            return cases.iter().map(failed).collect();
        }
    };
    let reader = Reader::new(&database.model, &database.catalog, &database.values);
    for case in cases {
        if cancel.is_cancelled() {
            break;
        }
        let item = of_case(&database, &reader, case, settings, cancel).await;
        let _ = sender.send(item);
    }
    Vec::new()
}

async fn of_case(
    database: &Database,
    reader: &Reader<'_>,
    case: &Case,
    settings: &Settings,
    cancel: &CancellationToken,
) -> Item {
    let began = Instant::now();
    let given = match &settings.contestant {
        Contestant::Builtin => {
            let time = database.time(settings.as_of, settings.today);
            direct::answer(database, reader, &case.question, &time, settings.on_ambiguity)
        }
        Contestant::Agent(agent) => agent.answer(database, &case.question, settings, cancel).await,
    };
    let seconds = began.elapsed().as_secs_f64();
    let mut item = judge(database, case, given, settings, cancel).await;
    item.seconds = seconds;
    item
}

/// Runs gold and answer and compares them.
async fn judge(
    database: &Database,
    case: &Case,
    given: Given,
    settings: &Settings,
    cancel: &CancellationToken,
) -> Item {
    let mut item = Item::of(case, &given);
    let mut gold: Vec<(Table, Facts)> = Vec::new();
    for statement in &case.gold_sql {
        match execute(database, statement, cancel).await {
            Ok(known) => gold.push(known),
            Err(problem) => item.gold_problem = Some(problem),
        }
    }
    let Some(sql) = &given.sql else {
        item.status = if given.problem.is_some() && given.signals.is_some() {
            Status::Error
        } else {
            Status::Abstained
        };
        item.stage = Some(if item.status == Status::Error {
            Stage::NotCompiled
        } else {
            Stage::NotRead
        });
        return item;
    };
    let (answer, facts) = match execute(database, sql, cancel).await {
        Ok(answer) => answer,
        Err(problem) => {
            item.status = Status::Error;
            item.stage = Some(Stage::NotRun);
            item.problem = Some(problem);
            return item;
        }
    };
    for scorer in Scorer::ALL {
        let agrees = gold
            .iter()
            .any(|(gold, _)| scorer.agrees(gold, &answer, case.order_matters));
        item.scores.insert(scorer, agrees);
    }
    if item.scores.get(&settings.scorer) == Some(&true) {
        item.status = Status::Correct;
        return item;
    }
    item.status = Status::Wrong;
    item.stage = gold
        .first()
        .map(|(table, gold)| stage::stage((table, gold), (&answer, &facts)));
    item
}

async fn execute(database: &Database, statement: &str, cancel: &CancellationToken) -> Result<(Table, Facts), String> {
    let checked = sql::check(statement, database.engine.dialect(), Some(&database.catalog))
        .map_err(|refusal| format!("refused: {refusal}"))?;
    let limits = RunLimits {
        max_rows: MOST_ROWS,
        timeout: LONGEST_RUN,
        ..RunLimits::default()
    };
    let fetched = database
        .engine
        .run(&checked, &limits, cancel)
        .await
        .map_err(|error| error.to_string())?;
    Ok((Table::of(&fetched), Facts::of(&checked)))
}
