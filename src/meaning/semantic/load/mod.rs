//! From an Ossie file to a working model: every name is looked up in the catalog, and all that is wrong is told at once.

mod metrics;

use serde_json::Value;

use crate::meaning::semantic::ossie::{
    AiContext, DatasetExtension, Document, FieldExtension, ModelExtension, OSSIE_VERSION, OssieDataset, OssieField,
    OssieModel, OssieRelationship, OssieType, VENDOR, extension,
};
use crate::meaning::semantic::schema::validate;
use crate::meaning::semantic::{
    Dataset, DatasetKind, Field, Model, Origin, Relationship, Settings, Source, Words, draft, expression, names,
};
use crate::warehouse::catalog::{Catalog, DataType, KeySource, Role, Table};

/// Versions of the format that read alike.
const VERSIONS: &[&str] = &[OSSIE_VERSION, "0.1.1"];

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

/// Reads an Ossie document from YAML or JSON, and checks it against the format.
///
/// Errors with [`SemanticError::Invalid`] name every place that is wrong, with its value. What the format does not know is
/// kept, and written back by [`write`].
pub fn read(text: &str) -> Result<Document, SemanticError> {
    let value = value(text)?;
    let version = value.get("version").and_then(Value::as_str).unwrap_or(OSSIE_VERSION);
    if !VERSIONS.contains(&version) {
        return Err(SemanticError::Version(version.to_owned()));
    }
    let fatal: Vec<String> = validate(&value)
        .iter()
        .filter(|p| p.fatal)
        .map(ToString::to_string)
        .collect();
    if !fatal.is_empty() {
        return Err(SemanticError::Invalid(fatal));
    }
    serde_json::from_value(value).map_err(|error| SemanticError::Unreadable(error.to_string()))
}

pub(in crate::meaning::semantic) fn value(text: &str) -> Result<Value, SemanticError> {
    match text.trim_start().starts_with('{') {
        true => serde_json::from_str(text).map_err(|error| SemanticError::Unreadable(error.to_string())),
        false => serde_saphyr::from_str(text).map_err(|error| SemanticError::Unreadable(first_line(&error))),
    }
}

/// The document as YAML, with everything that was read.
pub fn write(document: &Document) -> Result<String, SemanticError> {
    let value = serde_json::to_value(document).map_err(|error| SemanticError::Unreadable(error.to_string()))?;
    serde_saphyr::to_string(&value).map_err(|error| SemanticError::Unreadable(error.to_string()))
}

/// Everything about the file that is not as the format says or does not fit the database, in words; empty when all is well.
pub fn check(text: &str, catalog: &Catalog) -> Vec<String> {
    let odd = value(text).map(|value| validate(&value)).unwrap_or_default();
    let mut found: Vec<String> = odd.iter().filter(|p| !p.fatal).map(ToString::to_string).collect();
    match load(text, catalog) {
        Ok(_) => {}
        Err(SemanticError::Invalid(problems)) => found.extend(problems),
        Err(other) => found.push(other.to_string()),
    }
    found
}

fn first_line(error: &impl ToString) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}

/// Reads the first model of an Ossie file as the meaning of `catalog`.
///
/// What the file does not say of a column (its type, how its dates are written) is taken from the catalog.
pub fn load(text: &str, catalog: &Catalog) -> Result<Model, SemanticError> {
    match load_document(&read(text)?, catalog)? {
        (model, problems) if problems.is_empty() => Ok(model),
        (_, problems) => Err(SemanticError::Invalid(problems)),
    }
}

/// The first model of a document as far as it fits the catalog, and what does not fit.
pub fn load_document(document: &Document, catalog: &Catalog) -> Result<(Model, Vec<String>), SemanticError> {
    let written = document.semantic_model.first().ok_or(SemanticError::Empty)?;
    let mut loader = Loader {
        catalog,
        drafted: draft(catalog),
        problems: Vec::new(),
        currency: None,
    };
    let model = loader.model(written);
    Ok((model, loader.problems))
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
            .flat_map(|metric| self.metric(metric, &names, &model))
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
        let says_nothing = !written.custom_extensions.iter().any(|e| e.vendor_name == VENDOR);
        let (fields, label, time) = match drafted.as_ref().filter(|_| says_nothing) {
            Some(drafted) => from_draft(drafted, fields),
            None => (fields, extra.label, extra.time),
        };
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
            label,
            default_filter: extra.default_filter,
            time,
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
            aggregation: extra.aggregation.or(known.and_then(|known| known.aggregation)),
            unit: extra.unit.or(known.and_then(|known| known.unit)),
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
}

/// What a file that says nothing in our words leaves to the draft: the fields, where it lists none; what names a row, and
/// when it happened, by the file's own fields.
fn from_draft(drafted: &Dataset, written: Vec<Field>) -> (Vec<Field>, Vec<String>, Option<String>) {
    let fields = match written.is_empty() {
        true => drafted.fields.clone(),
        false => written,
    };
    let renamed = |name: &String| {
        let column = drafted.field(name)?.column.as_ref()?;
        fields
            .iter()
            .find(|f| f.column.as_ref() == Some(column))
            .map(|f| f.name.clone())
    };
    let label = drafted.label.iter().filter_map(renamed).collect();
    let time = drafted.time.as_ref().and_then(renamed);
    (fields, label, time)
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
