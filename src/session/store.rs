//! A session's folder on disk: where its files live, who may write them, and how nothing is left half-written.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use crate::whole_file::{self, Readers};

/// How many times a fresh id is tried; two sessions in one second with the same four digits are rare enough.
const ID_ATTEMPTS: usize = 16;

/// A session's events; a folder with such a file is a session.
const TIMELINE: &str = "timeline.jsonl";

/// Stands for the newest session's id.
const LAST: &str = "last";

/// Names the process that writes to a session; there only while it does.
const LOCK: &str = "lock";

/// Why a session's folder could not be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("cannot create the folder {}: {source}; choose another place with --out DIR", .path.display())]
    Folder { path: PathBuf, source: io::Error },
    #[error("cannot write {}: {source}; nothing was left half-written", .path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot read {}: {source}", .path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{} is in use by another analyst (process {owner}); wait for it, or choose another place with --out DIR", .path.display())]
    InUse { path: PathBuf, owner: String },
    #[error("`{name}` begins the ids of several sessions ({first}, {second}); write more of it")]
    Several {
        name: String,
        first: String,
        second: String,
    },
    #[error("no session `{id}` in {}; `analyst sessions list` shows those there are", .base.display())]
    Unknown { id: String, base: PathBuf },
}

/// How a session's files are arranged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// `timeline.jsonl`, `results/`, and a folder per run.
    Kept,
    /// One folder that stands alone (`--out DIR`): the report lies beside the timeline.
    Flat,
}

impl Layout {
    fn run(self, root: &Path, run: u32) -> PathBuf {
        match self {
            Layout::Kept => root.join("runs").join(run.to_string()),
            Layout::Flat if run <= 1 => root.to_owned(),
            Layout::Flat => root.join(format!("run-{run}")),
        }
    }
}

/// A session's folder to read from; nothing is locked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    root: PathBuf,
    layout: Layout,
}

impl Found {
    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn timeline(&self) -> PathBuf {
        self.root.join(TIMELINE)
    }

    /// The folder of one run's report.
    pub fn run(&self, run: u32) -> PathBuf {
        self.layout.run(&self.root, run)
    }

    /// Removes the whole session, unless a process is writing to it.
    pub fn remove(self) -> Result<(), StoreError> {
        let _lock = lock(&self.root)?;
        fs::remove_dir_all(&self.root).map_err(|source| StoreError::Write {
            path: self.root.clone(),
            source,
        })
    }
}

/// The session that `name` means: an id under `base`, the beginning of one that no other shares, `last`, or the folder
/// of a session (`--out DIR`).
pub fn find(base: &Path, name: &str) -> Result<Found, StoreError> {
    let kept = |id: &str| Found {
        root: base.join("sessions").join(id),
        layout: Layout::Kept,
    };
    let ids = list(base)?;
    if ids.iter().any(|id| id == name) {
        return Ok(kept(name));
    }
    let folder = Path::new(name);
    if folder.join(TIMELINE).is_file() {
        let is_kept = folder.parent().is_some_and(|parent| parent.ends_with("sessions"));
        let layout = if is_kept { Layout::Kept } else { Layout::Flat };
        let root = folder.to_owned();
        return Ok(Found { root, layout });
    }
    if name == LAST
        && let Some(id) = ids.last()
    {
        return Ok(kept(id));
    }
    let mut begin_so = ids.iter().filter(|id| !name.is_empty() && id.starts_with(name));
    match (begin_so.next(), begin_so.next()) {
        (Some(id), None) => Ok(kept(id)),
        (Some(first), Some(second)) => Err(StoreError::Several {
            name: name.to_owned(),
            first: first.clone(),
            second: second.clone(),
        }),
        (None, _) => Err(StoreError::Unknown {
            id: name.to_owned(),
            base: base.to_owned(),
        }),
    }
}

/// One session's folder, locked by this process for as long as the value lives.
#[derive(Debug)]
pub struct Session {
    id: String,
    root: PathBuf,
    layout: Layout,
    /// Holds the operating system's lock, which ends with the process however it ends.
    _lock: File,
}

