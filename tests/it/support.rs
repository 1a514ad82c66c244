//! Running the real binary, and finding the shared measurement data where it is there.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The binary with an environment of its own: no keys, no configuration, a cache that tests share.
pub fn analyst(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_analyst"));
    command
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", folder)
        .env("XDG_CACHE_HOME", cache())
        .env("XDG_CONFIG_HOME", folder.join("config"));
    command
}

/// One cache for all tests, so that the sample database is written once.
fn cache() -> PathBuf {
    std::env::temp_dir().join("analyst-test-cache")
}

pub fn run(folder: &Path, arguments: &[&str]) -> Output {
    analyst(folder).args(arguments).output().unwrap()
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A file of the shared data; says that the test is skipped where it is not there.
pub fn shared(path: &str) -> Option<PathBuf> {
    let root = std::env::var_os("ANALYST_SHARED")
        .map(PathBuf::from)
        .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"));
    let file = root.join(path);
    if file.exists() {
        return Some(file);
    }
    println!("skipped: {} is not there", file.display());
    None
}

/// `1234567.8` as reports write money: `$1,234,567.80`.
pub fn dollars(value: f64) -> String {
    let cents = (value.abs() * 100.0).round() as i64;
    let whole = (cents / 100).to_string();
    let mut grouped = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let sign = if value < 0.0 { "−" } else { "" };
    format!("{sign}${grouped}.{:02}", cents % 100)
}

/// `-0.0653` as reports write changes: `−6.5%`.
pub fn change(fraction: f64) -> String {
    let tenths = (fraction.abs() * 1000.0).round() as i64;
    let sign = match (tenths, fraction < 0.0) {
        (0, _) => "",
        (_, true) => "−",
        (_, false) => "+",
    };
    format!("{sign}{}.{}%", tenths / 10, tenths % 10)
}
