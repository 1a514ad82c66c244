//! Binding: for each number of an answer, the cell, count or formula that it equals.

use super::formula::formula;
use super::prose::{Mention, Prose, Unit};
use super::table::{Place, Table, Wanted};
use super::{BindInput, Counts, EVIDENCE_VERSION, Evidence, Figure, Source, Strength};

/// Equal cells that are looked at to find the one whose row the sentence names.
const CANDIDATES: usize = 256;
/// In a run with more tables than this, a short number is in one of them by chance.
const FEW_TABLES: usize = 2;
/// A number with fewer digits is short.
const DIGITS_OF_LONG_NUMBERS: i32 = 3;

/// Binds every number of `input.answer`.
///
/// What is cited in the number's own sentence, bullet or table comes first, then what its paragraph cites, then every
/// table of the run. Sums, differences and ratios of two cells are tried in the first two only, and only between cells that
/// the sentence states or whose rows it names, since among many cells some pair always fits.
/// Years, and numbers that the text asks for ("top 5"), are figures only if a table cited beside them has them.
pub fn bind(input: BindInput<'_>) -> Evidence {
    let tables = Tables::new(&input);
    let prose = Prose::read(input.answer);
    let figures: Vec<Figure> = prose
        .mentions
        .iter()
        .filter_map(|mention| figure(mention, &prose, &tables))
        .collect();
    let count = |strength: Strength| figures.iter().filter(|figure| figure.strength == strength).count();
    let counts = Counts {
        figures: figures.len(),
        cited: count(Strength::Cited),
        nearby: count(Strength::Nearby),
        unverified: count(Strength::None),
    };
    let known = |id: &String| tables.position(id).is_some() || input.charts.iter().any(|chart| chart.id == *id);
    Evidence {
        version: EVIDENCE_VERSION,
        question: input.question.to_owned(),
        figures,
        results: input.results.iter().map(|result| result.record.clone()).collect(),
        derived: input.derived.to_vec(),
        charts: input.charts.to_vec(),
        counts,
        unknown_citations: prose.cited.iter().filter(|id| !known(id)).cloned().collect(),
    }
}

/// All tables of the run, and which of them a citation means.
struct Tables<'a> {
    tables: Vec<Table<'a>>,
    input: &'a BindInput<'a>,
}

impl<'a> Tables<'a> {
    fn new(input: &'a BindInput<'a>) -> Self {
        let results = input.results.iter().map(|result| {
            let row_count = (!result.record.truncated).then_some(result.record.row_count);
            Table::of_result(&result.record.id, &result.record.sql, result.frame, row_count)
        });
        let tables = results.chain(input.derived.iter().map(Table::of_derived)).collect();
        Self { tables, input }
    }

    fn position(&self, id: &str) -> Option<usize> {
        self.tables.iter().position(|table| table.id == id)
    }

    /// The tables that `ids` mean: a chart stands for the table that it draws, and a derived table also for its source.
    fn cited(&self, ids: &[String]) -> Vec<&Table<'a>> {
        let mut positions: Vec<usize> = Vec::new();
        let mut add = |position: Option<usize>| {
            if let Some(position) = position.filter(|position| !positions.contains(position)) {
                positions.push(position);
            }
        };
        let drawn = |id: &String| {
            let chart = self.input.charts.iter().find(|chart| chart.id == *id);
            chart.map_or(id.as_str(), |chart| chart.source.as_str()).to_owned()
        };
        let ids: Vec<String> = ids.iter().map(drawn).collect();
        ids.iter().for_each(|id| add(self.position(id)));
        for derived in self.input.derived.iter().filter(|derived| ids.contains(&derived.id)) {
            add(self.position(&derived.source));
        }
        positions
            .into_iter()
            .filter_map(|position| self.tables.get(position))
            .collect()
    }
}

/// The figure of a mention; `None` when it is no finding.
fn figure(mention: &Mention, prose: &Prose, tables: &Tables<'_>) -> Option<Figure> {
    let wanted = Wanted::new(&mention.numeral);
    let unit = prose.units.get(mention.unit)?;
    let (source, strength) = find(&wanted, unit, tables, mention.may_be_skipped);
    let is_part_of_a_name = || {
        tables
            .tables
            .iter()
            .any(|table| table.has_number_in_name(&mention.text, &unit.words))
    };
    if strength == Strength::None && (mention.may_be_skipped || is_part_of_a_name()) {
        return None;
    }
    Some(Figure {
        text: mention.text.clone(),
        value: wanted.meaning(),
        line: mention.line,
        column: mention.column,
        source,
        strength,
    })
}

fn find(wanted: &Wanted, unit: &Unit, tables: &Tables<'_>, cited_only: bool) -> (Source, Strength) {
    let cited = tables.cited(&unit.citations);
    if let Some(source) = in_cited(&cited, wanted, unit) {
        return (source, Strength::Cited);
    }
    if !cited_only {
        let around = tables.cited(&unit.around);
        let all: Vec<&Table<'_>> = tables.tables.iter().collect();
        let is_telling = all.len() <= FEW_TABLES || wanted.significant_digits() >= DIGITS_OF_LONG_NUMBERS;
        let anywhere = || {
            if is_telling {
                in_tables(&all, wanted, unit)
            } else {
                named_cell(&all, wanted, unit)
            }
        };
        let found = in_cited(&around, wanted, unit)
            .or_else(anywhere)
            .or_else(|| literal(&cited, wanted))
            .or_else(|| literal(&around, wanted));
        if let Some(source) = found {
            return (source, Strength::Nearby);
        }
    }
    (Source::Unverified, Strength::None)
}

