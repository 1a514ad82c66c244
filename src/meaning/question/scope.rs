//! What the walk may ask of the model: kinds of fields, owners of qualities, the people that "who" means.

use crate::meaning::query::Literal;
use crate::meaning::question::cue::Quality;
use crate::meaning::question::draft::{Draft, Person};
use crate::meaning::question::graph::Graph;
use crate::meaning::question::token::name_stems;
use crate::meaning::question::types::Shift;
use crate::meaning::semantic::{
    Additive, Dataset, DatasetKind, Field, FieldRef, Metric, MetricKind, Model, TimeFormat, Unit,
};
use crate::time::{Grain, Window};
use crate::warehouse::catalog::{DataType, Role};

/// Words of datasets that hold people; the first of each list are those who sell, or buy.
const SELLERS: [&str; 9] = [
    "employee",
    "salesperson",
    "staff",
    "sales rep",
    "seller",
    "worker",
    "representative",
    "员工",
    "销售员",
];
const BUYERS: [&str; 6] = ["customer", "client", "buyer", "shopper", "客户", "顾客"];
const PEOPLE: [&str; 16] = [
    "person",
    "people",
    "user",
    "member",
    "student",
    "teacher",
    "patient",
    "player",
    "author",
    "artist",
    "driver",
    "doctor",
    "actor",
    "candidate",
    "passenger",
    "人员",
];
const SELLING: [&str; 7] = ["sell", "sold", "sells", "selling", "卖", "销售", "售"];
const BUYING: [&str; 9] = [
    "buy",
    "bought",
    "buys",
    "purchased",
    "spent",
    "spend",
    "ordered",
    "买",
    "购买",
];

/// A model with what questions need to know of it.
pub struct Scope<'a> {
    pub model: &'a Model,
    pub graph: &'a Graph,
}

impl<'a> Scope<'a> {
    fn field(&self, field: &FieldRef) -> Option<&Field> {
        self.model.field(field).map(|(_, field)| field)
    }

    /// The fields that name a row of `dataset` for people.
    pub fn label(&self, dataset: &str) -> Vec<FieldRef> {
        let known = self.model.dataset(dataset);
        known
            .iter()
            .flat_map(|known| &known.label)
            .map(|field| FieldRef::new(dataset, field))
            .collect()
    }

    /// First name and last name of the rows of `dataset`, where it has both; else its label.
    pub fn name_parts(&self, dataset: &str) -> Vec<FieldRef> {
        let Some(known) = self.model.dataset(dataset) else {
            return Vec::new();
        };
        let find = |wanted: &[&str]| {
            let wanted: Vec<Vec<String>> = wanted.iter().map(|word| name_stems(word)).collect();
            let called = |field: &&Field| {
                let names = std::iter::once(&field.words.label).chain(&field.words.synonyms);
                let mut names = names.chain(std::iter::once(&field.name)).map(|name| name_stems(name));
                names.any(|name| wanted.contains(&name))
            };
            // `emp_fname`: a prefix that says whose name it is.
            let ends_so = |field: &&Field| {
                let stems = name_stems(&field.name);
                wanted.iter().any(|word| stems.ends_with(word))
            };
            known
                .fields
                .iter()
                .find(called)
                .or_else(|| known.fields.iter().find(ends_so))
        };
        let first = find(&["first name", "given name", "forename", "fname"]);
        let last = find(&["last name", "surname", "family name", "lname"]);
        match (first, last) {
            (Some(first), Some(last)) => {
                vec![FieldRef::new(dataset, &first.name), FieldRef::new(dataset, &last.name)]
            }
            _ => self.label(dataset),
        }
    }

    /// Do rows of `from` point, perhaps over others, at rows of `to`?
    pub fn points_at(&self, from: &str, to: &str) -> bool {
        self.graph.points_at(from, to)
    }

    /// Can it be compared with a number and added up? Keys are numbers in name only, but may be compared.
    pub fn is_numeric(&self, field: &FieldRef) -> bool {
        self.field(field).is_some_and(|field| {
            matches!(
                field.data_type,
                DataType::Integer | DataType::Float | DataType::Decimal { .. }
            ) || matches!(field.role, Role::Measure | Role::Money | Role::Percentage)
        })
    }

    /// A number that counts or measures something, as against a code, a year or a key.
    pub fn is_amount(&self, field: &FieldRef) -> bool {
        let measures = |field: &Field| matches!(field.role, Role::Measure | Role::Money) && field.aggregation.is_some();
        self.is_numeric(field) && !self.is_year(field) && self.field(field).is_some_and(measures)
    }

    /// Does it hold how many there are of something, by its name: `room_count`, `num_employees`?
    pub fn counts_things(&self, field: &FieldRef) -> bool {
        let says = |known: &Field| {
            name_stems(&known.words.label)
                .iter()
                .any(|word| matches!(word.as_str(), "count" | "quantiti"))
                || known.name.starts_with("num_")
                || known.name.starts_with("number_of")
        };
        self.is_numeric(field) && !self.is_key(field) && self.field(field).is_some_and(says)
    }

