//! Walks over a question and finds the longest time phrase at each place: ranges, open ends, shifts and grains.

use super::point::Point;
use super::{Calendar, Found, Parsed, Phrase, after_any, chinese, english, word_at};
use crate::meaning::question::token::{Kind, Token};
use crate::time::{Grain, Window};

/// Words before four digits that make them an amount, not a year.
const AMOUNT_BEFORE: [&str; 27] = [
    "than",
    "over",
    "above",
    "under",
    "below",
    "least",
    "most",
    "exceeds",
    "exceed",
    "exceeding",
    "top",
    "first",
    "limit",
    ">",
    "<",
    "=",
    "≥",
    "≤",
    "equals",
    "equal",
    "number",
    "id",
    "least",
    "$",
    "€",
    "于",
    "过",
];
/// Words after four digits that make them an amount.
const AMOUNT_AFTER: [&str; 16] = [
    "dollars", "usd", "euros", "eur", "%", "percent", "units", "items", "pieces", "rows", "元", "个", "件", "人", "万",
    "条",
];
/// Words before four digits that make them a year.
const YEAR_BEFORE: [&str; 16] = [
    "in", "of", "during", "for", "since", "until", "till", "through", "year", "from", "before", "after", "between",
    "vs", "versus", "to",
];

/// All time phrases of a question, in order, none overlapping.
///
/// A year that was said once holds for months and quarters said without one ("2005年8月和7月").
pub fn find(tokens: &[Token], calendar: &Calendar) -> Vec<Found> {
    let found = walk(tokens, calendar);
    let said = found
        .iter()
        .flat_map(|found| tokens.get(found.first..found.end).unwrap_or_default());
    let mut years: Vec<i16> = said
        .filter_map(|token| english::year(std::slice::from_ref(token), 0))
        .map(|(year, _)| year)
        .collect();
    years.sort_unstable();
    years.dedup();
    match years.as_slice() {
        [year] => walk(
            tokens,
            &Calendar {
                said_year: Some(*year),
                ..*calendar
            },
        ),
        _ => found,
    }
}

fn walk(tokens: &[Token], calendar: &Calendar) -> Vec<Found> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match phrase_at(tokens, at, calendar) {
            Some((phrase, end)) if end > at => {
                let bare_year = is_bare_year(tokens, at, end);
                found.push(Found {
                    first: at,
                    end,
                    phrase,
                    bare_year,
                });
                at = end;
            }
            _ => at += 1,
        }
    }
    found
}

fn is_bare_year(tokens: &[Token], at: usize, end: usize) -> bool {
    let before = at.checked_sub(1).map_or("", |before| word_at(tokens, before));
    end == at + 1
        && matches!(tokens.get(at).map(|token| &token.kind), Some(Kind::Number(_)))
        && !YEAR_BEFORE.contains(&before)
}

fn phrase_at(tokens: &[Token], at: usize, calendar: &Calendar) -> Parsed<Phrase> {
    shift(tokens, at)
        .or_else(|| grain(tokens, at))
        .or_else(|| open(tokens, at, calendar))
        .or_else(|| range(tokens, at, calendar))
        .or_else(|| single(tokens, at, calendar))
}

fn point(tokens: &[Token], at: usize, calendar: &Calendar) -> Parsed<Point> {
    let both = [
        english::point(tokens, at, calendar),
        chinese::point(tokens, at, calendar),
    ];
    let read = both.into_iter().flatten().max_by_key(|(_, end)| *end)?;
    let is_lone_year = matches!(read.0, Point::Year(_)) && read.1 == at + 1;
    if is_lone_year {
        let before = at.checked_sub(1).map_or("", |before| word_at(tokens, before));
        let is_amount = AMOUNT_BEFORE.contains(&before) || AMOUNT_AFTER.contains(&word_at(tokens, read.1));
        if is_amount {
            return None;
        }
    }
    Some(read)
}

fn single(tokens: &[Token], at: usize, calendar: &Calendar) -> Parsed<Phrase> {
    let (point, mut end) = point(tokens, at, calendar)?;
    let mut window = point.window(calendar)?;
    if let Some((week, next)) = chinese::week_suffix(tokens, end, window) {
        (window, end) = (week, next);
    }
    if let Some((opened, next)) = chinese_open_suffix(tokens, end, window) {
        return Some((window_phrase(opened), next));
    }
    end = after_any(tokens, end, &["onwards", "onward", "期间", "之间"]).unwrap_or(end);
    let relative = point.relative();
    Some((Phrase::Window { window, relative }, end))
}

