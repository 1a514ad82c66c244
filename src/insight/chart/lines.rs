//! Lines over time, over ordered categories or over numbers, named at their ends.

use super::bars::remark_of;
use super::clean::{Cloud, Periods, Table};
use super::ends::{self, EndName};
use super::page::Page;
use super::plot::{self, Plot};
use super::references;
use super::scene::{Area, Color, Shape};
use super::spec::Unit;
use super::style::{GREY, Hue, LABEL, LABEL_BOLD, MARGIN, MOST_SERIES, MUTED_LINE, PAPER, hue};
use super::ticks::{Rule, Ticks, ticks};
use super::wrap::Face;

/// Names at line ends are wrapped to this width.
const NAME_WIDTH: f64 = 140.0;
/// Lines with at most this many points show them.
const MOST_DOTS: usize = 9;
/// With more series than have colours, so many of the largest are coloured if none is highlighted.
const COLOURED_OF_MANY: usize = 3;
/// Points closer than this are drawn as one stroke from the lowest to the highest.
const COLUMN: f64 = 0.5;

/// A line: runs of points without gaps, in data coordinates.
#[derive(Debug, Clone)]
struct Path {
    name: String,
    runs: Vec<Vec<(f64, f64)>>,
    look: Look,
}

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Look {
    line: Color,
    text: Color,
    width: f64,
    /// Greys are drawn first and may lose their name.
    is_main: bool,
}

impl Path {
    fn last(&self) -> Option<(f64, f64)> {
        self.runs.last()?.last().copied()
    }

    fn points(&self) -> impl Iterator<Item = (f64, f64)> {
        self.runs.iter().flatten().copied()
    }
}

/// What lies along x.
enum Along<'a> {
    Names(&'a [String]),
    Time(&'a Periods),
    Numbers(Ticks),
}

impl Along<'_> {
    /// The ends of the axis in data coordinates.
    fn ends(&self) -> (f64, f64) {
        match self {
            Along::Names(names) => (0.0, names.len().saturating_sub(1) as f64),
            Along::Time(periods) => (periods.ends().0 as f64, periods.ends().1 as f64),
            Along::Numbers(ticks) => (ticks.low, ticks.high),
        }
    }
}

/// Draws the table as lines. `from_zero`: the values are amounts whose axis starts at zero.
pub(super) fn draw(page: &mut Page, table: Table, from_zero: bool) {
    let places: Vec<f64> = match &table.periods {
        Some(periods) => periods.numbers.iter().map(|number| *number as f64).collect(),
        None => (0..table.names.len()).map(|index| index as f64).collect(),
    };
    let paths = table
        .rows
        .iter()
        .map(|row| Path {
            name: row.name.clone(),
            runs: runs(&places, &row.values),
            look: MUTED_LOOK,
        })
        .collect();
    let along = table.periods.as_ref().map_or(Along::Names(&table.names), Along::Time);
    let named = |page: &Page, name: &str| page.spec.categories.iter().any(|category| category == name);
    let marks: Vec<(f64, String)> = places
        .iter()
        .copied()
        .zip(table.names.iter().cloned())
        .filter(|(_, name)| {
            named(page, name) && (page.spec.highlight.contains(name) || remark_of(page, name).is_some())
        })
        .collect();
    draw_paths(page, paths, &along, &marks, from_zero);
}

