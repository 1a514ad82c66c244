//! From a specification to data that can be drawn: checked, aligned, gaps made explicit.

use super::error::ChartError;
use super::period;
use super::spec::{ChartKind, ChartSpec, Data, Point, Scale, Series};
use crate::time::Grain;

/// Numbers beyond this are no measurements, and differences of such overflow: they are gaps, like infinities.
const LARGEST: f64 = 1e200;

/// A value in a place; none is a gap.
pub(super) type Value = Option<f64>;

/// Rows of values over the same categories.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Table {
    /// The categories as given, in drawing order.
    pub names: Vec<String>,
    /// Their periods on a time axis, ascending.
    pub periods: Option<Periods>,
    /// One row per series.
    pub rows: Vec<Row>,
}

/// Where categories lie on a time axis.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Periods {
    pub grain: Grain,
    /// One number per category.
    pub numbers: Vec<i64>,
}

impl Periods {
    /// The first and the last period.
    pub fn ends(&self) -> (i64, i64) {
        (
            self.numbers.first().copied().unwrap_or(0),
            self.numbers.last().copied().unwrap_or(0),
        )
    }
}

/// The values of one series.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub name: String,
    pub values: Vec<Value>,
}

/// Points of one series.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cloud {
    pub name: String,
    pub points: Vec<Point>,
}

/// What the kinds of charts draw.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Content {
    Bars(Table),
    Lines(Table),
    /// Lines over numbers, points ascending in x.
    Curves(Vec<Cloud>),
    Shares(Table),
    Points(Vec<Cloud>),
    Histogram(Vec<f64>),
}

/// Checks the specification and brings its data into the form that its kind draws.
pub(super) fn clean(spec: &ChartSpec) -> Result<Content, ChartError> {
    if spec.series.is_empty() {
        return Err(ChartError::NoData {
            detail: "the chart has no series".into(),
        });
    }
    let content = match (spec.kind, spec.x.scale) {
        (ChartKind::Histogram, _) => Content::Histogram(raw_values(spec)?),
        (ChartKind::Scatter, _) => Content::Points(clouds(spec)?),
        (ChartKind::Line | ChartKind::MultiLine, Scale::Number) => Content::Curves(curves(spec)?),
        (ChartKind::Line | ChartKind::MultiLine, Scale::Category | Scale::Time { .. }) => Content::Lines(table(spec)?),
        (ChartKind::Bar | ChartKind::GroupedBar, _) => Content::Bars(table(spec)?),
        (ChartKind::Share, _) => Content::Shares(shares(spec)?),
    };
    check_names(spec, &content)?;
    Ok(content)
}

fn finite(value: Value) -> Value {
    value.filter(|value| value.abs() <= LARGEST)
}

fn values<'a>(spec: &ChartSpec, series: &'a Series) -> Result<&'a [Value], ChartError> {
    match &series.data {
        Data::Values(values) => Ok(values),
        Data::Points(_) => Err(ChartError::WrongData {
            kind: spec.kind.name(),
            needs: "one value per category",
            series: series.name.clone(),
            has: "points (x, y)",
        }),
    }
}

fn points<'a>(spec: &ChartSpec, series: &'a Series) -> Result<&'a [Point], ChartError> {
    match &series.data {
        Data::Points(points) => Ok(points),
        Data::Values(values) if values.is_empty() => Ok(&[]),
        Data::Values(_) => Err(ChartError::WrongData {
            kind: spec.kind.name(),
            needs: "points (x, y)",
            series: series.name.clone(),
            has: "values without x",
        }),
    }
}

fn nothing() -> ChartError {
    ChartError::NoData {
        detail: "all values are null".into(),
    }
}

fn table(spec: &ChartSpec) -> Result<Table, ChartError> {
    let count = spec.categories.len();
    let mut rows = Vec::new();
    for series in &spec.series {
        let values = values(spec, series)?;
        if values.len() != count {
            let (series, values) = (series.name.clone(), values.len());
            return Err(ChartError::Misaligned {
                series,
                values,
                categories: count,
            });
        }
        rows.push(Row {
            name: series.name.clone(),
            values: values.iter().copied().map(finite).collect(),
        });
    }
    if rows.iter().all(|row| row.values.iter().all(Option::is_none)) {
        return Err(nothing());
    }
    let table = Table {
        names: spec.categories.clone(),
        periods: None,
        rows,
    };
    match spec.x.scale {
        Scale::Time { grain } => in_time(table, grain),
        Scale::Category | Scale::Number => Ok(table),
    }
}

