//! The guard's verdict on each of its cases, and on statements beyond every bound.

use rstest::rstest;

use super::cases::{EVERY, OWN, read};
use crate::warehouse::Dialect;
use crate::warehouse::sql::check;

/// The lines whose verdict differs from what `check` says.
fn wrong(dialect: Dialect, cases: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for (expected, sql) in read(cases) {
        let found = match check(&sql, dialect, None) {
            Ok(_) => "accept".to_owned(),
            Err(refusal) => refusal.reasons.first().map(|r| r.code.clone()).unwrap(),
        };
        if found != expected {
            let why = check(&sql, dialect, None)
                .err()
                .map(|r| r.to_string())
                .unwrap_or_default();
            wrong.push(format!("{dialect:?}: expected {expected}, found {found}: {sql}  {why}"));
        }
    }
    wrong
}

#[test]
fn each_case_gets_its_verdict() {
    for (dialect, own) in OWN {
        let mut wrong = wrong(dialect, own);
        wrong.extend(self::wrong(dialect, EVERY));
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

#[rstest]
fn a_statement_beyond_the_bounds_is_refused_fast(
    #[values(
        Dialect::Sqlite,
        Dialect::Postgres,
        Dialect::Mysql,
        Dialect::Duckdb,
        Dialect::Bigquery
    )]
    dialect: Dialect,
) {
    let deep = |open: &str, close: &str, n: usize| format!("SELECT {}1{}", open.repeat(n), close.repeat(n));
    let statements = [
        format!("SELECT '{}'", "x".repeat(2_000_000)),
        format!("SELECT 1{}", " + 1".repeat(20_000)),
        format!("SELECT 1{}", " OR a = 1".repeat(20_000)),
        format!("SELECT {}1", "- ".repeat(50_000)),
        format!("SELECT {}TRUE", "NOT ".repeat(40_000)),
        format!("SELECT 1{}", " UNION SELECT 1".repeat(10_000)),
        deep("(", ")", 30_000),
        deep("(SELECT ", ")", 10_000),
        deep("CASE WHEN ", " THEN 1 END", 8_000),
        deep("abs(", ")", 20_000),
        deep("[", "]", 20_000),
        format!("SELECT * FROM {}t{}", "(".repeat(30_000), ")".repeat(30_000)),
        format!("SELECT * FROM t{}", " JOIN t ON 1 = 1".repeat(10_000)),
        format!("SELECT CAST(1 AS {}INT{})", "ARRAY<".repeat(10_000), ">".repeat(10_000)),
    ];
    for sql in statements {
        let started = std::time::Instant::now();
        let shown: String = sql.chars().take(40).collect();
        assert!(check(&sql, dialect, None).is_err(), "{shown}");
        assert!(started.elapsed().as_secs() < 5, "{shown} took {:?}", started.elapsed());
    }
}

#[test]
fn a_long_statement_within_bounds_is_accepted() {
    let list = (0..20_000).map(|i| i.to_string()).collect::<Vec<_>>().join(", ");
    assert!(check(&format!("SELECT a FROM t WHERE b IN ({list})"), Dialect::Postgres, None).is_ok());
    let chain = format!("SELECT a FROM t WHERE b = 0{}", " OR b = 1".repeat(900));
    assert!(check(&chain, Dialect::Postgres, None).is_ok());
    let nested = format!("SELECT {}1{}", "(".repeat(50), ")".repeat(50));
    assert!(check(&nested, Dialect::Postgres, None).is_ok());
}

#[rstest]
#[case(Dialect::Sqlite, "  SELECT 1 ;  ", "SELECT 1")]
#[case(Dialect::Sqlite, "-- note\nSELECT 1 -- end", "SELECT 1")]
#[case(Dialect::Sqlite, "SELECT 1 -- one\n + 1 /* two */", "SELECT 1 -- one\n + 1")]
#[case(Dialect::Sqlite, "SELECT ';' ;\n-- done\n", "SELECT ';'")]
#[case(Dialect::Sqlite, "SELECT 'é', 1;", "SELECT 'é', 1")]
// A comment only because of the space after it, which would be cut off.
#[case(Dialect::Clickhouse, "SELECT 1 # ", "SELECT 1")]
#[case(Dialect::Mysql, "SELECT 1 #", "SELECT 1")]
fn the_text_to_send_ends_with_the_statement(#[case] dialect: Dialect, #[case] sql: &str, #[case] sent: &str) {
    assert_eq!(check(sql, dialect, None).unwrap().text(), sent);
}
