//! Time axes: periods as whole numbers, and labels that read like a calendar.

use jiff::civil::{Date, ISOWeekDate, Weekday, date};
use jiff::{ToSpan, Unit};

use super::words::Words;
use crate::time::Grain;

/// Monday, 5 January 1970: week number 0.
const FIRST_MONDAY: i64 = 4;
/// At most this many candidates are tried as ticks; a coarser calendar step is taken beyond.
const MOST_CANDIDATES: i64 = 4_000;
/// Longer spans are labelled by months rather than by days, even if there were room.
const MOST_DAYS_BY_DAY: i64 = 75;
/// Free space between two labels, in pixels.
const GAP: f64 = 9.0;

/// The number of the period that `text` names (days, weeks, months, quarters or years since a fixed start), or none if
/// it is no period. A date stands for the period it lies in.
pub(super) fn parse(text: &str, grain: Grain) -> Option<i64> {
    let text = text.trim();
    if let Some((year, quarter)) = text.split_once("-Q").or_else(|| text.split_once('Q')) {
        let (year, quarter): (i64, i64) = (year.trim().parse().ok()?, quarter.parse().ok()?);
        let month = i8::try_from(quarter * 3 - 2)
            .ok()
            .filter(|month| (1..=10).contains(month))?;
        return of_date(day(year, month, 1)?, grain);
    }
    if let Some((year, week)) = text.split_once("-W") {
        let week = ISOWeekDate::new(year.parse().ok()?, week.parse().ok()?, Weekday::Monday).ok()?;
        return of_date(week.date(), grain);
    }
    let calendar = text.split(['T', ' ']).next()?.replace('/', "-");
    let mut parts = calendar.split('-');
    let year = parts.next().filter(|year| year.len() == 4)?.parse().ok()?;
    let month = parts.next().map_or(Some(1), |month| month.parse().ok())?;
    let day_of_month = parts.next().map_or(Some(1), |day| day.parse().ok())?;
    if parts.next().is_some() {
        None
    } else {
        of_date(day(year, month, day_of_month)?, grain)
    }
}

/// The grain in an error message.
pub(super) fn grain_name(grain: Grain) -> &'static str {
    match grain {
        Grain::Day => "day",
        Grain::Week => "week",
        Grain::Month => "month",
        Grain::Quarter => "quarter",
        Grain::Year => "year",
    }
}

fn day(year: i64, month: i8, day: i8) -> Option<Date> {
    Date::new(i16::try_from(year).ok()?, month, day).ok()
}

fn of_date(day: Date, grain: Grain) -> Option<i64> {
    let days = i64::from(date(1970, 1, 1).until((Unit::Day, day)).ok()?.get_days());
    let year = i64::from(day.year());
    Some(match grain {
        Grain::Day => days,
        Grain::Week => (days - FIRST_MONDAY).div_euclid(7),
        Grain::Month => year * 12 + i64::from(day.month()) - 1,
        Grain::Quarter => year * 4 + (i64::from(day.month()) - 1) / 3,
        Grain::Year => year,
    })
}

/// The first day of the period.
fn first_day(period: i64, grain: Grain) -> Option<Date> {
    let from_days = |days: i64| date(1970, 1, 1).checked_add(days.days()).ok();
    match grain {
        Grain::Day => from_days(period),
        Grain::Week => from_days(period * 7 + FIRST_MONDAY),
        Grain::Month => day(period.div_euclid(12), i8::try_from(period.rem_euclid(12)).ok()? + 1, 1),
        Grain::Quarter => day(
            period.div_euclid(4),
            i8::try_from(period.rem_euclid(4)).ok()? * 3 + 1,
            1,
        ),
        Grain::Year => day(period, 1, 1),
    }
}

/// The period that `text` names, as one says it: `Aug 2005`; none if it is no period.
pub(super) fn spoken(text: &str, grain: Grain, words: Words) -> Option<String> {
    let first = first_day(parse(text, grain)?, grain)?;
    let (year, month, day) = (
        i64::from(first.year()),
        first.month().unsigned_abs(),
        first.day().unsigned_abs(),
    );
    Some(match grain {
        Grain::Day => words.day(day, month, year),
        Grain::Week => words.week_of(&words.day(day, month, year)),
        Grain::Month => words.month_and_year(month, year),
        Grain::Quarter => words.quarter(month.div_ceil(3), year),
        Grain::Year => words.year(year),
    })
}

