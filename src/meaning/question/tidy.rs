//! Small turns of phrase that are settled before the walk: "names of the employees", "full name", "taught by".

use crate::meaning::query::{Comparison, Literal};
use crate::meaning::question::cue::Cue;
use crate::meaning::question::draft::{Node, What};
use crate::meaning::question::scope::Scope;
use crate::meaning::question::token::name_stems;
use crate::meaning::semantic::FieldRef;

/// Participles that do not end in "-ed".
const PARTICIPLES: [&str; 22] = [
    "taken", "given", "written", "made", "sold", "bought", "taught", "held", "led", "won", "paid", "spoken", "driven",
    "grown", "built", "sent", "seen", "chosen", "drawn", "run", "known", "put",
];

/// Settles them in place.
pub fn tidy(nodes: &mut Vec<Node>, scope: &Scope<'_>) {
    names_of_things(nodes, scope);
    keys_of_things(nodes, scope);
    things_by_their_keys(nodes, scope);
    owners_by_a_field(nodes, scope);
    full_names(nodes, scope);
    first_and_last_names(nodes, scope);
    agents(nodes);
    exact_numbers(nodes);
}

/// "With only 2 stations", "exactly one": equal to that number.
fn exact_numbers(nodes: &mut [Node]) {
    for at in 1..nodes.len() {
        let says_only = at
            .checked_sub(1)
            .and_then(|before| nodes.get(before))
            .is_some_and(|node| node.what == What::Cue(Cue::Filler) && node.text.eq_ignore_ascii_case("only"));
        let says_one = nodes
            .get(at)
            .is_some_and(|node| node.what == What::Cue(Cue::Filler) && node.text.eq_ignore_ascii_case("one"));
        let is_number = nodes.get(at).is_some_and(|node| matches!(node.what, What::Number(_)));
        if !says_only || !(says_one || is_number) {
            continue;
        }
        if let Some(node) = nodes.get_mut(at - 1) {
            node.what = What::Cue(Cue::Compare(Comparison::Equal));
        }
        if let (true, Some(node)) = (says_one, nodes.get_mut(at)) {
            node.what = What::Number(Literal::Integer(1));
        }
    }
}

/// "Names of authors" where author is a field, "institution name": the field itself is the name. "Names of the
/// regions": the fields that name a region, whatever other table has a field called name.
fn names_of_things(nodes: &mut [Node], scope: &Scope<'_>) {
    for at in 0..nodes.len() {
        let Some(node) = nodes.get(at) else { continue };
        let What::Field(field) = &node.what else { continue };
        if !is_plain_name(&node.text) {
            continue;
        }
        let field = field.clone();
        let after = nodes.get(at + 1..).unwrap_or_default();
        // "Names of the 3 largest regions".
        let is_rank = |what: &What| matches!(what, What::Number(_) | What::Cue(Cue::Superlative { .. }));
        let mut content = after.iter().map(|node| &node.what);
        let next = content.find(|what| !is_small(what) && !is_rank(what));
        let joined = after
            .first()
            .is_some_and(|next| matches!(next.what, What::Cue(Cue::Of)));
        let before = at
            .checked_sub(1)
            .and_then(|before| nodes.get(before))
            .map(|node| &node.what);
        let named = match (next, before) {
            (Some(next @ (What::Field(_) | What::Dataset(_))), _) if joined => Some(next),
            (_, Some(before @ (What::Field(_) | What::Dataset(_)))) => Some(before),
            _ => None,
        };
        let what = match named {
            Some(What::Field(other)) if !scope.is_numeric(other) && *other != field && !scope.is_key(other) => {
                Some(What::Cue(Cue::Filler))
            }
            Some(What::Dataset(dataset)) if *dataset != field.dataset => {
                scope.label(dataset).first().cloned().map(What::Field)
            }
            _ => None,
        };
        if let (Some(what), Some(node)) = (what, nodes.get_mut(at)) {
            node.what = what;
        }
    }
}

