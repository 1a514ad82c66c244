//! The kind of value that an expression gives, as far as it shows.

use sqlparser::ast::{BinaryOperator, DataType as SqlType, Expr, Function, UnaryOperator, Value};

use super::model::{Bound, Kind, Meaning};
use super::parts::arguments;

/// The kind of `expr`, or `None` where it cannot be told.
pub(in crate::warehouse::sql) fn kind_of(bound: &Bound<'_>, expr: &Expr) -> Option<Kind> {
    match expr {
        Expr::Nested(inner) | Expr::Collate { expr: inner, .. } => kind_of(bound, inner),
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) => match bound.meaning(expr)? {
            Meaning::Column(column) => bound.field(column)?.kind,
            Meaning::Alias { block, item } => {
                let item = bound.blocks.get(block)?.items.get(item)?;
                match (item.column, item.expr) {
                    (Some(column), _) => bound.field(column)?.kind,
                    // An alias may be named inside the expression that it names.
                    (None, Some(inner)) if !std::ptr::eq(inner, expr) => kind_of(bound, inner),
                    _ => None,
                }
            }
            Meaning::Literal => Some(Kind::Text),
        },
        Expr::Value(value) => literal(&value.value),
        Expr::TypedString(typed) => sql_type(&typed.data_type),
        Expr::Cast { data_type, .. } => sql_type(data_type),
        Expr::UnaryOp {
            op: UnaryOperator::Minus | UnaryOperator::Plus,
            expr,
        } => kind_of(bound, expr),
        Expr::UnaryOp {
            op: UnaryOperator::Not, ..
        } => Some(Kind::Boolean),
        Expr::BinaryOp { left, op, right } => binary(bound, left, op, right),
        Expr::Case {
            conditions,
            else_result,
            ..
        } => {
            let results = conditions.iter().map(|w| &w.result).chain(else_result.as_deref());
            common(results.filter(|e| !is_null(e)).map(|e| kind_of(bound, e)))
        }
        Expr::Function(function) => call(bound, function),
        Expr::Extract { .. } => Some(Kind::Integer),
        Expr::Substring { .. } | Expr::Trim { .. } | Expr::Overlay { .. } => Some(Kind::Text),
        Expr::Position { .. } => Some(Kind::Integer),
        Expr::Ceil { expr, .. } | Expr::Floor { expr, .. } => kind_of(bound, expr),
        Expr::IsNull(_)
        | Expr::IsNotNull(_)
        | Expr::Between { .. }
        | Expr::In { .. }
        | Expr::Exists { .. }
        | Expr::Like { .. } => Some(Kind::Boolean),
        _ => None,
    }
}

fn is_null(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(v) if matches!(v.value, Value::Null))
}

fn literal(value: &Value) -> Option<Kind> {
    match value {
        Value::Number(digits, _) if digits.contains(['.', 'e', 'E']) => Some(Kind::Decimal),
        Value::Number(..) => Some(Kind::Integer),
        Value::Boolean(_) => Some(Kind::Boolean),
        Value::SingleQuotedString(_) | Value::DoubleQuotedString(_) | Value::DollarQuotedString(_) => Some(Kind::Text),
        _ => None,
    }
}

/// The kind of a type in CAST.
pub(super) fn sql_type(data_type: &SqlType) -> Option<Kind> {
    let name = data_type.to_string().to_uppercase();
    let head = name.split(['(', ' ']).next().unwrap_or_default();
    Some(match head {
        "INT" | "INTEGER" | "BIGINT" | "SMALLINT" | "TINYINT" | "MEDIUMINT" | "INT2" | "INT4" | "INT8" | "INT64"
        | "SIGNED" | "UNSIGNED" | "INT32" | "INT16" | "UINT32" | "UINT64" => Kind::Integer,
        "REAL" | "FLOAT" | "DOUBLE" | "FLOAT4" | "FLOAT8" | "FLOAT64" | "FLOAT32" => Kind::Float,
        "DECIMAL" | "NUMERIC" | "DEC" | "BIGNUMERIC" | "NUMBER" => Kind::Decimal,
        "TEXT" | "VARCHAR" | "CHAR" | "CHARACTER" | "STRING" | "NVARCHAR" | "CLOB" => Kind::Text,
        "DATE" => Kind::Date,
        "TIME" => Kind::Time,
        "DATETIME" | "TIMESTAMP" | "TIMESTAMPTZ" | "TIMESTAMP_NTZ" | "TIMESTAMP_LTZ" | "TIMESTAMP_TZ" => Kind::DateTime,
        "BOOLEAN" | "BOOL" => Kind::Boolean,
        _ => return None,
    })
}