/// A mark on a time axis.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TimeTick {
    /// The period that it marks.
    pub period: i64,
    /// `8`, `Aug`, `Q3` or `2005`.
    pub label: String,
    /// Second line, under the first tick and where it changes: `Aug 2005` or `2005`.
    pub context: Option<String>,
}

/// How often ticks come.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Every {
    Period,
    /// The 1st, 8th, 15th, 22nd and 29th of a month.
    SeventhDay,
    /// The 1st and the 15th.
    HalfMonth,
    Month,
    Quarter,
    HalfYear,
    Years(i64),
}

const CALENDAR: [Every; 14] = [
    Every::Period,
    Every::SeventhDay,
    Every::HalfMonth,
    Every::Month,
    Every::Quarter,
    Every::HalfYear,
    Every::Years(1),
    Every::Years(2),
    Every::Years(5),
    Every::Years(10),
    Every::Years(20),
    Every::Years(50),
    Every::Years(100),
    Every::Years(1000),
];

/// The densest ticks between the periods `first` and `last` whose labels do not touch.
///
/// `pixels`: distance between two neighbouring periods; `width`: of a label in pixels.
pub(super) fn time_ticks(
    (first, last): (i64, i64),
    grain: Grain,
    pixels: f64,
    words: Words,
    width: &dyn Fn(&str) -> f64,
) -> Vec<TimeTick> {
    let mut best = Vec::new();
    for every in CALENDAR {
        let ticks = candidates(first, last, grain, every, words);
        // One tick alone does not tell how time runs: rather the last set that has two, thinned out.
        if ticks.len() < 2 && !best.is_empty() || ticks.is_empty() {
            continue;
        }
        let fits = fits(&ticks, pixels, width);
        best = ticks;
        if fits {
            break;
        }
    }
    drop_crowded(best, pixels, width)
}

/// Ticks at `every`, with labels; none if they would be far too many.
fn candidates(first: i64, last: i64, grain: Grain, every: Every, words: Words) -> Vec<TimeTick> {
    let days = match grain {
        Grain::Day => last - first,
        Grain::Week => (last - first) * 7,
        Grain::Month | Grain::Quarter | Grain::Year => 0,
    };
    if is_by_day(grain, every) && days > MOST_DAYS_BY_DAY {
        return Vec::new();
    }
    let span = match every {
        Every::Period | Every::SeventhDay | Every::HalfMonth => last - first,
        Every::Month | Every::Quarter | Every::HalfYear => (last - first) / 20,
        Every::Years(_) => 0,
    };
    if span > MOST_CANDIDATES {
        return Vec::new();
    }
    let periods: Vec<i64> = match every {
        Every::Years(step) => year_starts(first, last, grain, step),
        Every::Period | Every::SeventhDay | Every::HalfMonth | Every::Month | Every::Quarter | Every::HalfYear => {
            (first..=last).filter(|period| is_on(*period, grain, every)).collect()
        }
    };
    let mut ticks = Vec::new();
    for period in periods {
        let Some(day) = first_day(period, grain) else { continue };
        let (label, context) = texts(day, grain, every, words);
        ticks.push(TimeTick { period, label, context });
    }
    ticks
}

/// The periods in which every `step`th year begins.
fn year_starts(first: i64, last: i64, grain: Grain, step: i64) -> Vec<i64> {
    let year = |period| first_day(period, grain).map(|day| i64::from(day.year()));
    let (Some(from), Some(to)) = (year(first), year(last)) else {
        return Vec::new();
    };
    (from.div_euclid(step) * step..=to)
        .step_by(usize::try_from(step).unwrap_or(1))
        .filter_map(|year| of_date(day(year, 1, 1)?, grain))
        .filter(|period| (first..=last).contains(period))
        .collect()
}

