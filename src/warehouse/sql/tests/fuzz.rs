//! Random statements never make `check` panic, and what it accepts it accepts again.

use std::cell::Cell;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};

use super::cases;
use super::fixture::{SHOP, catalog};
use crate::warehouse::Dialect;
use crate::warehouse::catalog::Catalog;
use crate::warehouse::sql::check;

const DIALECTS: [Dialect; 8] = [
    Dialect::Sqlite,
    Dialect::Postgres,
    Dialect::Mysql,
    Dialect::Duckdb,
    Dialect::Snowflake,
    Dialect::Bigquery,
    Dialect::Databricks,
    Dialect::Clickhouse,
];

static CATALOGS: LazyLock<Vec<Catalog>> = LazyLock::new(|| DIALECTS.iter().map(|d| catalog(*d, SHOP)).collect());

/// Words that statements are made of.
const WORDS: &[&str] = &[
    "SELECT",
    "FROM",
    "WHERE",
    "GROUP BY",
    "ORDER BY",
    "HAVING",
    "LIMIT",
    "JOIN",
    "LEFT JOIN",
    "NATURAL JOIN",
    "CROSS JOIN",
    "USING",
    "ON",
    "AS",
    "WITH",
    "RECURSIVE",
    "UNION",
    "UNION ALL",
    "EXCEPT",
    "INTERSECT",
    "DISTINCT",
    "VALUES",
    "IN",
    "NOT IN",
    "EXISTS",
    "BETWEEN",
    "AND",
    "OR",
    "NOT",
    "NULL",
    "IS NULL",
    "CASE WHEN",
    "THEN",
    "ELSE",
    "END",
    "OVER",
    "PARTITION BY",
    "LATERAL",
    "(",
    ")",
    "(",
    ")",
    "(",
    ")",
    ",",
    ",",
    ",",
    ".",
    "*",
    "*",
    "+",
    "-",
    "/",
    "=",
    "<",
    ">",
    "||",
    "::",
    "->",
    "[",
    "]",
    ";",
    "customer",
    "orders",
    "order_item",
    "c",
    "o",
    "i",
    "id",
    "name",
    "total",
    "amount",
    "order_id",
    "customer_id",
    "placed_at",
    "SUM",
    "COUNT",
    "AVG",
    "MAX",
    "strftime",
    "date_trunc",
    "lower",
    "CAST",
    "EXTRACT",
    "INTERVAL",
    "1",
    "2.5",
    "'x'",
    "'2005-08-31'",
    "\"y\"",
    "`z`",
    "$$",
    "--",
    "/*",
    "*/",
    "@",
    "客户",
];

fn soup() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(WORDS.to_vec()), 0..40).prop_map(|words| words.join(" "))
}

/// Expressions that are well-formed, over columns that mostly exist.
fn expression() -> impl Strategy<Value = String> {
    let leaf = proptest::sample::select(vec![
        "c.id",
        "c.name",
        "c.age",
        "o.total",
        "o.placed_at",
        "o.items",
        "total",
        "id",
        "nothing",
        "1",
        "2.5",
        "'x'",
        "'2005-08-31'",
        "NULL",
        "COUNT(*)",
        "o.customer_id",
        "x.y",
    ])
    .prop_map(str::to_owned);
    leaf.prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            (
                inner.clone(),
                proptest::sample::select(vec!["+", "-", "*", "/", "=", "<", "<=", "AND", "OR", "||", "LIKE"]),
                inner.clone()
            )
                .prop_map(|(a, op, b)| format!("({a} {op} {b})")),
            (
                proptest::sample::select(vec!["SUM", "AVG", "COUNT", "MAX", "lower", "coalesce", "round"]),
                inner.clone()
            )
                .prop_map(|(f, a)| format!("{f}({a})")),
            inner.clone().prop_map(|a| format!("COUNT(DISTINCT {a})")),
            inner
                .clone()
                .prop_map(|a| format!("SUM({a}) OVER (PARTITION BY {a} ORDER BY {a})")),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| format!("CASE WHEN {a} THEN {b} ELSE {c} END")),
            (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| format!("({a} BETWEEN {b} AND {c})")),
            inner
                .clone()
                .prop_map(|a| format!("({a} NOT IN (SELECT manager_id FROM customer WHERE id = {a}))")),
            inner
                .clone()
                .prop_map(|a| format!("(SELECT MAX(total) FROM orders q WHERE q.id = {a})")),
            inner.prop_map(|a| format!("CAST({a} AS DATE)")),
        ]
    })
}

fn statement() -> impl Strategy<Value = String> {
    let from = proptest::sample::select(vec![
        "customer c JOIN orders o ON o.customer_id = c.id",
        "customer c, orders o",
        "customer c LEFT JOIN (SELECT customer_id, SUM(total) AS total FROM orders GROUP BY customer_id) o ON o.customer_id = c.id",
        "orders o JOIN order_item i ON i.order_id = o.id JOIN customer c ON c.id = o.customer_id",
        "customer c NATURAL JOIN orders o",
        "orders o JOIN customer c USING (id)",
        "(SELECT c.*, o.total FROM customer c, orders o) c, orders o",
    ]);
    let clauses = (
        proptest::collection::vec(expression(), 1..4),
        from,
        proptest::option::of(expression()),
        proptest::option::of(expression()),
        proptest::option::of(expression()),
        proptest::option::of(expression()),
        any::<bool>(),
    );
    clauses.prop_map(|(items, from, filter, group, having, order, union)| {
        let mut sql = format!("SELECT {} FROM {from}", items.join(", "));
        for (word, expr) in [
            ("WHERE", filter),
            ("GROUP BY", group),
            ("HAVING", having),
            ("ORDER BY", order),
        ] {
            if let Some(expr) = expr {
                sql.push_str(&format!(" {word} {expr}"));
            }
        }
        if union {
            format!("WITH w AS ({sql}) SELECT * FROM w UNION SELECT * FROM w LIMIT 3")
        } else {
            sql
        }
    })
}

