//! What a semantic model knows, put into the catalog as facts of it: so the rooms below need to look at nothing above them.

use super::{Dataset, Model, Source};
use crate::warehouse::catalog::{Catalog, ForeignKey, KeySource, Table};

/// Adds the relationships that a model's file states as keys, and its synonyms as other words for tables and columns.
///
/// Keys that the catalog has already stay as they are, since what the database enforces is surer.
pub fn hand_down(model: &Model, catalog: &mut Catalog) {
    for relationship in model
        .relationships
        .iter()
        .filter(|r| r.key_source == KeySource::Semantic)
    {
        let ends = (model.dataset(&relationship.from), model.dataset(&relationship.to));
        let (Some(from), Some(to)) = ends else { continue };
        let Some((to_schema, to_table)) = names(to) else {
            continue;
        };
        let key = ForeignKey {
            columns: relationship.from_columns.clone(),
            to_schema,
            to_table,
            to_columns: relationship.to_columns.clone(),
            source: KeySource::Semantic,
        };
        if let Some(table) = table_of(to, catalog) {
            // Many rows point at one: what they point at names a row.
            let columns: Vec<&str> = key.to_columns.iter().map(String::as_str).collect();
            if !table.is_unique(&columns) {
                table.unique_keys.push(key.to_columns.clone());
            }
        }
        if let Some(table) = table_of(from, catalog)
            && !table
                .foreign_keys
                .iter()
                .any(|known| known.columns == key.columns && known.to_table == key.to_table)
        {
            table.foreign_keys.push(key);
        }
    }
    for dataset in &model.datasets {
        let Some(table) = table_of(dataset, catalog) else {
            continue;
        };
        add(&mut table.synonyms, &dataset.words.synonyms);
        for field in &dataset.fields {
            let column = table
                .columns
                .iter_mut()
                .find(|column| field.column.as_ref() == Some(&column.name));
            if let Some(column) = column {
                add(&mut column.synonyms, &field.words.synonyms);
            }
        }
    }
}

fn names(dataset: &Dataset) -> Option<(Option<String>, String)> {
    match &dataset.source {
        Source::Table { schema, name } => Some((schema.clone(), name.clone())),
        Source::Query(_) => None,
    }
}

fn table_of<'a>(dataset: &Dataset, catalog: &'a mut Catalog) -> Option<&'a mut Table> {
    let (schema, name) = names(dataset)?;
    let mut tables = catalog.tables.iter_mut();
    tables.find(|table| table.schema == schema && table.name == name)
}

fn add(known: &mut Vec<String>, words: &[String]) {
    for word in words {
        if !known.contains(word) {
            known.push(word.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::load;
    use super::*;
    use crate::warehouse::Dialect;
    use crate::warehouse::catalog::{Column, DataType, TableKind};
    use crate::warehouse::sql::{LintLevel, check};

    fn table(name: &str, columns: &[&str]) -> Table {
        let column = |name: &&str| Column {
            name: (*name).to_owned(),
            declared_type: "INTEGER".to_owned(),
            data_type: DataType::Integer,
            nullable: true,
            comment: None,
            synonyms: vec![],
            profile: None,
        };
        Table {
            schema: None,
            name: name.to_owned(),
            kind: TableKind::Table,
            columns: columns.iter().map(column).collect(),
            primary_key: vec!["id".to_owned()],
            unique_keys: vec![],
            foreign_keys: vec![],
            rows: None,
            comment: None,
            synonyms: vec![],
            read_through: None,
        }
    }

    const MODEL: &str = "
version: 0.2.0.dev0
semantic_model:
  - name: shop
    datasets:
      - name: invoices
        source: inv
        ai_context: {synonyms: [bills]}
        fields:
          - name: number
            expression: {dialects: [{dialect: ANSI_SQL, expression: number}]}
          - name: total
            expression: {dialects: [{dialect: ANSI_SQL, expression: total}]}
      - name: lines
        source: line
        fields:
          - name: invoice
            expression: {dialects: [{dialect: ANSI_SQL, expression: invoice_ref}]}
    relationships:
      - name: lines_to_invoices
        from: lines
        to: invoices
        from_columns: [invoice_ref]
        to_columns: [number]
";

    #[test]
    fn a_stated_relationship_proves_a_fan_out() {
        let mut catalog = Catalog::empty(Dialect::Sqlite, "shop");
        catalog.tables = vec![
            table("inv", &["id", "number", "total"]),
            table("line", &["id", "invoice_ref"]),
        ];
        let sql = "SELECT SUM(i.total) FROM inv i JOIN line l ON l.invoice_ref = i.number";
        let levels = |catalog: &Catalog| -> Vec<LintLevel> {
            let checked = check(sql, Dialect::Sqlite, Some(catalog)).unwrap();
            checked
                .lints()
                .iter()
                .filter(|l| l.code == "fan-out")
                .map(|l| l.level)
                .collect()
        };
        assert!(!levels(&catalog).contains(&LintLevel::Error));
        let model = load(MODEL, &catalog).unwrap();
        hand_down(&model, &mut catalog);
        hand_down(&model, &mut catalog);
        assert_eq!(levels(&catalog), [LintLevel::Error]);
        let [invoices, lines] = catalog.tables.as_slice() else {
            panic!("two tables")
        };
        assert_eq!(invoices.unique_keys, [["number"]]);
        assert_eq!(invoices.synonyms, ["bills"]);
        assert_eq!(
            (lines.foreign_keys.len(), lines.foreign_keys[0].source),
            (1, KeySource::Semantic)
        );
    }
}
