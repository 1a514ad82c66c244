//! What goes to another place: clauses behind the thing, what a ranking goes by, sortings, counts.

use crate::meaning::question::chinese::{is_of, next, previous, set, text, what};
use crate::meaning::question::cue::{Cue, Quality};
use crate::meaning::question::draft::{Node, What};
use crate::meaning::question::phrases::Phrase;
use crate::meaning::question::scope::Scope;
use crate::meaning::semantic::Aggregate;

/// "按价格从高到低列出": what it is sorted by goes to the end.
pub(super) fn sorted_by(nodes: &mut Vec<Node>) {
    for at in 0..nodes.len() {
        let is_group = matches!(what(nodes, at), Some(What::Cue(Cue::Group))) && text(nodes, at).starts_with('按');
        let Some(key) = next(nodes, at + 1).filter(|_| is_group) else {
            continue;
        };
        let Some(direction) = next(nodes, key + 1) else {
            continue;
        };
        let is_key = matches!(what(nodes, key), Some(What::Field(_) | What::Metric(_)));
        if is_key
            && matches!(what(nodes, direction), Some(What::Cue(Cue::Direction { .. })))
            && next(nodes, direction + 1).is_some()
        {
            set(nodes, at, What::Cue(Cue::Ranked));
            let sorting: Vec<Node> = nodes.drain(at..=direction).collect();
            nodes.extend(sorting);
            return;
        }
    }
}

/// "荷兰顾客的消费额", "大阪门店有哪些店员": the noun behind a value only says whose value it is, where something else is
/// asked for.
pub(super) fn qualifiers(nodes: &mut [Node]) {
    for at in 1..nodes.len() {
        let Some(What::Dataset(dataset)) = what(nodes, at).cloned() else {
            continue;
        };
        let qualified = previous(nodes, at).is_some_and(|before| {
            let of_value = match (
                what(nodes, before),
                previous(nodes, before).and_then(|first| what(nodes, first)),
            ) {
                (Some(What::Value { .. }), _) => true,
                // "制造行业客户", "各行业客户".
                (Some(What::Field(field)), Some(What::Value { field: other, .. })) => field == other,
                (Some(What::Field(field)), Some(What::Cue(Cue::Group))) => field.dataset == dataset,
                _ => false,
            };
            of_value && (before + 1..at).all(|place| !is_of(what(nodes, place)))
        });
        let is_other = |node: &Node| match &node.what {
            What::Dataset(other) => *other != dataset,
            What::Metric(_) => true,
            What::Field(field) => field.dataset != dataset,
            _ => false,
        };
        let asks_else = nodes.get(at + 1..).unwrap_or_default().iter().any(is_other)
            || nodes
                .get(..at)
                .unwrap_or_default()
                .iter()
                .any(|node| matches!(node.what, What::Metric(_)));
        let grouped = nodes
            .get(..at)
            .unwrap_or_default()
            .iter()
            .rev()
            .take_while(|node| !matches!(node.what, What::Dataset(_) | What::Metric(_) | What::Field(_)))
            .any(|node| matches!(node.what, What::Cue(Cue::Group | Cue::Which)));
        if qualified && asks_else && !grouped {
            set(nodes, at, What::Cue(Cue::Filler));
        }
    }
}

/// "学生最多的前三个班级", "哪个部门的职员最多": first the things that are ranked, then what by.
pub(super) fn ranked_things(nodes: &mut Vec<Node>, scope: &Scope<'_>) {
    let Some(at) = nodes
        .iter()
        .position(|node| matches!(node.what, What::Cue(Cue::Superlative { .. })))
    else {
        return;
    };
    let Some(What::Cue(Cue::Superlative { descending, quality })) = what(nodes, at).cloned() else {
        return;
    };
    let Some(key) = at.checked_sub(1).filter(|key| {
        matches!(what(nodes, *key), Some(What::Dataset(_) | What::Cue(Cue::Count)))
            || matches!(what(nodes, *key), Some(What::Field(field)) if scope.is_numeric(field))
    }) else {
        return;
    };
    let from = match key.checked_sub(1).and_then(|before| what(nodes, before)) {
        Some(What::Cue(Cue::Aggregate(_) | Cue::Count)) => key - 1,
        _ => key,
    };
    let superlative = What::Cue(Cue::Superlative {
        descending,
        quality: if quality == Quality::Time {
            quality
        } else {
            Quality::Any
        },
    });
    let by: Vec<Node> = nodes.get(from..=key).unwrap_or_default().to_vec();
    let by: Vec<Node> = by
        .into_iter()
        .filter(|node| node.what != What::Cue(Cue::Count))
        .collect();
    let Some(word) = nodes.get(at).cloned().map(|node| Node {
        what: superlative,
        ..node
    }) else {
        return;
    };
    if is_of(what(nodes, at + 1)) {
        behind_the_thing(nodes, (from, at), word, by, scope);
    } else if nodes.get(at + 1..).unwrap_or_default().iter().all(|node| {
        matches!(
            node.what,
            What::Punctuation | What::Time { .. } | What::Cue(Cue::Filler | Cue::Of)
        )
    }) {
        asked_with_which(nodes, (from, at), word, by, scope);
    }
}

