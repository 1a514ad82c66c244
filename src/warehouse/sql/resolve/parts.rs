//! The immediate parts of an expression, in the order in which they are written.

use sqlparser::ast::{
    AccessExpr, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause, FunctionArguments, InTarget,
    JsonPathElem, OrderByExpr, Query, Subscript, WindowSpec, WindowType,
};

/// A part of an expression.
pub(in crate::warehouse::sql) enum Part<'a> {
    Expr(&'a Expr),
    /// A sub-query that gives one value.
    Scalar(&'a Query),
    /// A sub-query of IN, ANY or ALL.
    Membership(&'a Query),
    Exists(&'a Query),
}

type Visit<'f, 'a> = &'f mut dyn FnMut(Part<'a>);

/// Calls `visit` with each immediate part of `expr`.
#[allow(clippy::too_many_lines)] // one line per kind of node reads better than several partial matches
pub(in crate::warehouse::sql) fn for_each<'a>(expr: &'a Expr, visit: Visit<'_, 'a>) {
    match expr {
        Expr::Identifier(_)
        | Expr::CompoundIdentifier(_)
        | Expr::Value(_)
        | Expr::TypedString(_)
        | Expr::Wildcard(_)
        | Expr::QualifiedWildcard(..)
        | Expr::MatchAgainst { .. } => {}
        Expr::CompoundFieldAccess { root, access_chain } => {
            visit(Part::Expr(root));
            access_chain.iter().for_each(|access| match access {
                AccessExpr::Dot(_) => {}
                AccessExpr::Subscript(subscript) => each_subscript(subscript, visit),
            });
        }
        Expr::JsonAccess { value, path } => {
            visit(Part::Expr(value));
            for element in &path.path {
                match element {
                    JsonPathElem::Dot { .. } => {}
                    JsonPathElem::Bracket { key } | JsonPathElem::ColonBracket { key } => visit(Part::Expr(key)),
                }
            }
        }
        Expr::IsFalse(e)
        | Expr::IsNotFalse(e)
        | Expr::IsTrue(e)
        | Expr::IsNotTrue(e)
        | Expr::IsNull(e)
        | Expr::IsNotNull(e)
        | Expr::IsUnknown(e)
        | Expr::IsNotUnknown(e)
        | Expr::Nested(e)
        | Expr::OuterJoin(e)
        | Expr::Prior(e)
        | Expr::IsJson { expr: e, .. }
        | Expr::IsNormalized { expr: e, .. }
        | Expr::UnaryOp { expr: e, .. }
        | Expr::Cast { expr: e, .. }
        | Expr::Extract { expr: e, .. }
        | Expr::Ceil { expr: e, .. }
        | Expr::Floor { expr: e, .. }
        | Expr::Collate { expr: e, .. }
        | Expr::Prefixed { value: e, .. }
        | Expr::Named { expr: e, .. } => visit(Part::Expr(e)),
        Expr::Lambda(lambda) => visit(Part::Expr(&lambda.body)),
        Expr::Interval(interval) => visit(Part::Expr(&interval.value)),
        Expr::IsDistinctFrom(a, b)
        | Expr::IsNotDistinctFrom(a, b)
        | Expr::BinaryOp { left: a, right: b, .. }
        | Expr::SimilarTo {
            expr: a, pattern: b, ..
        }
        | Expr::RLike {
            expr: a, pattern: b, ..
        }
        | Expr::AtTimeZone {
            timestamp: a,
            time_zone: b,
        }
        | Expr::Position { expr: a, r#in: b } => {
            visit(Part::Expr(a));
            visit(Part::Expr(b));
        }
        Expr::Like {
            expr: a,
            pattern: b,
            escape_char,
            ..
        }
        | Expr::ILike {
            expr: a,
            pattern: b,
            escape_char,
            ..
        } => {
            visit(Part::Expr(a));
            visit(Part::Expr(b));
            if let Some(escape) = escape_char {
                visit(Part::Expr(escape));
            }
        }
        Expr::AnyOp { left, right, .. } | Expr::AllOp { left, right, .. } => {
            visit(Part::Expr(left));
            match right.as_ref() {
                Expr::Subquery(query) => visit(Part::Membership(query)),
                other => visit(Part::Expr(other)),
            }
        }
        Expr::In { expr, target, .. } => {
            visit(Part::Expr(expr));
            match target {
                InTarget::List(list) => list.iter().for_each(|e| visit(Part::Expr(e))),
                InTarget::Subquery(query) => visit(Part::Membership(query)),
                InTarget::Unnest(e) => visit(Part::Expr(e)),
                InTarget::Table { .. } => {}
            }
        }
        Expr::Between { expr, low, high, .. } => [expr, low, high].into_iter().for_each(|e| visit(Part::Expr(e))),
        Expr::Convert { expr, styles, .. } => {
            visit(Part::Expr(expr));
            styles.iter().for_each(|e| visit(Part::Expr(e)));
        }
        Expr::Substring {
            expr,
            substring_from,
            substring_for,
            ..
        } => {
            visit(Part::Expr(expr));
            [substring_from, substring_for]
                .into_iter()
                .flatten()
                .for_each(|e| visit(Part::Expr(e)));
        }
        Expr::Trim {
            expr,
            trim_what,
            trim_characters,
            ..
        } => {
            visit(Part::Expr(expr));
            trim_what.iter().for_each(|e| visit(Part::Expr(e)));
            trim_characters.iter().flatten().for_each(|e| visit(Part::Expr(e)));
        }
        Expr::Overlay {
            expr,
            overlay_what,
            overlay_from,
            overlay_for,
        } => {
            [expr, overlay_what, overlay_from]
                .into_iter()
                .for_each(|e| visit(Part::Expr(e)));
            overlay_for.iter().for_each(|e| visit(Part::Expr(e)));
        }
        Expr::Function(function) => each_of_function(function, visit),
        Expr::Case {
            operand,
            conditions,
            else_result,
            ..
        } => {
            operand.iter().for_each(|e| visit(Part::Expr(e)));
            for when in conditions {
                visit(Part::Expr(&when.condition));
                visit(Part::Expr(&when.result));
            }
            else_result.iter().for_each(|e| visit(Part::Expr(e)));
        }
        Expr::Exists { subquery, .. } => visit(Part::Exists(subquery)),
        Expr::Subquery(query) => visit(Part::Scalar(query)),
        Expr::GroupingSets(sets) | Expr::Cube(sets) | Expr::Rollup(sets) => {
            sets.iter().flatten().for_each(|e| visit(Part::Expr(e)));
        }
        Expr::Tuple(list) | Expr::Struct { values: list, .. } => list.iter().for_each(|e| visit(Part::Expr(e))),
        Expr::Dictionary(fields) => fields.iter().for_each(|f| visit(Part::Expr(&f.value))),
        Expr::Map(map) => map.entries.iter().for_each(|entry| {
            visit(Part::Expr(&entry.key));
            visit(Part::Expr(&entry.value));
        }),
        Expr::Array(array) => array.elem.iter().for_each(|e| visit(Part::Expr(e))),
        Expr::MemberOf(member) => {
            visit(Part::Expr(&member.value));
            visit(Part::Expr(&member.array));
        }
    }
}

fn each_subscript<'a>(subscript: &'a Subscript, visit: Visit<'_, 'a>) {
    match subscript {
        Subscript::Index { index } => visit(Part::Expr(index)),
        Subscript::Slice {
            lower_bound,
            upper_bound,
            stride,
        } => {
            [lower_bound, upper_bound, stride]
                .into_iter()
                .flatten()
                .for_each(|e| visit(Part::Expr(e)));
        }
    }
}

