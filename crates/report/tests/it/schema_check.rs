//! Checks a document against a JSON Schema: as much of 2020-12 as our own schemas use.
//!
//! A keyword it does not know is a panic, so that nothing goes unchecked in silence.

use serde_json::Value;

/// Every place where `value` is not what `root` says.
pub(crate) fn violations(root: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(root, root, value, "", &mut found);
    found
}

fn check(root: &Value, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    let schema = match schema {
        Value::Bool(true) => return,
        Value::Bool(false) => return found.push(format!("{at}: nothing may be here")),
        Value::Object(schema) => schema,
        other => panic!("not a schema: {other}"),
    };
    for (keyword, rule) in schema {
        match keyword.as_str() {
            "$schema" | "$defs" | "title" | "default" | "description" | "format" => {}
            "$ref" => {
                let pointer = rule.as_str().and_then(|name| name.strip_prefix('#')).expect("a local $ref");
                check(root, root.pointer(pointer).expect("$ref leads somewhere"), value, at, found);
            }
            "type" => {
                let types: Vec<&str> = match rule {
                    Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
                    other => vec![other.as_str().expect("a type's name")],
                };
                if !types.iter().any(|name| is(value, name)) {
                    found.push(format!("{at}: {value} is not {types:?}"));
                }
            }
            "properties" => {
                let Some(object) = value.as_object() else { continue };
                for (key, rule) in rule.as_object().expect("properties is an object") {
                    if let Some(value) = object.get(key) {
                        check(root, rule, value, &format!("{at}/{key}"), found);
                    }
                }
                for key in object.keys() {
                    // Ours is the newest writer: it has no key that its schema lacks.
                    if rule.get(key).is_none() && !schema.contains_key("additionalProperties") {
                        found.push(format!("{at}: unknown key {key}"));
                    }
                }
            }
            "additionalProperties" => {
                for (key, value) in value.as_object().into_iter().flatten() {
                    if schema.get("properties").and_then(|known| known.get(key)).is_none() {
                        check(root, rule, value, &format!("{at}/{key}"), found);
                    }
                }
            }
            "required" => {
                for key in rule.as_array().expect("required is a list").iter().filter_map(Value::as_str) {
                    if value.as_object().is_some_and(|object| !object.contains_key(key)) {
                        found.push(format!("{at}: {key} is missing"));
                    }
                }
            }
            "items" => {
                for (i, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(root, rule, item, &format!("{at}/{i}"), found);
                }
            }
            "anyOf" | "oneOf" => {
                let branches = rule.as_array().expect("a list of schemas");
                let fits = branches.iter().filter(|branch| {
                    let mut inner = Vec::new();
                    check(root, branch, value, at, &mut inner);
                    inner.is_empty()
                });
                let fits = fits.count();
                if fits == 0 || (keyword == "oneOf" && fits > 1) {
                    found.push(format!("{at}: {value} fits {fits} of {keyword}"));
                }
            }
            "const" => {
                if value != rule {
                    found.push(format!("{at}: {value} is not {rule}"));
                }
            }
            "enum" => {
                if !rule.as_array().expect("a list").contains(value) {
                    found.push(format!("{at}: {value} is none of {rule}"));
                }
            }
            "minimum" => {
                if value.as_f64().zip(rule.as_f64()).is_some_and(|(value, least)| value < least) {
                    found.push(format!("{at}: {value} is less than {rule}"));
                }
            }
            "minItems" | "maxItems" => {
                let limit = rule.as_u64().expect("a number") as usize;
                let fits = |len: usize| if keyword == "minItems" { len >= limit } else { len <= limit };
                if value.as_array().is_some_and(|items| !fits(items.len())) {
                    found.push(format!("{at}: {keyword} is {limit}"));
                }
            }
            other => panic!("teach schema_check the keyword {other}"),
        }
    }
}

fn is(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("no such type: {other}"),
    }
}