/// Draws lines over numbers.
pub(super) fn draw_curves(page: &mut Page, curves: &[Cloud]) {
    let xs = || curves.iter().flat_map(|curve| curve.points.iter().map(|point| point.x));
    let (low, high) = (
        xs().fold(f64::INFINITY, f64::min),
        xs().fold(f64::NEG_INFINITY, f64::max),
    );
    let whole = page.spec.x.unit == Unit::Count;
    let axis = ticks(
        low,
        high,
        Rule {
            zero: false,
            whole,
            steps: 8.0,
            round_ends: false,
        },
    );
    let paths = curves
        .iter()
        .map(|curve| Path {
            name: curve.name.clone(),
            runs: vec![curve.points.iter().map(|point| (point.x, point.y)).collect()],
            look: MUTED_LOOK,
        })
        .collect();
    let spec = page.spec;
    let is_marked = |label: &String| spec.highlight.contains(label) || remark_of(page, label).is_some();
    let points = curves.iter().flat_map(|curve| &curve.points);
    let marks: Vec<(f64, String)> = points
        .filter_map(|point| Some((point.x, point.label.clone().filter(is_marked)?)))
        .collect();
    draw_paths(page, paths, &Along::Numbers(axis), &marks, false);
}

const MUTED_LOOK: Look = Look {
    line: MUTED_LINE,
    text: GREY,
    width: 1.6,
    is_main: false,
};

/// Points in unbroken runs: a gap is a null or a missing period.
fn runs(places: &[f64], values: &[Option<f64>]) -> Vec<Vec<(f64, f64)>> {
    let mut runs: Vec<Vec<(f64, f64)>> = Vec::new();
    let mut expected = f64::NAN;
    for (x, value) in places.iter().zip(values) {
        let Some(value) = value else { continue };
        match runs.last_mut() {
            Some(run) if *x == expected => run.push((*x, *value)),
            _ => runs.push(vec![(*x, *value)]),
        }
        expected = x + 1.0;
    }
    runs
}

fn draw_paths(page: &mut Page, paths: Vec<Path>, along: &Along, marks: &[(f64, String)], from_zero: bool) {
    let paths = dressed(page, paths);
    let axis_name = page.spec.y.label.clone();
    page.axis_name(axis_name.as_deref(), MARGIN);
    let names = end_names(page, &paths);
    let right = ends::width(page, &names);
    let plot = plot::open(page, axis(page, &paths, from_zero), page.format(), true, right);
    let (first, last) = along.ends();
    let inset = if matches!(along, Along::Names(_)) && last > first {
        plot.area.width() / (last - first + 1.0) / 2.0
    } else {
        6.0
    };
    let pixels = if last > first {
        (plot.area.width() - 2.0 * inset) / (last - first)
    } else {
        0.0
    };
    let x = |place: f64| {
        if last > first {
            plot.area.x0 + inset + (place - first) * pixels
        } else {
            (plot.area.x0 + plot.area.x1) / 2.0
        }
    };
    references::across(page, &plot);
    plot::baseline(page, &plot);
    let dotted = paths.iter().all(|path| path.points().count() <= MOST_DOTS);
    let (main, others): (Vec<&Path>, Vec<&Path>) = paths.iter().partition(|path| path.look.is_main);
    for path in others.into_iter().chain(main) {
        draw_path(page, path, dotted && path.look.is_main, &plot, &x);
    }
    draw_axis(page, along, &plot, &x, pixels);
    plot::x_name(page, &plot);
    if let [only] = paths.as_slice() {
        draw_last(page, only, &plot, &x);
    }
    ends::draw(page, &plot, names, &x);
    let marks: Vec<Mark> = marks
        .iter()
        .map(|(place, name)| mark(page, &paths, &plot, (*place, x(*place)), name))
        .collect();
    draw_marks(page, &plot, &marks);
}

