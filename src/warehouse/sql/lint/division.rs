//! `integer-division`: a quotient whose fraction is cut off.

use sqlparser::ast::{BinaryOperator, Expr};

use super::super::guard::functions::is_aggregate;
use super::super::resolve::kind_of;
use super::super::resolve::model::Kind;
use super::super::resolve::parts::walk;
use super::{LintLevel, Look, argument_count};
use crate::warehouse::Dialect;

pub(super) fn look(look: &Look<'_, '_>) {
    // Elsewhere `/` of integers keeps its fraction.
    if !matches!(look.dialect, Dialect::Sqlite | Dialect::Postgres) {
        return;
    }
    for expr in look.expressions() {
        walk(expr, &mut |e| {
            if let Expr::Cast {
                data_type, expr: inner, ..
            } = e
                && data_type.to_string().to_uppercase().starts_with("INT")
                && matches!(inner.as_ref(), Expr::Nested(_) | Expr::BinaryOp { .. })
            {
                // A whole number is asked for.
                return false;
            }
            if let Expr::BinaryOp {
                left,
                op: BinaryOperator::Divide,
                right,
            } = e
                && kind_of(look.bound, left) == Some(Kind::Integer)
                && kind_of(look.bound, right) == Some(Kind::Integer)
            {
                divide(look, left, right, e);
            }
            true
        });
    }
}

fn divide(look: &Look<'_, '_>, left: &Expr, right: &Expr, whole: &Expr) {
    if matches!((left, right), (Expr::Value(_), Expr::Value(_))) {
        return;
    }
    let (top, bottom) = (has_aggregate(look, left), has_aggregate(look, right));
    let level = if top && bottom && !is_scaled(left) {
        LintLevel::Error
    } else {
        LintLevel::Warning
    };
    let message = format!("`{whole}` divides two integers, so its fraction is cut off");
    let real = if look.dialect == Dialect::Sqlite {
        "REAL"
    } else {
        "NUMERIC"
    };
    let bare = match left {
        Expr::Nested(inner) => inner,
        other => other,
    };
    look.note(
        "integer-division",
        level,
        message,
        Some(format!("CAST({bare} AS {real}) / {right}")),
    );
}

fn has_aggregate(look: &Look<'_, '_>, expr: &Expr) -> bool {
    let mut found = false;
    walk(expr, &mut |e| {
        if let Expr::Function(f) = e {
            found |= is_aggregate(look.dialect, &f.name.to_string(), argument_count(f));
        }
        !found
    });
    found
}

/// `100 * a / b` keeps two digits, which may be what is wanted.
fn is_scaled(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => is_scaled(inner),
        Expr::BinaryOp {
            left,
            op: BinaryOperator::Multiply,
            right,
        } => [left, right].iter().any(|e| matches!(e.as_ref(), Expr::Value(_))) || is_scaled(left),
        _ => false,
    }
}
