//! Questions in both languages against a small sales model, as of the end of its data, 12 December 2005.

mod sample;
mod structure;

use jiff::civil::date;
use rstest::rstest;

use super::*;
use crate::meaning::query::{Comparison, Dimension, Filter, Having, Measure, OrderKey, Query};
use crate::time::{TimeContext, Window};

fn time() -> TimeContext {
    let data = Window::new(date(2003, 1, 1), date(2005, 12, 13));
    TimeContext::resolve(None, date(2026, 11, 30), data)
}

fn outcome(question: &str) -> Outcome {
    read(
        question,
        &sample::model(),
        &sample::catalog(),
        &sample::values(),
        &time(),
    )
}

fn reading(question: &str) -> Reading {
    match outcome(question) {
        Outcome::Read { readings, .. } => readings.into_iter().next().unwrap(),
        Outcome::NotRead(not_read) => panic!("{question}: {} {:?}", not_read.reason, not_read.unknown),
    }
}

fn not_read(question: &str) -> NotRead {
    match outcome(question) {
        Outcome::NotRead(not_read) => not_read,
        Outcome::Read { readings, .. } => panic!("{question}: {}", shape(&readings[0].query)),
    }
}

/// A query in one line: `measures by dimensions where filters during windows having … order … limit …`.
pub(super) fn shape(query: &Query) -> String {
    let mut parts: Vec<String> = Vec::new();
    let list = |parts: Vec<String>| parts.join(", ");
    match query {
        Query::Summary(summary) => {
            parts.push(list(summary.measures.iter().map(measure).collect()));
            if !summary.dimensions.is_empty() {
                parts.push(format!(
                    "by {}",
                    list(summary.dimensions.iter().map(dimension).collect())
                ));
            }
            parts.extend(summary.filter.iter().map(|known| format!("where {}", filter(known))));
            parts.extend(
                summary
                    .window
                    .iter()
                    .map(|window| format!("during {} {}", window.start, window.end)),
            );
            if !summary.compare.is_empty() {
                let labels = summary.compare.iter().map(|named| named.label.clone()).collect();
                parts.push(format!("comparing {}", list(labels)));
            }
            parts.extend(summary.having.iter().map(|known| format!("having {}", having(known))));
            parts.extend(order(&summary.order_by));
            parts.extend(summary.limit.iter().map(|limit| format!("limit {}", limit.count)));
        }
        Query::Rows(rows) => {
            parts.push(format!("rows of {}", rows.dataset));
            if !rows.fields.is_empty() {
                parts.push(format!(
                    "show {}",
                    list(rows.fields.iter().map(|field| field.to_string()).collect())
                ));
            }
            parts.extend(rows.filter.iter().map(|known| format!("where {}", filter(known))));
            parts.extend(
                rows.window
                    .iter()
                    .map(|window| format!("during {} {}", window.start, window.end)),
            );
            parts.extend(order(&rows.order_by));
            parts.extend(rows.limit.iter().map(|limit| format!("limit {}", limit.count)));
        }
        Query::Combine(combine) => parts.push(format!(
            "{} {:?} {}",
            shape(&combine.left),
            combine.operator,
            shape(&combine.right)
        )),
    }
    parts.join(" ")
}

fn order(order: &[crate::meaning::query::OrderBy]) -> Option<String> {
    let first = order.first()?;
    let key = match &first.key {
        OrderKey::Measure(known) => measure(known),
        OrderKey::Field(field) => field.to_string(),
        OrderKey::Time => "time".into(),
        OrderKey::Period => "period".into(),
    };
    Some(format!("order {key}{}", if first.descending { " desc" } else { "" }))
}

fn measure(measure: &Measure) -> String {
    match measure {
        Measure::Metric(name) => name.clone(),
        Measure::Count(dataset) => format!("count({dataset})"),
        Measure::Aggregate { function, field } => format!("{function:?}({field})").to_lowercase(),
        Measure::Ratio { .. } => "ratio".into(),
    }
}

fn dimension(dimension: &Dimension) -> String {
    match dimension {
        Dimension::Field { field, .. } => field.to_string(),
        Dimension::Entity { dataset, .. } => dataset.clone(),
        Dimension::Time { grain, .. } => format!("{grain:?}").to_lowercase(),
    }
}

