//! `analyst sql check`, `analyst sql run` and `analyst schema`, as people and programs use them.

use std::io::Write;
use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::Value;

use crate::support::{analyst, run, stderr, stdout};

mod check;
pub mod engines;
mod limits;
mod run;
mod schema;

/// A shop with odd names, Chinese among them, and values that are easily spoilt.
const SHOP: &str = "
    CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL, manager_id INTEGER REFERENCES customer(id));
    CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customer(id), total REAL, placed_at TEXT);
    CREATE TABLE order_item (id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL REFERENCES orders(id), quantity INTEGER);
    CREATE TABLE \"Odd Name; --\" (\"select\" INTEGER, \"a\"\"b\" TEXT);
    CREATE TABLE 客户 (编号 INTEGER PRIMARY KEY, 城市 TEXT);
    INSERT INTO customer VALUES (1, 'Zoë', NULL), (2, 'Li, \"Wei\"', 1), (3, '', 1);
    INSERT INTO orders VALUES (1, 1, 10.5, '2005-08-01 10:00:00'), (2, 1, 20, '2005-08-31 09:30:00'), (3, 2, 0.1, '2005-08-31 23:59:59');
    INSERT INTO order_item VALUES (1, 1, 2), (2, 1, 3), (3, 2, 1), (4, 3, 7);
    INSERT INTO \"Odd Name; --\" VALUES (9007199254740993, 'line' || char(10) || 'break'), (1, char(27) || '[31mred');
    INSERT INTO 客户 VALUES (1, '北京'), (2, '上海');";

struct Shop {
    folder: tempfile::TempDir,
}

impl Shop {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shop.sqlite");
        rusqlite::Connection::open(path).unwrap().execute_batch(SHOP).unwrap();
        Self { folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn run(&self, arguments: &[&str]) -> Output {
        run(self.path(), arguments)
    }

    /// Runs the command with `sql` on its standard input.
    fn pipe(&self, arguments: &[&str], sql: &str) -> Output {
        let mut child = analyst(self.path())
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(sql.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    }

    /// The verdict on `sql` as JSON, and the exit code.
    fn verdict(&self, options: &[&str], sql: &str) -> (Value, Option<i32>) {
        let arguments = [&["sql", "check", "--json"], options, &["-"]].concat();
        let output = self.pipe(&arguments, sql);
        let text = stdout(&output);
        let json = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}{}", stderr(&output)));
        (json, output.status.code())
    }

    /// What `sql run` prints, where it succeeds.
    fn rows(&self, options: &[&str], sql: &str) -> String {
        let arguments = [&["sql", "run", "--db", "shop.sqlite"], options, &["-"]].concat();
        let output = self.pipe(&arguments, sql);
        assert_eq!(output.status.code(), Some(0), "{sql}: {}", stderr(&output));
        stdout(&output)
    }
}
