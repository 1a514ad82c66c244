//! From tokens to one syntax tree.

use sqlparser::ast::{Query, Statement};
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, TokenWithSpan};

use super::scan::{Scanned, grammar, is_significant, refuse, refuse_at};
use super::{Position, Refusal, Stage, rephrase};
use crate::warehouse::Dialect;

/// Limit of the parser's own recursion, above what the bounds of the scan can need.
const RECURSION_LIMIT: usize = 200;
/// DuckDB's statements that turn rows into columns and back.
pub(super) const PIVOTS: [&str; 4] = ["pivot", "pivot_wider", "unpivot", "pivot_longer"];

/// What a statement is, as far as later steps care.
pub(super) enum Form {
    Query(Box<Query>),
    /// EXPLAIN, DESCRIBE or SUMMARIZE of a query.
    Explain(Box<Query>),
    /// SHOW and DESCRIBE as a tree, to be judged by the guard; nothing in it is resolved.
    Show(Box<Statement>),
    /// A statement that was judged from its tokens alone: PRAGMA, SHOW and DESCRIBE without any parenthesis.
    Words,
}

impl Form {
    /// The query to resolve, when there is one.
    pub fn query(&self) -> Option<&Query> {
        match self {
            Self::Query(query) | Self::Explain(query) => Some(query),
            Self::Show(_) | Self::Words => None,
        }
    }
}

/// Parses what the scan let through; statements that are not queries by their first word are refused here already.
pub(super) fn parse(scanned: Scanned<'_>) -> Result<Form, Refusal> {
    let Scanned { tokens, dialect, .. } = scanned;
    let tokens = rephrase::rephrase(tokens, dialect);
    let words: Vec<&Token> = tokens.iter().map(|t| &t.token).filter(|t| is_significant(t)).collect();
    let first = match words.first() {
        Some(Token::Word(word)) if word.quote_style.is_none() => word.value.to_ascii_lowercase(),
        Some(Token::LParen) => "(".to_owned(),
        Some(other) => other.to_string(),
        None => String::new(),
    };
    match first.as_str() {
        "select" | "with" | "values" | "(" | "from" => {}
        "table" if matches!(dialect, Dialect::Postgres | Dialect::Mysql | Dialect::Duckdb) => {}
        "explain" => {}
        "show" | "describe" | "desc" => {
            let plain = !words.iter().any(|t| matches!(t, Token::LParen));
            let of_query = words
                .iter()
                .skip(1)
                .take(2)
                .any(|t| is_word(t, &["select", "with", "values", "from"]))
                && !is_word(words.first().copied().unwrap_or(&Token::EOF), &["show"]);
            if plain && !of_query {
                return plain_show(&words, dialect);
            }
        }
        "pragma" if matches!(dialect, Dialect::Sqlite | Dialect::Duckdb) => {
            return super::guard::pragma(&words, dialect).map(|()| Form::Words);
        }
        "summarize" if dialect == Dialect::Duckdb => {
            return parse_tokens(after_first_word(tokens), dialect, true).map(|query| Form::Explain(Box::new(query)));
        }
        other => {
            return Err(match rephrase::advice(&words, dialect) {
                Some(advice) if PIVOTS.contains(&other) => refuse(Stage::Parse, "syntax-error", advice),
                _ => super::guard::not_read_only(other),
            });
        }
    }
    let unread = Unread::of(&words, dialect);
    let parsed = if matches!(first.as_str(), "explain" | "show" | "describe" | "desc") {
        explain_or_show(tokens, dialect)
    } else {
        parse_tokens(tokens, dialect, false).map(|query| Form::Query(Box::new(query)))
    };
    parsed.map_err(|refusal| match refusal.stage {
        Stage::Parse => unread.explained(refusal),
        Stage::Guard | Stage::Resolve | Stage::Policy | Stage::Lint => refusal,
    })
}

/// What a statement that cannot be read holds of forms that the grammar does not know, and that deserve their real reason.
struct Unread {
    /// Such as INTO OUTFILE.
    writes: bool,
    /// LOCK IN SHARE MODE.
    locks: bool,
    /// What to write instead of what the engine would have read.
    advice: Option<&'static str>,
}

impl Unread {
    fn of(words: &[&Token], dialect: Dialect) -> Self {
        let share_lock = |w: &[&Token]| matches!(w, [a, b, c] if is_word(a, &["lock"]) && is_word(b, &["in"]) && is_word(c, &["share"]));
        Self {
            writes: words.iter().any(|t| is_word(t, &["into"])),
            locks: dialect == Dialect::Mysql && words.windows(3).any(share_lock),
            advice: rephrase::advice(words, dialect),
        }
    }

    fn explained(self, mut refusal: Refusal) -> Refusal {
        if self.writes {
            let message = "INTO writes the result to a table, a file or a variable; remove it";
            return refuse(Stage::Guard, "select-into", message);
        }
        if self.locks {
            return refuse(
                Stage::Guard,
                "locking-clause",
                "`LOCK IN SHARE MODE` locks rows; remove it",
            );
        }
        if let (Some(advice), Some(reason)) = (self.advice, refusal.reasons.first_mut()) {
            reason.message = format!("{}; {advice}", reason.message);
        }
        refusal
    }
}

