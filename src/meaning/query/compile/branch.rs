//! The rows of one branch, filtered, cut by time and grouped: everything of a SELECT but its measures.

use crate::meaning::query::compile::QueryError;
use crate::meaning::query::compile::dimension::{Dimensions, Reach};
use crate::meaning::query::compile::filter::as_conjunct;
use crate::meaning::query::compile::measure::Branch;
use crate::meaning::query::compile::scope::{Ground, Need, Scope};
use crate::meaning::query::compile::select::{Output, Select, text_literal};
use crate::meaning::query::{NamedWindow, Summary};
use crate::time::Window;

/// How a query is cut by time.
#[derive(Debug, Clone)]
pub(super) enum Cut {
    All,
    Within(Window),
    /// Windows that do not overlap, told apart row by row.
    Cases(Vec<NamedWindow>),
    /// One window, whose rows get this label.
    Labelled(NamedWindow),
}

/// A branch as far as it goes without measures.
pub(super) struct Grouped<'a> {
    pub scope: Scope<'a>,
    pub select: Select,
    /// SQL of the period, then of each dimension's columns.
    pub outputs: Vec<String>,
    /// What tells groups apart without being shown.
    pub hidden: Vec<String>,
    pub notes: Vec<String>,
    /// Joins the values that rows have several of.
    link: Option<String>,
}

impl Grouped<'_> {
    /// Writes the joins down, once every part of the query has said what it needs.
    pub fn close(&mut self) -> Result<(), QueryError> {
        self.select.joins = self.scope.joins_sql()?;
        self.select.joins.extend(self.link.take());
        Ok(())
    }
}

/// The rows of `branch` as `summary` filters and groups them. `taken` are the aliases of the queries around it.
pub(super) fn grouped<'a>(
    ground: Ground<'a>,
    summary: &Summary,
    dimensions: &Dimensions,
    branch: &Branch,
    cut: &Cut,
    taken: &[String],
) -> Result<Grouped<'a>, QueryError> {
    let base = ground.dataset(&branch.dataset)?;
    let mut scope = Scope::new(ground, base, &summary.via, taken);
    let mut notes = Vec::new();
    let mut select = Select::default();
    let mut outputs = Vec::new();
    let mut groups = Vec::new();
    let mut hidden = Vec::new();

    let mut conditions = scope.base_conditions()?;
    if let Some(time) = &branch.time {
        scope.belongs_to(&time.dataset)?;
    }
    if let Some(filter) = &branch.filter {
        let alias = scope.base_alias.clone();
        let owner = format!("the filter of a metric on `{}`", base.name);
        conditions.push(as_conjunct(&scope.expression_at(filter, base, &alias, &owner)?));
    }
    cut_by_time(&mut scope, branch, cut, &mut outputs, &mut groups, &mut conditions)?;

    let need = if summary.include_unassigned {
        Need::Optional
    } else {
        Need::Required
    };
    let linked = linked(&scope, summary)?;
    let mut link = Link::new(ground, summary, branch, need);
    for ((dimension, reach), columns) in summary.dimensions.iter().zip(linked).zip(&dimensions.columns) {
        let sql = match reach {
            Reach::Repeated if !base.primary_key.is_empty() => link.add(dimension, columns, &mut scope)?,
            Reach::One | Reach::Several | Reach::Repeated => {
                scope.dimension_sql(dimension, branch.time.as_ref(), need)?
            }
        };
        if reach != Reach::One {
            let names: Vec<&str> = columns.iter().map(|c| c.name.as_str()).collect();
            notes.push(format!(
                "a row of {} may belong to several values of {}; it counts in each, so the groups add up to more than the total",
                base.name,
                names.join(", ")
            ));
        }
        outputs.extend(sql.outputs);
        hidden.extend(sql.hidden);
        groups.extend(sql.groups);
    }
    if let Some(filter) = &summary.filter {
        conditions.extend(scope.conditions(filter)?);
    }
    for (dataset, filter) in scope.default_filters() {
        notes.push(format!("only rows of {dataset} where {filter}"));
    }
    select.from = scope.read_from();
    let link = link.finish(&mut select, &scope)?;
    select.conditions = conditions;
    select.group_by = groups;
    Ok(Grouped {
        scope,
        select,
        outputs,
        hidden,
        notes,
        link,
    })
}

