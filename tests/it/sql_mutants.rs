//! Mutants of gold statements: one thing broken by a seeded generator, run beside the original, and caught or not.
//!
//! A mutant counts when it no longer runs or returns other rows. Some faults cannot show in statement and catalog (another
//! table that has all the columns, a dropped condition beside another one that still joins); each kind says which it leaves out.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use analyst::warehouse::catalog::{Catalog, DataType, KeySource, Table};
use analyst::warehouse::{Dialect, sql};
use rusqlite::{Connection, OpenFlags};
use sqlparser::ast::{
    BinaryOperator, Expr, Ident, JoinConstraint, JoinOperator, SetExpr, Statement, TableFactor, Value, VisitMut,
    VisitorMut,
};
use sqlparser::dialect::SQLiteDialect;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};

use crate::sql_gold::{GOLD, Gold};

/// Mutants counted per kind; nine kinds make more than the 2,000 asked for where the data has enough places.
const PER_KIND: usize = 400;
/// SQLite instructions after which a statement (a cross product, mostly) is stopped; it then returns other rows.
const INSTRUCTIONS: i32 = 3_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    MisspeltColumn,
    MisspeltTable,
    WrongTable,
    AmbiguousName,
    MissingJoinCondition,
    FanOut,
    LastDayBetween,
    WrongType,
    DroppedGroupBy,
}

const KINDS: [Kind; 9] = [
    Kind::MisspeltColumn,
    Kind::MisspeltTable,
    Kind::WrongTable,
    Kind::AmbiguousName,
    Kind::MissingJoinCondition,
    Kind::FanOut,
    Kind::LastDayBetween,
    Kind::WrongType,
    Kind::DroppedGroupBy,
];

impl Kind {
    /// The codes that name the fault.
    fn codes(self) -> &'static [&'static str] {
        match self {
            Kind::MisspeltColumn => &["unknown-column"],
            Kind::MisspeltTable => &["unknown-table"],
            Kind::WrongTable => &["unknown-column", "unknown-table", "ambiguous-column"],
            Kind::AmbiguousName => &["ambiguous-column"],
            Kind::MissingJoinCondition => &["missing-join-condition"],
            Kind::FanOut => &["fan-out"],
            Kind::LastDayBetween => &["between-timestamp"],
            Kind::WrongType => &["string-number-comparison"],
            Kind::DroppedGroupBy => &["bare-column"],
        }
    }
}

/// A broken statement, the sound one beside it, and the name that was broken.
struct Mutant {
    sound: String,
    broken: String,
    original: Option<String>,
}

/// splitmix64: small, and the same on every machine.
struct Random(u64);

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

    fn pick<'a, T>(&mut self, list: &'a [T]) -> Option<&'a T> {
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

