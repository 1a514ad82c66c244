//! Statements under policies: refused where they name what is hidden, and rewritten so that every table is read through
//! the query that stands for it.
//!
//! The statement's text is changed at the places of its syntax tree, so that the rest is sent as it was written. What came
//! of it is parsed again, and runs only if no table is left that is read in another way.

use std::collections::HashSet;
use std::ops::{ControlFlow, Range};

use sqlparser::ast::{
    Expr, Ident, ObjectName, Query, SelectItem, SelectItemQualifiedWildcardKind, SetExpr, TableFactor, Visit, Visitor,
};
use sqlparser::tokenizer::{Location, Span};

use super::parse::{Form, parse};
use super::resolve::model::{Bound, Meaning, Used, address_of};
use super::resolve::{self, idents};
use super::scan::{refuse, scan};
use super::{Position, Reason, Refusal, Stage};
use crate::warehouse::Dialect;
use crate::warehouse::catalog::{Catalog, Rules, Table};

const CODE: &str = "policy";

/// Functions in FROM that make rows of what they are given, and read nothing else.
const ROW_MAKERS: [&str; 17] = [
    "generate_series",
    "json_each",
    "json_tree",
    "jsonb_each",
    "jsonb_tree",
    "json_each_text",
    "jsonb_each_text",
    "json_array_elements",
    "jsonb_array_elements",
    "json_array_elements_text",
    "jsonb_array_elements_text",
    "json_object_keys",
    "jsonb_object_keys",
    "regexp_split_to_table",
    "string_to_table",
    "unnest",
    "json_table",
];

/// What is said where a statement is too unusual to be sure of.
const WRITE_SIMPLY: &str = "the policies in analyst.toml cannot be written into this statement";

/// A form that shows names or rows without being a query, such as SHOW, PRAGMA and EXPLAIN.
pub(super) fn refuse_form(catalog: &Catalog) -> Option<Refusal> {
    hiding(catalog).map(|_| {
        let message =
            "only queries are run while a policy in analyst.toml hides something; use `analyst schema` for names";
        refuse(Stage::Policy, CODE, message)
    })
}

fn hiding(catalog: &Catalog) -> Option<&Rules> {
    catalog.rules.as_deref().filter(|rules| rules.hide())
}

/// The refusal of a statement whose names were not all found: names that a policy hides are told from unknown ones.
pub(super) fn explain(query: &Query, dialect: Dialect, catalog: &Catalog) -> Option<Refusal> {
    let rules = hiding(catalog)?;
    let (bound, _) = resolve::resolve(query, dialect, &rules.full);
    let reasons = hidden(&bound, rules);
    (!reasons.is_empty()).then_some(Refusal {
        stage: Stage::Policy,
        reasons,
    })
}

/// Every hidden table and column that the statement reads anywhere.
fn hidden(bound: &Bound<'_>, rules: &Rules) -> Vec<Reason> {
    let reason = |message: String| Reason {
        code: CODE.to_owned(),
        message,
        suggestion: None,
        position: None,
    };
    let mut tables: Vec<usize> = bound
        .used
        .values()
        .filter_map(|used| match used {
            Used::Table(table) => Some(*table),
            Used::Cte | Used::Other => None,
        })
        .collect();
    tables.sort_unstable();
    tables.dedup();
    let mut reasons: Vec<Reason> = Vec::new();
    for at in tables {
        if let (Some(why), Some(table)) = (rules.hidden_table(at), rules.full.tables.get(at)) {
            reasons.push(reason(format!(
                "`{}` may not be read: {why} (analyst.toml)",
                table.qualified_name()
            )));
        }
    }
    for source in &bound.read {
        if rules.hidden_table(source.table).is_none()
            && let Some(why) = rules.denied_column(source.table, source.column)
            && let Some(name) = resolve::source_name(&rules.full, *source)
        {
            reasons.push(reason(format!("`{name}` may not be read: {why} (analyst.toml)")));
        }
    }
    reasons
}

