//! A question cut into tokens: English words with their stems, numbers, single Chinese characters, quoted texts.

use rust_decimal::Decimal;
use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;

use crate::text::is_han;

/// A question is read up to this many bytes; what people ask fits, and a pasted novel stays cheap.
pub const LONGEST_QUESTION: usize = 4_000;

/// What a token is made of.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    Word,
    /// Digits, with grouping and decimals, as in `1,000.5`.
    Number(Decimal),
    /// One Chinese character.
    Han,
    /// Text in quotation marks, without them.
    Quoted,
    Punctuation,
}

/// One token.
#[derive(Debug, Clone, PartialEq)]
pub struct Token {
    /// Where it stands in the question, in bytes.
    pub start: usize,
    pub end: usize,
    /// Lower case, accents folded, full-width forms made plain.
    pub text: String,
    /// `text` with its English ending taken off; the same as `text` for everything but words.
    pub stem: String,
    pub kind: Kind,
    /// Begins with a capital letter.
    pub capital: bool,
    /// No white space stands before it.
    pub attached: bool,
}

impl Token {
    pub fn is_word(&self, text: &str) -> bool {
        self.text == text && matches!(self.kind, Kind::Word | Kind::Han | Kind::Punctuation)
    }

    pub fn number(&self) -> Option<Decimal> {
        match self.kind {
            Kind::Number(value) => Some(value),
            Kind::Word | Kind::Han | Kind::Quoted | Kind::Punctuation => None,
        }
    }

    /// A number without decimals or grouping, as an integer.
    pub fn integer(&self) -> Option<i64> {
        self.number().and_then(|_| self.text.parse().ok())
    }
}

/// Cuts `question` into tokens; anything beyond [`LONGEST_QUESTION`] is left out.
pub fn tokens(question: &str) -> Vec<Token> {
    let stemmer = Stemmer::create(Algorithm::English);
    let mut limit = question.len().min(LONGEST_QUESTION);
    while !question.is_char_boundary(limit) {
        limit -= 1;
    }
    let text = question.get(..limit).unwrap_or_default();
    let mut found: Vec<Token> = Vec::new();
    let mut at = 0;
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        let (end, kind) = next_token(text, at, c);
        let body = token_body(text, at, end, &kind);
        let folded = fold(body);
        // "Jon's", "employees'": the ending is grammar, not name.
        let plain = folded
            .strip_suffix("'s")
            .or(folded.strip_suffix('\''))
            .unwrap_or(&folded)
            .to_owned();
        let stem = if kind == Kind::Word {
            stem(&stemmer, &plain)
        } else {
            plain.clone()
        };
        let attached = found.last().is_some_and(|last| last.end == at);
        found.push(Token {
            start: at,
            end,
            text: plain,
            stem,
            capital: c.is_uppercase(),
            kind,
            attached,
        });
        at = end.max(at + c.len_utf8());
    }
    found
}

fn token_body<'a>(text: &'a str, start: usize, end: usize, kind: &Kind) -> &'a str {
    let whole = text.get(start..end).unwrap_or_default();
    match kind {
        Kind::Quoted => {
            let mut inner = whole.chars();
            inner.next();
            inner.next_back();
            inner.as_str().trim()
        }
        Kind::Word | Kind::Number(_) | Kind::Han | Kind::Punctuation => whole,
    }
}

fn next_token(text: &str, at: usize, c: char) -> (usize, Kind) {
    let rest = text.get(at..).unwrap_or_default();
    if let Some(end) = quoted_end(text, at, c) {
        return (end, Kind::Quoted);
    }
    if is_han(c) {
        return (at + c.len_utf8(), Kind::Han);
    }
    if c.is_ascii_digit() {
        let length = number_length(rest);
        let after = rest.get(length..).unwrap_or_default();
        let is_name = after.starts_with(|c: char| (c.is_alphabetic() && !is_han(c)) || c == '_');
        let plain: String = rest
            .get(..length)
            .unwrap_or_default()
            .chars()
            .filter(|c| *c != ',')
            .collect();
        if !is_name && let Ok(value) = plain.parse() {
            return (at + length, Kind::Number(value));
        }
    }
    if c.is_alphanumeric() {
        let length = rest
            .char_indices()
            .find(|&(index, c)| {
                let inner_apostrophe = matches!(c, '\'' | '’')
                    && rest
                        .get(index + c.len_utf8()..)
                        .is_some_and(|rest| rest.starts_with(char::is_alphabetic));
                is_han(c) || !(c.is_alphanumeric() || inner_apostrophe)
            })
            .map_or(rest.len(), |(index, _)| index);
        return (at + length, Kind::Word);
    }
    (at + c.len_utf8(), Kind::Punctuation)
}

/// The end of a quotation that begins here; an apostrophe inside a word begins none.
fn quoted_end(text: &str, at: usize, c: char) -> Option<usize> {
    /// Longer than any value that people quote.
    const LONGEST_QUOTE: usize = 200;
    let close = match c {
        '"' => '"',
        '\'' => '\'',
        '“' => '”',
        '‘' => '’',
        '「' => '」',
        '《' => '》',
        '`' => '`',
        _ => return None,
    };
    let before = text.get(..at)?.chars().next_back();
    if c == '\'' && before.is_some_and(char::is_alphanumeric) {
        return None;
    }
    let start = at + c.len_utf8();
    let inner = text.get(start..)?;
    let length = inner.char_indices().take(LONGEST_QUOTE).find(|&(index, candidate)| {
        let follows = inner
            .get(index + candidate.len_utf8()..)
            .and_then(|rest| rest.chars().next());
        candidate == close && (close != '\'' || !follows.is_some_and(char::is_alphanumeric))
    });
    let (length, _) = length?;
    (length > 0).then_some(start + length + close.len_utf8())
}

