//! What fetching costs: every row of a table `t` into a frame, timed as a whole, with the peak of the process's memory.
//!
//!     cargo bench --bench fetch -- [DATABASE [RUNS]]
//!
//! DATABASE is a file or URL with a table `t(id, ts, region, product, qty, amount)`; without one, a million rows are made
//! in a scratch SQLite file. Prints one line a run: reader, seconds, rows, sum of qty, peak MiB.

use std::error::Error;
use std::time::{Duration, Instant};

use analyst::warehouse::engine::{Engine, RunLimits, Target};
use analyst::warehouse::sql;
use tokio_util::sync::CancellationToken;

const QUERY: &str = "SELECT * FROM t";

/// As many runs as the other readers that this is put beside make.
const RUNS: usize = 3;

const LIMITS: RunLimits = RunLimits {
    max_rows: usize::MAX,
    max_bytes: usize::MAX,
    timeout: Duration::from_secs(600),
    ceiling: analyst::warehouse::engine::Ceiling {
        cost: None,
        plan_rows: None,
        steps: None,
    },
};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let scratch = tempfile::tempdir()?;
    let database = match arguments.next() {
        Some(database) => database,
        None => make(&scratch.path().join("t.sqlite"))?,
    };
    let runs = arguments.next().map_or(Ok(RUNS), |runs| runs.parse())?;
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(fetch(&database, runs))
}

async fn fetch(database: &str, runs: usize) -> Result<(), Box<dyn Error>> {
    let engine = Engine::connect(&Target::parse(database)?).await?;
    let checked = sql::check(QUERY, engine.dialect(), Some(&engine.introspect().await?))?;
    for _ in 0..runs {
        let started = Instant::now();
        let fetched = engine.run(&checked, &LIMITS, &CancellationToken::new()).await?;
        let seconds = started.elapsed().as_secs_f64();
        let quantity = fetched.frame.column("qty")?.i64()?.iter().flatten().sum::<i64>();
        let rows = fetched.frame.height();
        println!("analyst\t{seconds:.3}\t{rows}\t{quantity}\t{}", peak_mebibytes());
    }
    Ok(())
}

/// The most memory that this process has had, where the system tells; else nothing.
fn peak_mebibytes() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes: Option<u64> = peak.and_then(|peak| peak.trim().trim_end_matches(" kB").parse().ok());
    kibibytes.map_or_else(|| "?".to_owned(), |kibibytes| (kibibytes / 1024).to_string())
}

/// A million rows, the same every time.
fn make(path: &std::path::Path) -> Result<String, Box<dyn Error>> {
    let connection = rusqlite::Connection::open(path)?;
    connection.execute_batch(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
         CREATE TABLE t (id INTEGER PRIMARY KEY, ts TEXT, region TEXT, product TEXT, qty INTEGER, amount REAL);
         WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999999)
         INSERT INTO t SELECT i, date('2022-01-01', '+' || (i % 1000) || ' days'),
             CASE i % 5 WHEN 0 THEN 'North' WHEN 1 THEN 'South' WHEN 2 THEN 'East' WHEN 3 THEN 'West' ELSE 'Central' END,
             'product-' || (i * 7 % 500), 1 + i * 31 % 50, CASE WHEN i % 997 = 0 THEN NULL ELSE round((i * 7919 % 100000) / 100.0, 2) END
         FROM n;",
    )?;
    Ok(path.display().to_string())
}