fn window_phrase(window: Window) -> Phrase {
    Phrase::Window { window, relative: None }
}

/// `X 之前`, `X 以来`, `X 之后`.
fn chinese_open_suffix(tokens: &[Token], at: usize, window: Window) -> Parsed<Window> {
    if let Some(next) = after_any(tokens, at, &["之前", "以前"]) {
        return Some((Window::new(Window::OPEN_START, window.start)?, next));
    }
    if let Some(next) = after_any(tokens, at, &["及以后", "以来", "至今", "起", "开始"]) {
        return Some((Window::new(window.start, Window::OPEN_END)?, next));
    }
    if let Some(next) = after_any(tokens, at, &["之后", "以后"]) {
        return Some((Window::new(window.end, Window::OPEN_END)?, next));
    }
    let next = after_any(tokens, at, &["及以前", "为止"])?;
    Some((Window::new(Window::OPEN_START, window.end)?, next))
}

/// `since X`, `before X`, `after X`, `until X`, `自 X 以来`, `截至 X`.
fn open(tokens: &[Token], at: usize, calendar: &Calendar) -> Parsed<Phrase> {
    let openings: [(&[&str], Open); 5] = [
        (
            &[
                "on or after",
                "since",
                "starting from",
                "starting in",
                "starting",
                "自从",
                "自",
            ],
            Open::From,
        ),
        (&["later than", "after"], Open::After),
        (
            &[
                "on or before",
                "up to",
                "until",
                "till",
                "through",
                "截至",
                "截止到",
                "截止",
            ],
            Open::Through,
        ),
        (&["prior to", "earlier than", "before"], Open::Before),
        (&["from", "从"], Open::FromOnwards),
    ];
    let (kind, start) = openings
        .iter()
        .find_map(|(words, kind)| after_any(tokens, at, words).map(|next| (*kind, next)))?;
    let start = if word_at(tokens, start) == "the" {
        start + 1
    } else {
        start
    };
    let (point, end) = point(tokens, start, calendar)?;
    let window = point.window(calendar)?;
    let end_after_suffix = after_any(
        tokens,
        end,
        &["onwards", "onward", "on", "起", "以来", "开始", "至今", "为止"],
    );
    let opened = match kind {
        Open::FromOnwards => {
            end_after_suffix?;
            Window::new(window.start, Window::OPEN_END)?
        }
        Open::From => Window::new(window.start, Window::OPEN_END)?,
        Open::After => Window::new(window.end, Window::OPEN_END)?,
        Open::Through => Window::new(Window::OPEN_START, window.end)?,
        Open::Before => Window::new(Window::OPEN_START, window.start)?,
    };
    Some((window_phrase(opened), end_after_suffix.unwrap_or(end)))
}

#[derive(Clone, Copy)]
enum Open {
    From,
    FromOnwards,
    After,
    Through,
    Before,
}

/// `from X to Y`, `between X and Y`, `X to Y`, `X 到 Y`, `August 1-15, 2005`.
fn range(tokens: &[Token], at: usize, calendar: &Calendar) -> Parsed<Phrase> {
    let (opening, start) = match after_any(tokens, at, &["from", "between", "从", "介于", "自"]) {
        Some(next) => (word_at(tokens, at), next),
        None => ("", at),
    };
    let (first, after_first) = point(tokens, start, calendar)?;
    let joints: &[&str] = match opening {
        "between" => &["and", "to", "-", "–"],
        "from" => &["to", "through", "until", "till", "-", "–", "and"],
        _ => &[
            "to", "through", "until", "till", "-", "–", "—", "~", "～", "到", "至", "与", "和",
        ],
    };
    let joint = after_any(tokens, after_first, joints)?;
    let is_plain_and = matches!(word_at(tokens, after_first), "与" | "和");
    let (second, end) = same_month_day(tokens, joint, first).or_else(|| point(tokens, joint, calendar))?;
    let (first, second) = share_year(first, second);
    let (from, to) = (first.window(calendar)?, second.window(calendar)?);
    let closing = after_any(tokens, end, &["之间", "期间", "这段时间"]);
    // "8月和7月" are two months; "8月和9月之间" is a range.
    if is_plain_and && closing.is_none() {
        return None;
    }
    let end = closing.unwrap_or(end);
    Some((Phrase::Range { from, to }, end))
}

