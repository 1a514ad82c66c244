//! A session as one folder that stands alone, laid out as `--out DIR` would have it.

use std::fs;
use std::io;
use std::path::Path;

use crate::session::store::{Found, StoreError, write_durably};

/// Copies `found` into `folder`, which must be empty or missing. The last run's report lies at the top.
pub fn export(found: &Found, folder: &Path) -> Result<(), StoreError> {
    let cannot_make = |source| StoreError::Folder {
        path: folder.to_owned(),
        source,
    };
    fs::create_dir_all(folder).map_err(cannot_make)?;
    if fs::read_dir(folder).map_err(cannot_make)?.next().is_some() {
        return Err(cannot_make(io::Error::new(
            io::ErrorKind::AlreadyExists,
            "it is there already and not empty",
        )));
    }
    let runs = (1..).take_while(|run| found.run(*run).is_dir()).last().unwrap_or(1);
    let report = found.run(runs);
    copy_file(found, &found.timeline(), &folder.join("timeline.jsonl"), runs)?;
    copy_folder(found, &found.root().join("results"), &folder.join("results"), runs)?;
    copy_folder(found, &report.join("charts"), &folder.join("charts"), runs)?;
    for entry in entries(&report)? {
        let is_of_the_report = entry.is_file() && entry.file_name().is_some_and(|name| name != "timeline.jsonl");
        if is_of_the_report && let Some(name) = entry.file_name() {
            copy_file(found, &entry, &folder.join(name), runs)?;
        }
    }
    Ok(())
}

fn copy_folder(found: &Found, from: &Path, to: &Path, run: u32) -> Result<(), StoreError> {
    if !from.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(to).map_err(|source| StoreError::Folder {
        path: to.to_owned(),
        source,
    })?;
    for entry in entries(from)? {
        if let Some(name) = entry.file_name().filter(|_| entry.is_file()) {
            copy_file(found, &entry, &to.join(name), run)?;
        }
    }
    Ok(())
}

fn entries(folder: &Path) -> Result<Vec<std::path::PathBuf>, StoreError> {
    let listed = fs::read_dir(folder).map_err(|source| StoreError::Read {
        path: folder.to_owned(),
        source,
    })?;
    Ok(listed.flatten().map(|entry| entry.path()).collect())
}

/// Copies one file. Where it names files by their path in the session, the copy names those that lie beside it.
fn copy_file(found: &Found, from: &Path, to: &Path, run: u32) -> Result<(), StoreError> {
    let mut bytes = fs::read(from).map_err(|source| StoreError::Read {
        path: from.to_owned(),
        source,
    })?;
    let inside = found.run(run);
    let prefix = inside.strip_prefix(found.root()).unwrap_or(Path::new(""));
    let names_paths = from
        .extension()
        .is_some_and(|ending| ending == "json" || ending == "jsonl");
    if names_paths && !prefix.as_os_str().is_empty() {
        let text = String::from_utf8_lossy(&bytes).replace(&format!("\"{}/", prefix.to_string_lossy()), "\"");
        bytes = text.into_bytes();
    }
    write_durably(to, &bytes)
}
