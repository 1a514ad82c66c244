//! Numbers as a reader sees them: thousands separated, as many decimals as carry meaning, fractions as percentages.

use rust_decimal::Decimal;
use rust_decimal::prelude::{FromPrimitive, ToPrimitive};

use super::{Cell, Kind, Number};
use crate::text;

/// Cents, and enough for ratios.
const USUAL_PLACES: u32 = 2;
/// Below one, this many significant digits are kept.
const SIGNIFICANT: i32 = 3;
/// No figure of a business report needs more.
const MOST_PLACES: u32 = 6;
/// Prices per unit have up to four.
const MOST_OF_EXACT: u32 = 4;

/// `12,218.48`, `−0.0312`, `599`: with `places` decimals, halves away from zero.
pub fn fixed(number: Number, places: u32) -> String {
    let decimal = match number {
        Number::Exact(decimal) => Some(decimal),
        Number::Float(float) => Decimal::from_f64(float),
    };
    match decimal {
        Some(decimal) => text::decimal(decimal, places),
        None if number.to_f64().is_finite() => format!("{:e}", number.to_f64()),
        None => "n/a".to_owned(),
    }
}

/// How many decimals `number` needs to be read rightly: none for whole numbers, two for money, three significant digits
/// below one.
pub fn places(number: Number) -> u32 {
    match number {
        Number::Exact(decimal) => match decimal.normalize().scale() {
            0 => 0,
            scale if decimal.abs() < Decimal::ONE => scale.clamp(USUAL_PLACES, MOST_PLACES),
            scale => scale.clamp(USUAL_PLACES, MOST_OF_EXACT),
        },
        Number::Float(float) if float == 0.0 || !float.is_finite() => 0,
        Number::Float(float) if float.abs() >= 1.0 => USUAL_PLACES,
        Number::Float(float) => {
            let leading_zeros = (-float.abs().log10()).ceil().to_i32().unwrap_or(1) - 1;
            u32::try_from(leading_zeros + SIGNIFICANT)
                .unwrap_or(USUAL_PLACES)
                .clamp(USUAL_PLACES, MOST_PLACES)
        }
    }
}

/// An amount by itself: `12,218.48`, `599`, `0.0312`.
pub fn amount(number: Number) -> String {
    fixed(number, places(number))
}

/// A fraction as a percentage: `49.2%`; below a tenth of a percent with two decimals.
pub fn percent(fraction: Number) -> String {
    let hundredfold = match fraction {
        Number::Exact(decimal) => decimal.checked_mul(Decimal::ONE_HUNDRED).map(Number::Exact),
        Number::Float(_) => None,
    };
    let hundredfold = hundredfold.unwrap_or_else(|| Number::Float(fraction.to_f64() * 100.0));
    let size = hundredfold.to_f64().abs();
    let places = if size > 0.0 && size < 0.1 { 2 } else { 1 };
    format!("{}%", fixed(hundredfold, places))
}

/// A written number with its sign always shown, for changes: `+1,200.00`, `−3.5%`, `0.0%`.
pub fn signed(written: &str) -> String {
    let is_zero = written.bytes().filter(u8::is_ascii_digit).all(|digit| digit == b'0');
    if is_zero || written.starts_with('−') {
        written.to_owned()
    } else {
        format!("+{written}")
    }
}

/// A cell as text, by its column's kind; null is an en dash.
pub fn cell(cell: &Cell, kind: Kind) -> String {
    match (cell, kind) {
        (Cell::Null, _) => "–".to_owned(),
        (Cell::Text(text), _) => text.clone(),
        (Cell::Number(number), Kind::Fraction) => percent(*number),
        (Cell::Number(number), Kind::Score) => fixed(*number, USUAL_PLACES),
        (Cell::Number(number), Kind::Count) => fixed(*number, 0),
        (Cell::Number(number), Kind::Amount | Kind::Label | Kind::Period | Kind::Flag | Kind::Reason) => {
            amount(*number)
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn exact(text: &str) -> Number {
        Number::Exact(Decimal::from_str_exact(text).unwrap())
    }

    #[rstest]
    #[case(exact("12218.48"), "12,218.48")]
    #[case(exact("12218.5"), "12,218.50")]
    #[case(exact("599"), "599")]
    #[case(exact("-1234567"), "−1,234,567")]
    #[case(exact("0.0312"), "0.0312")]
    #[case(exact("100"), "100")]
    #[case(exact("1234.5678"), "1,234.5678")]
    #[case(Number::Float(4.232_811), "4.23")]
    #[case(Number::Float(0.031_249), "0.0312")]
    #[case(Number::Float(-0.001), "−0.00100")]
    #[case(Number::Float(0.0), "0")]
    fn amounts_show_the_decimals_that_carry_meaning(#[case] number: Number, #[case] written: &str) {
        assert_eq!(amount(number), written);
    }

    #[rstest]
    #[case(Number::Float(0.492_35), "49.2%")]
    #[case(exact("-0.2149"), "−21.5%")]
    #[case(Number::Float(0.000_42), "0.04%")]
    #[case(Number::Float(12.5), "1,250.0%")]
    #[case(Number::ZERO, "0.0%")]
    #[case(Number::Float(-0.000_01), "0.00%")]
    fn fractions_are_written_as_percentages(#[case] fraction: Number, #[case] written: &str) {
        assert_eq!(percent(fraction), written);
    }

    #[test]
    fn halves_round_away_from_zero_when_exact() {
        assert_eq!(fixed(exact("0.125"), 2), "0.13");
        assert_eq!(fixed(exact("-0.125"), 2), "−0.13");
    }
}
