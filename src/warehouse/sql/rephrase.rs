//! Valid SQL that the parser does not know: put into tokens that it does, or answered with what to write instead.
//!
//! Only the tokens for the parser change; the text that is sent to the database stays as it was written.

use sqlparser::tokenizer::{Token, TokenWithSpan};

use super::scan::is_significant;
use crate::warehouse::Dialect;

/// Words behind which an expression begins, so that `MOD` there is the function and not the operator.
const BEFORE_EXPRESSIONS: [&str; 29] = [
    "select", "distinct", "all", "where", "and", "or", "not", "xor", "on", "having", "by", "when", "then", "else",
    "case", "in", "between", "like", "rlike", "regexp", "is", "limit", "offset", "interval", "div", "mod", "from",
    "join", "as",
];

/// How DuckDB samples rows.
const SAMPLING_METHODS: [&str; 3] = ["reservoir", "bernoulli", "system"];

/// The same statement in tokens that the parser reads.
pub(super) fn rephrase(mut tokens: Vec<TokenWithSpan>, dialect: Dialect) -> Vec<TokenWithSpan> {
    match dialect {
        Dialect::Mysql => modulo(&mut tokens),
        Dialect::Duckdb => without_samples(&mut tokens),
        Dialect::Sqlite
        | Dialect::Postgres
        | Dialect::Snowflake
        | Dialect::Bigquery
        | Dialect::Databricks
        | Dialect::Clickhouse => {}
    }
    tokens
}

/// `a MOD b` is `a % b`.
fn modulo(tokens: &mut [TokenWithSpan]) {
    let places = significant(tokens);
    for around in places.windows(3) {
        let [before, at, after] = around else { continue };
        let token = |place: &usize| tokens.get(*place).map_or(&Token::EOF, |t| &t.token);
        if !is_word(token(at), "mod") {
            continue;
        }
        let ends_operand = match token(before) {
            Token::Word(word) if word.quote_style.is_none() => !BEFORE_EXPRESSIONS
                .iter()
                .any(|opening| word.value.eq_ignore_ascii_case(opening)),
            Token::Word(_)
            | Token::Number(..)
            | Token::RParen
            | Token::SingleQuotedString(_)
            | Token::Placeholder(_) => true,
            _ => false,
        };
        let begins_operand = !matches!(token(after), Token::Comma | Token::RParen | Token::Period | Token::EOF);
        if ends_operand
            && begins_operand
            && let Some(operator) = tokens.get_mut(*at)
        {
            operator.token = Token::Mod;
        }
    }
}

/// Drops `USING SAMPLE …`, which picks rows and reads nothing else.
fn without_samples(tokens: &mut Vec<TokenWithSpan>) {
    loop {
        let places = significant(tokens);
        let words: Vec<&Token> = places
            .iter()
            .filter_map(|at| tokens.get(*at).map(|t| &t.token))
            .collect();
        let found = (0..words.len()).find_map(|at| Some((at, sample(words.get(at..)?)?)));
        let Some((at, length)) = found else { return };
        let (Some(first), Some(last)) = (places.get(at).copied(), places.get(at + length - 1).copied()) else {
            return;
        };
        tokens.drain(first..=last);
    }
}

/// How many of `words` are a sampling clause at their beginning.
fn sample(words: &[&Token]) -> Option<usize> {
    let [using, sample, rest @ ..] = words else { return None };
    if !is_word(using, "using") || !is_word(sample, "sample") {
        return None;
    }
    let method = |token: &Token| SAMPLING_METHODS.iter().any(|method| is_word(token, method));
    let used = match rest {
        [name, Token::LParen, inner @ ..] if method(name) => {
            let size = size(inner)?;
            let closed = matches!(inner.get(size), Some(Token::RParen)).then_some(2 + size + 1)?;
            closed + repeatable(rest.get(closed..).unwrap_or_default())
        }
        _ => {
            let size = size(rest)?;
            size + match rest.get(size..) {
                Some([Token::LParen, name, Token::RParen, ..]) if method(name) => 3,
                Some([Token::LParen, name, Token::Comma, Token::Number(..), Token::RParen, ..]) if method(name) => 5,
                _ => 0,
            }
        }
    };
    Some(2 + used)
}

/// `10`, `10%`, `10 PERCENT` or `10 ROWS`.
fn size(words: &[&Token]) -> Option<usize> {
    match words {
        [Token::Number(..), unit, ..]
            if **unit == Token::Mod || ["percent", "rows", "row"].iter().any(|word| is_word(unit, word)) =>
        {
            Some(2)
        }
        [Token::Number(..), ..] => Some(1),
        _ => None,
    }
}

fn repeatable(words: &[&Token]) -> usize {
    match words {
        [word, Token::LParen, Token::Number(..), Token::RParen, ..] if is_word(word, "repeatable") => 4,
        _ => 0,
    }
}

