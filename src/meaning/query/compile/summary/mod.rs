//! Measures by group: one SELECT where all measures are taken over the same rows, else one for each kind of rows, put
//! together group by group so that no row is counted twice.

mod finish;

use crate::meaning::query::compile::branch::{Cut, Grouped, grouped};
use crate::meaning::query::compile::derive;
use crate::meaning::query::compile::dimension::{Dimensions, free};
use crate::meaning::query::compile::measure::{Base, Formula, Plan, output_column};
use crate::meaning::query::compile::scope::Ground;
use crate::meaning::query::compile::select::{Output, Select};
use crate::meaning::query::compile::{ColumnKind, Compiled, JoinUsed, OutputColumn, Place, QueryError};
use crate::meaning::query::{Dimension, Having, Measure, NamedWindow, OrderKey, Summary};
use crate::warehouse::Dialect;

/// The name of the column that tells compared windows apart.
pub(super) const PERIOD: &str = "period";

pub(super) fn compile_summary(
    summary: &Summary,
    ground: Ground<'_>,
    place: &Place<'_>,
) -> Result<Compiled, QueryError> {
    check_shape(summary)?;
    if let Some(derive) = &summary.derive {
        let plain = Summary {
            derive: None,
            order_by: Vec::new(),
            ..summary.clone()
        };
        let inside = Place {
            ordered: false,
            ..*place
        };
        let inner = compile_summary(&plain, ground, &inside)?;
        return derive::derived(summary, derive, inner, ground);
    }
    let mut job = Job::plan(summary, ground)?;
    let core = match job.single_cut() {
        Some(cut) => job.one_select(&cut, place)?,
        None => job.combined(place)?,
    };
    job.finish(core, place)
}

fn check_shape(summary: &Summary) -> Result<(), QueryError> {
    if summary.measures.is_empty() && summary.dimensions.is_empty() {
        return Err(QueryError::shape(
            "the query asks for nothing",
            "give it a measure or a dimension",
        ));
    }
    if summary.window.is_some() && !summary.compare.is_empty() {
        return Err(QueryError::shape(
            "the query has both `window` and `compare`",
            "list all windows in `compare`, or keep `window` alone",
        ));
    }
    if let Some(top) = summary.top_per_group
        && (summary.order_by.is_empty() || top.groups == 0 || top.groups >= summary.dimensions.len())
    {
        return Err(QueryError::shape(
            "`top_per_group` needs an order, and fewer groups than there are dimensions",
            "put the grouping dimensions first, the ranked one last, and say in `order_by` what is best",
        ));
    }
    Ok(())
}

/// A measure that is shown, or only sorted or filtered by.
struct Planned {
    measure: Measure,
    formula: Formula,
    column: OutputColumn,
    shown: bool,
}

struct Job<'a, 's> {
    summary: &'s Summary,
    ground: Ground<'a>,
    plan: Plan<'a>,
    measures: Vec<Planned>,
    dimensions: Dimensions,
    joins: Vec<JoinUsed>,
    notes: Vec<String>,
}

/// A SELECT without order and limit, and how its aggregates are written in it.
struct Core {
    select: Select,
    /// The SQL of each base.
    bases: Vec<String>,
}

impl<'a, 's> Job<'a, 's> {
    fn plan(summary: &'s Summary, ground: Ground<'a>) -> Result<Self, QueryError> {
        let by_time = |d: &Dimension| matches!(d, Dimension::Time { field: None, .. });
        let uses_time =
            summary.window.is_some() || !summary.compare.is_empty() || summary.dimensions.iter().any(by_time);
        let mut plan = Plan::new(ground, uses_time, summary.time_field.clone());
        let taken: &[&str] = if summary.compare.is_empty() { &[] } else { &[PERIOD] };
        let dimensions = Dimensions::plan(ground, &summary.dimensions, taken)?;
        let mut measures: Vec<Planned> = Vec::new();
        let mut names: Vec<String> = dimensions
            .all()
            .map(|c| c.name.clone())
            .chain(taken.iter().map(|t| (*t).to_owned()))
            .collect();
        let hidden = order_measures(summary)
            .into_iter()
            .chain(having_measures(summary.having.as_ref()));
        let wanted = summary
            .measures
            .iter()
            .map(|m| (m, true))
            .chain(hidden.map(|m| (m, false)));
        for (measure, shown) in wanted {
            if !shown && measures.iter().any(|p| p.measure == *measure) {
                continue;
            }
            let formula = plan.add(measure)?;
            let mut column = output_column(ground, measure)?;
            column.name = free(&names, &column.name, &format!("{}_value", column.name));
            names.push(column.name.clone());
            measures.push(Planned {
                measure: measure.clone(),
                formula,
                column,
                shown,
            });
        }
        if measures.is_empty() {
            let dataset = first_dataset(ground, summary)?;
            plan.branch(&dataset, None, None);
        }
        Ok(Self {
            summary,
            ground,
            plan,
            measures,
            dimensions,
            joins: Vec::new(),
            notes: Vec::new(),
        })
    }

