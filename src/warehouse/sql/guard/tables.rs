//! Which names may stand in FROM: tables, never files, stages or the servers' own secrets.

use sqlparser::ast::{ObjectName, ObjectNamePart};

use super::{Reason, reason};
use crate::warehouse::Dialect;

/// Endings that DuckDB and Spark read as files when no table has the name.
const FILE_ENDINGS: [&str; 14] = [
    ".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson", ".parquet", ".arrow", ".xlsx", ".gz", ".zst", ".db",
    ".duckdb", ".sqlite",
];

/// First parts of a name that make Spark read the second part as a path.
const PATH_FORMATS: [&str; 9] = [
    "csv",
    "json",
    "parquet",
    "orc",
    "avro",
    "text",
    "delta",
    "binaryfile",
    "iceberg",
];

/// System tables with password hashes or secrets.
const SECRET_TABLES: [(Dialect, &str); 11] = [
    (Dialect::Postgres, "pg_authid"),
    (Dialect::Postgres, "pg_shadow"),
    (Dialect::Postgres, "pg_user_mapping"),
    (Dialect::Postgres, "pg_user_mappings"),
    (Dialect::Postgres, "pg_largeobject"),
    (Dialect::Postgres, "pg_hba_file_rules"),
    (Dialect::Postgres, "pg_file_settings"),
    (Dialect::Mysql, "user"),
    (Dialect::Mysql, "global_priv"),
    (Dialect::Mysql, "proxies_priv"),
    (Dialect::Mysql, "servers"),
];

/// Why `name` may not be read, if it may not.
pub(super) fn judge(name: &ObjectName, dialect: Dialect) -> Option<Reason> {
    let parts: Vec<_> = name
        .0
        .iter()
        .map(|part| match part {
            ObjectNamePart::Identifier(ident) => Some(ident),
            ObjectNamePart::Function(_) => None,
        })
        .collect::<Option<_>>()
        .unwrap_or_default();
    let Some(last) = parts.last() else {
        return Some(reason(
            "table-function",
            format!("`{name}` computes the name of a table; name it plainly"),
        ));
    };
    let lower = last.value.to_lowercase();
    let quoted_text = parts.iter().any(|p| p.quote_style == Some('\''));
    let looks_like_a_path =
        lower.contains('/') || lower.contains('\\') || FILE_ENDINGS.iter().any(|ending| lower.ends_with(ending));
    let file = match dialect {
        Dialect::Duckdb => quoted_text || looks_like_a_path || lower.contains('*'),
        Dialect::Databricks => {
            quoted_text
                || lower.contains('/')
                || parts
                    .first()
                    .is_some_and(|p| parts.len() > 1 && PATH_FORMATS.contains(&p.value.to_lowercase().as_str()))
        }
        Dialect::Snowflake => quoted_text || parts.first().is_some_and(|p| p.value.starts_with(['@', '~'])),
        Dialect::Clickhouse | Dialect::Bigquery | Dialect::Mysql | Dialect::Postgres => quoted_text,
        Dialect::Sqlite => false,
    };
    if file {
        return Some(reason(
            "file-access",
            format!("{name} is read as a file, not as a table; name a table"),
        ));
    }
    let in_system_schema = match dialect {
        Dialect::Mysql => parts.len() > 1 && parts.first().is_some_and(|p| p.value.eq_ignore_ascii_case("mysql")),
        _ => true,
    };
    let secret = SECRET_TABLES
        .iter()
        .any(|(engine, table)| *engine == dialect && *table == lower);
    (secret && in_system_schema).then(|| {
        reason(
            "forbidden-table",
            format!("`{name}` holds passwords or server secrets, which no report needs"),
        )
    })
}