/// Gives every line its look, and says in the note how many are grey and unnamed.
fn dressed(page: &mut Page, mut paths: Vec<Path>) -> Vec<Path> {
    paths.retain(|path| !path.runs.is_empty());
    let many = paths.len() > MOST_SERIES;
    let highlight = &page.spec.highlight;
    let mut chosen: Vec<usize> = (0..paths.len())
        .filter(|index| paths.get(*index).is_some_and(|path| highlight.contains(&path.name)))
        .take(MOST_SERIES)
        .collect();
    if chosen.is_empty() {
        chosen = (0..paths.len()).collect();
        if many {
            let total = |index: &usize| {
                paths
                    .get(*index)
                    .map_or(0.0, |path| path.points().map(|(_, y)| y).sum::<f64>())
            };
            chosen.sort_by(|left, right| total(right).total_cmp(&total(left)));
            chosen.truncate(COLOURED_OF_MANY);
            chosen.sort_unstable();
        }
    }
    let width = if paths.iter().map(|path| path.points().count()).max().unwrap_or(0) > 150 {
        1.6
    } else {
        2.4
    };
    for (rank, index) in chosen.iter().enumerate() {
        let Hue { fill, text } = hue(rank);
        if let Some(path) = paths.get_mut(*index) {
            path.look = Look {
                line: fill,
                text,
                width,
                is_main: true,
            };
        }
    }
    if many {
        let note = page.words.in_grey(paths.len() - chosen.len());
        page.notes.push(note);
    }
    paths
}

fn axis(page: &Page, paths: &[Path], from_zero: bool) -> Ticks {
    let references = page.spec.reference_lines.iter().map(|line| line.value);
    let values = references.chain(paths.iter().flat_map(Path::points).map(|(_, y)| y));
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    let whole = page.spec.y.unit == Unit::Count;
    ticks(
        low,
        high,
        Rule {
            zero: from_zero,
            whole,
            steps: 5.0,
            round_ends: true,
        },
    )
}

/// May this line have its name at its end?
fn is_named(paths: &[Path], path: &Path) -> bool {
    paths.len() > 1 && (path.look.is_main || paths.len() <= MOST_SERIES)
}

fn name_face(path: &Path) -> Face {
    if path.look.is_main { LABEL_BOLD } else { LABEL }
}

/// What stands at the right: the names of the lines or, of a single line, its last value; and the reference lines.
fn end_names(page: &Page, paths: &[Path]) -> Vec<EndName> {
    let mut names = references::names(page);
    for path in paths {
        let Some((place, value)) = path.last() else { continue };
        let face = name_face(path);
        let lines = match paths {
            [_] => vec![page.format().label(value)],
            _ if is_named(paths, path) => page.wrap(&path.name, face, NAME_WIDTH, 2),
            _ => continue,
        };
        names.push(EndName {
            place: Some(place),
            value,
            lines,
            face,
            text: path.look.text,
            line: path.look.line,
        });
    }
    names
}

fn draw_path(page: &mut Page, path: &Path, dotted: bool, plot: &Plot, x: &dyn Fn(f64) -> f64) {
    for run in &path.runs {
        let points: Vec<(f64, f64)> = run.iter().map(|(place, value)| (x(*place), plot.y(*value))).collect();
        let points = thinned(points);
        occupy(page, &points);
        let alone = points.len() == 1;
        for center in points.iter().filter(|_| alone || dotted) {
            let radius = if alone { path.look.width.max(2.6) } else { 3.2 };
            page.draw(Shape::Dot {
                center: *center,
                radius,
                color: path.look.line,
                alpha: 1.0,
            });
        }
        if !alone {
            page.draw(Shape::Line {
                points,
                color: path.look.line,
                width: path.look.width,
            });
        }
    }
}

/// At most four points for each half pixel: first, lowest, highest, last. Nobody can see more.
fn thinned(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let column = |point: &(f64, f64)| (point.0 / COLUMN).floor();
    let mut thin: Vec<(f64, f64)> = Vec::new();
    for group in points.chunk_by(|left, right| column(left) == column(right)) {
        if group.len() <= 4 {
            thin.extend(group);
            continue;
        }
        let by_y = |left: &&(f64, f64), right: &&(f64, f64)| left.1.total_cmp(&right.1);
        let ends = [
            group.first(),
            group.iter().min_by(by_y),
            group.iter().max_by(by_y),
            group.last(),
        ];
        thin.extend(ends.into_iter().flatten());
    }
    thin
}

