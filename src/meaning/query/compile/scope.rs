//! What one SELECT reads from: a dataset, the datasets joined to it, and the SQL of the fields that they have.

use sqlparser::ast::{Expr, Ident};

use crate::meaning::query::compile::dates::TimeColumn;
use crate::meaning::query::compile::error::nearest;
use crate::meaning::query::compile::select::indent;
use crate::meaning::query::compile::{JoinUsed, QueryError};
use crate::meaning::semantic::{Dataset, Field, FieldRef, Model, Path, Source, TimeFormat, WeekStart, expression};
use crate::warehouse::Dialect;
use crate::warehouse::catalog::{Catalog, Table, quote};

/// Fields may be built on fields; more than this is a circle.
const MAX_DEPTH: usize = 8;

/// What every part of a compilation looks things up in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ground<'a> {
    pub model: &'a Model,
    pub catalog: &'a Catalog,
    pub dialect: Dialect,
}

/// Must a row of the start have a row at the end of a join?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// Rows without one are dropped.
    Required,
    /// Rows without one stay, with NULL.
    Optional,
}

/// One joined dataset.
#[derive(Debug, Clone)]
struct Joined<'a> {
    /// The relationships gone through from the base, with their directions: the same route is joined once.
    route: Vec<(String, bool)>,
    dataset: &'a Dataset,
    alias: String,
    on: String,
    optional: bool,
}

/// One SELECT's FROM.
#[derive(Debug, Clone)]
pub(super) struct Scope<'a> {
    pub ground: Ground<'a>,
    pub base: &'a Dataset,
    pub base_alias: String,
    joined: Vec<Joined<'a>>,
    /// Relationships to prefer where there are several ways.
    pub via: Vec<String>,
    /// Aliases in use here and in the queries around this one.
    taken: Vec<String>,
    pub joins_used: Vec<JoinUsed>,
    /// The dataset that the base's rows are parts of, whose default filter holds for them.
    pub whole: Option<String>,
}

impl<'a> Ground<'a> {
    pub fn dataset(&self, name: &str) -> Result<&'a Dataset, QueryError> {
        let by_source =
            |d: &&Dataset| matches!(&d.source, Source::Table { name: n, .. } if n.eq_ignore_ascii_case(name));
        self.model
            .dataset(name)
            .or_else(|| self.model.datasets.iter().find(by_source))
            .ok_or_else(|| QueryError::dataset(self.model, name))
    }

    /// The dataset and field that `field` names, by field name or column name.
    pub fn field(&self, field: &FieldRef) -> Result<(&'a Dataset, &'a Field), QueryError> {
        let find = |d: &'a Dataset| d.field(&field.field).or_else(|| d.field_of_column(&field.field));
        if !field.dataset.is_empty() {
            let dataset = self.dataset(&field.dataset)?;
            return find(dataset)
                .map(|f| (dataset, f))
                .ok_or_else(|| self.unknown_field(field));
        }
        let hits: Vec<(&Dataset, &Field)> = self
            .model
            .datasets
            .iter()
            .filter_map(|d| find(d).map(|f| (d, f)))
            .collect();
        match hits.as_slice() {
            [hit] => Ok(*hit),
            [] => Err(self.unknown_field(field)),
            several => Err(QueryError::AmbiguousField {
                name: field.field.clone(),
                datasets: several.iter().map(|(d, _)| d.name.clone()).collect(),
            }),
        }
    }

    fn unknown_field(&self, field: &FieldRef) -> QueryError {
        let own = self.model.dataset(&field.dataset);
        let in_own = own.into_iter().flat_map(|d| d.fields.iter().map(|f| f.name.as_str()));
        let mut near: Vec<String> = nearest(&field.field, in_own)
            .into_iter()
            .map(|name| FieldRef::new(&field.dataset, name).to_string())
            .collect();
        if near.is_empty() {
            let all: Vec<String> = self
                .model
                .datasets
                .iter()
                .flat_map(|d| d.fields.iter().map(|f| FieldRef::new(&d.name, &f.name).to_string()))
                .collect();
            near = nearest(&field.to_string(), all.iter().map(String::as_str));
        }
        QueryError::UnknownField {
            name: field.to_string(),
            nearest: near,
        }
    }

    /// The table that a dataset's rows come from, where they come from a table.
    pub fn table(&self, dataset: &Dataset) -> Option<&'a Table> {
        match &dataset.source {
            Source::Table { schema, name } => self.catalog.table_in(schema.as_deref(), name),
            Source::Query(_) => None,
        }
    }

    pub fn quote(&self, name: &str) -> String {
        quote(self.dialect, name)
    }

    /// Ways from `from` to `to`, best first, those through one of `via` before all others.
    pub fn paths(&self, from: &Dataset, to: &Dataset, via: &[String]) -> Result<Vec<Path>, QueryError> {
        let mut paths = self.model.paths(&from.name, &to.name);
        for name in via {
            if self.model.relationship(name).is_none() {
                return Err(QueryError::relationship(self.model, name));
            }
        }
        let goes_via = |path: &Path| {
            path.steps
                .iter()
                .any(|s| via.iter().any(|v| v.eq_ignore_ascii_case(&s.relationship)))
        };
        paths.sort_by_key(|path| !goes_via(path));
        match paths.is_empty() {
            false => Ok(paths),
            true => Err(QueryError::Unreachable {
                from: from.name.clone(),
                to: to.name.clone(),
                advice: self.reachable_from(from),
            }),
        }
    }

    /// The way through exactly `via`, where it is given.
    pub fn path(
        &self,
        from: &Dataset,
        to: &Dataset,
        via: Option<&str>,
        preferred: &[String],
    ) -> Result<Path, QueryError> {
        let Some(via) = via else {
            let found = self.paths(from, to, preferred)?.into_iter().next();
            return found.ok_or_else(|| QueryError::shape("no path", "name a relationship in `via`"));
        };
        if self.model.relationship(via).is_none() {
            return Err(QueryError::relationship(self.model, via));
        }
        self.model
            .path_via(&from.name, &to.name, via)
            .ok_or_else(|| QueryError::Unreachable {
                from: from.name.clone(),
                to: to.name.clone(),
                advice: format!("`{via}` is not on a way between them"),
            })
    }

    fn reachable_from(&self, from: &Dataset) -> String {
        let near: Vec<String> = self
            .model
            .points_at(&from.name)
            .iter()
            .map(|d| format!("`{}`", d.name))
            .collect();
        match near.is_empty() {
            true => format!("`{}` points at no other dataset", from.name),
            false => format!("`{}` can be grouped by {}", from.name, near.join(", ")),
        }
    }
}