fn is_on(period: i64, grain: Grain, every: Every) -> bool {
    let Some(day) = first_day(period, grain) else {
        return false;
    };
    // A week belongs to the month in which most of the calendar's readers look for it: that of its first day.
    let is_first = match grain {
        Grain::Day => day.day() == 1,
        Grain::Week => day.day() <= 7,
        Grain::Month | Grain::Quarter | Grain::Year => true,
    };
    match every {
        Every::Period => true,
        Every::SeventhDay => grain == Grain::Day && day.day() % 7 == 1,
        Every::HalfMonth => match grain {
            Grain::Day => matches!(day.day(), 1 | 15),
            Grain::Week => matches!(day.day(), 1..=7 | 15..=21),
            Grain::Month | Grain::Quarter | Grain::Year => false,
        },
        Every::Month => is_first && matches!(grain, Grain::Day | Grain::Week | Grain::Month),
        Every::Quarter => is_first && day.month() % 3 == 1,
        Every::HalfYear => is_first && day.month() % 6 == 1,
        Every::Years(_) => false,
    }
}

/// Are the labels days of a month?
fn is_by_day(grain: Grain, every: Every) -> bool {
    matches!(grain, Grain::Day | Grain::Week) && matches!(every, Every::Period | Every::SeventhDay | Every::HalfMonth)
}

fn texts(day: Date, grain: Grain, every: Every, words: Words) -> (String, Option<String>) {
    let (year, month) = (i64::from(day.year()), day.month().unsigned_abs());
    if is_by_day(grain, every) {
        return (day.day().to_string(), Some(words.month_and_year(month, year)));
    }
    match (grain, every) {
        (_, Every::Years(_)) | (Grain::Year, _) => (words.year(year), None),
        (Grain::Quarter, _) => (format!("Q{}", month.div_ceil(3)), Some(words.year(year))),
        (Grain::Day | Grain::Week | Grain::Month, _) => (words.month(month), Some(words.year(year))),
    }
}

fn fits(ticks: &[TimeTick], pixels: f64, width: &dyn Fn(&str) -> f64) -> bool {
    ticks.iter().zip(ticks.iter().skip(1)).all(|(left, right)| {
        let room = (right.period - left.period) as f64 * pixels;
        room >= (width(&left.label) + width(&right.label)) / 2.0 + GAP
    })
}

