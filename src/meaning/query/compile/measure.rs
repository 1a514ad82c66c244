//! Measures as formulas over aggregates, and the aggregates sorted by the rows that they are taken over.

use sqlparser::ast::{Expr, Ident};

use crate::meaning::query::Measure;
use crate::meaning::query::compile::error::nearest;
use crate::meaning::query::compile::scope::{Ground, Scope};
use crate::meaning::query::compile::select::nested;
use crate::meaning::query::compile::{ColumnKind, OutputColumn, QueryError};
use crate::meaning::semantic::{
    Additive, Aggregate, Definition, FieldRef, Metric, MetricKind, Unit, expression, names,
};
use crate::warehouse::Dialect;

/// Metrics may be built on metrics; more than this is a circle.
const MAX_DEPTH: usize = 12;

/// Rows that aggregates are taken over: one dataset, filtered one way, dated one way.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Branch {
    pub dataset: String,
    /// ANSI SQL over the dataset's fields.
    pub filter: Option<String>,
    pub time: Option<FieldRef>,
}

/// One aggregate over the rows of a branch.
#[derive(Debug, Clone)]
pub(super) struct Base {
    pub branch: usize,
    aggregate: BaseAggregate,
    /// What its column is called where it has one.
    pub name: String,
    /// A group without rows counts as 0 rather than as unknown.
    zero_when_missing: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum BaseAggregate {
    /// ANSI SQL with aggregates.
    Expression {
        sql: String,
        owner: String,
    },
    Field {
        function: Aggregate,
        field: FieldRef,
    },
    Rows,
}

/// How a measure is computed from the aggregates of a [`Plan`].
#[derive(Debug, Clone)]
pub(super) enum Formula {
    Base(usize),
    Ratio(Box<Formula>, Box<Formula>),
    /// Arithmetic over named parts.
    Arithmetic(Box<Expr>, Vec<(String, Formula)>),
}

/// Everything that is measured in one query.
#[derive(Debug, Clone)]
pub(super) struct Plan<'a> {
    pub ground: Ground<'a>,
    pub branches: Vec<Branch>,
    pub bases: Vec<Base>,
    pub definitions: Vec<Definition>,
    /// The query cuts by time, so that rows dated differently must be kept apart.
    uses_time: bool,
    time_field: Option<FieldRef>,
}

impl<'a> Plan<'a> {
    pub fn new(ground: Ground<'a>, uses_time: bool, time_field: Option<FieldRef>) -> Self {
        Self {
            ground,
            branches: Vec::new(),
            bases: Vec::new(),
            definitions: Vec::new(),
            uses_time,
            time_field,
        }
    }

    /// Adds `measure` and says how it is computed.
    pub fn add(&mut self, measure: &Measure) -> Result<Formula, QueryError> {
        match measure {
            Measure::Metric(name) => self.metric(name, 0),
            Measure::Count(dataset) => {
                let dataset = self.ground.dataset(dataset)?;
                let branch = self.branch(&dataset.name, None, None);
                Ok(self.base(branch, BaseAggregate::Rows, &column_name(measure), true))
            }
            Measure::Aggregate { function, field } => {
                let (dataset, found) = self.ground.field(field)?;
                let branch = self.branch(&dataset.name, None, None);
                let aggregate = BaseAggregate::Field {
                    function: *function,
                    field: FieldRef::new(&dataset.name, &found.name),
                };
                let counts = matches!(function, Aggregate::Count | Aggregate::CountDistinct | Aggregate::Sum);
                Ok(self.base(branch, aggregate, &column_name(measure), counts))
            }
            Measure::Ratio { numerator, denominator } => {
                let numerator = self.add(numerator)?;
                let denominator = self.add(denominator)?;
                Ok(Formula::Ratio(Box::new(numerator), Box::new(denominator)))
            }
        }
    }

