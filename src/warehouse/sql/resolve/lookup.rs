//! Looks names up: columns through the scopes from the inside out, tables along the search path.

use sqlparser::ast::{Expr, Ident};

use super::model::{ColumnRef, Meaning};
use super::{Binder, Clause, Scope};
use crate::warehouse::Dialect;
use crate::warehouse::catalog::{Table, TableKind};
use crate::warehouse::sql::names::{Naming, fold, same};

/// What a search in one scope found.
enum Found {
    Nothing,
    One(ColumnRef),
    Many(Vec<ColumnRef>),
    /// Some relation's columns are not known, so the name may be one of them.
    Maybe,
}

/// Words that stand without parentheses and are no columns.
const BARE_WORDS: [&str; 14] = [
    "current_catalog",
    "current_date",
    "current_role",
    "current_schema",
    "current_time",
    "current_timestamp",
    "current_user",
    "default",
    "level",
    "localtime",
    "localtimestamp",
    "rownum",
    "session_user",
    "user",
];

impl<'a> Binder<'a> {
    /// Binds a name without qualifier.
    pub(super) fn bare(&mut self, expr: &'a Expr, ident: &'a Ident) {
        let name = fold(ident, self.dialect, Naming::Column).into_owned();
        if self
            .lambdas
            .iter()
            .any(|l| same(&name, &l.value, self.dialect, Naming::Column))
            || name.starts_with('@')
        {
            return;
        }
        let mut maybe = false;
        for at in (0..self.scopes.len()).rev() {
            let Some(scope) = self.scopes.get(at).copied() else {
                continue;
            };
            if alias_comes_first(self.dialect, scope.clause)
                && let Some(meaning) = self.alias(scope, &name)
            {
                return self.mean(expr, meaning);
            }
            match self.find(scope, None, &name) {
                Found::One(column) => {
                    self.bound.reaches_out |= at + 1 < self.scopes.len();
                    return self.mean(expr, Meaning::Column(column));
                }
                Found::Many(columns) => return self.ambiguous(ident, &columns),
                Found::Maybe => maybe = true,
                Found::Nothing => {}
            }
            if alias_is_seen(self.dialect, scope.clause)
                && let Some(meaning) = self.alias(scope, &name)
            {
                return self.mean(expr, meaning);
            }
            if self.is_whole_row(scope, &name) || (ident.quote_style.is_none() && self.is_row_id(scope, None, &name)) {
                return;
            }
        }
        if maybe || (ident.quote_style.is_none() && BARE_WORDS.contains(&name.to_lowercase().as_str())) {
            return;
        }
        if self.dialect == Dialect::Sqlite && ident.quote_style == Some('"') {
            self.bound.quoted_strings.push(ident);
            return self.mean(expr, Meaning::Literal);
        }
        self.unknown_column(ident, None);
    }

    /// Binds `a.b`, `a.b.c`, …: a qualifier and a column, or a column and its fields.
    pub(super) fn compound(&mut self, expr: &'a Expr, parts: &'a [Ident]) {
        let mut known_qualifier: Option<usize> = None;
        for at in (0..self.scopes.len()).rev() {
            let Some(scope) = self.scopes.get(at).copied() else {
                continue;
            };
            // `table.column` first, then `schema.table.column`, then more parts of a path.
            for taken in 1..parts.len().min(4) {
                let Some((qualifier, rest)) = parts.split_at_checked(taken) else {
                    continue;
                };
                let Some(relation) = self.relation_named(scope, qualifier) else {
                    continue;
                };
                let Some(column) = rest.first() else { continue };
                let name = fold(column, self.dialect, Naming::Column).into_owned();
                match self.find(scope, Some(relation), &name) {
                    Found::One(column) => return self.mean(expr, Meaning::Column(column)),
                    Found::Maybe => return,
                    Found::Many(columns) => return self.ambiguous(column, &columns),
                    Found::Nothing if self.is_row_id(scope, Some(relation), &name) => return,
                    Found::Nothing => known_qualifier = Some(relation),
                }
                if known_qualifier.is_some() && !self.has_struct_fields() {
                    return self.unknown_column(column, Some((scope.block, relation)));
                }
            }
            if self.has_struct_fields()
                && let Some(first) = parts.first()
            {
                let name = fold(first, self.dialect, Naming::Column).into_owned();
                match self.find(scope, None, &name) {
                    Found::One(column) => return self.mean(expr, Meaning::Column(column)),
                    Found::Maybe => return,
                    Found::Many(_) | Found::Nothing => {}
                }
            }
            if let (Some(relation), Some(column)) = (known_qualifier, parts.last()) {
                return self.unknown_column(column, Some((scope.block, relation)));
            }
        }
        let lambda = |i: &Ident| self.lambdas.iter().any(|l| l.value == i.value);
        if parts.first().is_some_and(lambda) {
            return;
        }
        self.unknown_qualifier(parts);
    }

    /// Engines whose columns have fields, read with a dot.
    fn has_struct_fields(&self) -> bool {
        matches!(
            self.dialect,
            Dialect::Duckdb | Dialect::Snowflake | Dialect::Bigquery | Dialect::Databricks | Dialect::Clickhouse
        )
    }

