//! Numbers as people write them.

use rust_decimal::Decimal;
use rust_decimal::RoundingStrategy;
use rust_decimal::prelude::FromPrimitive;

use super::Language;

/// The minus sign of typeset numbers; [`super::numerals`] reads it back.
const MINUS: char = '−';

/// `12,218`.
pub fn integer(value: i64) -> String {
    grouped(&value.to_string())
}

/// `value` with exactly `places` decimals and thousands separators, rounded half away from zero: `12,218.48`.
pub fn decimal(value: Decimal, places: u32) -> String {
    let rounded = value.round_dp_with_strategy(places, RoundingStrategy::MidpointAwayFromZero);
    let width = usize::try_from(places).unwrap_or_default();
    let text = format!("{rounded:.width$}");
    grouped(if rounded.is_zero() {
        text.trim_start_matches('-')
    } else {
        &text
    })
}

/// An amount with two decimals and its currency where one is known: `$12,218.48`, `€1,000.00`, `1,000.00 CHF`.
///
/// `currency` is an ISO code or a symbol.
pub fn money(value: Decimal, currency: Option<&str>) -> String {
    let amount = decimal(value, 2);
    let Some(currency) = currency.filter(|currency| !currency.is_empty()) else {
        return amount;
    };
    let symbol = match currency.to_ascii_uppercase().as_str() {
        "USD" | "$" => "$",
        "EUR" | "€" => "€",
        "GBP" | "£" => "£",
        "JPY" | "CNY" | "RMB" | "¥" | "￥" => "¥",
        _ => return format!("{amount} {currency}"),
    };
    match amount.strip_prefix(MINUS) {
        Some(positive) => format!("{MINUS}{symbol}{positive}"),
        None => format!("{symbol}{amount}"),
    }
}

/// A fraction as a percentage: `0.4924` with one place is `49.2%`. Not a number and infinities are `n/a`.
pub fn percent(fraction: f64, places: u32) -> String {
    match Decimal::from_f64(fraction * 100.0) {
        Some(value) => format!("{}%", decimal(value, places)),
        None => "n/a".to_owned(),
    }
}

/// A change as a percentage with its sign: `−15.16%`, `+3.20%`, `0.00%`.
pub fn signed_percent(fraction: f64, places: u32) -> String {
    let text = percent(fraction, places);
    let is_nothing = !text.contains(|c: char| c.is_ascii_digit() && c != '0');
    if is_nothing || text.starts_with(MINUS) {
        text
    } else {
        format!("+{text}")
    }
}

/// A short form with at most three significant digits for axes and headlines: `1.23M`, `12.2K`, `950`; in Chinese by
/// ten thousands: `1.22万`, `3.4亿`.
pub fn compact(value: f64, language: Language) -> String {
    if !value.is_finite() {
        return "n/a".to_owned();
    }
    let steps: &[(f64, &str)] = match language {
        Language::English => &[(1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K")],
        Language::Chinese => &[(1e12, "万亿"), (1e8, "亿"), (1e4, "万")],
    };
    let size = value.abs();
    // 999,950 must become 1M and not 1,000K: a step is taken as soon as three digits round up to it.
    let step = steps.iter().find(|(unit, _)| size >= unit * 0.9995);
    let (scaled, suffix) = step.map_or((size, ""), |(unit, suffix)| (size / unit, *suffix));
    let places = match scaled {
        _ if scaled >= 99.95 => 0,
        _ if scaled >= 9.995 => 1,
        _ => 2,
    };
    let digits = format!("{scaled:.places$}");
    let digits = if digits.contains('.') {
        digits.trim_end_matches('0').trim_end_matches('.')
    } else {
        &digits
    };
    let sign = if value < 0.0 && digits != "0" { "−" } else { "" };
    format!("{sign}{}{suffix}", grouped(digits))
}

/// Puts thousands separators into a plain numeral (`-1234.5` becomes `−1,234.5`). Other text comes back unchanged.
pub fn grouped(plain: &str) -> String {
    let (negative, digits) = match plain.strip_prefix(['-', MINUS]) {
        Some(rest) => (true, rest),
        None => (false, plain),
    };
    let (whole, fraction) = match digits.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (digits, None),
    };
    if whole.is_empty() || !whole.bytes().all(|byte| byte.is_ascii_digit()) {
        return plain.to_owned();
    }
    let mut text = String::with_capacity(plain.len() + whole.len() / 3 + 3);
    if negative {
        text.push(MINUS);
    }
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    if let Some(fraction) = fraction {
        text.push('.');
        text.push_str(fraction);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("12218.48", 2, "12,218.48")]
    #[case("-12218.485", 2, "−12,218.49")]
    #[case("0.5", 0, "1")]
    #[case("-0.001", 2, "0.00")]
    #[case("1000000", 0, "1,000,000")]
    #[case("999", 1, "999.0")]
    fn decimals_are_rounded_and_grouped(#[case] value: &str, #[case] places: u32, #[case] expected: &str) {
        assert_eq!(decimal(value.parse().unwrap(), places), expected);
    }

    #[rstest]
    #[case(-0.15161, "−15.16%")]
    #[case(0.032, "+3.20%")]
    #[case(0.0, "0.00%")]
    #[case(-0.00001, "0.00%")]
    #[case(12.5, "+1,250.00%")]
    #[case(f64::NAN, "n/a")]
    fn changes_carry_their_sign(#[case] fraction: f64, #[case] expected: &str) {
        assert_eq!(signed_percent(fraction, 2), expected);
    }

    #[rstest]
    #[case("12218.48", Some("USD"), "$12,218.48")]
    #[case("-5", Some("€"), "−€5.00")]
    #[case("5", Some("CHF"), "5.00 CHF")]
    #[case("5", None, "5.00")]
    fn money_has_its_currency(#[case] value: &str, #[case] currency: Option<&str>, #[case] expected: &str) {
        assert_eq!(money(value.parse().unwrap(), currency), expected);
    }

    #[rstest]
    #[case(950.0, "950", "950")]
    #[case(12_218.48, "12.2K", "1.22万")]
    #[case(999_950.0, "1M", "100万")]
    #[case(-1_234_567.0, "−1.23M", "−123万")]
    #[case(340_000_000.0, "340M", "3.4亿")]
    #[case(0.25, "0.25", "0.25")]
    fn compact_numbers_keep_three_digits(#[case] value: f64, #[case] english: &str, #[case] chinese: &str) {
        assert_eq!(compact(value, Language::English), english);
        assert_eq!(compact(value, Language::Chinese), chinese);
    }
}
