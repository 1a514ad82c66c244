//! What rows are grouped by: the columns that a dimension shows, and their SQL over the rows of one branch.

use crate::meaning::query::Dimension;
use crate::meaning::query::compile::scope::{Ground, Need, Scope};
use crate::meaning::query::compile::{ColumnKind, OutputColumn, QueryError};
use crate::meaning::semantic::{Dataset, DatasetKind, Field, FieldRef, Path, names};
use crate::time::Grain;
use crate::warehouse::Dialect;

/// The columns of all dimensions, under names that no other column has.
#[derive(Debug, Clone)]
pub(super) struct Dimensions {
    /// For each dimension its columns.
    pub columns: Vec<Vec<OutputColumn>>,
}

/// One dimension over the rows of one branch.
#[derive(Debug, Clone, Default)]
pub(super) struct DimensionSql {
    /// One for each of its columns.
    pub outputs: Vec<String>,
    pub groups: Vec<String>,
    /// Those of `groups` that tell things apart without being shown.
    pub hidden: Vec<String>,
}

impl Dimensions {
    pub fn plan(ground: Ground<'_>, dimensions: &[Dimension], taken: &[&str]) -> Result<Self, QueryError> {
        let mut names: Vec<String> = taken.iter().map(|n| (*n).to_owned()).collect();
        let mut columns = Vec::new();
        for dimension in dimensions {
            let mut own = columns_of(ground, dimension)?;
            for (column, longer) in &mut own {
                column.name = free(&names, &column.name, longer);
                names.push(column.name.clone());
            }
            columns.push(own.into_iter().map(|(column, _)| column).collect());
        }
        Ok(Self { columns })
    }

    pub fn all(&self) -> impl Iterator<Item = &OutputColumn> {
        self.columns.iter().flatten()
    }
}

/// `name`, or `longer` where that is taken, or a numbered one.
pub(super) fn free(taken: &[String], name: &str, longer: &str) -> String {
    let numbered = (2..).map(|n| format!("{name}_{n}"));
    let mut candidates = [name.to_owned(), longer.to_owned()].into_iter().chain(numbered);
    let is_free = |candidate: &String| !taken.iter().any(|t| t.eq_ignore_ascii_case(candidate));
    candidates.find(is_free).unwrap_or_else(|| name.to_owned())
}

/// The columns that a dimension shows, each with a longer name for when the first is taken.
fn columns_of(ground: Ground<'_>, dimension: &Dimension) -> Result<Vec<(OutputColumn, String)>, QueryError> {
    let column = |name: String, kind, field: Option<FieldRef>, unit| OutputColumn {
        name,
        kind,
        unit,
        field,
        metric: None,
    };
    match dimension {
        Dimension::Field { field, .. } => {
            let (dataset, found) = ground.field(field)?;
            let kind = if found.is_time {
                ColumnKind::Period
            } else {
                ColumnKind::Dimension
            };
            let longer = format!("{}_{}", names::singular(&dataset.name), found.name);
            let reference = FieldRef::new(&dataset.name, &found.name);
            Ok(vec![(
                column(found.name.clone(), kind, Some(reference), found.unit),
                longer,
            )])
        }
        Dimension::Time { grain, .. } => {
            let name = grain_name(*grain).to_owned();
            let longer = format!("{name}_of_time");
            Ok(vec![(column(name, ColumnKind::Period, None, None), longer)])
        }
        Dimension::Entity { dataset, via, show } => {
            let dataset = ground.dataset(dataset)?;
            if !show.is_empty() {
                return show.iter().map(|field| shown_column(ground, field)).collect();
            }
            let role = role_name(ground, dataset, via.as_deref());
            let label = label_fields(dataset);
            let key_kind = if label.is_empty() {
                ColumnKind::Dimension
            } else {
                ColumnKind::Key
            };
            let mut columns: Vec<(OutputColumn, String)> = key_columns(dataset, &label)
                .into_iter()
                .map(|(name, reference)| {
                    let longer = format!("{role}_{name}");
                    (column(name, key_kind, reference, None), longer)
                })
                .collect();
            if let Some(first) = label.first() {
                let reference = (label.len() == 1).then(|| FieldRef::new(&dataset.name, &first.name));
                let longer = format!("{role}_name");
                columns.push((column(role, ColumnKind::Dimension, reference, None), longer));
            }
            match columns.is_empty() {
                false => Ok(columns),
                true => Err(QueryError::shape(
                    format!(
                        "`{}` has neither a key nor a label to tell its rows apart",
                        dataset.name
                    ),
                    "group by one of its fields instead",
                )),
            }
        }
    }
}