/// The expression of an argument, when it is one (not a star).
pub(in crate::warehouse::sql) fn argument(arg: &FunctionArg) -> Option<&Expr> {
    let (FunctionArg::Named { arg, .. } | FunctionArg::ExprNamed { arg, .. } | FunctionArg::Unnamed(arg)) = arg;
    match arg {
        FunctionArgExpr::Expr(expr) => Some(expr),
        FunctionArgExpr::QualifiedWildcard(_) | FunctionArgExpr::Wildcard | FunctionArgExpr::WildcardWithOptions(_) => {
            None
        }
    }
}

/// The plain arguments of a call.
pub(in crate::warehouse::sql) fn arguments(function: &Function) -> Vec<&Expr> {
    match &function.args {
        FunctionArguments::List(list) => list.args.iter().filter_map(argument).collect(),
        FunctionArguments::None | FunctionArguments::Subquery(_) => Vec::new(),
    }
}

fn each_argument<'a>(arguments: &'a FunctionArguments, visit: Visit<'_, 'a>) {
    match arguments {
        FunctionArguments::None => {}
        FunctionArguments::Subquery(query) => visit(Part::Scalar(query)),
        FunctionArguments::List(list) => {
            list.args.iter().filter_map(argument).for_each(|e| visit(Part::Expr(e)));
            for clause in &list.clauses {
                match clause {
                    FunctionArgumentClause::Where(e) | FunctionArgumentClause::Limit(e) => visit(Part::Expr(e)),
                    FunctionArgumentClause::OrderBy(order) => each_order(order, visit),
                    FunctionArgumentClause::Having(bound) => visit(Part::Expr(&bound.1)),
                    FunctionArgumentClause::IgnoreOrRespectNulls(_)
                    | FunctionArgumentClause::OnOverflow(_)
                    | FunctionArgumentClause::Separator(_)
                    | FunctionArgumentClause::JsonNullClause(_)
                    | FunctionArgumentClause::JsonReturningClause(_) => {}
                }
            }
        }
    }
}

