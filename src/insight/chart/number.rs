//! Numbers as charts print them: compact on axes, exact as far as readers need at bars; k and M, or 万 and 亿.

use super::spec::Unit;
use crate::text::Language;

/// Below this, labels at bars and points are printed whole (`812,345`): a ranking should show the differences.
const WHOLE_BELOW: f64 = 1e6;
/// The same in Chinese, where 万 is natural early.
const WHOLE_BELOW_ZH: f64 = 1e5;
/// Axis ticks, and values beside much larger ones, are shortened from here on.
const SHORT_TICKS_FROM: f64 = 1e4;
/// Beyond this and below its inverse, powers of ten are printed.
const POWERS_FROM: f64 = 1e16;
/// Smaller values than this are printed as powers of ten.
const POWERS_BELOW: f64 = 1e-5;
/// Minus sign as wide as the plus sign.
const MINUS: char = '\u{2212}';

/// A value that a unit is divided by, and its sign.
type Scale = (f64, &'static str);

const ENGLISH: [Scale; 4] = [(1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k")];
const CHINESE: [Scale; 3] = [(1e12, "万亿"), (1e8, "亿"), (1e4, "万")];

/// How the values of one axis are printed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Format<'a> {
    pub unit: &'a Unit,
    pub language: Language,
}

impl Format<'_> {
    /// Texts for ticks that are `step` apart: all in the same scale, with as many decimals as the step needs.
    pub fn ticks(self, ticks: &[f64], step: f64) -> Vec<String> {
        let largest = largest(ticks) * self.factor();
        let step = step.abs() * self.factor();
        if is_power(largest) {
            return ticks
                .iter()
                .map(|tick| self.finish(*tick, power(tick.abs() * self.factor(), 1)))
                .collect();
        }
        let scale = if largest < SHORT_TICKS_FROM {
            (1.0, "")
        } else {
            self.scale(largest)
        };
        let decimals = decimals_of(step / scale.0);
        let print = |tick: f64| {
            let value = tick.abs() * self.factor();
            let digits = if value == 0.0 {
                "0".into()
            } else {
                scaled(value, scale, decimals)
            };
            self.finish(tick, digits)
        };
        ticks.iter().map(|tick| print(*tick)).collect()
    }

    /// Texts for values that are compared with one another: bars of one chart, points of one line.
    ///
    /// Different values look different where one more decimal can do it.
    pub fn labels(self, values: &[f64]) -> Vec<String> {
        let plain = self.labels_with(values, 0);
        if all_told_apart(values, &plain) {
            return plain;
        }
        let finer = self.labels_with(values, 1);
        if all_told_apart(values, &finer) { finer } else { plain }
    }

    /// Text for one value by itself.
    pub fn label(self, value: f64) -> String {
        self.labels_with(&[value], 0).concat()
    }

    fn labels_with(self, values: &[f64], more: usize) -> Vec<String> {
        let whole = values.iter().all(|value| (value * self.factor()).fract() == 0.0);
        let largest = largest(values) * self.factor();
        values
            .iter()
            .map(|value| self.finish(*value, self.digits(value.abs() * self.factor(), largest, whole, more)))
            .collect()
    }

    /// Digits of a value that stands among others up to `largest`.
    fn digits(self, value: f64, largest: f64, whole: bool, more: usize) -> String {
        if value == 0.0 {
            return "0".into();
        }
        let whole_below = match self.language {
            Language::English => WHOLE_BELOW,
            Language::Chinese => WHOLE_BELOW_ZH,
        };
        // Beside $1.2M stands $800k, not $800,000.
        let whole_below = if largest >= whole_below {
            SHORT_TICKS_FROM
        } else {
            whole_below
        };
        if is_power(value) {
            power(value, 2)
        } else if value >= whole_below {
            let scale = self.scale(value);
            scaled(value, scale, significant(value / scale.0, 3) + more)
        } else if whole {
            scaled(value, (1.0, ""), 0)
        } else {
            scaled(value, (1.0, ""), self.decimals(largest) + more)
        }
    }

    /// Decimals for unscaled values up to `largest`.
    fn decimals(self, largest: f64) -> usize {
        match self.unit {
            Unit::Percent if (1.0..1000.0).contains(&largest) => 1,
            Unit::Money { .. } if (1.0..1000.0).contains(&largest) => 2,
            Unit::Money { .. } | Unit::Count | Unit::Percent | Unit::Plain => significant(largest, 3),
        }
    }

    /// The scale for values of this size.
    fn scale(self, value: f64) -> Scale {
        let scales: &[Scale] = match self.language {
            Language::English => &ENGLISH,
            Language::Chinese => &CHINESE,
        };
        // Money in millions with thousands behind it: rounding must not carry 999,999 to 1000k.
        scales
            .iter()
            .copied()
            .find(|(size, _)| value >= size * 0.9995)
            .unwrap_or((1.0, ""))
    }

    fn factor(self) -> f64 {
        match self.unit {
            Unit::Percent => 100.0,
            Unit::Money { .. } | Unit::Count | Unit::Plain => 1.0,
        }
    }

    /// Sign, currency and percent sign round the digits of `value`.
    fn finish(self, value: f64, digits: String) -> String {
        let is_zero = digits
            .chars()
            .all(|character| !character.is_ascii_digit() || character == '0');
        let sign = if value < 0.0 && !is_zero {
            MINUS.to_string()
        } else {
            String::new()
        };
        match self.unit {
            Unit::Money { currency } => format!("{sign}{}{digits}", currency_sign(currency)),
            Unit::Percent => format!("{sign}{digits}%"),
            Unit::Count | Unit::Plain => format!("{sign}{digits}"),
        }
    }
}

/// `$` for USD; a code that has no well-known sign is printed with a space.
fn currency_sign(code: &str) -> String {
    match code.to_ascii_uppercase().as_str() {
        "USD" => "$".into(),
        "EUR" => "€".into(),
        "GBP" => "£".into(),
        "CNY" | "RMB" | "JPY" => "¥".into(),
        "INR" => "₹".into(),
        "KRW" => "₩".into(),
        "" => String::new(),
        other => format!("{other} "),
    }
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most: f64, value| most.max(value.abs()))
}

