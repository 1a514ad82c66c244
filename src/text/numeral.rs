//! Numbers in prose: read back so that each can be bound to the cell or formula that it equals.

use rust_decimal::Decimal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One number found in prose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Numeral {
    /// Where it stands in the text, in bytes, with its sign, currency, magnitude and percent sign.
    pub start: usize,
    pub end: usize,
    /// As meant, magnitude applied: `1.2 million` is 1200000, `3.4万` is 34000; `15.16 %` stays 15.16 (see `percent`).
    #[schemars(with = "String")]
    pub value: Decimal,
    /// The value of one unit of the last digit written: 0.01 for `12,218.48`, 100000 for `1.2 million`. What it stands
    /// for lies within half of it.
    #[schemars(with = "String")]
    pub step: Decimal,
    /// It is a percentage (or percentage points).
    pub percent: bool,
    /// The currency as written, where one is.
    pub currency: Option<String>,
    /// Four plain digits from 1900 to 2099: may be a year.
    pub maybe_year: bool,
}

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];
const MAGNITUDES: [(&str, u32); 20] = [
    ("万亿", 12),
    ("百万", 6),
    ("千万", 7),
    ("亿", 8),
    ("万", 4),
    ("千", 3),
    ("thousand", 3),
    ("million", 6),
    ("billion", 9),
    ("trillion", 12),
    ("mln", 6),
    ("bn", 9),
    ("tn", 12),
    ("mn", 6),
    ("k", 3),
    ("K", 3),
    ("m", 6),
    ("M", 6),
    ("b", 9),
    ("B", 9),
];
const SYMBOLS: [char; 6] = ['$', '€', '£', '¥', '￥', '₹'];
const CURRENCY_WORDS: [&str; 12] = [
    "usd", "eur", "gbp", "cny", "rmb", "jpy", "chf", "dollars", "euros", "元", "美元", "欧元",
];

/// All numbers of `text`, in order. Dates, times, quarters, ordinals and digits inside names (`q1`, `S10_1678`,
/// `2nd`) are not numbers; a lone year is one, marked `maybe_year`.
pub fn numerals(text: &str) -> Vec<Numeral> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut after_month_day: Option<usize> = None;
    while let Some(offset) = text.get(at..).and_then(|rest| rest.find(|c: char| c.is_ascii_digit())) {
        let start = at + offset;
        let run = Run::scan(text, start);
        if run.is_inside_a_name(text) {
            at = end_of_name(text, run.end);
            continue;
        }
        if let Some(end) = run.date_end(text, after_month_day) {
            after_month_day = (run.digits < 3).then_some(end);
            at = end;
            continue;
        }
        if let Some(numeral) = run.numeral(text) {
            at = numeral.end;
            found.push(numeral);
        } else {
            at = end_of_name(text, run.end);
        }
    }
    found
}

/// `text` as one number, whole: `12,218.48`, `−15.16 %`, `1.2 million`. `None` when there is anything else in it.
pub fn parse_numeral(text: &str) -> Option<Numeral> {
    let trimmed = text.trim();
    let numeral = numerals(trimmed).into_iter().next()?;
    (numeral.start == 0 && numeral.end == trimmed.len()).then_some(numeral)
}

/// A run of digits with grouping commas and a decimal point.
struct Run {
    start: usize,
    end: usize,
    /// Digits before the point.
    digits: usize,
    grouped: bool,
    decimals: usize,
    plain: String,
}

impl Run {
    fn scan(text: &str, start: usize) -> Self {
        let bytes = text.as_bytes();
        let digit_at = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        let mut run = Run {
            start,
            end: start,
            digits: 0,
            grouped: false,
            decimals: 0,
            plain: String::new(),
        };
        while digit_at(run.end) {
            run.take(text, &mut |run| run.digits += 1);
            let is_group = bytes.get(run.end) == Some(&b',')
                && (1..=3).all(|ahead| digit_at(run.end + ahead))
                && !digit_at(run.end + 4)
                && (run.grouped || run.digits <= 3);
            if is_group {
                run.grouped = true;
                run.end += 1;
            }
        }
        if bytes.get(run.end) == Some(&b'.') && digit_at(run.end + 1) {
            run.plain.push('.');
            run.end += 1;
            while digit_at(run.end) {
                run.take(text, &mut |run| run.decimals += 1);
            }
        }
        run
    }

