//! `glossary`: what the words of a question mean on this database, and how the whole question can be read.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::meaning::query::{Dimension, Measure, Query};
use crate::meaning::question::{Outcome, Reading, read};
use crate::meaning::semantic::{Dataset, Field, Metric, Model, Words};
use crate::meaning::surroundings::{Surroundings, surroundings};
use crate::text::Language;
use crate::time::TimeContext;
use crate::tools::query_compose::compose;
use crate::tools::{Call, Reply, Tool, ToolError, Workbench, args};

pub const NAME: &str = "glossary";

/// Names that are offered beside a term that is not known.
const NEAREST: usize = 4;
/// A name less alike than this is another name.
const ALIKE: f64 = 0.8;
/// Readings that the model is shown.
const MOST_READINGS: usize = 2;

/// What the model sends.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The whole question: gives its readings, each with a typed query that query_compose takes.
    #[serde(default)]
    question: Option<String>,
    /// Single business terms, values or time phrases to look up.
    #[serde(default)]
    terms: Vec<String>,
    /// Also give what belongs around the metric of the question: companions, target, breakdowns.
    #[serde(default)]
    around: bool,
}

/// What the model is told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Explained {
    /// What "today" means, and which days the data covers.
    pub time: TimeContext,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub terms: Vec<Term>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<Outcome>,
    /// The readings in short, best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub readings: Vec<ReadingBrief>,
    /// What belongs around the first reading's metric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub around: Option<Surroundings>,
    /// Every metric there is, by name, with its meaning.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<String>,
}

/// One way to understand the question, ready to run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReadingBrief {
    /// What its words were taken to mean.
    pub words: Vec<String>,
    /// The typed query, for query_compose.
    pub query: Query,
    /// The same as checked SQL, for sql_execute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sql: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_understood: Vec<String>,
}

/// One term with what it means here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Term {
    pub term: String,
    /// Empty where the term is not known: nothing is guessed.
    pub means: Vec<Meaning>,
    /// Names that are spelled alike; these are no matches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spelled_alike: Vec<String>,
}

/// One thing that a term can mean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Meaning {
    Metric {
        name: String,
        definition: String,
    },
    Dataset {
        name: String,
        description: String,
    },
    Field {
        name: String,
        description: String,
    },
    Definition {
        text: String,
    },
    /// A value in the data: `city = 'Beijing'`.
    Value {
        column: String,
        value: String,
        rows: u64,
    },
    /// A span of days, the end not included.
    Time {
        start: String,
        end: String,
        label: String,
    },
}

/// The tool.
pub struct Glossary;

#[async_trait]
impl Tool for Glossary {
    fn name(&self) -> &'static str {
        NAME
    }

    fn description(&self) -> &'static str {
        "Says what business terms, values and time phrases mean on this database (metric definitions, fields, synonyms, \
         date windows). With `question` it gives readings of the whole question, each with a typed query and with checked \
         SQL that you can run as it is."
    }

    fn schema(&self) -> Value {
        args::schema::<Args>()
    }

    async fn call(&self, call: Call, at: &Workbench) -> Result<Reply, ToolError> {
        let args: Args = args::parse(self.name(), call.arguments)?;
        if args.question.is_none() && args.terms.is_empty() {
            return Err(ToolError::FixTheCall(
                "glossary: give `question`, or `terms` such as [\"net sales\", \"Aug 2005\"]".into(),
            ));
        }
        let outcome = args.question.as_deref().map(|question| understand(question, at));
        let terms: Vec<Term> = args.terms.iter().map(|term| look_up(term, at)).collect();
        let summary = summary(outcome.as_ref(), &terms);
        let unknown = terms.iter().any(|term| term.means.is_empty());
        let mut explained = Explained {
            time: at.time,
            terms,
            question: None,
            readings: Vec::new(),
            around: None,
            metrics: if unknown { metrics(at) } else { Vec::new() },
        };
        match outcome {
            Some(outcome) if args.around => {
                explained.around = first_around(&outcome, &at.model);
                explained.question = Some(outcome);
            }
            Some(Outcome::Read { readings, .. }) => {
                explained.readings = readings.into_iter().map(|reading| brief(reading, at)).collect();
            }
            not_read => explained.question = not_read,
        }
        Reply::json(&explained, summary)
    }

    /// The readings come with SQL, which the report looks up.
    async fn restore(&self, call: Call, at: &Workbench) -> Result<Reply, ToolError> {
        self.call(call, at).await
    }
}

/// Every metric with its meaning.
fn metrics(at: &Workbench) -> Vec<String> {
    let offered = at.model.metrics.iter().filter(|metric| !metric.hidden);
    offered
        .map(|metric| format!("{}: {}", metric.name, definition(metric, at.language)))
        .collect()
}

/// The reading without what only programs need, and with the SQL that answers it.
fn brief(reading: Reading, at: &Workbench) -> ReadingBrief {
    let sql = compose(&reading.query, at).ok().map(|composed| composed.compiled.sql);
    ReadingBrief {
        words: reading
            .spans
            .iter()
            .map(|span| format!("{} = {}", span.text, span.means))
            .collect(),
        query: reading.query,
        sql,
        notes: reading.notes,
        not_understood: reading.unread,
    }
}

fn understand(question: &str, at: &Workbench) -> Outcome {
    match read(question, &at.model, &at.catalog, &at.values, &at.time) {
        Outcome::Read {
            mut readings,
            ambiguous,
        } => {
            readings.truncate(MOST_READINGS);
            Outcome::Read { readings, ambiguous }
        }
        not_read @ Outcome::NotRead(_) => not_read,
    }
}

