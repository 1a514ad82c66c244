//! A server that goes away in the middle of a statement: the user is told so at once, and the same command works again
//! when the server is back. Each test runs a server of its own, where the machine has one to run.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use sqlx::{AssertSqlSafe, Connection, Executor, MySqlConnection, PgConnection};

use crate::support::{analyst, run, stderr, stdout};

/// How long a server may take to come up, or a statement to be seen waiting.
const PATIENCE: Duration = Duration::from_secs(60);

/// The user is told within this: the pauses between attempts are less than a second together.
const TOLD_WITHIN: Duration = Duration::from_secs(20);

const QUERY: &str = "SELECT SUM(amount) AS total FROM sales";

/// A program on the path, or where Debian keeps PostgreSQL's.
fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.push("/usr/sbin".into());
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    folders.extend(versions.map(|version| version.path().join("bin")));
    let mut programs = folders.into_iter().map(|folder| folder.join(name));
    programs.find(|program| program.is_file())
}

/// The number of a user, from the system's list.
fn user(name: &str) -> Option<u32> {
    let users = std::fs::read_to_string("/etc/passwd").ok()?;
    let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
    line.split(':').nth(2)?.parse().ok()
}

/// A command that runs as `name` where the tests run as root, as whom no server wants to run; its files go to `folder`.
#[cfg(unix)]
fn as_user(name: &str, program: &Path, folder: &Path) -> Command {
    use std::os::unix::fs::MetadataExt;
    use std::os::unix::process::CommandExt;
    let mut command = Command::new(program);
    command.current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|about| about.uid() == 0);
    if let Some(id) = user(name).filter(|_| is_root) {
        std::os::unix::fs::chown(folder, Some(id), None).unwrap();
        command.uid(id);
    }
    command
}

/// Waits until `is_so`; fails after a minute.
fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < PATIENCE, "{what} did not happen");
        std::thread::yield_now();
    }
}

