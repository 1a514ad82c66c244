//! The kind of question, told by the shape of its gold statement.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};
use sqlparser::ast::{GroupByExpr, ObjectName, Query, SetExpr, Visit, Visitor};
use sqlparser::dialect::SQLiteDialect;
use sqlparser::parser::Parser;

/// What is hardest about a statement; each counts in the last that it fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// One table, no groups.
    SingleTable,
    Join,
    Group,
    Having,
    /// A query inside a query.
    Nested,
    /// UNION, INTERSECT, EXCEPT.
    Set,
    /// It could not be parsed.
    Unknown,
}

impl Shape {
    pub fn name(self) -> &'static str {
        match self {
            Shape::SingleTable => "single table",
            Shape::Join => "join",
            Shape::Group => "group",
            Shape::Having => "having",
            Shape::Nested => "nested",
            Shape::Set => "set",
            Shape::Unknown => "unknown",
        }
    }

    pub fn of(sql: &str) -> Self {
        let Ok(statements) = Parser::parse_sql(&SQLiteDialect {}, sql) else {
            return Shape::Unknown;
        };
        let mut seen = Seen::default();
        let _: ControlFlow<()> = statements.visit(&mut seen);
        match seen {
            Seen { sets: true, .. } => Shape::Set,
            Seen { selects: 2.., .. } => Shape::Nested,
            Seen { having: true, .. } => Shape::Having,
            Seen { groups: true, .. } => Shape::Group,
            Seen { tables: 2.., .. } => Shape::Join,
            Seen { .. } => Shape::SingleTable,
        }
    }
}

#[derive(Default)]
struct Seen {
    tables: usize,
    selects: usize,
    groups: bool,
    having: bool,
    sets: bool,
}

impl Seen {
    fn body(&mut self, body: &SetExpr) {
        match body {
            SetExpr::Select(select) => {
                self.selects += 1;
                self.having |= select.having.is_some();
                self.groups |= match &select.group_by {
                    GroupByExpr::All(_) => true,
                    GroupByExpr::Expressions(by, _) => !by.is_empty(),
                };
            }
            SetExpr::SetOperation { left, right, .. } => {
                self.sets = true;
                self.body(left);
                self.body(right);
            }
            // Queries in parentheses are visited as queries; the rest has no shape.
            _ => {}
        }
    }
}

impl Visitor for Seen {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        self.body(&query.body);
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, _: &ObjectName) -> ControlFlow<()> {
        self.tables += 1;
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("SELECT name FROM a WHERE x = 1 ORDER BY y LIMIT 1", Shape::SingleTable)]
    #[case("SELECT a.name FROM a JOIN b ON a.i = b.i", Shape::Join)]
    #[case("SELECT a.name FROM a, b WHERE a.i = b.i", Shape::Join)]
    #[case("SELECT x, COUNT(*) FROM a JOIN b ON a.i = b.i GROUP BY x", Shape::Group)]
    #[case("SELECT x FROM a GROUP BY x HAVING COUNT(*) > 1", Shape::Having)]
    #[case("SELECT x FROM a WHERE y NOT IN (SELECT y FROM b)", Shape::Nested)]
    #[case("SELECT x FROM (SELECT x FROM a)", Shape::Nested)]
    #[case("SELECT x FROM a INTERSECT SELECT x FROM b", Shape::Set)]
    #[case("SELECT FROM WHERE", Shape::Unknown)]
    fn a_statement_has_a_shape(#[case] sql: &str, #[case] expected: Shape) {
        assert_eq!(Shape::of(sql), expected);
    }
}
