//! The columns and keys of tables, and of well-known table functions.

use super::model::{Field, Kind, Origin, Shape, Source};
use crate::warehouse::catalog::Table;

impl Field {
    /// A field of which the name is known alone.
    pub(super) fn unknown(name: String) -> Self {
        Self {
            name,
            kind: None,
            nullable: true,
            sources: Vec::new(),
            origin: Origin::Computed,
            multiplied_by: None,
        }
    }
}

/// The fields and keys of a catalog table.
pub(super) fn table_shape(index: usize, table: &Table) -> Shape {
    let fields = table
        .columns
        .iter()
        .enumerate()
        .map(|(column, c)| {
            let source = Source { table: index, column };
            Field {
                name: c.name.clone(),
                kind: Some(Kind::of(&c.data_type)),
                nullable: c.nullable && !table.primary_key.contains(&c.name),
                sources: vec![source],
                origin: Origin::Column(source),
                multiplied_by: None,
            }
        })
        .collect();
    let position = |name: &String| table.columns.iter().position(|c| c.name == *name);
    let key = |names: &Vec<String>| {
        names
            .iter()
            .map(position)
            .collect::<Option<Vec<usize>>>()
            .filter(|k| !k.is_empty())
    };
    let mut keys: Vec<Vec<usize>> = std::iter::once(&table.primary_key)
        .chain(&table.unique_keys)
        .filter_map(key)
        .collect();
    // A profile of all rows that found no repeat is as good as a declared key.
    for (i, column) in table.columns.iter().enumerate() {
        if let Some(p) = &column.profile
            && !p.sampled
            && p.rows > 0
            && p.nulls == 0
            && p.distinct == p.rows
            && !keys.iter().any(|k| k.as_slice() == [i])
        {
            keys.push(vec![i]);
        }
    }
    // A table without any column known is one that could not be introspected.
    Shape {
        open: table.columns.is_empty(),
        fields,
        keys,
    }
}

/// The columns of well-known table functions.
pub(super) fn function_fields(name: &str) -> Vec<Field> {
    let names: &[&str] = match name {
        "json_each" | "json_tree" | "jsonb_each" | "jsonb_tree" => &[
            "key", "value", "type", "atom", "id", "parent", "fullkey", "path", "json", "root",
        ],
        "pragma_table_info" => &["cid", "name", "type", "notnull", "dflt_value", "pk", "arg", "schema"],
        "pragma_table_xinfo" => &[
            "cid",
            "name",
            "type",
            "notnull",
            "dflt_value",
            "pk",
            "hidden",
            "arg",
            "schema",
        ],
        "pragma_index_list" => &["seq", "name", "unique", "origin", "partial", "arg", "schema"],
        "pragma_foreign_key_list" => &[
            "id",
            "seq",
            "table",
            "from",
            "to",
            "on_update",
            "on_delete",
            "match",
            "arg",
            "schema",
        ],
        "generate_series" => &["value", "start", "stop", "step"],
        _ => &[],
    };
    names.iter().map(|n| Field::unknown((*n).to_owned())).collect()
}