fn is_word(token: &Token, words: &[&str]) -> bool {
    matches!(token, Token::Word(w) if w.quote_style.is_none() && words.iter().any(|word| w.value.eq_ignore_ascii_case(word)))
}

/// SHOW and DESCRIBE made of names, strings and comparison alone can call nothing; SQLite and BigQuery have neither.
fn plain_show(words: &[&Token], dialect: Dialect) -> Result<Form, Refusal> {
    if matches!(dialect, Dialect::Sqlite | Dialect::Bigquery) {
        let instead = match dialect {
            Dialect::Sqlite => "PRAGMA table_info(…)",
            _ => "INFORMATION_SCHEMA.COLUMNS",
        };
        let message = format!("this engine has no SHOW or DESCRIBE; use {instead}");
        return Err(refuse(Stage::Parse, "syntax-error", message));
    }
    if words.iter().any(|t| is_word(t, &["into"])) {
        return Err(refuse(Stage::Guard, "select-into", "INTO writes; remove it"));
    }
    if let Some(file) = super::guard::file_in_words(words, dialect) {
        return Err(file);
    }
    if words.len() < 2 {
        return Err(refuse(
            Stage::Parse,
            "syntax-error",
            "the statement ends after its first word; say what to show",
        ));
    }
    Ok(Form::Words)
}

fn after_first_word(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let at = tokens
        .iter()
        .position(|t| is_significant(&t.token))
        .map_or(0, |at| at + 1);
    tokens.into_iter().skip(at).collect()
}

fn syntax_error(error: &ParserError) -> Refusal {
    match error {
        ParserError::RecursionLimitExceeded => refuse(
            Stage::Guard,
            "too-deep",
            "the statement is nested too deeply to be read; use CTEs",
        ),
        ParserError::TokenizerError(message) | ParserError::ParserError(message) => {
            let (message, position) = placed(message);
            refuse_at(
                Stage::Parse,
                "syntax-error",
                format!("cannot read the statement: {message}"),
                position,
            )
        }
    }
}

/// The parser gives the place of an error as words alone: ` at Line: 2, Column: 7`.
fn placed(message: &str) -> (String, Option<Position>) {
    let found = message.rsplit_once(" at Line: ").and_then(|(what, place)| {
        let (line, column) = place.split_once(", Column: ")?;
        let position = Position {
            line: line.trim().parse().ok()?,
            column: column.trim().parse().ok()?,
        };
        Some((what, position))
    });
    match found {
        Some((what, at)) if at.line > 0 => (format!("{what} at line {}, column {}", at.line, at.column), Some(at)),
        // At the end of the text the parser knows no place.
        Some((what, _)) => (what.to_owned(), None),
        None => (message.to_owned(), None),
    }
}

fn parser(tokens: Vec<TokenWithSpan>, dialect: Dialect) -> Parser<'static> {
    Parser::new(grammar(dialect))
        .with_recursion_limit(RECURSION_LIMIT)
        .with_tokens_with_locations(tokens)
}

/// The rest after a statement must be semicolons (the scan has seen that nothing follows them).
fn expect_end(parser: &mut Parser<'_>) -> Result<(), ParserError> {
    while parser.consume_token(&Token::SemiColon) {}
    let next = parser.peek_token();
    if next.token == Token::EOF {
        Ok(())
    } else {
        parser.expected("the end of the statement", next)
    }
}

fn parse_tokens(tokens: Vec<TokenWithSpan>, dialect: Dialect, name_allowed: bool) -> Result<Query, Refusal> {
    let names_a_table = name_allowed
        && !tokens.iter().find(|t| is_significant(&t.token)).is_some_and(|t| {
            t.token == Token::LParen || is_word(&t.token, &["select", "with", "values", "from", "table"])
        });
    let mut parser = if names_a_table {
        // `SUMMARIZE t` reads like `TABLE t`, which has the same meaning to every later step.
        let mut table: Vec<TokenWithSpan> = vec![TokenWithSpan::wrap(Token::make_keyword("TABLE"))];
        table.extend(tokens);
        parser(table, dialect)
    } else {
        parser(tokens, dialect)
    };
    let query = parser.parse_query().map_err(|error| syntax_error(&error))?;
    expect_end(&mut parser).map_err(|error| syntax_error(&error))?;
    Ok(*query)
}

fn explain_or_show(tokens: Vec<TokenWithSpan>, dialect: Dialect) -> Result<Form, Refusal> {
    let mut parser = parser(tokens, dialect);
    let statement = parser.parse_statement().map_err(|error| syntax_error(&error))?;
    expect_end(&mut parser).map_err(|error| syntax_error(&error))?;
    match statement {
        Statement::Explain { statement, .. } => match *statement {
            Statement::Query(query) => Ok(Form::Explain(query)),
            _ => Err(refuse(
                Stage::Guard,
                "not-read-only",
                "only a query can be explained; EXPLAIN of a change may run it",
            )),
        },
        other => Ok(Form::Show(Box::new(other))),
    }
}
