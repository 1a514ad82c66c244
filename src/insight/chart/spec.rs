//! What to draw: the chart specification that tools write, reports keep and the web page may show again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::Language;
use crate::time::Grain;

/// One chart, in the words of the data. Layout, colours and tick marks follow from it; nothing here is in pixels.
///
/// JSON shape (defaults may be left out):
/// `{"kind": "bar", "title": "…", "y": {"unit": {"kind": "money", "currency": "USD"}}, "categories": ["A", "B"],
///   "series": [{"name": "Net sales", "data": [1200.5, null]}]}`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChartSpec {
    /// How the data is shown.
    pub kind: ChartKind,
    /// The finding, as a sentence: "Leslie Jennings sold most in August 2005". May be empty.
    #[serde(default)]
    pub title: String,
    /// What is measured, where and when, in grey under the title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subtitle: Option<String>,
    /// The axis of categories, periods or numbers.
    #[serde(default)]
    pub x: XAxis,
    /// The axis of the measured values.
    #[serde(default)]
    pub y: YAxis,
    /// Names along x, in drawing order; for a time axis periods such as `2005-08-14`, `2005-W33`, `2005-08`, `2005-Q3`
    /// or `2005` (a date stands for the period it lies in). Empty for scatter, histogram and lines over numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
    /// The values.
    pub series: Vec<Series>,
    /// Categories, series or point labels to put in the accent colour; the rest is muted. Empty: nothing is muted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub highlight: Vec<String>,
    /// Short remarks at a category (or at a labelled point of a scatter chart).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub annotations: Vec<Annotation>,
    /// Lines across the plot at a fixed value: a target, a median. In a histogram the value lies on x.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reference_lines: Vec<ReferenceLine>,
    /// What a reader must know about the numbers; printed small under the chart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Where the numbers come from, such as `sales.sqlite, q3`; printed small under the note.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Language of the words that the chart adds itself: months, "other", 万 or k.
    #[serde(default)]
    pub language: Language,
}

/// The forms of charts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChartKind {
    /// One series; horizontal for rankings and long names, upright over time.
    Bar,
    /// Two to six series side by side in each category.
    GroupedBar,
    /// One series as a line.
    Line,
    /// Several series as lines, named at their ends.
    MultiLine,
    /// Parts of a whole: one stacked bar or sorted bars with percentages. Several series: one stacked bar per category.
    Share,
    /// Points (x, y), the far ones named.
    Scatter,
    /// The distribution of the raw values of one series.
    Histogram,
}

impl ChartKind {
    /// The kind's name as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            ChartKind::Bar => "bar",
            ChartKind::GroupedBar => "grouped_bar",
            ChartKind::Line => "line",
            ChartKind::MultiLine => "multi_line",
            ChartKind::Share => "share",
            ChartKind::Scatter => "scatter",
            ChartKind::Histogram => "histogram",
        }
    }
}

/// The x axis.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct XAxis {
    /// Name of what runs along the axis; left out where the categories speak for themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Names, periods or numbers.
    #[serde(default)]
    pub scale: Scale,
    /// Unit of the numbers on a number scale.
    #[serde(default)]
    pub unit: Unit,
}

/// The axis of values.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct YAxis {
    /// Name of the measure, printed level above the plot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Unit of the values.
    #[serde(default)]
    pub unit: Unit,
}

/// What runs along x.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Scale {
    /// Names, in the order given.
    #[default]
    Category,
    /// Periods of one length; those that are missing from `categories` stay visible as gaps.
    Time {
        /// The length of one period.
        grain: Grain,
    },
    /// Numbers: the series hold points.
    Number,
}

/// The unit of a value.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Unit {
    /// Money; ISO 4217 code of the currency, such as `USD`.
    Money {
        /// ISO 4217 code.
        currency: String,
    },
    /// Whole things: orders, customers.
    Count,
    /// A fraction: 0.25 is printed as 25%.
    Percent,
    /// A bare number.
    #[default]
    Plain,
}

/// One row of values or one cloud of points.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Series {
    /// Name in legends and at line ends.
    pub name: String,
    /// The values.
    pub data: Data,
}

/// The values of a series: `[12.5, null, 8]`, or `[{"x": 1, "y": 2.5, "label": "A"}]` for points.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Data {
    /// One value per category (raw values for a histogram); null, NaN, infinities and numbers beyond 1e200 are gaps.
    Values(Vec<Option<f64>>),
    /// Free points.
    Points(Vec<Point>),
}

/// One point of a scatter chart or of a line over numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// Place along x, in the unit of the x axis.
    pub x: f64,
    /// Place along y, in the unit of the y axis.
    pub y: f64,
    /// Name, drawn if the point is extreme, highlighted or annotated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// A short remark in the chart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Annotation {
    /// The category (as spelled in `categories`) or the label of the point that it is about.
    pub at: String,
    /// A few words: "no orders for three days".
    pub text: String,
}

/// A line across the plot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReferenceLine {
    /// Where, in the unit of the values.
    pub value: f64,
    /// What it is: "Target", "Median". The value is printed behind it.
    pub label: String,
}

impl ChartSpec {
    /// A chart of `kind` with neither data nor labels; fill in the rest by `..` or by assignment.
    pub fn new(kind: ChartKind, title: impl Into<String>, language: Language) -> Self {
        ChartSpec {
            kind,
            title: title.into(),
            subtitle: None,
            x: XAxis::default(),
            y: YAxis::default(),
            categories: Vec::new(),
            series: Vec::new(),
            highlight: Vec::new(),
            annotations: Vec::new(),
            reference_lines: Vec::new(),
            note: None,
            source: None,
            language,
        }
    }
}

impl Series {
    /// A series of one value per category.
    pub fn values(name: impl Into<String>, values: impl IntoIterator<Item = Option<f64>>) -> Self {
        Series {
            name: name.into(),
            data: Data::Values(values.into_iter().collect()),
        }
    }

    /// A series of free points.
    pub fn points(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let points = points.into_iter().map(|(x, y)| Point { x, y, label: None }).collect();
        Series {
            name: name.into(),
            data: Data::Points(points),
        }
    }
}

impl Unit {
    /// Money in the currency of the ISO 4217 `code`.
    pub fn money(code: impl Into<String>) -> Self {
        Unit::Money { currency: code.into() }
    }
}
