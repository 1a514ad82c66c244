//! `between-timestamp` and `non-sargable-date`: windows of time that lose their last day, or cannot use an index.

use jiff::ToSpan;
use jiff::civil::Date;
use sqlparser::ast::{BinaryOperator, DateTimeField, Expr, Value};

use super::super::resolve::keys::conditions;
use super::super::resolve::model::{ColumnRef, Kind};
use super::super::resolve::parts::{arguments, walk};
use super::{LintLevel, Look};
use crate::warehouse::catalog::TimeFormat;

pub(super) fn look(look: &Look<'_, '_>) {
    for expr in look.expressions_and_joins() {
        walk(expr, &mut |e| {
            between(look, e);
            true
        });
    }
    for condition in conditions(look.block) {
        wrapped(look, condition);
    }
}

/// The date of a literal that has no time: `'2005-08-31'`, `DATE '2005-08-31'`, `CAST('2005-08-31' AS DATE)`.
fn date_only(expr: &Expr) -> Option<Date> {
    match expr {
        Expr::Value(v) => match &v.value {
            Value::SingleQuotedString(s) | Value::DoubleQuotedString(s) if s.len() == 10 => s.parse().ok(),
            _ => None,
        },
        Expr::TypedString(t) => match &t.value.value {
            Value::SingleQuotedString(s) if s.len() == 10 => s.parse().ok(),
            _ => None,
        },
        Expr::Identifier(i) if i.quote_style == Some('"') && i.value.len() == 10 => i.value.parse().ok(),
        Expr::Cast { expr, .. } | Expr::Nested(expr) => date_only(expr),
        Expr::Function(f) if f.name.to_string().eq_ignore_ascii_case("date") => date_only(arguments(f).first()?),
        _ => None,
    }
}

/// How sure it is that the column's values have a time of day; `None` when they have none.
///
/// Measured values decide; a text column whose values are points in time counts as one.
fn has_times(look: &Look<'_, '_>, column: ColumnRef) -> Option<LintLevel> {
    let field = look.bound.field(column)?;
    let Some(profile) = look.profile(column) else {
        return (field.kind == Some(Kind::DateTime)).then_some(LintLevel::Warning);
    };
    let values = [&profile.min, &profile.max]
        .into_iter()
        .flatten()
        .chain(profile.top.iter().map(|(value, _)| value));
    let times: Vec<bool> = values.filter_map(|value| time_of(value)).collect();
    if times.contains(&true) {
        return Some(LintLevel::Error);
    }
    match profile.format {
        Some(TimeFormat::DateTime | TimeFormat::DateTimeT | TimeFormat::Varied) => Some(LintLevel::Warning),
        Some(_) => None,
        None if times.is_empty() && field.kind == Some(Kind::DateTime) => Some(LintLevel::Warning),
        None => None,
    }
}

/// Whether a date in text has a time other than midnight; `None` when it is no date.
fn time_of(value: &str) -> Option<bool> {
    value.get(..10)?.parse::<Date>().ok()?;
    let rest = value.get(10..).unwrap_or("").trim_start_matches(['T', ' ']);
    Some(rest.chars().any(|c| matches!(c, '1'..='9')))
}

fn quoted(date: Date) -> String {
    format!("'{date}'")
}

fn between(look: &Look<'_, '_>, expr: &Expr) {
    let (column, low, high, negated) = match expr {
        Expr::Between {
            expr,
            low,
            high,
            negated,
        } => (expr, Some(low), high, *negated),
        Expr::BinaryOp {
            left,
            op: BinaryOperator::LtEq,
            right,
        } => (left, None, right, false),
        _ => return,
    };
    let Some(target) = look.bound.column(column) else {
        return;
    };
    let Some(end) = date_only(high) else { return };
    let Some(level) = has_times(look, target) else { return };
    let Ok(next) = end.checked_add(1.day()) else { return };
    let what = if low.is_some() { "BETWEEN … AND" } else { "<=" };
    let message = format!(
        "`{column}` has a time of day, so {what} '{end}' ends at midnight and loses the rest of that day; end before the next day"
    );
    let rewrite = match (low, negated) {
        (Some(low), false) => format!("{column} >= {low} AND {column} < {}", quoted(next)),
        (Some(low), true) => format!("({column} < {low} OR {column} >= {})", quoted(next)),
        (None, _) => format!("{column} < {}", quoted(next)),
    };
    look.note("between-timestamp", level, message, Some(rewrite));
}

/// What a function keeps of a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    Year,
    Month,
    Day,
}

