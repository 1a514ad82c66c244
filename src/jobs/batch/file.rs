//! The question file: one question a line, or a YAML list with ids, databases and options.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use serde_saphyr::Spanned;

use crate::jobs::batch::TASKS_FOLDER;
use crate::session::store::is_safe_name;
use crate::text::Language;

/// Ids made from questions stay this short, so that paths stay usable everywhere.
const LONGEST_MADE_ID: usize = 48;
/// The longest id that a file may give, in bytes: file systems allow 255 for a name.
const LONGEST_ID_BYTES: usize = 120;
/// The version of the YAML form.
const VERSION: u32 = 1;

/// One question of a batch.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Question {
    /// Unique in the batch, and safe as a folder's name.
    pub id: String,
    pub question: String,
    /// The name of a connection, a path or a URL, where it differs from the batch's.
    pub database: Option<String>,
    /// Ids of questions whose answers it builds on: it runs after them, and sees what they found.
    pub after: Vec<String>,
    pub options: Options,
}

/// What a question wants otherwise than the batch.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    pub model: Option<String>,
    pub as_of: Option<Date>,
    pub language: Option<Language>,
    pub semantic: Option<PathBuf>,
    /// Whether TodoWrite is offered.
    pub plan: Option<bool>,
    pub max_turns: Option<u32>,
    pub max_tokens: Option<u64>,
    pub max_seconds: Option<u64>,
}

/// What is wrong with a question file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuestionFileError {
    #[error("cannot read {}: {problem}", .path.display())]
    Unreadable { path: PathBuf, problem: String },
    #[error("{} has no questions; write one a line, or a YAML list with `question`", .path.display())]
    Empty { path: PathBuf },
    #[error("{}:{line}: {problem}", .path.display())]
    Invalid {
        path: PathBuf,
        line: usize,
        problem: String,
    },
}

