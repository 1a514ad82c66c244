//! Charts: a [`ChartSpec`] in the words of the data becomes an SVG and, from the same SVG, a PNG.

mod bars;
mod clean;
mod columns;
mod ends;
mod error;
mod fonts;
mod histogram;
mod lines;
mod number;
mod page;
mod paint;
mod period;
mod plot;
mod references;
mod rows;
mod scatter;
mod scene;
mod share;
mod spec;
mod style;
mod ticks;
mod words;
mod wrap;

pub use error::ChartError;
pub use fonts::Fonts;
pub use spec::{Annotation, ChartKind, ChartSpec, Data, Point, ReferenceLine, Scale, Series, Unit, XAxis, YAxis};

use clean::Content;

/// A chart that has been drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawn {
    /// A whole SVG document.
    pub svg: String,
    /// The same picture as a PNG file at twice the SVG's size.
    pub png: Vec<u8>,
}

/// Draws the chart that `spec` describes.
///
/// Errors say what in the specification is at fault: no data, series that do not fit the categories, names that do not
/// occur, periods that cannot be read.
pub fn draw(spec: &ChartSpec, fonts: &Fonts) -> Result<Drawn, ChartError> {
    let svg = paint::svg(&lay_out(spec, fonts)?)?;
    let png = paint::png(&svg, fonts)?;
    Ok(Drawn { svg, png })
}

/// The chart with every shape and text at its place.
fn lay_out(spec: &ChartSpec, fonts: &Fonts) -> Result<scene::Scene, ChartError> {
    let content = clean::clean(spec)?;
    let mut page = page::Page::new(spec, fonts);
    match content {
        Content::Bars(table) => bars::draw(&mut page, table),
        Content::Lines(table) => lines::draw(&mut page, table, false),
        Content::Curves(curves) => lines::draw_curves(&mut page, &curves),
        Content::Shares(table) => share::draw(&mut page, &table),
        Content::Points(clouds) => scatter::draw(&mut page, &clouds),
        Content::Histogram(values) => histogram::draw(&mut page, &values),
    }
    Ok(page.finish())
}

#[cfg(test)]
mod tests;