    /// The one way in which rows are cut by time, where a single SELECT can do it.
    fn single_cut(&self) -> Option<Cut> {
        if self.plan.branches.len() != 1 {
            return None;
        }
        match (&self.summary.window, self.summary.compare.as_slice()) {
            (Some(window), _) => Some(Cut::Within(*window)),
            (None, []) => Some(Cut::All),
            (None, windows) => self.can_be_cases(windows).then(|| Cut::Cases(windows.to_vec())),
        }
    }

    /// Can the compared windows be told apart row by row? Without groups a window without rows must still give a row.
    fn can_be_cases(&self, windows: &[NamedWindow]) -> bool {
        !self.summary.dimensions.is_empty() && disjoint(windows) && sorted(windows).is_some()
    }

    fn cuts(&self) -> Vec<Cut> {
        match (&self.summary.window, self.summary.compare.as_slice()) {
            (Some(window), _) => vec![Cut::Within(*window)],
            (None, []) => vec![Cut::All],
            (None, windows) if self.can_be_cases(windows) => vec![Cut::Cases(windows.to_vec())],
            (None, windows) => windows.iter().map(|w| Cut::Labelled(w.clone())).collect(),
        }
    }

    fn group_columns(&self) -> Vec<OutputColumn> {
        let period = (!self.summary.compare.is_empty()).then(|| OutputColumn {
            name: PERIOD.into(),
            kind: ColumnKind::Period,
            unit: None,
            field: None,
            metric: None,
        });
        period.into_iter().chain(self.dimensions.all().cloned()).collect()
    }

