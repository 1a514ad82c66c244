//! `analyst.toml` as it is written, and its mistakes by line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;

use crate::config::{
    Access, Allow, Approve, Batch, Budget, Config, ConfigError, Connection, ConnectionLimits, ConnectionSource,
    MinuteLimits, NamedPolicy, Plan, Policy, Price, Share, Tls, UrlSource, nearest, read_date, read_language,
};

/// The version of the format that this program writes and reads.
const VERSION: u32 = 1;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "analyst.toml")]
struct File {
    version: u32,
    model: Option<String>,
    db: Option<String>,
    semantic: Option<PathBuf>,
    as_of: Option<String>,
    language: Option<String>,
    connections: BTreeMap<String, FileConnection>,
    plan: Plan,
    budget: Budget,
    batch: Batch,
    output: FileOutput,
    allow: Vec<Allow>,
    share: Share,
    approve: Vec<Approve>,
    policy: Policy,
    limits: BTreeMap<String, MinuteLimits>,
    prices: BTreeMap<String, Price>,
}

impl Default for File {
    fn default() -> Self {
        Self {
            version: VERSION,
            model: None,
            db: None,
            semantic: None,
            as_of: None,
            language: None,
            connections: BTreeMap::new(),
            plan: Plan::default(),
            budget: Budget::default(),
            batch: Batch::default(),
            output: FileOutput::default(),
            allow: Vec::new(),
            share: Share::default(),
            approve: Vec::new(),
            policy: Policy::default(),
            limits: BTreeMap::new(),
            prices: BTreeMap::new(),
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FileConnection {
    url: Option<String>,
    url_env: Option<String>,
    semantic: Option<PathBuf>,
    role: Option<String>,
    schemas: Option<Vec<String>>,
    tls: Option<Tls>,
    limits: Option<ConnectionLimits>,
    policy: Option<Policy>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct FileOutput {
    home: Option<PathBuf>,
    font_dir: Option<PathBuf>,
}

impl FileConnection {
    /// The connection, its paths beside the file in `folder`; else what is wrong with it, in words.
    fn read(self, name: &str, folder: &Path) -> Result<ConnectionSource, String> {
        let url = match (self.url, self.url_env) {
            (Some(url), None) => UrlSource::Url(place(&url, folder)),
            (None, Some(variable)) => UrlSource::Variable(variable),
            (Some(_), Some(_)) | (None, None) => return Err("needs either `url` or `url_env`".to_owned()),
        };
        let access = Access {
            tls: self.tls.unwrap_or_default().beside(folder),
            role: self.role,
            schemas: self.schemas.unwrap_or_default(),
            limits: self.limits.unwrap_or_default(),
            policies: self
                .policy
                .into_iter()
                .map(|policy| NamedPolicy {
                    name: format!("connections.{name}.policy"),
                    policy,
                })
                .collect(),
        };
        access.check()?;
        for named in &access.policies {
            named
                .policy
                .check()
                .map_err(|problem| format!("has a `policy` that {problem}"))?;
        }
        Ok(ConnectionSource {
            url,
            semantic: self.semantic.map(|path| folder.join(path)),
            access,
        })
    }
}

/// The JSON schema of the file.
pub(super) fn schema() -> schemars::Schema {
    schemars::schema_for!(File)
}

/// Reads a file into a configuration whose `db` still holds what the file says, unresolved. Paths in the file are
/// relative to its folder.
pub(super) fn read(path: &Path) -> Result<Config, ConfigError> {
    let text = std::fs::read_to_string(path).map_err(|e| ConfigError::Unreadable {
        path: path.to_owned(),
        problem: e.to_string(),
    })?;
    let file: File = toml::from_str(&text).map_err(|e| explain(path, &text, &e))?;
    if file.version != VERSION {
        let problem = format!(
            "version {} is not known; this program reads version {VERSION}",
            file.version
        );
        return Err(ConfigError::Invalid {
            path: path.to_owned(),
            line: line_of(&text, "version"),
            problem,
        });
    }
    file.policy.check().map_err(|problem| ConfigError::Invalid {
        path: path.to_owned(),
        line: line_of(&text, "[policy"),
        problem: format!("`policy` {problem}"),
    })?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let beside = |p: PathBuf| folder.join(p);
    let mut connections = BTreeMap::new();
    for (name, connection) in file.connections {
        let source = connection.read(&name, folder).map_err(|problem| ConfigError::Invalid {
            path: path.to_owned(),
            line: line_of(&text, &name),
            problem: format!("connection `{name}` {problem}"),
        })?;
        connections.insert(name, source);
    }
    let mut config = Config {
        file: Some(path.to_owned()),
        semantic: file.semantic.map(beside),
        plan: file.plan,
        budget: file.budget,
        batch: file.batch,
        allow: file.allow,
        share: file.share,
        approve: file.approve,
        policy: file.policy,
        limits: file.limits,
        prices: file.prices,
        ..Config::default()
    };
    if let Some(model) = file.model {
        config.model = model;
    }
    config.db = file.db.map(|chosen| {
        let url = if connections.contains_key(&chosen) {
            chosen
        } else {
            place(&chosen, folder)
        };
        Connection {
            name: None,
            url,
            semantic: None,
            access: Access::default(),
        }
    });
    config.connections = connections;
    config.as_of = file.as_of.map(|d| read_date("as_of in analyst.toml", &d)).transpose()?;
    config.language = file
        .language
        .map(|l| read_language("language in analyst.toml", &l))
        .transpose()?;
    if let Some(home) = file.output.home {
        config.output.home = beside(home);
    }
    config.output.font_dir = file.output.font_dir.map(beside);
    Ok(config)
}

/// A path of the file is relative to the file; a URL, or a word that may be a name, stays as it is.
fn place(target: &str, folder: &Path) -> String {
    let is_path = !target.contains(':') && target.contains(['/', '.']);
    if is_path {
        folder.join(target).to_string_lossy().into_owned()
    } else {
        target.to_owned()
    }
}

/// Turns the parser's complaint into one with the line, and the nearest known key where a key is unknown.
fn explain(path: &Path, text: &str, error: &toml::de::Error) -> ConfigError {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let path = path.to_owned();
    let message = error.message();
    match message
        .strip_prefix("unknown field `")
        .and_then(|rest| rest.split_once('`'))
    {
        Some((key, rest)) => {
            let known: Vec<String> = rest.split('`').skip(1).step_by(2).map(str::to_owned).collect();
            ConfigError::UnknownKey {
                path,
                line,
                key: key.to_owned(),
                nearest: nearest(key, &known),
                known,
            }
        }
        None => {
            let problem = message.lines().collect::<Vec<_>>().join(", ");
            ConfigError::Invalid { path, line, problem }
        }
    }
}

fn line_of(text: &str, word: &str) -> usize {
    text.lines().position(|l| l.contains(word)).map_or(1, |index| index + 1)
}