/// Keeps every second, third, … label where they would touch, and of their contexts the first of each; a context that
/// would touch the next gives way to it.
fn drop_crowded(ticks: Vec<TimeTick>, pixels: f64, width: &dyn Fn(&str) -> f64) -> Vec<TimeTick> {
    let apart =
        |left: (i64, f64), right: (i64, f64)| (right.0 - left.0) as f64 * pixels >= (left.1 + right.1) / 2.0 + GAP;
    let every = (1..=ticks.len()).find(|every| {
        let kept: Vec<TimeTick> = ticks.iter().step_by(*every).cloned().collect();
        fits(&kept, pixels, width)
    });
    let mut kept: Vec<TimeTick> = ticks.into_iter().step_by(every.unwrap_or(1)).collect();
    let mut before = None;
    for tick in &mut kept {
        let same = tick.context == before;
        before.clone_from(&tick.context);
        tick.context.take_if(|_| same);
    }
    let mut next: Option<(i64, f64)> = None;
    for tick in kept.iter_mut().rev() {
        let Some(context) = &tick.context else { continue };
        let this = (tick.period, width(context));
        if next.is_some_and(|next| !apart(this, next)) {
            tick.context = None;
        } else {
            next = Some(this);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Language;
    use rstest::rstest;

    #[rstest]
    #[case("2005-08-14", Grain::Day, Some(13_009))]
    #[case("2005-08-14 00:00:00", Grain::Day, Some(13_009))]
    #[case("2005/08/14", Grain::Day, Some(13_009))]
    #[case("1970-01-05", Grain::Week, Some(0))]
    #[case("1970-01-04", Grain::Week, Some(-1))]
    #[case("2005-W33", Grain::Week, Some(1858))]
    #[case("2005-08-15", Grain::Week, Some(1858))]
    #[case("2005-08", Grain::Month, Some(2005 * 12 + 7))]
    #[case("2005-Q3", Grain::Quarter, Some(2005 * 4 + 2))]
    #[case("2005", Grain::Year, Some(2005))]
    #[case("2005-13", Grain::Month, None)]
    #[case("2005-02-30", Grain::Day, None)]
    #[case("2005-Q5", Grain::Quarter, None)]
    #[case("August", Grain::Month, None)]
    #[case("", Grain::Day, None)]
    fn periods_are_read(#[case] text: &str, #[case] grain: Grain, #[case] period: Option<i64>) {
        assert_eq!(parse(text, grain), period);
    }

    fn labels(first: &str, last: &str, grain: Grain, room: f64, language: Language) -> Vec<String> {
        let ends = (parse(first, grain).unwrap(), parse(last, grain).unwrap());
        let pixels = room / (ends.1 - ends.0).max(1) as f64;
        let ticks = time_ticks(ends, grain, pixels, Words(language), &|text| {
            text.chars().count() as f64 * 7.0
        });
        ticks
            .into_iter()
            .map(|tick| {
                [Some(tick.label), tick.context]
                    .into_iter()
                    .flatten()
                    .collect::<Vec<_>>()
                    .join("/")
            })
            .collect()
    }

    #[rstest]
    #[case::months_with_years("2004-11", "2005-03", Grain::Month, &["Nov/2004", "Dec", "Jan/2005", "Feb", "Mar"])]
    #[case::weeks_of_days("2005-08-01", "2005-08-31", Grain::Day, &["1/Aug 2005", "8", "15", "22", "29"])]
    #[case::quarter_starts("2003-01", "2005-12", Grain::Month, &[
        "Jan/2003", "Apr", "Jul", "Oct", "Jan/2004", "Apr", "Jul", "Oct", "Jan/2005", "Apr", "Jul", "Oct"])]
    #[case::a_year_without_its_january("2003-08", "2005-08", Grain::Month, &[
        "Oct/2003", "Jan/2004", "Apr", "Jul", "Oct", "Jan/2005", "Apr", "Jul"])]
    #[case::quarters("2005-Q1", "2005-Q4", Grain::Quarter, &["Q1/2005", "Q2", "Q3", "Q4"])]
    #[case::years("2001", "2005", Grain::Year, &["2001", "2002", "2003", "2004", "2005"])]
    #[case::months_of_days("2005-01-01", "2005-06-30", Grain::Day, &["Jan/2005", "Feb", "Mar", "Apr", "May", "Jun"])]
    #[case::one_period("2005-08", "2005-08", Grain::Month, &["Aug/2005"])]
    #[case::decades("1900-01-01", "1999-12-31", Grain::Day, &[
        "1900", "1910", "1920", "1930", "1940", "1950", "1960", "1970", "1980", "1990"])]
    fn time_labels_read_like_a_calendar(
        #[case] first: &str,
        #[case] last: &str,
        #[case] grain: Grain,
        #[case] texts: &[&str],
    ) {
        assert_eq!(labels(first, last, grain, 420.0, Language::English), texts);
    }

    #[test]
    fn thinned_labels_keep_the_year_under_the_first_of_each() {
        let ticks = ["Nov", "Dec", "Jan", "Feb"]
            .iter()
            .zip(23_999..)
            .map(|(label, period)| TimeTick {
                period,
                label: label.to_string(),
                context: Some(if period < 24_001 { "1999" } else { "2000" }.to_string()),
            });
        let kept = drop_crowded(ticks.skip(1).collect(), 16.0, &|text| text.len() as f64 * 7.0);
        let contexts: Vec<_> = kept
            .iter()
            .map(|tick| (tick.label.as_str(), tick.context.as_deref()))
            .collect();
        assert_eq!(contexts, [("Dec", None), ("Feb", Some("2000"))]);
        let wide = drop_crowded(kept.clone(), 100.0, &|text| text.len() as f64 * 7.0);
        assert_eq!(wide, kept);
    }

    #[test]
    fn chinese_months() {
        assert_eq!(
            labels("2004-12", "2005-02", Grain::Month, 300.0, Language::Chinese),
            ["12月/2004年", "1月/2005年", "2月"]
        );
    }
}
