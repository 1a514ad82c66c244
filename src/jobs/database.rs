//! An open database with everything that reading questions on it needs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::civil::Date;
use tokio_util::sync::CancellationToken;

use crate::config::{Access, Share};
use crate::demo::{self, DemoError};
use crate::meaning::semantic::{self, FieldRef, MetricKind, Model};
use crate::meaning::sound;
use crate::time::{TimeContext, Window, parse_date};
use crate::warehouse::catalog::Catalog;
use crate::warehouse::catalog::search::SearchIndex;
use crate::warehouse::catalog::values::ValueIndex;
use crate::warehouse::engine::{CatalogCache, Engine, EngineError, Target, TargetError};
use crate::warehouse::profile;

/// What to open, and what is known about its meaning.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Source {
    /// The sample sales database, written on first use.
    Sample { access: Box<Access> },
    /// A path or URL, with the semantic model's file where there is one.
    Given {
        url: String,
        semantic: Option<PathBuf>,
        access: Box<Access>,
    },
}

/// An open database. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Database {
    pub engine: Engine,
    pub catalog: Arc<Catalog>,
    pub model: Arc<Model>,
    pub values: Arc<ValueIndex>,
    /// The words of the catalog's names, comments and values.
    pub search: Arc<SearchIndex>,
    /// The days that its facts cover, where known.
    pub data: Option<Window>,
    /// How reports name it; holds no password.
    pub name: String,
    /// How long each part of opening took, in order.
    pub timings: Vec<(&'static str, std::time::Duration)>,
}

/// Why a database could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    #[error(transparent)]
    Demo(#[from] DemoError),
    #[error(transparent)]
    Target(#[from] TargetError),
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error("cannot read the semantic model {}: {problem}", .path.display())]
    Semantic { path: PathBuf, problem: String },
    #[error("{name} has no tables; choose a database with data in it")]
    Empty { name: String },
}

impl Database {
    /// Opens `source`, reads and measures its catalog, and loads its semantic model or drafts one.
    pub async fn open(source: &Source, cancel: &CancellationToken) -> Result<Self, DatabaseError> {
        let mut clock = Clock::start();
        let Connected { engine, semantic, name } = connect(source).await?;
        clock.lap("connect");
        let mut catalog = engine.introspect().await?;
        clock.lap("introspect");
        let name = name.unwrap_or_else(|| engine.display());
        if catalog.tables.is_empty() {
            return Err(DatabaseError::Empty { name });
        }
        let values = profile::survey(&engine, &mut catalog, cancel).await?;
        clock.lap("profile");
        let model = match semantic {
            None => semantic::draft(&catalog),
            Some(semantics) => {
                let model = semantics.load(&catalog)?;
                semantic::hand_down(&model, &mut catalog);
                model
            }
        };
        clock.lap("semantic model");
        Ok(Self {
            data: data_window(&model, &catalog),
            engine,
            search: Arc::new(SearchIndex::build(&catalog, &values)),
            catalog: Arc::new(catalog),
            model: Arc::new(model),
            values: Arc::new(values),
            name,
            timings: clock.laps,
        })
    }

    /// The same as it is told to a model that may see `share`: what the model's tools do not hold, they cannot tell.
    ///
    /// Without values there are no ranges, examples and named values, and without a range the calendar's today counts.
    pub fn told(&self, share: Share) -> Self {
        if share.shows_values() {
            return self.clone();
        }
        let mut catalog = Catalog::clone(&self.catalog);
        // The engine's words about what it could not read may quote what it read.
        catalog.notes.clear();
        let profiles = catalog.tables.iter_mut().flat_map(|table| &mut table.columns);
        for profile in profiles.filter_map(|column| column.profile.as_mut()) {
            (profile.min, profile.max) = (None, None);
            profile.top.clear();
        }
        let mut model = Model::clone(&self.model);
        let fields = model.datasets.iter_mut().flat_map(|dataset| &mut dataset.fields);
        fields.for_each(|field| field.values.clear());
        Self {
            search: Arc::new(SearchIndex::build(&catalog, &ValueIndex::default())),
            catalog: Arc::new(catalog),
            model: Arc::new(model),
            values: Arc::default(),
            // The first and the last day of the data are a minimum and a maximum.
            data: self.data.filter(|_| share >= Share::Aggregates),
            ..self.clone()
        }
    }

