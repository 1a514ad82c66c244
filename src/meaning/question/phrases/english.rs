//! English dates and periods.

use super::point::{Point, periods_back, rolling, to_date, whole_before};
use super::{Calendar, Parsed, after_any, word_at};
use crate::meaning::question::token::{Kind, Token};
use crate::time::{Grain, Window, parse_date};

/// Months by name; "may" and "march" and "mar" are also other words and need a sign of time beside them.
const MONTHS: [(&str, &str, i8); 12] = [
    ("january", "jan", 1),
    ("february", "feb", 2),
    ("march", "mar", 3),
    ("april", "apr", 4),
    ("may", "may", 5),
    ("june", "jun", 6),
    ("july", "jul", 7),
    ("august", "aug", 8),
    ("september", "sep", 9),
    ("october", "oct", 10),
    ("november", "nov", 11),
    ("december", "dec", 12),
];
const ALSO_OTHER_WORDS: [&str; 3] = ["may", "march", "mar"];
/// Words that announce a time.
const TIME_PREPOSITIONS: [&str; 21] = [
    "in", "of", "for", "during", "since", "until", "till", "from", "to", "through", "last", "this", "before", "after",
    "between", "and", "vs", "versus", "by", "with", "than",
];
const NUMBERS: [&str; 12] = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
];

/// A small number in digits or words.
pub fn count_at(tokens: &[Token], at: usize) -> Option<i64> {
    let token = tokens.get(at)?;
    if let Some(value) = token.integer() {
        return (value >= 0).then_some(value);
    }
    let index = NUMBERS.iter().position(|word| token.is_word(word))?;
    i64::try_from(index + 1).ok()
}

/// The grain that a word names (`months`, `quarter`).
pub fn unit(word: &str) -> Option<Grain> {
    match word {
        "day" | "days" => Some(Grain::Day),
        "week" | "weeks" => Some(Grain::Week),
        "month" | "months" => Some(Grain::Month),
        "quarter" | "quarters" => Some(Grain::Quarter),
        "year" | "years" => Some(Grain::Year),
        _ => None,
    }
}

/// A date or period at `at`.
pub fn point(tokens: &[Token], at: usize, calendar: &Calendar) -> Parsed<Point> {
    let start = if word_at(tokens, at) == "the" { at + 1 } else { at };
    numeric(tokens, start)
        .or_else(|| week_of(tokens, start, calendar))
        .or_else(|| day_and_month(tokens, start))
        .or_else(|| month(tokens, start))
        .or_else(|| part_of_year(tokens, start, calendar))
        .or_else(|| relative(tokens, start, calendar))
        .or_else(|| fiscal_year(tokens, start))
        .or_else(|| year(tokens, start).map(|(year, next)| (Point::Year(year), next)))
}

/// `2005-08-15`, `2005-08`, `8/15/2005`.
fn numeric(tokens: &[Token], at: usize) -> Parsed<Point> {
    let separator = word_at(tokens, at + 1);
    if !matches!(separator, "-" | "/") || !tokens.get(at + 1)?.attached || !tokens.get(at + 2)?.attached {
        return None;
    }
    let (first, second) = (word_at(tokens, at), word_at(tokens, at + 2));
    let has_third = word_at(tokens, at + 3) == separator && tokens.get(at + 4).is_some_and(|token| token.attached);
    let third = if has_third { word_at(tokens, at + 4) } else { "" };
    let short = |text: &str| (1..=2).contains(&text.len());
    match (first.len(), third.len()) {
        (4, _) if short(second) && short(third) => {
            let day = parse_date(&format!("{first}-{second}-{third}")).ok()?;
            Some((Point::Day(Some(day.year()), day.month(), day.day()), at + 5))
        }
        (4, 0) if short(second) && !has_third => {
            let month = second.parse().ok().filter(|month| (1..=12).contains(month))?;
            Some((Point::Month(Some(as_year(first)?), month), at + 3))
        }
        (_, 4) if short(first) && short(second) => {
            // Month first, as in the United States, unless that month does not exist.
            let month_first = parse_date(&format!("{third}-{first}-{second}"));
            let day = month_first
                .or_else(|_| parse_date(&format!("{third}-{second}-{first}")))
                .ok()?;
            Some((Point::Day(Some(day.year()), day.month(), day.day()), at + 5))
        }
        _ => None,
    }
}

/// `week of August 15, 2005`: the week that the day lies in.
fn week_of(tokens: &[Token], at: usize, calendar: &Calendar) -> Parsed<Point> {
    let start = after_any(tokens, at, &["week of", "week starting", "week beginning"])?;
    let start = if word_at(tokens, start) == "the" {
        start + 1
    } else {
        start
    };
    let (point, next) = numeric(tokens, start)
        .or_else(|| day_and_month(tokens, start))
        .or_else(|| month(tokens, start).filter(|(point, _)| matches!(point, Point::Day(..))))?;
    let day = point.window(calendar)?.start;
    Some((Point::Fixed(Window::around(day, Grain::Week), None), next))
}