    fn absorb(&mut self, part: &mut Grouped<'_>) {
        for join in part.scope.joins_used.drain(..) {
            if !self.joins.contains(&join) {
                self.joins.push(join);
            }
        }
        for note in part.notes.drain(..) {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }

    /// All measures over the same rows: no parts to put together.
    fn one_select(&mut self, cut: &Cut, place: &Place<'_>) -> Result<Core, QueryError> {
        let Some(branch) = self.plan.branches.first().cloned() else {
            return Err(QueryError::shape("the query asks for nothing", "give it a measure"));
        };
        let mut part = grouped(self.ground, self.summary, &self.dimensions, &branch, cut, place.taken)?;
        let bases: Vec<String> = self
            .plan
            .bases
            .iter()
            .map(|b| b.sql(&mut part.scope))
            .collect::<Result<_, _>>()?;
        // Aggregates may have joined more.
        part.close()?;
        self.absorb(&mut part);
        let mut select = part.select;
        for (sql, column) in part.outputs.iter().zip(self.group_columns()) {
            select.outputs.push(Output {
                sql: sql.clone(),
                alias: self.ground.quote(&column.name),
            });
        }
        if self.plan.bases.is_empty() && part.hidden.is_empty() {
            select.group_by.clear();
            select.distinct = true;
        }
        Ok(Core { select, bases })
    }

    /// Each branch and window by itself, then stacked, then one row for each group.
    fn combined(&mut self, place: &Place<'_>) -> Result<Core, QueryError> {
        let groups = self.group_columns();
        let group_names: Vec<String> = groups.iter().map(|c| self.ground.quote(&c.name)).collect();
        let mut with: Vec<(String, String)> = Vec::new();
        let mut stacked: Vec<String> = Vec::new();
        let mut all_groups = group_names.clone();
        let cuts = self.cuts();
        for (at, branch) in self.plan.branches.clone().iter().enumerate() {
            for cut in &cuts {
                let mut part = grouped(self.ground, self.summary, &self.dimensions, branch, cut, place.taken)?;
                for (sql, name) in part.outputs.iter().zip(&group_names) {
                    part.select.outputs.push(Output {
                        sql: sql.clone(),
                        alias: name.clone(),
                    });
                }
                all_groups.truncate(group_names.len());
                for (at, sql) in part.hidden.iter().enumerate() {
                    let alias = format!("hidden_key_{}", at + 1);
                    all_groups.push(alias.clone());
                    part.select.outputs.push(Output {
                        sql: sql.clone(),
                        alias,
                    });
                }
                let own: Vec<&Base> = self.plan.bases.iter().filter(|b| b.branch == at).collect();
                for base in &own {
                    let sql = base.sql(&mut part.scope)?;
                    part.select.outputs.push(Output {
                        sql,
                        alias: self.ground.quote(&base.name),
                    });
                }
                part.close()?;
                self.absorb(&mut part);
                let name = self.part_name(&with, &branch.dataset);
                stacked.push(self.stack(&name, &all_groups, at));
                with.push((name, part.select.to_sql()));
            }
        }
        with.push(("combined".into(), stacked.join("\nUNION ALL\n")));
        let select = Select {
            with,
            outputs: group_names
                .iter()
                .map(|n| Output {
                    sql: n.clone(),
                    alias: n.clone(),
                })
                .collect(),
            from: "combined".into(),
            group_by: all_groups,
            ..Select::default()
        };
        let bases = self
            .plan
            .bases
            .iter()
            .map(|b| b.once_combined(&self.ground.quote(&b.name)))
            .collect();
        Ok(Core { select, bases })
    }

    fn part_name(&self, with: &[(String, String)], dataset: &str) -> String {
        let plain = format!("from_{dataset}");
        let numbered = (2..).map(|n| format!("{plain}_{n}"));
        let mut candidates = std::iter::once(plain.clone())
            .chain(numbered)
            .map(|n| self.ground.quote(&n));
        candidates
            .find(|n| !with.iter().any(|(known, _)| known == n))
            .unwrap_or(plain)
    }

    /// The rows of one part with all columns, those of other parts empty.
    fn stack(&self, part: &str, groups: &[String], branch: usize) -> String {
        let empty = match self.ground.dialect {
            // Columns of a union must agree in type there, and a bare NULL is text.
            Dialect::Postgres => "CAST(NULL AS NUMERIC)",
            _ => "NULL",
        };
        let column = |base: &Base| {
            let name = self.ground.quote(&base.name);
            match base.branch == branch {
                true => name,
                false => format!("{empty} AS {name}"),
            }
        };
        let columns: Vec<String> = groups
            .iter()
            .cloned()
            .chain(self.plan.bases.iter().map(column))
            .collect();
        format!("SELECT {} FROM {part}", columns.join(", "))
    }
}

fn order_measures(summary: &Summary) -> Vec<&Measure> {
    let measure = |key: &'_ OrderKey| matches!(key, OrderKey::Measure(_));
    summary
        .order_by
        .iter()
        .filter(|o| measure(&o.key))
        .filter_map(|o| match &o.key {
            OrderKey::Measure(m) => Some(m),
            OrderKey::Field(_) | OrderKey::Time | OrderKey::Period => None,
        })
        .collect()
}

fn having_measures(having: Option<&Having>) -> Vec<&Measure> {
    match having {
        None => Vec::new(),
        Some(Having::And(parts) | Having::Or(parts)) => parts.iter().flat_map(|p| having_measures(Some(p))).collect(),
        Some(Having::Not(part)) => having_measures(Some(part)),
        Some(Having::Compare { measure, .. } | Having::Between { measure, .. }) => vec![measure],
    }
}

/// The dataset whose rows are listed where only dimensions are asked for.
fn first_dataset(ground: Ground<'_>, summary: &Summary) -> Result<String, QueryError> {
    let datasets = summary.dimensions.iter().filter_map(|d| match d {
        Dimension::Field { field, .. } | Dimension::Time { field: Some(field), .. } => {
            Some(ground.field(field).map(|(d, _)| d.name.clone()))
        }
        Dimension::Entity { dataset, .. } => Some(ground.dataset(dataset).map(|d| d.name.clone())),
        Dimension::Time { field: None, .. } => None,
    });
    let names: Vec<String> = datasets.collect::<Result<_, _>>()?;
    // The one that all others can be reached from, row by row.
    let reaches_all = |from: &&String| {
        names
            .iter()
            .all(|to| ground.model.path(from, to).is_some_and(|p| p.is_many_to_one()))
    };
    let found = names.iter().find(reaches_all).or(names.first()).cloned();
    found.ok_or_else(|| QueryError::shape("a time dimension needs a measure or a field", "give it one"))
}

fn disjoint(windows: &[NamedWindow]) -> bool {
    let overlaps = |a: &NamedWindow, b: &NamedWindow| a.window.start < b.window.end && b.window.start < a.window.end;
    windows
        .iter()
        .enumerate()
        .all(|(at, a)| windows.iter().skip(at + 1).all(|b| !overlaps(a, b)))
}

/// `Some(false)` when the labels rise in the order given, `Some(true)` when they fall.
fn sorted(windows: &[NamedWindow]) -> Option<bool> {
    let pairs = || windows.iter().zip(windows.iter().skip(1));
    match () {
        () if pairs().all(|(a, b)| a.label < b.label) => Some(false),
        () if pairs().all(|(a, b)| a.label > b.label) => Some(true),
        () => None,
    }
}
