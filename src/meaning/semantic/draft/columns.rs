//! What a column is used for, by its key, type, name and profile.

use std::collections::HashSet;

use crate::meaning::semantic::dates::{may_hold_dates, time_format};
use crate::meaning::semantic::{Aggregate, CategoryValue, Field, TimeFormat, Unit, Words, names};
use crate::warehouse::Dialect;
use crate::warehouse::catalog::{Catalog, Column, DataType, Role, Table};

/// Longer lists of values are not categories that people know by heart; the value index finds those.
const MAX_VALUES: usize = 60;

const MONEY: &[&str] = &[
    "amount", "price", "cost", "revenue", "sales", "income", "fee", "fees", "salary", "wage", "wages", "balance",
    "freight", "budget", "profit", "tax", "charge", "charges", "refund", "turnover", "earnings", "spend", "spent",
    "payment", "rate", "total", "subtotal", "value", "credit",
];
/// Adding these up means nothing: the average is what people ask for.
const AVERAGED: &[&str] = &[
    "price",
    "rate",
    "unit",
    "salary",
    "wage",
    "limit",
    "age",
    "rating",
    "score",
    "length",
    "duration",
    "height",
    "weight",
    "percent",
    "percentage",
    "ratio",
    "average",
    "temperature",
    "year",
    "discount",
    "latitude",
    "longitude",
    "grade",
    "gpa",
    "rank",
    "level",
    "humidity",
    "speed",
    "pressure",
];
const TIME_WORDS: &[&str] = &[
    "date",
    "time",
    "day",
    "timestamp",
    "datetime",
    "at",
    "on",
    "month",
    "year",
];
const FREE_TEXT: &[&str] = &[
    "description",
    "notes",
    "note",
    "comment",
    "comments",
    "remarks",
    "bio",
    "summary",
    "text",
];
const CATEGORY: &[&str] = &[
    "status",
    "type",
    "category",
    "gender",
    "sex",
    "country",
    "city",
    "state",
    "region",
    "segment",
    "channel",
    "method",
    "rating",
    "class",
    "kind",
    "level",
    "grade",
    "province",
    "district",
    "color",
    "colour",
    "size",
    "department",
];

/// The fields of a table, one for each column, under names of their own.
pub fn fields(catalog: &Catalog, table: &Table) -> Vec<Field> {
    let mut taken = HashSet::new();
    table
        .columns
        .iter()
        .map(|column| {
            let plain = names::snake(&column.name);
            let numbered = (2..).map(|n| format!("{plain}_{n}"));
            let mut candidates = std::iter::once(plain.clone()).chain(numbered);
            let name = candidates.find(|name| !taken.contains(name)).unwrap_or(plain);
            taken.insert(name.clone());
            field(catalog, table, column, name)
        })
        .collect()
}

fn field(catalog: &Catalog, table: &Table, column: &Column, name: String) -> Field {
    let format = format_of(catalog, column);
    let role = role_of(table, column, format);
    let aggregation = aggregation_of(column, role);
    Field {
        words: words(column),
        expression: quoted(&column.name),
        column: Some(column.name.clone()),
        data_type: column.data_type.clone(),
        role,
        is_time: role == Role::Time,
        aggregation,
        unit: unit_of(column, role),
        values: values_of(column, role),
        time_format: format.filter(|_| role == Role::Time),
        name,
    }
}

/// The column's name as an ANSI identifier.
fn quoted(name: &str) -> String {
    let plain =
        name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !name.starts_with(|c: char| c.is_ascii_digit());
    match plain && crate::warehouse::catalog::quote(Dialect::Sqlite, name) == name {
        true => name.to_owned(),
        false => format!("\"{}\"", name.replace('"', "\"\"")),
    }
}

fn words(column: &Column) -> Words {
    let label = names::readable(&column.name);
    let mut chinese = names::chinese(&label).into_iter();
    let label_zh = chinese.next();
    let mut synonyms = names::english(&label);
    synonyms.extend(chinese);
    synonyms.extend(column.synonyms.iter().cloned());
    Words {
        label,
        label_zh,
        description: column.comment.clone(),
        description_zh: None,
        synonyms,
    }
}

fn format_of(catalog: &Catalog, column: &Column) -> Option<TimeFormat> {
    if !may_hold_dates(&column.data_type) {
        return None;
    }
    let typed = catalog.dialect != Dialect::Sqlite;
    let format = time_format(column, typed)?;
    let said = column.data_type.is_temporal() || matches!(format, TimeFormat::IsoText | TimeFormat::Native);
    let named = has_word(column, TIME_WORDS) || column.profile.as_ref().is_some_and(|p| p.role == Role::Time);
    // A number that could be a date is one only where the name says so.
    (said || named).then_some(format)
}

