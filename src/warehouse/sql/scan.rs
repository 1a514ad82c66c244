//! The text as tokens, within bounds: length, depth, comments and invisible characters are judged before parsing.

use sqlparser::dialect as grammar;
use sqlparser::tokenizer::{Location, Token, TokenWithSpan, Tokenizer, Whitespace, Word};

use super::{Position, Reason, Refusal, Stage};
use crate::warehouse::Dialect;

/// Bytes of a statement. The longest statement that people write by hand has a few tens of kilobytes.
const MAX_LENGTH: usize = 200_000;
/// Open parentheses, brackets and CASEs at one place. Deeper ones are generated, and cost stack in every later step.
const MAX_NESTING: usize = 60;
/// Operators in a row at one level; each makes the left-leaning tree one node deeper.
const MAX_CHAIN: usize = 2_000;
/// Depth up to which a statement is checked on the caller's stack.
const SHALLOW: usize = 24;
/// Operators in a row up to which a statement is checked on the caller's stack.
const SHORT_CHAIN: usize = 60;

/// The tokens of one statement that is within bounds.
pub(super) struct Scanned<'a> {
    /// The statement without surrounding space, comments at its end, or a closing semicolon.
    pub text: &'a str,
    pub dialect: Dialect,
    pub(super) tokens: Vec<TokenWithSpan>,
    /// Deep or long enough to need a stack of its own.
    pub deep: bool,
}

/// A refusal with one reason.
pub(super) fn refuse(stage: Stage, code: &str, message: impl Into<String>) -> Refusal {
    refuse_at(stage, code, message, None)
}

/// A refusal with one reason that stands at `position`.
pub(super) fn refuse_at(stage: Stage, code: &str, message: impl Into<String>, position: Option<Position>) -> Refusal {
    Refusal {
        stage,
        reasons: vec![Reason {
            code: code.to_owned(),
            message: message.into(),
            suggestion: None,
            position,
        }],
    }
}

/// sqlparser's grammar for `dialect`.
pub(super) fn grammar(dialect: Dialect) -> &'static dyn grammar::Dialect {
    match dialect {
        Dialect::Sqlite => &grammar::SQLiteDialect {},
        Dialect::Postgres => &grammar::PostgreSqlDialect {},
        Dialect::Mysql => &grammar::MySqlDialect {},
        Dialect::Duckdb => &grammar::DuckDbDialect {},
        Dialect::Snowflake => &grammar::SnowflakeDialect,
        Dialect::Bigquery => &grammar::BigQueryDialect,
        Dialect::Databricks => &grammar::DatabricksDialect {},
        Dialect::Clickhouse => &grammar::ClickHouseDialect {},
    }
}

/// Splits `text` into tokens and judges what can be judged without a tree.
pub(super) fn scan(text: &str, dialect: Dialect) -> Result<Scanned<'_>, Refusal> {
    if text.len() > MAX_LENGTH {
        let message = format!(
            "the statement has {} bytes; at most {MAX_LENGTH} are read. Ask for less at once, or put long value lists into a table",
            text.len()
        );
        return Err(refuse(Stage::Guard, "too-long", message));
    }
    if let Some(control) = text
        .chars()
        .find(|c| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{c}'))
    {
        let message = format!(
            "the statement contains the control character U+{:04X}; remove it",
            u32::from(control)
        );
        return Err(refuse(Stage::Guard, "invalid-character", message));
    }
    let tokens = Tokenizer::new(grammar(dialect), text)
        .tokenize_with_location()
        .map_err(|error| {
            let (message, at) = (error.message, error.location);
            let message = format!(
                "cannot read the statement: {message} at line {}, column {}",
                at.line, at.column
            );
            refuse_at(Stage::Parse, "syntax-error", message, Position::of(at))
        })?;
    let places = Places::of(text);
    refuse_executable_comments(text, dialect, &tokens, &places)?;
    refuse_lookalikes(text, &tokens, &places)?;
    let end = single_statement(&tokens)?;
    let (nesting, chain) = depth(&tokens);
    if nesting > MAX_NESTING || chain > MAX_CHAIN {
        let message = format!(
            "the statement is nested {nesting} levels deep with up to {chain} operators in a row; at most {MAX_NESTING} and \
             {MAX_CHAIN} are read. Use IN lists or CTEs"
        );
        return Err(refuse(Stage::Guard, "too-deep", message));
    }
    let first = tokens
        .iter()
        .find(|t| is_significant(&t.token))
        .map_or(0, |t| places.offset(t.span.start));
    let text = text.get(first..places.offset(end)).unwrap_or(text);
    Ok(Scanned {
        text,
        dialect,
        tokens,
        deep: nesting > SHALLOW || chain > SHORT_CHAIN,
    })
}

