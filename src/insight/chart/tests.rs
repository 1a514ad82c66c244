//! The geometry of whole charts: every specimen of the gallery is laid out and looked at with a ruler.

use std::sync::LazyLock;

use rstest::rstest;
use serde_json::json;

use super::scene::{Area, Scene, Shape};
use super::{
    Annotation, ChartError, ChartKind, ChartSpec, Data, Fonts, Point, ReferenceLine, Scale, Series, Unit, XAxis, draw,
    lay_out,
};
use crate::text::Language::{self, Chinese, English};
use crate::time::Grain;

#[path = "../../../examples/gallery/specimens.rs"]
mod specimens;

/// Laid out once for all tests.
static SCENES: LazyLock<Vec<(&'static str, Scene)>> = LazyLock::new(|| {
    let fonts = Fonts::embedded();
    specimens::all()
        .into_iter()
        .filter_map(|(name, spec)| Some((name, lay_out(&spec, fonts).ok()?)))
        .collect()
});

fn scene(name: &str) -> &'static Scene {
    SCENES
        .iter()
        .find(|(found, _)| *found == name)
        .map(|(_, scene)| scene)
        .expect("a specimen of this name")
}

fn texts(scene: &Scene) -> Vec<&str> {
    scene.labels.iter().map(|label| label.text.as_str()).collect()
}

fn fills(scene: &Scene) -> Vec<Area> {
    scene
        .shapes
        .iter()
        .filter_map(|shape| match shape {
            Shape::Fill { area, .. } => Some(*area),
            Shape::Line { .. } | Shape::Dashes { .. } | Shape::Dot { .. } => None,
        })
        .collect()
}

#[test]
fn all_but_the_one_without_values_can_be_drawn() {
    assert_eq!(SCENES.len(), specimens::all().len() - 1);
}

#[test]
fn every_text_is_on_the_page() {
    for (name, scene) in SCENES.iter() {
        let page = Area {
            x0: 0.0,
            y0: 0.0,
            x1: scene.width,
            y1: scene.height,
        };
        for label in &scene.labels {
            assert!(
                page.contains(&label.area),
                "{name}: `{}` at {:?} leaves {page:?}",
                label.text,
                label.area
            );
        }
    }
}

#[test]
fn no_text_touches_another() {
    for (name, scene) in SCENES.iter() {
        for (index, label) in scene.labels.iter().enumerate() {
            let touched = scene
                .labels
                .iter()
                .skip(index + 1)
                .find(|other| other.area.overlaps(&label.area));
            let other = touched.map(|other| &other.text);
            assert!(other.is_none(), "{name}: `{}` touches `{}`", label.text, other.unwrap());
        }
    }
}

#[test]
fn every_shape_is_on_the_page_and_finite() {
    for (name, scene) in SCENES.iter() {
        let page = Area {
            x0: 0.0,
            y0: 0.0,
            x1: scene.width,
            y1: scene.height,
        };
        for shape in &scene.shapes {
            let points = match shape {
                Shape::Fill { area, .. } => vec![(area.x0, area.y0), (area.x1, area.y1)],
                Shape::Line { points, .. } => points.clone(),
                Shape::Dashes { from, to, .. } => vec![*from, *to],
                Shape::Dot { center, .. } => vec![*center],
            };
            for (x, y) in points {
                let point = Area {
                    x0: x,
                    y0: y,
                    x1: x,
                    y1: y,
                };
                assert!(
                    x.is_finite() && y.is_finite() && page.contains(&point),
                    "{name}: {shape:?}"
                );
            }
        }
    }
}

#[test]
fn ranking_bars_start_at_one_line_and_are_as_long_as_their_values() {
    let bars = fills(scene("bar_plain"));
    assert_eq!(bars.len(), 12);
    assert!(bars.iter().all(|bar| bar.x0 == bars[0].x0));
    let ratio = bars[11].width() / bars[0].width();
    assert!((ratio - 2_140.0 / 41_280.55).abs() < 1e-9, "{ratio}");
}

#[test]
fn too_many_categories_are_cut_and_the_note_says_so() {
    let scene = scene("bar_200");
    assert_eq!(fills(scene).len(), 30);
    assert!(texts(scene).contains(&"The 30 largest of 200 are shown; the other 170 are from $900 to $5,806."));
}

#[test]
fn missing_periods_stay_gaps() {
    let scene = scene("line_gaps");
    let lines = scene
        .shapes
        .iter()
        .filter(|shape| matches!(shape, Shape::Line { width, .. } if *width > 2.0))
        .count();
    assert_eq!(lines, 3, "1 to 13, 17 to 21, 25 to 31 August; 23 August stands alone");
    let bars = fills(self::scene("column_months"));
    let steps: Vec<f64> = bars
        .iter()
        .zip(bars.iter().skip(1))
        .map(|(left, right)| right.x0 - left.x0)
        .collect();
    let wide = steps.iter().filter(|step| **step > steps[0] * 1.5).count();
    assert_eq!((bars.len(), wide), (23, 1), "June 2005 is missing");
}

#[test]
fn chinese_charts_speak_chinese() {
    let scene = scene("multi_zh");
    let texts = texts(scene);
    for text in ["华东大区", "8月", "2005年", "¥30万"] {
        assert!(texts.contains(&text), "{text} is not in {texts:?}");
    }
}