impl<'a> Scope<'a> {
    /// A FROM of `base` alone; `taken` are the aliases of the queries around it.
    pub fn new(ground: Ground<'a>, base: &'a Dataset, via: &[String], taken: &[String]) -> Self {
        let mut scope = Self {
            ground,
            base,
            base_alias: String::new(),
            joined: Vec::new(),
            via: via.to_vec(),
            taken: taken.to_vec(),
            joins_used: Vec::new(),
            whole: None,
        };
        scope.base_alias = scope.new_alias(base, None);
        scope
    }

    /// A scope for a query inside this one.
    pub fn inner(&self, base: &'a Dataset) -> Self {
        Self::new(self.ground, base, &self.via, &self.taken)
    }

    pub fn taken(&self) -> &[String] {
        &self.taken
    }

    /// An alias that says what it stands for: the table's own name, the dataset's, or the role of the relationship.
    fn new_alias(&mut self, dataset: &Dataset, role: Option<&str>) -> String {
        let table = match &dataset.source {
            Source::Table { schema: None, name } if self.ground.quote(name) == *name => Some(name.clone()),
            _ => None,
        };
        let numbered = (2..).map(|n| format!("{}_{n}", dataset.name));
        let mut candidates = [table, Some(dataset.name.clone()), role.map(str::to_owned)]
            .into_iter()
            .flatten()
            .chain(numbered);
        let is_free = |name: &String| !self.taken.iter().any(|t| t.eq_ignore_ascii_case(name));
        let alias = candidates.find(is_free).unwrap_or_else(|| dataset.name.clone());
        self.taken.push(alias.clone());
        alias
    }

    /// Joins along `path` from the base, and gives the alias at its end.
    pub fn join(&mut self, path: &Path, need: Need) -> Result<String, QueryError> {
        let mut route: Vec<(String, bool)> = Vec::new();
        let mut alias = self.base_alias.clone();
        for step in &path.steps {
            route.push((step.relationship.clone(), step.forward));
            if let Some(known) = self.joined.iter_mut().find(|j| j.route == route) {
                known.optional &= need == Need::Optional;
                alias = known.alias.clone();
                continue;
            }
            let dataset = self.ground.dataset(&step.to)?;
            let new = self.new_alias(dataset, Some(&step.relationship));
            let pair = |(from, to): (&String, &String)| {
                format!(
                    "{}.{} = {}.{}",
                    self.ground.quote(&alias),
                    self.ground.quote(from),
                    self.ground.quote(&new),
                    self.ground.quote(to)
                )
            };
            let on: Vec<String> = step.from_columns.iter().zip(&step.to_columns).map(pair).collect();
            self.joined.push(Joined {
                route: route.clone(),
                dataset,
                alias: new.clone(),
                on: on.join(" AND "),
                optional: need == Need::Optional,
            });
            alias = new;
        }
        self.record(path);
        Ok(alias)
    }

