//! What a table is: things that happened or things that exist, what names a row, and when a row happened.

use crate::meaning::semantic::draft::columns;
use crate::meaning::semantic::{Dataset, DatasetKind, Field, Relationship, Source, Words, names};
use crate::warehouse::catalog::{Catalog, DataType, Role, Table};

/// Times that say when a row was written or a person was born, not when something happened.
const AUDIT: &[&str] = &[
    "update", "updated", "modified", "deleted", "birth", "birthday", "dob", "expiry", "expires", "load",
];
/// Times at which a thing came to be: the time of an entity, and a fact's last resort.
const CREATION: &[&str] = &[
    "create",
    "created",
    "creation",
    "registered",
    "signup",
    "joined",
    "join",
    "hire",
    "hired",
    "opened",
    "since",
];
/// Times that come after the event itself.
const LATER: &[&str] = &[
    "required",
    "shipped",
    "delivered",
    "due",
    "closed",
    "end",
    "returned",
    "return",
    "leaving",
    "paid",
    "until",
    "resolved",
];
/// Tables by these names hold things that happened, whatever their columns are.
const EVENTS: &[&str] = &[
    "order",
    "payment",
    "invoice",
    "sale",
    "sales",
    "transaction",
    "rental",
    "booking",
    "reservation",
    "visit",
    "purchase",
    "shipment",
    "return",
    "refund",
    "claim",
    "log",
    "event",
    "trip",
    "ride",
    "appointment",
    "checkin",
];

/// The dataset of `table`; its kind is a first guess that [`settle_kinds`] finishes.
pub fn dataset(catalog: &Catalog, table: &Table, name: &str) -> Dataset {
    let fields = columns::fields(catalog, table);
    let kind = first_kind(table, &fields);
    let time = time_of(name, kind, &fields);
    Dataset {
        name: name.to_owned(),
        words: words(table),
        source: Source::Table {
            schema: table.schema.clone(),
            name: table.name.clone(),
        },
        kind,
        primary_key: table.primary_key.clone(),
        unique_keys: table.unique_keys.clone(),
        label: label_of(name, kind, &fields),
        default_filter: None,
        time,
        fields,
        rows: table.rows.map(|count| count.rows),
    }
}

fn words(table: &Table) -> Words {
    let label = names::readable(&table.name);
    let mut chinese = names::chinese(&label).into_iter();
    let label_zh = chinese.next();
    let mut synonyms = names::english(&label);
    let many = names::plural(&label);
    if many != label && !synonyms.contains(&many) {
        synonyms.push(many);
    }
    synonyms.extend(chinese);
    synonyms.extend(table.synonyms.iter().cloned());
    Words {
        label,
        label_zh,
        description: table.comment.clone(),
        description_zh: None,
        synonyms,
    }
}

fn words_of(name: &str) -> Vec<String> {
    names::readable(name).split(' ').map(str::to_owned).collect()
}

fn has_any(name: &str, wanted: &[&str]) -> bool {
    words_of(name).iter().any(|word| wanted.contains(&word.as_str()))
}

/// Does something happen when this field says? Not when the row was written, nor when a person was born.
fn is_event_time(field: &Field) -> bool {
    field.is_time && !has_any(&field.name, AUDIT) && !has_any(&field.name, CREATION)
}

fn is_full_date(field: &Field) -> bool {
    use crate::meaning::semantic::TimeFormat as F;
    !matches!(field.time_format, Some(F::Year))
}

fn first_kind(table: &Table, fields: &[Field]) -> DatasetKind {
    let in_key = |column: &str| {
        table
            .foreign_keys
            .iter()
            .any(|k| k.columns.iter().any(|c| c.eq_ignore_ascii_case(column)))
    };
    let is_own = |f: &&Field| {
        let column = f.column.as_deref().unwrap_or_default();
        let is_row_number =
            f.role == Role::Key && table.primary_key.iter().any(|c| c == column) && table.primary_key.len() == 1;
        !(in_key(column) || is_row_number || f.is_time && has_any(&f.name, AUDIT))
    };
    if table.foreign_keys.len() >= 2 && fields.iter().filter(is_own).count() == 0 {
        return DatasetKind::Bridge;
    }
    let measures = fields
        .iter()
        .filter(|f| matches!(f.role, Role::Money | Role::Measure))
        .count();
    let names_a_person = fields.iter().any(|f| names::readable(&f.name) == "last name");
    let event_time = !names_a_person
        && fields
            .iter()
            .any(|f| is_event_time(f) && is_full_date(f) && !has_any(&f.name, LATER));
    let event_name = words_of(&names::singular(&table.name))
        .last()
        .is_some_and(|w| EVENTS.contains(&w.as_str()));
    let points_somewhere = !table.foreign_keys.is_empty();
    let is_fact = event_time && points_somewhere && (measures > 0 || table.foreign_keys.len() >= 2)
        || event_name && (points_somewhere || measures > 0)
        || event_time && measures > 0 && table.primary_key.len() != 1;
    match is_fact {
        true => DatasetKind::Fact,
        false => DatasetKind::Entity,
    }
}

