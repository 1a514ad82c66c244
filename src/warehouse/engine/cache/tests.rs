use std::path::Path;

use rstest::rstest;
use tempfile::TempDir;

use super::*;
use crate::warehouse::engine::{Engine, Target};

struct Shop {
    folder: TempDir,
    cache: CatalogCache,
}

impl Shop {
    fn new(sql: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let cache = CatalogCache::at(&folder.path().join("cache")).unwrap();
        let shop = Self { folder, cache };
        shop.change(sql);
        shop
    }

    fn file(&self) -> std::path::PathBuf {
        self.folder.path().join("shop.sqlite")
    }

    fn change(&self, sql: &str) {
        rusqlite::Connection::open(self.file())
            .unwrap()
            .execute_batch(sql)
            .unwrap();
    }

    /// What a program that starts now knows.
    async fn known(&self) -> Known {
        let target = Target::Sqlite(self.file());
        let engine = Engine::connect_with(&target, &Access::default(), Some(&self.cache))
            .await
            .unwrap();
        engine.known().await.unwrap()
    }

    fn kept(&self) -> Vec<std::path::PathBuf> {
        let files = fs::read_dir(self.folder.path().join("cache")).unwrap();
        files.map(|file| file.unwrap().path()).collect()
    }
}

fn names(known: &Known) -> Vec<String> {
    known.catalog.tables.iter().map(|table| table.name.clone()).collect()
}

#[tokio::test]
async fn a_catalog_is_kept_with_its_search_as_long_as_the_file_is_the_same() {
    let shop = Shop::new(
        "CREATE TABLE orders (id INTEGER PRIMARY KEY, amount DECIMAL(10,2) NOT NULL, note); INSERT INTO orders VALUES (1, 2, 3)",
    );
    let first = shop.known().await;
    // What is read from the cache is told from what is read anew by a mark in it.
    let place = shop
        .cache
        .place(&Target::Sqlite(shop.file()).place(), &Access::default());
    let fingerprint = place.last_fingerprint().unwrap();
    let mut marked = first.clone();
    marked.catalog.notes.push("from the cache".to_owned());
    place.store(&fingerprint, &marked);
    let second = shop.known().await;
    assert_eq!(second.catalog, marked.catalog);
    assert_eq!(
        second.search.search("orders with an amount", 1),
        first.search.search("orders with an amount", 1)
    );
    assert_eq!(second.search.search("orders", 1)[0].table, "orders");
}

#[rstest]
#[case("CREATE TABLE items (id INTEGER)", &["orders", "items"], 0)]
#[case("ALTER TABLE orders RENAME TO sales", &["sales"], 0)]
#[case("INSERT INTO orders VALUES (1)", &["orders"], 1)]
#[case("PRAGMA journal_mode = WAL; CREATE VIEW v AS SELECT 1 AS one", &["orders", "v"], 0)]
#[tokio::test]
async fn a_change_is_noticed(#[case] change: &str, #[case] tables: &[&str], #[case] rows: u64) {
    let shop = Shop::new("CREATE TABLE orders (id INTEGER)");
    assert_eq!(names(&shop.known().await), ["orders"]);
    shop.change(change);
    let known = shop.known().await;
    assert_eq!(names(&known), tables);
    assert_eq!(known.catalog.tables[0].rows.unwrap().rows, rows);
}

#[tokio::test]
async fn a_change_that_is_still_in_the_log_is_noticed() {
    let shop = Shop::new("PRAGMA journal_mode = WAL; CREATE TABLE orders (id INTEGER)");
    let writer = rusqlite::Connection::open(shop.file()).unwrap();
    writer
        .execute_batch("PRAGMA wal_autocheckpoint = 0; CREATE TABLE a (x)")
        .unwrap();
    assert_eq!(names(&shop.known().await), ["orders", "a"]);
    writer.execute_batch("CREATE TABLE b (x)").unwrap();
    assert_eq!(names(&shop.known().await), ["orders", "a", "b"]);
}

#[tokio::test]
async fn what_is_kept_is_the_users_own_and_has_no_password() {
    let shop = Shop::new("CREATE TABLE orders (id INTEGER)");
    let url = Target::parse("postgres://ann:hunter2@h/d").unwrap();
    let place = shop.cache.place(&url.place(), &Access::default());
    let fingerprint = Fingerprint {
        quick: None,
        full: "1".into(),
    };
    place.store(&fingerprint, &shop.known().await);
    let kept = shop.kept();
    assert_eq!(kept.len(), 4);
    for file in kept {
        let bytes = fs::read(&file).unwrap();
        assert!(!bytes.windows(7).any(|part| part == b"hunter2"));
        assert!(!file.display().to_string().contains("hunter2"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }
}

#[tokio::test]
async fn a_damaged_cache_is_read_anew() {
    let shop = Shop::new("CREATE TABLE orders (id INTEGER)");
    shop.known().await;
    shop.kept().iter().for_each(|file| fs::write(file, b"torn").unwrap());
    assert_eq!(names(&shop.known().await), ["orders"]);
    assert!(CatalogCache::at(Path::new("/proc/nowhere")).is_none());
}
