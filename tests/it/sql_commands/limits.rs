//! Bounds: memory by the rows kept, time by the clock, and Ctrl-C; on every engine, with the database told to stop.

use std::process::{Child, Command};
use std::time::{Duration, Instant};

use analyst::warehouse::engine::{Engine, EngineError, RunLimits, Target};
use analyst::warehouse::sql;
use tokio_util::sync::CancellationToken;

use super::engines::Server;
use super::*;

/// Ten rows; joined with itself it makes as many as one likes.
const DIGITS: &[&str] = &[
    "CREATE TABLE d (i INT)",
    "INSERT INTO d VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)",
];

/// What a result may cost, whatever its length.
const MOST_MEMORY: u64 = 100 << 20;

/// A database with the ten rows, which goes when this does.
struct Ten {
    url: String,
    shop: Shop,
    _server: Option<Server>,
}

fn sqlite() -> Ten {
    let shop = Shop::new();
    let path = shop.path().join("ten.sqlite");
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute_batch(&DIGITS.join(";"))
        .unwrap();
    Ten {
        url: path.to_str().unwrap().to_owned(),
        shop,
        _server: None,
    }
}

fn server(server: Option<Server>) -> Option<Ten> {
    let server = server?;
    server.execute(DIGITS);
    Some(Ten {
        url: server.url.clone(),
        shop: Shop::new(),
        _server: Some(server),
    })
}

/// All engines that are there.
fn engines(name: &str) -> Vec<Ten> {
    let servers = [server(Server::postgres(name)), server(Server::mysql(name))];
    std::iter::once(sqlite()).chain(servers.into_iter().flatten()).collect()
}

/// `FROM d a0 CROSS JOIN d a1 …`: 10^`times` rows.
fn joined(times: usize) -> String {
    let names: Vec<String> = (0..times).map(|n| format!("d a{n}")).collect();
    names.join(" CROSS JOIN ")
}

/// Would take the fastest of the engines hours.
fn endless() -> String {
    format!("SELECT COUNT(*), SUM(a0.i * a1.i) FROM {}", joined(13))
}

fn start(ten: &Ten, options: &[&str], sql: &str) -> Child {
    let mut child = analyst(ten.shop.path())
        .args(["sql", "run", "--db", &ten.url])
        .args(options)
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(sql.as_bytes()).unwrap();
    child
}

/// The most memory that the process has held, watched until it ends.
#[cfg(target_os = "linux")]
fn peak_memory(child: &mut Child) -> u64 {
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        peak = kilobytes.map_or(peak, |kilobytes| kilobytes << 10);
        std::thread::sleep(Duration::from_millis(2));
    }
    peak
}

#[cfg(target_os = "linux")]
#[test]
fn ten_million_rows_cost_no_more_than_those_that_are_kept() {
    let sql = format!("SELECT a0.i, a1.i AS j, 'some text to carry' AS t FROM {}", joined(7));
    for ten in engines("memory") {
        let mut child = start(&ten, &["--max-rows", "1000", "--format", "csv"], &sql);
        let peak = peak_memory(&mut child);
        let output = child.wait_with_output().unwrap();
        println!("{}: {} MB", ten.url, peak >> 20);
        assert_eq!(stdout(&output).lines().count(), 1001, "{}", stderr(&output));
        assert!(stderr(&output).contains("only the first 1000 rows"));
        assert!(peak > 1 << 20 && peak < MOST_MEMORY, "{}: {peak}", ten.url);
    }
}

#[test]
fn a_statement_that_takes_hours_ends_at_its_timeout_and_the_connection_goes_on() {
    const TIMEOUT: Duration = Duration::from_millis(700);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    for ten in engines("timeout") {
        runtime.block_on(async {
            let engine = Engine::connect(&Target::parse(&ten.url).unwrap()).await.unwrap();
            let catalog = engine.introspect().await.unwrap();
            let check = |text: &str| sql::check(text, engine.dialect(), Some(&catalog)).unwrap();
            let limits = RunLimits {
                timeout: TIMEOUT,
                ..RunLimits::default()
            };
            let cancel = CancellationToken::new();
            for _ in 0..2 {
                let started = Instant::now();
                let error = engine.run(&check(&endless()), &limits, &cancel).await.unwrap_err();
                let took = started.elapsed();
                assert!(matches!(error, EngineError::Timeout(_)), "{}: {error}", ten.url);
                assert!(took < TIMEOUT + Duration::from_secs(1), "{}: {took:?}", ten.url);
                let after = engine
                    .run(&check("SELECT SUM(i) AS s FROM d"), &limits, &cancel)
                    .await
                    .unwrap();
                assert_eq!(after.frame.height(), 1);
            }
        });
    }
}

#[test]
fn the_command_says_that_the_time_was_up() {
    for ten in engines("command") {
        let output = start(&ten, &["--timeout", "0.3"], &endless())
            .wait_with_output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        assert!(output.stdout.is_empty());
        assert!(
            stderr(&output).contains("did not end within 300 ms and was stopped"),
            "{}",
            stderr(&output)
        );
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_the_statement_in_the_database_too() {
    for ten in engines("interrupt") {
        let child = start(&ten, &["--timeout", "600"], &endless());
        // Time to connect and to be at it; too early a signal is handled as well, and ends it in the same way.
        std::thread::sleep(Duration::from_millis(2_500));
        let sent = Command::new("kill")
            .args(["-INT", &child.id().to_string()])
            .status()
            .unwrap();
        assert!(sent.success());
        let started = Instant::now();
        let output = child.wait_with_output().unwrap();
        assert!(
            started.elapsed() < Duration::from_secs(2),
            "{}: {:?}",
            ten.url,
            started.elapsed()
        );
        assert_eq!(output.status.code(), Some(130), "{}: {}", ten.url, stderr(&output));
        assert_eq!(stderr(&output), "analyst: interrupted\n");
        // Dropping the database waits for nobody, but a statement that still ran would show here.
        if ten.url.starts_with("mysql") {
            let running = ten.shop.pipe(
                &["sql", "run", "--db", &ten.url, "--format", "csv", "-"],
                "SELECT COUNT(*) AS n FROM information_schema.processlist WHERE info LIKE 'SELECT COUNT(*), SUM(a0%'",
            );
            assert_eq!(stdout(&running), "n\n0\n", "{}", stderr(&running));
        } else if ten.url.starts_with("postgres") {
            let running = ten.shop.pipe(
                &["sql", "run", "--db", &ten.url, "--format", "csv", "-"],
                "SELECT COUNT(*) AS n FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'SELECT COUNT(*), SUM(a0%' AND datname = current_database()",
            );
            assert_eq!(stdout(&running), "n\n0\n", "{}", stderr(&running));
        }
    }
}