/// `15 August 2005`, `15th of August`.
fn day_and_month(tokens: &[Token], at: usize) -> Parsed<Point> {
    let day = day_number(word_at(tokens, at))?;
    let month_at = if word_at(tokens, at + 1) == "of" {
        at + 2
    } else {
        at + 1
    };
    let month = month_number(word_at(tokens, month_at))?;
    let (year, next) = optional_year(tokens, month_at + 1);
    Some((Point::Day(year, month, day), next))
}

/// `August 2005`, `Aug 15, 2005`, `August`.
fn month(tokens: &[Token], at: usize) -> Parsed<Point> {
    let token = tokens.get(at)?;
    let month = month_number(&token.text)?;
    let after_name = if word_at(tokens, at + 1) == "." && tokens.get(at + 2).is_some() {
        at + 2
    } else {
        at + 1
    };
    if let Some(day) = day_number(word_at(tokens, after_name))
        && unit(word_at(tokens, after_name + 1)).is_none()
    {
        let (year, next) = optional_year(tokens, after_name + 1);
        return Some((Point::Day(year, month, day), next));
    }
    let (year, next) = optional_year(tokens, after_name);
    if year.is_some() {
        return Some((Point::Month(year, month), next));
    }
    let before = at.checked_sub(1).map_or("", |before| word_at(tokens, before));
    let doubtful = ALSO_OTHER_WORDS.contains(&token.text.as_str());
    if doubtful && !(TIME_PREPOSITIONS.contains(&before) && (token.capital || before != "by")) {
        return None;
    }
    Some((Point::Month(None, month), at + 1))
}

/// A year after an optional comma, "of" or "in".
fn optional_year(tokens: &[Token], at: usize) -> (Option<i16>, usize) {
    let start = match word_at(tokens, at) {
        "," | "of" | "in" => at + 1,
        _ => at,
    };
    match year(tokens, start) {
        Some((year, next)) => (Some(year), next),
        None => (None, at),
    }
}

/// `Q3 2005`, `2005 Q3`, `third quarter of 2005`, `H1 2005`, `first half of 2005`, `Q3`.
fn part_of_year(tokens: &[Token], at: usize, calendar: &Calendar) -> Parsed<Point> {
    if let Some((year, next)) = year(tokens, at) {
        let next = if word_at(tokens, next) == "-" { next + 1 } else { next };
        let (part, end) = part(tokens, next)?;
        return Some((part.or_year(year), end));
    }
    let (part, next) = part(tokens, at)?;
    if let (Some(year), end) = optional_year(tokens, next) {
        return Some((part.or_year(year), end));
    }
    let of = if word_at(tokens, next) == "of" { next + 1 } else { next };
    if let Some((Point::Fixed(window, Some((Grain::Year, _))), end)) = relative(tokens, of, calendar) {
        return Some((part.or_year(window.start.year()), end));
    }
    Some((part, next))
}

fn part(tokens: &[Token], at: usize) -> Parsed<Point> {
    let word = word_at(tokens, at);
    let mut letters = word.chars();
    let (letter, digit) = (letters.next()?, letters.next().and_then(|c| c.to_digit(10)));
    let number = digit.and_then(|digit| i8::try_from(digit).ok());
    match (letter, number, letters.next()) {
        ('q', Some(quarter @ 1..=4), None) => return Some((Point::Quarter(None, quarter), at + 1)),
        ('h', Some(half @ 1..=2), None) => return Some((Point::Half(None, half), at + 1)),
        _ => {}
    }
    let ordinal = match word {
        "first" | "1st" => 1,
        "second" | "2nd" => 2,
        "third" | "3rd" => 3,
        "fourth" | "4th" => 4,
        _ => 0,
    };
    match word_at(tokens, at + 1) {
        "quarter" if ordinal > 0 => Some((Point::Quarter(None, ordinal), at + 2)),
        "half" if (1..=2).contains(&ordinal) => Some((Point::Half(None, ordinal), at + 2)),
        _ if word == "quarter" => {
            let quarter = word_at(tokens, at + 1)
                .parse()
                .ok()
                .filter(|quarter| (1..=4).contains(quarter))?;
            Some((Point::Quarter(None, quarter), at + 2))
        }
        _ => None,
    }
}

/// `FY2005`, `FY 2005`, `fiscal year 2005`.
fn fiscal_year(tokens: &[Token], at: usize) -> Parsed<Point> {
    if let Some(digits) = word_at(tokens, at).strip_prefix("fy")
        && let Some(year) = as_year(digits)
    {
        return Some((Point::FiscalYear(year), at + 1));
    }
    let start = after_any(tokens, at, &["fy", "fiscal year", "fiscal"])?;
    let (year, next) = year(tokens, start)?;
    Some((Point::FiscalYear(year), next))
}