    fn take(&mut self, text: &str, count: &mut dyn FnMut(&mut Self)) {
        if let Some(digit) = text.get(self.end..self.end + 1) {
            self.plain.push_str(digit);
        }
        self.end += 1;
        count(self);
    }

    fn is_inside_a_name(&self, text: &str) -> bool {
        let before = text.get(..self.start).unwrap_or_default();
        let mut back = before.chars().rev();
        match back.next() {
            Some('#' | '_' | '.') => true,
            Some(c) if c.is_ascii_alphabetic() => !ends_with_currency(before),
            Some('-') => back.next().is_some_and(|c| c.is_ascii_alphabetic()),
            _ => false,
        }
    }

    /// Where the date or time ends that this run is part of.
    fn date_end(&self, text: &str, after_month_day: Option<usize>) -> Option<usize> {
        if self.decimals > 0 || self.grouped {
            return None;
        }
        let rest = text.get(self.end..).unwrap_or_default();
        let before = text.get(..self.start).unwrap_or_default();
        if let Some(length) = numeric_date(&self.plain, rest) {
            return Some(self.end + length);
        }
        let next = rest.trim_start();
        let is_year = self.digits == 4;
        let chinese = next.starts_with('月')
            || (next.starts_with('日') || next.starts_with('号')) && self.digits <= 2
            || next.starts_with('年') && is_year
            || next.starts_with("季度") && before.trim_end().ends_with('第');
        let word_before = before
            .trim_end()
            .rsplit(|c: char| !c.is_ascii_alphanumeric())
            .next()
            .unwrap_or_default();
        let word_after = next
            .split(|c: char| !c.is_ascii_alphanumeric())
            .next()
            .unwrap_or_default();
        let beside_a_space = before.ends_with(' ');
        let english = self.digits <= 4
            && ((beside_a_space && is_month(word_before) && (is_year || self.digits <= 2))
                || (self.digits <= 2 && is_month(word_after))
                || (is_year && (is_part_of_year(word_before) || is_part_of_year(word_after))));
        let continues = is_year
            && after_month_day.is_some_and(|end| {
                text.get(end..self.start)
                    .is_some_and(|between| matches!(between.trim(), "" | ","))
            });
        (chinese || english || continues).then_some(self.end)
    }

    fn numeral(&self, text: &str) -> Option<Numeral> {
        let mut value: Decimal = self.plain.parse().ok()?;
        let mut step = Decimal::new(1, u32::try_from(self.decimals).ok().filter(|places| *places <= 28)?);
        let mut end = self.end;
        let magnitude = magnitude(text.get(end..).unwrap_or_default());
        if let Some((power, length)) = magnitude {
            let scale = Decimal::from(10_i64.checked_pow(power)?);
            value = value.checked_mul(scale)?;
            step = step.checked_mul(scale)?;
            end += length;
        } else if text
            .get(end..)?
            .starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        {
            return None;
        }
        let percent_length = percent_mark(text.get(end..).unwrap_or_default());
        end += percent_length;
        let (mut start, mut currency) = currency_before(text, self.start);
        if currency.is_none()
            && let Some((word, length)) = currency_after(text.get(end..).unwrap_or_default())
        {
            currency = Some(word);
            end += length;
        }
        let negative = sign_before(text, &mut start);
        if negative {
            value.set_sign_negative(true);
        }
        let is_plain = magnitude.is_none() && percent_length == 0 && currency.is_none() && !self.grouped;
        let maybe_year = is_plain
            && self.digits == 4
            && self.decimals == 0
            && (Decimal::from(1900)..=Decimal::from(2099)).contains(&value);
        Some(Numeral {
            start,
            end,
            value,
            step,
            percent: percent_length > 0,
            currency,
            maybe_year,
        })
    }
}

