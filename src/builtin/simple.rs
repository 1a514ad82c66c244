//! Questions that one query answers: a number, a ranking, a series, a comparison, a list.

mod lead;

use serde_json::json;

use crate::builtin::case::{Case, Fetched, Progress, optional};
use crate::builtin::show;
use crate::builtin::table::ReadDerived;
use crate::insight::chart::ChartKind;
use crate::insight::metrics::{Cell, Derived};
use crate::insight::report::escape;
use crate::meaning::query::{ColumnKind, OutputColumn, Query};
use crate::meaning::question::{Intent, Reading};
use crate::meaning::semantic::{Additive, Direction, Metric, MetricKind, Unit, Words};
use crate::text::Language;
use crate::tools::chart::{Args as ChartArgs, Drawn};
use crate::tools::glossary::Explained;

/// Rows of the answer's table.
const MOST_ROWS: usize = 50;
/// Fewer bars or points than these are read faster from a table.
const FEWEST_DRAWN: usize = 3;
/// Names that fit into one sentence.
const MOST_NAMED: usize = 12;
/// More groups than these make no bar chart.
const MOST_DRAWN: usize = 40;

/// Runs the reading's query and says what came back.
pub fn answer(case: &Case<'_>, reading: &Reading, explained: &Explained) -> Progress<String> {
    let rows = case.fetch("answer", &title(case), &whole(&reading.query))?;
    let told = Told {
        reading,
        explained,
        rows: &rows,
    };
    if rows.executed.row_count == 0 {
        return Ok(told.nothing());
    }
    let computed = told.compute(case);
    let chart = told.chart().map(|chart| case.draw("answer", &chart)).transpose();
    let (computed, chart) = (optional(computed)?.flatten(), optional(chart)?.flatten());
    Ok(told.text(computed.as_ref(), chart.as_ref()))
}

/// A comparison by groups keeps what belongs to no group, so that its totals are the whole.
fn whole(query: &Query) -> Query {
    match query {
        Query::Summary(summary) if !summary.compare.is_empty() && !summary.dimensions.is_empty() => {
            let mut whole = summary.clone();
            whole.include_unassigned = true;
            Query::Summary(whole)
        }
        other => other.clone(),
    }
}

/// The question itself names the query best.
fn title(case: &Case<'_>) -> String {
    /// Longer titles do not fit a line.
    const LONGEST: usize = 80;
    let question = case.transcript.question().replace(['\n', '\r'], " ");
    crate::text::truncate(question.trim(), LONGEST)
}

/// The rows that came back, with what they were asked for.
struct Told<'a> {
    reading: &'a Reading,
    explained: &'a Explained,
    rows: &'a Fetched,
}

