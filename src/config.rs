//! One resolved configuration: flags over environment over `analyst.toml` over defaults.
//!
//! Nobody below the faces ever sees a flag: they hand in [`Overrides`], and everything else reads [`Config`].

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::Language;

mod connection;
mod consent;
mod file;
mod places;
mod policy;

pub use connection::{Access, Connection, ConnectionLimits, ConnectionSource, Tls, TlsMode, UrlSource};
pub use consent::{Allow, Approve, Share};
pub use places::cache_folders;
pub use policy::{NamedPolicy, Policy};

/// The name of the file, looked for in the current folder and those above it.
pub const FILE_NAME: &str = "analyst.toml";
/// The model that needs no network and no key; nothing leaves the machine unless another is chosen.
pub const DEFAULT_MODEL: &str = "builtin";

/// Why there is no configuration. Each message names the file, the key or variable, and the value at fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    #[error("cannot read {}: {problem}", .path.display())]
    Unreadable { path: PathBuf, problem: String },
    #[error("{}:{line}: unknown key `{key}`{}", .path.display(), did_you_mean(.nearest, .known))]
    UnknownKey {
        path: PathBuf,
        line: usize,
        key: String,
        nearest: Option<String>,
        known: Vec<String>,
    },
    #[error("{}:{line}: {problem}", .path.display())]
    Invalid {
        path: PathBuf,
        line: usize,
        problem: String,
    },
    #[error("{from} is `{value}`, but {wanted}")]
    BadValue {
        from: String,
        value: String,
        wanted: String,
    },
    #[error("there is no connection `{name}`{} A path or a URL will do as well", sentence(.nearest, .known))]
    UnknownConnection {
        name: String,
        nearest: Option<String>,
        known: Vec<String>,
    },
    #[error("connection `{name}` takes its URL from the environment variable {variable}, which is not set")]
    MissingVariable { name: String, variable: String },
}

fn did_you_mean(nearest: &Option<String>, known: &[String]) -> String {
    match nearest {
        Some(nearest) => format!("; did you mean `{nearest}`?"),
        None if known.is_empty() => String::new(),
        None => format!("; known are: {}", known.join(", ")),
    }
}

fn sentence(nearest: &Option<String>, known: &[String]) -> String {
    let text = did_you_mean(nearest, known);
    if text.ends_with('?') { text } else { text + "." }
}

/// What the command line said; `None` leaves the choice to the environment, the file and the defaults.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Overrides {
    /// A configuration file to read instead of the one that is found.
    pub config: Option<PathBuf>,
    pub model: Option<String>,
    /// The name of a connection, a path or a URL.
    pub db: Option<String>,
    pub semantic: Option<PathBuf>,
    pub as_of: Option<Date>,
    pub language: Option<Language>,
    pub plan_enabled: Option<bool>,
    pub max_turns: Option<u32>,
    pub max_tokens: Option<u64>,
    pub max_cost: Option<f64>,
    pub max_seconds: Option<u64>,
    pub max_rows: Option<u64>,
    pub jobs: Option<usize>,
    pub allow: Option<Vec<Allow>>,
    pub share: Option<Share>,
    pub approve: Option<Vec<Approve>>,
    pub out: Option<PathBuf>,
    pub font_dir: Option<PathBuf>,
}

/// Everything that a run needs to know beside its question.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The file that was read, where one was.
    pub file: Option<PathBuf>,
    /// `builtin`, `openai:NAME` or `anthropic:NAME`.
    pub model: String,
    /// The database that was chosen; `None` means the sample database.
    pub db: Option<Connection>,
    pub connections: BTreeMap<String, ConnectionSource>,
    pub semantic: Option<PathBuf>,
    pub as_of: Option<Date>,
    /// The report's language; `None` follows the question.
    pub language: Option<Language>,
    pub plan: Plan,
    pub budget: Budget,
    pub batch: Batch,
    pub output: Output,
    /// Tools that are offered beside those for analysis.
    pub allow: Vec<Allow>,
    /// What a model that is not the built-in one may see of the data.
    pub share: Share,
    /// What a person is asked before.
    pub approve: Vec<Approve>,
    /// What may be read of any database.
    pub policy: Policy,
    /// What the built-in analyst does with a question that can be read in two ways.
    pub on_ambiguity: OnAmbiguity,
    /// Which of a question's readings was chosen, counted from 0.
    pub reading: Option<usize>,
    /// What a provider lets us do in a minute, by provider (`openai`, `anthropic`).
    pub limits: BTreeMap<String, MinuteLimits>,
    /// Prices by model name, as `--model` spells it.
    pub prices: BTreeMap<String, Price>,
}