/// The text to send for a statement that was resolved against what may be seen; `None` where no policy holds.
pub(super) fn rewrite(
    text: &str,
    query: &Query,
    bound: &Bound<'_>,
    dialect: Dialect,
) -> Result<Option<String>, Refusal> {
    let Some(rules) = hiding(bound.catalog) else {
        return Ok(None);
    };
    // SQLite takes an unknown name in double quotes for a text, and every engine looks for one in the query around. What is
    // hidden must not look like an empty answer.
    if (bound.reaches_out || !bound.quoted_strings.is_empty())
        && let Some(refusal) = explain(query, dialect, bound.catalog)
    {
        return Err(refusal);
    }
    let mut look = Look {
        bound,
        rules,
        dialect,
        edits: Vec::new(),
        problem: None,
    };
    let _: ControlFlow<()> = query.visit(&mut look);
    look.wildcards();
    let Look { edits, problem, .. } = look;
    if let Some(problem) = problem {
        return Err(problem);
    }
    let sent = spliced(text, edits).ok_or_else(|| refuse(Stage::Policy, CODE, WRITE_SIMPLY))?;
    prove(&sent, dialect, bound.catalog)?;
    Ok(Some(sent))
}

/// A part of the text, by the places of its first and after its last character, and what to put there.
struct Edit {
    span: Span,
    /// What must stand there now; anything where it is empty.
    was: String,
    put: String,
}

/// Walks over the whole statement and notes what is to be changed.
struct Look<'b, 'a> {
    bound: &'b Bound<'a>,
    rules: &'b Rules,
    dialect: Dialect,
    edits: Vec<Edit>,
    problem: Option<Refusal>,
}

impl Look<'_, '_> {
    fn refuse(&mut self, message: String) -> ControlFlow<()> {
        self.problem = Some(refuse(Stage::Policy, CODE, message));
        ControlFlow::Break(())
    }

    fn table(&mut self, name: &ObjectName, aliased: bool, is_plain: bool) -> ControlFlow<()> {
        let table = match self.bound.used.get(&address_of(name)) {
            Some(Used::Cte) => return ControlFlow::Continue(()),
            Some(Used::Table(table)) => self.bound.catalog.tables.get(*table),
            Some(Used::Other) | None => None,
        };
        let Some(table) = table else {
            return self.refuse(format!(
                "`{name}` is a table of the engine itself, which would show what a policy in analyst.toml hides"
            ));
        };
        let parts = idents(name);
        let (Some(first), Some(last)) = (parts.first(), parts.last()) else {
            return self.refuse(WRITE_SIMPLY.to_owned());
        };
        let put = match &table.read_through {
            None => table.written(self.dialect),
            Some(_) if !is_plain => {
                return self.refuse(format!(
                    "`{name}` is read through a policy in analyst.toml, which allows no sample, partition, version or index hint"
                ));
            }
            Some(query) if aliased => format!("({query})"),
            Some(query) => format!("({query}) AS {last}"),
        };
        self.edits.push(Edit {
            span: Span::new(first.span.start, last.span.end),
            was: if parts.len() == 1 {
                last.to_string()
            } else {
                String::new()
            },
            put,
        });
        ControlFlow::Continue(())
    }

    /// `schema.table.column` is not understood any more where a query stands for the table.
    fn drop_qualifier(&mut self, parts: &[&Ident], keep: usize) {
        let kept = parts.len().checked_sub(keep).and_then(|at| parts.get(at));
        if let (Some(first), Some(kept)) = (parts.first(), kept) {
            self.edits.push(Edit {
                span: Span::new(first.span.start, kept.span.start),
                was: String::new(),
                put: String::new(),
            });
        }
    }

    /// `schema.table.*`.
    fn wildcards(&mut self) {
        for block in &self.bound.blocks {
            for item in &block.select.projection {
                if let SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), _) = item {
                    let parts = idents(name);
                    if parts.len() > 1 {
                        self.drop_qualifier(&parts, 1);
                    }
                }
            }
        }
    }
}