fn operator(operator: Comparison) -> &'static str {
    match operator {
        Comparison::Equal => "=",
        Comparison::NotEqual => "!=",
        Comparison::Less => "<",
        Comparison::AtMost => "<=",
        Comparison::Greater => ">",
        Comparison::AtLeast => ">=",
    }
}

fn literal(value: &crate::meaning::query::Literal) -> String {
    serde_json::to_string(value).unwrap().replace('"', "'")
}

fn filter(known: &Filter) -> String {
    let all = |filters: &[Filter], joiner: &str| filters.iter().map(filter).collect::<Vec<_>>().join(joiner);
    match known {
        Filter::And(filters) => all(filters, " and "),
        Filter::Or(filters) => format!("({})", all(filters, " or ")),
        Filter::Not(inner) => format!("not {}", filter(inner)),
        Filter::Compare {
            field,
            operator: op,
            value,
        } => format!("{field} {} {}", operator(*op), literal(value)),
        Filter::In { field, values } => {
            format!(
                "{field} in [{}]",
                values.iter().map(literal).collect::<Vec<_>>().join(", ")
            )
        }
        Filter::Between { field, low, high } => format!("{field} between {} {}", literal(low), literal(high)),
        Filter::Like { field, pattern } => format!("{field} like {pattern}"),
        Filter::During { field, window } => format!("{field} in {} {}", window.start, window.end),
        Filter::CompareAggregate {
            field,
            operator: op,
            function,
            filter: None,
            ..
        } => format!("{field} {} {function:?}", operator(*op)).to_lowercase(),
        Filter::CompareAggregate {
            field,
            operator: op,
            function,
            filter: Some(inner),
            ..
        } => format!("{field} {} {function:?}({})", operator(*op), filter(inner)),
        Filter::InQuery { field, query } => format!("{field} among {}", shape(query).trim()),
        Filter::Exists { dataset, filter: None } => format!("exists {dataset}"),
        Filter::Exists {
            dataset,
            filter: Some(inner),
        } => format!("exists {dataset}({})", filter(inner)),
        other => format!("{other:?}"),
    }
}

fn having(known: &Having) -> String {
    match known {
        Having::Compare {
            measure: known,
            operator: op,
            value,
        } => {
            format!("{} {} {}", measure(known), operator(*op), literal(value))
        }
        other => format!("{other:?}"),
    }
}

#[rstest]
#[case(
    "Which employee sold the most in August 2005?",
    "net_sales by employees during 2005-08-01 2005-09-01 order net_sales desc limit 1"
)]
#[case(
    "top 5 products by revenue in 2004",
    "net_sales by products during 2004-01-01 2005-01-01 order net_sales desc limit 5"
)]
#[case(
    "monthly sales trend 2005",
    "net_sales by month during 2005-01-01 2006-01-01 order time"
)]
#[case(
    "sales by office in Q3 2005",
    "net_sales by offices during 2005-07-01 2005-10-01 order net_sales desc"
)]
#[case(
    "compare Aug 2005 and Jul 2005 sales by office",
    "net_sales by offices comparing July 2005, August 2005 order period"
)]
#[case("how many customers are there", "count(customers)")]
#[case(
    "how many orders were cancelled in 2004",
    "count(orders) where orders.status = 'Cancelled' during 2004-01-01 2005-01-01"
)]
#[case(
    "average order value by product line",
    "average_order_value by products.product_line order average_order_value desc"
)]
#[case(
    "what share of sales came from France in 2005",
    "net_sales by customers.country during 2005-01-01 2006-01-01 order net_sales desc"
)]
#[case(
    "list the employees of the Tokyo office",
    "rows of employees where offices.city = 'Tokyo'"
)]
#[case(
    "what is the average credit limit of customers in France",
    "avg(customers.credit_limit) where customers.country = 'France'"
)]
#[case(
    "products with a list price above 500",
    "rows of products where products.list_price > 500"
)]
#[case(
    "employees hired after 2004",
    "rows of employees where employees.hire_date in 2005-01-01 9999-12-31"
)]
#[case(
    "customers from France or USA",
    "rows of customers where customers.country in ['France', 'USA']"
)]
#[case(
    "number of orders per customer",
    "count(orders) by customers order count(orders) desc"
)]
#[case("which customers never ordered", "rows of customers where not exists orders")]
#[case(
    "customers with more than 5 orders",
    "count(orders) by customers having count(orders) > 5 order count(orders) desc"
)]
#[case(
    "who sold the most in 2005",
    "net_sales by employees during 2005-01-01 2006-01-01 order net_sales desc limit 1"
)]
#[case(
    "sales by month and office in 2005",
    "net_sales by month, offices during 2005-01-01 2006-01-01 order time"
)]
#[case(
    "the most expensive product",
    "rows of products order products.list_price desc limit 1"
)]
#[case(
    "analyze Aug 2005 employee sales",
    "net_sales by employees during 2005-08-01 2005-09-01 order net_sales desc"
)]
fn english_questions_are_read(#[case] question: &str, #[case] expected: &str) {
    assert_eq!(shape(&reading(question).query), expected);
}

