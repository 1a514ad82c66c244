//! Parts of a whole: one stacked bar if its parts can carry their names, else sorted bars with percentages. Several
//! series make one stacked bar per category.

use super::bars::remark_of;
use super::clean::Table;
use super::page::Page;
use super::rows::{self, Bar, Row};
use super::scene::{Anchor, Area, Color, HALF_CAPITAL, Shape};
use super::spec::Unit;
use super::style::{ACCENT, GREY, INK, LABEL, LABEL_BOLD, MARGIN, MOST_SERIES, MUTED, PAPER, REST, SMALL, WIDTH, hue};
use super::wrap::Face;

/// Parts shown by themselves; the rest is folded.
const MOST_PARTS: usize = 10;
/// Parts below this share are folded, if there are at least two.
const SMALL_PART: f64 = 0.015;
/// More parts than this make a stacked bar unreadable.
const MOST_STACKED: usize = 5;
/// Height of the single stacked bar.
const BAR_HEIGHT: f64 = 52.0;
/// Height of one of several stacked bars, and the white under it.
const ROW_HEIGHT: f64 = 24.0;
const ROW_GAP: f64 = 10.0;

/// A part of the whole.
#[derive(Debug, Clone)]
struct Part {
    name: String,
    value: f64,
    share: f64,
    is_rest: bool,
}

/// Draws the shares of one series, or of several per category.
pub(super) fn draw(page: &mut Page, table: &Table) {
    match table.rows.as_slice() {
        [only] => {
            let parts = parts(page, &table.names, &only.values);
            if parts.len() <= MOST_STACKED && page.spec.annotations.is_empty() && names_fit(page, &parts) {
                draw_stack(page, &parts);
            } else {
                draw_sorted(page, &parts);
            }
        }
        _ => draw_stacks(page, table),
    }
}

/// The parts, largest first, the small ones folded into the last.
fn parts(page: &Page, names: &[String], values: &[Option<f64>]) -> Vec<Part> {
    let total: f64 = values.iter().flatten().sum();
    let pairs = names.iter().zip(values.iter().map(|value| value.unwrap_or(0.0)));
    let mut parts: Vec<Part> = pairs
        .map(|(name, value)| Part {
            name: name.clone(),
            value,
            share: value / total,
            is_rest: false,
        })
        .collect();
    parts.sort_by(|left, right| right.value.total_cmp(&left.value));
    let spec = page.spec;
    let is_named = |part: &Part| spec.highlight.contains(&part.name) || remark_of(page, &part.name).is_some();
    let small = |part: &Part| part.share < SMALL_PART && !is_named(part);
    let mut keep = parts.iter().filter(|part| !small(part)).count();
    if parts.len() - keep < 2 {
        keep = parts.len();
    }
    let keep = if keep > MOST_PARTS { MOST_PARTS - 1 } else { keep };
    let (mut shown, mut rest) = (Vec::new(), Vec::new());
    for part in parts {
        let fits = shown.len() < keep && (keep >= MOST_PARTS - 1 || !small(&part) || values.len() == keep);
        if fits || is_named(&part) {
            shown.push(part)
        } else {
            rest.push(part)
        }
    }
    if !rest.is_empty() {
        let value = rest.iter().map(|part| part.value).sum::<f64>();
        shown.push(Part {
            name: page.words.other(rest.len()),
            value,
            share: value / total,
            is_rest: true,
        });
    }
    shown
}

/// `34.5%`: one decimal, none for the whole.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent == 0.0 || percent >= 99.95 {
        format!("{percent:.0}%")
    } else if percent < 0.1 {
        "<0.1%".into()
    } else {
        format!("{percent:.1}%")
    }
}

fn color(page: &Page, parts: &[Part], index: usize, part: &Part) -> Color {
    let highlight = &page.spec.highlight;
    let any = parts.iter().any(|part| highlight.contains(&part.name));
    match (part.is_rest, any, highlight.contains(&part.name)) {
        (true, _, _) => REST,
        (false, true, true) => ACCENT,
        (false, true, false) => MUTED,
        (false, false, _) => hue(index).fill,
    }
}

/// Does the name of every part fit under it?
fn names_fit(page: &Page, parts: &[Part]) -> bool {
    parts.iter().all(|part| {
        let room = part.share * (WIDTH - 2.0 * MARGIN) - 10.0;
        let lines = page.wrap(&part.name, LABEL, room.max(1.0), 9);
        let word = part
            .name
            .split_whitespace()
            .map(|word| page.width(word, LABEL))
            .fold(0.0, f64::max);
        lines.len() <= 2 && word <= room && page.width(&percent(part.share), LABEL_BOLD) <= room
    })
}

