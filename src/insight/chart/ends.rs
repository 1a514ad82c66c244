//! Names at the right of a plot: of lines at their ends, of reference lines. They never touch one another.

use super::page::Page;
use super::plot::Plot;
use super::scene::{Anchor, Color, HALF_CAPITAL, Shape};
use super::wrap::Face;

/// From the plot to the names.
const GAP: f64 = 12.0;
/// Distance between baselines.
const LEADING: f64 = 14.0;
/// A line that ends farther than this from the right edge is named where it ends.
const EARLY: f64 = 24.0;

/// A name that looks for its place beside the plot.
#[derive(Debug, Clone)]
pub(super) struct EndName {
    /// Where along x the line ends; none: at the right edge.
    pub place: Option<f64>,
    /// At which value.
    pub value: f64,
    pub lines: Vec<String>,
    pub face: Face,
    pub text: Color,
    /// Colour of the line that is named.
    pub line: Color,
}

impl EndName {
    fn height(&self) -> f64 {
        self.lines.len() as f64 * LEADING + 3.0
    }
}

/// The room that the names need beside the plot.
pub(super) fn width(page: &Page, names: &[EndName]) -> f64 {
    let lines = names
        .iter()
        .flat_map(|name| name.lines.iter().map(|line| page.width(line, name.face) + GAP));
    lines.fold(0.0, f64::max)
}

/// A name, where its line ends, and the upper end of the name's room.
struct Placed {
    name: EndName,
    from: (f64, f64),
    top: f64,
}

/// Sets the names; `x`: place along the axis.
pub(super) fn draw(page: &mut Page, plot: &Plot, names: Vec<EndName>, x: &dyn Fn(f64) -> f64) {
    let mut placed = Vec::new();
    for name in names {
        let from = (name.place.map_or(plot.area.x1, x), plot.y(name.value));
        if plot.area.x1 - from.0 > EARLY && set_in_plot(page, &name, from) {
            continue;
        }
        let top = from.1 - name.height() / 2.0;
        placed.push(Placed { name, from, top });
    }
    spread(&mut placed, plot.area.y0 - 8.0, plot.area.y1 + 8.0);
    for Placed { name, from, top } in placed {
        let middle = top + name.height() / 2.0;
        let left = plot.area.x1 + GAP;
        leader(page, plot, &name, from, middle);
        let first = top + 1.5 + LEADING / 2.0 + HALF_CAPITAL * name.face.size;
        for (row, line) in name.lines.iter().enumerate() {
            page.label(
                line,
                left,
                first + row as f64 * LEADING,
                Anchor::Start,
                name.face,
                name.text,
            );
        }
    }
}

/// Sets the name beside the end of a line that ends early, if there is room.
fn set_in_plot(page: &mut Page, name: &EndName, (x, y): (f64, f64)) -> bool {
    let text = name.lines.join(" ");
    for baseline in [y + HALF_CAPITAL * name.face.size, y - 6.0, y + name.face.size + 3.0] {
        let room = page.room(&text, x + 8.0, baseline, Anchor::Start, name.face);
        if room.x1 <= super::style::WIDTH - super::style::MARGIN && page.is_free(&room) {
            page.label(&text, x + 8.0, baseline, Anchor::Start, name.face, name.text);
            return true;
        }
    }
    false
}

/// A thin line from the end of a line to its name, where they are apart.
fn leader(page: &mut Page, plot: &Plot, name: &EndName, (x, y): (f64, f64), middle: f64) {
    let edge = plot.area.x1;
    if edge - x > EARLY {
        page.draw(Shape::Dashes {
            from: (x + 5.0, y),
            to: (edge, y),
            color: name.line,
            width: 0.8,
        });
    }
    if (middle - y).abs() > 4.0 {
        let start = if edge - x > EARLY { edge } else { x + 3.0 };
        page.rule((start, y), (edge + GAP - 3.0, middle), name.line, 0.8);
    }
}

/// Moves names apart until none touches another, as little as possible, within `low` to `high`.
fn spread(names: &mut [Placed], low: f64, high: f64) {
    names.sort_by(|left, right| left.from.1.total_cmp(&right.from.1));
    // Names that touch share a block, which stands round the middle of where they would like to be.
    let mut blocks: Vec<(f64, f64, usize)> = Vec::new();
    for placed in names.iter() {
        let mut block = (placed.top, placed.name.height(), 1);
        while let Some((top, height, count)) = blocks.last().copied().filter(|(top, height, _)| top + height > block.0)
        {
            blocks.pop();
            let together = height + block.1;
            let wish = (top + height / 2.0) * count as f64 + (block.0 + block.1 / 2.0) * block.2 as f64;
            let all = count + block.2;
            block = (wish / all as f64 - together / 2.0, together, all);
        }
        block.0 = block.0.min(high - block.1).max(low);
        blocks.push(block);
    }
    let mut rest = names.iter_mut();
    let mut floor = low;
    for (top, _, count) in blocks {
        let mut next = top.max(floor);
        for placed in rest.by_ref().take(count) {
            placed.top = next;
            next += placed.name.height();
        }
        floor = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn placed(y: f64) -> Placed {
        let color = Color(0, 0, 0);
        let lines = vec!["name".to_string()];
        let name = EndName {
            place: None,
            value: 0.0,
            lines,
            face: Face::regular(12.0),
            text: color,
            line: color,
        };
        Placed {
            top: y - name.height() / 2.0,
            name,
            from: (0.0, y),
        }
    }

    #[rstest]
    #[case::far_apart_ones_stay(&[50.0, 100.0], &[41.5, 91.5])]
    #[case::touching_ones_part_evenly(&[50.0, 52.0], &[34.0, 51.0])]
    #[case::three_at_one_place(&[50.0, 50.0, 50.0], &[24.5, 41.5, 58.5])]
    #[case::none_leaves_at_the_top(&[0.0, 1.0], &[0.0, 17.0])]
    #[case::none_leaves_at_the_bottom(&[199.0, 200.0], &[166.0, 183.0])]
    fn names_are_moved_apart(#[case] ends: &[f64], #[case] tops: &[f64]) {
        let mut names: Vec<Placed> = ends.iter().copied().map(placed).collect();
        spread(&mut names, 0.0, 200.0);
        assert_eq!(names.iter().map(|name| name.top).collect::<Vec<_>>(), tops);
    }
}
