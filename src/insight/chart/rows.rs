//! Horizontal bars: a name, one or several bars, their values at the ends, a remark behind.

use super::page::Page;
use super::references::{self, Upright};
use super::scene::{Anchor, Area, Color, HALF_CAPITAL, Shape};
use super::style::{AXIS, GREY, INK, LABEL, LABEL_BOLD, MARGIN, PAPER, SMALL, WIDTH};
use super::wrap::Face;

/// Names may take this share of the page's width.
const NAME_SHARE: f64 = 0.32;
/// Remarks may take this share of the page's width.
const REMARK_SHARE: f64 = 0.30;
/// Between name and bar, bar and value, value and remark.
const SPACE: f64 = 7.0;
/// Distance between the lines of a name.
const NAME_LEADING: f64 = 15.0;
/// From this many rows on they stand closer.
const MANY_ROWS: usize = 16;

/// One row of the chart.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub name: String,
    /// Name and values in semi-bold.
    pub strong: bool,
    pub bars: Vec<Bar>,
    pub remark: Option<String>,
}

/// One bar.
#[derive(Debug, Clone)]
pub(super) struct Bar {
    pub value: Option<f64>,
    /// The value as printed at its end.
    pub text: String,
    /// More about it, in grey behind.
    pub detail: Option<String>,
    pub color: Color,
}

/// Measures that depend on how many rows and bars there are.
#[derive(Debug, Clone, Copy)]
struct Pitch {
    /// Height of one bar.
    bar: f64,
    /// White between rows.
    between: f64,
}

impl Pitch {
    fn of(rows: usize, bars: usize) -> Pitch {
        match (rows, bars) {
            (_, 2..) => Pitch {
                bar: 14.0,
                between: 12.0,
            },
            (MANY_ROWS.., _) => Pitch {
                bar: 13.0,
                between: 7.0,
            },
            _ => Pitch {
                bar: 18.0,
                between: 9.0,
            },
        }
    }
}

/// Where values lie along x.
#[derive(Debug, Clone, Copy)]
struct Ruler {
    zero: f64,
    pixels: f64,
}

impl Ruler {
    fn at(self, value: f64) -> f64 {
        self.zero + value * self.pixels
    }
}

/// Draws the rows with `axis_name` above and the page's reference lines across.
pub(super) fn draw(page: &mut Page, rows: &[Row], axis_name: Option<&str>) {
    let names = name_column(page, rows);
    let left = MARGIN + if names > 0.0 { names + SPACE + 3.0 } else { 0.0 };
    let ruler = ruler(page, rows, left);
    page.axis_name(axis_name, left);
    let spec = page.spec;
    let references = references::above(page, &spec.reference_lines, page.format(), &|value| ruler.at(value));
    let pitch = Pitch::of(rows.len(), rows.iter().map(|row| row.bars.len()).max().unwrap_or(1));
    let top = page.y;
    page.y += pitch.between / 2.0;
    let mut ends = Vec::new();
    for row in rows {
        draw_row(page, row, names, ruler, pitch, &mut ends);
    }
    page.y += pitch.between / 2.0 - 2.0;
    let bottom = page.y;
    for line in &references {
        let (from, to) = ((line.x, line.top), (line.x, bottom));
        page.draw(Shape::Dashes {
            from,
            to,
            color: INK,
            width: 1.0,
        });
    }
    for end in ends {
        end.set(page, &references);
    }
    page.rule((ruler.zero, top), (ruler.zero, bottom), AXIS, 1.0);
}

/// Width of the column of names.
fn name_column(page: &Page, rows: &[Row]) -> f64 {
    let most = WIDTH * NAME_SHARE;
    let widths = rows.iter().flat_map(|row| {
        let face = name_face(row);
        page.wrap(&row.name, face, most, 2)
            .into_iter()
            .map(move |line| (line, face))
    });
    widths.map(|(line, face)| page.width(&line, face)).fold(0.0, f64::max)
}

fn name_face(row: &Row) -> Face {
    if row.strong { LABEL_BOLD } else { LABEL }
}

fn value_face(row: &Row) -> Face {
    if row.bars.len() > 1 { SMALL } else { name_face(row) }
}

/// Room that the texts behind a bar take.
fn end_width(page: &Page, row: &Row, bar: &Bar) -> f64 {
    let detail = bar
        .detail
        .as_ref()
        .map_or(0.0, |detail| SPACE + page.width(detail, SMALL));
    SPACE + page.width(&bar.text, value_face(row)) + detail
}

/// The remark in lines as wide as there is room, at least of the width that is kept free for it.
fn remark_lines(page: &Page, row: &Row, room: f64) -> Vec<String> {
    let width = room.max(WIDTH * REMARK_SHARE);
    row.remark
        .as_ref()
        .map_or_else(Vec::new, |remark| page.wrap(remark, SMALL, width, 3))
}

/// What is left for the remark behind the first bar.
fn free_width(page: &Page, row: &Row, ruler: Ruler) -> f64 {
    let ends = row.bars.first().map_or(0.0, |bar| match bar.value.unwrap_or(0.0) {
        value if value < 0.0 => 0.0,
        value => value * ruler.pixels + end_width(page, row, bar),
    });
    WIDTH - MARGIN - ruler.zero - ends - 2.0 * SPACE
}

