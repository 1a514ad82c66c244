//! A run that is cut short after any event and taken up again comes to the same as one that was not.

use serde_json::json;

use super::*;
use crate::agent::prompt::PromptParts;
use crate::agent::testing::{Scripted, Step, calls, fails, plan, query, registry, says, stops, workbench};
use crate::session::cut_short::{TakenUp, take_up};
use crate::session::message::StopReason;
use crate::session::resume::PastRun;
use crate::session::timeline::Timeline;
use crate::session::todo::SharedPlan;
use crate::text::Language;

/// Forgets its plan, repeats a call, fails, says nothing, finds the conversation too long, stops early.
fn script() -> Vec<Step> {
    let a_b = [("A", "in_progress"), ("B", "pending")];
    let long = "1, ".repeat(2_000);
    vec![
        calls(vec![plan("t", &a_b), query("a", "1"), query("b", "2")]),
        calls(vec![query("c", "1"), query("d", "bad"), query("e", &long)]),
        says(" "),
        calls(vec![query("f", "3"), query("g", "4")]),
        calls(vec![query("h", "5"), plan("u", &[("A", "pending")])]),
        calls(vec![query("i", "6")]),
        fails(ChatError::ContextOverflow {
            model: "scripted".into(),
            detail: "too long".into(),
        }),
        calls(vec![query("j", "7")]),
        stops("cut off", vec![], StopReason::Length),
        says("2 of A, 7 of B [q2]."),
        // With the last steps done, the answer from before stands.
        calls(vec![plan("v", &[("A", "completed"), ("C", "completed")])]),
    ]
}

fn input<'a>(model: &'a Scripted, timeline: Timeline, past: Option<PastRun>) -> RunInput<'a> {
    let plan = SharedPlan::default();
    RunInput {
        run: 1,
        question: "how many of A and B?".into(),
        model,
        registry: registry(&plan),
        workbench: workbench(),
        plan,
        prompt: PromptParts::default(),
        settings: Settings {
            budget: Default::default(),
            reminder: 3,
            ..Settings::default()
        },
        timeline: timeline.into(),
        cancel: CancellationToken::new(),
        earlier: Earlier::default(),
        past,
    }
}

/// What a run came to, without times.
fn came_to(mut output: RunOutput) -> RunOutput {
    output.elapsed = Duration::ZERO;
    output.calls.iter_mut().for_each(|call| call.elapsed_ms = 0);
    output
}

#[tokio::test]
async fn a_run_cut_after_any_event_comes_to_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("timeline.jsonl");
    let timeline = Timeline::create(&path).unwrap();
    timeline
        .record(EventKind::SessionStarted {
            session: "s".into(),
            question: "how many of A and B?".into(),
            model: "scripted".into(),
            database: "d".into(),
            language: Language::English,
            as_of: "2005-12-12".into(),
            options: json!({}),
        })
        .unwrap();
    let model = Scripted::new(script());
    let whole = came_to(run(input(&model, timeline, None)).await.unwrap());
    assert_eq!(whole.answer_markdown, "2 of A, 7 of B [q2].");
    let text = std::fs::read_to_string(&path).unwrap();
    for kind in [
        "\"compaction\"",
        "\"reminder\"",
        "\"retry\"",
        "\"todo_progress\"",
        "This is asked once",
    ] {
        assert!(text.contains(kind), "the script does not come to {kind}");
    }
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    for keep in 1..=lines.len() {
        std::fs::write(&path, lines[..keep].concat()).unwrap();
        let TakenUp::CutShort(cut) = take_up(&path).unwrap() else {
            panic!("there is no end in the file")
        };
        let said = cut
            .run
            .turns
            .iter()
            .map(|turn| usize::from(turn.reply.is_some() || turn.ended) + usize::from(turn.too_long));
        let left = script().into_iter().skip(said.sum()).collect();
        let model = Scripted::new(left);
        let again = run(input(&model, cut.timeline, Some(cut.run))).await;
        let again = again.unwrap_or_else(|error| panic!("cut after {}: {error}", lines[keep - 1]));
        assert_eq!(came_to(again), whole, "cut after {}", lines[keep - 1]);
    }
}
