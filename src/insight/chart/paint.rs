//! From a laid-out chart to an SVG document (through plotters), and from that to a PNG (through resvg).

use plotters::backend::{DrawingBackend, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color as _, FontFamily, FontStyle, RGBAColor, ShapeStyle, TextStyle};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::Tree;

use super::error::ChartError;
use super::fonts::{FAMILIES, Fonts};
use super::scene::{Anchor, Color, Label, Scene, Shape};
use super::style::PAPER;

/// plotters draws at whole units; a tenth of a pixel is finer than any eye.
const UNITS: f64 = 10.0;
/// The PNG has this many dots per pixel of the SVG, so that it is sharp on dense screens and in print.
const PNG_SCALE: f32 = 2.0;
/// plotters writes `size / 1.24` as the font size: the ratio between its box and its em.
const PLOTTERS_EM: f64 = 1.24;
/// plotters sets a text anchored at its top this many ems below the given place.
const PLOTTERS_TOP: f64 = 0.76;
/// Length of the dashes of a broken line and of the gaps between them.
const DASH: (f64, f64) = (5.0, 4.0);

/// The SVG document of `scene`.
pub(super) fn svg(scene: &Scene) -> Result<String, ChartError> {
    let mut document = String::new();
    let size = (units(scene.width).unsigned_abs(), units(scene.height).unsigned_abs());
    {
        let mut canvas = SVGBackend::with_string(&mut document, size);
        let whole = (size.0.cast_signed(), size.1.cast_signed());
        canvas
            .draw_rect((0, 0), whole, &rgba(PAPER, 1.0), true)
            .map_err(render)?;
        for shape in &scene.shapes {
            paint_shape(&mut canvas, shape)?;
        }
        for label in &scene.labels {
            paint_label(&mut canvas, label)?;
        }
        canvas.present().map_err(render)?;
    }
    let body = document.split_once('>').map_or("", |(_, body)| body);
    Ok(format!("{}{body}", head(scene, size)))
}

/// The root element: its size in pixels (plotters would state units), round joints, and the title for screen readers.
fn head(scene: &Scene, (width, height): (u32, u32)) -> String {
    let title = escape(&scene.title);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\" aria-label=\"{title}\" stroke-linejoin=\"round\" stroke-linecap=\"round\" \
         style=\"font-variant-numeric:tabular-nums\">\n<title>{title}</title>",
        scene.width.round(),
        scene.height.round()
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

fn paint_shape(canvas: &mut SVGBackend, shape: &Shape) -> Result<(), ChartError> {
    match shape {
        Shape::Fill { area, color } => {
            let corners = (place((area.x0, area.y0)), place((area.x1, area.y1)));
            canvas.draw_rect(corners.0, corners.1, &rgba(*color, 1.0), true)
        }
        Shape::Line { points, color, width } => match points.as_slice() {
            [from, to] => canvas.draw_line(place(*from), place(*to), &stroke(*color, *width)),
            _ => canvas.draw_path(points.iter().map(|point| place(*point)), &stroke(*color, *width)),
        },
        Shape::Dashes { from, to, color, width } => {
            for (start, end) in dashes(*from, *to) {
                canvas
                    .draw_line(place(start), place(end), &stroke(*color, *width))
                    .map_err(render)?;
            }
            Ok(())
        }
        Shape::Dot {
            center,
            radius,
            color,
            alpha,
        } => canvas.draw_circle(
            place(*center),
            units(*radius).unsigned_abs(),
            &rgba(*color, *alpha),
            true,
        ),
    }
    .map_err(render)
}

fn paint_label(canvas: &mut SVGBackend, label: &Label) -> Result<(), ChartError> {
    let weight = if label.face.bold {
        FontStyle::Bold
    } else {
        FontStyle::Normal
    };
    let font = (
        FontFamily::Name(FAMILIES),
        label.face.size * UNITS * PLOTTERS_EM,
        weight,
    );
    let anchor = match label.anchor {
        Anchor::Start => HPos::Left,
        Anchor::Middle => HPos::Center,
        Anchor::End => HPos::Right,
    };
    let color = rgba(label.color, 1.0);
    let style = TextStyle::from(font).color(&color).pos(Pos::new(anchor, VPos::Top));
    let top = label.baseline - PLOTTERS_TOP * label.face.size;
    canvas
        .draw_text(&label.text, &style, place((label.x, top)))
        .map_err(render)
}

/// The strokes of a broken line.
fn dashes(from: (f64, f64), to: (f64, f64)) -> Vec<((f64, f64), (f64, f64))> {
    let length = (to.0 - from.0).hypot(to.1 - from.1);
    let at = |along: f64| {
        let share = (along / length).min(1.0);
        (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share)
    };
    let count = (length / (DASH.0 + DASH.1)).ceil() as usize;
    (0..count)
        .map(|index| index as f64 * (DASH.0 + DASH.1))
        .map(|start| (at(start), at(start + DASH.0)))
        .collect()
}

/// The PNG of an SVG document, at [`PNG_SCALE`].
pub(super) fn png(svg: &str, fonts: &Fonts) -> Result<Vec<u8>, ChartError> {
    let tree = Tree::from_str(svg, &fonts.svg_options()).map_err(render)?;
    let size = tree
        .size()
        .to_int_size()
        .scale_by(PNG_SCALE)
        .ok_or_else(|| render("the chart has no size"))?;
    let mut pixmap =
        Pixmap::new(size.width(), size.height()).ok_or_else(|| render("the chart is too large for a picture"))?;
    resvg::render(&tree, Transform::from_scale(PNG_SCALE, PNG_SCALE), &mut pixmap.as_mut());
    encode(&pixmap)
}

/// A PNG file of the pixels, whose paper leaves nothing transparent, so that their colours are what is seen.
///
/// Flat colours pack best unfiltered, and the lightest compression is within half of the best at an eighth of its time.
fn encode(pixmap: &Pixmap) -> Result<Vec<u8>, ChartError> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, pixmap.width(), pixmap.height());
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_filter(png::Filter::NoFilter);
    encoder.set_deflate_compression(png::DeflateCompression::Level(1));
    let mut writer = encoder.write_header().map_err(render)?;
    writer.write_image_data(pixmap.data()).map_err(render)?;
    writer.finish().map_err(render)?;
    Ok(file)
}

fn render(error: impl std::fmt::Display) -> ChartError {
    ChartError::Render(error.to_string())
}

fn units(pixels: f64) -> i32 {
    (pixels * UNITS).round() as i32
}

fn place((x, y): (f64, f64)) -> (i32, i32) {
    (units(x), units(y))
}

fn rgba(Color(red, green, blue): Color, alpha: f64) -> RGBAColor {
    RGBAColor(red, green, blue, alpha)
}

fn stroke(color: Color, width: f64) -> ShapeStyle {
    rgba(color, 1.0).stroke_width(units(width).unsigned_abs())
}