impl Visitor for Look<'_, '_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        for cte in query.with.iter().flat_map(|with| &with.cte_tables) {
            let name = &cte.alias.name.value;
            if self
                .rules
                .full
                .tables
                .iter()
                .any(|table| table.name.to_lowercase() == name.to_lowercase())
            {
                return self.refuse(format!(
                    "the CTE `{name}` has the name of a table; call it otherwise, so that a policy in analyst.toml can tell them apart"
                ));
            }
        }
        if names_table_alone(&query.body) {
            return self.refuse(
                "write `SELECT * FROM t` instead of `TABLE t` while a policy in analyst.toml holds".to_owned(),
            );
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        match factor {
            TableFactor::Table {
                name,
                alias,
                args: None,
                with_hints,
                version,
                with_ordinality,
                partitions,
                json_path,
                sample,
                index_directives,
                inheritance,
            } => {
                let is_plain = with_hints.is_empty()
                    && version.is_none()
                    && !with_ordinality
                    && partitions.is_empty()
                    && json_path.is_none()
                    && sample.is_none()
                    && index_directives.is_empty()
                    && inheritance.is_none();
                self.table(name, alias.is_some(), is_plain)
            }
            TableFactor::Table {
                name, args: Some(_), ..
            }
            | TableFactor::Function { name, .. } => {
                let function = name.to_string().to_lowercase();
                if ROW_MAKERS.contains(&function.as_str()) {
                    return ControlFlow::Continue(());
                }
                self.refuse(format!(
                    "`{name}` is not called in FROM while a policy in analyst.toml hides something"
                ))
            }
            TableFactor::Derived { .. }
            | TableFactor::NestedJoin { .. }
            | TableFactor::UNNEST { .. }
            | TableFactor::JsonTable { .. } => ControlFlow::Continue(()),
            TableFactor::TableFunction { .. }
            | TableFactor::OpenJsonTable { .. }
            | TableFactor::Pivot { .. }
            | TableFactor::Unpivot { .. }
            | TableFactor::UnpivotExpr { .. }
            | TableFactor::MatchRecognize { .. }
            | TableFactor::XmlTable { .. }
            | TableFactor::SemanticView { .. } => self.refuse(WRITE_SIMPLY.to_owned()),
        }
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if let Expr::CompoundIdentifier(parts) = expr
            && parts.len() > 2
            && let Some(Meaning::Column(column)) = self.bound.meaning(expr)
            && self
                .bound
                .relation(column)
                .is_some_and(|relation| relation.table.is_some() && !relation.aliased)
        {
            self.drop_qualifier(&parts.iter().collect::<Vec<_>>(), 2);
        }
        ControlFlow::Continue(())
    }
}

fn names_table_alone(body: &SetExpr) -> bool {
    match body {
        SetExpr::Table(_) => true,
        SetExpr::SetOperation { left, right, .. } => names_table_alone(left) || names_table_alone(right),
        _ => false,
    }
}

/// `text` with the edits made; `None` where one does not fit.
fn spliced(text: &str, edits: Vec<Edit>) -> Option<String> {
    let mut placed: Vec<(Range<usize>, String)> = Vec::new();
    for edit in edits {
        let range = offset(text, edit.span.start)?..offset(text, edit.span.end)?;
        let there = text.get(range.clone())?;
        if !edit.was.is_empty() && there != edit.was {
            return None;
        }
        placed.push((range, edit.put));
    }
    placed.sort_by_key(|(range, _)| range.start);
    let mut sent = String::with_capacity(text.len());
    let mut at = 0;
    for (range, put) in placed {
        sent.push_str(text.get(at..range.start)?);
        sent.push_str(&put);
        at = range.end;
    }
    sent.push_str(text.get(at..)?);
    Some(sent)
}

/// The byte at a place that counts lines and characters from 1.
fn offset(text: &str, place: Location) -> Option<usize> {
    Position::of(place)?;
    let mut line_start = 0;
    for _ in 1..place.line {
        line_start += text.get(line_start..)?.find('\n')? + 1;
    }
    let before = usize::try_from(place.column.checked_sub(1)?).ok()?;
    let rest = text.get(line_start..)?;
    let within = rest.char_indices().map(|(at, _)| at).chain([rest.len()]).nth(before)?;
    Some(line_start + within)
}

