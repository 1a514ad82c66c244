//! Which functions may be called: an allow-list per engine, kept as text files.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::warehouse::Dialect;

/// How a function takes its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::warehouse::sql) enum Role {
    Scalar,
    /// One value per group.
    Aggregate,
    /// Meaningful with OVER only.
    Window,
    /// Rows, in FROM.
    Table,
}

/// The functions of one engine by lower-case name; one name may have several roles.
struct Allowed {
    roles: HashMap<&'static str, Vec<Role>>,
}

const COMMON: &str = include_str!("functions/common.txt");
const FORBIDDEN: &str = include_str!("functions/forbidden.txt");

static SQLITE: LazyLock<Allowed> = LazyLock::new(|| load(include_str!("functions/sqlite.txt")));
static POSTGRES: LazyLock<Allowed> = LazyLock::new(|| load(include_str!("functions/postgres.txt")));
static MYSQL: LazyLock<Allowed> = LazyLock::new(|| load(include_str!("functions/mysql.txt")));
static DUCKDB: LazyLock<Allowed> = LazyLock::new(|| load(include_str!("functions/duckdb.txt")));
static SNOWFLAKE: LazyLock<Allowed> = LazyLock::new(|| load(include_str!("functions/snowflake.txt")));
static BIGQUERY: LazyLock<Allowed> = LazyLock::new(|| load(include_str!("functions/bigquery.txt")));
static DATABRICKS: LazyLock<Allowed> = LazyLock::new(|| load(include_str!("functions/databricks.txt")));
static CLICKHOUSE: LazyLock<Allowed> = LazyLock::new(|| load(include_str!("functions/clickhouse.txt")));

fn load(own: &'static str) -> Allowed {
    let mut roles: HashMap<&'static str, Vec<Role>> = HashMap::new();
    for list in [COMMON, own] {
        let mut role = Role::Scalar;
        for line in list.lines().filter(|line| !line.starts_with('#')) {
            match line {
                "[scalar]" => role = Role::Scalar,
                "[aggregate]" => role = Role::Aggregate,
                "[window]" => role = Role::Window,
                "[table]" => role = Role::Table,
                names => names
                    .split_whitespace()
                    .for_each(|name| roles.entry(name).or_default().push(role)),
            }
        }
    }
    Allowed { roles }
}

fn allowed(dialect: Dialect) -> &'static Allowed {
    match dialect {
        Dialect::Sqlite => &SQLITE,
        Dialect::Postgres => &POSTGRES,
        Dialect::Mysql => &MYSQL,
        Dialect::Duckdb => &DUCKDB,
        Dialect::Snowflake => &SNOWFLAKE,
        Dialect::Bigquery => &BIGQUERY,
        Dialect::Databricks => &DATABRICKS,
        Dialect::Clickhouse => &CLICKHOUSE,
    }
}

/// The roles of the function `name` (lower case) in `dialect`; empty when it is not on the list.
pub(in crate::warehouse::sql) fn roles(dialect: Dialect, name: &str) -> &'static [Role] {
    let roles = &allowed(dialect).roles;
    roles.get(name).map_or(&[], Vec::as_slice)
}

/// Whether `name` (in any case) aggregates rows in `dialect` when it has no OVER. SQLite's `MIN` and `MAX` of several
/// arguments are scalar; the caller knows the number of arguments.
pub(in crate::warehouse::sql) fn is_aggregate(dialect: Dialect, name: &str, arguments: usize) -> bool {
    let name = name.to_ascii_lowercase();
    if dialect == Dialect::Sqlite && arguments > 1 && matches!(name.as_str(), "min" | "max") {
        return false;
    }
    let known = roles(dialect, &name);
    known.contains(&Role::Aggregate) || (dialect == Dialect::Clickhouse && is_combined(&name))
}

/// ClickHouse's combinators: any aggregate with `If`, `Array`, `Distinct`, `OrNull`, … behind its name.
pub(in crate::warehouse::sql) fn is_combined(name: &str) -> bool {
    const SUFFIXES: [&str; 8] = [
        "if",
        "array",
        "map",
        "distinct",
        "ornull",
        "ordefault",
        "merge",
        "state",
    ];
    SUFFIXES.iter().any(|suffix| {
        name.strip_suffix(suffix)
            .is_some_and(|stem| roles(Dialect::Clickhouse, stem).contains(&Role::Aggregate))
    })
}

/// Why `name` (lower case) is refused, where that is known.
pub(super) fn forbidden_reason(name: &str) -> Option<&'static str> {
    FORBIDDEN
        .lines()
        .filter(|line| !line.starts_with('#'))
        .find_map(|line| {
            let (pattern, reason) = line.split_once(" | ")?;
            let hit = match pattern.strip_suffix('*') {
                Some(prefix) => name.starts_with(prefix),
                None => name == pattern,
            };
            hit.then_some(reason)
        })
}

/// Every function name on the list of `dialect`, for "did you mean".
pub(super) fn names(dialect: Dialect) -> impl Iterator<Item = &'static str> {
    allowed(dialect).roles.keys().copied()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(Dialect::Sqlite, "max", 1, true)]
    #[case(Dialect::Sqlite, "MAX", 2, false)]
    #[case(Dialect::Postgres, "string_agg", 2, true)]
    #[case(Dialect::Postgres, "lower", 1, false)]
    #[case(Dialect::Clickhouse, "sumIf", 2, true)]
    fn aggregates_are_told_from_scalars(
        #[case] dialect: Dialect,
        #[case] name: &str,
        #[case] arguments: usize,
        #[case] expected: bool,
    ) {
        assert_eq!(is_aggregate(dialect, name, arguments), expected);
    }

    #[test]
    fn no_forbidden_function_is_on_an_allow_list() {
        let all = [
            Dialect::Sqlite,
            Dialect::Postgres,
            Dialect::Mysql,
            Dialect::Duckdb,
            Dialect::Snowflake,
            Dialect::Bigquery,
            Dialect::Databricks,
            Dialect::Clickhouse,
        ];
        // Harmless namesakes in one engine of what is dangerous in another.
        const NAMESAKES: [&str; 10] = [
            "sqlite_version",
            "sqlite_source_id",
            "sqlite_compileoption_get",
            "sqlite_compileoption_used",
            "sqlite_offset",
            "hllsketch",
            "log",
            "edit_distance",
            "parquet",
            "file_size",
        ];
        for dialect in all {
            let wrong: Vec<_> = names(dialect)
                .filter(|name| forbidden_reason(name).is_some() && !NAMESAKES.contains(name))
                .collect();
            assert_eq!(wrong, Vec::<&str>::new(), "{dialect:?}");
        }
    }
}
