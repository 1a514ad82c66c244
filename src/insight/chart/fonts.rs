//! The fonts that charts are set in, and the width of a text in them. Layout and PNG use the same faces.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use resvg::usvg::fontdb::{Database, ID, Source, Weight};
use resvg::usvg::{FallbackSelectionFn, FontResolver, Options};
use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, MetadataProvider};

use super::error::ChartError;

/// What the SVG asks for: the embedded faces first, then what a browser's machine is likely to have.
pub(super) const FAMILIES: &str = "Inter, 'Droid Sans Fallback', 'Helvetica Neue', Arial, 'PingFang SC', \
                                   'Microsoft YaHei', 'Noto Sans CJK SC', 'Noto Sans SC', sans-serif";

/// Figures in these are tabular, so that columns of numbers stand in line; `fonts/README.md` says how they were made.
const EMBEDDED: [&[u8]; 4] = [
    include_bytes!("fonts/Inter-Regular.otf"),
    include_bytes!("fonts/Inter-SemiBold.otf"),
    include_bytes!("fonts/DroidSansFallback.ttf"),
    include_bytes!("fonts/DroidSansFallback-SemiBold.ttf"),
];

/// From this weight on a face counts as bold.
const BOLD_FROM: Weight = Weight(550);

/// Width of a character that no face has, in ems: about that of the box that is drawn for it.
const UNKNOWN_EM: f64 = 0.7;

/// A set of fonts: the embedded ones (Latin, Greek, Cyrillic; Chinese), and those of a folder if one was given.
#[derive(Debug, Clone)]
pub struct Fonts {
    database: Arc<Database>,
    regular: Vec<ID>,
    bold: Vec<ID>,
}

impl Fonts {
    /// The embedded fonts, read when the first chart is drawn (a few milliseconds) and kept for the process's life.
    pub fn embedded() -> &'static Fonts {
        static FONTS: LazyLock<Fonts> = LazyLock::new(|| Fonts::over(Fonts::embedded_faces()));
        &FONTS
    }

    /// The embedded fonts, and every font file in `folder` for characters that those lack (Korean, Arabic, …).
    ///
    /// Errors with [`ChartError::NoFonts`] if the folder holds no font that can be read.
    pub fn with_folder(folder: &Path) -> Result<Fonts, ChartError> {
        let mut database = Fonts::embedded_faces();
        let before = database.len();
        for file in font_files(folder) {
            database.load_font_data(file);
        }
        if database.len() == before {
            return Err(ChartError::NoFonts(folder.display().to_string()));
        }
        Ok(Fonts::over(database))
    }

    fn embedded_faces() -> Database {
        let mut database = Database::new();
        for bytes in EMBEDDED {
            database.load_font_source(Source::Binary(Arc::new(bytes)));
        }
        database.set_sans_serif_family("Inter");
        database.set_serif_family("Inter");
        database
    }

    fn over(database: Database) -> Fonts {
        let is_bold = |id: &ID| database.face(*id).is_some_and(|face| face.weight >= BOLD_FROM);
        let (bold, regular): (Vec<ID>, Vec<ID>) = database.faces().map(|face| face.id).partition(is_bold);
        Fonts {
            database: Arc::new(database),
            regular,
            bold,
        }
    }

    /// The faces to try for a text, in order.
    fn chain(&self, bold: bool) -> impl Iterator<Item = ID> {
        let (first, then) = if bold {
            (&self.bold, &self.regular)
        } else {
            (&self.regular, &self.bold)
        };
        first.iter().chain(then).copied()
    }

    /// Width of `text` at `size` (pixels per em), kerning left out: the sum of its advances, in pixels.
    pub(super) fn width(&self, text: &str, size: f64, bold: bool) -> f64 {
        let mut missing: Vec<char> = text.chars().collect();
        let mut ems = 0.0;
        for id in self.chain(bold) {
            if missing.is_empty() {
                break;
            }
            let advances = self
                .database
                .with_face_data(id, |data, index| advances(data, index, &missing));
            let Some(Some((sum, rest))) = advances else { continue };
            ems += sum;
            missing = rest;
        }
        (ems + missing.len() as f64 * UNKNOWN_EM) * size
    }

    /// Options for reading an SVG whose texts are to be set in these fonts.
    pub(super) fn svg_options(&self) -> Options<'_> {
        let font_resolver = FontResolver {
            select_font: FontResolver::default_font_selector(),
            select_fallback: self.fallback(),
        };
        Options {
            fontdb: Arc::clone(&self.database),
            font_resolver,
            ..Options::default()
        }
    }

    /// A face for a character that the text's own face lacks: one as bold as that if there is one.
    fn fallback(&self) -> FallbackSelectionFn<'_> {
        Box::new(|character, used, database| {
            let bold = used
                .first()
                .and_then(|id| database.face(*id))
                .is_some_and(|face| face.weight >= BOLD_FROM);
            self.chain(bold)
                .find(|id| !used.contains(id) && has_char(database, *id, character))
        })
    }
}

