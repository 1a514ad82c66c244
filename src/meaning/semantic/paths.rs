//! How one dataset is reached from another: the cheapest path, and the other ways that a report must name.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::meaning::semantic::{DatasetKind, Model, Relationship};
use crate::warehouse::catalog::KeySource;

/// One step from many rows to one.
const FORWARD: u32 = 10;
/// One step from one row to the many rows of a table that only links two others.
const INTO_BRIDGE: u32 = 60;
/// One step from one row to many: dearer than any chain of forward steps that makes sense.
const BACKWARD: u32 = 100;
/// Passing through a table of things that happened, which may well have happened to somebody else.
const THROUGH_FACT: u32 = 5;
/// Going up to what two rows share and down again: rows of one customer's shop are not the customer's rows.
const THROUGH_SHARED: u32 = 150;
/// How much dearer another way may be and still be worth naming: one forward step more, and then some.
const SLACK: u32 = 26;
/// More steps than this is not a way that people mean.
const MAX_STEPS: usize = 7;
/// Other ways beyond these would only be noise in a report.
const MAX_PATHS: usize = 6;

/// Steps from one dataset to another; no steps when they are the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    pub steps: Vec<Step>,
    pub cost: u32,
}

/// One relationship, gone through in one of its two directions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub relationship: String,
    pub from: String,
    pub to: String,
    pub from_columns: Vec<String>,
    pub to_columns: Vec<String>,
    /// From many rows to one; otherwise from one row to many.
    pub forward: bool,
}

impl Path {
    /// Does each row of the start reach at most one row of the end?
    pub fn is_many_to_one(&self) -> bool {
        self.steps.iter().all(|step| step.forward)
    }
    /// The names of the relationships, in order.
    pub fn relationships(&self) -> Vec<String> {
        self.steps.iter().map(|step| step.relationship.clone()).collect()
    }
    /// `payment.staff_id = staff.staff_id`, one for each step.
    pub fn in_words(&self) -> String {
        let pair = |step: &Step| {
            let columns = step.from_columns.iter().zip(&step.to_columns);
            let pairs: Vec<String> = columns
                .map(|(from, to)| format!("{}.{from} = {}.{to}", step.from, step.to))
                .collect();
            pairs.join(" and ")
        };
        self.steps.iter().map(pair).collect::<Vec<_>>().join(", ")
    }
}

impl Step {
    fn of(relationship: &Relationship, forward: bool) -> Self {
        let r = relationship.clone();
        match forward {
            true => Step {
                relationship: r.name,
                from: r.from,
                to: r.to,
                from_columns: r.from_columns,
                to_columns: r.to_columns,
                forward,
            },
            false => Step {
                relationship: r.name,
                from: r.to,
                to: r.from,
                from_columns: r.to_columns,
                to_columns: r.from_columns,
                forward,
            },
        }
    }
}

impl Model {
    /// The cheapest way from each row of `from` to its row of `to`, or `None` when nothing joins them.
    pub fn path(&self, from: &str, to: &str) -> Option<Path> {
        self.paths(from, to).into_iter().next()
    }

    /// The cheapest way first, then those that are not much dearer. Many-to-one ways win over all others; a direct key
    /// wins over a detour, a declared key over an inferred one.
    pub fn paths(&self, from: &str, to: &str) -> Vec<Path> {
        if from.eq_ignore_ascii_case(to) {
            return vec![Path {
                steps: Vec::new(),
                cost: 0,
            }];
        }
        Graph::new(self).paths(from, to)
    }

    /// The cheapest way that goes through the relationship called `via`.
    pub fn path_via(&self, from: &str, to: &str, via: &str) -> Option<Path> {
        let found = self.paths(from, to);
        let goes_through = |path: &Path| path.steps.iter().any(|s| s.relationship.eq_ignore_ascii_case(via));
        if let Some(path) = found.into_iter().find(goes_through) {
            return Some(path);
        }
        let relationship = self.relationship(via)?;
        let around = |forward: bool| {
            let step = Step::of(relationship, forward);
            let before = self.path(from, &step.from)?;
            let after = self.path(&step.to, to)?;
            let cost = before.cost + after.cost + if forward { FORWARD } else { BACKWARD };
            let steps = before.steps.into_iter().chain([step]).chain(after.steps).collect();
            Some(Path { steps, cost })
        };
        [around(true), around(false)]
            .into_iter()
            .flatten()
            .min_by_key(|path| path.cost)
    }
}

