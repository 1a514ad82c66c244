//! A laid-out chart: shapes and texts at their places, in pixels. Painting it decides nothing any more.

use super::fonts::Fonts;
use super::wrap::Face;

/// Red, green, blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Color(pub u8, pub u8, pub u8);

/// A rectangle; `x0 ≤ x1`, `y0 ≤ y1`, y grows downwards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Area {
    pub x0: f64,
    pub y0: f64,
    pub x1: f64,
    pub y1: f64,
}

impl Area {
    /// From any two opposite corners.
    pub fn new(xa: f64, ya: f64, xb: f64, yb: f64) -> Area {
        Area {
            x0: xa.min(xb),
            y0: ya.min(yb),
            x1: xa.max(xb),
            y1: ya.max(yb),
        }
    }

    pub fn width(&self) -> f64 {
        self.x1 - self.x0
    }

    pub fn height(&self) -> f64 {
        self.y1 - self.y0
    }

    /// Do the two share more than an edge?
    pub fn overlaps(&self, other: &Area) -> bool {
        self.x0 < other.x1 && other.x0 < self.x1 && self.y0 < other.y1 && other.y0 < self.y1
    }

    /// Is `other` wholly in here?
    pub fn contains(&self, other: &Area) -> bool {
        self.x0 <= other.x0 && self.y0 <= other.y0 && self.x1 >= other.x1 && self.y1 >= other.y1
    }

    /// Larger by `by` on every side.
    pub fn grown(&self, by: f64) -> Area {
        Area {
            x0: self.x0 - by,
            y0: self.y0 - by,
            x1: self.x1 + by,
            y1: self.y1 + by,
        }
    }
}

/// What is painted, in this order, under all texts.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shape {
    /// A filled rectangle.
    Fill { area: Area, color: Color },
    /// A line through points, `width` pixels thick.
    Line {
        points: Vec<(f64, f64)>,
        color: Color,
        width: f64,
    },
    /// A straight broken line.
    Dashes {
        from: (f64, f64),
        to: (f64, f64),
        color: Color,
        width: f64,
    },
    /// A filled circle; `alpha` 0 to 1.
    Dot {
        center: (f64, f64),
        radius: f64,
        color: Color,
        alpha: f64,
    },
}

/// Which end of a text stands at its x.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// One line of text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Label {
    pub text: String,
    pub x: f64,
    pub baseline: f64,
    pub anchor: Anchor,
    pub face: Face,
    pub color: Color,
    /// The room that it takes.
    pub area: Area,
}

/// Height of letters above the baseline, in ems.
pub(super) const ASCENT: f64 = 0.78;
/// Depth of letters under the baseline, in ems.
pub(super) const DESCENT: f64 = 0.22;
/// From the middle of a capital letter down to the baseline, in ems.
pub(super) const HALF_CAPITAL: f64 = 0.36;

/// The room that a line of text takes.
pub(super) fn text_area(text: &str, x: f64, baseline: f64, anchor: Anchor, face: Face, fonts: &Fonts) -> Area {
    let width = fonts.width(text, face.size, face.bold);
    let x0 = match anchor {
        Anchor::Start => x,
        Anchor::Middle => x - width / 2.0,
        Anchor::End => x - width,
    };
    Area {
        x0,
        y0: baseline - ASCENT * face.size,
        x1: x0 + width,
        y1: baseline + DESCENT * face.size,
    }
}

/// A whole chart before painting.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scene {
    pub width: f64,
    pub height: f64,
    /// The title, for those who cannot see the picture.
    pub title: String,
    pub shapes: Vec<Shape>,
    pub labels: Vec<Label>,
}

impl Scene {
    /// Is the room free of texts?
    pub fn is_free(&self, area: &Area) -> bool {
        self.labels.iter().all(|label| !label.area.overlaps(area))
    }
}
