//! Conditions on rows: from the filter tree to SQL that never multiplies the rows it filters.

use jiff::civil::Date;

use crate::meaning::query::compile::scope::{Need, Scope};
use crate::meaning::query::compile::select::{Output, Select, indent, nested, text_literal};
use crate::meaning::query::compile::{QueryError, compile_inside};
use crate::meaning::query::{Comparison, Filter, Literal, Query};
use crate::meaning::semantic::{Aggregate, Dataset, Field, FieldRef, Path};
use crate::time::Window;
use crate::warehouse::Dialect;
use crate::warehouse::catalog::DataType;

/// Where in the tree a condition stands.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// Under OR or NOT, where a missing row must not drop the whole row.
    loose: bool,
    negated: bool,
}

impl<'a> Scope<'a> {
    /// The conditions that must all hold for `filter` to hold.
    pub fn conditions(&mut self, filter: &Filter) -> Result<Vec<String>, QueryError> {
        let top = Place {
            loose: false,
            negated: false,
        };
        match filter {
            Filter::And(parts) => self.all_of(parts, top),
            other => Ok(vec![self.condition(other, top)?]),
        }
    }

    /// Conditions on rows of the same far dataset are put into one EXISTS: the same row must meet them all.
    fn all_of(&mut self, parts: &[Filter], place: Place) -> Result<Vec<String>, QueryError> {
        let mut far: Vec<(String, Vec<Filter>)> = Vec::new();
        let mut near: Vec<&Filter> = Vec::new();
        for part in parts {
            match self.far_dataset(part)? {
                Some(dataset) => match far.iter_mut().find(|(name, _)| *name == dataset) {
                    Some((_, group)) => group.push(part.clone()),
                    None => far.push((dataset, vec![part.clone()])),
                },
                None => near.push(part),
            }
        }
        let mut conditions = Vec::new();
        for part in near {
            match part {
                Filter::And(parts) if !place.loose => conditions.extend(self.all_of(parts, place)?),
                part => conditions.push(self.condition(part, place)?),
            }
        }
        for (dataset, mut group) in far {
            let filter = match group.len() {
                1 => group.remove(0),
                _ => Filter::And(group),
            };
            conditions.push(self.exists(&dataset, Some(&filter))?);
        }
        Ok(conditions)
    }

    /// The dataset of a single condition, where a row of the base has many rows of it.
    fn far_dataset(&self, filter: &Filter) -> Result<Option<String>, QueryError> {
        let field = match filter {
            Filter::Compare { field, .. }
            | Filter::In { field, .. }
            | Filter::Between { field, .. }
            | Filter::Like { field, .. }
            | Filter::During { field, .. }
            | Filter::InQuery { field, .. }
            | Filter::CompareAggregate { field, .. } => field,
            Filter::And(_)
            | Filter::Or(_)
            | Filter::Not(_)
            | Filter::CompareFields { .. }
            | Filter::IsNull { .. }
            | Filter::Exists { .. } => {
                return Ok(None);
            }
        };
        let (dataset, _) = self.ground.field(field)?;
        let path = self.ground.path(self.base, dataset, None, &self.via)?;
        Ok((!path.is_many_to_one()).then(|| dataset.name.clone()))
    }

