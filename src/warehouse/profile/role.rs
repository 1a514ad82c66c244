//! What a column is likely used for, from its name, its type and what was measured of its values.

use super::measure::Measure;
use crate::warehouse::catalog::{Column, DataType, Role, Table, TimeFormat};

/// Texts that are longer on average are prose.
const LONGEST_LABEL: f64 = 40.0;

/// A text column with fewer distinct values has categories, whatever it is called.
const FEW_VALUES: u64 = 1_000;

const KEY_WORDS: &[&str] = &["id", "key", "uuid", "guid", "rowid", "fk", "pk"];

/// Numbers that name things and are not added up.
const CODE_WORDS: &[&str] = &[
    "code",
    "zip",
    "postal",
    "postcode",
    "phone",
    "fax",
    "number",
    "no",
    "nr",
    "num",
    "rank",
    "level",
    "grade",
    "type",
    "status",
    "category",
    "class",
    "month",
    "quarter",
    "week",
    "weekday",
    "version",
    "line",
    "sequence",
    "seq",
    "position",
    "floor",
    "latitude",
    "longitude",
    "lat",
    "lng",
    "编号",
    "代码",
    "电话",
    "邮编",
];

const MONEY_WORDS: &[&str] = &[
    "amount", "price", "cost", "revenue", "sales", "salary", "fee", "fees", "budget", "payment", "paid", "balance",
    "income", "profit", "msrp", "turnover", "spend", "freight", "tax", "usd", "eur", "wage", "expense", "credit",
    "debit", "charge", "refund", "金额", "价格", "单价", "成本", "工资", "收入", "利润",
];

/// What is measured with two digits after the point and is no money.
const SIZE_WORDS: &[&str] = &[
    "weight",
    "length",
    "height",
    "width",
    "depth",
    "size",
    "hours",
    "score",
    "rating",
    "distance",
    "area",
    "quantity",
    "qty",
    "volume",
    "speed",
    "temperature",
    "percent",
    "percentage",
    "pct",
    "ratio",
    "share",
    "gpa",
];

/// What nobody should read in a profile.
const SECRET_WORDS: &[&str] = &["password", "passwd", "pwd", "secret", "token", "salt", "密码"];

const PERCENT_WORDS: &[&str] = &[
    "percent",
    "percentage",
    "pct",
    "ratio",
    "share",
    "rate",
    "discount",
    "margin",
    "比例",
    "折扣",
    "百分比",
];

pub(super) const NAME_WORDS: &[&str] = &[
    "name", "title", "label", "city", "country", "state", "region", "brand", "company", "model", "genre", "category",
    "code", "名称", "姓名", "名", "城市", "国家", "地区", "品牌",
];

pub(super) fn role(
    table: &Table,
    column: &Column,
    words: &[String],
    measure: &Measure,
    format: Option<TimeFormat>,
) -> Role {
    if measure.non_null() == 0 {
        return Role::Unknown;
    }
    let says = |names: &[&str]| words.iter().any(|word| names.contains(&word.as_str()));
    if column.data_type.is_temporal() && measure.bytes == 0 || format.is_some() {
        return Role::Time;
    }
    let in_key = table.primary_key.contains(&column.name)
        || table.foreign_keys.iter().any(|key| key.columns.contains(&column.name))
        || words.last().is_some_and(|last| KEY_WORDS.contains(&last.as_str()));
    if in_key {
        return Role::Key;
    }
    if is_flag(column, words, measure) {
        return Role::Flag;
    }
    if measure.bytes > 0 {
        return Role::Unknown;
    }
    if measure.text_count() == 0 {
        return numeric_role(column, &says, measure);
    }
    let mean_length = measure.text_length as f64 / measure.text_count() as f64;
    let repeats = measure.distinct() <= FEW_VALUES || measure.distinct() * 2 < measure.non_null();
    if mean_length <= LONGEST_LABEL && (repeats || says(NAME_WORDS)) {
        Role::Category
    } else {
        Role::FreeText
    }
}

fn numeric_role(column: &Column, says: &dyn Fn(&[&str]) -> bool, measure: &Measure) -> Role {
    let (low, high) = range(measure);
    if says(PERCENT_WORDS) && low >= -1.0 && high <= 1.0 || says(&["percent", "percentage", "pct"]) && high <= 100.0 {
        Role::Percentage
    } else if says(MONEY_WORDS) || has_cents(column) && !says(SIZE_WORDS) {
        Role::Money
    } else if says(CODE_WORDS) {
        Role::Category
    } else {
        Role::Measure
    }
}

/// Declared with two to four digits after the point, as money is.
fn has_cents(column: &Column) -> bool {
    column.declared_type.to_lowercase().contains("money")
        || matches!(column.data_type, DataType::Decimal { scale: Some(2..=4), .. })
}

/// Does the column hold what nobody should read in a profile?
pub(super) fn is_secret(words: &[String]) -> bool {
    words.iter().any(|word| SECRET_WORDS.contains(&word.as_str()))
}

/// Two values that mean yes and no; a single value is one only where the name says that it is a flag.
fn is_flag(column: &Column, words: &[String], measure: &Measure) -> bool {
    if column.data_type == DataType::Boolean {
        return true;
    }
    let named = matches!(
        words.first().map(String::as_str),
        Some("is" | "has" | "was" | "can" | "allow" | "是否")
    ) || words
        .iter()
        .any(|word| ["flag", "active", "enabled", "deleted", "discontinued"].contains(&word.as_str()));
    let yes_no = |text: &String| {
        matches!(
            text.to_lowercase().as_str(),
            "0" | "1" | "y" | "n" | "yes" | "no" | "true" | "false" | "t" | "f" | "是" | "否"
        )
    };
    let values = measure.distinct();
    let all_bits = measure.integers.counts.keys().all(|value| matches!(value, 0 | 1));
    let all_yes_no = measure.texts.is_complete() && measure.texts.counts.keys().all(yes_no);
    (values == 2 || values == 1 && named)
        && measure.floats.counts.is_empty()
        && measure.bytes == 0
        && all_bits
        && all_yes_no
}

fn range(measure: &Measure) -> (f64, f64) {
    let integers = measure.integer_range.map(|(low, high)| (low as f64, high as f64));
    match (integers, measure.float_range) {
        (Some(a), Some(b)) => (a.0.min(b.0), a.1.max(b.1)),
        (Some(range), None) | (None, Some(range)) => range,
        (None, None) => (0.0, 0.0),
    }
}