/// A date column inside a function that keeps year, month or day: the column, and what is kept.
fn kept<'e>(look: &Look<'_, '_>, expr: &'e Expr) -> Option<(&'e Expr, Kept)> {
    let (column, kept) = match expr {
        Expr::Nested(inner) => return self::kept(look, inner),
        Expr::Cast { expr, data_type, .. } if data_type.to_string().eq_ignore_ascii_case("date") => {
            (expr.as_ref(), Kept::Day)
        }
        Expr::Cast { expr, .. } => return self::kept(look, expr),
        Expr::Extract {
            field: DateTimeField::Year,
            expr,
            ..
        } => (expr.as_ref(), Kept::Year),
        Expr::Function(f) => {
            let list = arguments(f);
            let text = |i: usize| match list.get(i).copied() {
                Some(Expr::Value(v)) => match &v.value {
                    Value::SingleQuotedString(s) => Some(s.to_lowercase()),
                    _ => None,
                },
                Some(Expr::Identifier(ident)) => Some(ident.value.to_lowercase()),
                _ => None,
            };
            match f.name.to_string().to_lowercase().as_str() {
                "year" => (*list.first()?, Kept::Year),
                "date" | "to_date" if list.len() == 1 => (*list.first()?, Kept::Day),
                "strftime" => (*list.get(1)?, by_format(&text(0)?)?),
                "date_format" | "to_char" => (*list.first()?, by_format(&text(1)?)?),
                "date_trunc" => (*list.get(1)?, by_unit(&text(0)?)?),
                _ => return None,
            }
        }
        Expr::Substring {
            expr,
            substring_for: Some(length),
            ..
        } => {
            let Expr::Value(v) = length.as_ref() else { return None };
            let Value::Number(digits, _) = &v.value else {
                return None;
            };
            (
                expr.as_ref(),
                match digits.as_str() {
                    "4" => Kept::Year,
                    "7" => Kept::Month,
                    "10" => Kept::Day,
                    _ => return None,
                },
            )
        }
        _ => return None,
    };
    let target = look.bound.column(column)?;
    let temporal = matches!(look.bound.field(target)?.kind, Some(Kind::Date | Kind::DateTime))
        || look
            .profile(target)
            .and_then(|p| p.min.as_deref())
            .is_some_and(|m| time_of(m).is_some());
    temporal.then_some((column, kept))
}

fn by_format(format: &str) -> Option<Kept> {
    match format {
        "%y" | "yyyy" => Some(Kept::Year),
        "%y-%m" | "yyyy-mm" => Some(Kept::Month),
        "%y-%m-%d" | "yyyy-mm-dd" => Some(Kept::Day),
        _ => None,
    }
}

fn by_unit(unit: &str) -> Option<Kept> {
    match unit {
        "year" => Some(Kept::Year),
        "month" => Some(Kept::Month),
        "day" => Some(Kept::Day),
        _ => None,
    }
}

fn constant(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Value(v) => match &v.value {
            Value::SingleQuotedString(s) | Value::DoubleQuotedString(s) | Value::Number(s, _) => Some(s.clone()),
            _ => None,
        },
        Expr::TypedString(t) => t.value.value.clone().into_string(),
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => constant(inner),
        Expr::Identifier(i) if i.quote_style == Some('"') => Some(i.value.clone()),
        _ => None,
    }
}

/// The half-open window of a year, month or day that `value` spells.
fn window(kept: Kept, value: &str) -> Option<(Date, Date)> {
    let start: Date = match kept {
        Kept::Year => format!("{}-01-01", value.get(..4)?).parse().ok()?,
        Kept::Month => format!("{}-01", value.get(..7)?).parse().ok()?,
        Kept::Day => value.get(..10)?.parse().ok()?,
    };
    let end = match kept {
        Kept::Year => start.checked_add(1.year()),
        Kept::Month => start.checked_add(1.month()),
        Kept::Day => start.checked_add(1.day()),
    };
    Some((start, end.ok()?))
}

fn wrapped(look: &Look<'_, '_>, condition: &Expr) {
    let (wrap, first, last) = match condition {
        Expr::BinaryOp {
            left,
            op: BinaryOperator::Eq,
            right,
        } => match kept(look, left) {
            Some(found) => (found, right, right),
            None => match kept(look, right) {
                Some(found) => (found, left, left),
                None => return,
            },
        },
        Expr::Between {
            expr,
            low,
            high,
            negated: false,
        } => match kept(look, expr) {
            Some(found) => (found, low, high),
            None => return,
        },
        _ => return,
    };
    let (column, kept) = wrap;
    let (Some(first), Some(last)) = (constant(first), constant(last)) else {
        return;
    };
    let (Some((start, _)), Some((_, end))) = (window(kept, &first), window(kept, &last)) else {
        return;
    };
    let message = format!(
        "the function around `{column}` keeps an index from being used; compare the bare column with the window's ends"
    );
    let rewrite = format!("{column} >= {} AND {column} < {}", quoted(start), quoted(end));
    look.note("non-sargable-date", LintLevel::Info, message, Some(rewrite));
}
