//! Foreign keys that nobody declared but that names and types suggest. Whether they hold is measured by the engine.

use std::collections::HashMap;

use super::names::{name_key, stem, words};
use super::{Catalog, Column, DataType, Table, TableKind};

/// Last words of columns that identify rows.
const KEY_WORDS: &[&str] = &[
    "id", "key", "code", "no", "nr", "num", "number", "uuid", "guid", "fk", "sk", "编号",
];

/// Last words of columns that count the rows of something.
const PLACE_WORDS: &[&str] = &[
    "line", "seq", "sequence", "position", "rank", "round", "month", "year", "day",
];

/// What stands before the real name in the table names of warehouses.
const TABLE_PREFIXES: &[&str] = &["dim", "fact", "fct", "tbl", "tb", "t", "stg", "raw", "d", "f"];

/// Words by which a row names another row of its own table.
const HIERARCHY: &[&[&str]] = &[
    &["manager"],
    &["parent"],
    &["supervisor"],
    &["boss"],
    &["reports", "to"],
    &["leader"],
    &["mentor"],
    &["superior"],
];

/// A column that may point at a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// Places in `catalog.tables`.
    pub(crate) from: usize,
    pub(crate) column: String,
    pub(crate) to: usize,
    pub(crate) to_column: String,
    /// The target is a declared key, so its uniqueness needs no measuring.
    pub(crate) proven_unique: bool,
    /// The name alone is not enough: without values that prove it, this is no key.
    pub(crate) weak: bool,
}

/// For each column that may be an undeclared foreign key, what it may point at, likeliest first.
pub(crate) fn candidates(catalog: &Catalog) -> Vec<Vec<Candidate>> {
    let targets = Targets::of(catalog);
    let tables = catalog
        .tables
        .iter()
        .enumerate()
        .filter(|(_, table)| table.kind == TableKind::Table);
    tables
        .flat_map(|(at, table)| {
            let undeclared = table
                .columns
                .iter()
                .filter(|column| !table.foreign_keys.iter().any(|key| key.columns.contains(&column.name)));
            undeclared
                .map(|column| targets.for_column(at, table, column))
                .collect::<Vec<_>>()
        })
        .filter(|found| !found.is_empty())
        .collect()
}

/// The columns of `table` that may be parts of a key, likeliest first: those that point at other tables, those called like
/// keys and places in a row, dates.
pub(crate) fn key_parts(table: &Table) -> Vec<String> {
    let points = |column: &Column| {
        let mut keys = table.foreign_keys.iter();
        keys.any(|key| matches!(key.columns.as_slice(), [only] if *only == column.name))
    };
    let is_called_so = |column: &Column| {
        let words = words(&column.name);
        let last = words.last().map(String::as_str).unwrap_or_default();
        KEY_WORDS.contains(&last) || PLACE_WORDS.contains(&last)
    };
    let can_be = |column: &&Column| {
        matches!(
            column.data_type,
            DataType::Integer | DataType::Text | DataType::Date | DataType::Decimal { scale: Some(0), .. }
        )
    };
    let ranked = table.columns.iter().filter(can_be).filter_map(|column| {
        let rank = match column.data_type {
            _ if points(column) => 0,
            _ if is_called_so(column) => 1,
            DataType::Date => 2,
            _ => return None,
        };
        Some((rank, column.name.clone()))
    });
    let mut ranked: Vec<(u8, String)> = ranked.collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, name)| name).collect()
}

/// A single column by which the rows of a table are told apart.
struct Target<'a> {
    table: usize,
    schema: Option<&'a str>,
    column: &'a Column,
    words: Vec<String>,
    /// `id`, `key`, `code`: says what it is only together with its table.
    generic: bool,
    proven_unique: bool,
    /// The table's name keys: whole, and without a warehouse's prefix.
    table_keys: Vec<String>,
}

