//! CSV and Parquet files as a database: each becomes a table of a SQLite file that nobody else sees.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tempfile::TempDir;
use tokio::task::spawn_blocking;

use super::{EngineError, TargetError};
use crate::warehouse::Dialect;
use crate::warehouse::catalog::pattern::fits_pattern;
use crate::warehouse::catalog::quote;
use crate::warehouse::fetch::unique_name;

mod delimited;
mod parquet;

/// Files whose names end so hold a table.
const DELIMITED: &[&str] = &["csv", "tsv"];
const PARQUET: &str = "parquet";

/// A database made from files, and the folder that holds it while it is in use.
pub(super) struct Loaded {
    pub(super) dir: TempDir,
    pub(super) path: PathBuf,
}

/// A column of a table to be made.
struct NewColumn {
    name: String,
    declared: &'static str,
}

/// The CSV and Parquet files that `text` names: as a file, as a folder, or as a pattern whose last part has `*` or `?`.
///
/// `None` where `text` speaks of no such files; an error where it does and there are none.
pub(super) fn find(text: &str) -> Result<Option<Vec<PathBuf>>, TargetError> {
    let path = Path::new(text);
    if path.is_dir() {
        let files = in_folder(path, &|path| is_table(path));
        return if files.is_empty() {
            Err(TargetError::IsDirectory(path.to_owned()))
        } else {
            Ok(Some(files))
        };
    }
    if path.is_file() {
        return Ok(is_table(path).then(|| vec![path.to_owned()]));
    }
    let pattern = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if !pattern.contains(['*', '?']) {
        return Ok(None);
    }
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let fits = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        is_table(path) && fits_pattern(&pattern, &name)
    };
    let files = in_folder(folder, &fits);
    if files.is_empty() {
        Err(TargetError::NoMatch(text.to_owned()))
    } else {
        Ok(Some(files))
    }
}

fn in_folder(folder: &Path, fits: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.is_file() && fits(path))
        .collect();
    files.sort();
    files
}

fn extension(path: &Path) -> String {
    path.extension()
        .map(OsStr::to_string_lossy)
        .unwrap_or_default()
        .to_lowercase()
}

fn is_table(path: &Path) -> bool {
    let extension = extension(path);
    extension == PARQUET || DELIMITED.contains(&extension.as_str())
}

/// Makes a database with one table for each file, named like the file.
pub(super) async fn load(paths: Vec<PathBuf>) -> Result<Loaded, EngineError> {
    let loaded = spawn_blocking(move || make(&paths)).await;
    loaded.map_err(|error| EngineError::Interrupted(error.to_string()))?
}

fn make(paths: &[PathBuf]) -> Result<Loaded, EngineError> {
    let scratch = |error: std::io::Error| EngineError::Open {
        database: std::env::temp_dir().display().to_string(),
        reason: format!("no place for the tables that files are loaded into: {error}"),
    };
    let dir = tempfile::Builder::new().prefix("analyst-").tempdir().map_err(scratch)?;
    let path = dir.path().join("tables.sqlite");
    let mut connection = Connection::open(&path)?;
    // The file is thrown away after use, so it need not survive a crash.
    connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")?;
    let mut names = HashSet::new();
    for file in paths {
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let table = unique_name(stem, &mut names);
        let transaction = connection.transaction()?;
        let loaded = if extension(file) == PARQUET {
            parquet::load(file, &table, &transaction)
        } else {
            delimited::load(file, &table, &transaction)
        };
        loaded.map_err(|reason| EngineError::Open {
            database: file.display().to_string(),
            reason,
        })?;
        transaction.commit()?;
    }
    Ok(Loaded { dir, path })
}

/// Creates `table`, and gives the statement that inserts a row into it.
fn create(connection: &Connection, table: &str, columns: &[NewColumn]) -> Result<String, rusqlite::Error> {
    let table = quote(Dialect::Sqlite, table);
    let defined = columns
        .iter()
        .map(|column| format!("{} {}", quote(Dialect::Sqlite, &column.name), column.declared));
    connection.execute_batch(&format!(
        "CREATE TABLE {table} ({})",
        defined.collect::<Vec<_>>().join(", ")
    ))?;
    Ok(format!(
        "INSERT INTO {table} VALUES ({})",
        vec!["?"; columns.len()].join(", ")
    ))
}

#[cfg(test)]
mod tests;