/// Checks on every engine; an accepted text is a fixed point of the check.
fn check_everywhere(sql: &str) {
    for (dialect, catalog) in DIALECTS.iter().zip(CATALOGS.iter()) {
        if let Ok(checked) = check(sql, *dialect, Some(catalog)) {
            let again =
                check(checked.text(), *dialect, Some(catalog)).unwrap_or_else(|r| panic!("{}: {r}", checked.text()));
            assert_eq!(again.text(), checked.text());
            assert_eq!(again.lints(), checked.lints());
        }
        let _ = check(sql, *dialect, None);
    }
}

/// Statements as people and attackers write them.
static REAL: LazyLock<Vec<String>> = LazyLock::new(cases::all);

/// A real statement with some of its words dropped, doubled, swapped, or taken from another one.
fn mutation() -> impl Strategy<Value = String> {
    let statement = || proptest::sample::select(REAL.clone());
    let change = (0usize..6, any::<prop::sample::Index>(), any::<prop::sample::Index>());
    (statement(), statement(), proptest::collection::vec(change, 1..5)).prop_map(|(one, other, changes)| {
        let pieces = |sql: &str| -> Vec<String> {
            sql.split_inclusive([' ', '(', ')', ',', '.'])
                .map(str::to_owned)
                .collect()
        };
        let (mut words, others) = (pieces(&one), pieces(&other));
        for (change, at, with) in changes {
            if words.is_empty() || others.is_empty() {
                break;
            }
            let (at, end) = (at.index(words.len()), with.index(words.len()));
            match change {
                0 => drop(words.remove(at)),
                1 => words.insert(at, words[end].clone()),
                2 => words.swap(at, end),
                3 => words[at] = others[with.index(others.len())].clone(),
                4 => words.insert(at, format!("({other}) ")),
                _ => words.truncate(at),
            }
        }
        words.concat()
    })
}

/// Properties that share the time.
const PROPERTIES: u32 = 5;

/// For how long one property is tried: `ANALYST_FUZZ_SECONDS` are shared by all, ten of them if it is not set.
fn time() -> Duration {
    let seconds = std::env::var("ANALYST_FUZZ_SECONDS").ok().and_then(|n| n.parse().ok());
    Duration::from_secs(seconds.unwrap_or(10)) / PROPERTIES
}

/// The first of the seeds, `ANALYST_FUZZ_SEED`. It is the same one if that is not set: a change is never refused for a
/// statement that chance brought up and that failed before the change too.
fn first_seed() -> u64 {
    let seed = std::env::var("ANALYST_FUZZ_SEED").ok();
    seed.map_or(0, |seed| seed.parse().expect("ANALYST_FUZZ_SEED is a number"))
}

/// Checks statements of `strategy` until the time is up; one that panics is made as small as it gets and shown.
fn survive(strategy: &impl Strategy<Value = String>) {
    const CASES: u32 = 16;
    let started = Instant::now();
    let checked = Cell::new(0);
    // A runner that has had its cases runs no more of them.
    for seed in first_seed().. {
        if started.elapsed() >= time() {
            break;
        }
        let config = ProptestConfig {
            cases: CASES,
            failure_persistence: None,
            rng_seed: RngSeed::Fixed(seed),
            ..ProptestConfig::default()
        };
        let outcome = TestRunner::new(config).run(strategy, |sql| {
            check_everywhere(&sql);
            checked.set(checked.get() + 1);
            Ok(())
        });
        outcome.unwrap_or_else(|failure| panic!("ANALYST_FUZZ_SEED={seed}: {failure}"));
    }
    println!("{} statements on {} engines", checked.get(), DIALECTS.len());
    assert!(checked.get() >= CASES, "only {}", checked.get());
}

#[test]
fn any_text_is_survived() {
    survive(&any::<String>());
}

#[test]
fn any_soup_of_words_is_survived() {
    survive(&(soup(), any::<bool>()).prop_map(|(sql, select)| if select { format!("SELECT {sql}") } else { sql }));
}

#[test]
fn any_query_is_survived() {
    survive(&statement());
}

#[test]
fn any_mutation_of_a_real_statement_is_survived() {
    survive(&mutation());
}

#[test]
fn any_damaged_query_is_survived() {
    let damage = (statement(), 0usize..400, 0usize..6, "[()'\"`;*,.a-z ]{0,3}");
    survive(&damage.prop_map(|(sql, at, cut, with)| {
        let mut chars: Vec<char> = sql.chars().collect();
        let start = at.min(chars.len());
        let end = (start + cut).min(chars.len());
        chars.splice(start..end, with.chars());
        chars.into_iter().collect()
    }));
}