    /// Remembers a join for the report, with the ways that were not taken.
    fn record(&mut self, path: &Path) {
        let Some(last) = path.steps.last() else { return };
        let relationships = path.relationships();
        if self.joins_used.iter().any(|j| j.relationships == relationships) {
            return;
        }
        let others = self.ground.model.paths(&self.base.name, &last.to);
        let alternatives = others
            .iter()
            .filter(|p| p.relationships() != relationships)
            .map(Path::in_words)
            .collect();
        self.joins_used.push(JoinUsed {
            from: self.base.name.clone(),
            to: last.to.clone(),
            relationships,
            text: path.in_words(),
            alternatives,
        });
    }

    /// `table` or `table AS alias`.
    pub fn read_from(&self) -> String {
        self.source_sql(self.base, &self.base_alias)
    }

    fn source_sql(&self, dataset: &Dataset, alias: &str) -> String {
        let quote = |name: &str| self.ground.quote(name);
        match &dataset.source {
            Source::Table { schema, name } => {
                let table = quote(name);
                let full = match schema {
                    Some(schema) => format!("{}.{table}", quote(schema)),
                    None => table.clone(),
                };
                match full == quote(alias) {
                    true => full,
                    false => format!("{full} AS {}", quote(alias)),
                }
            }
            Source::Query(sql) => format!("(\n{}\n) AS {}", indent(sql.trim().trim_end_matches(';')), quote(alias)),
        }
    }

    /// The join clauses; the default filter of the dataset that the base belongs to goes into its join.
    pub fn joins_sql(&mut self) -> Result<Vec<String>, QueryError> {
        let mut clauses = Vec::new();
        for at in 0..self.joined.len() {
            let Some(joined) = self.joined.get(at).cloned() else {
                continue;
            };
            let mut on = joined.on.clone();
            if self.whole.as_deref() == Some(joined.dataset.name.as_str())
                && let Some(filter) = &joined.dataset.default_filter
            {
                let condition = self.expression_at(filter, joined.dataset, &joined.alias, &joined.dataset.name)?;
                on = format!("{on} AND {}", super::select::nested(&condition));
            }
            let word = if joined.optional { "LEFT JOIN" } else { "JOIN" };
            clauses.push(format!(
                "{word} {} ON {on}",
                self.source_sql(joined.dataset, &joined.alias)
            ));
        }
        Ok(clauses)
    }

    /// The default filters that hold here, with the datasets that they come from.
    pub fn default_filters(&self) -> Vec<(String, String)> {
        let whole = self.whole.as_ref().and_then(|name| self.ground.model.dataset(name));
        let filter = |d: &Dataset| d.default_filter.as_ref().map(|f| (d.name.clone(), f.clone()));
        std::iter::once(self.base).chain(whole).filter_map(filter).collect()
    }

    /// A column of the source behind `alias`, as the catalog spells it.
    pub fn column_sql(&self, alias: &str, column: &str) -> String {
        format!("{}.{}", self.ground.quote(alias), self.ground.quote(column))
    }

    /// The SQL of a field of the dataset behind `alias`.
    pub fn field_sql(&self, dataset: &Dataset, field: &Field, alias: &str) -> Result<String, QueryError> {
        if let Some(column) = &field.column {
            return Ok(self.column_sql(alias, column));
        }
        self.own_expression(
            &field.expression,
            dataset,
            alias,
            &format!("field `{}.{}`", dataset.name, field.name),
            0,
        )
        .map(|e| e.to_string())
    }

    /// A time field as it stands in this query.
    pub fn time_column(&self, dataset: &Dataset, field: &Field, alias: &str) -> Result<TimeColumn, QueryError> {
        let assumed = match self.ground.dialect {
            Dialect::Sqlite => TimeFormat::IsoText,
            _ if field.data_type.is_temporal() => TimeFormat::Native,
            _ => TimeFormat::IsoText,
        };
        Ok(TimeColumn {
            sql: self.field_sql(dataset, field, alias)?,
            format: field.time_format.unwrap_or(assumed),
            data_type: field.data_type.clone(),
            name: format!("{}.{}", dataset.name, field.name),
            week_starts_sunday: self.ground.model.settings.week_start == WeekStart::Sunday,
        })
    }

