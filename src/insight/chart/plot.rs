//! The plot of upright charts: value axis at the left, reference lines, time and name labels below, remarks within.

use super::number::Format;
use super::page::Page;
use super::period::{TimeTick, spoken, time_ticks};
use super::scene::{Anchor, Area, HALF_CAPITAL};
use super::spec::Scale;
use super::style::{AXIS, GREY, INK, LABEL, MARGIN, MUTED_LINE, PLOT_HEIGHT, SMALL, WIDTH};
use super::ticks::Ticks;
use crate::time::Grain;

/// A tick's width below the axis.
const TICK: f64 = 4.0;
/// Widths to which remarks are wrapped, the preferred one first.
const REMARK_WIDTHS: [f64; 4] = [180.0, 120.0, 84.0, 62.0];
/// Distances of a remark from what it is about, the preferred one first.
const REMARK_DISTANCES: [f64; 8] = [9.0, 20.0, 34.0, 52.0, 74.0, 100.0, 130.0, 165.0];

/// The room of a plot and its value axis.
#[derive(Debug, Clone)]
pub(super) struct Plot {
    pub area: Area,
    pub ticks: Ticks,
}

impl Plot {
    /// The place of a value.
    pub fn y(&self, value: f64) -> f64 {
        let share = (value - self.ticks.low) / (self.ticks.high - self.ticks.low);
        self.area.y1 - share * self.area.height()
    }
}

/// Where a plot with this axis begins.
pub(super) fn left(page: &Page, ticks: &Ticks, format: Format) -> f64 {
    let texts = format.ticks(&ticks.marks, ticks.step);
    MARGIN + texts.iter().map(|text| page.width(text, SMALL)).fold(0.0, f64::max) + 8.0
}

/// Opens a plot at the free end of the page, `right` pixels narrower than the text for labels at line ends.
/// With `marks`: gridlines and tick labels; else the values are printed in the plot.
pub(super) fn open(page: &mut Page, ticks: Ticks, format: Format, marks: bool, right: f64) -> Plot {
    let texts = if marks {
        format.ticks(&ticks.marks, ticks.step)
    } else {
        Vec::new()
    };
    let left = if marks { left(page, &ticks, format) } else { MARGIN };
    let top = page.y + if marks { SMALL.size * 0.5 } else { 0.0 };
    let area = Area {
        x0: left,
        y0: top,
        x1: WIDTH - MARGIN - right,
        y1: top + PLOT_HEIGHT,
    };
    let plot = Plot { area, ticks };
    for (mark, text) in plot.ticks.marks.iter().zip(&texts) {
        let y = plot.y(*mark);
        page.grid((area.x0, y), (area.x1, y));
        page.label(
            text,
            left - 8.0,
            y + HALF_CAPITAL * SMALL.size,
            Anchor::End,
            SMALL,
            GREY,
        );
    }
    page.y = area.y1;
    plot
}

/// The line that values are measured from: zero if it is on the axis. An axis that ends elsewhere gets a lighter one.
pub(super) fn baseline(page: &mut Page, plot: &Plot) {
    if plot.ticks.low != 0.0 {
        page.rule(
            (plot.area.x0, plot.area.y1),
            (plot.area.x1, plot.area.y1),
            MUTED_LINE,
            1.0,
        );
    }
    if plot.ticks.low <= 0.0 && plot.ticks.high >= 0.0 {
        let y = plot.y(0.0);
        page.rule((plot.area.x0, y), (plot.area.x1, y), AXIS, 1.0);
    }
}