fn cut_by_time(
    scope: &mut Scope<'_>,
    branch: &Branch,
    cut: &Cut,
    outputs: &mut Vec<String>,
    groups: &mut Vec<String>,
    conditions: &mut Vec<String>,
) -> Result<(), QueryError> {
    if matches!(cut, Cut::All) {
        return Ok(());
    }
    let dialect = scope.ground.dialect;
    let time = branch.time.as_ref().ok_or_else(|| QueryError::NoTime {
        dataset: branch.dataset.clone(),
    })?;
    let column = scope.time_at(time)?;
    match cut {
        Cut::All => {}
        Cut::Within(window) => conditions.extend(column.within(window, dialect)?),
        Cut::Labelled(named) => {
            conditions.extend(column.within(&named.window, dialect)?);
            // A constant: nothing to group by.
            outputs.push(text_literal(&named.label));
        }
        Cut::Cases(windows) => {
            let mut cases = String::from("CASE");
            let mut any = Vec::new();
            for named in windows {
                let within = column.within(&named.window, dialect)?.join(" AND ");
                cases.push_str(&format!(" WHEN {within} THEN {}", text_literal(&named.label)));
                any.push(format!("({within})"));
            }
            cases.push_str(" END");
            conditions.push(format!("({})", any.join(" OR ")));
            outputs.push(cases.clone());
            groups.push(cases);
        }
    }
    Ok(())
}

/// How each dimension lies to the rows of the branch. Two dimensions of which rows have several values each must be paired
/// up before anything is counted.
fn linked(scope: &Scope<'_>, summary: &Summary) -> Result<Vec<Reach>, QueryError> {
    let mut reaches = Vec::new();
    for dimension in &summary.dimensions {
        reaches.push(match scope.dimension_path(dimension)? {
            Some((_, path)) => scope.reach(&path),
            None => Reach::One,
        });
    }
    if reaches.iter().filter(|r| **r != Reach::One).count() > 1 {
        for reach in reaches.iter_mut().filter(|r| **r == Reach::Several) {
            *reach = Reach::Repeated;
        }
    }
    Ok(reaches)
}

/// The distinct pairs of a row's key and the values that it has many of, as a query of its own.
struct Link<'a, 's> {
    ground: Ground<'a>,
    summary: &'s Summary,
    branch: &'s Branch,
    need: Need,
    inner: Option<(Scope<'a>, Select)>,
    name: String,
}

impl<'a, 's> Link<'a, 's> {
    fn new(ground: Ground<'a>, summary: &'s Summary, branch: &'s Branch, need: Need) -> Self {
        Self {
            ground,
            summary,
            branch,
            need,
            inner: None,
            name: format!("{}_groups", branch.dataset),
        }
    }

    fn add(
        &mut self,
        dimension: &crate::meaning::query::Dimension,
        columns: &[super::OutputColumn],
        scope: &mut Scope<'a>,
    ) -> Result<super::dimension::DimensionSql, QueryError> {
        if self.inner.is_none() {
            let inner = Scope::new(
                self.ground,
                self.ground.dataset(&self.branch.dataset)?,
                &self.summary.via,
                &[],
            );
            let mut select = Select {
                distinct: true,
                ..Select::default()
            };
            for (at, key) in inner.base.primary_key.iter().enumerate() {
                select.outputs.push(Output {
                    sql: inner.column_sql(&inner.base_alias, key),
                    alias: format!("key_{}", at + 1),
                });
            }
            self.inner = Some((inner, select));
        }
        let mut sql = super::dimension::DimensionSql::default();
        if let Some((inner, select)) = &mut self.inner {
            let parts = inner.dimension_sql(dimension, self.branch.time.as_ref(), Need::Required)?;
            for (part, column) in parts.outputs.into_iter().zip(columns) {
                let alias = self.ground.quote(&column.name);
                let outer = format!("{}.{alias}", self.ground.quote(&self.name));
                select.outputs.push(Output { sql: part, alias });
                sql.outputs.push(outer.clone());
                sql.groups.push(outer);
            }
            for part in parts.hidden {
                let alias = format!("group_{}", select.outputs.len() + 1);
                let outer = format!("{}.{alias}", self.ground.quote(&self.name));
                select.outputs.push(Output { sql: part, alias });
                sql.groups.push(outer.clone());
                sql.hidden.push(outer);
            }
            scope.joins_used.append(&mut inner.joins_used);
        }
        Ok(sql)
    }

    /// Puts the pairs in front of `select`; the clause that joins them to its rows.
    fn finish(self, select: &mut Select, scope: &Scope<'a>) -> Result<Option<String>, QueryError> {
        let Some((mut inner, mut pairs)) = self.inner else {
            return Ok(None);
        };
        pairs.from = inner.read_from();
        pairs.joins = inner.joins_sql()?;
        let name = self.ground.quote(&self.name);
        let keys = inner.base.primary_key.iter().enumerate();
        let on: Vec<String> = keys
            .map(|(at, key)| format!("{} = {name}.key_{}", scope.column_sql(&scope.base_alias, key), at + 1))
            .collect();
        let word = if self.need == Need::Optional {
            "LEFT JOIN"
        } else {
            "JOIN"
        };
        select.with.push((name.clone(), pairs.to_sql()));
        Ok(Some(format!("{word} {name} ON {}", on.join(" AND "))))
    }
}