fn each_order<'a>(order: &'a [OrderByExpr], visit: Visit<'_, 'a>) {
    order.iter().for_each(|o| visit(Part::Expr(&o.expr)));
}

/// The expressions of a window's PARTITION BY and ORDER BY.
pub(in crate::warehouse::sql) fn each_of_window<'a>(window: &'a WindowSpec, visit: Visit<'_, 'a>) {
    window.partition_by.iter().for_each(|e| visit(Part::Expr(e)));
    each_order(&window.order_by, visit);
}

fn each_of_function<'a>(function: &'a Function, visit: Visit<'_, 'a>) {
    each_argument(&function.parameters, visit);
    each_argument(&function.args, visit);
    each_order(&function.within_group, visit);
    function.filter.iter().for_each(|e| visit(Part::Expr(e)));
    if let Some(WindowType::WindowSpec(window)) = &function.over {
        each_of_window(window, visit);
    }
}

/// Calls `visit` with `expr` and every expression in it, sub-queries left out; it says whether to go deeper.
pub(in crate::warehouse::sql) fn walk<'a>(expr: &'a Expr, visit: &mut dyn FnMut(&'a Expr) -> bool) {
    if visit(expr) {
        for_each(expr, &mut |part| {
            if let Part::Expr(inner) = part {
                walk(inner, visit);
            }
        });
    }
}

/// The terms of a condition that must all hold: `a AND (b AND c)` gives a, b, c.
pub(in crate::warehouse::sql) fn conjuncts<'a>(expr: &'a Expr, into: &mut Vec<&'a Expr>) {
    match expr {
        Expr::Nested(inner) => conjuncts(inner, into),
        Expr::BinaryOp {
            left,
            op: sqlparser::ast::BinaryOperator::And,
            right,
        } => {
            conjuncts(left, into);
            conjuncts(right, into);
        }
        other => into.push(other),
    }
}