    /// The dataset whose rows a metric counts, all of them.
    pub fn counted_rows(&self, name: &str) -> Option<String> {
        let metric = self.model.metric(name)?;
        match &metric.kind {
            MetricKind::Simple {
                dataset, filter: None, ..
            } if metric.unit == Unit::Count => Some(dataset.clone()),
            MetricKind::Simple { .. } | MetricKind::Ratio { .. } | MetricKind::Derived { .. } => None,
        }
    }

    pub fn is_key(&self, field: &FieldRef) -> bool {
        self.field(field).is_some_and(|field| field.role == Role::Key)
    }

    /// Does it tell the rows of its dataset apart, as key or name?
    pub fn names_rows(&self, field: &FieldRef) -> bool {
        let labels = |dataset: &Dataset| dataset.label.contains(&field.field);
        self.is_key(field) || self.model.dataset(&field.dataset).is_some_and(labels)
    }

    pub fn is_time(&self, field: &FieldRef) -> bool {
        self.field(field)
            .is_some_and(|field| field.is_time || field.data_type.is_temporal() || field.role == Role::Time)
    }

    /// Does it hold years as numbers (or as text of four digits)?
    pub fn is_year(&self, field: &FieldRef) -> bool {
        self.field(field).is_some_and(|known| {
            let says_year = name_stems(&known.words.label)
                .iter()
                .chain(&name_stems(&known.name))
                .any(|word| word == "year");
            let is_date =
                known.data_type.is_temporal() || known.time_format.is_some_and(|format| format != TimeFormat::Year);
            known.time_format == Some(TimeFormat::Year) || says_year && !is_date
        })
    }

    /// A value as the field's type holds it.
    pub fn literal(&self, field: &FieldRef, value: &str) -> Literal {
        let is_integer = self
            .field(field)
            .is_some_and(|field| field.data_type == DataType::Integer);
        match value.parse::<i64>() {
            Ok(number) if is_integer => Literal::Integer(number),
            _ => Literal::Text(value.to_owned()),
        }
    }

    /// The quality that a comparative speaks of: "older than" of age.
    pub fn quality_of(&self, text: &str) -> Option<Quality> {
        let word = text.split(' ').next().unwrap_or_default().to_lowercase();
        match word.as_str() {
            "older" | "younger" => Some(Quality::Age),
            "longer" | "shorter" => Some(Quality::Length),
            "cheaper" => Some(Quality::Price),
            "heavier" => Some(Quality::Weight),
            "taller" => Some(Quality::Height),
            _ => None,
        }
    }

    /// The field of what is talked about whose name has one of `words`.
    pub fn field_with(&self, draft: &Draft, words: &[&str]) -> Option<FieldRef> {
        let mentioned = || draft.mentioned.iter().filter_map(|name| self.model.dataset(name));
        // "The tallest swimmer" where heights are with the people that swimmers point at.
        let pointed = mentioned().flat_map(|from| {
            let own = self.model.relationships.iter().filter(|known| known.from == from.name);
            own.filter_map(|known| self.model.dataset(&known.to))
        });
        mentioned()
            .chain(pointed)
            .flat_map(|dataset| dataset.fields.iter().map(move |field| (dataset, field)))
            .find_map(|(dataset, field)| {
                let names = name_stems(&field.words.label);
                let own = name_stems(&field.name);
                let stems: Vec<String> = words.iter().flat_map(|word| name_stems(word)).collect();
                let has = names.iter().chain(&own).any(|word| stems.contains(word)) && field.role != Role::Key;
                has.then(|| FieldRef::new(&dataset.name, &field.name))
            })
    }

    /// The field that is called by the name of a grain, in a dataset that has no date to make such periods of.
    pub fn field_of_grain(&self, draft: &Draft, grain: Grain) -> Option<FieldRef> {
        let word = match grain {
            Grain::Day => "day",
            Grain::Week => "week",
            Grain::Month => "month",
            Grain::Quarter => "quarter",
            Grain::Year => "year",
        };
        let subject = draft.subject().or_else(|| draft.mentioned.first().cloned())?;
        let dataset = self.model.dataset(&subject)?;
        if dataset.time.is_some() {
            return None;
        }
        let is_it = |field: &&Field| name_stems(&field.words.label).iter().any(|own| own == word);
        let field = dataset.fields.iter().find(is_it)?;
        Some(FieldRef::new(&subject, &field.name))
    }

    /// The field that "when" asks for.
    pub fn time_field_for(&self, draft: &Draft) -> Option<FieldRef> {
        let dataset = draft
            .mentioned
            .iter()
            .filter_map(|name| self.model.dataset(name))
            .find(|dataset| dataset.time.is_some())?;
        dataset.time.as_ref().map(|time| FieldRef::new(&dataset.name, time))
    }