/// Calendar labels under the plot. `x`: place of a period; `pixels`: between two periods.
pub(super) fn time_axis(
    page: &mut Page,
    plot: &Plot,
    ends: (i64, i64),
    grain: Grain,
    x: &dyn Fn(i64) -> f64,
    pixels: f64,
) {
    let fonts = page.fonts;
    let width = |text: &str| fonts.width(text, SMALL.size, SMALL.bold);
    let ticks = time_ticks(ends, grain, pixels, page.words, &width);
    let two_lines = ticks.iter().any(|tick| tick.context.is_some());
    for TimeTick { period, label, context } in ticks {
        let at = x(period);
        page.rule((at, plot.area.y1), (at, plot.area.y1 + TICK), AXIS, 1.0);
        let first = plot.area.y1 + TICK + SMALL.size + 1.0;
        edge_label(page, &label, at, first);
        if let Some(context) = context {
            edge_label(page, &context, at, first + SMALL.leading());
        }
    }
    page.y = plot.area.y1 + TICK + SMALL.leading() * if two_lines { 2.0 } else { 1.0 } + 4.0;
}

/// A label under a tick, pushed inwards where it would leave the page.
fn edge_label(page: &mut Page, text: &str, x: f64, baseline: f64) {
    let half = page.width(text, SMALL) / 2.0;
    let x = x.clamp(4.0 + half, WIDTH - 4.0 - half);
    page.label(text, x, baseline, Anchor::Middle, SMALL, GREY);
}

/// Names under the plot, wrapped to `pitch`; where they are too many, every second, third, … is named.
pub(super) fn name_axis(page: &mut Page, plot: &Plot, names: &[String], x: &dyn Fn(usize) -> f64, pitch: f64) {
    let widest = names
        .iter()
        .map(|name| page.width(name, LABEL).min(90.0))
        .fold(0.0, f64::max);
    let every = if pitch >= 44.0 {
        1
    } else {
        (((widest + 10.0) / pitch).ceil() as usize).max(1)
    };
    let room = (pitch * every as f64 - 8.0).max(12.0);
    let mut most = 0;
    for (index, name) in names.iter().enumerate().step_by(every) {
        let lines = page.wrap(name, LABEL, room, 3);
        most = most.max(lines.len());
        for (row, line) in lines.iter().enumerate() {
            let baseline = plot.area.y1 + LABEL.size + 6.0 + row as f64 * 15.0;
            let half = page.width(line, LABEL) / 2.0;
            let at = x(index).clamp(4.0 + half, WIDTH - 4.0 - half);
            page.label(line, at, baseline, Anchor::Middle, LABEL, INK);
        }
    }
    page.y = plot.area.y1 + 8.0 + most as f64 * 15.0;
}

/// Numbers under the plot. `x`: place of a number.
pub(super) fn number_axis(page: &mut Page, plot: &Plot, ticks: &Ticks, format: Format, x: &dyn Fn(f64) -> f64) {
    let texts = format.ticks(&ticks.marks, ticks.step);
    let widest = texts.iter().map(|text| page.width(text, SMALL)).fold(0.0, f64::max);
    let pitch = x(ticks.low + ticks.step) - x(ticks.low);
    let every = (((widest + 9.0) / pitch).ceil() as usize).max(1);
    for (mark, text) in ticks.marks.iter().zip(&texts).step_by(every) {
        page.rule((x(*mark), plot.area.y1), (x(*mark), plot.area.y1 + TICK), AXIS, 1.0);
        edge_label(page, text, x(*mark), plot.area.y1 + TICK + SMALL.size + 1.0);
    }
    page.y = plot.area.y1 + TICK + SMALL.leading() + 3.0;
}

/// The name of the x axis, under it at the right.
pub(super) fn x_name(page: &mut Page, plot: &Plot) {
    let Some(name) = page.spec.x.label.clone().filter(|name| !name.trim().is_empty()) else {
        return;
    };
    for line in page.wrap(&name, SMALL, plot.area.width(), 2) {
        page.label(&line, plot.area.x1, page.y + SMALL.size, Anchor::End, SMALL, GREY);
        page.y += SMALL.leading();
    }
    page.y += 2.0;
}

