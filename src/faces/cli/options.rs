//! Options that several commands share, and the configuration that comes of them.

use std::path::PathBuf;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use jiff::civil::Date;

use crate::config::{Allow, Approve, Config, Overrides, Share};
use crate::faces::cli::Failure;
use crate::jobs::database::Source;
use crate::meaning::question::OnAmbiguity;
use crate::skill::{Severity, Skills, user_folder};
use crate::text::Language;
use crate::time::parse_date;

/// Which database, which model, and within which bounds.
#[derive(Debug, Clone, Default, Args)]
pub struct Shared {
    /// Database: a SQLite file, CSV and Parquet files (a folder or 'data/*.csv'), a URL, or a connection named in
    /// analyst.toml; $DATABASE_URL or else the sample sales database if left out
    #[arg(long, value_name = "DB")]
    pub db: Option<String>,
    /// Semantic model (Apache Ossie YAML or JSON); drafted from the database if left out
    #[arg(long, value_name = "FILE")]
    pub semantic: Option<PathBuf>,
    /// builtin, openai:NAME or anthropic:NAME
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// The day that counts as today, such as 2005-08-31
    #[arg(long, value_name = "DATE")]
    pub as_of: Option<String>,
    /// Language of the report; the question's if left out
    #[arg(long, value_name = "LANGUAGE")]
    pub language: Option<Tongue>,
    /// Offer no TodoWrite tool
    #[arg(long)]
    pub no_plan: bool,
    /// Turns of the model
    #[arg(long, value_name = "N")]
    pub max_turns: Option<u32>,
    /// Tokens, input and output together
    #[arg(long, value_name = "N")]
    pub max_tokens: Option<u64>,
    /// Money for one question, by the price table of analyst.toml
    #[arg(long, value_name = "AMOUNT")]
    pub max_cost: Option<f64>,
    /// Seconds for one question
    #[arg(long, value_name = "N")]
    pub max_seconds: Option<u64>,
    /// Rows of one result
    #[arg(long, value_name = "N")]
    pub max_rows: Option<u64>,
    /// Offer a model more tools: tasks, files (of its session), shell (asks before each command)
    #[arg(long, value_enum, value_delimiter = ',', value_name = "TOOLS")]
    pub allow: Vec<Allowed>,
    /// Ask at the terminal before: sql, each statement
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WHAT")]
    pub approve: Vec<Approve>,
    /// What a model other than the built-in one may see of the data; samples if left out
    #[arg(long, value_enum, value_name = "WHAT")]
    pub share: Option<Share>,
    /// Folder for report, charts, results and evidence; .analyst/sessions/… if left out
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Configuration file; ./analyst.toml if left out
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Say nothing on the way
    #[arg(long, short)]
    pub quiet: bool,
}

/// Which database a command works on that answers no question.
#[derive(Debug, Clone, Default, Args)]
pub struct Place {
    /// Database: a SQLite file, a URL, CSV or Parquet files, or a connection named in analyst.toml; the sample sales
    /// database if left out
    #[arg(long, value_name = "DB")]
    pub db: Option<String>,
    /// Semantic model (Apache Ossie YAML or JSON) whose keys and synonyms are taken for true
    #[arg(long, value_name = "FILE")]
    pub semantic: Option<PathBuf>,
    /// Configuration file; ./analyst.toml if left out
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

impl Place {
    /// The configuration of flags, environment, file and defaults.
    pub fn resolve(&self, max_rows: Option<u64>) -> Result<Config, Failure> {
        let shared = Shared {
            db: self.db.clone(),
            semantic: self.semantic.clone(),
            config: self.config.clone(),
            max_rows,
            ..Shared::default()
        };
        shared.resolve(None)
    }
}

/// Languages of reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Tongue {
    En,
    Zh,
}

impl From<Tongue> for Language {
    fn from(tongue: Tongue) -> Self {
        match tongue {
            Tongue::En => Language::English,
            Tongue::Zh => Language::Chinese,
        }
    }
}

/// What to do with a question that has two readings, or one that is not sure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Ambiguity {
    /// Ask which reading is meant
    Ask,
    /// Take the first and say so
    First,
    /// Do not answer
    Abstain,
}

impl From<Ambiguity> for OnAmbiguity {
    fn from(ambiguity: Ambiguity) -> Self {
        match ambiguity {
            Ambiguity::Ask => OnAmbiguity::Ask,
            Ambiguity::First => OnAmbiguity::First,
            Ambiguity::Abstain => OnAmbiguity::Abstain,
        }
    }
}

/// Tools that have to be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Allowed {
    Tasks,
    Files,
    Shell,
}

impl From<Allowed> for Allow {
    fn from(allowed: Allowed) -> Self {
        match allowed {
            Allowed::Tasks => Allow::Tasks,
            Allowed::Files => Allow::Files,
            Allowed::Shell => Allow::Shell,
        }
    }
}

impl ValueEnum for Approve {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Sql]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Sql => Some(PossibleValue::new("sql")),
        }
    }
}

impl ValueEnum for Share {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Schema, Self::Aggregates, Self::Samples]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self {
            Self::Schema => "names, types and row counts, and no value of any cell",
            Self::Aggregates => "also the rows of aggregated results",
            Self::Samples => "also rows, examples and ranges of values",
        };
        Some(PossibleValue::new(self.as_str()).help(help))
    }
}

impl Shared {
    /// The configuration of flags, environment, file and defaults.
    pub fn resolve(&self, jobs: Option<usize>) -> Result<Config, Failure> {
        let overrides = Overrides {
            config: self.config.clone(),
            model: self.model.clone(),
            db: self.db.clone(),
            semantic: self.semantic.clone(),
            as_of: self.as_of.as_deref().map(as_of).transpose()?,
            language: self.language.map(Language::from),
            plan_enabled: self.no_plan.then_some(false),
            max_turns: self.max_turns,
            max_tokens: self.max_tokens,
            max_cost: self.max_cost,
            max_seconds: self.max_seconds,
            max_rows: self.max_rows,
            jobs,
            allow: (!self.allow.is_empty()).then(|| self.allow.iter().map(|allowed| (*allowed).into()).collect()),
            share: self.share,
            approve: (!self.approve.is_empty()).then(|| self.approve.clone()),
            out: self.out.clone(),
            ..Overrides::default()
        };
        let folder = std::env::current_dir()
            .map_err(|error| Failure::failed(format!("cannot tell the current folder: {error}")))?;
        Ok(Config::resolve(overrides, &folder, &variable)?)
    }
}

/// Reads the environment.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn as_of(text: &str) -> Result<Date, Failure> {
    parse_date(text).map_err(|_| Failure::usage(format!("--as-of `{text}` is no date; write it as 2005-08-31")))
}

/// The database that the configuration chose.
pub fn source(config: &Config) -> Source {
    match &config.db {
        None => Source::Sample {
            access: Box::new(config.unnamed_access()),
        },
        Some(connection) => Source::Given {
            url: connection.url.clone(),
            semantic: config.semantic_path().map(PathBuf::from),
            access: Box::new(connection.access.clone()),
        },
    }
}

/// The calendar's today, read once a command.
pub fn today() -> Date {
    jiff::ZonedDateTime::now().date()
}

/// The skills of the project, the user and the binary; what is wrong with one is said on stderr.
pub fn skills() -> Skills {
    let folder = std::env::current_dir().unwrap_or_default();
    let skills = Skills::find(&folder, user_folder(&variable).as_deref());
    for diagnostic in skills.diagnostics() {
        if diagnostic.severity != Severity::Note {
            eprintln!("analyst: {diagnostic}");
        }
    }
    skills
}
