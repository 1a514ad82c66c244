//! The same commands on the servers.

use sqlx::{AssertSqlSafe, Connection, Executor};

use super::*;

const TABLES: &[&str] = &[
    "CREATE TABLE customer (id INT PRIMARY KEY, name VARCHAR(40) NOT NULL)",
    "CREATE TABLE orders (id INT PRIMARY KEY, customer_id INT NOT NULL REFERENCES customer (id), total DECIMAL(12,2), placed_at TIMESTAMP NULL)",
    "INSERT INTO customer VALUES (1, 'Zoë'), (2, '李伟')",
    "INSERT INTO orders VALUES (1, 1, 1234567890.10, '2005-08-01 10:00:00'), (2, 2, NULL, NULL)",
];

/// A database of its own on a server of the tests; it goes when this does.
pub struct Server {
    pub url: String,
    drop: String,
    admin: String,
}

impl Server {
    pub fn postgres(name: &str) -> Option<Self> {
        let admin = variable("ANALYST_TEST_POSTGRES_URL")?;
        Some(Self::make(admin, name, " WITH (FORCE)"))
    }

    pub fn mysql(name: &str) -> Option<Self> {
        let admin = variable("ANALYST_TEST_MYSQL_URL")?;
        Some(Self::make(admin, name, ""))
    }

    fn make(admin: String, name: &str, force: &str) -> Self {
        let name = format!("analyst_{name}_{}", std::process::id());
        let (server, _) = admin.rsplit_once('/').unwrap();
        let made = Self {
            url: format!("{server}/{name}"),
            drop: format!("DROP DATABASE IF EXISTS {name}{force}"),
            admin: admin.clone(),
        };
        execute(&admin, &[&made.drop, &format!("CREATE DATABASE {name}")]);
        made
    }

    pub fn execute(&self, statements: &[&str]) {
        execute(&self.url, statements);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        execute(&self.admin, &[&self.drop]);
    }
}

fn variable(name: &str) -> Option<String> {
    let value = std::env::var(name).ok();
    if value.is_none() {
        println!("skipped: {name} names no server");
    }
    value
}

fn execute(url: &str, statements: &[&str]) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        if url.starts_with("postgres") {
            let mut connection = sqlx::PgConnection::connect(url).await.unwrap();
            for sql in statements {
                connection
                    .execute(sqlx::raw_sql(AssertSqlSafe((*sql).to_owned())))
                    .await
                    .unwrap();
            }
        } else {
            let mut connection = sqlx::MySqlConnection::connect(url).await.unwrap();
            for sql in statements {
                connection
                    .execute(sqlx::raw_sql(AssertSqlSafe((*sql).to_owned())))
                    .await
                    .unwrap();
            }
        }
    });
}

fn every_command_works(server: &Server) {
    server.execute(TABLES);
    let shop = Shop::new();
    let at = |command: &[&str], sql: &str| {
        let output = shop.pipe(&[command, &["--db", &server.url, "-"]].concat(), sql);
        (stdout(&output), stderr(&output), output.status.code())
    };
    let joined = "SELECT c.name, o.total FROM customer c JOIN orders o ON o.customer_id = c.id ORDER BY c.id";
    let (verdict, said, code) = at(&["sql", "check", "--json"], joined);
    assert_eq!(code, Some(0), "{verdict}{said}");
    let verdict: Value = serde_json::from_str(&verdict).unwrap();
    let source = verdict["lineage"][1]["sources"][0].as_str().unwrap();
    assert!(source.ends_with("orders.total"), "{source}");
    let (text, said, _) = at(&["sql", "check"], "SELECT nmae FROM customer");
    assert!(text.contains("did you mean `name`?"), "{text}{said}");
    let (rows, said, _) = at(&["sql", "run", "--format", "csv"], joined);
    assert_eq!(rows, "name,total\nZoë,1234567890.10\n李伟,\n", "{said}");
    let (rows, ..) = at(
        &["sql", "run", "--format", "json"],
        "SELECT total, placed_at FROM orders WHERE id = 1",
    );
    let rows: Value = serde_json::from_str(&rows).unwrap();
    assert_eq!(rows["rows"][0][0], serde_json::json!({"decimal": "1234567890.10"}));
    assert!(
        rows["rows"][0][1].as_str().unwrap().starts_with("2005-08-01T10:00:00"),
        "{rows}"
    );
    let (_, said, code) = at(&["sql", "run"], "DELETE FROM orders");
    assert!(code == Some(1) && said.contains("not-read-only"), "{said}");
    let output = shop.run(&["schema", "--db", &server.url, "--profile", "orders"]);
    let text = stdout(&output);
    assert!(
        text.contains("orders (table, 2 rows)") && text.contains("customer_id -> "),
        "{text}{}",
        stderr(&output)
    );
}

#[test]
fn every_command_works_on_postgresql() {
    if let Some(server) = Server::postgres("commands") {
        every_command_works(&server);
    }
}

#[test]
fn every_command_works_on_mariadb() {
    if let Some(server) = Server::mysql("commands") {
        every_command_works(&server);
    }
}
