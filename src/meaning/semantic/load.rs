//! From an Ossie file to a working model: every name is looked up in the catalog, and all that is wrong is told at once.

use crate::meaning::semantic::ossie::{
    AiContext, DatasetExtension, Document, FieldExtension, MetricExtension, ModelExtension, OSSIE_VERSION,
    OssieDataset, OssieField, OssieMetric, OssieModel, OssieRelationship, OssieType, extension,
};
use crate::meaning::semantic::{
    Additive, Dataset, DatasetKind, Direction, Field, FieldRef, Metric, MetricKind, Model, Origin, Relationship,
    Settings, Source, Unit, Words, draft, expression, names,
};
use crate::warehouse::catalog::{Catalog, DataType, KeySource, Role, Table};

/// Why a semantic model cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SemanticError {
    #[error("it is neither YAML nor JSON of the Ossie format: {0}")]
    Unreadable(String),
    #[error("its version is `{0}`; this program reads {OSSIE_VERSION}")]
    Version(String),
    #[error("it holds no semantic model; `semantic_model` is empty")]
    Empty,
    /// Each problem names the place and the value.
    #[error("{}", .0.join("; "))]
    Invalid(Vec<String>),
}

/// Reads an Ossie document from YAML or JSON.
pub fn read(text: &str) -> Result<Document, SemanticError> {
    let document: Document = match text.trim_start().starts_with('{') {
        true => serde_json::from_str(text).map_err(|error| SemanticError::Unreadable(error.to_string()))?,
        false => serde_saphyr::from_str(text).map_err(|error| SemanticError::Unreadable(first_line(&error)))?,
    };
    match document.version == OSSIE_VERSION {
        true => Ok(document),
        false => Err(SemanticError::Version(document.version)),
    }
}

fn first_line(error: &impl ToString) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}

/// Reads the first model of an Ossie file as the meaning of `catalog`.
///
/// What the file does not say of a column (its type, how its dates are written) is taken from the catalog.
pub fn load(text: &str, catalog: &Catalog) -> Result<Model, SemanticError> {
    let document = read(text)?;
    let written = document.semantic_model.first().ok_or(SemanticError::Empty)?;
    let mut loader = Loader {
        catalog,
        drafted: draft(catalog),
        problems: Vec::new(),
        currency: None,
    };
    let model = loader.model(written);
    match loader.problems.is_empty() {
        true => Ok(model),
        false => Err(SemanticError::Invalid(loader.problems)),
    }
}

struct Loader<'a> {
    catalog: &'a Catalog,
    /// What the catalog says by itself.
    drafted: Model,
    problems: Vec<String>,
    /// The model's own currency.
    currency: Option<String>,
}

