//! Which files a model may touch: those of its session and of the skills, wherever links and `..` may point.

use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::tools::{ToolError, Workbench};

/// The folder of the session that a model's own files lie in.
pub(super) const OWN: &str = "files";
const SKILLS: &str = "skills";
/// What else of a session is read: its reports, results, charts and what happened.
const OF_SESSION: [&str; 7] = [
    OWN,
    "results",
    "charts",
    "runs",
    "report.md",
    "evidence.json",
    "timeline.jsonl",
];
/// The largest file that is read or written.
pub(super) const LARGEST: u64 = 1 << 20;

/// A path that a model named, taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A file of a skill, by its path in the skill.
    Skill { skill: String, file: String },
    /// Below the session's folder.
    Session(PathBuf),
}

/// Where `path` leads, with `.` and `..` taken out of it.
pub(super) fn place(tool: &str, path: &str) -> Result<Place, ToolError> {
    let wrong = |why: &str| {
        Err(ToolError::FixTheCall(format!(
            "{tool}: `{path}` {why}; name a file such as {OWN}/notes.md, or {SKILLS}/NAME/references/x.md"
        )))
    };
    if path.trim().is_empty() || path.contains('\0') {
        return wrong("names no file");
    }
    let mut parts: Vec<String> = Vec::new();
    for component in Path::new(path).components() {
        match component {
            Component::Normal(part) => parts.push(part.to_string_lossy().into_owned()),
            Component::CurDir => {}
            Component::ParentDir => {
                if parts.pop().is_none() {
                    return wrong("leads out of the session's folder");
                }
            }
            Component::RootDir | Component::Prefix(_) => {
                return wrong("is absolute, and files outside cannot be reached");
            }
        }
    }
    match parts.as_slice() {
        [] => wrong("names no file"),
        [first, skill, file @ ..] if first == SKILLS && !file.is_empty() => Ok(Place::Skill {
            skill: skill.clone(),
            file: file.join("/"),
        }),
        [first, ..] if first == SKILLS => wrong("names no file of a skill"),
        _ => Ok(Place::Session(parts.iter().collect())),
    }
}

/// The file of the session to read, with every link resolved.
pub(super) fn to_read(tool: &str, path: &Path, at: &Workbench) -> Result<PathBuf, ToolError> {
    let open: &[&str] = match at.share.shows_values() {
        true => &OF_SESSION,
        // The others hold values that the model is not shown.
        false => &[OWN],
    };
    let missing = || ToolError::FixTheCall(format!("{tool}: there is no file `{}`{}", path.display(), there_is(at)));
    let root = at.folders.root.canonicalize().map_err(|_| missing())?;
    let resolved = root.join(path).canonicalize().map_err(|_| missing())?;
    let below = resolved.strip_prefix(&root).unwrap_or(Path::new(""));
    let first = below
        .components()
        .next()
        .map(|first| first.as_os_str().to_string_lossy().into_owned());
    if !first.is_some_and(|first| open.contains(&first.as_str())) {
        return Err(ToolError::FixTheCall(format!(
            "{tool}: `{}` may not be read; of the session there are {}",
            path.display(),
            open.join(", ")
        )));
    }
    match resolved.is_file() {
        true => Ok(resolved),
        false => Err(missing()),
    }
}

/// The names of the model's own files, for the one that is not there.
fn there_is(at: &Workbench) -> String {
    let entries = fs::read_dir(at.folders.root.join(OWN)).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| format!("{OWN}/{}", entry.file_name().to_string_lossy()))
        .collect();
    names.sort();
    match names.as_slice() {
        [] => String::new(),
        names => format!("; there are {}", names.join(", ")),
    }
}

