//! Suites: files of questions with gold SQL, and how their databases are split into those to work on and those to leave
//! unread.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::Deserialize;

/// One question with the statements that answer it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    pub id: String,
    pub question: String,
    /// Any of them is right; empty where no answer is, and asking back or abstaining is.
    pub gold_sql: Vec<String>,
    /// Path of the database, against the suite's folder.
    pub db: PathBuf,
    /// The rows' order is part of the answer.
    pub order_matters: bool,
}

impl Case {
    /// The database's file name without its ending.
    pub fn database(&self) -> String {
        let stem = self.db.file_stem().unwrap_or(self.db.as_os_str());
        stem.to_string_lossy().into_owned()
    }

    /// Does a gold statement ask for today, so that its result changes from day to day?
    pub fn reads_the_clock(&self) -> bool {
        const CLOCKS: [&str; 6] = [
            "'now'",
            "current_date",
            "current_timestamp",
            "current_time",
            "now()",
            "getdate(",
        ];
        self.gold_sql.iter().any(|sql| {
            let sql = sql.to_lowercase();
            CLOCKS.iter().any(|clock| sql.contains(clock))
        })
    }
}

/// Why a suite cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    #[error("cannot read {}: {source}", .path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error(
        "line {line} of {} is no question: {problem}; each line is {{\"id\", \"question\", \"gold_sql\": [\"SELECT …\"], \"db\"}}",
        .path.display()
    )]
    Line {
        path: PathBuf,
        line: usize,
        problem: String,
    },
    #[error("{} has no questions", .path.display())]
    Empty { path: PathBuf },
}

/// A line as it is written; keys that are not known are left alone.
#[derive(Deserialize)]
struct Line {
    id: String,
    question: String,
    gold_sql: Vec<String>,
    db: PathBuf,
    #[serde(default)]
    order_matters: bool,
}

/// The questions of a JSONL file, in its order; paths of databases are taken against `databases`, or the file's own folder.
pub fn read(path: &Path, databases: Option<&Path>) -> Result<Vec<Case>, SuiteError> {
    let text = std::fs::read_to_string(path).map_err(|source| SuiteError::Read {
        path: path.to_owned(),
        source,
    })?;
    let folder = databases.or(path.parent()).unwrap_or(Path::new("."));
    let mut cases = Vec::new();
    for (place, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let line: Line = serde_json::from_str(line).map_err(|error| SuiteError::Line {
            path: path.to_owned(),
            line: place + 1,
            problem: error.to_string(),
        })?;
        cases.push(Case {
            id: line.id,
            question: line.question,
            gold_sql: line.gold_sql,
            db: folder.join(line.db),
            order_matters: line.order_matters,
        });
    }
    if cases.is_empty() {
        return Err(SuiteError::Empty { path: path.to_owned() });
    }
    Ok(cases)
}

/// A split of a suite's databases: `7:100` shuffles them by seed 7 and takes 100.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Split {
    pub seed: u64,
    pub count: usize,
}

/// A side of a [`Split`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The databases that are taken.
    Taken,
    /// The others.
    HeldOut,
}

impl FromStr for Split {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text
            .split_once(':')
            .and_then(|(seed, count)| Some((seed.parse().ok()?, count.parse().ok()?)));
        numbers
            .map(|(seed, count)| Split { seed, count })
            .ok_or_else(|| format!("`{text}` is no split; write SEED:COUNT, such as 7:100"))
    }
}

impl Split {
    /// The cases of one side, in their order.
    pub fn of(self, cases: Vec<Case>, part: Part) -> Vec<Case> {
        let mut names: Vec<String> = cases.iter().map(Case::database).collect();
        names.sort();
        names.dedup();
        shuffle(&mut names, self.seed);
        names.truncate(self.count);
        cases
            .into_iter()
            .filter(|case| names.contains(&case.database()) == (part == Part::Taken))
            .collect()
    }
}

/// Fisher–Yates with SplitMix64, so that a seed gives the same order on every machine and in every version.
fn shuffle(names: &mut [String], seed: u64) {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    };
    for last in (1..names.len()).rev() {
        let bound = u64::try_from(last + 1).unwrap_or(u64::MAX);
        let chosen = usize::try_from(next() % bound).unwrap_or(0);
        names.swap(last, chosen);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(db: &str) -> Case {
        Case {
            id: db.to_owned(),
            question: String::new(),
            gold_sql: vec!["SELECT 1".to_owned()],
            db: PathBuf::from(format!("db/{db}.sqlite")),
            order_matters: false,
        }
    }

    #[test]
    fn both_sides_of_a_split_make_the_whole_and_stay_the_same() {
        let cases: Vec<Case> = ["a", "b", "c", "d", "e", "a"].map(case).into();
        let split: Split = "7:3".parse().unwrap();
        let taken = split.of(cases.clone(), Part::Taken);
        let held_out = split.of(cases.clone(), Part::HeldOut);
        assert_eq!(taken.len() + held_out.len(), cases.len());
        assert!(
            taken
                .iter()
                .all(|case| !held_out.iter().any(|other| other.db == case.db))
        );
        let mut names: Vec<String> = taken.iter().map(Case::database).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 3);
        assert_eq!(split.of(cases, Part::Taken), taken);
    }

    #[test]
    fn a_gold_statement_that_asks_for_today_is_seen() {
        let mut clock = case("a");
        assert!(!clock.reads_the_clock());
        clock.gold_sql = vec!["SELECT * FROM t WHERE d > DATE('now', '-30 days')".to_owned()];
        assert!(clock.reads_the_clock());
    }

    #[test]
    fn a_line_that_is_no_question_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("suite.jsonl");
        std::fs::write(
            &path,
            "{\"id\": \"a\", \"question\": \"b\", \"gold_sql\": [\"SELECT 1\"], \"db\": \"x.sqlite\"}\n{\"id\": 1}\n",
        )
        .unwrap();
        let error = read(&path, None).unwrap_err().to_string();
        assert!(error.starts_with("line 2 of "), "{error}");
    }
}
