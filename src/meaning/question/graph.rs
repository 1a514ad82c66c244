//! How far apart datasets are, so that of two meanings the nearer one wins.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::meaning::semantic::Model;

/// Steps between datasets over the model's relationships.
pub struct Graph {
    distances: HashMap<(String, String), u32>,
    /// Pairs of which each row of the first points, perhaps over others, at one row of the second.
    upward: HashSet<(String, String)>,
}

/// Datasets that nothing joins are this far apart.
pub const UNREACHABLE: u32 = 99;
/// Beyond so many datasets distances are computed for those asked about only, so this bounds the table.
const FARTHEST: u32 = 5;

impl Graph {
    pub fn new(model: &Model) -> Self {
        let mut neighbours: HashMap<&str, Vec<&str>> = HashMap::new();
        for relationship in &model.relationships {
            neighbours.entry(&relationship.from).or_default().push(&relationship.to);
            neighbours.entry(&relationship.to).or_default().push(&relationship.from);
        }
        let mut distances = HashMap::new();
        let mut upward = HashSet::new();
        for dataset in &model.datasets {
            climb(model, &dataset.name, &mut upward);
            let mut queue = VecDeque::from([(dataset.name.as_str(), 0)]);
            while let Some((name, steps)) = queue.pop_front() {
                let key = (dataset.name.clone(), name.to_owned());
                if distances.contains_key(&key) {
                    continue;
                }
                distances.insert(key, steps);
                if steps < FARTHEST {
                    let next = neighbours.get(name).map_or(&[][..], Vec::as_slice);
                    queue.extend(next.iter().map(|next| (*next, steps + 1)));
                }
            }
        }
        Self { distances, upward }
    }

    /// Does each row of `from` point, perhaps over others, at one row of `to`?
    pub fn points_at(&self, from: &str, to: &str) -> bool {
        self.upward.contains(&(from.to_owned(), to.to_owned()))
    }

    /// Steps from one dataset to the other; 0 for the same, [`UNREACHABLE`] where there is no way.
    pub fn distance(&self, from: &str, to: &str) -> u32 {
        let key = (from.to_owned(), to.to_owned());
        self.distances.get(&key).copied().unwrap_or(UNREACHABLE)
    }
}

/// Adds every dataset that rows of `from` point at, at any distance up to [`FARTHEST`].
fn climb(model: &Model, from: &str, upward: &mut HashSet<(String, String)>) {
    let mut queue = VecDeque::from([(from.to_owned(), 0)]);
    let mut seen = HashSet::new();
    while let Some((name, steps)) = queue.pop_front() {
        for relationship in model.relationships.iter().filter(|known| known.from == name) {
            if steps < FARTHEST && seen.insert(relationship.to.clone()) {
                upward.insert((from.to_owned(), relationship.to.clone()));
                queue.push_back((relationship.to.clone(), steps + 1));
            }
        }
    }
}
