//! What was reached of what was planned.

use serde_json::json;

use crate::builtin::case::{Case, Fetched, Progress, optional};
use crate::builtin::show;
use crate::builtin::subject::Subject;
use crate::insight::chart::ChartKind;
use crate::insight::metrics::Derived;
use crate::meaning::query::{Measure, OrderBy, OrderKey, Query, Summary};
use crate::meaning::semantic::Metric;
use crate::text::Language;
use crate::tools::chart::{Args as ChartArgs, Drawn};

/// Value and target of each group.
pub struct Targets {
    pub attainment: Derived,
    pub chart: Option<Drawn>,
}

pub fn gather(case: &Case<'_>, subject: &Subject, target: &Metric) -> Progress<Targets> {
    let measures = [&subject.metric().name, &target.name]
        .map(|name| Measure::Metric(name.clone()))
        .to_vec();
    let dimensions = subject.dimension().map(|by| by.dimension.clone()).into_iter().collect();
    let order = measures.first().map(|measure| OrderBy {
        key: OrderKey::Measure(measure.clone()),
        descending: true,
    });
    let query = Summary {
        order_by: order.into_iter().collect(),
        ..subject.query(measures, dimensions, Some(subject.windows.current))
    };
    let title = subject.language.pick("Against targets", "与目标对比");
    let rows = case.fetch("targets", title, &Query::Summary(query))?;
    let value = super::ranking::column(&rows, subject.metric())?;
    let goal = super::ranking::column(&rows, target)?;
    let attainment = case.compute(
        "targets",
        rows.id(),
        json!({"function": "attainment", "group": rows.group(), "value": value, "target": goal}),
    );
    let chart = (rows.rows() > 1).then(|| case.draw("targets", &bars(subject, target, &rows, value, goal)));
    Ok(Targets {
        chart: optional(chart.transpose())?.flatten(),
        attainment: attainment?,
    })
}

fn bars(subject: &Subject, target: &Metric, rows: &Fetched, value: &str, goal: &str) -> ChartArgs {
    let name = |metric: &Metric| show::capitalised(show::name(&metric.words, subject.language));
    let window = subject.window_name(&subject.windows.current);
    let title = match subject.language {
        Language::English => format!("{} against target, {window}", name(subject.metric())),
        Language::Chinese => format!("{window}{}与目标", name(subject.metric())),
    };
    ChartArgs {
        x: rows.label().map(str::to_owned),
        unit: subject.chart_unit(),
        series_names: vec![name(subject.metric()), name(target)],
        ..ChartArgs::new(
            rows.id(),
            ChartKind::GroupedBar,
            title,
            vec![value.to_owned(), goal.to_owned()],
        )
    }
}