/// "Ids of the students": their own key, whatever other table has a field called id.
fn keys_of_things(nodes: &mut [Node], scope: &Scope<'_>) {
    for at in 0..nodes.len() {
        let Some(node) = nodes.get(at) else { continue };
        let What::Field(field) = &node.what else { continue };
        if !matches!(node.text.to_lowercase().as_str(), "id" | "ids") {
            continue;
        }
        let mut after = nodes.get(at + 1..).unwrap_or_default().iter();
        let tied = after.next().is_some_and(|next| next.what == What::Cue(Cue::Of));
        let Some(What::Dataset(dataset)) = after.map(|node| &node.what).find(|what| !is_small(what)) else {
            continue;
        };
        if !tied || *dataset == field.dataset {
            continue;
        }
        let key = match scope.model.dataset(dataset).map(|known| known.primary_key.as_slice()) {
            Some([key]) => FieldRef::new(dataset, key),
            _ => continue,
        };
        if let Some(node) = nodes.get_mut(at) {
            node.what = What::Field(key);
        }
    }
}

/// "Physicians who took appointments", where appointments have a column `physician` that points at them: the things
/// themselves, unless something already names them.
fn things_by_their_keys(nodes: &mut [Node], scope: &Scope<'_>) {
    for at in 0..nodes.len() {
        // "In room 112": the number is a value of the field.
        let follows = nodes.get(at + 1).map(|next| &next.what);
        if matches!(
            follows,
            Some(What::Number(_) | What::Quoted(_) | What::Cue(Cue::Compare(_)))
        ) {
            continue;
        }
        let Some(node) = nodes.get_mut(at) else { continue };
        let What::Field(field) = &node.what else { continue };
        let column = scope.model.field(field).and_then(|(_, known)| known.column.clone());
        let target = scope.model.relationships.iter().find(|known| {
            let joins_by_it = known.from_columns.len() == 1 && known.from_columns.first() == column.as_ref();
            known.from == field.dataset && known.to != known.from && joins_by_it
        });
        let Some(target) = target.and_then(|target| scope.model.dataset(&target.to)) else {
            continue;
        };
        let said = name_stems(&node.text);
        let is_called_so = [&target.words.label, &target.name]
            .into_iter()
            .any(|name| name_stems(name) == said);
        if is_called_so && name_stems(&field.field) == said {
            node.what = What::Dataset(target.name.clone());
        }
    }
}

/// "Positions of the players" where player is a field of the same rows: it says whose positions, and is not shown.
fn owners_by_a_field(nodes: &mut [Node], scope: &Scope<'_>) {
    for at in 0..nodes.len() {
        let Some(What::Field(shown)) = nodes.get(at).map(|node| node.what.clone()) else {
            continue;
        };
        if !matches!(nodes.get(at + 1).map(|node| &node.what), Some(What::Cue(Cue::Of))) {
            continue;
        }
        let after = nodes.get(at + 2..).unwrap_or_default();
        let Some(offset) = after.iter().position(|node| node.what != What::Cue(Cue::Filler)) else {
            continue;
        };
        let Some(node) = nodes.get_mut(at + 2 + offset) else {
            continue;
        };
        let What::Field(owner) = &node.what else { continue };
        let is_many = node.text.ends_with('s');
        let is_text = !scope.is_numeric(owner) && !scope.is_time(owner) && !scope.is_key(owner);
        if is_many && is_text && owner.dataset == shown.dataset && *owner != shown {
            node.what = What::Cue(Cue::Filler);
        }
    }
}

fn is_plain_name(text: &str) -> bool {
    matches!(text.to_lowercase().as_str(), "name" | "names" | "名称" | "名字")
}

fn is_small(what: &What) -> bool {
    matches!(
        what,
        What::Cue(Cue::Filler | Cue::Of | Cue::Distinct | Cue::Group) | What::Punctuation
    )
}