/// The place of a file to write, whose folder is made; it lies in the session's own folder for files.
pub(super) fn to_write(tool: &str, path: &Path, at: &Workbench) -> Result<PathBuf, ToolError> {
    let inside = path
        .strip_prefix(OWN)
        .ok()
        .filter(|rest| rest.components().next().is_some());
    let Some(inside) = inside else {
        return Err(ToolError::FixTheCall(format!(
            "{tool}: `{}` may not be written; write below {OWN}/, such as {OWN}/notes.md",
            path.display()
        )));
    };
    let own = at.folders.root.join(OWN);
    let failed =
        |error: std::io::Error| ToolError::CannotBeDone(format!("{tool}: cannot write `{}`: {error}", path.display()));
    fs::create_dir_all(&own).map_err(failed)?;
    let own = own.canonicalize().map_err(failed)?;
    let root = at.folders.root.canonicalize().map_err(failed)?;
    let outside = || {
        ToolError::FixTheCall(format!(
            "{tool}: `{}` leads out of the session's folder by a link",
            path.display()
        ))
    };
    if !own.starts_with(&root) {
        return Err(outside());
    }
    let mut folder = own.clone();
    for part in inside.parent().into_iter().flat_map(Path::components) {
        folder.push(part);
        if !folder.exists() {
            fs::create_dir(&folder).map_err(failed)?;
        }
        folder = folder.canonicalize().map_err(failed)?;
        if !folder.starts_with(&own) {
            return Err(outside());
        }
    }
    let file = folder.join(inside.file_name().unwrap_or_default());
    match fs::symlink_metadata(&file) {
        Ok(there) if there.is_symlink() => Err(outside()),
        Ok(there) if there.is_dir() => Err(ToolError::FixTheCall(format!(
            "{tool}: `{}` is a folder",
            path.display()
        ))),
        Ok(_) | Err(_) => Ok(file),
    }
}

/// The text of a file that may be read.
pub(super) fn text_of(tool: &str, path: &str, file: &Path) -> Result<String, ToolError> {
    let cannot = |why: String| ToolError::FixTheCall(format!("{tool}: `{path}` {why}"));
    let size = fs::metadata(file)
        .map_err(|error| cannot(format!("cannot be read: {error}")))?
        .len();
    if size > LARGEST {
        return Err(cannot(format!(
            "has {size} bytes, more than the {LARGEST} that are read"
        )));
    }
    let bytes = fs::read(file).map_err(|error| cannot(format!("cannot be read: {error}")))?;
    String::from_utf8(bytes).map_err(|_| cannot("is no text".to_owned()))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::config::Share;
    use crate::tools::workbench::testing::workbench;

    #[rstest]
    #[case("files/a.md", Some("files/a.md"))]
    #[case("./files/../files/b/c.md", Some("files/b/c.md"))]
    #[case("files/../../etc/passwd", None)]
    #[case("../x", None)]
    #[case("/etc/passwd", None)]
    #[case("", None)]
    #[case("files/a\0b", None)]
    #[case("skills", None)]
    #[case("skills/data-analysis", None)]
    #[case("文件/笔记.md", Some("文件/笔记.md"))]
    fn a_path_is_taken_apart_before_it_is_followed(#[case] path: &str, #[case] expected: Option<&str>) {
        let found = place("read_file", path).ok();
        assert_eq!(found, expected.map(|path| Place::Session(path.into())));
    }

    #[cfg(unix)]
    #[test]
    fn links_and_other_folders_lead_nowhere() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret.txt"), "secret").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut bench = workbench(folder.path(), "CREATE TABLE t (a)");
        let root = folder.path();
        fs::create_dir(root.join("files")).unwrap();
        fs::write(root.join("files/a.md"), "a").unwrap();
        fs::write(root.join("results/q1.sql"), "SELECT 1").unwrap();
        fs::write(root.join("analyst.toml"), "").unwrap();
        std::os::unix::fs::symlink(outside.path(), root.join("files/out")).unwrap();
        std::os::unix::fs::symlink(outside.path().join("secret.txt"), root.join("files/link")).unwrap();
        std::os::unix::fs::symlink(outside.path(), root.join("runs")).unwrap();
        let reads = |path: &str, bench: &Workbench| to_read("read_file", Path::new(path), bench).is_ok();
        let writes = |path: &str, bench: &Workbench| to_write("write_file", Path::new(path), bench).is_ok();
        assert!(reads("files/a.md", &bench) && reads("results/q1.sql", &bench));
        for path in [
            "files/out/secret.txt",
            "files/link",
            "runs/secret.txt",
            "analyst.toml",
            "test.sqlite",
            "files",
        ] {
            assert!(!reads(path, &bench), "{path}");
        }
        assert!(writes("files/b.md", &bench) && writes("files/deep/er/c.md", &bench));
        for path in [
            "files/out/new.txt",
            "files/link",
            "results/q1.sql",
            "b.md",
            "files",
            "timeline.jsonl",
        ] {
            assert!(!writes(path, &bench), "{path}");
        }
        bench.share = Share::Schema;
        assert!(reads("files/a.md", &bench) && !reads("results/q1.sql", &bench));
    }
}
