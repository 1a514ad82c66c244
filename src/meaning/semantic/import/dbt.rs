//! dbt semantic models and metrics, from YAML files or from a manifest.
//!
//! Entities become keys and relationships, measures stay inside the metrics that use them, and filters such as
//! `{{ Dimension('order__status') }} = 'done'` are written with the fields that they mean.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use crate::meaning::semantic::import::{Imported, aggregate, document, field, items, metric, ours, relationship, text};
use crate::meaning::semantic::ossie::{OssieDataset, OssieField, OssieMetric, OssieRelationship};

pub(super) fn import(name: &str, files: &[Value]) -> Result<Imported, String> {
    let models: Vec<SemanticModel> = files
        .iter()
        .flat_map(|file| items(file, "semantic_models"))
        .filter_map(SemanticModel::read)
        .collect();
    if models.is_empty() {
        return Err("there is no entry with a name under `semantic_models`".to_owned());
    }
    let project = Project { models };
    let mut left_out = Vec::new();
    let mut metrics = project.measures_as_metrics(&mut left_out);
    for written in files.iter().flat_map(|file| items(file, "metrics")) {
        if let Some(made) = project.metric(written, &mut left_out) {
            metrics.retain(|known| known.name != made.name);
            metrics.push(made);
        }
    }
    drop_what_rests_on_nothing(&mut metrics, &mut left_out);
    Ok(Imported {
        document: document(name, None, project.datasets(), project.relationships(), metrics),
        left_out,
    })
}

/// One entity of a semantic model.
struct Entity {
    name: String,
    /// The column behind it.
    expression: String,
    kind: String,
}

struct SemanticModel<'v> {
    name: String,
    source: String,
    written: &'v Value,
    entities: Vec<Entity>,
}

struct Project<'v> {
    models: Vec<SemanticModel<'v>>,
}

impl<'v> SemanticModel<'v> {
    fn read(written: &'v Value) -> Option<Self> {
        let name = text(written, "name")?;
        let entities = items(written, "entities").into_iter().filter_map(|entity| {
            let name = text(entity, "name")?;
            Some(Entity {
                expression: text(entity, "expr").unwrap_or_else(|| name.clone()),
                kind: text(entity, "type").unwrap_or_default(),
                name,
            })
        });
        Some(Self {
            entities: entities.collect(),
            source: source(written).unwrap_or_else(|| name.clone()),
            name,
            written,
        })
    }

    fn primary(&self) -> Option<&Entity> {
        self.entities.iter().find(|entity| entity.kind == "primary")
    }

    fn time(&self) -> Option<String> {
        self.written
            .get("defaults")
            .and_then(|defaults| text(defaults, "agg_time_dimension"))
    }

    fn dataset(&self) -> OssieDataset {
        let mut fields: Vec<OssieField> = Vec::new();
        for dimension in items(self.written, "dimensions") {
            let Some(name) = text(dimension, "name") else { continue };
            let is_time = text(dimension, "type").as_deref() == Some("time");
            let mut made = field(&name, &text(dimension, "expr").unwrap_or_else(|| name.clone()), is_time);
            made.label = text(dimension, "label");
            made.description = text(dimension, "description");
            fields.push(made);
        }
        for entity in &self.entities {
            let known = |made: &OssieField| {
                made.name.eq_ignore_ascii_case(&entity.expression)
                    || made
                        .expression
                        .portable()
                        .is_some_and(|own| own.eq_ignore_ascii_case(&entity.expression))
            };
            if !fields.iter().any(known) {
                fields.push(field(&entity.expression, &entity.expression, false));
            }
        }
        let columns = |kind: &str| -> Vec<String> {
            let own = self.entities.iter().filter(|entity| entity.kind == kind);
            own.map(|entity| entity.expression.clone()).collect()
        };
        let mut extra = Map::new();
        if let Some(time) = self.time().filter(|time| fields.iter().any(|made| made.name == *time)) {
            extra.insert("time".to_owned(), json!(time));
        }
        OssieDataset {
            name: self.name.clone(),
            source: self.source.clone(),
            primary_key: columns("primary"),
            unique_keys: columns("unique").into_iter().map(|column| vec![column]).collect(),
            description: text(self.written, "description"),
            ai_context: None,
            fields,
            custom_extensions: ours(extra),
            rest: Map::new(),
        }
    }

    fn has_dimension(&self, name: &str) -> bool {
        items(self.written, "dimensions")
            .into_iter()
            .any(|dimension| text(dimension, "name").as_deref() == Some(name))
    }
}

/// `ref('orders')`, or what the manifest says that it became.
fn source(written: &Value) -> Option<String> {
    if let Some(relation) = written.get("node_relation") {
        return text(relation, "alias");
    }
    let model = text(written, "model")?;
    let inner = model.split('(').nth(1).unwrap_or(&model);
    let last = inner.trim_end_matches(')').rsplit(',').next()?;
    Some(last.trim().trim_matches(['\'', '"']).to_owned())
}

