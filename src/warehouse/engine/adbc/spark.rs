//! What a Spark cluster or a Databricks warehouse contains: SHOW TABLES, and DESCRIBE of each.

use futures_util::stream::{self, StreamExt};

use super::AdbcEngine;
use super::introspect::{Texts, ask, column, count, empty_table, name_in, search_path};
use crate::warehouse::Dialect;
use crate::warehouse::catalog::{Catalog, RowCount, Table, quote};
use crate::warehouse::engine::{EngineError, server};

/// Formats whose files say how many rows they have, so that counting reads no values.
const COUNTED_BY_FOOTERS: [&str; 4] = ["parquet", "orc", "delta", "iceberg"];

/// Reads the tables of the schemas that were asked for, else of the current one.
pub(super) async fn read(engine: &AdbcEngine, catalog: &mut Catalog) -> Result<(), EngineError> {
    catalog.search_path = search_path(engine, Some("SELECT current_schema()")).await?;
    let mut tables = vec![];
    for schema in &catalog.search_path {
        let name = quote(Dialect::Databricks, schema);
        for row in ask(engine, &format!("SHOW TABLES IN {name}")).await? {
            // Views that a session made for itself have no schema.
            if let [Some(schema), Some(table), ..] = row.as_slice()
                && !schema.is_empty()
            {
                tables.push(empty_table(schema, table, ""));
            }
        }
    }
    let described: Vec<_> = tables.into_iter().map(|table| describe(engine, table)).collect();
    let described: Vec<Result<Described, String>> = stream::iter(described)
        .buffered(server::CONNECTIONS as usize)
        .collect()
        .await;
    let mut counted = vec![];
    for described in described {
        match described {
            Ok(described) => {
                if described.is_cheap {
                    counted.push(described.table.qualified_name());
                }
                catalog.tables.push(described.table);
            }
            Err(note) => catalog.notes.push(note),
        }
    }
    count(engine, catalog, |table| counted.contains(&table.qualified_name())).await
}

struct Described {
    table: Table,
    /// Its rows can be counted without reading much.
    is_cheap: bool,
}

/// The table with its columns; the error is a note that says why it is left out.
async fn describe(engine: &AdbcEngine, table: Table) -> Result<Described, String> {
    let sql = format!("DESCRIBE TABLE EXTENDED {}", name_in(Dialect::Databricks, &table));
    let name = table.qualified_name();
    let rows = ask(engine, &sql).await;
    let rows = rows.map_err(|error| format!("{name} is left out: it cannot be described: {error}"))?;
    Ok(understood(table, &rows))
}

/// Reads the answer of DESCRIBE TABLE EXTENDED: columns, an empty line, then sections that open with `#`.
fn understood(bare: Table, rows: &[Texts]) -> Described {
    let cell = |row: &Texts, at: usize| row.get(at).cloned().flatten().unwrap_or_default();
    let is_end = |row: &Texts| matches!(cell(row, 0).as_str(), "") || cell(row, 0).starts_with("# ");
    let columns = rows.iter().take_while(|row| !is_end(row));
    let columns = columns.map(|row| {
        let comment = row.get(2).cloned().flatten();
        column(
            Dialect::Databricks,
            &cell(row, 0),
            &cell(row, 1),
            true,
            comment.as_deref(),
        )
    });
    let columns = columns.collect();
    let details = rows
        .iter()
        .skip_while(|row| cell(row, 0) != "# Detailed Table Information");
    let details: Vec<(String, String)> = details.map(|row| (cell(row, 0), cell(row, 1))).collect();
    let detail = |name: &str| {
        let found = details.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).unwrap_or_default()
    };
    let kind = empty_table("", "", detail("Type")).kind;
    // `1234 bytes, 56 rows`
    let number = |word: &str| {
        let part = detail("Statistics")
            .split(',')
            .find_map(|part| part.trim().strip_suffix(word));
        part.and_then(|number| number.trim().parse::<u64>().ok())
    };
    let small = number("bytes").is_some_and(|bytes| bytes <= server::COUNTED_BYTES.unsigned_abs());
    let is_cheap = small || COUNTED_BY_FOOTERS.contains(&detail("Provider").to_lowercase().as_str());
    let comment = Some(detail("Comment"))
        .filter(|comment| !comment.is_empty())
        .map(str::to_owned);
    Described {
        is_cheap,
        table: Table {
            columns,
            kind,
            comment,
            rows: number("rows").map(|rows| RowCount { rows, exact: false }),
            ..bare
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::warehouse::catalog::{DataType, TableKind};

    #[test]
    fn an_answer_of_describe_is_understood() {
        let rows = [
            ["id", "bigint", "number of the order"],
            ["客户", "string", ""],
            ["items", "array<struct<sku:string,count:int>>", ""],
            ["day", "date", ""],
            ["# Partition Information", "", ""],
            ["# col_name", "data_type", "comment"],
            ["day", "date", ""],
            ["", "", ""],
            ["# Detailed Table Information", "", ""],
            ["Name", "spark_catalog.default.orders", ""],
            ["Type", "MANAGED", ""],
            ["Provider", "csv", ""],
            ["Comment", "what was sold", ""],
            ["Statistics", "1234 bytes, 56 rows", ""],
        ];
        let rows = rows.map(|row| row.map(|cell| Some(cell.to_owned())).to_vec());
        let described = understood(empty_table("default", "orders", ""), &rows);
        let table = described.table;
        let columns: Vec<(&str, &DataType)> = table.columns.iter().map(|c| (c.name.as_str(), &c.data_type)).collect();
        let items = DataType::Other("array<struct<sku:string,count:int>>".to_owned());
        assert_eq!(
            columns,
            [
                ("id", &DataType::Integer),
                ("客户", &DataType::Text),
                ("items", &items),
                ("day", &DataType::Date)
            ]
        );
        assert_eq!(table.columns[0].comment.as_deref(), Some("number of the order"));
        assert_eq!(table.comment.as_deref(), Some("what was sold"));
        assert_eq!(table.rows, Some(RowCount { rows: 56, exact: false }));
        assert_eq!(table.kind, TableKind::Table);
        assert!(described.is_cheap);
    }
}