    /// What "today" and relative dates mean here.
    pub fn time(&self, as_of: Option<Date>, today: Date) -> TimeContext {
        TimeContext::resolve(as_of, today, self.data)
    }
}

/// An engine, with what the source says about the database's meaning.
pub(super) struct Connected {
    pub engine: Engine,
    pub semantic: Option<Semantics>,
    /// How reports name the database, where that is not the engine's own word.
    name: Option<String>,
}

/// Connects to `source`; nothing is read yet.
pub(super) async fn connect(source: &Source) -> Result<Connected, DatabaseError> {
    let (target, access, semantic, name) = match source {
        Source::Sample { access } => {
            let path = tokio::task::spawn_blocking(demo::cached)
                .await
                .map_err(|error| EngineError::Interrupted(error.to_string()))??;
            let name = Some(demo::DATABASE_NAME.to_owned());
            (
                Target::Sqlite(path),
                Access::clone(access),
                Some(Semantics::Sample),
                name,
            )
        }
        Source::Given { url, semantic, access } => (
            Target::parse(url)?,
            Access::clone(access),
            semantic.clone().map(Semantics::File),
            None,
        ),
    };
    Ok(Connected {
        engine: Engine::connect_with(&target, &access, CatalogCache::of_user().as_ref()).await?,
        semantic,
        name,
    })
}

/// Measures the parts of a job.
struct Clock {
    last: std::time::Instant,
    laps: Vec<(&'static str, std::time::Duration)>,
}

impl Clock {
    fn start() -> Self {
        Self {
            last: std::time::Instant::now(),
            laps: Vec::new(),
        }
    }
    fn lap(&mut self, part: &'static str) {
        self.laps.push((part, self.last.elapsed()));
        self.last = std::time::Instant::now();
    }
}

/// Where a semantic model is written down.
pub(super) enum Semantics {
    Sample,
    File(PathBuf),
}

impl Semantics {
    pub(super) fn load(&self, catalog: &Catalog) -> Result<Model, DatabaseError> {
        // A model describes the whole database; what policies hide of it is taken out of the model too.
        let full = catalog.rules.as_ref().map_or(catalog, |rules| &rules.full);
        let (loaded, path) = match self {
            Semantics::Sample => (
                semantic::load(demo::SEMANTIC_YAML, full),
                Path::new("fixtures/sales/semantic.yaml"),
            ),
            Semantics::File(path) => (sound::open(path, full), path.as_path()),
        };
        let model = loaded.map_err(|error| DatabaseError::Semantic {
            path: path.to_owned(),
            problem: error.to_string(),
        })?;
        Ok(match &catalog.rules {
            Some(_) => semantic::visible(model, catalog),
            None => model,
        })
    }
}

/// From the first to the last day of the facts that the model's metrics are about; targets and plans may lie ahead.
fn data_window(model: &Model, catalog: &Catalog) -> Option<Window> {
    let fields = model
        .metrics
        .iter()
        .filter(|metric| metric.target_of.is_none())
        .filter_map(|metric| match &metric.kind {
            MetricKind::Simple { dataset, time, .. } => time.clone().or_else(|| {
                let dataset = model.dataset(dataset)?;
                Some(FieldRef::new(dataset.name.clone(), dataset.time.clone()?))
            }),
            MetricKind::Ratio { .. } | MetricKind::Derived { .. } => None,
        });
    let days = fields.filter_map(|field| days_of(&field, model, catalog));
    days.reduce(|a, b| a.hull(&b))
}

/// The days between a time field's smallest and largest value.
fn days_of(field: &FieldRef, model: &Model, catalog: &Catalog) -> Option<Window> {
    let (dataset, field) = model.field(field)?;
    let semantic::Source::Table { schema, name } = &dataset.source else {
        return None;
    };
    let column = catalog
        .table_in(schema.as_deref(), name)?
        .column(field.column.as_deref()?)?;
    let profile = column.profile.as_ref()?;
    let day = |text: &String| parse_date(text.get(..10)?).ok();
    Window::inclusive(day(profile.min.as_ref()?)?, day(profile.max.as_ref()?)?)
}
