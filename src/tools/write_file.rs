//! `write_file` and `edit_file`: texts that a model keeps in its session.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::session::store::write_whole;
use crate::tools::files::{LARGEST, Place, place, text_of, to_write};
use crate::tools::{Call, Effect, Reply, Tool, ToolError, Workbench, args};

/// What the model sends to `write_file`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Write {
    /// Below files/, such as files/notes.md; what was there is replaced.
    path: String,
    content: String,
}

/// What the model sends to `edit_file`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Edit {
    /// A file below files/.
    path: String,
    /// The text to replace, letter by letter; it must occur exactly once.
    old: String,
    new: String,
}

/// The tool that writes whole files.
pub struct WriteFile;

#[async_trait]
impl Tool for WriteFile {
    fn name(&self) -> &'static str {
        "write_file"
    }

    fn description(&self) -> &'static str {
        "Writes a text file below files/ of this session, for notes and work in progress. The answer itself is your last reply."
    }

    fn schema(&self) -> Value {
        args::schema::<Write>()
    }

    fn effect(&self) -> Effect {
        Effect::Write
    }

    async fn call(&self, call: Call, at: &Workbench) -> Result<Reply, ToolError> {
        let args: Write = args::parse(self.name(), call.arguments)?;
        save(self.name(), &args.path, &args.content, at)
    }
}

/// The tool that changes one place of a file.
pub struct EditFile;

#[async_trait]
impl Tool for EditFile {
    fn name(&self) -> &'static str {
        "edit_file"
    }

    fn description(&self) -> &'static str {
        "Replaces one text in a file below files/ by another. The old text must occur exactly once."
    }

    fn schema(&self) -> Value {
        args::schema::<Edit>()
    }

    fn effect(&self) -> Effect {
        Effect::Write
    }

    async fn call(&self, call: Call, at: &Workbench) -> Result<Reply, ToolError> {
        let args: Edit = args::parse(self.name(), call.arguments)?;
        let file = own_file(self.name(), &args.path, at)?;
        let text = text_of(self.name(), &args.path, &file)?;
        let changed = edited(&text, &args.old, &args.new)
            .map_err(|why| ToolError::FixTheCall(format!("edit_file: {why} in `{}`", args.path)))?;
        save(self.name(), &args.path, &changed, at)
    }
}

/// `text` with its one `old` replaced by `new`.
fn edited(text: &str, old: &str, new: &str) -> Result<String, String> {
    if old.is_empty() {
        return Err("`old` is empty; give the text to replace, which must be there".to_owned());
    }
    // Places may overlap, and two that do are two.
    let places = text
        .char_indices()
        .filter(|(at, _)| text.get(*at..).is_some_and(|rest| rest.starts_with(old)));
    match places.count() {
        0 => Err("`old` does not occur; read the file, and give the text exactly as it stands".to_owned()),
        1 => Ok(text.replacen(old, new, 1)),
        many => Err(format!("`old` occurs {many} times; give more of the text around it")),
    }
}

fn own_file(tool: &str, path: &str, at: &Workbench) -> Result<std::path::PathBuf, ToolError> {
    match place(tool, path)? {
        Place::Session(below) => to_write(tool, &below, at),
        Place::Skill { .. } => Err(ToolError::FixTheCall(format!(
            "{tool}: `{path}` belongs to a skill, which is only read; write below files/"
        ))),
    }
}

fn save(tool: &str, path: &str, text: &str, at: &Workbench) -> Result<Reply, ToolError> {
    if text.len() as u64 > LARGEST {
        return Err(ToolError::FixTheCall(format!(
            "{tool}: the text has {} bytes, more than the {LARGEST} that are written; write less",
            text.len()
        )));
    }
    let file = own_file(tool, path, at)?;
    write_whole(&file, text.as_bytes()).map_err(|error| ToolError::CannotBeDone(error.to_string()))?;
    let told = json!({"path": at.relative(&file), "bytes": text.len()});
    Reply::json(&told, format!("{path}: {} bytes", text.len()))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("one two", "two", "three", Ok("one three"))]
    #[case("甲乙丙", "乙", "", Ok("甲丙"))]
    #[case("a a", "a", "b", Err("2 times"))]
    #[case("aaa", "aa", "b", Err("2 times"))]
    #[case("abc", "x", "y", Err("does not occur"))]
    #[case("abc", "", "y", Err("empty"))]
    fn an_edit_meets_its_text_exactly_once(
        #[case] text: &str,
        #[case] old: &str,
        #[case] new: &str,
        #[case] expected: Result<&str, &str>,
    ) {
        match (edited(text, old, new), expected) {
            (Ok(changed), Ok(expected)) => assert_eq!(changed, expected),
            (Err(why), Err(words)) => assert!(why.contains(words), "{why}"),
            (got, _) => panic!("{got:?}"),
        }
    }
}
