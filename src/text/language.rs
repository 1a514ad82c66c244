//! Which language a text is in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The language that a question was asked in and that its report is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
pub enum Language {
    #[default]
    #[serde(rename = "en")]
    English,
    #[serde(rename = "zh")]
    Chinese,
}

impl Language {
    /// The language that most of `text` is in: Chinese when it has at least as many Han characters as words of
    /// Latin letters, so that names inside a Chinese sentence do not turn it English, nor a Chinese column name an
    /// English sentence Chinese. Only the first few thousand characters are looked at.
    pub fn detect(text: &str) -> Self {
        /// A longer text does not change its language.
        const LOOKED_AT: usize = 4_000;
        let mut han = 0_usize;
        let mut words = 0_usize;
        let mut in_word = false;
        for c in text.chars().take(LOOKED_AT) {
            if is_han(c) {
                han += 1;
            }
            let letter = c.is_alphabetic() && !is_han(c);
            if letter && !in_word {
                words += 1;
            }
            in_word = letter || (in_word && c.is_alphanumeric() && !is_han(c));
        }
        if han > 0 && han >= words {
            Language::Chinese
        } else {
            Language::English
        }
    }

    /// `en` or `zh`.
    pub fn code(self) -> &'static str {
        match self {
            Language::English => "en",
            Language::Chinese => "zh",
        }
    }

    /// Picks the text of this language.
    pub fn pick<T>(self, english: T, chinese: T) -> T {
        match self {
            Language::English => english,
            Language::Chinese => chinese,
        }
    }
}

/// Is it a Chinese character?
pub fn is_han(c: char) -> bool {
    matches!(c, '\u{4E00}'..='\u{9FFF}' | '\u{3400}'..='\u{4DBF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}' | '〇')
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("analyze Aug 2005 employee sales", Language::English)]
    #[case("分析 2005 年 8 月的员工销售业绩", Language::Chinese)]
    #[case("查一下 Jon Stephens 的 total sales", Language::Chinese)]
    #[case("How many rows of 客户 are there?", Language::English)]
    #[case("", Language::English)]
    #[case("12345", Language::English)]
    fn the_language_of_most_words_wins(#[case] text: &str, #[case] expected: Language) {
        assert_eq!(Language::detect(text), expected);
    }
}