fn role_of(table: &Table, column: &Column, format: Option<TimeFormat>) -> Role {
    let is_named = |key: &Vec<String>| key.iter().any(|c| c.eq_ignore_ascii_case(&column.name));
    if is_named(&table.primary_key) && format.is_none() || table.foreign_keys.iter().any(|key| is_named(&key.columns)) {
        return Role::Key;
    }
    if format.is_some() {
        return Role::Time;
    }
    let profiled = column.profile.as_ref().map(|p| p.role);
    if ends_like_a_key(column) && !matches!(profiled, Some(Role::Category | Role::Money | Role::Measure)) {
        return Role::Key;
    }
    let numeric = column.data_type.is_numeric();
    match profiled {
        Some(Role::Money | Role::Measure) if is_money(column) => Role::Money,
        Some(role) if !matches!(role, Role::Unknown | Role::Time) => role,
        _ if numeric && is_money(column) => Role::Money,
        _ if numeric && has_word(column, &["percent", "percentage", "pct"]) => Role::Percentage,
        _ if column.data_type == DataType::Boolean || is_flag(column) => Role::Flag,
        _ if numeric => Role::Measure,
        _ if has_word(column, FREE_TEXT) => Role::FreeText,
        _ if has_word(column, CATEGORY) => Role::Category,
        _ => Role::Unknown,
    }
}

fn ends_like_a_key(column: &Column) -> bool {
    names::split(&column.name)
        .last()
        .is_some_and(|word| ["id", "uuid", "guid", "key"].contains(&word.as_str()))
}

fn is_flag(column: &Column) -> bool {
    let words = names::split(&column.name);
    let first = words.first().map(String::as_str);
    matches!(first, Some("is" | "has")) || words == ["active"] || words == ["discontinued"]
}

fn has_word(column: &Column, wanted: &[&str]) -> bool {
    let readable = names::readable(&column.name);
    readable.split(' ').any(|word| wanted.contains(&word))
}

fn is_money(column: &Column) -> bool {
    if has_word(
        column,
        &[
            "percent",
            "percentage",
            "id",
            "count",
            "number",
            "quantity",
            "units",
            "tax rate",
        ],
    ) {
        return false;
    }
    let exact = matches!(column.data_type, DataType::Decimal { .. } | DataType::Float);
    match has_word(column, &["rate", "total", "value", "credit", "payment"]) {
        // These words count whole things as often as money.
        true => exact,
        false => has_word(column, MONEY),
    }
}

fn aggregation_of(column: &Column, role: Role) -> Option<Aggregate> {
    match role {
        Role::Money | Role::Measure if has_word(column, AVERAGED) => Some(Aggregate::Avg),
        Role::Money | Role::Measure => Some(Aggregate::Sum),
        Role::Percentage => Some(Aggregate::Avg),
        Role::Key | Role::Category | Role::Time | Role::Flag | Role::FreeText | Role::Unknown => None,
    }
}

fn unit_of(column: &Column, role: Role) -> Option<Unit> {
    match role {
        Role::Money => Some(Unit::Money),
        Role::Percentage => Some(Unit::Fraction).filter(|_| at_most_one(column)),
        Role::Measure if has_word(column, &["days"]) => Some(Unit::Days),
        Role::Measure => Some(Unit::Quantity),
        Role::Key | Role::Category | Role::Time | Role::Flag | Role::FreeText | Role::Unknown => None,
    }
}

/// Is the largest value seen at most 1, so that the numbers are parts of one rather than of a hundred?
pub fn at_most_one(column: &Column) -> bool {
    let max = column.profile.as_ref().and_then(|p| p.max.as_ref());
    max.and_then(|max| max.parse::<f64>().ok())
        .is_some_and(|max| max <= 1.0)
}

fn values_of(column: &Column, role: Role) -> Vec<CategoryValue> {
    let Some(profile) = column.profile.as_ref() else {
        return Vec::new();
    };
    let is_short_list = profile.distinct > 0 && profile.distinct <= MAX_VALUES as u64;
    if !matches!(role, Role::Category | Role::Flag) || !is_short_list {
        return Vec::new();
    }
    let value = |(value, _): &(String, u64)| CategoryValue {
        value: value.clone(),
        synonyms: Vec::new(),
    };
    profile.top.iter().take(MAX_VALUES).map(value).collect()
}
