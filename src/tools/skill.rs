//! `skill`: loads the instructions of a skill, or a file that belongs to it.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::tools::{Call, Reply, Tool, ToolError, Workbench, args};

/// What the model sends.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The skill's name.
    name: String,
    /// A file inside the skill, such as references/charts.md; the instructions themselves if left out.
    #[serde(default)]
    file: Option<String>,
}

/// The tool.
pub struct SkillTool;

#[async_trait]
impl Tool for SkillTool {
    fn name(&self) -> &'static str {
        "skill"
    }

    fn description(&self) -> &'static str {
        "Loads the instructions of one of the listed skills, or one of its reference files."
    }

    fn schema(&self) -> Value {
        args::schema::<Args>()
    }

    async fn call(&self, call: Call, at: &Workbench) -> Result<Reply, ToolError> {
        let args: Args = args::parse(self.name(), call.arguments)?;
        let advise = |error: crate::skill::SkillError| ToolError::FixTheCall(format!("skill: {error}"));
        let skill = at.skills.get(&args.name).map_err(advise)?;
        let (text, what) = match &args.file {
            None => (skill.body.clone(), skill.name.clone()),
            Some(file) => (skill.file(file).map_err(advise)?, format!("{}/{file}", skill.name)),
        };
        Ok(Reply {
            text,
            summary: what,
            artifacts: Vec::new(),
            plan: None,
        })
    }
}