impl Project<'_> {
    fn datasets(&self) -> Vec<OssieDataset> {
        self.models.iter().map(SemanticModel::dataset).collect()
    }

    /// Foreign entities point at the model whose primary or unique entity has their name; models that share a primary entity
    /// have one row for each other's.
    fn relationships(&self) -> Vec<OssieRelationship> {
        let mut made: Vec<OssieRelationship> = Vec::new();
        for from in &self.models {
            for entity in &from.entities {
                let targets = self.models.iter().filter(|to| to.name != from.name);
                for to in targets {
                    let own = |known: &&Entity| {
                        known.name == entity.name && (known.kind == "primary" || known.kind == "unique")
                    };
                    let Some(key) = to.entities.iter().find(own) else {
                        continue;
                    };
                    made.push(relationship(
                        &from.name,
                        &to.name,
                        vec![entity.expression.clone()],
                        vec![key.expression.clone()],
                    ));
                }
            }
        }
        let mut seen: HashMap<String, usize> = HashMap::new();
        for relationship in &mut made {
            let count = seen.entry(relationship.name.clone()).or_default();
            *count += 1;
            if *count > 1 {
                relationship.name = format!("{}_{count}", relationship.name);
            }
        }
        made
    }

    /// Measures that say `create_metric`.
    fn measures_as_metrics(&self, left_out: &mut Vec<String>) -> Vec<OssieMetric> {
        let mut made = Vec::new();
        for model in &self.models {
            for measure in items(model.written, "measures") {
                let creates = measure.get("create_metric").and_then(Value::as_bool) == Some(true);
                if let (true, Some(name)) = (creates, text(measure, "name")) {
                    made.extend(self.of_measure(&name, &name, measure, None, left_out));
                }
            }
        }
        made
    }

    fn metric(&self, written: &Value, left_out: &mut Vec<String>) -> Option<OssieMetric> {
        let name = text(written, "name")?;
        let kind = text(written, "type").unwrap_or_else(|| "simple".to_owned());
        let params = written.get("type_params").unwrap_or(&Value::Null);
        match kind.as_str() {
            // What has been added up so far is a way to show the measure, not another measure.
            "simple" | "cumulative" => {
                let measure = name_in(params, "measure").or_else(|| {
                    params
                        .get("cumulative_type_params")
                        .and_then(|inner| inner.get("metric"))
                        .and_then(name_of)
                })?;
                let filter = [
                    written.get("filter"),
                    params.get("measure").and_then(|measure| measure.get("filter")),
                ];
                let filter: Vec<String> = filter.into_iter().flatten().filter_map(filter_text).collect();
                let filter = (!filter.is_empty()).then(|| filter.join(" AND "));
                self.of_measure(&name, &measure, written, filter, left_out)
            }
            "ratio" => {
                let (above, below) = (name_in(params, "numerator")?, name_in(params, "denominator")?);
                Some(derived(&name, &format!("{above} / {below}"), written))
            }
            "derived" => {
                let formula = text(params, "expr")?;
                if items(params, "metrics").iter().any(|input| has_offset(input)) {
                    left_out.push(format!(
                        "metric {name}: it compares with an earlier period; ask for growth instead"
                    ));
                    return None;
                }
                Some(derived(&name, &with_names(&formula, params), written))
            }
            other => {
                left_out.push(format!("metric {name}: metrics of type `{other}` are not known"));
                None
            }
        }
    }

    /// The metric `name` of the measure `measure`.
    fn of_measure(
        &self,
        name: &str,
        measure: &str,
        written: &Value,
        filter: Option<String>,
        left_out: &mut Vec<String>,
    ) -> Option<OssieMetric> {
        let found = self.models.iter().find_map(|model| {
            let measures = items(model.written, "measures").into_iter();
            let own = measures.filter(|own| text(own, "name").as_deref() == Some(measure));
            own.map(|own| (model, own)).next()
        });
        let Some((model, own)) = found else {
            left_out.push(format!("metric {name}: there is no measure `{measure}`"));
            return None;
        };
        let of = text(own, "expr").unwrap_or_else(|| measure.to_owned());
        let function = text(own, "agg").unwrap_or_else(|| "sum".to_owned());
        let Some(expression) = aggregate(&function, &of) else {
            left_out.push(format!("metric {name}: there is no portable `{function}`"));
            return None;
        };
        let mut extra = Map::from_iter([("dataset".to_owned(), json!(model.name))]);
        if let Some(filter) = filter {
            match self.with_fields(&filter, model) {
                Ok(filter) => extra.insert("filter".to_owned(), json!(filter)),
                Err(problem) => {
                    left_out.push(format!("metric {name}: {problem}"));
                    return None;
                }
            };
        }
        if let Some(time) = text(own, "agg_time_dimension").or_else(|| model.time())
            && model.has_dimension(&time)
        {
            extra.insert("time".to_owned(), json!(format!("{}.{time}", model.name)));
        }
        Some(with_words(metric(name, &expression, label(extra, written)), written))
    }

    /// `{{ Dimension('order__status') }}` as `orders.status`.
    fn with_fields(&self, filter: &str, home: &SemanticModel<'_>) -> Result<String, String> {
        let mut out = String::new();
        let mut rest = filter.trim();
        while let Some((before, after)) = rest.split_once("{{") {
            let (call, after) = after
                .split_once("}}")
                .ok_or_else(|| format!("`{filter}` has no closing braces"))?;
            out.push_str(before);
            out.push_str(&self.field_of(call.trim(), home)?);
            rest = after;
        }
        out.push_str(rest);
        Ok(out.trim().to_owned())
    }

    fn field_of(&self, call: &str, home: &SemanticModel<'_>) -> Result<String, String> {
        let unknown = || format!("`{call}` names no dimension of the project");
        let argument = call
            .split('(')
            .nth(1)
            .and_then(|rest| rest.split([',', ')']).next())
            .ok_or_else(unknown)?;
        let path = argument.trim().trim_matches(['\'', '"']);
        let (entity, dimension) = path.rsplit_once("__").unwrap_or(("", path));
        let is_of = |model: &&SemanticModel<'_>| {
            let by_entity = model
                .primary()
                .is_some_and(|primary| entity.rsplit("__").next() == Some(&primary.name));
            model.has_dimension(dimension) && (entity.is_empty() || by_entity)
        };
        let found = std::iter::once(home).chain(&self.models).find(is_of);
        found
            .map(|model| format!("{}.{dimension}", model.name))
            .ok_or_else(unknown)
    }
}

