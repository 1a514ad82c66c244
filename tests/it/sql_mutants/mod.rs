//! Mutants of gold statements: one thing broken by a seeded generator, run beside the original, and caught or not.
//!
//! A mutant counts when it no longer runs or returns other rows. Some faults cannot show in statement and catalog (another
//! table that has all the columns, a dropped condition beside another one that still joins); each kind says which it leaves out.

use std::collections::BTreeMap;
use std::path::Path;

use analyst::warehouse::catalog::Catalog;
use analyst::warehouse::{Dialect, sql};
use rusqlite::{Connection, OpenFlags};

use crate::sql_gold::{GOLD, Gold};

mod broken;

use broken::*;

/// Mutants counted per kind; nine kinds make more than the 2,000 asked for where the data has enough places.
const PER_KIND: usize = 400;
/// The data has fewer places where a last day or a type can go wrong.
const LEAST_PER_KIND: usize = 20;
/// SQLite instructions after which a statement (a cross product, mostly) is stopped; it then returns other rows.
const INSTRUCTIONS: i32 = 3_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    MisspeltColumn,
    MisspeltTable,
    WrongTable,
    AmbiguousName,
    MissingJoinCondition,
    FanOut,
    LastDayBetween,
    WrongType,
    DroppedGroupBy,
}

const KINDS: [Kind; 9] = [
    Kind::MisspeltColumn,
    Kind::MisspeltTable,
    Kind::WrongTable,
    Kind::AmbiguousName,
    Kind::MissingJoinCondition,
    Kind::FanOut,
    Kind::LastDayBetween,
    Kind::WrongType,
    Kind::DroppedGroupBy,
];

impl Kind {
    /// The codes that name the fault.
    fn codes(self) -> &'static [&'static str] {
        match self {
            Kind::MisspeltColumn => &["unknown-column"],
            Kind::MisspeltTable => &["unknown-table"],
            Kind::WrongTable => &["unknown-column", "unknown-table", "ambiguous-column"],
            Kind::AmbiguousName => &["ambiguous-column"],
            Kind::MissingJoinCondition => &["missing-join-condition"],
            Kind::FanOut => &["fan-out"],
            Kind::LastDayBetween => &["between-timestamp"],
            Kind::WrongType => &["string-number-comparison"],
            Kind::DroppedGroupBy => &["bare-column"],
        }
    }
}

/// The rows in any order, `None` when the statement fails or runs too long.
fn rows(db: &Connection, sql: &str) -> Option<Vec<String>> {
    let mut statement = db.prepare(sql).ok()?;
    let width = statement.column_count();
    let mut rows = statement.query([]).ok()?;
    let mut all = Vec::new();
    loop {
        match rows.next() {
            Ok(Some(row)) => {
                let cells: Vec<String> = (0..width).map(|i| format!("{:?}", row.get_ref(i).unwrap())).collect();
                all.push(cells.join("\t"));
            }
            Ok(None) => break,
            Err(_) => return None,
        }
    }
    all.sort();
    Some(all)
}

fn open(path: &Path) -> Connection {
    let db =
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX).unwrap();
    db.progress_handler(INSTRUCTIONS, Some(|| true)).unwrap();
    db
}

/// What became of the mutants of one kind.
#[derive(Default)]
struct Tally {
    counted: usize,
    caught: usize,
    names: usize,
    first: usize,
    missed: Vec<String>,
}

fn make(
    kind: Kind,
    gold: &Gold,
    catalog: &Catalog,
    reads: &[String],
    db: &Connection,
    random: &mut Random,
) -> Option<Mutant> {
    match kind {
        Kind::MisspeltColumn => misspelt_column(gold, catalog, reads, random),
        Kind::MisspeltTable => misspelt_table(gold, catalog, random),
        Kind::WrongTable => wrong_table(gold, catalog, random),
        Kind::AmbiguousName => ambiguous(gold, catalog, random),
        Kind::MissingJoinCondition => missing_join_condition(gold, random),
        Kind::FanOut => fan_out(gold, catalog, random),
        Kind::LastDayBetween => last_day(gold, catalog, db, random),
        Kind::WrongType => wrong_type(gold, catalog, reads, random),
        Kind::DroppedGroupBy => dropped_group_by(gold),
    }
}

