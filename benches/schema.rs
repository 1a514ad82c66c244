//! What knowing a database costs: 1,000 tables with 20,000 columns, read and searched cold, then warm from the cache.
//!
//!     cargo bench --bench schema -- [DATABASE [RUNS]]
//!
//! Without DATABASE (a file or URL) such a database is made in a scratch SQLite file. Each run opens the database anew and
//! prints one line: cold or warm, milliseconds to the catalog and its index, milliseconds with the search, tables,
//! columns, the first table found.

use std::error::Error;
use std::time::Instant;

use analyst::config::Access;
use analyst::warehouse::engine::{CatalogCache, Engine, Target};

const TABLES: usize = 1_000;
const COLUMNS: usize = 20;
const ROWS: usize = 5;
const RUNS: usize = 10;

const QUESTION: &str = "what kinds of table 500 were counted last month, by amount";

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let scratch = tempfile::tempdir()?;
    let database = match arguments.next() {
        Some(database) => database,
        None => make(&scratch.path().join("wide.sqlite"))?,
    };
    let runs = arguments.next().map_or(Ok(RUNS), |runs| runs.parse())?;
    let runtime = tokio::runtime::Runtime::new()?;
    for run in 0..runs {
        // The first two runs find no cache.
        let folder = scratch.path().join(if run == 0 { "first" } else { "cache" });
        let cache = CatalogCache::at(&folder).ok_or("no folder for the cache")?;
        let name = if run < 2 { "cold" } else { "warm" };
        println!("{name}\t{}", runtime.block_on(look(&database, &cache))?);
    }
    Ok(())
}

async fn look(database: &str, cache: &CatalogCache) -> Result<String, Box<dyn Error>> {
    let started = Instant::now();
    let engine = Engine::connect_with(&Target::parse(database)?, &Access::default(), Some(cache)).await?;
    let known = engine.known().await?;
    let read = started.elapsed();
    let hits = known.search.search(QUESTION, 8);
    let searched = started.elapsed();
    let columns: usize = known.catalog.tables.iter().map(|table| table.columns.len()).sum();
    let first = hits.first().map(|hit| hit.table.clone()).unwrap_or_default();
    Ok(format!(
        "{:.1}\t{:.1}\t{}\t{columns}\t{first}",
        read.as_secs_f64() * 1e3,
        searched.as_secs_f64() * 1e3,
        known.catalog.tables.len(),
    ))
}

/// Every other table declares a key to the table before it; the others' keys are to be inferred from their values.
fn make(path: &std::path::Path) -> Result<String, Box<dyn Error>> {
    let mut connection = rusqlite::Connection::open(path)?;
    let transaction = connection.transaction()?;
    for table in 0..TABLES {
        let declared = match table.checked_sub(1) {
            Some(parent) if table % 2 == 1 => format!(" REFERENCES table_{parent} (id)"),
            _ => String::new(),
        };
        let columns = (2..COLUMNS).map(|column| match column % 4 {
            0 => format!("amount_{column} DECIMAL(12,2)"),
            1 => format!("happened_at_{column} TIMESTAMP"),
            2 => format!("kind_{column} TEXT"),
            _ => format!("count_{column} INTEGER"),
        });
        let columns = columns.collect::<Vec<_>>().join(", ");
        transaction.execute_batch(&format!(
            "CREATE TABLE table_{table} (id INTEGER PRIMARY KEY, parent_id INTEGER{declared}, {columns});
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS})
             INSERT INTO table_{table} (id, parent_id, kind_2) SELECT i, i % 3 + 1, 'kind ' || i FROM n"
        ))?;
    }
    transaction.commit()?;
    Ok(path.display().to_string())
}