    fn metric(&mut self, name: &str, depth: usize) -> Result<Formula, QueryError> {
        let metric = self
            .ground
            .model
            .metric(name)
            .ok_or_else(|| QueryError::metric(self.ground.model, name))?;
        if depth > MAX_DEPTH {
            return Err(QueryError::shape(
                format!("metric `{name}` is defined by itself"),
                "correct the semantic model",
            ));
        }
        if !metric.hidden {
            self.define(metric);
        }
        match &metric.kind {
            MetricKind::Simple {
                dataset,
                expression,
                filter,
                time,
            } => {
                let dataset = self.ground.dataset(dataset)?;
                let branch = self.branch(&dataset.name, filter.clone(), time.clone());
                let aggregate = match expression.replace(' ', "").eq_ignore_ascii_case("COUNT(*)") {
                    true => BaseAggregate::Rows,
                    false => BaseAggregate::Expression {
                        sql: expression.clone(),
                        owner: format!("metric `{}`", metric.name),
                    },
                };
                let counts = expression.trim_start().to_ascii_uppercase().starts_with("COUNT");
                let zero = (counts || metric.additive == Additive::Full) && metric.target_of.is_none();
                Ok(self.base(branch, aggregate, &metric.name, zero))
            }
            MetricKind::Ratio { numerator, denominator } => {
                let numerator = self.metric(numerator, depth + 1)?;
                let denominator = self.metric(denominator, depth + 1)?;
                Ok(Formula::Ratio(Box::new(numerator), Box::new(denominator)))
            }
            MetricKind::Derived { expression: text, .. } => self.derived(metric, text, depth),
        }
    }

    fn derived(&mut self, metric: &Metric, text: &str, depth: usize) -> Result<Formula, QueryError> {
        let broken = |problem: String| QueryError::Expression {
            expression: text.to_owned(),
            owner: format!("metric `{}`", metric.name),
            problem,
        };
        let mut parsed = expression::parse(text).map_err(broken)?;
        expression::for_dialect(&mut parsed, self.ground.dialect);
        let mut parts = Vec::new();
        for name in expression::names(&parsed) {
            let name = name.join(".");
            if self.ground.model.metric(&name).is_none() {
                let metrics = self.ground.model.metrics.iter().map(|m| m.name.as_str());
                let near = nearest(&name, metrics).join("`, `");
                return Err(broken(format!("there is no metric `{name}`; near it are `{near}`")));
            }
            let formula = self.metric(&name, depth + 1)?;
            parts.push((name, formula));
        }
        Ok(Formula::Arithmetic(Box::new(parsed), parts))
    }

    fn define(&mut self, metric: &Metric) {
        let definition = Definition {
            term: metric.name.clone(),
            text: describe(metric),
        };
        if !self.definitions.contains(&definition) {
            self.definitions.push(definition);
        }
    }

    /// The branch for these rows, made if there is none yet.
    pub fn branch(&mut self, dataset: &str, filter: Option<String>, time: Option<FieldRef>) -> usize {
        let chosen = self
            .time_field
            .clone()
            .or(time)
            .or_else(|| self.ground.model.time_of(dataset));
        // Where nothing is cut by time, the date of a row only matters for the whole that it belongs to.
        let belongs_elsewhere = |t: &FieldRef| !t.dataset.eq_ignore_ascii_case(dataset);
        let time = match self.uses_time {
            true => chosen,
            false => chosen.filter(belongs_elsewhere),
        };
        let branch = Branch {
            dataset: dataset.to_owned(),
            filter,
            time,
        };
        if let Some(at) = self.branches.iter().position(|known| *known == branch) {
            return at;
        }
        self.branches.push(branch);
        self.branches.len() - 1
    }

    fn base(&mut self, branch: usize, aggregate: BaseAggregate, name: &str, zero_when_missing: bool) -> Formula {
        if let Some(at) = self
            .bases
            .iter()
            .position(|b| b.branch == branch && b.aggregate == aggregate)
        {
            return Formula::Base(at);
        }
        let taken = |name: &str| self.bases.iter().any(|b| b.name == name);
        let numbered = (2..).map(|n| format!("{name}_{n}"));
        let mut candidates = std::iter::once(name.to_owned()).chain(numbered);
        let name = candidates.find(|n| !taken(n)).unwrap_or_else(|| name.to_owned());
        self.bases.push(Base {
            branch,
            aggregate,
            name,
            zero_when_missing,
        });
        Formula::Base(self.bases.len() - 1)
    }
}

impl Base {
    /// The aggregate over the rows of `scope`.
    pub fn sql(&self, scope: &mut Scope<'_>) -> Result<String, QueryError> {
        match &self.aggregate {
            BaseAggregate::Rows => Ok("COUNT(*)".into()),
            BaseAggregate::Field { function, field } => {
                let (dataset, found) = scope.ground.field(field)?;
                let column = scope.field_sql(dataset, found, &scope.base_alias)?;
                Ok(function.sql(&column))
            }
            BaseAggregate::Expression { sql, owner } => {
                let (base, alias) = (scope.base, scope.base_alias.clone());
                scope.expression_at(sql, base, &alias, owner)
            }
        }
    }

