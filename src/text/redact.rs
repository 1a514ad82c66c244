//! Passwords and keys are taken out of everything that is stored or shown.

use std::borrow::Cow;

/// What stands in place of a secret.
const MASK: &str = "***";
/// Prefixes of well-known API keys and tokens; a key has at least [`SHORTEST_KEY`] characters after it.
const KEY_PREFIXES: [&str; 16] = [
    "sk-",
    "pk-",
    "rk-",
    "gsk_",
    "xai-",
    "hf_",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "ASIA",
    "AIza",
];
const SHORTEST_KEY: usize = 8;
/// Names whose value is a secret, when followed by `=` or `:`.
const SECRET_NAMES: [&str; 14] = [
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "secret",
    "client_secret",
    "api_key",
    "apikey",
    "api-key",
    "x-api-key",
    "access_token",
    "auth_token",
    "token",
    "sslpassword",
];

/// `text` with the passwords of URLs, `key=value` secrets, bearer tokens and API keys replaced by `***`.
///
/// Idempotent. Works on the text's shape alone, so a secret in no known shape stays: keep secrets out of text first.
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut spans = Vec::new();
    url_passwords(text, &mut spans);
    named_secrets(text, &mut spans);
    bearer_tokens(text, &mut spans);
    prefixed_keys(text, &mut spans);
    if spans.is_empty() {
        return Cow::Borrowed(text);
    }
    spans.sort_unstable();
    let mut redacted = String::with_capacity(text.len());
    let mut at = 0;
    for (start, end) in spans {
        if end <= at {
            continue;
        }
        if start >= at {
            redacted.push_str(text.get(at..start).unwrap_or_default());
            redacted.push_str(MASK);
        }
        at = end;
    }
    redacted.push_str(text.get(at..).unwrap_or_default());
    Cow::Owned(redacted)
}

type Spans = Vec<(usize, usize)>;

/// `scheme://user:PASSWORD@host`: the password may itself hold `@` or `:`, so the last `@` before the path counts.
fn url_passwords(text: &str, spans: &mut Spans) {
    for (at, mark) in text.match_indices("://") {
        let start = at + mark.len();
        let rest = text.get(start..).unwrap_or_default();
        let authority = rest
            .split(|c: char| c.is_whitespace() || "\"'`<>".contains(c))
            .next()
            .unwrap_or_default();
        let before_path = match authority.rfind('@') {
            Some(sign) => authority.get(..sign).unwrap_or_default(),
            None => continue,
        };
        let Some(colon) = before_path.find(':') else { continue };
        if before_path.get(..colon).is_some_and(|user| user.contains('/')) {
            continue;
        }
        push(text, spans, start + colon + 1, start + before_path.len());
    }
}

/// `password=PASSWORD`, `"api_key": "KEY"`, `X-Api-Key: KEY`.
fn named_secrets(text: &str, spans: &mut Spans) {
    let lower = text.to_ascii_lowercase();
    for name in SECRET_NAMES {
        for (at, _) in lower.match_indices(name) {
            let end_of_name = at + name.len();
            let before = text.get(..at).and_then(|before| before.chars().next_back());
            if before.is_some_and(|c| c.is_alphanumeric()) {
                continue;
            }
            let rest = text.get(end_of_name..).unwrap_or_default();
            let after_quote = rest.trim_start_matches(['"', '\'']);
            let after_space = after_quote.trim_start();
            let Some(value) = after_space.strip_prefix(['=', ':']) else {
                continue;
            };
            let value = value.trim_start().trim_start_matches(['"', '\'']);
            let start = text.len() - value.len();
            let stop = |c: char| c.is_whitespace() || "\"'`,;&)}]<>".contains(c);
            let length = value.find(stop).unwrap_or(value.len());
            push(text, spans, start, start + length);
        }
    }
}

fn bearer_tokens(text: &str, spans: &mut Spans) {
    let lower = text.to_ascii_lowercase();
    for (at, mark) in lower.match_indices("bearer ") {
        let start = at + mark.len();
        let rest = text.get(start..).unwrap_or_default();
        let length = rest.find(|c: char| !is_key_character(c)).unwrap_or(rest.len());
        if length >= SHORTEST_KEY {
            push(text, spans, start, start + length);
        }
    }
}

/// `sk-…` and its like: the prefix stays, so that one sees what kind of key it was.
fn prefixed_keys(text: &str, spans: &mut Spans) {
    for prefix in KEY_PREFIXES {
        for (at, _) in text.match_indices(prefix) {
            let before = text.get(..at).and_then(|before| before.chars().next_back());
            if before.is_some_and(is_key_character) {
                continue;
            }
            let start = at + prefix.len();
            let rest = text.get(start..).unwrap_or_default();
            let length = rest.find(|c: char| !is_key_character(c)).unwrap_or(rest.len());
            let has_digit = rest
                .get(..length)
                .is_some_and(|key| key.bytes().any(|byte| byte.is_ascii_digit()));
            if length >= SHORTEST_KEY && has_digit {
                push(text, spans, start, start + length);
            }
        }
    }
}

fn is_key_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
}

fn push(text: &str, spans: &mut Spans, start: usize, end: usize) {
    if start < end && text.get(start..end).is_some_and(|secret| secret != MASK) {
        spans.push((start, end));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("postgres://ann:s3cret@db.example/shop", "postgres://ann:***@db.example/shop")]
    #[case("mysql://ann:p@ss:word@127.0.0.1:3306/x?y=1", "mysql://ann:***@127.0.0.1:3306/x?y=1")]
    #[case(
        "sqlite:///tmp/a.db and http://host:80/path",
        "sqlite:///tmp/a.db and http://host:80/path"
    )]
    #[case("key sk-ant-api03-abcDEF123456_x is bad", "key sk-*** is bad")]
    #[case("Authorization: Bearer abc.def-12345", "Authorization: Bearer ***")]
    #[case("host=db password=hunter2 user=ann", "host=db password=*** user=ann")]
    #[case("{\"api_key\": \"abc\", \"n\": 1}", "{\"api_key\": \"***\", \"n\": 1}")]
    #[case("postgres://h/x?sslpassword=abc&y=1", "postgres://h/x?sslpassword=***&y=1")]
    #[case("the risk-adjusted-return and task-1", "the risk-adjusted-return and task-1")]
    #[case("tokens: 120", "tokens: 120")]
    #[case("销售 password=密码1 结束", "销售 password=*** 结束")]
    fn secrets_are_masked_and_the_rest_is_left(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(redact(text), expected);
        assert_eq!(redact(expected), expected, "redaction is idempotent");
    }
}
