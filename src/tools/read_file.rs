//! `read_file`: a text file of a skill, and of the session where files are allowed.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tools::files::{Place, place, text_of, to_read};
use crate::tools::{Call, Reply, Tool, ToolError, Workbench, args};

/// Lines that are shown at once.
const LINES: usize = 400;

/// What the model sends.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Such as skills/NAME/references/x.md.
    path: String,
    /// The first line to show, from 1.
    #[serde(default)]
    from_line: Option<usize>,
}

/// What the model is told.
#[derive(Debug, Serialize)]
struct Shown {
    path: String,
    from_line: usize,
    lines: usize,
    text: String,
}

/// The tool.
pub struct ReadFile {
    /// May it read the session's files too?
    pub of_session: bool,
}

#[async_trait]
impl Tool for ReadFile {
    fn name(&self) -> &'static str {
        "read_file"
    }

    fn description(&self) -> &'static str {
        match self.of_session {
            true => "Reads a text file: skills/NAME/… of a skill; files/…, results/… and report.md of this session.",
            false => "Reads a reference file of a skill: skills/NAME/….",
        }
    }

    fn schema(&self) -> Value {
        args::schema::<Args>()
    }

    /// Files change while a session goes on.
    fn is_lasting(&self) -> bool {
        !self.of_session
    }

    async fn call(&self, call: Call, at: &Workbench) -> Result<Reply, ToolError> {
        let args: Args = args::parse(self.name(), call.arguments)?;
        let advise = |error: crate::skill::SkillError| ToolError::FixTheCall(format!("read_file: {error}"));
        let text = match place(self.name(), &args.path)? {
            Place::Skill { skill, file } => at
                .skills
                .get(&skill)
                .and_then(|skill| skill.file(&file))
                .map_err(advise)?,
            Place::Session(path) if self.of_session => {
                text_of(self.name(), &args.path, &to_read(self.name(), &path, at)?)?
            }
            Place::Session(_) => {
                return Err(ToolError::FixTheCall(format!(
                    "read_file: `{}` may not be read; only files of skills, such as skills/NAME/references/x.md, may",
                    args.path
                )));
            }
        };
        let lines = text.lines().count();
        let from_line = args.from_line.unwrap_or(1).max(1);
        let part: Vec<&str> = text.lines().skip(from_line - 1).take(LINES).collect();
        let summary = format!("{}: {} of {lines} lines", args.path, part.len());
        let shown = Shown {
            text: part.join("\n"),
            path: args.path,
            from_line,
            lines,
        };
        Reply::json(&shown, summary)
    }
}