/// How far a date goes on after its first run of digits: `2005` + `-08-15`, `8` + `/15/2005`, `22` + `:01:10`.
fn numeric_date(first: &str, rest: &str) -> Option<usize> {
    let separator = rest.chars().next().filter(|c| matches!(c, '-' | '/' | ':' | '.'))?;
    let mut parts = vec![first.len()];
    let mut length = 0;
    let mut tail = rest;
    while let Some(after) = tail.strip_prefix(separator) {
        let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if digits == 0 {
            break;
        }
        parts.push(digits);
        length += 1 + digits;
        tail = after.get(digits..).unwrap_or_default();
    }
    let is_date = matches!(
        (separator, parts.as_slice()),
        (':', [1 | 2, 2] | [1 | 2, 2, 2])
            | ('-' | '/', [4, 1 | 2] | [4, 1 | 2, 1 | 2] | [1 | 2, 1 | 2, 4])
            | ('.', [4, 1 | 2, 1 | 2] | [1 | 2, 1 | 2, 4])
    );
    // A timestamp's time of day belongs to its date.
    is_date.then(|| {
        let time = tail.strip_prefix('T').map_or(0, |time| {
            1 + time.len()
                - time
                    .trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ':' | '.' | 'Z'))
                    .len()
        });
        length + time
    })
}

fn is_month(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    MONTHS.contains(&lower.as_str())
        || lower == "sept"
        || (1..=12).any(|month| crate::time::month_name(month).eq_ignore_ascii_case(&lower))
}

/// `Q3`, `H1`, `FY`.
fn is_part_of_year(word: &str) -> bool {
    let upper = word.to_ascii_uppercase();
    matches!(upper.as_str(), "Q1" | "Q2" | "Q3" | "Q4" | "H1" | "H2" | "FY")
}

fn end_of_name(text: &str, from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    from + rest
        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .unwrap_or(rest.len())
}

/// The power of ten that follows, and its length in bytes.
fn magnitude(rest: &str) -> Option<(u32, usize)> {
    for (word, power) in MAGNITUDES {
        let is_latin = word.is_ascii();
        let attached = rest.strip_prefix(word).map(|after| (after, word.len()));
        // A single letter counts only where it touches the number: "5 m" is five metres.
        let apart = (word.len() > 2)
            .then(|| rest.strip_prefix([' ', '-', '\u{a0}']))
            .flatten()
            .and_then(|spaced| Some((spaced.strip_prefix(word)?, rest.len() - spaced.len() + word.len())));
        for (after, length) in attached.into_iter().chain(apart) {
            let ends = !is_latin || !after.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
            if ends {
                return Some((power, length));
            }
        }
    }
    None
}

/// The length of a percent sign or word that follows; 0 when there is none.
fn percent_mark(rest: &str) -> usize {
    let spaced = rest.trim_start_matches([' ', '\u{a0}', '\u{202f}']);
    let skipped = rest.len() - spaced.len();
    let marks = ["%", "％", "percentage points", "percent", "per cent", "pp", "个百分点"];
    let mark = marks.into_iter().find(|mark| {
        spaced.strip_prefix(mark).is_some_and(|after| {
            !mark.ends_with(|c: char| c.is_ascii_alphabetic())
                || !after.starts_with(|c: char| c.is_ascii_alphanumeric())
        })
    });
    mark.map_or(0, |mark| skipped + mark.len())
}

fn currency_before(text: &str, start: usize) -> (usize, Option<String>) {
    let before = text.get(..start).unwrap_or_default();
    if let Some(symbol) = before.chars().next_back().filter(|c| SYMBOLS.contains(c)) {
        return (start - symbol.len_utf8(), Some(symbol.to_string()));
    }
    let trimmed = before.strip_suffix(' ').unwrap_or(before);
    let code = trimmed.get(trimmed.len().saturating_sub(3)..).unwrap_or_default();
    let is_code = code.len() == 3
        && code.bytes().all(|byte| byte.is_ascii_uppercase())
        && CURRENCY_WORDS.contains(&code.to_ascii_lowercase().as_str());
    if is_code {
        (trimmed.len() - 3, Some(code.to_owned()))
    } else {
        (start, None)
    }
}

fn ends_with_currency(before: &str) -> bool {
    currency_before(before, before.len()).1.is_some()
}