fn number_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut end = 0;
    while digit(end) {
        end += 1;
        let group = bytes.get(end) == Some(&b',') && (1..=3).all(|ahead| digit(end + ahead)) && !digit(end + 4);
        if group && (end <= 3 || rest.get(..end).is_some_and(|before| before.contains(','))) {
            end += 1;
        }
    }
    if bytes.get(end) == Some(&b'.') && digit(end + 1) {
        end += 1;
        while digit(end) {
            end += 1;
        }
    }
    end
}

/// Lower case, compatibility forms made plain, accents taken off.
pub fn fold(text: &str) -> String {
    text.nfkd()
        .filter(|c| !unicode_normalization::char::is_combining_mark(*c))
        .flat_map(char::to_lowercase)
        .map(|c| if c == '’' { '\'' } else { c })
        .collect()
}

/// The words of a name, folded and stemmed: `OrderLine_id` gives order, line, id.
pub fn name_stems(name: &str) -> Vec<String> {
    let stemmer = Stemmer::create(Algorithm::English);
    let spaced = split_camel(name).replace(['_', '-', '.', '/'], " ");
    tokens(&spaced)
        .into_iter()
        .filter(|token| token.kind != Kind::Punctuation)
        .flat_map(|token| match token.kind {
            Kind::Quoted => token.text.split_whitespace().map(|word| stem(&stemmer, word)).collect(),
            Kind::Word | Kind::Number(_) | Kind::Han | Kind::Punctuation => vec![token.stem],
        })
        .collect()
}

fn split_camel(name: &str) -> String {
    let mut spaced = String::with_capacity(name.len() + 8);
    let mut before: Option<char> = None;
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        let starts_word = c.is_uppercase()
            && before.is_some_and(|before| {
                before.is_lowercase()
                    || before.is_ascii_digit()
                    || before.is_uppercase() && chars.peek().is_some_and(|next| next.is_lowercase())
            });
        if starts_word {
            spaced.push(' ');
        }
        spaced.push(c);
        before = Some(c);
    }
    spaced
}

/// Past forms that no rule of endings finds.
const IRREGULAR: [(&str, &str); 24] = [
    ("sold", "sell"),
    ("bought", "buy"),
    ("paid", "pay"),
    ("made", "make"),
    ("took", "take"),
    ("taken", "take"),
    ("given", "give"),
    ("gave", "give"),
    ("spent", "spend"),
    ("held", "hold"),
    ("won", "win"),
    ("written", "write"),
    ("wrote", "write"),
    ("taught", "teach"),
    ("born", "bear"),
    ("led", "lead"),
    ("left", "leave"),
    ("went", "go"),
    ("grew", "grow"),
    ("grown", "grow"),
    ("people", "person"),
    ("men", "man"),
    ("women", "woman"),
    ("children", "child"),
];

/// The stem that both a question's word and a model's name are compared by.
pub fn stem(stemmer: &Stemmer, word: &str) -> String {
    if let Some((_, base)) = IRREGULAR.iter().find(|(form, _)| *form == word) {
        return stemmer.stem(base).into_owned();
    }
    stemmer.stem(word).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("top 5 products by revenue", &["top", "5", "products", "by", "revenue"])]
    #[case("Jon's 1,000.5 'New York' orders?", &["jon", "1,000.5", "new york", "orders", "?"])]
    #[case("查一下2005年8月", &["查", "一", "下", "2005", "年", "8", "月"])]
    #[case("Aug-2005 S10_1678", &["aug", "-", "2005", "s10", "_", "1678"])]
    #[case("Café don't ＡＢＣ", &["cafe", "don't", "abc"])]
    #[case("\"unclosed", &["\"", "unclosed"])]
    fn questions_are_cut_into_tokens(#[case] question: &str, #[case] expected: &[&str]) {
        let texts: Vec<String> = tokens(question).into_iter().map(|token| token.text).collect();
        assert_eq!(texts, expected);
    }

    #[test]
    fn tokens_remember_their_place() {
        let question = "销售 by “Tokyo” office";
        let quoted = &tokens(question)[3];
        assert_eq!(&question[quoted.start..quoted.end], "“Tokyo”");
        assert_eq!(quoted.text, "tokyo");
    }

    #[rstest]
    #[case("orderLine_ID", &["order", "line", "id"])]
    #[case("HTTPStatus", &["http", "status"])]
    #[case("customers", &["custom"])]
    #[case("客户名", &["客", "户", "名"])]
    fn names_are_cut_into_stems(#[case] name: &str, #[case] expected: &[&str]) {
        assert_eq!(name_stems(name), expected);
    }

    #[test]
    fn a_huge_question_is_cut_short() {
        let huge = "销售 sales ".repeat(10_000);
        assert!(tokens(&huge).len() < 4_000);
    }
}
