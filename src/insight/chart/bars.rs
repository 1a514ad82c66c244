//! Bars of one series or several: as rows for rankings and long names, as columns over time and for few short names.

use super::clean::{Row as Series, Table, Value};
use super::columns;
use super::lines;
use super::page::Page;
use super::rows::{self, Bar, Row};
use super::scene::Color;
use super::style::{ACCENT, LABEL, MARGIN, MOST_SERIES, MUTED, NEGATIVE, WIDTH, hue};

/// A ranking longer than this is a table.
const MOST_ROWS: usize = 30;
/// Rows of groups of bars.
const MOST_GROUPS: usize = 16;
/// One or two columns would be lost on the page.
const FEWEST_COLUMNS: usize = 3;
/// Columns of a single series over names.
const MOST_PLAIN_COLUMNS: usize = 5;
/// More names than this are easier read as rows.
const MOST_COLUMNS: usize = 9;
/// Upright bars, counting those of all series, become threads beyond this.
const MOST_UPRIGHT: usize = 36;
/// More periods than this are drawn as a line: columns would be thinner than the gaps between them.
const MOST_PERIODS: i64 = 200;

/// Draws a table of bars in the form that suits it.
pub(super) fn draw(page: &mut Page, table: Table) {
    let table = with_few_series(page, table);
    if let Some(periods) = &table.periods {
        let (first, last) = periods.ends();
        let columns = (last - first + 1).saturating_mul(i64::try_from(table.rows.len()).unwrap_or(1));
        if columns > MOST_PERIODS {
            lines::draw(page, table, true)
        } else {
            columns::draw(page, &table)
        }
        return;
    }
    if fits_upright(page, &table) {
        columns::draw(page, &table);
    } else {
        let table = with_few_categories(page, table);
        draw_rows(page, &table);
    }
}

/// The series that get bars: highlighted ones and then the first ones.
fn with_few_series(page: &mut Page, mut table: Table) -> Table {
    let total = table.rows.len();
    if total > MOST_SERIES {
        let spec = page.spec;
        table.rows.sort_by_key(|row| !spec.highlight.contains(&row.name));
        table.rows.truncate(MOST_SERIES);
        let note = page.words.series_left_out(MOST_SERIES, total);
        page.notes.push(note);
    }
    table
}

/// May the names stand under columns?
fn fits_upright(page: &Page, table: &Table) -> bool {
    let count = table.names.len();
    let is_grouped = table.rows.len() > 1;
    if count > MOST_COLUMNS || count * table.rows.len() > MOST_UPRIGHT {
        return false;
    }
    let room = (WIDTH - 2.0 * MARGIN - 40.0) / count as f64 - 10.0;
    let lines = |name: &String| {
        let longest_word = name
            .split_whitespace()
            .map(|word| page.width(word, LABEL))
            .fold(0.0, f64::max);
        if longest_word > room {
            usize::MAX
        } else {
            page.wrap(name, LABEL, room, 9).len()
        }
    };
    // A plain ranking reads best as rows; columns are for a few short names and for groups.
    let most = if is_grouped { 2 } else { 1 };
    let is_flat = table
        .rows
        .iter()
        .all(|row| row.values.iter().all(|value| value.unwrap_or(0.0) == 0.0));
    (is_grouped || (FEWEST_COLUMNS..=MOST_PLAIN_COLUMNS).contains(&count) && !is_flat)
        && table.names.iter().all(|name| lines(name) <= most)
}

/// The largest categories, in their order; highlighted and annotated ones stay in any case.
fn with_few_categories(page: &mut Page, table: Table) -> Table {
    let most = if table.rows.len() > 1 { MOST_GROUPS } else { MOST_ROWS };
    let total = table.names.len();
    if total <= most {
        return table;
    }
    let size = |index: usize| {
        let values = table
            .rows
            .iter()
            .filter_map(|row| row.values.get(index).copied().flatten());
        values.map(f64::abs).fold(-1.0, f64::max)
    };
    let spec = page.spec;
    let is_named = |index: usize| {
        let name = table.names.get(index);
        name.is_some_and(|name| {
            spec.highlight.contains(name) || spec.annotations.iter().any(|annotation| annotation.at == *name)
        })
    };
    let mut order: Vec<usize> = (0..total).collect();
    order.sort_by(|left, right| {
        is_named(*right)
            .cmp(&is_named(*left))
            .then(size(*right).total_cmp(&size(*left)))
    });
    let left_out: Vec<f64> = order
        .iter()
        .skip(most)
        .flat_map(|index| {
            table
                .rows
                .iter()
                .filter_map(|row| row.values.get(*index).copied().flatten())
        })
        .collect();
    let low = left_out.iter().copied().fold(f64::INFINITY, f64::min);
    let high = left_out.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let texts = |value: f64| {
        if value.is_finite() {
            page.format().label(value)
        } else {
            page.words.missing()
        }
    };
    let note = page.words.left_out(most, total, &texts(low), &texts(high));
    page.notes.push(note);
    order.truncate(most);
    order.sort_unstable();
    let pick = |values: &[Value]| order.iter().map(|at| values.get(*at).copied().flatten()).collect();
    Table {
        names: order.iter().filter_map(|at| table.names.get(*at).cloned()).collect(),
        periods: None,
        rows: table
            .rows
            .iter()
            .map(|row| Series {
                name: row.name.clone(),
                values: pick(&row.values),
            })
            .collect(),
    }
}