/// Parses `sent` anew, and makes sure that each table in it is one that may be read as it is, or is inside the query that
/// stands for one.
fn prove(sent: &str, dialect: Dialect, catalog: &Catalog) -> Result<(), Refusal> {
    let failed = || refuse(Stage::Policy, CODE, WRITE_SIMPLY);
    let form = parse(scan(sent, dialect)?)?;
    let Form::Query(query) = form else {
        return Err(failed());
    };
    let stand_ins: HashSet<String> = catalog
        .tables
        .iter()
        .filter_map(|table| table.read_through.as_deref())
        .map(|text| match parse(scan(text, dialect)?)? {
            Form::Query(query) => Ok(query.to_string()),
            Form::Explain(_) | Form::Show(_) | Form::Words => Err(failed()),
        })
        .collect::<Result<_, Refusal>>()?;
    let open: HashSet<String> = catalog
        .tables
        .iter()
        .filter(|table| table.read_through.is_none())
        .map(|table: &Table| table.written(dialect))
        .collect();
    let mut proof = Proof {
        stand_ins,
        open,
        ctes: HashSet::new(),
        inside: 0,
        holds: true,
    };
    let _: ControlFlow<()> = query.visit(&mut Ctes(&mut proof.ctes));
    let _: ControlFlow<()> = query.visit(&mut proof);
    match proof.holds {
        true => Ok(()),
        false => Err(failed()),
    }
}

/// The names of all CTEs of a statement. None of them is the name of a table: see [`Look`].
struct Ctes<'a>(&'a mut HashSet<String>);

impl Visitor for Ctes<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        let ctes = query.with.iter().flat_map(|with| &with.cte_tables);
        self.0.extend(ctes.map(|cte| cte.alias.name.value.to_lowercase()));
        ControlFlow::Continue(())
    }
}

struct Proof {
    stand_ins: HashSet<String>,
    open: HashSet<String>,
    ctes: HashSet<String>,
    /// How many stand-ins are around the place that is being looked at.
    inside: usize,
    holds: bool,
}

impl Proof {
    fn is_stand_in(&self, factor: &TableFactor) -> bool {
        matches!(factor, TableFactor::Derived { subquery, .. } if self.stand_ins.contains(&subquery.to_string()))
    }
}

impl Visitor for Proof {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        if self.is_stand_in(factor) {
            self.inside += 1;
        }
        if let TableFactor::Table { name, args: None, .. } = factor
            && self.inside == 0
        {
            let parts = idents(name);
            let is_cte = matches!(parts.as_slice(), [only] if self.ctes.contains(&only.value.to_lowercase()));
            self.holds &= is_cte || self.open.contains(&name.to_string());
        }
        ControlFlow::Continue(())
    }

    fn post_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        if self.is_stand_in(factor) {
            self.inside = self.inside.saturating_sub(1);
        }
        ControlFlow::Continue(())
    }
}

/// Is `condition` one condition on the rows of `table`, and nothing more? `catalog` is without policies.
pub fn check_row_filter(condition: &str, table: &Table, catalog: &Catalog) -> Result<(), Refusal> {
    let dialect = catalog.dialect;
    let text = format!("SELECT 1 FROM {} WHERE ({condition}\n)", table.written(dialect));
    super::check(&text, dialect, Some(catalog))?;
    let Form::Query(query) = parse(scan(&text, dialect)?)? else {
        return Err(refuse(Stage::Policy, CODE, "it is no condition"));
    };
    let is_whole = match query.body.as_ref() {
        SetExpr::Select(select) => {
            matches!(&select.selection, Some(Expr::Nested(_))) && query.to_string().ends_with(')')
        }
        _ => false,
    };
    match is_whole {
        true => Ok(()),
        false => Err(refuse(
            Stage::Policy,
            CODE,
            "its parentheses do not match; write one condition",
        )),
    }
}
