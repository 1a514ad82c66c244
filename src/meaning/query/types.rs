//! The shape of a typed query, as people's tools and models write it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::meaning::semantic::{Aggregate, FieldRef};
use crate::time::{Grain, Window};

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "form", rename_all = "snake_case")]
pub enum Query {
    /// Measures, grouped.
    Summary(Summary),
    /// Single rows of one dataset.
    Rows(Rows),
    /// Two queries with the same columns, put together.
    Combine(Combine),
}

/// Measures for each group: "net sales by employee in August, highest first".
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// What is measured, in the order of the columns. Empty only where `dimensions` alone are listed.
    #[serde(default)]
    pub measures: Vec<Measure>,
    /// What it is grouped by; empty for one row in all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dimensions: Vec<Dimension>,
    /// Which rows count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Filter>,
    /// When rows must have happened. Uses each measure's own time field unless `time_field` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Window>,
    /// Several windows side by side: each group gets one row for each, told apart by a first column `period`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub compare: Vec<NamedWindow>,
    /// The time field that `window`, `compare` and time dimensions use, in place of each measure's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_field: Option<FieldRef>,
    /// Which groups are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub having: Option<Having>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order_by: Vec<OrderBy>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_per_group: Option<TopPerGroup>,
    /// What is computed of the measures once they are grouped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub derive: Option<Derive>,
    /// Keep rows that belong to no group (orders without an employee) as a group shown as NULL.
    #[serde(default)]
    pub include_unassigned: bool,
    /// Names of relationships to go through where there are several ways (`rental_staff`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub via: Vec<String>,
}

/// Shares and changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Derive {
    /// Beside each measure its share of the sum over all groups, as a fraction.
    Share {
        /// Only the share of these values of the one dimension, as one number.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        only: Vec<Literal>,
    },
    /// Each measure in the two windows of `compare` side by side, with the change and the rate of change.
    Change,
}

/// Rows of one dataset: "the ten largest orders of employee 7 in August".
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rows {
    /// The dataset whose rows are listed.
    pub dataset: String,
    /// What is shown of each; may live on datasets that the rows point at. Empty for key, label, time and measures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<FieldRef>,
    /// Measures computed for each row from the rows that point at it ("orders with their item count").
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measures: Vec<Measure>,
    /// Show each combination of values once.
    #[serde(default)]
    pub distinct: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Filter>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Window>,
    /// In place of the dataset's own time field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_field: Option<FieldRef>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order_by: Vec<OrderBy>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// Names of relationships to go through where there are several ways.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub via: Vec<String>,
}

/// Two queries put together row by row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Combine {
    pub operator: SetOperator,
    pub left: Box<Query>,
    pub right: Box<Query>,
}

/// How two sets of rows are put together; all three drop duplicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SetOperator {
    Union,
    Intersect,
    Except,
}

/// What is measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// A metric of the model, by name.
    Metric(String),
    /// Number of rows of a dataset.
    Count(String),
    /// An aggregate over a field.
    Aggregate { function: Aggregate, field: FieldRef },
    /// One measure divided by another; NULL where the second is 0.
    Ratio {
        numerator: Box<Measure>,
        denominator: Box<Measure>,
    },
}

/// What rows are grouped by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    /// A field's values.
    Field {
        field: FieldRef,
        /// Name of the relationship to go through, where there are several ways.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        via: Option<String>,
    },
    /// Single things of a dataset: grouped by their key, shown with key and label.
    Entity {
        dataset: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        via: Option<String>,
        /// Fields of the dataset that are shown in place of key and label.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        show: Vec<FieldRef>,
    },
    /// Periods of time.
    Time {
        grain: Grain,
        /// In place of each measure's own time field.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        field: Option<FieldRef>,
    },
}