fn is_power(value: f64) -> bool {
    value >= POWERS_FROM || (value > 0.0 && value < POWERS_BELOW)
}

fn power(value: f64, decimals: usize) -> String {
    if value == 0.0 {
        "0".into()
    } else {
        format!("{value:.decimals$e}").replace('-', &MINUS.to_string())
    }
}

/// Decimals that show `digits` significant digits of `value`.
fn significant(value: f64, digits: i32) -> usize {
    if value <= 0.0 {
        return 0;
    }
    let before = value.log10().floor() as i32 + 1;
    usize::try_from(digits - before).unwrap_or(0)
}

/// Decimals that a tick step of 1, 2 or 5 times a power of ten needs.
fn decimals_of(step: f64) -> usize {
    if step <= 0.0 {
        return 0;
    }
    usize::try_from(-(step.log10() + 1e-9).floor() as i32).unwrap_or(0)
}

fn scaled(value: f64, (size, sign): Scale, decimals: usize) -> String {
    // Halves go up, as readers expect; formatting alone would send them to the even neighbour.
    let unit = 10f64.powi(i32::try_from(decimals).unwrap_or(0));
    let rounded = if decimals <= 6 {
        (value / size * unit).round() / unit
    } else {
        value / size
    };
    let text = format!("{rounded:.decimals$}");
    let (whole, fraction) = text
        .split_once('.')
        .map_or((text.as_str(), ""), |(whole, fraction)| (whole, fraction));
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{}{point}{fraction}{sign}", grouped(whole))
}