/// The column of a field that is shown of a thing, with a longer name for when the first is taken.
fn shown_column(ground: Ground<'_>, field: &FieldRef) -> Result<(OutputColumn, String), QueryError> {
    let (dataset, found) = ground.field(field)?;
    let is_key = found.column.as_ref().is_some_and(|c| dataset.primary_key.contains(c));
    let column = OutputColumn {
        name: found.name.clone(),
        kind: if is_key { ColumnKind::Key } else { ColumnKind::Dimension },
        unit: found.unit,
        field: Some(FieldRef::new(&dataset.name, &found.name)),
        metric: None,
    };
    let longer = format!("{}_{}", names::singular(&dataset.name), found.name);
    Ok((column, longer))
}

/// What the things of a dataset are called here: `employee`, or `manager` where they are reached by that role.
fn role_name(ground: Ground<'_>, dataset: &Dataset, via: Option<&str>) -> String {
    let relationship = via
        .and_then(|name| ground.model.relationship(name))
        .filter(|r| r.to == dataset.name);
    let role = relationship.and_then(|r| r.name.strip_prefix(&format!("{}_", r.from)));
    match role.map(|role| role.strip_prefix("to_").unwrap_or(role)) {
        Some(role) if role != dataset.name => names::singular(role),
        _ => names::singular(&dataset.name),
    }
}

fn label_fields(dataset: &Dataset) -> Vec<&Field> {
    dataset.label.iter().filter_map(|name| dataset.field(name)).collect()
}

/// The key's columns by their field names, without one that is the label itself.
fn key_columns(dataset: &Dataset, label: &[&Field]) -> Vec<(String, Option<FieldRef>)> {
    let is_label = |column: &String| label.len() == 1 && label.iter().any(|f| f.column.as_ref() == Some(column));
    dataset
        .primary_key
        .iter()
        .filter(|column| !is_label(column))
        .map(|column| match dataset.field_of_column(column) {
            Some(field) => (field.name.clone(), Some(FieldRef::new(&dataset.name, &field.name))),
            None => (names::snake(column), None),
        })
        .collect()
}

pub(super) fn grain_name(grain: Grain) -> &'static str {
    match grain {
        Grain::Day => "day",
        Grain::Week => "week",
        Grain::Month => "month",
        Grain::Quarter => "quarter",
        Grain::Year => "year",
    }
}

impl<'a> Scope<'a> {
    /// The dataset that a dimension belongs to, with the way there from the base. `None` for times of the measure's own.
    pub fn dimension_path(&self, dimension: &Dimension) -> Result<Option<(&'a Dataset, Path)>, QueryError> {
        let (dataset, via) = match dimension {
            Dimension::Field { field, via } => (self.ground.field(field)?.0, via.as_deref()),
            Dimension::Entity { dataset, via, .. } => (self.ground.dataset(dataset)?, via.as_deref()),
            Dimension::Time { field: Some(field), .. } => (self.ground.field(field)?.0, None),
            Dimension::Time { field: None, .. } => return Ok(None),
        };
        let path = self.ground.path(self.base, dataset, via, &self.via)?;
        Ok(Some((dataset, path)))
    }

    /// The SQL of a dimension, joined in as needed; `time` is the branch's own time field.
    pub fn dimension_sql(
        &mut self,
        dimension: &Dimension,
        time: Option<&FieldRef>,
        need: Need,
    ) -> Result<DimensionSql, QueryError> {
        match dimension {
            Dimension::Field { field, .. } => {
                let (dataset, found) = self.ground.field(field)?;
                let alias = self.dimension_alias(dimension, need)?;
                let sql = self.field_sql(dataset, found, &alias)?;
                Ok(DimensionSql {
                    outputs: vec![sql.clone()],
                    groups: vec![sql],
                    hidden: Vec::new(),
                })
            }
            Dimension::Entity { dataset, show, .. } => {
                let dataset = self.ground.dataset(dataset)?;
                let alias = self.dimension_alias(dimension, need)?;
                match show.is_empty() {
                    true => self.entity_sql(dataset, &alias),
                    false => self.shown_sql(dataset, show, &alias),
                }
            }
            Dimension::Time { grain, field } => {
                let reference = field.as_ref().or(time).ok_or_else(|| QueryError::NoTime {
                    dataset: self.base.name.clone(),
                })?;
                let column = self.time_at(reference)?;
                let sql = column.period(*grain, self.ground.dialect)?;
                Ok(DimensionSql {
                    outputs: vec![sql.clone()],
                    groups: vec![sql],
                    hidden: Vec::new(),
                })
            }
        }
    }

    fn dimension_alias(&mut self, dimension: &Dimension, need: Need) -> Result<String, QueryError> {
        match self.dimension_path(dimension)? {
            Some((_, path)) => self.join(&path, need),
            None => Ok(self.base_alias.clone()),
        }
    }

