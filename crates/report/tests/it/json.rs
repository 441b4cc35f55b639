//! The JSON documents, their schema, and that an older document stays readable.

use crate::schema_check::violations;
use crate::{assert_current, fixture, sample};
use serde_json::{Value, json};
use std::path::Path;
use whylate_base::{Action, IrqAction, Ns, ThreadAction, UnitAction};
use whylate_ledger::finding_page;
use whylate_report::explain::json::document::Document;
use whylate_report::{
    apply, bench, check, compare, doctor, explain, guard, history, measure, plan, ps, run, verify, watch,
};

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

#[test]
fn schemas_are_current() {
    let schemas = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
    assert_current(&schemas.join("whylate.explain-1.json"), &pretty(&explain::json::schema()));
    assert_current(&schemas.join("whylate.measure-1.json"), &pretty(&measure::json::schema()));
    assert_current(&schemas.join("whylate.bench-1.json"), &pretty(&bench::json::schema()));
    let comparison = schemas.join("whylate.bench-compare-1.json");
    assert_current(&comparison, &pretty(&whylate_report::bench_compare::json::schema()));
    let comparison = schemas.join("whylate.compare-groups-1.json");
    assert_current(&comparison, &pretty(&whylate_report::group_compare::json::schema()));
    assert_current(&schemas.join("whylate.compare-1.json"), &pretty(&compare::json::schema()));
    assert_current(&schemas.join("whylate.check-1.json"), &pretty(&check::json::schema()));
    assert_current(&schemas.join("whylate.doctor-1.json"), &pretty(&doctor::json::schema()));
    assert_current(&schemas.join("whylate.run-1.json"), &pretty(&run::json::schema()));
    assert_current(&schemas.join("whylate.plan-1.json"), &pretty(&plan::json::schema()));
    let comparison = schemas.join("whylate.plan-compare-1.json");
    assert_current(&comparison, &pretty(&whylate_report::plan_compare::json::schema()));
    assert_current(&schemas.join("whylate.apply-1.json"), &pretty(&apply::json::schema()));
    assert_current(&schemas.join("whylate.verify-1.json"), &pretty(&verify::json::schema()));
    assert_current(&schemas.join("whylate.ps-1.json"), &pretty(&ps::json::schema()));
    assert_current(&schemas.join("whylate.guard-1.json"), &pretty(&guard::json::schema()));
    assert_current(&schemas.join("whylate.watch-1.json"), &pretty(&watch::json::schema()));
    assert_current(
        &schemas.join("whylate.simulate-1.json"),
        &pretty(&whylate_report::simulate::json::schema()),
    );
    assert_current(&schemas.join("whylate.prove-1.json"), &pretty(&whylate_report::prove::json::schema()));
    assert_current(&schemas.join("whylate.history-1.json"), &pretty(&history::json::schema()));
}

#[test]
fn document_is_as_before() {
    assert_current(&fixture("story.json"), &pretty(&explain::json::render(&sample::story())));
    let mut measured = sample::measurement();
    for cpu in &mut measured.cpus {
        // A few buckets show the form as well as thousands.
        cpu.histogram = [6_000, 8_000, 8_000, 383_594].map(Ns).into_iter().collect();
    }
    assert_current(&fixture("measure.json"), &pretty(&measure::json::render(&measured)));
}

#[test]
fn documents_obey_the_schema() {
    let schema = explain::json::schema();
    for sample in [
        sample::story(),
        sample::with_stacks(),
        sample::section(),
        sample::candidates(),
        sample::empty(),
        sample::hostile(),
    ] {
        assert_eq!(violations(&schema, &explain::json::render(&sample)), Vec::<String>::new());
    }
    let schema = measure::json::schema();
    for sample in [sample::measurement(), sample::poor_measurement()] {
        assert_eq!(violations(&schema, &measure::json::render(&sample)), Vec::<String>::new());
    }
}

/// A flame graph tool splits a folded stack at each `;`.
#[test]
fn profiles_are_folded_stacks() {
    let document = explain::json::render(&sample::with_stacks());
    let [profile] = &document["profiles"].as_array().expect("a list")[..] else { panic!("{document:#}") };
    assert_eq!((&profile["worst_activations"], &profile["other_activations"]), (&json!(10), &json!(90)));
    let stacks: Vec<(usize, u64, u64)> = (profile["stacks"].as_array().expect("a list").iter())
        .map(|one| {
            let stack = one["stack"].as_str().expect("a text");
            assert!(stack.starts_with("main;"), "{stack}");
            let count = |name: &str| one[name].as_u64().expect("a number");
            (stack.split(';').count(), count("worst"), count("others"))
        })
        .collect();
    assert_eq!(stacks, [(2, 30, 0), (2, 10, 90)]);
    assert_eq!(profile["grown"][0]["where"]["line"], 40);
    assert_eq!(profile["grown"][0]["worst_ns"], 3_000_000);
}

