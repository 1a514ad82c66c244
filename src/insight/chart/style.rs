//! Sizes and colours of all charts. Lengths are in pixels at 100 %.

use super::scene::Color;
use super::wrap::Face;

/// Width of every chart: the text column of a report.
pub(super) const WIDTH: f64 = 720.0;
/// White space at the left and right.
pub(super) const MARGIN: f64 = 20.0;
/// White space at the top and bottom.
pub(super) const MARGIN_Y: f64 = 18.0;
/// Height of the plot of lines, columns and points.
pub(super) const PLOT_HEIGHT: f64 = 270.0;

/// The finding.
pub(super) const TITLE: Face = Face::bold(19.0);
/// What, where, when.
pub(super) const SUBTITLE: Face = Face::regular(13.5);
/// Names and values.
pub(super) const LABEL: Face = Face::regular(12.5);
/// Highlighted names and values.
pub(super) const LABEL_BOLD: Face = Face::bold(12.5);
/// Ticks, axis names, remarks.
pub(super) const SMALL: Face = Face::regular(11.5);
/// Note and source.
pub(super) const NOTE: Face = Face::regular(11.0);

/// Titles, names, values.
pub(super) const INK: Color = Color(0x1F, 0x23, 0x28);
/// Subtitles, ticks, notes: readable on white (contrast 5.3).
pub(super) const GREY: Color = Color(0x5F, 0x68, 0x72);
/// Gridlines.
pub(super) const GRID: Color = Color(0xE1, 0xE5, 0xE9);
/// The zero line.
pub(super) const AXIS: Color = Color(0x4A, 0x53, 0x5D);
/// The paper.
pub(super) const PAPER: Color = Color(0xFF, 0xFF, 0xFF);
/// What the eye should go to.
pub(super) const ACCENT: Color = Color(0x17, 0x66, 0xA6);
/// Bars that are not highlighted.
pub(super) const MUTED: Color = Color(0xB4, 0xC2, 0xCF);
/// Lines that are not highlighted.
pub(super) const MUTED_LINE: Color = Color(0xC3, 0xCB, 0xD3);
/// Negative values of charts in which nothing is highlighted.
pub(super) const NEGATIVE: Color = Color(0xC4, 0x57, 0x2B);
/// The rest that was folded together.
pub(super) const REST: Color = Color(0xD3, 0xD8, 0xDD);

/// A colour of a series, and its darker form for text of that colour on white.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hue {
    /// For areas, lines and dots.
    pub fill: Color,
    /// For text.
    pub text: Color,
}

/// Colours of series that can be told apart by colour-blind readers (after Okabe and Ito, 2008) and, since their
/// lightness differs from neighbour to neighbour, in a grey print.
const SERIES: [Hue; 6] = [
    Hue {
        fill: ACCENT,
        text: ACCENT,
    },
    Hue {
        fill: Color(0xE6, 0x8A, 0x1A),
        text: Color(0xA8, 0x5E, 0x00),
    },
    Hue {
        fill: Color(0x0B, 0x7A, 0x5B),
        text: Color(0x0B, 0x7A, 0x5B),
    },
    Hue {
        fill: Color(0xC8, 0x76, 0xB0),
        text: Color(0x9B, 0x3F, 0x80),
    },
    Hue {
        fill: Color(0x5D, 0xB1, 0xE4),
        text: Color(0x1F, 0x7D, 0xB5),
    },
    Hue {
        fill: Color(0x4A, 0x42, 0x5E),
        text: Color(0x4A, 0x42, 0x5E),
    },
];

/// Series that get a colour of their own; those beyond are drawn in grey or left out.
pub(super) const MOST_SERIES: usize = SERIES.len();

/// The colour of the series number `index`.
pub(super) fn hue(index: usize) -> Hue {
    SERIES.get(index % MOST_SERIES).copied().unwrap_or(Hue {
        fill: ACCENT,
        text: ACCENT,
    })
}
