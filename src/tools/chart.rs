//! `chart`: draws a result or derived table as SVG and PNG.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use polars::prelude::DataFrame;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::insight::chart::{
    Annotation, ChartKind, ChartSpec, Fonts, ReferenceLine, Scale, Series, Unit, XAxis, YAxis, draw,
};
use crate::insight::metrics::no_name;
use crate::session::event::ArtifactKind;
use crate::session::store::write_whole;
use crate::text::Language;
use crate::time::Grain;
use crate::tools::{Call, Reply, Tool, ToolError, Workbench, args, withheld};

const NAME: &str = "chart";

/// What the model sends.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id of the result (`q1`) or derived table (`m1`) to draw.
    pub source: String,
    pub kind: ChartKind,
    /// The finding, as a sentence: "Jon Stephens sold most in August 2005".
    pub title: String,
    /// What is measured, where and when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subtitle: Option<String>,
    /// Column along x: names, periods or (scatter) numbers. Not needed for a histogram.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<String>,
    /// Column or columns of values.
    pub y: Vec<String>,
    /// Names of the series in the legend, in the order of `y`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series_names: Vec<String>,
    /// Column whose values tell series apart, where `y` is one column and the result is long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<String>,
    /// Length of the periods in `x`, where it is time: day, week, month, quarter or year.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grain: Option<Grain>,
    /// Unit of the values.
    #[serde(default)]
    pub unit: Unit,
    /// Name of the measure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y_label: Option<String>,
    /// Names to put in the accent colour.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub highlight: Vec<String>,
    /// Short remarks at a category.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub annotations: Vec<Annotation>,
    /// Fixed values to draw as lines, such as a target.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reference_lines: Vec<ReferenceLine>,
    /// What a reader must know about the numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Args {
    /// A chart of the columns `y` of `source`, with everything else left out.
    pub fn new(source: impl Into<String>, kind: ChartKind, title: impl Into<String>, y: Vec<String>) -> Self {
        Self {
            source: source.into(),
            kind,
            title: title.into(),
            subtitle: None,
            x: None,
            y,
            series_names: Vec::new(),
            series: None,
            grain: None,
            unit: Unit::Plain,
            y_label: None,
            highlight: Vec::new(),
            annotations: Vec::new(),
            reference_lines: Vec::new(),
            note: None,
        }
    }
}

/// What the model is told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Drawn {
    /// `c1`, `c2`, …: place it in the answer as `[c1]` on a line of its own.
    pub id: String,
    pub title: String,
    pub source: String,
    pub svg: String,
    pub png: String,
}

/// A chart that was drawn.
#[derive(Debug, Clone)]
pub struct ChartMade {
    pub id: String,
    /// The result or derived table that it draws.
    pub source: String,
    pub spec: ChartSpec,
    /// Paths relative to the session's root.
    pub svg: String,
    pub png: String,
}

/// The tool.
pub struct Chart;

#[async_trait]
impl Tool for Chart {
    fn name(&self) -> &'static str {
        NAME
    }

    fn description(&self) -> &'static str {
        "Draws a result by its id: bar (rankings), grouped_bar (two periods), line and multi_line (time), share, scatter, \
         histogram. Gives an id (c1, c2, …): put [c1] on a line of its own where the chart belongs in the answer."
    }

    fn schema(&self) -> Value {
        args::schema::<Args>()
    }

    fn artifact_prefix(&self) -> Option<char> {
        Some('c')
    }

    async fn call(&self, call: Call, at: &Workbench) -> Result<Reply, ToolError> {
        self.make(call, at, Files::New).await
    }

    async fn restore(&self, call: Call, at: &Workbench) -> Result<Reply, ToolError> {
        self.make(call, at, Files::Kept).await
    }
}

/// Whether a drawing that is on disk already will do.
enum Files {
    New,
    Kept,
}