/// "… 最多的前五个国家": the thing stands behind.
fn behind_the_thing(nodes: &mut Vec<Node>, (from, at): (usize, usize), word: Node, by: Vec<Node>, scope: &Scope<'_>) {
    let mut count = None;
    let mut thing = None;
    for place in at + 1..nodes.len() {
        match what(nodes, place) {
            Some(What::Number(_)) => count = nodes.get(place).cloned(),
            Some(What::Cue(Cue::Superlative { .. } | Cue::Filler | Cue::Of)) => {}
            Some(What::Dataset(_)) => {
                thing = Some(place);
                break;
            }
            Some(What::Field(field)) if !scope.is_numeric(field) => {
                thing = Some(place);
                break;
            }
            _ => return,
        }
    }
    let Some(thing) = thing else { return };
    let Some(Node { what: subject, .. }) = nodes.get(thing) else {
        return;
    };
    // What rows of another dataset hold is added up for each thing.
    let of_others = by.iter().rev().find_map(|node| match (&node.what, subject) {
        (What::Field(field), What::Dataset(dataset)) => {
            Some(field.dataset != *dataset && !scope.points_at(dataset, &field.dataset))
        }
        _ => None,
    });
    let sums = of_others == Some(true) && !by.iter().any(|node| matches!(node.what, What::Cue(Cue::Aggregate(_))));
    let add_up = sums.then(|| Node {
        what: What::Cue(Cue::Aggregate(Aggregate::Sum)),
        ..word.clone()
    });
    let with = Node {
        what: What::Cue(Cue::With),
        ..word.clone()
    };
    let tail: Vec<Node> = [with].into_iter().chain([word]).chain(add_up).chain(by).collect();
    let thing_node = nodes.get(thing).cloned();
    nodes.splice(thing..=thing, count.into_iter().chain(thing_node).chain(tail));
    nodes.drain(from..thing);
}

/// "哪个部门的职员最多": the thing is asked for in front.
fn asked_with_which(nodes: &mut Vec<Node>, (from, at): (usize, usize), word: Node, by: Vec<Node>, scope: &Scope<'_>) {
    let Some(thing) = previous(nodes, from) else { return };
    if matches!(
        what(nodes, thing),
        Some(What::Time {
            phrase: Phrase::Grain(_),
            ..
        })
    ) {
        // "哪个月的理赔最多": the months are ranked.
        let count = Node {
            what: What::Cue(Cue::Count),
            ..word.clone()
        };
        let counted = matches!(by.last().map(|node| &node.what), Some(What::Dataset(_)));
        let count = counted.then_some(count);
        nodes.splice(from..=at, [word].into_iter().chain(count).chain(by));
        return;
    }
    let is_thing = matches!(what(nodes, thing), Some(What::Dataset(_) | What::Field(_)));
    let asked = previous(nodes, thing).is_some_and(|place| matches!(what(nodes, place), Some(What::Cue(Cue::Which))));
    if !(is_thing && asked && is_of(what(nodes, from.saturating_sub(1)))) {
        return;
    }
    if let Some(What::Field(field)) = what(nodes, thing).cloned()
        && scope.label(&field.dataset) == [field.clone()]
    {
        set(nodes, thing, What::Dataset(field.dataset));
    }
    let with = Node {
        what: What::Cue(Cue::With),
        ..word.clone()
    };
    nodes.splice(from - 1..=at, [with, word].into_iter().chain(by));
}