struct Graph<'a> {
    model: &'a Model,
    /// Steps out of each dataset, by its name in lower case.
    steps: BTreeMap<String, Vec<(Step, u32)>>,
}

impl<'a> Graph<'a> {
    fn new(model: &'a Model) -> Self {
        let mut steps: BTreeMap<String, Vec<(Step, u32)>> = BTreeMap::new();
        for relationship in &model.relationships {
            if relationship.from.eq_ignore_ascii_case(&relationship.to) {
                continue;
            }
            for forward in [true, false] {
                let step = Step::of(relationship, forward);
                let cost = Self::cost(model, relationship, forward);
                steps.entry(step.from.to_lowercase()).or_default().push((step, cost));
            }
        }
        Self { model, steps }
    }

    fn cost(model: &Model, relationship: &Relationship, forward: bool) -> u32 {
        let doubt = match relationship.key_source {
            KeySource::Declared | KeySource::Semantic => 0,
            KeySource::Measured => 1,
            KeySource::Inferred => 3,
        };
        let kind = model.dataset(&relationship.from).map(|d| d.kind);
        doubt
            + match (forward, kind) {
                (true, _) => FORWARD,
                (false, Some(DatasetKind::Bridge)) => INTO_BRIDGE,
                (false, _) => BACKWARD,
            }
    }

    /// What it costs to go on by `step` from a dataset that was reached by a forward step or not, and is not the start.
    fn toll(&self, step: &Step, came_forward: bool) -> u32 {
        let kind = |name: &str| self.model.dataset(name).map(|d| d.kind);
        let passing = if kind(&step.from) == Some(DatasetKind::Fact) {
            THROUGH_FACT
        } else {
            0
        };
        let shares = came_forward && !step.forward && kind(&step.to) != Some(DatasetKind::Bridge);
        passing + if shares { THROUGH_SHARED } else { 0 }
    }

    fn paths(&self, from: &str, to: &str) -> Vec<Path> {
        let (start, end) = (from.to_lowercase(), to.to_lowercase());
        let left = self.distances_to(&end);
        let Some(best) = left.get(&(start.clone(), Came::Here)).copied() else {
            return Vec::new();
        };
        let mut search = Search {
            graph: self,
            left,
            end,
            ceiling: best + SLACK,
            trail: Vec::new(),
            found: Vec::new(),
        };
        search.walk(&start, Came::Here, 0);
        let mut found = search.found;
        found.sort_by_key(|path| (path.cost, path.steps.len()));
        let is_clean = found.first().is_some_and(Path::is_many_to_one);
        if is_clean {
            found.retain(Path::is_many_to_one);
        }
        found.truncate(MAX_PATHS);
        found
    }

    /// The least cost from every dataset to `end`, for each way of having come there, by Dijkstra over the steps reversed.
    fn distances_to(&self, end: &str) -> BTreeMap<(String, Came), u32> {
        let mut into: BTreeMap<String, Vec<(&Step, u32)>> = BTreeMap::new();
        for (step, cost) in self.steps.values().flatten() {
            into.entry(step.to.to_lowercase()).or_default().push((step, *cost));
        }
        let mut settled: BTreeMap<(String, Came), u32> = BTreeMap::new();
        let mut open: BinaryHeap<Reverse<(u32, String, Came)>> = BinaryHeap::new();
        for came in [Came::Here, Came::Forward, Came::Backward] {
            open.push(Reverse((0, end.to_owned(), came)));
        }
        while let Some(Reverse((cost, at, came))) = open.pop() {
            if settled.contains_key(&(at.clone(), came)) {
                continue;
            }
            for (step, step_cost) in into.get(&at).into_iter().flatten() {
                if came != Came::by(step) {
                    continue;
                }
                let before = step.from.to_lowercase();
                for came_before in [Came::Here, Came::Forward, Came::Backward] {
                    let toll = self.toll_after(step, came_before);
                    open.push(Reverse((cost + toll + step_cost, before.clone(), came_before)));
                }
            }
            settled.insert((at, came), cost);
        }
        settled
    }

