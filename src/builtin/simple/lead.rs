//! The answer in one bold sentence.

use crate::builtin::show;
use crate::builtin::simple::{MOST_NAMED, Told};
use crate::builtin::subject::period_label;
use crate::builtin::table::ReadDerived;
use crate::insight::metrics::Derived;
use crate::meaning::query::{ColumnKind, OutputColumn, Query};
use crate::meaning::question::Intent;
use crate::text::Language;
use crate::time::Window;

impl Told<'_> {
    /// What the rows say, as far as one sentence can say it.
    pub(super) fn lead(&self, computed: Option<&Derived>) -> String {
        if let Some(derived) = computed.filter(|derived| derived.function == "compare") {
            return self.comparison(derived);
        }
        let label = self
            .rows
            .label()
            .and_then(|label| self.columns().iter().find(|column| column.name == label));
        let count = self.rows.executed.row_count;
        match label {
            _ if self.rows.executed.truncated => self.many(count),
            None if count == 1 => self.single(),
            Some(label) if self.wants(Intent::Rank) || count == 1 => self.leader(label),
            _ if self.is_series() => self.series().unwrap_or_else(|| self.many(count)),
            Some(_) if self.is_grouped() && !self.of_kind(ColumnKind::Measure).is_empty() => {
                self.groups(count).unwrap_or_else(|| self.many(count))
            }
            Some(label) if count <= MOST_NAMED && self.rows.first(ColumnKind::Period).is_none() => {
                self.names(label, count)
            }
            _ => self.many(count),
        }
    }

    /// Every measure of a row: `Net sales: $1,204.00`.
    fn values(&self, row: usize) -> String {
        let language = self.language();
        let colon = language.pick(": ", "：");
        let values: Vec<String> = self
            .of_kind(ColumnKind::Measure)
            .iter()
            .map(|measure| format!("{}{colon}{}", self.heading(measure), self.shown(row, measure)))
            .collect();
        values.join(language.pick(", ", "，"))
    }

    fn single(&self) -> String {
        let (values, id) = (self.values(0), self.rows.id());
        match (self.when(), self.language()) {
            (None, _) => format!("**{values}** [{id}]"),
            (Some(when), Language::English) => format!("**{values}** ({when}) [{id}]"),
            (Some(when), Language::Chinese) => format!("**{values}**（{when}） [{id}]"),
        }
    }

    fn leader(&self, label: &OutputColumn) -> String {
        let (values, id, name) = (self.values(0), self.rows.id(), self.shown(0, label));
        match (self.when(), self.language()) {
            (None, _) => format!("**{name}** — {values} [{id}]"),
            (Some(when), Language::English) => format!("**{name}** — {values} in {when} [{id}]"),
            (Some(when), Language::Chinese) => format!("**{name}** — {values}（{when}） [{id}]"),
        }
    }

    /// The highest and the lowest period of a series.
    fn series(&self) -> Option<String> {
        let measure = *self.of_kind(ColumnKind::Measure).first()?;
        let period = *self.of_kind(ColumnKind::Period).first()?;
        let (highest, lowest) = self.extremes(measure)?;
        let (name, id) = (self.heading(measure), self.rows.id());
        let (high, low) = (self.shown(highest, measure), self.shown(lowest, measure));
        let (when_high, when_low) = (self.shown(highest, period), self.shown(lowest, period));
        Some(match self.language() {
            Language::English => {
                format!("**{name}: highest in {when_high} ({high}), lowest in {when_low} ({low})** [{id}]")
            }
            Language::Chinese => format!("**{name}：{when_high} 最高（{high}），{when_low} 最低（{low}）** [{id}]"),
        })
    }

    /// The highest and the lowest of a few groups.
    fn groups(&self, count: usize) -> Option<String> {
        let measure = *self.of_kind(ColumnKind::Measure).first()?;
        let labels = self.of_kind(ColumnKind::Dimension);
        let (highest, lowest) = self.extremes(measure)?;
        let named = |row| {
            let parts: Vec<String> = labels.iter().map(|label| self.shown(row, label)).collect();
            format!("{} ({})", parts.join(" / "), self.shown(row, measure))
        };
        let (name, id, high, low) = (self.heading(measure), self.rows.id(), named(highest), named(lowest));
        Some(match self.language() {
            Language::English => format!("**{name}: most for {high}, least for {low}, {count} groups in all** [{id}]"),
            Language::Chinese => format!("**{name}：最高 {high}，最低 {low}，共 {count} 组** [{id}]"),
        })
    }

    /// The rows where `measure` is highest and lowest; nothing where all are alike, or where not all are here.
    fn extremes(&self, measure: &OutputColumn) -> Option<(usize, usize)> {
        if self.rows.rows() < self.rows.executed.row_count {
            return None;
        }
        let points: Vec<(usize, f64)> = (0..self.rows.rows())
            .filter_map(|row| Some((row, self.rows.number(row, &measure.name)?)))
            .collect();
        let highest = points.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let lowest = points.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
        (highest.1 > lowest.1).then_some((highest.0, lowest.0))
    }

    /// The names of a few rows.
    fn names(&self, label: &OutputColumn, count: usize) -> String {
        let names: Vec<String> = (0..self.rows.rows()).map(|row| self.shown(row, label)).collect();
        let (names, id) = (show::list(&names, self.language()), self.rows.id());
        match self.language() {
            Language::English => format!("**{count}: {names}** [{id}]"),
            Language::Chinese => format!("**{count} 个：{names}** [{id}]"),
        }
    }

    fn many(&self, count: usize) -> String {
        let id = self.rows.id();
        match (self.language(), self.rows.executed.truncated) {
            (Language::English, true) => format!("**More than {count} rows**, of which the first are shown [{id}]"),
            (Language::Chinese, true) => format!("**超过 {count} 行**，仅显示前面部分 [{id}]"),
            (Language::English, false) => format!("**{count} rows** [{id}]"),
            (Language::Chinese, false) => format!("**共 {count} 行** [{id}]"),
        }
    }

    /// "Net sales went from $X in July 2005 to $Y in August 2005, −12.3%."
    fn comparison(&self, derived: &Derived) -> String {
        let measures = self.of_kind(ColumnKind::Measure);
        let Some(measure) = measures.first() else {
            return String::new();
        };
        let metric = self.metric(measure);
        let label_of = |fact: &str| {
            let label = derived.word(fact).unwrap_or_default();
            self.window_named(label)
                .map_or_else(|| label.to_owned(), |window| window.label(self.language()))
        };
        let value = |fact: &str| show::value(derived.number(fact), &metric);
        let (old, new) = (label_of("old_label"), label_of("new_label"));
        let grew = show::change(derived.number("growth"));
        let delta = show::difference(derived.number("delta"), &metric);
        let cited = show::cite(&[self.rows.id(), &derived.id]);
        let name = self.heading(measure);
        match self.language() {
            Language::English => format!(
                "**{name} went from {} in {old} to {} in {new}: {delta} ({grew})** {cited}",
                value("old_total"),
                value("new_total")
            ),
            Language::Chinese => format!(
                "**{name}由{old}的 {} 变为{new}的 {}：{delta}（{grew}）** {cited}",
                value("old_total"),
                value("new_total")
            ),
        }
    }

    fn window_named(&self, label: &str) -> Option<Window> {
        let Query::Summary(summary) = &self.reading.query else {
            return None;
        };
        summary
            .compare
            .iter()
            .find(|named| named.label == label || period_label(&named.window) == label)
            .map(|named| named.window)
    }
}
