//! A derived table as a frame, so that charts and further metrics can be made from it.

use polars::prelude::{DataFrame, NamedFrom, PolarsResult, Series};

use super::{Cell, Derived, Kind};

impl Derived {
    /// The rows as a frame: counts as integers, other numbers as floats, the rest as text.
    ///
    /// # Errors
    /// When the rows do not fit the columns, which [`super::MetricCall::compute`] never makes.
    pub fn to_frame(&self) -> PolarsResult<DataFrame> {
        let columns = self.columns.iter().enumerate().map(|(position, column)| {
            let cells = self.rows.iter().map(|row| row.get(position).unwrap_or(&Cell::Null));
            let name = column.name.as_str().into();
            let series = match column.kind {
                Kind::Count => {
                    let whole = cells.map(|cell| cell.as_f64().map(|count| count as i64));
                    Series::new(name, whole.collect::<Vec<Option<i64>>>())
                }
                Kind::Amount | Kind::Fraction | Kind::Score => {
                    Series::new(name, cells.map(Cell::as_f64).collect::<Vec<Option<f64>>>())
                }
                Kind::Label | Kind::Period | Kind::Flag | Kind::Reason => {
                    Series::new(name, cells.map(Cell::as_text).collect::<Vec<Option<&str>>>())
                }
            };
            series.into()
        });
        DataFrame::new(self.rows.len(), columns.collect())
    }
}
