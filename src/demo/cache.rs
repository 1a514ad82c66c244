//! Where the sample database lies once it is made.

use std::env;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::config::cache_folders;

use super::file::{APPLICATION_ID, write};
use super::{DemoError, Existing, VERSION};

/// Bytes of SQLite's header that are looked at, and where in it the fields stand.
const HEADER: usize = 100;
const PAGE_SIZE: usize = 16;
const PAGE_COUNT: usize = 28;
const USER_VERSION: usize = 60;
const APPLICATION: usize = 68;

/// The file in the first folder that has it or can take it.
pub fn cached() -> Result<PathBuf, DemoError> {
    let mut first_error = None;
    for folder in cache_folders() {
        match in_folder(&folder) {
            Ok(path) => return Ok(path),
            // The first folder is the one that the user should mend.
            Err(error) => first_error = first_error.or(Some(error)),
        }
    }
    Err(first_error.unwrap_or_else(|| DemoError::Place {
        path: env::temp_dir(),
        source: std::io::Error::from(std::io::ErrorKind::NotFound),
    }))
}

/// The file in `folder`, written if it is not there or not whole.
pub(super) fn in_folder(folder: &Path) -> Result<PathBuf, DemoError> {
    let path = folder.join(format!("sales-v{VERSION}.sqlite"));
    if is_ours(&path) {
        return Ok(path);
    }
    fs::create_dir_all(folder).map_err(|source| DemoError::Place {
        path: path.clone(),
        source,
    })?;
    match write(&path, Existing::Replace) {
        // Another process was faster and holds the file open, where a file in use cannot be replaced.
        Err(_) if is_ours(&path) => Ok(path),
        written => written.map(|()| path),
    }
}

/// Is that file a sample database of this version, as long as its header says?
fn is_ours(path: &Path) -> bool {
    let Ok(mut file) = fs::File::open(path) else {
        return false;
    };
    let mut header = [0; HEADER];
    if file.read_exact(&mut header).is_err() {
        return false;
    }
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    let page_size = match number::<2>(&header, PAGE_SIZE) {
        1 => 65_536,
        size => size,
    };
    number::<4>(&header, APPLICATION) == u64::from(APPLICATION_ID)
        && number::<4>(&header, USER_VERSION) == u64::from(VERSION)
        && number::<4>(&header, PAGE_COUNT) * page_size == length
}

/// The big-endian number of `N` bytes at `at`.
fn number<const N: usize>(header: &[u8], at: usize) -> u64 {
    header
        .iter()
        .skip(at)
        .take(N)
        .fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn those_who_come_first_together_all_get_a_whole_file() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("made/on/demand");
        let comers: Vec<_> = (0..4)
            .map(|_| {
                let folder = folder.clone();
                thread::spawn(move || in_folder(&folder).unwrap())
            })
            .collect();
        for comer in comers {
            assert!(is_ours(&comer.join().unwrap()));
        }
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_was_cut_off_or_is_of_another_version_is_written_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = in_folder(folder.path()).unwrap();
        let whole = fs::read(&path).unwrap();
        fs::write(&path, whole.get(..whole.len() / 2).unwrap()).unwrap();
        assert!(!is_ours(&path));
        in_folder(folder.path()).unwrap();
        let mut older = fs::read(&path).unwrap();
        assert!(older == whole, "the same bytes again");
        *older.get_mut(USER_VERSION + 3).unwrap() ^= 1;
        fs::write(&path, older).unwrap();
        assert!(!is_ours(&path));
    }
}
