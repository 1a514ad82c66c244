//! Whole runs against a model that follows a script: the good ways and the bad ones.

use std::sync::Arc;

use rstest::rstest;
use serde_json::json;

use super::*;
use crate::agent::prompt::PromptParts;
use crate::agent::reminder::REMINDER;
use crate::agent::testing::{
    Fake, Heard, Scripted, Step, call, calls, fails, made, plan, query, registry, say_and_call, says, stops, workbench,
};
use crate::config::Budget;
use crate::session::event::CallStatus;
use crate::session::message::{Arguments, Role, StopReason};
use crate::session::todo::{SharedPlan, Status};
use crate::text::Language;
use crate::tools::Registry;

struct Ran {
    output: RunOutput,
    model: Scripted,
    heard: Arc<Heard>,
}

fn settings() -> Settings {
    Settings {
        budget: Budget {
            max_turns: 12,
            ..Budget::default()
        },
        reminder: 3,
        ..Settings::default()
    }
}

async fn ran(script: Vec<Step>) -> Ran {
    ran_with(script, settings()).await
}

async fn ran_with(script: Vec<Step>, settings: Settings) -> Ran {
    let plan = SharedPlan::default();
    let registry = registry(&plan);
    try_run(script, settings, registry, plan, CancellationToken::new())
        .await
        .unwrap()
}

async fn try_run(
    script: Vec<Step>,
    settings: Settings,
    registry: Arc<Registry>,
    plan: SharedPlan,
    cancel: CancellationToken,
) -> Result<Ran, RunError> {
    let model = Scripted::new(script);
    let (timeline, heard) = Heard::timeline();
    let input = RunInput {
        run: 1,
        question: "analyze Aug 2005 employee sales".into(),
        model: &model,
        registry,
        workbench: workbench(),
        plan,
        prompt: PromptParts::default(),
        settings,
        timeline,
        cancel,
        earlier: Earlier::default(),
        past: None,
    };
    let output = run(input).await?;
    assert_every_call_ended_once(&heard);
    assert_well_formed(&output.messages);
    Ok(Ran { output, model, heard })
}

/// Starts and ends pair up, and no list shows two steps in progress.
fn assert_every_call_ended_once(heard: &Heard) {
    let (mut started, mut finished) = (vec![], vec![]);
    for kind in heard.kinds() {
        match kind {
            EventKind::ToolStarted { call_id, .. } => started.push(call_id),
            EventKind::ToolFinished { call_id, .. } => finished.push(call_id),
            EventKind::TodoProgress { todos, .. } => {
                assert!(todos.iter().filter(|t| t.status == Status::InProgress).count() <= 1);
            }
            _ => {}
        }
    }
    started.sort();
    finished.sort();
    assert_eq!(started, finished);
}

fn assert_well_formed(messages: &[Message]) {
    let mut open: Vec<String> = vec![];
    for message in messages {
        if let Some(id) = &message.tool_call_id {
            assert_eq!(open.remove(0), *id);
        } else {
            assert!(open.is_empty(), "{open:?} unanswered");
            open = message.tool_calls.iter().map(|c| c.id.clone()).collect();
        }
    }
    assert!(open.is_empty(), "{open:?} unanswered");
}

impl Ran {
    fn notices(&self) -> Vec<String> {
        self.output.notices.iter().map(|n| n.text(Language::English)).collect()
    }

    /// What was said at the end of each request alone.
    fn ephemeral(&self) -> Vec<String> {
        self.model
            .requests()
            .into_iter()
            .map(|r| r.ephemeral.unwrap_or_default())
            .collect()
    }
}

const A_B: [(&str, &str); 2] = [("A", "in_progress"), ("B", "pending")];
const A_B_DONE: [(&str, &str); 2] = [("A", "completed"), ("B", "completed")];