/// Whether the mutant counts: it fails, or gives other rows than the sound statement.
fn counts(kind: Kind, db: &Connection, mutant: &Mutant) -> bool {
    let sound = rows(db, &mutant.sound);
    if sound.is_none() {
        return false;
    }
    match kind {
        // These faults show only where SQLite cannot prepare the statement; a lucky name is another, valid question.
        Kind::WrongTable => db.prepare(&mutant.broken).is_err(),
        Kind::AmbiguousName => db
            .prepare(&mutant.broken)
            .is_err_and(|e| e.to_string().contains("ambiguous")),
        _ => rows(db, &mutant.broken) != sound,
    }
}

fn judge(tally: &mut Tally, kind: Kind, mutant: &Mutant, catalog: &Catalog) {
    tally.counted += 1;
    let (codes, suggestion): (Vec<String>, Option<String>) =
        match sql::check(&mutant.broken, Dialect::Sqlite, Some(catalog)) {
            Ok(checked) => (checked.lints().iter().map(|l| l.code.clone()).collect(), None),
            Err(refusal) => {
                let suggestion = refusal.reasons.first().and_then(|r| r.suggestion.clone());
                (refusal.reasons.into_iter().map(|r| r.code).collect(), suggestion)
            }
        };
    if codes.iter().any(|c| kind.codes().contains(&c.as_str())) {
        tally.caught += 1;
    } else {
        tally
            .missed
            .push(format!("{kind:?} {codes:?}\n    {}", mutant.broken.replace('\n', " ")));
    }
    if let Some(original) = &mutant.original {
        tally.names += 1;
        let bare = suggestion
            .as_deref()
            .unwrap_or("")
            .rsplit('.')
            .next()
            .unwrap_or("")
            .trim_matches('"')
            .to_owned();
        if bare.eq_ignore_ascii_case(original) {
            tally.first += 1;
        } else {
            tally.missed.push(format!(
                "{kind:?} suggested {suggestion:?} for {original}\n    {}",
                mutant.broken.replace('\n', " ")
            ));
        }
    }
}

#[test]
fn mutants_of_gold_statements_are_caught() {
    let Some((gold, catalogs)) = GOLD.as_ref() else { return };
    let mut random = Random(20_261_130);
    let mut tallies: BTreeMap<Kind, Tally> = BTreeMap::new();
    let mut connections: BTreeMap<&Path, Connection> = BTreeMap::new();
    for kind in KINDS {
        let tally = tallies.entry(kind).or_default();
        let mut seen = std::collections::HashSet::new();
        // Every place is tried a few times in a random order, so that rare kinds find theirs.
        for _ in 0..gold.len() * 3 {
            if tally.counted >= PER_KIND {
                break;
            }
            let Some(g) = random.pick(gold) else { break };
            let catalog = &catalogs[&g.db];
            let db = connections.entry(&g.db).or_insert_with(|| open(&g.db));
            let Ok(checked) = sql::check(&g.sql, Dialect::Sqlite, Some(catalog)) else {
                continue;
            };
            if let Some(mutant) = make(kind, g, catalog, checked.reads(), db, &mut random)
                && seen.insert((g.db.clone(), mutant.broken.clone()))
                && counts(kind, db, &mutant)
            {
                judge(tally, kind, &mutant, catalog);
            }
        }
    }
    let mut missed = String::new();
    let (mut counted, mut caught, mut names, mut first) = (0, 0, 0, 0);
    for (kind, tally) in &tallies {
        println!(
            "{kind:?}: {} of {} caught; first suggestion right {} of {}",
            tally.caught, tally.counted, tally.first, tally.names
        );
        assert!(tally.counted >= LEAST_PER_KIND, "{kind:?}: only {}", tally.counted);
        assert!(
            tally.caught * 100 >= tally.counted * 99,
            "{kind:?}: {} of {} caught\n{}",
            tally.caught,
            tally.counted,
            tally.missed.join("\n")
        );
        (counted, caught, names, first) = (
            counted + tally.counted,
            caught + tally.caught,
            names + tally.names,
            first + tally.first,
        );
        missed.extend(tally.missed.iter().map(|m| format!("{m}\n")));
    }
    println!("all: {caught} of {counted} caught, first suggestion right {first} of {names}");
    if let Ok(path) = std::env::var("ANALYST_MUTANTS_MISSED") {
        std::fs::write(path, &missed).unwrap();
    }
    assert!(counted >= 2_000, "only {counted} mutants");
    assert!(caught * 100 >= counted * 99, "{caught} of {counted} caught");
    assert!(first * 100 >= names * 95, "{first} of {names} first suggestions");
}
