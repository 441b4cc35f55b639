//! JSON with versioned schemas, generated from the types and checked in.
//!
//! Within a version fields are only ever added, and a reader ignores those it does not
//! know; taking one away or changing its meaning makes a new version.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use whylate_base::Ns;

pub(crate) fn ns(time: Option<Ns>) -> Option<i64> {
    time.map(|time| time.0)
}

pub(crate) fn value(document: &impl Serialize) -> Value {
    serde_json::to_value(document).expect("plain data: string keys, no foreign Serialize")
}

pub(crate) fn schema<T: JsonSchema>() -> Value {
    // Of what is written: there an absent value is `null`, never an absent key.
    schemars::generate::SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value()
}