    fn condition(&mut self, filter: &Filter, place: Place) -> Result<String, QueryError> {
        if let Some(dataset) = self.far_dataset(filter)? {
            return self.exists(&dataset, Some(filter));
        }
        let loose = Place { loose: true, ..place };
        match filter {
            Filter::And(parts) => Ok(joined(self.all_of(parts, place)?, " AND ")),
            Filter::Or(parts) => {
                let parts: Result<Vec<String>, QueryError> = parts.iter().map(|p| self.condition(p, loose)).collect();
                Ok(joined(parts?, " OR "))
            }
            Filter::Not(part) => {
                let turned = Place {
                    loose: true,
                    negated: !place.negated,
                };
                Ok(format!("NOT {}", bracketed(&self.condition(part, turned)?)))
            }
            Filter::Compare { field, operator, value } => self.compare(field, *operator, value, place),
            Filter::CompareFields { left, operator, right } => {
                let (left, _) = self.filter_field(left, place)?;
                let (right, _) = self.filter_field(right, place)?;
                Ok(format!("{left} {} {right}", operator.sql()))
            }
            Filter::In { field, values } => self.one_of(field, values, place),
            Filter::Between { field, low, high } => {
                let low = self.compare(field, Comparison::AtLeast, low, place)?;
                let high = self.compare(field, Comparison::AtMost, high, place)?;
                Ok(joined(vec![low, high], " AND "))
            }
            Filter::Like { field, pattern } => {
                let (sql, _) = self.filter_field(field, place)?;
                Ok(like(&sql, pattern, self.ground.dialect))
            }
            Filter::IsNull { field } => {
                let anything = Place { loose: true, ..place };
                self.filter_field(field, anything)
                    .map(|(sql, _)| format!("{sql} IS NULL"))
            }
            Filter::During { field, window } => self.during(field, window, place),
            Filter::InQuery { field, query } => self.in_query(field, query, place),
            Filter::CompareAggregate {
                field,
                operator,
                function,
                of,
                filter,
            } => {
                let (sql, _) = self.filter_field(field, place)?;
                let value = self.aggregate_query(*function, of.as_ref().unwrap_or(field), filter.as_deref())?;
                Ok(format!("{sql} {} {value}", operator.sql()))
            }
            Filter::Exists { dataset, filter } => self.exists(dataset, filter.as_deref()),
        }
    }

    /// The SQL of a field that rows of the base have or point at.
    fn filter_field(&mut self, field: &FieldRef, place: Place) -> Result<(String, &'a Field), QueryError> {
        let (dataset, found) = self.ground.field(field)?;
        let alias = self.filter_alias(dataset, place)?;
        Ok((self.field_sql(dataset, found, &alias)?, found))
    }

    fn filter_alias(&mut self, dataset: &'a Dataset, place: Place) -> Result<String, QueryError> {
        let path = self.ground.path(self.base, dataset, None, &self.via.clone())?;
        if !path.is_many_to_one() {
            return Err(QueryError::shape(
                format!("a row of `{}` has many rows of `{}`", self.base.name, dataset.name),
                format!("use `exists` with dataset `{}`", dataset.name),
            ));
        }
        self.join(&path, if place.loose { Need::Optional } else { Need::Required })
    }

    fn compare(
        &mut self,
        field: &FieldRef,
        operator: Comparison,
        value: &Literal,
        place: Place,
    ) -> Result<String, QueryError> {
        let (dataset, found) = self.ground.field(field)?;
        if found.is_time
            && let Literal::Text(text) = value
            && let Ok(date) = text.parse::<Date>()
            && text.len() == 10
        {
            return self.compare_date(dataset, found, operator, date, place);
        }
        let (sql, found) = self.filter_field(field, place)?;
        Ok(format!("{sql} {} {}", operator.sql(), self.literal(value, found)))
    }

    /// A day compared with a column that may hold times of day: `= day` is the whole day, `<= day` includes it.
    fn compare_date(
        &mut self,
        dataset: &'a Dataset,
        field: &Field,
        operator: Comparison,
        date: Date,
        place: Place,
    ) -> Result<String, QueryError> {
        let next = date
            .tomorrow()
            .map_err(|error| QueryError::shape(format!("no day after {date}: {error}"), "use an earlier date"))?;
        let alias = self.filter_alias(dataset, place)?;
        let column = self.time_column(dataset, field, &alias)?;
        let dialect = self.ground.dialect;
        let side = |mark: &str, at: Date| -> Result<String, QueryError> {
            Ok(format!(
                "{} {mark} {}",
                column.comparable(dialect)?,
                column.bound(at, dialect)?
            ))
        };
        let day = Window { start: date, end: next };
        match operator {
            Comparison::Equal => Ok(joined(column.within(&day, dialect)?, " AND ")),
            Comparison::NotEqual => Ok(joined(vec![side("<", date)?, side(">=", next)?], " OR ")),
            Comparison::Less => side("<", date),
            Comparison::AtMost => side("<", next),
            Comparison::Greater => side(">=", next),
            Comparison::AtLeast => side(">=", date),
        }
    }

    fn during(&mut self, field: &FieldRef, window: &Window, place: Place) -> Result<String, QueryError> {
        let (dataset, found) = self.ground.field(field)?;
        let alias = self.filter_alias(dataset, place)?;
        let column = self.time_column(dataset, found, &alias)?;
        Ok(joined(column.within(window, self.ground.dialect)?, " AND "))
    }

