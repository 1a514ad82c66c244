//! Chinese dates and periods.

use super::point::{Point, periods_back, rolling, to_date};
use super::{Calendar, Parsed, after_any, english, word_at};
use crate::meaning::question::token::Token;
use crate::time::{Grain, Window};

/// A number in digits or Chinese numerals (一 to 九十九, 两), and the index after it.
pub fn number(tokens: &[Token], at: usize) -> Parsed<i64> {
    if let Some(value) = tokens.get(at)?.integer() {
        return Some((value, at + 1));
    }
    let mut tens: Option<i64> = None;
    let mut ones: Option<i64> = None;
    let mut next = at;
    while let Some(token) = tokens.get(next) {
        match (token.text.as_str(), digit(&token.text)) {
            ("十", _) if tens.is_none() => tens = Some(ones.take().unwrap_or(1)),
            (_, Some(value)) if ones.is_none() => ones = Some(value),
            _ => break,
        }
        next += 1;
    }
    let value = tens.map_or(0, |tens| tens * 10) + ones.unwrap_or(0);
    (next > at).then_some((value, next))
}

fn digit(text: &str) -> Option<i64> {
    let digits = ["一", "二", "三", "四", "五", "六", "七", "八", "九"];
    if text == "两" {
        return Some(2);
    }
    digits
        .iter()
        .position(|digit| *digit == text)
        .and_then(|index| i64::try_from(index + 1).ok())
}

/// The grain that a unit word names, and the index after it; `个` before it is allowed.
pub fn unit(tokens: &[Token], at: usize) -> Parsed<Grain> {
    let start = if word_at(tokens, at) == "个" { at + 1 } else { at };
    let units: [(&[&str], Grain); 5] = [
        (&["季度", "季"], Grain::Quarter),
        (&["天", "日"], Grain::Day),
        (&["星期", "礼拜", "周"], Grain::Week),
        (&["月份", "月"], Grain::Month),
        (&["年度", "年份", "年"], Grain::Year),
    ];
    units
        .iter()
        .find_map(|(words, grain)| after_any(tokens, start, words).map(|next| (*grain, next)))
}

/// A date or period at `at`.
pub fn point(tokens: &[Token], at: usize, calendar: &Calendar) -> Parsed<Point> {
    said_year(tokens, at, calendar)
        .map(|(year, next)| within_year(tokens, next, year).unwrap_or((whole_year(year, calendar), next)))
        .or_else(|| yearless(tokens, at))
        .or_else(|| relative(tokens, at, calendar))
}

/// `2005年`, `去年`, `今年`, `前年`.
fn said_year(tokens: &[Token], at: usize, calendar: &Calendar) -> Parsed<i16> {
    let this = calendar.time.as_of.date.year();
    if let Some((year, next)) = english::year(tokens, at) {
        let end = after_any(tokens, next, &["年度", "年"])?;
        return Some((year, end));
    }
    if after_any(tokens, at, &["今年以来", "今年至今", "本年至今", "去年同期"]).is_some() {
        return None;
    }
    let named: [(&[&str], i16); 4] = [
        (&["今年", "本年度", "本年"], 0),
        (&["去年", "上年", "上一年"], 1),
        (&["前年"], 2),
        (&["明年"], -1),
    ];
    named.iter().find_map(|(words, back)| {
        let next = after_any(tokens, at, words)?;
        Some((this.checked_sub(*back)?, next))
    })
}

/// A whole year; one that is named relative to now stays comparable with other windows.
fn whole_year(year: i16, calendar: &Calendar) -> Point {
    let back = i64::from(calendar.time.as_of.date.year()) - i64::from(year);
    match back {
        // "去年" and the year's number mean the same days; only a year back is ever meant as a shift.
        1 => periods_back(calendar, Grain::Year, 1),
        _ => Point::Year(year),
    }
}

fn within_year(tokens: &[Token], at: usize, year: i16) -> Parsed<Point> {
    let start = if word_at(tokens, at) == "的" { at + 1 } else { at };
    let (point, next) = yearless(tokens, start)?;
    Some((point.or_year(year), next))
}

