//! SKILL.md files (Agent Skills specification): found in the project, the user's folder and the binary; read, checked.
//!
//! Nothing is dropped in silence: what cannot be loaded, was repaired or is shadowed comes back as a [`Diagnostic`].

use std::fmt;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

mod frontmatter;

pub use frontmatter::Frontmatter;

/// The skill whose body is part of every prompt.
pub const DATA_ANALYSIS: &str = "data-analysis";
/// The specification's advice; a longer body costs more than it teaches.
const LONGEST_BODY_LINES: usize = 500;
/// A reference file larger than this would fill a model's context by itself.
const LARGEST_FILE_BYTES: u64 = 256 * 1024;

/// Skills that travel in the binary: folder name, SKILL.md, and the files beside it.
const BUILT_IN: &[BuiltIn] = &[BuiltIn {
    name: DATA_ANALYSIS,
    text: include_str!("../skills/data-analysis/SKILL.md"),
    files: &[
        (
            "references/outliers.md",
            include_str!("../skills/data-analysis/references/outliers.md"),
        ),
        (
            "references/sql-patterns.md",
            include_str!("../skills/data-analysis/references/sql-patterns.md"),
        ),
    ],
}];

struct BuiltIn {
    name: &'static str,
    text: &'static str,
    files: &'static [(&'static str, &'static str)],
}

/// Where a skill comes from. A skill of an earlier place hides those of the same name in later ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    Project,
    User,
    BuiltIn,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Source::Project => "project",
            Source::User => "user",
            Source::BuiltIn => "built in",
        })
    }
}

/// One skill, ready to use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    pub name: String,
    pub description: String,
    /// The instructions: SKILL.md without its frontmatter.
    pub body: String,
    pub frontmatter: Frontmatter,
    pub source: Source,
    place: Place,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Folder(PathBuf),
    Binary(&'static [(&'static str, &'static str)]),
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// The skill was not loaded.
    Error,
    /// The skill was loaded; something about it should be mended.
    Warning,
    /// Nothing is wrong, but somebody may wonder.
    Note,
}

/// Something to tell about a skill file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    pub severity: Severity,
    pub file: PathBuf,
    /// Counts from 1.
    pub line: usize,
    pub text: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file.display(), self.line, self.text)
    }
}

/// Why a skill or a file of it cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SkillError {
    #[error("there is no skill `{name}`; there are: {}", .known.join(", "))]
    Unknown { name: String, known: Vec<String> },
    #[error("`{path}` is not a file inside the skill `{skill}`; its files are: {}", or_none(.files))]
    NoSuchFile {
        skill: String,
        path: String,
        files: Vec<String>,
    },
    #[error("`{path}` of the skill `{skill}` cannot be read: {problem}")]
    Unreadable {
        skill: String,
        path: String,
        problem: String,
    },
}

fn or_none(files: &[String]) -> String {
    if files.is_empty() {
        "none".to_owned()
    } else {
        files.join(", ")
    }
}

/// All skills that were found, one a name, and what is to be told about the finding.
#[derive(Debug, Clone, Default)]
pub struct Skills {
    skills: Vec<Skill>,
    diagnostics: Vec<Diagnostic>,
}

impl Skills {
    /// Finds the skills of the project in `folder` (`skills/`, `.analyst/skills/`), of the user, and of the binary.
    pub fn find(folder: &Path, user: Option<&Path>) -> Self {
        let mut found = Self::default();
        found.add_folder(&folder.join("skills"), Source::Project);
        found.add_folder(&folder.join(".analyst").join("skills"), Source::Project);
        if let Some(user) = user {
            found.add_folder(user, Source::User);
        }
        for built_in in BUILT_IN {
            let file = Path::new("built-in").join(built_in.name).join("SKILL.md");
            found.add(
                &file,
                built_in.text,
                built_in.name,
                Source::BuiltIn,
                Place::Binary(built_in.files),
            );
        }
        found
    }

    pub fn iter(&self) -> impl Iterator<Item = &Skill> {
        self.skills.iter()
    }

    /// Errors first, then warnings and notes in the order in which they came up.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The skill `name`, or the names that there are.
    pub fn get(&self, name: &str) -> Result<&Skill, SkillError> {
        self.skills
            .iter()
            .find(|s| s.name == name)
            .ok_or_else(|| SkillError::Unknown {
                name: name.to_owned(),
                known: self.skills.iter().map(|s| s.name.clone()).collect(),
            })
    }