    fn one_of(&mut self, field: &FieldRef, values: &[Literal], place: Place) -> Result<String, QueryError> {
        if values.is_empty() {
            return Err(QueryError::shape(
                format!("the list of values for `{field}` is empty"),
                "give at least one value",
            ));
        }
        let (sql, found) = self.filter_field(field, place)?;
        let values: Vec<String> = values.iter().map(|value| self.literal(value, found)).collect();
        match values.as_slice() {
            [one] => Ok(format!("{sql} = {one}")),
            many => Ok(format!("{sql} IN ({})", many.join(", "))),
        }
    }

    fn in_query(&mut self, field: &FieldRef, query: &Query, place: Place) -> Result<String, QueryError> {
        let (sql, _) = self.filter_field(field, place)?;
        let inner = compile_inside(query, self.ground, self.taken())?;
        let Some(first) = inner.columns.first() else {
            return Err(QueryError::shape(
                "the inner query has no column",
                "give it a field or a dimension",
            ));
        };
        let column = self.ground.quote(&first.name);
        // One NULL in the list would make NOT IN true of nothing.
        let keep = if place.negated {
            format!("\n  WHERE {column} IS NOT NULL")
        } else {
            String::new()
        };
        let inner_sql = match inner.columns.len() == 1 && !place.negated {
            true => indent(&inner.sql),
            false => format!(
                "  SELECT {column}\n  FROM (\n{}\n  ) AS listed{keep}",
                indent(&indent(&inner.sql))
            ),
        };
        Ok(format!("{sql} IN (\n{inner_sql}\n)"))
    }

    fn aggregate_query(
        &mut self,
        function: Aggregate,
        of: &FieldRef,
        filter: Option<&Filter>,
    ) -> Result<String, QueryError> {
        let (dataset, field) = self.ground.field(of)?;
        let mut inner = self.inner(dataset);
        let column = inner.field_sql(dataset, field, &inner.base_alias.clone())?;
        let mut conditions = inner.base_conditions()?;
        if let Some(filter) = filter {
            conditions.extend(inner.conditions(filter)?);
        }
        let select = Select {
            outputs: vec![unnamed(function.sql(&column))],
            from: inner.read_from(),
            joins: inner.joins_sql()?,
            conditions,
            ..Select::default()
        };
        Ok(format!("(\n{}\n)", indent(&select.to_sql())))
    }

    /// Rows of `dataset` that belong to this row exist.
    fn exists(&mut self, dataset: &str, filter: Option<&Filter>) -> Result<String, QueryError> {
        let target = self.ground.dataset(dataset)?;
        let path = self.ground.path(self.base, target, None, &self.via.clone())?;
        let turn = path.steps.iter().position(|step| !step.forward);
        let Some((before, rest)) = turn.map(|at| path.steps.split_at(at)) else {
            return Err(QueryError::shape(
                format!("a row of `{}` has at most one row of `{}`", self.base.name, target.name),
                format!("filter on the fields of `{}` directly", target.name),
            ));
        };
        let Some(step) = rest.first() else {
            return Err(QueryError::shape(
                "the path has no step",
                "name a relationship in `via`",
            ));
        };
        let here = self.join(
            &Path {
                steps: before.to_vec(),
                cost: 0,
            },
            Need::Required,
        )?;
        let child = self.ground.dataset(&step.to)?;
        let mut inner = self.inner(child);
        let pair = |(outer, own): (&String, &String)| {
            format!(
                "{} = {}",
                inner.column_sql(&inner.base_alias, own),
                self.column_sql(&here, outer)
            )
        };
        let mut conditions: Vec<String> = step.from_columns.iter().zip(&step.to_columns).map(pair).collect();
        conditions.extend(inner.base_conditions()?);
        match filter {
            Some(filter) => conditions.extend(inner.conditions(filter)?),
            None if child.name != target.name => {
                let onward = Path {
                    steps: rest.get(1..).unwrap_or_default().to_vec(),
                    cost: 0,
                };
                inner.join(&onward, Need::Required)?;
            }
            None => {}
        }
        let select = Select {
            outputs: vec![unnamed("1".into())],
            from: inner.read_from(),
            joins: inner.joins_sql()?,
            conditions,
            ..Select::default()
        };
        self.joins_used.append(&mut inner.joins_used);
        Ok(format!("EXISTS (\n{}\n)", indent(&select.to_sql())))
    }

