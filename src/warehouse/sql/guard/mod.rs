//! What may run: one statement that reads, told by its syntax tree and by allow-lists, never by keywords in its text.

use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArguments, Ident, JoinOperator, ObjectName, ObjectNamePart, PipeOperator,
    Query, Select, SetExpr, Statement, TableFactor, Visit, Visitor,
};
use sqlparser::tokenizer::Token;

use super::names::nearest;
use super::parse::Form;
use super::{Position, Reason, Refusal, Stage};
use crate::warehouse::Dialect;

pub(super) mod functions;
mod tables;

use functions::Role;

/// A pragma of SQLite or DuckDB that only reads, and whether it takes an argument.
const PRAGMAS: [(&str, bool); 24] = [
    ("application_id", false),
    ("collation_list", false),
    ("compile_options", false),
    ("data_version", false),
    ("database_list", false),
    ("database_size", false),
    ("encoding", false),
    ("foreign_key_list", true),
    ("freelist_count", false),
    ("function_list", false),
    ("functions", false),
    ("index_info", true),
    ("index_list", true),
    ("index_xinfo", true),
    ("module_list", false),
    ("page_count", false),
    ("page_size", false),
    ("pragma_list", false),
    ("schema_version", false),
    ("show_tables", false),
    ("table_info", true),
    ("table_list", true),
    ("table_xinfo", true),
    ("user_version", false),
];

fn refusal(reason: Reason) -> Refusal {
    Refusal {
        stage: Stage::Guard,
        reasons: vec![reason],
    }
}

fn reason(code: &str, message: impl Into<String>) -> Reason {
    Reason {
        code: code.to_owned(),
        message: message.into(),
        suggestion: None,
        position: None,
    }
}

/// Where a name begins.
fn position(name: &ObjectName) -> Option<Position> {
    match name.0.first()? {
        ObjectNamePart::Identifier(ident) => Position::of(ident.span.start),
        ObjectNamePart::Function(_) => None,
    }
}

/// The refusal of a statement by its first word.
pub(super) fn not_read_only(first: &str) -> Refusal {
    let shown: String = first.chars().take(30).collect::<String>().to_uppercase();
    refusal(reason(
        "not-read-only",
        format!("{shown} is not a statement that only reads; write a SELECT, WITH or VALUES query"),
    ))
}

/// Judges `PRAGMA [schema.]name [(value) | = value]` from its tokens.
pub(super) fn pragma(words: &[&Token], dialect: Dialect) -> Result<(), Refusal> {
    let mut rest = words
        .iter()
        .skip(1)
        .filter(|t| !matches!(t, Token::SemiColon))
        .peekable();
    let Some(Token::Word(first)) = rest.next() else {
        return Err(refusal(reason("forbidden-pragma", "PRAGMA needs the name of a pragma")));
    };
    let mut name = first.value.clone();
    if matches!(rest.peek(), Some(Token::Period)) {
        rest.next();
        match rest.next() {
            Some(Token::Word(second)) => name = second.value.clone(),
            _ => return Err(refusal(reason("forbidden-pragma", "PRAGMA needs the name of a pragma"))),
        }
    }
    let known = PRAGMAS.iter().find(|(pragma, _)| name.eq_ignore_ascii_case(pragma));
    let argument: Vec<&Token> = rest.copied().collect();
    let shape = match argument.as_slice() {
        [] => true,
        [Token::LParen, value, Token::RParen] => takes(known, value),
        [Token::LParen, value, Token::Period, last, Token::RParen] => takes(known, value) && takes(known, last),
        [Token::Eq, value] if dialect == Dialect::Sqlite => takes(known, value),
        _ => false,
    };
    match known {
        Some(_) if shape => Ok(()),
        Some(_) => Err(refusal(reason(
            "forbidden-pragma",
            format!("PRAGMA {name} with this argument may change the database"),
        ))),
        None => {
            let message = format!("PRAGMA {name} is not on the list of pragmas that only read; table_info(t) is");
            Err(refusal(reason("forbidden-pragma", message)))
        }
    }
}

fn takes(known: Option<&(&str, bool)>, value: &Token) -> bool {
    let a_name = matches!(
        value,
        Token::Word(_) | Token::SingleQuotedString(_) | Token::DoubleQuotedString(_) | Token::Number(..)
    );
    known.is_some_and(|(_, takes_argument)| *takes_argument) && a_name
}

/// Judges a parsed statement; every reason found comes back, not only the first.
pub(super) fn guard(form: &Form, dialect: Dialect) -> Result<(), Refusal> {
    let mut guard = Guard {
        dialect,
        reasons: Vec::new(),
    };
    let _: ControlFlow<()> = match form {
        Form::Query(query) | Form::Explain(query) => query.visit(&mut guard),
        Form::Show(statement) => {
            if !is_show(statement) {
                guard.refuse(
                    "not-read-only",
                    "the statement is not one that only reads; write a SELECT",
                );
            }
            statement.visit(&mut guard)
        }
        Form::Words => ControlFlow::Continue(()),
    };
    let mut reasons = guard.reasons;
    reasons.dedup();
    if reasons.is_empty() {
        Ok(())
    } else {
        Err(Refusal {
            stage: Stage::Guard,
            reasons,
        })
    }
}