fn first_around(outcome: &Outcome, model: &Model) -> Option<Surroundings> {
    let Outcome::Read { readings, .. } = outcome else {
        return None;
    };
    let reading = readings.first()?;
    surroundings(model, &metric_of(reading)?, first_dimension(reading))
}

/// The first measure that is a metric of the model.
fn metric_of(reading: &Reading) -> Option<String> {
    let of_query = match &reading.query {
        Query::Summary(summary) => summary.measures.as_slice(),
        Query::Rows(_) | Query::Combine(_) => &[],
    };
    reading
        .measures
        .iter()
        .chain(of_query)
        .find_map(|measure| match measure {
            Measure::Metric(name) => Some(name.clone()),
            Measure::Count(_) | Measure::Aggregate { .. } | Measure::Ratio { .. } => None,
        })
}

fn first_dimension(reading: &Reading) -> Option<&Dimension> {
    reading
        .dimensions
        .iter()
        .find(|dimension| !matches!(dimension, Dimension::Time { .. }))
}

fn look_up(term: &str, at: &Workbench) -> Term {
    let wanted = folded(term);
    let model = &at.model;
    let mut means: Vec<Meaning> = model
        .metrics
        .iter()
        .filter(|metric| !metric.hidden && answers_to(&metric.name, &metric.words, &wanted))
        .map(|metric| Meaning::Metric {
            name: metric.name.clone(),
            definition: definition(metric, at.language),
        })
        .collect();
    for dataset in &model.datasets {
        means.extend(meanings_in(dataset, &wanted, at.language));
    }
    means.extend(
        model
            .definitions
            .iter()
            .filter(|definition| folded(&definition.term) == wanted)
            .map(|definition| Meaning::Definition {
                text: definition.text.clone(),
            }),
    );
    means.extend(at.values.lookup(term).into_iter().map(|found| Meaning::Value {
        column: format!("{}.{}", found.entry.table, found.entry.column),
        value: found.entry.value.clone(),
        rows: found.entry.count,
    }));
    means.extend(time_of(term, at));
    let spelled_alike = if means.is_empty() {
        alike(&wanted, model)
    } else {
        Vec::new()
    };
    Term {
        term: term.to_owned(),
        means,
        spelled_alike,
    }
}

fn meanings_in(dataset: &Dataset, wanted: &str, language: Language) -> Vec<Meaning> {
    let mut means = Vec::new();
    if answers_to(&dataset.name, &dataset.words, wanted) {
        means.push(Meaning::Dataset {
            name: dataset.name.clone(),
            description: described(&dataset.words, language),
        });
    }
    let fields = dataset
        .fields
        .iter()
        .filter(|field: &&Field| answers_to(&field.name, &field.words, wanted))
        .map(|field| Meaning::Field {
            name: format!("{}.{}", dataset.name, field.name),
            description: described(&field.words, language),
        });
    means.extend(fields);
    means
}

/// A term that is nothing but a time phrase means a window.
fn time_of(term: &str, at: &Workbench) -> Option<Meaning> {
    let window = crate::meaning::question::window_of(term, &at.time, &at.model.settings)?;
    Some(Meaning::Time {
        start: window.start.to_string(),
        end: window.end.to_string(),
        label: window.label(at.language),
    })
}

fn answers_to(name: &str, words: &Words, wanted: &str) -> bool {
    std::iter::once(name)
        .chain([words.label.as_str()])
        .chain(words.label_zh.as_deref())
        .chain(words.synonyms.iter().map(String::as_str))
        .any(|known| folded(known) == wanted)
}

/// Lower case, with `_` and spaces the same.
fn folded(text: &str) -> String {
    text.trim().to_lowercase().replace('_', " ")
}

fn alike(wanted: &str, model: &Model) -> Vec<String> {
    let mut near: Vec<(f64, String)> = model
        .metrics
        .iter()
        .filter(|metric| !metric.hidden)
        .map(|metric| &metric.words.label)
        .chain(model.datasets.iter().map(|dataset| &dataset.words.label))
        .chain(
            model
                .datasets
                .iter()
                .flat_map(|dataset| dataset.fields.iter().map(|field| &field.words.label)),
        )
        .map(|label| (strsim::jaro_winkler(&folded(label), wanted), label.clone()))
        .filter(|(alike, _)| *alike >= ALIKE)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut names: Vec<String> = Vec::new();
    for (_, name) in near {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.truncate(NEAREST);
    names
}

/// What a metric measures: its description, or its name where it has none.
pub(crate) fn definition(metric: &Metric, language: Language) -> String {
    described(&metric.words, language)
}

fn described(words: &Words, language: Language) -> String {
    let chinese = words.description_zh.as_ref().filter(|_| language == Language::Chinese);
    chinese.or(words.description.as_ref()).unwrap_or(&words.label).clone()
}

fn summary(outcome: Option<&Outcome>, terms: &[Term]) -> String {
    let read = outcome.map(|outcome| match outcome {
        Outcome::Read { ambiguous: true, .. } => "the question has two readings".to_owned(),
        Outcome::Read { .. } => "the question was read".to_owned(),
        Outcome::NotRead(not_read) => format!("not read: {}", not_read.unknown.join(", ")),
    });
    let known = terms.iter().filter(|term| !term.means.is_empty()).count();
    let looked_up = (!terms.is_empty()).then(|| format!("{known} of {} terms known", terms.len()));
    [read, looked_up].into_iter().flatten().collect::<Vec<_>>().join("; ")
}