    /// The base's own default filter.
    pub fn base_conditions(&mut self) -> Result<Vec<String>, QueryError> {
        let Some(filter) = self.base.default_filter.clone() else {
            return Ok(Vec::new());
        };
        let (base, alias) = (self.base, self.base_alias.clone());
        let condition = self.expression_at(&filter, base, &alias, &format!("the default filter of `{}`", base.name))?;
        Ok(vec![bracketed_or(&condition)])
    }

    /// Says that rows of the base are parts of rows of `dataset` (lines of orders): its default filter then holds for them
    /// too, whether anything else joins it or not, since the lines of a cancelled order do not count.
    pub fn belongs_to(&mut self, dataset: &str) -> Result<(), QueryError> {
        let whole = self.ground.dataset(dataset)?;
        if whole.name == self.base.name || whole.default_filter.is_none() {
            return Ok(());
        }
        self.whole = Some(whole.name.clone());
        let path = self.ground.path(self.base, whole, None, &self.via.clone())?;
        self.join(&path, Need::Required).map(|_| ())
    }

    fn literal(&self, value: &Literal, field: &Field) -> String {
        literal(value, &field.data_type, self.ground.dialect)
    }
}

/// A value in SQL, as text where the column holds text and as a number where it holds numbers.
pub(super) fn literal(value: &Literal, data_type: &DataType, dialect: Dialect) -> String {
    match value {
        Literal::Boolean(yes) if matches!(dialect, Dialect::Sqlite | Dialect::Mysql) => u8::from(*yes).to_string(),
        Literal::Boolean(yes) => yes.to_string().to_uppercase(),
        Literal::Integer(number) if *data_type == DataType::Text => text_literal(&number.to_string()),
        Literal::Integer(number) => number.to_string(),
        Literal::Number(number) => number.to_string(),
        Literal::Text(text) if data_type.is_numeric() && text.trim().parse::<f64>().is_ok() => text.trim().to_owned(),
        Literal::Text(text) => text_literal(text),
    }
}

fn unnamed(sql: String) -> Output {
    Output {
        alias: sql.clone(),
        sql,
    }
}

fn like(sql: &str, pattern: &str, dialect: Dialect) -> String {
    let pattern = text_literal(pattern);
    match dialect {
        Dialect::Sqlite | Dialect::Mysql => format!("{sql} LIKE {pattern}"),
        Dialect::Postgres | Dialect::Duckdb | Dialect::Snowflake | Dialect::Databricks | Dialect::Clickhouse => {
            format!("{sql} ILIKE {pattern}")
        }
        Dialect::Bigquery => format!("LOWER({sql}) LIKE LOWER({pattern})"),
    }
}

fn joined(parts: Vec<String>, word: &str) -> String {
    match parts.as_slice() {
        [] => "1 = 1".into(),
        [one] => one.clone(),
        many => format!("({})", many.join(word)),
    }
}

fn bracketed(condition: &str) -> String {
    match nested(condition) == condition && condition.starts_with('(') {
        true => condition.to_owned(),
        false => format!("({condition})"),
    }
}

/// In brackets where an OR could run loose among conditions joined by AND.
fn bracketed_or(condition: &str) -> String {
    match condition.to_uppercase().contains(" OR ") {
        true => nested(condition),
        false => condition.to_owned(),
    }
}

/// In brackets where an OR could run loose.
pub(super) fn as_conjunct(condition: &str) -> String {
    bracketed_or(condition)
}

impl Comparison {
    pub(super) fn sql(self) -> &'static str {
        match self {
            Comparison::Equal => "=",
            Comparison::NotEqual => "<>",
            Comparison::Less => "<",
            Comparison::AtMost => "<=",
            Comparison::Greater => ">",
            Comparison::AtLeast => ">=",
        }
    }
}

impl Aggregate {
    pub(super) fn sql(self, of: &str) -> String {
        match self {
            Aggregate::Sum => format!("SUM({of})"),
            Aggregate::Avg => format!("AVG({of})"),
            Aggregate::Min => format!("MIN({of})"),
            Aggregate::Max => format!("MAX({of})"),
            Aggregate::Count => format!("COUNT({of})"),
            Aggregate::CountDistinct => format!("COUNT(DISTINCT {of})"),
        }
    }
}