/// "没有选课的学生", "价格高于1000的商品": the clause goes behind the thing.
pub(super) fn clauses(nodes: &mut Vec<Node>) {
    let mut at = 0;
    while at < nodes.len() {
        let head = next(nodes, at).filter(|head| matches!(what(nodes, *head), Some(What::Dataset(_))));
        if let (true, Some(head)) = (is_of(what(nodes, at)), head) {
            let start = clause_start(nodes, at);
            let clause = nodes.get(start..at).unwrap_or_default();
            let restricts = clause.iter().any(|node| {
                matches!(
                    node.what,
                    What::Cue(
                        Cue::Compare(_)
                            | Cue::Between
                            | Cue::AgainstAverage { .. }
                            | Cue::Not
                            | Cue::Without
                            | Cue::Contains
                            | Cue::Starts
                            | Cue::Ends
                            | Cue::Empty
                    )
                )
            });
            let named = clause
                .iter()
                .any(|node| matches!(node.what, What::Dataset(_) | What::Field(_) | What::Metric(_)));
            if restricts && named {
                let mut moved: Vec<Node> = nodes.drain(start..=at).collect();
                if let Some(tie) = moved.pop() {
                    let place = head - (at + 1 - start) + 1;
                    let tie = Node {
                        what: What::Cue(Cue::Whose),
                        ..tie
                    };
                    nodes.splice(place..place, [tie].into_iter().chain(moved));
                    at = place;
                }
            }
        }
        at += 1;
    }
}

/// Where the clause that ends before `end` begins: after what asks, groups or lists, and after times.
fn clause_start(nodes: &[Node], end: usize) -> usize {
    let outside = |node: &Node| {
        matches!(
            node.what,
            What::Punctuation
                | What::Time { .. }
                | What::Cue(
                    Cue::List
                        | Cue::Which
                        | Cue::Who
                        | Cue::Group
                        | Cue::Count
                        | Cue::Of
                        | Cue::Aggregate(_)
                        | Cue::Whose
                )
        )
    };
    let before = nodes.get(..end).unwrap_or_default();
    before.iter().rposition(outside).map_or(0, |place| place + 1)
}

/// "客户有多少家": the word that counts goes in front of what is counted.
pub(super) fn counts_behind(nodes: &mut Vec<Node>, scope: &Scope<'_>) {
    let Some(at) = nodes.iter().rposition(|node| node.what == What::Cue(Cue::Count)) else {
        return;
    };
    let counts_next = next(nodes, at + 1).is_some_and(|place| {
        matches!(
            what(nodes, place),
            Some(What::Dataset(_) | What::Field(_) | What::Metric(_) | What::Cue(Cue::Distinct))
        )
    });
    if counts_next {
        return;
    }
    // Behind an amount it asks how much that is.
    let counted = nodes
        .get(..at)
        .unwrap_or_default()
        .iter()
        .rposition(|node| matches!(node.what, What::Dataset(_) | What::Metric(_) | What::Field(_)));
    let Some(counted) = counted else { return };
    match what(nodes, counted) {
        Some(What::Field(field)) if scope.is_numeric(field) && !scope.is_key(field) => {
            let in_clause = nodes
                .get(..counted)
                .unwrap_or_default()
                .iter()
                .rposition(|node| node.what == What::Cue(Cue::Whose))
                .and_then(|tie| tie.checked_sub(1));
            match in_clause {
                Some(head) if matches!(what(nodes, head), Some(What::Dataset(_))) => move_before(nodes, at, head),
                _ => set(nodes, at, What::Cue(Cue::HowMuch)),
            }
        }
        Some(What::Metric(_)) => set(nodes, at, What::Cue(Cue::HowMuch)),
        Some(What::Dataset(_) | What::Field(_)) => {
            let tie = nodes
                .get(..counted)
                .unwrap_or_default()
                .iter()
                .rposition(|node| node.what == What::Cue(Cue::Whose));
            let head = tie
                .and_then(|tie| tie.checked_sub(1))
                .filter(|head| matches!(what(nodes, *head), Some(What::Dataset(_))));
            move_before(nodes, at, head.unwrap_or(counted));
        }
        _ => {}
    }
}

fn move_before(nodes: &mut Vec<Node>, from: usize, to: usize) {
    if from > to && from < nodes.len() {
        let node = nodes.remove(from);
        nodes.insert(to, node);
    }
}