/// A condition on rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Filter {
    And(Vec<Filter>),
    Or(Vec<Filter>),
    Not(Box<Filter>),
    Compare {
        field: FieldRef,
        operator: Comparison,
        value: Literal,
    },
    /// Two fields compared with each other.
    CompareFields {
        left: FieldRef,
        operator: Comparison,
        right: FieldRef,
    },
    In {
        field: FieldRef,
        values: Vec<Literal>,
    },
    /// Both ends belong to it.
    Between {
        field: FieldRef,
        low: Literal,
        high: Literal,
    },
    /// `%` stands for any text and `_` for any character; upper and lower case are the same.
    Like {
        field: FieldRef,
        pattern: String,
    },
    IsNull {
        field: FieldRef,
    },
    /// A date field within a half-open window.
    During {
        field: FieldRef,
        window: Window,
    },
    /// The field's value is among the first column of a query.
    InQuery {
        field: FieldRef,
        query: Box<Query>,
    },
    /// The field's value compared with an aggregate over all rows ("above the average price").
    CompareAggregate {
        field: FieldRef,
        operator: Comparison,
        function: Aggregate,
        /// What is aggregated; the field itself when not given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        of: Option<FieldRef>,
        /// Which rows the aggregate is taken over.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        filter: Option<Box<Filter>>,
    },
    /// Rows of `dataset` that point at this row exist, and `filter` holds for one of them.
    Exists {
        dataset: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        filter: Option<Box<Filter>>,
    },
}

/// A condition on groups.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Having {
    And(Vec<Having>),
    Or(Vec<Having>),
    Not(Box<Having>),
    Compare {
        measure: Measure,
        operator: Comparison,
        value: Literal,
    },
    Between {
        measure: Measure,
        low: Literal,
        high: Literal,
    },
}

/// How two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Comparison {
    #[serde(rename = "=")]
    Equal,
    #[serde(rename = "!=")]
    NotEqual,
    #[serde(rename = "<")]
    Less,
    #[serde(rename = "<=")]
    AtMost,
    #[serde(rename = ">")]
    Greater,
    #[serde(rename = ">=")]
    AtLeast,
}

/// A value written in a query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Literal {
    Boolean(bool),
    Integer(i64),
    Number(f64),
    /// Text, or a date in ISO 8601.
    Text(String),
}

/// A half-open window with the name that its rows get.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NamedWindow {
    /// Such as `2005-08`.
    pub label: String,
    pub window: Window,
}

/// What rows are sorted by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OrderBy {
    pub key: OrderKey,
    #[serde(default)]
    pub descending: bool,
}

/// A thing to sort by; need not be shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OrderKey {
    Measure(Measure),
    Field(FieldRef),
    /// The time dimension.
    Time,
    /// The compared window, in the order given.
    Period,
}

/// How many rows are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    pub count: u64,
    /// Keep rows that are as good as the last one kept.
    #[serde(default)]
    pub with_ties: bool,
}

/// The best few within each group: "the top three products of each category".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TopPerGroup {
    /// How many are kept in each group, by the first entry of `order_by`.
    pub count: u64,
    /// How many of the first dimensions make the group.
    pub groups: usize,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_query_is_read_as_models_write_it() {
        let written = json!({
            "form": "summary",
            "measures": [{"metric": "sales"}, {"aggregate": {"function": "count_distinct", "field": "payment.customer_id"}}],
            "dimensions": [{"entity": {"dataset": "staff"}}, {"time": {"grain": "month"}}],
            "filter": {"and": [
                {"compare": {"field": "payment.amount", "operator": ">=", "value": 1}},
                {"not": {"in": {"field": "customer.first_name", "values": ["MARY"]}}}
            ]},
            "window": {"start": "2005-08-01", "end": "2005-09-01"},
            "order_by": [{"key": {"measure": {"metric": "sales"}}, "descending": true}],
            "limit": {"count": 10}
        });
        let query: Query = serde_json::from_value(written.clone()).unwrap();
        let Query::Summary(summary) = &query else {
            panic!("{query:?}")
        };
        assert_eq!(summary.measures[0], Measure::Metric("sales".into()));
        assert_eq!(summary.window.unwrap().end, jiff::civil::date(2005, 9, 1));
        let again: Query = serde_json::from_value(serde_json::to_value(&query).unwrap()).unwrap();
        assert_eq!(again, query);
    }

    #[test]
    fn a_misspelled_key_is_refused_by_name() {
        let written = json!({"form": "rows", "dataset": "orders", "sort_by": []});
        let error = serde_json::from_value::<Query>(written).unwrap_err().to_string();
        assert!(error.contains("unknown field `sort_by`"), "{error}");
    }

    #[test]
    fn the_schema_names_all_three_forms() {
        let schema = serde_json::to_string(&schemars::schema_for!(Query)).unwrap();
        for form in ["summary", "rows", "combine"] {
            assert!(schema.contains(&format!("\"const\":\"{form}\"")), "{form}");
        }
    }
}
