use rusqlite::Connection;

use super::*;

/// Every file of the folder with its contents, and the names of the current folder.
fn state(folder: &Path) -> String {
    let mut lines = vec![];
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        lines.push(format!("{name} {}", hash(&std::fs::read(entry.path()).unwrap())));
    }
    lines.sort();
    lines.join("\n")
}

#[tokio::test]
async fn what_the_guard_refuses_changes_no_sqlite_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.sqlite");
    let script =
        "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b, x); INSERT INTO t VALUES (1, 'a', 2.5, NULL), (2, 'b', 7, 1);
                  CREATE TABLE u (a, id); INSERT INTO u VALUES ('x', 1); CREATE VIEW v AS SELECT a FROM t;
                  CREATE TABLE s (a); CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM u; END";
    Connection::open(&path).unwrap().execute_batch(script).unwrap();
    let engine = open(path.to_str().unwrap()).await;
    let (told, wrong) = force(&engine, async || state(folder.path())).await;
    println!("SQLite: {told:?}");
    assert_eq!(wrong, Vec::<String>::new());
    still_answers(&engine).await;
}
