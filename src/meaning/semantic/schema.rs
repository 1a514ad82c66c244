//! What the Ossie format says about the shape of a file, as a table, and the places where a file differs from it.

use std::collections::HashSet;

use serde_json::{Map, Value};

/// One place where a file is not as the format says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaProblem {
    /// Where, such as `semantic_model[0].datasets[2].fields[1].datatype`.
    pub path: String,
    pub message: String,
    /// The file cannot be read as it stands. Otherwise what is odd is kept and ignored.
    pub fatal: bool,
}

impl std::fmt::Display for SchemaProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

/// What stands at a place.
enum Kind {
    Text,
    Flag,
    OneOf(&'static [&'static str]),
    /// A list with at least so many items.
    List(&'static Kind, usize),
    /// A list of objects whose `name` tells them apart.
    Named(&'static [Key], usize),
    Object(&'static [Key]),
    /// A text, or an object with these keys and any others.
    Open(&'static [Key]),
}

struct Key {
    name: &'static str,
    required: bool,
    kind: Kind,
}

const fn must(name: &'static str, kind: Kind) -> Key {
    Key {
        name,
        required: true,
        kind,
    }
}

const fn may(name: &'static str, kind: Kind) -> Key {
    Key {
        name,
        required: false,
        kind,
    }
}

const DIALECTS: &[&str] = &[
    "ANSI_SQL",
    "SNOWFLAKE",
    "MDX",
    "TABLEAU",
    "DATABRICKS",
    "MAQL",
    "BIGQUERY",
];
const TYPES: &[&str] = &[
    "String",
    "Integer",
    "Decimal",
    "Float",
    "Boolean",
    "Date",
    "Time",
    "DateTime",
    "DateTimeTz",
    "Opaque",
];
static TEXT: Kind = Kind::Text;
static TEXTS: Kind = Kind::List(&TEXT, 0);
static CONTEXT: &[Key] = &[
    may("instructions", Kind::Text),
    may("synonyms", Kind::List(&TEXT, 0)),
    may("examples", Kind::List(&TEXT, 0)),
];
static EXTENSION: Kind = Kind::Object(&[must("vendor_name", Kind::Text), must("data", Kind::Text)]);
static SPELLING: Kind = Kind::Object(&[must("dialect", Kind::OneOf(DIALECTS)), must("expression", Kind::Text)]);
static EXPRESSION: &[Key] = &[must("dialects", Kind::List(&SPELLING, 1))];
static FIELD: &[Key] = &[
    must("name", Kind::Text),
    must("expression", Kind::Object(EXPRESSION)),
    may("dimension", Kind::Object(&[may("is_time", Kind::Flag)])),
    may("label", Kind::Text),
    may("description", Kind::Text),
    may("datatype", Kind::OneOf(TYPES)),
    may("ai_context", Kind::Open(CONTEXT)),
    may("custom_extensions", Kind::List(&EXTENSION, 0)),
];
static DATASET: &[Key] = &[
    must("name", Kind::Text),
    must("source", Kind::Text),
    may("primary_key", Kind::List(&TEXT, 0)),
    may("unique_keys", Kind::List(&TEXTS, 0)),
    may("description", Kind::Text),
    may("ai_context", Kind::Open(CONTEXT)),
    may("fields", Kind::Named(FIELD, 0)),
    may("custom_extensions", Kind::List(&EXTENSION, 0)),
];
static RELATIONSHIP: &[Key] = &[
    must("name", Kind::Text),
    must("from", Kind::Text),
    must("to", Kind::Text),
    must("from_columns", Kind::List(&TEXT, 1)),
    must("to_columns", Kind::List(&TEXT, 1)),
    may("ai_context", Kind::Open(CONTEXT)),
    may("custom_extensions", Kind::List(&EXTENSION, 0)),
];
static METRIC: &[Key] = &[
    must("name", Kind::Text),
    must("expression", Kind::Object(EXPRESSION)),
    may("description", Kind::Text),
    may("datatype", Kind::OneOf(TYPES)),
    may("ai_context", Kind::Open(CONTEXT)),
    may("custom_extensions", Kind::List(&EXTENSION, 0)),
];
static MODEL: &[Key] = &[
    must("name", Kind::Text),
    may("description", Kind::Text),
    may("ai_context", Kind::Open(CONTEXT)),
    must("datasets", Kind::Named(DATASET, 1)),
    may("relationships", Kind::Named(RELATIONSHIP, 0)),
    may("metrics", Kind::Named(METRIC, 0)),
    may("custom_extensions", Kind::List(&EXTENSION, 0)),
];
static DOCUMENT: Kind = Kind::Object(&[
    must("version", Kind::Text),
    must("semantic_model", Kind::Named(MODEL, 1)),
]);

/// Every place where `document` differs from the format, in the order of the file.
pub fn validate(document: &Value) -> Vec<SchemaProblem> {
    let mut problems = Vec::new();
    look(&DOCUMENT, document, "", &mut problems);
    problems
}

fn look(kind: &Kind, value: &Value, path: &str, problems: &mut Vec<SchemaProblem>) {
    let mut wrong = |wanted: &str| {
        problems.push(SchemaProblem {
            path: if path.is_empty() {
                "the file".into()
            } else {
                path.to_owned()
            },
            message: format!("{wanted} is needed, not {}", shown(value)),
            fatal: true,
        });
    };
    match (kind, value) {
        (Kind::Text, Value::String(_)) | (Kind::Flag, Value::Bool(_)) | (Kind::Open(_), Value::String(_)) => {}
        (Kind::OneOf(words), Value::String(word)) if words.contains(&word.as_str()) => {}
        (Kind::List(_, least) | Kind::Named(_, least), Value::Array(items)) if items.len() < *least => {
            wrong("a list with at least one item");
        }
        (Kind::List(item, _), Value::Array(items)) => {
            for (at, value) in items.iter().enumerate() {
                look(item, value, &format!("{path}[{at}]"), problems);
            }
        }
        (Kind::Named(keys, _), Value::Array(items)) => {
            for (at, value) in items.iter().enumerate() {
                let path = format!("{path}[{at}]");
                match value {
                    Value::Object(map) => look_into(keys, map, &path, false, problems),
                    other => look(&Kind::Object(keys), other, &path, problems),
                }
            }
            once_each(items, path, problems);
        }
        (Kind::Object(keys), Value::Object(map)) => look_into(keys, map, path, false, problems),
        (Kind::Open(keys), Value::Object(map)) => look_into(keys, map, path, true, problems),
        (Kind::Text, _) => wrong("a text"),
        (Kind::Flag, _) => wrong("true or false"),
        (Kind::OneOf(words), _) => wrong(&format!("one of {}", words.join(", "))),
        (Kind::List(..) | Kind::Named(..), _) => wrong("a list"),
        (Kind::Object(_), _) => wrong("an object"),
        (Kind::Open(_), _) => wrong("a text or an object"),
    }
}

fn look_into(keys: &[Key], map: &Map<String, Value>, path: &str, open: bool, problems: &mut Vec<SchemaProblem>) {
    let at = |name: &str| match path.is_empty() {
        true => name.to_owned(),
        false => format!("{path}.{name}"),
    };
    for key in keys {
        match map.get(key.name) {
            Some(value) => look(&key.kind, value, &at(key.name), problems),
            None if key.required => problems.push(SchemaProblem {
                path: at(key.name),
                message: "is missing".into(),
                fatal: true,
            }),
            None => {}
        }
    }
    let unknown = map
        .keys()
        .filter(|name| !open && !keys.iter().any(|key| key.name == *name));
    for name in unknown {
        problems.push(SchemaProblem {
            path: at(name),
            message: "the format has no such key; it is kept and ignored".into(),
            fatal: false,
        });
    }
}

/// Names tell things apart, so each may stand once.
fn once_each(items: &[Value], path: &str, problems: &mut Vec<SchemaProblem>) {
    let mut seen = HashSet::new();
    for (at, item) in items.iter().enumerate() {
        let Some(name) = item.get("name").and_then(Value::as_str) else {
            continue;
        };
        if !seen.insert(name.to_lowercase()) {
            problems.push(SchemaProblem {
                path: format!("{path}[{at}].name"),
                message: format!("`{name}` is there already; names must differ"),
                fatal: true,
            });
        }
    }
}

/// A value in few words.
fn shown(value: &Value) -> String {
    match value {
        Value::Object(_) => "an object".into(),
        Value::Array(items) if items.is_empty() => "an empty list".into(),
        Value::Array(_) => "a list".into(),
        Value::Null => "nothing".into(),
        Value::String(text) => format!("`{}`", text.chars().take(60).collect::<String>()),
        Value::Bool(_) | Value::Number(_) => format!("`{value}`"),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn with_field(field: Value) -> Value {
        json!({"version": "0.2.0.dev0", "semantic_model": [
            {"name": "m", "datasets": [{"name": "d", "source": "t", "fields": [field]}]}]})
    }

    fn expression() -> Value {
        json!({"dialects": [{"dialect": "ANSI_SQL", "expression": "a"}]})
    }

    #[rstest]
    #[case(json!([]), "the file: an object is needed, not an empty list")]
    #[case(json!({"version": "x"}), "semantic_model: is missing")]
    #[case(json!({"version": "x", "semantic_model": []}), "semantic_model: a list with at least one item is needed, not an empty list")]
    #[case(
        with_field(json!({"name": "a", "expression": expression(), "datatype": "Money"})),
        "semantic_model[0].datasets[0].fields[0].datatype: one of String, Integer, Decimal, Float, Boolean, Date, Time, DateTime, DateTimeTz, Opaque is needed, not `Money`"
    )]
    #[case(
        with_field(json!({"name": "a", "expression": {"dialects": [{"dialect": "SQL", "expression": "a"}]}})),
        "semantic_model[0].datasets[0].fields[0].expression.dialects[0].dialect: one of ANSI_SQL, SNOWFLAKE, MDX, TABLEAU, DATABRICKS, MAQL, BIGQUERY is needed, not `SQL`"
    )]
    #[case(
        with_field(json!({"name": 7, "expression": expression()})),
        "semantic_model[0].datasets[0].fields[0].name: a text is needed, not `7`"
    )]
    fn a_problem_names_its_place_and_value(#[case] document: Value, #[case] expected: &str) {
        let problems = validate(&document);
        assert_eq!(problems.first().map(ToString::to_string).as_deref(), Some(expected));
        assert!(problems[0].fatal);
    }

    #[test]
    fn unknown_keys_are_noted_and_do_no_harm() {
        let problems = validate(&with_field(
            json!({"name": "a", "expression": expression(), "colour": "red"}),
        ));
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].path, "semantic_model[0].datasets[0].fields[0].colour");
        assert!(!problems[0].fatal);
    }

    #[test]
    fn the_specifications_own_examples_are_valid() {
        let root = std::env::var("ANALYST_SHARED").unwrap_or(format!("{}/../shared", env!("CARGO_MANIFEST_DIR")));
        for name in [
            "fixtureA_ossie.yaml",
            "fixtureB_ossie.yaml",
            "tpcds_semantic_model.yaml",
        ] {
            let Ok(text) = std::fs::read_to_string(format!("{root}/data/semantic/ossie/{name}")) else {
                println!("skipped: no {name}");
                continue;
            };
            let value: Value = serde_saphyr::from_str(&text).unwrap();
            assert_eq!(validate(&value), [], "{name}");
        }
    }
}
