//! How calls of one turn start, run and end.

use std::sync::Mutex;

use serde_json::json;
use tokio::sync::Notify;

use super::*;
use crate::agent::testing::{Fake, Heard, call, made, plan, query, registry, workbench};
use crate::session::message::Arguments;
use crate::session::todo::SharedPlan;
use crate::tools::ToolError;

struct Bench {
    dispatcher: Dispatcher,
    heard: Arc<Heard>,
    plan: SharedPlan,
}

fn bench() -> Bench {
    let plan = SharedPlan::default();
    let registry = registry(&plan);
    bench_over(registry, plan)
}

fn bench_over(registry: Arc<Registry>, plan: SharedPlan) -> Bench {
    let (timeline, heard) = Heard::timeline();
    Bench {
        dispatcher: Dispatcher::new(registry, workbench(), timeline),
        heard,
        plan,
    }
}

impl Bench {
    async fn turn(&mut self, calls: Vec<ToolCall>) -> TurnCalls {
        self.dispatcher
            .turn(&calls, false, &CancellationToken::new())
            .await
            .unwrap()
    }
}

fn texts(turn: &TurnCalls) -> Vec<&str> {
    turn.messages.iter().map(|m| m.text.as_str()).collect()
}

#[tokio::test]
async fn ids_are_given_in_call_order_and_the_plan_is_told_before_the_query_starts() {
    let mut bench = bench();
    let turn = bench
        .turn(vec![
            plan("t", &[("A", "in_progress")]),
            query("a", "SELECT 1"),
            query("b", "bad"),
            query("c", "SELECT 3"),
        ])
        .await;
    let story = bench.heard.story();
    assert_eq!(story[..3], ["start t", "ok t", "todo 0/1"]);
    let ends: Vec<_> = story
        .iter()
        .filter(|s| s.starts_with("ok") || s.starts_with("error"))
        .collect();
    assert_eq!(ends, ["ok t", "ok a", "error b", "ok c"]);
    assert_eq!(
        turn.artifacts.iter().map(|a| a.0.as_str()).collect::<Vec<_>>(),
        ["q1", "q3"]
    );
    assert_eq!(
        turn.messages
            .iter()
            .map(|m| m.tool_call_id.as_deref().unwrap())
            .collect::<Vec<_>>(),
        ["t", "a", "b", "c"]
    );
    assert_eq!(turn.messages[2].text, "error: no table in `bad`");
    assert!(turn.messages[2].is_error && !turn.messages[3].is_error);
}

#[tokio::test]
async fn a_panicking_tool_is_an_error_and_its_siblings_run_on() {
    let mut bench = bench();
    let turn = bench
        .turn(vec![call("m", "metric_compute", json!({})), query("a", "SELECT 1")])
        .await;
    assert!(
        texts(&turn)[0].contains("the tool broke down (a division by zero)"),
        "{:?}",
        texts(&turn)
    );
    assert_eq!(
        bench.heard.story(),
        ["start m", "start a", "error m", "ok a", "artifact q1"]
    );
}

#[tokio::test]
async fn the_second_plan_write_of_a_turn_is_refused() {
    let mut bench = bench();
    let turn = bench
        .turn(vec![plan("t1", &[("A", "pending")]), plan("t2", &[("B", "pending")])])
        .await;
    assert!(
        texts(&turn)[1].starts_with("error: only one TodoWrite a turn"),
        "{:?}",
        texts(&turn)
    );
    assert_eq!(
        bench.heard.story(),
        ["start t1", "ok t1", "todo 0/1", "start t2", "error t2"]
    );
    assert_eq!(bench.plan.lock().items()[0].content, "A");
}

#[tokio::test]
async fn a_refused_plan_write_makes_no_progress_event() {
    let mut bench = bench();
    let turn = bench
        .turn(vec![plan("t", &[("A", "in_progress"), ("B", "in_progress")])])
        .await;
    assert_eq!(bench.heard.story(), ["start t", "error t"]);
    assert!(turn.plan.is_none());
}

#[tokio::test]
async fn unknown_tools_and_malformed_arguments_are_told_what_is_right() {
    let mut bench = bench();
    let cut = ToolCall {
        id: "x".into(),
        name: "sql_execute".into(),
        arguments: Arguments::Malformed {
            text: "{\"sql\": ".into(),
            problem: "ends early".into(),
        },
    };
    let turn = bench
        .turn(vec![call("u", "sql_exec", json!({})), call("v", "fly", json!({})), cut])
        .await;
    assert_eq!(
        texts(&turn),
        [
            "error: there is no tool `sql_exec`; did you mean `sql_execute`? The tools are: TodoWrite, sql_execute, \
             metric_compute",
            "error: there is no tool `fly`; the tools are: TodoWrite, sql_execute, metric_compute",
            "error: the arguments of sql_execute are not JSON (ends early), so it was not run; send one JSON object with \
             the fields: sql (required)",
        ]
    );
    assert_eq!(
        bench.heard.story(),
        ["start u", "error u", "start v", "error v", "start x", "error x"]
    );
}