/// Byte offsets of the tokenizer's lines and columns.
struct Places<'a> {
    text: &'a str,
    lines: Vec<usize>,
}

impl<'a> Places<'a> {
    fn of(text: &'a str) -> Self {
        let after_newlines = text
            .bytes()
            .enumerate()
            .filter(|(_, b)| *b == b'\n')
            .map(|(i, _)| i + 1);
        Self {
            text,
            lines: std::iter::once(0).chain(after_newlines).collect(),
        }
    }

    fn offset(&self, at: Location) -> usize {
        let line = usize::try_from(at.line).unwrap_or(1).saturating_sub(1);
        let column = usize::try_from(at.column).unwrap_or(1).saturating_sub(1);
        let Some(start) = self.lines.get(line).copied() else {
            return self.text.len();
        };
        let rest = self.text.get(start..).unwrap_or("");
        rest.char_indices()
            .nth(column)
            .map_or(self.text.len(), |(i, _)| start + i)
    }
}

/// Whether a token is more than space, a comment or the end.
pub(super) fn is_significant(token: &Token) -> bool {
    !matches!(token, Token::Whitespace(_) | Token::EOF)
}

/// Whether a token's inside is data (a string, a quoted name) or a comment, where any character is harmless.
fn is_opaque(token: &Token) -> bool {
    match token {
        Token::Word(Word { quote_style, .. }) => quote_style.is_some(),
        Token::Whitespace(space) => {
            matches!(
                space,
                Whitespace::SingleLineComment { .. } | Whitespace::MultiLineComment(_)
            )
        }
        Token::SingleQuotedString(_)
        | Token::DoubleQuotedString(_)
        | Token::TripleSingleQuotedString(_)
        | Token::TripleDoubleQuotedString(_)
        | Token::DollarQuotedString(_)
        | Token::SingleQuotedByteStringLiteral(_)
        | Token::DoubleQuotedByteStringLiteral(_)
        | Token::SingleQuotedRawStringLiteral(_)
        | Token::DoubleQuotedRawStringLiteral(_)
        | Token::NationalStringLiteral(_)
        | Token::EscapedStringLiteral(_)
        | Token::UnicodeStringLiteral(_)
        | Token::HexStringLiteral(_) => true,
        _ => false,
    }
}

/// Comments that a server executes (`/*! … */`), or that change its settings (`/*+ SET_VAR(…) */`).
fn refuse_executable_comments(
    text: &str,
    dialect: Dialect,
    tokens: &[TokenWithSpan],
    places: &Places<'_>,
) -> Result<(), Refusal> {
    let hint = |t: &TokenWithSpan| matches!(&t.token, Token::Whitespace(Whitespace::MultiLineComment(c)) if c.starts_with('+'));
    if matches!(dialect, Dialect::Mysql | Dialect::Postgres) && tokens.iter().any(hint) {
        let message =
            "optimizer hints (`/*+ … */`) can change server settings, so they are not accepted; remove the comment";
        return Err(refuse(Stage::Guard, "executable-comment", message));
    }
    if dialect != Dialect::Mysql {
        return Ok(());
    }
    let starts = ["/*!", "/*M!", "/*m!"]
        .iter()
        .flat_map(|mark| text.match_indices(mark))
        .map(|(at, _)| at);
    for at in starts {
        let inside = |t: &&TokenWithSpan| {
            is_opaque(&t.token) && places.offset(t.span.start) < at && at < places.offset(t.span.end)
        };
        if !tokens.iter().any(|t| inside(&t)) {
            let message = "`/*! … */` is executed by the server, not skipped; write its contents plainly or remove it";
            return Err(refuse(Stage::Guard, "executable-comment", message));
        }
    }
    Ok(())
}

/// Characters that look like SQL punctuation or space, or like nothing, but are neither to the server.
fn is_lookalike(c: char) -> bool {
    (c.is_whitespace() && !c.is_ascii())
        || matches!(c,
            '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{2018}'..='\u{201f}' | '\u{2032}' | '\u{2033}' | '\u{37e}' | '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}'
            | '\u{ff21}'..='\u{ff3a}' | '\u{ff41}'..='\u{ff5a}' | '\u{2212}' | '\u{2013}' | '\u{2014}' | '\u{2215}' | '\u{2217}')
}

