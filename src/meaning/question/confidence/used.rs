//! What a query makes use of, to be held against what the question says.

use crate::meaning::query::{Comparison, Dimension, Filter, Having, Literal, Measure, OrderKey, Query, Rows, Summary};
use crate::meaning::question::cue::Cue;
use crate::meaning::question::draft::{Node, What};
use crate::meaning::semantic::{Aggregate, FieldRef};

/// Everything in a query that a word of the question may have asked for.
#[derive(Debug, Default)]
pub struct Used {
    /// In the order met, each once.
    pub datasets: Vec<String>,
    fields: Vec<FieldRef>,
    metrics: Vec<String>,
    literals: Vec<Literal>,
    functions: Vec<Aggregate>,
    pub conditions: usize,
    pub nested: usize,
    pub groups: usize,
    pub having: usize,
    pub ranked: usize,
    pub shown: usize,
    pub sets: usize,
    /// Conditions with several values.
    pub any_of: usize,
    counts: bool,
    negates: bool,
    distinct: bool,
    patterns: bool,
    windows: bool,
    sorts: bool,
}

impl Used {
    pub fn of(query: &Query) -> Self {
        let mut used = Used::default();
        used.query(query, true);
        used
    }

    /// Does the question say something in `node` that the query does nothing about?
    pub fn lacks(&self, node: &Node) -> bool {
        match &node.what {
            What::Metric(name) => !self.metrics.contains(name) && self.functions.is_empty() && !self.counts,
            What::Dataset(dataset) => !self.datasets.contains(dataset),
            What::Field(field) => !self.fields.contains(field) && !self.counts,
            What::Value { value, .. } | What::Quoted(value) => {
                !self.patterns && !self.windows && !self.literals.iter().any(|literal| is_text(literal, value))
            }
            What::Number(number) => !self.literals.contains(number) && !self.windows && !is_one(number),
            What::Time { .. } => !self.windows && self.literals.is_empty(),
            What::Cue(cue) => self.lacks_cue(*cue),
            What::Unknown | What::Punctuation => false,
        }
    }

    fn lacks_cue(&self, cue: Cue) -> bool {
        match cue {
            Cue::Count => !self.counts && self.functions.is_empty() && self.metrics.is_empty(),
            Cue::Aggregate(function) => {
                !self.functions.contains(&function) && self.metrics.is_empty() && !self.counts && !self.sorts
            }
            Cue::Superlative { .. } | Cue::Frequent { .. } => {
                !self.sorts && self.functions.is_empty() && self.nested == 0
            }
            Cue::Group => self.groups == 0 && !self.sorts,
            Cue::Ranked | Cue::Direction { .. } => !self.sorts,
            Cue::Compare(Comparison::Equal) => self.conditions + self.having == 0,
            Cue::Compare(_) | Cue::Between => self.conditions + self.having == 0 && !self.windows,
            Cue::Not | Cue::Except | Cue::Without | Cue::Outside => !self.negates,
            Cue::Both => self.sets + self.nested == 0,
            Cue::Contains | Cue::Starts | Cue::Ends => !self.patterns,
            Cue::AgainstAverage { .. } => self.nested == 0,
            Cue::Empty => self.conditions == 0,
            Cue::Distinct => !self.distinct && !self.functions.contains(&Aggregate::CountDistinct) && self.groups == 0,
            Cue::Or => self.conditions == 0 && self.sets == 0,
            Cue::Everything
            | Cue::List
            | Cue::Which
            | Cue::Who
            | Cue::When
            | Cue::HowMuch
            | Cue::With
            | Cue::Whose
            | Cue::Their
            | Cue::That
            | Cue::Of
            | Cue::In
            | Cue::And
            | Cue::But
            | Cue::Intent(_)
            | Cue::Advise
            | Cue::Target { .. }
            | Cue::Filler => false,
        }
    }

    fn dataset(&mut self, dataset: &str) {
        if !self.datasets.iter().any(|known| known == dataset) {
            self.datasets.push(dataset.to_owned());
        }
    }

    fn field(&mut self, field: &FieldRef) {
        self.dataset(&field.dataset);
        if !self.fields.contains(field) {
            self.fields.push(field.clone());
        }
    }

    fn query(&mut self, query: &Query, outer: bool) {
        match query {
            Query::Summary(summary) => self.summary(summary, outer),
            Query::Rows(rows) => self.rows(rows, outer),
            Query::Combine(combine) => {
                self.sets += 1;
                self.negates |= combine.operator == crate::meaning::query::SetOperator::Except;
                self.query(&combine.left, outer);
                self.query(&combine.right, false);
            }
        }
    }

