//! What comes after grouping: measures written out, HAVING, order, ranks and limit.

use crate::meaning::query::compile::filter::literal;
use crate::meaning::query::compile::select::Output;
use crate::meaning::query::compile::summary::{Core, Job, PERIOD, Planned, sorted};
use crate::meaning::query::compile::{ColumnKind, Compiled, OutputColumn, Place, QueryError, order, select};
use crate::meaning::query::{Dimension, Having, Measure, OrderKey};
use crate::warehouse::catalog::DataType;

impl Job<'_, '_> {
    /// Adds measures, HAVING, order and limit.
    pub(super) fn finish(mut self, core: Core, place: &Place<'_>) -> Result<Compiled, QueryError> {
        let Core { mut select, bases } = core;
        let dialect = self.ground.dialect;
        let base = |at: usize| bases.get(at).cloned().unwrap_or_else(|| "NULL".into());
        let groups = self.group_columns();
        for planned in self.measures.iter().filter(|p| p.shown) {
            select.outputs.push(Output {
                sql: planned.formula.sql(dialect, &base),
                alias: self.ground.quote(&planned.column.name),
            });
        }
        if let Some(having) = &self.summary.having {
            select.having = Some(self.having(having, &base)?);
        }
        let shown = self.measures.iter().filter(|p| p.shown).map(|p| p.column.clone());
        let columns: Vec<OutputColumn> = groups.iter().cloned().chain(shown).collect();
        let ranks = self.summary.top_per_group.is_some() || self.summary.limit.is_some_and(|l| l.with_ties);
        let hidden_key = |p: &Planned| match ranks {
            true => self.ground.quote(&p.column.name),
            false => p.formula.sql(dialect, &base),
        };
        let mut keys = self.keys(&groups, &hidden_key)?;
        if !place.ordered && self.summary.limit.is_none() && self.summary.top_per_group.is_none() {
            keys.clear();
        }
        let sql = match ranks {
            true => {
                for planned in self.measures.iter().filter(|p| !p.shown) {
                    select.outputs.push(Output {
                        sql: planned.formula.sql(dialect, &base),
                        alias: self.ground.quote(&planned.column.name),
                    });
                }
                let visible: Vec<String> = columns.iter().map(|c| self.ground.quote(&c.name)).collect();
                let partition = self.partition();
                order::ranked(select, &visible, &partition, &keys, self.ranking(), dialect)
            }
            false => {
                select.order_by = keys.iter().map(|k| k.sql(dialect)).collect();
                select.limit = self.summary.limit.map(|l| l.count);
                select.to_sql()
            }
        };
        self.notes.dedup();
        Ok(Compiled {
            sql,
            columns,
            definitions: self.plan.definitions,
            joins: self.joins,
            notes: self.notes,
        })
    }

    fn ranking(&self) -> order::Ranking {
        let ties = self.summary.limit.is_some_and(|l| l.with_ties);
        let count = self
            .summary
            .top_per_group
            .map(|t| t.count)
            .or(self.summary.limit.map(|l| l.count));
        order::Ranking {
            count: count.unwrap_or(u64::MAX),
            ties,
            asked: self.summary.order_by.len().max(1),
        }
    }

    /// The columns of the dimensions that make the groups of `top_per_group`.
    fn partition(&self) -> Vec<String> {
        let groups = self.summary.top_per_group.map_or(0, |t| t.groups);
        let own = self.dimensions.columns.iter().take(groups).flatten();
        let period = self
            .summary
            .top_per_group
            .filter(|_| !self.summary.compare.is_empty())
            .map(|_| PERIOD.to_owned());
        period
            .into_iter()
            .chain(own.map(|c| self.ground.quote(&c.name)))
            .collect()
    }