/// Sets a remark near `point`, with a line to it; where there is no room it goes into the note, after `name`.
pub(super) fn remark(page: &mut Page, plot: &Plot, point: (f64, f64), text: &str, name: &str) {
    let bounds = Area {
        y0: plot.area.y0 - 4.0,
        x1: plot.area.x1 + 6.0,
        ..plot.area
    };
    for distance in REMARK_DISTANCES {
        for width in REMARK_WIDTHS {
            let longest_word = text
                .split_whitespace()
                .map(|word| page.width(word, SMALL))
                .fold(0.0, f64::max);
            if longest_word > width && width < 120.0 && !text.contains(|c: char| c > '\u{2E80}') {
                continue;
            }
            let lines = page.wrap(text, SMALL, width, 5);
            let wide = lines.iter().map(|line| page.width(line, SMALL)).fold(0.0, f64::max);
            let high = lines.len() as f64 * SMALL.leading();
            let found = places(point, wide, high, distance).into_iter().find(|area| {
                bounds.contains(area) && page.is_free(&area.grown(2.0)) && leader_is_free(page, point, area)
            });
            if let Some(area) = found {
                leader(page, point, &area);
                for (row, line) in lines.iter().enumerate() {
                    let baseline = area.y0 + SMALL.size + row as f64 * SMALL.leading();
                    page.label(line, area.x0, baseline, Anchor::Start, SMALL, INK);
                }
                return;
            }
        }
    }
    let name = match page.spec.x.scale {
        Scale::Time { grain } => spoken(name, grain, page.words),
        Scale::Category | Scale::Number => None,
    }
    .unwrap_or_else(|| name.to_string());
    let note = page.words.about(&name, text.trim_end_matches(['.', '。']));
    page.notes.push(note);
}

/// Rooms round a point: above, below, at the sides and askew.
fn places((x, y): (f64, f64), wide: f64, high: f64, distance: f64) -> Vec<Area> {
    let above = y - distance - high;
    let below = y + distance;
    let corners = [
        (x - wide / 2.0, above),
        (x - wide * 0.15, above),
        (x - wide * 0.85, above),
        (x - wide + 10.0, above),
        (x - 10.0, above),
        (x - wide / 2.0, below),
        (x - wide * 0.15, below),
        (x - wide * 0.85, below),
        (x + distance, y - high / 2.0),
        (x - distance - wide, y - high / 2.0),
        (x + distance, above),
        (x - distance - wide, above),
        (x + distance, below),
        (x - distance - wide, below),
    ];
    corners
        .into_iter()
        .map(|(x0, y0)| Area {
            x0,
            y0,
            x1: x0 + wide,
            y1: y0 + high,
        })
        .collect()
}

/// The place at the edge of a remark's room that is nearest to the point.
fn nearest((x, y): (f64, f64), area: &Area) -> (f64, f64) {
    (
        x.clamp(area.x0 + 2.0, area.x1 - 2.0),
        y.clamp(area.y0 + 1.0, area.y1 - 1.0),
    )
}

/// Does the line from the point to a remark run through no text?
fn leader_is_free(page: &Page, point: (f64, f64), area: &Area) -> bool {
    let near = nearest(point, area);
    (0..=12).map(|step| f64::from(step) / 12.0).all(|share| {
        let (x, y) = (
            point.0 + (near.0 - point.0) * share,
            point.1 + (near.1 - point.1) * share,
        );
        page.is_blank(&Area::new(x, y, x, y).grown(2.0))
    })
}

/// A thin line from the point to the nearest edge of a remark's room, if they are apart.
fn leader(page: &mut Page, (x, y): (f64, f64), area: &Area) {
    let near = nearest((x, y), area);
    let (dx, dy) = (near.0 - x, near.1 - y);
    let length = dx.hypot(dy);
    if length > 14.0 {
        let start = (x + dx / length * 5.0, y + dy / length * 5.0);
        let end = (near.0 - dx / length * 2.0, near.1 - dy / length * 2.0);
        page.rule(start, end, GREY, 0.8);
    }
    page.taken.push(Area::new(x, y, near.0, near.1));
}