/// What is done with a question that has two readings, or one that is not sure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnAmbiguity {
    /// Ask which reading is meant.
    Ask,
    /// Take the first, and say so.
    #[default]
    First,
    /// Do not answer.
    Abstain,
}

/// The plan's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Plan {
    /// Whether TodoWrite is offered at all; `--no-plan` measures what it gives.
    pub enabled: bool,
    /// The longest list that is taken, at most 20.
    pub max_items: usize,
    /// Turns without a plan write until the first reminder; 0 switches reminders off.
    pub reminder: u32,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            enabled: true,
            max_items: 12,
            reminder: 3,
        }
    }
}

/// What a run may spend. The end of a budget still writes the report with what is known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Budget {
    pub max_turns: u32,
    /// Input and output tokens together.
    pub max_tokens: u64,
    /// In the currency of the price table; only models with a price are counted.
    pub max_cost: Option<f64>,
    pub max_seconds: u64,
    /// Rows of one result that are fetched.
    pub max_rows: u64,
    /// The size of the conversation, in tokens, from which old tool results are shortened.
    pub context_tokens: u64,
}

impl Default for Budget {
    /// Enough for a long report by a slow local model; a run that needs more is usually lost.
    fn default() -> Self {
        Self {
            max_turns: 40,
            max_tokens: 1_000_000,
            max_cost: None,
            max_seconds: 1_800,
            max_rows: 100_000,
            context_tokens: 100_000,
        }
    }
}

/// Settings of `analyst batch`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Batch {
    /// Questions that run at the same time.
    pub jobs: usize,
    /// How often a question that failed is tried again.
    pub retries: u32,
}

impl Default for Batch {
    fn default() -> Self {
        Self { jobs: 2, retries: 1 }
    }
}

/// What one provider lets all questions of a process do together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MinuteLimits {
    pub requests_per_minute: Option<u32>,
    /// Input and output tokens together.
    pub tokens_per_minute: Option<u64>,
}

/// Where files go and how they look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The folder of sessions and tasks.
    pub home: PathBuf,
    /// A flat folder of the caller's choice instead (`--out`).
    pub out: Option<PathBuf>,
    /// More fonts for charts.
    pub font_dir: Option<PathBuf>,
}

impl Default for Output {
    fn default() -> Self {
        Self {
            home: PathBuf::from(".analyst"),
            out: None,
            font_dir: None,
        }
    }
}

/// What a model costs, per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Price {
    pub input: f64,
    /// Input tokens read from the provider's cache; the input price where it is not given.
    pub cached: Option<f64>,
    pub output: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            file: None,
            model: DEFAULT_MODEL.to_owned(),
            db: None,
            connections: BTreeMap::new(),
            semantic: None,
            as_of: None,
            language: None,
            plan: Plan::default(),
            budget: Budget::default(),
            batch: Batch::default(),
            output: Output::default(),
            allow: Vec::new(),
            share: Share::default(),
            approve: Vec::new(),
            policy: Policy::default(),
            on_ambiguity: OnAmbiguity::default(),
            reading: None,
            limits: BTreeMap::new(),
            prices: BTreeMap::new(),
        }
    }
}

