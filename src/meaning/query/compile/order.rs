//! Sorting that means the same on every engine, and ranks for ties and for the best of each group.

use crate::meaning::query::compile::select::{Output, Select, indent};
use crate::warehouse::Dialect;

/// One thing to sort by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key {
    pub sql: String,
    pub descending: bool,
}

/// How many rows are kept by rank.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ranking {
    pub count: u64,
    /// Rows as good as the last one kept are kept too.
    pub ties: bool,
    /// How many of the keys were asked for; the others only break ties.
    pub asked: usize,
}

impl Key {
    /// NULL is smaller than everything, as in SQLite and MySQL.
    pub fn sql(&self, dialect: Dialect) -> String {
        let nulls_are_large = matches!(dialect, Dialect::Postgres | Dialect::Snowflake | Dialect::Duckdb);
        match (self.descending, nulls_are_large) {
            (true, true) => format!("{} DESC NULLS LAST", self.sql),
            (true, false) => format!("{} DESC", self.sql),
            (false, true) => format!("{} NULLS FIRST", self.sql),
            (false, false) => self.sql.clone(),
        }
    }
}

/// `core`, whose columns include every key, cut to the best rows of each group of `partition`.
pub(super) fn ranked(
    mut core: Select,
    columns: &[String],
    partition: &[String],
    keys: &[Key],
    ranking: Ranking,
    dialect: Dialect,
) -> String {
    let function = if ranking.ties { "RANK" } else { "ROW_NUMBER" };
    let ranked_by: Vec<String> = match ranking.ties {
        true => keys.iter().take(ranking.asked).map(|k| k.sql(dialect)).collect(),
        false => keys.iter().map(|k| k.sql(dialect)).collect(),
    };
    let within = match partition.is_empty() {
        true => String::new(),
        false => format!("PARTITION BY {} ", partition.join(", ")),
    };
    let all: Vec<String> = core.outputs.iter().map(|o| o.alias.clone()).collect();
    let mut with = std::mem::take(&mut core.with);
    with.push(("grouped".into(), core.body()));
    let place = format!("{function}() OVER ({within}ORDER BY {}) AS place", ranked_by.join(", "));
    let ranked = format!(
        "SELECT\n{},\n{}\nFROM grouped",
        indent(&all.join(",\n")),
        indent(&place)
    );
    with.push(("ranked".into(), ranked));
    let in_groups = partition.iter().map(|p| Key {
        sql: p.clone(),
        descending: false,
    });
    let order: Vec<Key> = in_groups
        .chain(keys.iter().filter(|k| !partition.contains(&k.sql)).cloned())
        .collect();
    Select {
        with,
        outputs: columns
            .iter()
            .map(|c| Output {
                sql: c.clone(),
                alias: c.clone(),
            })
            .collect(),
        from: "ranked".into(),
        conditions: vec![format!("place <= {}", ranking.count)],
        order_by: order.iter().map(|k| k.sql(dialect)).collect(),
        ..Select::default()
    }
    .to_sql()
}
