//! Single rows of a dataset, with values of the rows that they point at.

use crate::meaning::query::compile::dimension::free;
use crate::meaning::query::compile::measure::{Plan, column_name, output_column};
use crate::meaning::query::compile::scope::{Ground, Need, Scope};
use crate::meaning::query::compile::select::{Output, Select, indent};
use crate::meaning::query::compile::{ColumnKind, Compiled, OutputColumn, Place, QueryError, order};
use crate::meaning::query::{Measure, OrderKey, Rows};
use crate::meaning::semantic::{Dataset, Definition, FieldRef, Path, Unit, names};
use crate::warehouse::catalog::Role;

/// Measures of a row that are shown when nobody says which; more make a table too wide to read.
const SHOWN_MEASURES: usize = 4;

pub(super) fn compile_rows(rows: &Rows, ground: Ground<'_>, place: &Place<'_>) -> Result<Compiled, QueryError> {
    let base = ground.dataset(&rows.dataset)?;
    let mut scope = Scope::new(ground, base, &rows.via, place.taken);
    let mut conditions = scope.base_conditions()?;
    let time = rows.time_field.clone().or_else(|| ground.model.time_of(&base.name));
    if let Some(time) = &time {
        scope.belongs_to(&time.dataset)?;
    }
    if let Some(window) = &rows.window {
        let time = time.as_ref().ok_or_else(|| QueryError::NoTime {
            dataset: base.name.clone(),
        })?;
        conditions.extend(scope.time_at(time)?.within(window, ground.dialect)?);
    }
    let mut listed = Listed::default();
    for field in shown_fields(base, rows, time.as_ref()) {
        listed.field(&mut scope, &field)?;
    }
    for measure in &rows.measures {
        listed.measure(&mut scope, measure)?;
    }
    if let Some(filter) = &rows.filter {
        conditions.extend(scope.conditions(filter)?);
    }
    let keys = keys(rows, &mut scope, &mut listed, time.as_ref(), place)?;
    let notes = scope
        .default_filters()
        .into_iter()
        .map(|(d, f)| format!("only rows of {d} where {f}"))
        .collect();
    let mut select = Select {
        distinct: rows.distinct,
        outputs: listed.outputs,
        from: scope.read_from(),
        joins: scope.joins_sql()?,
        conditions,
        ..Select::default()
    };
    let ties = rows.limit.filter(|l| l.with_ties);
    let sql = match ties {
        Some(limit) => {
            let visible: Vec<String> = listed.columns.iter().map(|c| ground.quote(&c.name)).collect();
            let ranking = order::Ranking {
                count: limit.count,
                ties: true,
                asked: rows.order_by.len().max(1),
            };
            order::ranked(select, &visible, &[], &keys, ranking, ground.dialect)
        }
        None => {
            select.order_by = keys.iter().map(|k| k.sql(ground.dialect)).collect();
            select.limit = rows.limit.map(|l| l.count);
            select.to_sql()
        }
    };
    Ok(Compiled {
        sql,
        columns: listed.columns,
        definitions: listed.definitions,
        joins: scope.joins_used,
        notes,
    })
}

/// The fields asked for, or those that tell a reader what a row is: key, label, time and measures.
fn shown_fields(base: &Dataset, rows: &Rows, time: Option<&FieldRef>) -> Vec<FieldRef> {
    if !rows.fields.is_empty() || !rows.measures.is_empty() && rows.distinct {
        return rows.fields.clone();
    }
    let own = |name: &str| FieldRef::new(&base.name, name);
    let keys = base
        .primary_key
        .iter()
        .filter_map(|c| base.field_of_column(c))
        .map(|f| own(&f.name));
    let label = base.label.iter().map(|name| own(name));
    let measures = base
        .fields
        .iter()
        .filter(|f| matches!(f.role, Role::Money | Role::Measure | Role::Percentage))
        .take(SHOWN_MEASURES)
        .map(|f| own(&f.name));
    let mut fields: Vec<FieldRef> = Vec::new();
    for field in keys.chain(label).chain(time.cloned()).chain(measures) {
        if !fields.contains(&field) {
            fields.push(field);
        }
    }
    match fields.is_empty() {
        true => base.fields.iter().map(|f| own(&f.name)).collect(),
        false => fields,
    }
}

