//! Reading the rows that came back, by what their columns are for.

use serde_json::Value;

use crate::builtin::case::Fetched;
use crate::insight::metrics::{Cell, Derived};
use crate::meaning::query::ColumnKind;

impl Fetched {
    /// The result's id: `q1`.
    pub fn id(&self) -> &str {
        &self.executed.id
    }

    /// The name of the column that holds `metric`.
    pub fn metric(&self, metric: &str) -> Option<&str> {
        self.composed
            .compiled
            .columns
            .iter()
            .find(|column| column.metric.as_deref() == Some(metric))
            .map(|column| column.name.as_str())
    }

    /// The name of the first column of that kind.
    pub fn first(&self, kind: ColumnKind) -> Option<&str> {
        self.composed
            .compiled
            .columns
            .iter()
            .find(|column| column.kind == kind)
            .map(|column| column.name.as_str())
    }

    /// The column that names the groups: the label, or the key where there is no label.
    pub fn label(&self) -> Option<&str> {
        self.first(ColumnKind::Dimension)
            .or_else(|| self.first(ColumnKind::Key))
    }

    /// What tells the groups apart: the label alone, or key and label where two groups share a label.
    pub fn group(&self) -> Vec<String> {
        let label = self.label();
        let key = self.first(ColumnKind::Key);
        match (label, key) {
            (Some(label), Some(key)) if self.label_is_shared(label, key) => vec![key.to_owned(), label.to_owned()],
            (Some(label), _) => vec![label.to_owned()],
            (None, _) => Vec::new(),
        }
    }

    fn label_is_shared(&self, label: &str, key: &str) -> bool {
        let mut seen: Vec<(Value, Value)> = Vec::new();
        let (Some(label), Some(key)) = (self.position(label), self.position(key)) else {
            return false;
        };
        for row in &self.executed.rows {
            let (Some(label), Some(key)) = (row.get(label), row.get(key)) else {
                continue;
            };
            if seen.iter().any(|(l, k)| l == label && k != key) {
                return true;
            }
            seen.push((label.clone(), key.clone()));
        }
        false
    }

    fn position(&self, column: &str) -> Option<usize> {
        self.executed.columns.iter().position(|brief| brief.name == column)
    }

    pub fn rows(&self) -> usize {
        self.executed.rows.len()
    }

    /// The cell of `column` in row `row`; null beyond the rows.
    pub fn cell(&self, row: usize, column: &str) -> Cell {
        self.position(column)
            .and_then(|at| self.executed.rows.get(row)?.get(at))
            .map(Cell::of_result)
            .unwrap_or_default()
    }

    pub fn text(&self, row: usize, column: &str) -> Option<String> {
        match self.cell(row, column) {
            Cell::Null => None,
            Cell::Text(text) => Some(text),
            Cell::Number(number) => Some(number.to_f64().to_string()),
        }
    }

    pub fn number(&self, row: usize, column: &str) -> Option<f64> {
        self.cell(row, column).as_f64()
    }

    /// The first row in which `column` is `value`.
    pub fn find(&self, column: &str, value: &str) -> Option<usize> {
        (0..self.rows()).find(|row| self.text(*row, column).as_deref() == Some(value))
    }
}

/// Rows of a derived table, read by column name.
pub trait ReadDerived {
    /// Row numbers.
    fn all(&self) -> std::ops::Range<usize>;
    fn label(&self, row: usize) -> String;
    fn value(&self, row: usize, column: &str) -> Option<f64>;
    fn flag(&self, row: usize, column: &str) -> Option<&str>;
    fn number(&self, fact: &str) -> Option<f64>;
    fn word(&self, fact: &str) -> Option<&str>;
}

impl ReadDerived for Derived {
    fn all(&self) -> std::ops::Range<usize> {
        0..self.rows.len()
    }

    /// The group's name: the first column that is not a rank.
    fn label(&self, row: usize) -> String {
        let named = self
            .columns
            .iter()
            .position(|column| column.kind == crate::insight::metrics::Kind::Label)
            .unwrap_or(0);
        match self.rows.get(row).and_then(|cells| cells.get(named)) {
            Some(Cell::Text(text)) => text.clone(),
            Some(Cell::Number(number)) => number.to_f64().to_string(),
            Some(Cell::Null) | None => String::new(),
        }
    }

    fn value(&self, row: usize, column: &str) -> Option<f64> {
        self.cell(row, column).and_then(Cell::as_f64)
    }

    fn flag(&self, row: usize, column: &str) -> Option<&str> {
        self.cell(row, column).and_then(Cell::as_text)
    }

    fn number(&self, fact: &str) -> Option<f64> {
        self.fact(fact).and_then(Cell::as_f64)
    }

    fn word(&self, fact: &str) -> Option<&str> {
        self.fact(fact).and_then(Cell::as_text)
    }
}
