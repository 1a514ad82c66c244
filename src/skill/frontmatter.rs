//! The frontmatter of a SKILL.md: read, checked against the specification, repaired where one colon is all that is wrong.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::skill::Severity;

const LONGEST_NAME: usize = 64;
const LONGEST_DESCRIPTION: usize = 1024;
const LONGEST_COMPATIBILITY: usize = 500;
const KNOWN_FIELDS: [&str; 6] = [
    "name",
    "description",
    "license",
    "compatibility",
    "metadata",
    "allowed-tools",
];

/// The fields of the specification.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frontmatter {
    pub name: String,
    pub description: String,
    pub license: Option<String>,
    pub compatibility: Option<String>,
    pub metadata: BTreeMap<String, String>,
    /// Names of tools, as the skill lists them.
    pub allowed_tools: Vec<String>,
}

/// Something to tell about the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    pub severity: Severity,
    /// Counts from 1, in the whole file.
    pub line: usize,
    pub text: String,
}

/// What a SKILL.md says: a skill where it can be used, and what is to be told about it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Reading {
    pub skill: Option<(Frontmatter, String)>,
    pub findings: Vec<Finding>,
}

impl Reading {
    fn tell(&mut self, severity: Severity, line: usize, text: impl Into<String>) {
        self.findings.push(Finding {
            severity,
            line,
            text: text.into(),
        });
    }
}

/// Reads the text of a SKILL.md that lies in a folder named `folder_name`.
pub(super) fn read(text: &str, folder_name: &str) -> Reading {
    let mut reading = Reading::default();
    let Some((yaml, body)) = split(text, &mut reading) else {
        return reading;
    };
    let Some(fields) = parse(yaml, &mut reading) else {
        return reading;
    };
    let line = |key: &str| line_of(yaml, key);
    for key in fields.keys().filter(|k| !KNOWN_FIELDS.contains(&k.as_str())) {
        reading.tell(
            Severity::Warning,
            line(key),
            format!("`{key}` is not a field of the specification; it is ignored"),
        );
    }
    let name = text_of(&fields, "name").unwrap_or_default();
    let description = text_of(&fields, "description").unwrap_or_default();
    for (key, value) in [("name", &name), ("description", &description)] {
        if value.is_empty() {
            reading.tell(
                Severity::Error,
                line(key),
                format!("not loaded: `{key}` is missing or empty"),
            );
        }
    }
    if name.is_empty() || description.is_empty() {
        return reading;
    }
    if let Err(problem) = check_name(&name) {
        reading.tell(
            Severity::Error,
            line("name"),
            format!("not loaded: the name `{name}` {problem}"),
        );
        return reading;
    }
    if name != folder_name {
        let text = format!("the name `{name}` differs from the folder's, `{folder_name}`; rename one of them");
        reading.tell(Severity::Warning, line("name"), text);
    }
    let compatibility = text_of(&fields, "compatibility");
    for (key, value, longest) in [
        ("description", Some(&description), LONGEST_DESCRIPTION),
        ("compatibility", compatibility.as_ref(), LONGEST_COMPATIBILITY),
    ] {
        let length = value.map_or(0, |v| v.chars().count());
        if length > longest {
            let text = format!("`{key}` has {length} characters; the specification allows {longest}");
            reading.tell(Severity::Warning, line(key), text);
        }
    }
    let frontmatter = Frontmatter {
        name,
        description,
        license: text_of(&fields, "license"),
        compatibility,
        metadata: metadata_of(&fields),
        allowed_tools: tools_of(&fields),
    };
    reading.skill = Some((frontmatter, body.trim().to_owned()));
    reading
}

/// Takes the text apart at the two `---` lines.
fn split<'a>(text: &'a str, reading: &mut Reading) -> Option<(&'a str, &'a str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let after_first = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n"));
    let Some(rest) = after_first else {
        reading.tell(
            Severity::Error,
            1,
            "not loaded: the file must begin with `---` and its frontmatter",
        );
        return None;
    };
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            let yaml = rest.get(..at)?;
            let body = rest.get(at + line.len()..)?;
            return Some((yaml, body));
        }
        at += line.len();
    }
    reading.tell(Severity::Error, 1, "not loaded: the frontmatter has no closing `---`");
    None
}