#[tokio::test]
async fn a_planned_question_ends_in_its_answer() {
    let ran = ran(vec![
        calls(vec![plan("t1", &A_B), query("a", "SELECT 1")]),
        calls(vec![
            plan("t2", &[("A", "completed"), ("B", "in_progress")]),
            query("b", "SELECT 2"),
        ]),
        calls(vec![plan("t3", &A_B_DONE)]),
        says("<!-- answer: q2 -->\n# Sales\n\n5 [q1], 6 [q2]"),
    ])
    .await;
    let output = &ran.output;
    assert_eq!(output.outcome, Outcome::Answered);
    assert_eq!(output.answer_markdown, "# Sales\n\n5 [q1], 6 [q2]");
    assert_eq!(output.answer_result.as_deref(), Some("q2"));
    assert_eq!(
        output.artifacts.iter().map(|a| a.0.as_str()).collect::<Vec<_>>(),
        ["q1", "q2"]
    );
    assert_eq!(
        (output.turns, output.usage),
        (
            4,
            Usage {
                input: 400,
                cached: 0,
                output: 40
            }
        )
    );
    assert!(output.notices.is_empty());
    assert!(matches!(output.finished(1, 0), EventKind::RunFinished { answer: Some(id), .. } if id == "q2"));
    assert_eq!(ran.heard.story()[..4], ["start t1", "ok t1", "todo 0/2", "start a"]);
}

#[tokio::test]
async fn system_and_tools_are_the_same_in_every_request() {
    let ran = ran(vec![
        calls(vec![plan("t", &A_B)]),
        calls(vec![query("a", "1")]),
        says("done [q1]"),
    ])
    .await;
    let requests = ran.model.requests();
    assert!(requests.len() > 2);
    for request in &requests[1..] {
        assert_eq!(request.system, requests[0].system);
        assert_eq!(request.tools, requests[0].tools);
    }
    assert!(requests[0].system.contains("Plan with TodoWrite first"));
}

#[tokio::test]
async fn a_model_that_forgets_its_plan_is_reminded_and_the_report_is_honest() {
    let mut script = vec![calls(vec![plan("t", &A_B)])];
    script.extend((0..9).map(|n| calls(vec![query(&format!("c{n}"), &format!("SELECT {n}"))])));
    script.push(says("the answer [q1]"));
    let ran = ran_with(
        script,
        Settings {
            budget: Budget {
                max_turns: 40,
                ..Budget::default()
            },
            ..settings()
        },
    )
    .await;
    let ephemeral = ran.ephemeral();
    let reminded: Vec<usize> = ephemeral
        .iter()
        .enumerate()
        .filter(|(_, text)| text.contains(REMINDER))
        .map(|(index, _)| index + 1)
        .collect();
    // Turn 1 writes the plan; turns 2 to 4 are quiet, so request 5 reminds; six quiet turns later request 11 does.
    assert_eq!(reminded, [5, 11]);
    let restated: Vec<usize> = ephemeral
        .iter()
        .enumerate()
        .filter(|(_, text)| text.contains("<plan>\n[>] #1: A (Doing A)\n"))
        .map(|(i, _)| i + 1)
        .collect();
    assert_eq!(restated, [4, 5, 6, 7, 8, 9, 10, 11, 12]);
    assert!(
        ran.output
            .messages
            .iter()
            .all(|m| !m.text.contains("Refresh your current plan"))
    );
    assert_eq!(ran.heard.story().iter().filter(|s| *s == "reminder").count(), 2);
    // The answer came with open steps: asked once, then it stands.
    assert_eq!(ran.output.outcome, Outcome::Incomplete);
    assert_eq!(ran.output.answer_markdown, "the answer [q1]");
    assert_eq!(ran.notices(), ["These steps of the plan were not done: A; B."]);
    assert_eq!(
        ran.output
            .messages
            .iter()
            .filter(|m| m.text.contains("This is asked once"))
            .count(),
        1
    );
}

#[tokio::test]
async fn reminders_can_be_switched_off() {
    let mut script = vec![calls(vec![plan("t", &A_B)])];
    script.extend((0..9).map(|n| calls(vec![query(&format!("c{n}"), &format!("SELECT {n}"))])));
    script.push(says("x"));
    let ran = ran_with(
        script,
        Settings {
            reminder: 0,
            ..settings()
        },
    )
    .await;
    assert!(ran.ephemeral().iter().all(|text| !text.contains(REMINDER)));
}