fn refuse_lookalikes(text: &str, tokens: &[TokenWithSpan], places: &Places<'_>) -> Result<(), Refusal> {
    if !text.chars().any(is_lookalike) {
        return Ok(());
    }
    for token in tokens.iter().filter(|t| !is_opaque(&t.token)) {
        let slice = text
            .get(places.offset(token.span.start)..places.offset(token.span.end))
            .unwrap_or("");
        if let Some(found) = slice.chars().find(|c| is_lookalike(*c)) {
            let at = token.span.start;
            let message = format!(
                "U+{:04X} at line {}, column {} looks like SQL but is not read as such; type the plain ASCII character",
                u32::from(found),
                at.line,
                at.column
            );
            return Err(refuse_at(Stage::Guard, "invalid-character", message, Position::of(at)));
        }
    }
    Ok(())
}

/// Refuses an empty text and a second statement; where the last token of the only one ends.
fn single_statement(tokens: &[TokenWithSpan]) -> Result<Location, Refusal> {
    let mut significant = tokens.iter().filter(|t| is_significant(&t.token));
    let mut end = None;
    let closed = loop {
        match significant.next() {
            Some(token) if token.token == Token::SemiColon => break true,
            Some(token) => end = Some(token.span.end),
            None => break false,
        }
    };
    if let Some(second) = significant.find(|t| t.token != Token::SemiColon)
        && end.is_some()
    {
        let at = second.span.start;
        let message = format!(
            "a second statement starts at line {}, column {}; send one statement at a time",
            at.line, at.column
        );
        return Err(refuse_at(Stage::Guard, "several-statements", message, Position::of(at)));
    }
    end.ok_or_else(|| {
        let place = if closed { "before the semicolon" } else { "in the text" };
        refuse(
            Stage::Guard,
            "empty-statement",
            format!("there is no statement {place}"),
        )
    })
}

/// The deepest nesting of brackets and CASEs, and the longest run of operators at one level.
fn depth(tokens: &[TokenWithSpan]) -> (usize, usize) {
    let (mut nesting, mut deepest, mut longest) = (0usize, 0usize, 0usize);
    let mut runs = vec![0usize];
    for TokenWithSpan { token, .. } in tokens {
        match token {
            Token::LParen | Token::LBracket | Token::LBrace => open(&mut nesting, &mut runs),
            Token::RParen | Token::RBracket | Token::RBrace => close(&mut nesting, &mut runs),
            Token::Word(Word {
                value,
                quote_style: None,
                ..
            }) if value.eq_ignore_ascii_case("case") => {
                open(&mut nesting, &mut runs);
            }
            Token::Word(Word {
                value,
                quote_style: None,
                ..
            }) if value.eq_ignore_ascii_case("end") => {
                close(&mut nesting, &mut runs);
            }
            Token::Comma => {
                if let Some(run) = runs.last_mut() {
                    *run = 0;
                }
            }
            token if is_operator(token) => {
                if let Some(run) = runs.last_mut() {
                    *run += 1;
                    longest = longest.max(*run);
                }
            }
            _ => {}
        }
        deepest = deepest.max(nesting);
    }
    (deepest, longest)
}

fn open(nesting: &mut usize, runs: &mut Vec<usize>) {
    *nesting += 1;
    runs.push(0);
}

fn close(nesting: &mut usize, runs: &mut Vec<usize>) {
    *nesting = nesting.saturating_sub(1);
    if runs.len() > 1 {
        runs.pop();
    }
}

/// Tokens that make a tree deeper: operators of every kind, and the words that chain conditions and set operations.
fn is_operator(token: &Token) -> bool {
    match token {
        Token::Word(Word {
            value,
            quote_style: None,
            ..
        }) => {
            const CHAINING: [&str; 19] = [
                "and",
                "or",
                "not",
                "union",
                "except",
                "intersect",
                "minus",
                "is",
                "like",
                "between",
                "collate",
                "xor",
                "div",
                "mod",
                "in",
                "array",
                "struct",
                "map",
                "join",
            ];
            CHAINING.iter().any(|word| value.eq_ignore_ascii_case(word))
        }
        Token::Word(_)
        | Token::Number(..)
        | Token::Comma
        | Token::Whitespace(_)
        | Token::EOF
        | Token::SemiColon
        | Token::Char(_)
        | Token::Placeholder(_) => false,
        other => !is_opaque(other),
    }
}