fn is_show(statement: &Statement) -> bool {
    matches!(
        statement,
        Statement::ShowFunctions { .. }
            | Statement::ShowVariable { .. }
            | Statement::ShowStatus { .. }
            | Statement::ShowVariables { .. }
            | Statement::ShowCreate { .. }
            | Statement::ShowColumns { .. }
            | Statement::ShowCatalogs { .. }
            | Statement::ShowDatabases { .. }
            | Statement::ShowSchemas { .. }
            | Statement::ShowCharset(_)
            | Statement::ShowObjects(_)
            | Statement::ShowTables { .. }
            | Statement::ShowViews { .. }
            | Statement::ShowCollation { .. }
            | Statement::ExplainTable { .. }
    )
}

/// Walks the tree and notes what is not allowed.
struct Guard {
    dialect: Dialect,
    reasons: Vec<Reason>,
}

impl Guard {
    fn refuse(&mut self, code: &str, message: impl Into<String>) {
        self.reasons.push(reason(code, message));
    }

    fn refuse_name(&mut self, name: &ObjectName, code: &str, message: impl Into<String>) {
        self.reasons.push(Reason {
            position: position(name),
            ..reason(code, message)
        });
    }

    /// The lower-case name under which a function is looked up, or `None` when it belongs to a schema of users.
    fn function_name(&self, name: &ObjectName) -> Option<String> {
        let parts: Vec<String> = name.0.iter().map(part_name).collect::<Option<_>>()?;
        match parts.as_slice() {
            [one] => Some(one.clone()),
            [schema, one] => match (self.dialect, schema.as_str()) {
                (Dialect::Postgres, "pg_catalog") | (Dialect::Bigquery, "safe") => Some(one.clone()),
                (Dialect::Duckdb, "main" | "system") | (Dialect::Databricks, "system") => Some(one.clone()),
                (Dialect::Bigquery, "net" | "hll_count") => Some(format!("{schema}.{one}")),
                _ => None,
            },
            _ => None,
        }
    }

    fn function(&mut self, name: &ObjectName, arguments: usize, in_from: bool) {
        let Some(lower) = self.function_name(name) else {
            let message = format!(
                "`{name}` is a function of the database's own, which may do anything; only built-in ones are called"
            );
            return self.refuse_name(name, "unknown-function", message);
        };
        let roles = functions::roles(self.dialect, &lower);
        let combined = self.dialect == Dialect::Clickhouse && functions::is_combined(&lower);
        if self.dialect == Dialect::Mysql && lower == "last_insert_id" && arguments == 0 {
            return;
        }
        let fits = if in_from {
            roles.contains(&Role::Table)
        } else {
            !roles.is_empty() || combined
        };
        // PostgreSQL lets any function stand in FROM as one row.
        if fits || (in_from && !roles.is_empty() && self.dialect == Dialect::Postgres) {
            return;
        }
        if let Some(why) = functions::forbidden_reason(&lower) {
            return self.refuse_name(name, "forbidden-function", format!("`{name}` is not allowed: {why}"));
        }
        if in_from && !roles.is_empty() {
            return self.refuse_name(
                name,
                "table-function",
                format!("`{name}` cannot stand in FROM; select it instead"),
            );
        }
        let close = nearest(&lower, functions::names(self.dialect), 3);
        let hint = match close.as_slice() {
            [] => String::new(),
            names => format!(
                "; did you mean {}?",
                names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
            ),
        };
        self.reasons.push(Reason {
            code: "unknown-function".to_owned(),
            message: format!("`{name}` is not a function that may be called here{hint}"),
            suggestion: close.into_iter().next(),
            position: position(name),
        });
    }

    fn call(&mut self, function: &Function) {
        let arguments = match &function.args {
            FunctionArguments::List(list) => list.args.len(),
            FunctionArguments::None | FunctionArguments::Subquery(_) => 0,
        };
        self.function(&function.name, arguments, false);
    }

