//! Writing a name so that the database reads exactly that name.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::warehouse::Dialect;

/// Words that need quotes as a name somewhere: found by trying every keyword on SQLite, PostgreSQL and MariaDB, plus the
/// reserved words of the other dialects' manuals. One list for all, since a quote too many is harmless.
static RESERVED: LazyLock<HashSet<&str>> = LazyLock::new(|| include_str!("reserved.txt").lines().collect());

/// `name` as an identifier of `dialect`: bare where that is safe, quoted and escaped otherwise.
///
/// The catalog's spelling goes in, so the result is read as exactly that spelling.
pub fn quote(dialect: Dialect, name: &str) -> String {
    if is_safe_bare(dialect, name) {
        return name.to_owned();
    }
    match dialect {
        Dialect::Sqlite | Dialect::Postgres | Dialect::Duckdb | Dialect::Snowflake => {
            format!("\"{}\"", name.replace('"', "\"\""))
        }
        Dialect::Mysql | Dialect::Databricks => format!("`{}`", name.replace('`', "``")),
        Dialect::Bigquery | Dialect::Clickhouse => format!("`{}`", name.replace('\\', "\\\\").replace('`', "\\`")),
    }
}

fn is_safe_bare(dialect: Dialect, name: &str) -> bool {
    let mut characters = name.chars();
    let starts_well = characters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    let goes_on_well = characters.all(|next| next.is_ascii_alphanumeric() || next == '_');
    let keeps_case = match dialect {
        Dialect::Postgres => !name.bytes().any(|byte| byte.is_ascii_uppercase()),
        Dialect::Snowflake => !name.bytes().any(|byte| byte.is_ascii_lowercase()),
        Dialect::Sqlite
        | Dialect::Mysql
        | Dialect::Duckdb
        | Dialect::Bigquery
        | Dialect::Databricks
        | Dialect::Clickhouse => true,
    };
    starts_well && goes_on_well && keeps_case && !RESERVED.contains(name.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(Dialect::Sqlite, "staff_id", "staff_id")]
    #[case(Dialect::Sqlite, "EmployeeID", "EmployeeID")]
    #[case(Dialect::Postgres, "EmployeeID", "\"EmployeeID\"")]
    #[case(Dialect::Snowflake, "sales", "\"sales\"")]
    #[case(Dialect::Sqlite, "order", "\"order\"")]
    #[case(Dialect::Mysql, "Order", "`Order`")]
    #[case(Dialect::Sqlite, "Total $", "\"Total $\"")]
    #[case(Dialect::Sqlite, "客户", "\"客户\"")]
    #[case(Dialect::Sqlite, "2005", "\"2005\"")]
    #[case(Dialect::Sqlite, "", "\"\"")]
    #[case(Dialect::Sqlite, "say \"hi\"", "\"say \"\"hi\"\"\"")]
    #[case(Dialect::Mysql, "a`b", "`a``b`")]
    #[case(Dialect::Bigquery, "a`b\\", "`a\\`b\\\\`")]
    #[case(Dialect::Sqlite, "name", "name")]
    #[case(Dialect::Postgres, "year", "year")]
    fn a_name_is_quoted_where_it_must_be(#[case] dialect: Dialect, #[case] name: &str, #[case] quoted: &str) {
        assert_eq!(quote(dialect, name), quoted);
    }

    #[test]
    fn sqlite_reads_every_quoted_reserved_word_as_a_name() {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        for word in RESERVED.iter() {
            let quoted = quote(Dialect::Sqlite, word);
            connection
                .execute_batch(&format!("CREATE TABLE t ({quoted} INTEGER); INSERT INTO t VALUES (7)"))
                .unwrap();
            let sql = format!("SELECT x.{quoted} FROM t AS x WHERE {quoted} = 7");
            assert_eq!(
                connection.query_row(&sql, [], |row| row.get::<_, i64>(0)),
                Ok(7),
                "{sql}"
            );
            connection.execute_batch("DROP TABLE t").unwrap();
        }
    }
}
