//! What a question asks for, slot by slot, before it becomes a query.

use crate::meaning::query::{Comparison, Filter, Literal, Measure};
use crate::meaning::question::cue::{Cue, Quality};
use crate::meaning::question::phrases::Phrase;
use crate::meaning::question::types::{Intent, Shift};
use crate::meaning::semantic::{Aggregate, FieldRef};
use crate::time::{Grain, Window};

/// A piece of the question with one meaning.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    Metric(String),
    Dataset(String),
    Field(FieldRef),
    Value { field: FieldRef, value: String },
    Number(Literal),
    Quoted(String),
    Time { phrase: Phrase, bare_year: bool },
    Cue(Cue),
    Unknown,
    Punctuation,
}

/// A meaning and the tokens it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    pub what: What,
    /// Index of the first token, and after the last.
    pub first: usize,
    pub end: usize,
    pub approximate: bool,
    /// The words as written.
    pub text: String,
}

/// What rows are grouped by, time excepted.
#[derive(Debug, Clone, PartialEq)]
pub enum Group {
    Field(FieldRef),
    Entity(String),
}

/// What a ranking goes by.
#[derive(Debug, Clone, PartialEq)]
pub enum Key {
    Measure(Measure),
    Field(FieldRef),
    /// "Most", "oldest": by what the rest of the question says, or by the quality itself.
    Open(Quality),
}

/// A ranking or sorting.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    pub key: Key,
    pub descending: bool,
    pub limit: Option<u64>,
    /// "The most", as against "sorted by".
    pub superlative: bool,
}

/// A condition, and how it is tied to the one before.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    pub filter: Filter,
    pub or: bool,
}

/// A condition on groups.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupCondition {
    pub measure: Measure,
    pub operator: Comparison,
    pub value: Literal,
}

/// The slots.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Draft {
    pub intents: Vec<Intent>,
    /// "Who": the people of whom something is told.
    pub who: Option<Person>,
    /// Datasets named where things are shown, in order.
    pub entities: Vec<Entity>,
    pub shows: Vec<FieldRef>,
    pub measures: Vec<Measure>,
    /// Measures that only rank or pick groups and were not asked to be shown.
    pub silent: Vec<Measure>,
    pub groups: Vec<Group>,
    pub grain: Option<Grain>,
    pub windows: Vec<Window>,
    /// The windows were tied by "or": a row lies in one of them.
    pub any_window: bool,
    /// Two ends of a range, which a comparison takes apart.
    pub range: Option<(Window, Window)>,
    pub shift: Option<Shift>,
    pub conditions: Vec<Condition>,
    pub having: Vec<GroupCondition>,
    pub ranking: Option<Ranking>,
    pub distinct: bool,
    /// A dataset is named by its own name anywhere.
    pub names_dataset: bool,
    /// The datasets named so, in order, as often as they are.
    pub named: Vec<String>,
    /// What was named last before a superlative: "the dorm with the most amenities".
    pub ranked_of: Option<String>,
    /// All columns are wanted.
    pub everything: bool,
    /// "Both A and B": two values of one field must be met, by different rows.
    pub both: bool,
    /// Two values of one field were tied by "and".
    pub all_values: bool,
    /// "Cities without a shop that …", where a city is no more than a field of shops: from this condition on they say which
    /// shops there must not be.
    pub none_from: Option<usize>,
    pub advise: bool,
    /// All datasets that the question names in any way.
    pub mentioned: Vec<String>,
    /// Relationships that the question's words choose among several.
    pub via: Vec<String>,
    /// Things understood only in part, which count against the reading.
    pub loose_ends: usize,
}

/// A dataset named where things are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entity {
    pub dataset: String,
    /// Named before anything is measured, and not as what something is of.
    pub leads: bool,
}

/// Whom "who" asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Person {
    Any,
    /// "Who sold".
    Seller,
    /// "Who bought".
    Buyer,
}

impl Draft {
    pub fn intend(&mut self, intent: Intent) {
        if !self.intents.contains(&intent) {
            self.intents.push(intent);
        }
    }

    /// The dataset whose rows are told of.
    pub fn subject(&self) -> Option<String> {
        let counted = self.measures.iter().find_map(|measure| match measure {
            Measure::Count(dataset) => Some(dataset.clone()),
            Measure::Aggregate { field, .. } => Some(field.dataset.clone()),
            Measure::Metric(_) | Measure::Ratio { .. } => None,
        });
        let entity = self.entities.first().map(|entity| entity.dataset.clone());
        counted
            .or(entity)
            .or_else(|| self.shows.first().map(|field| field.dataset.clone()))
    }

    pub fn mention(&mut self, dataset: &str) {
        if !self.mentioned.iter().any(|known| known == dataset) {
            self.mentioned.push(dataset.to_owned());
        }
    }

    pub fn measure(&mut self, measure: Measure) {
        if !self.measures.contains(&measure) {
            self.measures.push(measure);
        }
    }

    pub fn show(&mut self, field: FieldRef) {
        if !self.shows.contains(&field) {
            self.shows.push(field);
        }
    }

    pub fn group(&mut self, group: Group) {
        if !self.groups.contains(&group) {
            self.groups.push(group);
        }
    }

    /// Adds a condition; values of one field that are tied by "or" (or merely listed) become one set.
    pub fn condition(&mut self, filter: Filter, or: bool) {
        let last = self.conditions.last_mut();
        if let (
            Filter::Compare {
                field,
                operator: Comparison::Equal,
                value,
            },
            Some(last),
        ) = (&filter, last)
        {
            match &mut last.filter {
                Filter::Compare {
                    field: known,
                    operator: Comparison::Equal,
                    value: first,
                } if known == field => {
                    if first != value {
                        last.filter = Filter::In {
                            field: field.clone(),
                            values: vec![first.clone(), value.clone()],
                        };
                    }
                    return;
                }
                Filter::In { field: known, values } if known == field => {
                    values.push(value.clone());
                    return;
                }
                _ => {}
            }
        }
        self.conditions.push(Condition { filter, or });
    }
}

/// An aggregate of a field, or of nothing yet.
pub fn aggregate(function: Aggregate, field: &FieldRef) -> Measure {
    Measure::Aggregate {
        function,
        field: field.clone(),
    }
}
