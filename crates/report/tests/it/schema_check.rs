//! Checks a document against its JSON Schema, more strictly than a reader does.
//!
//! The published schemas allow unknown keys, so that an old schema accepts the document of a newer whylate. A document
//! of this version has no key that its schema lacks: here every object is closed before the check.

use serde_json::Value;

/// Every place where `document` does not match `schema`: the path, and the reason.
///
/// # Panics
/// If `schema` itself is not a schema of JSON Schema 2020-12.
pub(crate) fn violations(schema: &Value, document: &Value) -> Vec<String> {
    jsonschema::draft202012::meta::validate(schema).unwrap_or_else(|error| panic!("not a schema: {error}"));
    let mut closed = schema.clone();
    refuse_unknown_keys(&mut closed);
    let validator = jsonschema::draft202012::new(&closed).expect("a schema whose references resolve");
    let errors = validator.iter_errors(document);
    errors.map(|error| format!("{}: {error}", error.instance_path())).collect()
}

fn refuse_unknown_keys(schema: &mut Value) {
    let Some(schema) = schema.as_object_mut() else { return };
    if schema.contains_key("properties") && !schema.contains_key("additionalProperties") {
        schema.insert("additionalProperties".to_owned(), false.into());
    }
    for (keyword, rule) in schema {
        match (keyword.as_str(), rule) {
            // Names, each with a schema.
            ("$defs" | "properties", Value::Object(schemas)) => {
                schemas.values_mut().for_each(refuse_unknown_keys);
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => {
                schemas.iter_mut().for_each(refuse_unknown_keys);
            }
            ("items" | "additionalProperties", schema) => refuse_unknown_keys(schema),
            _ => {}
        }
    }
}
