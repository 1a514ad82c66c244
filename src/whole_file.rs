//! Files that are written whole or not at all: beside their place first, then renamed.

use std::fs::{File, Permissions};
use std::io;
use std::path::Path;

use tempfile::NamedTempFile;

/// What the names of unfinished files begin with. A process that was killed leaves them behind.
pub const ASIDE: &str = ".writing-";

/// Who may read a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// Whoever the user's umask lets read a file.
    AsUsual,
    /// The user alone, where the system knows of that.
    UserOnly,
}

/// An empty file in the folder of `path`, so that the rename stays on one file system; removed if it is dropped.
pub fn beside(path: &Path, readers: Readers) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    builder.prefix(ASIDE);
    let permissions = permissions(readers);
    if let Some(permissions) = permissions {
        builder.permissions(permissions);
    }
    builder.tempfile_in(folder.unwrap_or(Path::new(".")))
}

/// Writes `path` so that no reader ever sees half of it and a failed attempt leaves it as it was.
pub fn replace(path: &Path, readers: Readers, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let mut file = beside(path, readers)?;
    write(file.as_file_mut())?;
    file.persist(path).map_err(|failed| failed.error)?;
    Ok(())
}

#[cfg(unix)]
fn permissions(readers: Readers) -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt as _;
    match readers {
        Readers::AsUsual => Some(Permissions::from_mode(0o666)),
        // As temporary files are anyway.
        Readers::UserOnly => None,
    }
}

#[cfg(not(unix))]
fn permissions(_readers: Readers) -> Option<Permissions> {
    None
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;

    use super::*;

    #[test]
    fn writers_of_one_process_do_not_write_into_each_others_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cache.json");
        std::thread::scope(|scope| {
            for writer in 0..4_u8 {
                let path = &path;
                scope.spawn(move || {
                    for _ in 0..50 {
                        let text = [b'a' + writer; 5_000];
                        replace(path, Readers::UserOnly, |file| {
                            text.chunks(500).try_for_each(|chunk| file.write_all(chunk))
                        })
                        .unwrap();
                    }
                });
            }
        });
        let written = fs::read(&path).unwrap();
        assert_eq!(written.len(), 5_000);
        assert!(written.windows(2).all(|pair| pair[0] == pair[1]));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_failed_attempt_leaves_the_file_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.md");
        fs::write(&path, "old").unwrap();
        let failed = replace(&path, Readers::AsUsual, |file| {
            file.write_all(b"half")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_private_file_is_the_users_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cache.json");
        replace(&path, Readers::UserOnly, |file| file.write_all(b"{}")).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