fn currency_after(rest: &str) -> Option<(String, usize)> {
    let spaced = rest.strip_prefix(' ').unwrap_or(rest);
    let skipped = rest.len() - spaced.len();
    if let Some(symbol) = spaced.chars().next().filter(|c| SYMBOLS.contains(c)) {
        let is_next_amount = spaced.chars().nth(1).is_some_and(|c| c.is_ascii_digit());
        return (!is_next_amount).then(|| (symbol.to_string(), skipped + symbol.len_utf8()));
    }
    let lower = spaced.to_ascii_lowercase();
    CURRENCY_WORDS.iter().find_map(|word| {
        let after = lower.strip_prefix(word)?;
        let ends = !word.is_ascii() || !after.starts_with(|c: char| c.is_ascii_alphanumeric());
        ends.then(|| {
            (
                spaced.get(..word.len()).unwrap_or_default().to_owned(),
                skipped + word.len(),
            )
        })
    })
}

/// Moves `start` back over a sign; a hyphen between two words or numbers is none.
fn sign_before(text: &str, start: &mut usize) -> bool {
    let before = text.get(..*start).unwrap_or_default();
    let mut back = before.chars().rev();
    let Some(sign) = back.next().filter(|c| matches!(c, '-' | '−' | '+')) else {
        return false;
    };
    if back
        .next()
        .is_some_and(|c| c.is_alphanumeric() || matches!(c, ')' | ']' | '%'))
    {
        return false;
    }
    *start -= sign.len_utf8();
    sign != '+'
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn read(text: &str) -> Vec<String> {
        numerals(text)
            .iter()
            .map(|numeral| {
                let percent = if numeral.percent { "%" } else { "" };
                format!("{}{percent}", numeral.value.normalize())
            })
            .collect()
    }

    #[rstest]
    #[case("Jon sold 12,218.48 (−15.16 %)", &["12218.48", "-15.16%"])]
    #[case("sales fell by 15.2% to $1.2 million.", &["15.2%", "1200000"])]
    #[case("3.4万 元, 1.5亿", &["34000", "150000000"])]
    #[case("from 10 to 14 days, 10-14 days", &["10", "14", "10", "14"])]
    #[case("-$5.50, USD 1,000 and 7 EUR", &["-5.50", "1000", "7"])]
    #[case("12.2K, 3M and 1.5bn", &["12200", "3000000", "1500000000"])]
    #[case("1,234,567 rows; 1,2,3", &["1234567", "1", "2", "3"])]
    #[case("up 3 percentage points, 下降 2.5 个百分点", &["3%", "2.5%"])]
    #[case("销售额 1,234.50 元，占比 49.2%", &["1234.50", "49.2%"])]
    fn numbers_are_read_from_prose(#[case] text: &str, #[case] expected: &[&str]) {
        let expected: Vec<String> = expected
            .iter()
            .map(|text| {
                let (number, percent) = match text.strip_suffix('%') {
                    Some(number) => (number, "%"),
                    None => (*text, ""),
                };
                format!("{}{percent}", number.parse::<Decimal>().unwrap().normalize())
            })
            .collect();
        assert_eq!(read(text), expected);
    }

    #[rstest]
    #[case("2005-08-01 to 2005-08-15 22:01:10")]
    #[case("2005-08-01T10:00:00Z, 8/15/2005")]
    #[case("August 2005, Aug 15, 2005 and 15 August 2005")]
    #[case("2005 年 8 月 15 日，2005年第三季度，第 3 季度")]
    #[case("Q3 2005, 2005 Q3, H1 2005, 2005-08")]
    #[case("[q1] [m12] S10_1678 2nd #4 utf8 sku-12 100kB")]
    fn dates_and_names_are_not_numbers(#[case] text: &str) {
        assert_eq!(read(text), Vec::<String>::new());
    }

    #[test]
    fn a_numeral_knows_its_place_precision_and_currency() {
        let text = "about −$1.2 million in 2005";
        let found = numerals(text);
        let first = &found[0];
        assert_eq!(&text[first.start..first.end], "−$1.2 million");
        assert_eq!(first.step, Decimal::from(100_000));
        assert_eq!(first.currency.as_deref(), Some("$"));
        assert!(!first.maybe_year);
        assert!(found[1].maybe_year);
    }

    #[rstest]
    #[case("1,000", Some("1000"))]
    #[case(" 15 % ", Some("15"))]
    #[case("15 dogs", None)]
    #[case("2005-08", None)]
    fn a_whole_text_can_be_one_number(#[case] text: &str, #[case] expected: Option<&str>) {
        let expected: Option<Decimal> = expected.map(|text| text.parse().unwrap());
        assert_eq!(parse_numeral(text).map(|numeral| numeral.value), expected);
    }
}