    fn toll_after(&self, step: &Step, came: Came) -> u32 {
        match came {
            Came::Here => 0,
            Came::Forward => self.toll(step, true),
            Came::Backward => self.toll(step, false),
        }
    }
}

/// How a dataset on the way was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Came {
    /// It is the start.
    Here,
    Forward,
    Backward,
}

impl Came {
    fn by(step: &Step) -> Self {
        match step.forward {
            true => Came::Forward,
            false => Came::Backward,
        }
    }
}

struct Search<'a> {
    graph: &'a Graph<'a>,
    /// The least cost still ahead from each dataset.
    left: BTreeMap<(String, Came), u32>,
    end: String,
    ceiling: u32,
    trail: Vec<Step>,
    found: Vec<Path>,
}

impl Search<'_> {
    fn walk(&mut self, at: &str, came: Came, spent: u32) {
        if at == self.end {
            self.found.push(Path {
                steps: self.trail.clone(),
                cost: spent,
            });
            return;
        }
        if self.trail.len() >= MAX_STEPS || self.found.len() >= 4 * MAX_PATHS {
            return;
        }
        let graph = self.graph;
        for (step, cost) in graph.steps.get(at).into_iter().flatten() {
            let next = step.to.to_lowercase();
            let is_it = |name: &str| name.eq_ignore_ascii_case(&next);
            let been_there = self.trail.iter().any(|s| is_it(&s.from) || is_it(&s.to));
            let total = spent + graph.toll_after(step, came) + cost;
            let ahead = self.left.get(&(next.clone(), Came::by(step))).copied();
            if been_there || ahead.is_none_or(|ahead| total + ahead > self.ceiling) {
                continue;
            }
            self.trail.push(step.clone());
            self.walk(&next, Came::by(step), total);
            self.trail.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meaning::semantic::draft;
    use crate::meaning::semantic::draft::tests::sakila_like;

    #[test]
    fn a_direct_key_wins_and_the_other_ways_are_named() {
        let model = draft(&sakila_like());
        let paths = model.paths("payment", "staff");
        assert_eq!(
            paths.first().map(Path::in_words).as_deref(),
            Some("payment.staff_id = staff.staff_id")
        );
        let others: Vec<String> = paths.iter().skip(1).map(Path::in_words).collect();
        assert!(
            others.contains(&"payment.rental_id = rental.rental_id, rental.staff_id = staff.staff_id".to_owned()),
            "{others:?}"
        );
    }

    #[test]
    fn a_bridge_is_crossed_where_no_many_to_one_way_exists() {
        let model = draft(&sakila_like());
        let path = model.path("film", "category").unwrap();
        assert_eq!(path.relationships(), ["film_category_film", "film_category_category"]);
        assert!(!path.is_many_to_one());
    }

    #[test]
    fn things_that_share_a_shop_are_not_each_others() {
        let model = draft(&sakila_like());
        let path = model.path("customer", "film").unwrap();
        assert_eq!(
            path.relationships(),
            ["rental_customer", "rental_inventory", "inventory_film"]
        );
    }

    #[test]
    fn the_named_relationship_is_gone_through() {
        let model = draft(&sakila_like());
        let path = model.path_via("payment", "staff", "rental_staff").unwrap();
        assert_eq!(path.relationships(), ["payment_rental", "rental_staff"]);
    }

    #[test]
    fn nothing_joins_strangers() {
        let model = draft(&sakila_like());
        assert_eq!(model.path("payment", "nothing"), None);
    }
}