fn parse(yaml: &str, reading: &mut Reading) -> Option<BTreeMap<String, Value>> {
    let error = match parse_yaml(yaml) {
        Ok(fields) => return Some(fields),
        Err(error) => error,
    };
    if let Some((line, repaired)) = quote_description(yaml)
        && let Ok(fields) = parse_yaml(&repaired)
    {
        let text = "the description has a colon and must stand in quotes; it was read as if it did";
        reading.tell(Severity::Warning, line + 1, text);
        return Some(fields);
    }
    let (line, problem) = error;
    reading.tell(
        Severity::Error,
        line + 1,
        format!("not loaded: the frontmatter is not valid YAML: {problem}"),
    );
    None
}

/// The fields, or the line within the frontmatter and the problem.
fn parse_yaml(yaml: &str) -> Result<BTreeMap<String, Value>, (usize, String)> {
    if yaml.trim().is_empty() {
        return Ok(BTreeMap::new());
    }
    serde_saphyr::from_str(yaml).map_err(|error| {
        let line = error.location().map_or(1, |l| usize::try_from(l.line()).unwrap_or(1));
        let text = error.to_string();
        (
            line,
            text.lines()
                .next()
                .unwrap_or_default()
                .trim_start_matches("error: ")
                .to_owned(),
        )
    })
}

/// The frontmatter with its plain description in quotes, and the description's line; continuation lines are joined.
fn quote_description(yaml: &str) -> Option<(usize, String)> {
    let lines: Vec<&str> = yaml.lines().collect();
    let at = lines.iter().position(|l| l.starts_with("description:"))?;
    let first = lines.get(at)?.strip_prefix("description:")?.trim();
    if first.starts_with(['"', '\'', '|', '>', '[', '{', '&', '*', '!']) || !first.contains(':') {
        return None;
    }
    let continued = lines
        .iter()
        .skip(at + 1)
        .take_while(|l| l.starts_with([' ', '\t']) && !l.trim().is_empty());
    let more: Vec<&str> = continued.map(|l| l.trim()).collect();
    let whole = std::iter::once(first)
        .chain(more.iter().copied())
        .collect::<Vec<_>>()
        .join(" ");
    let quoted = format!("description: {}", Value::String(whole));
    let before = lines.iter().take(at).copied();
    let after = lines.iter().skip(at + 1 + more.len()).copied();
    Some((
        at + 1,
        before
            .chain(std::iter::once(quoted.as_str()))
            .chain(after)
            .collect::<Vec<_>>()
            .join("\n"),
    ))
}

/// The line of a top-level key in the whole file; the first line where it is missing.
fn line_of(yaml: &str, key: &str) -> usize {
    let starts = |line: &str| {
        line.strip_prefix(key)
            .is_some_and(|rest| rest.trim_start().starts_with(':'))
    };
    yaml.lines().position(starts).map_or(1, |index| index + 2)
}

fn check_name(name: &str) -> Result<(), String> {
    if name.chars().count() > LONGEST_NAME {
        return Err(format!("is longer than {LONGEST_NAME} characters"));
    }
    if !name
        .chars()
        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    {
        return Err("may hold only lowercase letters, digits and hyphens".to_owned());
    }
    if name.starts_with('-') || name.ends_with('-') || name.contains("--") {
        return Err("may not begin or end with a hyphen, nor hold two in a row".to_owned());
    }
    Ok(())
}

/// A scalar as text; numbers and booleans that YAML saw are what somebody wrote without quotes.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn text_of(fields: &BTreeMap<String, Value>, key: &str) -> Option<String> {
    fields.get(key).and_then(scalar)
}

fn metadata_of(fields: &BTreeMap<String, Value>) -> BTreeMap<String, String> {
    let entries = fields.get("metadata").and_then(Value::as_object).into_iter().flatten();
    entries
        .filter_map(|(key, value)| scalar(value).map(|text| (key.clone(), text)))
        .collect()
}

/// The specification has one text with spaces; lists are common and mean the same.
fn tools_of(fields: &BTreeMap<String, Value>) -> Vec<String> {
    match fields.get("allowed-tools") {
        Some(Value::String(text)) => text
            .split([' ', ','])
            .filter(|t| !t.is_empty())
            .map(str::to_owned)
            .collect(),
        Some(Value::Array(items)) => items.iter().filter_map(scalar).collect(),
        _ => Vec::new(),
    }
}
