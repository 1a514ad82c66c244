//! How the analyst writes numbers, names and citations.

use rust_decimal::Decimal;
use rust_decimal::prelude::FromPrimitive;

use crate::insight::chart;
use crate::meaning::semantic::{Metric, Unit, Words};
use crate::text::{self, Language};

/// Percentages carry one decimal: a second would pretend to more than a month of sales can know.
const PERCENT_PLACES: u32 = 1;

/// `value` in the unit of `metric`: `$12,218.48`, `1,204`, `3.2%`.
pub fn value(value: Option<f64>, metric: &Metric) -> String {
    let Some(value) = value else {
        return "—".to_owned();
    };
    let decimal = Decimal::from_f64(value).unwrap_or_default();
    match metric.unit {
        Unit::Money => text::money(decimal, metric.currency.as_deref()),
        Unit::Count => text::decimal(decimal, 0),
        Unit::Fraction => text::percent(value, PERCENT_PLACES),
        Unit::Quantity | Unit::Days => {
            let places = metric.decimals.map_or(u32::from(value.fract() != 0.0) * 2, u32::from);
            text::decimal(decimal, places)
        }
    }
}

/// A difference in the unit of `metric`, with its sign: `+$1,200.00`, `−35`; of a fraction in percentage points.
pub fn difference(delta: Option<f64>, metric: &Metric) -> String {
    let Some(delta) = delta else {
        return "—".to_owned();
    };
    let shown = value(Some(delta), metric);
    if delta > 0.0 { format!("+{shown}") } else { shown }
}

/// A fraction as a signed percentage: `−15.2%`.
pub fn change(fraction: Option<f64>) -> String {
    fraction.map_or_else(
        || "—".to_owned(),
        |fraction| text::signed_percent(fraction, PERCENT_PLACES),
    )
}

/// A fraction as a percentage: `49.2%`.
pub fn share(fraction: Option<f64>) -> String {
    fraction.map_or_else(|| "—".to_owned(), |fraction| text::percent(fraction, PERCENT_PLACES))
}

/// A whole number.
pub fn count(count: f64) -> String {
    text::decimal(Decimal::from_f64(count).unwrap_or_default(), 0)
}

/// A number without a unit, with one decimal.
pub fn score(score: f64) -> String {
    text::decimal(Decimal::from_f64(score).unwrap_or_default(), 1)
}

/// What people call a thing in `language`.
pub fn name(words: &Words, language: Language) -> &str {
    match language {
        Language::English => &words.label,
        Language::Chinese => words.label_zh.as_deref().unwrap_or(&words.label),
    }
}

/// The same at the start of a sentence.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect())
        .unwrap_or_default()
}

/// `[q1] [m2]`
pub fn cite(ids: &[&str]) -> String {
    ids.iter().map(|id| format!("[{id}]")).collect::<Vec<_>>().join(" ")
}

/// Names in a sentence: `A, B and C`.
pub fn list(names: &[String], language: Language) -> String {
    match (names, language) {
        ([], _) => String::new(),
        ([only], _) => only.clone(),
        ([first @ .., last], Language::English) => format!("{} and {last}", first.join(", ")),
        (names, Language::Chinese) => names.join("、"),
    }
}

/// The unit of a chart's axis.
pub fn axis_unit(metric: &Metric) -> chart::Unit {
    match metric.unit {
        Unit::Money => match &metric.currency {
            Some(currency) => chart::Unit::money(currency.clone()),
            None => chart::Unit::Plain,
        },
        Unit::Count => chart::Unit::Count,
        Unit::Fraction => chart::Unit::Percent,
        Unit::Quantity | Unit::Days => chart::Unit::Plain,
    }
}

/// A markdown table; columns after the first `texts` ones are numbers and stand to the right.
pub fn table(header: &[String], texts: usize, rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let rule: Vec<String> = (0..header.len())
        .map(|at| {
            if at < texts {
                "---".to_owned()
            } else {
                "---:".to_owned()
            }
        })
        .collect();
    let mut out = line(header) + &line(&rule);
    for row in rows {
        out.push_str(&line(row));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_puts_numbers_to_the_right() {
        let made = table(
            &["Office".into(), "Sales".into()],
            1,
            &[vec!["Tokyo".into(), "1".into()]],
        );
        assert_eq!(made, "| Office | Sales |\n| --- | ---: |\n| Tokyo | 1 |\n");
    }

    #[test]
    fn names_are_joined_as_each_language_does() {
        let names = ["A".to_owned(), "B".to_owned(), "C".to_owned()];
        assert_eq!(list(&names, Language::English), "A, B and C");
        assert_eq!(list(&names, Language::Chinese), "A、B、C");
    }
}
