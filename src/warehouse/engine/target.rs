//! Which database: what a person writes after `--db`, read into a value that is safe to show.

use std::fmt;
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::adbc::AdbcTarget;
use super::files;

/// The first bytes of every SQLite file that has been written to; an empty file is a valid empty database too.
const SQLITE_MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// A database that can be connected to. Showing it (`Display`, `Debug`) never shows a password.
#[derive(Clone, PartialEq, Eq)]
pub enum Target {
    /// An existing SQLite file.
    Sqlite(PathBuf),
    Postgres(ServerUrl),
    /// MySQL or MariaDB: which of the two is known after connecting.
    Mysql(ServerUrl),
    /// CSV and Parquet files, each of which becomes a table of a SQLite database that lives as long as the engine.
    Files(FileSet),
    /// A database behind an ADBC driver; connecting needs the feature `adbc`.
    Adbc(AdbcTarget),
}

/// Existing CSV and Parquet files, sorted by path; at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSet {
    /// As it was written: a file, a folder or a pattern.
    pub(super) shown: String,
    pub(super) paths: Vec<PathBuf>,
}

/// The URL of a database server, password included; only an engine may look inside.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerUrl(String);

impl ServerUrl {
    /// The URL with its password, for connecting.
    pub(super) fn secret(&self) -> &str {
        &self.0
    }
}

/// Why a `--db` value names no usable database.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TargetError {
    #[error(
        "no database is named; write a file or a URL, such as `--db sales.sqlite` or `--db postgres://user@host/name`"
    )]
    Empty,
    #[error("no such file: {}; a database is never created here, check the path", .0.display())]
    NoSuchFile(PathBuf),
    #[error("{} is a folder without a CSV or Parquet file in it, and no database file", .0.display())]
    IsDirectory(PathBuf),
    #[error("no CSV or Parquet file matches {0}; check the pattern, and quote it so that the shell leaves it alone")]
    NoMatch(String),
    #[error("{} is not a SQLite database; name a SQLite, CSV or Parquet file, or a URL such as postgres://user@host/db", .0.display())]
    NotADatabase(PathBuf),
    #[error("cannot read {}: {reason}", path.display())]
    Unreadable { path: PathBuf, reason: String },
    #[error("unknown kind of database `{0}://`; known are sqlite, postgres, mysql, mariadb, and adbc:DRIVER:…")]
    UnknownScheme(String),
    #[error("{0}")]
    Adbc(String),
    #[error("`{url}` names no server; write it as `{scheme}://user@host:port/database`")]
    NoHost { scheme: String, url: String },
}

impl Target {
    /// Reads what a person wrote after `--db`: `sales.sqlite`, `sqlite:sales.sqlite`, `sqlite:///abs/sales.sqlite`,
    /// `postgres://…`, `postgresql://…`, `mysql://…`, `mariadb://…`, `adbc:DRIVER:…`, or CSV and Parquet files as `sales.csv`, as a
    /// folder, or as a pattern such as `data/*.csv`.
    ///
    /// A file must exist, be readable and hold a SQLite database; servers are not contacted.
    pub fn parse(text: &str) -> Result<Self, TargetError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(TargetError::Empty);
        }
        if let Some(path) = strip_scheme(text, "sqlite:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            return if path.is_empty() {
                Err(TargetError::Empty)
            } else {
                sqlite_file(Path::new(path))
            };
        }
        if let Some(behind) = strip_scheme(text, "adbc:") {
            return AdbcTarget::parse(behind).map(Self::Adbc).map_err(TargetError::Adbc);
        }
        match text.split_once("://") {
            Some((scheme, rest)) => server(&scheme.to_ascii_lowercase(), rest, text),
            None => match files::find(text)? {
                Some(paths) => Ok(Self::Files(FileSet {
                    shown: text.to_owned(),
                    paths,
                })),
                None => sqlite_file(Path::new(text)),
            },
        }
    }

    /// What tells the database from every other, without a password: the whole path of a file, or the URL.
    pub(super) fn place(&self) -> String {
        match self {
            Self::Sqlite(path) => fs::canonicalize(path)
                .unwrap_or_else(|_| path.clone())
                .display()
                .to_string(),
            Self::Files(_) | Self::Postgres(_) | Self::Mysql(_) | Self::Adbc(_) => self.to_string(),
        }
    }

    /// The name by which people call the database: a file's stem, or the last part of a URL's path.
    pub fn name(&self) -> String {
        match self {
            Self::Sqlite(path) => stem(path),
            // A single file is its own database; of several the folder is.
            Self::Files(files) => match files.paths.as_slice() {
                [only] => stem(only),
                [first, ..] => first
                    .parent()
                    .map(stem)
                    .filter(|name| !name.is_empty())
                    .unwrap_or_else(|| "files".to_owned()),
                [] => String::new(),
            },
            Self::Adbc(adbc) => adbc.name(),
            Self::Postgres(url) | Self::Mysql(url) => {
                let path = url.0.split(['?', '#']).next().unwrap_or_default();
                path.rsplit('/')
                    .next()
                    .filter(|name| !name.contains('@'))
                    .unwrap_or_default()
                    .to_owned()
            }
        }
    }
}