/// What to write instead of a form that the engine has and the parser does not know.
pub(super) fn advice(words: &[&Token], dialect: Dialect) -> Option<&'static str> {
    let has = |names: &[&str]| words.iter().any(|token| names.iter().any(|name| is_word(token, name)));
    match dialect {
        Dialect::Duckdb if has(&super::parse::PIVOTS) => Some(
            "DuckDB's own PIVOT statement is not read here; write the standard form, \
             SELECT * FROM t PIVOT (SUM(value) FOR name IN ('a', 'b')), or one SUM(CASE …) a column",
        ),
        Dialect::Clickhouse if names_a_value(words) => Some(
            "WITH value AS name is not read here; write the value where it is used, \
             or make it a query: WITH name AS (SELECT value AS v)",
        ),
        _ => None,
    }
}

/// ClickHouse's `WITH 1 AS x`: what follows WITH is no `name AS (`.
fn names_a_value(words: &[&Token]) -> bool {
    let [with, rest @ ..] = words else { return false };
    let rest = match rest {
        [word, rest @ ..] if is_word(word, "recursive") => rest,
        rest => rest,
    };
    is_word(with, "with") && !matches!(rest, [Token::Word(_), word, Token::LParen, ..] if is_word(word, "as"))
}

fn significant(tokens: &[TokenWithSpan]) -> Vec<usize> {
    let places = tokens.iter().enumerate().filter(|(_, t)| is_significant(&t.token));
    places.map(|(at, _)| at).collect()
}

fn is_word(token: &Token, word: &str) -> bool {
    matches!(token, Token::Word(w) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use crate::warehouse::Dialect::{self, *};
    use crate::warehouse::sql::check;

    #[rstest]
    #[case(Mysql, "SELECT a MOD b FROM t")]
    #[case(
        Mysql,
        "SELECT 7 MOD 3, MOD(7, 3), (a) mod (b), a MOD MOD(b, 2) FROM t WHERE a MOD 2 = 1 AND MOD(a, 3) = 0"
    )]
    #[case(Mysql, "SELECT `mod` FROM t ORDER BY a MOD 2, MOD(a, 3)")]
    #[case(Duckdb, "SELECT * FROM t USING SAMPLE 10%")]
    #[case(Duckdb, "SELECT * FROM t USING SAMPLE 10 ROWS")]
    #[case(Duckdb, "SELECT * FROM t USING SAMPLE reservoir(50 ROWS) REPEATABLE (100)")]
    #[case(Duckdb, "SELECT * FROM t USING SAMPLE 10% (bernoulli, 42) ORDER BY a")]
    #[case(
        Duckdb,
        "SELECT * FROM (SELECT * FROM t USING SAMPLE 5) x JOIN (SELECT * FROM u USING SAMPLE 5 PERCENT) y USING (id)"
    )]
    #[case(Duckdb, "SELECT * FROM t PIVOT (SUM(x) FOR y IN ('a', 'b'))")]
    fn what_the_engine_reads_is_read(#[case] dialect: Dialect, #[case] sql: &str) {
        let checked = check(sql, dialect, None).unwrap_or_else(|refusal| panic!("{sql}: {refusal}"));
        assert_eq!(checked.text(), sql);
    }

    #[rstest]
    #[case(Duckdb, "PIVOT cities ON year USING SUM(population)", "standard form")]
    #[case(Duckdb, "UNPIVOT t ON a, b INTO NAME n VALUE v", "standard form")]
    #[case(Duckdb, "WITH p AS (PIVOT t ON y USING SUM(x)) SELECT * FROM p", "standard form")]
    #[case(Clickhouse, "WITH 1 AS x SELECT x", "WITH name AS (SELECT value AS v)")]
    #[case(
        Clickhouse,
        "WITH (SELECT max(a) FROM t) AS m SELECT m",
        "WITH name AS (SELECT value AS v)"
    )]
    fn what_is_not_read_is_answered_with_another_way(
        #[case] dialect: Dialect,
        #[case] sql: &str,
        #[case] instead: &str,
    ) {
        let refusal = check(sql, dialect, None).unwrap_err();
        assert_eq!(refusal.reasons[0].code, "syntax-error");
        assert!(refusal.reasons[0].message.contains(instead), "{refusal}");
    }

    #[rstest]
    #[case(Duckdb, "SELECT * FROM t USING SAMPLE (SELECT 1)")]
    #[case(Duckdb, "SELECT * FROM t USING SAMPLE getenv('HOME')")]
    #[case(Mysql, "SELECT a MOD SLEEP(5) FROM t")]
    fn nothing_slips_through_a_form_of_its_own(#[case] dialect: Dialect, #[case] sql: &str) {
        assert!(check(sql, dialect, None).is_err());
    }
}