#[tokio::test]
async fn the_same_read_only_call_is_answered_from_the_ledger() {
    let mut bench = bench();
    let first = bench.turn(vec![query("a", "SELECT 1"), query("b", "SELECT 1")]).await;
    let again = bench
        .turn(vec![
            call("c", "sql_execute", json!(r#"{"sql": "SELECT 1"}"#)),
            query("d", "SELECT 2"),
        ])
        .await;
    assert_eq!(texts(&first)[0], r#"{"id":"q1","sql":"SELECT 1"}"#);
    for text in [texts(&first)[1], texts(&again)[0]] {
        assert!(
            text.starts_with(r#"{"id":"q1","sql":"SELECT 1","note":"You sent this call before"#),
            "{text}"
        );
    }
    let seen = |t: &TurnCalls| {
        t.records
            .iter()
            .map(|r| (r.repeated, r.artifact_id.clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(seen(&first), [(false, Some("q1".into())), (true, Some("q1".into()))]);
    assert_eq!(seen(&again), [(true, Some("q1".into())), (false, Some("q2".into()))]);
}

#[tokio::test]
async fn a_failed_call_may_be_sent_again_and_its_twin_says_where_to_look() {
    let mut bench = bench();
    let turn = bench.turn(vec![query("a", "bad"), query("b", "bad")]).await;
    assert!(texts(&turn)[1].contains("the same call earlier in this turn did not succeed"));
    let turn = bench.turn(vec![query("c", "bad")]).await;
    assert_eq!(texts(&turn), ["error: no table in `bad`"]);
}

#[tokio::test]
async fn a_call_that_was_cut_off_is_not_run() {
    let mut bench = bench();
    let calls = [query("a", "SELECT 1"), call("b", "sql_execute", json!({}))];
    let turn = bench
        .dispatcher
        .turn(&calls, true, &CancellationToken::new())
        .await
        .unwrap();
    assert!(
        texts(&turn)[1].starts_with("error: the reply reached its length limit"),
        "{:?}",
        texts(&turn)
    );
    assert_eq!(turn.records[0].status, CallStatus::Ok);
}

#[tokio::test]
async fn read_only_calls_run_side_by_side_and_are_announced_in_call_order() {
    let gate = Arc::new(Notify::new());
    let order = Arc::new(Mutex::new(Vec::new()));
    let (opens, waits) = (gate.clone(), gate);
    let (first, second) = (order.clone(), order.clone());
    let plan = SharedPlan::default();
    let registry = Arc::new(Registry::new(vec![
        Fake::tool("waits", None, move |call| {
            let (gate, order) = (waits.clone(), first.clone());
            async move {
                gate.notified().await;
                order.lock().unwrap().push("waits");
                Ok(made(&call, "late"))
            }
        }),
        Fake::tool("opens", None, move |call| {
            let (gate, order) = (opens.clone(), second.clone());
            async move {
                order.lock().unwrap().push("opens");
                gate.notify_one();
                Ok(made(&call, "early"))
            }
        }),
    ]));
    let mut bench = bench_over(registry, plan);
    bench
        .turn(vec![call("1", "waits", json!({})), call("2", "opens", json!({}))])
        .await;
    assert_eq!(*order.lock().unwrap(), ["opens", "waits"]);
    assert_eq!(bench.heard.story(), ["start 1", "start 2", "ok 1", "ok 2"]);
}

#[tokio::test]
async fn a_cancelled_turn_ends_every_call_even_one_that_does_not_listen() {
    let registry = Arc::new(Registry::new(vec![
        Fake::tool("quick", None, |call| async move { Ok(made(&call, "done")) }),
        Fake::tool("deaf", None, |_| async { std::future::pending().await }),
        Fake::tool("polite", None, |call| async move {
            call.cancel.cancelled().await;
            Err(ToolError::Cancelled)
        }),
    ]));
    let mut bench = bench_over(registry, SharedPlan::default());
    let cancel = CancellationToken::new();
    let calls = [
        call("1", "quick", json!({})),
        call("2", "deaf", json!({})),
        call("3", "polite", json!({})),
    ];
    let stop = cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(50)).await;
        stop.cancel();
    });
    let turn = bench.dispatcher.turn(&calls, false, &cancel).await.unwrap();
    assert_eq!(turn.messages.len(), 3);
    assert_eq!(bench.heard.story()[3..], ["ok 1", "cancelled 2", "cancelled 3"]);
}

#[tokio::test]
async fn numbers_go_on_after_those_of_earlier_runs() {
    let mut bench = bench();
    bench.dispatcher.number_after(["q2", "q7", "c1", "report"]);
    let turn = bench.turn(vec![query("a", "SELECT 1")]).await;
    assert_eq!(turn.artifacts[0].0, "q8");
}
