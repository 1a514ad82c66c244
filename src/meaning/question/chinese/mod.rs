//! Chinese puts what restricts a thing in front of it, and what is counted or added up in front of the word that says so:
//! "工资高于平均值的职员有多少位". The pieces are put into the order that the walk reads: "how many clerks whose
//! salary is above average".

mod order;
mod words;

use crate::meaning::question::cue::Cue;
use crate::meaning::question::draft::{Node, What};
use crate::meaning::question::scope::Scope;

/// Puts the pieces of a Chinese question in order.
pub fn arrange(nodes: &mut Vec<Node>, scope: &Scope<'_>) {
    words::multiples(nodes, scope);
    words::compounds(nodes);
    words::names_of_things(nodes, scope);
    words::ranges(nodes, scope);
    words::beginnings_and_ends(nodes);
    words::averages_of_each(nodes);
    words::counted_rows(nodes);
    words::counts_compared(nodes);
    order::sorted_by(nodes);
    words::extremes(nodes, scope);
    words::totals_behind(nodes, scope);
    words::missing_dates(nodes, scope);
    words::heads(nodes, scope);
    order::qualifiers(nodes);
    order::ranked_things(nodes, scope);
    order::clauses(nodes);
    order::counts_behind(nodes, scope);
    words::amounts(nodes, scope);
}

fn what(nodes: &[Node], at: usize) -> Option<&What> {
    nodes.get(at).map(|node| &node.what)
}

fn text(nodes: &[Node], at: usize) -> &str {
    nodes.get(at).map_or("", |node| node.text.as_str())
}

fn set(nodes: &mut [Node], at: usize, new: What) {
    if let Some(node) = nodes.get_mut(at) {
        node.what = new;
    }
}

fn is_filler(what: Option<&What>) -> bool {
    matches!(what, Some(What::Cue(Cue::Filler)))
}

fn is_of(what: Option<&What>) -> bool {
    matches!(what, Some(What::Cue(Cue::Of)))
}

/// The first node from `at` on that is no mere particle.
fn next(nodes: &[Node], at: usize) -> Option<usize> {
    (at..nodes.len()).find(|place| !is_filler(what(nodes, *place)) && !is_of(what(nodes, *place)))
}

/// The last node before `at` that is no mere particle.
fn previous(nodes: &[Node], at: usize) -> Option<usize> {
    (0..at.min(nodes.len()))
        .rev()
        .find(|place| !is_filler(what(nodes, *place)) && !is_of(what(nodes, *place)))
}