#[rstest]
#[case::finished_without_a_word(vec![calls(vec![plan("t2", &A_B_DONE)])], Outcome::Answered, "5 [q1]")]
#[case::unchanged(vec![says("UNCHANGED")], Outcome::Incomplete, "5 [q1]")]
#[case::all_done(vec![calls(vec![plan("t2", &A_B_DONE), query("b", "2")]), says("All steps are done.")], Outcome::Answered, "5 [q1]")]
#[case::better(vec![calls(vec![plan("t2", &A_B_DONE), query("b", "2")]), says("5 [q1], 6 [q2]")], Outcome::Answered, "5 [q1], 6 [q2]")]
#[case::nothing(vec![says(" ")], Outcome::Incomplete, "5 [q1]")]
#[case::still_open(vec![calls(vec![query("b", "2")]), says("6 [q2]")], Outcome::Incomplete, "6 [q2]")]
#[tokio::test]
async fn an_early_answer_gets_one_turn_to_reconcile(
    #[case] after: Vec<Step>,
    #[case] outcome: Outcome,
    #[case] answer: &str,
) {
    let mut script = vec![calls(vec![plan("t", &A_B), query("a", "1")]), says("5 [q1]")];
    script.extend(after);
    let ran = ran(script).await;
    assert_eq!(
        (ran.output.outcome, ran.output.answer_markdown.as_str()),
        (outcome, answer)
    );
    assert_eq!(
        ran.output
            .messages
            .iter()
            .filter(|m| m.text.contains("This is asked once"))
            .count(),
        1
    );
    assert!(
        ran.output
            .messages
            .iter()
            .any(|m| m.text.contains("- #1 A\n- #2 B</reminder>"))
    );
}

#[tokio::test]
async fn an_answer_sent_along_with_the_last_plan_write_is_not_lost() {
    let ran = ran(vec![
        calls(vec![plan("t", &A_B), query("a", "1")]),
        say_and_call("The whole report [q1].", vec![plan("t2", &A_B_DONE)]),
        says("Done."),
    ])
    .await;
    assert_eq!(
        (ran.output.outcome, ran.output.answer_markdown.as_str()),
        (Outcome::Answered, "The whole report [q1].")
    );
}

#[tokio::test]
async fn a_stringified_list_and_two_writes_in_a_turn_end_well() {
    let list = r#"[{"content": "A", "activeForm": "Doing A", "status": "completed"}]"#;
    let ran = ran(vec![
        calls(vec![
            call("t1", "TodoWrite", json!({ "todos": list })),
            plan("t2", &[("B", "pending")]),
        ]),
        says("fine"),
    ])
    .await;
    assert_eq!(ran.output.outcome, Outcome::Answered);
    assert_eq!(
        ran.heard.story(),
        ["start t1", "ok t1", "todo 1/1", "start t2", "error t2"]
    );
}

#[tokio::test]
async fn dropped_steps_are_named() {
    let ran = ran(vec![
        calls(vec![plan("t1", &A_B)]),
        calls(vec![plan("t2", &[("A", "completed")])]),
        says("x"),
    ])
    .await;
    assert_eq!(ran.output.outcome, Outcome::Answered);
    assert_eq!(ran.notices(), ["These steps were taken off the plan: B."]);
}

#[tokio::test]
async fn a_model_that_never_stops_is_told_its_last_turn_and_ended() {
    let script = vec![
        calls(vec![query("", "SELECT 1")]),
        Box::new(|request: &ChatRequest| {
            let sql = format!("SELECT {}", request.messages.len());
            Ok(crate::agent::testing::reply(
                Message::assistant("", vec![query("", &sql)]),
                StopReason::ToolCalls,
            ))
        }) as Step,
    ];
    let ran = ran_with(
        script,
        Settings {
            budget: Budget {
                max_turns: 5,
                ..Budget::default()
            },
            ..settings()
        },
    )
    .await;
    assert_eq!((ran.output.outcome, ran.output.turns), (Outcome::Incomplete, 5));
    assert_eq!(
        ran.notices(),
        ["The run ended early: its budget of 5 turns is used up (--max-turns)."]
    );
    assert!(
        ran.ephemeral()[4].starts_with("This is the last turn"),
        "{:?}",
        ran.ephemeral()
    );
    assert_eq!(ran.output.calls.last().unwrap().status, CallStatus::Cancelled);
    assert_eq!(
        ran.output.answer_markdown,
        "The run ended before there was an answer. These results are known:\n\n- [q1] sql_execute: 1 row\n- [q2] \
         sql_execute: 1 row\n- [q3] sql_execute: 1 row\n- [q4] sql_execute: 1 row"
    );
}