    fn summary(&mut self, summary: &Summary, outer: bool) {
        for measure in &summary.measures {
            self.measure(measure);
        }
        for dimension in &summary.dimensions {
            match dimension {
                Dimension::Field { field, .. } => self.field(field),
                Dimension::Entity { dataset, show, .. } => {
                    self.dataset(dataset);
                    show.iter().for_each(|field| self.field(field));
                }
                Dimension::Time { field, .. } => field.iter().for_each(|field| self.field(field)),
            }
        }
        self.windows |= summary.window.is_some() || !summary.compare.is_empty();
        if let Some(filter) = &summary.filter {
            self.filter(filter);
        }
        if let Some(having) = &summary.having {
            self.having(having);
        }
        self.order(
            summary.order_by.iter().map(|order| &order.key),
            summary.limit.map(|limit| limit.count),
        );
        if outer {
            self.groups = summary.dimensions.len();
            self.shown = summary.dimensions.len() + summary.measures.len();
        }
        self.distinct |= summary.measures.is_empty();
    }

    fn rows(&mut self, rows: &Rows, outer: bool) {
        self.dataset(&rows.dataset);
        rows.fields.iter().for_each(|field| self.field(field));
        rows.measures.iter().for_each(|measure| self.measure(measure));
        self.distinct |= rows.distinct;
        self.windows |= rows.window.is_some();
        if let Some(filter) = &rows.filter {
            self.filter(filter);
        }
        self.order(
            rows.order_by.iter().map(|order| &order.key),
            rows.limit.map(|limit| limit.count),
        );
        if outer {
            self.shown = rows.fields.len() + rows.measures.len();
        }
    }

    fn order<'o>(&mut self, keys: impl Iterator<Item = &'o OrderKey>, limit: Option<u64>) {
        for key in keys {
            self.sorts = true;
            match key {
                OrderKey::Measure(measure) => self.measure(measure),
                OrderKey::Field(field) => self.field(field),
                OrderKey::Time | OrderKey::Period => {}
            }
        }
        if let Some(limit) = limit.and_then(|limit| i64::try_from(limit).ok()) {
            self.ranked += 1;
            self.literals.push(Literal::Integer(limit));
        }
    }

    fn measure(&mut self, measure: &Measure) {
        match measure {
            Measure::Metric(name) => self.metrics.push(name.clone()),
            Measure::Count(dataset) => {
                self.counts = true;
                self.dataset(dataset);
            }
            Measure::Aggregate { function, field } => {
                self.functions.push(*function);
                self.counts |= *function == Aggregate::CountDistinct;
                self.field(field);
            }
            Measure::Ratio { numerator, denominator } => {
                self.measure(numerator);
                self.measure(denominator);
            }
        }
    }

    fn having(&mut self, having: &Having) {
        match having {
            Having::And(parts) | Having::Or(parts) => parts.iter().for_each(|part| self.having(part)),
            Having::Not(part) => {
                self.negates = true;
                self.having(part);
            }
            Having::Compare { measure, value, .. } => {
                self.having += 1;
                self.measure(measure);
                self.literals.push(value.clone());
            }
            Having::Between { measure, low, high } => {
                self.having += 1;
                self.measure(measure);
                self.literals.extend([low.clone(), high.clone()]);
            }
        }
    }

    fn filter(&mut self, filter: &Filter) {
        match filter {
            Filter::And(parts) | Filter::Or(parts) => return parts.iter().for_each(|part| self.filter(part)),
            Filter::Not(part) => {
                self.negates = true;
                return self.filter(part);
            }
            Filter::Compare { field, operator, value } => {
                self.negates |= *operator == Comparison::NotEqual;
                // "No more than", "not older than": the word is in the comparison.
                self.negates |= matches!(operator, Comparison::AtMost | Comparison::AtLeast);
                self.field(field);
                self.literals.push(value.clone());
            }
            Filter::CompareFields { left, right, .. } => {
                self.field(left);
                self.field(right);
            }
            Filter::In { field, values } => {
                self.any_of += 1;
                self.field(field);
                self.literals.extend(values.iter().cloned());
            }
            Filter::Between { field, low, high } => {
                self.field(field);
                self.literals.extend([low.clone(), high.clone()]);
            }
            Filter::Like { field, .. } => {
                self.patterns = true;
                self.field(field);
            }
            Filter::IsNull { field } => self.field(field),
            Filter::During { field, .. } => {
                self.windows = true;
                self.field(field);
            }
            Filter::InQuery { field, query } => {
                self.nested += 1;
                self.field(field);
                self.query(query, false);
            }
            Filter::CompareAggregate {
                field,
                function,
                of,
                filter,
                ..
            } => {
                self.nested += 1;
                self.functions.push(*function);
                self.field(field);
                of.iter().for_each(|of| self.field(of));
                filter.iter().for_each(|filter| self.filter(filter));
            }
            Filter::Exists { dataset, filter } => {
                self.nested += 1;
                self.dataset(dataset);
                filter.iter().for_each(|filter| self.filter(filter));
            }
        }
        self.conditions += 1;
    }
}

fn is_text(literal: &Literal, value: &str) -> bool {
    match literal {
        Literal::Text(text) => text.eq_ignore_ascii_case(value),
        Literal::Integer(number) => number.to_string() == value,
        Literal::Number(number) => number.to_string() == value,
        Literal::Boolean(truth) => truth.to_string().eq_ignore_ascii_case(value),
    }
}

/// "The one with most", "number 1": says nothing of its own.
fn is_one(number: &Literal) -> bool {
    *number == Literal::Integer(1)
}
