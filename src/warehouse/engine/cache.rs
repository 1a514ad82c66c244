//! Catalogs that were read before, kept for as long as the database says that nothing has changed.
//!
//! A catalog has names, types, keys, comments and row counts, and no values; the files are for the user alone.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::config::{Access, cache_folders};
use crate::warehouse::catalog::Catalog;
use crate::warehouse::catalog::search::SearchIndex;
use crate::warehouse::catalog::values::ValueIndex;
use crate::whole_file::{self, Readers};

/// Counts up when the files, or what introspection finds, change.
const VERSION: u32 = 3;

const EXTENSION: &str = "catalog";

/// A database that nobody asked about for so long is forgotten.
const KEPT_FOR: Duration = Duration::from_secs(60 * 60 * 24 * 60);

/// A folder of catalogs.
#[derive(Debug, Clone)]
pub struct CatalogCache {
    folder: PathBuf,
}

/// What is known of a database before anybody looks at values.
#[derive(Debug, Clone)]
pub struct Known {
    pub catalog: Catalog,
    /// The words of the catalog's names and comments.
    pub search: SearchIndex,
}

/// How a database tells that it has changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Fingerprint {
    /// Different when anything at all was written, be it elsewhere; cheap to ask.
    pub(super) quick: Option<String>,
    /// Different when something in the catalog may be.
    pub(super) full: String,
}

/// The place of one database in a cache.
#[derive(Debug, Clone)]
pub(super) struct Place {
    catalog: PathBuf,
    fingerprint: PathBuf,
}

#[derive(Deserialize)]
struct Kept {
    version: u32,
    full: String,
    catalog: Catalog,
    search: SearchIndex,
}

/// [`Kept`] as it is written.
#[derive(Serialize)]
struct Keep<'a> {
    version: u32,
    full: &'a str,
    catalog: &'a Catalog,
    search: &'a SearchIndex,
}

impl From<Catalog> for Known {
    fn from(catalog: Catalog) -> Self {
        Self {
            search: SearchIndex::build(&catalog, &ValueIndex::default()),
            catalog,
        }
    }
}

impl CatalogCache {
    /// The user's own cache folder; `None` where there is no such folder and none can be made.
    pub fn of_user() -> Option<Self> {
        cache_folders()
            .into_iter()
            .find_map(|folder| Self::at(&folder.join("catalogs")))
    }

    /// A cache in `folder`, which is made if it is missing; `None` where it cannot be.
    pub fn at(folder: &Path) -> Option<Self> {
        fs::create_dir_all(folder).ok()?;
        Some(Self {
            folder: folder.to_owned(),
        })
    }

    /// The place of the database `shown` (its URL without a password), seen through `access`.
    pub(super) fn place(&self, shown: &str, access: &Access) -> Place {
        let mut digest = Sha256::new();
        let parts = [
            env!("CARGO_PKG_VERSION"),
            shown,
            access.role.as_deref().unwrap_or_default(),
            &access.schemas.join("\0"),
        ];
        for part in parts {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
        let key: String = digest
            .finalize()
            .iter()
            .take(16)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        Place {
            catalog: self.folder.join(format!("{key}.{EXTENSION}")),
            fingerprint: self.folder.join(format!("{key}.json")),
        }
    }
}

impl Place {
    /// The fingerprint of the last time, where there was one.
    pub(super) fn last_fingerprint(&self) -> Option<Fingerprint> {
        serde_json::from_slice(&fs::read(&self.fingerprint).ok()?).ok()
    }

    /// What was known when the database had this fingerprint; `None` where it has changed since, or nothing was kept.
    pub(super) fn load(&self, full: &str) -> Option<Known> {
        let bytes = fs::read(&self.catalog).ok()?;
        let kept: Kept = rmp_serde::from_slice(&bytes).ok()?;
        (kept.version == VERSION && kept.full == full).then_some(Known {
            catalog: kept.catalog,
            search: kept.search,
        })
    }

    /// Keeps `known`. A cache that cannot be written is no cache; nobody is troubled by that.
    pub(super) fn store(&self, fingerprint: &Fingerprint, known: &Known) {
        let keep = Keep {
            version: VERSION,
            full: &fingerprint.full,
            catalog: &known.catalog,
            search: &known.search,
        };
        if let Ok(bytes) = rmp_serde::to_vec(&keep) {
            let _ = write(&self.catalog, &bytes);
            self.store_fingerprint(fingerprint);
            self.forget_old();
        }
    }

    /// Keeps the fingerprint alone, where the catalog is still the same.
    pub(super) fn store_fingerprint(&self, fingerprint: &Fingerprint) {
        if let Ok(bytes) = serde_json::to_vec(fingerprint) {
            let _ = write(&self.fingerprint, &bytes);
        }
    }

    fn forget_old(&self) {
        let folder = self.catalog.parent().map(fs::read_dir);
        for entry in folder.into_iter().flatten().flatten().flatten() {
            let age = entry.metadata().and_then(|about| about.modified());
            let age = age
                .ok()
                .and_then(|modified| SystemTime::now().duration_since(modified).ok());
            if age.is_some_and(|age| age > KEPT_FOR) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    whole_file::replace(path, Readers::UserOnly, |file| std::io::Write::write_all(file, bytes))
}

#[cfg(test)]
mod tests;