impl Chart {
    async fn make(&self, call: Call, at: &Workbench, files: Files) -> Result<Reply, ToolError> {
        let args: Args = args::parse(self.name(), call.arguments)?;
        let id = call
            .artifact_id
            .ok_or_else(|| ToolError::CannotBeDone("no id was given for the chart".into()))?;
        let frame = at.frame(&args.source)?;
        let unseen = |error| refused(error, &args.source, &frame, at);
        let spec = specification(&args, &frame, at).map_err(unseen)?;
        let charts = &at.folders.charts;
        let (svg, png) = (charts.join(format!("{id}.svg")), charts.join(format!("{id}.png")));
        let is_there = matches!(files, Files::Kept) && svg.is_file() && png.is_file();
        if !is_there {
            draw_into(&spec, &svg, &png).await.map_err(unseen)?;
        }
        let made = ChartMade {
            id: id.clone(),
            source: args.source.clone(),
            spec,
            svg: at.relative(&svg),
            png: at.relative(&png),
        };
        let told = Drawn {
            id: id.clone(),
            title: args.title,
            source: args.source,
            svg: made.svg.clone(),
            png: made.png.clone(),
        };
        let mut reply = Reply::json(&told, format!("{id}: {} of {}", made.spec.kind.name(), made.source))?;
        reply.artifacts = vec![(id, ArtifactKind::Chart, made.svg.clone())];
        at.remember_chart(Arc::new(made));
        Ok(reply)
    }
}

/// Why nothing was drawn; what may quote values is told only where the model may see them.
fn refused(error: ToolError, source: &str, frame: &DataFrame, at: &Workbench) -> ToolError {
    if at.may_show(source) {
        return error;
    }
    let columns: Vec<String> = frame.get_column_names().iter().map(ToString::to_string).collect();
    ToolError::FixTheCall(withheld::advice(at.share, NAME, source, &columns))
}

async fn draw_into(spec: &ChartSpec, svg: &Path, png: &Path) -> Result<(), ToolError> {
    let to_draw = spec.clone();
    let drawn = tokio::task::spawn_blocking(move || draw(&to_draw, Fonts::embedded()))
        .await
        .map_err(|error| ToolError::CannotBeDone(format!("the drawing ended early: {error}")))?
        .map_err(|error| ToolError::FixTheCall(format!("chart: {error}")))?;
    write_whole(svg, drawn.svg.as_bytes())
        .and_then(|()| write_whole(png, &drawn.png))
        .map_err(|error| ToolError::CannotBeDone(error.to_string()))
}

fn specification(args: &Args, frame: &DataFrame, at: &Workbench) -> Result<ChartSpec, ToolError> {
    let data = match args.kind {
        ChartKind::Histogram => histogram(args, frame)?,
        ChartKind::Scatter => scatter(args, frame, at.language)?,
        ChartKind::Bar | ChartKind::GroupedBar | ChartKind::Line | ChartKind::MultiLine | ChartKind::Share => {
            categories(args, frame, at.language)?
        }
    };
    let scale = match (args.kind, args.grain) {
        (ChartKind::Histogram | ChartKind::Scatter, _) => Scale::Number,
        (_, Some(grain)) => Scale::Time { grain },
        (_, None) => Scale::Category,
    };
    Ok(ChartSpec {
        kind: args.kind,
        title: args.title.clone(),
        subtitle: args.subtitle.clone(),
        x: XAxis {
            label: match args.kind {
                ChartKind::Scatter => args.x.clone(),
                _ => None,
            },
            scale,
            unit: match args.kind {
                ChartKind::Histogram => args.unit.clone(),
                _ => Unit::Plain,
            },
        },
        y: YAxis {
            label: args.y_label.clone(),
            unit: args.unit.clone(),
        },
        categories: data.categories,
        series: data.series,
        highlight: args.highlight.clone(),
        annotations: args.annotations.clone(),
        reference_lines: args.reference_lines.clone(),
        note: args.note.clone(),
        source: Some(format!("{}, {}", at.catalog.database, args.source)),
        language: at.language,
    })
}

struct ChartData {
    categories: Vec<String>,
    series: Vec<Series>,
}

/// Categories along x: one series for each column of `y`, or for each value of the `series` column.
fn categories(args: &Args, frame: &DataFrame, language: Language) -> Result<ChartData, ToolError> {
    let Some(x) = &args.x else {
        return Err(ToolError::FixTheCall(format!(
            "chart: `x` is missing; columns: {}",
            columns(frame)
        )));
    };
    let labels = texts(frame, x, language)?;
    let mut categories: Vec<String> = Vec::new();
    for label in &labels {
        if !categories.contains(label) {
            categories.push(label.clone());
        }
    }
    let series = match &args.series {
        None => {
            if categories.len() < labels.len() {
                return Err(ToolError::FixTheCall(format!(
                    "chart: column `{x}` repeats values; name the column that tells the series apart as `series`, or aggregate first"
                )));
            }
            args.y
                .iter()
                .enumerate()
                .map(|(at, y)| {
                    let name = args.series_names.get(at).unwrap_or(y);
                    Ok(Series::values(name.clone(), numbers(frame, y)?))
                })
                .collect::<Result<Vec<_>, ToolError>>()?
        }
        Some(by) => split(
            &labels,
            &categories,
            &texts(frame, by, language)?,
            &numbers(frame, one(&args.y)?)?,
        ),
    };
    Ok(ChartData { categories, series })
}

