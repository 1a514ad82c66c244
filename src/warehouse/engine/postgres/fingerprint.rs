//! Whether a PostgreSQL database still contains what it did.

use super::PostgresEngine;

/// Every transaction that wrote anything moves the snapshot on, in whichever database of the server.
const QUICK: &str = "
    SELECT concat_ws('/', d.oid, pg_postmaster_start_time(), pg_current_snapshot(), current_user, current_schemas(false))
    FROM pg_database d WHERE d.datname = current_database()";

/// The number of rows in each catalog that introspection reads and the transaction that last wrote one, counted from
/// the first; then the rows written to tables so far, which the counts of rows and the measured keys follow.
const FULL: &str = "
    WITH now AS (SELECT pg_snapshot_xmax(pg_current_snapshot())::text::int8 AS xid)
    SELECT concat_ws('/', current_user, current_schemas(false), current_database(),
        (SELECT concat(count(*), ':', xid - min(age(c.xmin))) FROM pg_class c WHERE c.oid >= 16384),
        (SELECT concat(count(*), ':', xid - min(age(a.xmin))) FROM pg_attribute a WHERE a.attrelid >= 16384 AND a.attnum > 0),
        (SELECT concat(count(*), ':', xid - min(age(i.xmin))) FROM pg_index i WHERE i.indrelid >= 16384),
        (SELECT concat(count(*), ':', xid - min(age(f.xmin))) FROM pg_constraint f WHERE f.conrelid >= 16384),
        (SELECT concat(count(*), ':', xid - min(age(d.xmin))) FROM pg_description d WHERE d.objoid >= 16384),
        (SELECT concat(count(*), ':', xid - min(age(n.xmin))) FROM pg_namespace n),
        (SELECT concat(count(*), ':', xid - min(age(m.xmin))) FROM pg_auth_members m),
        (SELECT sum(pg_stat_get_tuples_inserted(t.oid) + pg_stat_get_tuples_updated(t.oid) + pg_stat_get_tuples_deleted(t.oid))
         FROM pg_class t WHERE t.oid >= 16384 AND t.relkind IN ('r', 'm')))
    FROM now";

impl PostgresEngine {
    /// Different when any transaction of the server has written since; `None` where the server does not tell.
    pub(in crate::warehouse::engine) async fn quick_fingerprint(&self) -> Option<String> {
        sqlx::query_scalar(QUICK).fetch_one(self.session.pool()).await.ok()
    }

    /// Different when the catalog, or the number of rows written, is; `None` where the server does not tell.
    pub(in crate::warehouse::engine) async fn fingerprint(&self) -> Option<String> {
        sqlx::query_scalar(FULL).fetch_one(self.session.pool()).await.ok()
    }
}
