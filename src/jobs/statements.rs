//! An open database for single statements: what it contains, what may run on it, and the rows that come back.
//!
//! Unlike [`Database`](super::database::Database) it reads no values that nobody asked for, so it is open at once.

use tokio_util::sync::CancellationToken;

use crate::jobs::database::{DatabaseError, Source, connect};
use crate::meaning::semantic;
use crate::warehouse::catalog::pattern::fits_pattern;
use crate::warehouse::catalog::search::SearchIndex;
use crate::warehouse::catalog::values::ValueIndex;
use crate::warehouse::catalog::{Catalog, Table, TableKind};
use crate::warehouse::engine::{Engine, Known};
use crate::warehouse::profile;
use crate::warehouse::sql::{self, CheckedSql, Refusal};

/// Tables that a search by words gives at most.
const MOST_FOUND: usize = 20;
/// Names proposed where nothing was found.
const PROPOSED: usize = 3;

/// An open database with its catalog.
#[derive(Debug)]
pub struct Statements {
    pub engine: Engine,
    /// Profiles are there for tables that were measured.
    pub catalog: Catalog,
    /// The words of the catalog's names.
    search: SearchIndex,
}

impl Statements {
    /// Opens `source` and reads its catalog, with the keys that its semantic model states. A database without tables is
    /// no error here: `SELECT 1` runs on it.
    pub async fn open(source: &Source) -> Result<Self, DatabaseError> {
        let connected = connect(source).await?;
        let Known {
            mut catalog,
            mut search,
        } = connected.engine.known().await?;
        if let Some(semantics) = connected.semantic {
            semantic::hand_down(&semantics.load(&catalog)?, &mut catalog);
            search = SearchIndex::build(&catalog, &ValueIndex::default());
        }
        Ok(Self {
            engine: connected.engine,
            catalog,
            search,
        })
    }

    /// Checks `text` against the catalog as it is known.
    pub fn check(&self, text: &str) -> Result<CheckedSql, Refusal> {
        sql::check(text, self.engine.dialect(), Some(&self.catalog))
    }

    /// Checks `text` after the values of the tables that it reads were measured, which makes lints surer: whether a
    /// column has times of day or NULLs is then known.
    ///
    /// The outer error says that the database could not be read, the inner one that the statement may not run.
    pub async fn check_measured(
        &mut self,
        text: &str,
        cancel: &CancellationToken,
    ) -> Result<Result<CheckedSql, Refusal>, DatabaseError> {
        let checked = match self.check(text) {
            Ok(checked) => checked,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let reads = |table: &Table| {
            let columns = table
                .columns
                .iter()
                .map(|column| format!("{}.{}", table.qualified_name(), column.name));
            columns.into_iter().any(|column| checked.reads().contains(&column))
        };
        if self.measure(reads, cancel).await? == 0 {
            return Ok(Ok(checked));
        }
        Ok(self.check(text))
    }

    /// Measures the values of the tables that `wanted` picks and that were not measured before; gives their number.
    pub async fn measure(
        &mut self,
        wanted: impl Fn(&Table) -> bool,
        cancel: &CancellationToken,
    ) -> Result<usize, DatabaseError> {
        let unmeasured = |table: &Table| table.columns.iter().all(|column| column.profile.is_none());
        let places: Vec<usize> = self
            .catalog
            .tables
            .iter()
            .enumerate()
            .filter(|(_, table)| table.kind == TableKind::Table && unmeasured(table) && wanted(table))
            .map(|(place, _)| place)
            .collect();
        if places.is_empty() {
            return Ok(0);
        }
        let mut part = Catalog {
            tables: places
                .iter()
                .filter_map(|place| self.catalog.tables.get(*place).cloned())
                .collect(),
            notes: Vec::new(),
            ..Catalog::empty(self.catalog.dialect, self.catalog.database.clone())
        };
        profile::survey(&self.engine, &mut part, cancel).await?;
        for (place, measured) in places.iter().zip(part.tables) {
            if let Some(table) = self.catalog.tables.get_mut(*place) {
                *table = measured;
            }
        }
        self.catalog.notes.extend(part.notes);
        Ok(places.len())
    }

    /// The names of the tables that `pattern` picks, in the catalog's order: those of that name (`*` and `?` stand for
    /// letters), else those with it in their name, else those with such a column, else those that its words are about.
    ///
    /// Errors with the nearest names where there is none.
    pub fn find(&self, pattern: &str) -> Result<Vec<String>, Vec<String>> {
        let wanted = pattern.to_lowercase();
        let named = |table: &Table, fits: &dyn Fn(&str) -> bool| {
            fits(&table.name.to_lowercase()) || fits(&table.qualified_name().to_lowercase())
        };
        let has_column = |table: &Table| {
            let mut columns = table.columns.iter();
            columns.any(|column| fits_pattern(&wanted, &column.name.to_lowercase()))
        };
        let steps: [&dyn Fn(&Table) -> bool; 3] = [
            &|table| named(table, &|name| fits_pattern(&wanted, name)),
            &|table| named(table, &|name| name.contains(&wanted)),
            &has_column,
        ];
        for step in steps {
            let found: Vec<String> = self.names(step).collect();
            if !found.is_empty() {
                return Ok(found);
            }
        }
        let about: Vec<String> = self
            .search
            .search(pattern, MOST_FOUND)
            .into_iter()
            .map(|hit| hit.table)
            .collect();
        if about.is_empty() {
            let all: Vec<String> = self.names(&|_| true).collect();
            return Err(sql::nearest(pattern, all.iter().map(String::as_str), PROPOSED));
        }
        Ok(self.names(&|table| about.contains(&table.qualified_name())).collect())
    }

    fn names<'a>(&'a self, fits: &'a dyn Fn(&Table) -> bool) -> impl Iterator<Item = String> + 'a {
        self.catalog
            .tables
            .iter()
            .filter(move |table| fits(table))
            .map(Table::qualified_name)
    }
}
