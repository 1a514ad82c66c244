//! The system prompt: the same in every turn of a run, so that a provider's prompt cache hits.

use minijinja::{Environment, context};

use crate::config::Share;
use crate::text::Language;
use crate::tools::{Registry, todo_write};

const SYSTEM: &str = include_str!("prompts/system.md.j2");
/// Sent once when an answer comes while steps are open; the open steps follow it.
pub const RECONCILE: &str = include_str!("prompts/reconcile.md");
pub const EMPTY_REPLY: &str = include_str!("prompts/empty.md");
pub const TOO_LONG: &str = include_str!("prompts/too_long.md");
pub const LAST_TURN: &str = include_str!("prompts/last_turn.md");

/// What the prompt is made of beside the fixed text.
#[derive(Debug, Clone, Default)]
pub struct PromptParts {
    /// The skill whose body is part of every prompt, as (name, body).
    pub skill: Option<(String, String)>,
    /// Skills that the `skill` tool can load, as (name, description).
    pub other_skills: Vec<(String, String)>,
    /// What there is in the database, short.
    pub database_brief: String,
    /// ISO date that counts as today.
    pub as_of: String,
    pub language: Language,
    pub share: Share,
}

/// Renders the system prompt; guidance on planning is in it if and only if `registry` offers TodoWrite.
pub fn system(parts: &PromptParts, registry: &Registry) -> Result<String, minijinja::Error> {
    let guidance = registry
        .get(todo_write::NAME)
        .map(|_| todo_write::TODO_WRITE_GUIDANCE.trim_end());
    let language = match parts.language {
        Language::English => "English",
        Language::Chinese => "Chinese (简体中文)",
    };
    let skill = parts
        .skill
        .as_ref()
        .map(|(name, body)| context! { name, body => body.trim() });
    let others: Vec<_> = parts
        .other_skills
        .iter()
        .map(|(name, description)| context! { name, description })
        .collect();
    Environment::new().render_str(
        SYSTEM,
        context! {
            guidance,
            language,
            skill,
            other_skills => others,
            database_brief => parts.database_brief.trim(),
            as_of => parts.as_of.as_str(),
            // Serialised as configurations spell it; samples need no word.
            share => (!parts.share.shows_values()).then(|| parts.share.as_str()),
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::todo::SharedPlan;
    use crate::tools::todo_write::TodoWrite;

    fn parts() -> PromptParts {
        PromptParts {
            skill: Some(("data-analysis".into(), "Plan, then probe.\n".into())),
            other_skills: vec![("forecast".into(), "Predict the next months.".into())],
            database_brief: "9 tables: orders <b>, …".into(),
            as_of: "2005-12-12".into(),
            language: Language::Chinese,
            share: Share::Samples,
        }
    }

    #[test]
    fn guidance_is_there_if_and_only_if_todo_write_is_registered() {
        let without = system(&parts(), &Registry::default()).unwrap();
        let with_tool = Registry::new(vec![Box::new(TodoWrite::new(SharedPlan::default()))]);
        let with = system(&parts(), &with_tool).unwrap();
        assert!(with.contains(todo_write::TODO_WRITE_GUIDANCE.trim_end()));
        assert!(
            !without.contains("TodoWrite") && !without.contains("# Planning"),
            "{without}"
        );
    }

    #[test]
    fn the_parts_stand_in_their_sections_unescaped() {
        let prompt = system(&parts(), &Registry::default()).unwrap();
        for part in [
            "- Today is 2005-12-12.\n\n# The answer",
            "in Chinese (简体中文)",
            "# Skill: data-analysis\n\nPlan, then probe.\n\n# Other skills\n",
            "\n- forecast: Predict the next months.\n\n# The database\n\n9 tables: orders <b>, …",
        ] {
            assert!(prompt.contains(part), "{part:?} in\n{prompt}");
        }
        let told = |share| system(&PromptParts { share, ..parts() }, &Registry::default()).unwrap();
        assert!(!prompt.contains("not shown"), "{prompt}");
        assert!(told(Share::Schema).contains("Values are not shown to you"));
        assert!(told(Share::Aggregates).contains("Only rows of aggregated results are shown to you"));
        let bare = system(&PromptParts::default(), &Registry::default()).unwrap();
        assert!(!bare.contains("# Skill") && !bare.contains("# Other") && !bare.contains("# The database"));
    }
}
