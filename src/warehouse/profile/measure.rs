//! What one pass over a column's values tells about them.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hash, RandomState};

use super::format::FormatWatch;
use crate::warehouse::fetch::Cell;

/// Distinct values that are counted one by one; a column with more identifies rows, and its top values say little.
const TRACKED: usize = 4_096;

/// Longer texts are told apart, but not counted one by one.
const LONGEST_TRACKED: usize = 200;

/// The counts that a column's profile is made from.
pub(super) struct Measure {
    pub(super) rows: u64,
    pub(super) nulls: u64,
    pub(super) integers: Counter<i64>,
    pub(super) floats: Counter<u64>,
    pub(super) texts: Counter<String>,
    pub(super) bytes: u64,
    pub(super) integer_range: Option<(i64, i64)>,
    pub(super) float_range: Option<(f64, f64)>,
    pub(super) text_range: Option<(String, String)>,
    /// Letters of all texts together.
    pub(super) text_length: u64,
    pub(super) format: FormatWatch,
    hasher: RandomState,
}

impl Measure {
    pub(super) fn new() -> Self {
        Self {
            rows: 0,
            nulls: 0,
            integers: Counter::default(),
            floats: Counter::default(),
            texts: Counter::default(),
            bytes: 0,
            integer_range: None,
            float_range: None,
            text_range: None,
            text_length: 0,
            format: FormatWatch::default(),
            hasher: RandomState::new(),
        }
    }

    pub(super) fn add(&mut self, cell: Cell<'_>) {
        self.rows += 1;
        match cell {
            Cell::Null => self.nulls += 1,
            Cell::Integer(value) => self.add_integer(value),
            Cell::Float(value) => self.add_float(value),
            Cell::Text(text) => self.add_text(text),
            Cell::Bytes => self.bytes += 1,
        }
    }

    fn add_integer(&mut self, value: i64) {
        self.integers.add(&value, || value, &self.hasher);
        let (low, high) = self.integer_range.get_or_insert((value, value));
        *low = value.min(*low);
        *high = value.max(*high);
    }

    fn add_float(&mut self, value: f64) {
        self.floats.add(&value.to_bits(), || value.to_bits(), &self.hasher);
        let (low, high) = self.float_range.get_or_insert((value, value));
        *low = value.min(*low);
        *high = value.max(*high);
    }

    fn add_text(&mut self, text: &str) {
        self.text_length += text.len() as u64;
        if text.len() <= LONGEST_TRACKED {
            // Only values that are new are looked at closely: the others have been.
            if self.texts.add(text, || text.to_owned(), &self.hasher) {
                self.format.look(text);
            }
        } else {
            self.texts.add_untracked(text, &self.hasher);
            self.format.look(text);
        }
        match &mut self.text_range {
            Some((low, _)) if text < low.as_str() => text.clone_into(low),
            Some((_, high)) if text > high.as_str() => text.clone_into(high),
            Some(_) => (),
            None => self.text_range = Some((text.to_owned(), text.to_owned())),
        }
    }

    pub(super) fn non_null(&self) -> u64 {
        self.rows - self.nulls
    }

    /// Distinct values; bytes are counted as all different.
    pub(super) fn distinct(&self) -> u64 {
        (self.integers.distinct() + self.floats.distinct() + self.texts.distinct()) as u64 + self.bytes
    }

    /// Values that are text, rather than numbers or bytes.
    pub(super) fn text_count(&self) -> u64 {
        self.texts.total
    }
}

/// How often each value occurs; beyond [`TRACKED`] distinct ones new values are only told apart, by their hash.
pub(super) struct Counter<K> {
    pub(super) counts: HashMap<K, u64>,
    beyond: HashSet<u64>,
    total: u64,
}

impl<K> Default for Counter<K> {
    fn default() -> Self {
        Self {
            counts: HashMap::new(),
            beyond: HashSet::new(),
            total: 0,
        }
    }
}

impl<K: Hash + Eq> Counter<K> {
    /// Counts one `value`; true when it has not been seen before.
    fn add<Q: ?Sized + Hash + Eq>(&mut self, value: &Q, own: impl FnOnce() -> K, hasher: &RandomState) -> bool
    where
        K: std::borrow::Borrow<Q>,
    {
        if let Some(count) = self.counts.get_mut(value) {
            self.total += 1;
            *count += 1;
            return false;
        }
        if self.counts.len() < TRACKED {
            self.total += 1;
            self.counts.insert(own(), 1);
            return true;
        }
        self.add_untracked(value, hasher)
    }

    fn add_untracked<Q: ?Sized + Hash>(&mut self, value: &Q, hasher: &RandomState) -> bool {
        self.total += 1;
        self.beyond.insert(hasher.hash_one(value))
    }

    fn distinct(&self) -> usize {
        self.counts.len() + self.beyond.len()
    }

    /// Is every distinct value among `counts`?
    pub(super) fn is_complete(&self) -> bool {
        self.beyond.is_empty()
    }
}
