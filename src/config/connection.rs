//! Databases by name: where they are, and how they may be used.

use std::fmt;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;

use super::NamedPolicy;

/// A database that was chosen, with what is known of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Connection {
    /// The name that the configuration gives it.
    pub name: Option<String>,
    /// A path or a URL; it may hold a password, so it is not shown by `Debug`.
    pub url: String,
    pub semantic: Option<PathBuf>,
    pub access: Access,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("name", &self.name)
            .field("semantic", &self.semantic)
            .field("access", &self.access)
            .finish_non_exhaustive()
    }
}

/// A connection as the file names it.
#[derive(Clone, PartialEq, Eq)]
pub struct ConnectionSource {
    pub url: UrlSource,
    pub semantic: Option<PathBuf>,
    pub access: Access,
}

impl fmt::Debug for ConnectionSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let variable = match &self.url {
            UrlSource::Variable(name) => Some(name),
            UrlSource::Url(_) => None,
        };
        f.debug_struct("ConnectionSource")
            .field("url_env", &variable)
            .field("access", &self.access)
            .finish_non_exhaustive()
    }
}

/// Where a connection's URL stands.
#[derive(Clone, PartialEq, Eq)]
pub enum UrlSource {
    Url(String),
    /// The name of an environment variable, so that passwords stay out of the file.
    Variable(String),
}

/// How a database is used beside its URL. The default asks for nothing and limits nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Access {
    pub tls: Tls,
    /// The role to work as, set right after connecting.
    pub role: Option<String>,
    /// The only schemas (databases, for MySQL) that are looked at, in the order in which plain names are looked up;
    /// empty means the user's own search path, and every schema that may be read.
    pub schemas: Vec<String>,
    pub limits: ConnectionLimits,
    /// What may be read of it.
    pub policies: Vec<NamedPolicy>,
}

/// Transport security to a server. Without any setting the URL decides.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tls {
    /// `verify-full` where a certificate is named here.
    pub mode: Option<TlsMode>,
    /// The authority that signed the server's certificate (PEM).
    pub ca: Option<PathBuf>,
    /// The client's own certificate and its key (PEM); both or neither.
    pub certificate: Option<PathBuf>,
    pub key: Option<PathBuf>,
}

/// How much TLS promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TlsMode {
    Off,
    /// Encrypted, to whoever answers.
    Require,
    /// And the server's certificate is signed by a known authority.
    VerifyCa,
    /// And it was made for this host.
    VerifyFull,
}

/// What no statement on a connection may exceed, whoever asks; `None` leaves it to who asks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ConnectionLimits {
    pub max_rows: Option<u64>,
    /// Bytes of one result in memory.
    pub max_bytes: Option<u64>,
    /// Seconds that one statement may run.
    pub timeout: Option<u64>,
    /// The planner's cost of a statement (PostgreSQL, MySQL).
    pub max_cost: Option<u64>,
    /// Rows that the planner expects any one step of a statement to handle (PostgreSQL, MySQL, MariaDB).
    pub max_plan_rows: Option<u64>,
    /// Instructions of the virtual machine (SQLite).
    pub max_steps: Option<u64>,
}

impl Access {
    /// What cannot be meant, in words that go on after the connection's name.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.tls.certificate.is_some() != self.tls.key.is_some() {
            return Err("needs `tls.certificate` and `tls.key` together".to_owned());
        }
        let named = self.tls.ca.is_some() || self.tls.certificate.is_some();
        if self.tls.mode == Some(TlsMode::Off) && named {
            return Err("names certificates and says `tls.mode = \"off\"`; take out one of them".to_owned());
        }
        if self.role.as_deref().is_some_and(|role| role.trim().is_empty()) {
            return Err("has an empty `role`; name one or take the line out".to_owned());
        }
        if self.schemas.iter().any(|schema| schema.trim().is_empty()) {
            return Err("has an empty name in `schemas`".to_owned());
        }
        match self.limits.named().iter().find(|(_, value)| *value == Some(0)) {
            Some((key, _)) => Err(format!("has `limits.{key} = 0`; it must be at least 1")),
            None => Ok(()),
        }
    }

    /// What an ADBC driver cannot be told, where something of it is asked for.
    pub fn of_drivers(&self) -> Option<&'static str> {
        match self {
            _ if self.role.is_some() => Some("role"),
            _ if self.tls != Tls::default() => Some("tls"),
            _ => None,
        }
    }

    /// The limits, with what the policies say of rows.
    pub fn all_limits(&self) -> ConnectionLimits {
        let of_policies = self.policies.iter().filter_map(|named| named.policy.max_rows);
        ConnectionLimits {
            max_rows: of_policies.chain(self.limits.max_rows).min(),
            ..self.limits
        }
    }

    /// What only a server has, where something of it is asked for.
    pub fn of_servers(&self) -> Option<&'static str> {
        match self {
            _ if self.role.is_some() => Some("role"),
            _ if !self.schemas.is_empty() => Some("schemas"),
            _ if self.tls != Tls::default() => Some("tls"),
            _ => None,
        }
    }
}

impl ConnectionLimits {
    fn named(&self) -> [(&'static str, Option<u64>); 6] {
        [
            ("max_rows", self.max_rows),
            ("max_bytes", self.max_bytes),
            ("timeout", self.timeout),
            ("max_cost", self.max_cost),
            ("max_plan_rows", self.max_plan_rows),
            ("max_steps", self.max_steps),
        ]
    }
}

impl Tls {
    /// The mode that holds: the one that is named, else the strictest where certificates are.
    pub fn mode(&self) -> Option<TlsMode> {
        let named = self.ca.is_some() || self.certificate.is_some();
        self.mode.or(named.then_some(TlsMode::VerifyFull))
    }

    /// The same with its paths taken from `folder`.
    pub(super) fn beside(self, folder: &Path) -> Self {
        let place = |path: PathBuf| folder.join(path);
        Self {
            mode: self.mode,
            ca: self.ca.map(place),
            certificate: self.certificate.map(place),
            key: self.key.map(place),
        }
    }
}
