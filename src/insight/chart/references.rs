//! Reference lines: a target, a median. Across upright plots they are named at the right, beside the names of the
//! lines; upright ones are named above.

use super::ends::EndName;
use super::number::Format;
use super::page::Page;
use super::plot::Plot;
use super::scene::{Anchor, Area, Shape};
use super::spec::ReferenceLine;
use super::style::{INK, MARGIN, SMALL, WIDTH};

/// Names at the right are wrapped to this width.
const NAME_WIDTH: f64 = 96.0;

/// Draws the page's reference lines across `plot`.
pub(super) fn across(page: &mut Page, plot: &Plot) {
    let spec = page.spec;
    for line in &spec.reference_lines {
        let y = plot.y(line.value);
        let (from, to) = ((plot.area.x0, y), (plot.area.x1, y));
        page.draw(Shape::Dashes {
            from,
            to,
            color: INK,
            width: 1.0,
        });
        page.taken.push(Area::new(from.0, y - 1.0, to.0, y + 1.0));
    }
}

/// What stands at the right of the lines across: `Target` over `$20,000`.
pub(super) fn names(page: &Page) -> Vec<EndName> {
    let format = page.format();
    let lines = page.spec.reference_lines.iter().map(|line| {
        let mut lines = page.wrap(&line.label, SMALL, NAME_WIDTH, 2);
        lines.push(format.label(line.value));
        EndName {
            place: None,
            value: line.value,
            lines,
            face: SMALL,
            text: INK,
            line: INK,
        }
    });
    lines.collect()
}

/// Where an upright reference line stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Upright {
    pub x: f64,
    /// Where it begins, under its name.
    pub top: f64,
}

/// Sets the names of upright `lines` at the free end of the page, each touching its own line and crossed by no other.
/// `x`: place of a value.
pub(super) fn above(page: &mut Page, lines: &[ReferenceLine], format: Format, x: &dyn Fn(f64) -> f64) -> Vec<Upright> {
    let mut marks: Vec<(f64, String)> = lines
        .iter()
        .map(|line| {
            (
                x(line.value),
                format!("{} {}", line.label, format.label(line.value))
                    .trim()
                    .to_string(),
            )
        })
        .collect();
    marks.sort_by(|left, right| left.0.total_cmp(&right.0));
    if marks.is_empty() {
        return Vec::new();
    }
    let baseline = page.y + SMALL.size;
    let row = |anchors: Vec<(f64, Anchor)>, page: &Page| -> Option<Vec<(f64, Anchor)>> {
        let areas: Vec<Area> = marks
            .iter()
            .zip(&anchors)
            .map(|((_, text), (x, anchor))| page.room(text, *x, baseline, *anchor, SMALL))
            .collect();
        let inside = areas
            .iter()
            .all(|area| area.x0 >= MARGIN - 1.0 && area.x1 <= WIDTH - MARGIN + 1.0);
        let apart = areas
            .iter()
            .zip(areas.iter().skip(1))
            .all(|(left, right)| left.x1 + 6.0 <= right.x0);
        (inside && apart).then_some(anchors)
    };
    let middle = marks
        .iter()
        .map(|(x, text)| {
            let half = page.width(text, SMALL) / 2.0;
            (x.clamp(MARGIN + half, WIDTH - MARGIN - half), Anchor::Middle)
        })
        .collect();
    let one_row = row(middle, page).or_else(|| row(back_to_back(&marks), page));
    let uprights = match one_row {
        Some(anchors) => {
            for ((_, text), (x, anchor)) in marks.iter().zip(anchors) {
                page.label(text, x, baseline, anchor, SMALL, INK);
            }
            marks
                .iter()
                .map(|(x, _)| Upright {
                    x: *x,
                    top: baseline + 4.0,
                })
                .collect()
        }
        None => staircase(page, &marks),
    };
    page.y = page.y.max(baseline - SMALL.size) + SMALL.leading() + 2.0;
    uprights
}

/// Two names that would touch: the left one ends at its line, the right one begins at its own.
fn back_to_back(marks: &[(f64, String)]) -> Vec<(f64, Anchor)> {
    match marks {
        [(left, _), (right, _)] => {
            let middle = (left + right) / 2.0;
            vec![
                (left.min(middle - 4.0), Anchor::End),
                (right.max(middle + 4.0), Anchor::Start),
            ]
        }
        _ => marks.iter().map(|(x, _)| (*x, Anchor::Middle)).collect(),
    }
}

/// One name per row, beside its line, such that the lines of the upper rows pass the lower names.
fn staircase(page: &mut Page, marks: &[(f64, String)]) -> Vec<Upright> {
    let fits_right = marks
        .iter()
        .all(|(x, text)| x + page.width(text, SMALL) + 4.0 <= WIDTH - MARGIN);
    let mut order: Vec<&(f64, String)> = marks.iter().collect();
    if !fits_right {
        order.reverse();
    }
    let mut uprights = Vec::new();
    for (index, (x, text)) in order.iter().enumerate() {
        if index > 0 {
            page.y += SMALL.leading();
        }
        let baseline = page.y + SMALL.size;
        let (at, anchor) = if fits_right {
            (x + 4.0, Anchor::Start)
        } else {
            (x - 4.0, Anchor::End)
        };
        page.label(text, at, baseline, anchor, SMALL, INK);
        uprights.push(Upright {
            x: *x,
            top: page.y + 2.0,
        });
    }
    uprights
}