fn binary(bound: &Bound<'_>, left: &Expr, op: &BinaryOperator, right: &Expr) -> Option<Kind> {
    use BinaryOperator as B;
    match op {
        B::Plus | B::Minus | B::Multiply | B::Divide | B::Modulo => {
            let (l, r) = (kind_of(bound, left)?, kind_of(bound, right)?);
            match (l, r) {
                (Kind::Integer, Kind::Integer) => Some(Kind::Integer),
                (Kind::Float, k) | (k, Kind::Float) if k.is_number() => Some(Kind::Float),
                (a, b) if a.is_number() && b.is_number() => Some(Kind::Decimal),
                _ => None,
            }
        }
        B::StringConcat => Some(Kind::Text),
        B::Eq | B::NotEq | B::Lt | B::LtEq | B::Gt | B::GtEq | B::And | B::Or | B::Xor => Some(Kind::Boolean),
        B::LongArrow | B::HashLongArrow => Some(Kind::Text),
        _ => None,
    }
}

fn common(kinds: impl Iterator<Item = Option<Kind>>) -> Option<Kind> {
    let mut all = None;
    for kind in kinds {
        let kind = kind?;
        match all {
            None => all = Some(kind),
            Some(seen) if seen == kind => {}
            Some(seen) if seen.is_number() && kind.is_number() => {
                all = Some(if seen == Kind::Float || kind == Kind::Float {
                    Kind::Float
                } else {
                    Kind::Decimal
                });
            }
            Some(_) => return None,
        }
    }
    all
}

fn call(bound: &Bound<'_>, function: &Function) -> Option<Kind> {
    let name = function.name.to_string().to_lowercase();
    let arguments = arguments(function);
    let first = || kind_of(bound, arguments.first()?);
    match name.as_str() {
        "count"
        | "length"
        | "char_length"
        | "year"
        | "month"
        | "day"
        | "hour"
        | "minute"
        | "second"
        | "quarter"
        | "week"
        | "dayofweek"
        | "dayofmonth"
        | "dayofyear"
        | "weekday"
        | "instr"
        | "strpos"
        | "unixepoch"
        | "row_number"
        | "rank"
        | "dense_rank"
        | "ntile"
        | "datediff"
        | "timestampdiff"
        | "date_diff"
        | "sign"
        | "approx_count_distinct" => Some(Kind::Integer),
        "avg" | "julianday" | "sqrt" | "exp" | "ln" | "power" | "pow" | "stddev" | "variance" | "random"
        | "percent_rank" | "cume_dist" | "total" | "percentile_cont" | "median" => Some(Kind::Float),
        "sum" | "min" | "max" | "abs" | "floor" | "ceil" | "ceiling" | "lag" | "lead" | "first_value"
        | "last_value" | "nullif" | "any_value" | "mod" => first(),
        "round" | "trunc" => first().map(|k| if k == Kind::Integer { Kind::Integer } else { k }),
        "coalesce" | "ifnull" | "nvl" | "greatest" | "least" => common(arguments.iter().map(|e| kind_of(bound, e))),
        "iif" | "if" => common(arguments.iter().skip(1).map(|e| kind_of(bound, e))),
        "strftime"
        | "substr"
        | "substring"
        | "lower"
        | "upper"
        | "trim"
        | "ltrim"
        | "rtrim"
        | "replace"
        | "concat"
        | "to_char"
        | "date_format"
        | "printf"
        | "format"
        | "hex"
        | "left"
        | "right"
        | "group_concat"
        | "string_agg"
        | "monthname"
        | "dayname"
        | "typeof"
        | "json_extract_path_text" => Some(Kind::Text),
        "date" | "current_date" | "curdate" | "to_date" | "last_day" | "make_date" => Some(Kind::Date),
        "datetime" | "now" | "current_timestamp" | "date_trunc" | "to_timestamp" | "timestamp" => Some(Kind::DateTime),
        _ => None,
    }
}