    /// The relation of `scope` that `qualifier` (`alias`, `table` or `schema.table`) names.
    pub(super) fn relation_named(&self, scope: Scope, qualifier: &[Ident]) -> Option<usize> {
        let block = self.bound.blocks.get(scope.block)?;
        let last = fold(qualifier.last()?, self.dialect, Naming::Table);
        let schema = qualifier.len().checked_sub(2).and_then(|i| qualifier.get(i));
        let matches = |r: &super::model::Relation| {
            same(&last, &r.name, self.dialect, Naming::Table)
                && schema.is_none_or(|schema| {
                    let folded = fold(schema, self.dialect, Naming::Table);
                    let stored = r.schema.as_deref().unwrap_or(&self.bound.catalog.database);
                    let main = self.dialect == Dialect::Sqlite && folded.eq_ignore_ascii_case("main");
                    !r.aliased && (main || same(&folded, stored, self.dialect, Naming::Table))
                })
        };
        (scope.first..block.relations.len())
            .rev()
            .find(|i| block.relations.get(*i).is_some_and(&matches))
    }

    fn find(&self, scope: Scope, only: Option<usize>, name: &str) -> Found {
        let Some(block) = self.bound.blocks.get(scope.block) else {
            return Found::Nothing;
        };
        let mut found: Vec<ColumnRef> = Vec::new();
        let mut maybe = false;
        for (relation, r) in block.relations.iter().enumerate().skip(scope.first) {
            if only.is_some_and(|only| only != relation) {
                continue;
            }
            let before = found.len();
            for (field, f) in r.shape.fields.iter().enumerate() {
                let column = ColumnRef {
                    block: scope.block,
                    relation,
                    field,
                };
                let hidden = only.is_none() && block.merged.iter().any(|(_, hides)| hides.contains(&column));
                if !hidden && same(name, &f.name, self.dialect, Naming::Column) {
                    found.push(column);
                    if self.dialect == Dialect::Sqlite {
                        // SQLite takes the first of two equal names within one derived table.
                        break;
                    }
                }
            }
            maybe |= found.len() == before && r.shape.open;
        }
        match found.as_slice() {
            [] if maybe => Found::Maybe,
            [] => Found::Nothing,
            [one] => Found::One(*one),
            _ => Found::Many(found),
        }
    }

    /// The output column of the scope's block that is called `name`.
    fn alias(&self, scope: Scope, name: &str) -> Option<Meaning> {
        let block = self.bound.blocks.get(scope.block)?;
        let limit = if scope.clause == Clause::Item {
            scope.item
        } else {
            block.items.len()
        };
        let by_output_name = scope.clause == Clause::OrderBy;
        let item = block.items.iter().take(limit).position(|item| match item.alias {
            Some(alias) => same(
                name,
                &fold(alias, self.dialect, Naming::Column),
                self.dialect,
                Naming::Column,
            ),
            None => by_output_name && item.column.is_none() && same(name, &item.name, self.dialect, Naming::Column),
        })?;
        Some(Meaning::Alias {
            block: scope.block,
            item,
        })
    }

    /// A relation's name used as a value is its whole row, where the engine has that.
    fn is_whole_row(&self, scope: Scope, name: &str) -> bool {
        let has = matches!(self.dialect, Dialect::Postgres | Dialect::Duckdb | Dialect::Bigquery);
        let Some(block) = self.bound.blocks.get(scope.block) else {
            return false;
        };
        block
            .relations
            .iter()
            .skip(scope.first)
            .any(|r| (has || r.shape.open) && !r.name.is_empty() && same(name, &r.name, self.dialect, Naming::Table))
    }

    /// SQLite's rowid and PostgreSQL's system columns belong to tables without being listed.
    fn is_row_id(&self, scope: Scope, only: Option<usize>, name: &str) -> bool {
        let lower = name.to_lowercase();
        let known: &[&str] = match self.dialect {
            Dialect::Sqlite => &["rowid", "oid", "_rowid_"],
            Dialect::Duckdb => &["rowid"],
            Dialect::Postgres => &["ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"],
            Dialect::Bigquery => &["_partitiontime", "_partitiondate", "_table_suffix"],
            Dialect::Clickhouse => &["_part", "_partition_id", "_table"],
            Dialect::Mysql | Dialect::Snowflake | Dialect::Databricks => &[],
        };
        let Some(block) = self.bound.blocks.get(scope.block) else {
            return false;
        };
        let stored = |r: &super::model::Relation| {
            r.table
                .and_then(|t| self.bound.catalog.tables.get(t))
                .is_some_and(|t| t.kind == TableKind::Table)
        };
        known.contains(&lower.as_str())
            && match only {
                Some(relation) => block.relations.get(relation).is_some_and(stored),
                None => block.relations.iter().any(stored),
            }
    }

