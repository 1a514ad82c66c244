//! Numbers that are no cell: the sum, difference, ratio or change of two cells that the sentence is about.

use super::prose::Unit;
use super::table::{Place, Table, Wanted};
use super::{CellRef, Operation, Source};

/// Larger tables are lists, and nobody subtracts two of their cells in a sentence.
const MOST_ROWS: usize = 500;
/// With so few rows a sentence about two of them need not name them.
const ROWS_WITHOUT_NAMES: usize = 2;
/// One digit is equal to some ratio by chance too often, and so are two among many pairs of cells.
const DIGITS: i32 = 2;
const DIGITS_AMONG_MANY: i32 = 3;
/// With so few pairs of cells two digits are enough.
const FEW_PAIRS: usize = 12;
/// A number that stands in more cells than this states none of them.
const MOST_STATED: usize = 8;

/// The formula that gives `wanted`: of two cells that the sentence states itself ("1,026 after 1,154, −11.1%"), else of
/// two cells whose rows it names.
pub(super) fn formula(tables: &[&Table<'_>], wanted: &Wanted, unit: &Unit) -> Option<Source> {
    if wanted.significant_digits() < DIGITS {
        return None;
    }
    let of_stated = tables.iter().find_map(|table| {
        let stated = stated(table, wanted, unit);
        let pairs = stated
            .iter()
            .flat_map(|left| stated.iter().map(move |right| (*left, *right)));
        let mut in_line = pairs.filter(|(left, right)| (left.row == right.row) != (left.column == right.column));
        in_line.find_map(|(left, right)| operation(table, wanted, left, right))
    });
    of_stated.or_else(|| tables.iter().find_map(|table| of_named_rows(table, wanted, unit)))
}

/// The cells that other numbers of the sentence state.
fn stated(table: &Table<'_>, wanted: &Wanted, unit: &Unit) -> Vec<Place> {
    let others = unit
        .numerals
        .iter()
        .map(Wanted::new)
        .filter(|other| other != wanted && other.significant_digits() >= DIGITS);
    let mut places: Vec<Place> = Vec::new();
    for found in others.map(|other| table.find(&other, MOST_STATED + 1)) {
        if found.len() <= MOST_STATED {
            places.extend(found);
        }
    }
    places
}

fn of_named_rows(table: &Table<'_>, wanted: &Wanted, unit: &Unit) -> Option<Source> {
    if table.rows() > MOST_ROWS {
        return None;
    }
    let is_meant = |row: &usize| table.rows() <= ROWS_WITHOUT_NAMES || table.names_row_in(*row, &unit.words);
    let rows: Vec<usize> = (0..table.rows()).filter(is_meant).collect();
    let columns: Vec<usize> = table.numeric_columns().collect();
    let pairs_of = |count: usize| count * count.saturating_sub(1);
    let count = columns.len() * pairs_of(rows.len()) + rows.len() * pairs_of(columns.len());
    if count > FEW_PAIRS && wanted.significant_digits() < DIGITS_AMONG_MANY {
        return None;
    }
    let place = |row: usize, column: usize| Place { row, column };
    let down = columns
        .iter()
        .flat_map(|column| pairs(&rows).map(move |(left, right)| (place(left, *column), place(right, *column))));
    let across = rows
        .iter()
        .flat_map(|row| pairs(&columns).map(move |(left, right)| (place(*row, left), place(*row, right))));
    down.chain(across)
        .find_map(|(left, right)| operation(table, wanted, left, right))
}

/// All ordered pairs of two different members.
fn pairs(members: &[usize]) -> impl Iterator<Item = (usize, usize)> {
    let with_all = |left: &usize| {
        let left = *left;
        members
            .iter()
            .filter(move |right| **right != left)
            .map(move |right| (left, *right))
    };
    members.iter().flat_map(with_all)
}

fn operation(table: &Table<'_>, wanted: &Wanted, left: Place, right: Place) -> Option<Source> {
    let (a, b) = (table.number(left)?, table.number(right)?);
    // A difference of two percentages is in percentage points, so percent signs are allowed there too.
    let operation = if wanted.is(a - b) {
        Operation::Difference
    } else if !wanted.is_percent() && wanted.is(a + b) {
        Operation::Sum
    } else if b != 0.0 && wanted.is_ratio(a / b) {
        Operation::Ratio
    } else if b > 0.0 && wanted.is_percent() && wanted.is_ratio(a / b - 1.0) {
        Operation::Change
    } else {
        return None;
    };
    let reference = |place: Place| CellRef {
        row: place.row,
        column: table.columns.get(place.column).cloned().unwrap_or_default(),
    };
    Some(Source::Formula {
        of: table.id.to_owned(),
        operation,
        left: reference(left),
        right: reference(right),
    })
}
