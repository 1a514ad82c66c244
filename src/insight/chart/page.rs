//! The page that a chart is laid out on: title and subtitle on top, note and source below, and the pen for what is
//! between.

use super::fonts::Fonts;
use super::number::Format;
use super::scene::{Anchor, Area, Color, Label, Scene, Shape, text_area};
use super::spec::ChartSpec;
use super::style::{GREY, GRID, INK, LABEL, MARGIN, MARGIN_Y, NOTE, SMALL, SUBTITLE, TITLE, WIDTH};
use super::words::Words;
use super::wrap::{Face, wrap};

/// A finding longer than this many lines is an essay.
const TITLE_LINES: usize = 3;
const SUBTITLE_LINES: usize = 3;
/// Lines of a note before it is cut.
const NOTE_LINES: usize = 4;
/// Side of a legend's coloured square.
const SWATCH: f64 = 11.0;

/// A page in the making.
pub(super) struct Page<'a> {
    pub spec: &'a ChartSpec,
    pub fonts: &'a Fonts,
    pub words: Words,
    /// The upper end of what is still free.
    pub y: f64,
    /// Sentences that the layout adds to the note.
    pub notes: Vec<String>,
    /// Places that remarks must keep clear of, beside the texts: bars, lines, dots.
    pub taken: Vec<Area>,
    scene: Scene,
}

impl<'a> Page<'a> {
    /// A page with title and subtitle.
    pub fn new(spec: &'a ChartSpec, fonts: &'a Fonts) -> Page<'a> {
        let title = spec.title.split_whitespace().collect::<Vec<_>>().join(" ");
        let scene = Scene {
            width: WIDTH,
            height: 0.0,
            title,
            shapes: Vec::new(),
            labels: Vec::new(),
        };
        let (taken, notes) = (Vec::new(), Vec::new());
        let mut page = Page {
            spec,
            fonts,
            words: Words(spec.language),
            y: MARGIN_Y,
            notes,
            taken,
            scene,
        };
        page.paragraph(&spec.title, TITLE, INK, TITLE_LINES);
        if let Some(subtitle) = &spec.subtitle {
            page.y += 3.0;
            page.paragraph(subtitle, SUBTITLE, GREY, SUBTITLE_LINES);
        }
        page.y += 12.0;
        page
    }

    /// Text from margin to margin, at the free end of the page.
    fn paragraph(&mut self, text: &str, face: Face, color: Color, most: usize) {
        for line in wrap(text, face, WIDTH - 2.0 * MARGIN, most, self.fonts) {
            self.label(&line, MARGIN, self.y + face.size * 0.95, Anchor::Start, face, color);
            self.y += face.leading();
        }
    }

    /// Notes and source under what has been drawn; the chart is complete.
    pub fn finish(mut self) -> Scene {
        self.y += 10.0;
        let glue = match self.spec.language {
            crate::text::Language::English => " ",
            crate::text::Language::Chinese => "",
        };
        let note: Vec<String> = self
            .spec
            .note
            .iter()
            .cloned()
            .chain(std::mem::take(&mut self.notes))
            .collect();
        self.paragraph(&note.join(glue), NOTE, GREY, NOTE_LINES);
        if let Some(source) = &self.spec.source {
            self.paragraph(&self.words.source(source), NOTE, GREY, 2);
        }
        self.scene.height = (self.y + MARGIN_Y - 8.0).ceil();
        self.scene
    }

    /// Width of `text`.
    pub fn width(&self, text: &str, face: Face) -> f64 {
        self.fonts.width(text, face.size, face.bold)
    }

    /// Lines of at most `width` pixels.
    pub fn wrap(&self, text: &str, face: Face, width: f64, most: usize) -> Vec<String> {
        wrap(text, face, width, most, self.fonts)
    }

    /// How values on the y axis are printed.
    pub fn format(&self) -> Format<'a> {
        Format {
            unit: &self.spec.y.unit,
            language: self.spec.language,
        }
    }

    /// How numbers on the x axis are printed.
    pub fn x_format(&self) -> Format<'a> {
        Format {
            unit: &self.spec.x.unit,
            language: self.spec.language,
        }
    }

    /// The room that a text would take.
    pub fn room(&self, text: &str, x: f64, baseline: f64, anchor: Anchor, face: Face) -> Area {
        text_area(text, x, baseline, anchor, face, self.fonts)
    }

    /// Sets a line of text.
    pub fn label(&mut self, text: &str, x: f64, baseline: f64, anchor: Anchor, face: Face, color: Color) -> Area {
        let area = self.room(text, x, baseline, anchor, face);
        if !text.is_empty() {
            self.scene.labels.push(Label {
                text: text.to_string(),
                x,
                baseline,
                anchor,
                face,
                color,
                area,
            });
        }
        area
    }

    /// Draws a shape over those before.
    pub fn draw(&mut self, shape: Shape) {
        self.scene.shapes.push(shape);
    }

    /// Draws a bar, which remarks keep clear of.
    pub fn bar(&mut self, area: Area, color: Color) {
        self.taken.push(area);
        self.draw(Shape::Fill { area, color });
    }

    /// Draws a straight line.
    pub fn rule(&mut self, from: (f64, f64), to: (f64, f64), color: Color, width: f64) {
        self.draw(Shape::Line {
            points: vec![from, to],
            color,
            width,
        });
    }

    /// Is there neither text nor anything drawn here?
    pub fn is_free(&self, area: &Area) -> bool {
        self.scene.is_free(&area.grown(1.5)) && !self.taken.iter().any(|taken| taken.overlaps(area))
    }

    /// Is there no text here?
    pub fn is_blank(&self, area: &Area) -> bool {
        self.scene.is_free(area)
    }

    /// The name of the measure, level above the plot, unless title or subtitle say it already.
    pub fn axis_name(&mut self, name: Option<&str>, x: f64) {
        let Some(name) = name.filter(|name| !name.trim().is_empty()) else {
            return;
        };
        let said = format!(
            "{} {}",
            self.spec.title,
            self.spec.subtitle.as_deref().unwrap_or_default()
        );
        if said.to_lowercase().contains(&name.to_lowercase()) {
            return;
        }
        for line in self.wrap(name, SMALL, WIDTH - MARGIN - x, 2) {
            self.label(&line, x, self.y + SMALL.size, Anchor::Start, SMALL, GREY);
            self.y += SMALL.leading();
        }
        self.y += 4.0;
    }

    /// Coloured squares and their names, in as many rows as they need.
    pub fn legend(&mut self, entries: &[(String, Color)]) {
        let mut x = MARGIN;
        let most = (WIDTH - 2.0 * MARGIN) / 2.0 - SWATCH - 6.0;
        for (name, color) in entries {
            let name = super::wrap::ellipsize(name, LABEL, most, self.fonts);
            let width = SWATCH + 6.0 + self.width(&name, LABEL);
            if x > MARGIN && x + width > WIDTH - MARGIN {
                x = MARGIN;
                self.y += 20.0;
            }
            let top = self.y + 2.0;
            self.draw(Shape::Fill {
                area: Area::new(x, top, x + SWATCH, top + SWATCH),
                color: *color,
            });
            self.label(&name, x + SWATCH + 6.0, top + 10.0, Anchor::Start, LABEL, INK);
            x += width + 18.0;
        }
        self.y += 26.0;
    }

    /// A gridline.
    pub fn grid(&mut self, from: (f64, f64), to: (f64, f64)) {
        self.rule(from, to, GRID, 1.0);
    }
}