impl Config {
    /// Resolves all sources. `folder` is where the program was started; `variable` reads the environment.
    pub fn resolve(
        overrides: Overrides,
        folder: &Path,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, ConfigError> {
        let mut config = match overrides.config.clone().or_else(|| find(folder)) {
            Some(path) => file::read(&path)?,
            None => Self::default(),
        };
        // The file's choice stays unresolved until it is known that no flag or variable chooses another.
        let mut db = config.db.take().map(|c| c.url);
        config.apply_environment(variable, &mut db)?;
        config.apply_overrides(overrides, &mut db);
        config.check()?;
        config.db = match db {
            Some(chosen) => Some(config.connection(&chosen, variable)?),
            None => None,
        };
        config.check_shell()?;
        Ok(config)
    }

    /// The connection that `chosen` means: a name of the configuration, or a path or URL by itself.
    pub fn connection(
        &self,
        chosen: &str,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Connection, ConfigError> {
        if let Some(source) = self.connections.get(chosen) {
            let url = match &source.url {
                UrlSource::Url(url) => url.clone(),
                UrlSource::Variable(name) => {
                    variable(name)
                        .filter(|v| !v.is_empty())
                        .ok_or_else(|| ConfigError::MissingVariable {
                            name: chosen.to_owned(),
                            variable: name.clone(),
                        })?
                }
            };
            return Ok(Connection {
                name: Some(chosen.to_owned()),
                url,
                semantic: source.semantic.clone(),
                access: self.with_policy(source.access.clone()),
            });
        }
        let plain_word = !chosen.contains([':', '/', '\\', '.']);
        if plain_word && !self.connections.is_empty() && !Path::new(chosen).exists() {
            let known: Vec<String> = self.connections.keys().cloned().collect();
            return Err(ConfigError::UnknownConnection {
                name: chosen.to_owned(),
                nearest: nearest(chosen, &known),
                known,
            });
        }
        Ok(Connection {
            name: None,
            url: chosen.to_owned(),
            semantic: None,
            access: self.unnamed_access(),
        })
    }

    /// How a database is used that the configuration has no name for.
    pub fn unnamed_access(&self) -> Access {
        self.with_policy(Access::default())
    }

    /// A connection's own policies come after the one for all.
    fn with_policy(&self, mut access: Access) -> Access {
        if self.policy != Policy::default() {
            let for_all = NamedPolicy {
                name: "policy".to_owned(),
                policy: self.policy.clone(),
            };
            access.policies.insert(0, for_all);
        }
        access
    }

    /// The semantic model to use: the one that was asked for, else the chosen connection's own.
    pub fn semantic_path(&self) -> Option<&Path> {
        self.semantic
            .as_deref()
            .or_else(|| self.db.as_ref()?.semantic.as_deref())
    }

    /// The size from which a conversation is shortened; `None` for the built-in analyst, which reads whole replies and
    /// has no limit.
    pub fn context_tokens(&self) -> Option<u64> {
        (self.model != DEFAULT_MODEL).then_some(self.budget.context_tokens)
    }

    /// What the chosen model may see of the data: the built-in analyst sends nothing anywhere, so it sees all.
    pub fn shared_with_model(&self) -> Share {
        match self.model == DEFAULT_MODEL {
            true => Share::Samples,
            false => self.share,
        }
    }

    /// The chosen model's price, where the table has one.
    pub fn price(&self) -> Option<Price> {
        self.prices.get(&self.model).copied()
    }

    fn apply_environment(
        &mut self,
        variable: &dyn Fn(&str) -> Option<String>,
        db: &mut Option<String>,
    ) -> Result<(), ConfigError> {
        let set = |name: &str| variable(name).map(|v| v.trim().to_owned()).filter(|v| !v.is_empty());
        if let Some(model) = set("ANALYST_MODEL") {
            self.model = model;
        }
        if let Some(chosen) = set("ANALYST_DB") {
            *db = Some(chosen);
        }
        // Set for other programs too, so it does not outrank what the project's own file says.
        if db.is_none() {
            *db = set("DATABASE_URL");
        }
        if let Some(path) = set("ANALYST_SEMANTIC") {
            self.semantic = Some(path.into());
        }
        if let Some(path) = set("ANALYST_HOME") {
            self.output.home = path.into();
        }
        if let Some(date) = set("ANALYST_AS_OF") {
            self.as_of = Some(read_date("ANALYST_AS_OF", &date)?);
        }
        if let Some(language) = set("ANALYST_LANGUAGE") {
            self.language = Some(read_language("ANALYST_LANGUAGE", &language)?);
        }
        Ok(())
    }

    fn apply_overrides(&mut self, flags: Overrides, db: &mut Option<String>) {
        fn put<T>(place: &mut T, flag: Option<T>) {
            if let Some(value) = flag {
                *place = value;
            }
        }
        put(&mut self.model, flags.model);
        put(db, flags.db.map(Some));
        put(&mut self.semantic, flags.semantic.map(Some));
        put(&mut self.as_of, flags.as_of.map(Some));
        put(&mut self.language, flags.language.map(Some));
        put(&mut self.plan.enabled, flags.plan_enabled);
        put(&mut self.budget.max_turns, flags.max_turns);
        put(&mut self.budget.max_tokens, flags.max_tokens);
        put(&mut self.budget.max_cost, flags.max_cost.map(Some));
        put(&mut self.budget.max_seconds, flags.max_seconds);
        put(&mut self.budget.max_rows, flags.max_rows);
        put(&mut self.batch.jobs, flags.jobs);
        put(&mut self.allow, flags.allow);
        put(&mut self.share, flags.share);
        put(&mut self.approve, flags.approve);
        put(&mut self.output.out, flags.out.map(Some));
        put(&mut self.output.font_dir, flags.font_dir.map(Some));
    }

    /// A shell reads files, the database's among them: what is kept from a model, it must not reach that way.
    fn check_shell(&self) -> Result<(), ConfigError> {
        if !self.allow.contains(&Allow::Shell) {
            return Ok(());
        }
        let access = self
            .db
            .as_ref()
            .map_or_else(|| self.unnamed_access(), |db| db.access.clone());
        let against = match access.policies.iter().find(|named| named.policy.hides()) {
            Some(named) => format!("`{}`", named.name),
            None if !self.share.shows_values() => format!("share = {}", self.share.as_str()),
            None => return Ok(()),
        };
        Err(ConfigError::BadValue {
            from: "allow".to_owned(),
            value: "shell".to_owned(),
            wanted: format!("a command can read what {against} keeps back; take one of the two out"),
        })
    }

    /// What no source may ask for, whichever it came from.
    fn check(&self) -> Result<(), ConfigError> {
        let positive = [
            ("max_turns", u64::from(self.budget.max_turns)),
            ("max_tokens", self.budget.max_tokens),
            ("max_seconds", self.budget.max_seconds),
            ("max_rows", self.budget.max_rows),
            ("context_tokens", self.budget.context_tokens),
            ("jobs", self.batch.jobs as u64),
        ];
        let bad = |from: &str, value: String, wanted: &str| ConfigError::BadValue {
            from: from.to_owned(),
            value,
            wanted: wanted.to_owned(),
        };
        for (name, value) in positive {
            if value == 0 {
                return Err(bad(name, value.to_string(), "it must be at least 1"));
            }
        }
        if self.plan.max_items == 0 || self.plan.max_items > 20 {
            return Err(bad(
                "plan.max_items",
                self.plan.max_items.to_string(),
                "it must be between 1 and 20",
            ));
        }
        if let Some(cost) = self.budget.max_cost
            && (!cost.is_finite() || cost <= 0.0)
        {
            return Err(bad("max_cost", cost.to_string(), "it must be more than 0"));
        }
        Ok(())
    }
}

/// The JSON schema of `analyst.toml`.
pub fn file_schema() -> schemars::Schema {
    file::schema()
}

/// The nearest `analyst.toml` in `folder` or above.
fn find(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().map(|f| f.join(FILE_NAME)).find(|p| p.is_file())
}

/// The known word that is most like `word`, if any is like it.
fn nearest(word: &str, known: &[String]) -> Option<String> {
    /// Below this two words have little in common.
    const NEAR_ENOUGH: f64 = 0.75;
    known
        .iter()
        .map(|k| (strsim::jaro_winkler(word, k), k))
        .filter(|(likeness, _)| *likeness >= NEAR_ENOUGH)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, k)| k.clone())
}

fn read_date(from: &str, value: &str) -> Result<Date, ConfigError> {
    value.parse().map_err(|_| ConfigError::BadValue {
        from: from.to_owned(),
        value: value.to_owned(),
        wanted: "it must be a date such as 2005-12-12".to_owned(),
    })
}

fn read_language(from: &str, value: &str) -> Result<Language, ConfigError> {
    match value.to_lowercase().as_str() {
        "en" | "english" => Ok(Language::English),
        "zh" | "chinese" | "中文" => Ok(Language::Chinese),
        _ => Err(ConfigError::BadValue {
            from: from.to_owned(),
            value: value.to_owned(),
            wanted: "it must be `en` or `zh`".to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests;
