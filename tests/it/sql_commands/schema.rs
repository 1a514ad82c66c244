use serde_json::json;

use super::*;

#[test]
fn tables_are_shown_with_columns_and_keys() {
    let output = Shop::new().run(&["schema", "--db", "shop.sqlite", "order*"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(
        stdout(&output),
        "shop (SQLite), 2 tables\n\n\
         orders (table, 3 rows)\n\
         column       type     null      key\n\
         -----------  -------  --------  -------\n\
         id           INTEGER  not null  primary\n\
         customer_id  INTEGER  not null\n\
         total        REAL     null\n\
         placed_at    TEXT     null\n\
         customer_id -> customer (id)\n\n\
         order_item (table, 4 rows)\n\
         column    type     null      key\n\
         --------  -------  --------  -------\n\
         id        INTEGER  not null  primary\n\
         order_id  INTEGER  not null\n\
         quantity  INTEGER  null\n\
         order_id -> orders (id)\n"
    );
}

#[test]
fn profiles_are_measured_on_request_alone() {
    let shop = Shop::new();
    let json = |options: &[&str]| -> Value {
        let output = shop.run(&[&["schema", "--db", "shop.sqlite", "--json", "orders"], options].concat());
        serde_json::from_str(&stdout(&output)).unwrap()
    };
    let plain = json(&[]);
    assert_eq!(
        (&plain["v"], &plain["dialect"], &plain["database"]),
        (&json!(1), &json!("sqlite"), &json!("shop"))
    );
    assert_eq!(plain["tables"].as_array().unwrap().len(), 1);
    assert_eq!(plain["tables"][0]["columns"][2]["profile"], json!(null));
    assert_eq!(plain["tables"][0]["foreign_keys"][0]["source"], "declared");
    let measured = json(&["--profile"]);
    let profile = &measured["tables"][0]["columns"][2]["profile"];
    assert_eq!(
        (&profile["distinct"], &profile["nulls"], &profile["min"]),
        (&json!(3), &json!(0), &json!("0.1"))
    );
    let output = shop.run(&["schema", "--db", "shop.sqlite", "--profile", "orders"]);
    assert!(stdout(&output).contains("0.1 … 20"), "{}", stdout(&output));
}

#[test]
fn a_pattern_finds_tables_by_name_part_column_and_words() {
    let shop = Shop::new();
    let found = |pattern: &str| {
        let output = shop.run(&["schema", "--db", "shop.sqlite", "--json", pattern]);
        let object: Value = serde_json::from_str(&stdout(&output)).unwrap();
        let names = object["tables"]
            .as_array()
            .unwrap()
            .iter()
            .map(|t| t["name"].as_str().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    assert_eq!(found("ORDERS"), ["orders"]);
    assert_eq!(found("?????s"), ["orders"]);
    assert_eq!(found("item"), ["order_item"]);
    assert_eq!(found("manager_id"), ["customer"]);
    assert_eq!(found("城市"), ["客户"]);
    assert_eq!(found("which customers placed it"), ["customer", "orders"]);
    assert_eq!(found("odd name; --"), ["Odd Name; --"]);
}

#[test]
fn nothing_found_names_what_is_near() {
    let output = Shop::new().run(&["schema", "--db", "shop.sqlite", "custmer"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        stderr(&output),
        "analyst: no table or column fits `custmer`; did you mean customer?\n"
    );
}

#[test]
fn many_tables_are_listed_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let script: String = (0..30).map(|n| format!("CREATE TABLE t{n} (a);")).collect();
    let path = folder.path().join("many.sqlite");
    rusqlite::Connection::open(path)
        .unwrap()
        .execute_batch(&script)
        .unwrap();
    let output = run(folder.path(), &["schema", "--db", "many.sqlite"]);
    let text = stdout(&output);
    assert_eq!(text.lines().count(), 1 + 1 + 2 + 30, "{text}");
    assert!(stderr(&output).contains("analyst schema PATTERN"));
}
