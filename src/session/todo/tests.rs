//! The plan's rules, as tables and as properties.

use proptest::prelude::*;
use rstest::rstest;
use serde_json::json;

use super::*;

fn item(content: &str, status: &str) -> Value {
    json!({"content": content, "activeForm": format!("Doing {content}"), "status": status})
}

fn list(items: &[(&str, &str)]) -> Value {
    json!({"todos": items.iter().map(|(c, s)| item(c, s)).collect::<Vec<_>>()})
}

fn stored(items: &[(&str, &str)]) -> TodoList {
    let mut todos = TodoList::default();
    todos.replace(list(items)).expect("a valid list");
    todos
}

fn seen(todos: &TodoList) -> Vec<(u32, &str, Status)> {
    todos
        .items()
        .iter()
        .map(|t| (t.id, t.content.as_str(), t.status))
        .collect()
}

#[rstest]
#[case(Status::Pending, Status::InProgress, true)]
#[case(Status::Pending, Status::Completed, true)]
#[case(Status::Pending, Status::Cancelled, true)]
#[case(Status::InProgress, Status::Completed, true)]
#[case(Status::InProgress, Status::Cancelled, true)]
#[case(Status::InProgress, Status::Pending, false)]
#[case(Status::Completed, Status::Pending, false)]
#[case(Status::Completed, Status::InProgress, false)]
#[case(Status::Completed, Status::Cancelled, false)]
#[case(Status::Cancelled, Status::Pending, false)]
#[case(Status::Cancelled, Status::Completed, false)]
fn status_moves_forward_only(#[case] from: Status, #[case] to: Status, #[case] ok: bool) {
    assert_eq!(may_become(from, to), ok);
}

#[rstest]
#[case("pending", Some(Status::Pending))]
#[case("IN_PROGRESS", Some(Status::InProgress))]
#[case("In Progress", Some(Status::InProgress))]
#[case("inProgress", Some(Status::InProgress))]
#[case("Completed", Some(Status::Completed))]
#[case("canceled", Some(Status::Cancelled))]
#[case("done", None)]
#[case("", None)]
fn a_status_is_read_in_any_case(#[case] text: &str, #[case] status: Option<Status>) {
    assert_eq!(Status::read(text), status);
}

#[test]
fn the_host_numbers_items_and_keeps_numbers_through_rewrites() {
    let mut todos = stored(&[("A", "completed"), ("B", "in_progress"), ("C", "pending")]);
    let change = todos
        .replace(list(&[("a.", "completed"), ("B", "completed"), ("D", "in_progress")]))
        .unwrap();
    assert_eq!(
        seen(&todos),
        [
            (1, "a.", Status::Completed),
            (2, "B", Status::Completed),
            (4, "D", Status::InProgress)
        ]
    );
    assert_eq!(
        change.dropped.iter().map(|t| t.content.as_str()).collect::<Vec<_>>(),
        ["C"]
    );
    assert_eq!(todos.dropped(), change.dropped);
}

#[test]
fn an_id_lets_a_pending_item_be_reworded() {
    let mut todos = stored(&[("A", "in_progress"), ("B", "pending")]);
    let change = todos
        .replace(json!({"todos": [item("A", "completed"), {"id": "#2", "content": "B, by office", "activeForm": "Doing B"}]}))
        .unwrap();
    assert_eq!(
        seen(&todos),
        [(1, "A", Status::Completed), (2, "B, by office", Status::Pending)]
    );
    assert!(change.dropped.is_empty());
}

#[test]
fn words_win_over_ids_when_a_model_renumbers() {
    let mut todos = stored(&[("A", "completed"), ("B", "pending"), ("C", "pending")]);
    let renumbered = json!({"todos": [
        {"id": 1, "content": "C", "activeForm": "Doing C", "status": "in_progress"},
        {"id": 2, "content": "B", "activeForm": "Doing B"},
    ]});
    todos.replace(renumbered).unwrap();
    assert_eq!(
        seen(&todos),
        [
            (1, "A", Status::Completed),
            (3, "C", Status::InProgress),
            (2, "B", Status::Pending)
        ]
    );
}

#[test]
fn finished_items_stay_when_the_new_list_leaves_them_out() {
    let mut todos = stored(&[("A", "completed"), ("B", "cancelled"), ("C", "pending")]);
    let change = todos.replace(list(&[("C", "in_progress")])).unwrap();
    assert!(change.dropped.is_empty());
    assert_eq!(
        seen(&todos),
        [
            (1, "A", Status::Completed),
            (2, "B", Status::Cancelled),
            (3, "C", Status::InProgress)
        ]
    );
}

#[test]
fn a_dropped_item_that_comes_back_is_no_longer_dropped() {
    let mut todos = stored(&[("A", "pending"), ("B", "pending")]);
    todos.replace(list(&[("A", "pending")])).unwrap();
    assert_eq!(todos.dropped().len(), 1);
    todos.replace(list(&[("A", "pending"), ("B", "pending")])).unwrap();
    assert!(todos.dropped().is_empty());
    assert_eq!(seen(&todos), [(1, "A", Status::Pending), (3, "B", Status::Pending)]);
}

#[rstest]
#[case::object_as_text(json!(r#"{"todos": [{"content": "A", "activeForm": "Doing A"}]}"#))]
#[case::list_as_text(json!({"todos": r#"[{"content": "A", "activeForm": "Doing A", "status": null}]"#}))]
#[case::bare_list(json!([{"content": " A ", "activeForm": "Doing\n A", "status": "Pending"}]))]
#[case::snake_case(json!({"todos": [{"content": "A", "active_form": "Doing A"}]}))]
fn lists_are_understood_in_the_shapes_that_models_send(#[case] input: Value) {
    let mut todos = TodoList::default();
    todos.replace(input).unwrap();
    assert_eq!(todos.render(), "[ ] #1: A\n(0/1 completed)");
}

