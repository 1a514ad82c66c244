//! What people call dates, windows and periods, in both languages.

use jiff::civil::Date;

use super::{Grain, Window};
use crate::text::Language;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const QUARTERS_ZH: [&str; 4] = ["一", "二", "三", "四"];

/// The English name of month 1 to 12; empty for any other number.
pub fn month_name(month: i8) -> &'static str {
    let index = usize::try_from(month).ok().and_then(|month| month.checked_sub(1));
    index.and_then(|index| MONTHS.get(index)).copied().unwrap_or_default()
}

/// `2005-08-15`, or `2005 年 8 月 15 日`.
pub fn date_label(day: Date, language: Language) -> String {
    match language {
        Language::English => day.to_string(),
        Language::Chinese => format!("{} 年 {} 月 {} 日", day.year(), day.month(), day.day()),
    }
}

impl Window {
    /// The window's name: `August 2005`, `Q3 2005`, `H1 2005`, `2005`, `March to May 2005`,
    /// `2005-08-01 to 2005-08-15` (both days included); in Chinese `2005 年 8 月` and so on.
    pub fn label(&self, language: Language) -> String {
        if self.is_open_start() || self.is_open_end() {
            return self.open_label(language);
        }
        let (grain, count) = self.units();
        match (grain, count) {
            (_, 1) => grain.period_label(self.start, language),
            (Grain::Quarter, 2) if matches!(self.start.month(), 1 | 7) => self.half_label(language),
            (Grain::Year, _) => self.range_label(Grain::Year, language),
            (Grain::Quarter | Grain::Month, _) => self.months_label(language),
            (Grain::Day | Grain::Week, _) => {
                let joiner = joiner(language);
                format!("{} {joiner} {}", self.start, self.last_day())
            }
        }
    }

    fn open_label(&self, language: Language) -> String {
        match (self.is_open_start(), self.is_open_end(), language) {
            (true, true, Language::English) => "all dates".to_owned(),
            (true, true, Language::Chinese) => "全部日期".to_owned(),
            (true, false, Language::English) => format!("before {}", self.end),
            (true, false, Language::Chinese) => format!("{} 之前", self.end),
            (_, _, Language::English) => format!("since {}", self.start),
            (_, _, Language::Chinese) => format!("{} 起", self.start),
        }
    }

    fn half_label(&self, language: Language) -> String {
        let first = self.start.month() == 1;
        match language {
            Language::English => format!("H{} {}", if first { 1 } else { 2 }, self.start.year()),
            Language::Chinese => format!("{} 年{}半年", self.start.year(), if first { "上" } else { "下" }),
        }
    }

    fn months_label(&self, language: Language) -> String {
        let last = self.last_day();
        if self.start.year() != last.year() {
            return self.range_label(Grain::Month, language);
        }
        match language {
            Language::English => {
                format!(
                    "{} to {} {}",
                    month_name(self.start.month()),
                    month_name(last.month()),
                    last.year()
                )
            }
            Language::Chinese => format!("{} 年 {} 月至 {} 月", last.year(), self.start.month(), last.month()),
        }
    }

    fn range_label(&self, grain: Grain, language: Language) -> String {
        let (first, last) = (
            grain.period_label(self.start, language),
            grain.period_label(self.last_day(), language),
        );
        format!("{first} {} {last}", joiner(language))
    }
}

impl Grain {
    /// The name of the period that `day` lies in: `August 2005`, `Q3 2005`, `2005`, `2005-08-15`, `week of 2005-08-15`.
    pub fn period_label(self, day: Date, language: Language) -> String {
        let start = self.truncate(day);
        let year = start.year();
        let quarter = usize::try_from((start.month() - 1) / 3).unwrap_or_default();
        match (self, language) {
            (Grain::Day, _) => date_label(start, language),
            (Grain::Week, Language::English) => format!("week of {start}"),
            (Grain::Week, Language::Chinese) => format!("{start} 起的一周"),
            (Grain::Month, Language::English) => format!("{} {year}", month_name(start.month())),
            (Grain::Month, Language::Chinese) => format!("{year} 年 {} 月", start.month()),
            (Grain::Quarter, Language::English) => format!("Q{} {year}", quarter + 1),
            (Grain::Quarter, Language::Chinese) => {
                format!(
                    "{year} 年第{}季度",
                    QUARTERS_ZH.get(quarter).copied().unwrap_or_default()
                )
            }
            (Grain::Year, Language::English) => year.to_string(),
            (Grain::Year, Language::Chinese) => format!("{year} 年"),
        }
    }

    /// `day`, `week`, `month`, `quarter`, `year`; `日`, `周`, `月`, `季度`, `年`.
    pub fn name(self, language: Language) -> &'static str {
        match (self, language) {
            (Grain::Day, Language::English) => "day",
            (Grain::Week, Language::English) => "week",
            (Grain::Month, Language::English) => "month",
            (Grain::Quarter, Language::English) => "quarter",
            (Grain::Year, Language::English) => "year",
            (Grain::Day, Language::Chinese) => "日",
            (Grain::Week, Language::Chinese) => "周",
            (Grain::Month, Language::Chinese) => "月",
            (Grain::Quarter, Language::Chinese) => "季度",
            (Grain::Year, Language::Chinese) => "年",
        }
    }
}

fn joiner(language: Language) -> &'static str {
    match language {
        Language::English => "to",
        Language::Chinese => "至",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;
    use rstest::rstest;

    #[rstest]
    #[case((2005, 8, 1), (2005, 9, 1), "August 2005", "2005 年 8 月")]
    #[case((2005, 7, 1), (2005, 10, 1), "Q3 2005", "2005 年第三季度")]
    #[case((2005, 1, 1), (2005, 7, 1), "H1 2005", "2005 年上半年")]
    #[case((2005, 1, 1), (2006, 1, 1), "2005", "2005 年")]
    #[case((2003, 1, 1), (2006, 1, 1), "2003 to 2005", "2003 年 至 2005 年")]
    #[case((2005, 3, 1), (2005, 6, 1), "March to May 2005", "2005 年 3 月至 5 月")]
    #[case((2004, 12, 1), (2005, 3, 1), "December 2004 to February 2005", "2004 年 12 月 至 2005 年 2 月")]
    #[case((2005, 8, 1), (2005, 8, 16), "2005-08-01 to 2005-08-15", "2005-08-01 至 2005-08-15")]
    #[case((2005, 8, 15), (2005, 8, 16), "2005-08-15", "2005 年 8 月 15 日")]
    #[case((1, 1, 1), (2005, 8, 16), "before 2005-08-16", "2005-08-16 之前")]
    #[case((2005, 8, 16), (9999, 12, 31), "since 2005-08-16", "2005-08-16 起")]
    fn windows_have_the_names_people_use(
        #[case] start: (i16, i8, i8),
        #[case] end: (i16, i8, i8),
        #[case] english: &str,
        #[case] chinese: &str,
    ) {
        let window = Window::new(date(start.0, start.1, start.2), date(end.0, end.1, end.2)).unwrap();
        assert_eq!(window.label(Language::English), english);
        assert_eq!(window.label(Language::Chinese), chinese);
    }
}
