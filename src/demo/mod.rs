//! The sample sales database and its generator.
//!
//! "Meridian Office Systems" sells computers and office equipment from seven offices, 2003-01-01 to 2005-12-12. Every
//! row follows from one seed by integer arithmetic, so that every machine writes the same rows: what is in there, with
//! the traps that an analyst must not fall into, stands in `fixtures/sales/README.md`.
//!
//! Read from the ground up: `random` (chance that repeats), `people`, `goods`, `customers` (who and what),
//! `traps` (what is staged), `trade` (who buys what when), `aftermath` (payments, returns, targets), `file`
//! (rows into SQLite), `cache` (where the file lies).

mod aftermath;
mod cache;
mod customers;
mod file;
mod goods;
mod people;
mod random;
mod trade;
mod traps;

use std::path::{Path, PathBuf};

use jiff::civil::{Date, date};
use thiserror::Error;

/// What the database is called in reports and listings.
pub const DATABASE_NAME: &str = "sample sales database";

/// The semantic model that belongs to the sample database, in the Apache Ossie format.
pub const SEMANTIC_YAML: &str = include_str!("../../fixtures/sales/semantic.yaml");

/// Counts up whenever a row of the database changes, so that an older file in a cache is not taken for this one.
pub const VERSION: u32 = 2;

/// First day of trading.
pub const FIRST_DAY: Date = date(2003, 1, 1);

/// Last day of trading: December 2005 is a partial month.
pub const LAST_DAY: Date = date(2005, 12, 12);

/// Money in cents. Nothing in the generator decides or adds in floating point.
type Cents = i64;

/// What to do when the file to write is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// Leave it alone and say so ([`DemoError::Exists`]).
    Refuse,
    /// Replace it; a reader that has it open keeps the old one.
    Replace,
}

/// Why the sample database could not be written.
#[derive(Debug, Error)]
pub enum DemoError {
    #[error("{} exists already; choose another path, or replace it with --force", .path.display())]
    Exists { path: PathBuf },
    #[error("{} is a folder; name a file in it, such as {}", .path.display(), .path.join("sales.sqlite").display())]
    IsFolder { path: PathBuf },
    #[error("cannot write the sample database to {}: {source}; choose a folder that you may write to", .path.display())]
    Place { path: PathBuf, source: std::io::Error },
    #[error("cannot fill the sample database at {}: {source}; is the disk full?", .path.display())]
    Fill { path: PathBuf, source: rusqlite::Error },
}

/// Writes the sample database to `path` as one SQLite file, in well under half a second.
///
/// The file appears whole or not at all (temporary file beside it, then a rename). The folder must be there.
pub fn write(path: &Path, existing: Existing) -> Result<(), DemoError> {
    file::write(path, existing)
}

/// The sample database in the user's cache folder, written there on first use.
///
/// Two processes that come first at the same time both get a whole file. Where the cache folder cannot be written, the
/// file goes to the system's temporary folder.
pub fn cached() -> Result<PathBuf, DemoError> {
    cache::cached()
}