    fn table(&mut self, factor: &TableFactor) {
        match factor {
            TableFactor::Table {
                name, args: Some(args), ..
            } => self.function(name, args.args.len(), true),
            TableFactor::Table { name, args: None, .. } => {
                if let Some(refused) = tables::judge(name, self.dialect) {
                    self.reasons.push(Reason {
                        position: position(name),
                        ..refused
                    });
                }
            }
            TableFactor::Function { name, args, .. } => self.function(name, args.len(), true),
            TableFactor::TableFunction { expr, .. } => match expr {
                Expr::Function(call) => self.function(&call.name, 0, true),
                _ => self.refuse("table-function", "TABLE(…) takes a table function that only reads"),
            },
            TableFactor::Derived { .. }
            | TableFactor::UNNEST { .. }
            | TableFactor::JsonTable { .. }
            | TableFactor::NestedJoin { .. }
            | TableFactor::Pivot { .. }
            | TableFactor::Unpivot { .. }
            | TableFactor::UnpivotExpr { .. }
            | TableFactor::MatchRecognize { .. }
            | TableFactor::SemanticView { .. }
            | TableFactor::XmlTable { .. } => {}
            TableFactor::OpenJsonTable { .. } => self.refuse("table-function", "OPENJSON is not known to this engine"),
        }
    }

    /// `TABLE t` names its table without a table factor.
    fn body(&mut self, body: &SetExpr) {
        match body {
            SetExpr::Table(table) => {
                let parts = [&table.schema_name, &table.table_name]
                    .into_iter()
                    .flatten()
                    .cloned()
                    .collect::<Vec<_>>();
                self.reasons
                    .extend(tables::judge(&ObjectName::from(parts), self.dialect));
            }
            SetExpr::SetOperation { left, right, .. } => {
                self.body(left);
                self.body(right);
            }
            SetExpr::Select(_)
            | SetExpr::Query(_)
            | SetExpr::Values(_)
            | SetExpr::Insert(_)
            | SetExpr::Update(_)
            | SetExpr::Delete(_)
            | SetExpr::Merge(_) => {}
        }
    }

    fn pipe(&mut self, operator: &PipeOperator) {
        match operator {
            PipeOperator::Call { function, .. } => self.function(&function.name, 0, true),
            PipeOperator::Join(join)
                if matches!(join.join_operator, JoinOperator::CrossApply | JoinOperator::OuterApply) =>
            {
                self.refuse("table-function", "APPLY is not known to this engine");
            }
            _ => {}
        }
    }
}

/// A file that DESCRIBE or SHOW would read, on engines that take names for paths.
pub(super) fn file_in_words(words: &[&Token], dialect: Dialect) -> Option<Refusal> {
    let names = words.windows(2).filter_map(|pair| match pair {
        // The pattern of LIKE is no name.
        [Token::Word(before), Token::SingleQuotedString(_)] if before.value.to_lowercase().ends_with("like") => None,
        [_, Token::SingleQuotedString(text)] => Some(Ident::with_quote('\'', text)),
        [_, Token::Word(word)] => word.quote_style.map(|quote| Ident::with_quote(quote, &word.value)),
        _ => None,
    });
    names
        .into_iter()
        .find_map(|name| tables::judge(&ObjectName::from(vec![name]), dialect))
        .map(refusal)
}

fn part_name(part: &ObjectNamePart) -> Option<String> {
    match part {
        ObjectNamePart::Identifier(ident) => Some(ident.value.to_lowercase()),
        ObjectNamePart::Function(_) => None,
    }
}

impl Visitor for Guard {
    type Break = ();

    fn pre_visit_statement(&mut self, statement: &Statement) -> ControlFlow<()> {
        if !matches!(statement, Statement::Query(_)) && !is_show(statement) {
            let text = statement.to_string();
            let verb = text.split_whitespace().next().unwrap_or("the inner statement");
            self.refuse(
                "data-changing-cte",
                format!("{verb} inside the query changes data; only queries may stand there"),
            );
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        if let Some(lock) = query.locks.first() {
            self.refuse("locking-clause", format!("`{lock}` locks rows; remove it"));
        }
        if query.for_clause.is_some() {
            self.refuse("syntax-error", "FOR XML and FOR JSON are not known to this engine");
        }
        if query.settings.is_some() {
            self.refuse(
                "session-settings",
                "SETTINGS changes how the server runs the query; remove it",
            );
        }
        if query.format_clause.is_some() {
            self.refuse("session-settings", "FORMAT changes the shape of the reply; remove it");
        }
        query.pipe_operators.iter().for_each(|operator| self.pipe(operator));
        self.body(&query.body);
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        if let Some(into) = &select.into {
            self.refuse("select-into", format!("`{into}` writes its result; remove it"));
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        self.table(factor);
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        match expr {
            Expr::Function(function) => self.call(function),
            Expr::BinaryOp {
                op: BinaryOperator::Assignment,
                ..
            } => {
                self.refuse(
                    "variable-assignment",
                    "`:=` changes a session variable; use a window function or a CTE",
                );
            }
            Expr::BinaryOp {
                op: BinaryOperator::PGCustomBinaryOperator(parts),
                ..
            } if parts.len() > 1 && !parts.first().is_some_and(|p| p.eq_ignore_ascii_case("pg_catalog")) => {
                self.refuse(
                    "unknown-function",
                    "operators of the database's own schemas may call anything; use built-in ones",
                );
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}
