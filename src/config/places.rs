//! Folders outside the project that the program keeps things in.

use std::env;
use std::path::PathBuf;

/// Folders for what can be made again, best first: the user's cache folder, then the system's temporary folder.
pub fn cache_folders() -> Vec<PathBuf> {
    let temporary = env::temp_dir().join("analyst-cache");
    // Tests leave the user's own folder alone.
    let user = if cfg!(test) { None } else { user_cache() };
    user.into_iter()
        .map(|cache| cache.join("analyst"))
        .chain([temporary])
        .collect()
}

fn user_cache() -> Option<PathBuf> {
    let folder = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || folder("HOME");
    folder("XDG_CACHE_HOME").or_else(|| {
        if cfg!(windows) {
            folder("LOCALAPPDATA")
        } else if cfg!(target_os = "macos") {
            home().map(|home| home.join("Library").join("Caches"))
        } else {
            home().map(|home| home.join(".cache"))
        }
    })
}
