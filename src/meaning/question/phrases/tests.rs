//! Tables of date phrases in both languages, as of Monday 12 December 2005.

use jiff::civil::{Date, date};
use rstest::rstest;

use super::*;
use crate::meaning::question::token::tokens;
use crate::time::{AsOf, AsOfSource};

fn calendar() -> Calendar {
    let as_of = AsOf {
        date: date(2005, 12, 12),
        source: AsOfSource::DataEnd,
    };
    Calendar {
        time: TimeContext { as_of, data: None },
        fiscal_year_start: 1,
        said_year: None,
    }
}

fn windows(question: &str) -> Vec<(Date, Date)> {
    find(&tokens(question), &calendar())
        .iter()
        .filter_map(|found| found.phrase.window())
        .map(|window| (window.start, window.end))
        .collect()
}

fn day(text: &str) -> Date {
    crate::time::parse_date(text).unwrap()
}

#[rstest]
#[case("analyze Aug 2005 employee sales", "2005-08-01", "2005-09-01")]
#[case("sales in August, 2005", "2005-08-01", "2005-09-01")]
#[case("sales in 2005-08", "2005-08-01", "2005-09-01")]
#[case("sales on Aug. 15, 2005", "2005-08-15", "2005-08-16")]
#[case("sales on 15th of August 2005", "2005-08-15", "2005-08-16")]
#[case("sales on 8/15/2005", "2005-08-15", "2005-08-16")]
#[case("sales on 25/8/2005", "2005-08-25", "2005-08-26")]
#[case("sales on 2005-08-15", "2005-08-15", "2005-08-16")]
#[case("revenue Q3 2005", "2005-07-01", "2005-10-01")]
#[case("revenue 2005 Q3", "2005-07-01", "2005-10-01")]
#[case("revenue in the third quarter of 2005", "2005-07-01", "2005-10-01")]
#[case("revenue in the first quarter of last year", "2004-01-01", "2004-04-01")]
#[case("H1 2005 revenue", "2005-01-01", "2005-07-01")]
#[case("second half of 2004", "2004-07-01", "2005-01-01")]
#[case("monthly sales trend 2005", "2005-01-01", "2006-01-01")]
#[case("from March to May 2005", "2005-03-01", "2005-06-01")]
#[case("between 2003 and 2004", "2003-01-01", "2005-01-01")]
#[case("2005-08-01 to 2005-08-15", "2005-08-01", "2005-08-16")]
#[case("August 1-15, 2005", "2005-08-01", "2005-08-16")]
#[case("between Aug 1 and Aug 15 2005", "2005-08-01", "2005-08-16")]
#[case("the week of August 17, 2005", "2005-08-15", "2005-08-22")]
#[case("sales before March 2005", "0001-01-01", "2005-03-01")]
#[case("sales after March 2005", "2005-04-01", "9999-12-31")]
#[case("sales since March 2005", "2005-03-01", "9999-12-31")]
#[case("sales through March 2005", "0001-01-01", "2005-04-01")]
#[case("from 2004 onwards", "2004-01-01", "9999-12-31")]
#[case("FY2004 revenue", "2004-01-01", "2005-01-01")]
fn absolute_english_dates(#[case] question: &str, #[case] start: &str, #[case] end: &str) {
    assert_eq!(windows(question), [(day(start), day(end))]);
}

#[rstest]
#[case("sales last month", "2005-11-01", "2005-12-01")]
#[case("sales in the last 3 months", "2005-09-13", "2005-12-13")]
#[case("sales in the previous three months", "2005-09-01", "2005-12-01")]
#[case("past 30 days", "2005-11-13", "2005-12-13")]
#[case("this year", "2005-01-01", "2006-01-01")]
#[case("year to date", "2005-01-01", "2005-12-13")]
#[case("year-to-date", "2005-01-01", "2005-12-13")]
#[case("yesterday", "2005-12-11", "2005-12-12")]
#[case("last quarter", "2005-07-01", "2005-10-01")]
#[case("last week", "2005-12-05", "2005-12-12")]
#[case("last year", "2004-01-01", "2005-01-01")]
#[case("3 months ago", "2005-09-01", "2005-10-01")]
#[case("sales in August", "2005-08-01", "2005-09-01")]
#[case("sales in December", "2005-12-01", "2006-01-01")]
#[case("sales last December", "2004-12-01", "2005-01-01")]
#[case("sales in May", "2005-05-01", "2005-06-01")]
#[case("sales on December 24", "2004-12-24", "2004-12-25")]
#[case("sales in Q4", "2005-10-01", "2006-01-01")]
fn relative_english_dates(#[case] question: &str, #[case] start: &str, #[case] end: &str) {
    assert_eq!(windows(question), [(day(start), day(end))]);
}