/// The best place among the tables: a cell whose row the sentence names, else a fact, a row count, any cell.
fn in_tables(tables: &[&Table<'_>], wanted: &Wanted, unit: &Unit) -> Option<Source> {
    let found: Vec<(&Table<'_>, Vec<Place>)> = tables
        .iter()
        .map(|table| (*table, table.find(wanted, CANDIDATES)))
        .collect();
    let named = best_named_of(&found, unit);
    let fact = || tables.iter().find_map(|table| fact(table, wanted));
    let row_count = || {
        let table = tables
            .iter()
            .find(|table| table.row_count.is_some_and(|count| wanted.is_count(count)))?;
        Some(Source::RowCount {
            result: table.id.to_owned(),
        })
    };
    let any = || {
        found.iter().find_map(|(table, places)| {
            let in_named_column = places.iter().find(|place| names_column(table, place.column, unit));
            in_named_column.or(places.first()).map(|place| cell(table, *place))
        })
    };
    named.or_else(fact).or_else(row_count).or_else(any)
}

/// The sum of a column of a table that has all its rows.
fn column_sum(tables: &[&Table<'_>], wanted: &Wanted) -> Option<Source> {
    tables.iter().find_map(|table| {
        let is_complete = table.row_count == Some(table.rows()) && table.rows() > 1;
        let mut columns = table.numeric_columns().filter(|_| is_complete);
        let column = columns.find(|column| wanted.is(table.column_sum(*column)))?;
        Some(Source::ColumnSum {
            of: table.id.to_owned(),
            column: table.columns.get(column)?.clone(),
        })
    })
}

/// Everything that the cited tables can say: a cell, a formula, a column's sum.
fn in_cited(tables: &[&Table<'_>], wanted: &Wanted, unit: &Unit) -> Option<Source> {
    in_tables(tables, wanted, unit)
        .or_else(|| formula(tables, wanted, unit))
        .or_else(|| column_sum(tables, wanted))
}

/// A cell whose row the sentence names.
fn named_cell(tables: &[&Table<'_>], wanted: &Wanted, unit: &Unit) -> Option<Source> {
    let found: Vec<(&Table<'_>, Vec<Place>)> = tables
        .iter()
        .map(|table| (*table, table.find(wanted, CANDIDATES)))
        .collect();
    best_named_of(&found, unit)
}

fn best_named_of(found: &[(&Table<'_>, Vec<Place>)], unit: &Unit) -> Option<Source> {
    found
        .iter()
        .find_map(|(table, places)| Some(cell(table, best_named(table, places, unit)?)))
}

/// The place whose row and, better still, column the sentence names.
fn best_named(table: &Table<'_>, places: &[Place], unit: &Unit) -> Option<Place> {
    let named: Vec<Place> = places
        .iter()
        .copied()
        .filter(|place| table.names_row_in(place.row, &unit.words))
        .collect();
    let with_column = named.iter().find(|place| names_column(table, place.column, unit));
    with_column.or(named.first()).copied()
}

fn names_column(table: &Table<'_>, column: usize, unit: &Unit) -> bool {
    table
        .columns
        .get(column)
        .is_some_and(|name| unit.words.contains(&name.to_lowercase().replace('_', " ")))
}

fn cell(table: &Table<'_>, place: Place) -> Source {
    let column = table.columns.get(place.column).cloned().unwrap_or_default();
    let id = table.id.to_owned();
    if table.is_derived {
        Source::Derived {
            derived: id,
            row: place.row,
            column,
        }
    } else {
        Source::Cell {
            result: id,
            row: place.row,
            column,
        }
    }
}

fn fact(table: &Table<'_>, wanted: &Wanted) -> Option<Source> {
    let fact = table
        .facts
        .iter()
        .find(|fact| fact.value.as_f64().is_some_and(|value| wanted.is(value)))?;
    Some(Source::Fact {
        derived: table.id.to_owned(),
        name: fact.name.clone(),
    })
}

/// A number that the query compares with or limits to.
fn literal(tables: &[&Table<'_>], wanted: &Wanted) -> Option<Source> {
    let table = tables
        .iter()
        .find(|table| limits(table.sql).any(|limit| wanted.is(limit)))?;
    Some(Source::Literal {
        result: table.id.to_owned(),
    })
}

/// The numbers in `sql` that follow a comparison, LIMIT, BETWEEN or AND.
fn limits(sql: &str) -> impl Iterator<Item = f64> {
    let spaced = ["<=", ">=", "<>", "<", ">", "=", "(", ")", ",", ";"]
        .iter()
        .fold(sql.to_uppercase(), |text, sign| {
            text.replace(sign, &format!(" {sign} "))
        });
    let words: Vec<String> = spaced.split_whitespace().map(str::to_owned).collect();
    let is_limit = |word: &str| matches!(word, "<" | ">" | "=" | "LIMIT" | "BETWEEN" | "AND");
    let follows = words
        .iter()
        .zip(words.iter().skip(1))
        .filter(move |(word, _)| is_limit(word));
    follows
        .filter_map(|(_, number)| number.parse::<f64>().ok())
        .collect::<Vec<_>>()
        .into_iter()
}
