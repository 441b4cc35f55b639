//! The JSON documents, their schema, and that an older document stays readable.

use crate::schema_check::violations;
use crate::{assert_current, fixture, sample};
use serde_json::{Value, json};
use std::path::Path;
use whylate_base::Ns;
use whylate_report::json::{
    applied_schema, checked_schema, compared_schema, explain::Document, explanation, explanation_schema,
    history_schema, measure, measurement, measurement_schema, planned_schema, verified_schema,
};

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

#[test]
fn schemas_are_current() {
    let schemas = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
    assert_current(&schemas.join("whylate.explain-1.json"), &pretty(&explanation_schema()));
    assert_current(&schemas.join("whylate.measure-1.json"), &pretty(&measurement_schema()));
    assert_current(&schemas.join("whylate.compare-1.json"), &pretty(&compared_schema()));
    assert_current(&schemas.join("whylate.check-1.json"), &pretty(&checked_schema()));
    assert_current(&schemas.join("whylate.plan-1.json"), &pretty(&planned_schema()));
    assert_current(&schemas.join("whylate.apply-1.json"), &pretty(&applied_schema()));
    assert_current(&schemas.join("whylate.verify-1.json"), &pretty(&verified_schema()));
    assert_current(&schemas.join("whylate.history-1.json"), &pretty(&history_schema()));
}

#[test]
fn document_is_as_before() {
    assert_current(&fixture("story.json"), &pretty(&explanation(&sample::story())));
    let mut measured = sample::measurement();
    for cpu in &mut measured.cpus {
        // A few buckets show the form as well as thousands.
        cpu.histogram = [6_000, 8_000, 8_000, 383_594].map(Ns).into_iter().collect();
    }
    assert_current(&fixture("measure.json"), &pretty(&measurement(&measured)));
}

#[test]
fn documents_obey_the_schema() {
    let schema = explanation_schema();
    for sample in [sample::story(), sample::section(), sample::empty(), sample::hostile()] {
        assert_eq!(violations(&schema, &explanation(&sample)), Vec::<String>::new());
    }
    let schema = measurement_schema();
    for sample in [sample::measurement(), sample::poor_measurement()] {
        assert_eq!(violations(&schema, &measurement(&sample)), Vec::<String>::new());
    }
}

#[test]
fn the_schema_refuses_what_is_wrong() {
    let schema = explanation_schema();
    let good = explanation(&sample::story());
    for (pointer, bad) in [
        ("/tasks/0/tid", json!("312")),
        ("/tasks/0/class", json!("best")),
        ("/activations/0/ledger/0/ns", json!(1.5)),
        ("/activations/0/verdict/by", json!({"pid": 1})),
        ("/activations/0/trigger/kind", json!("moon")),
        ("/findings/0/severity", json!("fatal")),
        ("/trace/events", json!(-1)),
    ] {
        let mut document = good.clone();
        *document.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}")) = bad;
        assert_ne!(violations(&schema, &document), Vec::<String>::new(), "{pointer}");
    }
    let mut document = good;
    document.as_object_mut().expect("an object").remove("findings");
    assert_ne!(violations(&schema, &document), Vec::<String>::new());
}

#[test]
fn a_section_adds_up_and_what_is_not_known_is_null() {
    let document = explanation(&sample::section());
    let section = &document["sections"][0];
    let parts: i64 =
        section["parts"].as_array().expect("a list").iter().filter_map(|part| part["ns"].as_i64()).sum();
    let others = ["rest_ns", "unexplained_ns"].iter().filter_map(|key| section[*key].as_i64()).sum::<i64>();
    assert_eq!(section["latency_ns"], json!(parts + others));
    assert_eq!((&section["tracer"], &section["times"]), (&json!("irqsoff"), &json!("until-next")));
    assert_eq!(
        section["thread"],
        json!({"tid": 2042, "comm": "bash", "class": null, "priority": null, "nice": null})
    );
}

#[test]
fn culprits_are_told_apart_by_their_keys() {
    let document = explanation(&sample::story());
    let by = |pointer| document.pointer(pointer).cloned().unwrap_or_else(|| panic!("no {pointer}"));
    assert_eq!(
        by("/activations/0/verdict/by"),
        json!({"tid": 313, "comm": "rtload", "class": "realtime", "priority": 1, "nice": null})
    );
    assert_eq!(by("/activations/0/ledger/1/by"), json!({"irq": null, "name": "local_timer"}));
    assert_eq!(by("/activations/3/ledger/3/by"), json!({"softirq": 3, "name": "NET_RX"}));
    assert_eq!(by("/activations/0/ledger/0/by"), Value::Null);
}

#[test]
fn ledger_adds_up_to_the_response() {
    let document: Document = serde_json::from_value(explanation(&sample::story())).expect("our own document");
    for activation in &document.activations {
        let sum: i64 = activation.ledger.iter().map(|entry| entry.ns).sum();
        assert_eq!(sum, activation.response_ns);
    }
}

#[test]
fn a_document_reads_back_as_it_was() {
    let written = explanation(&sample::story());
    let read: Document = serde_json::from_value(written.clone()).expect("our own document");
    assert_eq!(serde_json::to_value(&read).expect("plain data"), written);
    for sample in [sample::measurement(), sample::poor_measurement()] {
        let written = measurement(&sample);
        let read: measure::Document = serde_json::from_value(written.clone()).expect("our own document");
        assert_eq!(serde_json::to_value(&read).expect("plain data"), written);
    }
}

#[test]
fn a_measurement_counts_every_wake_up() {
    let document = measurement(&sample::measurement());
    let document: measure::Document = serde_json::from_value(document).expect("our own document");
    for cpu in &document.cpus {
        assert_eq!(cpu.histogram.iter().map(|bucket| bucket.count).sum::<u64>() + cpu.overflow, cpu.samples);
    }
    assert_eq!(document.cpus[1].latency_ns.expect("there are samples").max, document.spikes[0].latency_ns);
    assert_eq!(
        document.spikes[1].not_explained.as_ref().map(|why| why.reason),
        Some(measure::Reason::Overwritten)
    );
}

/// Never bless this one: it is what version 1 wrote on its first day.
#[test]
fn the_first_document_of_version_1_stays_readable() {
    let text = std::fs::read_to_string(fixture("explain-1-first.json")).expect("the fixture");
    let document: Document = serde_json::from_str(&text).expect("readable");
    assert_eq!(document.schema, "whylate.explain/1");
    assert_eq!(document.activations[0].verdict.cause, "rt-throttled");
    assert_eq!(document.activations[0].response_ns, 46_934_258);
}

#[test]
fn unknown_fields_of_a_later_writer_are_ignored() {
    let mut document = explanation(&sample::story());
    document["later"] = json!({"a": 1});
    document["tasks"][0]["later"] = json!(true);
    document["activations"][0]["verdict"]["by"]["later"] = json!(7);
    serde_json::from_value::<Document>(document).expect("still readable");
}

/// Never bless this one: it is what version 1 of measure wrote on its first day.
#[test]
fn the_first_measurement_of_version_1_stays_readable() {
    let text = std::fs::read_to_string(fixture("measure-1-first.json")).expect("the fixture");
    let document: measure::Document = serde_json::from_str(&text).expect("readable");
    assert_eq!(document.schema, "whylate.measure/1");
    assert_eq!(
        document.spikes[0].activation.as_ref().expect("explained").verdict.cause,
        "higher-priority-task"
    );
}