#[tokio::test]
async fn an_answer_on_the_last_turn_is_an_answer() {
    let script = vec![calls(vec![query("a", "SELECT 1")]), says("5 [q1]")];
    let ran = ran_with(
        script,
        Settings {
            budget: Budget {
                max_turns: 2,
                ..Budget::default()
            },
            ..settings()
        },
    )
    .await;
    assert_eq!((ran.output.outcome, ran.notices().len()), (Outcome::Answered, 0));
}

#[tokio::test]
async fn the_same_failing_call_is_told_and_then_ended() {
    let ran = ran(vec![calls(vec![query("a", "bad")])]).await;
    assert_eq!(ran.output.turns, 5);
    assert!(
        ran.ephemeral()[3].starts_with("The same call of sql_execute has failed 3 times"),
        "{:?}",
        ran.ephemeral()
    );
    assert_eq!(ran.output.outcome, Outcome::Incomplete);
    assert_eq!(
        ran.notices(),
        ["The run was ended because the same call of sql_execute failed again and again."]
    );
}

#[tokio::test]
async fn a_model_that_only_repeats_is_brought_to_an_answer() {
    let ask_again = || calls(vec![query("a", "SELECT 1")]);
    let mut script: Vec<Step> = (0..6).map(|_| ask_again()).collect();
    script.push(says("5 [q1]"));
    let ran = ran(script).await;
    assert_eq!(
        (ran.output.outcome, ran.output.answer_markdown.as_str()),
        (Outcome::Answered, "5 [q1]")
    );
    assert_eq!(ran.output.calls.iter().filter(|c| !c.repeated).count(), 1);
    assert_eq!(ran.output.artifacts.len(), 1);
}

#[tokio::test]
async fn a_model_that_only_rewrites_its_plan_is_ended() {
    let ran = ran(vec![calls(vec![plan("t", &A_B)])]).await;
    assert_eq!((ran.output.outcome, ran.output.turns), (Outcome::Incomplete, 7));
    assert_eq!(
        ran.notices(),
        [
            "The run was ended because the model only repeated calls that had been answered.",
            "These steps of the plan were not done: A; B.",
        ]
    );
}

#[tokio::test]
async fn bad_arguments_unknown_tools_and_panics_do_not_end_a_run() {
    let cut = ToolCall {
        id: "x".into(),
        name: "sql_execute".into(),
        arguments: Arguments::Malformed {
            text: "{sql".into(),
            problem: "key must be a string".into(),
        },
    };
    let ran = ran(vec![
        calls(vec![
            cut,
            call("y", "sqlexecute", json!({})),
            call("z", "metric_compute", json!({})),
            query("q", "1"),
        ]),
        says("5 [q1]"),
    ])
    .await;
    assert_eq!(ran.output.outcome, Outcome::Answered);
    let statuses: Vec<_> = ran.output.calls.iter().map(|c| c.status).collect();
    assert_eq!(
        statuses,
        [CallStatus::Error, CallStatus::Error, CallStatus::Error, CallStatus::Ok]
    );
}

#[tokio::test]
async fn an_empty_reply_is_forgiven_once() {
    let ran_on = ran(vec![says(""), calls(vec![query("a", "1")]), says("5 [q1]")]).await;
    assert_eq!(ran_on.output.outcome, Outcome::Answered);
    assert_eq!(
        ran_on.ephemeral()[1],
        "Your last reply was empty. Go on with the next tool call, or give the answer."
    );
    let ended = ran(vec![says("")]).await;
    assert_eq!((ended.output.outcome, ended.output.turns), (Outcome::Incomplete, 2));
    assert_eq!(ended.output.messages.len(), 1);
}