    pub fn person_of_verb(&self, text: &str) -> Option<Person> {
        let lower = text.to_lowercase();
        if SELLING.contains(&lower.as_str()) {
            return Some(Person::Seller);
        }
        BUYING.contains(&lower.as_str()).then_some(Person::Buyer)
    }

    /// The dataset of the people that "who" asks for.
    pub fn people(&self, person: Person, near: Option<&str>) -> Option<String> {
        let lists: &[&[&str]] = match person {
            Person::Seller => &[&SELLERS, &PEOPLE],
            Person::Buyer => &[&BUYERS, &PEOPLE],
            Person::Any => &[&SELLERS, &PEOPLE, &BUYERS],
        };
        lists.iter().find_map(|words| {
            let mut found: Vec<&Dataset> = self
                .model
                .datasets
                .iter()
                .filter(|dataset| names_one_of(dataset, words))
                .collect();
            found.sort_by_key(|dataset| near.map_or(0, |near| self.graph.distance(near, &dataset.name)));
            found.first().map(|dataset| dataset.name.clone())
        })
    }

    /// The shift that "last year" or "last month" is beside a window of its own.
    pub fn shift(&self, window: Option<Window>, back: Grain) -> Option<Shift> {
        let window = window?;
        let (unit, count) = window.units();
        match back {
            Grain::Year if (unit != Grain::Year) => Some(Shift::YearAgo),
            _ if unit == back && count == 1 => Some(Shift::Previous),
            _ => None,
        }
    }

    /// The field that a metric is the plain sum of.
    pub fn summed_field(&self, name: &str) -> Option<FieldRef> {
        let MetricKind::Simple { expression, .. } = &self.model.metric(name)?.kind else {
            return None;
        };
        let inner = expression.strip_prefix("SUM(")?.strip_suffix(')')?;
        let field = FieldRef::parse(inner);
        self.model.field(&field).map(|_| field)
    }

    /// The metric that divides what was reached by the target `name`.
    pub fn attainment(&self, name: &str) -> Option<String> {
        self.model.metric(name)?.target_of.as_ref()?;
        let divides = |metric: &&Metric| match &metric.kind {
            MetricKind::Ratio { denominator, .. } => denominator.eq_ignore_ascii_case(name),
            MetricKind::Derived { expression, .. } => expression
                .rsplit_once('/')
                .is_some_and(|(_, below)| below.trim().eq_ignore_ascii_case(name)),
            MetricKind::Simple { .. } => false,
        };
        self.model
            .metrics
            .iter()
            .find(divides)
            .map(|metric| metric.name.clone())
    }

    /// The metric that "sales" means where the model has no such name: money added up over the facts of trade.
    pub fn main_money(&self) -> Option<&'a Metric> {
        let trade = [
            "sale", "payment", "invoice", "order", "purchase", "transact", "line", "detail", "item",
        ];
        let rank = |metric: &Metric| -> (usize, u64) {
            let datasets = crate::meaning::question::choose::metric_datasets(self.model, metric);
            let dataset = datasets.first().and_then(|name| self.model.dataset(name));
            let words = dataset
                .map(|dataset| name_stems(&dataset.words.label))
                .unwrap_or_default();
            let own = name_stems(&metric.words.label);
            let is_plain = |name: &String| matches!(name_stems(name).as_slice(), [word] if matches!(word.as_str(), "sale" | "revenu"));
            let called = is_plain(&metric.words.label) || metric.words.synonyms.iter().any(is_plain);
            let named = own.iter().any(|word| matches!(word.as_str(), "sale" | "revenu"));
            let trades = words.iter().filter(|word| trade.contains(&word.as_str())).count();
            let is_fact = dataset.is_some_and(|dataset| dataset.kind == DatasetKind::Fact);
            let score = usize::from(called) * 8 + usize::from(named) * 4 + trades.min(2) + usize::from(is_fact);
            (score, dataset.and_then(|dataset| dataset.rows).unwrap_or_default())
        };
        // Of equals the last one wins, so that reversed the one that the model names first does.
        self.model
            .metrics
            .iter()
            .rev()
            .filter(|metric| !metric.hidden && metric.unit == Unit::Money && metric.additive == Additive::Full)
            .filter(|metric| metric.target_of.is_none())
            .map(|metric| (rank(metric), metric))
            .filter(|((score, _), _)| *score > 0)
            .max_by_key(|(rank, _)| *rank)
            .map(|(_, metric)| metric)
    }
}

fn names_one_of(dataset: &Dataset, words: &[&str]) -> bool {
    let stems: Vec<Vec<String>> = words.iter().map(|word| name_stems(word)).collect();
    let own = [&dataset.words.label, &dataset.name]
        .into_iter()
        .chain(&dataset.words.label_zh)
        .chain(&dataset.words.synonyms);
    own.map(|name| name_stems(name)).any(|name| stems.contains(&name))
}