#[test]
fn the_schema_refuses_what_is_wrong() {
    let schema = explain::json::schema();
    let good = explain::json::render(&sample::story());
    for (pointer, bad) in [
        ("/tasks/0/tid", json!("312")),
        ("/tasks/0/class", json!("best")),
        ("/activations/0/ledger/0/ns", json!(1.5)),
        ("/activations/0/verdict/by", json!({"pid": 1})),
        ("/activations/0/trigger/kind", json!("moon")),
        ("/findings/0/severity", json!("fatal")),
        ("/trace/events", json!(-1)),
        ("/trace", json!(null)),
        ("/findings", json!([{}])),
    ] {
        let mut document = good.clone();
        *document.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}")) = bad;
        assert_ne!(violations(&schema, &document), Vec::<String>::new(), "{pointer}");
    }
    for pointer in ["", "/trace", "/tasks/0", "/activations/0/ledger/0", "/activations/0/verdict"] {
        let mut document = good.clone();
        let object = document.pointer_mut(pointer).and_then(Value::as_object_mut);
        object.unwrap_or_else(|| panic!("no {pointer}")).insert("unknown".to_owned(), json!(1));
        assert_ne!(violations(&schema, &document), Vec::<String>::new(), "an unknown key in {pointer}");
    }
    let mut document = good;
    document.as_object_mut().expect("an object").remove("findings");
    assert_ne!(violations(&schema, &document), Vec::<String>::new());
}

#[test]
fn a_section_adds_up_and_what_is_not_known_is_null() {
    let document = explain::json::render(&sample::section());
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
    let document = explain::json::render(&sample::story());
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
    let document: Document =
        serde_json::from_value(explain::json::render(&sample::story())).expect("our own document");
    for activation in &document.activations {
        let sum: i64 = activation.ledger.iter().map(|entry| entry.ns).sum();
        assert_eq!(sum, activation.response_ns);
    }
}

#[test]
fn a_document_reads_back_as_it_was() {
    let written = explain::json::render(&sample::story());
    let read: Document = serde_json::from_value(written.clone()).expect("our own document");
    assert_eq!(serde_json::to_value(&read).expect("plain data"), written);
    for sample in [sample::measurement(), sample::poor_measurement()] {
        let written = measure::json::render(&sample);
        let read: measure::json::document::Document =
            serde_json::from_value(written.clone()).expect("our own document");
        assert_eq!(serde_json::to_value(&read).expect("plain data"), written);
    }
}

#[test]
fn a_measurement_counts_every_wake_up() {
    let document = measure::json::render(&sample::measurement());
    let document: measure::json::document::Document =
        serde_json::from_value(document).expect("our own document");
    for cpu in &document.cpus {
        assert_eq!(cpu.histogram.iter().map(|bucket| bucket.count).sum::<u64>() + cpu.overflow, cpu.samples);
    }
    assert_eq!(document.cpus[1].latency_ns.expect("there are samples").max, document.spikes[0].latency_ns);
    assert_eq!(
        document.spikes[1].not_explained.as_ref().map(|why| why.reason),
        Some(measure::json::document::Reason::Overwritten)
    );
}

#[test]
fn samples_have_only_codes_that_exist() {
    let known = |code: &str| finding_page(code).is_some();
    for sample in [sample::story(), sample::section(), sample::empty(), sample::hostile()] {
        for finding in &sample.findings {
            assert!(known(finding.code), "{}", finding.code);
        }
    }
    for sample in [sample::measurement(), sample::poor_measurement()] {
        for finding in &sample.findings {
            assert!(known(finding.code), "{}", finding.code);
        }
    }
}

#[test]
fn unknown_fields_of_a_later_writer_are_ignored() {
    let mut document = explain::json::render(&sample::story());
    document["later"] = json!({"a": 1});
    document["tasks"][0]["later"] = json!(true);
    document["activations"][0]["verdict"]["by"]["later"] = json!(7);
    serde_json::from_value::<Document>(document).expect("still readable");
}

#[test]
fn candidates_and_the_scope_are_in_the_document() {
    let document = explain::json::render(&sample::candidates());
    let candidates = &document["candidates"];
    let threads = candidates["threads"].as_array().expect("a list");
    assert_eq!(threads.len(), 2 + sample::story().tasks.len());
    let kernel = threads.last().expect("a thread");
    assert_eq!(
        (&kernel["kind"], &kernel["class"], &kernel["explained"]),
        (&"kernel".into(), &"fair".into(), &false.into())
    );
    assert_eq!((&kernel["max_latency_ns"], &kernel["activations"]), (&17_000.into(), &12_345.into()));
    assert_eq!(candidates["more"], 3);
    assert_eq!(document["scope"], json!({"from_ns": 1_000_000_000, "to_ns": null, "cpus": "1-2"}));
    let story = explain::json::render(&sample::story());
    assert_eq!((&story["candidates"], &story["scope"]), (&json!(null), &json!(null)));
}

/// The schema of actions is written beside their types: each kind, with all that it may have, fits it.
#[test]
fn actions_fit_their_schema() {
    let text = |text: &str| Some(text.to_owned());
    let all = [
        Action::tunable("/proc/sys/vm/swappiness", "1"),
        Action::thread(ThreadAction {
            thread: "hog".to_owned(),
            tid: Some(7),
            policy: text("fifo"),
            priority: Some(1),
            cpus: text("0"),
            not_cpus: text("1"),
        }),
        Action::Irq {
            set: vec![IrqAction {
                irq: Some(24),
                name: "eth0".to_owned(),
                cpus: text("0"),
                not_cpus: text("1"),
            }],
        },
        Action::parameters("nosmt nohz_full=2-3"),
        Action::Unit {
            set: vec![UnitAction {
                unit: text("a.service"),
                thread: text("hog"),
                runs: Some(false),
                at_boot: text("masked"),
            }],
        },
        Action::by_hand("the program is to be changed"),
    ];
    let definitions = &explain::json::schema()["$defs"];
    let schema = json!({ "$ref": "#/$defs/Action", "$defs": definitions });
    for action in all {
        let document = serde_json::to_value(&action).expect("JSON");
        assert_eq!(document["kind"], action.kind());
        assert_eq!(violations(&schema, &document), Vec::<String>::new(), "{document:#}");
    }
}