#[rstest]
#[case("查一下 2005 年 8 月的总销售额", "net_sales during 2005-08-01 2005-09-01")]
#[case(
    "各产品线 2005 年第三季度的销售额",
    "net_sales by products.product_line during 2005-07-01 2005-10-01 order net_sales desc"
)]
#[case(
    "2005年8月谁卖得最多？",
    "net_sales by employees during 2005-08-01 2005-09-01 order net_sales desc limit 1"
)]
#[case(
    "2005 年销售额最高的 10 个客户",
    "net_sales by customers during 2005-01-01 2006-01-01 order net_sales desc limit 10"
)]
#[case(
    "分析 2005 年 8 月的员工销售业绩，给出排名、趋势、异常员工和建议",
    "net_sales by employees during 2005-08-01 2005-09-01 order net_sales desc"
)]
#[case(
    "2004 年有多少订单被取消？",
    "count(orders) where orders.status = 'Cancelled' during 2004-01-01 2005-01-01"
)]
#[case(
    "按月统计 2005 年的订单数",
    "order_count by month during 2005-01-01 2006-01-01 order time"
)]
#[case("一共有多少客户", "count(customers)")]
#[case("列出东京分公司的员工", "rows of employees where offices.city = 'Tokyo'")]
#[case("列出蓬莱分公司的员工", "")]
fn chinese_questions_are_read(#[case] question: &str, #[case] expected: &str) {
    if expected.is_empty() {
        assert!(not_read(question).unknown.iter().any(|word| word.contains("蓬莱")));
        return;
    }
    assert_eq!(shape(&reading(question).query), expected);
}

#[rstest]
#[case("analyze Aug 2005 employee sales", &[Intent::Report])]
#[case("分析 2005 年 8 月的员工销售业绩，给出排名、趋势、异常员工和建议", &[Intent::Report, Intent::Outliers, Intent::Trend, Intent::Rank])]
#[case("查一下 2005 年 8 月的总销售额", &[Intent::Total])]
#[case("monthly sales trend 2005", &[Intent::Trend])]
#[case("how many customers are there", &[Intent::Count])]
#[case("list the employees of the Tokyo office", &[Intent::List])]
#[case("why did sales drop in August 2005", &[Intent::Why, Intent::Growth])]
fn intents_are_told_most_telling_first(#[case] question: &str, #[case] expected: &[Intent]) {
    assert_eq!(reading(question).intents, expected);
}

#[rstest]
#[case("sales in Atlantis", "Atlantis")]
#[case("sales by galaxy", "galaxy")]
#[case("how many unicorns are there", "unicorns")]
#[case("how many students are there", "students")]
#[case("亚特兰蒂斯的销售额", "亚特兰蒂斯")]
fn what_is_unknown_is_not_guessed(#[case] question: &str, #[case] word: &str) {
    let not_read = not_read(question);
    assert_eq!(not_read.unknown, [word]);
    assert_eq!(not_read.suggestions.len(), 3, "{:?}", not_read.suggestions);
    for suggestion in &not_read.suggestions {
        assert!(matches!(outcome(suggestion), Outcome::Read { .. }), "{suggestion}");
    }
}

