//! What a check came to, in the one shape that commands and tools give it.

use serde::{Deserialize, Serialize};

use super::{CheckedSql, Lint, LintLevel, OutputColumn, Reason, Refusal, Stage};

/// May the statement run?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Accepted,
    Refused,
}

/// The verdict on one statement. All keys are always there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    pub verdict: Outcome,
    /// The step that refused it; null where none did.
    pub stage: Option<Stage>,
    pub reasons: Vec<Reason>,
    pub lints: Vec<Lint>,
    /// Output columns with the table columns they come from; empty where no catalog was at hand.
    pub lineage: Vec<OutputColumn>,
}

impl Verdict {
    /// What [`check`](super::check) said, and where `deny` is given, a refusal of lints of that level and above.
    pub fn new(checked: Result<&CheckedSql, &Refusal>, deny: Option<LintLevel>) -> Self {
        let checked = match checked {
            Ok(checked) => checked,
            Err(refusal) => {
                return Self {
                    verdict: Outcome::Refused,
                    stage: Some(refusal.stage),
                    reasons: refusal.reasons.clone(),
                    lints: Vec::new(),
                    lineage: Vec::new(),
                };
            }
        };
        let denied = |lint: &&Lint| deny.is_some_and(|level| lint.level >= level);
        let reasons: Vec<Reason> = checked.lints().iter().filter(denied).map(as_reason).collect();
        let refused = !reasons.is_empty();
        Self {
            verdict: if refused { Outcome::Refused } else { Outcome::Accepted },
            stage: refused.then_some(Stage::Lint),
            reasons,
            lints: checked.lints().to_vec(),
            lineage: checked.lineage().to_vec(),
        }
    }
}

fn as_reason(lint: &Lint) -> Reason {
    Reason {
        code: lint.code.clone(),
        message: lint.message.clone(),
        suggestion: lint.rewrite.clone(),
        position: None,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::warehouse::Dialect;
    use crate::warehouse::sql::check;

    fn verdict(sql: &str, deny: Option<LintLevel>) -> Verdict {
        let checked = check(sql, Dialect::Sqlite, None);
        Verdict::new(checked.as_ref(), deny)
    }

    #[test]
    fn every_key_is_written() {
        assert_eq!(
            serde_json::to_value(verdict("SELECT 1", None)).unwrap(),
            json!({"verdict": "accepted", "stage": null, "reasons": [], "lints": [], "lineage": []})
        );
        let refused = serde_json::to_value(verdict("SELECT 1; SELECT 2", None)).unwrap();
        assert_eq!(refused["stage"], "guard");
        assert_eq!(refused["reasons"][0]["position"], json!({"line": 1, "column": 11}));
        assert!(refused["reasons"][0].get("suggestion").is_none());
    }

    #[rstest]
    #[case(Some(LintLevel::Error), Outcome::Accepted)]
    #[case(Some(LintLevel::Warning), Outcome::Refused)]
    #[case(Some(LintLevel::Info), Outcome::Refused)]
    #[case(None, Outcome::Accepted)]
    fn a_lint_refuses_from_the_denied_level_on(#[case] deny: Option<LintLevel>, #[case] expected: Outcome) {
        let lint = Lint {
            code: "integer-division".to_owned(),
            level: LintLevel::Warning,
            message: "7 / 2 is 3".to_owned(),
            rewrite: Some("7 / 2.0".to_owned()),
        };
        let checked = CheckedSql {
            lints: vec![lint],
            ..check("SELECT 7 / 2", Dialect::Sqlite, None).unwrap()
        };
        let verdict = Verdict::new(Ok(&checked), deny);
        assert_eq!(verdict.verdict, expected);
        if expected == Outcome::Refused {
            assert_eq!(verdict.stage, Some(Stage::Lint));
            assert_eq!(verdict.reasons[0].suggestion.as_deref(), Some("7 / 2.0"));
        }
    }
}
