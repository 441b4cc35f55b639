//! The JSON documents of `run --json` and `mistakes --json`: their schemas are checked in.

use serde_json::Value;
use std::path::Path;
use whylate_lab_cli::document::{SCHEMA, of, schema};
use whylate_lab_cli::fixes::{self, FIXES_SCHEMA};
use whylate_lab_cli::mistakes::{self, MISTAKES_SCHEMA, MistakesDocument};
use whylate_lab_cli::predict::{self, PREDICT_SCHEMA};
use whylate_lab_cli::score::Score;

#[test]
fn the_schemas_are_current() {
    is_current(SCHEMA, &schema());
    is_current(MISTAKES_SCHEMA, &mistakes::schema());
    is_current(FIXES_SCHEMA, &fixes::schema());
    is_current(PREDICT_SCHEMA, &predict::schema());
}

fn is_current(name: &str, schema: &Value) {
    let name = format!("{}.json", name.replace('/', "-"));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema").join(name);
    let actual = format!("{schema:#}\n");
    if std::env::var_os("WHYLATE_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&path, actual).expect("the schema is written");
        return;
    }
    let checked_in = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(checked_in == actual, "{} is not current: cargo xtask schema", path.display());
}

#[test]
fn keys_are_in_snake_case() {
    fn keys(schema: &Value, found: &mut Vec<String>) {
        if let Some(properties) = schema["properties"].as_object() {
            found.extend(properties.keys().cloned());
        }
        for inner in schema["$defs"].as_object().into_iter().flat_map(serde_json::Map::values) {
            keys(inner, found);
        }
    }
    let mut found = Vec::new();
    keys(&schema(), &mut found);
    keys(&mistakes::schema(), &mut found);
    for key in [
        "line_right",
        "false_findings",
        "not_provoked",
        "runs",
        "causes_right",
        "late_jobs",
        "unexplained_ns",
        "by_scenario",
        "not_recorded",
    ] {
        assert!(found.iter().any(|known| known == key), "{key} is not in {found:?}");
    }
    let is_plain = |key: &String| key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    assert!(found.iter().all(is_plain), "{found:?}");
    assert_eq!(of(Vec::new(), Score::default())["schema"], SCHEMA);
    assert_eq!(MistakesDocument::of(Vec::new(), String::new(), None).json()["schema"], MISTAKES_SCHEMA);
}
