//! At which step of reading an answer went wrong, as far as two statements and their results tell.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};
use sqlparser::ast::{Expr, Value as SqlValue, Visit, Visitor};
use sqlparser::dialect::SQLiteDialect;
use sqlparser::parser::Parser;

use crate::jobs::eval::rows::Table;
use crate::jobs::eval::score::Scorer;
use crate::warehouse::sql::CheckedSql;

/// The step; an item counts in the first that fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// No reading, or none that was sure enough.
    NotRead,
    /// A reading without SQL.
    NotCompiled,
    /// SQL that was refused or failed.
    NotRun,
    /// The right rows in another order.
    Order,
    /// The right rows, some more or less often.
    Duplicates,
    /// A column too many or too few.
    Columns,
    /// Other tables than gold's.
    WrongTable,
    /// The same tables, other columns shown.
    WrongColumn,
    /// Other aggregates.
    WrongAggregate,
    /// Other values or columns in conditions.
    WrongFilter,
    /// The same names, put together otherwise.
    WrongJoin,
}

impl Stage {
    pub fn name(self) -> &'static str {
        match self {
            Stage::NotRead => "not read",
            Stage::NotCompiled => "not compiled",
            Stage::NotRun => "not run",
            Stage::Order => "order",
            Stage::Duplicates => "duplicates",
            Stage::Columns => "extra or missing column",
            Stage::WrongTable => "wrong table",
            Stage::WrongColumn => "wrong column",
            Stage::WrongAggregate => "wrong aggregate",
            Stage::WrongFilter => "wrong filter",
            Stage::WrongJoin => "wrong join",
        }
    }
}

/// What a statement names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facts {
    tables: BTreeSet<String>,
    /// Columns read anywhere.
    reads: BTreeSet<String>,
    /// Columns shown, computed ones by what they come from.
    shows: BTreeSet<String>,
    /// `count`, `sum`, …
    aggregates: BTreeSet<String>,
    /// Numbers and texts, in lower case.
    literals: BTreeSet<String>,
}

impl Facts {
    pub fn of(checked: &CheckedSql) -> Self {
        let table = |column: &String| {
            column
                .rsplit_once('.')
                .map_or(column.clone(), |(table, _)| table.to_owned())
        };
        let mut named = Named::default();
        if let Ok(statements) = Parser::parse_sql(&SQLiteDialect {}, checked.text()) {
            let _: ControlFlow<()> = statements.visit(&mut named);
        }
        Self {
            tables: checked.reads().iter().map(table).collect(),
            reads: checked.reads().iter().cloned().collect(),
            shows: checked
                .lineage()
                .iter()
                .flat_map(|column| column.sources.clone())
                .collect(),
            aggregates: named.aggregates,
            literals: named.literals,
        }
    }
}

#[derive(Default)]
struct Named {
    aggregates: BTreeSet<String>,
    literals: BTreeSet<String>,
}

impl Visitor for Named {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        match expr {
            Expr::Function(function) => {
                let name = function.name.to_string().to_lowercase();
                if ["count", "sum", "avg", "min", "max"].contains(&name.as_str()) {
                    self.aggregates.insert(name);
                }
            }
            Expr::Value(value) => {
                if let SqlValue::Number(text, _) | SqlValue::SingleQuotedString(text) = &value.value {
                    self.literals.insert(text.trim_matches('%').to_lowercase());
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// Where a wrong answer left the way of gold.
pub fn stage(gold: (&Table, &Facts), answer: (&Table, &Facts)) -> Stage {
    let ((gold_rows, gold), (rows, own)) = (gold, answer);
    if Scorer::Strict.agrees(gold_rows, rows, false) {
        return Stage::Order;
    }
    if Scorer::Strict.agrees(&gold_rows.distinct(), &rows.distinct(), false) {
        return Stage::Duplicates;
    }
    if Scorer::Lenient.agrees(gold_rows, rows, false) || Scorer::Lenient.agrees(rows, gold_rows, false) {
        return Stage::Columns;
    }
    if gold.tables != own.tables {
        return Stage::WrongTable;
    }
    if gold.aggregates != own.aggregates {
        return Stage::WrongAggregate;
    }
    if gold.shows != own.shows {
        return Stage::WrongColumn;
    }
    if gold.literals != own.literals || gold.reads != own.reads {
        return Stage::WrongFilter;
    }
    Stage::WrongJoin
}