/// Lines of a fact are facts: tables with measures that point at a fact and that nothing but facts points at.
pub fn settle_kinds(datasets: &mut [Dataset], relationships: &[Relationship]) {
    let facts: Vec<String> = datasets
        .iter()
        .filter(|d| d.kind == DatasetKind::Fact)
        .map(|d| d.name.clone())
        .collect();
    let is_fact = |name: &String| facts.contains(name);
    // A row that others point at is a thing, however little it says of itself.
    let is_pointed_at = |name: &String| relationships.iter().any(|r| r.to == *name);
    for dataset in datasets.iter_mut().filter(|d| d.kind == DatasetKind::Bridge) {
        if is_pointed_at(&dataset.name) {
            dataset.kind = DatasetKind::Entity;
        }
    }
    for dataset in datasets.iter_mut().filter(|d| d.kind == DatasetKind::Entity) {
        let points_at_fact = relationships.iter().any(|r| r.from == dataset.name && is_fact(&r.to));
        let has_measures = dataset
            .fields
            .iter()
            .any(|f| matches!(f.role, Role::Money | Role::Measure));
        let names_a_person = !dataset.label.is_empty() && dataset.fields.iter().any(|f| f.name.contains("first_name"));
        if points_at_fact && has_measures && !names_a_person {
            dataset.kind = DatasetKind::Fact;
            dataset.label.clear();
            dataset.time = time_of(&dataset.name, DatasetKind::Fact, &dataset.fields);
        }
    }
}

/// The field that says when a row happened, or came to be.
fn time_of(dataset: &str, kind: DatasetKind, fields: &[Field]) -> Option<String> {
    let stem = names::split(&names::singular(dataset));
    let rank = |field: &Field| {
        let later = has_any(&field.name, LATER) && !has_any(dataset, LATER);
        let own = names::split(&field.name)
            .first()
            .is_some_and(|word| stem.contains(word));
        match (is_event_time(field), own, later) {
            (true, true, _) => 0,
            (true, false, false) => 1,
            (true, false, true) => 3,
            (false, _, _) => 2,
        }
    };
    let wanted = |field: &&Field| {
        field.is_time
            && is_full_date(field)
            && !has_any(&field.name, AUDIT)
            && (kind == DatasetKind::Fact || has_any(&field.name, CREATION))
    };
    fields
        .iter()
        .filter(wanted)
        .min_by_key(|f| rank(f))
        .map(|f| f.name.clone())
}

/// The fields that name a row for people.
fn label_of(dataset: &str, kind: DatasetKind, fields: &[Field]) -> Vec<String> {
    if kind != DatasetKind::Entity {
        return Vec::new();
    }
    let is_text = |f: &&Field| {
        matches!(f.data_type, DataType::Text | DataType::Other(_)) && f.role != Role::FreeText && !f.is_time
    };
    let texts: Vec<&Field> = fields.iter().filter(is_text).collect();
    let readable = |f: &Field| names::readable(&f.name);
    let find = |wanted: &str| texts.iter().find(|f| readable(f) == wanted).map(|f| f.name.clone());
    let person = ["first name", "given name", "forename"].iter().find_map(|w| find(w));
    let family = ["last name", "surname", "family name"].iter().find_map(|w| find(w));
    if let (Some(first), Some(last)) = (person, family) {
        return vec![first, last];
    }
    let one = names::singular(&names::readable(dataset));
    let own = [
        format!("{one} name"),
        "full name".into(),
        "name".into(),
        one.clone(),
        "title".into(),
        format!("{one} title"),
    ];
    let by_name = own.iter().find_map(|wanted| find(wanted));
    let ends_in = |ending: &str| {
        texts
            .iter()
            .find(|f| readable(f).split(' ').next_back() == Some(ending) && f.role != Role::Key)
            .map(|f| f.name.clone())
    };
    let by_ending = || {
        ["name", "title", "description", "label"]
            .iter()
            .find_map(|ending| ends_in(ending))
    };
    // `BLOB`-like and described texts were left out above; a table with nothing but a description is named by it.
    let described = || {
        let wanted = format!("{one} description");
        fields.iter().find(|f| readable(f) == wanted).map(|f| f.name.clone())
    };
    by_name.or_else(described).or_else(by_ending).into_iter().collect()
}
