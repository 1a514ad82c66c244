//! What can be said of a question before any database is looked at: its intents, and the days that a phrase means.

use crate::meaning::question::cue::{Cue, cues_at};
use crate::meaning::question::phrases::{self, Calendar};
use crate::meaning::question::{Intent, token};
use crate::meaning::semantic::Settings;
use crate::time::{TimeContext, Window};

/// What the wording asks for, each intent once, in the order said.
///
/// Superlatives and shifts count too: "who sold most" ranks, "year over year" compares.
pub fn intents(question: &str) -> Vec<Intent> {
    let tokens = token::tokens(question);
    let mut found: Vec<Intent> = Vec::new();
    for at in 0..tokens.len() {
        for (cue, _) in cues_at(&tokens, at) {
            if let Cue::Intent(intent) = cue
                && !found.contains(&intent)
            {
                found.push(intent);
            }
        }
    }
    found
}

/// The days that `text` means, where it is a phrase about time and nothing else.
pub fn window_of(text: &str, time: &TimeContext, settings: &Settings) -> Option<Window> {
    let tokens = token::tokens(text);
    match phrases::find(&tokens, &Calendar::new(*time, settings)).as_slice() {
        [only] if only.first == 0 && only.end == tokens.len() => only.phrase.window(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use rstest::rstest;

    use super::*;
    use crate::time::AsOf;

    #[rstest]
    #[case("analyze Aug 2005 employee sales", Intent::Report, true)]
    #[case(
        "分析 2005 年 8 月的员工销售业绩，给出排名、趋势、异常员工和建议",
        Intent::Report,
        true
    )]
    #[case("查一下 2005 年 8 月的总销售额", Intent::Report, false)]
    #[case("how many orders were there in 2004", Intent::Report, false)]
    #[case("monthly sales trend 2005", Intent::Trend, true)]
    fn the_wording_tells_what_is_wanted(#[case] question: &str, #[case] intent: Intent, #[case] wanted: bool) {
        assert_eq!(intents(question).contains(&intent), wanted, "{:?}", intents(question));
    }

    #[rstest]
    #[case("Aug 2005", Window::month(2005, 8))]
    #[case("2005年第三季度", Window::quarter(2005, 3))]
    #[case("net sales", None)]
    #[case("sales in Aug 2005", None)]
    fn a_phrase_about_time_alone_means_days(#[case] text: &str, #[case] window: Option<Window>) {
        let time = TimeContext {
            as_of: AsOf::resolve(Some(date(2005, 12, 12)), date(2026, 11, 30), None),
            data: None,
        };
        assert_eq!(window_of(text, &time, &Settings::default()), window);
    }
}