#[test]
fn a_near_spelling_is_told() {
    let reading = reading("customers in Singapor");
    assert_eq!(
        shape(&reading.query),
        "rows of customers where customers.country = 'Singapore'"
    );
    assert_eq!(reading.notes, ["\"Singapor\" was read as country = 'Singapore'"]);
}

#[rstest]
#[case("how many shoppers are there", "count(customers)", "shoppers")]
#[case("list the prodcuts", "rows of products", "prodcuts")]
fn kin_of_names_are_understood_and_told(#[case] question: &str, #[case] expected: &str, #[case] word: &str) {
    let reading = reading(question);
    assert_eq!(shape(&reading.query), expected);
    assert!(
        reading.notes.iter().any(|note| note.contains(word)),
        "{:?}",
        reading.notes
    );
    assert!(!may_answer(OnAmbiguity::Abstain, &reading, false), "{}", reading.score);
}

#[test]
fn values_are_shown_with_the_field_they_belong_to() {
    let reading = reading("how many customers in beijing");
    let value = reading.spans.iter().find(|span| span.kind == SpanKind::Value).unwrap();
    assert_eq!(
        (value.text.as_str(), value.means.as_str()),
        ("beijing", "customer city = 'Beijing'")
    );
}

#[test]
fn empty_and_huge_questions_are_answered_at_once() {
    assert_eq!(not_read("").reason, "the question is empty");
    let huge = "sales of purple elephants in 2005 按月 ".repeat(3_000);
    let started = std::time::Instant::now();
    let _ = outcome(&huge);
    assert!(started.elapsed().as_secs() < 3, "{:?}", started.elapsed());
}

#[test]
fn readings_survive_json() {
    let outcome = outcome("compare Aug 2005 and Jul 2005 sales by office");
    let text = serde_json::to_string(&outcome).unwrap();
    assert_eq!(serde_json::from_str::<Outcome>(&text).unwrap(), outcome);
}

#[rstest]
#[case("Which employee sold the most in August 2005?", "net_sales")]
#[case("2005年8月谁卖得最多？", "net_sales")]
fn plain_words_of_trade_mean_the_main_metric(#[case] question: &str, #[case] metric: &str) {
    assert_eq!(reading(question).measures, [Measure::Metric(metric.into())]);
}

#[rstest]
#[case(
    "names of the customers in France",
    "rows of customers show customers.customer_name where customers.country = 'France'"
)]
#[case(
    "list the product names in alphabetical order",
    "rows of products show products.product_name order products.product_name"
)]
#[case(
    "orders placed by customers from France",
    "rows of orders where customers.country = 'France'"
)]
#[case(
    "what are the highest and lowest list prices",
    "max(products.list_price), min(products.list_price)"
)]
#[case(
    "the 3 customers with the highest credit limit",
    "rows of customers order customers.credit_limit desc limit 3"
)]
#[case(
    "customers with 4 or more orders",
    "count(orders) by customers having count(orders) >= 4 order count(orders) desc"
)]
#[case(
    "products whose list price is between 10 and 20",
    "rows of products where products.list_price between 10 20"
)]
#[case(
    "products with a list price above average",
    "rows of products where products.list_price > avg"
)]
#[case(
    "customers not from France",
    "rows of customers where not customers.country = 'France'"
)]
#[case(
    "which customers did not order in 2005",
    "rows of customers where not exists orders(orders.order_date in 2005-01-01 2006-01-01)"
)]
#[case(
    "Compare December 2005 with December 2004",
    "net_sales comparing December 2004, December 2005 order period"
)]
#[case("show customers with their country", "rows of customers show customers.country")]
#[case(
    "average and largest credit limit of customers in France",
    "avg(customers.credit_limit), max(customers.credit_limit) where customers.country = 'France'"
)]
#[case(
    "orders before 2003-03-01 or after 2005-06-30",
    "rows of orders where (orders.order_date in 0001-01-01 2003-03-01 or orders.order_date in 2005-07-01 9999-12-31)"
)]
fn turns_of_phrase_are_understood(#[case] question: &str, #[case] expected: &str) {
    assert_eq!(shape(&reading(question).query), expected);
}
