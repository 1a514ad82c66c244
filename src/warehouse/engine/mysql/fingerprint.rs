//! Whether a MySQL or MariaDB database still contains what it did.

use sqlx::{AssertSqlSafe, Row};

use super::MysqlEngine;
use super::introspect::in_schemas;

/// What the server has counted of statements that change anything, and how many statements are running right now.
const QUICK: &str = "SHOW GLOBAL STATUS WHERE Variable_name REGEXP \
    '^(Threads_running$|Com_(insert|update|delete|replace|load|truncate|create|alter|drop|rename|grant|revoke|commit|xa|call|import))'";

impl MysqlEngine {
    /// Different when any statement of the server may have written since; `None` where the server does not tell, and while
    /// another statement runs, since it is counted when it begins.
    pub(in crate::warehouse::engine) async fn quick_fingerprint(&self) -> Option<String> {
        let pool = self.session.pool();
        let about: String = sqlx::query_scalar(
            "SELECT CAST(CONCAT_WS('/', @@hostname, @@port, CURRENT_USER(), DATABASE(), VERSION()) AS CHAR)",
        )
        .fetch_one(pool)
        .await
        .ok()?;
        let mut told = vec![about];
        for row in sqlx::query(QUICK).fetch_all(pool).await.ok()? {
            let (name, value): (String, String) = (row.try_get(0).ok()?, row.try_get(1).ok()?);
            if name.eq_ignore_ascii_case("Threads_running") && value != "1" {
                return None;
            }
            told.push(value);
        }
        Some(told.join("/"))
    }

    /// Different when the catalog, or when a table was last written, is; `None` where the server does not tell.
    pub(in crate::warehouse::engine) async fn fingerprint(&self) -> Option<String> {
        let schemas = in_schemas(self);
        let sums = [
            (
                "tables",
                "t.table_name, t.table_type, t.create_time, t.update_time, t.table_comment",
            ),
            (
                "columns",
                "t.table_name, t.column_name, t.column_type, t.is_nullable, t.column_comment, t.ordinal_position",
            ),
            (
                "statistics",
                "t.table_name, t.index_name, t.column_name, t.seq_in_index, t.non_unique",
            ),
            (
                "key_column_usage",
                "t.table_name, t.constraint_name, t.column_name, t.referenced_table_name, t.referenced_column_name",
            ),
        ];
        let mut told = vec![];
        for (view, columns) in sums {
            let sql = format!(
                "SELECT CAST(CONCAT(COUNT(*), ':', COALESCE(SUM(CRC32(CONCAT_WS(',', t.table_schema, {columns}))), 0)) AS CHAR) \
                 FROM information_schema.{view} t WHERE {schemas}"
            );
            let sum: String = sqlx::query_scalar(AssertSqlSafe(sql))
                .fetch_one(self.session.pool())
                .await
                .ok()?;
            told.push(sum);
        }
        Some(told.join("/"))
    }
}
