//! A chat model with all tools: what its run names as the answer is what is compared.

use std::path::PathBuf;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::config::Config;
use crate::jobs::answer::{Job, answer};
use crate::jobs::database::Database;
use crate::jobs::eval::{Given, Settings};
use crate::model::chat::ChatModel;
use crate::session::store::Session;
use crate::skill::Skills;
use crate::warehouse::fetch::ResultSet;

/// The model, and what its runs need.
pub struct Agent {
    pub model: Box<dyn ChatModel>,
    pub config: Config,
    pub skills: Arc<Skills>,
    /// Sessions are written here, one a question.
    pub folder: PathBuf,
}

impl Agent {
    /// Runs the agent; a run that names no result, or one that cannot be read back, counts as abstained.
    pub(super) async fn answer(
        &self,
        database: &Database,
        question: &str,
        settings: &Settings,
        cancel: &CancellationToken,
    ) -> Given {
        let failed = |problem: String| Given {
            problem: Some(problem),
            ..Given::default()
        };
        let session = match Session::create(&self.folder, jiff::Timestamp::now()) {
            Ok(session) => session,
            Err(error) => return failed(error.to_string()),
        };
        let mut config = self.config.clone();
        config.as_of = settings.as_of;
        let answered = answer(Job {
            question,
            database,
            model: self.model.as_ref(),
            config: &config,
            skills: Arc::clone(&self.skills),
            today: settings.today,
            before: Vec::new(),
            session: &session,
            person: None,
            listeners: Vec::new(),
            cancel: cancel.clone(),
        })
        .await;
        let answered = match answered {
            Ok(answered) => answered,
            Err(error) => return failed(error.to_string()),
        };
        let given = Given {
            usage: answered.run.usage,
            ..Given::default()
        };
        let Some(id) = &answered.run.answer_result else {
            return given;
        };
        match ResultSet::load(&session.results(), id) {
            Ok(result) => Given {
                sql: Some(result.sql),
                ..given
            },
            Err(error) => Given {
                problem: Some(error.to_string()),
                ..given
            },
        }
    }
}
