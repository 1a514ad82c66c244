//! Makes mutants: one thing in a gold statement broken.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use analyst::warehouse::catalog::{Catalog, DataType, KeySource, Table};
use rusqlite::Connection;
use sqlparser::ast::{
    BinaryOperator, Expr, Ident, JoinConstraint, JoinOperator, SetExpr, Statement, TableFactor, Value, VisitMut,
    VisitorMut,
};
use sqlparser::dialect::SQLiteDialect;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};

use crate::sql_gold::Gold;

/// A broken statement, the sound one beside it, and the name that was broken.
pub struct Mutant {
    pub sound: String,
    pub broken: String,
    pub original: Option<String>,
}

/// splitmix64: small, and the same on every machine.
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(n.max(1)).unwrap()).unwrap()
    }

    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> Option<&'a T> {
        list.get(self.below(list.len()))
    }
}

/// One slip of the keyboard: two letters swapped, one dropped, doubled or hit beside.
fn typo(name: &str, random: &mut Random) -> String {
    let mut chars: Vec<char> = name.chars().collect();
    let at = random.below(chars.len().saturating_sub(1));
    match random.below(4) {
        0 if chars.len() > 1 => chars.swap(at, at + 1),
        1 if chars.len() > 3 => {
            chars.remove(at);
        }
        2 => chars.insert(at, chars[at]),
        _ => chars[at] = char::from(b'a' + u8::try_from(random.below(26)).unwrap()),
    }
    chars.into_iter().collect()
}

fn tokens(sql: &str) -> Vec<TokenWithSpan> {
    Tokenizer::new(&SQLiteDialect {}, sql).tokenize_with_location().unwrap()
}

fn offset(sql: &str, at: sqlparser::tokenizer::Location) -> usize {
    let line_start: usize = sql
        .split_inclusive('\n')
        .take(usize::try_from(at.line).unwrap() - 1)
        .map(str::len)
        .sum();
    let rest = &sql[line_start..];
    line_start
        + rest
            .char_indices()
            .nth(usize::try_from(at.column).unwrap() - 1)
            .map_or(rest.len(), |(i, _)| i)
}

/// Bare words of `sql` that `wanted` picks (with the significant tokens before and after), as byte ranges.
fn words(sql: &str, wanted: impl Fn(&str, Option<&Token>, Option<&Token>) -> bool) -> Vec<(usize, usize)> {
    let all: Vec<TokenWithSpan> = tokens(sql)
        .into_iter()
        .filter(|t| !matches!(t.token, Token::Whitespace(_)))
        .collect();
    let mut found = Vec::new();
    for (i, token) in all.iter().enumerate() {
        if let Token::Word(word) = &token.token
            && word.quote_style.is_none()
            && wanted(
                &word.value,
                i.checked_sub(1).map(|p| &all[p].token),
                all.get(i + 1).map(|t| &t.token),
            )
        {
            found.push((offset(sql, token.span.start), offset(sql, token.span.end)));
        }
    }
    found
}

fn is_word(token: Option<&Token>, word: &str) -> bool {
    matches!(token, Some(Token::Word(w)) if w.value.eq_ignore_ascii_case(word))
}

fn columns(catalog: &Catalog) -> impl Iterator<Item = &str> {
    catalog
        .tables
        .iter()
        .flat_map(|t| t.columns.iter().map(|c| c.name.as_str()))
}

fn has(mut names: impl Iterator<Item = impl AsRef<str>>, name: &str) -> bool {
    names.any(|n| n.as_ref().eq_ignore_ascii_case(name))
}

fn splice(sql: &str, (from, to): (usize, usize), with: &str) -> String {
    format!("{}{with}{}", &sql[..from], &sql[to..])
}

pub fn misspelt_column(gold: &Gold, catalog: &Catalog, reads: &[String], random: &mut Random) -> Option<Mutant> {
    let read: Vec<&str> = reads.iter().filter_map(|r| r.split('.').next_back()).collect();
    let places = words(&gold.sql, |word, before, after| {
        word.len() > 2
            && has(read.iter(), word)
            && !matches!(after, Some(Token::LParen | Token::Period))
            && !is_word(before, "as")
            && !has(catalog.tables.iter().map(|t| t.name.as_str()), word)
            && !word_is_keyword(word)
    });
    let place = *random.pick(&places)?;
    let original = &gold.sql[place.0..place.1];
    let wrong = typo(original, random);
    // A slip that gives another real name, or a word with a meaning of its own, is another kind of fault.
    if has(columns(catalog), &wrong)
        || word_is_keyword(&wrong)
        || wrong.parse::<f64>().is_ok()
        || wrong.eq_ignore_ascii_case(original)
    {
        return None;
    }
    let defined_here = words(&gold.sql, |w, before, _| {
        is_word(before, "as") && (w.eq_ignore_ascii_case(&wrong) || w.eq_ignore_ascii_case(original))
    });
    if !defined_here.is_empty() {
        return None;
    }
    Some(Mutant {
        sound: gold.sql.clone(),
        broken: splice(&gold.sql, place, &wrong),
        original: Some(original.to_owned()),
    })
}