/// `last month`, `past 30 days`, `year to date`, `yesterday`, `3 months ago`.
fn relative(tokens: &[Token], at: usize, calendar: &Calendar) -> Parsed<Point> {
    let fixed: [(&[&str], Grain, i64); 4] = [
        (&["day before yesterday"], Grain::Day, 2),
        (&["yesterday"], Grain::Day, 1),
        (&["today"], Grain::Day, 0),
        (&["tomorrow"], Grain::Day, -1),
    ];
    for (words, grain, back) in fixed {
        if let Some(next) = after_any(tokens, at, words) {
            return Some((periods_back(calendar, grain, back), next));
        }
    }
    let so_far: [(&[&str], Grain); 3] = [
        (
            &[
                "year to date",
                "year - to - date",
                "ytd",
                "this year so far",
                "so far this year",
            ],
            Grain::Year,
        ),
        (
            &["quarter to date", "quarter - to - date", "qtd", "so far this quarter"],
            Grain::Quarter,
        ),
        (
            &[
                "month to date",
                "month - to - date",
                "mtd",
                "this month so far",
                "so far this month",
            ],
            Grain::Month,
        ),
    ];
    for (words, grain) in so_far {
        if let Some(next) = after_any(tokens, at, words) {
            return Some((to_date(calendar, grain)?, next));
        }
    }
    if let Some(count) = count_at(tokens, at)
        && let Some(grain) = unit(word_at(tokens, at + 1))
        && word_at(tokens, at + 2) == "ago"
    {
        return Some((periods_back(calendar, grain, count), at + 3));
    }
    let word = word_at(tokens, at);
    match word {
        "this" | "current" => {
            let next = word_at(tokens, at + 1);
            if let Some(month) = month_number(next) {
                return Some((Point::Month(Some(calendar.time.as_of.date.year()), month), at + 2));
            }
            let grain = unit(next).filter(|_| !next.ends_with('s'))?;
            Some((periods_back(calendar, grain, 0), at + 2))
        }
        "last" | "past" | "previous" | "prior" | "trailing" | "recent" => back(tokens, at, calendar, word),
        "next" => {
            let grain = unit(word_at(tokens, at + 1))?;
            Some((periods_back(calendar, grain, -1), at + 2))
        }
        _ => None,
    }
}

/// After "last" and its like: a unit, a count of units, or a month's name.
fn back(tokens: &[Token], at: usize, calendar: &Calendar, word: &str) -> Parsed<Point> {
    let next = word_at(tokens, at + 1);
    if let Some(month) = month_number(next) {
        let this = Grain::Month.truncate(calendar.time.as_of.date);
        let window = Point::Month(None, month).window(calendar)?;
        let window = if window.start >= this {
            window.year_ago()
        } else {
            window
        };
        return Some((Point::Fixed(window, None), at + 2));
    }
    if let Some(grain) = unit(next)
        && !next.ends_with('s')
    {
        // "the past month" is the month up to now; "last month" the calendar's.
        let point = match word {
            "past" | "trailing" => rolling(calendar, grain, 1)?,
            _ => periods_back(calendar, grain, 1),
        };
        return Some((point, at + 2));
    }
    let count = count_at(tokens, at + 1).filter(|count| *count > 0)?;
    let grain = unit(word_at(tokens, at + 2)).or_else(|| {
        after_any(tokens, at + 2, &["calendar months", "full months", "complete months"]).map(|_| Grain::Month)
    })?;
    let whole = unit(word_at(tokens, at + 2)).is_none();
    let next = if whole { at + 4 } else { at + 3 };
    let point = match word {
        "previous" | "prior" => whole_before(calendar, grain, count)?,
        _ if whole => whole_before(calendar, grain, count)?,
        _ => rolling(calendar, grain, count)?,
    };
    Some((point, next))
}

/// Four plain digits from 1900 to 2099.
pub fn year(tokens: &[Token], at: usize) -> Parsed<i16> {
    let token = tokens.get(at)?;
    matches!(token.kind, Kind::Number(_)).then_some(())?;
    Some((as_year(&token.text)?, at + 1))
}

fn as_year(text: &str) -> Option<i16> {
    let is_plain = text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    is_plain
        .then(|| text.parse().ok())
        .flatten()
        .filter(|year| (1900..=2099).contains(year))
}

pub fn month_number(word: &str) -> Option<i8> {
    MONTHS
        .iter()
        .find(|(name, short, _)| word == *name || word == *short || (word == "sept" && *short == "sep"))
        .map(|(_, _, month)| *month)
}

/// `15`, `15th`, `1st`.
fn day_number(word: &str) -> Option<i8> {
    let digits = ["st", "nd", "rd", "th"]
        .iter()
        .find_map(|ending| word.strip_suffix(ending))
        .unwrap_or(word);
    digits
        .parse()
        .ok()
        .filter(|day| (1..=31).contains(day) && digits.len() <= 2)
}
