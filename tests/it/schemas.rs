//! `docs/schemas/` says what the types say. `ANALYST_WRITE_SCHEMAS=1` writes it anew.

use std::path::Path;

use analyst::config::{Allow, Config, file_schema};
use analyst::insight::evidence::Evidence;
use analyst::insight::report::ReportJson;
use analyst::jobs::answer::registry;
use analyst::session::event::Event;
use analyst::session::tasks::Task;
use analyst::session::todo::SharedPlan;
use schemars::schema_for;
use serde_json::{Value, json};

fn tools() -> Value {
    let config = Config {
        allow: vec![Allow::Tasks, Allow::Files, Allow::Shell],
        ..Config::default()
    };
    let arguments: Vec<Value> = registry(&SharedPlan::default(), &config)
        .iter()
        .map(|tool| json!({"name": tool.name(), "description": tool.description(), "arguments": tool.schema()}))
        .collect();
    json!({"v": 1, "tools": arguments})
}

#[test]
fn the_schemas_are_those_of_the_types() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schemas");
    let write = std::env::var_os("ANALYST_WRITE_SCHEMAS").is_some();
    let schemas = [
        ("event.json", schema_for!(Event).to_value()),
        ("evidence.json", schema_for!(Evidence).to_value()),
        ("report.json", schema_for!(ReportJson).to_value()),
        ("task.json", schema_for!(Task).to_value()),
        ("analyst.toml.json", file_schema().to_value()),
        ("tools.json", tools()),
    ];
    for (name, schema) in schemas {
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        let path = folder.join(name);
        if write {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, &text).unwrap();
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            kept == text,
            "{name} is not what the types say; run this test with ANALYST_WRITE_SCHEMAS=1"
        );
    }
}
