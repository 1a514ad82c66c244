//! Files that are written whole or not at all.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Writes `path` aside and renames it, so that no reader ever sees half of it and a failed attempt leaves it as it was.
///
/// `private`: for the user alone to read, where the system knows of that.
pub(crate) fn replace(path: &Path, private: bool, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let aside = path.with_file_name(name);
    let written = create(&aside, private)
        .and_then(|mut file| write(&mut file))
        .and_then(|()| fs::rename(&aside, path));
    written.inspect_err(|_| {
        // What is left of a failed attempt is of no use; if it cannot be removed, the first error says more.
        let _ = fs::remove_file(&aside);
    })
}

fn create(path: &Path, private: bool) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    if private {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    #[cfg(not(unix))]
    let _ = private;
    options.open(path)
}
