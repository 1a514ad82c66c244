//! Points in a plane; the far ones are named.

use std::collections::HashSet;

use super::bars::remark_of;
use super::clean::Cloud;
use super::ends;
use super::page::Page;
use super::plot::{self, Plot};
use super::references;
use super::scene::{Anchor, Area, Color, HALF_CAPITAL, Shape};
use super::spec::{Point, Unit};
use super::style::{ACCENT, GRID, INK, LABEL_BOLD, MARGIN, MOST_SERIES, MUTED, SMALL, hue};
use super::ticks::{Rule, Ticks, ticks};

/// Extreme points that get their name without being asked for.
const MOST_NAMED: usize = 6;
/// If there are no more points than this, all are named where there is room.
const FEW_POINTS: usize = 12;
/// Farther from the median than this many median deviations is extreme.
const EXTREME: f64 = 3.5;
/// Dots of a series closer together than this many pixels are drawn once; in dense clouds, than [`DENSE_GRAIN`].
const GRAIN: f64 = 1.0;
const DENSE_GRAIN: f64 = 2.0;
/// A cloud is dense from so many points on.
const DENSE: usize = 2000;

/// Draws clouds of points.
pub(super) fn draw(page: &mut Page, clouds: &[Cloud]) {
    let shown = clouds.len().min(MOST_SERIES);
    if clouds.len() > shown {
        let note = page.words.series_left_out(shown, clouds.len());
        page.notes.push(note);
    }
    let clouds = clouds.get(..shown).unwrap_or(clouds);
    if shown > 1 {
        let entries: Vec<(String, Color)> = clouds
            .iter()
            .enumerate()
            .map(|(index, cloud)| (cloud.name.clone(), hue(index).fill))
            .collect();
        page.legend(&entries);
    }
    let name = page.spec.y.label.clone();
    page.axis_name(name.as_deref(), MARGIN);
    let references: Vec<f64> = page.spec.reference_lines.iter().map(|line| line.value).collect();
    let points = || clouds.iter().flat_map(|cloud| &cloud.points);
    let ys = axis(
        points().map(|point| point.y).chain(references),
        page.spec.y.unit == Unit::Count,
        5.0,
        true,
    );
    let xs = axis(
        points().map(|point| point.x),
        page.spec.x.unit == Unit::Count,
        8.0,
        false,
    );
    let names = references::names(page);
    let right = ends::width(page, &names);
    let plot = plot::open(page, ys, page.format(), true, right);
    let place = |point: &Point| {
        let share = (point.x - xs.low) / (xs.high - xs.low);
        (plot.area.x0 + share * plot.area.width(), plot.y(point.y))
    };
    let x = |value: f64| plot.area.x0 + (value - xs.low) / (xs.high - xs.low) * plot.area.width();
    for mark in &xs.marks {
        page.rule((x(*mark), plot.area.y0), (x(*mark), plot.area.y1), GRID, 1.0);
    }
    plot::baseline(page, &plot);
    references::across(page, &plot);
    draw_points(page, clouds, &place);
    plot::number_axis(page, &plot, &xs, page.x_format(), &x);
    plot::x_name(page, &plot);
    ends::draw(page, &plot, names, &x);
    draw_names(page, clouds, &plot, &place);
}

fn axis(values: impl Iterator<Item = f64>, whole: bool, steps: f64, round_ends: bool) -> Ticks {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    ticks(
        low,
        high,
        Rule {
            zero: false,
            whole,
            steps,
            round_ends,
        },
    )
}

/// Radius and opacity of a dot among `count`.
fn dot(count: usize) -> (f64, f64) {
    match count {
        0..=60 => (4.5, 0.8),
        61..=400 => (3.5, 0.6),
        401..=DENSE => (2.6, 0.45),
        _ => (1.8, 0.35),
    }
}