/// The second day of `August 1-15, 2005`: a day number, perhaps with the year of both.
fn same_month_day(tokens: &[Token], at: usize, first: Point) -> Parsed<Point> {
    let Point::Day(year, month, _) = first else { return None };
    let day = word_at(tokens, at)
        .parse::<i8>()
        .ok()
        .filter(|day| (1..=31).contains(day))?;
    if english::month_number(word_at(tokens, at + 1)).is_some() || matches!(word_at(tokens, at + 1), "-" | "/" | "月")
    {
        return None;
    }
    let comma = if word_at(tokens, at + 1) == "," { at + 2 } else { at + 1 };
    if year.is_none()
        && let Some((year, next)) = english::year(tokens, comma)
    {
        return Some((Point::Day(Some(year), month, day), next));
    }
    let next = after_any(tokens, at + 1, &["日", "号"]).unwrap_or(at + 1);
    Some((Point::Day(year, month, day), next))
}

/// A year that was said once holds for both ends: `March to May 2005`, `2005年3月到5月`.
fn share_year(first: Point, second: Point) -> (Point, Point) {
    match (first.year(), second.year()) {
        (None, Some(year)) => (first.or_year(year), second),
        (Some(year), None) => (first, second.or_year(year)),
        _ => (first, second),
    }
}

/// `year over year`, `the month before`, 同比, 环比.
fn shift(tokens: &[Token], at: usize) -> Parsed<Phrase> {
    const YEAR_AGO: [&str; 20] = [
        "year over year",
        "year - over - year",
        "year on year",
        "year - on - year",
        "yoy",
        "y / y",
        "same period last year",
        "same month last year",
        "same quarter last year",
        "same period of last year",
        "same month a year earlier",
        "same period a year earlier",
        "a year earlier",
        "a year ago",
        "one year earlier",
        "the year before",
        "prior year",
        "去年同期",
        "上年同期",
        "同比",
    ];
    const PREVIOUS: [&str; 20] = [
        "month over month",
        "month - over - month",
        "month on month",
        "month - on - month",
        "mom",
        "quarter over quarter",
        "quarter on quarter",
        "qoq",
        "week over week",
        "week on week",
        "wow",
        "previous period",
        "prior period",
        "preceding period",
        "the month before",
        "the quarter before",
        "the week before",
        "the previous one",
        "上期",
        "环比",
    ];
    if let Some(next) = after_any(tokens, at, &YEAR_AGO) {
        return Some((Phrase::YearAgo, next));
    }
    after_any(tokens, at, &PREVIOUS).map(|next| (Phrase::Previous, next))
}

/// `monthly`, `by month`, `per week`, `each day`, 按月, 每天.
fn grain(tokens: &[Token], at: usize) -> Parsed<Phrase> {
    let adverbs: [(&[&str], Grain); 5] = [
        (&["daily", "day by day"], Grain::Day),
        (&["weekly", "week by week"], Grain::Week),
        (&["monthly", "month by month", "月度"], Grain::Month),
        (&["quarterly", "quarter by quarter"], Grain::Quarter),
        (
            &["yearly", "annually", "annual", "year by year", "年度", "历年来", "历年"],
            Grain::Year,
        ),
    ];
    for (words, grain) in adverbs {
        if let Some(next) = after_any(tokens, at, words) {
            return Some((Phrase::Grain(grain), next));
        }
    }
    const BEFORE: [&str; 11] = [
        "for each",
        "for every",
        "in each",
        "in every",
        "grouped by",
        "group by",
        "broken down by",
        "by",
        "per",
        "each",
        "every",
    ];
    if let Some(start) = after_any(tokens, at, &BEFORE)
        && let Some(grain) = english::unit(word_at(tokens, start))
    {
        return Some((Phrase::Grain(grain), start + 1));
    }
    let start = after_any(
        tokens,
        at,
        &["按照", "按", "每一", "每", "各", "逐", "分", "哪一", "哪"],
    )?;
    let (grain, end) = chinese::unit(tokens, start)?;
    let end = after_any(tokens, end, &["份", "度"]).unwrap_or(end);
    Some((Phrase::Grain(grain), end))
}