impl Loader<'_> {
    fn model(&mut self, written: &OssieModel) -> Model {
        let extra: ModelExtension = self.taken(extension(&written.custom_extensions), &written.name);
        self.currency = extra.currency;
        let mut model = Model {
            name: written.name.clone(),
            description: written.description.clone(),
            origin: Origin::File,
            datasets: written.datasets.iter().map(|dataset| self.dataset(dataset)).collect(),
            relationships: Vec::new(),
            metrics: Vec::new(),
            definitions: extra.definitions,
            settings: Settings {
                fiscal_year_start: extra.fiscal_year_start,
                week_start: extra.week_start.unwrap_or_default(),
                time_zone: extra.time_zone,
            },
        };
        model.relationships = written
            .relationships
            .iter()
            .filter_map(|relationship| self.relationship(relationship, &model))
            .collect();
        let names: Vec<&str> = written.metrics.iter().map(|metric| metric.name.as_str()).collect();
        model.metrics = written
            .metrics
            .iter()
            .filter_map(|metric| self.metric(metric, &names, &model))
            .collect();
        self.check_targets(&model);
        model
    }

    fn problem(&mut self, place: &str, problem: impl AsRef<str>) {
        self.problems.push(format!("{place}: {}", problem.as_ref()));
    }

    /// The value, or its default and a problem at `place`.
    fn taken<T: Default>(&mut self, value: Result<T, String>, place: &str) -> T {
        value.unwrap_or_else(|error| {
            self.problem(place, format!("custom_extensions of ANALYST: {error}"));
            T::default()
        })
    }

    fn dataset(&mut self, written: &OssieDataset) -> Dataset {
        let place = format!("dataset {}", written.name);
        let extra: DatasetExtension = self.taken(extension(&written.custom_extensions), &place);
        let source = self.source(written, &place);
        let table = match &source {
            Source::Table { schema, name } => self.catalog.table_in(schema.as_deref(), name),
            Source::Query(_) => None,
        };
        let drafted = table.and_then(|table| drafted_of(&self.drafted, table)).cloned();
        let fields: Vec<Field> = written
            .fields
            .iter()
            .map(|field| self.field(field, &place, table, drafted.as_ref()))
            .collect();
        for (what, names) in [("label", &extra.label), ("time", &extra.time.iter().cloned().collect())] {
            for name in names {
                if !fields.iter().any(|field| field.name.eq_ignore_ascii_case(name)) {
                    self.problem(&place, format!("{what}: there is no field `{name}`"));
                }
            }
        }
        let keys = [written.primary_key.clone()]
            .into_iter()
            .chain(written.unique_keys.clone());
        for column in keys.flatten() {
            self.check_column(&place, table, &column);
        }
        Dataset {
            name: written.name.clone(),
            words: words(
                &names::singular(&names::readable(&written.name)),
                written.description.as_ref(),
                written.ai_context.as_ref(),
                extra.label_zh,
                extra.description_zh,
            ),
            kind: extra
                .kind
                .or(drafted.as_ref().map(|drafted| drafted.kind))
                .unwrap_or(DatasetKind::Fact),
            primary_key: match written.primary_key.is_empty() {
                true => drafted
                    .as_ref()
                    .map(|drafted| drafted.primary_key.clone())
                    .unwrap_or_default(),
                false => written.primary_key.clone(),
            },
            unique_keys: written.unique_keys.clone(),
            label: extra.label,
            default_filter: extra.default_filter,
            time: extra.time,
            rows: drafted.as_ref().and_then(|drafted| drafted.rows),
            source,
            fields,
        }
    }

    /// A query as it stands, or the table that the last parts of the name mean.
    fn source(&mut self, written: &OssieDataset, place: &str) -> Source {
        let text = written.source.trim();
        if text.contains(char::is_whitespace) && text.to_ascii_lowercase().contains("select") {
            return Source::Query(text.to_owned());
        }
        let parts: Vec<&str> = text.split('.').collect();
        let candidates = (0..parts.len()).filter_map(|skip| parts.get(skip..).map(|rest| rest.join(".")));
        for candidate in candidates {
            if let Some(table) = self.catalog.table(&candidate) {
                return Source::Table {
                    schema: table.schema.clone(),
                    name: table.name.clone(),
                };
            }
        }
        self.problem(place, format!("the database has no table `{text}`"));
        Source::Table {
            schema: None,
            name: text.to_owned(),
        }
    }

    fn check_column(&mut self, place: &str, table: Option<&Table>, column: &str) {
        if let Some(table) = table
            && table.column(column).is_none()
        {
            self.problem(place, format!("table {} has no column `{column}`", table.name));
        }
    }

    fn field(
        &mut self,
        written: &OssieField,
        dataset: &str,
        table: Option<&Table>,
        drafted: Option<&Dataset>,
    ) -> Field {
        let place = format!("{dataset}, field {}", written.name);
        let extra: FieldExtension = self.taken(extension(&written.custom_extensions), &place);
        let text = written.expression.portable().unwrap_or_default().to_owned();
        let column = match expression::parse(&text) {
            Err(problem) => {
                self.problem(&place, format!("`{text}`: {problem}"));
                None
            }
            Ok(parsed) => {
                for name in expression::names(&parsed) {
                    if let Some(last) = name.last() {
                        self.check_column(&place, table, last);
                    }
                }
                let name = expression::name_of(&parsed).and_then(|parts| parts.last().cloned());
                name.and_then(|name| table?.column(&name).map(|column| column.name.clone()))
            }
        };
        let known = column.as_ref().and_then(|column| drafted?.field_of_column(column));
        let data_type = known
            .map(|known| known.data_type.clone())
            .or_else(|| written.datatype.map(data_type))
            .unwrap_or(DataType::Text);
        let temporal = matches!(data_type, DataType::Date | DataType::DateTime | DataType::DateTimeTz);
        let is_time = written
            .dimension
            .as_ref()
            .and_then(|dimension| dimension.is_time)
            .unwrap_or(temporal);
        Field {
            name: written.name.clone(),
            words: words(
                written.label.as_deref().unwrap_or(&names::readable(&written.name)),
                written.description.as_ref(),
                written.ai_context.as_ref(),
                extra.label_zh,
                extra.description_zh,
            ),
            expression: text,
            column,
            role: extra.role.or(known.map(|known| known.role)).unwrap_or(if is_time {
                Role::Time
            } else {
                Role::Unknown
            }),
            is_time,
            aggregation: extra.aggregation,
            unit: extra.unit,
            values: match extra.values.is_empty() {
                true => known.map(|known| known.values.clone()).unwrap_or_default(),
                false => extra.values,
            },
            time_format: known.and_then(|known| known.time_format),
            data_type,
        }
    }

    fn relationship(&mut self, written: &OssieRelationship, model: &Model) -> Option<Relationship> {
        let place = format!("relationship {}", written.name);
        if written.from_columns.is_empty() || written.from_columns.len() != written.to_columns.len() {
            self.problem(
                &place,
                "from_columns and to_columns must name as many columns each, and at least one",
            );
            return None;
        }
        for (dataset, columns) in [
            (&written.from, &written.from_columns),
            (&written.to, &written.to_columns),
        ] {
            let Some(found) = model.dataset(dataset) else {
                self.problem(&place, format!("there is no dataset `{dataset}`"));
                return None;
            };
            if let Source::Table { schema, name } = &found.source {
                let table = self.catalog.table_in(schema.as_deref(), name);
                for column in columns {
                    self.check_column(&place, table, column);
                }
            }
        }
        Some(Relationship {
            name: written.name.clone(),
            from: written.from.clone(),
            to: written.to.clone(),
            from_columns: written.from_columns.clone(),
            to_columns: written.to_columns.clone(),
            key_source: KeySource::Semantic,
            synonyms: synonyms(written.ai_context.as_ref()),
        })
    }

    fn metric(&mut self, written: &OssieMetric, metrics: &[&str], model: &Model) -> Option<Metric> {
        let place = format!("metric {}", written.name);
        let extra: MetricExtension = self.taken(extension(&written.custom_extensions), &place);
        let kind = match &extra.derived {
            Some(formula) => self.derived(formula, metrics, &place)?,
            None => self.simple(written, &extra, model, &place)?,
        };
        let unit = extra.unit.unwrap_or(Unit::Quantity);
        Some(Metric {
            name: written.name.clone(),
            words: words(
                extra.label.as_deref().unwrap_or(&names::readable(&written.name)),
                written.description.as_ref(),
                written.ai_context.as_ref(),
                extra.label_zh,
                extra.description_zh,
            ),
            currency: extra
                .currency
                .or_else(|| self.currency.clone().filter(|_| unit == Unit::Money)),
            unit,
            decimals: extra.decimals,
            additive: extra.additive.unwrap_or(match kind {
                MetricKind::Ratio { .. } => Additive::None,
                MetricKind::Simple { .. } | MetricKind::Derived { .. } => Additive::Full,
            }),
            direction: extra.direction.unwrap_or(Direction::Neutral),
            target_of: extra.target_of,
            hidden: extra.hidden,
            kind,
        })
    }

    /// A formula over other metrics; one metric divided by another is a ratio.
    fn derived(&mut self, formula: &str, metrics: &[&str], place: &str) -> Option<MetricKind> {
        let parsed = match expression::parse(formula) {
            Ok(parsed) => parsed,
            Err(problem) => {
                self.problem(place, format!("derived `{formula}`: {problem}"));
                return None;
            }
        };
        let inputs: Vec<String> = expression::names(&parsed)
            .into_iter()
            .map(|parts| parts.join("."))
            .collect();
        for input in &inputs {
            if !metrics.iter().any(|metric| metric.eq_ignore_ascii_case(input)) {
                self.problem(place, format!("derived `{formula}`: there is no metric `{input}`"));
            }
        }
        let ratio = formula.split_once('/').map(|(a, b)| (a.trim(), b.trim()));
        Some(match (ratio, inputs.as_slice()) {
            (Some((a, b)), [first, second]) if a == first && b == second => MetricKind::Ratio {
                numerator: first.clone(),
                denominator: second.clone(),
            },
            _ => MetricKind::Derived {
                expression: formula.to_owned(),
                inputs,
            },
        })
    }

    fn simple(
        &mut self,
        written: &OssieMetric,
        extra: &MetricExtension,
        model: &Model,
        place: &str,
    ) -> Option<MetricKind> {
        let text = written.expression.portable().unwrap_or_default();
        let mut mentioned: Vec<String> = Vec::new();
        for part in [Some(text), extra.filter.as_deref(), extra.time.as_deref()]
            .into_iter()
            .flatten()
        {
            self.check_names(part, model, place, &mut mentioned)?;
        }
        let dataset = match &extra.dataset {
            Some(name) => model.dataset(name).map(|dataset| dataset.name.clone()),
            None => home(&mentioned, model),
        };
        let Some(dataset) = dataset else {
            let named = extra.dataset.as_deref().unwrap_or_default();
            self.problem(
                place,
                format!("cannot tell the dataset `{named}` that it is measured over; name it as `dataset`"),
            );
            return None;
        };
        Some(MetricKind::Simple {
            dataset,
            expression: text.to_owned(),
            filter: extra.filter.clone(),
            time: extra.time.as_deref().map(FieldRef::parse),
        })
    }

    /// Every name must be a field or column; the datasets that are named are put into `mentioned`.
    fn check_names(&mut self, text: &str, model: &Model, place: &str, mentioned: &mut Vec<String>) -> Option<()> {
        let parsed = match expression::parse(text) {
            Ok(parsed) => parsed,
            Err(problem) => {
                self.problem(place, format!("`{text}`: {problem}"));
                return None;
            }
        };
        for parts in expression::names(&parsed) {
            let (dataset, field) = match parts.as_slice() {
                [dataset, field] => (Some(dataset), field),
                [field] => (None, field),
                _ => continue,
            };
            let Some(dataset) = dataset else { continue };
            match model.dataset(dataset) {
                None => self.problem(place, format!("`{text}`: there is no dataset `{dataset}`")),
                Some(found) => {
                    if found.field(field).is_none() && found.field_of_column(field).is_none() {
                        self.problem(place, format!("`{text}`: dataset {dataset} has no field `{field}`"));
                    }
                    if !mentioned.contains(&found.name) {
                        mentioned.push(found.name.clone());
                    }
                }
            }
        }
        Some(())
    }

    fn check_targets(&mut self, model: &Model) {
        for metric in &model.metrics {
            if let Some(of) = &metric.target_of
                && model.metric(of).is_none()
            {
                self.problem(
                    &format!("metric {}", metric.name),
                    format!("target_of: there is no metric `{of}`"),
                );
            }
        }
    }
}