/// Keeps remarks clear of a line.
fn occupy(page: &mut Page, points: &[(f64, f64)]) {
    if let [(x, y)] = points {
        page.taken.push(Area::new(x - 3.0, y - 3.0, x + 3.0, y + 3.0));
    }
    for (from, to) in points.iter().zip(points.iter().skip(1)) {
        let length = (to.0 - from.0).hypot(to.1 - from.1);
        let steps = (length / 5.0).ceil().max(1.0);
        for step in 0..steps as usize {
            let at = |share: f64| (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share);
            let (start, end) = (at(step as f64 / steps), at((step as f64 + 1.0) / steps));
            page.taken.push(Area::new(start.0, start.1, end.0, end.1).grown(2.0));
        }
    }
}

fn draw_axis(page: &mut Page, along: &Along, plot: &Plot, x: &dyn Fn(f64) -> f64, pixels: f64) {
    match along {
        Along::Names(names) => {
            let pitch = if names.len() > 1 { pixels } else { plot.area.width() };
            plot::name_axis(page, plot, names, &|index| x(index as f64), pitch);
        }
        Along::Time(periods) => {
            plot::time_axis(
                page,
                plot,
                periods.ends(),
                periods.grain,
                &|period| x(period as f64),
                pixels,
            );
        }
        Along::Numbers(ticks) => plot::number_axis(page, plot, ticks, page.x_format(), x),
    }
}

/// The dot at the end of a single line.
fn draw_last(page: &mut Page, path: &Path, plot: &Plot, x: &dyn Fn(f64) -> f64) {
    if let Some((place, value)) = path.last() {
        let center = (x(place), plot.y(value));
        page.draw(Shape::Dot {
            center,
            radius: 3.6,
            color: path.look.line,
            alpha: 1.0,
        });
    }
}

/// A highlighted or annotated place, if the first line has a value there; else a place on the axis.
struct Mark<'a> {
    name: &'a str,
    point: (f64, f64),
    /// The value there, as printed; none for a gap, and for the last value of a single line, which is printed anyway.
    value: Option<String>,
    color: Option<Color>,
}

fn mark<'a>(page: &Page, paths: &[Path], plot: &Plot, (place, x): (f64, f64), name: &'a str) -> Mark<'a> {
    let main = paths.iter().find(|path| path.look.is_main).or(paths.first());
    let found = main.and_then(|path| Some((path, path.points().find(|(at, _)| *at == place)?.1)));
    let Some((path, value)) = found else {
        return Mark {
            name,
            point: (x, plot.area.y1 - 2.0),
            value: None,
            color: None,
        };
    };
    let is_last = paths.len() == 1 && path.last().is_some_and(|(last, _)| last == place);
    let is_asked = page.spec.highlight.iter().any(|highlight| highlight == name);
    let value_text = (is_asked && !is_last).then(|| page.format().label(value));
    Mark {
        name,
        point: (x, plot.y(value)),
        value: value_text,
        color: Some(path.look.line),
    }
}

/// Dots on the line first, so that no remark covers one; then the values and remarks.
fn draw_marks(page: &mut Page, plot: &Plot, marks: &[Mark]) {
    for Mark { point, color, .. } in marks {
        if let Some(color) = *color {
            page.draw(Shape::Dot {
                center: *point,
                radius: 5.2,
                color: PAPER,
                alpha: 1.0,
            });
            page.draw(Shape::Dot {
                center: *point,
                radius: 3.8,
                color,
                alpha: 1.0,
            });
            page.taken
                .push(Area::new(point.0, point.1, point.0, point.1).grown(5.0));
        }
    }
    for Mark { name, point, value, .. } in marks {
        let text = match (value, remark_of(page, name)) {
            (Some(value), Some(remark)) => format!("{value}: {remark}"),
            (Some(value), None) => value.clone(),
            (None, Some(remark)) => remark,
            (None, None) => continue,
        };
        plot::remark(page, plot, *point, &text, name);
    }
}