impl Session {
    /// A new session under `base` (`.analyst`), as `sessions/YYYYMMDD-HHMMSS-xxxx`.
    pub fn create(base: &Path, now: jiff::Timestamp) -> Result<Self, StoreError> {
        let sessions = base.join("sessions");
        create_folder(&sessions)?;
        let mut last = None;
        for _ in 0..ID_ATTEMPTS {
            let id = new_id(now);
            let root = sessions.join(&id);
            match fs::create_dir(&root) {
                Ok(()) => return Self::enter(id, root, Layout::Kept),
                Err(source) if source.kind() == io::ErrorKind::AlreadyExists => last = Some((root, source)),
                Err(source) => return Err(StoreError::Folder { path: root, source }),
            }
        }
        let (path, source) = last.unwrap_or_else(|| (sessions, io::ErrorKind::AlreadyExists.into()));
        Err(StoreError::Folder { path, source })
    }

    /// A session in a folder of the caller's choice (`--out DIR`), made when missing. Its id is a fresh one.
    pub fn flat(folder: &Path, now: jiff::Timestamp) -> Result<Self, StoreError> {
        create_folder(folder)?;
        Self::enter(new_id(now), folder.to_owned(), Layout::Flat)
    }

    /// The session that `found` found, to go on with; `id` is the one that its timeline gives.
    pub fn reopen(found: &Found, id: String) -> Result<Self, StoreError> {
        Self::enter(id, found.root.clone(), found.layout)
    }

    fn enter(id: String, root: PathBuf, layout: Layout) -> Result<Self, StoreError> {
        let lock = lock(&root)?;
        let session = Self {
            id,
            root,
            layout,
            _lock: lock,
        };
        for folder in session.maybe_empty() {
            create_folder(&folder)?;
            sweep(&folder);
        }
        sweep(&session.root);
        Ok(session)
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn timeline(&self) -> PathBuf {
        self.root.join(TIMELINE)
    }

    /// The folder of `q1.parquet`, `q1.sql` and so on.
    pub fn results(&self) -> PathBuf {
        self.root.join("results")
    }

    /// The folder of one run's report; runs count from 1.
    pub fn run(&self, run: u32) -> PathBuf {
        self.layout.run(&self.root, run)
    }

    /// The folder of one run's charts, inside its report's folder so that relative links hold.
    pub fn charts(&self, run: u32) -> PathBuf {
        self.run(run).join("charts")
    }

    /// Makes the folders of run `run`.
    pub fn begin_run(&self, run: u32) -> Result<(), StoreError> {
        create_folder(&self.charts(run))
    }

    /// The folders that are made before it is known whether anything comes into them.
    fn maybe_empty(&self) -> [PathBuf; 2] {
        [self.results(), self.charts(1)]
    }

    /// A path as it is written into events and reports: relative to the session's folder where it lies inside.
    pub fn relative(&self, path: &Path) -> String {
        path.strip_prefix(&self.root)
            .unwrap_or(path)
            .to_string_lossy()
            .replace('\\', "/")
    }
}

impl Drop for Session {
    /// Leaves nothing behind that says nothing: the lock, and folders that nothing came into.
    fn drop(&mut self) {
        for folder in self.maybe_empty() {
            // Fails, as it should, when there is something inside.
            let _ = fs::remove_dir(folder);
        }
        if cfg!(unix) {
            let _ = fs::remove_file(self.root.join(LOCK));
        }
    }
}

/// The ids of all sessions under `base`, oldest first.
pub fn list(base: &Path) -> Result<Vec<String>, StoreError> {
    let path = base.join("sessions");
    let entries = match fs::read_dir(&path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(StoreError::Read { path, source }),
    };
    let mut ids: Vec<String> = entries
        .flatten()
        .filter(|e| e.path().join(TIMELINE).is_file())
        .filter_map(|e| e.file_name().into_string().ok())
        .collect();
    ids.sort();
    Ok(ids)
}

/// Writes `bytes` to `path` so that a reader sees the old file or the new one, never a part, even after the power went
/// off: temp file, sync, rename.
pub fn write_durably(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    write(path, bytes, File::sync_all)
}

/// As [`write_durably`] without waiting for the disk: for what a run makes on its way and can make again.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    write(path, bytes, |_| Ok(()))
}