/// `8月15日`, `8月`, `第三季度`, `三季度`, `上半年`, `Q3`.
fn yearless(tokens: &[Token], at: usize) -> Parsed<Point> {
    if let Some(next) = after_any(tokens, at, &["上半年"]) {
        return Some((Point::Half(None, 1), next));
    }
    if let Some(next) = after_any(tokens, at, &["下半年"]) {
        return Some((Point::Half(None, 2), next));
    }
    let quarter_word = word_at(tokens, at);
    if let Some(quarter) = quarter_word
        .strip_prefix('q')
        .and_then(|digit| digit.parse::<i8>().ok())
        && (1..=4).contains(&quarter)
    {
        return Some((Point::Quarter(None, quarter), at + 1));
    }
    let ordinal = word_at(tokens, at) == "第";
    let (value, next) = number(tokens, if ordinal { at + 1 } else { at })?;
    let value = i8::try_from(value).ok()?;
    if let Some(end) = after_any(tokens, next, &["季度"])
        && (1..=4).contains(&value)
    {
        return Some((Point::Quarter(None, value), end));
    }
    let end = after_any(tokens, next, &["月份", "月"])?;
    if ordinal || !(1..=12).contains(&value) {
        return None;
    }
    if let Some((day, after_day)) = number(tokens, end)
        && let Some(end) = after_any(tokens, after_day, &["日", "号"])
    {
        return Some((Point::Day(None, value, i8::try_from(day).ok()?), end));
    }
    Some((Point::Month(None, value), end))
}

/// `上个月`, `本周`, `昨天`, `近三个月`, `今年以来`, `3天前`.
fn relative(tokens: &[Token], at: usize, calendar: &Calendar) -> Parsed<Point> {
    let named: [(&[&str], Grain, i64); 12] = [
        (&["大前天"], Grain::Day, 3),
        (&["前天"], Grain::Day, 2),
        (&["昨天", "昨日"], Grain::Day, 1),
        (&["今天", "今日", "当天"], Grain::Day, 0),
        (&["上上个月"], Grain::Month, 2),
        (&["上个月", "上月", "上一个月"], Grain::Month, 1),
        (&["本月", "这个月", "当月", "该月"], Grain::Month, 0),
        (&["上个季度", "上季度", "上一季度", "上一个季度"], Grain::Quarter, 1),
        (&["本季度", "这个季度", "当季"], Grain::Quarter, 0),
        (&["上周", "上星期", "上个星期", "上一周"], Grain::Week, 1),
        (&["本周", "这周", "这星期", "这个星期"], Grain::Week, 0),
        (&["上一天"], Grain::Day, 1),
    ];
    let so_far: [(&[&str], Grain); 3] = [
        (&["年初至今", "今年以来", "今年至今", "本年至今"], Grain::Year),
        (&["本月至今", "本月以来", "月初至今"], Grain::Month),
        (&["本季度至今", "本季度以来", "季初至今"], Grain::Quarter),
    ];
    for (words, grain) in so_far {
        if let Some(next) = after_any(tokens, at, words) {
            return Some((to_date(calendar, grain)?, next));
        }
    }
    for (words, grain, back) in named {
        if let Some(next) = after_any(tokens, at, words) {
            // 本月 beside a month that was named means that month and adds nothing.
            return Some((periods_back(calendar, grain, back), next));
        }
    }
    if let Some(start) = after_any(tokens, at, &["最近", "过去", "近", "前"]) {
        let start = after_any(tokens, start, &["的"]).unwrap_or(start);
        let (count, next) = number(tokens, start).filter(|(count, _)| *count > 0)?;
        let has_counter = word_at(tokens, next) == "个";
        let (grain, end) = unit(tokens, next)?;
        // "近8月" is not eight months; "近8个月" is.
        if grain == Grain::Month && !has_counter {
            return None;
        }
        return Some((rolling(calendar, grain, count)?, end));
    }
    ago(tokens, at, calendar)
}

/// `3天前`, `两个月前`.
fn ago(tokens: &[Token], at: usize, calendar: &Calendar) -> Parsed<Point> {
    let (count, next) = number(tokens, at)?;
    let (grain, end) = unit(tokens, next)?;
    let end = after_any(tokens, end, &["之前", "以前", "前"])?;
    Some((periods_back(calendar, grain, count), end))
}

/// `截至 X`, `X 以来` and so on are built by the scanner; this is the week that a day lies in: `8月15日那周`.
pub fn week_suffix(tokens: &[Token], at: usize, window: Window) -> Parsed<Window> {
    let next = after_any(tokens, at, &["那一周", "那周", "所在周", "当周"])?;
    (window.days() == 1).then(|| (Window::around(window.start, Grain::Week), next))
}