#[test]
fn small_parts_are_folded_into_the_last() {
    let scene = scene("share_sorted");
    assert!(texts(scene).contains(&"Other (5)"));
    assert!(texts(scene).contains(&"15.4%"));
}

#[test]
fn svg_and_png_are_one_picture() {
    let (_, spec) = specimens::all().swap_remove(0);
    let drawn = draw(&spec, Fonts::embedded()).unwrap();
    assert!(
        drawn
            .svg
            .starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"720\"")
    );
    assert!(
        drawn
            .svg
            .contains("<title>Leslie Jennings sold most in August 2005; Martin Gerard collapsed</title>")
    );
    assert!(drawn.svg.contains("font-family=\"Inter, "));
    assert_eq!(drawn.png.get(..8), Some(b"\x89PNG\r\n\x1a\n".as_slice()));
    let width = u32::from_be_bytes(drawn.png[16..20].try_into().unwrap());
    assert_eq!(width, 1440);
}

fn bar(categories: &[&str], values: &[Option<f64>]) -> ChartSpec {
    let mut spec = ChartSpec::new(ChartKind::Bar, "", English);
    spec.categories = categories.iter().map(ToString::to_string).collect();
    spec.series = vec![Series::values("Sales", values.iter().copied())];
    spec
}

fn monthly(spec: ChartSpec) -> ChartSpec {
    ChartSpec {
        x: XAxis {
            scale: Scale::Time { grain: Grain::Month },
            ..XAxis::default()
        },
        ..spec
    }
}

#[rstest]
#[case::no_series(
    ChartSpec::new(ChartKind::Bar, "", English),
    "nothing to draw: the chart has no series"
)]
#[case::all_null(bar(&["A"], &[None]), "nothing to draw: all values are null")]
#[case::only_nan(bar(&["A"], &[Some(f64::NAN)]), "nothing to draw: all values are null")]
#[case::misaligned(bar(&["A"], &[Some(1.0), Some(2.0)]), "series `Sales` has 2 values for 1 categories")]
#[case::bad_period(
    monthly(bar(&["August"], &[Some(1.0)])),
    "`August` is not a month on a time axis"
)]
#[case::twice(
    monthly(bar(&["2005-08", "2005-08-14"], &[Some(1.0), Some(1.0)])),
    "category `2005-08-14` occurs twice"
)]
#[case::unknown_highlight(ChartSpec { highlight: vec!["C".into()], ..bar(&["A", "B"], &[Some(1.0), None]) }, "highlight `C` is not in the chart; it has A, B")]
#[case::negative_share(ChartSpec { kind: ChartKind::Share, ..bar(&["A"], &[Some(-1.0)]) }, "`A` is -1, but parts of a whole cannot be negative")]
#[case::zero_share(ChartSpec { kind: ChartKind::Share, ..bar(&["A"], &[Some(0.0)]) }, "nothing to draw: all values are zero")]
#[case::values_for_scatter(ChartSpec { kind: ChartKind::Scatter, ..bar(&["A"], &[Some(1.0)]) }, "a `scatter` chart needs points (x, y), but series `Sales` has values without x")]
fn bad_specifications_say_what_to_mend(#[case] spec: ChartSpec, #[case] message: &str) {
    let error = lay_out(&spec, Fonts::embedded()).unwrap_err().to_string();
    assert!(error.starts_with(message), "{error}");
}

#[test]
fn a_specification_is_plain_json() {
    let spec: ChartSpec = serde_json::from_value(json!({
        "kind": "multi_line",
        "title": "Sales",
        "x": {"scale": {"kind": "time", "grain": "month"}},
        "y": {"unit": {"kind": "money", "currency": "USD"}},
        "categories": ["2005-07", "2005-08"],
        "series": [{"name": "Paris", "data": [1.5, null]}]
    }))
    .unwrap();
    assert_eq!(spec.y.unit, Unit::money("USD"));
    assert_eq!(spec.series[0].data, Data::Values(vec![Some(1.5), None]));
    let again: ChartSpec = serde_json::from_str(&serde_json::to_string(&spec).unwrap()).unwrap();
    assert_eq!(again, spec);
    let unknown = serde_json::from_value::<ChartSpec>(json!({"kind": "pie", "series": []})).unwrap_err();
    assert!(unknown.to_string().contains("unknown variant `pie`"), "{unknown}");
}

#[rstest]
#[case::tiny_axis(&[1e-12, 3e-12])]
#[case::huge_axis(&[1e199, -1e199])]
#[case::beyond_measure(&[1e300, -1e300])]
#[case::one_ulp_apart(&[1.0, 1.000_000_000_000_000_2])]
#[case::largest(&[f64::MAX, f64::MIN])]
fn extreme_numbers_are_drawn(#[case] values: &[f64]) {
    for kind in [ChartKind::Bar, ChartKind::Line, ChartKind::Histogram] {
        let names: Vec<String> = (0..values.len()).map(|index| format!("Name {index}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let values: Vec<Option<f64>> = values.iter().copied().map(Some).collect();
        let spec = ChartSpec {
            kind,
            ..bar(&names, &values)
        };
        let drawn = lay_out(&spec, Fonts::embedded()).and_then(|scene| super::paint::svg(&scene));
        assert!(
            drawn.is_ok() || matches!(drawn, Err(ChartError::NoData { .. })),
            "{kind:?}: {drawn:?}"
        );
    }
}