/// The columns of a list so far.
#[derive(Default)]
struct Listed {
    outputs: Vec<Output>,
    columns: Vec<OutputColumn>,
    definitions: Vec<Definition>,
}

impl Listed {
    fn names(&self) -> Vec<String> {
        self.columns.iter().map(|c| c.name.clone()).collect()
    }

    fn push(&mut self, ground: Ground<'_>, sql: String, column: OutputColumn) {
        self.outputs.push(Output {
            sql,
            alias: ground.quote(&column.name),
        });
        self.columns.push(column);
    }

    fn field(&mut self, scope: &mut Scope<'_>, field: &FieldRef) -> Result<(), QueryError> {
        let (dataset, found) = scope.ground.field(field)?;
        let sql = field_of_row(scope, field)?;
        let longer = format!("{}_{}", names::singular(&dataset.name), found.name);
        let is_key = found.column.as_ref().is_some_and(|c| dataset.primary_key.contains(c));
        let kind = match found.role {
            _ if is_key => ColumnKind::Key,
            Role::Money | Role::Measure | Role::Percentage => ColumnKind::Measure,
            Role::Time => ColumnKind::Period,
            Role::Key | Role::Category | Role::Flag | Role::FreeText | Role::Unknown => ColumnKind::Dimension,
        };
        let column = OutputColumn {
            name: free(&self.names(), &found.name, &longer),
            kind,
            unit: found.unit,
            field: Some(FieldRef::new(&dataset.name, &found.name)),
            metric: None,
        };
        self.push(scope.ground, sql, column);
        Ok(())
    }

    fn measure(&mut self, scope: &mut Scope<'_>, measure: &Measure) -> Result<(), QueryError> {
        let sql = self.measure_of_row(scope, measure)?;
        let mut column = output_column(scope.ground, measure)?;
        column.name = free(&self.names(), &column.name, &format!("{}_value", column.name));
        self.push(scope.ground, sql, column);
        Ok(())
    }

    /// A measure over the rows that point at this one, as a query of its own: nothing is multiplied, and a row without any
    /// stays.
    fn measure_of_row(&mut self, scope: &mut Scope<'_>, measure: &Measure) -> Result<String, QueryError> {
        let ground = scope.ground;
        let mut plan = Plan::new(ground, false, None);
        let formula = plan.add(measure)?;
        self.definitions.append(&mut plan.definitions);
        let mut bases = Vec::new();
        for base in &plan.bases {
            let Some(branch) = plan.branches.get(base.branch) else {
                continue;
            };
            let dataset = ground.dataset(&branch.dataset)?;
            let path = ground.path(dataset, scope.base, None, &scope.via)?;
            let Some((last, before)) = path.steps.split_last().filter(|_| path.is_many_to_one()) else {
                return Err(QueryError::shape(
                    format!(
                        "`{}` is not counted for each row of `{}`",
                        column_name(measure),
                        scope.base.name
                    ),
                    format!("use a summary with `{}` as its dimension", scope.base.name),
                ));
            };
            let mut inner = scope.inner(dataset);
            let mut conditions = inner.base_conditions()?;
            if let Some(filter) = &branch.filter {
                let alias = inner.base_alias.clone();
                let condition = inner.expression_at(
                    filter,
                    dataset,
                    &alias,
                    &format!("the filter of a metric on `{}`", dataset.name),
                )?;
                conditions.push(super::filter::as_conjunct(&condition));
            }
            let way = Path {
                steps: before.to_vec(),
                cost: 0,
            };
            let near = inner.join(&way, Need::Required)?;
            let pairs = last.from_columns.iter().zip(&last.to_columns);
            conditions.extend(pairs.map(|(own, outer)| {
                format!(
                    "{} = {}",
                    inner.column_sql(&near, own),
                    scope.column_sql(&scope.base_alias, outer)
                )
            }));
            let sql = base.sql(&mut inner)?;
            let select = Select {
                outputs: vec![Output {
                    alias: sql.clone(),
                    sql,
                }],
                from: inner.read_from(),
                joins: inner.joins_sql()?,
                conditions,
                ..Select::default()
            };
            bases.push(format!("(\n{}\n)", indent(&select.to_sql())));
        }
        Ok(formula.sql(ground.dialect, &|at| {
            bases.get(at).cloned().unwrap_or_else(|| "NULL".into())
        }))
    }
}