    /// What rows are sorted by: what was asked for, then the groups, so that equal rows keep one order.
    fn keys(
        &self,
        groups: &[OutputColumn],
        hidden: &dyn Fn(&Planned) -> String,
    ) -> Result<Vec<order::Key>, QueryError> {
        let mut keys: Vec<order::Key> = Vec::new();
        let named = |name: &str, descending: bool| order::Key {
            sql: self.ground.quote(name),
            descending,
        };
        for order in &self.summary.order_by {
            let key = match &order.key {
                OrderKey::Measure(measure) => match self.measures.iter().find(|p| p.measure == *measure) {
                    Some(planned) if planned.shown => named(&planned.column.name, order.descending),
                    Some(planned) => order::Key {
                        sql: hidden(planned),
                        descending: order.descending,
                    },
                    None => continue,
                },
                OrderKey::Field(field) => {
                    let (dataset, found) = self.ground.field(field)?;
                    let is_it = |c: &&OutputColumn| {
                        c.field
                            .as_ref()
                            .is_some_and(|f| f.dataset == dataset.name && f.field == found.name)
                    };
                    let column = groups.iter().find(is_it).ok_or_else(|| {
                        QueryError::shape(
                            format!("`{field}` is sorted by but is not a dimension"),
                            "add it to `dimensions`, or sort by a measure",
                        )
                    })?;
                    named(&column.name, order.descending)
                }
                OrderKey::Time => {
                    let mut columns = self.summary.dimensions.iter().zip(&self.dimensions.columns);
                    let time = columns
                        .find(|(d, _)| matches!(d, Dimension::Time { .. }))
                        .and_then(|(_, c)| c.first());
                    let time =
                        time.ok_or_else(|| QueryError::shape("there is no time dimension to sort by", "add one"))?;
                    named(&time.name, order.descending)
                }
                OrderKey::Period => self
                    .period_key()
                    .ok_or_else(|| QueryError::shape("there is no `compare` to sort by", "add windows to it"))?,
            };
            keys.push(key);
        }
        // What comes first in time comes first by default; things are told apart by their label, then by their key.
        let rank = |c: &OutputColumn| match c.kind {
            ColumnKind::Period => 0,
            ColumnKind::Dimension => 1,
            ColumnKind::Key => 2,
            ColumnKind::Measure => 3,
        };
        let mut rest: Vec<&OutputColumn> = groups.iter().collect();
        if self.summary.order_by.is_empty() {
            rest.sort_by_key(|c| rank(c));
        }
        for column in rest {
            let key = match column.name == PERIOD {
                true => self.period_key().unwrap_or_else(|| named(PERIOD, false)),
                false => named(&column.name, false),
            };
            if !keys.iter().any(|k| k.sql == key.sql) {
                keys.push(key);
            }
        }
        Ok(keys)
    }

    /// Compared windows in the order in which they were given.
    fn period_key(&self) -> Option<order::Key> {
        let windows = self.summary.compare.as_slice();
        if windows.is_empty() {
            return None;
        }
        Some(match sorted(windows) {
            Some(descending) => order::Key {
                sql: PERIOD.into(),
                descending,
            },
            None => {
                let cases: Vec<String> = windows
                    .iter()
                    .enumerate()
                    .map(|(at, w)| format!("WHEN {} THEN {}", select::text_literal(&w.label), at + 1))
                    .collect();
                order::Key {
                    sql: format!("CASE {PERIOD} {} END", cases.join(" ")),
                    descending: false,
                }
            }
        })
    }

    fn having(&self, having: &Having, base: &impl Fn(usize) -> String) -> Result<String, QueryError> {
        let dialect = self.ground.dialect;
        let measure = |wanted: &Measure| {
            let planned = self.measures.iter().find(|p| p.measure == *wanted);
            planned
                .map(|p| p.formula.sql(dialect, base))
                .ok_or_else(|| QueryError::shape("a measure of `having` is unknown", "name a metric or an aggregate"))
        };
        let number = DataType::Float;
        let parts = |parts: &[Having], word: &str| -> Result<String, QueryError> {
            let sql: Vec<String> = parts.iter().map(|p| self.having(p, base)).collect::<Result<_, _>>()?;
            match sql.as_slice() {
                [one] => Ok(one.clone()),
                many => Ok(format!("({})", many.join(word))),
            }
        };
        match having {
            Having::And(all) => parts(all, " AND "),
            Having::Or(any) => parts(any, " OR "),
            Having::Not(part) => Ok(format!("NOT ({})", self.having(part, base)?)),
            Having::Compare {
                measure: m,
                operator,
                value,
            } => Ok(format!(
                "{} {} {}",
                measure(m)?,
                operator.sql(),
                literal(value, &number, dialect)
            )),
            Having::Between { measure: m, low, high } => Ok(format!(
                "{} BETWEEN {} AND {}",
                measure(m)?,
                literal(low, &number, dialect),
                literal(high, &number, dialect)
            )),
        }
    }
}