/// The dataset whose rows point at all others that are mentioned.
fn home(mentioned: &[String], model: &Model) -> Option<String> {
    let reaches =
        |from: &String, to: &String| from == to || model.path(from, to).is_some_and(|path| path.is_many_to_one());
    mentioned
        .iter()
        .find(|from| mentioned.iter().all(|to| reaches(from, to)))
        .cloned()
}

fn drafted_of<'a>(drafted: &'a Model, table: &Table) -> Option<&'a Dataset> {
    drafted.datasets.iter().find(|dataset| match &dataset.source {
        Source::Table { schema, name } => *name == table.name && *schema == table.schema,
        Source::Query(_) => false,
    })
}

fn words(
    label: &str,
    description: Option<&String>,
    context: Option<&AiContext>,
    label_zh: Option<String>,
    description_zh: Option<String>,
) -> Words {
    Words {
        synonyms: synonyms(context)
            .into_iter()
            .filter(|synonym| synonym != label && Some(synonym) != label_zh.as_ref())
            .collect(),
        label: label.to_owned(),
        label_zh,
        description: description.cloned(),
        description_zh,
    }
}

fn synonyms(context: Option<&AiContext>) -> Vec<String> {
    context.map(|context| context.synonyms().to_vec()).unwrap_or_default()
}

fn data_type(written: OssieType) -> DataType {
    match written {
        OssieType::String => DataType::Text,
        OssieType::Integer => DataType::Integer,
        OssieType::Decimal => DataType::Decimal {
            precision: None,
            scale: None,
        },
        OssieType::Float => DataType::Float,
        OssieType::Boolean => DataType::Boolean,
        OssieType::Date => DataType::Date,
        OssieType::Time => DataType::Time,
        OssieType::DateTime => DataType::DateTime,
        OssieType::DateTimeTz => DataType::DateTimeTz,
        OssieType::Opaque => DataType::Other(String::new()),
    }
}