    /// The aggregate as a column of rows that were put together, one of which has it.
    pub fn once_combined(&self, column: &str) -> String {
        match self.zero_when_missing {
            true => format!("COALESCE(MAX({column}), 0)"),
            false => format!("MAX({column})"),
        }
    }
}

impl Formula {
    /// The formula in SQL, where `base` gives the SQL of each aggregate.
    pub fn sql(&self, dialect: Dialect, base: &impl Fn(usize) -> String) -> String {
        match self {
            Formula::Base(at) => base(*at),
            Formula::Ratio(numerator, denominator) => {
                let fraction = match dialect {
                    Dialect::Sqlite | Dialect::Postgres => "1.0 * ",
                    _ => "",
                };
                let numerator = nested(&numerator.sql(dialect, base));
                format!("{fraction}{numerator} / NULLIF({}, 0)", denominator.sql(dialect, base))
            }
            Formula::Arithmetic(expression, parts) => {
                let mut filled = expression.clone();
                let _ = expression::replace_names::<()>(&mut filled, |name| {
                    let name = name.join(".");
                    let part = parts.iter().find(|(known, _)| *known == name);
                    // Already SQL: an identifier without quotes is written out as it is.
                    Ok(part.map(|(_, formula)| Expr::Identifier(Ident::new(nested(&formula.sql(dialect, base))))))
                });
                filled.to_string()
            }
        }
    }
}

/// What a metric means, in a sentence: its description, else its formula, and which rows count when.
fn describe(metric: &Metric) -> String {
    let formula = match &metric.kind {
        MetricKind::Simple {
            expression,
            filter,
            time,
            ..
        } => {
            let when = time.as_ref().map(|t| format!(", by {t}")).unwrap_or_default();
            let which = filter.as_ref().map(|f| format!(", where {f}")).unwrap_or_default();
            format!("{expression}{when}{which}")
        }
        MetricKind::Ratio { numerator, denominator } => format!("{numerator} / {denominator}"),
        MetricKind::Derived { expression, .. } => expression.clone(),
    };
    match &metric.words.description {
        Some(text) => format!("{} ({formula})", text.trim().trim_end_matches('.')),
        None => formula,
    }
}

/// The name of a measure's column.
pub(super) fn column_name(measure: &Measure) -> String {
    match measure {
        Measure::Metric(name) => name.clone(),
        Measure::Count(dataset) => format!("{}_count", names::singular(&names::snake(dataset))),
        Measure::Aggregate { function, field } => {
            let function = match function {
                Aggregate::Sum => "total",
                Aggregate::Avg => "average",
                Aggregate::Min => "min",
                Aggregate::Max => "max",
                Aggregate::Count => "count",
                Aggregate::CountDistinct => "distinct",
            };
            format!("{function}_{}", names::snake(&field.field))
        }
        Measure::Ratio { numerator, denominator } => {
            format!(
                "{}_per_{}",
                column_name(numerator),
                names::singular(column_name(denominator).trim_end_matches("_count"))
            )
        }
    }
}

/// What a measure's column holds.
pub(super) fn output_column(ground: Ground<'_>, measure: &Measure) -> Result<OutputColumn, QueryError> {
    let metric = match measure {
        Measure::Metric(name) => Some(
            ground
                .model
                .metric(name)
                .ok_or_else(|| QueryError::metric(ground.model, name))?,
        ),
        Measure::Count(_) | Measure::Aggregate { .. } | Measure::Ratio { .. } => None,
    };
    Ok(OutputColumn {
        name: metric.map_or_else(|| column_name(measure), |m| m.name.clone()),
        kind: ColumnKind::Measure,
        unit: unit(ground, measure)?,
        field: None,
        metric: metric.map(|m| m.name.clone()),
    })
}

fn unit(ground: Ground<'_>, measure: &Measure) -> Result<Option<Unit>, QueryError> {
    Ok(match measure {
        Measure::Metric(name) => ground.model.metric(name).map(|m| m.unit),
        Measure::Count(_) => Some(Unit::Count),
        Measure::Aggregate { function, field } => match function {
            Aggregate::Count | Aggregate::CountDistinct => Some(Unit::Count),
            Aggregate::Sum | Aggregate::Avg | Aggregate::Min | Aggregate::Max => ground.field(field)?.1.unit,
        },
        Measure::Ratio { numerator, denominator } => match (unit(ground, numerator)?, unit(ground, denominator)?) {
            (Some(Unit::Money), Some(Unit::Money)) => Some(Unit::Fraction),
            (Some(Unit::Money), _) => Some(Unit::Money),
            _ => Some(Unit::Quantity),
        },
    })
}