fn write(path: &Path, bytes: &[u8], keep: impl FnOnce(&File) -> io::Result<()>) -> Result<(), StoreError> {
    let failed = |source| StoreError::Write {
        path: path.to_owned(),
        source,
    };
    whole_file::replace(path, Readers::AsUsual, |file| {
        file.write_all(bytes).and_then(|()| keep(file))
    })
    .map_err(failed)
}

/// Takes away files that a killed process was still writing. The caller holds the folder's lock.
fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry
            .file_name()
            .to_str()
            .is_some_and(|name| name.starts_with(whole_file::ASIDE))
        {
            // One that cannot be removed harms nobody.
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn create_folder(path: &Path) -> Result<(), StoreError> {
    fs::create_dir_all(path).map_err(|source| StoreError::Folder {
        path: path.to_owned(),
        source,
    })
}

/// Takes the folder's lock, or says which process holds it. A lock whose owner died is free again by itself.
fn lock(root: &Path) -> Result<File, StoreError> {
    let path = root.join(LOCK);
    let failed = |source| StoreError::Write {
        path: path.clone(),
        source,
    };
    loop {
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut owner = String::new();
                let _ = file.read_to_string(&mut owner);
                return Err(StoreError::InUse {
                    path: root.to_owned(),
                    owner: owner.trim().to_owned(),
                });
            }
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        // Between opening and locking, the owner before may have ended and taken its lock file away.
        if !is_at(&file, &path) {
            continue;
        }
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| writeln!(file, "{}", std::process::id()))
            .and_then(|()| file.flush())
            .map_err(failed)?;
        return Ok(file);
    }
}

/// Is `file` the one that has the name `path` now?
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let same = |a: &fs::Metadata, b: &fs::Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
    matches!((file.metadata(), fs::metadata(path)), (Ok(a), Ok(b)) if same(&a, &b))
}

/// Elsewhere an open file cannot be taken away.
#[cfg(not(unix))]
fn is_at(_file: &File, _path: &Path) -> bool {
    true
}

/// `20261130-161502-7f3a`: the moment in UTC, and four random hexadecimal digits.
fn new_id(now: jiff::Timestamp) -> String {
    let random = RandomState::new().hash_one(now.as_nanosecond()) & 0xffff;
    format!("{}-{random:04x}", now.strftime("%Y%m%d-%H%M%S"))
}

