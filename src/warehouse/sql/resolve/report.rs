//! The words of the resolver: what is unknown or ambiguous, where, and what the real names are.

use std::ops::Range;

use sqlparser::ast::Ident;

use super::Binder;
use super::model::{ColumnRef, Shape};
use crate::warehouse::catalog::{Table, quote};
use crate::warehouse::sql::names::{likeness, nearest};
use crate::warehouse::sql::{Position, Reason};

/// Names listed in one message.
const LISTED: usize = 3;
/// Likeness from which a name in scope is a misspelling rather than a column of another table.
const MISSPELT: f64 = 0.72;

fn list(names: &[String]) -> String {
    names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
}

/// ` at line 3, column 8`, where the position is known.
fn place(ident: &Ident) -> String {
    match ident.span.start.line {
        0 => String::new(),
        line => format!(" at line {line}, column {}", ident.span.start.column),
    }
}

impl Binder<'_> {
    pub(super) fn refuse(&mut self, code: &str, message: String, suggestion: Option<String>) {
        self.reasons.push(Reason {
            code: code.to_owned(),
            message,
            suggestion,
            position: None,
        });
    }

    /// The same where `ident` is at fault.
    fn refuse_name(&mut self, code: &str, message: String, suggestion: Option<String>, ident: &Ident) {
        self.reasons.push(Reason {
            code: code.to_owned(),
            message,
            suggestion,
            position: Position::of(ident.span.start),
        });
    }

    /// No column `ident` in the relations in scope, or in the one that its qualifier names.
    pub(super) fn unknown_column(&mut self, ident: &Ident, only: Option<(usize, usize)>) {
        let candidates = self.columns_in_sight(only);
        let mut near = nearest(&ident.value, candidates.iter().map(|(_, c)| c.as_str()), LISTED);
        let best = near.first().map_or(0.0, |n| likeness(&ident.value, n));
        let elsewhere = self.tables_with(&ident.value);
        let scope = match only {
            Some((block, relation)) => self
                .bound
                .blocks
                .get(block)
                .and_then(|b| b.relations.get(relation))
                .map(|r| format!(" in `{}`", r.name))
                .unwrap_or_default(),
            None => {
                let mut names: Vec<String> = candidates.iter().map(|(r, _)| r.clone()).collect();
                names.dedup();
                if names.is_empty() {
                    " (the query has no FROM)".to_owned()
                } else {
                    format!(" in {}", list(&names))
                }
            }
        };
        let mut message = format!("no column `{}`{scope}{}", ident.value, place(ident));
        if best < MISSPELT && !elsewhere.is_empty() {
            near.clear();
        }
        let suggestion = match (near.first(), elsewhere.first()) {
            (Some(name), _) => Some(quote(self.dialect, name)),
            (None, Some(qualified)) => Some(qualified.clone()),
            (None, None) => None,
        };
        if !near.is_empty() {
            message.push_str(&format!("; did you mean {}?", list(&near)));
        }
        if !elsewhere.is_empty() {
            message.push_str(&format!("; tables that have it: {}", list(&elsewhere)));
        }
        if near.is_empty() && elsewhere.is_empty() {
            let all: Vec<String> = candidates.iter().map(|(_, c)| c.clone()).take(12).collect();
            if !all.is_empty() {
                message.push_str(&format!("; the columns are {}", list(&all)));
            }
        }
        self.refuse_name("unknown-column", message, suggestion, ident);
    }

    /// Relation and column names that could have been meant, innermost scope first.
    fn columns_in_sight(&self, only: Option<(usize, usize)>) -> Vec<(String, String)> {
        let mut all = Vec::new();
        for scope in self.scopes.iter().rev() {
            let Some(block) = self.bound.blocks.get(scope.block) else {
                continue;
            };
            for (i, r) in block.relations.iter().enumerate() {
                if only.is_none_or(|only| only == (scope.block, i)) {
                    all.extend(r.shape.fields.iter().map(|f| (r.name.clone(), f.name.clone())));
                }
            }
        }
        all
    }

    /// Qualified names of columns of the catalog that are called `name`, whatever the case.
    fn tables_with(&self, name: &str) -> Vec<String> {
        let lower = name.to_lowercase();
        let mut found: Vec<String> = Vec::new();
        for table in &self.bound.catalog.tables {
            for column in table.columns.iter().filter(|c| c.name.to_lowercase() == lower) {
                found.push(format!(
                    "{}.{}",
                    self.table_name(table),
                    quote(self.dialect, &column.name)
                ));
            }
        }
        found.truncate(LISTED);
        found
    }

    /// A table's name as it must be written here.
    fn table_name(&self, table: &Table) -> String {
        let name = quote(self.dialect, &table.name);
        match &table.schema {
            Some(schema) if !self.bound.catalog.search_path.contains(schema) => {
                format!("{}.{name}", quote(self.dialect, schema))
            }
            _ => name,
        }
    }

    pub(super) fn unknown_table(&mut self, parts: &[&Ident]) {
        let Some(last) = parts.last() else { return };
        let shown = parts.iter().map(|p| p.value.as_str()).collect::<Vec<_>>().join(".");
        let tables = &self.bound.catalog.tables;
        let ctes: Vec<String> = self.ctes.iter().map(|c| c.name.clone()).collect();
        let mut scored: Vec<(f64, String)> = tables
            .iter()
            .map(|t| (likeness(&last.value, &t.name), self.table_name(t)))
            .chain(ctes.into_iter().map(|c| (likeness(&last.value, &c), c)))
            .filter(|(score, _)| *score >= 0.6)
            .collect();
        scored.sort_by(|(a, left), (b, right)| b.total_cmp(a).then_with(|| left.cmp(right)));
        let near: Vec<String> = scored.into_iter().take(LISTED).map(|(_, name)| name).collect();
        let mut message = format!("no table `{shown}`{}", place(last));
        if !near.is_empty() {
            message.push_str(&format!("; did you mean {}?", list(&near)));
        } else {
            let some: Vec<String> = tables.iter().take(10).map(|t| self.table_name(t)).collect();
            let more = if tables.len() > some.len() { ", …" } else { "" };
            message.push_str(&format!("; the tables are {}{more}", list(&some)));
        }
        self.refuse_name("unknown-table", message, near.into_iter().next(), last);
    }

    /// `x.y` where nothing in FROM is called x.
    pub(super) fn unknown_qualifier(&mut self, parts: &[Ident]) {
        let (Some((column, qualifier)), true) = (parts.split_last(), parts.len() > 1) else {
            return;
        };
        let wrong = qualifier.last().map_or("", |i| i.value.as_str());
        let mut names: Vec<String> = Vec::new();
        // The alias of the table that is meant by its real name, and relations that do have the column, come first.
        let (mut by_table, mut with_column): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        for scope in self.scopes.iter().rev() {
            let Some(block) = self.bound.blocks.get(scope.block) else {
                continue;
            };
            for r in &block.relations {
                let real = r
                    .table
                    .and_then(|t| self.bound.catalog.tables.get(t))
                    .map(|t| t.name.as_str());
                if real.is_some_and(|t| t.eq_ignore_ascii_case(wrong)) {
                    by_table.push(r.name.clone());
                }
                if r.shape
                    .fields
                    .iter()
                    .any(|f| f.name.eq_ignore_ascii_case(&column.value))
                {
                    with_column.push(r.name.clone());
                }
                names.push(r.name.clone());
            }
        }
        let near = nearest(wrong, names.iter().map(String::as_str), LISTED);
        let best = by_table
            .first()
            .or_else(|| near.iter().find(|n| with_column.contains(n)))
            .or(with_column.first())
            .or(near.first());
        let suggestion = best.map(|relation| {
            format!(
                "{}.{}",
                quote(self.dialect, relation),
                quote(self.dialect, &column.value)
            )
        });
        let hint = match &suggestion {
            Some(s) => format!("; did you mean `{s}`?"),
            None if names.is_empty() => String::new(),
            None => format!("; FROM has {}", list(&names)),
        };
        let message = format!("nothing in FROM is called `{wrong}`{}{hint}", place(column));
        self.refuse_name("unknown-table", message, suggestion, column);
    }

    pub(super) fn unknown_star(&mut self, block: usize, qualifier: &[Ident]) {
        let names: Vec<String> = self
            .bound
            .blocks
            .get(block)
            .map(|b| b.relations.iter().map(|r| r.name.clone()).collect())
            .unwrap_or_default();
        let wrong = qualifier.last().map_or("", |i| i.value.as_str());
        let near = nearest(wrong, names.iter().map(String::as_str), LISTED);
        let message = format!("nothing in FROM is called `{wrong}`; FROM has {}", list(&names));
        self.refuse(
            "unknown-table",
            message,
            near.into_iter().next().map(|n| format!("{n}.*")),
        );
    }

    pub(super) fn unknown_using(&mut self, block: usize, name: &Ident, side: Range<usize>) {
        let Some(b) = self.bound.blocks.get(block) else { return };
        let relations: Vec<_> = b.relations.iter().skip(side.start).take(side.len()).collect();
        let names: Vec<String> = relations.iter().map(|r| r.name.clone()).collect();
        let near = nearest(
            &name.value,
            relations
                .iter()
                .flat_map(|r| r.shape.fields.iter().map(|f| f.name.as_str())),
            LISTED,
        );
        let hint = if near.is_empty() {
            String::new()
        } else {
            format!("; did you mean {}?", list(&near))
        };
        let message = format!(
            "USING needs a column `{}` in {}{}{hint}",
            name.value,
            list(&names),
            place(name)
        );
        let suggestion = near.first().map(|n| quote(self.dialect, n));
        self.refuse_name("unknown-column", message, suggestion, name);
    }

    pub(super) fn unknown_output(&mut self, ident: &Ident, shape: &Shape) {
        let near = nearest(&ident.value, shape.fields.iter().map(|f| f.name.as_str()), LISTED);
        let hint = if near.is_empty() {
            String::new()
        } else {
            format!("; did you mean {}?", list(&near))
        };
        let message = format!(
            "ORDER BY after a set operation sees its output columns alone, and none is `{}`{}{hint}",
            ident.value,
            place(ident)
        );
        let suggestion = near.first().map(|n| quote(self.dialect, n));
        self.refuse_name("unknown-column", message, suggestion, ident);
    }

    pub(super) fn ambiguous(&mut self, ident: &Ident, columns: &[ColumnRef]) {
        let name = quote(self.dialect, &ident.value);
        let candidates: Vec<String> = columns
            .iter()
            .filter_map(|c| self.bound.relation(*c))
            .map(|r| format!("{}.{name}", quote(self.dialect, &r.name)))
            .collect();
        let message = format!(
            "`{}` is in several tables of FROM{}; write one of {}",
            ident.value,
            place(ident),
            list(&candidates)
        );
        self.refuse_name("ambiguous-column", message, candidates.into_iter().next(), ident);
    }
}
