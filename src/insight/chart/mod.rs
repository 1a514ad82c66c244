//! Charts: a [`ChartSpec`] in the words of the data becomes an SVG and, from the same SVG, a PNG.

mod error;
mod spec;

pub use error::ChartError;
pub use spec::{Annotation, ChartKind, ChartSpec, Data, Point, ReferenceLine, Scale, Series, Unit, XAxis, YAxis};

/// A chart that has been drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawn {
    /// A whole SVG document.
    pub svg: String,
    /// The same picture as a PNG file at twice the SVG's size.
    pub png: Vec<u8>,
}
