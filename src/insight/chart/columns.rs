//! Upright bars: over time, or over a few short names; several series stand side by side.

use super::bars::{Paint, remark_of, value_texts};
use super::clean::Table;
use super::ends;
use super::page::Page;
use super::plot::{self, Plot};
use super::references;
use super::scene::{Anchor, Area, Color};
use super::style::{GREY, INK, LABEL, LABEL_BOLD, MARGIN, SMALL, WIDTH};
use super::ticks::{Rule, ticks};
use super::wrap::Face;

/// A column takes this share of its place.
const FILL: f64 = 0.74;
/// Columns are never wider.
const WIDEST: f64 = 72.0;
/// From this many columns on they are read off the axis.
const MOST_LABELLED: usize = 16;
/// Highlighted columns, at most, that get their value although the others do not.
const MOST_VALUES: usize = 3;
/// Air above the highest column for its value and for remarks, as shares of the axis.
const VALUE_AIR: f64 = 0.09;
const REMARK_AIR: f64 = 0.16;

/// Where columns stand.
struct Slots {
    /// Slot of each category.
    of: Vec<usize>,
    count: usize,
    left: f64,
    pitch: f64,
}

impl Slots {
    fn center(&self, slot: usize) -> f64 {
        self.left + (slot as f64 + 0.5) * self.pitch
    }

    fn of_category(&self, index: usize) -> f64 {
        self.center(self.of.get(index).copied().unwrap_or(0))
    }
}

/// The slot of each category, and how many there are: periods without data keep theirs.
fn slots(table: &Table) -> (Vec<usize>, usize) {
    match &table.periods {
        Some(periods) => {
            let (first, last) = periods.ends();
            let slot = |number: &i64| usize::try_from(number - first).unwrap_or(0);
            (periods.numbers.iter().map(slot).collect(), slot(&last) + 1)
        }
        None => ((0..table.names.len()).collect(), table.names.len()),
    }
}

/// Draws the table as columns.
pub(super) fn draw(page: &mut Page, table: &Table) {
    let paint = Paint::of(page, table);
    if table.rows.len() > 1 {
        let entries: Vec<(String, Color)> = table
            .rows
            .iter()
            .enumerate()
            .map(|(index, row)| (row.name.clone(), paint.series(index, &row.name)))
            .collect();
        page.legend(&entries);
    }
    let name = page.spec.y.label.clone();
    page.axis_name(name.as_deref(), MARGIN);
    let (of, count) = slots(table);
    let texts = value_texts(page, table);
    let names = references::names(page);
    let right = ends::width(page, &names);
    let pitch = (WIDTH - 2.0 * MARGIN - right) / count as f64;
    let labelled = are_labelled(page, table, &texts, pitch);
    let axis = axis(page, table, labelled);
    let plot = plot::open(page, axis, page.format(), !labelled, right);
    let slots = Slots {
        of,
        count,
        left: plot.area.x0,
        pitch: plot.area.width() / count as f64,
    };
    draw_columns(page, table, &plot, &slots, &paint, labelled.then_some(&texts));
    references::across(page, &plot);
    plot::baseline(page, &plot);
    draw_axis(page, table, &plot, &slots);
    plot::x_name(page, &plot);
    ends::draw(page, &plot, names, &|x| x);
    draw_remarks(page, table, &plot, &slots, (!labelled).then_some(&texts));
}

/// Do the values fit above their columns?
fn are_labelled(page: &Page, table: &Table, texts: &[Vec<String>], pitch: f64) -> bool {
    let series = table.rows.len() as f64;
    let room = if series > 1.0 {
        pitch * FILL / series - 3.0
    } else {
        pitch - 6.0
    };
    let widest = texts
        .iter()
        .flatten()
        .map(|text| page.width(text, value_face(table)))
        .fold(0.0, f64::max);
    table.names.len() * table.rows.len() <= MOST_LABELLED && widest <= room
}

fn value_face(table: &Table) -> Face {
    if table.rows.len() > 1 { SMALL } else { LABEL }
}

