//! What a metric function hands back before it gets its ids, and the steps that several functions share.

use super::words::Note;
use super::{Cell, Column, Columns, Context, Derived, Fact, Kind, Number};

/// A computed table without ids.
#[derive(Debug, Default)]
pub(super) struct Output {
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Vec<Cell>>,
    pub(super) facts: Vec<Fact>,
    pub(super) notes: Vec<Note>,
}

impl Output {
    /// A table with these columns and no rows; a name that is taken gets a number behind it.
    pub(super) fn with_columns<const N: usize>(columns: [(&str, Kind); N]) -> Self {
        let mut output = Self::default();
        for (name, kind) in columns {
            output.add_column(name, kind);
        }
        output
    }

    pub(super) fn add_column(&mut self, name: &str, kind: Kind) {
        let taken = |name: &str| self.columns.iter().any(|column| column.name == name);
        let mut unique = name.to_owned();
        let mut count = 2;
        while taken(&unique) {
            unique = format!("{name}_{count}");
            count += 1;
        }
        self.columns.push(Column::new(unique, kind));
    }

    pub(super) fn fact(&mut self, name: &str, value: impl Into<Cell>, kind: Kind) {
        self.facts.push(Fact {
            name: name.to_owned(),
            value: value.into(),
            kind,
        });
    }

    /// The finished table. Notes that say the same are said once.
    pub(super) fn into_derived(self, function: &str, formula: String, context: Context<'_>) -> Derived {
        let mut notes: Vec<String> = Vec::new();
        for note in self.notes {
            let words = note.say(context.language);
            if !notes.contains(&words) {
                notes.push(words);
            }
        }
        Derived {
            id: context.id.to_owned(),
            function: function.to_owned(),
            source: context.source.to_owned(),
            formula,
            columns: self.columns,
            rows: self.rows,
            facts: self.facts,
            notes,
        }
    }
}

/// How a group column is headed: its name, or the names of several with blanks between.
pub(super) fn heading(columns: &Columns) -> String {
    columns.names().join(" ")
}

/// The names that occur more than once, each once, in order of their first row.
pub(super) fn repeated_names(groups: &[String]) -> Vec<String> {
    let mut seen: std::collections::HashMap<&str, usize> = std::collections::HashMap::new();
    let mut repeated = Vec::new();
    for group in groups {
        let count = seen.entry(group).or_insert(0);
        *count += 1;
        if *count == 2 {
            repeated.push(group.clone());
        }
    }
    repeated
}

/// Groups and values of the rows that have a value; the others are in `numbers.notes` already.
pub(super) fn with_values(groups: Vec<String>, values: &[Option<Number>]) -> Vec<(String, Number)> {
    groups
        .into_iter()
        .zip(values)
        .filter_map(|(group, value)| value.map(|value| (group, value)))
        .collect()
}

/// Largest value first; equal values by name, so that the order of the rows does not matter.
pub(super) fn sort_descending(rows: &mut [(String, Number)]) {
    rows.sort_by(|(a_name, a), (b_name, b)| b.compare(*a).then_with(|| a_name.cmp(b_name)));
}