fn draw_points(page: &mut Page, clouds: &[Cloud], place: &dyn Fn(&Point) -> (f64, f64)) {
    let count = clouds.iter().map(|cloud| cloud.points.len()).sum();
    let (radius, alpha) = dot(count);
    let grain = if count > DENSE { DENSE_GRAIN } else { GRAIN };
    let spec = page.spec;
    let is_strong = |point: &Point| point.label.as_ref().is_some_and(|label| spec.highlight.contains(label));
    let any = clouds.iter().flat_map(|cloud| &cloud.points).any(is_strong);
    let mut drawn: HashSet<(usize, i64, i64)> = HashSet::new();
    for strong in [false, true] {
        for (index, cloud) in clouds.iter().enumerate() {
            for point in cloud.points.iter().filter(|point| is_strong(point) == strong) {
                let center = place(point);
                // Dots on the same pixel would only make the file heavier.
                if !drawn.insert((index, (center.0 / grain) as i64, (center.1 / grain) as i64)) && !strong {
                    continue;
                }
                let color = match (any && clouds.len() == 1, strong) {
                    (true, true) => ACCENT,
                    (true, false) => MUTED,
                    (false, _) => hue(index).fill,
                };
                page.draw(Shape::Dot {
                    center,
                    radius,
                    color,
                    alpha: if strong { 1.0 } else { alpha },
                });
                page.taken
                    .push(Area::new(center.0, center.1, center.0, center.1).grown(radius));
            }
        }
    }
}

/// Names highlighted and extreme points, and sets the remarks.
fn draw_names(page: &mut Page, clouds: &[Cloud], plot: &Plot, place: &dyn Fn(&Point) -> (f64, f64)) {
    let spec = page.spec;
    let labelled: Vec<(&Point, &String)> = clouds
        .iter()
        .flat_map(|cloud| &cloud.points)
        .filter_map(|point| Some((point, point.label.as_ref()?)))
        .collect();
    let is_asked = |label: &String| spec.highlight.contains(label) || remark_of(page, label).is_some();
    let (asked, others): (Vec<_>, Vec<_>) = labelled.iter().partition(|(_, label)| is_asked(label));
    for (point, label) in &asked {
        let text = match remark_of(page, label) {
            Some(remark) => format!("{label}: {remark}"),
            None => label.to_string(),
        };
        plot::remark(page, plot, place(point), &text, label);
    }
    let named: Vec<(&Point, &String)> = if labelled.len() <= FEW_POINTS {
        others
    } else {
        extremes(&others)
    };
    for (point, label) in named {
        name_point(page, plot, place(point), label);
    }
}

/// The points farthest from the middle of both axes, farthest first.
fn extremes<'a>(points: &[(&'a Point, &'a String)]) -> Vec<(&'a Point, &'a String)> {
    let of = |pick: fn(&Point) -> f64| {
        let mut values: Vec<f64> = points.iter().map(|(point, _)| pick(point)).collect();
        let middle = median(&mut values);
        let mut apart: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
        (middle, median(&mut apart))
    };
    let (x, y) = (of(|point| point.x), of(|point| point.y));
    let far = |value: f64, (middle, spread): (f64, f64)| {
        if spread > 0.0 {
            (value - middle).abs() / spread
        } else {
            0.0
        }
    };
    let mut ranked: Vec<_> = points
        .iter()
        .map(|pair| (far(pair.0.x, x).max(far(pair.0.y, y)), *pair))
        .collect();
    ranked.sort_by(|left, right| right.0.total_cmp(&left.0));
    ranked
        .into_iter()
        .filter(|(far, _)| *far >= EXTREME)
        .take(MOST_NAMED)
        .map(|(_, pair)| pair)
        .collect()
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// The name beside its point, at the first side that is free; none if all are taken.
fn name_point(page: &mut Page, plot: &Plot, (x, y): (f64, f64), name: &str) {
    let middle = y + HALF_CAPITAL * SMALL.size;
    let sides = [
        (x + 7.0, middle, Anchor::Start),
        (x - 7.0, middle, Anchor::End),
        (x, y - 8.0, Anchor::Middle),
        (x, y + 8.0 + SMALL.size * 0.8, Anchor::Middle),
    ];
    let bounds = plot.area.grown(4.0);
    let free = sides.into_iter().find(|(x, baseline, anchor)| {
        let area = page.room(name, *x, *baseline, *anchor, SMALL);
        bounds.contains(&area) && page.is_free(&area)
    });
    if let Some((x, baseline, anchor)) = free {
        let face = if page.spec.highlight.iter().any(|highlight| highlight == name) {
            LABEL_BOLD
        } else {
            SMALL
        };
        page.label(name, x, baseline, anchor, face, INK);
    }
}