#[tokio::test]
async fn a_cut_off_answer_is_asked_for_again_once() {
    let short = ran(vec![stops("a long st", vec![], StopReason::Length), says("short")]).await;
    assert_eq!(
        (short.output.outcome, short.output.answer_markdown.as_str()),
        (Outcome::Answered, "short")
    );
    let long = ran(vec![stops("a long st", vec![], StopReason::Length)]).await;
    assert_eq!(
        (long.output.outcome, long.output.answer_markdown.as_str()),
        (Outcome::Incomplete, "a long st")
    );
    assert_eq!(
        long.notices(),
        ["The model's answer reached its length limit and is cut off."]
    );
}

#[tokio::test]
async fn a_cut_off_call_is_answered_and_not_run() {
    let cut = ToolCall {
        id: "a".into(),
        name: "sql_execute".into(),
        arguments: Arguments::Malformed {
            text: "{\"sql\": \"SEL".into(),
            problem: "ends early".into(),
        },
    };
    let ran = ran(vec![
        stops("", vec![cut], StopReason::Length),
        calls(vec![query("b", "1")]),
        says("5 [q1]"),
    ])
    .await;
    assert_eq!(ran.output.outcome, Outcome::Answered);
    assert!(
        ran.output.messages[2].text.contains("was cut off and not run"),
        "{}",
        ran.output.messages[2].text
    );
}

#[tokio::test]
async fn a_refusal_ends_the_run() {
    let ran = ran(vec![stops("I cannot help with that.", vec![], StopReason::Refusal)]).await;
    assert_eq!(ran.output.outcome, Outcome::Failed);
    assert_eq!(ran.output.answer_markdown, "I cannot help with that.");
    assert_eq!(ran.notices(), ["The model declined to answer."]);
}

#[tokio::test]
async fn an_overflow_shortens_the_conversation_once_and_goes_on() {
    let long = "x".repeat(5_000);
    let overflow = || {
        fails(ChatError::ContextOverflow {
            model: "scripted".into(),
            detail: "8192".into(),
        })
    };
    let asks = |n: u32| calls(vec![query(&format!("c{n}"), &format!("SELECT {n} -- {long}"))]);
    let ran = ran(vec![asks(1), asks(2), asks(3), asks(4), overflow(), says("5 [q1]")]).await;
    assert_eq!(ran.output.outcome, Outcome::Answered);
    assert!(ran.heard.story().contains(&"compaction".to_owned()));
    let sizes: Vec<u64> = ran
        .model
        .requests()
        .iter()
        .map(|r| compaction::estimate_messages(&r.messages))
        .collect();
    assert!(sizes[5] < sizes[4] * 6 / 10, "{sizes:?}");
    assert!(
        ran.model.requests()[5].messages[0]
            .text
            .starts_with("analyze Aug 2005 employee sales\n\n<earlier>")
    );
}

#[tokio::test]
async fn an_overflow_that_stays_ends_with_what_is_known() {
    let overflow = fails(ChatError::ContextOverflow {
        model: "scripted".into(),
        detail: "8192".into(),
    });
    let ran = ran(vec![calls(vec![query("a", "1")]), overflow]).await;
    assert_eq!(ran.output.outcome, Outcome::Incomplete);
    assert!(ran.output.answer_markdown.ends_with("- [q1] sql_execute: 1 row"));
}

#[tokio::test]
async fn a_model_that_fails_at_once_is_an_error_and_later_a_report() {
    let down = || fails(ChatError::Unavailable("no server at 127.0.0.1:1".into()));
    let plan = SharedPlan::default();
    let at_once = try_run(
        vec![down()],
        settings(),
        registry(&plan),
        plan,
        CancellationToken::new(),
    )
    .await;
    assert_eq!(at_once.err().unwrap().to_string(), "scripted: no server at 127.0.0.1:1");
    let later = ran(vec![calls(vec![query("a", "1")]), down()]).await;
    assert_eq!(later.output.outcome, Outcome::Failed);
    assert_eq!(later.notices(), ["The model failed: no server at 127.0.0.1:1."]);
    assert!(later.output.answer_markdown.contains("[q1]"));
}

#[tokio::test]
async fn a_question_back_is_an_event_with_its_readings() {
    let text = "<!-- outcome: clarify -->\nWhich sales?\n\n- net\n- gross";
    let ran = ran(vec![calls(vec![plan("t", &A_B)]), says(text)]).await;
    assert_eq!(ran.output.outcome, Outcome::Clarify);
    let asked = EventKind::Clarification {
        question: "Which sales?\n\n- net\n- gross".into(),
        readings: vec!["net".into(), "gross".into()],
    };
    assert!(ran.heard.kinds().contains(&asked));
    let abstained = super::tests::ran(vec![says("<!-- outcome: abstained -->\nNo such data.")]).await;
    assert_eq!(abstained.output.outcome.exit_code(), 4);
}