fn draw_stack(page: &mut Page, parts: &[Part]) {
    let top = page.y + 2.0;
    let mut x = MARGIN;
    let with_values = page.spec.y.unit != Unit::Percent;
    let values = page
        .format()
        .labels(&parts.iter().map(|part| part.value).collect::<Vec<_>>());
    let mut deepest = top;
    for (index, (part, value)) in parts.iter().zip(values).enumerate() {
        let width = part.share * (WIDTH - 2.0 * MARGIN);
        let fill = color(page, parts, index, part);
        let end = if index + 1 < parts.len() {
            x + width - 1.5
        } else {
            x + width
        };
        page.draw(Shape::Fill {
            area: Area::new(x, top, end, top + BAR_HEIGHT),
            color: fill,
        });
        let inside = top + BAR_HEIGHT / 2.0 + HALF_CAPITAL * PERCENT.size;
        page.label(&percent(part.share), x + 9.0, inside, Anchor::Start, PERCENT, on(fill));
        let mut baseline = top + BAR_HEIGHT + 17.0;
        for line in page.wrap(&part.name, LABEL, width - 8.0, 2) {
            page.label(&line, x + 1.0, baseline, Anchor::Start, LABEL, INK);
            baseline += 15.0;
        }
        if with_values && page.width(&value, SMALL) <= width - 6.0 {
            page.label(&value, x + 1.0, baseline, Anchor::Start, SMALL, GREY);
            baseline += 15.0;
        }
        deepest = deepest.max(baseline - 12.0);
        x += width;
    }
    page.y = deepest;
}

/// Percentages in a bar.
const PERCENT: Face = Face::bold(14.0);

/// Text that can be read on a colour.
fn on(Color(red, green, blue): Color) -> Color {
    let light = 0.299 * f64::from(red) + 0.587 * f64::from(green) + 0.114 * f64::from(blue);
    if light > 140.0 { INK } else { PAPER }
}

fn draw_sorted(page: &mut Page, parts: &[Part]) {
    let with_values = page.spec.y.unit != Unit::Percent;
    let values = page
        .format()
        .labels(&parts.iter().map(|part| part.value).collect::<Vec<_>>());
    let any = parts.iter().any(|part| page.spec.highlight.contains(&part.name));
    let rows: Vec<Row> = parts
        .iter()
        .zip(values)
        .map(|(part, value)| {
            let strong = page.spec.highlight.contains(&part.name);
            let color = match (part.is_rest, any && !strong) {
                (true, _) => REST,
                (false, true) => MUTED,
                (false, false) => ACCENT,
            };
            let detail = with_values.then_some(value);
            let bar = Bar {
                value: Some(part.share),
                text: percent(part.share),
                detail,
                color,
            };
            Row {
                name: part.name.clone(),
                strong,
                bars: vec![bar],
                remark: remark_of(page, &part.name),
            }
        })
        .collect();
    let name = page.spec.y.label.clone();
    rows::draw(page, &rows, name.as_deref());
}

/// One bar per category, its parts the series.
fn draw_stacks(page: &mut Page, table: &Table) {
    let count = table.rows.len().min(MOST_SERIES);
    if table.rows.len() > count {
        let note = page.words.series_left_out(count, table.rows.len());
        page.notes.push(note);
    }
    let highlight = &page.spec.highlight;
    let any = table.rows.iter().any(|row| highlight.contains(&row.name));
    let fill = |index: usize, name: &String| match (any, highlight.contains(name)) {
        (true, false) => [MUTED, REST].get(index % 2).copied().unwrap_or(MUTED),
        (true, true) | (false, _) => hue(index).fill,
    };
    let rows = || table.rows.iter().take(count).enumerate();
    let entries: Vec<(String, Color)> = rows()
        .map(|(index, row)| (row.name.clone(), fill(index, &row.name)))
        .collect();
    page.legend(&entries);
    let names = table
        .names
        .iter()
        .map(|name| page.width(name, LABEL))
        .fold(0.0, f64::max)
        .min(WIDTH * 0.3);
    let left = MARGIN + names + 10.0;
    for (at, name) in table.names.iter().enumerate() {
        let value = |row: &super::clean::Row| row.values.get(at).copied().flatten().unwrap_or(0.0);
        let total: f64 = table.rows.iter().map(value).sum();
        let baseline = page.y + ROW_HEIGHT / 2.0 + HALF_CAPITAL * LABEL.size;
        let cut = super::wrap::ellipsize(name, LABEL, names + 0.5, page.fonts);
        page.label(&cut, MARGIN, baseline, Anchor::Start, LABEL, INK);
        let mut x = left;
        for (index, row) in rows().filter(|_| total > 0.0) {
            let share = value(row) / total;
            let width = share * (WIDTH - MARGIN - left);
            let color = fill(index, &row.name);
            let area = Area::new(x, page.y, (x + width - 1.0).max(x), page.y + ROW_HEIGHT);
            page.draw(Shape::Fill { area, color });
            let text = format!("{:.0}%", share * 100.0);
            if page.width(&text, SMALL) + 8.0 <= width {
                page.label(&text, x + width / 2.0, baseline, Anchor::Middle, SMALL, on(color));
            }
            x += width;
        }
        if total <= 0.0 {
            let text = page.words.missing();
            page.label(&text, left, baseline, Anchor::Start, SMALL, GREY);
        }
        page.y += ROW_HEIGHT + ROW_GAP;
    }
    page.y -= ROW_GAP;
}