    /// The time column that `reference` names, joined in where it lives on another dataset.
    pub fn time_at(&mut self, reference: &FieldRef) -> Result<super::dates::TimeColumn, QueryError> {
        let (dataset, field) = self.ground.field(reference)?;
        let path = self.ground.path(self.base, dataset, None, &self.via.clone())?;
        if !path.is_many_to_one() {
            return Err(QueryError::shape(
                format!("a row of `{}` has many times `{reference}`", self.base.name),
                "use a time field that each row has once",
            ));
        }
        let alias = self.join(&path, Need::Required)?;
        self.time_column(dataset, field, &alias)
    }

    /// Some fields of the things behind `alias`, which are told apart by their key all the same.
    fn shown_sql(&self, dataset: &Dataset, show: &[FieldRef], alias: &str) -> Result<DimensionSql, QueryError> {
        let mut sql = DimensionSql::default();
        for reference in show {
            let (owner, field) = self.ground.field(reference)?;
            if owner.name != dataset.name {
                return Err(QueryError::shape(
                    format!("`{reference}` is no field of `{}`", dataset.name),
                    "show fields of the entity's own dataset",
                ));
            }
            sql.outputs.push(self.field_sql(dataset, field, alias)?);
        }
        let keys = dataset.primary_key.iter().map(|column| self.column_sql(alias, column));
        sql.hidden = keys.filter(|key| !sql.outputs.contains(key)).collect();
        sql.groups = sql.hidden.iter().chain(&sql.outputs).cloned().collect();
        Ok(sql)
    }

    /// Key and label of the things behind `alias`.
    fn entity_sql(&self, dataset: &Dataset, alias: &str) -> Result<DimensionSql, QueryError> {
        let label = label_fields(dataset);
        let mut sql = DimensionSql::default();
        for (name, reference) in key_columns(dataset, &label) {
            let field = reference.and_then(|r| dataset.field(&r.field));
            let column = match field {
                Some(field) => self.field_sql(dataset, field, alias)?,
                None => self.column_sql(alias, &name),
            };
            sql.outputs.push(column.clone());
            sql.groups.push(column);
        }
        let parts: Vec<(String, bool)> = label
            .iter()
            .map(|field| Ok((self.field_sql(dataset, field, alias)?, self.may_be_null(dataset, field))))
            .collect::<Result<_, QueryError>>()?;
        if !parts.is_empty() {
            sql.groups.extend(parts.iter().map(|(part, _)| part.clone()));
            sql.outputs.push(together(&parts, self.ground.dialect));
        }
        Ok(sql)
    }

    fn may_be_null(&self, dataset: &Dataset, field: &Field) -> bool {
        let column = field
            .column
            .as_ref()
            .and_then(|c| self.ground.table(dataset)?.column(c));
        column.is_some_and(|c| c.nullable && c.profile.as_ref().is_none_or(|p| p.nulls > 0))
    }
}

/// Parts of a name with spaces between; a missing part leaves the others.
fn together(parts: &[(String, bool)], dialect: Dialect) -> String {
    let columns: Vec<&str> = parts.iter().map(|(part, _)| part.as_str()).collect();
    if let [one] = columns.as_slice() {
        return (*one).to_owned();
    }
    if dialect == Dialect::Mysql {
        return format!("CONCAT_WS(' ', {})", columns.join(", "));
    }
    match parts.iter().any(|(_, nullable)| *nullable) {
        false => columns.join(" || ' ' || "),
        true => {
            let safe: Vec<String> = columns.iter().map(|c| format!("COALESCE({c}, '')")).collect();
            format!("TRIM({})", safe.join(" || ' ' || "))
        }
    }
}

/// How a dimension lies to the rows of a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Each row has at most one value.
    One,
    /// A row may have several, each at most once: it counts in each.
    Several,
    /// A row may have the same value several times, which must be made one.
    Repeated,
}

impl Scope<'_> {
    pub fn reach(&self, path: &Path) -> Reach {
        let turns: Vec<usize> = path
            .steps
            .iter()
            .enumerate()
            .filter(|(_, s)| !s.forward)
            .map(|(at, _)| at)
            .collect();
        let at = match turns.as_slice() {
            [] => return Reach::One,
            [at] => *at,
            _ => return Reach::Repeated,
        };
        let (Some(into), Some(out)) = (path.steps.get(at), path.steps.get(at + 1)) else {
            return Reach::Repeated;
        };
        let Ok(bridge) = self.ground.dataset(&into.to) else {
            return Reach::Repeated;
        };
        let pair: Vec<&str> = into
            .to_columns
            .iter()
            .chain(&out.from_columns)
            .map(String::as_str)
            .collect();
        let is_key =
            |key: &Vec<String>| !key.is_empty() && key.iter().all(|k| pair.iter().any(|c| c.eq_ignore_ascii_case(k)));
        let pairs_once = is_key(&bridge.primary_key) || bridge.unique_keys.iter().any(is_key);
        match bridge.kind == DatasetKind::Bridge && pairs_once && path.steps.len() == at + 2 {
            true => Reach::Several,
            false => Reach::Repeated,
        }
    }
}
