//! Results on disk: `q1.parquet` with the rows, `q1.sql` with the statement that made them.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use polars_io::SerReader;
use polars_io::parquet::read::ParquetReader;
use polars_io::parquet::write::{KeyValueMetadata, ParquetWriter};
use serde::{Deserialize, Serialize};

use super::{FetchError, ResultColumn, ResultSet, content_hash};
use crate::whole_file::{self, Readers};

/// The key in the Parquet file's metadata under which ours lies.
const METADATA_KEY: &str = "analyst.result";

/// What the rows alone do not say.
#[derive(Serialize, Deserialize)]
struct Metadata {
    v: u32,
    columns: Vec<ResultColumn>,
    truncated: bool,
    elapsed_ms: u64,
    hash: String,
}

impl ResultSet {
    /// Saves the result in `dir` (made if missing) as `<id>.parquet` and `<id>.sql`, and gives the path of the former.
    ///
    /// Each file is written aside and renamed, so that no reader ever sees half of one.
    pub fn save(&self, dir: &Path) -> Result<PathBuf, FetchError> {
        fs::create_dir_all(dir).map_err(|error| file_error("make", dir, &error))?;
        let path = dir.join(format!("{}.parquet", self.id));
        replace(&dir.join(format!("{}.sql", self.id)), |file| {
            file.write_all(self.sql.as_bytes())?;
            file.write_all(b"\n")
        })?;
        replace(&path, |file| self.write_parquet(file).map_err(std::io::Error::other))?;
        Ok(path)
    }

    /// Writes the rows as a Parquet file, with what is known of them in its metadata.
    pub fn write_parquet(&self, to: impl Write) -> Result<(), FetchError> {
        let metadata = Metadata {
            v: 1,
            columns: self.columns.clone(),
            truncated: self.truncated,
            elapsed_ms: u64::try_from(self.elapsed.as_millis()).unwrap_or(u64::MAX),
            hash: self.hash.clone(),
        };
        let metadata = serde_json::to_string(&metadata).map_err(|error| FetchError::File {
            action: "describe",
            path: self.id.clone(),
            reason: error.to_string(),
        })?;
        ParquetWriter::new(to)
            .with_key_value_metadata(Some(KeyValueMetadata::from_static(vec![(
                METADATA_KEY.to_owned(),
                metadata,
            )])))
            .finish(&mut self.frame.clone())?;
        Ok(())
    }

    /// Brings back the result that [`ResultSet::save`] put in `dir` as `id`.
    ///
    /// Errors with [`FetchError::Damaged`] when the rows are no longer those that were saved.
    pub fn load(dir: &Path, id: &str) -> Result<Self, FetchError> {
        let path = dir.join(format!("{id}.parquet"));
        let sql_path = dir.join(format!("{id}.sql"));
        let damaged = |reason: String| FetchError::Damaged {
            path: path.display().to_string(),
            reason,
        };
        let file = File::open(&path).map_err(|error| file_error("read", &path, &error))?;
        let sql = fs::read_to_string(&sql_path).map_err(|error| file_error("read", &sql_path, &error))?;
        let mut reader = ParquetReader::new(file);
        let stored = reader.get_metadata().map_err(|error| damaged(error.to_string()))?;
        let metadata = stored.key_value_metadata().as_ref().and_then(|pairs| {
            pairs
                .iter()
                .find(|pair| pair.key == METADATA_KEY)
                .and_then(|pair| pair.value.clone())
        });
        let metadata = metadata.ok_or_else(|| damaged("it was not written by analyst".to_owned()))?;
        let metadata: Metadata = serde_json::from_str(&metadata).map_err(|error| damaged(error.to_string()))?;
        let frame = reader.finish().map_err(|error| damaged(error.to_string()))?;
        let hash = content_hash(&frame);
        if hash != metadata.hash {
            return Err(damaged("its content hash differs".to_owned()));
        }
        Ok(Self {
            id: id.to_owned(),
            sql: sql.strip_suffix('\n').unwrap_or(&sql).to_owned(),
            row_count: frame.height(),
            frame,
            columns: metadata.columns,
            truncated: metadata.truncated,
            elapsed: Duration::from_millis(metadata.elapsed_ms),
            hash,
        })
    }
}

/// Writes `path` whole or not at all.
fn replace(path: &Path, write: impl FnOnce(&mut File) -> std::io::Result<()>) -> Result<(), FetchError> {
    whole_file::replace(path, Readers::AsUsual, write).map_err(|error| file_error("write", path, &error))
}

fn file_error(action: &'static str, path: &Path, reason: &impl ToString) -> FetchError {
    FetchError::File {
        action,
        path: path.display().to_string(),
        reason: reason.to_string(),
    }
}
