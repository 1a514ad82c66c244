//! Whether a SQLite file is still the one that was read before.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::time::UNIX_EPOCH;

/// The header of the file has the counter of changes and the cookie of the schema; that of the log has the salts which
/// change whenever the log starts again.
const HEADER: u64 = 100;

/// Sizes, times and headers of the file at `path` and of its write-ahead log; `None` where the file cannot be read.
///
/// Every change of schema or rows changes one of them, and so may a change that is none.
pub(super) fn of(path: &Path) -> Option<String> {
    let file = state(path)?;
    let mut log = OsString::from(path);
    log.push("-wal");
    // An empty log is as good as none.
    let log = state(Path::new(&log))
        .filter(|log| !log.starts_with("0 "))
        .unwrap_or_default();
    Some(format!("{file} {log}"))
}

fn state(path: &Path) -> Option<String> {
    let about = fs::metadata(path).ok()?;
    let modified = about.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    let mut header = vec![];
    File::open(path).ok()?.take(HEADER).read_to_end(&mut header).ok()?;
    let header: String = header.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(format!("{} {} {header}", about.len(), modified.as_nanos()))
}
