//! From a working model to an Ossie document: how a draft becomes a file that people correct.

use serde_json::{Map, Value, json};

use crate::meaning::semantic::ossie::{
    AiContext, AiParts, CustomExtension, DialectExpression, Document, Expression, OSSIE_VERSION, OssieDataset,
    OssieDimension, OssieField, OssieMetric, OssieModel, OssieRelationship, OssieType, VENDOR,
};
use crate::meaning::semantic::{Dataset, Field, Metric, MetricKind, Model, Relationship, Source, WeekStart, Words};
use crate::warehouse::catalog::{DataType, Role};

/// The Ossie document that says what `model` says. Reading it back against the same catalog gives the same names, joins and
/// metrics.
pub fn document(model: &Model) -> Document {
    let settings = &model.settings;
    let extra = object([
        ("fiscal_year_start", json!(settings.fiscal_year_start)),
        (
            "week_start",
            match settings.week_start {
                WeekStart::Monday => Value::Null,
                WeekStart::Sunday => json!(settings.week_start),
            },
        ),
        ("time_zone", json!(settings.time_zone)),
        ("definitions", json!(model.definitions)),
    ]);
    Document {
        version: OSSIE_VERSION.into(),
        semantic_model: vec![OssieModel {
            name: model.name.clone(),
            description: model.description.clone(),
            ai_context: None,
            datasets: model.datasets.iter().map(dataset).collect(),
            relationships: model.relationships.iter().map(relationship).collect(),
            metrics: model.metrics.iter().map(|metric| self::metric(metric, model)).collect(),
            custom_extensions: ours(extra),
            rest: Map::new(),
        }],
        rest: Map::new(),
    }
}

/// The pairs that hold something.
fn object<const N: usize>(pairs: [(&str, Value); N]) -> Map<String, Value> {
    let says_something = |value: &Value| match value {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        Value::Bool(yes) => *yes,
        Value::Number(_) | Value::String(_) | Value::Object(_) => true,
    };
    pairs
        .into_iter()
        .filter(|(_, value)| says_something(value))
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}

fn ours(extra: Map<String, Value>) -> Vec<CustomExtension> {
    match extra.is_empty() {
        true => Vec::new(),
        false => vec![CustomExtension {
            vendor_name: VENDOR.into(),
            data: Value::Object(extra).to_string(),
        }],
    }
}

fn context(synonyms: &[String]) -> Option<AiContext> {
    (!synonyms.is_empty()).then(|| {
        AiContext::Parts(AiParts {
            synonyms: synonyms.to_vec(),
            ..AiParts::default()
        })
    })
}

fn portable(text: &str) -> Expression {
    Expression {
        dialects: vec![DialectExpression {
            dialect: "ANSI_SQL".into(),
            expression: text.to_owned(),
        }],
    }
}

/// Words with the label among the synonyms where the format has no place for it.
fn with_label(words: &Words) -> Vec<String> {
    let label = std::iter::once(&words.label).filter(|label| !words.synonyms.contains(label));
    label.chain(&words.synonyms).cloned().collect()
}

fn dataset(dataset: &Dataset) -> OssieDataset {
    let source = match &dataset.source {
        Source::Table { schema: None, name } => name.clone(),
        Source::Table {
            schema: Some(schema),
            name,
        } => format!("{schema}.{name}"),
        Source::Query(sql) => sql.clone(),
    };
    let extra = object([
        ("label_zh", json!(dataset.words.label_zh)),
        ("description_zh", json!(dataset.words.description_zh)),
        ("label", json!(dataset.label)),
        ("default_filter", json!(dataset.default_filter)),
        ("time", json!(dataset.time)),
        ("kind", json!(dataset.kind)),
    ]);
    OssieDataset {
        name: dataset.name.clone(),
        source,
        primary_key: dataset.primary_key.clone(),
        unique_keys: dataset.unique_keys.clone(),
        description: dataset.words.description.clone(),
        ai_context: context(&with_label(&dataset.words)),
        fields: dataset.fields.iter().map(field).collect(),
        custom_extensions: ours(extra),
        rest: Map::new(),
    }
}

fn field(field: &Field) -> OssieField {
    let known_role = (field.role != Role::Unknown).then_some(field.role);
    let extra = object([
        ("label_zh", json!(field.words.label_zh)),
        ("description_zh", json!(field.words.description_zh)),
        ("role", json!(known_role)),
        ("aggregation", json!(field.aggregation)),
        ("unit", json!(field.unit)),
        ("values", json!(field.values)),
    ]);
    OssieField {
        name: field.name.clone(),
        expression: portable(&field.expression),
        dimension: field.is_time.then_some(OssieDimension { is_time: Some(true) }),
        label: Some(field.words.label.clone()),
        description: field.words.description.clone(),
        datatype: datatype(&field.data_type),
        ai_context: context(&field.words.synonyms),
        custom_extensions: ours(extra),
        rest: Map::new(),
    }
}

fn datatype(data_type: &DataType) -> Option<OssieType> {
    Some(match data_type {
        DataType::Boolean => OssieType::Boolean,
        DataType::Integer => OssieType::Integer,
        DataType::Float => OssieType::Float,
        DataType::Decimal { .. } => OssieType::Decimal,
        DataType::Text => OssieType::String,
        DataType::Date => OssieType::Date,
        DataType::Time => OssieType::Time,
        DataType::DateTime => OssieType::DateTime,
        DataType::DateTimeTz => OssieType::DateTimeTz,
        DataType::Blob | DataType::Json => OssieType::Opaque,
        DataType::Other(name) if name.is_empty() => return None,
        DataType::Other(_) => OssieType::Opaque,
    })
}