    /// An expression over the fields and columns of one dataset alone.
    fn own_expression(
        &self,
        text: &str,
        dataset: &Dataset,
        alias: &str,
        owner: &str,
        depth: usize,
    ) -> Result<Expr, QueryError> {
        let broken = |problem: String| QueryError::Expression {
            expression: text.to_owned(),
            owner: owner.to_owned(),
            problem,
        };
        if depth > MAX_DEPTH {
            return Err(broken("its fields refer to each other in a circle".into()));
        }
        let mut parsed = expression::parse(text).map_err(broken)?;
        expression::for_dialect(&mut parsed, self.ground.dialect);
        expression::replace_names(&mut parsed, |parts| {
            let Some(name) = parts.last() else { return Ok(None) };
            let column = match self.ground.table(dataset) {
                Some(table) => table.column(name).map(|c| c.name.clone()),
                None => dataset
                    .field(name)
                    .is_none_or(|f| f.column.is_some())
                    .then(|| name.clone()),
            };
            if let Some(column) = column {
                return Ok(Some(self.column_name(alias, &column)));
            }
            let Some(field) = dataset.field(name) else {
                return Err(broken(format!("`{}` has no column or field `{name}`", dataset.name)));
            };
            if let Some(column) = &field.column {
                return Ok(Some(self.column_name(alias, column)));
            }
            let inner = self.own_expression(&field.expression, dataset, alias, owner, depth + 1)?;
            Ok(Some(Expr::Nested(Box::new(inner))))
        })?;
        Ok(parsed)
    }

    fn column_name(&self, alias: &str, column: &str) -> Expr {
        let part = |name: &str| expression::identifier(self.ground.dialect, name);
        Expr::CompoundIdentifier(vec![part(alias), part(column)])
    }

    /// An expression whose plain names belong to `dataset` behind `alias`, and whose `dataset.field` names may belong to any
    /// dataset that the base's rows point at, which is then joined.
    pub fn expression_at(
        &mut self,
        text: &str,
        dataset: &'a Dataset,
        alias: &str,
        owner: &str,
    ) -> Result<String, QueryError> {
        let broken = |problem: String| QueryError::Expression {
            expression: text.to_owned(),
            owner: owner.to_owned(),
            problem,
        };
        let mut parsed = expression::parse(text).map_err(broken)?;
        expression::for_dialect(&mut parsed, self.ground.dialect);
        expression::replace_names(&mut parsed, |parts| {
            let (home, at, name) = match parts {
                [name] => (dataset, alias.to_owned(), name),
                [.., set, name] if set.eq_ignore_ascii_case(&dataset.name) => (dataset, alias.to_owned(), name),
                [.., set, name] => {
                    let other = self.ground.dataset(set)?;
                    let at = self.parent(other)?;
                    (other, at, name)
                }
                [] => return Ok(None),
            };
            let sql = match home.field(name) {
                Some(field) => super::select::nested(&self.field_sql(home, field, &at)?),
                None => self
                    .own_expression(&quoted(name), home, &at, owner, 0)
                    .map(|e| e.to_string())?,
            };
            // Already SQL: an identifier without quotes is written out as it is.
            Ok(Some(Expr::Identifier(Ident::new(sql))))
        })?;
        Ok(parsed.to_string())
    }

    /// The alias of a dataset that each row of the base points at. Rows that point at none stay.
    fn parent(&mut self, dataset: &'a Dataset) -> Result<String, QueryError> {
        let path = self.ground.path(self.base, dataset, None, &self.via.clone())?;
        if !path.is_many_to_one() {
            return Err(QueryError::Unreachable {
                from: self.base.name.clone(),
                to: dataset.name.clone(),
                advice: format!("a row of `{}` has many rows of `{}`", self.base.name, dataset.name),
            });
        }
        let need = if self.may_be_missing(&path) {
            Need::Optional
        } else {
            Need::Required
        };
        let known = self
            .joined
            .iter()
            .find(|j| route_of(&path) == j.route)
            .map(|j| j.alias.clone());
        match known {
            Some(alias) => Ok(alias),
            None => self.join(&path, need),
        }
    }

    /// May a row of the base have no row at the end of `path`?
    pub fn may_be_missing(&self, path: &Path) -> bool {
        path.steps.iter().any(|step| {
            let table = self.ground.dataset(&step.from).ok().and_then(|d| self.ground.table(d));
            step.from_columns
                .iter()
                .any(|c| table.and_then(|t| t.column(c)).is_none_or(|c| c.nullable))
        })
    }
}

fn route_of(path: &Path) -> Vec<(String, bool)> {
    path.steps.iter().map(|s| (s.relationship.clone(), s.forward)).collect()
}

/// A name as an ANSI identifier.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
