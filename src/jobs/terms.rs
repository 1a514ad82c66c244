//! What a session was started with, as its first event keeps it: enough to go on with it later.

use std::path::{Path, PathBuf};

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::{Allow, Approve, Budget, Config, ConfigError, OnAmbiguity, Plan, Share};
use crate::text::{Language, redact};

/// The `options` of `session_started`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Terms {
    /// The calendar's day.
    #[schemars(with = "String")]
    pub today: Date,
    /// The day that was to count as today, where one was named.
    #[schemars(with = "Option<String>")]
    pub as_of: Option<Date>,
    pub plan: Plan,
    pub budget: Budget,
    #[serde(default)]
    pub allow: Vec<Allow>,
    #[serde(default)]
    pub share: Share,
    #[serde(default)]
    pub approve: Vec<Approve>,
    /// Sessions that do not say so asked back.
    #[serde(default = "asking")]
    pub on_ambiguity: OnAmbiguity,
    /// The reading that a person chose.
    #[serde(default)]
    pub reading: Option<usize>,
    pub semantic: Option<PathBuf>,
    pub database: DatabaseTerm,
}

fn asking() -> OnAmbiguity {
    OnAmbiguity::Ask
}

/// How the database is found again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DatabaseTerm {
    Sample,
    /// A connection of the configuration.
    Connection(String),
    /// A path or URL without secrets.
    Url(String),
    /// A URL with a password, which is not written down.
    Withheld,
}

/// Why a session's configuration cannot be had again.
#[derive(Debug, thiserror::Error)]
pub enum TermsError {
    #[error("the session does not say with which options it was started ({0}); ask the question anew")]
    Unreadable(String),
    #[error("the session's database needs its password: give the whole URL with --db, or a connection's name")]
    Withheld,
    #[error(transparent)]
    Config(#[from] ConfigError),
}

impl Terms {
    pub fn of(config: &Config, today: Date) -> Self {
        Self {
            today,
            as_of: config.as_of,
            plan: config.plan,
            budget: config.budget,
            allow: config.allow.clone(),
            share: config.share,
            approve: config.approve.clone(),
            on_ambiguity: config.on_ambiguity,
            reading: config.reading,
            semantic: config.semantic.as_deref().map(lasting),
            database: database(config),
        }
    }

    /// Reads what the first event says.
    pub fn read(options: &serde_json::Value) -> Result<Self, TermsError> {
        serde_json::from_value(options.clone()).map_err(|error| TermsError::Unreadable(error.to_string()))
    }

    /// `config` as it was for the session; a database that it names itself is kept.
    pub fn restore(
        &self,
        mut config: Config,
        model: &str,
        language: Language,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Config, TermsError> {
        if config.db.is_none() {
            config.db = match &self.database {
                DatabaseTerm::Sample => None,
                DatabaseTerm::Connection(name) | DatabaseTerm::Url(name) => Some(config.connection(name, variable)?),
                DatabaseTerm::Withheld => return Err(TermsError::Withheld),
            };
        }
        model.clone_into(&mut config.model);
        config.language = Some(language);
        config.as_of = self.as_of;
        config.plan = self.plan;
        config.budget = self.budget;
        config.allow.clone_from(&self.allow);
        // What the configuration forbids today stays forbidden.
        config.share = config.share.min(self.share);
        config.approve.extend(&self.approve);
        config.on_ambiguity = self.on_ambiguity;
        config.reading = self.reading;
        config.semantic.clone_from(&self.semantic);
        Ok(config)
    }
}

fn database(config: &Config) -> DatabaseTerm {
    match &config.db {
        None => DatabaseTerm::Sample,
        Some(connection) => match &connection.name {
            Some(name) => DatabaseTerm::Connection(name.clone()),
            None if redact(&connection.url) == connection.url => {
                DatabaseTerm::Url(lasting(Path::new(&connection.url)).display().to_string())
            }
            None => DatabaseTerm::Withheld,
        },
    }
}

/// A file's path that holds wherever the program is started next; anything else as it stands.
fn lasting(path: &Path) -> PathBuf {
    match path.exists() {
        true => std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
        false => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Access, Connection};

    const TODAY: Date = jiff::civil::date(2026, 11, 30);

    fn with_db(name: Option<&str>, url: &str) -> Config {
        Config {
            db: Some(Connection {
                name: name.map(str::to_owned),
                url: url.to_owned(),
                semantic: None,
                access: Access::default(),
            }),
            ..Config::default()
        }
    }

    #[rstest::rstest]
    #[case(Config::default(), DatabaseTerm::Sample)]
    #[case(with_db(Some("shop"), "postgres://u:p4ssw0rd@h/d"), DatabaseTerm::Connection("shop".into()))]
    #[case(with_db(None, "postgres://h/d"), DatabaseTerm::Url("postgres://h/d".into()))]
    #[case(with_db(None, "postgres://u:p4ssw0rd@h/d"), DatabaseTerm::Withheld)]
    fn a_database_is_kept_without_its_password(#[case] config: Config, #[case] expected: DatabaseTerm) {
        assert_eq!(Terms::of(&config, TODAY).database, expected);
    }

    #[test]
    fn a_session_gets_its_own_configuration_back() {
        let mut config = Config::default();
        config.plan.enabled = false;
        config.budget.max_rows = 7;
        config.as_of = Some(jiff::civil::date(2005, 8, 31));
        let written = serde_json::to_value(Terms::of(&config, TODAY)).unwrap();
        let terms = Terms::read(&written).unwrap();
        assert_eq!(terms.today, TODAY);
        let again = terms
            .restore(Config::default(), "builtin", Language::Chinese, &|_| None)
            .unwrap();
        assert_eq!(
            (again.plan.enabled, again.budget.max_rows, again.as_of),
            (false, 7, config.as_of)
        );
        assert_eq!(again.language, Some(Language::Chinese));
        let withheld = Terms {
            database: DatabaseTerm::Withheld,
            ..terms
        };
        let refused = withheld.restore(Config::default(), "builtin", Language::English, &|_| None);
        assert!(refused.unwrap_err().to_string().contains("--db"));
    }
}