impl std::str::FromStr for Target {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        Self::parse(text)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "{}", path.display()),
            Self::Files(files) => write!(f, "{}", files.shown),
            Self::Adbc(adbc) => write!(f, "{}", adbc.shown()),
            Self::Postgres(url) | Self::Mysql(url) => write!(f, "{}", redact(&url.0)),
        }
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({self})")
    }
}

impl fmt::Debug for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ServerUrl({})", redact(&self.0))
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// `text` after `scheme`, whatever the case of the scheme.
fn strip_scheme<'a>(text: &'a str, scheme: &str) -> Option<&'a str> {
    let head = text.get(..scheme.len())?;
    head.eq_ignore_ascii_case(scheme)
        .then(|| text.get(scheme.len()..))
        .flatten()
}

fn sqlite_file(path: &Path) -> Result<Target, TargetError> {
    let unreadable = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => TargetError::NoSuchFile(path.to_owned()),
        _ => TargetError::Unreadable {
            path: path.to_owned(),
            reason: error.to_string(),
        },
    };
    let about = fs::metadata(path).map_err(unreadable)?;
    if about.is_dir() {
        return Err(TargetError::IsDirectory(path.to_owned()));
    }
    if !about.is_file() {
        return Err(TargetError::NotADatabase(path.to_owned()));
    }
    let mut head = Vec::with_capacity(SQLITE_MAGIC.len());
    let file = fs::File::open(path).map_err(unreadable)?;
    file.take(SQLITE_MAGIC.len() as u64)
        .read_to_end(&mut head)
        .map_err(unreadable)?;
    if head.is_empty() || head == SQLITE_MAGIC {
        Ok(Target::Sqlite(path.to_owned()))
    } else {
        Err(TargetError::NotADatabase(path.to_owned()))
    }
}

fn server(scheme: &str, rest: &str, whole: &str) -> Result<Target, TargetError> {
    let make: fn(ServerUrl) -> Target = match scheme {
        "postgres" | "postgresql" => Target::Postgres,
        "mysql" | "mariadb" => Target::Mysql,
        _ => return Err(TargetError::UnknownScheme(scheme.to_owned())),
    };
    if rest.is_empty() || rest.ends_with('@') {
        return Err(TargetError::NoHost {
            scheme: scheme.to_owned(),
            url: redact(whole),
        });
    }
    let scheme = if scheme == "mariadb" { "mysql" } else { scheme };
    Ok(make(ServerUrl(format!("{scheme}://{rest}"))))
}