fn word_is_keyword(word: &str) -> bool {
    sqlparser::keywords::ALL_KEYWORDS.contains(&word.to_uppercase().as_str())
        && ![
            "NAME", "ID", "TYPE", "YEAR", "MONTH", "DATE", "TITLE", "LOCATION", "STATUS",
        ]
        .contains(&word.to_uppercase().as_str())
}

pub fn misspelt_table(gold: &Gold, catalog: &Catalog, random: &mut Random) -> Option<Mutant> {
    let names = || catalog.tables.iter().map(|t| t.name.as_str());
    let places = words(&gold.sql, |word, before, _| {
        word.len() > 2 && has(names(), word) && (is_word(before, "from") || is_word(before, "join"))
    });
    let place = *random.pick(&places)?;
    let original = gold.sql[place.0..place.1].to_owned();
    let wrong = typo(&original, random);
    if has(names(), &wrong)
        || word_is_keyword(&wrong)
        || wrong.eq_ignore_ascii_case(&original)
        || !wrong.starts_with(|c: char| c.is_alphabetic())
    {
        return None;
    }
    Some(Mutant {
        sound: gold.sql.clone(),
        broken: splice(&gold.sql, place, &wrong),
        original: Some(original),
    })
}

/// Another table of the same database; it shows where a column is missing, which SQLite says when it prepares.
pub fn wrong_table(gold: &Gold, catalog: &Catalog, random: &mut Random) -> Option<Mutant> {
    let names: Vec<&str> = catalog
        .tables
        .iter()
        .map(|t| t.name.as_str())
        .filter(|n| n.chars().all(|c| c.is_alphanumeric() || c == '_'))
        .collect();
    let places = words(&gold.sql, |word, before, _| {
        has(names.iter(), word) && (is_word(before, "from") || is_word(before, "join"))
    });
    let place = *random.pick(&places)?;
    let original = &gold.sql[place.0..place.1];
    let other = random.pick(&names).filter(|n| !n.eq_ignore_ascii_case(original))?;
    let broken = splice(&gold.sql, place, other);
    Some(Mutant {
        sound: gold.sql.clone(),
        broken,
        original: None,
    })
}

pub fn ambiguous(gold: &Gold, _: &Catalog, random: &mut Random) -> Option<Mutant> {
    // `T1.name` → `name`; whether it is ambiguous is for SQLite to say.
    let all: Vec<TokenWithSpan> = tokens(&gold.sql)
        .into_iter()
        .filter(|t| !matches!(t.token, Token::Whitespace(_)))
        .collect();
    let mut places = Vec::new();
    for window in all.windows(3) {
        if let [q, dot, name] = window
            && matches!(
                (&q.token, &dot.token, &name.token),
                (Token::Word(_), Token::Period, Token::Word(_))
            )
        {
            places.push((offset(&gold.sql, q.span.start), offset(&gold.sql, name.span.start)));
        }
    }
    let place = *random.pick(&places)?;
    Some(Mutant {
        sound: gold.sql.clone(),
        broken: splice(&gold.sql, place, ""),
        original: None,
    })
}

fn parsed(sql: &str) -> Option<Statement> {
    Parser::parse_sql(&SQLiteDialect {}, sql).ok()?.into_iter().next()
}

/// Drops the ON of one join that is a single equality.
pub fn missing_join_condition(gold: &Gold, random: &mut Random) -> Option<Mutant> {
    let mut statement = parsed(&gold.sql)?;
    let Statement::Query(query) = &mut statement else {
        return None;
    };
    let SetExpr::Select(select) = query.body.as_mut() else {
        return None;
    };
    let joins = &mut select.from.first_mut()?.joins;
    let at = random.below(joins.len());
    let join = joins.get_mut(at)?;
    let (JoinOperator::Join(constraint) | JoinOperator::Inner(constraint)) = &mut join.join_operator else {
        return None;
    };
    if !matches!(
        constraint,
        JoinConstraint::On(Expr::BinaryOp {
            op: BinaryOperator::Eq,
            ..
        })
    ) {
        return None;
    }
    *constraint = JoinConstraint::None;
    Some(Mutant {
        sound: gold.sql.clone(),
        broken: statement.to_string(),
        original: None,
    })
}