/// Whether `name` is one plain folder name: no separators, no way up.
pub fn is_safe_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('.')
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> jiff::Timestamp {
        "2026-11-30T16:15:02Z".parse().unwrap()
    }

    #[test]
    fn a_session_has_the_folders_of_the_design() {
        let base = tempfile::tempdir().unwrap();
        let session = Session::create(base.path(), now()).unwrap();
        assert!(session.id().starts_with("20261130-161502-"), "{}", session.id());
        assert_eq!(session.id().len(), 20);
        assert!(session.root().ends_with(Path::new("sessions").join(session.id())));
        assert!(session.results().is_dir());
        assert!(session.run(1).ends_with("runs/1") && session.charts(1).is_dir());
        assert_eq!(
            session.relative(&session.charts(1).join("c1.svg")),
            "runs/1/charts/c1.svg"
        );
    }

    #[test]
    fn a_flat_folder_holds_the_report_beside_the_timeline() {
        let base = tempfile::tempdir().unwrap();
        let out = base.path().join("a/b");
        let session = Session::flat(&out, now()).unwrap();
        assert_eq!(session.run(1), out);
        assert_eq!(session.timeline(), out.join("timeline.jsonl"));
        assert!(session.charts(1).is_dir());
    }

    #[test]
    fn one_writer_at_a_time_and_the_lock_ends_with_it() {
        let base = tempfile::tempdir().unwrap();
        let session = Session::create(base.path(), now()).unwrap();
        let id = session.id().to_owned();
        fs::write(session.timeline(), "").unwrap();
        let found = find(base.path(), &id).unwrap();
        for error in [
            Session::reopen(&found, id.clone()).unwrap_err().to_string(),
            found.clone().remove().unwrap_err().to_string(),
        ] {
            assert!(
                error.contains(&format!("in use by another analyst (process {})", std::process::id())),
                "{error}"
            );
        }
        drop(session);
        assert!(Session::reopen(&found, id).is_ok());
        found.clone().remove().unwrap();
        assert!(!found.root().exists());
    }

    #[test]
    fn an_ended_session_leaves_what_was_written_and_nothing_else() {
        let base = tempfile::tempdir().unwrap();
        let session = Session::flat(base.path(), now()).unwrap();
        write_whole(&session.results().join("q1.sql"), b"SELECT 1").unwrap();
        drop(session);
        let left: Vec<_> = fs::read_dir(base.path())
            .unwrap()
            .flatten()
            .map(|e| e.file_name())
            .collect();
        assert_eq!(left, ["results"]);
    }

    #[test]
    fn only_sessions_with_a_timeline_are_listed_and_ids_cannot_climb() {
        let base = tempfile::tempdir().unwrap();
        assert_eq!(list(base.path()).unwrap(), Vec::<String>::new());
        let session = Session::create(base.path(), now()).unwrap();
        assert_eq!(list(base.path()).unwrap(), Vec::<String>::new());
        fs::write(session.timeline(), "").unwrap();
        assert_eq!(list(base.path()).unwrap(), [session.id()]);
        assert!(matches!(
            find(base.path(), "../sessions"),
            Err(StoreError::Unknown { .. })
        ));
    }

    #[test]
    fn a_session_is_found_by_id_beginning_last_and_folder() {
        let base = tempfile::tempdir().unwrap();
        for id in ["20261130-161502-7f3a", "20261130-161502-aaaa", "20261201-000000-0000"] {
            let folder = base.path().join("sessions").join(id);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(TIMELINE), "").unwrap();
        }
        let root = |name: &str| find(base.path(), name).map(|found| found.root().to_owned());
        let kept = |id: &str| base.path().join("sessions").join(id);
        assert_eq!(root("20261130-161502-7f3a").unwrap(), kept("20261130-161502-7f3a"));
        assert_eq!(root("20261130-161502-a").unwrap(), kept("20261130-161502-aaaa"));
        assert_eq!(root("last").unwrap(), kept("20261201-000000-0000"));
        let error = root("20261130").unwrap_err().to_string();
        assert!(error.contains("20261130-161502-7f3a, 20261130-161502-aaaa"), "{error}");
        let out = base.path().join("out");
        fs::create_dir(&out).unwrap();
        fs::write(out.join(TIMELINE), "").unwrap();
        let found = find(base.path(), &out.to_string_lossy()).unwrap();
        assert_eq!((found.root(), found.run(1)), (out.as_path(), out.clone()));
        let path = kept("20261201-000000-0000");
        assert_eq!(
            find(base.path(), &path.to_string_lossy()).unwrap().run(2),
            path.join("runs/2")
        );
    }

    #[test]
    fn a_file_is_replaced_whole_and_leaves_nothing_beside_it() {
        let base = tempfile::tempdir().unwrap();
        let path = base.path().join("report.md");
        write_whole(&path, b"one").unwrap();
        write_whole(&path, b"two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(fs::read_dir(base.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_place_that_cannot_be_written_is_named() {
        let base = tempfile::tempdir().unwrap();
        let file = base.path().join("file");
        fs::write(&file, "").unwrap();
        let error = Session::flat(&file.join("out"), now()).unwrap_err().to_string();
        assert!(
            error.contains("cannot create the folder") && error.contains("--out DIR"),
            "{error}"
        );
    }
}