/// Reads a question file: YAML when its name ends in `.yaml`, `.yml` or `.json`, else one question a line.
pub fn read(path: &Path) -> Result<Vec<Question>, QuestionFileError> {
    let bytes = std::fs::read(path).map_err(|e| QuestionFileError::Unreadable {
        path: path.to_owned(),
        problem: e.to_string(),
    })?;
    let text = String::from_utf8(bytes).map_err(|e| {
        let line = e
            .as_bytes()
            .iter()
            .take(e.utf8_error().valid_up_to())
            .filter(|b| **b == b'\n')
            .count()
            + 1;
        QuestionFileError::Invalid {
            path: path.to_owned(),
            line,
            problem: "the text is not UTF-8".to_owned(),
        }
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let drafts = match extension.as_str() {
        "yaml" | "yml" | "json" => yaml_drafts(path, text)?,
        _ => line_drafts(text),
    };
    if drafts.is_empty() {
        return Err(QuestionFileError::Empty { path: path.to_owned() });
    }
    number(path, drafts)
}

/// A question before its id is settled.
struct Draft {
    line: usize,
    id: Option<String>,
    question: String,
    database: Option<String>,
    after: Vec<String>,
    options: Options,
}

fn line_drafts(text: &str) -> Vec<Draft> {
    let is_question = |line: &str| !line.is_empty() && !line.starts_with('#');
    text.lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line.trim()))
        .filter(|(_, line)| is_question(line))
        .map(|(line, question)| Draft {
            line,
            id: None,
            question: question.to_owned(),
            database: None,
            after: Vec::new(),
            options: Options::default(),
        })
        .collect()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct YamlFile {
    #[serde(default)]
    version: Option<Spanned<u32>>,
    questions: Vec<Spanned<YamlQuestion>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct YamlQuestion {
    #[serde(default)]
    id: Option<String>,
    question: String,
    #[serde(default)]
    database: Option<String>,
    #[serde(default)]
    after: Vec<String>,
    #[serde(default)]
    options: Options,
}

fn yaml_drafts(path: &Path, text: &str) -> Result<Vec<Draft>, QuestionFileError> {
    let invalid = |line: usize, problem: String| QuestionFileError::Invalid {
        path: path.to_owned(),
        line,
        problem,
    };
    let mut significant = text
        .lines()
        .map(str::trim_start)
        .filter(|l| !l.is_empty() && !l.starts_with(['#', '%']));
    let is_list = match significant.find(|l| *l != "---") {
        None => return Ok(Vec::new()),
        Some(first) => first.starts_with(['-', '[']),
    };
    let parsed = if is_list {
        serde_saphyr::from_str(text).map(|questions| YamlFile {
            version: None,
            questions,
        })
    } else {
        serde_saphyr::from_str::<YamlFile>(text)
    };
    let file = parsed.map_err(|error| {
        let line = error.location().map_or(1, |l| line_number(l.line()));
        let text = error.to_string();
        invalid(
            line,
            text.lines()
                .next()
                .unwrap_or_default()
                .trim_start_matches("error: ")
                .to_owned(),
        )
    })?;
    if let Some(version) = file.version.filter(|v| v.value != VERSION) {
        let problem = format!(
            "version {} is not known; this program reads version {VERSION}",
            version.value
        );
        return Err(invalid(line_number(version.referenced.line()), problem));
    }
    file.questions
        .into_iter()
        .map(|spanned| {
            let (line, item) = (line_number(spanned.referenced.line()), spanned.value);
            if item.question.trim().is_empty() {
                return Err(invalid(line, "`question` is empty".to_owned()));
            }
            let question = item.question.trim().to_owned();
            Ok(Draft {
                line,
                id: item.id,
                question,
                database: item.database,
                after: item.after,
                options: item.options,
            })
        })
        .collect()
}

fn line_number(line: u64) -> usize {
    usize::try_from(line).unwrap_or(usize::MAX)
}

/// Settles the ids: given ones must be safe and unique; the others are made from the questions.
fn number(path: &Path, drafts: Vec<Draft>) -> Result<Vec<Question>, QuestionFileError> {
    let invalid = |line: usize, problem: String| QuestionFileError::Invalid {
        path: path.to_owned(),
        line,
        problem,
    };
    // Some file systems do not tell upper from lower case.
    let mut taken: HashMap<String, usize> = HashMap::new();
    for draft in &drafts {
        let Some(id) = &draft.id else { continue };
        if !is_safe_name(id) || id.len() > LONGEST_ID_BYTES || is_taken(id) {
            let problem = format!(
                "the id `{id}` cannot name a folder; use letters, digits, `-`, `_` and `.`, at most {LONGEST_ID_BYTES} bytes"
            );
            return Err(invalid(draft.line, problem));
        }
        if let Some(first) = taken.insert(id.to_lowercase(), draft.line) {
            return Err(invalid(
                draft.line,
                format!("the id `{id}` is used before, in line {first}; ids must differ"),
            ));
        }
    }
    let mut questions = Vec::with_capacity(drafts.len());
    let mut lines = Vec::with_capacity(drafts.len());
    for draft in drafts {
        let id = match draft.id {
            Some(id) => id,
            None => {
                let base = made_id(&draft.question);
                let tries = std::iter::once(base.clone()).chain((2..).map(|n: usize| format!("{base}-{n}")));
                let is_free = |id: &String| !taken.contains_key(id) && !is_taken(id);
                let free = tries.into_iter().find(is_free).unwrap_or(base);
                taken.insert(free.clone(), draft.line);
                free
            }
        };
        questions.push(Question {
            id,
            question: draft.question,
            database: draft.database,
            after: draft.after,
            options: draft.options,
        });
        lines.push(draft.line);
    }
    check_order(&questions).map_err(|(at, problem)| invalid(lines.get(at).copied().unwrap_or(1), problem))?;
    Ok(questions)
}

/// Names that a batch's folder has for itself.
fn is_taken(id: &str) -> bool {
    let own = ["index.md", "index.html", "results.jsonl", TASKS_FOLDER];
    own.iter().any(|name| name.eq_ignore_ascii_case(id))
}

/// Can the questions be run in some order? The error names the question at fault by its place.
fn check_order(questions: &[Question]) -> Result<(), (usize, String)> {
    let places: HashMap<&str, usize> = questions
        .iter()
        .enumerate()
        .map(|(at, q)| (q.id.as_str(), at))
        .collect();
    let mut waits_for: Vec<Vec<usize>> = Vec::with_capacity(questions.len());
    for (at, question) in questions.iter().enumerate() {
        let mut blockers = Vec::new();
        for id in &question.after {
            match places.get(id.as_str()) {
                Some(blocker) if *blocker == at => {
                    return Err((at, format!("`{id}` cannot come after itself")));
                }
                Some(blocker) => blockers.push(*blocker),
                None => return Err((at, format!("`after` names `{id}`, and no question has this id"))),
            }
        }
        waits_for.push(blockers);
    }
    let Some(circle) = circle(&waits_for) else {
        return Ok(());
    };
    let ids: Vec<&str> = circle
        .iter()
        .filter_map(|at| Some(questions.get(*at)?.id.as_str()))
        .collect();
    let first = circle.iter().min().copied().unwrap_or_default();
    Err((first, format!("`after` leads in a circle: {}", ids.join(" after "))))
}

/// A way from a place back to itself along what waits for what, where there is one.
fn circle(waits_for: &[Vec<usize>]) -> Option<Vec<usize>> {
    let mut waiting: Vec<Vec<usize>> = vec![Vec::new(); waits_for.len()];
    let mut open: Vec<usize> = waits_for.iter().map(Vec::len).collect();
    for (at, blockers) in waits_for.iter().enumerate() {
        for blocker in blockers {
            waiting.get_mut(*blocker)?.push(at);
        }
    }
    let mut free: Vec<usize> = (0..open.len()).filter(|at| open.get(*at) == Some(&0)).collect();
    while let Some(done) = free.pop() {
        for at in waiting.get(done).into_iter().flatten() {
            let left = open.get_mut(*at)?;
            *left -= 1;
            if *left == 0 {
                free.push(*at);
            }
        }
    }
    // What could not be freed waits for something that could not be freed either, so this way never ends.
    let is_left = |at: &usize| open.get(*at).is_some_and(|left| *left > 0);
    let mut way = vec![(0..open.len()).find(is_left)?];
    loop {
        let next = *waits_for.get(*way.last()?)?.iter().find(|at| is_left(at))?;
        let seen = way.iter().position(|at| *at == next);
        way.push(next);
        if let Some(seen) = seen {
            return Some(way.split_off(seen));
        }
    }
}

/// A folder's name out of a question: its letters and digits, lowercase, with hyphens between.
fn made_id(question: &str) -> String {
    let mut id = String::new();
    for letter in question.chars().flat_map(char::to_lowercase) {
        if id.chars().count() >= LONGEST_MADE_ID {
            break;
        }
        if letter.is_alphanumeric() {
            id.push(letter);
        } else if !id.ends_with('-') && !id.is_empty() {
            id.push('-');
        }
    }
    let id = id.trim_end_matches('-');
    if id.is_empty() {
        "question".to_owned()
    } else {
        id.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn from(name: &str, text: &str) -> Result<Vec<Question>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        read(&path).map_err(|e| {
            e.to_string()
                .replace(&folder.path().to_string_lossy().into_owned(), "…")
        })
    }

    fn ids(questions: &[Question]) -> Vec<&str> {
        questions.iter().map(|q| q.id.as_str()).collect()
    }

    #[test]
    fn a_text_file_has_one_question_a_line() {
        let text = "\u{feff}# ours\n\n  How many orders?  \r\n分析 2005 年 8 月\nhow many orders\n# end\n???\n";
        let questions = from("q.txt", text).unwrap();
        assert_eq!(
            ids(&questions),
            ["how-many-orders", "分析-2005-年-8-月", "how-many-orders-2", "question"]
        );
        assert_eq!(questions[0].question, "How many orders?");
    }

    #[test]
    fn a_yaml_file_has_ids_databases_and_options() {
        let text = "version: 1\nquestions:\n  - id: a\n    question: How many?\n    database: shop\n    options: {as_of: 2005-12-12, plan: false, language: zh}\n  - question: How many?\n";
        let questions = from("q.yaml", text).unwrap();
        assert_eq!(ids(&questions), ["a", "how-many"]);
        assert_eq!(questions[0].database.as_deref(), Some("shop"));
        let options = &questions[0].options;
        assert_eq!(
            (options.as_of, options.plan),
            (Some(jiff::civil::date(2005, 12, 12)), Some(false))
        );
        assert_eq!(options.language, Some(Language::Chinese));
        assert_eq!(
            ids(&from("q.yml", "# x\n- question: A\n- {question: B, id: b2}\n").unwrap()),
            ["a", "b2"]
        );
        assert_eq!(ids(&from("q.json", r#"[{"question": "A"}]"#).unwrap()), ["a"]);
    }

    #[test]
    fn the_samples_of_the_project_are_read() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sales");
        let (lines, yaml) = (
            read(&folder.join("questions.txt")).unwrap(),
            read(&folder.join("questions.yaml")).unwrap(),
        );
        assert_eq!(lines.len(), yaml.len());
        assert_eq!(yaml[0].id, "aug-report");
    }

    #[rstest]
    #[case(
        "q.txt",
        "# nothing\n\n",
        "…/q.txt has no questions; write one a line, or a YAML list with `question`"
    )]
    #[case("q.yaml", "# nothing\n", "…/q.yaml has no questions")]
    #[case(
        "q.yaml",
        "- id: a\n  question: A\n- id: A\n  question: B\n",
        "…/q.yaml:3: the id `A` is used before, in line 1; ids must differ"
    )]
    #[case(
        "q.yaml",
        "- id: ../x\n  question: A\n",
        "…/q.yaml:1: the id `../x` cannot name a folder; use letters"
    )]
    #[case("q.yaml", "- question: A\n- question: ' '\n", "…/q.yaml:2: `question` is empty")]
    #[case("q.yaml", "- question: A\n- id: b\n", "…/q.yaml:2: ")]
    #[case("q.yaml", "- question: A\n  databse: x\n", "…/q.yaml:2: ")]
    #[case(
        "q.yaml",
        "version: 3\nquestions: []\n",
        "…/q.yaml:1: version 3 is not known; this program reads version 1"
    )]
    #[case("q.yaml", "- question: A\n  options: {as_of: May}\n", "…/q.yaml:2: ")]
    #[case(
        "q.yaml",
        "- question: A\n- {question: B, id: b, after: [c]}\n",
        "…/q.yaml:2: `after` names `c`, and no question has this id"
    )]
    #[case(
        "q.yaml",
        "- {question: B, id: b, after: [b]}\n",
        "…/q.yaml:1: `b` cannot come after itself"
    )]
    #[case(
        "q.yaml",
        "- question: A\n- {question: B, id: b, after: [c]}\n- {question: C, id: c, after: [a, b]}\n",
        "…/q.yaml:2: `after` leads in a circle: b after c after b"
    )]
    #[case(
        "q.yaml",
        "- {question: B, id: Tasks}\n",
        "…/q.yaml:1: the id `Tasks` cannot name a folder"
    )]
    fn a_mistake_is_told_with_line_and_value(#[case] name: &str, #[case] text: &str, #[case] message: &str) {
        let error = from(name, text).unwrap_err();
        assert!(error.starts_with(message), "{error}");
    }

    #[test]
    fn a_missing_file_and_one_that_is_no_text_are_named() {
        let error = read(Path::new("/nowhere/q.txt")).unwrap_err().to_string();
        assert!(error.starts_with("cannot read /nowhere/q.txt: No such file"), "{error}");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("q.txt");
        std::fs::write(&path, b"a\n\xff\xfe\n").unwrap();
        assert!(
            read(&path)
                .unwrap_err()
                .to_string()
                .ends_with("q.txt:2: the text is not UTF-8")
        );
    }
}
