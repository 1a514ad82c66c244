//! A semantic model from where people keep it: an Ossie file, a Snowflake file, the files of a dbt project, a glossary.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::meaning::semantic::import::{self, Format, Imported};
use crate::meaning::semantic::load::load_document;
use crate::meaning::semantic::{Model, SemanticError, complete, draft, glossary, load, write};
use crate::warehouse::catalog::Catalog;

/// The glossary that stands beside a model's file is read with it.
const GLOSSARY: &str = "glossary.md";
/// Folders inside folders are searched this deep.
const DEEPEST: usize = 6;

/// A model, and what was not taken over from its file.
#[derive(Debug, Clone, PartialEq)]
pub struct Opened {
    pub model: Model,
    pub left_out: Vec<String>,
    /// It comes from another tool's file, of which not everything need hold here.
    pub imported: bool,
}

/// Reads the semantic model at `path` as the meaning of `catalog`.
///
/// `path` is an Ossie file, a Snowflake semantic model, a dbt YAML file or manifest, a folder of dbt files, or a glossary
/// (which then stands on a drafted model). What dbt and Snowflake files do not speak of stays as drafted.
pub fn open(path: &Path, catalog: &Catalog) -> Result<Opened, SemanticError> {
    if is_glossary(path) {
        let mut model = draft(catalog);
        let left_out = glossary::apply(&text(path)?, &mut model);
        return Ok(Opened {
            model,
            left_out,
            imported: false,
        });
    }
    let mut opened = match import_of(path)? {
        None => Opened {
            model: load(&text(path)?, catalog)?,
            left_out: Vec::new(),
            imported: false,
        },
        Some(imported) => {
            let (model, problems) = load_document(&imported.document, catalog)?;
            Opened {
                model: complete::complete(model, draft(catalog)),
                left_out: [imported.left_out, problems].concat(),
                imported: true,
            }
        }
    };
    let folder = if path.is_dir() { Some(path) } else { path.parent() };
    let beside = folder
        .map(|folder| folder.join(GLOSSARY))
        .filter(|beside| beside.is_file());
    if let Some(beside) = beside {
        opened
            .left_out
            .extend(glossary::apply(&text(&beside)?, &mut opened.model));
    }
    Ok(opened)
}

/// The Ossie spelling of another tool's model; `None` where `path` is Ossie already.
pub fn as_ossie(path: &Path) -> Result<Option<String>, SemanticError> {
    import_of(path)?.map(|imported| write(&imported.document)).transpose()
}

/// Is it a glossary, by its name?
pub fn is_glossary(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md"))
}

fn import_of(path: &Path) -> Result<Option<Imported>, SemanticError> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let values: Vec<Value> = if path.is_dir() {
        files(path, 0)?
            .iter()
            .map(|file| load::value(&text(file)?))
            .collect::<Result<_, SemanticError>>()?
    } else {
        vec![load::value(&text(path)?)?]
    };
    let first = values
        .iter()
        .map(import::format_of)
        .find(|format| *format != Format::Ossie);
    let imported = match first {
        None if path.is_dir() => {
            return Err(SemanticError::Unreadable(format!(
                "{} holds no semantic_models; name a folder of a dbt project, or a file",
                path.display()
            )));
        }
        None => return Ok(None),
        Some(Format::Snowflake) => values
            .iter()
            .find(|value| value.get("tables").is_some())
            .map_or_else(|| Err("`tables` is missing".to_owned()), import::snowflake),
        Some(Format::Dbt | Format::Ossie) => import::dbt(&name, &values),
    };
    imported.map(Some).map_err(SemanticError::Unreadable)
}

/// The YAML files of a folder and its folders, by name.
fn files(folder: &Path, depth: usize) -> Result<Vec<PathBuf>, SemanticError> {
    let failed = |error: std::io::Error| SemanticError::Unreadable(format!("{}: {error}", folder.display()));
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
        .map_err(failed)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()
        .map_err(failed)?;
    entries.sort();
    let mut found = Vec::new();
    for path in entries {
        let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        if path.is_dir() && depth < DEEPEST {
            found.extend(files(&path, depth + 1)?);
        } else if ending == "yml" || ending == "yaml" {
            found.push(path);
        }
    }
    Ok(found)
}

/// The file's content.
pub fn text(path: &Path) -> Result<String, SemanticError> {
    std::fs::read_to_string(path).map_err(|error| SemanticError::Unreadable(format!("{}: {error}", path.display())))
}
