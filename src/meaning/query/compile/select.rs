//! One SELECT in parts, and how it is laid out for people to read.

/// A select expression with the name that it gets.
#[derive(Debug, Clone)]
pub(super) struct Output {
    pub sql: String,
    /// Already quoted.
    pub alias: String,
}

/// The parts of a SELECT, each already SQL.
#[derive(Debug, Clone, Default)]
pub(super) struct Select {
    /// Named sub-queries that stand in front.
    pub with: Vec<(String, String)>,
    pub distinct: bool,
    pub outputs: Vec<Output>,
    pub from: String,
    /// Whole join clauses.
    pub joins: Vec<String>,
    pub conditions: Vec<String>,
    pub group_by: Vec<String>,
    pub having: Option<String>,
    pub order_by: Vec<String>,
    pub limit: Option<u64>,
}

impl Select {
    /// The statement with `with` in front, one clause a line.
    pub fn to_sql(&self) -> String {
        let body = self.body();
        match self.with.is_empty() {
            true => body,
            false => {
                let parts: Vec<String> = self
                    .with
                    .iter()
                    .map(|(name, sql)| format!("{name} AS (\n{}\n)", indent(sql)))
                    .collect();
                format!("WITH {}\n{body}", parts.join(",\n"))
            }
        }
    }

    /// The statement without `with`.
    pub fn body(&self) -> String {
        let mut lines: Vec<String> = Vec::new();
        let head = if self.distinct { "SELECT DISTINCT" } else { "SELECT" };
        let outputs: Vec<String> = self.outputs.iter().map(Output::to_sql).collect();
        lines.push(list(head, &outputs));
        if !self.from.is_empty() {
            lines.push(format!("FROM {}", self.from));
        }
        lines.extend(self.joins.iter().cloned());
        if !self.conditions.is_empty() {
            lines.push(format!("WHERE {}", self.conditions.join("\n  AND ")));
        }
        if !self.group_by.is_empty() {
            lines.push(list("GROUP BY", &self.group_by));
        }
        if let Some(having) = &self.having {
            lines.push(format!("HAVING {having}"));
        }
        if !self.order_by.is_empty() {
            lines.push(list("ORDER BY", &self.order_by));
        }
        if let Some(limit) = self.limit {
            lines.push(format!("LIMIT {limit}"));
        }
        lines.join("\n")
    }
}

impl Output {
    fn to_sql(&self) -> String {
        // `t.x` alone does not make `x` a name to sort by where two tables have one.
        match self.sql == self.alias {
            true => self.sql.clone(),
            false => format!("{} AS {}", self.sql, self.alias),
        }
    }
}

/// A keyword with its list: on one line where that is short, else one a line.
fn list(head: &str, items: &[String]) -> String {
    let one_line = format!("{head} {}", items.join(", "));
    match one_line.len() <= 80 && !one_line.contains('\n') {
        true => one_line,
        false => format!(
            "{head}\n{}",
            items.iter().map(|i| indent(i)).collect::<Vec<_>>().join(",\n")
        ),
    }
}

/// `sql` moved two spaces to the right.
pub(super) fn indent(sql: &str) -> String {
    sql.lines()
        .map(|line| format!("  {line}"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Text as an SQL string literal.
pub(super) fn text_literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// `sql` in parentheses, unless it is a single call, name or number.
pub(super) fn nested(sql: &str) -> String {
    let mut depth = 0_i32;
    let mut in_text = false;
    let has_gap = sql.chars().any(|c| {
        match c {
            '\'' => in_text = !in_text,
            '(' if !in_text => depth += 1,
            ')' if !in_text => depth -= 1,
            _ => {}
        }
        c.is_whitespace() && depth == 0 && !in_text
    });
    match has_gap {
        true => format!("({sql})"),
        false => sql.to_owned(),
    }
}