/// A port that nobody listens on.
fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Starts the statement, waits until the server says that it waits for a lock, takes the server away, and gives what
/// the user is told.
fn told_when_lost(folder: &Path, url: &str, is_waiting: impl FnMut() -> bool, lose: impl FnOnce()) -> String {
    let query = folder.join("query.sql");
    std::fs::write(&query, QUERY).unwrap();
    let mut command = analyst(folder);
    command
        .args(["sql", "run", "--db", url, "query.sql"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let running = command.spawn().unwrap();
    wait_until("waiting for the lock", is_waiting);
    lose();
    let lost = Instant::now();
    let output = running.wait_with_output().unwrap();
    assert!(lost.elapsed() < TOLD_WITHIN, "{:?}", lost.elapsed());
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    stderr(&output)
}

fn total(folder: &Path, url: &str) -> String {
    std::fs::write(folder.join("query.sql"), QUERY).unwrap();
    let output = run(folder, &["sql", "run", "--db", url, "--format", "csv", "query.sql"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    stdout(&output).lines().nth(1).unwrap_or_default().to_owned()
}

#[cfg(unix)]
#[test]
fn a_postgresql_server_that_stops_in_mid_query_is_an_error_in_words_and_then_answers_again() {
    let (Some(initdb), Some(pg_ctl)) = (program("initdb"), program("pg_ctl")) else {
        println!("skipped: initdb and pg_ctl are not there");
        return;
    };
    let (home, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let data = home.path().join("data");
    let data = data.to_str().unwrap();
    let made = as_user("postgres", &initdb, home.path())
        .args(["-D", data, "-U", "tester", "-A", "trust", "--no-sync", "-E", "UTF8"])
        .status()
        .unwrap();
    if !made.success() {
        println!("skipped: initdb makes no database here");
        return;
    }
    let port = free_port().to_string();
    let url = format!("postgres://tester@127.0.0.1:{port}/postgres");
    let options = format!("-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off");
    let start = || {
        let started = as_user("postgres", &pg_ctl, home.path())
            .args(["-D", data, "-w", "-l", "log", "-o", &options, "start"])
            .status();
        assert!(started.unwrap().success());
    };
    let stop = || {
        let stopped = as_user("postgres", &pg_ctl, home.path())
            .args(["-D", data, "-m", "immediate", "stop"])
            .status();
        assert!(stopped.unwrap().success());
    };
    start();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let connect = || runtime.block_on(PgConnection::connect(&url)).unwrap();
    let mut owner = connect();
    let shop = "CREATE TABLE sales (amount numeric(10,2)); INSERT INTO sales VALUES (1.25), (2.50)";
    runtime.block_on(owner.execute(sqlx::raw_sql(shop))).unwrap();
    // The catalog is known from here on, so that it is the statement itself that meets the lock.
    assert_eq!(total(folder.path(), &url), "3.75");
    let lock = "BEGIN; LOCK TABLE sales IN ACCESS EXCLUSIVE MODE";
    runtime.block_on(owner.execute(sqlx::raw_sql(lock))).unwrap();
    let mut watcher = connect();
    let is_waiting = || {
        let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
        runtime
            .block_on(sqlx::query_scalar::<_, i64>(waiting).fetch_one(&mut watcher))
            .unwrap()
            > 0
    };
    let told = told_when_lost(folder.path(), &url, is_waiting, stop);
    assert!(told.contains("no connection to postgres://tester@127.0.0.1"), "{told}");
    start();
    assert_eq!(total(folder.path(), &url), "3.75");
    stop();
}

/// Ends the server when a test fails too.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(unix)]
#[test]
fn a_mariadb_server_that_is_killed_in_mid_query_is_an_error_in_words_and_then_answers_again() {
    let (Some(install), Some(mariadbd)) = (program("mariadb-install-db"), program("mariadbd")) else {
        println!("skipped: mariadb-install-db and mariadbd are not there");
        return;
    };
    let (home, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let data = format!("--datadir={}", home.path().join("data").display());
    let made = as_user("mysql", &install, home.path())
        .args([
            "--no-defaults",
            &data,
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
        ])
        .status()
        .unwrap();
    if !made.success() {
        println!("skipped: mariadb-install-db makes no database here");
        return;
    }
    let port = free_port();
    let url = format!("mysql://root@127.0.0.1:{port}/shop");
    let root = format!("mysql://root@127.0.0.1:{port}/mysql");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let start = || {
        let server = as_user("mysql", &mariadbd, home.path())
            .args(["--no-defaults", &data, "--bind-address=127.0.0.1"])
            .arg(format!("--port={port}"))
            .arg(format!("--socket={}", home.path().join("s").display()))
            .arg(format!("--pid-file={}", home.path().join("pid").display()))
            .spawn();
        let server = Server(server.unwrap());
        wait_until("the server's coming up", || {
            runtime.block_on(MySqlConnection::connect(&root)).is_ok()
        });
        server
    };
    let mut server = start();
    let connect = |url: &str| runtime.block_on(MySqlConnection::connect(url)).unwrap();
    let mut owner = connect(&root);
    let shop = "CREATE DATABASE shop; USE shop; CREATE TABLE sales (amount decimal(10,2)); \
                INSERT INTO sales VALUES (1.25), (2.50)";
    runtime
        .block_on(owner.execute(sqlx::raw_sql(AssertSqlSafe(shop))))
        .unwrap();
    assert_eq!(total(folder.path(), &url), "3.75");
    runtime
        .block_on(owner.execute(sqlx::raw_sql("LOCK TABLES sales WRITE")))
        .unwrap();
    let mut watcher = connect(&root);
    let is_waiting = || {
        let waiting = "SELECT COUNT(*) FROM information_schema.processlist WHERE state LIKE 'Waiting for table%'";
        runtime
            .block_on(sqlx::query_scalar::<_, i64>(waiting).fetch_one(&mut watcher))
            .unwrap()
            > 0
    };
    let lose = || {
        server.0.kill().unwrap();
        server.0.wait().unwrap();
    };
    let told = told_when_lost(folder.path(), &url, is_waiting, lose);
    assert!(told.contains("no connection to mysql://root@127.0.0.1"), "{told}");
    let _server = start();
    assert_eq!(total(folder.path(), &url), "3.75");
}
