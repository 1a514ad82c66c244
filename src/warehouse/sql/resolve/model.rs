//! What resolving a statement yields: its SELECT blocks, the relations in each, and what every name means.

use std::collections::HashMap;
use std::rc::Rc;

use sqlparser::ast::{Expr, Ident, ObjectName, Query, Select};

use crate::warehouse::catalog::{Catalog, DataType};

/// A column of a table in the catalog, by position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::warehouse::sql) struct Source {
    pub table: usize,
    pub column: usize,
}

/// The kinds of value that lints tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::warehouse::sql) enum Kind {
    Boolean,
    Integer,
    Float,
    Decimal,
    Text,
    Date,
    Time,
    /// Date and time, with or without a zone.
    DateTime,
    Other,
}

impl Kind {
    pub fn of(data_type: &DataType) -> Self {
        match data_type {
            DataType::Boolean => Self::Boolean,
            DataType::Integer => Self::Integer,
            DataType::Float => Self::Float,
            DataType::Decimal { .. } => Self::Decimal,
            DataType::Text => Self::Text,
            DataType::Date => Self::Date,
            DataType::Time => Self::Time,
            DataType::DateTime | DataType::DateTimeTz => Self::DateTime,
            DataType::Blob | DataType::Json | DataType::Other(_) => Self::Other,
        }
    }

    pub fn is_number(self) -> bool {
        matches!(self, Self::Integer | Self::Float | Self::Decimal)
    }
}

/// How the value of a field comes about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::warehouse::sql) enum Origin {
    /// A table's column, passed on unchanged.
    Column(Source),
    /// The result of an aggregate; `average` for AVG and its like.
    Aggregate { average: bool },
    /// Anything computed, or unknown.
    Computed,
}

/// A column of a relation in scope.
#[derive(Debug, Clone)]
pub(in crate::warehouse::sql) struct Field {
    pub name: String,
    pub kind: Option<Kind>,
    pub nullable: bool,
    /// The table columns that it is computed from, sorted, without repeats.
    pub sources: Vec<Source>,
    pub origin: Origin,
    /// Rows of the relation that this field comes from are repeated by a join further inside.
    pub multiplied_by: Option<Rc<str>>,
}

/// The columns of a table, CTE, derived table or query, and what is known of its rows.
#[derive(Debug, Clone, Default)]
pub(in crate::warehouse::sql) struct Shape {
    pub fields: Vec<Field>,
    /// Sets of field positions that no two rows share; the empty set means at most one row.
    pub keys: Vec<Vec<usize>>,
    /// Columns are not fully known (table functions, unknown system tables): any name may exist.
    pub open: bool,
}

impl Shape {
    pub fn single_row(&self) -> bool {
        self.keys.iter().any(Vec::is_empty)
    }
}

/// One entry of a FROM clause.
#[derive(Debug, Clone)]
pub(in crate::warehouse::sql) struct Relation {
    /// Its alias, or the table's own name, as the engine stores it.
    pub name: String,
    pub schema: Option<String>,
    /// The catalog's table, when it is one.
    pub table: Option<usize>,
    /// A CTE or derived table may be a plain view of blocks; the first of them.
    pub shape: Rc<Shape>,
    /// Rows may be missing (filled with NULL) because of an outer join.
    pub optional: bool,
    /// It was given an alias that differs from the table's name.
    pub aliased: bool,
}

/// What a name in an expression means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::warehouse::sql) enum Meaning {
    Column(ColumnRef),
    /// An output column of block `block`, by its alias.
    Alias {
        block: usize,
        item: usize,
    },
    /// SQLite's double-quoted string literal.
    Literal,
}

/// A field of a relation of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::warehouse::sql) struct ColumnRef {
    pub block: usize,
    pub relation: usize,
    pub field: usize,
}

/// What a name in FROM stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::warehouse::sql) enum Used {
    /// The catalog's table, by position.
    Table(usize),
    Cte,
    /// A table of the engine itself, or one that is not known.
    Other,
}

/// Where a block stands in the statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::warehouse::sql) enum Place {
    /// Its rows are the statement's result (or a branch of it).
    Top,
    /// A CTE or derived table.
    From,
    /// `EXISTS (…)`.
    Exists,
    /// `x IN (…)`, ANY, ALL.
    Membership,
    /// A scalar sub-query.
    Scalar,
}

