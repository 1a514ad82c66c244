//! Lines over time, over ordered categories or over numbers, named at their ends.

use super::bars::remark_of;
use super::clean::{Cloud, Periods, Table};
use super::page::Page;
use super::plot::{self, Plot};
use super::scene::{Anchor, Area, Color, HALF_CAPITAL, Shape};
use super::spec::Unit;
use super::style::{ACCENT, GREY, Hue, LABEL, LABEL_BOLD, MARGIN, MOST_SERIES, MUTED_LINE, PAPER, hue};
use super::ticks::{Rule, Ticks, ticks};
use super::wrap::Face;

/// Names at line ends are wrapped to this width.
const NAME_WIDTH: f64 = 140.0;
/// From the end of the lines to their names.
const NAME_GAP: f64 = 12.0;
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
    let right = names_width(page, &paths);
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
    plot::reference_lines(page, &plot);
    plot::baseline(page, &plot);
    for path in paths
        .iter()
        .filter(|path| !path.look.is_main)
        .chain(paths.iter().filter(|path| path.look.is_main))
    {
        draw_path(page, path, &plot, &x);
    }
    draw_axis(page, along, &plot, &x, pixels);
    plot::x_name(page, &plot);
    draw_names(page, &paths, &plot, &x);
    for (place, name) in marks {
        draw_mark(page, &paths, &plot, (*place, x(*place)), name);
    }
    plot::reference_names(page, &plot);
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

/// Room at the right for the names, or for the last value of a single line.
fn names_width(page: &Page, paths: &[Path]) -> f64 {
    let lines = paths.iter().filter(|path| is_named(paths, path)).flat_map(|path| {
        let face = name_face(path);
        page.wrap(&path.name, face, NAME_WIDTH, 2)
            .into_iter()
            .map(move |line| (line, face))
    });
    let names = lines
        .map(|(line, face)| page.width(&line, face) + NAME_GAP)
        .fold(0.0, f64::max);
    match paths {
        [only] => only.last().map_or(0.0, |(_, y)| {
            page.width(&page.format().label(y), LABEL_BOLD) + NAME_GAP - 4.0
        }),
        _ => names,
    }
}

fn draw_path(page: &mut Page, path: &Path, plot: &Plot, x: &dyn Fn(f64) -> f64) {
    let dotted = path.points().count() <= MOST_DOTS && path.look.is_main;
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

/// A name that looks for its place beside the plot.
struct EndName {
    from: (f64, f64),
    lines: Vec<String>,
    face: Face,
    look: Look,
    /// Upper end of its room.
    top: f64,
}

impl EndName {
    fn height(&self) -> f64 {
        self.lines.len() as f64 * 14.0 + 3.0
    }
}

/// The names at the ends of the lines; of a single line, its last value.
fn draw_names(page: &mut Page, paths: &[Path], plot: &Plot, x: &dyn Fn(f64) -> f64) {
    if let [only] = paths {
        draw_last_value(page, only, plot, x);
        return;
    }
    let mut names = Vec::new();
    for path in paths.iter().filter(|path| is_named(paths, path)) {
        let Some((place, value)) = path.last() else { continue };
        let face = name_face(path);
        let lines = page.wrap(&path.name, face, NAME_WIDTH, 2);
        let mut name = EndName {
            from: (x(place), plot.y(value)),
            lines,
            face,
            look: path.look,
            top: 0.0,
        };
        name.top = name.from.1 - name.height() / 2.0;
        names.push(name);
    }
    spread(&mut names, plot.area.y0 - 6.0, plot.area.y1 + 6.0);
    for name in names {
        let middle = name.top + name.height() / 2.0;
        let left = plot.area.x1 + NAME_GAP;
        let (x, y) = name.from;
        if (middle - y).abs() > 5.0 || plot.area.x1 - x > 12.0 {
            let points = vec![(x + 4.0, y), (plot.area.x1 - 2.0, y), (left - 3.0, middle)];
            let points = if plot.area.x1 - x > 12.0 {
                points
            } else {
                vec![(x + 3.0, y), (left - 3.0, middle)]
            };
            page.draw(Shape::Line {
                points,
                color: name.look.line,
                width: 0.8,
            });
        }
        let first = name.top + 1.5 + 7.0 + HALF_CAPITAL * name.face.size;
        for (row, line) in name.lines.iter().enumerate() {
            page.label(
                line,
                left,
                first + row as f64 * 14.0,
                Anchor::Start,
                name.face,
                name.look.text,
            );
        }
    }
}

/// Moves names apart until none touches another, as little as possible, within `low` to `high`.
fn spread(names: &mut [EndName], low: f64, high: f64) {
    names.sort_by(|left, right| left.from.1.total_cmp(&right.from.1));
    let mut floor = low;
    for name in names.iter_mut() {
        name.top = name.top.max(floor);
        floor = name.top + name.height();
    }
    let mut ceiling = high;
    for name in names.iter_mut().rev() {
        name.top = name.top.min(ceiling - name.height());
        ceiling = name.top;
    }
}

fn draw_last_value(page: &mut Page, path: &Path, plot: &Plot, x: &dyn Fn(f64) -> f64) {
    let Some((place, value)) = path.last() else { return };
    let center = (x(place), plot.y(value));
    page.draw(Shape::Dot {
        center,
        radius: 3.6,
        color: path.look.line,
        alpha: 1.0,
    });
    let text = page.format().label(value);
    let baseline = center.1 + HALF_CAPITAL * LABEL_BOLD.size;
    page.label(
        &text,
        center.0 + 8.0,
        baseline,
        Anchor::Start,
        LABEL_BOLD,
        path.look.text,
    );
}

/// A highlighted or annotated place: a ring on the first line, its value if highlighted, the remark.
fn draw_mark(page: &mut Page, paths: &[Path], plot: &Plot, (place, x): (f64, f64), name: &str) {
    let main = paths.iter().find(|path| path.look.is_main).or(paths.first());
    let value = main
        .and_then(|path| path.points().find(|(at, _)| *at == place))
        .map(|(_, value)| value);
    let remark = remark_of(page, name);
    let Some(value) = value else {
        if let Some(text) = remark {
            let bottom = (x, plot.area.y1 - 2.0);
            plot::remark(page, plot, bottom, &text, name);
        }
        return;
    };
    let center = (x, plot.y(value));
    page.draw(Shape::Dot {
        center,
        radius: 5.2,
        color: PAPER,
        alpha: 1.0,
    });
    page.draw(Shape::Dot {
        center,
        radius: 3.8,
        color: main.map_or(ACCENT, |path| path.look.line),
        alpha: 1.0,
    });
    let is_last = main.and_then(Path::last).is_some_and(|(last, _)| last == place) && paths.len() == 1;
    let text = page.format().label(value);
    match remark {
        Some(remark) if page.spec.highlight.iter().any(|highlight| highlight == name) && !is_last => {
            plot::remark(page, plot, center, &format!("{text}: {remark}"), name);
        }
        Some(remark) => plot::remark(page, plot, center, &remark, name),
        None if !is_last => plot::remark(page, plot, center, &text, name),
        None => {}
    }
    page.taken
        .push(Area::new(x - 5.0, center.1 - 5.0, x + 5.0, center.1 + 5.0));
}