/// The contents of the font files in `folder`, by name; what cannot be read is left out.
fn font_files(folder: &Path) -> Vec<Vec<u8>> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    paths.sort();
    let is_font = |path: &PathBuf| {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        ending.is_some_and(|ending| matches!(ending.as_str(), "ttf" | "otf" | "ttc"))
    };
    paths
        .iter()
        .filter(|path| is_font(path))
        .filter_map(|path| std::fs::read(path).ok())
        .collect()
}

fn has_char(database: &Database, id: ID, character: char) -> bool {
    database
        .with_face_data(id, |data, index| {
            FontRef::from_index(data, index).is_ok_and(|font| font.charmap().map(character).is_some())
        })
        .unwrap_or(false)
}

/// Sum of the advances (in ems) of the characters that the face has, and the characters that it lacks.
fn advances(data: &[u8], index: u32, characters: &[char]) -> Option<(f64, Vec<char>)> {
    let font = FontRef::from_index(data, index).ok()?;
    let charmap = font.charmap();
    let metrics = font.glyph_metrics(Size::new(1.0), LocationRef::default());
    let mut sum = 0.0;
    let mut missing = Vec::new();
    for character in characters {
        match charmap.map(*character).and_then(|glyph| metrics.advance_width(glyph)) {
            Some(advance) => sum += f64::from(advance),
            None => missing.push(*character),
        }
    }
    Some((sum, missing))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use std::time::{Duration, Instant};

    #[rstest]
    #[case::all_figures_are_equally_wide("1111", "8080")]
    #[case::chinese_characters_are_full_width("销售", "数据")]
    fn width_is_equal(#[case] left: &str, #[case] right: &str) {
        let fonts = Fonts::embedded();
        let (left, right) = (fonts.width(left, 13.0, false), fonts.width(right, 13.0, false));
        assert!((left - right).abs() < 0.01, "{left} is not {right}");
    }

    #[test]
    fn width_grows_with_size_and_weight() {
        let fonts = Fonts::embedded();
        let text = "Net sales";
        assert!((fonts.width(text, 26.0, false) - 2.0 * fonts.width(text, 13.0, false)).abs() < 0.01);
        assert!(fonts.width(text, 13.0, true) > fonts.width(text, 13.0, false));
        assert!((fonts.width("数据", 10.0, false) - 20.0).abs() < 0.5);
        assert!(fonts.width("\u{10ffff}", 10.0, false) > 5.0);
    }

    #[test]
    fn loading_is_quick() {
        let start = Instant::now();
        let fonts = Fonts::over(Fonts::embedded_faces());
        assert_eq!((fonts.regular.len(), fonts.bold.len()), (2, 2));
        assert!(
            start.elapsed() < Duration::from_millis(100),
            "{:?} in a debug build",
            start.elapsed()
        );
    }

    #[test]
    fn folder_without_fonts_is_named() {
        let error = Fonts::with_folder(Path::new("/nonexistent/fonts")).unwrap_err();
        assert_eq!(error, ChartError::NoFonts("/nonexistent/fonts".into()));
    }
}