/// Puts the alias `m` before the bare columns of a table.
struct Qualify<'t>(&'t Table);

impl VisitorMut for Qualify<'_> {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::Identifier(ident) = expr
            && self.0.columns.iter().any(|c| c.name.eq_ignore_ascii_case(&ident.value))
        {
            *expr = Expr::CompoundIdentifier(vec![Ident::new("m"), ident.clone()]);
        }
        ControlFlow::Continue(())
    }
}

/// Joins a child table to a sum or an average over its parent.
pub fn fan_out(gold: &Gold, catalog: &Catalog, random: &mut Random) -> Option<Mutant> {
    let lower = gold.sql.to_lowercase();
    if !(lower.contains("sum(") || lower.contains("avg(")) || lower.contains("distinct") {
        return None;
    }
    let mut statement = parsed(&gold.sql)?;
    let Statement::Query(query) = &mut statement else {
        return None;
    };
    let SetExpr::Select(select) = query.body.as_mut() else {
        return None;
    };
    let [from] = select.from.as_mut_slice() else {
        return None;
    };
    if !from.joins.is_empty() || lower.matches("select").count() > 1 {
        return None;
    }
    let TableFactor::Table { name, alias: None, .. } = &from.relation else {
        return None;
    };
    let parent = catalog
        .tables
        .iter()
        .find(|t| t.name.eq_ignore_ascii_case(&name.to_string()))?;
    let children: Vec<(&Table, &analyst::warehouse::catalog::ForeignKey)> = catalog
        .tables
        .iter()
        .flat_map(|t| t.foreign_keys.iter().map(move |k| (t, k)))
        .filter(|(t, k)| {
            k.to_table == parent.name
                && k.columns.len() == 1
                && t.name != parent.name
                && k.source == KeySource::Declared
        })
        .filter(|(t, k)| !t.is_unique(&[k.columns[0].as_str()]) && !t.primary_key.is_empty())
        .collect();
    let (child, key) = random.pick(&children)?;
    let _ = query.visit(&mut Qualify(parent));
    let sound = statement.to_string().replacen(
        &format!("FROM {}", alias_free(&statement)),
        &format!("FROM \"{}\" AS m", parent.name),
        1,
    );
    let join = format!(
        "FROM \"{}\" AS m JOIN \"{}\" AS n ON n.\"{}\" = m.\"{}\"",
        parent.name, child.name, key.columns[0], key.to_columns[0]
    );
    let broken = sound.replacen(&format!("FROM \"{}\" AS m", parent.name), &join, 1);
    (broken != sound).then_some(Mutant {
        sound,
        broken,
        original: None,
    })
}

/// The table of the FROM clause as the statement prints it.
fn alias_free(statement: &Statement) -> String {
    let Statement::Query(query) = statement else {
        return String::new();
    };
    let SetExpr::Select(select) = query.body.as_ref() else {
        return String::new();
    };
    select.from.first().map(|f| f.relation.to_string()).unwrap_or_default()
}

/// A half-open window over a timestamp of the table, and the BETWEEN that loses its last day.
pub fn last_day(gold: &Gold, catalog: &Catalog, db: &Connection, random: &mut Random) -> Option<Mutant> {
    let statement = parsed(&gold.sql)?;
    let Statement::Query(query) = &statement else {
        return None;
    };
    let SetExpr::Select(select) = query.body.as_ref() else {
        return None;
    };
    let from = select.from.first()?;
    let TableFactor::Table { name, alias, .. } = &from.relation else {
        return None;
    };
    let table = catalog
        .tables
        .iter()
        .find(|t| t.name.eq_ignore_ascii_case(&name.to_string()))?;
    let times: Vec<&str> = table
        .columns
        .iter()
        .filter(|c| matches!(c.data_type, DataType::DateTime | DataType::DateTimeTz))
        .map(|c| c.name.as_str())
        .collect();
    let column = random.pick(&times)?;
    let place = format!(
        "\"{}\" WHERE length(\"{column}\") > 10 AND substr(\"{column}\", 12) > '00:00:00'",
        table.name
    );
    let count: i64 = db
        .query_row(&format!("SELECT COUNT(*) FROM {place}"), [], |r| r.get(0))
        .ok()?;
    let skip = random.below(usize::try_from(count).ok()?);
    let day: String = db
        .query_row(
            &format!("SELECT substr(\"{column}\", 1, 10) FROM {place} LIMIT 1 OFFSET {skip}"),
            [],
            |r| r.get(0),
        )
        .ok()?;
    let end: jiff::civil::Date = day.parse().ok()?;
    let (start, next) = (end.checked_sub(jiff::Span::new().days(40)).ok()?, end.tomorrow().ok()?);
    let qualified = alias.as_ref().map_or_else(|| name.to_string(), |a| a.name.to_string());
    let with = |condition: &str| {
        let mut changed = statement.clone();
        let Statement::Query(query) = &mut changed else {
            return None;
        };
        let SetExpr::Select(select) = query.body.as_mut() else {
            return None;
        };
        let extra = Parser::new(&SQLiteDialect {})
            .try_with_sql(condition)
            .ok()?
            .parse_expr()
            .ok()?;
        select.selection = Some(match select.selection.take() {
            Some(old) => Expr::BinaryOp {
                left: Box::new(Expr::Nested(Box::new(old))),
                op: BinaryOperator::And,
                right: Box::new(extra),
            },
            None => extra,
        });
        Some(changed.to_string())
    };
    Some(Mutant {
        sound: with(&format!(
            "{qualified}.\"{column}\" >= '{start}' AND {qualified}.\"{column}\" < '{next}'"
        ))?,
        broken: with(&format!("{qualified}.\"{column}\" BETWEEN '{start}' AND '{end}'"))?,
        original: None,
    })
}

