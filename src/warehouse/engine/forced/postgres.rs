use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};

use super::*;

/// What a change of anything would show in. Large objects, extensions and settings are there because functions that
/// read-only transactions allow can make them. Advisory locks are no change: they end with the statement.
const STATE: &str = "
SELECT concat_ws(E'\\n',
  (SELECT string_agg(t::text, ' ' ORDER BY id) FROM sales.t AS t),
  (SELECT string_agg(u::text, ' ' ORDER BY id) FROM sales.u AS u),
  (SELECT concat(last_value, is_called) FROM sales.s),
  (SELECT md5(string_agg(concat(c.oid, relname, relkind, relowner, relacl), ' ' ORDER BY c.oid)) FROM pg_class AS c),
  (SELECT md5(string_agg(concat(oid, proname, proowner), ' ' ORDER BY oid)) FROM pg_proc),
  (SELECT md5(string_agg(nspname, ' ' ORDER BY oid)) FROM pg_namespace),
  (SELECT string_agg(extname, ' ' ORDER BY oid) FROM pg_extension),
  (SELECT md5(string_agg(description, ' ' ORDER BY objoid, objsubid)) FROM pg_description),
  (SELECT count(*)::text FROM pg_largeobject_metadata),
  (SELECT count(*)::text FROM pg_prepared_xacts WHERE database = current_database()),
  (SELECT string_agg(setconfig::text, ' ' ORDER BY setdatabase, setrole) FROM pg_db_role_setting WHERE setrole = 'ROLE'::regrole),
  (SELECT concat(rolpassword, rolsuper, rolcanlogin) FROM pg_authid WHERE rolname = 'ROLE'),
  (SELECT string_agg(name, ' ' ORDER BY name) FROM pg_ls_dir('.') AS name))";

const SHOP: &str = "CREATE SCHEMA sales; SET search_path = sales;
    CREATE TABLE t (id int PRIMARY KEY, a text, b numeric, x int); INSERT INTO t VALUES (1, 'a', 2.5, NULL), (2, 'b', 7, 1);
    CREATE TABLE u (id int, a text); INSERT INTO u VALUES (1, 'x'); CREATE VIEW v AS SELECT a FROM t; CREATE SEQUENCE s;
    CREATE PROCEDURE p() LANGUAGE sql AS 'DELETE FROM sales.t';
    CREATE FUNCTION my_function(int) RETURNS int LANGUAGE sql AS 'DELETE FROM sales.t; SELECT 1'";

async fn connect(url: &str) -> PgConnection {
    PgConnection::connect(url).await.unwrap()
}

async fn execute(connection: &mut PgConnection, sql: String) {
    connection
        .execute(sqlx::raw_sql(AssertSqlSafe(sql.clone())))
        .await
        .unwrap_or_else(|error| panic!("{error}: {sql}"));
}

#[tokio::test]
async fn what_the_guard_refuses_changes_nothing_in_postgresql() {
    let Ok(url) = std::env::var("ANALYST_TEST_POSTGRES_URL") else {
        eprintln!("skipped: ANALYST_TEST_POSTGRES_URL names no server");
        return;
    };
    let name = format!("analyst_forced_{}", std::process::id());
    let mut root = connect(&url).await;
    execute(&mut root, format!("CREATE DATABASE {name}")).await;
    let mut owner = connect(&login(&url, &user(&url), &name)).await;
    execute(&mut owner, SHOP.to_owned()).await;
    for sql in documented_role("**PostgreSQL.**") {
        let sql = sql
            .replace("analyst", &name)
            .replace("DATABASE shop", &format!("DATABASE {name}"));
        execute(&mut owner, sql).await;
    }
    execute(&mut owner, format!("ALTER ROLE {name} SET search_path = sales")).await;
    let engine = open(&login(&url, &format!("{name}:%E2%80%A6"), &name)).await;
    let owner = tokio::sync::Mutex::new(owner);
    let question = STATE.replace("ROLE", &name);
    let state = async || {
        let mut owner = owner.lock().await;
        let sql = AssertSqlSafe(question.clone());
        sqlx::query_scalar::<_, String>(sql)
            .fetch_one(&mut *owner)
            .await
            .unwrap()
    };
    let (told, wrong) = force(&engine, state).await;
    println!("PostgreSQL: {told:?}");
    still_answers(&engine).await;
    drop(engine);
    owner.into_inner().close().await.unwrap();
    execute(&mut root, format!("DROP DATABASE {name} WITH (FORCE)")).await;
    execute(&mut root, format!("DROP ROLE {name}")).await;
    assert_eq!(wrong, Vec::<String>::new());
}

/// The login of a server's URL.
fn user(url: &str) -> String {
    let (_, rest) = url.split_once("://").unwrap();
    rest.rsplit_once('@').map_or("postgres", |(user, _)| user).to_owned()
}