struct Targets<'a> {
    all: Vec<Target<'a>>,
    by_column: HashMap<String, Vec<usize>>,
    by_table: HashMap<String, Vec<usize>>,
}

impl<'a> Targets<'a> {
    fn of(catalog: &'a Catalog) -> Self {
        let mut targets = Self {
            all: vec![],
            by_column: HashMap::new(),
            by_table: HashMap::new(),
        };
        for (at, table) in catalog
            .tables
            .iter()
            .enumerate()
            .filter(|(_, table)| table.kind == TableKind::Table)
        {
            let table_keys = table_keys(table);
            for (column, proven_unique) in single_keys(table, &table_keys) {
                let words = words(&column.name);
                let place = targets.all.len();
                targets.by_column.entry(words.concat()).or_default().push(place);
                for key in &table_keys {
                    targets.by_table.entry(key.clone()).or_default().push(place);
                }
                targets.all.push(Target {
                    table: at,
                    schema: table.schema.as_deref(),
                    column,
                    generic: matches!(words.as_slice(), [only] if KEY_WORDS.contains(&only.as_str()) || only == "name"),
                    words,
                    proven_unique,
                    table_keys: table_keys.clone(),
                });
            }
        }
        targets
    }

    fn for_column(&self, from: usize, table: &Table, column: &Column) -> Vec<Candidate> {
        let words = words(&column.name);
        let is_key_word = |word: &String| KEY_WORDS.contains(&word.as_str());
        let head = match words.split_last() {
            Some((last, head)) if is_key_word(last) && !head.is_empty() => head,
            _ => words.as_slice(),
        };
        let has_suffix = head.len() < words.len();
        let own_keys = table_keys(table);
        let is_own_key = matches!(table.primary_key.as_slice(), [only] if *only == column.name);
        let mut found: Vec<(u32, &Target<'a>)> = vec![];
        let mut add = |score: u32, target: &'_ usize| {
            let Some(target) = self.all.get(*target) else { return };
            let itself = target.table == from && target.column.name == column.name;
            // The schema of the pointing table is the likelier place of the target.
            let score = score * 2 + u32::from(target.schema == table.schema.as_deref());
            if !itself && fit(&column.data_type, &target.column.data_type) != Fit::Never {
                found.push((score, target));
            }
        };
        let names_target = |target: &usize, tail: &[String]| {
            self.all.get(*target).is_some_and(|target| {
                target.generic || !has_suffix || target.words.last() == words.last() || target.words == tail
            })
        };
        for target in self.by_column.get(&words.concat()).into_iter().flatten() {
            if self
                .all
                .get(*target)
                .is_some_and(|target| !target.generic && target.table != from)
            {
                add(3, target);
            }
        }
        // `home_games` counts games and does not point at one.
        let is_plural = words
            .last()
            .is_some_and(|last| last.ends_with('s') && stem(last) != *last);
        for (skipped, tail) in (0..head.len()).filter_map(|at| Some((at, head.get(at..)?))) {
            if !has_suffix && (is_plural || skipped > 0 && tail.len() > 1) {
                continue;
            }
            let targets = self
                .by_table
                .get(&name_key(tail))
                .into_iter()
                .flatten()
                .filter(|target| {
                    // A `country` in the table of countries is its name.
                    let own = self.all.get(**target).is_some_and(|target| target.table == from);
                    names_target(target, tail) && !(own && skipped == 0 && !has_suffix)
                });
            targets.for_each(|target| add(if skipped == 0 { 5 } else { 2 }, target));
        }
        if HIERARCHY
            .iter()
            .any(|names| head.iter().map(String::as_str).eq(names.iter().copied()))
        {
            let own = self.all.iter().enumerate().filter(|(_, target)| target.table == from);
            own.for_each(|(at, _)| add(1, &at));
        }
        if is_own_key {
            // A key that points at another table's key: only a table that extends that other one has such.
            let named = name_key(head);
            found.retain(|(_, target)| {
                target.table != from && target.table_keys.contains(&named) && !own_keys.contains(&named)
            });
        }
        let mut best: Vec<(u32, &Target<'a>)> = vec![];
        found.sort_by_key(|(score, target)| (std::cmp::Reverse(*score), target.table));
        for (score, target) in found {
            if !best.iter().any(|(_, known)| std::ptr::eq(*known, target)) {
                best.push((score, target));
            }
        }
        let candidate = |(_, target): (u32, &Target<'a>)| Candidate {
            from,
            column: column.name.clone(),
            to: target.table,
            to_column: target.column.name.clone(),
            proven_unique: target.proven_unique,
            weak: !has_suffix || fit(&column.data_type, &target.column.data_type) == Fit::Loose,
        };
        best.into_iter().map(candidate).collect()
    }
}

/// The name of a table as keys, whole and without a warehouse's prefix.
fn table_keys(table: &Table) -> Vec<String> {
    let words = words(&table.name);
    let mut keys = vec![name_key(&words)];
    if let [first, rest @ ..] = words.as_slice()
        && !rest.is_empty()
        && TABLE_PREFIXES.contains(&first.as_str())
    {
        keys.push(name_key(rest));
    }
    keys
}

/// The columns that alone identify a row: declared, or, in a table without any key, called like one.
fn single_keys<'a>(table: &'a Table, table_keys: &[String]) -> Vec<(&'a Column, bool)> {
    match table.primary_key.as_slice() {
        [only] => table.column(only).map(|column| (column, true)).into_iter().collect(),
        [] => {
            let declared = |column: &Column| {
                table
                    .unique_keys
                    .iter()
                    .any(|key| matches!(key.as_slice(), [only] if *only == column.name))
            };
            let called_key = |column: &Column| {
                let words = words(&column.name);
                let written_as_one = || {
                    let whole = words.concat();
                    let head = whole.strip_suffix("id").filter(|head| !head.is_empty());
                    head.is_some_and(|head| {
                        table_keys.contains(&name_key(&[head.to_owned()])) || is_short_for(head, &table.name)
                    })
                };
                words.split_last().is_some_and(|(last, head)| {
                    KEY_WORDS.contains(&last.as_str()) && (head.is_empty() || table_keys.contains(&name_key(head)))
                }) || written_as_one()
            };
            let keys = table
                .columns
                .iter()
                .filter(|column| declared(column) || called_key(column));
            keys.map(|column| (column, declared(column))).collect()
        }
        _ => vec![],
    }
}