fn relationship(relationship: &Relationship) -> OssieRelationship {
    OssieRelationship {
        name: relationship.name.clone(),
        from: relationship.from.clone(),
        to: relationship.to.clone(),
        from_columns: relationship.from_columns.clone(),
        to_columns: relationship.to_columns.clone(),
        ai_context: context(&relationship.synonyms),
        custom_extensions: Vec::new(),
        rest: Map::new(),
    }
}

fn metric(metric: &Metric, model: &Model) -> OssieMetric {
    let (dataset, filter, time, derived) = match &metric.kind {
        MetricKind::Simple {
            dataset, filter, time, ..
        } => (
            Some(dataset.clone()),
            filter.clone(),
            time.as_ref().map(ToString::to_string),
            None,
        ),
        MetricKind::Ratio { numerator, denominator } => {
            (None, None, None, Some(format!("{numerator} / {denominator}")))
        }
        MetricKind::Derived { expression, .. } => (None, None, None, Some(expression.clone())),
    };
    let extra = object([
        ("label", json!(metric.words.label)),
        ("label_zh", json!(metric.words.label_zh)),
        ("description_zh", json!(metric.words.description_zh)),
        ("dataset", json!(dataset)),
        ("filter", json!(filter)),
        ("time", json!(time)),
        ("derived", json!(derived)),
        ("unit", json!(metric.unit)),
        ("currency", json!(metric.currency)),
        ("decimals", json!(metric.decimals)),
        ("additive", json!(metric.additive)),
        ("direction", json!(metric.direction)),
        ("target_of", json!(metric.target_of)),
        ("hidden", json!(metric.hidden)),
    ]);
    OssieMetric {
        name: metric.name.clone(),
        expression: portable(&in_full(metric, model, 0)),
        description: metric.words.description.clone(),
        datatype: None,
        ai_context: context(&metric.words.synonyms),
        custom_extensions: ours(extra),
        rest: Map::new(),
    }
}

/// The metric over fields alone, as readers of the plain format need it.
fn in_full(metric: &Metric, model: &Model, depth: usize) -> String {
    let part = |name: &str| match model.metric(name) {
        // A circle is not followed; `derived` still says what was meant.
        Some(part) if depth < 8 => in_full(part, model, depth + 1),
        _ => name.to_owned(),
    };
    match &metric.kind {
        MetricKind::Simple { expression, .. } => expression.clone(),
        MetricKind::Ratio { numerator, denominator } => format!("({}) / ({})", part(numerator), part(denominator)),
        MetricKind::Derived { expression, .. } => {
            let Ok(mut parsed) = crate::meaning::semantic::expression::parse(expression) else {
                return expression.clone();
            };
            let replaced = crate::meaning::semantic::expression::replace_names::<()>(&mut parsed, |parts| {
                let text = format!("({})", part(&parts.join(".")));
                Ok(crate::meaning::semantic::expression::parse(&text).ok())
            });
            match replaced {
                Ok(()) => parsed.to_string(),
                Err(()) => expression.clone(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::meaning::semantic::draft;
    use crate::meaning::semantic::draft::tests::{northwind_like, sakila_like};
    use crate::meaning::semantic::load::{check, load, read, write};
    use crate::warehouse::catalog::Catalog;

    #[rstest]
    #[case(sakila_like())]
    #[case(northwind_like())]
    fn a_draft_that_is_written_and_read_says_the_same(#[case] catalog: Catalog) {
        let drafted = draft(&catalog);
        let text = write(&document(&drafted)).unwrap();
        assert_eq!(check(&text, &catalog), Vec::<String>::new());
        let read_back = load(&text, &catalog).unwrap();
        assert_eq!(read_back.metrics, drafted.metrics);
        for (one, other) in read_back.datasets.iter().zip(&drafted.datasets) {
            assert_eq!(
                (&one.name, &one.label, &one.time, one.kind),
                (&other.name, &other.label, &other.time, other.kind)
            );
            assert_eq!(one.fields, other.fields);
        }
        let joins = |m: &Model| {
            m.relationships
                .iter()
                .map(|r| (r.name.clone(), r.from.clone(), r.to.clone()))
                .collect::<Vec<_>>()
        };
        assert_eq!(joins(&read_back), joins(&drafted));
    }

    #[test]
    fn what_the_format_does_not_know_is_written_back() {
        let text = "version: 0.2.0.dev0\nowner: ops\nsemantic_model:\n- name: m\n  colour: red\n  datasets:\n  - name: d\n    source: t\n    ai_context:\n      mood: calm\n";
        let written = write(&read(text).unwrap()).unwrap();
        for kept in ["owner: ops", "colour: red", "mood: calm"] {
            assert!(written.contains(kept), "{written}");
        }
        assert_eq!(read(&written).unwrap(), read(text).unwrap());
    }

    #[test]
    fn a_column_that_is_gone_is_named() {
        let mut catalog = northwind_like();
        let text = write(&document(&draft(&catalog))).unwrap();
        catalog
            .table_mut("Orders")
            .unwrap()
            .columns
            .retain(|c| c.name != "Freight");
        let problems = check(&text, &catalog);
        assert!(
            problems
                .iter()
                .any(|p| p == "dataset orders, field freight: table Orders has no column `Freight`"),
            "{problems:?}"
        );
    }
}