/// A long result as one series per name; missing combinations are gaps.
fn split(labels: &[String], categories: &[String], names: &[String], values: &[Option<f64>]) -> Vec<Series> {
    let mut series: Vec<(String, Vec<Option<f64>>)> = Vec::new();
    for ((label, name), value) in labels.iter().zip(names).zip(values) {
        let at = match series.iter().position(|(known, _)| known == name) {
            Some(at) => at,
            None => {
                series.push((name.clone(), vec![None; categories.len()]));
                series.len() - 1
            }
        };
        let place = categories.iter().position(|category| category == label);
        let slot = place.and_then(|place| series.get_mut(at).and_then(|(_, values)| values.get_mut(place)));
        if let Some(slot) = slot {
            *slot = *value;
        }
    }
    series
        .into_iter()
        .map(|(name, values)| Series::values(name, values))
        .collect()
}

fn histogram(args: &Args, frame: &DataFrame) -> Result<ChartData, ToolError> {
    let y = one(&args.y)?;
    Ok(ChartData {
        categories: Vec::new(),
        series: vec![Series::values(y, numbers(frame, y)?)],
    })
}

fn scatter(args: &Args, frame: &DataFrame, language: Language) -> Result<ChartData, ToolError> {
    let Some(x) = &args.x else {
        return Err(ToolError::FixTheCall(format!(
            "chart: `x` is missing; columns: {}",
            columns(frame)
        )));
    };
    let y = one(&args.y)?;
    let labels = args
        .series
        .as_ref()
        .map(|column| texts(frame, column, language))
        .transpose()?;
    let points = numbers(frame, x)?
        .into_iter()
        .zip(numbers(frame, y)?)
        .enumerate()
        .filter_map(|(at, (x, y))| {
            Some(crate::insight::chart::Point {
                x: x?,
                y: y?,
                label: labels.as_ref().and_then(|labels| labels.get(at).cloned()),
            })
        })
        .collect();
    Ok(ChartData {
        categories: Vec::new(),
        series: vec![Series {
            name: y.to_owned(),
            data: crate::insight::chart::Data::Points(points),
        }],
    })
}

fn one(y: &[String]) -> Result<&str, ToolError> {
    match y {
        [only] => Ok(only),
        _ => Err(ToolError::FixTheCall(
            "chart: `y` must name exactly one column here".into(),
        )),
    }
}

fn columns(frame: &DataFrame) -> String {
    frame
        .get_column_names()
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

fn column<'a>(frame: &'a DataFrame, name: &str) -> Result<&'a polars::prelude::Column, ToolError> {
    frame
        .column(name)
        .map_err(|_| ToolError::FixTheCall(format!("chart: no column `{name}`; there are {}", columns(frame))))
}

/// The column's values as words; what has no value is said to have none.
fn texts(frame: &DataFrame, name: &str, language: Language) -> Result<Vec<String>, ToolError> {
    let column = column(frame, name)?;
    (0..column.len())
        .map(|at| {
            let value = column
                .get(at)
                .map_err(|error| ToolError::CannotBeDone(error.to_string()))?;
            Ok(match value {
                polars::prelude::AnyValue::Null => no_name(language).to_owned(),
                polars::prelude::AnyValue::String(text) => text.to_owned(),
                other => other.to_string(),
            })
        })
        .collect()
}

fn numbers(frame: &DataFrame, name: &str) -> Result<Vec<Option<f64>>, ToolError> {
    let column = column(frame, name)?;
    let floats = column.cast(&polars::prelude::DataType::Float64);
    let floats = floats.map_err(|error| ToolError::CannotBeDone(error.to_string()))?;
    if floats.null_count() > column.null_count() {
        return Err(ToolError::FixTheCall(format!(
            "chart: column `{name}` holds text that is no number"
        )));
    }
    let floats = floats
        .f64()
        .map_err(|error| ToolError::CannotBeDone(error.to_string()))?;
    Ok(floats.iter().collect())
}
