use sqlx::{AssertSqlSafe, Connection, Executor, MySqlConnection, Row};

use super::*;

const SHOP: &[&str] = &[
    "CREATE TABLE t (id INT PRIMARY KEY, a TEXT, b DECIMAL(10,2), x INT)",
    "INSERT INTO t VALUES (1, 'a', 2.5, NULL), (2, 'b', 7, 1)",
    "CREATE TABLE u (id INT, a TEXT)",
    "INSERT INTO u VALUES (1, 'x')",
    "CREATE VIEW v AS SELECT a FROM t",
    "CREATE PROCEDURE p() DELETE FROM t",
    "CREATE FUNCTION my_function(n INT) RETURNS INT DETERMINISTIC RETURN n + 1",
];

/// What a change of anything would show in; settings that change by themselves are left out.
const STATE: &[&str] = &[
    "SELECT CONCAT_WS(' ', id, a, b, x) FROM t ORDER BY id",
    "SELECT CONCAT_WS(' ', id, a) FROM u ORDER BY id",
    "SELECT CONCAT_WS(' ', table_name, table_type, create_time) FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY table_name",
    "SELECT CONCAT_WS(' ', routine_name, routine_type, last_altered) FROM information_schema.routines WHERE routine_schema = DATABASE() ORDER BY routine_name",
    "SELECT CONCAT(MD5(GROUP_CONCAT(priv ORDER BY user, host)), COUNT(*)) FROM mysql.global_priv WHERE user = 'ROLE'",
    "SELECT CONCAT_WS(' ', plugin_name, plugin_status) FROM information_schema.plugins ORDER BY plugin_name",
    "SELECT CONCAT_WS(' ', variable_name, variable_value) FROM information_schema.global_variables \
     WHERE variable_name NOT LIKE '%gtid%' ORDER BY variable_name",
];

async fn execute(connection: &mut MySqlConnection, sql: String) {
    connection
        .execute(sqlx::raw_sql(AssertSqlSafe(sql.clone())))
        .await
        .unwrap_or_else(|error| panic!("{error}: {sql}"));
}

#[tokio::test]
async fn what_the_guard_refuses_changes_nothing_in_mariadb() {
    let Ok(url) = std::env::var("ANALYST_TEST_MYSQL_URL") else {
        eprintln!("skipped: ANALYST_TEST_MYSQL_URL names no server");
        return;
    };
    let name = format!("analyst_forced_{}", std::process::id());
    let mut root = MySqlConnection::connect(&url).await.unwrap();
    for sql in [format!("CREATE DATABASE {name}"), format!("USE {name}")] {
        execute(&mut root, sql).await;
    }
    for sql in SHOP {
        execute(&mut root, (*sql).to_owned()).await;
    }
    for sql in documented_role("**MySQL and MariaDB.**") {
        // The test's server is on this machine and has no certificate.
        let sql = sql.replace("'analyst'@'10.%'", &format!("'{name}'@'%'"));
        let sql = sql.replace("shop.*", &format!("{name}.*")).replace("REQUIRE SSL ", "");
        execute(&mut root, sql).await;
    }
    let engine = open(&login(&url, &format!("{name}:%E2%80%A6"), &name)).await;
    let root = tokio::sync::Mutex::new(root);
    let state = async || {
        let mut lines = vec![];
        for sql in STATE {
            let sql = AssertSqlSafe(sql.replace("ROLE", &name));
            let rows = sqlx::raw_sql(sql).fetch_all(&mut *root.lock().await).await.unwrap();
            lines.extend(
                rows.iter()
                    .map(|row| String::from_utf8_lossy(row.get::<&[u8], _>(0)).into_owned()),
            );
        }
        lines.join("\n")
    };
    let (told, wrong) = force(&engine, state).await;
    println!("MariaDB: {told:?}");
    still_answers(&engine).await;
    drop(engine);
    let mut root = root.into_inner();
    execute(&mut root, format!("DROP USER '{name}'@'%'")).await;
    execute(&mut root, format!("DROP DATABASE {name}")).await;
    assert_eq!(wrong, Vec::<String>::new());
}
