//! Questions that this database can answer: made from its own names, and read before they are offered.

use crate::meaning::question::Reader;
use crate::meaning::question::choose::metric_datasets;
use crate::meaning::question::say::Say;
use crate::meaning::semantic::{Additive, DatasetKind, Field, FieldRef};
use crate::text::Language;
use crate::time::{Grain, TimeContext, Window};
use crate::warehouse::catalog::Role;

/// So many are offered.
const OFFERED: usize = 3;

/// Up to three questions in `language`, each of which the reader reads by itself.
pub(super) fn suggestions(reader: &Reader<'_>, language: Language, time: &TimeContext) -> Vec<String> {
    let mut offered: Vec<String> = Vec::new();
    for question in candidates(reader, language, time) {
        if offered.len() >= OFFERED {
            break;
        }
        let reads = reader.understand(&question, time).is_ok_and(|(readings, ambiguous)| {
            !ambiguous && readings.first().is_some_and(|reading| reading.unread.is_empty())
        });
        if reads && !offered.contains(&question) {
            offered.push(question);
        }
    }
    offered
}

/// Questions of different kinds, most useful first.
fn candidates(reader: &Reader<'_>, language: Language, time: &TimeContext) -> Vec<String> {
    let say = Say { language };
    let pick = |english: String, chinese: String| language.pick(english, chinese);
    let model = reader.model;
    let month = last_whole(time, Grain::Month).map(|window| window.label(language));
    let year = last_whole(time, Grain::Year).map(|window| window.label(language));
    let mut questions = Vec::new();
    let metrics = model.metrics.iter().filter(|metric| !metric.hidden);
    let (additive, others): (Vec<_>, Vec<_>) = metrics.partition(|metric| metric.additive == Additive::Full);
    let main = reader.main_metric();
    let metrics = main.into_iter().chain(additive).chain(others);
    for metric in metrics.take(4) {
        let name = say.name(&metric.words);
        let base = metric_datasets(model, metric).into_iter().next();
        let reached = model.datasets.iter().find(|dataset| {
            let is_below = base
                .as_ref()
                .is_some_and(|base| reader.graph.points_at(base, &dataset.name));
            dataset.kind == DatasetKind::Entity && is_below
        });
        if let Some(entity) = reached.map(|dataset| say.name(&dataset.words)) {
            let year = year
                .clone()
                .map(|year| pick(format!(" in {year}"), year))
                .unwrap_or_default();
            questions.push(pick(
                format!("top 5 {entity} by {name}{year}"),
                format!("{year}{name}最高的前 5 个{entity}"),
            ));
        }
        if let Some(year) = &year {
            questions.push(pick(
                format!("{name} by month in {year}"),
                format!("{year}按月统计{name}"),
            ));
        }
        if let Some(month) = &month {
            questions.push(pick(format!("total {name} in {month}"), format!("{month}的{name}")));
        }
    }
    for dataset in &model.datasets {
        let name = say.name(&dataset.words);
        questions.push(pick(
            format!("how many {name} are there?"),
            format!("一共有多少{name}？"),
        ));
        let category = dataset
            .fields
            .iter()
            .find(|field| field.role == Role::Category && is_plain(field));
        if let Some(field) = category {
            let label = say.field(model, &FieldRef::new(&dataset.name, &field.name));
            questions.push(pick(
                format!("number of {name} by {label}"),
                format!("各{label}的{name}数量"),
            ));
        }
    }
    questions
}

fn is_plain(field: &Field) -> bool {
    field.column.is_some()
}

/// The last whole period of `grain` within the data, or before the as-of date.
fn last_whole(time: &TimeContext, grain: Grain) -> Option<Window> {
    let end = match time.data {
        Some(data) => data.end.min(Grain::Day.step(time.as_of.date, 1)),
        None => time.as_of.date,
    };
    let start = grain.truncate(end);
    let window = Window::new(grain.step(start, -1), start)?;
    let within = time.data.is_none_or(|data| data.start <= window.start);
    within.then_some(window)
}
