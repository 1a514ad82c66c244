//! How far apart datasets are, so that of two meanings the nearer one wins.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::meaning::semantic::Model;

/// Steps between datasets over the model's relationships.
pub struct Graph {
    distances: HashMap<String, HashMap<String, u32>>,
    /// Dataset → those that each of its rows points at one row of, perhaps over others.
    upward: HashMap<String, HashSet<String>>,
}

/// Datasets that nothing joins are this far apart.
pub const UNREACHABLE: u32 = 99;
/// Beyond so many datasets distances are computed for those asked about only, so this bounds the table.
const FARTHEST: u32 = 5;

impl Graph {
    pub fn new(model: &Model) -> Self {
        let mut neighbours: HashMap<&str, Vec<&str>> = HashMap::new();
        let mut targets: HashMap<&str, Vec<&str>> = HashMap::new();
        for relationship in &model.relationships {
            let (from, to) = (relationship.from.as_str(), relationship.to.as_str());
            neighbours.entry(from).or_default().push(to);
            neighbours.entry(to).or_default().push(from);
            targets.entry(from).or_default().push(to);
        }
        let names = || model.datasets.iter().map(|dataset| dataset.name.as_str());
        let distances = names().map(|name| (name.to_owned(), walk(name, &neighbours))).collect();
        let above = |name: &str| {
            let mut above: HashSet<String> = walk(name, &targets).into_keys().collect();
            above.remove(name);
            above
        };
        let upward = names().map(|name| (name.to_owned(), above(name))).collect();
        Self { distances, upward }
    }

    /// Does each row of `from` point, perhaps over others, at one row of `to`?
    pub fn points_at(&self, from: &str, to: &str) -> bool {
        self.upward.get(from).is_some_and(|above| above.contains(to))
    }

    /// Steps from one dataset to the other; 0 for the same, [`UNREACHABLE`] where there is no way.
    pub fn distance(&self, from: &str, to: &str) -> u32 {
        self.distances
            .get(from)
            .and_then(|own| own.get(to))
            .copied()
            .unwrap_or(UNREACHABLE)
    }
}

/// Everything within [`FARTHEST`] steps of `from`, with the number of steps.
fn walk(from: &str, next: &HashMap<&str, Vec<&str>>) -> HashMap<String, u32> {
    let mut found: HashMap<String, u32> = HashMap::new();
    let mut queue = VecDeque::from([(from, 0)]);
    while let Some((name, steps)) = queue.pop_front() {
        if found.contains_key(name) {
            continue;
        }
        found.insert(name.to_owned(), steps);
        if steps < FARTHEST {
            queue.extend(next.get(name).into_iter().flatten().map(|next| (*next, steps + 1)));
        }
    }
    found
}
