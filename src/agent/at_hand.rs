//! Results that may already answer the question: what is said to a model that does not see them.

use crate::agent::dispatch::CallRecord;
use crate::session::event::CallStatus;
use crate::tools::sql_execute;

/// What a run's queries have brought, as far as it may be enough for an answer.
#[derive(Debug, Clone, Copy)]
pub struct AtHand<'a> {
    id: &'a str,
    summary: &'a str,
}

impl<'a> AtHand<'a> {
    /// The latest query of `calls` that succeeded.
    pub fn of(calls: &'a [CallRecord]) -> Option<Self> {
        calls.iter().rev().find_map(|call| {
            let succeeded = call.tool == sql_execute::NAME && call.status == CallStatus::Ok;
            let id = call.artifact_id.as_deref().filter(|_| succeeded)?;
            Some(Self {
                id,
                summary: &call.summary,
            })
        })
    }

    /// Said in the request after a query, where there is no plan that says what comes next.
    pub fn pointed_at(self) -> String {
        format!(
            "{} is there: {}. If it answers the question, answer now, without a tool call: the first line is \
             `<!-- answer: {} -->`, then the finding in words, with the names and numbers of its rows and [{}].",
            self.id, self.summary, self.id, self.id
        )
    }

    /// Said once to a model that gives the question up although a query succeeded.
    pub fn held_against(self) -> String {
        format!(
            "You say that the question cannot be answered, but {} is there: {}. If it answers the question, give the answer \
             from its rows, with [{}] and without the `outcome` line. If it does not, reply UNCHANGED. This is asked once.",
            self.id, self.summary, self.id
        )
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn record(tool: &str, id: Option<&str>, status: CallStatus) -> CallRecord {
        CallRecord {
            call_id: "1".into(),
            tool: tool.into(),
            arguments: json!({}),
            artifact_id: id.map(str::to_owned),
            status,
            summary: "2 rows".into(),
            elapsed_ms: 1,
            repeated: false,
        }
    }

    #[test]
    fn the_latest_query_that_succeeded_is_at_hand() {
        let calls = [
            record("sql_execute", Some("q1"), CallStatus::Ok),
            record("sql_execute", Some("q2"), CallStatus::Ok),
            record("sql_execute", Some("q3"), CallStatus::Error),
            record("metric_compute", Some("m1"), CallStatus::Ok),
        ];
        assert_eq!(AtHand::of(&calls).unwrap().id, "q2");
        assert!(AtHand::of(&calls[2..]).is_none());
        let said = AtHand::of(&calls).unwrap().pointed_at();
        assert!(
            said.starts_with("q2 is there: 2 rows.") && said.contains("<!-- answer: q2 -->"),
            "{said}"
        );
    }
}