/// How relations came together.
#[derive(Debug, Clone)]
pub(in crate::warehouse::sql) struct Joined<'a> {
    /// Relations from this position up to `end` came in with this join.
    pub start: usize,
    pub end: usize,
    pub how: How,
    pub on: Option<&'a Expr>,
}

/// The words that joined a relation to those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::warehouse::sql) enum How {
    /// First of the FROM clause.
    First,
    Comma,
    /// CROSS JOIN in words: meant.
    Cross,
    /// JOIN with ON, USING or NATURAL.
    Condition,
    /// JOIN without any condition.
    Bare,
    /// LATERAL, UNNEST and table functions, which are tied to the row before them.
    Lateral,
}

/// One SELECT with what its names mean.
#[derive(Debug)]
pub(in crate::warehouse::sql) struct Block<'a> {
    pub select: &'a Select,
    /// The query whose whole body this SELECT is, for its ORDER BY and LIMIT.
    pub query: Option<&'a Query>,
    pub place: Place,
    pub relations: Vec<Relation>,
    pub joins: Vec<Joined<'a>>,
    /// Pairs that USING and NATURAL equate.
    pub pairs: Vec<(ColumnRef, ColumnRef)>,
    /// Columns that USING and NATURAL show once: the field that is shown, and those that it hides.
    pub merged: Vec<(ColumnRef, Vec<ColumnRef>)>,
    pub items: Vec<Item<'a>>,
    /// Has GROUP BY or an aggregate in its select list or HAVING.
    pub grouped: bool,
    /// The expressions of GROUP BY, with positions and aliases replaced by what they stand for.
    pub group_by: Vec<&'a Expr>,
    /// The bound output.
    pub output: Rc<Shape>,
}

/// One column of a SELECT's output.
#[derive(Debug, Clone)]
pub(in crate::warehouse::sql) struct Item<'a> {
    pub name: String,
    pub alias: Option<&'a Ident>,
    /// `None` for a column that a star stands for.
    pub expr: Option<&'a Expr>,
    /// The column that a star stands for.
    pub column: Option<ColumnRef>,
}

/// A whole statement with every name resolved.
pub(in crate::warehouse::sql) struct Bound<'a> {
    pub catalog: &'a Catalog,
    /// In the order in which they were entered; a sub-query comes after the block that contains it.
    pub blocks: Vec<Block<'a>>,
    /// By the address of the name's expression in the tree, which does not move while it is looked at.
    pub meanings: HashMap<usize, Meaning>,
    pub output: Rc<Shape>,
    /// What the names in FROM stand for, by the address of each.
    pub used: HashMap<usize, Used>,
    /// Every table column that the statement reads anywhere.
    pub read: Vec<Source>,
    /// Double-quoted words that were taken as strings.
    pub quoted_strings: Vec<&'a Ident>,
    /// A name without qualifier was found only in a query around its own.
    pub reaches_out: bool,
}

/// The key of an expression in [`Bound::meanings`].
pub(in crate::warehouse::sql) fn address(expr: &Expr) -> usize {
    std::ptr::from_ref(expr).addr()
}

/// The key of a name in [`Bound::used`].
pub(in crate::warehouse::sql) fn address_of(name: &ObjectName) -> usize {
    std::ptr::from_ref(name).addr()
}

impl Bound<'_> {
    /// What `expr` means when it is a name.
    pub fn meaning(&self, expr: &Expr) -> Option<Meaning> {
        match expr {
            Expr::Nested(inner) => self.meaning(inner),
            _ => self.meanings.get(&address(expr)).copied(),
        }
    }

    /// The column that `expr` is, when it is a plain name of one (through an alias of a plain column, too).
    pub fn column(&self, expr: &Expr) -> Option<ColumnRef> {
        match self.meaning(expr)? {
            Meaning::Column(column) => Some(column),
            Meaning::Alias { block, item } => {
                let item = self.blocks.get(block)?.items.get(item)?;
                item.column.or_else(|| item.expr.and_then(|e| self.column(e)))
            }
            Meaning::Literal => None,
        }
    }

    pub fn field(&self, column: ColumnRef) -> Option<&Field> {
        self.blocks
            .get(column.block)?
            .relations
            .get(column.relation)?
            .shape
            .fields
            .get(column.field)
    }

    pub fn relation(&self, column: ColumnRef) -> Option<&Relation> {
        self.blocks.get(column.block)?.relations.get(column.relation)
    }
}