/// The axis, with air for what stands above and below the columns.
fn axis(page: &Page, table: &Table, labelled: bool) -> super::ticks::Ticks {
    let references = page.spec.reference_lines.iter().map(|line| line.value);
    let values = table.rows.iter().flat_map(|row| row.values.iter().copied().flatten());
    let (mut low, mut high) = references.chain(values).fold((0.0_f64, 0.0_f64), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    let spread = high - low;
    let value_air = if labelled { VALUE_AIR } else { 0.0 };
    let remark_air = if page.spec.annotations.is_empty() && (labelled || page.spec.highlight.is_empty()) {
        0.0
    } else {
        REMARK_AIR
    };
    if high > 0.0 {
        high += spread * (value_air + remark_air);
    }
    if low < 0.0 {
        low -= spread * value_air;
    }
    let whole = *page.format().unit == super::spec::Unit::Count;
    ticks(
        low,
        high,
        Rule {
            zero: true,
            whole,
            steps: 5.0,
            round_ends: !labelled,
        },
    )
}

fn draw_columns(
    page: &mut Page,
    table: &Table,
    plot: &Plot,
    slots: &Slots,
    paint: &Paint,
    texts: Option<&Vec<Vec<String>>>,
) {
    let wide = (slots.pitch * FILL)
        .min(WIDEST * table.rows.len().max(1) as f64)
        .max(1.0);
    let each = wide / table.rows.len() as f64;
    let gap = if table.rows.len() > 1 && each > 6.0 { 1.5 } else { 0.0 };
    for (index, series) in table.rows.iter().enumerate() {
        for (at, (name, value)) in table.names.iter().zip(&series.values).enumerate() {
            let left = slots.of_category(at) - wide / 2.0 + index as f64 * each;
            let middle = left + (each - gap) / 2.0;
            let Some(value) = *value else {
                missing(page, plot, middle, slots.pitch, table);
                continue;
            };
            let end = plot.y(value);
            page.bar(
                Area::new(left, plot.y(0.0), left + each - gap, end),
                paint.bar(index, &series.name, name, value),
            );
            let Some(text) = texts.and_then(|texts| texts.get(index)?.get(at)) else {
                continue;
            };
            let face = if paint.is_strong(name) && table.rows.len() == 1 {
                LABEL_BOLD
            } else {
                value_face(table)
            };
            let baseline = if value < 0.0 { end + face.size + 3.0 } else { end - 5.0 };
            page.label(text, middle, baseline, Anchor::Middle, face, INK);
        }
    }
}

/// "No data" where a named category has no value. Periods without data are plain gaps.
fn missing(page: &mut Page, plot: &Plot, x: f64, pitch: f64, table: &Table) {
    let text = page.words.missing();
    if table.periods.is_none() && table.rows.len() == 1 && page.width(&text, SMALL) < pitch {
        page.label(&text, x, plot.y(0.0) - 5.0, Anchor::Middle, SMALL, GREY);
    }
}

fn draw_axis(page: &mut Page, table: &Table, plot: &Plot, slots: &Slots) {
    match &table.periods {
        Some(periods) => {
            let ends = periods.ends();
            let x = |period: i64| slots.center(usize::try_from(period - ends.0).unwrap_or(0));
            plot::time_axis(page, plot, ends, periods.grain, &x, slots.pitch);
        }
        None => {
            debug_assert_eq!(slots.count, table.names.len());
            plot::name_axis(page, plot, &table.names, &|index| slots.center(index), slots.pitch);
        }
    }
}

/// Remarks, and the values of highlighted columns where the others have none.
fn draw_remarks(page: &mut Page, table: &Table, plot: &Plot, slots: &Slots, texts: Option<&Vec<Vec<String>>>) {
    let spec = page.spec;
    for (at, name) in table.names.iter().enumerate() {
        let text = texts.filter(|texts| texts.len() == 1 && spec.highlight.len() <= MOST_VALUES);
        let value = text
            .and_then(|texts| texts.first()?.get(at))
            .filter(|_| spec.highlight.contains(name));
        let text = match (value.filter(|value| !value.is_empty()), remark_of(page, name)) {
            (Some(value), Some(remark)) => format!("{value}: {remark}"),
            (Some(value), None) => value.clone(),
            (None, Some(remark)) => remark,
            (None, None) => continue,
        };
        let values = table
            .rows
            .iter()
            .filter_map(|row| row.values.get(at).copied().flatten());
        let end = values.map(|value| plot.y(value)).fold(plot.y(0.0), f64::min);
        plot::remark(page, plot, (slots.of_category(at), end), &text, name);
    }
}
