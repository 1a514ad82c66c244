//! The SQL expressions inside a model: read, asked for the names in them, and rewritten.

use std::ops::ControlFlow;

use sqlparser::ast::{BinaryOperator, Expr, Ident, Value, visit_expressions, visit_expressions_mut};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::Token;

use crate::warehouse::Dialect;
use crate::warehouse::catalog::quote;

/// Functions that turn many rows into one.
const AGGREGATES: &[&str] = &[
    "SUM",
    "AVG",
    "MIN",
    "MAX",
    "COUNT",
    "TOTAL",
    "MEDIAN",
    "STDDEV",
    "STDDEV_POP",
    "STDDEV_SAMP",
    "VARIANCE",
    "VAR_POP",
    "VAR_SAMP",
    "PERCENTILE_CONT",
    "PERCENTILE_DISC",
    "APPROX_COUNT_DISTINCT",
    "GROUP_CONCAT",
    "STRING_AGG",
];

/// Reads one expression in the portable SQL of a model. The error is the parser's own words.
pub fn parse(text: &str) -> Result<Expr, String> {
    let mut parser = Parser::new(&GenericDialect {})
        .try_with_sql(text)
        .map_err(|error| error.to_string())?;
    let expression = parser.parse_expr().map_err(|error| error.to_string())?;
    match parser.peek_token().token {
        Token::EOF => Ok(expression),
        other => Err(format!("unexpected `{other}` after the expression")),
    }
}

/// The names in an expression, each as its parts (`orders.amount` → `[orders, amount]`), in order, without repeats.
pub fn names(expression: &Expr) -> Vec<Vec<String>> {
    let mut found: Vec<Vec<String>> = Vec::new();
    let _ = visit_expressions(expression, |expr| {
        if let Some(parts) = name_of(expr)
            && !found.contains(&parts)
        {
            found.push(parts);
        }
        ControlFlow::<()>::Continue(())
    });
    found
}

/// The parts of a name, where the expression is nothing but a name.
pub fn name_of(expression: &Expr) -> Option<Vec<String>> {
    match expression {
        Expr::Identifier(ident) => Some(vec![ident.value.clone()]),
        Expr::CompoundIdentifier(idents) => Some(idents.iter().map(|i| i.value.clone()).collect()),
        _ => None,
    }
}

/// Is this a call of an aggregate function?
pub fn is_aggregate(expression: &Expr) -> bool {
    let Expr::Function(function) = expression else {
        return false;
    };
    let name = function.name.to_string().to_ascii_uppercase();
    function.over.is_none() && AGGREGATES.contains(&name.as_str())
}

/// Does an aggregate occur anywhere in the expression?
pub fn has_aggregate(expression: &Expr) -> bool {
    visit_expressions(expression, |expr| match is_aggregate(expr) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    })
    .is_break()
}

/// Replaces every name by what `replace` makes of its parts; `None` leaves it as it is.
pub fn replace_names<E>(
    expression: &mut Expr,
    mut replace: impl FnMut(&[String]) -> Result<Option<Expr>, E>,
) -> Result<(), E> {
    let flow = visit_expressions_mut(expression, |expr| {
        let Some(parts) = name_of(expr) else {
            return ControlFlow::Continue(());
        };
        match replace(&parts) {
            Ok(Some(new)) => *expr = new,
            Ok(None) => {}
            Err(error) => return ControlFlow::Break(error),
        }
        ControlFlow::Continue(())
    });
    match flow {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(error),
    }
}

/// `name` as an identifier of `dialect`, quoted where it must be.
pub fn identifier(dialect: Dialect, name: &str) -> Ident {
    let quoted = quote(dialect, name);
    match quoted.chars().next() {
        Some(mark @ ('"' | '`')) => Ident::with_quote(mark, name),
        _ => Ident::new(name),
    }
}

/// Makes portable SQL mean the same on `dialect`: division keeps fractions and gives NULL for a divisor of 0, and text is
/// put together the way the engine does it.
pub fn for_dialect(expression: &mut Expr, dialect: Dialect) {
    let _ = visit_expressions_mut(expression, |expr| {
        if let Expr::BinaryOp { left, op, right } = expr {
            match op {
                BinaryOperator::Divide => safe_division(left, right, dialect),
                BinaryOperator::StringConcat if dialect == Dialect::Mysql => {
                    if let Ok(call) = parse(&format!("CONCAT({left}, {right})")) {
                        *expr = call;
                    }
                }
                _ => {}
            }
        }
        ControlFlow::<()>::Continue(())
    });
}

fn safe_division(left: &mut Expr, right: &mut Expr, dialect: Dialect) {
    let whole_numbers_stay_whole = matches!(dialect, Dialect::Sqlite | Dialect::Postgres);
    if whole_numbers_stay_whole && !is_fraction(left) && !is_fraction(right) {
        let one = Expr::value(Value::Number("1.0".into(), false));
        let kept = std::mem::replace(left, Expr::value(Value::Null));
        *left = Expr::BinaryOp {
            left: Box::new(one),
            op: BinaryOperator::Multiply,
            right: Box::new(kept),
        };
    }
    let is_number = matches!(right, Expr::Value(value) if matches!(value.value, Value::Number(..)));
    let is_guarded = matches!(right, Expr::Function(f) if f.name.to_string().eq_ignore_ascii_case("nullif"));
    if !is_number
        && !is_guarded
        && let Ok(guarded) = parse(&format!("NULLIF({right}, 0)"))
    {
        *right = guarded;
    }
}

/// Is this surely a number with digits after the point?
fn is_fraction(expression: &Expr) -> bool {
    match expression {
        Expr::Value(value) => matches!(&value.value, Value::Number(digits, _) if digits.contains('.')),
        Expr::BinaryOp { left, op, right } => {
            matches!(
                op,
                BinaryOperator::Multiply | BinaryOperator::Plus | BinaryOperator::Minus
            ) && (is_fraction(left) || is_fraction(right))
        }
        Expr::Nested(inner) => is_fraction(inner),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn names_are_found_with_their_parts() {
        let expression = parse("SUM(orders.amount) / COUNT(DISTINCT customers.\"Id\") + amount").unwrap();
        let expected: Vec<Vec<String>> = vec![
            vec!["orders".into(), "amount".into()],
            vec!["customers".into(), "Id".into()],
            vec!["amount".into()],
        ];
        assert_eq!(names(&expression), expected);
    }

    #[rstest]
    #[case("SUM(a) / 2", Dialect::Sqlite, "1.0 * SUM(a) / 2")]
    #[case("a / b", Dialect::Postgres, "1.0 * a / NULLIF(b, 0)")]
    #[case("100.0 * a / NULLIF(b, 0)", Dialect::Sqlite, "100.0 * a / NULLIF(b, 0)")]
    #[case("a / b", Dialect::Mysql, "a / NULLIF(b, 0)")]
    #[case("a || ' ' || b", Dialect::Mysql, "CONCAT(CONCAT(a, ' '), b)")]
    #[case("a || ' ' || b", Dialect::Sqlite, "a || ' ' || b")]
    fn portable_sql_means_the_same_everywhere(#[case] text: &str, #[case] dialect: Dialect, #[case] expected: &str) {
        let mut expression = parse(text).unwrap();
        for_dialect(&mut expression, dialect);
        assert_eq!(expression.to_string(), expected);
    }

    #[rstest]
    #[case("a +")]
    #[case("a b")]
    #[case("")]
    #[case("1; DROP TABLE x")]
    fn what_is_not_one_expression_is_refused(#[case] text: &str) {
        assert!(parse(text).is_err(), "{text}");
    }
}