/// The table with its categories in the order of time.
fn in_time(table: Table, grain: Grain) -> Result<Table, ChartError> {
    let mut order: Vec<(i64, usize)> = Vec::new();
    for (index, name) in table.names.iter().enumerate() {
        let number = period::parse(name, grain).ok_or_else(|| ChartError::BadPeriod {
            value: name.clone(),
            grain: period::grain_name(grain),
        })?;
        order.push((number, index));
    }
    order.sort_unstable();
    let twice = order
        .iter()
        .zip(order.iter().skip(1))
        .find(|(left, right)| left.0 == right.0);
    if let Some((_, (_, index))) = twice {
        return Err(ChartError::DuplicateCategory {
            value: table.names.get(*index).cloned().unwrap_or_default(),
        });
    }
    let pick = |values: &[Value]| order.iter().map(|(_, at)| values.get(*at).copied().flatten()).collect();
    Ok(Table {
        names: order
            .iter()
            .filter_map(|(_, at)| table.names.get(*at).cloned())
            .collect(),
        rows: table
            .rows
            .iter()
            .map(|row| Row {
                name: row.name.clone(),
                values: pick(&row.values),
            })
            .collect(),
        periods: Some(Periods {
            grain,
            numbers: order.iter().map(|(number, _)| *number).collect(),
        }),
    })
}

fn clouds(spec: &ChartSpec) -> Result<Vec<Cloud>, ChartError> {
    let mut clouds = Vec::new();
    for series in &spec.series {
        let points = points(spec, series)?
            .iter()
            .filter(|point| point.x.abs() <= LARGEST && point.y.abs() <= LARGEST);
        clouds.push(Cloud {
            name: series.name.clone(),
            points: points.cloned().collect(),
        });
    }
    if clouds.iter().all(|cloud| cloud.points.is_empty()) {
        Err(nothing())
    } else {
        Ok(clouds)
    }
}

fn curves(spec: &ChartSpec) -> Result<Vec<Cloud>, ChartError> {
    let mut clouds = clouds(spec)?;
    for cloud in &mut clouds {
        cloud.points.sort_by(|left, right| left.x.total_cmp(&right.x));
    }
    Ok(clouds)
}

fn raw_values(spec: &ChartSpec) -> Result<Vec<f64>, ChartError> {
    let mut raw = Vec::new();
    for series in &spec.series {
        raw.extend(values(spec, series)?.iter().copied().filter_map(finite));
    }
    raw.sort_by(f64::total_cmp);
    if raw.is_empty() { Err(nothing()) } else { Ok(raw) }
}

fn shares(spec: &ChartSpec) -> Result<Table, ChartError> {
    let table = table(spec)?;
    let cells = || table.rows.iter().flat_map(|row| table.names.iter().zip(&row.values));
    if let Some((name, value)) = cells().find_map(|(name, value)| Some((name, value.filter(|value| *value < 0.0)?))) {
        return Err(ChartError::NegativeShare {
            name: name.clone(),
            value,
        });
    }
    if cells().all(|(_, value)| value.unwrap_or(0.0) == 0.0) {
        return Err(ChartError::NoData {
            detail: "all values are zero, so there are no shares".into(),
        });
    }
    Ok(table)
}

/// Highlights and annotations must be about something that is there.
fn check_names(spec: &ChartSpec, content: &Content) -> Result<(), ChartError> {
    let labels: Vec<&str> = match content {
        Content::Points(clouds) | Content::Curves(clouds) => clouds
            .iter()
            .flat_map(|cloud| &cloud.points)
            .filter_map(|point| point.label.as_deref())
            .collect(),
        Content::Bars(_) | Content::Lines(_) | Content::Shares(_) | Content::Histogram(_) => Vec::new(),
    };
    let categories: Vec<&str> = spec.categories.iter().map(String::as_str).chain(labels).collect();
    let series = spec.series.iter().map(|series| series.name.as_str());
    let unknown = |what, name: &str, known: Vec<&str>| ChartError::Unknown {
        what,
        name: name.to_string(),
        known: known.into_iter().take(8).map(String::from).collect(),
    };
    let all: Vec<&str> = categories.iter().copied().chain(series).collect();
    if let Some(name) = spec.highlight.iter().find(|name| !all.contains(&name.as_str())) {
        return Err(unknown("highlight", name, all));
    }
    if let Some(annotation) = spec
        .annotations
        .iter()
        .find(|annotation| !categories.contains(&annotation.at.as_str()))
    {
        return Err(unknown("annotation at", &annotation.at, categories));
    }
    Ok(())
}