/// The largest scale at which every bar and the texts at its end find room between `left` and the margin.
fn ruler(page: &Page, rows: &[Row], left: f64) -> Ruler {
    let right = WIDTH - MARGIN;
    let references = page.spec.reference_lines.iter().map(|line| line.value);
    let mut needs: Vec<(f64, f64)> = references.map(|value| (value, 4.0)).collect();
    let mut behind_zero: f64 = 0.0;
    for row in rows {
        let lines = remark_lines(page, row, 0.0);
        let remark = lines
            .iter()
            .map(|line| page.width(line, SMALL) + 2.0 * SPACE)
            .fold(0.0, f64::max);
        for (index, bar) in row.bars.iter().enumerate() {
            let remark = if index == 0 { remark } else { 0.0 };
            let value = bar.value.unwrap_or(0.0);
            // The remark of a negative bar stands on the free side of zero.
            if value < 0.0 {
                behind_zero = behind_zero.max(remark);
                needs.push((value, end_width(page, row, bar)));
            } else {
                needs.push((value, end_width(page, row, bar) + remark));
            }
        }
    }
    needs.push((0.0, behind_zero));
    let reach = |pixels: f64, negative: bool| {
        let side = needs.iter().filter(|(value, _)| (*value < 0.0) == negative);
        side.map(|(value, text)| value.abs() * pixels + text)
            .fold(0.0, f64::max)
    };
    let largest = needs.iter().map(|(value, _)| value.abs()).fold(0.0, f64::max);
    let (mut low, mut high) = (0.0, if largest > 0.0 { (right - left) / largest } else { 0.0 });
    for _ in 0..50 {
        let middle = (low + high) / 2.0;
        if reach(middle, true) + reach(middle, false) <= right - left {
            low = middle
        } else {
            high = middle
        }
    }
    Ruler {
        zero: left + reach(low, true),
        pixels: low,
    }
}

/// A text behind a bar; set last, on white, so that no line runs through it.
struct End {
    x: f64,
    baseline: f64,
    anchor: Anchor,
    face: Face,
    text: String,
    color: Color,
}

impl End {
    fn set(&self, page: &mut Page, references: &[Upright]) {
        let area = page.room(&self.text, self.x, self.baseline, self.anchor, self.face);
        if references
            .iter()
            .any(|line| (area.x0 - 2.0..=area.x1 + 2.0).contains(&line.x))
        {
            page.draw(Shape::Fill {
                area: area.grown(1.0),
                color: PAPER,
            });
        }
        page.label(&self.text, self.x, self.baseline, self.anchor, self.face, self.color);
    }
}

fn draw_row(page: &mut Page, row: &Row, names: f64, ruler: Ruler, pitch: Pitch, ends: &mut Vec<End>) {
    let face = name_face(row);
    let name = page.wrap(&row.name, face, names + 0.5, 2);
    let remark = remark_lines(page, row, free_width(page, row, ruler));
    let bars = row.bars.len() as f64 * pitch.bar;
    let texts = (name.len() as f64 * NAME_LEADING).max(remark.len() as f64 * SMALL.leading());
    let height = bars.max(texts);
    let middle = page.y + height / 2.0;
    let first = middle - (name.len() as f64 - 1.0) * NAME_LEADING / 2.0 + HALF_CAPITAL * face.size;
    for (index, line) in name.iter().enumerate() {
        page.label(
            line,
            MARGIN,
            first + index as f64 * NAME_LEADING,
            Anchor::Start,
            face,
            INK,
        );
    }
    let mut top = middle - bars / 2.0;
    let mut remark_x = ruler.zero + SPACE;
    for bar in &row.bars {
        let center = top + pitch.bar / 2.0;
        let x = draw_bar(
            page,
            row,
            bar,
            ruler,
            (top, pitch.bar - f64::from(u8::from(row.bars.len() > 1))),
            ends,
        );
        if center <= middle + 1.0 {
            remark_x = x;
        }
        top += pitch.bar;
    }
    let first = middle - (remark.len() as f64 - 1.0) * SMALL.leading() / 2.0 + HALF_CAPITAL * SMALL.size;
    for (index, text) in remark.into_iter().enumerate() {
        let (x, baseline) = (remark_x + SPACE, first + index as f64 * SMALL.leading());
        ends.push(End {
            x,
            baseline,
            anchor: Anchor::Start,
            face: SMALL,
            text,
            color: GREY,
        });
    }
    page.y += height + pitch.between;
}

/// Draws one bar and notes the texts behind it; returns where a remark may begin.
fn draw_bar(
    page: &mut Page,
    row: &Row,
    bar: &Bar,
    ruler: Ruler,
    (top, height): (f64, f64),
    ends: &mut Vec<End>,
) -> f64 {
    let middle = top + height / 2.0;
    let Some(value) = bar.value else {
        let text = page.words.missing();
        let x = ruler.zero + SPACE;
        let width = page.width(&text, SMALL);
        let baseline = middle + HALF_CAPITAL * SMALL.size;
        ends.push(End {
            x,
            baseline,
            anchor: Anchor::Start,
            face: SMALL,
            text,
            color: GREY,
        });
        return x + width;
    };
    let end = ruler.at(value);
    page.bar(Area::new(ruler.zero, top, end, top + height), bar.color);
    let (side, anchor) = if value < 0.0 {
        (-1.0, Anchor::End)
    } else {
        (1.0, Anchor::Start)
    };
    let face = value_face(row);
    let x = end + side * SPACE;
    let width = page.width(&bar.text, face);
    let baseline = middle + HALF_CAPITAL * face.size;
    ends.push(End {
        x,
        baseline,
        anchor,
        face,
        text: bar.text.clone(),
        color: INK,
    });
    let mut reach = width;
    if let Some(detail) = &bar.detail {
        let x = x + side * (width + SPACE);
        reach += SPACE + page.width(detail, SMALL);
        ends.push(End {
            x,
            baseline,
            anchor,
            face: SMALL,
            text: detail.clone(),
            color: GREY,
        });
    }
    if value < 0.0 { ruler.zero } else { x + reach }
}