#[rstest]
#[case("分析 2005 年 8 月的员工销售业绩", "2005-08-01", "2005-09-01")]
#[case("2005年8月15日的订单", "2005-08-15", "2005-08-16")]
#[case("2005年8月15号的订单", "2005-08-15", "2005-08-16")]
#[case("各产品线 2005 年第三季度的销售额", "2005-07-01", "2005-10-01")]
#[case("2005年三季度", "2005-07-01", "2005-10-01")]
#[case("2005年Q3", "2005-07-01", "2005-10-01")]
#[case("2005年上半年", "2005-01-01", "2005-07-01")]
#[case("2005年的销售额", "2005-01-01", "2006-01-01")]
#[case("2005年3月到5月", "2005-03-01", "2005-06-01")]
#[case("从2004年12月至2005年2月", "2004-12-01", "2005-03-01")]
#[case("2005年8月1日到15日", "2005-08-01", "2005-08-16")]
#[case("2005年3月之前", "0001-01-01", "2005-03-01")]
#[case("自2005年3月以来", "2005-03-01", "9999-12-31")]
#[case("上个月的销售额", "2005-11-01", "2005-12-01")]
#[case("去年的销售额", "2004-01-01", "2005-01-01")]
#[case("去年8月", "2004-08-01", "2004-09-01")]
#[case("今年第三季度", "2005-07-01", "2005-10-01")]
#[case("近三个月", "2005-09-13", "2005-12-13")]
#[case("最近30天", "2005-11-13", "2005-12-13")]
#[case("8月的销售额", "2005-08-01", "2005-09-01")]
#[case("昨天", "2005-12-11", "2005-12-12")]
#[case("今年以来", "2005-01-01", "2005-12-13")]
#[case("两个月前", "2005-10-01", "2005-11-01")]
#[case("2005-08 的销售额", "2005-08-01", "2005-09-01")]
#[case("2005年8月17日那周", "2005-08-15", "2005-08-22")]
fn chinese_dates(#[case] question: &str, #[case] start: &str, #[case] end: &str) {
    assert_eq!(windows(question), [(day(start), day(end))]);
}

#[rstest]
#[case("compare Aug 2005 and Jul 2005 sales", &["2005-08-01", "2005-07-01"])]
#[case("compare Aug 2005 with Aug 2004", &["2005-08-01", "2004-08-01"])]
#[case("对比2005年8月和7月的销售额", &["2005-08-01", "2005-07-01"])]
#[case("2004 vs 2005", &["2004-01-01", "2005-01-01"])]
fn two_windows_stay_two(#[case] question: &str, #[case] starts: &[&str]) {
    let found: Vec<Date> = windows(question).iter().map(|(start, _)| *start).collect();
    let expected: Vec<Date> = starts.iter().map(|start| day(start)).collect();
    assert_eq!(found, expected);
}

#[rstest]
#[case("orders with more than 2000 items")]
#[case("customers with credit over 2005")]
#[case("products that may sell")]
#[case("march orders up")]
#[case("id 1999")]
#[case("top 5 products")]
fn other_words_and_amounts_are_no_dates(#[case] question: &str) {
    assert_eq!(windows(question), []);
}

#[rstest]
#[case("sales by month", Phrase::Grain(Grain::Month))]
#[case("monthly sales", Phrase::Grain(Grain::Month))]
#[case("orders per week", Phrase::Grain(Grain::Week))]
#[case("按月统计销售额", Phrase::Grain(Grain::Month))]
#[case("每天的订单数", Phrase::Grain(Grain::Day))]
#[case("各季度的销售额", Phrase::Grain(Grain::Quarter))]
#[case("sales year over year", Phrase::YearAgo)]
#[case("销售额同比", Phrase::YearAgo)]
#[case("销售额环比", Phrase::Previous)]
#[case("compared with the month before", Phrase::Previous)]
fn grains_and_shifts(#[case] question: &str, #[case] expected: Phrase) {
    let found: Vec<Phrase> = find(&tokens(question), &calendar())
        .iter()
        .map(|found| found.phrase)
        .collect();
    assert_eq!(found, [expected]);
}

#[test]
fn a_month_without_a_year_takes_the_one_that_was_said() {
    assert_eq!(windows("July"), [(day("2005-07-01"), day("2005-08-01"))]);
    let expected = [
        (day("2004-08-01"), day("2004-09-01")),
        (day("2004-07-01"), day("2004-08-01")),
    ];
    assert_eq!(windows("August 2004 against July"), expected);
}

#[test]
fn fiscal_years_begin_where_the_model_says() {
    let calendar = Calendar {
        fiscal_year_start: 7,
        ..calendar()
    };
    let found = find(&tokens("FY2005"), &calendar);
    let window = found[0].phrase.window().unwrap();
    assert_eq!((window.start, window.end), (day("2004-07-01"), day("2005-07-01")));
}
