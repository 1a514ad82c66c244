//! `not-in-nullable`: one NULL in the list and NOT IN finds nothing.

use sqlparser::ast::{Expr, InTarget, Query, SetExpr};

use super::super::resolve::keys::conditions;
use super::super::resolve::model::{Block, ColumnRef};
use super::super::resolve::parts::walk;
use super::{LintLevel, Look};

pub(super) fn look(look: &Look<'_, '_>) {
    for expr in look.expressions_and_joins() {
        walk(expr, &mut |e| {
            if let Expr::In {
                expr,
                target: InTarget::Subquery(query),
                negated: true,
                ..
            } = e
            {
                judge(look, expr, query);
            }
            true
        });
    }
}

fn judge(look: &Look<'_, '_>, tested: &Expr, query: &Query) {
    let SetExpr::Select(select) = query.body.as_ref() else {
        return;
    };
    let Some(block) = look
        .bound
        .blocks
        .iter()
        .find(|b| std::ptr::eq(b.select, select.as_ref()))
    else {
        return;
    };
    let Some(field) = block.output.fields.first() else {
        return;
    };
    let Some(item) = block.items.first() else { return };
    let column = item.column.or_else(|| item.expr.and_then(|e| look.bound.column(e)));
    if !field.nullable || column.is_some_and(|c| is_tested(look, block, c)) {
        return;
    }
    let profile = column
        .and_then(|c| look.profile(c))
        .filter(|p| !p.sampled && p.rows > 0);
    let level = match profile {
        Some(p) if p.nulls == 0 => return,
        Some(_) => LintLevel::Error,
        None => LintLevel::Warning,
    };
    let message = format!(
        "if one `{}` of the sub-query is NULL, NOT IN is never true and no row comes back",
        field.name
    );
    let rewrite = item.expr.map(|e| {
        let mut with_test = select.clone();
        let test = Expr::IsNotNull(Box::new(e.clone()));
        with_test.selection = Some(match with_test.selection.take() {
            Some(old) => Expr::BinaryOp {
                left: Box::new(Expr::Nested(Box::new(old))),
                op: sqlparser::ast::BinaryOperator::And,
                right: Box::new(test),
            },
            None => test,
        });
        format!("{tested} NOT IN ({with_test})")
    });
    look.note("not-in-nullable", level, message, rewrite);
}

/// A condition on the column, whatever it is, drops its NULLs; `IS NULL` alone does not.
fn is_tested(look: &Look<'_, '_>, block: &Block<'_>, column: ColumnRef) -> bool {
    conditions(block).into_iter().any(|c| match c {
        Expr::IsNull(_) => false,
        Expr::IsNotNull(e) => look.bound.column(e) == Some(column),
        Expr::BinaryOp { op, left, right } if !matches!(op, sqlparser::ast::BinaryOperator::Or) => {
            [left, right].into_iter().any(|e| look.bound.column(e) == Some(column))
        }
        Expr::In { expr, .. } | Expr::Between { expr, .. } | Expr::Like { expr, .. } => {
            look.bound.column(expr) == Some(column)
        }
        _ => false,
    })
}