/// A metric of which nothing can be computed because one that it is made of was left out goes too.
fn drop_what_rests_on_nothing(metrics: &mut Vec<OssieMetric>, left_out: &mut Vec<String>) {
    loop {
        let names: Vec<String> = metrics.iter().map(|metric| metric.name.clone()).collect();
        let before = metrics.len();
        metrics.retain(|metric| {
            let inputs = inputs(metric);
            let missing = inputs.iter().find(|input| !names.contains(input));
            if let Some(missing) = missing {
                left_out.push(format!("metric {}: there is no metric `{missing}`", metric.name));
            }
            missing.is_none()
        });
        if metrics.len() == before {
            return;
        }
    }
}

/// The metrics that a derived one is made of.
fn inputs(metric: &OssieMetric) -> Vec<String> {
    let extension = metric
        .custom_extensions
        .first()
        .map(|extension| extension.data.as_str());
    let extra: Value = extension
        .and_then(|data| serde_json::from_str(data).ok())
        .unwrap_or_default();
    let Some(formula) = extra.get("derived").and_then(Value::as_str) else {
        return Vec::new();
    };
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    formula
        .split(|c: char| !is_name(c))
        .filter(|word| word.starts_with(|c: char| c.is_alphabetic() || c == '_'))
        .map(str::to_owned)
        .collect()
}

fn derived(name: &str, formula: &str, written: &Value) -> OssieMetric {
    let extra = Map::from_iter([("derived".to_owned(), json!(formula))]);
    with_words(metric(name, formula, label(extra, written)), written)
}

/// The formula with metrics' names in place of their aliases.
fn with_names(formula: &str, params: &Value) -> String {
    let mut names: HashMap<String, String> = HashMap::new();
    for input in items(params, "metrics") {
        if let (Some(name), Some(alias)) = (name_of(input), text(input, "alias")) {
            names.insert(alias, name);
        }
    }
    let mut out = String::new();
    let mut word = String::new();
    for c in formula.chars().chain(std::iter::once(' ')) {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        out.push_str(names.get(&word).unwrap_or(&word));
        word.clear();
        out.push(c);
    }
    out.trim().to_owned()
}

fn has_offset(input: &Value) -> bool {
    ["offset_window", "offset_to_grain"]
        .iter()
        .any(|key| input.get(key).is_some_and(|value| !value.is_null()))
}

/// `measure: revenue` or `measure: {name: revenue}`.
fn name_in(params: &Value, key: &str) -> Option<String> {
    params.get(key).and_then(name_of)
}

fn name_of(value: &Value) -> Option<String> {
    match value {
        Value::String(name) => Some(name.clone()),
        other => text(other, "name"),
    }
}

/// A filter as one condition: a text, a list of texts, or a manifest's `where_filters`.
fn filter_text(filter: &Value) -> Option<String> {
    match filter {
        Value::String(text) => Some(format!("({})", text.trim())),
        Value::Array(parts) => {
            let parts: Vec<String> = parts.iter().filter_map(filter_text).collect();
            (!parts.is_empty()).then(|| parts.join(" AND "))
        }
        Value::Object(_) => match filter.get("where_filters") {
            Some(parts) => filter_text(parts),
            None => text(filter, "where_sql_template").map(|text| format!("({text})")),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

fn label(mut extra: Map<String, Value>, written: &Value) -> Map<String, Value> {
    if let Some(label) = text(written, "label") {
        extra.insert("label".to_owned(), json!(label));
    }
    extra
}

fn with_words(mut metric: OssieMetric, written: &Value) -> OssieMetric {
    metric.description = text(written, "description");
    metric
}