#[rstest]
#[case(json!({}), "`todos` must be a list of items {content, activeForm, status}, but it is missing; send the list itself, not text")]
#[case(json!({"todos": "1. look"}), "but it is text that is not JSON (invalid number at line 1 column 3)")]
#[case(json!({"todos": "\"[]\""}), "but it is text inside text")]
#[case(json!({"todos": []}), "the list is empty; write at least one step")]
#[case(json!({"todos": ["A"]}), "item 1 is not an object; write it as {\"content\"")]
#[case(json!({"todos": [item("A", "pending"), {"content": " ", "activeForm": "x"}]}), "item 2 has no `content`; say in a few words")]
#[case(json!({"todos": [{"content": "A"}]}), "item 1 (\"A\") has no `activeForm`; say the same as it is being done")]
#[case(json!({"todos": [item("A", "done")]}), "item 1 (\"A\") has the status \"done\"; use pending, in_progress, completed or cancelled")]
#[case(list(&[("A", "in_progress"), ("B", "in_progress")]), "items 1 and 2 are both in_progress (\"A\", \"B\"); keep one")]
#[case(list(&[("A", "pending"), ("a", "pending")]), "items 1 and 2 are the same step (\"a\"); send it once")]
#[case(list(&[("Look", "pending"), ("Done", "pending"), ("Now", "in_progress")]), "#1 (\"Done\") is completed and cannot go back to pending; keep it completed, and add a new item")]
#[case(list(&[("Done", "completed"), ("Later", "pending")]), "#2 (\"Now\") is in_progress and missing from the new list; send it as completed if it is done, or as cancelled")]
#[case(json!({"todos": [{"id": 2, "content": "New", "activeForm": "x", "status": "in_progress"}]}), "#2 is in_progress as \"Now\" and keeps these words; send it unchanged, and add \"New\" as a new item")]
fn refusals_say_what_to_do_and_change_nothing(#[case] input: Value, #[case] message: &str) {
    let mut todos = stored(&[("Done", "completed"), ("Now", "in_progress"), ("Later", "pending")]);
    let before = todos.clone();
    let error = todos.replace(input).unwrap_err().to_string();
    assert!(error.contains(message), "{error}");
    assert_eq!(todos, before);
}

#[test]
fn a_list_longer_than_allowed_is_refused() {
    let items: Vec<_> = (0..13).map(|n| item(&format!("step {n}"), "pending")).collect();
    let error = TodoList::default()
        .replace(json!({"todos": items.clone()}))
        .unwrap_err();
    assert_eq!(error, TodoError::TooMany { count: 13, max: 12 });
    assert!(TodoList::new(99).replace(json!({"todos": items})).is_ok());
}

#[test]
fn rendering_shows_each_status() {
    let todos = stored(&[
        ("A", "completed"),
        ("B", "in_progress"),
        ("C", "pending"),
        ("D", "cancelled"),
    ]);
    assert_eq!(
        todos.render(),
        "[x] #1: A\n[>] #2: B (Doing B)\n[ ] #3: C\n[-] #4: D\n(1/4 completed)"
    );
    assert_eq!(TodoList::default().render(), "No todos.");
}

#[test]
fn a_restored_list_goes_on_with_fresh_numbers() {
    let first = stored(&[("A", "completed"), ("B", "pending")]);
    let mut todos = TodoList::default();
    todos.restore(first.items().to_vec(), vec![]);
    todos.replace(list(&[("C", "pending")])).unwrap();
    assert_eq!(seen(&todos), [(1, "A", Status::Completed), (3, "C", Status::Pending)]);
    assert_eq!(todos.dropped().iter().map(|t| t.id).collect::<Vec<_>>(), [2]);
}

fn any_write() -> impl Strategy<Value = Value> {
    let item = (0..6u8, 0..5u8, prop::option::of(0..8u32)).prop_map(|(step, status, id)| {
        let status = ["pending", "in_progress", "completed", "cancelled", "done"][status as usize];
        json!({"content": format!("step {step}"), "activeForm": "Doing it", "status": status, "id": id})
    });
    prop::collection::vec(item, 0..6).prop_map(|todos| json!({ "todos": todos }))
}

proptest! {
    #[test]
    fn no_sequence_of_writes_breaks_the_rules(writes in prop::collection::vec(any_write(), 1..30)) {
        let mut todos = TodoList::default();
        for write in writes {
            let before = todos.clone();
            match todos.replace(write) {
                Err(_) => prop_assert_eq!(&todos, &before),
                Ok(change) => {
                    prop_assert_eq!(todos.items(), &change.todos[..]);
                    let running = todos.items().iter().filter(|t| t.status == Status::InProgress).count();
                    prop_assert!(running <= 1);
                    for old in before.items() {
                        match todos.items().iter().find(|t| t.id == old.id) {
                            Some(new) => prop_assert!(may_become(old.status, new.status)),
                            None => {
                                prop_assert_eq!(old.status, Status::Pending);
                                prop_assert!(change.dropped.contains(old));
                            }
                        }
                    }
                    let mut ids: Vec<_> = todos.items().iter().map(|t| t.id).collect();
                    ids.sort_unstable();
                    ids.dedup();
                    prop_assert_eq!(ids.len(), todos.items().len());
                }
            }
        }
    }
}