    /// The catalog's table that `parts` (`table` or `[database.]schema.table`) names, along the search path.
    pub(super) fn find_table(&self, parts: &[&Ident]) -> Option<(usize, &'a Table)> {
        let catalog = self.bound.catalog;
        let name = fold(parts.last()?, self.dialect, Naming::Table);
        let schema = parts
            .len()
            .checked_sub(2)
            .and_then(|i| parts.get(i))
            .map(|s| fold(s, self.dialect, Naming::Table));
        let mut best: Option<(usize, usize, &'a Table)> = None;
        for (index, table) in catalog.tables.iter().enumerate() {
            if !same(&name, &table.name, self.dialect, Naming::Table) {
                continue;
            }
            let rank = match (&schema, &table.schema) {
                (Some(wanted), Some(stored)) => same(wanted, stored, self.dialect, Naming::Table).then_some(0),
                (Some(wanted), None) => self.is_the_only_schema(wanted).then_some(0),
                (None, None) => Some(0),
                (None, Some(stored)) if catalog.search_path.is_empty() => Some(usize::from(stored.is_empty())),
                (None, Some(stored)) => catalog.search_path.iter().position(|s| s == stored),
            };
            if let Some(rank) = rank
                && best.is_none_or(|(best, ..)| rank < best)
            {
                best = Some((rank, index, table));
            }
        }
        best.map(|(_, index, table)| (index, table))
    }

    /// Names that stand for the one schema of a catalog that knows none.
    fn is_the_only_schema(&self, wanted: &str) -> bool {
        let own = match self.dialect {
            Dialect::Sqlite | Dialect::Duckdb => "main",
            Dialect::Postgres => "public",
            Dialect::Databricks | Dialect::Clickhouse => "default",
            Dialect::Mysql | Dialect::Snowflake | Dialect::Bigquery => "",
        };
        wanted.eq_ignore_ascii_case(own) || same(wanted, &self.bound.catalog.database, self.dialect, Naming::Table)
    }

    /// Tables of the engine itself, whose columns the catalog does not list.
    pub(super) fn is_system_table(&self, parts: &[&Ident]) -> bool {
        let lower: Vec<String> = parts.iter().map(|p| p.value.to_lowercase()).collect();
        let Some(name) = lower.last() else { return false };
        let schema = lower
            .len()
            .checked_sub(2)
            .and_then(|i| lower.get(i))
            .map(String::as_str);
        match self.dialect {
            Dialect::Sqlite => {
                matches!(
                    name.as_str(),
                    "sqlite_master"
                        | "sqlite_schema"
                        | "sqlite_temp_master"
                        | "sqlite_temp_schema"
                        | "sqlite_sequence"
                        | "sqlite_stat1"
                        | "sqlite_stat4"
                        | "dbstat"
                        | "pragma_table_list"
                )
            }
            Dialect::Postgres => {
                matches!(schema, Some("information_schema" | "pg_catalog"))
                    || (schema.is_none() && name.starts_with("pg_"))
            }
            Dialect::Mysql => {
                matches!(
                    schema,
                    Some("information_schema" | "performance_schema" | "sys" | "mysql")
                ) || (schema.is_none() && name == "dual")
            }
            Dialect::Duckdb => {
                matches!(schema, Some("information_schema" | "pg_catalog"))
                    || ["duckdb_", "sqlite_master", "pg_"].iter().any(|p| name.starts_with(p))
            }
            Dialect::Snowflake | Dialect::Databricks | Dialect::Bigquery => {
                matches!(schema, Some("information_schema" | "account_usage")) || name.contains("information_schema")
            }
            Dialect::Clickhouse => {
                matches!(schema, Some("system" | "information_schema")) || (schema.is_none() && name == "one")
            }
        }
    }

    /// BigQuery's `FROM t, t.items`: an array column of an entry before.
    pub(super) fn is_column_path(&self, block: usize, parts: &[&Ident]) -> bool {
        let Some(first) = parts.first() else { return false };
        let name = fold(first, self.dialect, Naming::Table);
        parts.len() > 1
            && matches!(
                self.dialect,
                Dialect::Bigquery | Dialect::Snowflake | Dialect::Databricks
            )
            && self.bound.blocks.get(block).is_some_and(|b| {
                b.relations
                    .iter()
                    .any(|r| same(&name, &r.name, self.dialect, Naming::Table))
            })
    }
}

/// Clauses in which an output alias hides a column of the same name.
fn alias_comes_first(dialect: Dialect, clause: Clause) -> bool {
    match clause {
        Clause::OrderBy => true,
        Clause::Having => matches!(dialect, Dialect::Mysql),
        Clause::On | Clause::Where | Clause::Item | Clause::GroupBy | Clause::Qualify => false,
    }
}

/// Clauses in which an output alias can be named at all.
fn alias_is_seen(dialect: Dialect, clause: Clause) -> bool {
    use Dialect as D;
    match clause {
        Clause::OrderBy | Clause::GroupBy | Clause::Qualify => true,
        Clause::Having => dialect != D::Postgres,
        Clause::Where | Clause::On => matches!(dialect, D::Sqlite | D::Duckdb | D::Snowflake | D::Clickhouse),
        Clause::Item => matches!(dialect, D::Duckdb | D::Snowflake | D::Databricks | D::Clickhouse),
    }
}