/// Which colour a bar gets.
pub(super) struct Paint<'a> {
    highlight: &'a [String],
    names_categories: bool,
    names_series: bool,
    is_grouped: bool,
}

impl<'a> Paint<'a> {
    /// The colours for a table under the page's highlights.
    pub fn of(page: &Page<'a>, table: &Table) -> Paint<'a> {
        let highlight = page.spec.highlight.as_slice();
        let any = |name: &String| highlight.contains(name);
        Paint {
            highlight,
            names_categories: table.names.iter().any(any),
            names_series: table.rows.len() > 1 && table.rows.iter().any(|row| any(&row.name)),
            is_grouped: table.rows.len() > 1,
        }
    }

    /// Is this category highlighted?
    pub fn is_strong(&self, name: &String) -> bool {
        self.highlight.contains(name)
    }

    /// The colour of a series as a whole, for the legend.
    pub fn series(&self, index: usize, name: &String) -> Color {
        let grey = GREYS.iter().cycle().nth(index).copied().unwrap_or(MUTED);
        if self.names_series && !self.highlight.contains(name) {
            grey
        } else {
            hue(index).fill
        }
    }

    /// The colour of one bar.
    pub fn bar(&self, index: usize, series: &String, category: &String, value: f64) -> Color {
        if self.is_grouped {
            return self.series(index, series);
        }
        match (self.names_categories, self.highlight.contains(category)) {
            (true, true) => ACCENT,
            (true, false) => MUTED,
            (false, _) if value < 0.0 => NEGATIVE,
            (false, _) => ACCENT,
        }
    }
}

/// Series beside the highlighted ones.
const GREYS: [Color; 3] = [MUTED, Color(0x8B, 0x9A, 0xA8), Color(0xD9, 0xDF, 0xE5)];

/// The remark about a category.
pub(super) fn remark_of(page: &Page, name: &str) -> Option<String> {
    let about: Vec<&str> = page
        .spec
        .annotations
        .iter()
        .filter(|annotation| annotation.at == name)
        .map(|annotation| annotation.text.as_str())
        .collect();
    if about.is_empty() { None } else { Some(about.join("; ")) }
}

fn draw_rows(page: &mut Page, table: &Table) {
    let paint = Paint::of(page, table);
    if table.rows.len() > 1 {
        let entries: Vec<_> = table
            .rows
            .iter()
            .enumerate()
            .map(|(index, row)| (row.name.clone(), paint.series(index, &row.name)))
            .collect();
        page.legend(&entries);
    }
    let texts = value_texts(page, table);
    let rows: Vec<Row> = table
        .names
        .iter()
        .enumerate()
        .map(|(at, name)| {
            let bars = table
                .rows
                .iter()
                .zip(&texts)
                .enumerate()
                .map(|(index, (series, texts))| {
                    let value = series.values.get(at).copied().flatten();
                    let color = paint.bar(index, &series.name, name, value.unwrap_or(0.0));
                    Bar {
                        value,
                        text: texts.get(at).cloned().unwrap_or_default(),
                        detail: None,
                        color,
                    }
                });
            Row {
                name: name.clone(),
                strong: paint.is_strong(name),
                bars: bars.collect(),
                remark: remark_of(page, name),
            }
        })
        .collect();
    let name = page.spec.y.label.clone();
    rows::draw(page, &rows, name.as_deref());
}

/// The text of every value, per series; empty for gaps.
pub(super) fn value_texts(page: &Page, table: &Table) -> Vec<Vec<String>> {
    let all: Vec<f64> = table
        .rows
        .iter()
        .flat_map(|row| row.values.iter().copied().flatten())
        .collect();
    let mut texts = page.format().labels(&all).into_iter();
    let mut next = |value: &Value| value.and_then(|_| texts.next()).unwrap_or_default();
    table
        .rows
        .iter()
        .map(|row| row.values.iter().map(&mut next).collect())
        .collect()
}