    fn add_folder(&mut self, folder: &Path, source: Source) {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(error) => {
                let text = format!("cannot look for skills here: {error}");
                return self.tell(Severity::Error, folder, 1, text);
            }
        };
        let mut folders: Vec<PathBuf> = entries.flatten().map(|e| e.path()).filter(|p| p.is_dir()).collect();
        folders.sort();
        for skill_folder in folders {
            let file = skill_folder.join("SKILL.md");
            let name = skill_folder
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            match fs::read_to_string(&file) {
                Ok(text) => self.add(&file, &text, &name, source, Place::Folder(skill_folder)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    if let Some(near) = other_spelling(&skill_folder) {
                        self.tell(
                            Severity::Warning,
                            &near,
                            1,
                            "not loaded: the file must be named SKILL.md".to_owned(),
                        );
                    }
                }
                Err(error) => self.tell(Severity::Error, &file, 1, format!("not loaded: {error}")),
            }
        }
    }

    fn add(&mut self, file: &Path, text: &str, folder_name: &str, source: Source, place: Place) {
        let read = frontmatter::read(text, folder_name);
        for finding in read.findings {
            self.tell(finding.severity, file, finding.line, finding.text);
        }
        let Some((frontmatter, body)) = read.skill else { return };
        let lines = body.lines().count();
        if lines > LONGEST_BODY_LINES {
            let text = format!(
                "the body has {lines} lines; move what is seldom needed to files of its own (at most {LONGEST_BODY_LINES})"
            );
            self.tell(Severity::Warning, file, 1, text);
        }
        let skill = Skill {
            name: frontmatter.name.clone(),
            description: frontmatter.description.clone(),
            body,
            frontmatter,
            source,
            place,
        };
        match self.skills.iter().find(|s| s.name == skill.name) {
            // A copy of the same text hides nothing.
            Some(first) if first.body == skill.body => {}
            Some(first) => {
                let text = format!(
                    "the {source} skill `{}` is shadowed by the {} one",
                    skill.name, first.source
                );
                self.tell(Severity::Note, file, 1, text);
            }
            None => self.skills.push(skill),
        }
    }

    fn tell(&mut self, severity: Severity, file: &Path, line: usize, text: String) {
        let diagnostic = Diagnostic {
            severity,
            file: file.to_owned(),
            line,
            text,
        };
        if severity == Severity::Error {
            let errors = self
                .diagnostics
                .iter()
                .take_while(|d| d.severity == Severity::Error)
                .count();
            self.diagnostics.insert(errors, diagnostic);
        } else {
            self.diagnostics.push(diagnostic);
        }
    }
}

impl Skill {
    /// The files beside SKILL.md, as paths relative to the skill's folder, sorted.
    pub fn files(&self) -> Vec<String> {
        match &self.place {
            Place::Binary(files) => files.iter().map(|(path, _)| (*path).to_owned()).collect(),
            Place::Folder(folder) => {
                let mut files = Vec::new();
                collect_files(folder, folder, &mut files);
                files.sort();
                files
            }
        }
    }

    /// The text of a file beside SKILL.md. The path is relative to the skill's folder and cannot lead out of it, neither
    /// by `..` nor by a link.
    pub fn file(&self, path: &str) -> Result<String, SkillError> {
        let unknown = || SkillError::NoSuchFile {
            skill: self.name.clone(),
            path: path.to_owned(),
            files: self.files(),
        };
        let relative = Path::new(path);
        if path.is_empty()
            || !relative
                .components()
                .all(|c| matches!(c, Component::Normal(_) | Component::CurDir))
        {
            return Err(unknown());
        }
        match &self.place {
            Place::Binary(files) => {
                let wanted = path.trim_start_matches("./");
                files
                    .iter()
                    .find(|(p, _)| *p == wanted)
                    .map(|(_, text)| (*text).to_owned())
                    .ok_or_else(unknown)
            }
            Place::Folder(folder) => {
                let resolved = folder.join(relative).canonicalize().map_err(|_| unknown())?;
                let inside = folder.canonicalize().is_ok_and(|folder| resolved.starts_with(folder));
                if !inside || !resolved.is_file() {
                    return Err(unknown());
                }
                read_bounded(&resolved).map_err(|problem| SkillError::Unreadable {
                    skill: self.name.clone(),
                    path: path.to_owned(),
                    problem,
                })
            }
        }
    }
}

/// Where the user's own skills are: `$XDG_CONFIG_HOME/analyst/skills`, else `~/.config/analyst/skills`.
pub fn user_folder(variable: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let set = |name: &str| variable(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let config = set("XDG_CONFIG_HOME").or_else(|| set("HOME").map(|home| home.join(".config")))?;
    Some(config.join("analyst").join("skills"))
}

/// A file that was meant to be the SKILL.md of `folder`.
fn other_spelling(folder: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?;
    entries.flatten().map(|e| e.path()).find(|p| {
        p.file_name()
            .is_some_and(|n| n.to_string_lossy().eq_ignore_ascii_case("skill.md"))
    })
}

fn collect_files(folder: &Path, root: &Path, files: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        // `file_type` does not follow links, so a link to a folder cannot lead round in circles.
        if entry.file_type().is_ok_and(|t| t.is_dir()) {
            collect_files(&path, root, files);
        } else if let Ok(relative) = path.strip_prefix(root)
            && relative != Path::new("SKILL.md")
        {
            files.push(relative.to_string_lossy().replace('\\', "/"));
        }
    }
}

fn read_bounded(path: &Path) -> Result<String, String> {
    let bytes = fs::metadata(path).map_err(|e| e.to_string())?.len();
    if bytes > LARGEST_FILE_BYTES {
        return Err(format!(
            "it has {bytes} bytes, more than the {LARGEST_FILE_BYTES} that a skill's file may have"
        ));
    }
    fs::read_to_string(path).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests;