impl Told<'_> {
    fn language(&self) -> Language {
        self.reading.language
    }

    fn columns(&self) -> &[OutputColumn] {
        &self.rows.composed.compiled.columns
    }

    fn of_kind(&self, kind: ColumnKind) -> Vec<&OutputColumn> {
        self.columns().iter().filter(|column| column.kind == kind).collect()
    }

    fn wants(&self, intent: Intent) -> bool {
        self.reading.intents.contains(&intent)
    }

    /// The metric behind a column, or one made up from the column's own unit.
    fn metric(&self, column: &OutputColumn) -> Metric {
        let around = self.explained.around.as_ref();
        let named = column.metric.as_deref();
        around
            .into_iter()
            .flat_map(|around| std::iter::once(&around.metric).chain(&around.companions))
            .find(|metric| named.is_some_and(|name| name == metric.name))
            .cloned()
            .unwrap_or_else(|| nameless(&column.name, column.unit.unwrap_or(Unit::Quantity)))
    }

    fn shown(&self, row: usize, column: &OutputColumn) -> String {
        match self.rows.cell(row, &column.name) {
            Cell::Null => "—".to_owned(),
            Cell::Text(text) => escape::cell(&text),
            Cell::Number(number) if column.kind == ColumnKind::Measure => {
                show::value(Some(number.to_f64()), &self.metric(column))
            }
            Cell::Number(number) => plain(number.to_f64(), column.unit),
        }
    }

    fn heading(&self, column: &OutputColumn) -> String {
        let metric = self.metric(column);
        let name = match column.kind {
            ColumnKind::Measure => show::name(&metric.words, self.language()).to_owned(),
            ColumnKind::Period => self.language().pick("period", "时间").to_owned(),
            ColumnKind::Dimension | ColumnKind::Key => column.name.replace('_', " "),
        };
        escape::cell(&show::capitalised(&name))
    }

    /// The window that the answer is about, in words.
    fn when(&self) -> Option<String> {
        match self.reading.windows.as_slice() {
            [only] => Some(only.label(self.language())),
            _ => None,
        }
    }

    /// There is nothing: what was looked for, and what there is.
    fn nothing(&self) -> String {
        let id = self.rows.id();
        let looked: Vec<String> = self
            .reading
            .spans
            .iter()
            .map(|span| format!("“{}” → {}", escape::cell(&span.text), escape::cell(&span.means)))
            .collect();
        let data = self.explained.time.data;
        let covered = data.map(|data| match self.language() {
            Language::English => format!(" The data covers {} to {}.", data.start, data.last_day()),
            Language::Chinese => format!("数据范围为 {} 至 {}。", data.start, data.last_day()),
        });
        match self.language() {
            Language::English => format!(
                "<!-- answer: {id} -->\n**No row fits** [{id}]. What was looked for: {}.{}",
                looked.join("; "),
                covered.unwrap_or_default()
            ),
            Language::Chinese => format!(
                "<!-- answer: {id} -->\n**没有符合条件的记录** [{id}]。查询条件：{}。{}",
                looked.join("；"),
                covered.unwrap_or_default()
            ),
        }
    }

    /// What the question wants computed beyond the rows themselves.
    fn compute(&self, case: &Case<'_>) -> Progress<Option<Derived>> {
        let measures = self.of_kind(ColumnKind::Measure);
        let Some(measure) = measures.first() else {
            return Ok(None);
        };
        let arguments = match self.compared() {
            Some((old, new)) => {
                let group = self.rows.group();
                let mut arguments = json!({
                    "function": "compare",
                    "period": self.rows.first(ColumnKind::Period),
                    "value": measure.name,
                    "old": old,
                    "new": new,
                });
                if let (false, Some(object)) = (group.is_empty(), arguments.as_object_mut()) {
                    object.insert("group".into(), json!(group));
                }
                arguments
            }
            None if self.is_series() => json!({
                "function": "growth",
                "period": self.rows.first(ColumnKind::Period),
                "value": measure.name,
                "grain": self.reading.grain,
            }),
            None if self.wants(Intent::Share) && self.is_grouped() => json!({
                "function": "share",
                "group": self.rows.group(),
                "value": measure.name,
            }),
            None => return Ok(None),
        };
        case.compute("answer", self.rows.id(), arguments).map(Some)
    }

    /// The older and the newer label, where two windows stand side by side.
    fn compared(&self) -> Option<(String, String)> {
        let Query::Summary(summary) = &self.reading.query else {
            return None;
        };
        let mut windows: Vec<_> = summary.compare.iter().collect();
        windows.sort_by_key(|named| named.window.start);
        match windows.as_slice() {
            [old, new] => Some((old.label.clone(), new.label.clone())),
            _ => None,
        }
    }

    /// One value a period, and nothing else.
    fn is_series(&self) -> bool {
        self.compared().is_none()
            && self.rows.first(ColumnKind::Period).is_some()
            && self.rows.label().is_none()
            && self.rows.executed.row_count > 1
    }

    /// One row a group, without periods.
    fn is_grouped(&self) -> bool {
        self.rows.first(ColumnKind::Period).is_none() && self.rows.label().is_some()
    }

    fn chart(&self) -> Option<ChartArgs> {
        let measure = *self.of_kind(ColumnKind::Measure).first()?;
        let rows = self.rows.executed.row_count;
        let metric = self.metric(measure);
        let name = show::capitalised(show::name(&metric.words, self.language()));
        let when = self.when().map(|when| format!(", {when}")).unwrap_or_default();
        let (kind, x) = if self.is_series() {
            (ChartKind::Line, self.rows.first(ColumnKind::Period)?)
        } else if self.is_grouped() && rows <= MOST_DRAWN {
            (ChartKind::Bar, self.rows.label()?)
        } else {
            return None;
        };
        // A label that stands in two rows is no axis.
        if rows < FEWEST_DRAWN || self.rows.group().len() > 1 || self.of_kind(ColumnKind::Dimension).len() > 1 {
            return None;
        }
        Some(ChartArgs {
            x: Some(x.to_owned()),
            grain: self.reading.grain.filter(|_| kind == ChartKind::Line),
            unit: show::axis_unit(&metric),
            ..ChartArgs::new(
                self.rows.id(),
                kind,
                format!("{name}{when}"),
                vec![measure.name.clone()],
            )
        })
    }

    fn text(&self, computed: Option<&Derived>, chart: Option<&Drawn>) -> String {
        let mut out = format!("<!-- answer: {} -->\n", self.rows.id());
        out.push_str(&self.lead(computed));
        if self.rows.executed.row_count > 1 || self.columns().len() > 3 {
            out.push_str("\n\n");
            out.push_str(&self.table());
        }
        if let Some(derived) = computed.filter(|derived| derived.function == "share") {
            out.push_str("\n\n");
            out.push_str(&self.shares(derived));
        }
        if let Some(chart) = chart {
            out.push_str(&format!("\n\n[{}]", chart.id));
        }
        out
    }

    /// The rows without keys that a label stands beside.
    fn table(&self) -> String {
        let labelled = self.of_kind(ColumnKind::Dimension).len();
        let summary = matches!(self.reading.query, Query::Summary(_));
        let columns: Vec<&OutputColumn> = self
            .columns()
            .iter()
            .filter(|column| {
                !(summary && labelled > 0 && column.kind == ColumnKind::Key && self.rows.group().len() < 2)
            })
            .collect();
        let header: Vec<String> = columns.iter().map(|column| self.heading(column)).collect();
        let texts = columns
            .iter()
            .take_while(|column| column.kind != ColumnKind::Measure)
            .count();
        let count = self.rows.rows().min(MOST_ROWS);
        let rows: Vec<Vec<String>> = (0..count)
            .map(|row| columns.iter().map(|column| self.shown(row, column)).collect())
            .collect();
        let mut out = show::table(&header, texts, &rows);
        let left = self.rows.executed.row_count.saturating_sub(count);
        let id = self.rows.id();
        out.push('\n');
        out.push_str(&match (self.language(), left) {
            (Language::English, 0) => format!("Source: [{id}]"),
            (Language::Chinese, 0) => format!("来源：[{id}]"),
            (Language::English, left) => format!("{left} further rows are in the stored result. Source: [{id}]"),
            (Language::Chinese, left) => format!("另有 {left} 行见已保存的结果。来源：[{id}]"),
        });
        out
    }

    fn shares(&self, derived: &Derived) -> String {
        let lines: Vec<String> = derived
            .all()
            .take(MOST_ROWS)
            .map(|row| {
                format!(
                    "- {}: {} [{}]",
                    escape::cell(&derived.label(row)),
                    show::share(derived.value(row, "share")),
                    derived.id
                )
            })
            .collect();
        lines.join("\n")
    }
}

/// A number that is no measure: keys and years without separators.
fn plain(number: f64, unit: Option<Unit>) -> String {
    match unit {
        Some(unit @ (Unit::Money | Unit::Quantity)) if number.fract() != 0.0 => {
            show::value(Some(number), &nameless("", unit))
        }
        _ => number.to_string(),
    }
}

/// A metric for a column that is none, so that its values are written in their unit.
fn nameless(column: &str, unit: Unit) -> Metric {
    Metric {
        name: column.to_owned(),
        words: Words {
            label: column.replace('_', " "),
            ..Words::default()
        },
        kind: MetricKind::Derived {
            expression: String::new(),
            inputs: Vec::new(),
        },
        unit,
        currency: None,
        decimals: None,
        additive: Additive::None,
        direction: Direction::Neutral,
        target_of: None,
        hidden: false,
    }
}