/// The SQL of a field that the row has or points at; a row that points at nothing stays, with NULL.
fn field_of_row(scope: &mut Scope<'_>, field: &FieldRef) -> Result<String, QueryError> {
    let (dataset, found) = scope.ground.field(field)?;
    let path = scope.ground.path(scope.base, dataset, None, &scope.via.clone())?;
    if !path.is_many_to_one() {
        // A list of pairs: each row once for each of its values.
        let alias = scope.join(&path, Need::Required)?;
        return scope.field_sql(dataset, found, &alias);
    }
    let need = if scope.may_be_missing(&path) {
        Need::Optional
    } else {
        Need::Required
    };
    let alias = scope.join(&path, need)?;
    scope.field_sql(dataset, found, &alias)
}

fn keys(
    rows: &Rows,
    scope: &mut Scope<'_>,
    listed: &mut Listed,
    time: Option<&FieldRef>,
    place: &Place<'_>,
) -> Result<Vec<order::Key>, QueryError> {
    let ground = scope.ground;
    let ranks = rows.limit.is_some_and(|l| l.with_ties);
    let mut keys: Vec<order::Key> = Vec::new();
    for order in &rows.order_by {
        let (sql, shown_as) = match &order.key {
            OrderKey::Field(field) => {
                let (dataset, found) = ground.field(field)?;
                let reference = FieldRef::new(&dataset.name, &found.name);
                let shown = listed
                    .columns
                    .iter()
                    .find(|c| c.field.as_ref() == Some(&reference))
                    .map(|c| c.name.clone());
                (field_of_row(scope, field)?, shown)
            }
            OrderKey::Measure(measure) => {
                let at = rows.measures.iter().position(|m| m == measure);
                let shown = at
                    .and_then(|at| listed.columns.iter().filter(|c| c.field.is_none()).nth(at))
                    .map(|c| c.name.clone());
                let sql = match shown {
                    Some(_) => String::new(),
                    None => listed.measure_of_row(scope, measure)?,
                };
                (sql, shown)
            }
            OrderKey::Time => {
                let time = time.ok_or_else(|| QueryError::NoTime {
                    dataset: scope.base.name.clone(),
                })?;
                (scope.time_at(time)?.comparable(ground.dialect)?, None)
            }
            OrderKey::Period => return Err(QueryError::shape("rows have no compared periods", "sort by `time`")),
        };
        if rows.distinct && shown_as.is_none() {
            return Err(QueryError::shape(
                "distinct rows can only be sorted by what they show",
                "add the field to `fields`",
            ));
        }
        let sql = match (shown_as, ranks) {
            (Some(name), _) => ground.quote(&name),
            (None, false) => sql,
            (None, true) => listed.hidden(sql),
        };
        keys.push(order::Key {
            sql,
            descending: order.descending,
        });
    }
    if !place.ordered && rows.limit.is_none() {
        return Ok(Vec::new());
    }
    let rest: Vec<String> = match rows.distinct || scope.base.primary_key.is_empty() {
        true => listed
            .columns
            .iter()
            .filter(|c| c.unit != Some(Unit::Fraction))
            .map(|c| ground.quote(&c.name))
            .collect(),
        false => {
            let own = scope.base.primary_key.clone();
            let shown = |column: &String| {
                let of_key = |c: &&OutputColumn| {
                    let field = c.field.as_ref().filter(|f| f.dataset == scope.base.name);
                    field
                        .and_then(|f| scope.base.field(&f.field))
                        .is_some_and(|f| f.column.as_ref() == Some(column))
                };
                listed.columns.iter().find(of_key).map(|c| ground.quote(&c.name))
            };
            let key = |column: &String| match (shown(column), ranks) {
                (Some(name), _) => Some(name),
                (None, false) => Some(scope.column_sql(&scope.base_alias, column)),
                (None, true) => None,
            };
            own.iter().filter_map(key).collect()
        }
    };
    for sql in rest {
        if !keys.iter().any(|k| k.sql == sql) {
            keys.push(order::Key { sql, descending: false });
        }
    }
    Ok(keys)
}

impl Listed {
    /// A column that is sorted by without being shown.
    fn hidden(&mut self, sql: String) -> String {
        let alias = format!("sorted_by_{}", self.outputs.len() + 1);
        self.outputs.push(Output {
            sql,
            alias: alias.clone(),
        });
        alias
    }
}