/// "Full name", "first and last names": both parts, of the thing that is named.
fn full_names(nodes: &mut Vec<Node>, scope: &Scope<'_>) {
    let mut at = 0;
    while at < nodes.len() {
        let is_full = nodes
            .get(at)
            .is_some_and(|node| node.what == What::Unknown && node.text.eq_ignore_ascii_case("full"));
        let named = nodes.get(at + 1).filter(|node| is_plain_name(&node.text)).cloned();
        if let (true, Some(named)) = (is_full, named) {
            let owner = owner_of(nodes, at + 1).or_else(|| match &named.what {
                What::Field(field) => Some(field.dataset.clone()),
                _ => None,
            });
            let parts: Vec<FieldRef> = owner.map(|owner| scope.name_parts(&owner)).unwrap_or_default();
            if let Some(full) = nodes.get_mut(at) {
                full.what = What::Cue(Cue::Filler);
            }
            if parts.len() > 1 {
                let replaced = parts.into_iter().map(|part| Node {
                    what: What::Field(part),
                    ..named.clone()
                });
                nodes.splice(at + 1..at + 2, replaced);
            }
        }
        at += 1;
    }
}

/// The dataset that is named after "of" or "for", else the first that is named.
fn owner_of(nodes: &[Node], at: usize) -> Option<String> {
    let dataset = |node: &Node| match &node.what {
        What::Dataset(dataset) => Some(dataset.clone()),
        _ => None,
    };
    let after = nodes.get(at + 1..).unwrap_or_default();
    let follows = after.iter().find(|node| !is_small(&node.what)).and_then(dataset);
    follows.or_else(|| nodes.iter().find_map(dataset))
}

/// "First and last name" where no field is called "last name": both parts of the name of what it belongs to.
fn split_first_and_last(nodes: &mut [Node], at: usize, begins: bool, scope: &Scope<'_>) {
    let is_last = nodes
        .get(at + 2)
        .is_some_and(|node| node.text.eq_ignore_ascii_case("last"));
    let is_name = nodes.get(at + 3).is_some_and(|node| is_plain_name(&node.text));
    if !(begins && is_last && is_name) {
        return;
    }
    let parts = owner_of(nodes, at + 3)
        .map(|owner| scope.name_parts(&owner))
        .unwrap_or_default();
    let [first, last] = parts.as_slice() else { return };
    for (offset, what) in [
        (0, What::Field(first.clone())),
        (2, What::Field(last.clone())),
        (3, What::Cue(Cue::Filler)),
    ] {
        if let Some(node) = nodes.get_mut(at + offset) {
            node.what = what;
        }
    }
}

/// "First and last names": "first" is half a name, not the earliest.
fn first_and_last_names(nodes: &mut [Node], scope: &Scope<'_>) {
    for at in 0..nodes.len() {
        let is_first = nodes
            .get(at)
            .is_some_and(|node| node.text.eq_ignore_ascii_case("first"));
        let tied = nodes
            .get(at + 1)
            .is_some_and(|node| matches!(node.what, What::Cue(Cue::And)));
        let Some(What::Field(last)) = nodes.get(at + 2).map(|node| node.what.clone()) else {
            split_first_and_last(nodes, at, is_first && tied, scope);
            continue;
        };
        let parts = scope.name_parts(&last.dataset);
        if let (true, true, [first, known_last], Some(node)) = (is_first, tied, parts.as_slice(), nodes.get_mut(at))
            && *known_last == last
        {
            node.what = What::Field(first.clone());
        }
    }
}

/// "Products ordered by customers": by whom, not by what it is grouped.
fn agents(nodes: &mut [Node]) {
    for at in 1..nodes.len() {
        let by = nodes
            .get(at)
            .is_some_and(|node| node.what == What::Cue(Cue::Group) && node.text.eq_ignore_ascii_case("by"));
        let before = at.checked_sub(1).and_then(|before| nodes.get(before));
        let is_participle = before.is_some_and(|before| {
            let last = before.text.rsplit(' ').next().unwrap_or_default().to_lowercase();
            let speaks_of_order = matches!(before.what, What::Cue(Cue::Group | Cue::Ranked | Cue::Direction { .. }));
            !speaks_of_order && (last.ends_with("ed") && last.len() > 3 || PARTICIPLES.contains(&last.as_str()))
        });
        if let (true, true, Some(node)) = (by, is_participle, nodes.get_mut(at)) {
            node.what = What::Cue(Cue::In);
        }
    }
}