fn misspelt_column(gold: &Gold, catalog: &Catalog, reads: &[String], random: &mut Random) -> Option<Mutant> {
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

fn misspelt_table(gold: &Gold, catalog: &Catalog, random: &mut Random) -> Option<Mutant> {
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
fn wrong_table(gold: &Gold, catalog: &Catalog, random: &mut Random) -> Option<Mutant> {
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

fn ambiguous(gold: &Gold, _: &Catalog, random: &mut Random) -> Option<Mutant> {
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
fn missing_join_condition(gold: &Gold, random: &mut Random) -> Option<Mutant> {
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
fn fan_out(gold: &Gold, catalog: &Catalog, random: &mut Random) -> Option<Mutant> {
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
fn last_day(gold: &Gold, catalog: &Catalog, db: &Connection, random: &mut Random) -> Option<Mutant> {
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

fn wrong_type(gold: &Gold, catalog: &Catalog, reads: &[String], random: &mut Random) -> Option<Mutant> {
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
fn dropped_group_by(gold: &Gold) -> Option<Mutant> {
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

/// The rows in any order, `None` when the statement fails or runs too long.
fn rows(db: &Connection, sql: &str) -> Option<Vec<String>> {
    let mut statement = db.prepare(sql).ok()?;
    let width = statement.column_count();
    let mut rows = statement.query([]).ok()?;
    let mut all = Vec::new();
    loop {
        match rows.next() {
            Ok(Some(row)) => {
                let cells: Vec<String> = (0..width).map(|i| format!("{:?}", row.get_ref(i).unwrap())).collect();
                all.push(cells.join("\t"));
            }
            Ok(None) => break,
            Err(_) => return None,
        }
    }
    all.sort();
    Some(all)
}

fn open(path: &Path) -> Connection {
    let db =
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX).unwrap();
    db.progress_handler(INSTRUCTIONS, Some(|| true)).unwrap();
    db
}

/// What became of the mutants of one kind.
#[derive(Default)]
struct Tally {
    counted: usize,
    caught: usize,
    names: usize,
    first: usize,
    missed: Vec<String>,
}

fn make(
    kind: Kind,
    gold: &Gold,
    catalog: &Catalog,
    reads: &[String],
    db: &Connection,
    random: &mut Random,
) -> Option<Mutant> {
    match kind {
        Kind::MisspeltColumn => misspelt_column(gold, catalog, reads, random),
        Kind::MisspeltTable => misspelt_table(gold, catalog, random),
        Kind::WrongTable => wrong_table(gold, catalog, random),
        Kind::AmbiguousName => ambiguous(gold, catalog, random),
        Kind::MissingJoinCondition => missing_join_condition(gold, random),
        Kind::FanOut => fan_out(gold, catalog, random),
        Kind::LastDayBetween => last_day(gold, catalog, db, random),
        Kind::WrongType => wrong_type(gold, catalog, reads, random),
        Kind::DroppedGroupBy => dropped_group_by(gold),
    }
}

/// Whether the mutant counts: it fails, or gives other rows than the sound statement.
fn counts(kind: Kind, db: &Connection, mutant: &Mutant) -> bool {
    let sound = rows(db, &mutant.sound);
    if sound.is_none() {
        return false;
    }
    match kind {
        // These faults show only where SQLite cannot prepare the statement; a lucky name is another, valid question.
        Kind::WrongTable => db.prepare(&mutant.broken).is_err(),
        Kind::AmbiguousName => db
            .prepare(&mutant.broken)
            .is_err_and(|e| e.to_string().contains("ambiguous")),
        _ => rows(db, &mutant.broken) != sound,
    }
}

fn judge(tally: &mut Tally, kind: Kind, mutant: &Mutant, catalog: &Catalog) {
    tally.counted += 1;
    let (codes, suggestion): (Vec<String>, Option<String>) =
        match sql::check(&mutant.broken, Dialect::Sqlite, Some(catalog)) {
            Ok(checked) => (checked.lints().iter().map(|l| l.code.clone()).collect(), None),
            Err(refusal) => {
                let suggestion = refusal.reasons.first().and_then(|r| r.suggestion.clone());
                (refusal.reasons.into_iter().map(|r| r.code).collect(), suggestion)
            }
        };
    if codes.iter().any(|c| kind.codes().contains(&c.as_str())) {
        tally.caught += 1;
    } else {
        tally
            .missed
            .push(format!("{kind:?} {codes:?}\n    {}", mutant.broken.replace('\n', " ")));
    }
    if let Some(original) = &mutant.original {
        tally.names += 1;
        let bare = suggestion
            .as_deref()
            .unwrap_or("")
            .rsplit('.')
            .next()
            .unwrap_or("")
            .trim_matches('"')
            .to_owned();
        if bare.eq_ignore_ascii_case(original) {
            tally.first += 1;
        } else {
            tally.missed.push(format!(
                "{kind:?} suggested {suggestion:?} for {original}\n    {}",
                mutant.broken.replace('\n', " ")
            ));
        }
    }
}

#[test]
fn mutants_of_gold_statements_are_caught() {
    let Some((gold, catalogs)) = GOLD.as_ref() else { return };
    let mut random = Random(20_261_130);
    let mut tallies: BTreeMap<Kind, Tally> = BTreeMap::new();
    let mut connections: BTreeMap<&Path, Connection> = BTreeMap::new();
    for kind in KINDS {
        let tally = tallies.entry(kind).or_default();
        let mut seen = std::collections::HashSet::new();
        // Every place is tried a few times in a random order, so that rare kinds find theirs.
        for _ in 0..gold.len() * 3 {
            if tally.counted >= PER_KIND {
                break;
            }
            let Some(g) = random.pick(gold) else { break };
            let catalog = &catalogs[&g.db];
            let db = connections.entry(&g.db).or_insert_with(|| open(&g.db));
            let Ok(checked) = sql::check(&g.sql, Dialect::Sqlite, Some(catalog)) else {
                continue;
            };
            if let Some(mutant) = make(kind, g, catalog, checked.reads(), db, &mut random)
                && seen.insert((g.db.clone(), mutant.broken.clone()))
                && counts(kind, db, &mutant)
            {
                judge(tally, kind, &mutant, catalog);
            }
        }
    }
    let mut missed = String::new();
    let (mut counted, mut caught, mut names, mut first) = (0, 0, 0, 0);
    for (kind, tally) in &tallies {
        println!(
            "{kind:?}: {} of {} caught; first suggestion right {} of {}",
            tally.caught, tally.counted, tally.first, tally.names
        );
        (counted, caught, names, first) = (
            counted + tally.counted,
            caught + tally.caught,
            names + tally.names,
            first + tally.first,
        );
        missed.extend(tally.missed.iter().map(|m| format!("{m}\n")));
    }
    println!("all: {caught} of {counted} caught, first suggestion right {first} of {names}");
    if let Ok(path) = std::env::var("ANALYST_MUTANTS_MISSED") {
        std::fs::write(path, &missed).unwrap();
    }
    assert!(counted >= 2_000, "only {counted} mutants");
    assert!(caught * 100 >= counted * 99, "{caught} of {counted} caught");
    assert!(first * 100 >= names * 95, "{first} of {names} first suggestions");
}