/// Is `head` the beginning of a table's name, or are its letters the initials of the name's words?
fn is_short_for(head: &str, table: &str) -> bool {
    let words = words(table);
    let initials: String = words.iter().filter_map(|word| word.chars().next()).collect();
    head == initials || words.concat().starts_with(head)
}

/// How likely values of two types are equal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    Same,
    /// Numbers kept as text on one side: only the values can tell.
    Loose,
    Never,
}

fn fit(one: &DataType, other: &DataType) -> Fit {
    /// The kinds of types that keys have.
    #[derive(PartialEq, Eq)]
    enum Class {
        Integer,
        Text,
        Own,
        Unknown,
        NoKey,
    }
    let class = |data_type: &DataType| match data_type {
        DataType::Integer | DataType::Decimal { scale: Some(0), .. } => Class::Integer,
        DataType::Text => Class::Text,
        DataType::Other(name) if name.is_empty() => Class::Unknown,
        DataType::Other(_) => Class::Own,
        DataType::Boolean
        | DataType::Float
        | DataType::Decimal { .. }
        | DataType::Date
        | DataType::Time
        | DataType::DateTime
        | DataType::DateTimeTz
        | DataType::Blob
        | DataType::Json => Class::NoKey,
    };
    match (class(one), class(other)) {
        (Class::NoKey, _) | (_, Class::NoKey) => Fit::Never,
        (Class::Integer, Class::Text) | (Class::Text, Class::Integer) => Fit::Loose,
        (Class::Unknown, _) | (_, Class::Unknown) => Fit::Same,
        (one, other) => {
            if one == other {
                Fit::Same
            } else {
                Fit::Never
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::warehouse::Dialect;

    /// `name(*key INTEGER, other TEXT)`: `*` marks the primary key; the type defaults to INTEGER.
    fn table(text: &str) -> Table {
        let (name, columns) = text.trim_end_matches(')').split_once('(').unwrap();
        let mut table = Table::empty(None, name, TableKind::Table);
        for column in columns.split(", ") {
            let (column, declared) = column.split_once(' ').unwrap_or((column, "INTEGER"));
            let name = column.trim_start_matches('*').to_owned();
            if column.starts_with('*') {
                table.primary_key.push(name.clone());
            }
            table.columns.push(Column {
                name,
                declared_type: declared.to_owned(),
                data_type: DataType::from_declared(Dialect::Sqlite, declared),
                nullable: true,
                comment: None,
                synonyms: vec![],
                profile: None,
            });
        }
        table
    }

    fn suggested(tables: &[&str]) -> Vec<String> {
        let mut catalog = Catalog::empty(Dialect::Sqlite, "shop");
        catalog.tables = tables.iter().map(|text| table(text)).collect();
        let name = |at: usize| catalog.tables[at].name.clone();
        let first = |found: &Vec<Candidate>| {
            let best = &found[0];
            format!(
                "{}.{} → {}.{}",
                name(best.from),
                best.column,
                name(best.to),
                best.to_column
            )
        };
        candidates(&catalog).iter().map(first).collect()
    }

    #[rstest]
    #[case(&["staff(*staff_id)", "payment(*payment_id, staff_id)"], &["payment.staff_id → staff.staff_id"])]
    #[case(&["Employees(*EmployeeID)", "Orders(*OrderID, EmployeeID)"], &["Orders.EmployeeID → Employees.EmployeeID"])]
    #[case(&["customers(*id)", "orders(*id, customer_id)"], &["orders.customer_id → customers.id"])]
    #[case(&["customers(*id)", "orders(*id, customer)"], &["orders.customer → customers.id"])]
    #[case(&["dim_product(*product_key)", "fact_sales(product_key)"], &["fact_sales.product_key → dim_product.product_key"])]
    #[case(&["language(*language_id)", "film(*film_id, original_language_id)"], &["film.original_language_id → language.language_id"])]
    #[case(&["employees(*employee_id, manager_id, reports_to)"], &["employees.manager_id → employees.employee_id", "employees.reports_to → employees.employee_id"])]
    #[case(&["film(*film_id)", "film_text(*film_id)", "inventory(*id, film_id)"], &["film_text.film_id → film.film_id", "inventory.film_id → film.film_id"])]
    #[case(&["people(id, name TEXT)", "visits(person_id)"], &["visits.person_id → people.id"])]
    #[case(&["Dorm(dormid, name TEXT)", "Lives_in(dormid)"], &["Lives_in.dormid → Dorm.dormid"])]
    #[case(&["conference(cid, name TEXT)", "talk(tid, cid)"], &["talk.cid → conference.cid"])]
    #[case(&["sales_person(spid, name TEXT)", "visit(spid)"], &["visit.spid → sales_person.spid"])]
    #[case(&["talk(cid)", "visit(cid)"], &[])]
    #[case(&["country(*country_id, country TEXT)", "address(*id, country REAL)"], &[])]
    #[case(&["orders(*id, total REAL)", "items(*id, total REAL)"], &[])]
    #[case(&["a(*id)", "b(*id)"], &[])]
    fn keys_are_suggested_by_names_and_types(#[case] tables: &[&str], #[case] expected: &[&str]) {
        assert_eq!(suggested(tables), expected);
    }
}
