//! `string-number-comparison`: text compared with numbers, which each engine answers in its own surprising way.

use sqlparser::ast::{BinaryOperator, Expr, InTarget, Value};

use super::super::resolve::kind_of;
use super::super::resolve::model::Kind;
use super::super::resolve::parts::walk;
use super::{LintLevel, Look};
use crate::warehouse::Dialect;

pub(super) fn look(look: &Look<'_, '_>) {
    for expr in look.expressions_and_joins() {
        walk(expr, &mut |e| {
            match e {
                Expr::BinaryOp { left, op, right } if is_comparison(op) => {
                    compare(look, left, right, e);
                    compare(look, right, left, e);
                }
                Expr::Between { expr, low, high, .. } => {
                    compare(look, expr, low, e);
                    compare(look, expr, high, e);
                }
                Expr::In {
                    expr,
                    target: InTarget::List(list),
                    ..
                } => list.iter().for_each(|v| compare(look, expr, v, e)),
                _ => {}
            }
            true
        });
    }
}

fn is_comparison(op: &BinaryOperator) -> bool {
    use BinaryOperator as B;
    matches!(op, B::Eq | B::NotEq | B::Lt | B::LtEq | B::Gt | B::GtEq | B::Spaceship)
}

/// A literal's text, and whether it is a string.
fn literal(expr: &Expr) -> Option<(&str, bool)> {
    match expr {
        Expr::Value(v) => match &v.value {
            Value::SingleQuotedString(s) | Value::DoubleQuotedString(s) => Some((s, true)),
            Value::Number(s, _) => Some((s, false)),
            _ => None,
        },
        Expr::UnaryOp { expr, .. } => literal(expr).filter(|(_, text)| !text),
        Expr::Nested(inner) => literal(inner),
        Expr::Identifier(i) if i.quote_style == Some('"') => Some((&i.value, true)),
        _ => None,
    }
}

/// Whether SQLite converts the other side to this side's type: columns and casts have an affinity, results have none.
fn has_affinity(look: &Look<'_, '_>, expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => has_affinity(look, inner),
        Expr::Cast { .. } => true,
        other => look.bound.column(other).is_some(),
    }
}

fn compare(look: &Look<'_, '_>, side: &Expr, other: &Expr, whole: &Expr) {
    let is_name_of_string = matches!(other, Expr::Identifier(i) if i.quote_style == Some('"'));
    if is_name_of_string && look.bound.column(other).is_some() {
        return columns(look, side, other);
    }
    let Some((value, text)) = literal(other) else {
        return columns(look, side, other);
    };
    let Some(kind) = kind_of(look.bound, side) else { return };
    if kind.is_number() && text {
        number_with_string(look, side, value, whole);
    } else if kind == Kind::Text && !text {
        text_with_number(look, side, value, whole);
    }
}

fn number_with_string(look: &Look<'_, '_>, side: &Expr, value: &str, whole: &Expr) {
    let numeric = value.trim().parse::<f64>().is_ok();
    let rewrite = numeric.then(|| whole.to_string().replace(&format!("'{value}'"), value.trim()));
    let (level, message) = match (look.dialect, numeric) {
        (Dialect::Sqlite, true) if !has_affinity(look, side) => (
            LintLevel::Error,
            format!(
                "`{side}` is a number and '{value}' is text; SQLite does not convert a computed value, so they are never equal"
            ),
        ),
        (Dialect::Sqlite | Dialect::Mysql, true) => (
            LintLevel::Info,
            format!("`{side}` is a number; write {value} without quotes"),
        ),
        (_, true) => return,
        (Dialect::Sqlite, false) if date_in_number_column(look, side) => return,
        (Dialect::Mysql, false) => (
            LintLevel::Error,
            format!("`{side}` is a number and '{value}' is none; MySQL compares with 0 instead"),
        ),
        (Dialect::Sqlite, false) => (
            LintLevel::Warning,
            format!("`{side}` is a number and '{value}' is none; SQLite finds them different, and text greater"),
        ),
        (_, false) => (
            LintLevel::Error,
            format!("`{side}` is a number and '{value}' is none; the comparison fails"),
        ),
    };
    look.note("string-number-comparison", level, message, rewrite);
}

/// SQLite keeps whatever is put in: a column of declared type INTEGER whose profile shows text is text.
fn date_in_number_column(look: &Look<'_, '_>, side: &Expr) -> bool {
    let Some(profile) = look.bound.column(side).and_then(|c| look.profile(c)) else {
        return false;
    };
    profile.max.as_deref().is_some_and(|max| max.parse::<f64>().is_err())
}

fn text_with_number(look: &Look<'_, '_>, side: &Expr, value: &str, whole: &Expr) {
    let ordered = matches!(
        whole,
        Expr::Between { .. }
            | Expr::BinaryOp {
                op: BinaryOperator::Lt | BinaryOperator::LtEq | BinaryOperator::Gt | BinaryOperator::GtEq,
                ..
            }
    );
    let cast = match look.dialect {
        Dialect::Sqlite => format!("CAST({side} AS REAL)"),
        Dialect::Mysql => format!("CAST({side} AS DECIMAL(30, 10))"),
        _ => format!("CAST({side} AS NUMERIC)"),
    };
    let quoted = || whole.to_string().replacen(value, &format!("'{value}'"), 1);
    let (level, message, rewrite) = match look.dialect {
        Dialect::Sqlite if !has_affinity(look, side) => (
            LintLevel::Error,
            format!(
                "`{side}` is text and {value} a number; SQLite does not convert a computed value, so they are never equal and text is always greater"
            ),
            if ordered {
                whole.to_string().replacen(&side.to_string(), &cast, 1)
            } else {
                quoted()
            },
        ),
        Dialect::Sqlite if ordered => (
            LintLevel::Warning,
            format!(
                "`{side}` is text, so SQLite compares it with '{value}' letter by letter: '9' is greater than '10'"
            ),
            whole.to_string().replacen(&side.to_string(), &cast, 1),
        ),
        Dialect::Sqlite => (
            LintLevel::Warning,
            format!("`{side}` is text, so only the exact spelling '{value}' matches"),
            quoted(),
        ),
        Dialect::Mysql => (
            LintLevel::Warning,
            format!(
                "`{side}` is text; MySQL compares it with {value} as floating-point numbers, and reads '{value}x' as {value}"
            ),
            quoted(),
        ),
        Dialect::Postgres | Dialect::Bigquery | Dialect::Clickhouse => (
            LintLevel::Error,
            format!("`{side}` is text and {value} a number; the comparison fails"),
            quoted(),
        ),
        Dialect::Duckdb | Dialect::Snowflake | Dialect::Databricks => (
            LintLevel::Warning,
            format!("`{side}` is text; the engine casts every value to a number, and fails on one that is none"),
            quoted(),
        ),
    };
    look.note("string-number-comparison", level, message, Some(rewrite));
}

/// Two columns of different kinds.
fn columns(look: &Look<'_, '_>, side: &Expr, other: &Expr) {
    let (Some(left), Some(right)) = (kind_of(look.bound, side), kind_of(look.bound, other)) else {
        return;
    };
    if left != Kind::Text || !right.is_number() {
        return;
    }
    let level = match look.dialect {
        Dialect::Postgres | Dialect::Bigquery | Dialect::Clickhouse => LintLevel::Error,
        Dialect::Sqlite if !has_affinity(look, side) && !has_affinity(look, other) => LintLevel::Error,
        _ => LintLevel::Warning,
    };
    let message = format!("`{side}` is text and `{other}` a number; cast one of them");
    look.note("string-number-comparison", level, message, None);
}
