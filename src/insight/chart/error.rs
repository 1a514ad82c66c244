//! Why a chart could not be drawn, in words that say how to mend the specification.

use thiserror::Error;

/// Every way in which drawing can fail.
#[derive(Debug, Error, PartialEq)]
pub enum ChartError {
    /// There is not a single number to draw.
    #[error("nothing to draw: {detail}; check the query or leave the chart out")]
    NoData {
        /// What is empty: the series, the categories, all values.
        detail: String,
    },
    /// A series does not have one value per category.
    #[error(
        "series `{series}` has {values} values for {categories} categories; give one value (or null) for each category"
    )]
    Misaligned {
        /// Name of the series.
        series: String,
        /// Its number of values.
        values: usize,
        /// The number of categories.
        categories: usize,
    },
    /// The data has the wrong form for this kind of chart.
    #[error("a `{kind}` chart needs {needs}, but series `{series}` has {has}")]
    WrongData {
        /// The kind of chart.
        kind: &'static str,
        /// What it needs.
        needs: &'static str,
        /// The series at fault.
        series: String,
        /// What that series has.
        has: &'static str,
    },
    /// A category on a time axis is not a period.
    #[error(
        "`{value}` is not a {grain} on a time axis; write periods as 2005-08-14, 2005-W33, 2005-08, 2005-Q3 or 2005, \
         or use the category scale"
    )]
    BadPeriod {
        /// The category as given.
        value: String,
        /// The axis's grain.
        grain: &'static str,
    },
    /// The same category twice.
    #[error("category `{value}` occurs twice; group the rows by it or make the names distinct")]
    DuplicateCategory {
        /// The category as given (or another one of the same period).
        value: String,
    },
    /// A highlight or an annotation is about something that is not in the chart.
    #[error("{what} `{name}` is not in the chart; it has {}", known.join(", "))]
    Unknown {
        /// `highlight` or `annotation at`.
        what: &'static str,
        /// The name at fault.
        name: String,
        /// A few of the names that there are.
        known: Vec<String>,
    },
    /// Shares of a whole cannot be negative.
    #[error("`{name}` is {value}, but parts of a whole cannot be negative; use a `bar` chart")]
    NegativeShare {
        /// The category.
        name: String,
        /// Its value.
        value: f64,
    },
    /// Fonts or drawing libraries failed.
    #[error("the chart could not be rendered: {0}; please report it with the chart specification")]
    Render(String),
    /// A folder of fonts cannot be used.
    #[error("no usable font in `{0}`; give a folder with .ttf, .otf or .ttc files")]
    NoFonts(String),
}