/// Digits in groups of three.
fn grouped(digits: &str) -> String {
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Do different values have different texts?
fn all_told_apart(values: &[f64], texts: &[String]) -> bool {
    let mut pairs: Vec<(&String, f64)> = texts.iter().zip(values.iter().copied()).collect();
    pairs.sort_by(|left, right| left.0.cmp(right.0));
    pairs
        .iter()
        .zip(pairs.iter().skip(1))
        .all(|(left, right)| left.0 != right.0 || left.1 == right.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn usd() -> Unit {
        Unit::money("USD")
    }

    #[rstest]
    #[case::small_money_has_cents(usd(), &[4.5, 12.99], &["$4.50", "$12.99"])]
    #[case::thousands_are_whole(usd(), &[12218.48, 11853.65], &["$12,218", "$11,854"])]
    #[case::halves_go_up(usd(), &[81_234.5, 1_001.0], &["$81,235", "$1,001"])]
    #[case::millions_have_three_digits(usd(), &[1_234_567.0, 45_600_000.0], &["$1.23M", "$45.6M"])]
    #[case::each_in_its_own_scale(usd(), &[3_400_000.0, 3_400.0], &["$3.40M", "$3,400"])]
    #[case::beside_millions_thousands_are_short(usd(), &[2_400_000.0, 800_000.0], &["$2.40M", "$800k"])]
    #[case::different_values_look_different(Unit::Plain, &[1_234_567.0, 1_230_001.0], &["1.235M", "1.230M"])]
    #[case::counts_have_no_decimals(Unit::Count, &[1.0, 1500.0], &["1", "1,500"])]
    #[case::percents_come_from_fractions(Unit::Percent, &[0.123, 0.5], &["12.3%", "50.0%"])]
    #[case::whole_percents_stay_whole(Unit::Percent, &[0.25, 0.5], &["25%", "50%"])]
    #[case::minus_before_currency(usd(), &[-1500.0], &["−$1,500"])]
    #[case::other_currencies_by_code(Unit::money("CHF"), &[1500.0], &["CHF 1,500"])]
    #[case::nothing_is_zero(usd(), &[0.0], &["$0"])]
    #[case::never_minus_zero(Unit::Plain, &[-0.0, 100.4], &["0", "100"])]
    #[case::small_beside_large(Unit::Plain, &[100.4, 0.0, -0.2], &["100.4", "0", "−0.2"])]
    #[case::tiny(Unit::Plain, &[0.00123, 0.0004], &["0.00123", "0.00040"])]
    #[case::very_tiny(Unit::Plain, &[1.5e-9], &["1.50e−9"])]
    #[case::huge(Unit::Plain, &[2.5e18], &["2.50e18"])]
    #[case::just_below_a_million(Unit::Plain, &[999_999.0], &["999,999"])]
    #[case::just_below_a_billion(Unit::Plain, &[999_999_999.0], &["1.000B"])]
    fn labels_in_english(#[case] unit: Unit, #[case] values: &[f64], #[case] texts: &[&str]) {
        assert_eq!(
            Format {
                unit: &unit,
                language: Language::English
            }
            .labels(values),
            texts
        );
    }

    #[rstest]
    #[case::wan(Unit::money("CNY"), &[123_456.0, 98_704.0], &["¥12.3万", "¥9.87万"])]
    #[case::yi(Unit::Plain, &[312_000_000.0], &["3.12亿"])]
    #[case::wan_yi(Unit::Plain, &[4.56e12], &["4.56万亿"])]
    fn labels_in_chinese(#[case] unit: Unit, #[case] values: &[f64], #[case] texts: &[&str]) {
        assert_eq!(
            Format {
                unit: &unit,
                language: Language::Chinese
            }
            .labels(values),
            texts
        );
    }

    #[rstest]
    #[case::thousands(Language::English, usd(), &[0.0, 50_000.0, 100_000.0], 50_000.0, &["$0", "$50k", "$100k"])]
    #[case::decimals_by_step(Language::English, Unit::Plain, &[500_000.0, 1_000_000.0], 500_000.0, &["0.5M", "1.0M"])]
    #[case::small_ones_whole(Language::English, Unit::Plain, &[0.0, 2_000.0], 2_000.0, &["0", "2,000"])]
    #[case::fractions(Language::English, Unit::Plain, &[0.0, 0.05, 0.1], 0.05, &["0", "0.05", "0.10"])]
    #[case::percent(Language::English, Unit::Percent, &[-0.1, 0.0, 0.1], 0.1, &["−10%", "0%", "10%"])]
    #[case::wan(Language::Chinese, Unit::money("CNY"), &[0.0, 50_000.0, 100_000.0], 50_000.0, &["¥0", "¥5万", "¥10万"])]
    #[case::yi(Language::Chinese, Unit::Plain, &[50_000_000.0, 100_000_000.0], 50_000_000.0, &["0.5亿", "1.0亿"])]
    fn tick_texts(
        #[case] language: Language,
        #[case] unit: Unit,
        #[case] ticks: &[f64],
        #[case] step: f64,
        #[case] texts: &[&str],
    ) {
        assert_eq!(Format { unit: &unit, language }.ticks(ticks, step), texts);
    }
}