/// `url` with the password, and every option whose name speaks of one, replaced by `***`.
fn redact(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let (place, options) = rest
        .split_once('?')
        .map_or((rest, None), |(place, options)| (place, Some(options)));
    // A password may hold `/` or `@` unescaped, so everything up to the last `@` belongs to the credentials.
    let place = match place.rsplit_once('@') {
        Some((credentials, host)) => match credentials.split_once(':') {
            Some((user, _)) => format!("{user}:***@{host}"),
            None => format!("{credentials}@{host}"),
        },
        None => place.to_owned(),
    };
    let options = options.map(|options| {
        let shown: Vec<String> = options.split('&').map(redact_option).collect();
        format!("?{}", shown.join("&"))
    });
    format!("{scheme}://{place}{}", options.unwrap_or_default())
}

fn redact_option(option: &str) -> String {
    match option.split_once('=') {
        Some((name, _))
            if ["pass", "pwd", "secret", "token", "key"]
                .iter()
                .any(|word| name.to_lowercase().contains(word)) =>
        {
            format!("{name}=***")
        }
        _ => option.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn database() -> (tempfile::TempDir, String) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("shop.sqlite");
        fs::write(&path, [SQLITE_MAGIC.as_slice(), &[0; 84]].concat()).unwrap();
        let path = path.to_str().unwrap().to_owned();
        (dir, path)
    }

    #[test]
    fn every_spelling_of_a_file_names_the_same_database() {
        let (_dir, path) = database();
        for spelling in [
            path.clone(),
            format!("sqlite:{path}"),
            format!("sqlite://{path}"),
            format!("SQLite:{path}"),
        ] {
            assert_eq!(
                Target::parse(&spelling),
                Ok(Target::Sqlite(PathBuf::from(&path))),
                "{spelling}"
            );
        }
        assert_eq!(Target::parse(&path).unwrap().name(), "shop");
    }

    #[test]
    fn an_empty_file_is_an_empty_database() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("empty.db");
        fs::write(&path, "").unwrap();
        assert_eq!(Target::parse(path.to_str().unwrap()), Ok(Target::Sqlite(path)));
    }

    #[test]
    fn a_path_that_is_no_database_is_refused_with_the_reason() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().to_owned();
        let missing = folder.join("none.sqlite");
        let text = folder.join("notes.txt");
        fs::write(&text, "these are notes, not rows").unwrap();
        let parse = |path: &Path| Target::parse(path.to_str().unwrap());
        assert_eq!(parse(&missing), Err(TargetError::NoSuchFile(missing.clone())));
        assert_eq!(parse(&folder), Err(TargetError::IsDirectory(folder.clone())));
        assert_eq!(parse(&text), Err(TargetError::NotADatabase(text.clone())));
        assert!(!missing.exists(), "a missing database is not created");
    }

    #[rstest]
    #[case(
        "postgres://ann:s3cr3t@db.example:5432/sales",
        "postgres://ann:***@db.example:5432/sales",
        "sales"
    )]
    #[case("postgresql://ann@db/sales", "postgresql://ann@db/sales", "sales")]
    #[case("mariadb://ann:p@ss/word@db/sales", "mysql://ann:***@db/sales", "sales")]
    #[case(
        "mysql://db/sales?password=x&ssl-mode=REQUIRED",
        "mysql://db/sales?password=***&ssl-mode=REQUIRED",
        "sales"
    )]
    fn a_server_is_shown_without_its_password(#[case] url: &str, #[case] shown: &str, #[case] name: &str) {
        let target = Target::parse(url).unwrap();
        assert_eq!(target.to_string(), shown);
        assert_eq!(format!("{target:?}"), format!("Target({shown})"));
        assert_eq!(target.name(), name);
    }

    #[rstest]
    #[case("", TargetError::Empty)]
    #[case("sqlite:", TargetError::Empty)]
    #[case("oracle://db/sales", TargetError::UnknownScheme("oracle".into()))]
    #[case("postgres://", TargetError::NoHost { scheme: "postgres".into(), url: "postgres://".into() })]
    fn what_names_no_database_is_refused(#[case] text: &str, #[case] error: TargetError) {
        assert_eq!(Target::parse(text), Err(error));
    }
}
