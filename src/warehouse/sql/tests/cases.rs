//! The guard's own cases, one file per engine: what is accepted, and with which code the rest is refused.

use crate::warehouse::Dialect;

/// Cases that hold for every engine.
pub(super) const EVERY: &str = include_str!("guard_cases/every.txt");

/// Cases of one engine.
pub(super) const OWN: [(Dialect, &str); 8] = [
    (Dialect::Sqlite, include_str!("guard_cases/sqlite.txt")),
    (Dialect::Postgres, include_str!("guard_cases/postgres.txt")),
    (Dialect::Mysql, include_str!("guard_cases/mysql.txt")),
    (Dialect::Duckdb, include_str!("guard_cases/duckdb.txt")),
    (Dialect::Snowflake, include_str!("guard_cases/snowflake.txt")),
    (Dialect::Bigquery, include_str!("guard_cases/bigquery.txt")),
    (Dialect::Databricks, include_str!("guard_cases/databricks.txt")),
    (Dialect::Clickhouse, include_str!("guard_cases/clickhouse.txt")),
];

/// Every statement that the guard refuses for any engine, once.
pub(crate) fn refused() -> Vec<String> {
    statements(|expected| expected != "accept")
}

/// Every statement of the cases, once.
pub(super) fn all() -> Vec<String> {
    statements(|_| true)
}

fn statements(wanted: fn(&str) -> bool) -> Vec<String> {
    let files = OWN.iter().map(|(_, own)| *own).chain([EVERY]);
    let mut statements: Vec<String> = files
        .flat_map(read)
        .filter(|(expected, _)| wanted(expected))
        .map(|(_, sql)| sql)
        .collect();
    statements.sort();
    statements.dedup();
    statements
}

/// Lines of `code | statement`.
pub(super) fn read(cases: &str) -> impl Iterator<Item = (&str, String)> {
    let lines = cases.lines().filter(|l| !l.starts_with('#') && !l.is_empty());
    lines.map(|line| {
        let (expected, sql) = line.split_once(" |").unwrap();
        (expected, unescape(sql.strip_prefix(' ').unwrap_or(sql)))
    })
}

/// Reads `\n`, `\t`, `\\` and `\u{…}` as Rust does.
fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match rest.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('u') => {
                let digits: String = rest.by_ref().skip(1).take_while(|c| *c != '}').collect();
                out.push(char::from_u32(u32::from_str_radix(&digits, 16).unwrap()).unwrap());
            }
            Some(other) => out.push(other),
            None => out.push('\\'),
        }
    }
    out
}
