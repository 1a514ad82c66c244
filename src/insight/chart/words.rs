//! The words that charts add by themselves, in both languages.

use crate::text::Language;

/// Month names as on an axis.
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// What a chart may have to say.
#[derive(Debug, Clone, Copy)]
pub(super) struct Words(pub Language);

impl Words {
    fn pick(self, english: String, chinese: String) -> String {
        match self.0 {
            Language::English => english,
            Language::Chinese => chinese,
        }
    }

    /// `month` from 1 to 12.
    pub fn month(self, month: u8) -> String {
        let name = MONTHS
            .get(usize::from(month).wrapping_sub(1))
            .copied()
            .unwrap_or_default();
        self.pick(name.into(), format!("{month}月"))
    }

    pub fn year(self, year: i64) -> String {
        self.pick(year.to_string(), format!("{year}年"))
    }

    pub fn month_and_year(self, month: u8, year: i64) -> String {
        self.pick(format!("{} {year}", self.month(month)), format!("{year}年{month}月"))
    }

    /// The folded rest of `count` parts.
    pub fn other(self, count: usize) -> String {
        self.pick(format!("Other ({count})"), format!("其他（{count} 项）"))
    }

    /// Where the numbers come from.
    pub fn source(self, source: &str) -> String {
        self.pick(format!("Source: {source}"), format!("来源：{source}"))
    }

    /// Bars left out because there are too many: `low` and `high` are the smallest and largest value left out.
    pub fn left_out(self, shown: usize, total: usize, low: &str, high: &str) -> String {
        let rest = total - shown;
        let (between, zh_between) = if low == high {
            (format!("all at {low}"), format!("均为 {low}"))
        } else {
            (format!("from {low} to {high}"), format!("介于 {low} 与 {high} 之间"))
        };
        self.pick(
            format!("The {shown} largest of {total} are shown; the other {rest} are {between}."),
            format!("仅显示 {total} 项中数值最大的 {shown} 项；其余 {rest} 项{zh_between}。"),
        )
    }

    /// Series left out because there are too many.
    pub fn series_left_out(self, shown: usize, total: usize) -> String {
        self.pick(
            format!("{shown} of {total} series are shown."),
            format!("仅显示 {total} 个系列中的 {shown} 个。"),
        )
    }

    /// In place of a bar that has no value.
    pub fn missing(self) -> String {
        self.pick("no data".into(), "无数据".into())
    }

    /// Grey lines.
    pub fn in_grey(self, count: usize) -> String {
        let noun = if count == 1 { "series" } else { "other series" };
        self.pick(
            format!("In grey: {count} {noun}."),
            format!("灰色：其余 {count} 个系列。"),
        )
    }

    /// Name of the histogram's value axis if none was given.
    pub fn frequency(self) -> String {
        self.pick("Number of values".into(), "数量".into())
    }

    /// How wide the histogram's columns are.
    pub fn bin_width(self, width: &str) -> String {
        self.pick(format!("Each column spans {width}."), format!("每组宽度为 {width}。"))
    }

    /// A remark that found no room in the plot.
    pub fn about(self, name: &str, remark: &str) -> String {
        self.pick(format!("{name}: {remark}."), format!("{name}：{remark}。"))
    }

    pub fn day(self, day: u8, month: u8, year: i64) -> String {
        self.pick(
            format!("{day} {}", self.month_and_year(month, year)),
            format!("{year}年{month}月{day}日"),
        )
    }

    pub fn week_of(self, day: &str) -> String {
        self.pick(format!("Week of {day}"), format!("{day}当周"))
    }

    pub fn quarter(self, quarter: u8, year: i64) -> String {
        self.pick(format!("Q{quarter} {year}"), format!("{year}年Q{quarter}"))
    }
}