#[tokio::test]
async fn ids_that_repeat_are_made_unique() {
    let ran = ran(vec![
        calls(vec![query("call_0", "1"), query("call_0", "2")]),
        calls(vec![query("call_0", "3")]),
        says("[q3]"),
    ])
    .await;
    let ids: Vec<_> = ran.output.calls.iter().map(|c| c.call_id.as_str()).collect();
    assert_eq!(ids, ["call_0", "call_1_2", "call_2_1"]);
}

#[tokio::test]
async fn an_interrupted_tool_call_leaves_a_well_formed_history() {
    let plan = SharedPlan::default();
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let tools = Registry::new(vec![
        Fake::tool("sql_execute", Some('q'), |call| async move { Ok(made(&call, "1")) }),
        Fake::tool("sql_slow", Some('q'), move |call| {
            let stop = stop.clone();
            async move {
                stop.cancel();
                call.cancel.cancelled().await;
                Err(crate::tools::ToolError::Cancelled)
            }
        }),
    ]);
    let script = vec![calls(vec![query("a", "1"), call("b", "sql_slow", json!({}))])];
    let ran = try_run(script, settings(), Arc::new(tools), plan, cancel)
        .await
        .unwrap();
    assert_eq!(ran.output.outcome, Outcome::Interrupted);
    assert_eq!(ran.output.messages.iter().filter(|m| m.role == Role::Tool).count(), 2);
    assert_eq!(ran.output.calls[1].status, CallStatus::Cancelled);
    assert_eq!(ran.output.turns, 1);
}

#[tokio::test]
async fn the_clock_ends_a_run_that_hangs() {
    let tools = Registry::new(vec![Fake::tool("sql_execute", Some('q'), |call| async move {
        call.cancel.cancelled().await;
        Err(crate::tools::ToolError::Cancelled)
    })]);
    let settings = Settings {
        budget: Budget {
            max_seconds: 1,
            ..Budget::default()
        },
        ..settings()
    };
    let script = vec![calls(vec![query("a", "1")])];
    let ran = try_run(
        script,
        settings,
        Arc::new(tools),
        SharedPlan::default(),
        CancellationToken::new(),
    )
    .await
    .unwrap();
    assert_eq!(ran.output.outcome, Outcome::Incomplete);
    assert_eq!(
        ran.notices(),
        ["The run ended early: its 1 seconds are over (--max-seconds)."]
    );
}

#[tokio::test]
async fn a_guided_model_is_told_of_its_result_and_asked_once_when_it_gives_up() {
    let guided = Settings {
        guided: true,
        ..settings()
    };
    let script = vec![
        calls(vec![query("a", "SELECT 1")]),
        says("<!-- outcome: abstained -->\nThe same call has failed."),
        says("<!-- answer: q1 -->\nIt is 1 [q1]."),
    ];
    let Ran { output, model, .. } = ran_with(script, guided).await;
    assert_eq!(output.outcome, Outcome::Answered);
    assert_eq!(
        (output.answer_markdown.as_str(), output.answer_result.as_deref()),
        ("It is 1 [q1].", Some("q1"))
    );
    let requests = model.requests();
    let told = requests[1].ephemeral.as_deref().unwrap_or_default();
    assert!(told.starts_with("q1 is there"), "{told}");
    assert!(
        requests[2]
            .messages
            .last()
            .unwrap()
            .text
            .contains("You say that the question cannot be answered")
    );
}

#[tokio::test]
async fn a_model_that_stands_by_giving_up_has_given_up() {
    let script = vec![
        calls(vec![query("a", "SELECT 1")]),
        says("<!-- outcome: abstained -->\nThere are no salaries here."),
        says("UNCHANGED"),
    ];
    let output = ran(script).await.output;
    assert_eq!(output.outcome, Outcome::Abstained);
    assert_eq!(output.answer_markdown, "There are no salaries here.");
}