/// Finds comparisons of a name with a literal and gives the literal the other type.
struct Retype<'r> {
    random: &'r mut Random,
    types: BTreeMap<String, DataType>,
    done: bool,
}

impl VisitorMut for Retype<'_> {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if self.done {
            return ControlFlow::Break(());
        }
        let Expr::BinaryOp { left, op, right } = expr else {
            return ControlFlow::Continue(());
        };
        if !matches!(
            op,
            BinaryOperator::Eq | BinaryOperator::Lt | BinaryOperator::Gt | BinaryOperator::GtEq | BinaryOperator::LtEq
        ) {
            return ControlFlow::Continue(());
        }
        let name = match left.as_ref() {
            Expr::Identifier(ident) => ident.value.to_lowercase(),
            Expr::CompoundIdentifier(parts) => parts.last().map(|i| i.value.to_lowercase()).unwrap_or_default(),
            _ => return ControlFlow::Continue(()),
        };
        let (Some(kind), Expr::Value(value)) = (self.types.get(&name), right.as_mut()) else {
            return ControlFlow::Continue(());
        };
        let new = match (&value.value, kind) {
            (Value::Number(..), kind) if kind.is_numeric() => Value::SingleQuotedString("many".to_owned()),
            (Value::SingleQuotedString(_), DataType::Text) => {
                Value::Number((self.random.below(900) + 7).to_string(), false)
            }
            _ => return ControlFlow::Continue(()),
        };
        value.value = new;
        self.done = true;
        ControlFlow::Break(())
    }
}

pub fn wrong_type(gold: &Gold, catalog: &Catalog, reads: &[String], random: &mut Random) -> Option<Mutant> {
    let mut statement = parsed(&gold.sql)?;
    let mut types = BTreeMap::new();
    for read in reads {
        let (table, column) = read.rsplit_once('.')?;
        let table = catalog.tables.iter().find(|t| t.name == table)?;
        let kind = table.columns.iter().find(|c| c.name == column)?.data_type.clone();
        // A name with two types in one statement is left out.
        if types
            .insert(column.to_lowercase(), kind.clone())
            .is_some_and(|old| old != kind)
        {
            types.insert(column.to_lowercase(), DataType::Json);
        }
    }
    let mut retype = Retype {
        random,
        types,
        done: false,
    };
    let _ = statement.visit(&mut retype);
    retype.done.then(|| Mutant {
        sound: gold.sql.clone(),
        broken: statement.to_string(),
        original: None,
    })
}

/// Drops GROUP BY from a query that shows its key beside an aggregate.
pub fn dropped_group_by(gold: &Gold) -> Option<Mutant> {
    let mut statement = parsed(&gold.sql)?;
    let Statement::Query(query) = &mut statement else {
        return None;
    };
    let SetExpr::Select(select) = query.body.as_mut() else {
        return None;
    };
    let text = select.projection.iter().map(ToString::to_string).collect::<Vec<_>>();
    let aggregated = |s: &String| ["count(", "sum(", "avg("].iter().any(|a| s.to_lowercase().contains(a));
    if select.having.is_some() || !text.iter().any(aggregated) || text.iter().all(aggregated) {
        return None;
    }
    if !matches!(&select.group_by, sqlparser::ast::GroupByExpr::Expressions(list, _) if !list.is_empty()) {
        return None;
    }
    select.group_by = sqlparser::ast::GroupByExpr::Expressions(Vec::new(), Vec::new());
    Some(Mutant {
        sound: gold.sql.clone(),
        broken: statement.to_string(),
        original: None,
    })
}
